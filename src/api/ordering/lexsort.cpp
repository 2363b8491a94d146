#include "api/indexing/fast_index.h"
#include "api/ordering/fast_order.h"
#include "core/shape.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/indexing.h"
#include "weft/ordering.h"

namespace weft {

array lexsort(std::span<const array> keys, int64_t axis) {
    if (keys.empty()) throw TypeError("need sequence of keys with len > 0 in lexsort");
    for (const array& key : keys) {
        if (key.shape() != keys[0].shape()) throw ValueError("all keys need to be the same shape");
    }
    if (keys[0].ndim() == 0) return empty_like(keys[0], DType(ScalarType::kInt64), 'C', {}) * 0;
    const auto along = static_cast<int64_t>(normalize_axis(axis, keys[0].ndim()));
    const auto order_of = [&](const array& key) {
        array order;
        return try_argsort(key, along, order) ? order : argsort(key, along);
    };
    const auto in_order = [&](const array& of, const array& order) {
        array taken;
        return of.ndim() == 1 && try_gather(of, order, taken) ? taken : take_along_axis(of, order, along);
    };
    array order = order_of(keys[0]);
    for (const array& key : keys.subspan(1)) order = in_order(order, order_of(in_order(key, order)));
    return order;
}

array digitize(const array& x, const array& bins, bool right) {
    if (x.dtype().is_complex()) throw TypeError("x may not be complex");
    if (bins.ndim() != 1)
        throw ValueError(bins.ndim() == 0 ? "object of too small depth for desired array"
                                          : "object too deep for desired array");
    const DType common = promote_types(x.dtype(), bins.dtype());
    const auto as_common = [&](const array& values) {
        return astype(values, common, 'K', Casting::kUnsafe, false);
    };
    const array next = bins(slice(1, none)), here = bins(slice(-1));
    if (truth_of(all(next >= here))) return searchsorted(as_common(bins), as_common(x), !right);
    if (!truth_of(all(next <= here))) throw ValueError("bins must be monotonically increasing or decreasing");
    return bins.size() - searchsorted(as_common(flip(bins)), as_common(x), !right);
}

}  // namespace weft
