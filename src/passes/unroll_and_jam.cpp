#include "passes/unroll_and_jam.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

Values slice(std::span<const ValueId> values, size_t from, size_t count) {
    const auto part = values.subspan(from, count);
    return {part.begin(), part.end()};
}

// Measured with sums of float32 on two cores (64 MB, rows of 16 KB): 1.70 ms a row at a time, 1.45 with two
// rows, 1.38 with four, whose accumulators no longer fit in AVX2's sixteen registers.
constexpr int64_t kAccumulatorBytes = 256;  // of both rows: half of the registers
constexpr int64_t kMostCost = 4;            // additions an element: more, and memory is not what it waits for
constexpr int64_t kLeastElements = 512;     // of a row that is worth the second copy of the code

class Pairing {
public:
    Pairing(Function& function, Instruction& grid)
        : function_(function), grid_(grid), body_(grid.regions[0]), row_(body_.arguments.back()) {}

    void run() {
        if (is_eligible()) rewrite();
    }

private:
    bool differs(const Instruction& instruction) const {
        return std::any_of(instruction.operands.begin(), instruction.operands.end(),
                           [&](ValueId operand) { return differing_.contains(operand.index); }) ||
               std::any_of(instruction.regions.begin(), instruction.regions.end(), [&](const Region& region) {
                   return std::any_of(region.body.begin(), region.body.end(),
                                      [&](const Instruction& inner) { return differs(inner); });
               });
    }

    // Straight code with reductions; the lengths of those that are paired are known before the first of them.
    bool is_eligible() {
        differing_.insert(row_.index);
        bool streams = false;
        for (const Instruction& instruction : body_.body) {
            switch (instruction.opcode) {
                case Opcode::kConstant:
                case Opcode::kApply:
                case Opcode::kCast:
                case Opcode::kStore:
                case Opcode::kYield: break;
                case Opcode::kLoad: computed_.insert(instruction.results[0].index); break;
                case Opcode::kReduce:
                    if (!is_plain(instruction)) return false;
                    if (can_be_paired(instruction)) {
                        paired_.insert(&instruction);
                        streams |= walks_memory(instruction);
                    }
                    break;
                default: return false;
            }
            const bool computed =
                instruction.opcode == Opcode::kReduce ||
                std::any_of(instruction.operands.begin(), instruction.operands.end(),
                            [&](ValueId operand) { return computed_.contains(operand.index); });
            const bool different = differs(instruction);
            for (const ValueId result : instruction.results) {
                if (computed) computed_.insert(result.index);
                if (different) differing_.insert(result.index);
            }
        }
        return streams;
    }

    static bool is_plain(const Instruction& reduction) {
        return std::all_of(reduction.regions.begin(), reduction.regions.end(), [](const Region& region) {
            return std::all_of(region.body.begin(), region.body.end(), [](const Instruction& inner) {
                return inner.regions.empty() && has_no_effect(inner) && inner.opcode != Opcode::kAllocate;
            });
        });
    }

    // Rows of unknown length are paired where both are equally long; it must be known which those are.
    bool can_be_paired(const Instruction& reduction) const {
        if (reduction.lanes == 1 || computed_.contains(reduction.operands[0].index)) return false;
        int64_t bytes = 0, cost = 0;
        for (const ValueId initial : std::span(reduction.operands).subspan(1))
            bytes += 2 * reduction.lanes * DType(function_.type(initial).scalar).itemsize();
        for (const Region& region : reduction.regions) {
            for (const Instruction& inner : region.body) {
                if (inner.opcode == Opcode::kApply && !is_index(inner)) cost += inner.op->cost;
            }
        }
        return bytes <= kAccumulatorBytes && cost <= kMostCost;
    }
    bool is_index(const Instruction& instruction) const {
        return function_.type(instruction.results[0]).scalar == ScalarType::kInt64 &&
               std::none_of(instruction.operands.begin(), instruction.operands.end(),
                            [&](ValueId operand) { return computed_.contains(operand.index); });
    }

