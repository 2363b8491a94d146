// weft's own elementary functions for GPUs (ops/gpu/) in the place of SLEEF's, which CPUs have. What is not
// here comes from NVIDIA's libdevice (libdevice.h).
//
// An angle is first made a multiple of pi/2 and a rest. The angles of one basic block are so together, as far
// as they are known by then, those of several elements that a thread computes side by side too: one branch
// asks whether any of them is large, which is rare, and all else is a single run of instructions.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>

namespace weft::codegen {

class GpuMath {
public:
    explicit GpuMath(llvm::LLVMContext& context);

    // Whether the module declares something that is here.
    static bool is_needed(const llvm::Module& module);
    // Defines it. The operations must be inlined already: functions of one angle are found by the angle.
    void define(llvm::Module& module);

private:
    std::unique_ptr<llvm::Module> library_;
};

}  // namespace weft::codegen
