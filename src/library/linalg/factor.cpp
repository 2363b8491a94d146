#include "library/linalg/factor.h"

#include "library/linalg/dense/triangle.h"
#include "library/linalg/reflectors.h"

namespace weft::lapack {

namespace {

constexpr int64_t kPanel = 112;   // columns of a panel of LU and Cholesky
constexpr int64_t kQrPanel = 64;  // of QR
constexpr int64_t kStrip = 84;    // columns of a task
constexpr int64_t kManyColumns = 1024;
constexpr int64_t kBlocked = 256;  // of the shorter side: smaller matrices are LAPACK's
constexpr int64_t kLapackColumns = 64, kLapackCorner = 32, kQrLeaf = 16;
constexpr int64_t kNearDiagonal = 28;  // columns whose products end together, below the diagonal

bool is_large(int64_t rows, int64_t columns) { return std::min(rows, columns) >= kBlocked; }

template <class T>
void note_panels() {
    way_taken = {own_products<T>() != nullptr ? "weft's products" : kLapack, "panel by panel", num_threads()};
}

// Calls task(first, last) for strips of the columns from `first` on, the first of which is `head` wide. Where
// there are many, they are wider, so that each product reads its other factor less often.
template <class Task>
void for_strips(int64_t first, int64_t end, int64_t head, const Task& task) {
    if (first >= end) return;
    const int64_t behind = std::min(end, first + head), width = end - first > kManyColumns ? 126 : 70;
    const int64_t strips = 1 + (end - behind + width - 1) / width;
    const BlasThreads inside(library(), std::min<int64_t>(strips, num_threads()));
    parallel_for(strips, [&](int64_t strip) {
        const int64_t begin = behind + (strip - 1) * width;
        strip == 0 ? task(first, behind) : task(begin, std::min(end, begin + width));
    });
}

struct Tile {
    int64_t row, rows, column, columns;
};

// Rows and columns in tiles: as large as caches like, and enough of them for all threads. No bit of a product
// depends on how it is cut.
class Tiles {
public:
    Tiles(int64_t row, int64_t end, int64_t column, int64_t last, int64_t granule)
        : row_(row), end_(end), column_(column), last_(last), rows_(16 * granule), columns_(252) {
        if (count() < 4 * num_threads()) columns_ = 126;
        while (count() < 4 * num_threads() && rows_ > 4 * granule) rows_ /= 2;
    }
    int64_t count() const { return row_tiles() * ((last_ - column_ + columns_ - 1) / columns_); }
    Tile at(int64_t number) const {
        const int64_t row = row_ + number % row_tiles() * rows_,
                      column = column_ + number / row_tiles() * columns_;
        return {row, std::min(rows_, end_ - row), column, std::min(columns_, last_ - column)};
    }

private:
    int64_t row_tiles() const { return (end_ - row_ + rows_ - 1) / rows_; }

    int64_t row_, end_, column_, last_, rows_, columns_;
};

// ---- LU ----

template <class T>
int64_t lu_by_lapack(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots) {
    int64_t info = 0;
    functions<T>().getrf(&rows, &columns, a, &lda, pivots, &info);
    return info;
}

// Row swaps of the pivots from `from` to `to`, which count from 1 on.
template <class T>
void swap_rows(const int64_t* pivots, int64_t from, int64_t to, int64_t columns, T* a, int64_t lda) {
    const auto swap_in = [&]<int64_t kColumns>(std::integral_constant<int64_t, kColumns>, T* own) {
        for (int64_t i = from; i < to; ++i) {
            T *row = own + i, *other = own + pivots[i] - 1;
            for (int64_t k = 0; k < kColumns; ++k, row += lda, other += lda) {
                std::swap(*row, *other);
                __builtin_prefetch(other + kColumns * lda, 1);
            }
        }
    };
    int64_t column = 0;
    for (; column + 4 <= columns; column += 4)
        swap_in(std::integral_constant<int64_t, 4>(), a + column * lda);
    for (; column < columns; ++column) swap_in(std::integral_constant<int64_t, 1>(), a + column * lda);
}

// Factors of a panel by halves: the left one, what follows for the right one, then that (Toledo, Locality of
// reference in LU decomposition with partial pivoting, 1997).
template <class T>
int64_t lu_by_halves(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots) {
    int64_t most = kLapackColumns;
    if constexpr (!is_complex<T>) {
        if (const LeafKernels<T>* const kernels = leaf_kernels<T>()) {
            if (columns <= kLeafColumns<T>) return kernels->lu(rows, columns, a, lda, pivots);
            most = kLeafColumns<T>;
        }
    }
    if (columns <= most) return lu_by_lapack(rows, columns, a, lda, pivots);
    const int64_t half = (columns / 2 + most - 1) / most * most, rest = columns - half;
    T* const right = a + half * lda;
    const int64_t info = lu_by_halves(rows, half, a, lda, pivots);
    swap_rows(pivots, 0, half, rest, right, lda);
    Triangle<T>({true, Form::kPlain, true}, half, a, lda).pack_all().solve(rest, right, lda);
    Packed<T>(Form::kPlain, rows - half, half, a + half, lda)
        .pack_all()
        .multiply(Update::kSubtract, rest, right, lda, right + half, lda);
    const int64_t later = lu_by_halves(rows - half, rest, right + half, lda, pivots + half);
    for (int64_t i = half; i < columns; ++i) pivots[i] += half;
    swap_rows(pivots, half, columns, half, a, lda);
    return info > 0 ? info : later > 0 ? later + half : 0;
}

template <class T>
class BlockedLu {
public:
    BlockedLu(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots)
        : rows_(rows),
          columns_(columns),
          least_(std::min(rows, columns)),
          a_(a),
          lda_(lda),
          pivots_(pivots) {}

