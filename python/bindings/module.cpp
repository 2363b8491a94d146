// weft._core: the engine for Python. The NumPy-shaped package around it is python/weft.
#include "module.h"
#include "core/memory/allocation_failure.h"
#include "objects/objects.h"

NB_MODULE(_core, m) {
    using namespace weft::python;
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
    bind_counting(m);
    bind_dtypes(m);
    bind_dlpack(m);
    bind_engine(m);
    bind_float_errors(m);
    bind_profile(m);
    bind_random(m);
    bind_array_interface(m);
    bind_overrides(m);
    bind_bound_functions(m);
    bind_fast_paths(m);
}
