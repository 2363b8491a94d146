// Neighbouring values (weft/calculus.h), where the generated binding does not fit.
#include "weft/calculus.h"

#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

/// Of a tuple: its only item, or nothing.
std::optional<array> item_of(nb::handle tuple) {
    if (PyTuple_Size(tuple.ptr()) == 0) return std::nullopt;
    return to_array(PyTuple_GetItem(tuple.ptr(), 0));
}

nb::object gradient_function(nb::handle f, nb::handle spacing, nb::handle axis, nb::handle edge_order) {
    const array value = to_array(f);
    const auto axes = FromPython<Axes>::convert(axis);
    std::vector<Argument> steps;
    for (Py_ssize_t k = 0; k < PyTuple_Size(spacing.ptr()); ++k)
        steps.push_back(to_argument(nb::handle(PyTuple_GetItem(spacing.ptr(), k))));
    std::vector<array> results;
    {
        const ReleaseGil release(is_large(value));
        results = gradient(value, steps, {axes, to_index(edge_order)});
    }
    for (const Argument& step : steps) {
        const bool is_complex =
            std::holds_alternative<std::complex<double>>(step) ||
            (std::holds_alternative<array>(step) && std::get<array>(step).dtype().is_complex());
        if (is_complex && !results.empty())
            warn_of_lost_imaginary_part(ScalarType::kComplex128, results.front().dtype());
    }
    if (results.size() == 1) return wrap(std::move(results.front()));
    return nb::tuple(to_python(std::move(results)));
}

using Convolution = array (*)(const array&, const array&, Overlap);

template <Convolution function>
nb::object convolution(nb::handle a, nb::handle v, int mode) {
    const array left = to_array(a), right = to_array(v);
    array result;
    {
        const ReleaseGil release(is_large(left) || is_large(right));
        result = function(left, right, static_cast<Overlap>(mode));
    }
    return wrap(std::move(result));
}

}  // namespace

void bind_calculus(nb::module_& m) {
    m.def(
        "_diff",
        [](nb::handle a, nb::handle n, nb::handle axis, nb::handle prepend, nb::handle append) {
            const array value = to_array(a);
            const DiffOptions options{to_index(axis), item_of(prepend), item_of(append)};
            return wrap(diff(value, to_index(n), options));
        },
        arg("a"), arg("n"), arg("axis"), arg("prepend") = nb::tuple(), arg("append") = nb::tuple());
    m.def("_gradient", gradient_function, arg("f"), arg("spacing"), arg("axis").none(), arg("edge_order"));
    m.def(
        "_unwrap",
        [](nb::handle p, nb::handle discont, nb::handle axis, nb::handle period) {
            const array value = to_array(p);
            const UnwrapOptions options{FromPython<std::optional<Argument>>::convert(discont), to_index(axis),
                                        to_argument(period)};
            return wrap(unwrap(value, options));
        },
        arg("p"), arg("discont").none(), arg("axis"), arg("period"));
    m.def("_convolve", convolution<&convolve>, arg("a"), arg("v"), arg("mode"));
    m.def("_correlate", convolution<&correlate>, arg("a"), arg("v"), arg("mode"));
}

}  // namespace weft::python
