// The parts of the module (module.h) with functions that cut, repeat, join, choose and pack.
#pragma once

#include "module.h"

namespace weft::python {

void bind_assembly(nb::module_& m);
void bind_selection(nb::module_& m);
void bind_bits(nb::module_& m);

}  // namespace weft::python
