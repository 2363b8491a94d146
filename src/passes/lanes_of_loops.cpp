#include "passes/lanes_of_loops.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "passes/conditions_at_ends.h"
#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

constexpr int64_t kManyLanes = 16;
constexpr int64_t kFewLanes = 8;  // where more sums would not fit in sixteen registers
constexpr size_t kFewSums = 2;

bool has_loop(const Instruction& instruction) {
    return is_loop(instruction.opcode) ||
           std::any_of(instruction.regions.begin(), instruction.regions.end(), [](const Region& region) {
               return std::any_of(region.body.begin(), region.body.end(), has_loop);
           });
}

bool has_loop_inside(const Instruction& loop) {
    return std::any_of(loop.regions[0].body.begin(), loop.regions[0].body.end(), has_loop);
}

// Whether the iterations can step together, and whether that is worth it.
class Judge {
public:
    // `constants` where the lanes that step together begin at multiples of as many.
    Judge(const Function& function, const Instruction& loop, const Constants* constants = nullptr)
        : function_(function), loop_(loop), constants_(constants) {
        varying_.insert(loop.regions[0].arguments[0].index);
        follow_lanes_[loop.regions[0].arguments[0].index] = nullptr;
        for (const Instruction& each : loop.regions[0].body) {
            if (each.opcode == Opcode::kAllocate) own_.insert(each.results[0].index);
        }
    }

    bool run() {
        return yields(loop_.regions[0]) && walk(loop_.regions[0], 0) && (adds_up_ > 0 || steps_over_own_);
    }
    bool varies(ValueId value) const { return varying_.contains(value.index); }
    // What computes values that are one after the other, as the lanes are; null where they are none.
    const Instruction* source_of_lanes(ValueId value) const {
        const auto found = follow_lanes_.find(value.index);
        return found == follow_lanes_.end() ? nullptr : found->second;
    }
    size_t sums() const { return adds_up_; }

private:
    bool any_varies(std::span<const ValueId> values) const {
        return std::any_of(values.begin(), values.end(), [&](ValueId value) { return varies(value); });
    }

    bool walk(const Region& region, int depth) {
        return std::all_of(region.body.begin(), region.body.end(),
                           [&](const Instruction& each) { return take(each, depth); });
    }

    bool take(const Instruction& instruction, int depth) {
        switch (instruction.opcode) {
            case Opcode::kConstant:
            case Opcode::kApply:
            case Opcode::kCast:
                if (any_varies(instruction.operands) && !is_of_all_lanes(instruction))
                    vary(instruction.results);
                if (follows_lanes(instruction)) follow_lanes_[instruction.results[0].index] = &instruction;
                return true;
            case Opcode::kAllocate: return own_.contains(instruction.results[0].index);
            case Opcode::kView: return !any_varies(instruction.operands) && !is_own(instruction);
            case Opcode::kNull: return true;
            case Opcode::kLoad:
            case Opcode::kStore:
                vary(instruction.results);
                steps_over_own_ |= is_own(instruction);
                return depth == 0 || is_side_by_side(instruction);
            case Opcode::kCheck:
            case Opcode::kYield: return true;
            case Opcode::kIf: return take_branch(instruction, depth);
            case Opcode::kFor:
                return is_left(instruction) ? take_left(instruction, depth) : take_loop(instruction, depth);
            case Opcode::kWhile: return take_left(instruction, depth);
            default: return false;
        }
    }

    // A loop that each lane leaves when it does: its body is straight code, with exits between.
    bool take_left(const Instruction& instruction, int depth) {
        const bool counts = instruction.opcode == Opcode::kFor;
        if (counts && any_varies(std::span(instruction.operands).first(3))) return false;
        for (const Region& region : instruction.regions)
            vary(std::span(region.arguments).subspan(counts ? 1 : 0));
        vary(instruction.results);
        ++adds_up_;
        return are_scalars(instruction.results) &&
               std::all_of(instruction.regions.begin(), instruction.regions.end(),
                           [&](const Region& region) { return take_masked(region, depth + 1, true); });
    }

