#include "passes/checks_ahead.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "passes/conditions_at_ends.h"
#include "passes/loops_in_blocks.h"
#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

constexpr int64_t kBlock = 256;      // iterations
constexpr int64_t kLeastBlock = 32;  // fewer are not worth a second loop
constexpr int kWorthVectors = 16;    // additions that an iteration takes

// One loop: what can be known ahead.
class Ahead {
public:
    Ahead(const Function& function, const Constants& constants, const Instruction& loop)
        : function_(function),
          loop_(loop),
          at_ends_(function, constants, loop.regions[0].arguments[0],
                   [this](ValueId value) { return source_of(value); }) {}

    bool run() {
        const Region& body = loop_.regions[0];
        if (!note_writes(body)) return false;
        counter_.insert(body.arguments[0].index);
        for (size_t i = 1; i < body.arguments.size(); ++i) unknown_.insert(body.arguments[i].index);
        walk(body, std::nullopt, true);
        if ((checks_.empty() && at_ends_.empty()) || is_left_) return false;
        if (checks_.empty()) return true;
        mark_needed();
        // Without vectors the checks are still fewer instructions of each iteration.
        if (scatters_) return ahead_cost_ <= cost_;
        return cost_ >= kWorthVectors && 2 * ahead_cost_ <= cost_;
    }

    bool is_ahead(const Instruction& check) const { return removed_.contains(&check); }
    bool looks_at_each() const { return !checks_.empty(); }

    // Appends whether those of the counter alone hold from one iteration to another.
    ValueId build_at_ends(Builder& builder, Function& function, ValueId first, ValueId last) const {
        return at_ends_.build(builder, function, first, last);
    }

    // Appends what tells whether a check fails: an i64 that is not 0 then.
    ValueId build(Builder& builder, Copier& copier, ValueId failed) const {
        for (const Instruction* each : order_) {
            if (std::any_of(each->results.begin(), each->results.end(),
                            [&](ValueId result) { return needed_.contains(result.index); }))
                builder.append(copier.copy(*each));
        }
        const ValueId zero = builder.index(0), one = builder.index(1);
        for (const Check& check : checks_) {
            ValueId holds = copier.mapped({check.holds})[0];
            for (const auto& [condition, taken] : check.path) {
                ValueId passed = copier.mapped({condition})[0];
                if (taken) passed = builder.apply(OpId::kLogicalNot, {passed});
                holds = builder.apply(OpId::kLogicalOr, {holds, passed});
            }
            failed =
                builder.apply(OpId::kBitwiseOr, {failed, builder.apply(OpId::kSelect, {holds, zero, one})});
        }
        return failed;
    }

private:
    using Path = std::vector<std::pair<ValueId, bool>>;  // conditions, and what they are
    struct Check {
        ValueId holds;
        Path path;
    };

