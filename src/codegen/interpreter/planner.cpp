// Kernel IR to a block program: which values vary along the axis, what is computed for each, where it is
// kept.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "codegen/interpreter/program.h"
#include "codegen/interpreter/slots.h"
#include "codegen/runtime/draw_words.h"
#include "core/optimisation_switches.h"
#include "passes/calls/inline_calls.h"
#include "passes/simplify.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

constexpr size_t kMostCarried = 16;
constexpr int64_t kMostLanes = 256;

// Thrown and caught within this file.
struct Refusal {
    std::string why;
};

[[noreturn]] void refuse(std::string why) { throw Refusal{std::move(why)}; }

int64_t itemsize_of(ScalarType type) { return DType::of(type).itemsize(); }

bool any_instruction(const Region& region, const auto& test) {
    return std::any_of(region.body.begin(), region.body.end(), [&](const Instruction& instruction) {
        return test(instruction) ||
               std::any_of(instruction.regions.begin(), instruction.regions.end(),
                           [&](const Region& inner) { return any_instruction(inner, test); });
    });
}

bool has_regions(const Region& region) {
    return any_instruction(region, [](const Instruction& each) { return !each.regions.empty(); });
}

std::span<const ValueId> yields_of(const Region& region) { return region.body.back().operands; }

// Where the indices of a memory access begin among the operands.
size_t first_index(const Instruction& access) { return access.opcode == Opcode::kLoad ? 1 : 2; }

class Planner {
public:
    Planner(const ir::Function& kernel, const Instruction& grid, int axis)
        : kernel_(kernel), grid_(grid), classes_(kernel.values.size(), BlockClass::kUniform) {
        program_.name = kernel.name;
        program_.axis = axis;
        program_.values = kernel.values.size();
        program_.grid_dimensions = static_cast<int>(grid.operands.size());
    }

    BlockProgram run() {
        const Region& body = grid_.regions[0];
        for (const ValueId argument : body.arguments) program_.grid.push_back(argument.index);
        if (by_points()) classes_[program_.grid[static_cast<size_t>(program_.axis)]] = BlockClass::kAlong;
        classify(body);

        read_parameters();
        const auto at = std::find_if(kernel_.body.body.begin(), kernel_.body.body.end(),
                                     [&](const Instruction& each) { return &each == &grid_; });
        for (auto before = kernel_.body.body.begin(); before != at; ++before)
            emit(*before, program_.prologue, false);
        scopes_.emplace_back();
        for (size_t k = 0; k + 1 < body.body.size(); ++k) emit(body.body[k], program_.body, by_points());
        finish_memory(program_.body, {});
        program_.prologue.steps.insert(program_.prologue.steps.end(),
                                       std::make_move_iterator(spreads_.begin()),
                                       std::make_move_iterator(spreads_.end()));
        assign_slots(program_, lasting_);
        return std::move(program_);
    }

private:
    bool by_points() const { return program_.axis >= 0; }
    BlockClass kind(ValueId value) const { return classes_[value.index]; }
    bool is_uniform(ValueId value) const { return kind(value) == BlockClass::kUniform; }
    ScalarType scalar(ValueId value) const { return kernel_.type(value).scalar; }

    BlockValue new_value(BlockClass kind) {
        classes_.push_back(kind);
        return static_cast<BlockValue>(program_.values++);
    }

    // ---- which values vary ----

    void classify(const Region& region) {
        for (const Instruction& instruction : region.body) classify(instruction);
    }

    bool all_uniform(const std::vector<ValueId>& values) const {
        return std::all_of(values.begin(), values.end(),
                           [&](ValueId value) { return kernel_.type(value).is_buffer || is_uniform(value); });
    }

