// CUDA C++ by nvcc, which must be installed: for what NVRTC does not take.
#pragma once

#include <string>
#include <vector>

namespace weft {

// Where nvcc is: below CUDA_HOME or CUDA_PATH, in installed packages, in PATH. Throws DeviceError.
std::string find_nvcc();

struct CompiledByNvcc {
    std::string cubin, ptx, log;
};
// The machine code for a compute capability. Throws CompileError.
CompiledByNvcc compile_by_nvcc(const std::string& code, const std::string& name,
                               const std::vector<std::string>& options, int capability);

}  // namespace weft
