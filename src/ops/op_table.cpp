// Serves the op table: picks the ahead-of-time loops for the CPU at hand once, and finds by name.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "core/processor.h"
#include "ops/extreme_search.h"
#include "ops/op.h"
#include "ops/op_table_data.h"
#include "weft/errors.h"

namespace weft {
namespace {

ops_data::Isa isa() {
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return ops_data::Isa::kX86V4;
        case ProcessorLevel::kX86V3: return ops_data::Isa::kX86V3;
        case ProcessorLevel::kX86V2: break;
    }
    return ops_data::Isa::kX86V2;
}

struct Table {
    ops_data::Loops loops = ops_data::loops_for(isa());
    std::vector<OpInfo> ops = ops_data::make_ops(loops.ops);
    std::unordered_map<std::string_view, OpId> by_name;
    std::unordered_map<std::string_view, LaneFold> folds;

    Table() {
        for (const OpInfo& op : ops) by_name.emplace(op.name, op.id);
        for (const auto& [symbol, fold] : loops.folds) folds.emplace(symbol, fold);
        for (const ops_data::Alias& alias : ops_data::aliases) by_name.emplace(alias.name, alias.id);
    }
};

// Made at first use and never destroyed: other static objects may ask while the process ends.
const Table& table() {
    static const Table* const instance = new Table();
    return *instance;
}

constexpr VectorMathFunction kVectorMath[] = {
#define WEFT_VECTOR_MATH(symbol, called, name, accuracy, type, arguments) \
    {#symbol, name, accuracy, sizeof(type) == 8, arguments},
#include "ops/vector_math.inc"
#undef WEFT_VECTOR_MATH
};

}  // namespace

std::span<const OpInfo> op_table() { return table().ops; }

std::span<const OpAlias> op_aliases() { return ops_data::aliases; }

const OpInfo& op_info(OpId id) { return table().ops[static_cast<size_t>(id)]; }

const OpInfo* find_op(std::string_view name) {
    const auto& by_name = table().by_name;
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : &op_info(found->second);
}

const LoopInfo* find_loop(const OpInfo& op, std::span<const ScalarType> inputs) {
    for (const LoopInfo& loop : op.loops) {
        if (std::ranges::equal(inputs, op.input_types(loop))) return &loop;
    }
    return nullptr;
}

const LoopInfo& cast_loop(ScalarType from, ScalarType to) {
    return table().loops.casts[static_cast<size_t>(from) * kScalarTypeCount + static_cast<size_t>(to)];
}

LaneFold find_lane_fold(const LoopInfo& loop) {
    const auto& folds = table().folds;
    const auto found = folds.find(loop.symbol);
    return found == folds.end() ? nullptr : found->second;
}

ExtremeSearch find_extreme_search(ScalarType type, bool largest) {
    const ExtremeSearches& searches = table().loops.searches[static_cast<size_t>(type)];
    return largest ? searches.largest : searches.smallest;
}

std::span<const VectorMathFunction> vector_math_functions() { return kVectorMath; }

std::span<const ReductionInfo> reduction_table() { return ops_data::reductions; }

const ReductionInfo& reduction_info(ReductionId id) { return ops_data::reductions[static_cast<size_t>(id)]; }

const ReductionInfo* find_reduction(std::string_view name) {
    for (const ReductionInfo& reduction : ops_data::reductions) {
        if (reduction.name == name) return &reduction;
    }
    return nullptr;
}

}  // namespace weft
