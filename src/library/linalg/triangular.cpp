#include "library/linalg/triangular.h"

#include <atomic>

#include "library/linalg/factored.h"

namespace weft::lapack {

namespace {

double operations_of(const Matrices& a, const Matrices& x) {
    return static_cast<double>(a.rows) * static_cast<double>(a.rows) * static_cast<double>(x.columns) + 100;
}

// x in place of b, one unknown after another, whatever is on the diagonal.
template <class T>
void substitute(bool lower, char form, bool unit, int64_t n, int64_t columns, const T* a, T* b) {
    const int64_t lead = leading(n);
    const auto element = [&](int64_t i, int64_t j) {
        if (form == 'N') return a[i + j * lead];
        if constexpr (is_complex<T>) {
            if (form == 'C') return std::conj(a[j + i * lead]);
        }
        return a[j + i * lead];
    };
    const bool forward = lower == (form == 'N');
    for (int64_t column = 0; column < columns; ++column) {
        T* const x = b + column * lead;
        for (int64_t step = 0; step < n; ++step) {
            const int64_t i = forward ? step : n - 1 - step;
            T sum = x[i];
            for (int64_t k = forward ? 0 : i + 1; k < (forward ? i : n); ++k) sum -= element(i, k) * x[k];
            x[i] = unit ? sum : sum / element(i, i);
        }
    }
}

template <class T>
int64_t solve_all(const Matrices& a, const Matrices& b, const Triangle& triangle, const Matrices& x) {
    const int64_t n = a.rows, columns = x.columns, lead = leading(n);
    std::atomic<int64_t> zero = -1;
    // A matrix that lies by rows is the transposed one in column-major order.
    const bool flipped = a.by_rows(sizeof(T)) && triangle.form != 'C';
    const Matrices from = flipped ? a.transposed() : a;
    const char uplo = triangle.lower != flipped ? 'L' : 'U', diag = triangle.unit ? 'U' : 'N';
    const char form = !flipped ? triangle.form : triangle.form == 'N' ? 'T' : 'N';
    share_matrices(x.count(), operations_of(a, x), [&](int64_t first, int64_t last) {
        Room<T> room(n * n), right(n * columns);
        for (int64_t index = first; index < last; ++index) {
            take(from, index, room.data(), lead);
            take(b, index, right.data(), lead);
            const int64_t info = solve_with_triangle<T>(&uplo, &form, &diag, n, columns, room, right);
            if (info != 0 && triangle.divides_by_zero)
                substitute<T>(uplo == 'L', form, triangle.unit, n, columns, room.data(), right.data());
            if (info == 0 || triangle.divides_by_zero) {
                give(right.data(), lead, x, index);
            } else {
                fill(x, index, kNan<T>);
                zero = info - 1;
            }
        }
    });
    return zero;
}

template <class T>
bool solve_bands(int64_t below, int64_t above, const Matrices& bands, const Matrices& b, const Matrices& x) {
    const int64_t n = bands.columns, columns = x.columns, lead = leading(n), rows = 2 * below + above + 1;
    const auto& f = functions<T>();
    std::atomic<bool> regular = true;
    share_matrices(x.count(), operations_of(x, x), [&](int64_t first, int64_t last) {
        Room<T> room(rows * n), right(n * columns);
        Room<int64_t> pivots(n);
        for (int64_t index = first; index < last; ++index) {
            std::fill(room.data(), room.data() + rows * n, T(0));
            take(bands, index, room.data() + below, rows);
            take(b, index, right.data(), lead);
            int64_t info = 0;
            f.gbsv(&n, &below, &above, &columns, room, &rows, pivots, right, &lead, &info);
            if (info == 0) {
                give(right.data(), lead, x, index);
            } else {
                fill(x, index, kNan<T>);
                regular = false;
            }
        }
    });
    return regular;
}

// By columns, from the diagonal upwards (Björck and Hammarling).
template <class T>
bool root_of(T* a, int64_t n) {
    bool regular = true;
    for (int64_t j = 0; j < n; ++j) {
        if (a[j * (n + 1)] == T(0)) regular = false;
        a[j * (n + 1)] = std::sqrt(a[j * (n + 1)]);
        for (int64_t i = j; i-- > 0;) {
            T sum = a[i + j * n];
            for (int64_t k = i + 1; k < j; ++k) sum -= a[i + k * n] * a[k + j * n];
            const T both = a[i * (n + 1)] + a[j * (n + 1)];
            a[i + j * n] = sum == T(0) ? T(0) : sum / both;
        }
    }
    return regular;
}

template <class T>
bool write_roots(const Matrices& a, const Matrices& root) {
    if constexpr (!is_complex<T>) {
        return write_roots<std::complex<T>>(a, root);  // not reached: callers have complex matrices
    } else {
        const int64_t n = a.rows;
        std::atomic<bool> regular = true;
        share_matrices(a.count(), operations_of(a, a), [&](int64_t first, int64_t last) {
            Room<T> room(n * n);
            for (int64_t index = first; index < last; ++index) {
                take(a, index, room.data(), leading(n));
                for (int64_t j = 0; j < n; ++j) std::fill(room + j * n + j + 1, room + (j + 1) * n, T(0));
                if (!root_of(room.data(), n)) regular = false;
                give(room.data(), leading(n), root, index);
            }
        });
        return regular;
    }
}

}  // namespace

int64_t solve_triangular(ScalarType type, const Matrices& a, const Matrices& b, const Triangle& triangle,
                         const Matrices& x) {
    return visit_type(type, [&]<class T>(TypeTag<T>) { return solve_all<T>(a, b, triangle, x); });
}

bool solve_banded(ScalarType type, int64_t below, int64_t above, const Matrices& bands, const Matrices& b,
                  const Matrices& x) {
    return visit_type(type, [&]<class T>(TypeTag<T>) { return solve_bands<T>(below, above, bands, b, x); });
}

bool triangular_root(ScalarType type, const Matrices& a, const Matrices& root) {
    return visit_type(type, [&]<class T>(TypeTag<T>) { return write_roots<T>(a, root); });
}

}  // namespace weft::lapack
