#include "passes/loops_ahead.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "passes/conditions_at_ends.h"
#include "passes/lanes_of_loops.h"
#include "passes/loops_in_blocks.h"
#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

constexpr int64_t kBlock = 16;
// Steps that a loop without a known end takes ahead. More are left to the loop as it was written, which may
// be left by an error before it comes to one that never ends.
constexpr int64_t kMostSteps = int64_t{1} << 22;
constexpr int64_t kUnrolled = 16;  // iterations that LLVM unrolls, so that the loop around becomes vectors

bool has_loop(const Instruction& instruction) {
    return is_loop(instruction.opcode) ||
           std::any_of(instruction.regions.begin(), instruction.regions.end(), [](const Region& region) {
               return std::any_of(region.body.begin(), region.body.end(), has_loop);
           });
}

bool is_pure(const Instruction& instruction) {
    return instruction.opcode == Opcode::kConstant || instruction.opcode == Opcode::kApply ||
           instruction.opcode == Opcode::kCast;
}

// Values that it uses and does not define.
void add_uses(const Instruction& instruction, std::unordered_set<uint32_t> own, Values& uses) {
    for (const ValueId operand : instruction.operands) {
        if (!own.contains(operand.index)) uses.push_back(operand);
    }
    for (const Region& region : instruction.regions) {
        std::unordered_set<uint32_t> inner = own;
        for (const ValueId argument : region.arguments) inner.insert(argument.index);
        for (const Instruction& each : region.body) {
            add_uses(each, inner, uses);
            for (const ValueId result : each.results) inner.insert(result.index);
        }
    }
}
Values uses_of(const Instruction& instruction) {
    Values uses;
    add_uses(instruction, {}, uses);
    return uses;
}

// One loop, and what of its body can run ahead.
class Ahead {
public:
    struct Kept {
        std::unordered_map<uint32_t, ValueId> results;  // by result: an array of what the lanes came to
        ValueId failed;                                 // an array: not 0 where the lane is not to be used
    };

    Ahead(Function& function, const Constants& constants, const Instruction& loop)
        : function_(function),
          constants_(constants),
          loop_(loop),
          body_(loop.regions[0]),
          counter_(body_.arguments[0]),
          conditions_(function, constants, counter_, [this](ValueId value) { return source_of(value); }) {}

    bool run() {
        if (is_left(loop_) || !yields(body_) || !note_writes(body_)) return false;
        for (size_t i = 1; i < body_.arguments.size(); ++i) serial_.insert(body_.arguments[i].index);
        for (const Instruction& each : body_.body) take(each);
        if (loops_.empty()) return false;
        mark_needed();
        return resolve_checks() && can_step();
    }

    // Appends whether every check that was left out holds for the iterations `first` to `last`.
    ValueId build_conditions(Builder& builder, Function& function, ValueId first, ValueId last) const {
        return conditions_.build(builder, function, first, last);
    }

    // What runs ahead, in the body of a loop over lanes.
    void build_lane(Builder& builder, Function& function, ValueId counter, ValueId lane,
                    const Kept& kept) const {
        Copier copier(function);
        copier.map(counter_, counter);
        for (const Instruction* each : order_) {
            if (!is_needed(*each)) continue;
            if (!has_loop(*each)) {
                builder.append(copier.copy(*each));
                continue;
            }
            const Values results = build_loop(builder, function, copier, *each, lane, kept.failed);
            for (size_t i = 0; i < results.size(); ++i) {
                copier.map(each->results[i], results[i]);
                const auto array = kept.results.find(each->results[i].index);
                if (array != kept.results.end())
                    builder.store(array->second, results[i], std::span(&lane, 1));
            }
        }
    }

    // The results of loops that run ahead.
    Values results() const {
        Values results;
        for (const Instruction* each : loops_) {
            if (is_needed(*each)) results.insert(results.end(), each->results.begin(), each->results.end());
        }
        return results;
    }

