#include "library/linalg/spectral/bidiagonal.h"

#include <array>

#include "library/linalg/dense/packed.h"

namespace weft::lapack {

namespace {

constexpr int64_t kPanel = 32;    // rows and columns of a panel
constexpr int64_t kStrip = 64;    // columns of a strip, which stays with its thread
constexpr int64_t kRows = 256;    // rows of a tile of the update, and of a sum of parts
constexpr int64_t kShared = 256;  // columns from which the threads share a product with a vector

// The rest of the matrix is a - v yᴴ - x uᴴ: v and u are the reflectors of the panel.
template <class T>
class Reduction {
public:
    Reduction(int64_t m, int64_t n, T* a, int64_t lda, Real<T>* diagonal, Real<T>* above, T* tau_q, T* tau_p,
              T* right)
        : m_(m),
          n_(n),
          a_(a),
          lda_(lda),
          diagonal_(diagonal),
          above_(above),
          tau_q_(tau_q),
          tau_p_(tau_p),
          right_(right),
          tall_(m * 2 * kPanel),
          wide_(n * 2 * kPanel),
          row_(n),
          parts_(m * ((n + kStrip - 1) / kStrip)),
          inside_(library(), num_threads()) {}

    void run() {
        for (int64_t j = 0; j < n_; j += kPanel) {
            const int64_t next = std::min(j + kPanel, n_);
            for (int64_t column = j; column < next; ++column) {
                reduce_column(column, column - j);
                if (column + 1 < n_) reduce_row(column, column - j);
            }
            update(next);
        }
    }

private:
    T* at(int64_t row, int64_t column) const { return a_ + row + column * lda_; }
    // Side by side, so that a panel's update is one product: v and x, y and u.
    T* v(int64_t row, int64_t index) const { return tall_ + row + index * m_; }
    T* x(int64_t row, int64_t index) const { return tall_ + row + (kPanel + index) * m_; }
    T* y(int64_t row, int64_t index) const { return wide_ + row + index * n_; }
    T* u(int64_t row, int64_t index) const { return wide_ + row + (kPanel + index) * n_; }

    // to -= matrix times the conjugates of the row at `row` of another one; both have `count` columns.
    static void subtract(int64_t rows, int64_t count, const T* matrix, int64_t ld, const T* row,
                         int64_t ld_row, T* to) {
        std::array<T, kPanel> factors{};
        for (int64_t i = 0; i < count; ++i) factors[static_cast<size_t>(i)] = conjugate(row[i * ld_row]);
        multiply_vector(Form::kPlain, rows, count, T(-1), matrix, ld, factors.data(), T(1), to);
    }
    // to -= taken (measuredᴴ vector): `measured` has the vector's rows, `taken` those of the result.
    static void subtract_along(int64_t length, int64_t count, const T* measured, int64_t ld_measured,
                               const T* vector, int64_t rows, const T* taken, int64_t ld_taken, T* to) {
        std::array<T, kPanel> along{};
        multiply_vector(Form::kAdjoint, length, count, T(1), measured, ld_measured, vector, T(0),
                        along.data());
        multiply_vector(Form::kPlain, rows, count, T(-1), taken, ld_taken, along.data(), T(1), to);
    }

    void reduce_column(int64_t c, int64_t before) {
        const int64_t rows = m_ - c, rest = n_ - c - 1, one = 1;
        T* const own = at(c, c);
        subtract(rows, before, v(c, 0), m_, y(c, 0), n_, own);
        subtract(rows, before, x(c, 0), m_, u(c, 0), n_, own);
        T alpha = *own;
        functions<T>().larfg(&rows, &alpha, at(std::min(c + 1, m_ - 1), c), &one, tau_q_ + c);
        diagonal_[c] = std::real(alpha);
        *own = T(1);
        std::copy(own, own + rows, v(c, before));
        if (rest == 0) return;

        T* const to = y(c + 1, before);
        for_strips(c + 1, [&](int64_t first, int64_t last) {
            multiply_vector(Form::kAdjoint, rows, last - first, T(1), at(c, first), lda_, own, T(0),
                            y(first, before));
        });
        subtract_along(rows, before, v(c, 0), m_, own, rest, y(c + 1, 0), n_, to);
        subtract_along(rows, before, x(c, 0), m_, own, rest, u(c + 1, 0), n_, to);
        for (int64_t i = 0; i < rest; ++i) to[i] *= tau_q_[c];
    }

