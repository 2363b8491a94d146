// The text form of kernel IR, the twin of ir/parser.h: parse(print(f)) is f.
#pragma once

#include <string>

#include "ir/ir.h"

namespace weft::ir {

std::string print(const Function& function);
std::string print(const Module& module);

}  // namespace weft::ir