    int64_t run() {
        factor_panel(0);
        for (int64_t j = 0; j < least_ && end_of(j) < columns_; j += kPanel) update_beyond(j);
        // The rows to the left of each panel, which nobody reads before.
        parallel_for((least_ + kPanel - 1) / kPanel, [&](int64_t panel) {
            const int64_t first = panel * kPanel, last = end_of(first);
            swap_rows(pivots_, last, least_, last - first, at(0, first), lda_);
        });
        return info_;
    }

private:
    T* at(int64_t row, int64_t column) const { return a_ + row + column * lda_; }
    int64_t end_of(int64_t panel) const { return std::min(panel + kPanel, least_); }

    void factor_panel(int64_t j) {
        const int64_t width = end_of(j) - j;
        const int64_t info = lu_by_halves(rows_ - j, width, at(j, j), lda_, pivots_ + j);
        if (info > 0 && info_ == 0) info_ = info + j;
        for (int64_t i = j; i < j + width; ++i) pivots_[i] += j;
    }

    void update_beyond(int64_t j) {
        const int64_t next = end_of(j), width = next - j;
        const Triangle<T> corner({true, Form::kPlain, true}, width, at(j, j), lda_);
        corner.pack_all();
        Packed<T> below(Form::kPlain, rows_ - next, width, at(next, j), lda_);
        const int64_t parts = below.parts(), strips = (columns_ - next + kStrip - 1) / kStrip;
        const BlasThreads inside(library(), std::min<int64_t>(parts + strips, num_threads()));
        const auto solve = [&](int64_t first, int64_t last) {
            swap_rows(pivots_, j, next, last - first, at(0, first), lda_);
            corner.solve(last - first, at(j, first), lda_);
        };
        if (strips >= 2 * num_threads()) {  // so that each strip is brought near once
            parallel_for(parts, [&](int64_t part) { below.pack(part); });
            return for_strips(next, columns_, kPanel, [&](int64_t first, int64_t last) {
                solve(first, last);
                below.multiply(Update::kSubtract, last - first, at(j, first), lda_, at(next, first), lda_);
                if (first == next && next < least_) factor_panel(next);
            });
        }
        parallel_for(parts + strips, [&](int64_t task) {
            if (task < parts) return below.pack(task);
            const int64_t first = next + (task - parts) * kStrip;
            solve(first, std::min(columns_, first + kStrip));
        });
        // The next panel, which is factored at once, and tiles of what is beyond it.
        const int64_t beyond = next < least_ ? end_of(next) : next;
        const Tiles tiles(next, rows_, beyond, columns_, below.granule());
        parallel_for(1 + tiles.count(), [&](int64_t task) {
            if (task == 0) {
                below.multiply(Update::kSubtract, beyond - next, at(j, next), lda_, at(next, next), lda_);
                if (next < least_) factor_panel(next);
                return;
            }
            const Tile tile = tiles.at(task - 1);
            below.multiply(Update::kSubtract, tile.row - next, tile.rows, tile.columns, at(j, tile.column),
                           lda_, at(tile.row, tile.column), lda_);
        });
    }

