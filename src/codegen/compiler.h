// Kernel IR in, loadable kernel out: the only door to LLVM. Runs the passes, lowers to LLVM IR, optimises,
// emits.
#pragma once

#include <memory>
#include <string>

#include "device/kernel.h"
#include "ir/ir.h"

namespace weft::codegen {

struct CompileOptions {
    std::string cpu;          // LLVM CPU name; empty: the host (WEFT_CPU overrides)
    bool vector_math = true;  // SLEEF's vector functions
    bool keep_texts = false;  // fill CompiledTexts
};

struct CompiledTexts {
    std::string ir_after_passes, llvm_ir, assembly, vectorization_remarks;
};

// Thread safe. Throws InternalError (with the IR) when weft itself is at fault.
std::shared_ptr<const CompiledKernel> compile_for_cpu(const ir::Module& module,
                                                      const std::string& kernel_name,
                                                      const CompileOptions& options = {},
                                                      CompiledTexts* texts = nullptr);

std::string host_cpu();  // what the machine's CPU is called, for messages and cache keys
std::string host_features();
bool runs_on_host(const std::string& cpu);  // whether the host has every feature of that CPU; "" is the host

}  // namespace weft::codegen
