#include "passes/threads/thread_fission.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "ir/intrinsic.h"
#include "passes/calls/expand_call.h"
#include "passes/calls/inline_calls.h"
#include "passes/calls/structured_returns.h"
#include "passes/simplify.h"
#include "passes/threads/thread_meetings.h"
#include "passes/threads/thread_parts.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;
using Branch = ThreadLevels::Branch;

// Instructions of a masked side that is written without its mask, too.
constexpr size_t kMostDoubled = 250;

// Of arrays with a place for each thread.
constexpr int64_t kMostBytes = int64_t{1} << 20;
constexpr int64_t kWord = 8;

// What the region hands on, to what it belongs to or to the loop that it leaves.
const Values& yielded(const Region& region) { return region.body.back().operands; }

Values from(const Values& values, size_t first) {
    return {values.begin() + static_cast<std::ptrdiff_t>(first), values.end()};
}

// Which side of a masked branch has the meetings.
size_t side_of_meetings(const Instruction& branch) {
    return std::ranges::any_of(branch.regions[0].body, has_thread_meeting) ? 0 : 1;
}

// The body of a function that each thread runs, in the caller's place of values.
struct ThreadBody {
    Region region;
    ThreadLevels::Place place;
};

// The walk that finds homes; it ends parts where Writer does.
class Scout {
public:
    Scout(const Function& function, const ThreadLevels& levels) : levels_(levels), homes_(function, levels) {}

    void walk(const Region& region) {
        for (const Instruction& each : region.body) {
            if (ends_body(each.opcode)) return;
            if (is_around(each)) {
                walk_around(each);
            } else if (is_thread_meeting(each)) {
                homes_.use_in(each);
                homes_.next_part();
                if (has_block_meeting(each)) continue;
                // Besides what they tell, lanes look at which of them take part, and at whom they listen to.
                homes_.use(each.operands[0]);
                if (each.operands.size() > 2) homes_.use(listened_to(each));
                homes_.define(each);
            } else if (levels_.is_common(each)) {
                if (each.opcode == Opcode::kLoad) homes_.next_part();
            } else {
                homes_.use_in(each);
                homes_.define(each);
            }
        }
    }

    const ThreadHomes& homes() const { return homes_; }

private:
    ValueId listened_to(const Instruction& shuffle) const {
        const bool is_by_thread =
            shuffle.operands.size() == 3 || levels_.of(shuffle.operands[3]) == ThreadLevel::kThread;
        return shuffle.operands[is_by_thread ? 2 : 3];
    }
    void use(const Values& values) {
        for (const ValueId value : values) homes_.use(value);
    }
    void define_in_arrays(const Values& values) {
        for (const ValueId value : values) {
            if (levels_.of(value) == ThreadLevel::kThread) homes_.define_in_array(value);
        }
    }

    void walk_around(const Instruction& instruction) {
        const std::vector<Region>& regions = instruction.regions;
        const Region* other = nullptr;
        if (instruction.opcode == Opcode::kIf) {
            const Branch branch = levels_.branch_of(instruction);
            if (branch != Branch::kAlike) homes_.use(instruction.operands[0]);
            if (branch == Branch::kMasked) {
                other = &regions[1 - side_of_meetings(instruction)];
                for (const Instruction& each : other->body) homes_.use_in(each);
            }
        } else {
            use(from(instruction.operands, instruction.opcode == Opcode::kFor ? 3 : 0));
        }
        define_in_arrays(instruction.results);
        for (const Region& region : regions) define_in_arrays(region.arguments);
        homes_.next_part();
        for (const Region& region : regions) {
            if (&region == other) continue;
            walk(region);
            use(yielded(region));
            homes_.next_part();
        }
    }

    const ThreadLevels& levels_;
    ThreadHomes homes_;
};

class Writer {
public:
    Writer(const ThreadLevels& levels, ThreadParts& parts) : levels_(levels), parts_(parts) {}

    void write(const Region& region) {
        for (const Instruction& each : region.body) {
            if (ends_body(each.opcode)) return;
            if (is_around(each)) {
                write_around(each);
            } else if (is_thread_meeting(each)) {
                write_meeting(parts_, each);
            } else if (levels_.is_common(each)) {
                if (each.opcode == Opcode::kLoad) parts_.end();
                parts_.append_outside(parts_.common().copy(each));
            } else {
                parts_.append_when_needed(each);
            }
        }
    }

private:
    Values common_of(const Values& values) const {
        Values common;
        for (const ValueId value : values) {
            if (levels_.of(value) == ThreadLevel::kBlock) common.push_back(value);
        }
        return common;
    }
    // Of values for places, those for common ones.
    Values for_common(const Values& places, const Values& values) const {
        Values common;
        for (size_t i = 0; i < places.size(); ++i) {
            if (levels_.of(places[i]) == ThreadLevel::kBlock) common.push_back(values[i]);
        }
        return common;
    }