    void classify(const Instruction& instruction) {
        const auto& operands = instruction.operands;
        switch (instruction.opcode) {
            case Opcode::kApply:
            case Opcode::kCast:
            case Opcode::kLoad: {
                BlockClass found = all_uniform(operands) ? BlockClass::kUniform : BlockClass::kVarying;
                if (found == BlockClass::kVarying && goes_along(instruction)) found = BlockClass::kAlong;
                for (const ValueId result : instruction.results) classes_[result.index] = found;
                return;
            }
            case Opcode::kFor: classify_for(instruction); return;
            case Opcode::kWhile: classify_while(instruction); return;
            case Opcode::kReduce: classify_reduce(instruction); return;
            case Opcode::kConstant:
            case Opcode::kStore:
            case Opcode::kYield:
            case Opcode::kReturn: return;
            default: refuse("no " + std::string(ir::opcode_name(instruction.opcode)));
        }
    }

    bool goes_along(const Instruction& instruction) const {
        if (instruction.opcode != Opcode::kApply || instruction.op->id != OpId::kAdd) return false;
        if (scalar(instruction.results[0]) != ScalarType::kInt64) return false;
        const BlockClass left = kind(instruction.operands[0]), right = kind(instruction.operands[1]);
        return (left == BlockClass::kAlong && right == BlockClass::kUniform) ||
               (left == BlockClass::kUniform && right == BlockClass::kAlong);
    }

    void mark(ValueId value, ValueId source) {
        if (!is_uniform(source)) classes_[value.index] = BlockClass::kVarying;
    }

    // Carried values vary when what they start from or what an iteration gives varies.
    template <class Step>
    void to_fixed_point(const std::vector<ValueId>& values, const Step& step) {
        for (;;) {
            const std::vector<BlockClass> before = classes_;
            step();
            const bool same = std::all_of(values.begin(), values.end(), [&](ValueId value) {
                return before[value.index] == classes_[value.index];
            });
            if (same) return;
        }
    }

    void classify_for(const Instruction& loop) {
        const Region& body = loop.regions[0];
        for (size_t k = 0; k < 3; ++k) {
            if (!is_uniform(loop.operands[k])) refuse("a loop whose bounds vary");
        }
        if (!by_points() && is_independent(loop)) {
            classes_[body.arguments[0].index] = BlockClass::kAlong;
            classify(body);
            return;
        }
        const std::vector<ValueId> carried(body.arguments.begin() + 1, body.arguments.end());
        for (size_t k = 0; k < carried.size(); ++k) mark(carried[k], loop.operands[3 + k]);
        to_fixed_point(carried, [&] {
            classify(body);
            for (size_t k = 0; k < carried.size(); ++k) mark(carried[k], yields_of(body)[k]);
        });
        for (size_t k = 0; k < carried.size(); ++k) mark(loop.results[k], carried[k]);
    }

    void classify_while(const Instruction& loop) {
        const Region &condition = loop.regions[0], &body = loop.regions[1];
        const auto& carried = condition.arguments;
        for (size_t k = 0; k < carried.size(); ++k) mark(carried[k], loop.operands[k]);
        to_fixed_point(carried, [&] {
            classify(condition);
            for (size_t k = 0; k < body.arguments.size(); ++k)
                mark(body.arguments[k], yields_of(condition)[k + 1]);
            classify(body);
            for (size_t k = 0; k < carried.size(); ++k) mark(carried[k], yields_of(body)[k]);
        });
        if (!is_uniform(yields_of(condition)[0])) refuse("a loop that ends at different iterations");
        for (size_t k = 0; k < loop.results.size(); ++k) mark(loop.results[k], yields_of(condition)[k + 1]);
    }

    void classify_reduce(const Instruction& reduce) {
        if (!is_uniform(reduce.operands[0])) refuse("a reduction whose size varies");
        const Region &element = reduce.regions[0], &combine = reduce.regions[1];
        if (!by_points()) {
            if (reduce.lanes == 1) refuse("a row reduced element by element");
            if (has_regions(element)) refuse("a reduction within a reduction of a row");
            classes_[element.arguments[0].index] = BlockClass::kAlong;
        }
        if (has_regions(combine)) refuse("a combination with loops");
        if (reduce.lanes > kMostLanes) refuse("too many lanes");
        classify(element);
        for (const ValueId argument : combine.arguments) classes_[argument.index] = BlockClass::kVarying;
        classify(combine);
        if (by_points()) {
            for (const ValueId result : reduce.results) classes_[result.index] = BlockClass::kVarying;
        }
    }

