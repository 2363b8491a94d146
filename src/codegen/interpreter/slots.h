// Memory for the values of a block program: values that are not needed at the same time share it, so that all
// of it stays in a first-level cache.
#pragma once

#include <span>

#include "codegen/interpreter/program.h"

namespace weft::codegen {

// Gives every varying value that needs memory its place, and decides how many elements a block has. The
// values of `lasting` keep theirs; what loops carry is listed in the program's slots already.
void assign_slots(BlockProgram& program, std::span<const BlockValue> lasting);

}  // namespace weft::codegen
