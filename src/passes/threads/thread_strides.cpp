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
#include "passes/threads/thread_walks.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

// So many threads step together: what they carry stays in the first cache, and a step is a page or two.
constexpr int64_t kWidth = 512;
constexpr int64_t kLanes = 16;
constexpr size_t kMostCarried = 8;
constexpr int64_t kAway = int64_t{1} << 61;  // sums of what is nearer do not overflow

// What is done again where it is needed, rather than kept.
bool is_cheap(const Function& function, const Instruction& instruction) {
    if (!only_computes(instruction)) return false;
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

// One loop over threads, each of which walks; `steps`: how, where that is known.
class Exchange {
public:
    Exchange(Function& function, const Instruction& threads, size_t at, std::optional<WalkSteps> steps,
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
        values_.emplace(function, source_, threads.regions[0].arguments);
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
            is_possible_ &= values_->is_computed(walk_.operands[1]);
        }
        const ValueId begin = walk_.operands[0];
        return is_possible_ && values_->is_computed(begin) && !values_->varies(begin) &&
               walk_.results.size() + kept_.size() <= kMostCarried;
    }

    void run(Builder& builder) {
        const ValueId one = builder.index(1), width = builder.index(kWidth);
        const ValueId end = threads_.operands[1], begin = values_->append(builder, walk_.operands[0], {});
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
        return {values_->append(builder, walk_.operands[1], last),
                values_->append(builder, walk_.operands[1], first_)};
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
    const std::optional<WalkSteps> steps_;
    std::vector<Instruction>& allocations_;
    uint16_t scope_;
    Sources source_;
    std::optional<ComputedValues> values_;
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
            // Fences order what a thread does with what others do. What leaves its turn would leave a step.
            const bool is_of_threads = each.opcode == Opcode::kFor && each.lanes != 1 &&
                                       each.results.empty() && !has_meeting(each.regions[0]) &&
                                       !is_left(each) && !returns(each.regions[0]);
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
        const ThreadLines lines(function_, threads, walk);
        if (!std::ranges::all_of(walk.results,
                                 [&](ValueId result) { return !function_.type(result).is_buffer; }))
            return false;
        const bool is_by_count = walk.opcode == Opcode::kFor && !is_left(walk) && !returns(walk.regions[0]) &&
                                 is_constant(walk.operands[2], 1) && !lines.varies(walk.operands[0]);
        if (is_by_count) {
            if (!lines.varies(walk.operands[1]) || lines.votes() <= 0) return false;
            const std::optional<WalkSteps> steps = steps_of(sources_of(threads, at), walk.operands[1]);
            if (steps && !lines.varies(steps->end) && !lines.varies(steps->step) &&
                exchange_where_near(threads, at, *steps, threads, into))
                return true;
            return exchange(threads, at, {}, into);
        }
        CountedWalk counted(function_, walk, lines);
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
        if (ThreadLines(function_, by_count, by_count.regions[0].body[where]).votes() <= 0) return false;
        const std::optional<WalkSteps> steps =
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
    bool exchange_where_near(const Instruction& threads, size_t at, const WalkSteps& steps,
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
        const std::vector<ValueId>& counter = threads.regions[0].arguments;
        ComputedValues values(function_, sources_of(threads, threads.regions[0].body.size()), counter);
        // Of start only what rises with the thread is between its values at the ends.
        if (!values.rises(ends[0])) return {};
        for (const ValueId value : ends) {
            if (!values.is_computed(value)) return {};
        }
        const ValueId step = values.append(builder, ends[2], first);
        const Values near{values.append(builder, ends[0], first), values.append(builder, ends[0], last),
                          values.append(builder, ends[1], first)};
        const ValueId away = builder.index(kAway), minus_away = builder.index(-kAway);
        ValueId all = builder.apply(OpId::kGreater, {step, builder.index(0)});
        all = builder.apply(OpId::kLogicalAnd, {all, builder.apply(OpId::kLess, {step, away})});
        // The sum with the thread's number has not run over the end either.
        all = builder.apply(OpId::kLogicalAnd, {all, builder.apply(OpId::kLessEqual, {near[0], near[1]})});
        for (const ValueId value : near) {
            all = builder.apply(OpId::kLogicalAnd, {all, builder.apply(OpId::kLess, {value, away})});
            all = builder.apply(OpId::kLogicalAnd, {all, builder.apply(OpId::kGreater, {value, minus_away})});
        }
        return all;
    }

    bool exchange(const Instruction& threads, size_t at, std::optional<WalkSteps> steps,
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
