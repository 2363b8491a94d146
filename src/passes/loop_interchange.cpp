#include "passes/loop_interchange.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

// Of one accumulator's array: as much as stays in L1. Shorter pieces of rows are read markedly slower from
// memory (3000² float64, one core: 20 to 30 ms with 512 bytes to 16 KiB, 10 to 19 ms with whole rows of 24
// KB).
constexpr int64_t kTileBytes = 32768;

// Several rows are read at once, so that a column's accumulator is loaded and stored once for all of them
// (4000² float32, two cores: 3.9 ms with one, 2.0 with four, 1.7 with eight): as many as keep the loop short,
// whose code is a row's so many times. But rows that follow each other in memory are read faster in its
// order, between these bytes: of a row's elements, of its accumulators (120 times 200 rows of 128 float32:
// 0.9 ms with one row at a time, 1.7 with eight; of 16: 1.5 and 1.1; of 4000: 2.1 and 0.8).
constexpr int64_t kMostRowsTogether = 8;
constexpr int64_t kCostTogether = 24;
constexpr int64_t kShortRow = 256;
constexpr int64_t kLongRow = 8192;

// `reduce` instructions of one lane and one block, which frontends write where columns are to be the lanes.
bool walks_column(const Instruction& instruction) {
    return instruction.opcode == Opcode::kReduce && instruction.lanes == 1 && instruction.block == 0;
}

class Interchange {
public:
    Interchange(Function& function, Instruction& grid)
        : function_(function), grid_(grid), body_(grid.regions[0].body), depends_(function.values.size()) {}

    void run() {
        for (size_t i = 0; i < body_.size(); i++) {
            if (walks_column(body_[i])) last_reduction_ = static_cast<int>(i);
        }
        if (last_reduction_ < 0) return;
        std::optional<size_t> dimension = column_dimension();
        if (!dimension || !is_eligible(*dimension)) return;
        rewrite(*dimension);
    }

private:
    // The dimension of the grid along which the reductions' loads go through memory without gaps.
    std::optional<size_t> column_dimension() const {
        std::vector<int> loads(grid_.operands.size());
        for (const Instruction& instruction : body_) {
            if (walks_column(instruction)) count_loads(instruction.regions[0], loads);
        }
        auto most = std::max_element(loads.begin(), loads.end());
        if (most == loads.end() || *most == 0) return std::nullopt;
        return static_cast<size_t>(most - loads.begin());
    }

    void count_loads(const Region& region, std::vector<int>& loads) const {
        for (const Instruction& instruction : region.body) {
            for (const Region& inner : instruction.regions) count_loads(inner, loads);
            if (instruction.opcode != Opcode::kLoad) continue;
            const BufferType& buffer = function_.type(instruction.operands[0]).buffer;
            for (size_t d = 0; d < buffer.strides.size(); d++) {
                if (buffer.strides[d] != DType::of(buffer.element).itemsize()) continue;
                const Values& points = grid_.regions[0].arguments;
                auto point = std::find(points.begin(), points.end(), instruction.operands[1 + d]);
                if (point != points.end()) loads[static_cast<size_t>(point - points.begin())]++;
            }
        }
    }

    // What stands before the last reduction is computed anew in each loop over columns, so it must be free of
    // effects and cheap; how many rows there are must not differ between columns.
    bool is_eligible(size_t dimension) {
        if (std::any_of(body_.begin(), body_.end(), belongs_to_block)) return false;
        depends_[grid_.regions[0].arguments[dimension].index] = true;
        for (int i = 0; i <= last_reduction_; i++) {
            const Instruction& instruction = body_[static_cast<size_t>(i)];
            bool depends = std::any_of(instruction.operands.begin(), instruction.operands.end(),
                                       [&](ValueId operand) { return depends_[operand.index]; });
            if (walks_column(instruction)) {
                if (depends_[instruction.operands[0].index]) return false;
                depends = true;
            } else if (!instruction.regions.empty() || !has_no_effect(instruction) ||
                       instruction.opcode == Opcode::kAllocate) {
                return false;
            }
            for (ValueId result : instruction.results) depends_[result.index] = depends;
        }
        return true;
    }

    static bool belongs_to_block(const Instruction& instruction) {
        return instruction.opcode == Opcode::kParallel || instruction.opcode == Opcode::kAllocate;
    }

