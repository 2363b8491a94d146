// Element-wise and reduction kernels as CUDA C++, for bodies outside of weft's own subset.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lang/c_source/elements.h"
#include "lang/c_source/ranges.h"
#include "weft/dtype.h"

namespace weft {

struct CudaParts {
    std::string name;
    std::string preamble;
    std::vector<std::pair<std::string, ScalarType>> types;  // what the program's names of types stand for
    std::vector<lang::c_source::Parameter> inputs, outputs;
    std::vector<lang::c_source::RangeArgument> arguments;  // of both
};

struct CudaElements : CudaParts {
    std::string before, body, after;  // of the loop
};

/// A kernel from the number of elements, then for each argument: of an array its memory, of a raw one its
/// number of elements and its shape, too; a number as it is.
std::string text_of(const CudaElements& kernel);

struct CudaReduction : CudaParts {
    std::string map, combine, finish, identity, partial_type;
};

/// A kernel from the number of elements and of results, then as above. Inputs have an axis of results and one
/// of what each is made of. A block has as many threads as `threads`, a power of two.
std::string text_of(const CudaReduction& kernel, int threads);

}  // namespace weft
