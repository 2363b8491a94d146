// The scalar oracle: the meaning of kernel IR. Runs any kernel, slowly, one thread after another (block
// threads in lockstep between barriers), and reports out-of-bounds accesses when buffer sizes are given.
//
// Faults of the kernel become errors: IndexError (an access out of bounds), RuntimeError (a barrier that not
// all threads reach, a race), ValueError (arguments that do not match the parameters). What the kernel raises
// becomes Raised.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "ir/ir.h"
#include "weft/errors.h"

namespace weft::ir {

struct OracleBuffer {
    char* base = nullptr;
    std::vector<int64_t> strides;  // bytes, one a dimension; static strides are checked against the type
    char* low = nullptr;           // bounds of legal addresses; both null: not checked
    char* high = nullptr;
};
using OracleArgument = std::variant<OracleBuffer, Constant>;

struct OracleOptions {
    // Report two accesses to one byte, one of them a plain write, from different points of a grid, or from
    // different threads of a block with no barrier between.
    bool detect_races = false;
};

struct Raised : RuntimeError {
    Raised(uint32_t site, std::vector<Constant> payload, const std::string& where);
    uint32_t site;
    std::vector<Constant> payload;
};

// Runs a kernel, or a function, whose results it gives.
std::vector<Constant> run_oracle(const Module& module, const Function& function,
                                 std::span<const OracleArgument> arguments,
                                 const OracleOptions& options = {});

}  // namespace weft::ir