    void rewrite(size_t dimension) {
        std::vector<Instruction> old = std::move(body_);
        body_.clear();
        Values& points = grid_.regions[0].arguments;
        column_ = points[dimension];
        row_ = grid_.operands[dimension];
        ValueId begin = function_.add_value(Type::of(ScalarType::kInt64), "begin");
        ValueId end = function_.add_value(Type::of(ScalarType::kInt64), "end");
        points[dimension] = begin;
        points.insert(points.begin() + static_cast<std::ptrdiff_t>(dimension) + 1, end);
        grid_.range_dimension = static_cast<int>(dimension);

        Builder b(function_, body_);
        int64_t tile = INT64_MAX;
        for (const Instruction& instruction : old) {
            if (!walks_column(instruction)) continue;
            for (ValueId result : instruction.results) {
                tile = std::min(tile, kTileBytes / DType::of(function_.type(result).scalar).itemsize());
            }
        }
        // What is the same for all columns is computed once; the rest is kept for the loops over columns.
        for (int i = 0; i <= last_reduction_; i++) {
            Instruction& instruction = old[static_cast<size_t>(i)];
            if (walks_column(instruction)) {
                for (ValueId result : instruction.results) arrays_[result.index] = allocate(b, result, tile);
            } else if (!depends_on_column(instruction)) {
                b.append(std::move(instruction));
                instruction = Instruction{};
                continue;
            }
            prefix_.push_back(&instruction);
        }

        ValueId length = b.index(tile);
        b.for_loop(begin, end, length, {}, [&](Builder&, std::span<const ValueId> arguments) {
            ValueId base = arguments[0];
            ValueId width = b.apply(OpId::kMinimum, {b.apply(OpId::kSubtract, {end, base}), length});
            for (size_t i = 0; i < prefix_.size(); i++) {
                if (walks_column(*prefix_[i])) reduce(b, base, width, i);
            }
            each_column(b, base, width, prefix_.size(), [&](Copier& copier, ValueId) {
                for (size_t i = static_cast<size_t>(last_reduction_) + 1; i + 1 < old.size(); i++) {
                    b.append(copier.copy(old[i]));
                }
            });
            return Values{};
        });
        b.append(std::move(old.back()));  // the yield of nothing
    }

    bool depends_on_column(const Instruction& instruction) const {
        return std::any_of(instruction.results.begin(), instruction.results.end(),
                           [&](ValueId result) { return depends_[result.index]; });
    }

    ValueId allocate(Builder& b, ValueId result, int64_t tile) {
        ScalarType element = function_.type(result).scalar;
        BufferType type{.element = element, .space = AddressSpace::kLocal};
        type.alias_scope = unused_alias_scope(function_);
        type.strides = {DType::of(element).itemsize()};
        type.sizes = {tile};
        return b.allocate(std::move(type), "columns");
    }

    // A loop over the tile's columns. `body` gets a copier that knows the column's index and what the first
    // `count` instructions of the prefix computed for it, and the column's place in the tile.
    template <class Body>
    void each_column(Builder& b, ValueId base, ValueId width, size_t count, const Body& body) {
        b.for_loop(b.index(0), width, b.index(1), {}, [&](Builder&, std::span<const ValueId> arguments) {
            ValueId place = arguments[0];
            Copier copier(function_);
            copier.map(column_, b.apply(OpId::kAdd, {base, place}));
            for (size_t i = 0; i < count; i++) {
                const Instruction& instruction = *prefix_[i];
                if (walks_column(instruction)) {
                    for (ValueId result : instruction.results) {
                        copier.map(result, b.load(arrays_.at(result.index), std::array{place}));
                    }
                } else {
                    b.append(copier.copy(instruction));
                }
            }
            body(copier, place);
            return Values{};
        });
    }

    void reduce(Builder& b, ValueId base, ValueId width, size_t at) {
        const Instruction& reduction = *prefix_[at];
        Values initials(reduction.operands.begin() + 1, reduction.operands.end());
        each_column(b, base, width, at, [&](Copier& copier, ValueId place) {
            store(b, reduction, copier.mapped(initials), place);
        });
        const int64_t together = rows_together(reduction);
        const ValueId zero = b.index(0), size = b.apply(OpId::kMaximum, {reduction.operands[0], zero});
        const auto add = [&](ValueId lower, ValueId upper, int64_t step) {
            b.for_loop(lower, upper, b.index(step), {}, [&](Builder&, std::span<const ValueId> arguments) {
                add_rows(b, base, width, at, arguments[0], step);
                return Values{};
            });
        };
        ValueId start = zero;
        if (together > 1) {
            start = b.apply(OpId::kSelect, {go_through_memory(b, width, reduction), zero,
                                            b.apply(OpId::kBitwiseAnd, {size, b.index(-together)})});
            add(zero, start, together);
        }
        add(start, size, 1);
    }

