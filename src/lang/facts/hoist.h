// Checks of indices that one test before a loop stands for: what has to hold for the loop to run without
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/ir.h"
#include "lang/tree/syntax.h"

namespace weft::lang {

struct FunctionSource;

// A loop that is lowered as if indices that go along with it were in bounds. What has to hold for that is
// gathered, to be tested before the loop.
struct Hoist {
    const FunctionSource* function;  // of the loop
    NodeId loop;                     // whose counter it is
    ir::ValueId counter;             // goes from `lower` to below `upper`, in some order
    ir::ValueId lower, upper;
    bool by_element = false;  // of a range that does not go up by one: that is the counter here
    size_t first = 0;         // values before this one are those of before the loop

    // An index, as what it is a sum of: all of what it runs through has to be in bounds.
    struct Index {
        bool moves = false;           // with the counter, or else with
        ir::ValueId base;             // a value of before the loop; or nothing is added to
        int64_t least = 0, most = 0;  // these
        ir::ValueId other;            // of before the loop, and added; or invalid
        bool subtracts = false;       // the counter, or the base, is subtracted
        ir::ValueId size;
        bool from_below = true, from_above = true;  // which ends have to be in bounds
        bool less_other = false;                    // the other one is subtracted, not added
        friend bool operator==(const Index&, const Index&) = default;
    };
    std::vector<Index> indices{};

    // An index whose ends are computed (facts/ranges.cpp), and the counters of loops inside that it hangs on.
    struct Range {
        ir::ValueId index, size;
        friend bool operator==(const Range&, const Range&) = default;
    };
    struct Counter {
        ir::ValueId counter, lower, upper;
    };
    std::vector<Range> ranges{};
    std::vector<Counter> inside{};

    bool is_of(const FunctionSource& source, NodeId id) const { return function == &source && loop == id; }
    bool is_before(ir::ValueId value) const { return value.index < first; }
};

}  // namespace weft::lang
