#include "passes/threads/thread_strides.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "passes/conditions_at_ends.h"
#include "passes/rewrite.h"
#include "passes/threads/thread_checks.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;
using Sources = std::unordered_map<uint32_t, const Instruction*>;

// So many threads step together: what they carry stays in the first cache, and a step is a page or two.
constexpr int64_t kWidth = 512;
constexpr int64_t kLanes = 16;
constexpr size_t kMostCarried = 8;
constexpr int64_t kWeightOfLoop = 8;
constexpr int64_t kAway = int64_t{1} << 61;  // sums of what is nearer do not overflow

bool is_pure(const Instruction& instruction) {
    return instruction.opcode == Opcode::kConstant || instruction.opcode == Opcode::kApply ||
           instruction.opcode == Opcode::kCast || instruction.opcode == Opcode::kView;
}

bool is_operation(const Instruction* instruction, OpId op) {
    return instruction != nullptr && instruction->opcode == Opcode::kApply && instruction->op->id == op;
}

// What is done again where it is needed, rather than kept.
bool is_cheap(const Function& function, const Instruction& instruction) {
    if (!is_pure(instruction)) return false;
    if (instruction.opcode != Opcode::kApply) return true;
    switch (instruction.op->id) {
        case OpId::kAdd:
        case OpId::kSubtract:
        case OpId::kMultiply: return function.type(instruction.results[0]).scalar == ScalarType::kInt64;
        case OpId::kLess:
        case OpId::kLessEqual:
        case OpId::kGreater:
        case OpId::kGreaterEqual:
        case OpId::kEqual:
        case OpId::kNotEqual:
        case OpId::kLogicalAnd:
        case OpId::kLogicalOr:
        case OpId::kLogicalNot:
        case OpId::kSelect: return true;
        default: return false;
    }
}

void for_each_operand(const Instruction& instruction, const std::function<void(ValueId)>& visit) {
    for (const ValueId operand : instruction.operands) visit(operand);
    for (const Region& region : instruction.regions) {
        for (const Instruction& inner : region.body) for_each_operand(inner, visit);
    }
}

bool returns(const Region& region) {
    return std::ranges::any_of(region.body, [](const Instruction& each) {
        return each.opcode == Opcode::kReturn || std::ranges::any_of(each.regions, returns);
    });
}

// How values of a loop over threads go with the thread's number and with the steps of the loop in it.
class Lines {
public:
    Lines(const Function& function, const Instruction& threads, const Instruction& walk)
        : function_(function), walk_(walk) {
        set(threads.regions[0].arguments[0], {1, 1});
        follow(threads.regions[0], 1);
    }

    bool varies(ValueId value) const { return (line(value).depends & 1U) != 0; }
    // How many more accesses lie side by side for threads than for the steps of one.
    int64_t votes() const { return votes_; }

private:
    // By bits: 1 for the thread, 2 for the step.
    struct Line {
        unsigned depends = 0, rises = 0;
    };
    Line line(ValueId value) const {
        const auto found = lines_.find(value.index);
        return found == lines_.end() ? Line{} : found->second;
    }
    void set(ValueId value, Line line) { lines_[value.index] = line; }

    Line line_of(const Instruction& instruction) const {
        Line all;
        for_each_operand(instruction, [&](ValueId operand) { all.depends |= line(operand).depends; });
        if (instruction.opcode == Opcode::kCast) all.rises = line(instruction.operands[0]).rises;
        if (is_operation(&instruction, OpId::kAdd) || is_operation(&instruction, OpId::kSubtract)) {
            const Line a = line(instruction.operands[0]), b = line(instruction.operands[1]);
            all.rises = a.rises & ~b.depends;
            if (instruction.op->id == OpId::kAdd) all.rises |= b.rises & ~a.depends;
        }
        return all;
    }

    void follow(const Region& region, int64_t weight) {
        for (const Instruction& each : region.body) {
            const Line known = line_of(each);
            for (const Region& inner : each.regions) {
                for (const ValueId argument : inner.arguments) set(argument, {known.depends, 0});
                if (each.opcode == Opcode::kFor)
                    set(inner.arguments[0], {known.depends, line(each.operands[0]).rises});
                if (&each == &walk_ && each.opcode == Opcode::kFor) {
                    const Line first = line(each.operands[0]);
                    set(inner.arguments[0], {first.depends | 2, first.rises | 2});
                }
                follow(inner, is_loop(each.opcode) ? weight * kWeightOfLoop : weight);
            }
            for (const ValueId result : each.results) set(result, known);
            vote(each, weight);
        }
    }