    bool is_ahead(const Instruction& instruction) const {
        return std::find(loops_.begin(), loops_.end(), &instruction) != loops_.end() &&
               is_needed(instruction);
    }

private:
    // --- what there is ------------------------------------------------------------------------------------

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
                case Opcode::kFor:
                case Opcode::kWhile:
                case Opcode::kHeap:
                case Opcode::kRetain:
                case Opcode::kRelease:
                case Opcode::kCheck:
                case Opcode::kTell:
                case Opcode::kBreak:
                case Opcode::kContinue:
                case Opcode::kYield: break;
                default: return false;
            }
            return std::all_of(each.regions.begin(), each.regions.end(),
                               [&](const Region& inner) { return note_writes(inner); });
        });
    }

    std::optional<const Instruction*> source_of(ValueId value) const {
        if (inside_.contains(value.index)) return std::nullopt;
        const auto found = source_.find(value.index);
        if (found != source_.end()) return found->second;
        return is_serial(value) ? std::nullopt : std::optional<const Instruction*>(nullptr);
    }
    bool is_serial(ValueId value) const { return serial_.contains(value.index); }

    void take(const Instruction& each) {
        if (each.opcode == Opcode::kCheck) checks_.push_back(&each);
        const Values uses = uses_of(each);
        const bool known =
            std::none_of(uses.begin(), uses.end(), [&](ValueId use) { return is_serial(use); }) &&
            std::none_of(each.results.begin(), each.results.end(),
                         [&](ValueId value) { return function_.type(value).is_buffer; });
        for (const ValueId result : each.results) source_[result.index] = &each;
        if (known && can_run_ahead(each)) {
            order_.push_back(&each);
            if (has_loop(each)) loops_.push_back(&each);
            return;
        }
        for (const ValueId result : each.results) serial_.insert(result.index);
    }

    bool can_run_ahead(const Instruction& each) const {
        switch (each.opcode) {
            case Opcode::kConstant:
            case Opcode::kApply:
            case Opcode::kCast: return !divides_integers(function_, each);
            case Opcode::kLoad: return can_load(each);
            case Opcode::kIf: return has_loop(each) ? is_versioned(each) : all_pure(each);
            case Opcode::kFor: return !is_short(each) && all_ahead(each);
            case Opcode::kWhile: return forwards_what_it_carries(each) && all_ahead(each);
            default: return false;
        }
    }
    bool forwards_what_it_carries(const Instruction& loop) const {
        return std::equal(loop.regions[0].arguments.begin(), loop.regions[0].arguments.end(),
                          loop.regions[1].arguments.begin(), loop.regions[1].arguments.end(),
                          [&](ValueId carried, ValueId forwarded) {
                              return function_.type(carried) == function_.type(forwarded);
                          });
    }
    bool all_pure(const Instruction& branch) const {
        return std::all_of(branch.regions.begin(), branch.regions.end(), [&](const Region& region) {
            return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& each) {
                return each.opcode == Opcode::kYield ||
                       (each.opcode == Opcode::kIf ? all_pure(each)
                                                   : is_pure(each) && !divides_integers(function_, each));
            });
        });
    }
    bool all_ahead(const Instruction& loop) const {
        return std::all_of(loop.regions.begin(), loop.regions.end(), [&](const Region& region) {
            return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& each) {
                switch (each.opcode) {
                    case Opcode::kYield:
                    case Opcode::kBreak:
                    case Opcode::kContinue:
                    case Opcode::kCheck: return true;
                    case Opcode::kIf:
                    case Opcode::kFor: return all_ahead(each);
                    default:
                        return (is_pure(each) && !divides_integers(function_, each)) ||
                               (each.opcode == Opcode::kLoad && can_load(each));
                }
            });
        });
    }
    // A loop with checks before it, and with checks in it where those fail.
    bool is_versioned(const Instruction& branch) const {
        const std::vector<Instruction>& taken = branch.regions[0].body;
        return taken.size() == 2 && taken[0].opcode == Opcode::kFor && yields(branch.regions[0]) &&
               taken[0].results == taken[1].operands && !is_short(taken[0]) && all_ahead(taken[0]);
    }
    bool can_load(const Instruction& load) const {
        return !load.predicated && !written_.contains(function_.type(load.operands[0]).buffer.alias_scope);
    }
    bool is_short(const Instruction& loop) const {
        const auto lower = constants_.find(loop.operands[0].index),
                   upper = constants_.find(loop.operands[1].index);
        return lower != constants_.end() && upper != constants_.end() &&
               upper->second - lower->second <= kUnrolled;
    }
    bool is_needed(const Instruction& instruction) const {
        return std::any_of(instruction.results.begin(), instruction.results.end(),
                           [&](ValueId result) { return needed_.contains(result.index); });
    }
    void mark_needed() {
        Values open;
        for (const Instruction* loop : loops_)
            open.insert(open.end(), loop->results.begin(), loop->results.end());
        while (!open.empty()) {
            const ValueId value = open.back();
            open.pop_back();
            const auto source = source_.find(value.index);
            if (source == source_.end() || !needed_.insert(value.index).second) continue;
            const Values uses = uses_of(as_ahead(*source->second));
            open.insert(open.end(), uses.begin(), uses.end());
        }
    }
    // Of a loop in two versions the one without checks.
    static const Instruction& as_ahead(const Instruction& instruction) {
        return instruction.opcode == Opcode::kIf && has_loop(instruction) ? instruction.regions[0].body[0]
                                                                          : instruction;
    }

    // --- checks -------------------------------------------------------------------------------------------

    // What has to hold ahead, so that nothing is read that is not there: the conditions under which a loop
    // has no checks, and checks of indices before it.
    bool resolve_checks() {
        for (const Instruction* each : loops_) {
            if (each->opcode == Opcode::kIf && !conditions_.add(each->operands[0])) return false;
            if (!resolve_inside(as_ahead(*each))) return false;
        }
        return std::all_of(checks_.begin(), checks_.end(), [&](const Instruction* check) {
            const std::optional<ValueId> index = index_of(check->operands[0]);
            const bool is_read = index && (*index == counter_ || needed_.contains(index->index));
            return !is_read || check > loops_.back() || conditions_.add(check->operands[0]);
        });
    }
    // Checks in a loop that runs ahead: of what no iteration changes, or of divisors, which are looked at
    // there.
    bool resolve_inside(const Instruction& loop) {
        for (const Region& region : loop.regions) {
            for (const ValueId argument : region.arguments) inside_.insert(argument.index);
            for (const Instruction& each : region.body) {
                for (const ValueId result : each.results) {
                    source_[result.index] = &each;
                    if (!is_pure(each)) inside_.insert(result.index);
                }
                if (each.opcode == Opcode::kCheck) {
                    if (conditions_.add_uniform(each.operands[0])) {
                        dropped_.insert(&each);
                    } else if (!is_of_divisor(each.operands[0])) {
                        return false;
                    }
                }
                if (!resolve_inside(each)) return false;
            }
        }
        return true;
    }
    // Of a check of an index: what is compared with the size, both without their sign.
    std::optional<ValueId> index_of(ValueId condition) const {
        const auto source = source_.find(condition.index);
        if (source == source_.end() || source->second->opcode != Opcode::kApply ||
            source->second->op->id != OpId::kLess)
            return std::nullopt;
        const auto given = source_.find(source->second->operands[0].index);
        if (given == source_.end() || given->second->opcode != Opcode::kCast) return std::nullopt;
        return given->second->operands[0];
    }
    // Whether it is that a float is not 0.
    bool is_of_divisor(ValueId condition) const {
        const auto source = source_.find(condition.index);
        return source != source_.end() && source->second->opcode == Opcode::kApply &&
               source->second->op->id == OpId::kNotEqual &&
               DType(function_.type(source->second->operands[0]).scalar).is_floating();
    }

    // --- code ---------------------------------------------------------------------------------------------

    // As lanes step through it: no check is left, and none is without an end.
    Values build_loop(Builder& builder, Function& function, Copier& copier, const Instruction& instruction,
                      ValueId lane, ValueId failed) const {
        const Instruction& loop = as_ahead(instruction);
        if (loop.opcode == Opcode::kFor) {
            const Values bounds = copier.mapped({loop.operands[0], loop.operands[1], loop.operands[2]});
            const Values initials = copier.mapped(Values(loop.operands.begin() + 3, loop.operands.end()));
            const bool leaves = is_left(loop);
            builder.set_loop_site(loop.site);
            return builder.for_loop(bounds[0], bounds[1], bounds[2], initials,
                                    [&](Builder& inner, std::span<const ValueId> arguments) {
                                        for (size_t i = 0; i < arguments.size(); ++i)
                                            copier.map(loop.regions[0].arguments[i], arguments[i]);
                                        const Values carried(arguments.begin() + 1, arguments.end());
                                        return build_region(inner, function, copier, loop.regions[0], lane,
                                                            failed, leaves, carried, {});
                                    });
        }
        // With a flag: whether the loop has come to an end.
        const ValueId none = builder.index(0), one = builder.index(1);
        const ValueId no = builder.constant(Constant::of(ScalarType::kBool, uint8_t{0}));
        const ValueId yes = builder.constant(Constant::of(ScalarType::kBool, uint8_t{1}));
        Values initials = copier.mapped(loop.operands);
        initials.push_back(no);
        builder.set_loop_site(loop.site);
        Values results = builder.for_loop(
            none, builder.index(kMostSteps), one, initials,
            [&](Builder& inner, std::span<const ValueId> arguments) -> Values {
                for (size_t i = 0; i + 2 < arguments.size(); ++i)
                    copier.map(loop.regions[0].arguments[i], arguments[i + 1]);
                Values carried(arguments.begin() + 1, arguments.end() - 1);
                Values told =
                    build_region(inner, function, copier, loop.regions[0], lane, failed, true, carried, yes);
                if (inner.has_ended()) return {};
                const ValueId goes_on = told[0];
                told.erase(told.begin());
                inner.if_else(
                    goes_on, [](Builder&, std::span<const ValueId>) { return Values{}; },
                    [&](Builder& exit, std::span<const ValueId>) -> Values {
                        Values left = told;
                        left.push_back(yes);
                        exit.break_loop(std::move(left));
                        return {};
                    });
                for (size_t i = 0; i < told.size(); ++i) copier.map(loop.regions[1].arguments[i], told[i]);
                Values next =
                    build_region(inner, function, copier, loop.regions[1], lane, failed, true, carried, yes);
                if (inner.has_ended()) return {};
                next.push_back(no);
                return next;
            });
        const ValueId ended = results.back();
        results.pop_back();
        const ValueId before = builder.load(failed, std::span(&lane, 1));
        const ValueId fails = builder.apply(OpId::kSelect, {ended, none, one});
        builder.store(failed, builder.apply(OpId::kBitwiseOr, {before, fails}), std::span(&lane, 1));
        return results;
    }

    // What the region yields. A check that fails is noted, and leaves the loop where it `may_leave`.
    Values build_region(Builder& builder, Function& function, Copier& copier, const Region& region,
                        ValueId lane, ValueId failed, bool may_leave, const Values& carried,
                        std::optional<ValueId> flag) const {
        const auto with_flag = [&](Values values) {
            if (flag) values.push_back(*flag);
            return values;
        };
        const auto note_failure = [&](Builder& inner, ValueId fails) {
            const ValueId before = inner.load(failed, std::span(&lane, 1));
            inner.store(failed, inner.apply(OpId::kBitwiseOr, {before, fails}), std::span(&lane, 1));
        };
        for (const Instruction& each : region.body) {
            switch (each.opcode) {
                case Opcode::kYield: return copier.mapped(each.operands);
                case Opcode::kBreak:
                    builder.break_loop(with_flag(copier.mapped(each.operands)), each.depth);
                    return {};
                case Opcode::kContinue: {
                    Values values = copier.mapped(each.operands);
                    if (flag) values.push_back(builder.constant(Constant::of(ScalarType::kBool, uint8_t{0})));
                    builder.continue_loop(std::move(values), each.depth);
                    return {};
                }
                case Opcode::kCheck: {
                    if (dropped_.contains(&each)) break;
                    const ValueId holds = copier.mapped({each.operands[0]})[0];
                    if (!may_leave) {
                        note_failure(builder, builder.apply(OpId::kSelect,
                                                            {holds, builder.index(0), builder.index(1)}));
                        break;
                    }
                    builder.if_else(
                        holds, [](Builder&, std::span<const ValueId>) { return Values{}; },
                        [&](Builder& inner, std::span<const ValueId>) -> Values {
                            note_failure(inner, inner.index(1));
                            inner.break_loop(with_flag(carried));
                            return {};
                        });
                    break;
                }
                case Opcode::kFor: {
                    const Values results = build_loop(builder, function, copier, each, lane, failed);
                    for (size_t i = 0; i < results.size(); ++i) copier.map(each.results[i], results[i]);
                    break;
                }
                case Opcode::kIf: {
                    const auto side = [&](size_t which) -> Builder::Body {
                        return [&, which](Builder& inner, std::span<const ValueId>) {
                            return build_region(inner, function, copier, each.regions[which], lane, failed,
                                                may_leave, carried, flag);
                        };
                    };
                    const Values results =
                        builder.if_else(copier.mapped({each.operands[0]})[0], side(0), side(1), each.likely);
                    for (size_t i = 0; i < results.size(); ++i) copier.map(each.results[i], results[i]);
                    break;
                }
                default: builder.append(copier.copy(each));
            }
        }
        return {};
    }

    // Whether lanes can step through what runs ahead.
    bool can_step() {
        const size_t values = function_.values.size();
        Region region;
        Builder builder(function_, region.body);
        build(builder, function_, builder.index(0), allocate(builder, function_));
        const bool can = can_step_together(function_, region.body.back());
        function_.values.resize(values);
        return can;
    }

