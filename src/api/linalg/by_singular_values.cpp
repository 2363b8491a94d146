// What is composed of singular values and vectors: polar forms, bases of spaces, pseudo-inverses and ranks.
#include <algorithm>

#include "api/linalg/inputs.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/products.h"
#include "weft/statistics.h"

namespace weft::linalg {

namespace {

double default_ratio(const array& values, const array& a) {
    const double precision = values.itemsize() == 4 ? 0x1p-23 : 0x1p-52;
    return precision * static_cast<double>(std::max(a.shape()[a.shape().size() - 2], a.shape().back()));
}

array largest_of(const array& values) { return max(values, -1, {.keepdims = true, .initial = 0}); }

// The rank that all matrices of a batch have, so that their bases are of one shape.
int64_t common_rank(const array& values, const array& a, std::optional<double> rcond) {
    const double ratio = rcond.value_or(default_ratio(values, a));
    const array ranks = count_nonzero(greater(values, multiply(largest_of(values), ratio)), -1);
    if (ranks.size() == 0) return 0;
    const auto least = min(ranks).item<int64_t>(), most = max(ranks).item<int64_t>();
    if (least != most)
        throw ValueError("the bases of a batch must have the same shape, but ranks are from " +
                         std::to_string(least) + " to " + std::to_string(most));
    return most;
}

}  // namespace

PolarResult polar(const array& a, PolarSide side) {
    const SVDResult parts = svd(a, false);
    const array& vh = parts.Vh;
    const array orthonormal = matmul(parts.U, vh);
    if (side == PolarSide::kRight)
        return {orthonormal, matmul(multiply(adjoint(vh), parts.S(ellipsis, newaxis, all)), vh)};
    return {orthonormal, matmul(multiply(parts.U, parts.S(ellipsis, newaxis, all)), adjoint(parts.U))};
}

array orth(const array& a, std::optional<double> rcond) {
    const SVDResult parts = svd(a, false);
    return parts.U(ellipsis, slice(common_rank(parts.S, a, rcond)));
}

array null_space(const array& a, std::optional<double> rcond, SVDDriver driver) {
    const SVDResult parts = svd(a, true, driver);
    return adjoint(parts.Vh(ellipsis, slice(common_rank(parts.S, a, rcond), none), all));
}

RankedPinv ranked_pinv(const array& a, const PinvTolerances& tolerances) {
    if (!(tolerances.atol >= 0) || !(tolerances.rtol.value_or(0) >= 0))
        throw ValueError("atol and rtol values must be positive.");
    const SVDResult parts = svd(a, false);
    const array& s = parts.S;
    const double rtol = tolerances.rtol.value_or(default_ratio(s, a));
    const array kept = greater(s, add(multiply(largest_of(s), rtol), tolerances.atol));
    const array inverse = where(kept, divide(1, where(kept, s, 1)), 0);
    return {matmul(multiply(adjoint(parts.Vh), inverse(ellipsis, newaxis, all)), adjoint(parts.U)),
            count_nonzero(kept, -1)};
}

}  // namespace weft::linalg