    void vote(const Instruction& instruction, int64_t weight) {
        const size_t first = opcode_info(instruction.opcode).index;
        if (first == 0 || instruction.operands.empty()) return;
        const Type& type = function_.type(instruction.operands[0]);
        if (!type.is_buffer || type.buffer.space != AddressSpace::kGlobal) return;
        for (size_t d = 0; d < type.buffer.strides.size(); ++d) {
            if (type.buffer.strides[d] != DType(type.buffer.element).itemsize()) continue;
            const unsigned rises = line(instruction.operands[first + d]).rises;
            votes_ += (rises & 1U) != 0 ? weight : 0;
            votes_ -= (rises & 2U) != 0 ? weight : 0;
        }
    }

    const Function& function_;
    const Instruction& walk_;
    std::unordered_map<uint32_t, Line> lines_;
    int64_t votes_ = 0;
};

// A `while` that is a `for` in steps that are the same for all threads: how often it runs is known before it.
//
//   while (%v = %start, …) { yield true } do { if %v < %end { } else { break }; …; yield %v + %step, … }
class Counted {
public:
    Counted(Function& function, const Instruction& loop, const Lines& lines)
        : function_(function), loop_(loop) {
        matches_ = loop.opcode == Opcode::kWhile ? find(lines) : find_in_for(lines);
    }

    bool matches() const { return matches_; }

    // Appends the count and a loop by one from 0 on in its place.
    void append(Builder& builder, Substitution& results) {
        const ValueId start = loop_.operands[place_], zero = builder.index(0), one = builder.index(1);
        const ValueId end = before(builder, end_), step = before(builder, step_);
        const ValueId distance = builder.apply(OpId::kSubtract, {end, start});
        const ValueId by = builder.apply(OpId::kMaximum, {step, one});
        const ValueId steps =
            builder.apply(OpId::kFloorDivide, {builder.apply(OpId::kSubtract, {distance, one}), by});
        const ValueId count = builder.apply(OpId::kSelect, {builder.apply(OpId::kLess, {start, end}),
                                                            builder.apply(OpId::kAdd, {steps, one}), zero});
        Values initials;
        for (size_t k = 0; k < carried_.size(); ++k) initials.push_back(loop_.operands[carried_[k]]);
        builder.set_loop_site(loop_.site);
        const Region& body = loop_.regions.back();
        const size_t shift = loop_.opcode == Opcode::kFor ? 2 : 0;  // of operands against arguments
        const Values found = builder.for_loop(
            zero, count, one, initials, [&](Builder& inner, std::span<const ValueId> arguments) -> Values {
                Copier copier(function_);
                copier.map(
                    body.arguments[place_],
                    inner.apply(OpId::kAdd, {start, inner.apply(OpId::kMultiply, {arguments[0], step})}));
                for (size_t k = 0; k < carried_.size(); ++k)
                    copier.map(body.arguments[carried_[k] - shift], arguments[k + 1]);
                for (size_t i = 0; i + 1 < body.body.size(); ++i) {
                    if (&body.body[i] != test_) inner.append(copier.copy(body.body[i]));
                }
                const Values yielded = copier.mapped(body.body.back().operands);
                Values result;
                for (const size_t k : carried_)
                    result.push_back(yielded[loop_.opcode == Opcode::kFor ? k - 3 : k]);
                return result;
            });
        for (size_t k = 0; k < carried_.size(); ++k)
            results.set(loop_.results[loop_.opcode == Opcode::kFor ? carried_[k] - 3 : carried_[k]],
                        found[k]);
        if (loop_.opcode == Opcode::kWhile) {
            const ValueId moved = builder.apply(OpId::kMultiply, {count, step});
            results.set(loop_.results[place_], builder.apply(OpId::kAdd, {start, moved}));
        }
    }

private:
    bool find_in_for(const Lines& lines) {
        end_ = loop_.operands[1];
        step_ = loop_.operands[2];
        for (size_t k = 3; k < loop_.operands.size(); ++k) carried_.push_back(k);
        return !is_left(loop_) && !returns(loop_.regions[0]) && !lines.varies(end_) && !lines.varies(step_) &&
               lines.varies(loop_.operands[0]);
    }