    // A loop whose iterations may run side by side: each only reads what no iteration writes, and writes.
    bool is_independent(const Instruction& loop) const {
        const Region& body = loop.regions[0];
        if (!loop.results.empty() || has_regions(body) || !is_one(loop.operands[2])) return false;
        std::set<uint16_t> read, written;
        for (const Instruction& each : body.body) {
            switch (each.opcode) {
                case Opcode::kConstant:
                case Opcode::kApply:
                case Opcode::kCast:
                case Opcode::kYield: break;
                case Opcode::kLoad: read.insert(kernel_.type(each.operands[0]).buffer.alias_scope); break;
                case Opcode::kStore:
                    if (!written.insert(kernel_.type(each.operands[0]).buffer.alias_scope).second)
                        return false;
                    break;
                default: return false;
            }
        }
        return std::none_of(written.begin(), written.end(),
                            [&](uint16_t scope) { return read.contains(scope); });
    }

    bool is_one(ValueId value) const {
        bool one = false;
        any_instruction(kernel_.body, [&](const Instruction& each) {
            if (each.opcode == Opcode::kConstant && each.results[0] == value)
                one = each.constant.as<int64_t>() == 1;
            return false;
        });
        return one;
    }

    // ---- parameters ----

    void read_parameters() {
        int word = 0;
        for (const ValueId parameter : kernel_.parameters) {
            const ir::Type& type = kernel_.type(parameter);
            if (!type.is_buffer) {
                const int words = itemsize_of(type.scalar) > 8 ? 2 : 1;
                program_.scalars.push_back({parameter.index, word, words});
                word += words;
                continue;
            }
            buffers_[parameter.index] = static_cast<uint32_t>(program_.buffers.size());
            program_.buffers.push_back({word, type.buffer.strides, type.buffer.alias_scope});
            word += 1 + static_cast<int>(
                            std::count(type.buffer.strides.begin(), type.buffer.strides.end(), ir::kDynamic));
        }
    }

    // ---- steps ----

    // Values that the planner adds, found again within the region that they were made in and those inside.
    using Added = std::map<BlockValue, BlockValue>;
    BlockValue find_or_add(std::vector<Added>& levels, BlockValue of, const auto& make) {
        for (const Added& level : levels) {
            if (const auto found = level.find(of); found != level.end()) return found->second;
        }
        return levels.back()[of] = make();
    }

