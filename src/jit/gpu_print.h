// What print() writes from a GPU: of a site's values the texts that Python gives them (lang/texts.cpp).
#pragma once

#include <span>

#include "codegen/ptx/launches/printed.h"
#include "ir/ir.h"
#include "lang/lower.h"

namespace weft::jit {

// Of all sites that the module tells. Throws NotImplementedError for a value that has no text on a GPU.
codegen::PrintedBySite printed_by(const ir::Module& module, std::span<const lang::Site> sites);

}  // namespace weft::jit
