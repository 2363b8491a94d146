// How often elements occur.
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

void bind_counting(nb::module_& m) {
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