    int64_t rows_, columns_, least_;
    T* a_;
    int64_t lda_;
    int64_t* pivots_;
    int64_t info_ = 0;  // written by one task at a time
};

// ---- Cholesky ----

template <class T>
int64_t cholesky_by_lapack(int64_t n, T* a, int64_t lda) {
    int64_t info = 0;
    functions<T>().potrf("U", &n, a, &lda, &info, 1);
    return info;
}

template <class T>
int64_t cholesky_by_halves(int64_t n, T* a, int64_t lda) {
    if (n <= kLapackCorner) return cholesky_by_lapack(n, a, lda);
    const int64_t half = n / 2 / 16 * 16, rest = n - half;
    T* const right = a + half * lda;
    if (const int64_t info = cholesky_by_halves(half, a, lda); info != 0) return info;
    Triangle<T>({false, Form::kAdjoint}, half, a, lda).pack_all().solve(rest, right, lda);
    Packed<T>(Form::kAdjoint, rest, half, right, lda)
        .pack_all()
        .multiply(Update::kSubtract, rest, right, lda, right + half, lda);
    const int64_t later = cholesky_by_halves(rest, right + half, lda);
    return later == 0 ? 0 : later + half;
}

template <class T>
int64_t blocked_cholesky(int64_t n, T* a, int64_t lda) {
    const auto at = [&](int64_t row, int64_t column) { return a + row + column * lda; };
    int64_t found = cholesky_by_halves(std::min(kPanel, n), a, lda);
    for (int64_t j = 0; j + kPanel < n && found == 0; j += kPanel) {
        const int64_t next = j + kPanel, rest = n - next;
        const Triangle<T> corner({false, Form::kAdjoint}, kPanel, at(j, j), lda);
        corner.pack_all();
        Packed<T> rows(Form::kAdjoint, rest, kPanel, at(j, next), lda);
        const int64_t width = rows.rows_of_part(), strips = (rest + width - 1) / width;
        const BlasThreads inside(library(), std::min<int64_t>(strips, num_threads()));
        parallel_for(strips, [&](int64_t strip) {
            const int64_t first = next + strip * width;
            corner.solve(std::min(width, n - first), at(j, first), lda);
            if (rows.parts() > 0) rows.pack(strip);
        });
        // Columns of the result above the diagonal and a little below it.
        const auto update = [&](int64_t row, int64_t end, int64_t column, int64_t last) {
            rows.multiply(Update::kSubtract, row - next, end - row, last - column, at(j, column), lda,
                          at(row, column), lda);
        };
        const int64_t square = std::min(n, next + kPanel), granule = rows.granule();
        const Tiles tiles(next, n, square, n, granule);
        parallel_for(1 + tiles.count(), [&](int64_t task) {
            if (task == 0) {
                const int64_t whole = (square - next + granule - 1) / granule * granule;
                update(next, std::min(n, next + whole), next, square);
                const int64_t info = cholesky_by_halves(square - next, at(next, next), lda);
                if (info != 0) found = info + next;
                return;
            }
            const Tile tile = tiles.at(task - 1);
            const int64_t end = tile.row + tile.rows, last = tile.column + tile.columns;
            if (end <= tile.column) return update(tile.row, end, tile.column, last);
            for (int64_t column = tile.column; column < last; column += kNearDiagonal) {
                const int64_t beyond = std::min(last, column + kNearDiagonal);
                if (tile.row >= beyond) continue;
                const int64_t whole = (beyond - tile.row + granule - 1) / granule * granule;
                update(tile.row, std::min(end, tile.row + whole), column, beyond);
            }
        });
    }
    return found;
}

// ---- QR ----

template <class T>
void qr_by_lapack(int64_t rows, int64_t columns, T* a, int64_t lda, T* tau) {
    int64_t size = -1, info = 0;
    T answer{};
    functions<T>().geqrf(&rows, &columns, a, &lda, tau, &answer, &size, &info);
    size = asked_size(answer);
    const Room<T> work(size);
    functions<T>().geqrf(&rows, &columns, a, &lda, tau, work, &size, &info);
}

// A panel by halves (Elmroth and Gustavson, Applying recursion to serial and parallel QR factorization leads
// to better performance, 2000).
template <class T>
void qr_by_halves(int64_t rows, int64_t columns, T* a, int64_t lda, T* tau) {
    if (columns <= kQrLeaf) return qr_by_lapack(rows, columns, a, lda, tau);
    const int64_t half = columns / 2;
    T* const right = a + half * lda;
    qr_by_halves(rows, half, a, lda, tau);
    ReflectorBlock<T>(rows, half, a, lda, tau).prepare().apply(true, columns - half, right, lda);
    qr_by_halves(rows - half, columns - half, right + half, lda, tau + half);
}

template <class T>
void blocked_qr(int64_t rows, int64_t columns, T* a, int64_t lda, T* tau) {
    const int64_t least = std::min(rows, columns);
    const auto at = [&](int64_t row, int64_t column) { return a + row + column * lda; };
    const auto factor_panel = [&](int64_t j) {
        qr_by_halves(rows - j, std::min(kQrPanel, least - j), at(j, j), lda, tau + j);
    };
    factor_panel(0);
    for (int64_t j = 0; j < least; j += kQrPanel) {
        const int64_t next = std::min(j + kQrPanel, least);
        if (next == columns) return;
        ReflectorBlock<T> block(rows - j, next - j, at(j, j), lda, tau + j);
        parallel_for(block.parts(), [&](int64_t part) { block.pack(part); });
        block.finish();
        for_strips(next, columns, kQrPanel, [&](int64_t first, int64_t last) {
            block.apply(true, last - first, at(j, first), lda);
            if (first == next && next < least) factor_panel(next);
        });
    }
}

// Each strip of columns on its own: the blocks are applied to the identity, the last one first. A block
// leaves columns to the left of it alone.
template <class T>
void blocked_q(int64_t rows, int64_t columns, int64_t count, T* a, int64_t lda, const T* tau) {
    constexpr int64_t kWidth = Reflectors<T>::kWidth;
    const Room<T> reflectors(rows * count);
    for_strips(0, count, kStrip, [&](int64_t first, int64_t last) {
        for (int64_t j = first; j < last; ++j)
            std::copy(a + j * lda, a + j * lda + rows, reflectors + j * rows);
    });
    const Reflectors<T> blocks = [&] {
        const int64_t panels = (count + kWidth - 1) / kWidth;
        const BlasThreads inside(library(), std::min<int64_t>(panels, num_threads()));
        return Reflectors<T>(rows, count, reflectors, rows, tau);
    }();
    for_strips(0, columns, kQrPanel, [&](int64_t first, int64_t last) {
        for (int64_t j = first; j < last; ++j) {
            std::fill(a + j * lda, a + j * lda + rows, T(0));
            a[j + j * lda] = T(1);
        }
        blocks.apply(last - first, a + first * lda, lda,
                     std::min(blocks.count(), (last + kWidth - 1) / kWidth));
    });
}

}  // namespace

template <class T>
int64_t lu_in_place(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots) {
    if (!is_large(rows, columns)) return lu_by_lapack(rows, columns, a, lda, pivots);
    note_panels<T>();
    return BlockedLu<T>(rows, columns, a, lda, pivots).run();
}

template <class T>
int64_t cholesky_in_place(int64_t n, T* a, int64_t lda) {
    if (!is_large(n, n)) return cholesky_by_lapack(n, a, lda);
    note_panels<T>();
    return blocked_cholesky(n, a, lda);
}

template <class T>
void qr_in_place(int64_t rows, int64_t columns, T* a, int64_t lda, T* tau) {
    if (!is_large(rows, columns)) return qr_by_lapack(rows, columns, a, lda, tau);
    note_panels<T>();
    blocked_qr(rows, columns, a, lda, tau);
}

template <class T>
void q_in_place(int64_t rows, int64_t columns, int64_t count, T* a, int64_t lda, const T* tau) {
    if (is_large(rows, count)) return blocked_q(rows, columns, count, a, lda, tau);
    int64_t size = -1, info = 0;
    T answer{};
    functions<T>().orgqr(&rows, &columns, &count, a, &lda, tau, &answer, &size, &info);
    size = asked_size(answer);
    const Room<T> work(size);
    functions<T>().orgqr(&rows, &columns, &count, a, &lda, tau, work, &size, &info);
}

#define WEFT_FACTOR(T)                                                     \
    template int64_t lu_in_place(int64_t, int64_t, T*, int64_t, int64_t*); \
    template int64_t cholesky_in_place(int64_t, T*, int64_t);              \
    template void qr_in_place(int64_t, int64_t, T*, int64_t, T*);          \
    template void q_in_place(int64_t, int64_t, int64_t, T*, int64_t, const T*);
WEFT_FACTOR(float)
WEFT_FACTOR(double)
WEFT_FACTOR(std::complex<float>)
WEFT_FACTOR(std::complex<double>)
#undef WEFT_FACTOR

}  // namespace weft::lapack
