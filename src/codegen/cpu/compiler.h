// Kernel IR in, loadable kernel out: the only door to LLVM. Runs the passes, lowers to LLVM IR, optimises,
// emits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/runtime/lazy_parts.h"
#include "device/kernel.h"
#include "ir/ir.h"
#include "ops/op.h"

namespace weft::codegen {

struct CompileOptions {
    std::string cpu;          // LLVM CPU name; empty: the host (WEFT_CPU overrides)
    bool vector_math = true;  // SLEEF's vector functions
    bool keep_texts = false;  // fill CompiledTexts
    bool fast_math = false;   // see codegen/llvm/fast_math.h
    // A function is to be there soon, and may be slow. Its loops often let the host stop them, those inside
    // of loops as well. What it calls lazily is compiled as always.
    bool quickly = false;
    // Of such: alias scopes of its parameters. What it writes to these is noted
    // (runtime/stopping/write_log.h).
    std::vector<uint16_t> noted_scopes{};
};

// What became of a loop of a function's program (ir::Instruction::site), or of a copy of it.
struct LoopOutcome {
    uint32_t site = 0;
    std::string reason;                   // LLVM's name of why it did not become vectors; empty where it did
    int64_t lanes = 0, side_by_side = 0;  // elements of a vector, and vectors that are computed together
};

struct CompiledTexts {
    std::string ir_after_passes, llvm_ir, assembly, vectorization_remarks;
    std::vector<LoopOutcome> loops{};
    std::string threads{};  // of blocks: how they run; empty where there are none that meet
};

// A compiled kernel or function as an object file, and what is needed to use it without compiling.
struct KernelObject {
    std::string name;
    std::string symbol;  // of its function
    int grid_dimensions = 0;
    std::string bytes;           // the object file
    double compile_seconds = 0;  // passes not included
    // Of a function: the IR of what it calls lazily (passes/calls/outline_unlikely.h), and of what that
    // calls. Functions that it shares with others (functions/shared_functions.h) have the first numbers, and
    // a text each.
    std::string parts{};
    std::vector<std::string> shared{};

    bool has_lazy_calls() const { return !parts.empty() || !shared.empty(); }
};

// Thread safe. Throws InternalError (with the IR) when weft itself is at fault.
KernelObject compile_object_for_cpu(const ir::Module& module, const std::string& kernel_name,
                                    const CompileOptions& options = {}, CompiledTexts* texts = nullptr);
// Throws InternalError when the object does not link.
std::shared_ptr<const CompiledKernel> load_for_cpu(const KernelObject& object);
// Both at once.
std::shared_ptr<const CompiledKernel> compile_for_cpu(const ir::Module& module,
                                                      const std::string& kernel_name,
                                                      const CompileOptions& options = {},
                                                      CompiledTexts* texts = nullptr);

// A loop over strided operands, which needs no words: two kernels over one dimension, whose parameters are
// its size and buffers of one dimension. Those of `contiguous` have strides that are known, of `itemsizes`;
// it runs where all have these. The object's function is a StridedLoop (ops/op.h).
KernelObject compile_strided_loop_for_cpu(const ir::Module& contiguous, const ir::Module& strided,
                                          std::span<const int64_t> itemsizes,
                                          const CompileOptions& options = {});
// Keeps its code for as long as the process lives.
StridedLoop load_strided_loop_for_cpu(const KernelObject& object);

// The same for a function, which must not have grids. compile_object_for_cpu takes either. `make` makes what
// the function calls lazily.
std::shared_ptr<const CompiledFunction> load_function_for_cpu(const KernelObject& object, PartMaker make);
// Part `number` of a function, of its KernelObject::parts; the first is 0.
KernelObject compile_part_for_cpu(const std::string& parts, int number, const CompileOptions& options,
                                  CompiledTexts* texts = nullptr);
// A function that programs share, of one of their KernelObject::shared; loaded as a part.
KernelObject compile_shared_for_cpu(const std::string& text, const CompileOptions& options,
                                    CompiledTexts* texts = nullptr);
// Both at once, with all parts of their own.
std::shared_ptr<const CompiledFunction> compile_function_for_cpu(const ir::Module& module,
                                                                 const std::string& function_name,
                                                                 const CompileOptions& options = {},
                                                                 CompiledTexts* texts = nullptr);

// What compiling the parts took that are compiled by now.
double seconds_of_lazy_parts(const CompiledFunction& function);

int64_t kernels_compiled();  // by this process

}  // namespace weft::codegen
