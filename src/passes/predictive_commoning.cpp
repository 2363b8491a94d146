#include "passes/predictive_commoning.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "passes/loops_in_blocks.h"
#include "passes/rewrite.h"
#include "passes/shifted_values.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

constexpr int64_t kMostShift = 4;    // iterations that a value is carried
constexpr int64_t kMostCarried = 8;  // values, a quarter of the registers
constexpr int64_t kCarryCost = 2;    // additions: lanes of two vectors are put together
constexpr int64_t kLeastGain = 3;    // additions an iteration

// Which values of the loop are at which shift; more than one are the same.
using Shifts = std::map<int64_t, Values>;

// The sums of a loop's body, put in columns.
class ColumnSums {
public:
    ColumnSums(Function& function, const Constants& constants, Instruction& loop)
        : function_(function), loop_(loop), shifted_(function, constants, loop) {}

    // Whether there was something to do.
    bool run() {
        if (!shifted_.is_known()) return false;
        count_uses(loop_.regions[0]);
        Region& body = loop_.regions[0];
        std::unordered_map<uint32_t, Sum> sums;
        for (size_t i = body.body.size(); i-- > 0;) {
            const Instruction& instruction = body.body[i];
            if (!is_sum(instruction) || inner_.contains(instruction.results[0].index)) continue;
            Sum sum = flatten(instruction);
            if (choose_column(sum)) sums.emplace(instruction.results[0].index, std::move(sum));
        }
        if (sums.empty()) return false;
        rewrite(sums);
        return true;
    }

private:
    struct Term {
        int64_t coefficient;
        ValueId value;
        int64_t cost;
    };
    using Column = std::map<uint32_t, Term>;  // by shape

    struct Sum {
        std::map<int64_t, Column> columns;  // by shift
        std::vector<Term> others;
        Column pattern;
        std::map<int64_t, int64_t> factors;  // of the pattern, by shift
        double bound = 0;                    // no partial sum is farther from 0
    };

    void count_uses(const Region& region) {
        for (const Instruction& instruction : region.body) {
            for (const ValueId operand : instruction.operands) uses_[operand.index]++;
            for (const Region& inner : instruction.regions) count_uses(inner);
        }
    }

    bool is_int64(const Instruction& instruction) const {
        return instruction.opcode == Opcode::kApply && instruction.results.size() == 1 &&
               function_.type(instruction.results[0]).scalar == ScalarType::kInt64;
    }
    bool is_sum(const Instruction& instruction) const {
        return is_int64(instruction) &&
               (instruction.op->id == OpId::kAdd || instruction.op->id == OpId::kSubtract);
    }

    Sum flatten(const Instruction& root) {
        Sum sum;
        collect(sum, root.results[0], 1, /*is_root=*/true);
        return sum;
    }

    // So that what follows is exact.
    static bool is_small(int64_t factor) { return factor > INT32_MIN && factor < INT32_MAX; }

    void collect(Sum& sum, ValueId value, int64_t coefficient, bool is_root) {
        const Instruction* instruction = shifted_.definition(value);
        if (instruction != nullptr && is_int64(*instruction) && (is_root || uses_[value.index] == 1)) {
            const Values& operands = instruction->operands;
            const OpId op = instruction->op->id;
            if (op == OpId::kAdd || op == OpId::kSubtract) {
                if (!is_root) inner_.insert(value.index);
                collect(sum, operands[0], coefficient, false);
                collect(sum, operands[1], op == OpId::kAdd ? coefficient : -coefficient, false);
                return;
            }
            if (op == OpId::kMultiply) {
                for (const size_t i : {size_t{0}, size_t{1}}) {
                    const std::optional<int64_t> factor = shifted_.constant(operands[i]);
                    if (!factor || !is_small(*factor) || !is_small(coefficient * *factor)) continue;
                    collect(sum, operands[1 - i], coefficient * *factor, false);
                    return;
                }
            }
        }
        sum.bound += bound_of(value) * static_cast<double>(std::abs(coefficient));
        const ShiftedValue* place = shifted_.find(value);
        if (place == nullptr || !place->shift || !place->reads) {
            sum.others.push_back({coefficient, value, 0});
            return;
        }
        const auto [found, is_new] =
            sum.columns[*place->shift].try_emplace(place->shape, Term{coefficient, value, place->cost + 1});
        if (!is_new) found->second.coefficient += coefficient;
    }

