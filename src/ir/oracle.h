// The scalar oracle: the meaning of kernel IR. Runs any kernel, slowly, one thread after another (block
// threads in lockstep between barriers), and reports out-of-bounds accesses when buffer sizes are given.
#pragma once

#include <span>
#include <variant>

#include "ir/ir.h"

namespace weft::ir {

struct OracleBuffer {
    char* base = nullptr;
    std::vector<int64_t> strides;  // bytes, one a dimension; static strides are checked against the type
    char* low = nullptr;           // bounds of legal addresses; both null: not checked
    char* high = nullptr;
};
using OracleArgument = std::variant<OracleBuffer, Constant>;

void run_oracle(const Module& module, const Function& kernel, std::span<const OracleArgument> arguments);

}  // namespace weft::ir