    bool take_masked(const Region& region, int depth, bool may_leave) {
        return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& each) {
            switch (each.opcode) {
                case Opcode::kConstant:
                case Opcode::kApply:
                case Opcode::kCast:
                    // Lanes that have left go on with the others, for nothing.
                    if (follows_lanes(each)) follow_lanes_[each.results[0].index] = &each;
                    vary(each.results);
                    return !divides_integers(function_, each);
                case Opcode::kLoad:
                case Opcode::kStore: return may_leave && !each.predicated && take(each, depth);
                case Opcode::kCheck: return may_leave;
                case Opcode::kYield: return true;
                case Opcode::kBreak:
                case Opcode::kContinue: return may_leave && each.depth == 0;
                case Opcode::kIf: {
                    vary(each.results);
                    const bool leaves = !yields(each.regions[0]) || !yields(each.regions[1]);
                    if (leaves && !may_leave) return false;
                    return are_scalars(each.results) &&
                           std::all_of(each.regions.begin(), each.regions.end(),
                                       [&](const Region& side) { return take_masked(side, depth, leaves); });
                }
                default: return false;
            }
        });
    }

    bool take_branch(const Instruction& instruction, int depth) {
        const bool together = has_loop(instruction);
        if (together && varies(instruction.operands[0])) return false;
        for (const Region& region : instruction.regions) {
            if (!yields(region) || !walk(region, depth)) return false;
        }
        vary(instruction.results);
        return are_scalars(instruction.results);
    }

    bool take_loop(const Instruction& instruction, int depth) {
        const Region& body = instruction.regions[0];
        if (any_varies(std::span(instruction.operands).first(3)) || is_left(instruction) || !yields(body) ||
            !are_scalars(instruction.results))
            return false;
        const std::span<const ValueId> carried = std::span(body.arguments).subspan(1);
        vary(carried);
        vary(instruction.results);
        adds_up_ += static_cast<size_t>(std::count_if(carried.begin(), carried.end(), [&](ValueId value) {
            return DType(function_.type(value).scalar).is_floating();
        }));
        return walk(body, depth + 1);
    }

    // Whether it is of memory that each iteration has for itself. Its elements are beside those of the other
    // lanes.
    bool is_own(const Instruction& access) const { return own_.contains(access.operands[0].index); }

    // What lanes read or write in a loop is one element for all, or neighbours.
    bool is_side_by_side(const Instruction& access) const {
        if (is_own(access)) return true;
        const BufferType& buffer = function_.type(access.operands[0]).buffer;
        const size_t first = access.opcode == Opcode::kStore ? 2 : 1, rank = buffer.strides.size();
        for (size_t d = 0; d < rank; ++d) {
            const ValueId index = access.operands[first + d];
            if (!varies(index)) continue;
            if (d + 1 < rank || !follow_lanes_.contains(index.index) ||
                buffer.strides[d] != DType(buffer.element).itemsize())
                return false;
        }
        return true;
    }

    // Whether it is the same for lanes side by side: the number of their warp, say.
    bool is_of_all_lanes(const Instruction& shift) const {
        if (constants_ == nullptr || shift.opcode != Opcode::kApply || shift.op->id != OpId::kRightShift ||
            shift.operands[0] != loop_.regions[0].arguments[0])
            return false;
        const auto by = constants_->find(shift.operands[1].index),
                   lower = constants_->find(loop_.operands[0].index);
        return by != constants_->end() && lower != constants_->end() && lower->second == 0 &&
               by->second >= 4 && by->second < 63;
    }

    // Whether its values are one after the other, as the lanes are.
    bool follows_lanes(const Instruction& sum) const {
        if (sum.opcode != Opcode::kApply) return false;
        const auto follows = [&](ValueId value) { return follow_lanes_.contains(value.index); };
        if (sum.op->id == OpId::kAdd)
            return (follows(sum.operands[0]) && !varies(sum.operands[1])) ||
                   (follows(sum.operands[1]) && !varies(sum.operands[0]));
        return sum.op->id == OpId::kSubtract && follows(sum.operands[0]) && !varies(sum.operands[1]);
    }

    bool are_scalars(std::span<const ValueId> values) const {
        return std::none_of(values.begin(), values.end(),
                            [&](ValueId value) { return function_.type(value).is_buffer; });
    }

    void vary(std::span<const ValueId> values) {
        for (const ValueId value : values) varying_.insert(value.index);
    }

    const Function& function_;
    const Instruction& loop_;
    const Constants* constants_;
    std::unordered_set<uint32_t> varying_;
    std::unordered_map<uint32_t, const Instruction*> follow_lanes_;
    std::unordered_set<uint32_t> own_;  // memory that an iteration has for itself
    bool steps_over_own_ = false;
    size_t adds_up_ = 0;
};