    void write_around(const Instruction& instruction) {
        switch (instruction.opcode) {
            case Opcode::kFor: return write_for(instruction);
            case Opcode::kWhile: return write_while(instruction);
            default: break;
        }
        switch (levels_.branch_of(instruction)) {
            case Branch::kAlike: return write_branch(instruction, instruction.operands[0]);
            case Branch::kLikely: return write_likely(instruction);
            case Branch::kMasked: return write_masked(instruction);
        }
    }

    // What the region yields goes to places, but for the first ones, which are the block's.
    Region region_for(const Region& region, const Values& arguments, const Values& yielded_to,
                      size_t first = 0) {
        Region result;
        for (const ValueId argument : common_of(arguments)) result.arguments.push_back(renamed(argument));
        Region written = parts_.around([&] {
            write(region);
            const Instruction& end = region.body.back();
            const size_t skipped = end.opcode == Opcode::kYield ? first : 0;
            const Values places = end.opcode == Opcode::kYield ? yielded_to : places_of(end);
            const Values values = from(end.operands, skipped);
            parts_.store(places, values);
            Values handed(end.operands.begin(), end.operands.begin() + static_cast<std::ptrdiff_t>(skipped));
            for (const ValueId value : for_common(places, values)) handed.push_back(value);
            return Instruction{.opcode = end.opcode, .operands = parts_.outside(handed), .depth = end.depth};
        });
        result.body = std::move(written.body);
        return result;
    }

    // Where an exit puts its values.
    Values places_of(const Instruction& exit) const {
        const Instruction& loop = *loops_[loops_.size() - 1 - static_cast<size_t>(exit.depth)];
        if (exit.opcode == Opcode::kBreak) return loop.results;
        return from(loop.regions[0].arguments, loop.opcode == Opcode::kFor ? 1 : 0);
    }

    ValueId renamed(ValueId value) { return parts_.rename_common(value); }
    void share(const Values& names, const Values& with) {
        for (size_t i = 0; i < names.size(); ++i) {
            if (levels_.of(names[i]) == ThreadLevel::kThread) parts_.share_array(names[i], with[i]);
        }
    }
    void append(Instruction around, const Values& results) {
        for (const ValueId result : common_of(results)) around.results.push_back(renamed(result));
        parts_.append_outside(std::move(around));
    }

    void write_for(const Instruction& instruction) {
        const Region& body = instruction.regions[0];
        const Values carried = from(body.arguments, 1), initials = from(instruction.operands, 3);
        share(instruction.results, carried);
        parts_.store(carried, initials);
        parts_.end();
        Instruction around = without_values(instruction);
        around.operands =
            parts_.outside({instruction.operands[0], instruction.operands[1], instruction.operands[2]});
        for (const ValueId value : parts_.outside(for_common(carried, initials)))
            around.operands.push_back(value);
        loops_.push_back(&instruction);
        around.regions.push_back(region_for(body, body.arguments, carried));
        loops_.pop_back();
        append(std::move(around), instruction.results);
    }

    void write_while(const Instruction& instruction) {
        const Region &test = instruction.regions[0], &body = instruction.regions[1];
        // What the test hands on as it is stays in its place.
        const Values forwarded = from(yielded(test), 1);
        for (size_t i = 0; i < forwarded.size(); ++i) {
            if (i < test.arguments.size() && forwarded[i] == test.arguments[i])
                share({body.arguments[i]}, {test.arguments[i]});
        }
        share(instruction.results, body.arguments);
        parts_.store(test.arguments, instruction.operands);
        parts_.end();
        Instruction around = without_values(instruction);
        around.operands = parts_.outside(for_common(test.arguments, instruction.operands));
        loops_.push_back(&instruction);
        around.regions.push_back(region_for(test, test.arguments, body.arguments, 1));
        around.regions.push_back(region_for(body, body.arguments, test.arguments));
        loops_.pop_back();
        append(std::move(around), instruction.results);
    }

    // As one for all threads, by a condition of the block.
    void write_branch(const Instruction& instruction, ValueId condition) {
        parts_.end();
        Instruction around = without_values(instruction);
        around.operands = parts_.outside({condition});
        for (const Region& region : instruction.regions)
            around.regions.push_back(region_for(region, {}, instruction.results));
        append(std::move(around), instruction.results);
    }

    void write_likely(const Instruction& instruction) {
        const ValueId condition = parts_.bring(instruction.operands[0]);
        const ValueId all = array_of_bools(condition, "likely");
        parts_.end();
        write_branch(instruction, holds_for_all(parts_, all));
    }

    ValueId array_of_bools(ValueId value, const char* name) {
        const ValueId array = parts_.make_array(ScalarType::kBool, name);
        const ValueId number = parts_.number();
        parts_.inside().store(array, value, std::span(&number, 1));
        return array;
    }

