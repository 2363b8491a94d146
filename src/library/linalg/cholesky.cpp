#include "library/linalg/cholesky.h"

#include <atomic>

#include "library/linalg/factor.h"
#include "library/linalg/small_batches.h"

namespace weft::lapack {

namespace {

template <class T>
bool factor_all(const Matrices& a, bool upper, const Matrices& factor) {
    std::atomic<bool> positive = true;
    const int64_t n = a.rows, lead = leading(n);
    // In row-major order LAPACK sees the transposed matrix: the other triangle, and the transposed factor.
    const char triangle = upper ? 'L' : 'U';
    const double operations = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 3;
    share_matrices(factor.count(), operations, [&](int64_t first, int64_t last) {
        for (int64_t index = first; index < last; ++index) {
            T* const to = reinterpret_cast<T*>(factor.at(index));
            take(a.transposed(), index, to, lead);
            if (cholesky_in_place(triangle, n, to, lead) != 0) {
                fill(factor, index, kNan<T>);
                positive = false;
                continue;
            }
            for (int64_t i = 0; i < n; ++i) {
                T* const row = to + i * n;
                if (upper) {
                    std::fill(row, row + i, T(0));
                } else {
                    std::fill(row + i + 1, row + n, T(0));
                }
            }
        }
    });
    return positive;
}

}  // namespace

bool cholesky(ScalarType type, const Matrices& a, bool upper, const Matrices& factor) {
    if (const auto done = small::cholesky(type, a, upper, factor)) return *done;
    return visit_type(type, [&]<class T>(TypeTag<T>) { return factor_all<T>(a, upper, factor); });
}

}  // namespace weft::lapack