    bool find(const Lines& lines) {
        const Region &condition = loop_.regions[0], &body = loop_.regions[1];
        const size_t count = loop_.operands.size();
        const std::vector<Instruction>& first = condition.body;
        const bool is_plain =
            first.size() == 2 && first[0].opcode == Opcode::kConstant && yields(condition) &&
            first[0].constant.as<uint8_t>() != 0 && yields(body) && first[1].operands.size() == count + 1 &&
            std::equal(condition.arguments.begin(), condition.arguments.end(), first[1].operands.begin() + 1);
        if (!is_plain || exits_of(loop_).size() != 1 || returns(body)) return false;
        Sources& sources = sources_;
        for (const Instruction& each : body.body) {
            for (const ValueId result : each.results) sources[result.index] = &each;
            if (each.opcode == Opcode::kIf && test_ == nullptr) {
                test_ = &each;
            } else if (test_ == nullptr && !is_pure(each)) {
                return false;
            }
        }
        if (test_ == nullptr || test_->regions[0].body.size() != 1 || !yields(test_->regions[0]))
            return false;
        const std::vector<Instruction>& leaves = test_->regions[1].body;
        if (leaves.size() != 1 || leaves[0].opcode != Opcode::kBreak || leaves[0].depth != 0 ||
            leaves[0].operands != body.arguments)
            return false;
        const auto source_of = [&](ValueId value) {
            const auto found = sources.find(value.index);
            return found == sources.end() ? nullptr : found->second;
        };
        const Instruction* const holds = source_of(test_->operands[0]);
        const bool is_less = is_operation(holds, OpId::kLess);
        if (!is_less && !is_operation(holds, OpId::kGreater)) return false;
        const ValueId counter = holds->operands[is_less ? 0 : 1];
        end_ = holds->operands[is_less ? 1 : 0];
        place_ = static_cast<size_t>(std::ranges::find(body.arguments, counter) - body.arguments.begin());
        if (place_ == count || function_.type(counter).scalar != ScalarType::kInt64) return false;
        const Instruction* const next = source_of(body.body.back().operands[place_]);
        if (!is_operation(next, OpId::kAdd)) return false;
        step_ = next->operands[next->operands[0] == counter ? 1 : 0];
        if (next->operands[next->operands[0] == counter ? 0 : 1] != counter) return false;
        for (const ValueId value : {end_, step_}) {
            if (lines.varies(value) || !is_from_before(value)) return false;
        }
        for (size_t k = 0; k < count; ++k) {
            if (k != place_) carried_.push_back(k);
        }
        return lines.varies(loop_.operands[place_]);
    }

    // Whether it follows from what stands before the loop.
    bool is_from_before(ValueId value) const {
        const std::vector<ValueId>& arguments = loop_.regions.back().arguments;
        if (std::ranges::find(arguments, value) != arguments.end()) return false;
        const auto found = sources_.find(value.index);
        return found == sources_.end() ||
               (is_pure(*found->second) && std::ranges::all_of(found->second->operands, [&](ValueId operand) {
                    return is_from_before(operand);
                }));
    }
    ValueId before(Builder& builder, ValueId value) {
        const auto found = sources_.find(value.index);
        if (found == sources_.end()) return value;
        Copier copier(function_);
        for (const ValueId operand : found->second->operands) copier.map(operand, before(builder, operand));
        Instruction copied = copier.copy(*found->second);
        const ValueId result = copied.results[0];
        builder.append(std::move(copied));
        return result;
    }

    Function& function_;
    const Instruction& loop_;
    Sources sources_;  // of a `while`: what its body computes
    const Instruction* test_ = nullptr;
    ValueId end_, step_;
    size_t place_ = 0;  // of what counts, among the operands and arguments
    std::vector<size_t> carried_;
    bool matches_ = false;
};