public:
    Kept allocate(Builder& builder, const Function& function) const {
        const auto array_of = [&](ScalarType element) {
            BufferType local{.element = element, .space = AddressSpace::kLocal};
            local.strides = {DType(element).itemsize()};
            local.sizes = {kBlock};
            return builder.allocate(local, "ahead");
        };
        Kept kept;
        kept.failed = array_of(ScalarType::kInt64);
        for (const ValueId result : results())
            kept.results[result.index] = array_of(function.type(result).scalar);
        return kept;
    }
    // The loop over lanes for the iterations from `first` on.
    void build(Builder& builder, Function& function, ValueId first, const Kept& kept) const {
        const ValueId none = builder.index(0), all = builder.index(kBlock), one = builder.index(1);
        builder.for_loop(none, all, one, {},
                         [&](Builder& inner, std::span<const ValueId> arguments) -> Values {
                             inner.store(kept.failed, none, arguments);
                             return {};
                         });
        builder.set_loop_site(loop_.site);
        builder.for_lanes(none, all, kBlock,
                          [&](Builder& inner, std::span<const ValueId> arguments) -> Values {
                              const ValueId lane = arguments[0];
                              build_lane(inner, function, inner.apply(OpId::kAdd, {first, lane}), lane, kept);
                              return {};
                          });
    }
    // An iteration with what ran ahead for it; gives what it yields.
    Values build_rest(Builder& builder, Function& function, std::span<const ValueId> arguments, ValueId lane,
                      const Kept& kept) const {
        Copier copier(function);
        for (size_t i = 0; i < arguments.size(); ++i) copier.map(body_.arguments[i], arguments[i]);
        for (const Instruction& each : body_.body) {
            if (each.opcode == Opcode::kYield) return copier.mapped(each.operands);
            if (!is_ahead(each)) {
                builder.append(copier.copy(each));
                continue;
            }
            for (const ValueId result : each.results)
                copier.map(result, builder.load(kept.results.at(result.index), std::span(&lane, 1)));
        }
        return {};
    }