class Stepping {
public:
    Stepping(Function& function, const Instruction& loop, const Judge& judge)
        : function_(function),
          loop_(loop),
          judge_(judge),
          lanes_(judge.sums() > kFewSums ? kFewLanes : kManyLanes),
          uniform_(function) {}

    // Appends the loop as it is to be.
    void run(Builder& builder) {
        note_uses(loop_.regions[0]);
        const ValueId lower = loop_.operands[0], upper = loop_.operands[1];
        const ValueId rest = builder.apply(
            OpId::kBitwiseAnd, {builder.apply(OpId::kSubtract, {upper, lower}), builder.index(lanes_ - 1)});
        // Nothing is left of a loop that does not run, but `rest` may be more.
        const ValueId whole =
            builder.apply(OpId::kMaximum, {lower, builder.apply(OpId::kSubtract, {upper, rest})});
        builder.for_loop(lower, whole, builder.index(lanes_), {},
                         [&](Builder& inner, std::span<const ValueId> arguments) {
                             first_ = arguments[0];
                             uniform_.map(loop_.regions[0].arguments[0], first_);
                             emit(inner, loop_.regions[0], {});
                             return Values{};
                         });
        Instruction last = loop_;
        last.operands[0] = whole;
        last.lanes = 1;
        builder.append(std::move(last));
    }

private:
    struct Kept {
        ValueId array, value;
    };

    // Which values are used where another run of straight code defines them.
    void note_uses(const Region& region) {
        ++run_;
        for (const Instruction& instruction : region.body) {
            const bool ends_run = has_loop(instruction);
            if (ends_run) ++run_;
            use(instruction.operands);
            if (ends_run) {
                for (const Region& inner : instruction.regions) note_uses(inner);
                ++run_;
            } else {
                note_inside(instruction);
            }
            for (const ValueId result : instruction.results) defined_in_[result.index] = run_;
        }
    }
    void note_inside(const Instruction& instruction) {
        for (const Region& region : instruction.regions) {
            for (const ValueId argument : region.arguments) defined_in_[argument.index] = run_;
            for (const Instruction& inner : region.body) {
                use(inner.operands);
                note_inside(inner);
                for (const ValueId result : inner.results) defined_in_[result.index] = run_;
            }
        }
    }
    void use(std::span<const ValueId> values) {
        for (const ValueId value : values) {
            const auto defined = defined_in_.find(value.index);
            const bool crosses = defined != defined_in_.end() && defined->second != run_;
            if (crosses && judge_.source_of_lanes(value) == nullptr) crossing_.insert(value.index);
        }
    }

    ValueId make_array(Builder& builder, ScalarType element) {
        BufferType local{.element = element, .space = AddressSpace::kLocal};
        local.strides = {DType(element).itemsize()};
        local.sizes = {lanes_};
        return builder.allocate(local, "lanes");
    }
    ValueId array_of(Builder& builder, ValueId value) {
        const auto [found, is_new] = arrays_.try_emplace(value.index);
        if (is_new) found->second = make_array(builder, function_.type(value).scalar);
        return found->second;
    }

    // Memory that an iteration has for itself, with a place for each lane beside each other's.
    void allocate_for_lanes(Builder& builder, ValueId own) {
        BufferType type = function_.type(own).buffer;
        const int64_t itemsize = DType(type.element).itemsize();
        for (int64_t& stride : type.strides) stride *= lanes_;
        type.strides.push_back(itemsize);
        type.sizes.push_back(lanes_);
        const ValueId all = builder.allocate(type, "own");
        of_lanes_.insert(all.index);
        uniform_.map(own, all);
    }
    // In a copy for one lane: accesses to such memory are to the lane's place.
    void set_lane(Instruction& copy, ValueId lane) const {
        if ((copy.opcode == Opcode::kLoad || copy.opcode == Opcode::kStore) &&
            of_lanes_.contains(copy.operands[0].index)) {
            const size_t rank = function_.type(copy.operands[0]).buffer.strides.size();
            const size_t behind = opcode_info(copy.opcode).index + rank - 1;
            copy.operands.insert(copy.operands.begin() + static_cast<std::ptrdiff_t>(behind), lane);
        }
        for (Region& region : copy.regions) {
            for (Instruction& inner : region.body) set_lane(inner, lane);
        }
    }
    void append_for(Builder& builder, Copier& copier, const Instruction& instruction, ValueId lane) {
        Instruction copy = copier.copy(instruction);
        set_lane(copy, lane);
        builder.append(std::move(copy));
    }

