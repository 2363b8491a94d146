#include "library/linalg/spectral/tridiagonal.h"

#include <array>
#include <utility>
#include <vector>

#include "library/linalg/dense/packed.h"
#include "library/linalg/spectral/both_products.h"
#include "library/linalg/spectral/large.h"

namespace weft::lapack {

namespace {

constexpr int64_t kPanel = 32;    // columns of a panel: a multiple of what products cut rows at
constexpr int64_t kTile = 128;    // rows and columns of a tile: two of float64 fit a second-level cache
constexpr int64_t kShared = 256;  // rows from which the threads share a product with a vector

// The lower triangle of a matrix, in square tiles.
class TileGrid {
public:
    explicit TileGrid(int64_t n) : n_(n), blocks_((n + kTile - 1) / kTile) {}

    int64_t blocks() const { return blocks_; }
    int64_t begin(int64_t block) const { return block * kTile; }
    int64_t end(int64_t block) const { return std::min(n_, (block + 1) * kTile); }
    // Of the blocks from `first` on: how many tiles, and the rows' and columns' block of one. Tiles are
    // counted from the last row of tiles on, so that a tile's number does not depend on `first`.
    int64_t tiles(int64_t first) const { return (blocks_ - first) * (blocks_ - first + 1) / 2; }
    std::pair<int64_t, int64_t> tile(int64_t number) const {
        int64_t row = 0;  // from the end
        while (number > row) number -= ++row;
        return {blocks_ - 1 - number, blocks_ - 1 - row};
    }

private:
    int64_t n_, blocks_;
};

template <class T>
class Reduction {
public:
    Reduction(int64_t n, T* a, int64_t lda, Real<T>* diagonal, Real<T>* below, T* tau)
        : n_(n),
          a_(a),
          lda_(lda),
          diagonal_(diagonal),
          below_(below),
          tau_(tau),
          grid_(n),
          left_(n * 2 * kPanel),
          right_(n * 2 * kPanel),
          parts_(n * grid_.blocks()),
          inside_(library(), num_threads()) {
        for (int64_t i = 0; i < grid_.tiles(0); ++i) tiles_.push_back(grid_.tile(i));
    }

    void run() {
        for (int64_t j = 0; j < n_; j += kPanel) {
            const int64_t next = std::min(j + kPanel, n_);
            for (int64_t column = j; column < next; ++column) reduce_column(j, column);
            update(next, next - j);
        }
    }

private:
    T* at(int64_t row, int64_t column) const { return a_ + row + column * lda_; }
    // The columns of a panel: its reflectors v and the vectors w, by which the rest of the matrix becomes
    // a - v wᴴ - w vᴴ. `left_` has v, then w; the rows of `right_` are those of wᴴ, then of vᴴ.
    T* v(int64_t row, int64_t index) const { return left_ + row + index * n_; }
    T* w(int64_t row, int64_t index) const { return left_ + row + (kPanel + index) * n_; }

    void reduce_column(int64_t j, int64_t column) {
        const int64_t before = column - j, rows = n_ - column - 1;
        T* const own = at(column, column);
        subtract(column, before, own);
        diagonal_[column] = std::real(*own);
        if (rows == 0) {
            tau_[column] = T(0);
            return;
        }
        T alpha = own[1];
        const int64_t one = 1;
        functions<T>().larfg(&rows, &alpha, at(std::min(column + 2, n_ - 1), column), &one, tau_ + column);
        below_[column] = std::real(alpha);
        own[1] = T(1);
        T* const reflector = v(column + 1, before);
        std::copy(own + 1, own + 1 + rows, reflector);

        T* const to = w(column + 1, before);
        product_with_rest(column + 1, reflector, to);
        std::array<T, kPanel> along{};
        const auto subtract_along = [&](const T* measured, const T* taken) {
            multiply_vector(Form::kAdjoint, rows, before, T(1), measured, n_, reflector, T(0), along.data());
            multiply_vector(Form::kPlain, rows, before, T(-1), taken, n_, along.data(), T(1), to);
        };
        subtract_along(w(column + 1, 0), v(column + 1, 0));
        subtract_along(v(column + 1, 0), w(column + 1, 0));
        const T factor = tau_[column];
        for (int64_t i = 0; i < rows; ++i) to[i] *= factor;
        const T part = T(Real<T>(-0.5)) * factor * inner_product(rows, to, reflector);
        for (int64_t i = 0; i < rows; ++i) to[i] += part * reflector[i];
    }

    // A column from its diagonal on, less what the panel's columns before it do to it.
    void subtract(int64_t column, int64_t before, T* own) const {
        if (before == 0) return;
        std::array<T, kPanel> row{};
        for (int64_t i = 0; i < before; ++i) row[static_cast<size_t>(i)] = conjugate(*w(column, i));
        multiply_vector(Form::kPlain, n_ - column, before, T(-1), v(column, 0), n_, row.data(), T(1), own);
        for (int64_t i = 0; i < before; ++i) row[static_cast<size_t>(i)] = conjugate(*v(column, i));
        multiply_vector(Form::kPlain, n_ - column, before, T(-1), w(column, 0), n_, row.data(), T(1), own);
    }

