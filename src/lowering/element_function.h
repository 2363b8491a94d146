// Functions of one element that the program defines (ops/defined.h), as kernels call them: from the kernel IR
// that a frontend made to a function that is whole in itself, and from there into the modules of kernels.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"
#include "ops/op.h"

namespace weft {

/// What kernels call.
struct ElementFunction {
    std::string ir;  // one function, which calls nothing
    std::vector<ScalarType> inputs, outputs;
    int cost = 1;  // as OpInfo::cost
};

/// The first function of `text`, under another name, with what it calls inside of it. Its results are cast to
/// `outputs`, of which none at all are its own types. Throws ValueError for text that is wrong or has other
/// parameters than scalars, and NotImplementedError for what no kernel does: raise an error, call itself,
/// allocate heap memory, print.
ElementFunction read_element_function(std::string_view text, std::string_view name,
                                      std::span<const ScalarType> outputs = {});

/// Adds the function of a loop to a module whose kernels may call it, once; nothing of the op table's.
void append_definition(ir::Module& module, const OpInfo& op, int loop);

}  // namespace weft
