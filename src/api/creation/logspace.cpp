// Numbers whose logarithms are evenly spaced.
#include <algorithm>
#include <utility>

#include "api/recording/move_first_axis.h"
#include "api/recording/scalar_here.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft {

namespace {

array with_axes(const Argument& value, int ndim) {
    const array given = scalar_here(from_argument(value));
    Dims shape = given.shape();
    while (shape.size() < static_cast<size_t>(ndim)) shape.insert(0, 1);
    return shape.size() == given.shape().size() ? given : reshape(given, shape);
}

int ndim_of(const Argument& value) {
    const auto* given = std::get_if<array>(&value);
    return given == nullptr ? 0 : given->ndim();
}

array as(const array& values, std::optional<DType> dtype) {
    return !dtype || *dtype == values.dtype() ? values : astype(values, *dtype);
}

// Where an end is an array, its device decides.
DeviceBackend& device_of_ends(const Argument& start, const Argument& stop) {
    for (const Argument* end : {&start, &stop}) {
        if (const auto* given = std::get_if<array>(end)) return device_of(*given);
    }
    return current_device();
}

}  // namespace

array logspace(const Argument& start, const Argument& stop, int64_t count, const Argument& base,
               const LinspaceOptions& options) {
    const DeviceScope scope(device_of_ends(start, stop));
    LinspaceOptions exponents = options;
    exponents.dtype = {};
    if (ndim_of(base) == 0) return as(power(base, linspace(start, stop, count, exponents)), options.dtype);
    const int ndim = std::max({ndim_of(start), ndim_of(stop), ndim_of(base)});
    const array bases = expand_dims(with_axes(base, ndim), Dims{options.axis});
    const array spaced = linspace(with_axes(start, ndim), with_axes(stop, ndim), count, exponents);
    return as(power(bases, spaced), options.dtype);
}

array geomspace(const Argument& start, const Argument& stop, int64_t count, const LinspaceOptions& options) {
    const DeviceScope scope(device_of_ends(start, stop));
    array first = scalar_here(from_argument(start)), last = scalar_here(from_argument(stop));
    if (truth_of(any(equal(first, 0))) || truth_of(any(equal(last, 0))))
        throw ValueError("Geometric sequence cannot include zero");
    const OperandType types[] = {first.dtype(), last.dtype(), WeakKind::kFloat,
                                 options.dtype.value_or(DType())};
    const DType dtype = result_type(types);
    first = as(first, dtype);
    last = as(last, dtype);
    // Numbers are turned so that the first is positive, and back.
    const array turn = sign(first);
    first = divide(first, turn);
    last = divide(last, turn);
    const array ends = linspace(log10(first), log10(last), count, {.endpoint = options.endpoint});
    array result = as(power(10.0, ends), dtype);
    // Powers of logarithms are not quite what they were of.
    const auto set = [&](int64_t place, const array& value) {
        const Index at[] = {Index(place)};
        assign(index(result, at), value);
    };
    if (count > 0) set(0, first);
    if (count > 1 && options.endpoint) set(-1, last);
    return as(with_first_axis_at(multiply(result, turn), options.axis), options.dtype);
}

}  // namespace weft