    // The matrix from (first, first) on times x. Each tile below the diagonal is read once and gives two
    // parts: of its own rows, and as the tile above the diagonal.
    void product_with_rest(int64_t first, const T* x, T* y) const {
        const int64_t first_block = first / kTile, blocks = grid_.blocks();
        const T zero(0), one(1);
        const int64_t step = 1;
        const auto part = [&](int64_t rows_of, int64_t of) {
            return parts_ + (of * n_) + grid_.begin(rows_of);
        };
        const auto tile = [&](int64_t index) {
            const auto [i, j] = tiles_[static_cast<size_t>(index)];
            const int64_t row = std::max(first, grid_.begin(i)), column = std::max(first, grid_.begin(j));
            const int64_t rows = grid_.end(i) - row, columns = grid_.end(j) - column;
            T* const own = part(i, j) + (row - grid_.begin(i));
            if (i == j) {
                functions<T>().symv("L", &rows, &one, at(row, row), &lda_, x + (row - first), &step, &zero,
                                    own, &step, 1);
                return;
            }
            T* const other = part(j, i) + (column - grid_.begin(j));
            if constexpr (!is_complex<T>) {
                if (both_ != nullptr)
                    return both_(rows, columns, at(row, column), lda_, x + (column - first),
                                 x + (row - first), own, other);
            }
            multiply_vector(Form::kAdjoint, rows, columns, T(1), at(row, column), lda_, x + (row - first),
                            T(0), other);
            multiply_vector(Form::kPlain, rows, columns, T(1), at(row, column), lda_, x + (column - first),
                            T(0), own);
        };
        const int64_t tiles = grid_.tiles(first_block);
        if (n_ - first >= kShared) {
            parallel_for(tiles, tile);
        } else {
            for (int64_t i = 0; i < tiles; ++i) tile(i);
        }
        for (int64_t of = first_block; of < blocks; ++of) {
            const T* const from = parts_ + of * n_ + first;
            if (of == first_block) {
                std::copy(from, from + (n_ - first), y);
            } else {
                for (int64_t i = 0; i < n_ - first; ++i) y[i] += from[i];
            }
        }
    }

    // The tiles from (first, first) on, less v wᴴ and w vᴴ of a panel of so many columns.
    void update(int64_t first, int64_t width) const {
        if (first >= n_) return;
        constexpr int64_t kBoth = 2 * kPanel;
        const int64_t both = kPanel + width;  // a panel that is not the last one has all its columns
        Packed<T> left(Form::kPlain, n_ - first, both, left_ + first, n_);
        for_pieces(n_ - first, kTile, [&](int64_t begin, int64_t end) {
            for (int64_t i = 0; i < width; ++i) {
                for (int64_t k = first + begin; k < first + end; ++k) {
                    right_[i + k * kBoth] = conjugate(*w(k, i));
                    right_[kPanel + i + k * kBoth] = conjugate(*v(k, i));
                }
            }
        });
        left.pack_all();
        parallel_for(grid_.tiles(first / kTile), [&](int64_t index) {
            const auto [i, j] = tiles_[static_cast<size_t>(index)];
            const int64_t row = std::max(first, grid_.begin(i)), column = std::max(first, grid_.begin(j));
            left.multiply(Update::kSubtract, row - first, grid_.end(i) - row, grid_.end(j) - column,
                          right_ + column * kBoth, kBoth, at(row, column), lda_);
        });
    }

    int64_t n_;
    T* a_;
    int64_t lda_;
    Real<T>* diagonal_;
    Real<T>* below_;
    T* tau_;
    TileGrid grid_;
    Room<T> left_, right_;
    Room<T> parts_;  // column k: what the tiles of block k give to the rows
    std::vector<std::pair<int64_t, int64_t>> tiles_;
    BothProducts<Real<T>> both_ = both_products<Real<T>>();
    BlasThreads inside_;
};

}  // namespace

template <class T>
void reduce_to_tridiagonal(int64_t n, T* a, int64_t lda, Real<T>* diagonal, Real<T>* below, T* tau) {
    Reduction<T>(n, a, lda, diagonal, below, tau).run();
}

template void reduce_to_tridiagonal(int64_t, float*, int64_t, float*, float*, float*);
template void reduce_to_tridiagonal(int64_t, double*, int64_t, double*, double*, double*);
template void reduce_to_tridiagonal(int64_t, std::complex<float>*, int64_t, float*, float*,
                                    std::complex<float>*);
template void reduce_to_tridiagonal(int64_t, std::complex<double>*, int64_t, double*, double*,
                                    std::complex<double>*);

}  // namespace weft::lapack
