// The text form of kernel IR, the twin of ir/parser.h: parse(print(f)) is f (docs/reference/kernel-ir.md has
// the grammar).
#pragma once

#include <string>
#include <string_view>

#include "ir/ir.h"

namespace weft::ir {

std::string print(const Function& function);
std::string print(const Module& module);
std::string print(const Type& type);

// The words of the text form.
std::string_view order_name(MemoryOrder order);
std::string_view scope_name(MemoryScope scope);
std::string_view space_name(AddressSpace space);

}  // namespace weft::ir
