// What functions in CUDA C++ that a kernel calls are linked from, as weft.cuda._external makes it.
#pragma once

#include <memory>

#include "compiled/program.h"
#include "device/cuda/linker.h"
#include "weft/cuda/raw_kernel.h"

namespace weft::python {

/// Null where the program calls no such function.
std::shared_ptr<const cuda::LinkedParts> linked_parts(const Program& program);

/// weft.exceptions.CompileError, with all that the compiler of CUDA C++ said.
void set_error_of_source(const CompileError& error);

}  // namespace weft::python