    // Whether the loop is innermost and left by errors alone.
    bool note_writes(const Region& region) {
        return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& each) {
            switch (each.opcode) {
                case Opcode::kStore:
                    written_.insert(function_.type(each.operands[0]).buffer.alias_scope);
                    break;
                case Opcode::kConstant:
                case Opcode::kApply:
                case Opcode::kCast:
                case Opcode::kLoad:
                case Opcode::kView:
                case Opcode::kNull:
                case Opcode::kIf:
                case Opcode::kCheck:
                case Opcode::kYield: break;
                case Opcode::kContinue:
                    if (each.depth != 0) return false;
                    break;
                default: return false;
            }
            cost_ += each.opcode == Opcode::kApply ? each.op->cost : 1;
            return std::all_of(each.regions.begin(), each.regions.end(),
                               [&](const Region& inner) { return note_writes(inner); });
        });
    }

    bool is_known(ValueId value) const { return !unknown_.contains(value.index); }
    // Whether it hangs on nothing but the counter and what is there before the loop.
    bool is_of_counter(ValueId value) const {
        return !defined_.contains(value.index) || counter_.contains(value.index);
    }
    bool all_known(std::span<const ValueId> values) const {
        return std::all_of(values.begin(), values.end(), [&](ValueId value) { return is_known(value); });
    }

    void define(const Instruction& instruction, bool known, bool of_counter) {
        for (const ValueId result : instruction.results) {
            defined_.insert(result.index);
            if (!known) unknown_.insert(result.index);
            if (of_counter) counter_.insert(result.index);
        }
        if (known) {
            order_.push_back(&instruction);
            for (const ValueId result : instruction.results) source_[result.index] = &instruction;
        }
    }

    // No path: it cannot be told whether this is reached. `always`: every iteration comes here.
    void walk(const Region& region, std::optional<Path> given, bool always) {
        Path path = given.value_or(Path());
        for (const Instruction& each : region.body) {
            const bool known = all_known(each.operands);
            switch (each.opcode) {
                case Opcode::kConstant:
                case Opcode::kApply:
                case Opcode::kCast:
                case Opcode::kView:
                case Opcode::kNull:
                    define(each, known,
                           std::all_of(each.operands.begin(), each.operands.end(),
                                       [&](ValueId value) { return is_of_counter(value); }));
                    break;
                case Opcode::kLoad: define(each, known && always && can_load(each), false); break;
                case Opcode::kCheck:
                    if (is_of_counter(each.operands[0]) && at_ends_.goes_in_steps(each.operands[0]) &&
                        at_ends_.add(each.operands[0])) {
                        removed_.insert(&each);
                        break;
                    }
                    // Another one of the counter alone is of a loop that has run without, where that could
                    // be.
                    if (!is_known(each.operands[0]) || is_of_counter(each.operands[0])) {
                        is_left_ = true;
                        break;
                    }
                    checks_.push_back({each.operands[0], path});
                    removed_.insert(&each);
                    break;
                case Opcode::kStore:
                    for (const ValueId index : std::span(each.operands).subspan(2))
                        scatters_ |= !is_of_counter(index);
                    break;
                case Opcode::kContinue: is_left_ = true; break;
                case Opcode::kIf: walk_branch(each, path, always); break;
                default: break;
            }
        }
    }

    void walk_branch(const Instruction& each, Path& path, bool& always) {
        const ValueId condition = each.operands[0];
        const bool known = is_known(condition);
        for (const size_t side : {size_t{0}, size_t{1}}) {
            Path inner = path;
            if (known) inner.emplace_back(condition, side == 0);
            walk(each.regions[side], inner, false);
        }
        for (const ValueId result : each.results) {
            defined_.insert(result.index);
            unknown_.insert(result.index);
        }
        for (const size_t side : {size_t{0}, size_t{1}}) {
            if (yields(each.regions[side])) continue;  // the iteration ends there
            always = false;
            if (known) path.emplace_back(condition, side == 1);
        }
    }

    // What hangs on the counter alone is in bounds in every iteration: no check of it is left.
    bool can_load(const Instruction& load) const {
        const std::span<const ValueId> indices = std::span(load.operands).subspan(1);
        return !load.predicated && !written_.contains(function_.type(load.operands[0]).buffer.alias_scope) &&
               is_of_counter(load.operands[0]) &&
               std::all_of(indices.begin(), indices.end(),
                           [&](ValueId index) { return is_of_counter(index); });
    }

    std::optional<const Instruction*> source_of(ValueId value) const {
        const auto found = source_.find(value.index);
        if (found != source_.end()) return found->second;
        return defined_.contains(value.index) || !is_known(value)
                   ? std::nullopt
                   : std::optional<const Instruction*>(nullptr);
    }

    void mark_needed() {
        std::vector<ValueId> open;
        for (const Check& check : checks_) {
            open.push_back(check.holds);
            for (const auto& [condition, taken] : check.path) open.push_back(condition);
        }
        while (!open.empty()) {
            const ValueId value = open.back();
            open.pop_back();
            const auto source = source_.find(value.index);
            if (source == source_.end() || !needed_.insert(value.index).second) continue;
            const Instruction& instruction = *source->second;
            ahead_cost_ += instruction.opcode == Opcode::kApply ? instruction.op->cost : 1;
            open.insert(open.end(), instruction.operands.begin(), instruction.operands.end());
        }
    }

    const Function& function_;
    const Instruction& loop_;
    std::unordered_set<uint16_t> written_;
    std::unordered_set<uint32_t> defined_, unknown_, counter_, needed_;
    std::unordered_map<uint32_t, const Instruction*> source_;
    std::vector<const Instruction*> order_;
    std::unordered_set<const Instruction*> removed_;
    std::vector<Check> checks_;
    ConditionsAtEnds at_ends_;  // checks of the counter alone
    bool scatters_ = false;     // stores go where memory says, so there are no vectors
    bool is_left_ = false;      // some check, or something else that is in the way of vectors
    int cost_ = 0, ahead_cost_ = 0;
};

Region without_checks(const Region& region, const Ahead& ahead) {
    Region result;
    result.arguments = region.arguments;
    for (const Instruction& each : region.body) {
        if (each.opcode == Opcode::kCheck && ahead.is_ahead(each)) continue;
        Instruction copy = each;
        for (size_t i = 0; i < copy.regions.size(); ++i)
            copy.regions[i] = without_checks(each.regions[i], ahead);
        result.body.push_back(std::move(copy));
    }
    return result;
}

// Appends the loop in blocks; gives its results.
Values in_blocks(Builder& builder, Function& function, const Instruction& loop, const Ahead& ahead) {
    const ValueId width = builder.index(kBlock), least = builder.index(kLeastBlock);
    return append_in_blocks(builder, loop, width, [&](Builder& outer, const IterationBlock& block) {
        const ValueId is_long = outer.apply(OpId::kGreaterEqual, {block.count, least});
        const ValueId zero = outer.index(0), one = outer.index(1);
        const ValueId holds = outer.apply(
            OpId::kLogicalAnd, {is_long, ahead.build_at_ends(outer, function, block.begin, block.last)});
        const Values failed = outer.if_else(
            holds,
            [&](Builder& inner, std::span<const ValueId>) {
                if (!ahead.looks_at_each()) return Values{zero};
                return inner.for_loop(block.begin, block.end, loop.operands[2], std::array{zero},
                                      [&](Builder& body, std::span<const ValueId> values) -> Values {
                                          Copier copier(function);
                                          copier.map(loop.regions[0].arguments[0], values[0]);
                                          return {ahead.build(body, copier, values[1])};
                                      });
            },
            [&](Builder&, std::span<const ValueId>) { return Values{one}; });
        const ValueId fine = outer.apply(OpId::kEqual, {failed[0], zero});
        return outer.if_else(
            fine,
            [&](Builder& inner, std::span<const ValueId>) {
                Instruction stripped = loop;
                stripped.regions[0] = without_checks(loop.regions[0], ahead);
                return append_for_block(inner, function, stripped, block);
            },
            [&](Builder& inner, std::span<const ValueId>) {
                return append_for_block(inner, function, loop, block);
            });
    });
}

}  // namespace

void checks_ahead(const Module&, Function& function) {
    if (function.is_kernel) return;
    replace_loops(
        function,
        [&](Builder& builder, const Instruction& loop, const Constants& constants) -> std::optional<Values> {
            Ahead ahead(function, constants, loop);
            if (!ahead.run()) return std::nullopt;
            return in_blocks(builder, function, loop, ahead);
        });
}

}  // namespace weft::passes