// How often a loop runs from `start` in steps of `step` to below `end`, where that is what the count says:
// that of Counted, or of a range() in a program, which uses unsigned numbers.
struct Steps {
    ValueId start, end, step;
};
std::optional<Steps> steps_of(const Sources& sources, ValueId count) {
    const auto source_of = [&](ValueId value) -> const Instruction* {
        const auto found = sources.find(value.index);
        return found == sources.end() ? nullptr : found->second;
    };
    const auto without_casts = [&](ValueId value) {
        for (const Instruction* source = source_of(value);
             source != nullptr && source->opcode == Opcode::kCast; source = source_of(value))
            value = source->operands[0];
        return value;
    };
    // `value` as an operation whose second operand is the least that it may be, or so.
    const auto first_of = [&](ValueId& value, OpId op) {
        const Instruction* const source = source_of(without_casts(value));
        if (!is_operation(source, op)) return false;
        value = source->operands[0];
        return true;
    };
    const Instruction* const select = source_of(count);
    if (!is_operation(select, OpId::kSelect)) return std::nullopt;
    const Instruction* const holds = source_of(select->operands[0]);
    if (!is_operation(holds, OpId::kLess)) return std::nullopt;
    ValueId steps = select->operands[1];
    if (!first_of(steps, OpId::kAdd)) return std::nullopt;
    first_of(steps, OpId::kMinimum);
    const Instruction* const quotient = source_of(without_casts(steps));
    if (!is_operation(quotient, OpId::kFloorDivide)) return std::nullopt;
    ValueId distance = quotient->operands[0], step = quotient->operands[1];
    if (!first_of(distance, OpId::kSubtract)) return std::nullopt;
    const Instruction* const difference = source_of(without_casts(distance));
    if (!is_operation(difference, OpId::kSubtract)) return std::nullopt;
    const Steps result{holds->operands[0], holds->operands[1], step};
    if (difference->operands[0] != result.end || difference->operands[1] != result.start) return std::nullopt;
    if (!first_of(step, OpId::kMaximum)) return std::nullopt;
    return Steps{result.start, result.end, step};
}

// One loop over threads, each of which walks; `steps`: how, where that is known.
class Exchange {
public:
    Exchange(Function& function, const Instruction& threads, size_t at, std::optional<Steps> steps,
             std::vector<Instruction>& allocations)
        : function_(function),
          threads_(threads),
          walk_(threads.regions[0].body[at]),
          at_(at),
          steps_(steps),
          allocations_(allocations) {
        const std::vector<Instruction>& body = threads.regions[0].body;
        for (size_t i = 0; i < at; ++i) {
            for (const ValueId result : body[i].results) source_[result.index] = &body[i];
        }
        for (size_t k = 0; k < walk_.results.size(); ++k) is_result_[walk_.results[k].index] = k;
        scope_ = unused_alias_scope(function);
    }

    // Whether all that is kept is a number.
    bool is_possible() {
        const std::vector<Instruction>& body = threads_.regions[0].body;
        const auto note_operands = [&](const Instruction& each) {
            for_each_operand(each, [&](ValueId value) { note(value); });
        };
        std::ranges::for_each(walk_.regions[0].body, note_operands);
        std::for_each(body.begin() + static_cast<std::ptrdiff_t>(at_) + 1, body.end(), note_operands);
        if (steps_) {
            for (const ValueId value : {steps_->start, steps_->end, steps_->step}) note(value);
            is_possible_ &= is_computed(walk_.operands[1], true);
        }
        return is_possible_ && is_computed(walk_.operands[0], false) &&
               walk_.results.size() + kept_.size() <= kMostCarried;
    }

