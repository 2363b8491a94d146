// Averages and covariances (weft/statistics.h).
#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/statistics.h"

namespace weft::python {

void bind_averages(nb::module_& m) {
    m.def(
        "_average",
        [](nb::handle a, nb::handle axis, nb::handle weights, bool returned, bool keepdims) -> nb::object {
            const array value = to_array(a);
            const Axes axes = FromPython<Axes>::convert(axis);
            const auto given = FromPython<std::optional<array>>::convert(weights);
            Average found;
            {
                const ReleaseGil release(is_large(value));
                found = average(value, axes, given, keepdims);
                if (returned && !given) found.weights = copy(found.weights, 'C');
            }
            if (!returned) return wrap_result(std::move(found.values));
            return nb::make_tuple(wrap_result(std::move(found.values)),
                                  wrap_result(std::move(found.weights)));
        },
        arg("a"), arg("axis").none(), arg("weights").none(), arg("returned"), arg("keepdims"));
    m.def(
        "_cov",
        [](nb::handle input, nb::handle y, bool rowvar, bool bias, nb::handle ddof, nb::handle fweights,
           nb::handle aweights, nb::handle dtype) {
            const auto optional = FromPython<std::optional<array>>::convert;
            const array value = to_array(input);
            const std::optional<array> other = optional(y);
            const CovarianceOptions options{rowvar,
                                            bias,
                                            FromPython<std::optional<double>>::convert(ddof),
                                            optional(fweights),
                                            optional(aweights),
                                            to_dtype(dtype)};
            array found;
            {
                const ReleaseGil release(is_large(value));
                found = cov(value, other, options);
            }
            return wrap(std::move(found));
        },
        arg("m"), arg("y").none(), arg("rowvar"), arg("bias"), arg("ddof").none(), arg("fweights").none(),
        arg("aweights").none(), arg("dtype").none());
    m.def(
        "_corrcoef",
        [](nb::handle x, nb::handle y, bool rowvar, nb::handle dtype) {
            const array value = to_array(x);
            const auto other = FromPython<std::optional<array>>::convert(y);
            const std::optional<DType> type = to_dtype(dtype);
            array found;
            {
                const ReleaseGil release(is_large(value));
                found = corrcoef(value, other, rowvar, type);
            }
            return wrap_result(std::move(found));
        },
        arg("x"), arg("y").none(), arg("rowvar"), arg("dtype").none());
}

}  // namespace weft::python