    void reduce_row(int64_t c, int64_t before) {
        const int64_t rows = m_ - c - 1, rest = n_ - c - 1, one = 1;
        for (int64_t i = 0; i < rest; ++i) row_[i] = conjugate(*at(c, c + 1 + i));
        subtract(rest, before + 1, y(c + 1, 0), n_, v(c, 0), m_, row_);
        subtract(rest, before, u(c + 1, 0), n_, x(c, 0), m_, row_);
        T alpha = row_[0];
        functions<T>().larfg(&rest, &alpha, row_ + std::min<int64_t>(1, rest - 1), &one, tau_p_ + c);
        above_[c] = std::real(alpha);
        row_[0] = T(1);
        std::copy(row_.data(), row_ + rest, u(c + 1, before));
        std::copy(row_.data(), row_ + rest, right_ + (c + 1) + c * n_);
        if (rows == 0) return;

        T* const to = x(c + 1, before);
        for_strips(c + 1, [&](int64_t first, int64_t last) {
            multiply_vector(Form::kPlain, rows, last - first, T(1), at(c + 1, first), lda_,
                            row_ + (first - c - 1), T(0), part(first / kStrip) + c + 1);
        });
        sum_parts(c + 1, to);
        subtract_along(rest, before + 1, y(c + 1, 0), n_, row_, rows, v(c + 1, 0), m_, to);
        subtract_along(rest, before, u(c + 1, 0), n_, row_, rows, x(c + 1, 0), m_, to);
        for (int64_t i = 0; i < rows; ++i) to[i] *= tau_p_[c];
    }

    T* part(int64_t strip) const { return parts_ + strip * m_; }

    void sum_parts(int64_t first, T* to) const {
        const int64_t rows = m_ - first, least = first / kStrip, strips = (n_ + kStrip - 1) / kStrip;
        const auto sum = [&](int64_t piece) {
            const int64_t begin = piece * kRows, end = std::min(rows, begin + kRows);
            std::copy(part(least) + first + begin, part(least) + first + end, to + begin);
            for (int64_t strip = least + 1; strip < strips; ++strip) {
                const T* const from = part(strip) + first;
                for (int64_t i = begin; i < end; ++i) to[i] += from[i];
            }
        };
        const int64_t pieces = (rows + kRows - 1) / kRows;
        if (rows * (strips - least) > 100'000) {
            parallel_for(pieces, sum);
        } else {
            for (int64_t piece = 0; piece < pieces; ++piece) sum(piece);
        }
    }

    // Strips of the columns from `first` on, cut at the same places for every `first`; the last ones come
    // first, so that a thread keeps its strips while others are used up.
    template <class Task>
    void for_strips(int64_t first, const Task& task) const {
        const int64_t least = first / kStrip, strips = (n_ + kStrip - 1) / kStrip;
        const auto strip = [&](int64_t number) {
            const int64_t column = (strips - 1 - number) * kStrip;
            task(std::max(first, column), std::min(n_, column + kStrip));
        };
        if (n_ - first >= kShared) {
            parallel_for(strips - least, strip);
        } else {
            for (int64_t number = 0; number < strips - least; ++number) strip(number);
        }
    }

    void update(int64_t first) const {
        if (first >= n_) return;
        const int64_t pieces = (m_ - first + kRows - 1) / kRows, least = first / kStrip;
        const int64_t strips = (n_ + kStrip - 1) / kStrip - least;
        constexpr int64_t kBoth = 2 * kPanel;
        Packed<T> left(Form::kPlain, m_ - first, kBoth, v(first, 0), m_);
        const Room<T> right((n_ - first) * kBoth);
        for (int64_t i = 0; i < kBoth; ++i) {
            for (int64_t j = first; j < n_; ++j) right[i + (j - first) * kBoth] = conjugate(*y(j, i));
        }
        pack_together<T>({&left});
        parallel_for(pieces * strips, [&](int64_t task) {
            const int64_t row = first + task % pieces * kRows;
            const int64_t column = std::max(first, (least + strips - 1 - task / pieces) * kStrip);
            const int64_t end = std::min(n_, (column / kStrip + 1) * kStrip);
            left.multiply(Update::kSubtract, row - first, std::min(kRows, m_ - row), end - column,
                          right + (column - first) * kBoth, kBoth, at(row, column), lda_);
        });
    }

    int64_t m_, n_;
    T* a_;
    int64_t lda_;
    Real<T>* diagonal_;
    Real<T>* above_;
    T* tau_q_;
    T* tau_p_;
    T* right_;
    Room<T> tall_, wide_;
    Room<T> row_;
    Room<T> parts_;  // column k: what strip k gives to the rows
    BlasThreads inside_;
};

}  // namespace

template <class T>
void reduce_to_bidiagonal(int64_t m, int64_t n, T* a, int64_t lda, Real<T>* diagonal, Real<T>* above,
                          T* tau_q, T* tau_p, T* right) {
    Reduction<T>(m, n, a, lda, diagonal, above, tau_q, tau_p, right).run();
}

#define WEFT_BIDIAGONAL(T) \
    template void reduce_to_bidiagonal(int64_t, int64_t, T*, int64_t, Real<T>*, Real<T>*, T*, T*, T*);
WEFT_BIDIAGONAL(float)
WEFT_BIDIAGONAL(double)
WEFT_BIDIAGONAL(std::complex<float>)
WEFT_BIDIAGONAL(std::complex<double>)
#undef WEFT_BIDIAGONAL

}  // namespace weft::lapack