    void run(Builder& builder) {
        const ValueId one = builder.index(1), width = builder.index(kWidth);
        const ValueId end = threads_.operands[1], begin = of_thread(builder, walk_.operands[0], {});
        for (const ValueId value : kept_) arrays_[value.index] = allocate(function_.type(value).scalar);
        for (const ValueId result : walk_.results)
            carried_.push_back(allocate(function_.type(result).scalar));
        const ValueId trips = steps_ ? ValueId{} : allocate(ScalarType::kInt64);
        builder.for_loop(
            threads_.operands[0], end, width, {}, [&](Builder& strip, std::span<const ValueId> at) -> Values {
                first_ = at[0];
                count_ = strip.apply(OpId::kMinimum, {width, strip.apply(OpId::kSubtract, {end, first_})});
                for_threads(strip, [&](Builder& inner) {
                    const std::vector<Instruction>& body = threads_.regions[0].body;
                    for (size_t i = 0; i < at_; ++i) inner.append(copier_->copy(body[i]));
                    for (const ValueId value : kept_) store(inner, arrays_.at(value.index), mapped(value));
                    for (size_t k = 0; k < carried_.size(); ++k)
                        store(inner, carried_[k], mapped(walk_.operands[3 + k]));
                    if (trips.valid()) store(inner, trips, mapped(walk_.operands[1]));
                });
                const Values ends = trips.valid() ? ends_of(strip, trips) : ends_at_ends(strip);
                // Steps that all threads have, and those of some.
                strip.set_loop_site(walk_.site);
                strip.for_loop(begin, ends[0], one, {},
                               [&](Builder& inner, std::span<const ValueId> step) -> Values {
                                   for_threads(inner, [&](Builder& thread) { append_step(thread, step[0]); });
                                   return {};
                               });
                const ValueId rest = strip.apply(OpId::kMaximum, {begin, ends[0]});
                strip.set_loop_site(walk_.site);
                strip.for_loop(rest, ends[1], one, {},
                               [&](Builder& inner, std::span<const ValueId> step) -> Values {
                                   for_threads(inner, [&](Builder& thread) {
                                       thread.if_else(
                                           goes_on(thread, step[0], trips),
                                           [&](Builder& taken, std::span<const ValueId>) -> Values {
                                               append_step(taken, step[0]);
                                               return {};
                                           },
                                           [](Builder&, std::span<const ValueId>) { return Values{}; });
                                   });
                                   return {};
                               });
                for_threads(strip, [&](Builder& inner) {
                    const std::vector<Instruction>& body = threads_.regions[0].body;
                    for (size_t i = at_ + 1; i + 1 < body.size(); ++i) {
                        bring_operands(inner, body[i]);
                        inner.append(copier_->copy(body[i]));
                    }
                });
                return {};
            });
    }

private:
    ValueId mapped(ValueId value) const { return copier_->mapped({value})[0]; }

    ValueId allocate(ScalarType element) {
        BufferType type{.element = element, .space = AddressSpace::kLocal, .alias_scope = scope_++};
        type.strides = {DType(element).itemsize()};
        type.sizes = {kWidth};
        return Builder(function_, allocations_).allocate(std::move(type), "of_threads");
    }

    // The least and the most steps of a strip's threads: those of the last and the first, or of all.
    Values ends_at_ends(Builder& builder) {
        const ValueId last =
            builder.apply(OpId::kSubtract, {builder.apply(OpId::kAdd, {first_, count_}), builder.index(1)});
        return {of_thread(builder, walk_.operands[1], last), of_thread(builder, walk_.operands[1], first_)};
    }
    Values ends_of(Builder& builder, ValueId trips) {
        const std::array most{builder.index(INT64_MAX), builder.index(INT64_MIN)};
        return builder.for_loop(builder.index(0), count_, builder.index(1), most,
                                [&](Builder& inner, std::span<const ValueId> arguments) -> Values {
                                    const ValueId trip = inner.load(trips, arguments.subspan(0, 1));
                                    return {inner.apply(OpId::kMinimum, {arguments[1], trip}),
                                            inner.apply(OpId::kMaximum, {arguments[2], trip})};
                                });
    }

    // Whether this thread takes the step.
    ValueId goes_on(Builder& builder, ValueId step, ValueId trips) {
        if (trips.valid())
            return builder.apply(OpId::kLess, {step, builder.load(trips, std::span(&thread_, 1))});
        for (const ValueId value : {steps_->start, steps_->end, steps_->step}) bring(builder, value);
        const ValueId moved = builder.apply(OpId::kMultiply, {step, mapped(steps_->step)});
        const ValueId at = builder.apply(OpId::kAdd, {mapped(steps_->start), moved});
        return builder.apply(OpId::kLess, {at, mapped(steps_->end)});
    }

