// weft._core: the engine for Python. The NumPy-shaped package around it is python/weft.
#include "module.h"

#include <cstdlib>
#include <new>

#include "core/memory/allocation_failure.h"
#include "functions/parts_of_arrays.h"
#include "objects/objects.h"

namespace {

// nanobind ends the process where malloc fails while it makes types: an import without memory for them is
// refused before it begins.
void require_memory_for_types() {
    constexpr size_t kBytes = size_t{384} << 10;
    void* volatile block = std::malloc(kBytes);
    if (block == nullptr) throw std::bad_alloc();
    std::free(block);
}

}  // namespace

NB_MODULE(_core, m) {
    using namespace weft::python;
    require_memory_for_types();
    const weft::LastResort importing;  // what is half made cannot be taken back
    m.doc() = "weft's engine.";
    m.attr("__version__") = WEFT_VERSION;
    registry.module = m.ptr();
    bind_errors(m);
    bind_dtype(m);
    bind_scalars(m);
    bind_array(m);
    bind_ufunc(m);
    bind_reductions(m);
    bind_products(m);
    bind_printing(m);
    bind_creation(m);
    bind_shapes(m);
    bind_joining(m);
    bind_indexing(m);
    bind_ordering(m);
    bind_linalg(m);
    bind_linalg_norms(m);
    bind_linalg_of_scipy(m);
    bind_counting(m);
    bind_sets(m);
    bind_texts(m);
    bind_quantiles(m);
    bind_averages(m);
    bind_calculus(m);
    bind_grids(m);
    bind_padding(m);
    bind_assembly(m);
    bind_selection(m);
    bind_bits(m);
    bind_histograms(m);
    bind_fft(m);
    bind_files(m);
    bind_dtypes(m);
    bind_dlpack(m);
    bind_engine(m);
    bind_float_errors(m);
    bind_profile(m);
    bind_random(m);
    bind_array_interface(m);
    bind_overrides(m);
    bind_zero_change(m);
    bind_host_memory(m);
    bind_jit(m);
    bind_linked_parts(m);
    bind_kernel_launches(m);
    bind_raw_kernels(m);
    bind_c_kernels(m);
    bind_generators(m);
    bind_bound_functions(m);
    bind_fast_paths(m);
}
