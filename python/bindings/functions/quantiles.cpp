// Medians and quantiles (weft/quantiles.h), with Python's warnings.
#include "api/ordering/quantiles.h"

#include "functions/bound_function.h"
#include "functions/functions.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

// `level` as in warnings.warn: how far the user's line is above.
nb::object to_python(FoundQuantiles&& found, nb::handle out, int level) {
    if (found.some_nothing && PyErr_WarnEx(PyExc_RuntimeWarning, "All-NaN slice encountered", level) < 0)
        throw_python_error();
    if (!out.is_none()) return nb::borrow(out);
    return found.is_element ? wrap_result(std::move(found.values)) : wrap(std::move(found.values));
}

}  // namespace

void bind_quantiles(nb::module_& m) {
    m.def(
        "_median",
        [](nb::handle input, nb::handle axis, nb::handle out, bool keepdims, bool skip_nan) {
            const array value = to_array(input);
            const Axes axes = FromPython<Axes>::convert(axis);
            const MedianOptions options{keepdims, to_out(out)};
            FoundQuantiles found;
            {
                const ReleaseGil release(is_large(value));
                found = find_median(value, axes, options, skip_nan);
            }
            return to_python(std::move(found), out, 2);
        },
        arg("a"), arg("axis").none(), arg("out").none(), arg("keepdims"), arg("skip_nan"));
    m.def(
        "_quantile",
        [](nb::handle input, nb::handle q, nb::handle axis, nb::handle out, nb::handle method, bool keepdims,
           nb::handle weights, bool percent, bool skip_nan) {
            const array value = to_array(input);
            const Argument parts = to_argument(q);
            const Axes axes = FromPython<Axes>::convert(axis);
            const QuantileOptions options{quantile_method(text_of(method)), keepdims,
                                          FromPython<std::optional<array>>::convert(weights), to_out(out)};
            FoundQuantiles found;
            {
                const ReleaseGil release(is_large(value));
                found = find_quantiles(value, parts, axes, options, percent, skip_nan);
            }
            return to_python(std::move(found), out, 3);
        },
        arg("a"), arg("q"), arg("axis").none(), arg("out").none(), arg("method"), arg("keepdims"),
        arg("weights").none(), arg("percent"), arg("skip_nan"));
}

}  // namespace weft::python
