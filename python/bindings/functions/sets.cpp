// Unique elements and sets (weft/sets.h), where the generated binding does not fit.
#include "weft/sets.h"

#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/ordering.h"

namespace weft::python {

void bind_sets(nb::module_& m) {
    m.def(
        "_unique",
        [](nb::handle input, nb::handle axis, bool first, bool inverse, bool counts, bool equal_nan) {
            const array value = to_array(input);
            const std::optional<int64_t> along = FromPython<std::optional<int64_t>>::convert(axis);
            const UniqueOptions options{first, inverse, counts, equal_nan};
            Unique found;
            {
                const ReleaseGil release(is_large(value));
                found = along ? unique(value, *along, options) : unique(value, options);
            }
            if (!first && !inverse && !counts) return wrap(std::move(found.values));
            nb::list results;
            results.append(wrap(std::move(found.values)));
            for (array* each : {&found.first, &found.inverse, &found.counts}) {
                if (each->valid()) results.append(wrap(std::move(*each)));
            }
            return nb::object(nb::tuple(results));
        },
        arg("ar"), arg("axis").none(), arg("first"), arg("inverse"), arg("counts"), arg("equal_nan"));
    m.def(
        "_intersect1d",
        [](nb::handle ar1, nb::handle ar2, bool assume_unique, bool indices) {
            const array first = to_array(ar1), second = to_array(ar2);
            Intersection found;
            {
                const ReleaseGil release(is_large(first) || is_large(second));
                if (indices) {
                    found = intersect1d_with_indices(first, second, assume_unique);
                } else {
                    found.values = intersect1d(first, second, assume_unique);
                }
            }
            if (!indices) return wrap(std::move(found.values));
            return nb::object(nb::make_tuple(wrap(std::move(found.values)), wrap(std::move(found.in_first)),
                                             wrap(std::move(found.in_second))));
        },
        arg("ar1"), arg("ar2"), arg("assume_unique"), arg("indices"));
    m.def(
        "_setdiff1d",
        [](nb::handle ar1, nb::handle ar2, bool assume_unique) {
            const array first = to_array(ar1), second = to_array(ar2);
            array found;
            {
                const ReleaseGil release(is_large(first) || is_large(second));
                found = setdiff1d(first, second, assume_unique);
            }
            return wrap(std::move(found));
        },
        arg("ar1"), arg("ar2"), arg("assume_unique"));
    m.def(
        "_isin",
        [](nb::handle element, nb::handle test_elements, bool invert, int search) {
            const array elements = to_array(element), wanted = to_array(test_elements);
            array found;
            {
                const ReleaseGil release(is_large(elements) || is_large(wanted));
                found = isin(elements, wanted, invert, static_cast<SetSearch>(search));
            }
            return wrap(std::move(found));
        },
        arg("element"), arg("test_elements"), arg("invert"), arg("search"));
    m.def(
        "_lexsort",
        [](nb::handle keys, nb::handle axis) {
            const int64_t along = to_index(axis);
            std::vector<array> given;
            bool large = false;
            for (const nb::handle key : nb::list(keys)) {
                given.push_back(to_array(key));
                large = large || is_large(given.back());
            }
            array found;
            {
                const ReleaseGil release(large);
                found = lexsort(given, along);
            }
            return wrap_result(std::move(found));
        },
        arg("keys"), arg("axis"));
}

}  // namespace weft::python