    // What an ahead-of-time loop over a block reads for a value.
    BlockValue operand(ValueId value, bool spread, BlockRegion& into) {
        if (kind(value) == BlockClass::kAlong) {
            return find_or_add(scopes_, value.index, [&] {
                const BlockValue added = new_value(BlockClass::kVarying);
                into.steps.push_back({.kind = BlockStepKind::kPositions,
                                      .varying = true,
                                      .itemsize = 8,
                                      .operands = {value.index},
                                      .results = {added}});
                return added;
            });
        }
        if (!spread || kind(value) == BlockClass::kVarying) return value.index;
        const bool known = std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(),
                                       [&](ValueId each) { return each == value; }) ||
                           constants_.contains(value.index);
        const auto make = [&](std::vector<BlockStep>& steps) {
            const BlockValue added = new_value(BlockClass::kVarying);
            steps.push_back({.kind = BlockStepKind::kSpread,
                             .varying = true,
                             .itemsize = itemsize_of(scalar(value)),
                             .operands = {value.index},
                             .results = {added}});
            return added;
        };
        if (!known) return find_or_add(scopes_, value.index, [&] { return make(into.steps); });
        const auto found = spread_.find(value.index);
        if (found != spread_.end()) return found->second;
        const BlockValue added = make(spreads_);
        lasting_.push_back(added);
        return spread_[value.index] = added;
    }

    void emit_region(const Region& region, BlockRegion& into, bool along) {
        for (const ValueId argument : region.arguments) into.arguments.push_back(argument.index);
        scopes_.emplace_back();
        for (size_t k = 0; k + 1 < region.body.size(); ++k) emit(region.body[k], into, along);
        for (const ValueId value : yields_of(region)) into.yields.push_back(operand(value, false, into));
        scopes_.pop_back();
    }

    // `along`: whether a block of elements is there at all.
    void emit(const Instruction& instruction, BlockRegion& into, bool along) {
        switch (instruction.opcode) {
            case Opcode::kConstant:
                program_.constants.emplace_back(instruction.results[0].index, instruction.constant);
                constants_.insert(instruction.results[0].index);
                return;
            case Opcode::kApply:
                emit_loop(instruction, instruction.op->loops[static_cast<size_t>(instruction.loop)], into);
                return;
            case Opcode::kCast:
                emit_loop(instruction,
                          cast_loop(scalar(instruction.operands[0]), scalar(instruction.results[0])), into);
                return;
            case Opcode::kLoad: emit_load(instruction, into); return;
            case Opcode::kStore: emit_store(instruction, into, along); return;
            case Opcode::kFor: emit_for(instruction, into, along); return;
            case Opcode::kWhile: emit_while(instruction, into, along); return;
            case Opcode::kReduce: emit_reduce(instruction, into); return;
            default: refuse("no " + std::string(ir::opcode_name(instruction.opcode)));
        }
    }

    void emit_loop(const Instruction& instruction, const LoopInfo& loop, BlockRegion& into) {
        const LoopInfo* drawing =
            instruction.opcode == Opcode::kApply ? find_drawing_loop(instruction.op->id) : nullptr;
        BlockStep step{.kind = BlockStepKind::kLoop, .loop = drawing != nullptr ? drawing : &loop};
        step.varying = kind(instruction.results[0]) == BlockClass::kVarying;
        // Ahead-of-time loops know one uniform operand of two.
        const bool spread = step.varying && instruction.operands.size() != 2 && drawing == nullptr;
        for (const ValueId value : instruction.operands)
            step.operands.push_back(step.varying ? operand(value, spread, into) : value.index);
        for (const ValueId value : instruction.results) {
            step.results.push_back(value.index);
            step.itemsizes.push_back(itemsize_of(scalar(value)));
        }
        into.steps.push_back(std::move(step));
    }

    void set_access(const Instruction& instruction, BlockStep& step) {
        const ValueId buffer = instruction.operands[0];
        const auto found = buffers_.find(buffer.index);
        if (found == buffers_.end()) refuse("memory of its own");
        if (instruction.predicated) refuse("a predicated access");
        step.buffer = found->second;
        step.itemsize = itemsize_of(kernel_.type(buffer).buffer.element);
        int64_t stride = 0;
        const std::vector<int64_t>& strides = program_.buffers[step.buffer].strides;
        for (size_t d = 0; d < strides.size(); ++d) {
            const ValueId index = instruction.operands[first_index(instruction) + d];
            if (scalar(index) != ScalarType::kInt64) refuse("an index that is no i64");
            BlockIndex use{index.index, kind(index)};
            step.indices.push_back(use);
            if (use.kind == BlockClass::kAlong)
                stride = stride == 0 && strides[d] != ir::kDynamic ? strides[d] : ir::kDynamic;
        }
        step.contiguous = stride == step.itemsize;
    }

    void emit_load(const Instruction& instruction, BlockRegion& into) {
        BlockStep step{.kind = BlockStepKind::kLoad, .results = {instruction.results[0].index}};
        set_access(instruction, step);
        step.varying = !is_uniform(instruction.results[0]);
        if (std::any_of(step.indices.begin(), step.indices.end(),
                        [](const BlockIndex& index) { return index.kind == BlockClass::kVarying; }))
            step.kind = BlockStepKind::kGather;
        into.steps.push_back(std::move(step));
    }

    void emit_store(const Instruction& instruction, BlockRegion& into, bool along) {
        BlockStep step{.kind = BlockStepKind::kStore};
        step.operands = {operand(instruction.operands[1], false, into)};
        set_access(instruction, step);
        const auto is = [&](BlockClass kind) {
            return std::any_of(step.indices.begin(), step.indices.end(),
                               [&](const BlockIndex& index) { return index.kind == kind; });
        };
        if (is(BlockClass::kVarying)) refuse("a store to a computed place");
        if (along && !is(BlockClass::kAlong)) refuse("elements that are stored to one place");
        step.varying = along;
        into.steps.push_back(std::move(step));
    }

    // What a loop carries, and where an iteration's varying results wait until the next one.
    void carry(BlockStep& step, const std::vector<ValueId>& values) {
        if (values.size() > kMostCarried) refuse("too much that a loop carries");
        for (const ValueId value : values) {
            step.itemsizes.push_back(itemsize_of(scalar(value)));
            step.carried.push_back(kind(value));
            step.next.push_back(is_uniform(value) ? value.index : new_value(BlockClass::kVarying));
            if (is_uniform(value)) continue;
            lasting_.push_back(value.index);
            lasting_.push_back(step.next.back());
            lasting_sizes_of(value.index, step.next.back(), step.itemsizes.back());
        }
    }

    void lasting_sizes_of(BlockValue value, BlockValue next, int64_t itemsize) {
        program_.slots.push_back({value, -1, itemsize});
        program_.slots.push_back({next, -1, itemsize});
    }

    void require_iterations(const Instruction& loop) const {
        if (by_points()) return;
        const bool reduces = any_instruction(
            loop.regions.back(), [](const Instruction& each) { return each.opcode == Opcode::kReduce; });
        if (!reduces) refuse("a loop over single elements");
    }

    void emit_for(const Instruction& loop, BlockRegion& into, bool along) {
        const Region& body = loop.regions[0];
        BlockStep step{.kind = BlockStepKind::kFor, .varying = along};
        for (const ValueId value : loop.operands) step.operands.push_back(value.index);
        for (const ValueId value : loop.results) step.results.push_back(value.index);
        step.regions.resize(1);
        if (kind(body.arguments[0]) == BlockClass::kAlong) {
            step.kind = BlockStepKind::kAlongFor;
            emit_region(body, step.regions[0], true);
        } else {
            require_iterations(loop);
            carry(step, {body.arguments.begin() + 1, body.arguments.end()});
            for (size_t k = 0; k < step.itemsizes.size(); ++k)
                step.operands[3 + k] = operand(loop.operands[3 + k], false, into);
            emit_region(body, step.regions[0], along);
        }
        into.steps.push_back(std::move(step));
    }

    void emit_while(const Instruction& loop, BlockRegion& into, bool along) {
        require_iterations(loop);
        BlockStep step{.kind = BlockStepKind::kWhile, .varying = along};
        for (const ValueId value : loop.operands) step.operands.push_back(operand(value, false, into));
        for (const ValueId value : loop.results) step.results.push_back(value.index);
        if (along) refuse("a while loop along an axis");
        carry(step, loop.regions[0].arguments);
        step.regions.resize(2);
        emit_region(loop.regions[0], step.regions[0], along);
        emit_region(loop.regions[1], step.regions[1], along);
        for (const ValueId value : loop.results) step.itemsizes.push_back(itemsize_of(scalar(value)));
        into.steps.push_back(std::move(step));
    }

    void emit_reduce(const Instruction& reduce, BlockRegion& into) {
        BlockStep step{.kind = BlockStepKind::kReduce, .varying = by_points(), .along = !by_points()};
        step.lanes = reduce.lanes;
        step.block = reduce.block;
        for (const ValueId value : reduce.operands) step.operands.push_back(operand(value, false, into));
        for (const ValueId value : reduce.results) {
            step.results.push_back(value.index);
            step.itemsizes.push_back(itemsize_of(scalar(value)));
        }
        if (step.results.size() > kMostCarried) refuse("too many reductions at once");
        step.regions.resize(2);
        emit_region(reduce.regions[0], step.regions[0], true);
        emit_region(reduce.regions[1], step.regions[1], true);
        find_folds(step);
        into.steps.push_back(std::move(step));
    }

    // Where each component is combined by one operation of its own.
    void find_folds(BlockStep& step) {
        const BlockRegion& combine = step.regions[1];
        const size_t components = step.results.size();
        std::vector<StridedLoop> folds;
        std::vector<LaneFold> lane_folds;
        for (size_t c = 0; c < components; ++c) {
            const auto found =
                std::find_if(combine.steps.begin(), combine.steps.end(), [&](const BlockStep& each) {
                    return each.kind == BlockStepKind::kLoop && each.results.size() == 1 &&
                           each.results[0] == combine.yields[c] && each.operands.size() == 2 &&
                           each.operands[0] == combine.arguments[c] &&
                           each.operands[1] == combine.arguments[components + c];
                });
            if (found == combine.steps.end()) break;
            folds.push_back(found->loop->loop);
            lane_folds.push_back(step.lanes == kFoldLanes ? find_lane_fold(*found->loop) : nullptr);
        }
        if (folds.size() == components) {
            step.folds = std::move(folds);
            step.lane_folds = std::move(lane_folds);
            return;
        }
        // A component may be handed on as it is, but not in another's place, which would be overwritten
        // first.
        for (size_t c = 0; c < components; ++c) {
            for (size_t k = 0; k < combine.arguments.size(); ++k) {
                if (combine.yields[c] == combine.arguments[k] && k != c && k != components + c)
                    refuse("components that change places");
            }
        }
    }

    // ---- memory that is read and written ----

    static void scopes_touched(const BlockProgram& program, const BlockStep& step, std::set<uint16_t>& read,
                               std::set<uint16_t>& written) {
        const uint16_t scope = step.buffer < program.buffers.size() ? program.buffers[step.buffer].scope : 0;
        if (step.kind == BlockStepKind::kLoad || step.kind == BlockStepKind::kGather) read.insert(scope);
        if (step.kind == BlockStepKind::kStore || step.kind == BlockStepKind::kDestination)
            written.insert(scope);
        for (const BlockRegion& region : step.regions) {
            for (const BlockStep& inner : region.steps) scopes_touched(program, inner, read, written);
        }
    }

    static bool uses(const BlockStep& step, BlockValue value) {
        const auto is = [&](BlockValue each) { return each == value; };
        if (std::any_of(step.operands.begin(), step.operands.end(), is)) return true;
        if (std::any_of(step.indices.begin(), step.indices.end(),
                        [&](const BlockIndex& index) { return index.value == value; }))
            return true;
        return std::any_of(step.regions.begin(), step.regions.end(), [&](const BlockRegion& region) {
            return std::any_of(region.yields.begin(), region.yields.end(), is) ||
                   std::any_of(region.steps.begin(), region.steps.end(),
                               [&](const BlockStep& inner) { return uses(inner, value); });
        });
    }

    static size_t last_use(const BlockRegion& region, BlockValue value) {
        if (std::find(region.yields.begin(), region.yields.end(), value) != region.yields.end())
            return region.steps.size();
        for (size_t k = region.steps.size(); k-- > 0;) {
            if (uses(region.steps[k], value)) return k;
        }
        return 0;
    }

    // Lets loops write their results where they are stored, and has loaded values copied that are overwritten
    // while they are needed. `outside`: the scopes of values that enclosing regions have loaded.
    void finish_memory(BlockRegion& region, const std::set<uint16_t>& outside) {
        const size_t count = region.steps.size();
        struct Touched {
            std::set<uint16_t> read, written;
        };
        std::vector<Touched> touched(count);
        std::set<uint16_t> inside = outside;
        for (size_t k = 0; k < count; ++k) {
            scopes_touched(program_, region.steps[k], touched[k].read, touched[k].written);
            inside.insert(touched[k].read.begin(), touched[k].read.end());
        }
        for (BlockStep& step : region.steps) {
            for (BlockRegion& inner : step.regions) finish_memory(inner, inside);
        }
        const auto scope_of = [&](const BlockStep& step) { return program_.buffers[step.buffer].scope; };
        std::vector<size_t> destination_before(count, count);  // of a loop: its store
        for (size_t j = 0; j < count; ++j) {
            const BlockStep& store = region.steps[j];
            if (store.kind != BlockStepKind::kStore || !store.varying || !store.contiguous) continue;
            const size_t i = defining_loop(region, store.operands[0], j);
            if (i == count || destination_before[i] != count) continue;
            const uint16_t scope = scope_of(store);
            if (outside.contains(scope) || !is_free(region, touched, i, j, scope)) continue;
            destination_before[i] = j;
            touched[i].written.insert(scope);
            touched[j].written.clear();
        }
        for (size_t l = 0; l < count; ++l) {
            BlockStep& load = region.steps[l];
            if (load.kind != BlockStepKind::kLoad || !load.varying) continue;
            const size_t last = last_use(region, load.results[0]);
            for (size_t w = l + 1; w < count && w <= last; ++w) {
                if (!touched[w].written.contains(scope_of(load))) continue;
                if (w < last || !region.steps[w].regions.empty()) load.copied = true;
            }
        }
        std::vector<BlockStep> steps;
        std::vector<bool> is_gone(count);
        for (const size_t j : destination_before) {
            if (j < count) is_gone[j] = true;
        }
        for (size_t k = 0; k < count; ++k) {
            if (is_gone[k]) continue;
            if (const size_t j = destination_before[k]; j < count) {
                BlockStep destination = region.steps[j];
                destination.kind = BlockStepKind::kDestination;
                destination.results = std::move(destination.operands);
                destination.operands.clear();
                steps.push_back(std::move(destination));
            }
            steps.push_back(std::move(region.steps[k]));
        }
        region.steps = std::move(steps);
    }

    static size_t defining_loop(const BlockRegion& region, BlockValue value, size_t before) {
        for (size_t k = 0; k < before; ++k) {
            const BlockStep& step = region.steps[k];
            if (step.kind == BlockStepKind::kLoop && step.varying && step.results.size() == 1 &&
                step.results[0] == value)
                return k;
        }
        return region.steps.size();
    }

    // Whether step `i` may write where step `j` stores its result.
    template <class Touched>
    bool is_free(const BlockRegion& region, const Touched& touched, size_t i, size_t j,
                 uint16_t scope) const {
        for (size_t k = i + 1; k < j; ++k) {
            if (touched[k].read.contains(scope) || touched[k].written.contains(scope)) return false;
        }
        for (size_t k = 0; k < i; ++k) {  // nobody needs what is overwritten
            const BlockStep& load = region.steps[k];
            if (load.kind == BlockStepKind::kLoad && program_.buffers[load.buffer].scope == scope &&
                last_use(region, load.results[0]) > i)
                return false;
        }
        const BlockValue value = region.steps[j].operands[0];
        if (last_use(region, value) > j) {  // read again from there
            for (size_t k = j + 1; k < region.steps.size(); ++k) {
                if (touched[k].written.contains(scope)) return false;
            }
        }
        for (const BlockIndex& index : region.steps[j].indices) {
            for (size_t k = i; k < j; ++k) {
                const auto& results = region.steps[k].results;
                if (std::find(results.begin(), results.end(), index.value) != results.end()) return false;
            }
        }
        return true;
    }

    const ir::Function& kernel_;
    const Instruction& grid_;
    BlockProgram program_;
    std::vector<BlockClass> classes_;
    std::map<BlockValue, uint32_t> buffers_;
    std::set<BlockValue> constants_;
    std::vector<Added> scopes_{1};
    std::map<BlockValue, BlockValue> spread_;
    std::vector<BlockStep> spreads_;
    std::vector<BlockValue> lasting_;  // kept as long as the program
};

