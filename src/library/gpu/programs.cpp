#include "library/gpu/programs.h"

#include <vector>

#define WEFT_GPU_PROGRAM(name, is_whole) extern "C" const char weft_gpu_program_##name[];
#include "library/gpu/programs.def"
#undef WEFT_GPU_PROGRAM

namespace weft {

std::span<const GpuProgram> gpu_programs() {
    static const std::vector<GpuProgram> programs = {
#define WEFT_GPU_PROGRAM(name, is_whole) {#name, weft_gpu_program_##name, is_whole},
#include "library/gpu/programs.def"
#undef WEFT_GPU_PROGRAM
    };
    return programs;
}

}  // namespace weft