    bool is_uniform(const Instruction& instruction) const {
        switch (instruction.opcode) {
            case Opcode::kApply:
                if (!judge_.varies(instruction.results[0])) return true;
                [[fallthrough]];
            case Opcode::kConstant:
            case Opcode::kCast:
            case Opcode::kView:
            case Opcode::kNull:
                return std::none_of(instruction.operands.begin(), instruction.operands.end(),
                                    [&](ValueId value) { return judge_.varies(value); });
            default: return false;
        }
    }

    // The region for all lanes; what it yields goes into `targets`.
    void emit(Builder& builder, const Region& region, std::span<const ValueId> targets) {
        std::vector<const Instruction*> straight;
        for (const Instruction& instruction : region.body) {
            if (is_uniform(instruction)) {
                builder.append(uniform_.copy(instruction));
            } else if (instruction.opcode == Opcode::kAllocate) {
                allocate_for_lanes(builder, instruction.results[0]);
            } else if (!has_loop(instruction)) {
                if (instruction.opcode != Opcode::kYield) straight.push_back(&instruction);
            } else if (instruction.opcode == Opcode::kIf) {
                flush(builder, straight, {});
                emit_branch(builder, instruction);
            } else if (instruction.opcode == Opcode::kWhile || is_left(instruction)) {
                emit_left(builder, instruction, straight);
            } else {
                emit_loop(builder, instruction, straight);
            }
        }
        std::vector<Kept> kept;
        for (size_t i = 0; i < targets.size(); ++i)
            kept.push_back({targets[i], region.body.back().operands[i]});
        flush(builder, straight, kept);
    }

    Values arrays_for(Builder& builder, std::span<const ValueId> values) {
        Values arrays;
        for (const ValueId value : values) arrays.push_back(array_of(builder, value));
        return arrays;
    }

    void emit_branch(Builder& builder, const Instruction& instruction) {
        const Values targets = arrays_for(builder, instruction.results);
        const auto side = [&](size_t which) -> Builder::Body {
            return [&, which](Builder& inner, std::span<const ValueId>) {
                emit(inner, instruction.regions[which], targets);
                return Values{};
            };
        };
        builder.if_else(uniform_.mapped({instruction.operands[0]})[0], side(0), side(1), instruction.likely);
    }

    void emit_loop(Builder& builder, const Instruction& instruction,
                   std::vector<const Instruction*>& straight) {
        const Region& body = instruction.regions[0];
        const Values sums = arrays_for(builder, std::span(body.arguments).subspan(1));
        std::vector<Kept> initials;
        for (size_t i = 0; i < sums.size(); ++i) {
            initials.push_back({sums[i], instruction.operands[3 + i]});
            arrays_[instruction.results[i].index] = sums[i];
        }
        flush(builder, straight, initials);
        const Values bounds =
            uniform_.mapped({instruction.operands[0], instruction.operands[1], instruction.operands[2]});
        builder.for_loop(bounds[0], bounds[1], bounds[2], {},
                         [&](Builder& inner, std::span<const ValueId> arguments) {
                             uniform_.map(body.arguments[0], arguments[0]);
                             emit(inner, body, sums);
                             return Values{};
                         });
    }

    // A value of another run of straight code: out of its array, or computed again.
    void fetch(Builder& builder, Copier& copier, std::unordered_set<uint32_t>& here, ValueId value,
               ValueId lane) {
        if (!judge_.varies(value) || !here.insert(value.index).second) return;
        if (const Instruction* source = judge_.source_of_lanes(value)) {
            for (const ValueId operand : source->operands) fetch(builder, copier, here, operand, lane);
            builder.append(copier.copy(*source));
        } else {
            copier.map(value, builder.load(arrays_.at(value.index), std::span(&lane, 1)));
        }
    }

    // One step of a loop that each lane leaves when it does.
    struct Step {
        Builder& builder;
        Copier copier;
        ValueId alive, active;  // whether the lane is in the loop; and has not ended this iteration
        Values carried, results;
        std::unordered_set<uint32_t> here{};
    };

