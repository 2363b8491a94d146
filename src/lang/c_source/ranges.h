// Element-wise kernels in C++ whose bodies index arrays: kernel IR of a loop over a range of positions.
//
// Words of a call, behind the number of elements and the elements of a chunk: of a raw array its base, its
// number of elements and its shape; of another array its base; of a number itself. Arrays lie in C order
// without gaps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"
#include "lang/c_source/elements.h"

namespace weft::lang::c_source {

enum class ArgumentKind : uint8_t { kNumber, kArray, kRaw };

struct RangeArgument {
    ArgumentKind kind = ArgumentKind::kArray;
    size_t rank = 1;  // of a raw array
};

struct RangeCode {
    ir::Module module;
    std::string entry;
    // By the numbers of errors: arrays whose index was out of bounds, with where that is. An error tells the
    // index and the number of elements.
    std::vector<std::string> checks;
};

/// Arguments are those of the inputs, then of the outputs. `may_overlap`: arrays may be the same memory.
/// `for_gpu`: what each thread of a launch runs; else the loop over all positions. Throws OutsideSubset.
RangeCode lower_range(std::string_view name, const ElementSource& source,
                      const std::vector<RangeArgument>& arguments, bool may_overlap, bool for_gpu);

}  // namespace weft::lang::c_source