    // The integer of a smaller type that a value is.
    std::optional<ValueId> narrow(ValueId value) const {
        const Instruction* cast = shifted_.definition(value);
        if (cast == nullptr || cast->opcode != Opcode::kCast) return std::nullopt;
        const DType from(function_.type(cast->operands[0]).scalar);
        return from.is_integer() || from.is_bool() ? std::optional(cast->operands[0]) : std::nullopt;
    }
    double bound_of(ValueId value) const {
        if (const std::optional<int64_t> constant = shifted_.constant(value))
            return std::abs(static_cast<double>(*constant));
        const std::optional<ValueId> source = narrow(value);
        const int64_t bytes = source ? DType(function_.type(*source).scalar).itemsize() : 8;
        return std::ldexp(1.0, static_cast<int>(8 * bytes));
    }
    static ScalarType type_of(const Sum& sum) {
        if (sum.bound <= INT16_MAX) return ScalarType::kInt16;
        return sum.bound <= INT32_MAX ? ScalarType::kInt32 : ScalarType::kInt64;
    }

    // Whether each element of the pattern is read at the shift, or on both sides of it.
    static bool is_read(const Sum& sum, const Column& pattern, int64_t shift) {
        return std::all_of(pattern.begin(), pattern.end(), [&](const auto& element) {
            bool before = false, behind = false;
            for (const auto& [at, column] : sum.columns) {
                if (!column.contains(element.first)) continue;
                before |= at <= shift;
                behind |= at >= shift;
            }
            return before && behind;
        });
    }

    // What is left of a column without so many times the pattern.
    static Column rest_of(const Column& column, const Column& pattern, int64_t factor) {
        Column rest = column;
        for (const auto& [shape, element] : pattern) {
            Term& term = rest.try_emplace(shape, Term{0, element.value, element.cost}).first->second;
            term.coefficient -= factor * element.coefficient;
        }
        std::erase_if(rest, [](const auto& term) { return term.second.coefficient == 0; });
        return rest;
    }
    static int64_t cost_of(const Column& column) {
        return std::accumulate(column.begin(), column.end(), int64_t{0},
                               [](int64_t sum, const auto& term) { return sum + term.second.cost; });
    }

    static bool choose_column(Sum& sum) {
        int64_t best = kLeastGain - 1;
        for (const auto& [shift, column] : sum.columns) {
            if (column.size() < 2) continue;
            Column pattern = column;
            int64_t divisor = 0;
            for (const auto& [shape, term] : pattern) divisor = std::gcd(divisor, term.coefficient);
            if (divisor == 0) continue;  // all coefficients are 0
            if (pattern.begin()->second.coefficient < 0) divisor = -divisor;
            for (auto& [shape, term] : pattern) term.coefficient /= divisor;
            std::map<int64_t, int64_t> factors;
            const int64_t gain = gain_of(sum, pattern, factors);
            if (gain <= best) continue;
            best = gain;
            sum.pattern = std::move(pattern);
            sum.factors = std::move(factors);
        }
        return !sum.factors.empty();
    }

    static int64_t gain_of(const Sum& sum, const Column& pattern, std::map<int64_t, int64_t>& factors) {
        int64_t gain = -cost_of(pattern);
        for (const auto& [shift, column] : sum.columns) {
            int64_t best = 0, factor = 0;
            for (const auto& [shape, element] : pattern) {
                const auto term = column.find(shape);
                if (term == column.end() || element.coefficient == 0 ||
                    term->second.coefficient % element.coefficient != 0)
                    continue;
                const int64_t candidate = term->second.coefficient / element.coefficient;
                const int64_t multiplies = candidate == 1 || candidate == -1 ? 0 : 1;
                const int64_t saved =
                    cost_of(column) - cost_of(rest_of(column, pattern, candidate)) - 1 - multiplies;
                if (saved > best) best = saved, factor = candidate;
            }
            if (factor == 0 || !is_read(sum, pattern, shift)) continue;
            gain += best;
            factors[shift] = factor;
        }
        if (factors.size() < 2) return 0;
        const int64_t span = factors.rbegin()->first - factors.begin()->first;
        return span > kMostShift ? 0 : gain - kCarryCost * span;
    }

    void rewrite(const std::unordered_map<uint32_t, Sum>& sums) {
        std::vector<Instruction> old = std::move(loop_.regions[0].body);
        // The analysis names instructions of the old body, which therefore stay as they are.
        std::vector<Instruction> body;
        Builder b(function_, body);
        Substitution replaced;
        for (const Instruction& instruction : old) {
            b.append(instruction);
            for (const ValueId result : instruction.results) {
                const auto sum = sums.find(result.index);
                if (sum != sums.end()) replaced.set(result, build(b, sum->second));
            }
        }
        loop_.regions[0].body = std::move(body);
        apply(replaced, loop_.regions[0]);
    }