    // The side without meetings first; then the other, in full where all threads take it.
    void write_masked(const Instruction& instruction) {
        const size_t side = side_of_meetings(instruction);
        const Region& met = instruction.regions[side];
        const ValueId condition = parts_.bring(instruction.operands[0]);
        ValueId takes = condition;
        if (side == 1) takes = parts_.inside().apply(OpId::kLogicalNot, {condition});
        ValueId mask = array_of_bools(takes, "takes_part");
        Instruction other{.opcode = Opcode::kIf, .operands = {condition}, .regions = std::vector<Region>(2)};
        parts_.append_copy_of_region(instruction.regions[1 - side], other.regions[1 - side],
                                     instruction.results);
        other.regions[side].body.push_back({.opcode = Opcode::kYield});
        parts_.inside().append(std::move(other));
        parts_.end();
        const ValueId before = parts_.mask();
        if (before.valid()) mask = both_masks(parts_, before, mask);
        const auto write_side = [&](ValueId under) {
            return parts_.around([&] {
                const ValueId outer = parts_.exchange_mask(under);
                write(met);
                parts_.store(instruction.results, yielded(met));
                parts_.end();
                parts_.exchange_mask(outer);
                return Instruction{.opcode = Opcode::kYield};
            });
        };
        const auto nothing = [] {
            Region region;
            region.body.push_back({.opcode = Opcode::kYield});
            return region;
        };
        const auto masked = [&] {
            Instruction some{.opcode = Opcode::kIf, .operands = {holds_for_any(parts_, mask)}};
            some.regions.push_back(write_side(mask));
            some.regions.push_back(nothing());
            parts_.append_outside(std::move(some));
            return Instruction{.opcode = Opcode::kYield};
        };
        if (before.valid() || instructions_of(met) > kMostDoubled) {
            masked();
            return;
        }
        Instruction all{.opcode = Opcode::kIf, .operands = {holds_for_all(parts_, mask)}, .likely = true};
        all.regions.push_back(write_side({}));
        all.regions.push_back(parts_.around(masked));
        parts_.append_outside(std::move(all));
    }

    static Instruction without_values(const Instruction& instruction) {
        Instruction result = instruction;
        result.operands.clear();
        result.results.clear();
        result.regions.clear();
        return result;
    }

    const ThreadLevels& levels_;
    ThreadParts& parts_;
    std::vector<const Instruction*> loops_;  // around parts
};

// What a thread runs, made ready to be cut: calls and early returns are gone where they can be.
Function ready(const Module& module, const Function& callee) {
    Function body = callee;
    inline_calls(module, body);
    structured_returns(module, body);
    simplify(module, body);
    return body;
}

ThreadBody body_of(const Module& module, Function& function, const Instruction& spread) {
    const Type word = Type::of(ScalarType::kInt64);
    ThreadBody body;
    body.place = {function.add_value(word, "number"), function.add_value(word, "column"),
                  function.add_value(word, "row")};
    Values arguments{body.place.number, body.place.column, body.place.row};
    arguments.insert(arguments.end(), spread.operands.begin() + 2, spread.operands.end());
    expand_call(body.region, function, ready(module, *module.find(spread.callee)), arguments);
    // An expansion has no end of its own.
    body.region.body.push_back({.opcode = Opcode::kYield});
    return body;
}

// Appends the threads of a spread as loops; gives why that cannot be.
std::string append_parts(const Module& module, Function& function, const Instruction& spread,
                         std::vector<Instruction>& into) {
    const ThreadBody body = body_of(module, function, spread);
    const ThreadLevels levels(module, function, body.region, body.place);
    if (!levels.reason().empty()) return levels.reason();
    Scout scout(function, levels);
    scout.walk(body.region);
    if (scout.homes().is_stuck()) return "memory that a thread makes is needed behind a barrier";
    std::vector<Instruction> written;
    Constants constants = find_constants(function);
    add_constants(body.region, constants);
    ThreadParts parts(function, levels, scout.homes(), std::move(constants), body.place,
                      {spread.operands[0], spread.operands[1]}, written);
    Writer(levels, parts).write(body.region);
    parts.end();
    std::vector<Instruction> arrays = parts.take_allocations();
    if (std::ssize(arrays) * kMostThreads * kWord > kMostBytes)
        return "what threads need behind barriers does not fit on the stack";
    for (Instruction& each : arrays) into.push_back(std::move(each));
    for (Instruction& each : written) into.push_back(std::move(each));
    return {};
}

bool is_spread_together(const Instruction& instruction) {
    return instruction.opcode == Opcode::kSpread && instruction.together;
}

void walk(const Module& module, Function& function, Region& region) {
    std::vector<Instruction> old = std::move(region.body);
    region.body.clear();
    for (Instruction& instruction : old) {
        for (Region& inner : instruction.regions) walk(module, function, inner);
        if (is_spread_together(instruction) &&
            append_parts(module, function, instruction, region.body).empty())
            continue;
        region.body.push_back(std::move(instruction));
    }
}

}  // namespace

void thread_fission(const Module& module, Function& function) {
    if (!function.is_kernel) walk(module, function, function.body);
}

std::optional<std::string> reason_for_fibers(const Module& module, const Function& function) {
    Function copy = function;
    std::optional<std::string> reason;
    const std::function<void(const Region&)> find = [&](const Region& region) {
        for (const Instruction& each : region.body) {
            std::vector<Instruction> unused;
            if (is_spread_together(each) && (!reason || reason->empty()))
                reason = append_parts(module, copy, each, unused);
            for (const Region& inner : each.regions) find(inner);
        }
    };
    find(function.body);
    return reason;
}

}  // namespace weft::passes