// Along which dimensions of the grid what loops read, or the whole kernel, lies without gaps: the best first.
std::vector<int> axes_by_merit(const ir::Function& kernel, const Instruction& grid) {
    const Region& body = grid.regions[0];
    std::vector<int64_t> merits(body.arguments.size());
    const auto look = [&](const auto& self, const Region& region, int64_t weight) -> void {
        for (const Instruction& each : region.body) {
            for (const Region& inner : each.regions) self(self, inner, weight * 16);
            if (each.opcode != Opcode::kLoad && each.opcode != Opcode::kStore) continue;
            const ir::BufferType& type = kernel.type(each.operands[0]).buffer;
            for (size_t d = 0; d < type.strides.size(); ++d) {
                if (type.strides[d] != itemsize_of(type.element)) continue;
                for (size_t g = 0; g < merits.size(); ++g) {
                    if (each.operands[first_index(each) + d] == body.arguments[g]) merits[g] += weight;
                }
            }
        }
    };
    look(look, body, 1);
    std::vector<int> axes(merits.size());
    std::iota(axes.rbegin(), axes.rend(), 0);
    std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) {
        return merits[static_cast<size_t>(a)] > merits[static_cast<size_t>(b)];
    });
    // A loop that goes element by element through what lies along no dimension has nothing to gain.
    const bool carries = any_instruction(
        body, [](const Instruction& each) { return each.opcode == Opcode::kFor && !each.results.empty(); });
    if (carries) std::erase_if(axes, [&](int axis) { return merits[static_cast<size_t>(axis)] == 0; });
    return axes;
}

