// Elements in order, and where they are in it.
#include "weft/ordering.h"
#include "convert/convert.h"
#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/calculus.h"

namespace weft::python {

namespace {

// Not nanobind's conversion, which is noexcept and asks for memory.
std::vector<int64_t> to_places(nb::handle places) {
    const nb::object items = steal_or_throw(PySequence_Tuple(places.ptr()));
    std::vector<int64_t> result(static_cast<size_t>(PyTuple_Size(items.ptr())));
    for (size_t i = 0; i < result.size(); ++i)
        result[i] = to_index(PyTuple_GetItem(items.ptr(), static_cast<Py_ssize_t>(i)));
    return result;
}

}  // namespace

void bind_ordering(nb::module_& m) {
    const auto ordered = [&](const char* name, array (*order)(const array&, int64_t)) {
        m.def(
            name,
            [order](nb::handle input, int64_t axis) {
                const array& value = array_of(input);
                array result;
                {
                    const ReleaseGil release(is_large(value));
                    result = order(value, axis);
                }
                return wrap(std::move(result));
            },
            arg("a"), arg("axis"));
    };
    ordered("_sort", sort);
    ordered("_argsort", argsort);
    const auto partitioned = [&](const char* name,
                                 array (*part)(const array&, std::vector<int64_t>, int64_t)) {
        m.def(
            name,
            [part](nb::handle input, nb::handle places, int64_t axis) {
                const array& value = array_of(input);
                std::vector<int64_t> positions = to_places(places);
                array result;
                {
                    const ReleaseGil release(is_large(value));
                    result = part(value, std::move(positions), axis);
                }
                return wrap(std::move(result));
            },
            arg("a"), arg("places"), arg("axis"));
    };
    partitioned("_partition", partition);
    partitioned("_argpartition", argpartition);
    m.def(
        "_searchsorted",
        [](nb::handle row, nb::handle values, bool right) {
            const array &sorted = array_of(row), &wanted = array_of(values);
            array result;
            {
                const ReleaseGil release(is_large(wanted));
                result = searchsorted(sorted, wanted, right);
            }
            return wrap_result(std::move(result));
        },
        arg("a"), arg("v"), arg("right"));
    m.def(
        "_interp",
        [](nb::handle x, nb::handle xp, nb::handle fp, nb::handle left, nb::handle right, nb::handle period) {
            const auto optional = FromPython<std::optional<Argument>>::convert;
            const InterpolationOptions options{optional(left), optional(right), optional(period)};
            if (options.period) check_has_truth(*options.period);
            const array places = array_of(x), abscissas = array_of(xp), ordinates = array_of(fp);
            array result;
            {
                const GilRelease release;  // the search looks at values
                result = interp(places, abscissas, ordinates, options);
            }
            for (const array* each : {&places, &abscissas})
                warn_of_lost_imaginary_part(each->dtype(), ScalarType::kFloat64);
            return wrap_result(std::move(result));
        },
        arg("x"), arg("xp"), arg("fp"), arg("left"), arg("right"), arg("period"));
}

}  // namespace weft::python
