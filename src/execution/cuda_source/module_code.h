// From sources of CUDA C++, or files of code for GPUs, to what a device loads: compiled, linked where there
// are several parts, and kept on disk, so that the next process finds it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda/linker.h"
#include "execution/cuda_source/kernel_signatures.h"
#include "weft/cuda/raw_kernel.h"

namespace weft {

struct ModuleSource {
    std::vector<std::string> sources;  // texts of CUDA C++,
    std::vector<std::string> paths;    // or files
    RawModuleOptions options;
};

struct ModuleCode {
    std::string image;                               // a cubin, a fatbin, or PTX
    std::map<std::string, std::string> symbols;      // of the name expressions
    std::map<std::string, KernelSignature> kernels;  // by symbols, as far as they are known
    std::string log;                                 // the compiler's warnings
    double seconds = 0;                              // of the compilation, in whatever process
    bool from_disk = false;
};

// For a device of this compute capability. One that the process has, for as long as somebody uses it, is
// given again. Throws CompileError, ValueError for files that are no code, DeviceError where a compiler is
// missing.
std::shared_ptr<const ModuleCode> compile_module(const ModuleSource& source, int capability);

// What functions for kernels in Python are linked from (weft.cuda.declare_device, link=): sources, which are
// compiled for linking, files of code, and files of sources (.cu). Throws ValueError for files that cannot be
// read. `code`: what such files have, by their names.
std::shared_ptr<const cuda::LinkedParts> parts_to_link(
    const ModuleSource& source, std::vector<std::pair<std::string, std::string>> code = {});

}  // namespace weft