    // Whether an element is read from where the row is, next to the one before it.
    bool walks_memory(const Instruction& reduction) const {
        const Region& element = reduction.regions[0];
        std::set<uint32_t> along{element.arguments[0].index}, of_row = differing_;
        for (const Instruction& inner : element.body) {
            const auto depends_on = [&](const std::set<uint32_t>& values, std::span<const ValueId> operands) {
                return std::any_of(operands.begin(), operands.end(),
                                   [&](ValueId operand) { return values.contains(operand.index); });
            };
            if (inner.opcode == Opcode::kLoad) {
                const BufferType& buffer = function_.type(inner.operands[0]).buffer;
                const std::span<const ValueId> indices(inner.operands.data() + 1, buffer.strides.size());
                if (buffer.space == AddressSpace::kGlobal && !indices.empty() &&
                    buffer.strides.back() == DType(buffer.element).itemsize() &&
                    depends_on(along, indices.last(1)) && depends_on(of_row, indices))
                    return true;
            }
            for (const ValueId result : inner.results) {
                if (depends_on(along, inner.operands)) along.insert(result.index);
                if (depends_on(of_row, inner.operands)) of_row.insert(result.index);
            }
        }
        return false;
    }

    void rewrite() {
        const Region old = std::move(body_);
        body_ = Region();
        body_.arguments = old.arguments;
        const ValueId begin = function_.add_value(Type::of(ScalarType::kInt64), "begin");
        const ValueId end = function_.add_value(Type::of(ScalarType::kInt64), "end");
        body_.arguments.back() = begin;
        body_.arguments.push_back(end);
        grid_.range_dimension = static_cast<int>(old.arguments.size()) - 1;

        Builder b(function_, body_.body);
        b.for_loop(begin, end, b.index(2), {}, [&](Builder&, std::span<const ValueId> arguments) {
            const ValueId first = arguments[0];
            const ValueId second = b.apply(OpId::kAdd, {first, b.index(1)});
            const ValueId stop = b.apply(OpId::kMinimum, {b.apply(OpId::kAdd, {first, b.index(2)}), end});
            const ValueId together = b.apply(
                OpId::kLogicalAnd, {b.apply(OpId::kLess, {second, end}), are_alike(b, old, first, second)});
            b.if_else(
                together,
                [&](Builder&, std::span<const ValueId>) {
                    append_pair(b, old, first, second);
                    return Values{};
                },
                [&](Builder&, std::span<const ValueId>) {
                    b.for_loop(first, stop, b.index(1), {}, [&](Builder&, std::span<const ValueId> row) {
                        Copier copier(function_);
                        append(copier, b, old, row[0]);
                        return Values{};
                    });
                    return Values{};
                });
            return Values{};
        });
        Instruction yield;
        yield.opcode = Opcode::kYield;
        b.append(std::move(yield));
    }

    void append(Copier& copier, Builder& b, const Region& old, ValueId row) {
        copier.map(row_, row);
        for (const Instruction& instruction : old.body) {
            if (instruction.opcode != Opcode::kYield) b.append(copier.copy(instruction));
        }
    }

    // Whether both rows are long, and equally long.
    ValueId are_alike(Builder& b, const Region& old, ValueId first, ValueId second) {
        Copier of_first(function_), of_second(function_);
        of_first.map(row_, first);
        of_second.map(row_, second);
        std::vector<ValueId> conditions;
        for (const Instruction& instruction : old.body) {
            if (is_value(instruction.opcode)) {
                if (computed_.contains(instruction.results[0].index)) continue;
                b.append(of_first.copy(instruction));
                b.append(of_second.copy(instruction));
            }
            if (!paired_.contains(&instruction)) continue;
            const Values size = slice(instruction.operands, 0, 1);
            const ValueId length = of_first.mapped(size)[0];
            conditions.push_back(b.apply(OpId::kGreaterEqual, {length, b.index(kLeastElements)}));
            if (differing_.contains(size[0].index))
                conditions.push_back(b.apply(OpId::kEqual, {length, of_second.mapped(size)[0]}));
        }
        ValueId all = conditions[0];
        for (const ValueId condition : std::span(conditions).subspan(1))
            all = b.apply(OpId::kLogicalAnd, {all, condition});
        return all;
    }

    // Copies for two rows, in one of what is the same for both.
    struct Rows {
        Copier first, second;
        std::set<uint32_t> differing;