    // Whether to read row by row: where the rows follow each other in memory, and are neither so short that
    // the loop over a row costs more than its elements, nor as long as to drive accumulators out of L1.
    ValueId go_through_memory(Builder& b, ValueId width, const Instruction& reduction) {
        int64_t itemsize = 1;
        for (ValueId result : reduction.results)
            itemsize = std::max(itemsize, DType::of(function_.type(result).scalar).itemsize());
        const ValueId shortest = b.index(kShortRow / widest_load(reduction.regions[0]));
        const ValueId longest = b.index(kLongRow / itemsize);
        const ValueId fits = b.apply(OpId::kLogicalAnd, {b.apply(OpId::kGreaterEqual, {width, shortest}),
                                                         b.apply(OpId::kLessEqual, {width, longest})});
        return b.apply(OpId::kLogicalAnd, {fits, b.apply(OpId::kEqual, {width, row_})});
    }

    int64_t widest_load(const Region& region) const {
        int64_t itemsize = 1;
        for (const Instruction& instruction : region.body) {
            for (const Region& inner : instruction.regions) itemsize = std::max(itemsize, widest_load(inner));
            if (instruction.opcode == Opcode::kLoad)
                itemsize =
                    std::max(itemsize, DType::of(function_.type(instruction.results[0]).scalar).itemsize());
        }
        return itemsize;
    }

    // Adds rows first … first + count - 1 to each column's accumulator, in this order.
    void add_rows(Builder& b, ValueId base, ValueId width, size_t at, ValueId first, int64_t count) {
        const Instruction& reduction = *prefix_[at];
        Values rows{first};
        for (int64_t j = 1; j < count; j++) rows.push_back(b.apply(OpId::kAdd, {first, b.index(j)}));
        each_column(b, base, width, at, [&](Copier& copier, ValueId place) {
            Values accumulator;
            for (ValueId result : reduction.results)
                accumulator.push_back(b.load(arrays_.at(result.index), std::array{place}));
            for (ValueId row : rows) {
                const Values element = copier.append(b, reduction.regions[0], std::array{row});
                accumulator.insert(accumulator.end(), element.begin(), element.end());
                accumulator = copier.append(b, reduction.regions[1], accumulator);
            }
            store(b, reduction, accumulator, place);
        });
    }

    // How many rows a column's accumulator takes up between a load and a store.
    static int64_t rows_together(const Instruction& reduction) {
        const int64_t cost =
            std::max<int64_t>(cost_of(reduction.regions[0]) + cost_of(reduction.regions[1]), 1);
        return static_cast<int64_t>(std::bit_floor(
            static_cast<uint64_t>(std::clamp<int64_t>(kCostTogether / cost, 1, kMostRowsTogether))));
    }

    static int64_t cost_of(const Region& region) {
        int64_t cost = 0;
        for (const Instruction& instruction : region.body) {
            for (const Region& inner : instruction.regions) cost += kCostTogether + cost_of(inner);
            cost += instruction.opcode == Opcode::kApply ? instruction.op->cost
                    : instruction.opcode == Opcode::kLoad || instruction.opcode == Opcode::kCast ? 1
                                                                                                 : 0;
        }
        return cost;
    }

    void store(Builder& b, const Instruction& reduction, const Values& values, ValueId place) {
        for (size_t i = 0; i < values.size(); i++) {
            b.store(arrays_.at(reduction.results[i].index), values[i], std::array{place});
        }
    }

    Function& function_;
    Instruction& grid_;
    std::vector<Instruction>& body_;
    std::vector<bool> depends_;  // by value: on the column's index
    int last_reduction_ = -1;
    ValueId column_, row_;              // the column's index; how many columns there are, of all threads
    std::vector<Instruction*> prefix_;  // up to the last reduction, what depends on the column
    std::unordered_map<uint32_t, ValueId> arrays_;  // result of a reduction -> the array over the tile
};

}  // namespace

void loop_interchange(const Module&, Function& function) {
    for (Instruction& instruction : function.body.body) {
        if (instruction.opcode == Opcode::kParallel && instruction.level == ParallelLevel::kGrid &&
            instruction.range_dimension < 0) {
            Interchange(function, instruction).run();
        }
    }
}

}  // namespace weft::passes
