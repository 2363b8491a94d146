// The x86-64 target: which CPU to compile for, LLVM's machine for it, and the attributes that functions
// carry.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace weft::codegen {

// A CPU as LLVM names it, and its features as "+avx2,-avx512f,...".
struct TargetName {
    std::string cpu;
    std::string features;
    friend bool operator==(const TargetName&, const TargetName&) = default;
};

// What `cpu` means: empty is WEFT_CPU, else the host. Throws ValueError when LLVM does not know the name.
TargetName resolve_target(const std::string& cpu);

// With `quickly` the machine's code is made in the least time.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetName& name, bool quickly = false);

bool has_feature(const llvm::TargetMachine& machine, llvm::StringRef feature);

// Marks `function` as compiled for this machine with its widest vectors, but no wider than `vector_bits`.
void set_target_attributes(llvm::Function& function, const llvm::TargetMachine& machine, int vector_bits);

}  // namespace weft::codegen
