// The machine code of functions that programs share (functions/shared_functions.h): that of this process, of
// the file that is shipped with weft, of the cache on disk, or made now.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "codegen/cpu/compiler.h"

namespace weft::codegen {

// What is shipped is compiled for these, the best first. LLVM's names.
inline constexpr const char* kShippedCpus[] = {"x86-64-v4", "x86-64-v3"};

// That of a text of KernelObject::shared. Not on disk, unless `is_kept`.
std::shared_ptr<const CompiledFunction> shared_function(const std::string& text, bool is_kept,
                                                        const CompileOptions& options);

// Leaves only those calls lazy whose functions' machine code is shipped: the others are part of the program.
void settle_lazy_calls(ir::Module& module, const CompileOptions& options);

// The texts of the functions that a module calls lazily, and that these call so.
void collect_shared(const ir::Module& module, std::set<std::string>& texts);
// The file to ship: the functions of the texts for each of the CPUs, or for the best of them that is this
// machine's. They are compiled on all cores.
std::string pack_shared(const std::set<std::string>& texts, bool of_host);

}  // namespace weft::codegen
