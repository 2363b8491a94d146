// weft's own elementary functions for GPUs (ops/gpu/): sines, cosines, and logarithms of float64 in the place
// of SLEEF's, which CPUs have, exp and erf of float32 in that of ops/scalar's. What is not here comes from
// NVIDIA's libdevice (libdevice.h).
//
// A function is a run of instructions for usual arguments and a rare rest. Those arguments of one basic block
// that are known where the first is needed, of several elements that a thread computes side by side, say,
// share one branch that asks whether any is rare: what is left is a single run of instructions, in which
// constants are fetched once. Sine and cosine of one angle share more, what makes it a multiple of pi/2 and a
// rest.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>

namespace weft::codegen {

// Gives operations of the op table, not yet inlined, that ask for nan one comparison, in which LLVM sees what
// it is: the same answers.
void ask_by_comparisons(llvm::Module& module);

class GpuMath {
public:
    explicit GpuMath(llvm::LLVMContext& context);

    // Whether the module has or declares something that is here.
    static bool is_needed(const llvm::Module& module);
    // Gives operations of the op table, not yet inlined, what they are here.
    void replace_operations(llvm::Module& module);
    // Defines what is declared. The operations must be inlined already: functions of one angle are found by
    // the angle.
    void define(llvm::Module& module);
    // The texts of floats (launches/device_print.h): whether the module declares what writes them, and its
    // definition.
    static bool writes_numbers(const llvm::Module& module);
    void define_writers(llvm::Module& module);

private:
    std::unique_ptr<llvm::Module> library_;
};

}  // namespace weft::codegen
