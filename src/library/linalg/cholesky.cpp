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
    const double operations = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 3;
    share_matrices(factor.count(), operations, [&](int64_t first, int64_t last) {
        // The lower triangle by rows is the upper one by columns, and so is the factor: it is computed in its
        // place.
        std::optional<Room<T>> room;
        if (upper) room.emplace(n * n);
        for (int64_t index = first; index < last; ++index) {
            T* const to = upper ? room->data() : reinterpret_cast<T*>(factor.at(index));
            take(upper ? a : a.transposed(), index, to, lead);
            if (cholesky_in_place(n, to, lead) != 0) {
                fill(factor, index, kNan<T>);
                positive = false;
                continue;
            }
            for (int64_t j = 0; j < n; ++j) std::fill(to + j * n + j + 1, to + (j + 1) * n, T(0));
            if (upper) give(to, lead, factor, index);
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