std::optional<BlockProgram> plan_points(const ir::Function& kernel, const Instruction& grid,
                                        std::string& why) {
    why = "nothing lies side by side";
    for (const int axis : axes_by_merit(kernel, grid)) {
        try {
            return Planner(kernel, grid, axis).run();
        } catch (const Refusal& refusal) {
            why = refusal.why;
        }
    }
    return std::nullopt;
}

// The word of a launch that says how many elements a row has; -1 where that is computed.
int word_of_row(const ir::Function& kernel, const Instruction& grid) {
    const auto& body = grid.regions[0].body;
    const auto reduce = std::find_if(body.begin(), body.end(),
                                     [](const Instruction& each) { return each.opcode == Opcode::kReduce; });
    int word = 0;
    for (const ValueId parameter : kernel.parameters) {
        const ir::Type& type = kernel.type(parameter);
        if (type.is_buffer) break;  // sizes come first
        if (reduce != body.end() && parameter == reduce->operands[0]) return word;
        word += itemsize_of(type.scalar) > 8 ? 2 : 1;
    }
    return -1;
}

}  // namespace

std::optional<BlockPrograms> plan_blocks(const ir::Module& module, const ir::Function& source,
                                         std::string& why) {
    ir::Function kernel = source;
    passes::inline_calls(module, kernel);
    if (is_on(OptimisationSwitch::kSimplify)) passes::simplify(module, kernel);
    const Instruction* grid = nullptr;
    for (const Instruction& each : kernel.body.body) {
        const bool last = &each + 2 == kernel.body.body.data() + kernel.body.body.size();
        if (each.opcode == Opcode::kParallel && each.level == ir::ParallelLevel::kGrid && last &&
            each.range_dimension < 0)
            grid = &each;
        else if (each.opcode != Opcode::kConstant && each.opcode != Opcode::kApply &&
                 each.opcode != Opcode::kCast && each.opcode != Opcode::kReturn)
            grid = nullptr;
    }
    if (grid == nullptr || grid->operands.empty()) {
        why = "not one grid";
        return std::nullopt;
    }
    const bool by_rows = any_instruction(grid->regions[0], [](const Instruction& each) {
        return each.opcode == Opcode::kReduce && each.lanes > 1;
    });
    if (!by_rows) {
        std::optional<BlockProgram> program = plan_points(kernel, *grid, why);
        if (!program) return std::nullopt;
        return BlockPrograms{std::move(*program)};
    }
    BlockPrograms programs;
    try {
        programs.usual = Planner(kernel, *grid, -1).run();
    } catch (const Refusal& refusal) {
        why = refusal.why;
        return std::nullopt;
    }
    programs.row_word = word_of_row(kernel, *grid);
    std::string no_matter;
    if (programs.row_word >= 0) programs.of_short_rows = plan_points(kernel, *grid, no_matter);
    return programs;
}

}  // namespace weft::codegen
