// Functions of other machine code that kernels call (ir::Opcode::kExternal), for a CPU: the tests' fake
// driver has some, from what it takes for CUDA C++.
#pragma once

namespace weft::codegen {

using ExternalFunctions = void* (*)(const char* name);

// Who finds the functions that objects refer to and weft has not, from now on.
void set_external_functions(ExternalFunctions find);
ExternalFunctions external_functions();

}  // namespace weft::codegen
