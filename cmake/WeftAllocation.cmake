# weft_wrap_allocation(target names...): the target's calls of these functions of the C and C++ libraries, also those of the
# static libraries in it, go to its own __wrap_<name>; see src/core/wrapped_allocation.cpp.
function(weft_wrap_allocation target)
    list(TRANSFORM ARGN PREPEND "-Wl,--wrap=" OUTPUT_VARIABLE options)
    target_link_options(${target} PRIVATE ${options})
endfunction()
