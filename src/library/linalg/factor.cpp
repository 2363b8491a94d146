#include "library/linalg/factor.h"

#include "library/linalg/reflectors.h"

namespace weft::lapack {

namespace {

constexpr int64_t kPanel = 64;  // columns of a panel, and of a strip that a task brings up to date
constexpr int64_t kManyColumns = 1024;
constexpr int64_t kBlocked = 256;  // of the shorter side: smaller matrices are LAPACK's

bool is_large(int64_t rows, int64_t columns) { return std::min(rows, columns) >= kBlocked; }

void note_panels() { way_taken = {kLapack, "panel by panel", num_threads()}; }

// Calls task(first, last) for strips of the columns from `first` on. The first strip is a panel's. Those
// behind are twice as wide while there are many, so that each product reads its other factor less often.
template <class Task>
void for_strips(int64_t first, int64_t end, const Task& task) {
    if (first >= end) return;
    const int64_t width = end - first > kManyColumns ? 2 * kPanel : kPanel;
    const int64_t behind = first + kPanel, strips = 1 + (std::max(behind, end) - behind + width - 1) / width;
    const BlasThreads inside(library(), std::min<int64_t>(strips, num_threads()));
    parallel_for(strips, [&](int64_t strip) {
        const int64_t begin = strip == 0 ? first : behind + (strip - 1) * width;
        task(begin, std::min(end, strip == 0 ? behind : begin + width));
    });
}
static_assert(kPanel == Reflectors<double>::kWidth);

// ---- LU ----

template <class T>
int64_t lu_by_lapack(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots) {
    int64_t info = 0;
    functions<T>().getrf(&rows, &columns, a, &lda, pivots, &info);
    return info;
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
        for (int64_t j = 0; j < least_; j += kPanel) {
            const int64_t next = std::min(j + kPanel, least_);
            for_strips(next, columns_, [&](int64_t first, int64_t last) {
                update(j, next - j, first, last);
                if (first == next && next < least_) factor_panel(next);
            });
        }
        // The rows to the left of each panel, which nobody reads before.
        parallel_for((least_ + kPanel - 1) / kPanel, [&](int64_t panel) {
            const int64_t first = panel * kPanel, last = std::min(least_, first + kPanel);
            swap_rows(last, least_, first, last);
        });
        return info_;
    }

private:
    T* at(int64_t row, int64_t column) const { return a_ + row + column * lda_; }

    void factor_panel(int64_t j) {
        const int64_t width = std::min(kPanel, least_ - j);
        const int64_t info = lu_by_lapack(rows_ - j, width, at(j, j), lda_, pivots_ + j);
        if (info > 0 && info_ == 0) info_ = info + j;
        for (int64_t i = j; i < j + width; ++i) pivots_[i] += j;
    }

    void swap_rows(int64_t from, int64_t to, int64_t first, int64_t last) const {
        for (int64_t column = first; column < last; ++column) {
            T* const own = at(0, column);
            for (int64_t i = from; i < to; ++i) std::swap(own[i], own[pivots_[i] - 1]);
        }
    }

    void update(int64_t j, int64_t width, int64_t first, int64_t last) const {
        swap_rows(j, j + width, first, last);
        const int64_t strip = last - first;
        int64_t info = 0;
        functions<T>().trtrs("L", "N", "U", &width, &strip, at(j, j), &lda_, at(j, first), &lda_, &info, 1, 1,
                             1);
        multiply(Form::kPlain, Form::kPlain, rows_ - j - width, strip, width, T(-1), at(j + width, j), lda_,
                 at(j, first), lda_, T(1), at(j + width, first), lda_);
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
int64_t blocked_cholesky(int64_t n, T* a, int64_t lda) {
    const auto at = [&](int64_t row, int64_t column) { return a + row + column * lda; };
    int64_t found = cholesky_by_lapack(std::min(kPanel, n), a, lda);
    for (int64_t j = 0; j < n && found == 0; j += kPanel) {
        const int64_t next = std::min(j + kPanel, n), width = next - j;
        for_strips(next, n, [&](int64_t first, int64_t last) {
            const int64_t strip = last - first;
            int64_t info = 0;
            functions<T>().trtrs("U", "C", "N", &width, &strip, at(j, j), &lda, at(j, first), &lda, &info, 1,
                                 1, 1);
        });
        for_strips(next, n, [&](int64_t first, int64_t last) {
            multiply(Form::kAdjoint, Form::kPlain, last - next, last - first, width, T(-1), at(j, next), lda,
                     at(j, first), lda, T(1), at(next, first), lda);
            if (first != next) return;
            const int64_t info = cholesky_by_lapack(last - first, at(first, first), lda);
            if (info != 0) found = info + first;
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

template <class T>
void blocked_qr(int64_t rows, int64_t columns, T* a, int64_t lda, T* tau) {
    const int64_t least = std::min(rows, columns);
    const auto at = [&](int64_t row, int64_t column) { return a + row + column * lda; };
    const auto factor_panel = [&](int64_t j) {
        qr_by_lapack(rows - j, std::min(kPanel, least - j), at(j, j), lda, tau + j);
    };
    factor_panel(0);
    for (int64_t j = 0; j < least; j += kPanel) {
        const int64_t next = std::min(j + kPanel, least);
        if (next == columns) return;
        const ReflectorBlock<T> block(rows - j, next - j, at(j, j), lda, tau + j);
        for_strips(next, columns, [&](int64_t first, int64_t last) {
            block.apply(true, last - first, at(j, first), lda);
            if (first == next && next < least) factor_panel(next);
        });
    }
}

// Each strip of columns on its own: the blocks are applied to the identity, the last one first. A block
// leaves columns to the left of it alone.
template <class T>
void blocked_q(int64_t rows, int64_t columns, int64_t count, T* a, int64_t lda, const T* tau) {
    const Room<T> reflectors(rows * count);
    for_strips(0, count, [&](int64_t first, int64_t last) {
        for (int64_t j = first; j < last; ++j)
            std::copy(a + j * lda, a + j * lda + rows, reflectors + j * rows);
    });
    const Reflectors<T> blocks = [&] {
        const int64_t panels = (count + kPanel - 1) / kPanel;
        const BlasThreads inside(library(), std::min<int64_t>(panels, num_threads()));
        return Reflectors<T>(rows, count, reflectors, rows, tau);
    }();
    for_strips(0, columns, [&](int64_t first, int64_t last) {
        for (int64_t j = first; j < last; ++j) {
            std::fill(a + j * lda, a + j * lda + rows, T(0));
            a[j + j * lda] = T(1);
        }
        blocks.apply(last - first, a + first * lda, lda,
                     std::min(blocks.count(), (last + kPanel - 1) / kPanel));
    });
}

}  // namespace

template <class T>
int64_t lu_in_place(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots) {
    if (!is_large(rows, columns)) return lu_by_lapack(rows, columns, a, lda, pivots);
    note_panels();
    return BlockedLu<T>(rows, columns, a, lda, pivots).run();
}

template <class T>
int64_t cholesky_in_place(int64_t n, T* a, int64_t lda) {
    if (!is_large(n, n)) return cholesky_by_lapack(n, a, lda);
    note_panels();
    return blocked_cholesky(n, a, lda);
}

template <class T>
void qr_in_place(int64_t rows, int64_t columns, T* a, int64_t lda, T* tau) {
    if (!is_large(rows, columns)) return qr_by_lapack(rows, columns, a, lda, tau);
    note_panels();
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
