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
void bind_reductions(nb::module_& m);
void bind_products(nb::module_& m);
void bind_printing(nb::module_& m);
void bind_creation(nb::module_& m);
void bind_shapes(nb::module_& m);
void bind_joining(nb::module_& m);
void bind_indexing(nb::module_& m);
void bind_ordering(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_linalg_norms(nb::module_& m);
void bind_linalg_of_scipy(nb::module_& m);
void bind_counting(nb::module_& m);
void bind_sets(nb::module_& m);
void bind_texts(nb::module_& m);
void bind_quantiles(nb::module_& m);
void bind_averages(nb::module_& m);
void bind_calculus(nb::module_& m);
void bind_padding(nb::module_& m);
void bind_histograms(nb::module_& m);
void bind_grids(nb::module_& m);
void bind_fft(nb::module_& m);
void bind_files(nb::module_& m);
void bind_dtypes(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_float_errors(nb::module_& m);
void bind_profile(nb::module_& m);
void bind_random(nb::module_& m);
void bind_distributions(nb::module_& m);
void bind_array_interface(nb::module_& m);
void bind_overrides(nb::module_& m);
void bind_zero_change(nb::module_& m);
void bind_host_memory(nb::module_& m);
void bind_jit(nb::module_& m);
void bind_linked_parts(nb::module_& m);
void bind_kernel_launches(nb::module_& m);
void bind_raw_kernels(nb::module_& m);
void bind_c_kernels(nb::module_& m);
void bind_generators(nb::module_& m);
/// The fast paths of functions and methods that are bound already, by python/functions.toml.
void bind_fast_paths(nb::module_& m);
/// Functions whose binding python/functions.toml has.
void bind_bound_functions(nb::module_& m);

}  // namespace weft::python
