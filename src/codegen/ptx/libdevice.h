// NVIDIA's bitcode of elementary functions, libdevice: on GPUs it does what SLEEF does on CPUs (op.h,
// vector_math_functions). It is not part of weft; it is read where CUDA is installed.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string>

namespace weft::codegen {

// libdevice.10.bc below CUDA_HOME or CUDA_PATH, or of the toolkit in its usual place; empty when there is
// none.
std::string find_libdevice();

class Libdevice {
public:
    // Reads the file `path`; empty: find_libdevice(). Throws DeviceError when there is none or it is none.
    Libdevice(llvm::LLVMContext& context, const std::string& path);

    // Puts libdevice's functions in the place of the module's declared vector math functions, compiled to
    // keep denormal numbers. Sine and cosine of one angle in a basic block, which the operations have to be
    // inlined for, are one function.
    void define_vector_math(llvm::Module& module, int sm);

private:
    void pair_sines(llvm::Module& module);

    std::string path_;
    std::unique_ptr<llvm::Module> library_;
};

// Whether the module calls any.
bool needs_libdevice(const llvm::Module& module);
// Whether it calls the sine and the cosine of float32.
bool has_sine_and_cosine(llvm::Module& module);

}  // namespace weft::codegen