    void leave(Step& step, const Instruction& exit, ValueId leaves) {
        const Values values = step.copier.mapped(exit.operands);
        Values& into = exit.opcode == Opcode::kBreak ? step.results : step.carried;
        for (size_t k = 0; k < values.size(); ++k)
            into[k] = step.builder.apply(OpId::kSelect, {leaves, values[k], into[k]});
        const ValueId stays = step.builder.apply(OpId::kLogicalNot, {leaves});
        step.active = step.builder.apply(OpId::kLogicalAnd, {step.active, stays});
        if (exit.opcode == Opcode::kBreak)
            step.alive = step.builder.apply(OpId::kLogicalAnd, {step.alive, stays});
    }

    // Of an access that is not predicated.
    Values operands_for(const Step& step, const Instruction& access) const {
        Values operands = step.copier.mapped(access.operands);
        if (of_lanes_.contains(operands[0].index)) operands.push_back(lane_);
        return operands;
    }

    // Until the region's end, which it returns.
    const Instruction& emit_masked(Step& step, const Region& region) {
        Builder& builder = step.builder;
        const auto fetch = [&](ValueId value) { this->fetch(builder, step.copier, step.here, value, lane_); };
        for (const Instruction& each : region.body) {
            if (ends_body(each.opcode)) {
                for_each_operand(each, step.here, fetch);
                break;
            }
            for_each_operand(each, step.here, fetch);
            for (const ValueId result : each.results) step.here.insert(result.index);
            if (each.opcode == Opcode::kCheck) {
                Instruction check = step.copier.copy(each);
                check.operands[0] = builder.apply(
                    OpId::kLogicalOr, {check.operands[0], builder.apply(OpId::kLogicalNot, {step.active})});
                builder.append(std::move(check));
            } else if (each.opcode == Opcode::kLoad) {
                Values indices = operands_for(step, each);
                const ValueId otherwise = builder.constant(Constant::of(ScalarType::kInt64, int64_t{0}));
                step.copier.map(
                    each.results[0],
                    builder.load_if(indices[0], std::span(indices).subspan(1), step.active,
                                    builder.cast(otherwise, function_.type(each.results[0]).scalar)));
            } else if (each.opcode == Opcode::kStore) {
                Values operands = operands_for(step, each);
                builder.store_if(operands[0], operands[1], std::span(operands).subspan(2), step.active);
            } else if (each.opcode == Opcode::kIf && !(yields(each.regions[0]) && yields(each.regions[1]))) {
                const ValueId condition = step.copier.mapped({each.operands[0]})[0];
                const ValueId entered = step.active;
                for (const size_t side : {size_t{0}, size_t{1}}) {
                    const Region& taken = each.regions[side];
                    if (yields(taken)) continue;
                    const ValueId chosen =
                        side == 0 ? condition : builder.apply(OpId::kLogicalNot, {condition});
                    const ValueId leaves = builder.apply(OpId::kLogicalAnd, {entered, chosen});
                    const ValueId before = std::exchange(step.active, leaves);
                    const Instruction& exit = emit_masked(step, taken);
                    step.active = before;
                    leave(step, exit, leaves);
                }
                for (const Region& taken : each.regions) {
                    if (!yields(taken)) continue;
                    const Values yielded = step.copier.mapped(emit_masked(step, taken).operands);
                    for (size_t k = 0; k < each.results.size(); ++k)
                        step.copier.map(each.results[k], yielded[k]);
                }
            } else {
                append_for(builder, step.copier, each, lane_);
            }
        }
        return region.body.back();
    }

