// How often elements occur.
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

void bind_counting(nb::module_& m) {
    const auto none = nb::none();
    m.def(
        "_unique_integers",
        [](nb::handle input, bool first, bool counts, bool inverse) -> nb::object {
            const array& value = array_of(input);
            std::optional<Unique> found;
            {
                const ReleaseGil release(is_large(value));
                found = unique_integers(value, first, counts, inverse);
            }
            if (!found) return nb::none();
            const auto object = [](array& each) {
                return each.valid() ? wrap(std::move(each)) : nb::object(nb::none());
            };
            return nb::make_tuple(object(found->values), object(found->first), object(found->counts),
                                  object(found->inverse));
        },
        arg("a"), arg("first"), arg("counts"), arg("inverse"));
    m.def(
        "_bincount",
        [](nb::handle input, nb::handle weights, int64_t least) {
            const array& positions = array_of(input);
            const array given = weights.is_none() ? array() : array_of(weights);
            array result;
            {
                const ReleaseGil release(is_large(positions));
                result = bincount(positions, given, least);
            }
            return wrap(std::move(result));
        },
        arg("x"), arg("weights"), arg("minlength"));
}

}  // namespace weft::python
