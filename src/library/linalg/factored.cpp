#include "library/linalg/factored.h"

#include <atomic>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "library/linalg/dense/triangle.h"

namespace weft::lapack {

namespace {

constexpr int64_t kStrip = 126;   // columns of a task
constexpr int64_t kShared = 128;  // rows from which the threads share the columns
constexpr int64_t kPackedRows = 128, kPackedColumns = 16;

// Calls task(first, last) for strips of the columns, one after another for a small matrix.
template <class Task>
void for_strips(int64_t n, int64_t columns, const Task& task) {
    const int64_t strips = (columns + kStrip - 1) / kStrip;
    if (n < kShared || strips <= 1) return task(int64_t{0}, columns);
    const BlasThreads inside(library(), std::min<int64_t>(strips, num_threads()));
    parallel_for(strips,
                 [&](int64_t strip) { task(strip * kStrip, std::min(columns, (strip + 1) * kStrip)); });
}

// Where the row swaps of an LU factorisation bring each row: the row that comes to place i.
std::vector<int64_t> rows_by_place(int64_t n, const int64_t* pivots) {
    std::vector<int64_t> rows(static_cast<size_t>(n));
    std::iota(rows.begin(), rows.end(), int64_t{0});
    for (int64_t i = 0; i < n; ++i)
        std::swap(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(pivots[i] - 1)]);
    return rows;
}

}  // namespace

// Many right-hand sides of a large matrix go through triangles whose products are packed once.
bool is_shared(int64_t n, int64_t columns) { return n >= kPackedRows && columns >= kPackedColumns; }

template <class T>
void pack(std::initializer_list<const Triangle<T>*> triangles) {
    for (const Triangle<T>* triangle : triangles)
        parallel_for(triangle->parts(), [&](int64_t part) { triangle->pack(part); });
}

template <class T>
void solve_packed(const char* form, int64_t n, int64_t columns, const T* factors, const int64_t* pivots,
                  T* b) {
    const bool plain = *form == 'N';
    const Form own = plain ? Form::kPlain : *form == 'T' ? Form::kTransposed : Form::kAdjoint;
    const Triangle<T> lower({true, own, true}, n, factors, n), upper({false, own, false}, n, factors, n);
    pack<T>({&lower, &upper});
    const std::vector<int64_t> rows = rows_by_place(n, pivots);
    for_strips(n, columns, [&](int64_t first, int64_t last) {
        const int64_t width = last - first;
        T* const strip = b + first * n;
        const Room<T> before(n);
        for (int64_t j = 0; j < width && plain; ++j) {
            T* const column = strip + j * n;
            std::copy(column, column + n, before.data());
            for (int64_t i = 0; i < n; ++i) column[i] = before[rows[static_cast<size_t>(i)]];
        }
        (plain ? lower : upper).solve(width, strip, n);
        (plain ? upper : lower).solve(width, strip, n);
        for (int64_t j = 0; j < width && !plain; ++j) {
            T* const column = strip + j * n;
            std::copy(column, column + n, before.data());
            for (int64_t i = 0; i < n; ++i) column[rows[static_cast<size_t>(i)]] = before[i];
        }
    });
}

template <class T>
void solve_with_lu(const char* form, int64_t n, int64_t columns, const T* factors, const int64_t* pivots,
                   T* b) {
    if (is_shared(n, columns)) return solve_packed(form, n, columns, factors, pivots, b);
    const int64_t lead = leading(n);
    for_strips(n, columns, [&](int64_t first, int64_t last) {
        const int64_t width = last - first;
        int64_t info = 0;
        functions<T>().getrs(form, &n, &width, factors, &lead, pivots, b + first * lead, &lead, &info, 1);
    });
}

template <class T>
void invert_lu(int64_t n, const T* factors, const int64_t* pivots, T* inverse) {
    const int64_t lead = leading(n);
    if (n < kShared) {
        std::copy(factors, factors + n * n, inverse);
        int64_t info = 0, size = -1;
        T answer{};
        functions<T>().getri(&n, inverse, &lead, pivots, &answer, &size, &info);
        size = asked_size(answer);
        const Room<T> work(size);
        functions<T>().getri(&n, inverse, &lead, pivots, work, &size, &info);
        return;
    }
    // Column `place` of l⁻¹ is zero above its diagonal; it belongs to the row that the swaps brought there.
    const std::vector<int64_t> rows = rows_by_place(n, pivots);
    const Triangle<T> lower({true, Form::kPlain, true}, n, factors, n);
    const Triangle<T> upper({false, Form::kPlain, false}, n, factors, n);
    pack<T>({&lower, &upper});
    for_strips(n, n, [&](int64_t first, int64_t last) {
        const int64_t width = last - first;
        const Room<T> columns(n * width);
        std::fill(columns.data(), columns + n * width, T(0));
        for (int64_t j = 0; j < width; ++j) columns[first + j + j * n] = T(1);
        lower.solve(width, columns, n, first);
        upper.solve(width, columns, n);
        for (int64_t j = 0; j < width; ++j)
            std::copy(columns + j * n, columns + (j + 1) * n,
                      inverse + rows[static_cast<size_t>(first + j)] * n);
    });
}

template <class T>
int64_t solve_with_triangle(const char* triangle, const char* form, const char* diagonal, int64_t n,
                            int64_t columns, const T* a, T* b) {
    const int64_t lead = leading(n);
    if (is_shared(n, columns)) {
        const bool unit = *diagonal == 'U';
        for (int64_t i = 0; i < n && !unit; ++i)
            if (a[i + i * n] == T(0)) return i + 1;
        const Form own = *form == 'N' ? Form::kPlain : *form == 'T' ? Form::kTransposed : Form::kAdjoint;
        const Triangle<T> packed({*triangle == 'L', own, unit}, n, a, n);
        pack<T>({&packed});
        for_strips(n, columns,
                   [&](int64_t first, int64_t last) { packed.solve(last - first, b + first * n, n); });
        return 0;
    }
    std::atomic<int64_t> zero = 0;
    for_strips(n, columns, [&](int64_t first, int64_t last) {
        const int64_t width = last - first;
        int64_t info = 0;
        functions<T>().trtrs(triangle, form, diagonal, &n, &width, a, &lead, b + first * lead, &lead, &info,
                             1, 1, 1);
        if (info != 0) zero = info;  // the same for every strip
    });
    return zero;
}

#define WEFT_FACTORED(T)                                                                                    \
    template void solve_with_lu(const char*, int64_t, int64_t, const T*, const int64_t*, T*);               \
    template void invert_lu(int64_t, const T*, const int64_t*, T*);                                         \
    template int64_t solve_with_triangle(const char*, const char*, const char*, int64_t, int64_t, const T*, \
                                         T*);
WEFT_FACTORED(float)
WEFT_FACTORED(double)
WEFT_FACTORED(std::complex<float>)
WEFT_FACTORED(std::complex<double>)
#undef WEFT_FACTORED

}  // namespace weft::lapack