    // Iterations of a loop for as long as some lane is in it.
    void emit_left(Builder& builder, const Instruction& instruction,
                   std::vector<const Instruction*>& straight) {
        const bool counts = instruction.opcode == Opcode::kFor;
        const size_t first = counts ? 1 : 0;
        const Region& entry = instruction.regions[0];
        const Values carried = arrays_for(builder, std::span(entry.arguments).subspan(first));
        Values results;
        std::vector<Kept> initials;
        for (size_t k = 0; k < carried.size(); ++k)
            initials.push_back({carried[k], instruction.operands[(counts ? 3 : 0) + k]});
        for (const ValueId result : instruction.results) {
            results.push_back(make_array(builder, function_.type(result).scalar));
            arrays_[result.index] = results.back();
        }
        const ValueId alive = make_array(builder, ScalarType::kInt64);
        flush(builder, straight, initials);
        const ValueId none = builder.index(0), one = builder.index(1), all = builder.index(lanes_);
        const auto for_lanes = [&](Builder& outer, const std::function<void(Builder&)>& body) {
            outer.set_loop_site(instruction.site);
            outer.for_lanes(none, all, lanes_, [&](Builder& inner, std::span<const ValueId> arguments) {
                lane_ = arguments[0];
                body(inner);
                return Values{};
            });
        };
        for_lanes(builder, [&](Builder& inner) { inner.store(alive, one, std::span(&lane_, 1)); });

        const auto step_all = [&](Builder& outer) {
            for_lanes(outer, [&](Builder& inner) {
                Step step{inner, uniform_, {}, {}, {}, {}};
                const auto at_lane = [&](ValueId array) { return inner.load(array, std::span(&lane_, 1)); };
                step.copier.map(loop_.regions[0].arguments[0], inner.apply(OpId::kAdd, {first_, lane_}));
                step.here.insert(loop_.regions[0].arguments[0].index);
                step.alive = step.active = inner.apply(OpId::kNotEqual, {at_lane(alive), none});
                for (const ValueId array : carried) step.carried.push_back(at_lane(array));
                for (const ValueId array : results) step.results.push_back(at_lane(array));
                Values arguments = step.carried;
                for (const Region& region : instruction.regions) {
                    const size_t skipped = counts ? 1 : 0;
                    for (size_t k = 0; k < arguments.size(); ++k) {
                        step.copier.map(region.arguments[skipped + k], arguments[k]);
                        step.here.insert(region.arguments[skipped + k].index);
                    }
                    const Instruction& end = emit_masked(step, region);
                    arguments = step.copier.mapped(end.operands);
                    if (end.opcode == Opcode::kBreak || end.opcode == Opcode::kContinue) {
                        leave(step, end, step.active);
                    } else if (!counts && &region == &instruction.regions[0]) {
                        const ValueId ends = inner.apply(OpId::kLogicalNot, {arguments[0]});
                        arguments.erase(arguments.begin());
                        const ValueId leaves = inner.apply(OpId::kLogicalAnd, {step.active, ends});
                        for (size_t k = 0; k < arguments.size(); ++k)
                            step.results[k] =
                                inner.apply(OpId::kSelect, {leaves, arguments[k], step.results[k]});
                        step.active = inner.apply(OpId::kLogicalAnd,
                                                  {step.active, inner.apply(OpId::kLogicalNot, {leaves})});
                        step.alive = step.active;
                    } else {
                        for (size_t k = 0; k < arguments.size(); ++k)
                            step.carried[k] =
                                inner.apply(OpId::kSelect, {step.active, arguments[k], step.carried[k]});
                    }
                }
                for (size_t k = 0; k < carried.size(); ++k)
                    inner.store(carried[k], step.carried[k], std::span(&lane_, 1));
                for (size_t k = 0; k < results.size(); ++k)
                    inner.store(results[k], step.results[k], std::span(&lane_, 1));
                inner.store(alive, inner.apply(OpId::kSelect, {step.alive, one, none}), std::span(&lane_, 1));
            });
        };
        const auto is_any_alive = [&](Builder& outer) {
            const Values any =
                outer.for_loop(none, all, one, std::array{none},
                               [&](Builder& inner, std::span<const ValueId> arguments) -> Values {
                                   const ValueId of_lane = inner.load(alive, arguments.first(1));
                                   return {inner.apply(OpId::kBitwiseOr, {arguments[1], of_lane})};
                               });
            return outer.apply(OpId::kNotEqual, {any[0], none});
        };
        if (!counts) {
            const ValueId yes = builder.constant(Constant::of(ScalarType::kBool, uint8_t{1}));
            builder.while_loop(
                std::array{yes},
                [&](Builder&, std::span<const ValueId> any) -> Values { return {any[0], any[0]}; },
                [&](Builder& outer, std::span<const ValueId>) -> Values {
                    step_all(outer);
                    return {is_any_alive(outer)};
                });
            return;
        }
        const Values bounds =
            uniform_.mapped({instruction.operands[0], instruction.operands[1], instruction.operands[2]});
        builder.for_loop(
            bounds[0], bounds[1], bounds[2], {}, [&](Builder& outer, std::span<const ValueId> arguments) {
                uniform_.map(entry.arguments[0], arguments[0]);
                step_all(outer);
                outer.if_else(
                    is_any_alive(outer), [](Builder&, std::span<const ValueId>) { return Values{}; },
                    [](Builder& inner, std::span<const ValueId>) {
                        inner.break_loop({});
                        return Values{};
                    });
                return Values{};
            });
        for_lanes(builder, [&](Builder& inner) {
            const auto at_lane = [&](ValueId array) { return inner.load(array, std::span(&lane_, 1)); };
            const ValueId stays = inner.apply(OpId::kNotEqual, {at_lane(alive), none});
            for (size_t k = 0; k < results.size(); ++k)
                inner.store(results[k],
                            inner.apply(OpId::kSelect, {stays, at_lane(carried[k]), at_lane(results[k])}),
                            std::span(&lane_, 1));
        });
    }

