// Programs for GPUs that weft brings as PTX: kernels written in C++ (library/<topic>/cuda), for work whose
// threads have to agree with each other, which kernel IR cannot say.
#pragma once

#include <span>
#include <string_view>

namespace weft {

struct GpuProgram {
    std::string_view name, ptx;
    // Assembled when it is loaded, as a whole, instead of as code that could be linked, which weft can keep
    // on disk but which has fewer registers: then the driver keeps it in a cache of its own.
    bool is_whole = false;
};

std::span<const GpuProgram> gpu_programs();

}  // namespace weft