private:
    Function& function_;
    const Constants& constants_;
    const Instruction& loop_;
    const Region& body_;
    const ValueId counter_;
    std::unordered_set<uint16_t> written_;
    std::unordered_set<uint32_t> serial_, needed_;
    std::unordered_map<uint32_t, const Instruction*> source_;
    std::vector<const Instruction*> order_, loops_, checks_;
    std::unordered_set<uint32_t> inside_;             // arguments of loops that run ahead
    std::unordered_set<const Instruction*> dropped_;  // checks of what no iteration changes
    ConditionsAtEnds conditions_;
};

// Appends the loop in blocks; gives its results.
Values in_blocks(Builder& builder, Function& function, const Instruction& loop, const Ahead& ahead) {
    const ValueId none = builder.index(0), one = builder.index(1), width = builder.index(kBlock);
    return append_in_blocks(builder, loop, width, [&](Builder& outer, const IterationBlock& block) {
        const ValueId is_whole = outer.apply(OpId::kEqual, {block.count, width});
        const ValueId holds = outer.apply(
            OpId::kLogicalAnd, {is_whole, ahead.build_conditions(outer, function, block.begin, block.last)});
        const Ahead::Kept kept = ahead.allocate(outer, function);
        const Values fine = outer.if_else(
            holds,
            [&](Builder& inner, std::span<const ValueId>) -> Values {
                ahead.build(inner, function, block.begin, kept);
                const Values failed =
                    inner.for_loop(none, width, one, std::array{none},
                                   [&](Builder& body, std::span<const ValueId> values) -> Values {
                                       const ValueId lane = body.load(kept.failed, values.first(1));
                                       return {body.apply(OpId::kBitwiseOr, {values[1], lane})};
                                   });
                return {inner.apply(OpId::kEqual, {failed[0], none})};
            },
            [&](Builder& inner, std::span<const ValueId>) -> Values {
                return {inner.constant(Constant::of(ScalarType::kBool, uint8_t{0}))};
            });
        return outer.if_else(
            fine[0],
            [&](Builder& inner, std::span<const ValueId>) -> Values {
                return inner.for_loop(block.begin, block.end, loop.operands[2], block.carried,
                                      [&](Builder& body, std::span<const ValueId> values) -> Values {
                                          const ValueId lane =
                                              body.apply(OpId::kSubtract, {values[0], block.begin});
                                          return ahead.build_rest(body, function, values, lane, kept);
                                      });
            },
            [&](Builder& inner, std::span<const ValueId>) {
                return append_for_block(inner, function, loop, block);
            });
    });
}

}  // namespace

void loops_ahead(const Module&, Function& function) {
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