    // A loop over the lanes of straight code; then `kept` go into their arrays.
    void flush(Builder& builder, std::vector<const Instruction*>& straight, std::span<const Kept> kept) {
        if (straight.empty() && kept.empty()) return;
        Values written;
        for (const Instruction* instruction : straight) {
            for (const ValueId result : instruction->results) {
                if (!crossing_.contains(result.index)) continue;
                written.push_back(result);
                array_of(builder, result);
            }
        }
        const ValueId none = builder.index(0), all = builder.index(lanes_);
        builder.set_loop_site(loop_.site);
        builder.for_lanes(none, all, lanes_, [&](Builder& inner, std::span<const ValueId> arguments) {
            const ValueId lane = arguments[0];
            Copier copier = uniform_;
            copier.map(loop_.regions[0].arguments[0], inner.apply(OpId::kAdd, {first_, lane}));
            std::unordered_set<uint32_t> here{loop_.regions[0].arguments[0].index};
            const auto fetch = [&](ValueId value) { this->fetch(inner, copier, here, value, lane); };
            for (const Instruction* instruction : straight) {
                for_each_operand(*instruction, here, fetch);
                for (const ValueId result : instruction->results) here.insert(result.index);
                append_for(inner, copier, *instruction, lane);
            }
            Values values;
            for (const Kept& each : kept) {
                fetch(each.value);
                values.push_back(copier.mapped({each.value})[0]);
            }
            for (const ValueId each : written)
                inner.store(arrays_.at(each.index), copier.mapped({each})[0], std::span(&lane, 1));
            for (size_t i = 0; i < kept.size(); ++i)
                inner.store(kept[i].array, values[i], std::span(&lane, 1));
            return Values{};
        });
        straight.clear();
    }

    // Operands that are defined outside of it.
    template <class Visit>
    static void for_each_operand(const Instruction& instruction, std::unordered_set<uint32_t>& here,
                                 const Visit& visit) {
        for (const ValueId operand : instruction.operands) visit(operand);
        for (const Region& region : instruction.regions) {
            for (const ValueId argument : region.arguments) here.insert(argument.index);
            for (const Instruction& inner : region.body) {
                for_each_operand(inner, here, visit);
                for (const ValueId result : inner.results) here.insert(result.index);
            }
        }
    }

    Function& function_;
    const Instruction& loop_;
    const Judge& judge_;
    const int64_t lanes_;
    Copier uniform_;                         // of values that are the same for all lanes
    std::unordered_set<uint32_t> of_lanes_;  // memory with a place for each lane
    ValueId first_;
    ValueId lane_;
    int run_ = 0;
    std::unordered_map<uint32_t, int> defined_in_;  // which run of straight code
    std::unordered_set<uint32_t> crossing_;
    std::unordered_map<uint32_t, ValueId> arrays_;
};

void walk(Function& function, const Constants& constants, Region& region) {
    std::vector<Instruction> old = std::move(region.body);
    region.body.clear();
    for (Instruction& instruction : old) {
        const bool is_wanted =
            instruction.opcode == Opcode::kFor && instruction.lanes > 1 && instruction.operands.size() == 3;
        if (is_wanted && has_loop_inside(instruction)) {
            Judge judge(function, instruction, &constants);
            if (judge.run()) {
                Region expansion;
                Builder builder(function, expansion.body);
                Stepping(function, instruction, judge).run(builder);
                for (Instruction& inner : expansion.body) region.body.push_back(std::move(inner));
                continue;
            }
            instruction.lanes = 1;
        }
        for (Region& inner : instruction.regions) walk(function, constants, inner);
        region.body.push_back(std::move(instruction));
    }
}

}  // namespace

bool can_step_together(const Function& function, const Instruction& loop) {
    return has_loop_inside(loop) && Judge(function, loop).run();
}

void lanes_of_loops(const Module&, Function& function) {
    if (!function.is_kernel) walk(function, find_constants(function), function.body);
}

}  // namespace weft::passes
