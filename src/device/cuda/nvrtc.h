// CUDA C++ to machine code by NVRTC, NVIDIA's compiler as a library. It needs no GPU.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace weft::cuda {

struct SourceToCompile {
    std::string code;
    std::string name = "kernel.cu";        // in messages
    std::vector<std::string> options;      // as NVRTC takes them
    std::vector<std::string> expressions;  // names of kernels and variables, such as "scale<float>"
};

// What NVRTC made; what the options do not ask for is empty.
struct CompiledSource {
    std::string cubin, ptx, lto_ir;
    std::map<std::string, std::string> symbols;  // of the expressions
    std::string log;                             // warnings
};

// The version of the NVRTC that there is: 1000 * major + 10 * minor. Throws DeviceError where there is none.
int nvrtc_version();
// The newest compute capability it makes code for that a device of `capability` runs; 90 is sm_90.
int nvrtc_target(int capability);

// What NVRTC has against a source: its whole log.
struct SourceRefused {
    std::string log;
};
// Throws SourceRefused, and DeviceError where there is no NVRTC or it fails.
CompiledSource compile_source(const SourceToCompile& source);

}  // namespace weft::cuda
