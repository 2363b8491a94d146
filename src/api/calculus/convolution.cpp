#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "api/recording/host_row.h"
#include "core/float_errors.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/calculus.h"
#include "weft/creation.h"
#include "weft/operations.h"

namespace weft {

namespace {

array as(const array& row, DType dtype) { return row.dtype() == dtype ? row : astype(row, dtype); }

// Zeros before the longer row, and how many sums there are.
struct Places {
    int64_t before, count;
};

Places places_of(int64_t n, int64_t m, Overlap mode) {
    switch (mode) {
        case Overlap::kSame: return {m / 2, n};
        case Overlap::kFull: return {m - 1, n + m - 1};
        default: return {0, n - m + 1};
    }
}

// Many sums are added up side by side, element after element; few one after another.
constexpr int64_t kManySums = 64;
constexpr int64_t kFewProducts = 16;

bool is_at_hand(const array& row) { return device_of(row).is_cpu() && evaluated(row); }

// Few sums of few products, at the call; added up as a reduction does (library/loops/reduction_order.h).
template <class T>
array few_sums(const array& longer, const array& shorter, bool turned_round, const Places& places) {
    using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
    const HostRow a(longer), v(shorter);
    const auto n = static_cast<size_t>(a.count()), m = static_cast<size_t>(v.count());
    std::array<Wrapping, kManySums + kFewProducts> padded{};
    std::array<Wrapping, kFewProducts> factors{}, products{};
    for (size_t i = 0; i < n; ++i)
        padded[static_cast<size_t>(places.before) + i] = static_cast<Wrapping>(a.as<T>()[i]);
    for (size_t k = 0; k < m; ++k)
        factors[k] = static_cast<Wrapping>(v.as<T>()[turned_round ? m - 1 - k : k]);
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(places.count) * sizeof(T));
    auto* const sums = reinterpret_cast<T*>(buffer->data());
    for (size_t i = 0; i < static_cast<size_t>(places.count); ++i) {
        for (size_t k = 0; k < m; ++k) products[k] = padded[i + k] * factors[k];
        size_t width = m;
        for (size_t half = kFewProducts / 2; half >= 1; half /= 2) {
            for (size_t k = 0; k + half < width; ++k) products[k] += products[k + half];
            width = std::min(width, half);
        }
        sums[i] = static_cast<T>(products[0] + Wrapping(0));  // a sum of -0 is +0
    }
    return row_of(std::move(buffer), longer.dtype(), places.count);
}

// Nothing where they are not few, or not of a dtype that most programs have.
std::optional<array> try_few_sums(const array& longer, const array& shorter, bool turned_round,
                                  Overlap mode) {
    if (!(longer.dtype() == shorter.dtype()) || shorter.size() > kFewProducts || longer.size() >= kManySums ||
        float_errors_watched())
        return {};
    const Places places = places_of(longer.size(), shorter.size(), mode);
    if (places.count >= kManySums || !is_at_hand(longer) || !is_at_hand(shorter)) return {};
    switch (longer.dtype().scalar_type()) {
        case ScalarType::kFloat64: return few_sums<double>(longer, shorter, turned_round, places);
        case ScalarType::kFloat32: return few_sums<float>(longer, shorter, turned_round, places);
        case ScalarType::kInt64: return few_sums<int64_t>(longer, shorter, turned_round, places);
        default: return {};
    }
}

array turned(const array& row) { return flip(row, std::nullopt); }

// sum(a[i + k] * v[k]) at each place where both overlap as `mode` says; `a` is the longer, v may be turned
// round.
array slid(const array& longer, const array& shorter, bool turned_round, Overlap mode) {
    if (std::optional<array> few = try_few_sums(longer, shorter, turned_round, mode)) return *few;
    const int64_t n = longer.size(), m = shorter.size();
    const DType dtype = promote_types(longer.dtype(), shorter.dtype());
    const array a = as(longer, dtype), v = as(turned_round ? turned(shorter) : shorter, dtype);
    const auto [before, count] = places_of(n, m, mode);
    const int64_t after = count + m - 1 - before - n;
    array padded = a;
    if (before != 0 || after != 0) padded = concatenate({zeros(before, dtype), a, zeros(after, dtype)});
    const int64_t stride = padded.strides()[0];
    const bool side_by_side = count >= kManySums;
    const Dims shape = side_by_side ? Dims{m, count} : Dims{count, m};
    array products =
        multiply(strided_view(padded, shape, {stride, stride}), side_by_side ? reshape(v, {m, 1}) : v);
    const int64_t axis = side_by_side ? 0 : -1;
    if (dtype.is_bool()) return any(std::move(products), axis);
    return sum(std::move(products), axis, {.dtype = dtype});
}

}  // namespace

array convolve(const array& a, const array& v, Overlap mode) {
    const array left = a.ndim() == 0 ? reshape(a, {1}) : a, right = v.ndim() == 0 ? reshape(v, {1}) : v;
    if (left.shape()[0] == 0) throw ValueError("a cannot be empty");
    if (right.shape()[0] == 0) throw ValueError("v cannot be empty");
    const bool is_swapped = right.size() > left.size();
    const array &longer = is_swapped ? right : left, &shorter = is_swapped ? left : right;
    if (longer.ndim() != 1 || shorter.ndim() != 1) throw ValueError("object too deep for desired array");
    const DeviceScope scope(device_of(longer));
    return slid(longer, shorter, true, mode);
}

array correlate(const array& a, const array& v, Overlap mode) {
    if (a.ndim() == 0 || v.ndim() == 0) throw ValueError("object of too small depth for desired array");
    if (a.ndim() != 1 || v.ndim() != 1) throw ValueError("object too deep for desired array");
    if (a.size() == 0) throw ValueError("first array argument cannot be empty");
    if (v.size() == 0) throw ValueError("second array argument cannot be empty");
    const DeviceScope scope(device_of(a));
    const array right = v.dtype().is_complex() ? conjugate(v) : v;
    if (a.size() >= right.size()) return slid(a, right, false, mode);
    return copy(turned(slid(right, a, false, mode)));
}

}  // namespace weft
