#include "engine/numpy_version.h"

#include "module.h"
#include "package.h"

namespace weft::python {

bool is_numpy_2_5() {
    static const bool is_one =
        nb::cast<bool>(nb::module_::import_(modules::kNumpyVersion).attr("numpy_is_at_least")(2, 5));
    return is_one;
}

void deprecated_in_numpy_2_5(const char* text) {
    if (is_numpy_2_5()) nb::module_::import_(modules::kNumpyVersion).attr("deprecated_in_numpy_2_5")(text);
}

}  // namespace weft::python