    // Whether it follows from what stands before the threads, and perhaps from a thread's number.
    bool is_computed(ValueId value, bool of_thread) const {
        if (value == threads_.regions[0].arguments[0]) return of_thread;
        const auto found = source_.find(value.index);
        if (found == source_.end()) return true;
        return is_pure(*found->second) && std::ranges::all_of(found->second->operands, [&](ValueId operand) {
                   return is_computed(operand, of_thread);
               });
    }
    ValueId of_thread(Builder& builder, ValueId value, ValueId thread) {
        if (value == threads_.regions[0].arguments[0]) return thread;
        const auto found = source_.find(value.index);
        if (found == source_.end()) return value;
        Copier copier(function_);
        for (const ValueId operand : found->second->operands)
            copier.map(operand, of_thread(builder, operand, thread));
        Instruction copied = copier.copy(*found->second);
        const auto which = std::ranges::find(found->second->results, value) - found->second->results.begin();
        const ValueId result = copied.results[static_cast<size_t>(which)];
        builder.append(std::move(copied));
        return result;
    }

    // What comes before the walk and is needed in it or behind.
    void note(ValueId value) {
        const auto found = source_.find(value.index);
        if (found == source_.end() || !noted_.emplace(value.index, true).second) return;
        const Instruction& source = *found->second;
        if (is_cheap(function_, source)) {
            for (const ValueId operand : source.operands) note(operand);
        } else if (function_.type(value).is_buffer) {
            is_possible_ = false;
        } else {
            kept_.push_back(value);
        }
    }

    void for_threads(Builder& builder, const std::function<void(Builder&)>& body) {
        builder.for_lanes(
            builder.index(0), count_, kLanes, [&](Builder& inner, std::span<const ValueId> arguments) {
                thread_ = arguments[0];
                copier_.emplace(function_);
                here_.clear();
                copier_->map(threads_.regions[0].arguments[0], inner.apply(OpId::kAdd, {first_, thread_}));
                body(inner);
                return Values{};
            });
    }

    void store(Builder& builder, ValueId array, ValueId value) {
        builder.store(array, value, std::span(&thread_, 1));
    }

    void bring(Builder& builder, ValueId value) {
        const auto result = is_result_.find(value.index);
        const auto source = source_.find(value.index);
        if (result == is_result_.end() && source == source_.end()) return;
        if (!here_.emplace(value.index, true).second) return;
        if (result != is_result_.end()) {
            copier_->map(value, builder.load(carried_[result->second], std::span(&thread_, 1)));
        } else if (const auto array = arrays_.find(value.index); array != arrays_.end()) {
            copier_->map(value, builder.load(array->second, std::span(&thread_, 1)));
        } else {
            bring_operands(builder, *source->second);
            for (const ValueId other : source->second->results) here_.emplace(other.index, true);
            builder.append(copier_->copy(*source->second));
        }
    }

    void bring_operands(Builder& builder, const Instruction& instruction) {
        for_each_operand(instruction, [&](ValueId operand) { bring(builder, operand); });
    }

    void append_step(Builder& builder, ValueId step) {
        const Region& body = walk_.regions[0];
        for (const Instruction& each : body.body) bring_operands(builder, each);
        Values arguments{step};
        for (const ValueId array : carried_) arguments.push_back(builder.load(array, std::span(&thread_, 1)));
        const Values next = copier_->append(builder, body, arguments);
        for (size_t k = 0; k < carried_.size(); ++k) store(builder, carried_[k], next[k]);
    }

    Function& function_;
    const Instruction& threads_;
    const Instruction& walk_;
    const size_t at_;
    const std::optional<Steps> steps_;
    std::vector<Instruction>& allocations_;
    uint16_t scope_;
    Sources source_;
    std::unordered_map<uint32_t, size_t> is_result_;
    std::unordered_map<uint32_t, bool> noted_;
    Values kept_, carried_;
    std::unordered_map<uint32_t, ValueId> arrays_;
    bool is_possible_ = true;

    ValueId first_, count_, thread_;
    std::optional<Copier> copier_;
    std::unordered_map<uint32_t, bool> here_;
};

class Pass {
public:
    explicit Pass(Function& function) : function_(function), constants_(find_constants(function)) {}

    void run() {
        walk(function_.body);
        std::vector<Instruction>& body = function_.body.body;
        body.insert(body.begin(), std::make_move_iterator(allocations_.begin()),
                    std::make_move_iterator(allocations_.end()));
    }

private:
    bool is_constant(ValueId value, int64_t wanted) const {
        const auto found = constants_.find(value.index);
        return found != constants_.end() && found->second == wanted;
    }

