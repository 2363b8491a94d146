// The functions whose binding is generated from python/functions.toml.
#include "functions/bound_function.h"
#include "module.h"
#include "weft/weft.h"

namespace weft::python {

void bind_bound_functions(nb::module_& m) {
#include "functions/bound_functions.inc"
}

}  // namespace weft::python
