#include "passes/calls/structured_returns.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

bool is_exit(const Instruction& instruction, int depth) {
    return (instruction.opcode == Opcode::kBreak || instruction.opcode == Opcode::kContinue) &&
           instruction.depth == depth;
}

// Exits of the loop that `depth` others lie between, in the regions of an instruction.
int exits_in(const Instruction& instruction, int depth) {
    const int inside = depth + (is_loop(instruction.opcode) ? 1 : 0);
    int count = 0;
    for (const Region& region : instruction.regions) {
        for (const Instruction& each : region.body)
            count += (is_exit(each, inside) ? 1 : 0) + exits_in(each, inside);
    }
    return count;
}

// Whether some exit leaves more than the loop that `depth` others lie between.
bool leaves_more(const Instruction& instruction, int depth) {
    const bool is_exit = instruction.opcode == Opcode::kBreak || instruction.opcode == Opcode::kContinue;
    const int inside = depth + (is_loop(instruction.opcode) ? 1 : 0);
    return (is_exit && instruction.depth > depth) ||
           std::any_of(instruction.regions.begin(), instruction.regions.end(), [&](const Region& region) {
               return std::any_of(region.body.begin(), region.body.end(),
                                  [&](const Instruction& each) { return leaves_more(each, inside); });
           });
}

// One loop of one iteration.
class Structure {
public:
    Structure(Function& function, const Instruction& loop)
        : function_(function), loop_(loop), copier_(function) {}

    bool can_be() const {
        return std::none_of(loop_.results.begin(), loop_.results.end(),
                            [&](ValueId result) { return function_.type(result).is_buffer; }) &&
               !leaves_more(loop_, -1) && can_be(loop_.regions[0]);
    }