    static void apply(const Substitution& replaced, Region& region) {
        for (Instruction& instruction : region.body) {
            replaced.apply(instruction.operands);
            for (Region& inner : instruction.regions) apply(replaced, inner);
        }
    }

    ValueId build(Builder& b, const Sum& sum) {
        std::optional<ValueId> total;
        for (const auto& [shift, factor] : sum.factors) {
            std::optional<ValueId> column;
            for (const auto& [shape, element] : sum.pattern)
                add(b, column, element.coefficient, value_at(b, sum, shape, element.value, shift));
            add(b, total, factor, *column);
        }
        for (const auto& [shift, column] : sum.columns) {
            const auto factor = sum.factors.find(shift);
            const Column rest =
                factor == sum.factors.end() ? column : rest_of(column, sum.pattern, factor->second);
            for (const auto& [shape, term] : rest)
                add(b, total, term.coefficient, value_at(b, sum, shape, term.value, shift));
        }
        for (const Term& term : sum.others)
            add(b, total, term.coefficient, b.cast(narrow(term.value).value_or(term.value), type_of(sum)));
        return b.cast(*total, ScalarType::kInt64);
    }

    ValueId value_at(Builder& b, const Sum& sum, uint32_t shape, ValueId other, int64_t shift) {
        const auto column = sum.columns.find(shift);
        if (column != sum.columns.end()) {
            const auto term = column->second.find(shape);
            if (term != column->second.end())
                return b.cast(narrow(term->second.value).value_or(term->second.value), type_of(sum));
        }
        const int64_t distance = shift - *shifted_.find(other)->shift;
        const ValueId counter = loop_.regions[0].arguments[0];
        Copier copier(function_);
        copier.map(counter, b.apply(OpId::kAdd, {counter, b.index(distance)}));
        std::unordered_set<uint32_t> copied;
        return b.cast(shifted_.append(b, copier, copied, narrow(other).value_or(other)), type_of(sum));
    }

    static void add(Builder& b, std::optional<ValueId>& sum, int64_t coefficient, ValueId value) {
        if (coefficient == 0) return;
        const bool is_negative = coefficient < 0 && sum;
        const int64_t factor = is_negative ? -coefficient : coefficient;
        if (factor != 1)
            value = b.apply(OpId::kMultiply, {value, b.cast(b.index(factor), b.type(value).scalar)});
        sum = sum ? b.apply(is_negative ? OpId::kSubtract : OpId::kAdd, {*sum, value}) : value;
    }

    Function& function_;
    Instruction& loop_;
    const ShiftedValues shifted_;
    std::unordered_map<uint32_t, int> uses_;
    std::unordered_set<uint32_t> inner_;  // sums that are part of another
};

// The values of one loop that are carried.
class Commoning {
public:
    Commoning(Function& function, const Constants& constants, const Instruction& loop)
        : function_(function), loop_(loop), shifted_(function, constants, loop) {}

    bool choose() {
        if (!shifted_.is_known()) return false;
        // Without lanes LLVM has to see by itself that iterations may run together.
        if (loop_.lanes != 1 && shifted_.writes_what_it_reads()) return false;
        struct Candidate {
            int64_t gain;
            Shifts shifts;
        };
        std::map<uint32_t, Shifts> by_shape;
        for (const Instruction& instruction : loop_.regions[0].body) {
            for (const ValueId result : instruction.results) {
                const ShiftedValue* value = shifted_.find(result);
                if (value != nullptr && value->shift && value->reads)
                    by_shape[value->shape][*value->shift].push_back(result);
            }
        }
        std::vector<Candidate> candidates;
        for (auto& [shape, shifts] : by_shape) {
            if (const int64_t gain = gain_of(shifts); gain >= kLeastGain)
                candidates.push_back({gain, std::move(shifts)});
        }
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
        int64_t carried = 0;
        for (Candidate& candidate : candidates) {
            std::erase_if(candidate.shifts, [&](const auto& at) {
                return std::any_of(at.second.begin(), at.second.end(),
                                   [&](ValueId value) { return covered_.contains(value.index); });
            });
            if (gain_of(candidate.shifts) < kLeastGain || carried + span(candidate.shifts) > kMostCarried)
                continue;
            carried += span(candidate.shifts);
            for (const auto& [shift, values] : candidate.shifts) {
                for (const ValueId value : values) cover(value);
            }
            chosen_.push_back(std::move(candidate.shifts));
        }
        return !chosen_.empty();
    }

