# weft_wrap_allocation(target): what the target allocates, also by the static libraries in it, goes through
# src/core/memory/wrapped_allocation.cpp: calls of these functions of the C and C++ libraries become calls of __wrap_<name>.
function(weft_wrap_allocation target)
    set(functions malloc calloc realloc aligned_alloc free
        _Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t # operator new
        _ZnwmRKSt9nothrow_t _ZnwmSt11align_val_tRKSt9nothrow_t
        _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm # operator delete
        _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t)
    list(TRANSFORM functions PREPEND "-Wl,--wrap=")
    target_link_options(${target} PRIVATE ${functions})
    # Thread-local words are there when a thread starts: at their first use none has to be allocated.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ftls-model=initial-exec>)
endfunction()