    Values build(Builder& builder) {
        copier_.map(loop_.regions[0].arguments[0], loop_.operands[0]);
        for (size_t i = 3; i < loop_.operands.size(); ++i)
            copier_.map(loop_.regions[0].arguments[i - 2], loop_.operands[i]);
        return rest(builder, loop_.regions[0], 0);
    }

private:
    bool can_be(const Region& region) const {
        return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& each) {
            if (each.opcode == Opcode::kContinue || each.opcode == Opcode::kReturn ||
                each.opcode == Opcode::kRaise)
                return false;
            const int exits = exits_in(each, 0);
            if (exits == 0) return true;
            if (each.opcode == Opcode::kIf)
                // A side that goes on has no way out.
                return std::all_of(each.regions.begin(), each.regions.end(), [&](const Region& side) {
                    return yields(side) ? without_exits(side) : can_be(side);
                });
            // The loop, and what is around it, are left from it, not from loops inside of it.
            return each.opcode == Opcode::kFor && exits_at(each.regions[0], 1) == exits &&
                   exits_at(each.regions[0], 0) == exits_in(each, -1);
        });
    }
    static bool without_exits(const Region& side) {
        return std::none_of(side.body.begin(), side.body.end(),
                            [](const Instruction& each) { return exits_in(each, 0) > 0; });
    }
    static int exits_at(const Region& region, int depth) {
        int count = 0;
        for (const Instruction& each : region.body) {
            if (is_exit(each, depth)) ++count;
            if (each.opcode == Opcode::kIf)
                count += exits_at(each.regions[0], depth) + exits_at(each.regions[1], depth);
        }
        return count;
    }

    // What the instructions of a region from one on come to.
    Values rest(Builder& builder, const Region& region, size_t from) {
        for (size_t at = from; at < region.body.size(); ++at) {
            const Instruction& each = region.body[at];
            if (each.opcode == Opcode::kYield || each.opcode == Opcode::kBreak)
                return copier_.mapped(each.operands);
            if (exits_in(each, 0) == 0) {
                builder.append(copier_.copy(each));
                continue;
            }
            if (each.opcode == Opcode::kFor) {
                const auto [is_left, values] = flagged(builder, each);
                return builder.if_else(
                    is_left, [&](Builder&, std::span<const ValueId>) { return values; },
                    [&](Builder& inner, std::span<const ValueId>) { return rest(inner, region, at + 1); });
            }
            const auto side = [&](size_t which) -> Builder::Body {
                return [&, which](Builder& inner, std::span<const ValueId>) -> Values {
                    const Region& taken = each.regions[which];
                    const Values values = rest(inner, taken, 0);
                    if (!yields(taken)) return values;
                    for (size_t i = 0; i < values.size(); ++i) copier_.map(each.results[i], values[i]);
                    return rest(inner, region, at + 1);
                };
            };
            return builder.if_else(copier_.mapped({each.operands[0]})[0], side(0), side(1), each.likely);
        }
        return {};
    }

    ValueId flag(Builder& builder, bool value) const {
        return builder.constant(Constant::of(ScalarType::kBool, static_cast<uint8_t>(value ? 1 : 0)));
    }

    // The loop with a flag and the values that leave what is around it; gives these.
    std::pair<ValueId, Values> flagged(Builder& builder, const Instruction& loop) {
        Values initials = copier_.mapped(Values(loop.operands.begin() + 3, loop.operands.end()));
        const size_t own = initials.size();
        initials.push_back(flag(builder, false));
        for (const ValueId result : loop_.results)
            initials.push_back(builder.cast(builder.index(0), function_.type(result).scalar));
        const Values bounds = copier_.mapped({loop.operands[0], loop.operands[1], loop.operands[2]});
        builder.set_loop_site(loop.site);
        const Values results = builder.for_loop(
            bounds[0], bounds[1], bounds[2], initials,
            [&](Builder& inner, std::span<const ValueId> arguments) -> Values {
                const Region& body = loop.regions[0];
                for (size_t i = 0; i <= own; ++i) copier_.map(body.arguments[i], arguments[i]);
                const Values carried(arguments.begin() + 1,
                                     arguments.begin() + 1 + static_cast<ptrdiff_t>(own));
                const Values beside(arguments.begin() + 1 + static_cast<ptrdiff_t>(own), arguments.end());
                return leave_with_flag(inner, body, carried, beside, false);
            });
        for (size_t i = 0; i < own; ++i) copier_.map(loop.results[i], results[i]);
        return {results[own], Values(results.begin() + static_cast<ptrdiff_t>(own) + 1, results.end())};
    }

    Values leave_with_flag(Builder& builder, const Region& region, const Values& carried,
                           const Values& beside, bool in_branch) {
        const auto with = [&](Values values, const Values& more) {
            values.insert(values.end(), more.begin(), more.end());
            return values;
        };
        for (const Instruction& each : region.body) {
            switch (each.opcode) {
                case Opcode::kYield:
                    return in_branch ? copier_.mapped(each.operands)
                                     : with(copier_.mapped(each.operands), beside);
                case Opcode::kContinue:
                    builder.continue_loop(with(copier_.mapped(each.operands), beside));
                    return {};
                case Opcode::kBreak: {
                    if (each.depth == 0) {
                        builder.break_loop(with(copier_.mapped(each.operands), beside));
                        return {};
                    }
                    Values values = carried;
                    values.push_back(flag(builder, true));
                    builder.break_loop(with(std::move(values), copier_.mapped(each.operands)));
                    return {};
                }
                case Opcode::kIf: {
                    const auto side = [&](size_t which) -> Builder::Body {
                        return [&, which](Builder& inner, std::span<const ValueId>) {
                            return leave_with_flag(inner, each.regions[which], carried, beside, true);
                        };
                    };
                    const Values results =
                        builder.if_else(copier_.mapped({each.operands[0]})[0], side(0), side(1), each.likely);
                    for (size_t i = 0; i < results.size(); ++i) copier_.map(each.results[i], results[i]);
                    if (builder.has_ended()) return {};
                    break;
                }
                default: builder.append(copier_.copy(each));
            }
        }
        return {};
    }

    Function& function_;
    const Instruction& loop_;
    Copier copier_;
};

class Walker {
public:
    explicit Walker(Function& function) : function_(function) {}

    void run(Region& region) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            if (instruction.opcode == Opcode::kConstant && instruction.constant.type == ScalarType::kInt64)
                constants_[instruction.results[0].index] = instruction.constant.as<int64_t>();
            replaced_.apply(instruction.operands);
            for (Region& inner : instruction.regions) run(inner);
            if (is_once(instruction) && exits_in(instruction, -1) > 0) {
                Structure structure(function_, instruction);
                if (structure.can_be()) {
                    Region branches;
                    Builder builder(function_, branches.body);
                    const Values results = structure.build(builder);
                    for (size_t i = 0; i < results.size(); ++i)
                        replaced_.set(instruction.results[i], results[i]);
                    for (Instruction& inner : branches.body) region.body.push_back(std::move(inner));
                    continue;
                }
            }
            region.body.push_back(std::move(instruction));
        }
    }

private:
    bool is_once(const Instruction& instruction) const {
        if (instruction.opcode != Opcode::kFor) return false;
        const auto is = [&](size_t operand, int64_t value) {
            const auto found = constants_.find(instruction.operands[operand].index);
            return found != constants_.end() && found->second == value;
        };
        return is(0, 0) && is(1, 1) && is(2, 1);
    }

    Function& function_;
    Substitution replaced_;
    std::unordered_map<uint32_t, int64_t> constants_;
};

}  // namespace

void structured_returns(const Module&, Function& function) {
    if (!function.is_kernel) Walker(function).run(function.body);
}

}  // namespace weft::passes
