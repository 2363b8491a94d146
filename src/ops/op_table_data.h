// Between the generated op_table_data.cpp and op_table.cpp, which serves it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/aliases.h"
#include "ops/extreme_search.h"
#include "ops/lane_fold.h"
#include "ops/op.h"

namespace weft::ops_data {

/// The instruction sets that the ahead-of-time loops are compiled for.
enum class Isa : uint8_t { kX86V2, kX86V3, kX86V4 };

struct NamedFold {
    std::string_view symbol;  // of the loop
    LaneFold fold;
};

struct Loops {
    std::vector<LoopInfo> ops;    // in table order
    std::vector<LoopInfo> casts;  // indexed by source * kScalarTypeCount + target
    std::vector<NamedFold> folds;
    const ExtremeSearches* searches;  // by scalar type
};

using Alias = OpAlias;

Loops loops_for(Isa isa);
std::vector<OpInfo> make_ops(std::span<const LoopInfo> loops);
extern const std::span<const Alias> aliases;
extern const std::span<const ReductionInfo> reductions;

}  // namespace weft::ops_data
