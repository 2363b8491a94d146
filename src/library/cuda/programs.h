// Programs for GPUs that weft brings as PTX: kernels written in C++ (library/cuda/kernels), for work whose
// threads have to agree with each other, which kernel IR cannot say.
#pragma once

#include <span>
#include <string_view>

namespace weft {

struct GpuProgram {
    std::string_view name, ptx;
};

std::span<const GpuProgram> gpu_programs();

}  // namespace weft
