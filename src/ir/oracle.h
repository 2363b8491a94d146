// The scalar oracle: the meaning of kernel IR. Runs any kernel, slowly, one thread after another (block
// threads in lockstep between barriers), and reports out-of-bounds accesses when buffer sizes are given.
//
// Faults of the kernel become errors: IndexError (an access out of bounds), RuntimeError (a barrier that not
// all threads reach, a race, memory that is used or released after it was given back), ValueError (arguments
// that do not match the parameters). What the kernel raises becomes Raised.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "ir/ir.h"
#include "ir/oracle_heap.h"
#include "weft/errors.h"

namespace weft::ir {

struct OracleBuffer {
    char* base = nullptr;
    std::vector<int64_t> strides;  // bytes, one a dimension; static strides are checked against the type
    char* low = nullptr;           // bounds of legal addresses; both null: not checked
    char* high = nullptr;
};
using OracleArgument = std::variant<OracleBuffer, Constant>;

// What a function told the host: a number and values.
struct Told {
    uint32_t site = 0;
    std::vector<Constant> payload{};
};

struct OracleOptions {
    // Report two accesses to one byte, one of them a plain write, from different points of a grid, or from
    // different threads of a block with no barrier between.
    bool detect_races = false;
    // Where what is returned stays; otherwise all that is allocated goes at the end.
    OracleHeap* heap = nullptr;
    // Gets what the function tells, in order. Nothing ends it.
    std::vector<Told>* told = nullptr;
};

struct Raised : RuntimeError {
    Raised(uint32_t site, std::vector<Constant> payload, const std::string& where);
    uint32_t site;
    std::vector<Constant> payload;
};

// Runs a kernel, or a function, whose results it gives: of a buffer its base and each dynamic stride, as i64.
std::vector<Constant> run_oracle(const Module& module, const Function& function,
                                 std::span<const OracleArgument> arguments,
                                 const OracleOptions& options = {});

}  // namespace weft::ir