    // What has been made by this pass, too.
    void note_constants(const Instruction& instruction) {
        if (instruction.opcode == Opcode::kConstant && instruction.constant.type == ScalarType::kInt64)
            constants_[instruction.results[0].index] = instruction.constant.as<int64_t>();
        for (const Region& region : instruction.regions)
            std::ranges::for_each(region.body, [&](const Instruction& each) { note_constants(each); });
    }

    void walk(Region& region) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& each : old) {
            note_constants(each);
            const bool is_of_threads = each.opcode == Opcode::kFor && each.lanes != 1 && each.results.empty();
            if (is_of_threads && replace(each, region.body)) continue;
            for (Region& inner : each.regions) walk(inner);
            region.body.push_back(std::move(each));
        }
    }

    bool replace(const Instruction& threads, std::vector<Instruction>& into) {
        const std::vector<Instruction>& body = threads.regions[0].body;
        for (size_t at = 0; at < body.size(); ++at) {
            if (!is_loop(body[at].opcode)) continue;
            return replace(threads, at, into);
        }
        return false;
    }

    bool replace(const Instruction& threads, size_t at, std::vector<Instruction>& into) {
        const Instruction& walk = threads.regions[0].body[at];
        const Lines lines(function_, threads, walk);
        if (!std::ranges::all_of(walk.results,
                                 [&](ValueId result) { return !function_.type(result).is_buffer; }))
            return false;
        const bool is_by_count = walk.opcode == Opcode::kFor && !is_left(walk) && !returns(walk.regions[0]) &&
                                 is_constant(walk.operands[2], 1) && !lines.varies(walk.operands[0]);
        if (is_by_count) {
            if (!lines.varies(walk.operands[1]) || lines.votes() <= 0) return false;
            const std::optional<Steps> steps = steps_of(sources_of(threads, at), walk.operands[1]);
            if (steps && !lines.varies(steps->end) && !lines.varies(steps->step) &&
                exchange_where_near(threads, at, *steps, threads, into))
                return true;
            return exchange(threads, at, {}, into);
        }
        Counted counted(function_, walk, lines);
        if (!counted.matches()) return false;
        // The same threads with the loop by its count, where that is known not to overflow.
        Instruction by_count = threads;
        Region& region = by_count.regions[0];
        std::vector<Instruction> rest(region.body.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                      region.body.end());
        region.body.resize(at);
        Substitution results;
        {
            Builder builder(function_, region.body);
            counted.append(builder, results);
        }
        const auto made =
            std::ranges::find_if(region.body.begin() + static_cast<std::ptrdiff_t>(at), region.body.end(),
                                 [](const Instruction& each) { return is_loop(each.opcode); });
        const auto where = static_cast<size_t>(made - region.body.begin());
        const std::function<void(std::vector<Instruction>&)> rename = [&](std::vector<Instruction>& all) {
            for (Instruction& each : all) {
                results.apply(each.operands);
                for (Region& inner : each.regions) rename(inner.body);
            }
        };
        rename(rest);
        for (Instruction& each : rest) region.body.push_back(std::move(each));
        by_count = Copier(function_).copy(by_count);
        if (Lines(function_, by_count, by_count.regions[0].body[where]).votes() <= 0) return false;
        const std::optional<Steps> steps =
            steps_of(sources_of(by_count, where), by_count.regions[0].body[where].operands[1]);
        return steps && exchange_where_near(by_count, where, *steps, threads, into);
    }

    static Sources sources_of(const Instruction& threads, size_t end) {
        Sources result;
        for (size_t i = 0; i < end; ++i) {
            const Instruction& each = threads.regions[0].body[i];
            for (const ValueId value : each.results) result[value.index] = &each;
        }
        return result;
    }

    // Where nothing runs over the ends of int64; elsewhere a copy of `otherwise`.
    bool exchange_where_near(const Instruction& threads, size_t at, const Steps& steps,
                             const Instruction& otherwise, std::vector<Instruction>& into) {
        std::vector<Instruction> exchanged;
        if (!exchange(threads, at, steps, exchanged)) return false;
        Builder builder(function_, into);
        const ValueId first = threads.operands[0];
        const ValueId last = builder.apply(OpId::kSubtract, {threads.operands[1], builder.index(1)});
        const ValueId holds =
            holds_at_ends(builder, threads, {steps.start, steps.end, steps.step}, first, last);
        if (!holds.valid()) return false;
        builder.if_else(
            holds,
            [&](Builder& inner, std::span<const ValueId>) -> Values {
                for (Instruction& each : exchanged) inner.append(std::move(each));
                return {};
            },
            [&](Builder& inner, std::span<const ValueId>) -> Values {
                inner.append(Copier(function_).copy(otherwise));
                return {};
            },
            /*likely=*/true);
        return true;
    }

    // Whether start and end are far from the ends of int64 for the first and the last thread, and the step is
    // above 0. The start has to be a sum with the thread's number.
    ValueId holds_at_ends(Builder& builder, const Instruction& threads, const Values& ends, ValueId first,
                          ValueId last) {
        Sources sources;
        for (const Instruction& each : threads.regions[0].body) {
            for (const ValueId result : each.results) sources[result.index] = &each;
        }
        const ValueId counter = threads.regions[0].arguments[0];
        bool is_known = true;
        const std::function<ValueId(ValueId, ValueId, int)> at = [&](ValueId value, ValueId thread,
                                                                     int depth) -> ValueId {
            if (value == counter) return thread;
            const auto found = sources.find(value.index);
            if (found == sources.end()) return value;
            const Instruction& source = *found->second;
            if (!is_pure(source) || source.opcode == Opcode::kView || depth > 6) {
                is_known = false;
                return value;
            }
            Copier copier(function_);
            for (const ValueId operand : source.operands) copier.map(operand, at(operand, thread, depth + 1));
            if (!is_known) return value;
            Instruction copied = copier.copy(source);
            const ValueId result = copied.results[0];
            builder.append(std::move(copied));
            return result;
        };
        // Of start only what rises with the thread is between its values at the ends.
        const std::function<bool(ValueId)> rises = [&](ValueId value) {
            if (value == counter) return true;
            const auto found = sources.find(value.index);
            if (found == sources.end()) return false;
            if (!is_operation(found->second, OpId::kAdd)) return false;
            const Values& operands = found->second->operands;
            const auto is_same = [&](ValueId operand) { return !depends(sources, operand, counter); };
            return (rises(operands[0]) && is_same(operands[1])) ||
                   (rises(operands[1]) && is_same(operands[0]));
        };
        if (!rises(ends[0])) return {};
        const Values values{at(ends[0], first, 0), at(ends[0], last, 0), at(ends[1], first, 0)};
        const ValueId step = at(ends[2], first, 0);
        if (!is_known) return {};
        const ValueId away = builder.index(kAway), minus_away = builder.index(-kAway);
        ValueId all = builder.apply(OpId::kGreater, {step, builder.index(0)});
        all = builder.apply(OpId::kLogicalAnd, {all, builder.apply(OpId::kLess, {step, away})});
        // The sum with the thread's number has not run over the end either.
        all =
            builder.apply(OpId::kLogicalAnd, {all, builder.apply(OpId::kLessEqual, {values[0], values[1]})});
        for (const ValueId value : values) {
            all = builder.apply(OpId::kLogicalAnd, {all, builder.apply(OpId::kLess, {value, away})});
            all = builder.apply(OpId::kLogicalAnd, {all, builder.apply(OpId::kGreater, {value, minus_away})});
        }
        return all;
    }

    static bool depends(const Sources& sources, ValueId value, ValueId counter) {
        if (value == counter) return true;
        const auto found = sources.find(value.index);
        if (found == sources.end()) return false;
        bool result = false;
        for_each_operand(*found->second,
                         [&](ValueId operand) { result |= depends(sources, operand, counter); });
        return result;
    }

    bool exchange(const Instruction& threads, size_t at, std::optional<Steps> steps,
                  std::vector<Instruction>& into) {
        Exchange exchange(function_, threads, at, steps, allocations_);
        if (!exchange.is_possible()) return false;
        Region expansion;
        {
            Builder builder(function_, expansion.body);
            exchange.run(builder);
        }
        thread_checks(function_, expansion);
        walk(expansion);  // another walk may stand behind
        for (Instruction& each : expansion.body) into.push_back(std::move(each));
        return true;
    }

    Function& function_;
    Constants constants_;
    std::vector<Instruction> allocations_;
};

}  // namespace

void thread_strides(const Module&, Function& function) {
    if (!function.is_kernel) Pass(function).run();
}

}  // namespace weft::passes