    // Appends the loop; gives its results.
    Values append(Builder& b) {
        const ValueId lower = loop_.operands[0], upper = loop_.operands[1];
        const Values finals(loop_.operands.begin() + 3, loop_.operands.end());
        // Nothing may be read for a loop without iterations.
        return b.if_else(
            b.apply(OpId::kLess, {lower, upper}),
            [&](Builder& inner, std::span<const ValueId>) {
                Values results = inner.append(rewritten(inner)).results;
                results.resize(finals.size());
                return results;
            },
            [&](Builder&, std::span<const ValueId>) { return finals; });
    }

private:
    static int64_t span(const Shifts& shifts) { return shifts.rbegin()->first - shifts.begin()->first; }

    int64_t gain_of(const Shifts& shifts) const {
        if (shifts.size() < 2 || span(shifts) > kMostShift) return 0;
        const int64_t cost = shifted_.find(shifts.begin()->second[0])->cost;
        return static_cast<int64_t>(shifts.size() - 1) * cost - kCarryCost * span(shifts);
    }

    void cover(ValueId value) {
        const Instruction* instruction = shifted_.definition(value);
        if (instruction == nullptr || !covered_.insert(value.index).second) return;
        for (const ValueId operand : instruction->operands) cover(operand);
    }

    Instruction rewritten(Builder& b) {
        Instruction loop = loop_;
        loop.lanes = 1;  // an iteration needs what the one before it came to
        Region& region = loop.regions[0];
        const ValueId lower = loop_.operands[0];
        std::vector<Instruction> body;
        Builder inside(function_, body);
        Copier copier(function_);
        std::unordered_set<uint32_t> copied;
        Substitution replaced;
        Values carried_on;
        for (const Shifts& shifts : chosen_) {
            const int64_t first = shifts.begin()->first, last = shifts.rbegin()->first;
            const ValueId newest = shifts.rbegin()->second[0];
            const ValueId next = shifted_.append(inside, copier, copied, newest);
            Values carried;
            for (int64_t shift = first; shift < last; shift++) {
                carried.push_back(function_.add_value(function_.type(newest)));
                loop.results.push_back(function_.add_value(function_.type(newest)));
                loop.operands.push_back(initial(b, newest, lower, shift - last));
            }
            for (const auto& [shift, values] : shifts) {
                for (const ValueId value : values)
                    replaced.set(value, shift == last ? next : carried[static_cast<size_t>(shift - first)]);
            }
            region.arguments.insert(region.arguments.end(), carried.begin(), carried.end());
            carried_on.insert(carried_on.end(), carried.begin() + 1, carried.end());
            carried_on.push_back(next);
        }
        for (Instruction& instruction : region.body) {
            apply(replaced, instruction);
            body.push_back(std::move(instruction));
        }
        body.back().operands.insert(body.back().operands.end(), carried_on.begin(), carried_on.end());
        region.body = std::move(body);

        return loop;
    }

    // The value so many iterations before the first one.
    ValueId initial(Builder& b, ValueId value, ValueId lower, int64_t distance) {
        Copier copier(function_);
        copier.map(loop_.regions[0].arguments[0], b.apply(OpId::kAdd, {lower, b.index(distance)}));
        std::unordered_set<uint32_t> copied;
        return shifted_.append(b, copier, copied, value);
    }

    static void apply(const Substitution& replaced, Instruction& instruction) {
        replaced.apply(instruction.operands);
        for (Region& inner : instruction.regions) {
            for (Instruction& each : inner.body) apply(replaced, each);
        }
    }

    Function& function_;
    const Instruction& loop_;
    const ShiftedValues shifted_;
    std::vector<Shifts> chosen_;
    std::unordered_set<uint32_t> covered_;
};

}  // namespace

void predictive_commoning(const Module&, Function& function) {
    replace_loops(
        function,
        [&](Builder& builder, const Instruction& loop, const Constants& constants) -> std::optional<Values> {
            Instruction copy = loop;
            ColumnSums(function, constants, copy).run();
            Commoning commoning(function, constants, copy);
            if (!commoning.choose()) return std::nullopt;
            return commoning.append(builder);
        },
        /*takes_lanes=*/true);
}

}  // namespace weft::passes
