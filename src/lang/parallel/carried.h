// Loops whose iterations run at the same time (prange): what becomes of the variables that they assign. A
// variable that goes from one iteration to the next must be a reduction, or the loop is refused.
#pragma once

#include <string>
#include <vector>

#include "lang/symbols.h"
#include "lang/tree/liveness.h"

namespace weft::lang {

enum class CarriedKind : uint8_t {
    kReduction,  // each chunk starts with the operation's identity (or the value from before, see below);
                 // what chunks come to is combined in order
    kLast,       // every iteration assigns it before it reads it: it ends as the last iteration's
    kBeside,     // assigned wherever a minimum or maximum is: `if x < best: best, at = x, i`
};

struct CarriedVariable {
    size_t variable = 0;
    CarriedKind kind = CarriedKind::kReduction;
    // kReduction: "add", "mul", "and", "or", "xor" of the operators; "any", "all" for `or` and `and` of
    // bools; "min", "max" of Python's, "minimum", "maximum", "fmin", "fmax" of NumPy's; "lt", "le", "gt",
    // "ge": what a value has to be to take the place of the best so far.
    std::string operation{};
    size_t of = 0;     // kBeside: the variable that it is beside
    NodeId where = 0;  // where it is updated first
};

inline bool is_comparison(const std::string& operation) {
    return operation == "lt" || operation == "le" || operation == "gt" || operation == "ge";
}

// Whether chunks start with the value from before the loop, which what they come to may hold. Of equal values
// `le` and `ge` take the last, and a chunk without any has none.
inline bool starts_from_before(const CarriedVariable& carried) {
    const std::string& operation = carried.operation;
    return carried.kind == CarriedKind::kReduction &&
           (operation == "lt" || operation == "gt" || operation == "any" || operation == "all");
}

struct ParallelLoop {
    std::vector<CarriedVariable> carried;
    // Arrays from before the loop with elements that several iterations may update: chunks have copies.
    std::vector<CarriedVariable> arrays;
    VariableSet captured;  // read before an iteration assigns them, but for reductions
    // Where a loop cannot be parallel: the place, what is wrong and what to write.
    NodeId refused = 0;
    std::string why, help;
};

// Of a `for` over prange.
ParallelLoop find_parallel_loop(const FunctionSource& source, NodeId loop, const Flow& flow);

}  // namespace weft::lang
