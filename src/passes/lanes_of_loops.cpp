#include "passes/lanes_of_loops.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

constexpr int64_t kManyLanes = 16;
constexpr int64_t kFewLanes = 8;  // where more sums would not fit in sixteen registers
constexpr size_t kFewSums = 2;

bool has_loop(const Instruction& instruction) {
    return instruction.opcode == Opcode::kFor ||
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
    Judge(const Function& function, const Instruction& loop) : function_(function), loop_(loop) {
        varying_.insert(loop.regions[0].arguments[0].index);
    }

    bool run() { return yields(loop_.regions[0]) && walk(loop_.regions[0], 0) && adds_up_ > 0; }
    bool varies(ValueId value) const { return varying_.contains(value.index); }
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
                if (any_varies(instruction.operands)) vary(instruction.results);
                return true;
            case Opcode::kView:
            case Opcode::kNull: return !any_varies(instruction.operands);
            case Opcode::kLoad:
            case Opcode::kStore: vary(instruction.results); return depth == 0 || is_side_by_side(instruction);
            case Opcode::kCheck:
            case Opcode::kYield: return true;
            case Opcode::kIf: return take_branch(instruction, depth);
            case Opcode::kFor: return take_loop(instruction, depth);
            default: return false;
        }
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

    // What lanes read or write in a loop is one element for all, or neighbours.
    bool is_side_by_side(const Instruction& access) const {
        const BufferType& buffer = function_.type(access.operands[0]).buffer;
        const size_t first = access.opcode == Opcode::kStore ? 2 : 1, rank = buffer.strides.size();
        for (size_t d = 0; d < rank; ++d) {
            const ValueId index = access.operands[first + d];
            if (!varies(index)) continue;
            if (d + 1 < rank || index != loop_.regions[0].arguments[0] ||
                buffer.strides[d] != DType(buffer.element).itemsize())
                return false;
        }
        return true;
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
    std::unordered_set<uint32_t> varying_;
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
            if (defined != defined_in_.end() && defined->second != run_) crossing_.insert(value.index);
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

    bool is_uniform(const Instruction& instruction) const {
        switch (instruction.opcode) {
            case Opcode::kConstant:
            case Opcode::kApply:
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
            } else if (!has_loop(instruction)) {
                if (instruction.opcode != Opcode::kYield) straight.push_back(&instruction);
            } else if (instruction.opcode == Opcode::kIf) {
                flush(builder, straight, {});
                emit_branch(builder, instruction);
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
        builder.if_else(uniform_.mapped({instruction.operands[0]})[0], side(0), side(1));
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
        builder.for_lanes(none, all, lanes_, [&](Builder& inner, std::span<const ValueId> arguments) {
            const ValueId lane = arguments[0];
            Copier copier = uniform_;
            copier.map(loop_.regions[0].arguments[0], inner.apply(OpId::kAdd, {first_, lane}));
            std::unordered_set<uint32_t> here{loop_.regions[0].arguments[0].index};
            const auto fetch = [&](ValueId value) {
                if (!judge_.varies(value) || !here.insert(value.index).second) return;
                copier.map(value, inner.load(arrays_.at(value.index), std::span(&lane, 1)));
            };
            for (const Instruction* instruction : straight) {
                for_each_operand(*instruction, here, fetch);
                for (const ValueId result : instruction->results) here.insert(result.index);
                inner.append(copier.copy(*instruction));
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
    Copier uniform_;  // of values that are the same for all lanes
    ValueId first_;
    int run_ = 0;
    std::unordered_map<uint32_t, int> defined_in_;  // which run of straight code
    std::unordered_set<uint32_t> crossing_;
    std::unordered_map<uint32_t, ValueId> arrays_;
};

void walk(Function& function, Region& region) {
    std::vector<Instruction> old = std::move(region.body);
    region.body.clear();
    for (Instruction& instruction : old) {
        const bool is_wanted =
            instruction.opcode == Opcode::kFor && instruction.lanes > 1 && instruction.operands.size() == 3;
        if (is_wanted && has_loop_inside(instruction)) {
            Judge judge(function, instruction);
            if (judge.run()) {
                Region expansion;
                Builder builder(function, expansion.body);
                Stepping(function, instruction, judge).run(builder);
                for (Instruction& inner : expansion.body) region.body.push_back(std::move(inner));
                continue;
            }
            instruction.lanes = 1;
        }
        for (Region& inner : instruction.regions) walk(function, inner);
        region.body.push_back(std::move(instruction));
    }
}

}  // namespace

void lanes_of_loops(const Module&, Function& function) {
    if (!function.is_kernel) walk(function, function.body);
}

}  // namespace weft::passes
