// The parts of the module, each with a function that puts it into the module.
#pragma once

#include <nanobind/nanobind.h>

namespace weft::python {

namespace nb = nanobind;

void bind_errors(nb::module_& m);
void bind_dtype(nb::module_& m);
void bind_scalars(nb::module_& m);
void bind_array(nb::module_& m);
void bind_array_methods(nb::module_& m);
void bind_ufunc(nb::module_& m);
void bind_products(nb::module_& m);
void bind_creation(nb::module_& m);
void bind_shapes(nb::module_& m);
void bind_joining(nb::module_& m);
void bind_indexing(nb::module_& m);
void bind_ordering(nb::module_& m);
void bind_counting(nb::module_& m);
void bind_dtypes(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_float_errors(nb::module_& m);
void bind_profile(nb::module_& m);
void bind_random(nb::module_& m);
void bind_array_interface(nb::module_& m);
void bind_overrides(nb::module_& m);
/// Shorter ways into methods and functions that are bound already.
void bind_plain_calls(nb::module_& m);
/// The same for methods that weft._methods puts together, by a function that it calls when they are there.
void bind_plain_methods(nb::module_& m);

}  // namespace weft::python
