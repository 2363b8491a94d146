// Integers of kernels that lie between narrow bounds, as sums of a few small elements, are computed in the
// narrowest type of 16 or 32 bits that holds them: more of them are in a vector. Values are the same.
//
//   %x = cast %a to i64                        %n = cast %a to i16
//   %y = cast %b to i64                        %m = cast %b to i16
//   %s = add %x, %y             becomes        %k = add %n, %m
//   %q = floor_divide %s, 9                    %d = floor_divide %k, 9 (i16)
//   %r = cast %q to i8                         %r = cast %d to i8
#pragma once

#include "ir/ir.h"

namespace weft::passes {

// Kernels alone: loops of functions that sum windows are predictive_commoning's.
void narrow_integers(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