        explicit Rows(Function& function) : first(function), second(function) {}
        void map(ValueId from, ValueId to) {
            first.map(from, to);
            second.map(from, to);
        }
        Values mapped(const Values& values) const {
            Values both = first.mapped(values);
            const Values others = second.mapped(values);
            both.insert(both.end(), others.begin(), others.end());
            return both;
        }
        void append(Builder& b, const Instruction& instruction) {
            const bool differs =
                std::any_of(instruction.operands.begin(), instruction.operands.end(),
                            [&](ValueId operand) { return differing.contains(operand.index); });
            append(b, instruction, differs || !instruction.regions.empty());
        }
        void append(Builder& b, const Instruction& instruction, bool differs) {
            b.append(first.copy(instruction));
            if (differs) {
                b.append(second.copy(instruction));
                for (const ValueId result : instruction.results) differing.insert(result.index);
            } else {
                for (const ValueId result : instruction.results)
                    second.map(result, first.mapped({result})[0]);
            }
        }
    };

    void append_pair(Builder& b, const Region& old, ValueId first, ValueId second) {
        Rows rows(function_);
        rows.first.map(row_, first);
        rows.second.map(row_, second);
        rows.differing.insert(row_.index);
        for (const Instruction& instruction : old.body) {
            if (instruction.opcode == Opcode::kYield) continue;
            if (paired_.contains(&instruction)) {
                append_paired(b, rows, instruction);
            } else {
                rows.append(b, instruction);
            }
        }
    }

    ValueId like(ValueId value) {
        ValueInfo info = function_.values[value.index];
        return function_.add_value(std::move(info.type), std::move(info.name));
    }

    // New values in the place of `values`: for the first row, then for the second.
    Values define(Rows& rows, const Values& values) {
        Values defined;
        for (const ValueId value : values) {
            defined.push_back(like(value));
            rows.first.map(value, defined.back());
        }
        for (const ValueId value : values) {
            defined.push_back(like(value));
            rows.second.map(value, defined.back());
            rows.differing.insert(value.index);
        }
        return defined;
    }

    Region pair_region(Rows& rows, const Region& old, Values arguments) {
        Region region;
        region.arguments = std::move(arguments);
        Builder b(function_, region.body);
        for (const Instruction& inner : old.body) {
            if (inner.opcode != Opcode::kYield) rows.append(b, inner);
        }
        Instruction yield;
        yield.opcode = Opcode::kYield;
        yield.operands = rows.mapped(old.body.back().operands);
        b.append(std::move(yield));
        return region;
    }

    void append_paired(Builder& b, Rows& rows, const Instruction& reduction) {
        const Region &element = reduction.regions[0], &combination = reduction.regions[1];
        const size_t width = reduction.results.size();
        Instruction pair;
        pair.opcode = Opcode::kReduce;
        pair.lanes = reduction.lanes;
        pair.block = reduction.block;
        pair.operands = rows.first.mapped(slice(reduction.operands, 0, 1));
        const Values initials = rows.mapped(slice(reduction.operands, 1, width));
        pair.operands.insert(pair.operands.end(), initials.begin(), initials.end());

        const ValueId number = like(element.arguments[0]);
        rows.map(element.arguments[0], number);
        pair.regions.push_back(pair_region(rows, element, {number}));

        Values arguments = define(rows, slice(combination.arguments, 0, width));
        const Values right = define(rows, slice(combination.arguments, width, width));
        arguments.insert(arguments.end(), right.begin(), right.end());
        pair.regions.push_back(pair_region(rows, combination, std::move(arguments)));
        pair.results = define(rows, reduction.results);
        b.append(std::move(pair));
    }

    Function& function_;
    Instruction& grid_;
    Region& body_;
    ValueId row_;
    std::set<uint32_t> differing_;  // between two rows
    std::set<uint32_t> computed_;   // from what is in memory
    std::set<const Instruction*> paired_;
};

}  // namespace

void unroll_and_jam(const Module&, Function& function) {
    for (Instruction& instruction : function.body.body) {
        if (instruction.opcode == Opcode::kParallel && instruction.level == ParallelLevel::kGrid &&
            instruction.range_dimension < 0 && !instruction.operands.empty())
            Pairing(function, instruction).run();
    }
}

}  // namespace weft::passes
