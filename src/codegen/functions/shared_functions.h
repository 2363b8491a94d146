// Functions that are compiled by themselves, once for all programs that call them: those that a program calls
// lazily and has (ir::Instruction::lazy), as the prelude's are.
//
// What tells programs apart is taken out of their IR: the numbers of errors and of alias scopes, and the ends
// of names. So equal functions have equal texts, which are their keys. An error comes back with the text's
// number of it, and the call has the program's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace weft::codegen {

struct SharedFunction {
    ir::Function function;        // as it is called, before the passes
    std::string text;             // of a module: the function, then all that it calls
    std::vector<uint32_t> sites;  // the program's number of each error of the text
    size_t payload = 0;           // how many values an error of it tells, at most
};

// Those that the callers call lazily, of a module that has what they are made of.
std::vector<SharedFunction> shared_functions(const ir::Module& module, std::span<const ir::Function> callers);

// Values that an error tells, at most.
size_t largest_payload(const ir::Region& region);

}  // namespace weft::codegen
