#include "passes/threads/thread_levels.h"

#include <algorithm>
#include <span>
#include <vector>

#include "ir/calls.h"
#include "ir/intrinsic.h"
#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

const Values& ended_with(const Region& region) { return region.body.back().operands; }

template <class Predicate>
bool any_inside(const Instruction& instruction, const Predicate& predicate) {
    return predicate(instruction) || std::ranges::any_of(instruction.regions, [&](const Region& region) {
               return std::ranges::any_of(
                   region.body, [&](const Instruction& inner) { return any_inside(inner, predicate); });
           });
}

// Whether the results follow from what it uses, and it comes to an end.
bool only_computes(const Instruction& instruction) {
    if (is_value(instruction.opcode) || instruction.opcode == Opcode::kYield) return true;
    if (instruction.opcode != Opcode::kIf && instruction.opcode != Opcode::kFor) return false;
    return std::ranges::all_of(instruction.regions, [](const Region& region) {
        return yields(region) && std::ranges::all_of(region.body, only_computes);
    });
}

// Whether an exit in it, which `depth` loops lie around, leaves a loop or iteration that is not in it.
bool leaves(const Instruction& instruction, int depth) {
    if (instruction.opcode == Opcode::kBreak || instruction.opcode == Opcode::kContinue)
        return instruction.depth >= depth;
    const int inside = depth + (is_loop(instruction.opcode) ? 1 : 0);
    return std::ranges::any_of(instruction.regions, [&](const Region& region) {
        return std::ranges::any_of(region.body,
                                   [&](const Instruction& inner) { return leaves(inner, inside); });
    });
}

bool goes_on(const Region& region) {
    const Opcode end = region.body.back().opcode;
    return end == Opcode::kYield || end == Opcode::kBreak || end == Opcode::kContinue;
}

// Of all threads of the block.
bool is_block_meeting(const Instruction& instruction) {
    return instruction.opcode == Opcode::kBarrier ||
           (instruction.opcode == Opcode::kIntrinsic &&
            (instruction.intrinsic == Intrinsic::kGridBarrier ||
             instruction.intrinsic == Intrinsic::kBlockCount ||
             instruction.intrinsic == Intrinsic::kBlockAll || instruction.intrinsic == Intrinsic::kBlockAny));
}

bool calls_meeting(const Module& module, const Region& body) {
    bool found = false;
    for_each_call(body, [&](const Instruction& call) {
        const Function* callee = module.find(call.callee);
        if (callee == nullptr || found) return;
        for (const Function& each : called_functions(module, *callee)) found |= has_meeting(each.body);
        found |= has_meeting(callee->body);
    });
    return found;
}

}  // namespace

bool is_thread_meeting(const Instruction& instruction) {
    if (instruction.opcode != Opcode::kIntrinsic) return instruction.opcode == Opcode::kBarrier;
    return instruction.intrinsic != Intrinsic::kFenceBlock &&
           instruction.intrinsic != Intrinsic::kFenceDevice &&
           instruction.intrinsic != Intrinsic::kFenceSystem;
}

bool has_thread_meeting(const Instruction& instruction) { return any_inside(instruction, is_thread_meeting); }
bool has_block_meeting(const Instruction& instruction) { return any_inside(instruction, is_block_meeting); }

bool is_around(const Instruction& instruction) {
    return !instruction.regions.empty() && (has_thread_meeting(instruction) || leaves(instruction, 0));
}

ThreadLevels::ThreadLevels(const Module& module, const Function& function, const Region& body,
                           const Place& place)
    : module_(module), function_(function) {
    levels_[place.number.index] = levels_[place.column.index] = ThreadLevel::kThread;
    levels_[place.row.index] = ThreadLevel::kRow;
    find_deciding(body);
    // Levels only rise, so sweeping until nothing changes ends.
    do {
        changed_ = false;
        sweep(body);
    } while (changed_);
    if (calls_meeting(module_, body)) refuse("a function that is called waits for other threads");
    judge(body, /*is_end=*/true);
}

void ThreadLevels::refuse(const std::string& reason) {
    if (reason_.empty()) reason_ = reason;
}

ThreadLevel ThreadLevels::of(ValueId value) const {
    const auto found = levels_.find(value.index);
    return found == levels_.end() ? ThreadLevel::kBlock : found->second;
}

void ThreadLevels::raise_to(ValueId value, ThreadLevel level) {
    if (level <= of(value)) return;
    levels_[value.index] = level;
    changed_ = true;
}

ThreadLevel ThreadLevels::highest(const Instruction& instruction) const {
    ThreadLevel level = ThreadLevel::kBlock;
    for (const ValueId operand : instruction.operands) level = std::max(level, of(operand));
    for (const Region& region : instruction.regions) {
        for (const Instruction& inner : region.body) level = std::max(level, highest(inner));
    }
    return level;
}

bool ThreadLevels::is_deciding_load(const Instruction& instruction) const {
    return instruction.opcode == Opcode::kLoad && deciding_.contains(instruction.results[0].index);
}

bool ThreadLevels::is_common(const Instruction& instruction) const {
    return (only_computes(instruction) || is_deciding_load(instruction)) &&
           highest(instruction) == ThreadLevel::kBlock;
}

ThreadLevels::Branch ThreadLevels::branch_of(const Instruction& branch) const {
    if (of(branch.operands[0]) == ThreadLevel::kBlock) return Branch::kAlike;
    return branch.likely ? Branch::kLikely : Branch::kMasked;
}

// --- what decides which meetings the threads come to ---------------------------------------------------

void ThreadLevels::find_deciding(const Region& body) {
    note_definitions(body);
    note_deciding(body);
    Values open;
    for (const uint32_t index : deciding_) open.push_back({index});
    while (!open.empty()) {
        const auto found = made_of_.find(open.back().index);
        open.pop_back();
        if (found == made_of_.end()) continue;
        for (const ValueId operand : found->second) {
            if (deciding_.insert(operand.index).second) open.push_back(operand);
        }
    }
}

void ThreadLevels::note_definitions(const Region& region) {
    const auto add = [&](std::span<const ValueId> values, std::span<const ValueId> from) {
        for (size_t i = 0; i < values.size() && i < from.size(); ++i)
            made_of_[values[i].index].push_back(from[i]);
    };
    for (const Instruction& each : region.body) {
        const std::span<const ValueId> operands(each.operands), results(each.results);
        for (const Region& inner : each.regions) note_definitions(inner);
        if (is_loop(each.opcode)) {
            const std::span<const ValueId> entry(each.regions[0].arguments);
            for (const Instruction* exit : exits_of(each))
                add(exit->opcode == Opcode::kBreak ? results
                                                   : entry.subspan(each.opcode == Opcode::kFor ? 1 : 0),
                    exit->operands);
        }
        if (each.opcode == Opcode::kFor) {
            const auto carried = std::span(each.regions[0].arguments).subspan(1);
            add(carried, operands.subspan(3));
            if (yields(each.regions[0])) add(carried, ended_with(each.regions[0]));
            add(results, carried);
        } else if (each.opcode == Opcode::kWhile) {
            const Region &test = each.regions[0], &body = each.regions[1];
            add(test.arguments, operands);
            if (yields(body)) add(test.arguments, ended_with(body));
            if (yields(test)) add(body.arguments, std::span(ended_with(test)).subspan(1));
            add(results, body.arguments);
        } else if (each.opcode == Opcode::kIf) {
            for (const Region& inner : each.regions) {
                if (yields(inner)) add(results, ended_with(inner));
            }
            for (const ValueId result : results) made_of_[result.index].push_back(operands[0]);
        } else {
            for (const ValueId result : results) made_of_[result.index] = each.operands;
        }
    }
}

void ThreadLevels::note_deciding(const Region& region) {
    for (const Instruction& each : region.body) {
        if (!is_around(each)) continue;
        for (const Region& inner : each.regions) note_deciding(inner);
        const size_t count = each.opcode == Opcode::kFor ? 3 : each.opcode == Opcode::kIf ? 1 : 0;
        for (const ValueId operand : std::span(each.operands).first(count)) deciding_.insert(operand.index);
        if (each.opcode == Opcode::kWhile && yields(each.regions[0]))
            deciding_.insert(ended_with(each.regions[0])[0].index);
    }
}

// --- levels --------------------------------------------------------------------------------------------

void ThreadLevels::sweep(const Region& region) {
    for (const Instruction& each : region.body) {
        if (is_around(each)) {
            sweep_around(each);
            continue;
        }
        const bool follows = only_computes(each) || is_deciding_load(each);
        ThreadLevel level = follows || is_block_meeting(each) ? ThreadLevel::kBlock : ThreadLevel::kThread;
        if (follows) level = highest(each);
        // Of a row there is only what is computed.
        if (level == ThreadLevel::kRow && !is_value(each.opcode)) level = ThreadLevel::kThread;
        for (const ValueId result : each.results) raise_to(result, level);
    }
}

// Control around meetings is the block's, so what it hands on is of the thread or of all.
void ThreadLevels::sweep_around(const Instruction& instruction) {
    const auto pass = [&](std::span<const ValueId> places, std::span<const ValueId> values) {
        for (size_t i = 0; i < places.size() && i < values.size(); ++i) {
            if (of(values[i]) != ThreadLevel::kBlock) raise_to(places[i], ThreadLevel::kThread);
        }
    };
    const std::span<const ValueId> operands(instruction.operands), results(instruction.results);
    const auto pass_exits = [&](std::span<const ValueId> carried) {
        for (const Instruction* exit : exits_of(instruction))
            pass(exit->opcode == Opcode::kBreak ? results : carried, exit->operands);
    };
    for (const Region& region : instruction.regions) sweep(region);
    if (instruction.opcode == Opcode::kFor) {
        const Region& body = instruction.regions[0];
        const auto carried = std::span(body.arguments).subspan(1);
        pass(carried, operands.subspan(3));
        if (yields(body)) pass(carried, ended_with(body));
        pass_exits(carried);
        // They wait in one place.
        pass(results, carried);
        pass(carried, results);
    } else if (instruction.opcode == Opcode::kWhile) {
        const Region &test = instruction.regions[0], &body = instruction.regions[1];
        pass(test.arguments, operands);
        if (yields(body)) pass(test.arguments, ended_with(body));
        if (yields(test)) pass(body.arguments, std::span(ended_with(test)).subspan(1));
        pass_exits(test.arguments);
        pass(results, body.arguments);
        pass(body.arguments, results);
    } else if (instruction.opcode == Opcode::kIf) {
        for (const Region& region : instruction.regions) {
            if (yields(region)) pass(results, ended_with(region));
        }
        if (branch_of(instruction) == Branch::kMasked) {
            for (const ValueId result : results) raise_to(result, ThreadLevel::kThread);
        }
    }
}

// --- whether it can be cut -----------------------------------------------------------------------------

// `is_end`: behind it no thread comes to a meeting of the block.
void ThreadLevels::judge(const Region& region, bool is_end) {
    const auto returns = [](const Instruction& each) { return each.opcode == Opcode::kReturn; };
    for (size_t i = 0; i < region.body.size(); ++i) {
        const Instruction& each = region.body[i];
        if (!each.regions.empty() && any_inside(each, returns))
            refuse("a thread may end in the midst of a loop or branch");
        if (!is_around(each)) continue;
        const bool is_last = is_end && std::none_of(region.body.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                                    region.body.end(), has_block_meeting);
        const auto passes_memory = [&](ValueId value) {
            return function_.type(value).is_buffer && of(value) == ThreadLevel::kThread;
        };
        for (const Region& inner : each.regions) {
            if (std::ranges::any_of(inner.arguments, passes_memory))
                refuse("an array that differs between threads goes through a loop with a barrier");
        }
        if (std::ranges::any_of(each.results, passes_memory))
            refuse("an array that differs between threads comes out of what has a barrier");
        switch (each.opcode) {
            case Opcode::kFor:
            case Opcode::kWhile: {
                const bool alike =
                    each.opcode == Opcode::kFor
                        ? std::ranges::all_of(std::span(each.operands).first(3),
                                              [&](ValueId bound) { return of(bound) == ThreadLevel::kBlock; })
                        : yields(each.regions[0]) &&
                              of(ended_with(each.regions[0])[0]) == ThreadLevel::kBlock;
                if (!alike) refuse("a barrier stands in a loop that threads may take differently");
                if (!std::ranges::all_of(each.regions, goes_on))
                    refuse("a loop with a barrier ends by an error");
                for (const Region& inner : each.regions) judge(inner, /*is_end=*/false);
                break;
            }
            case Opcode::kIf: judge_branch(each, is_last); break;
            default: refuse("a barrier stands in what is no loop and no branch");
        }
    }
}

void ThreadLevels::judge_branch(const Instruction& branch, bool is_end) {
    const auto meets = [](const Region& side) { return std::ranges::any_of(side.body, has_thread_meeting); };
    const auto meets_all = [](const Region& side) {
        return std::ranges::any_of(side.body, has_block_meeting);
    };
    const bool both = meets(branch.regions[0]) && meets(branch.regions[1]);
    const bool is_masked = branch_of(branch) == Branch::kMasked;
    if (is_masked && leaves(branch, 0)) refuse("threads may leave a loop with a barrier at different times");
    if (is_masked && (both || (!is_end && std::ranges::any_of(branch.regions, meets_all))))
        refuse("a barrier stands in a branch that threads may take differently");
    for (const Region& side : branch.regions) {
        if (!goes_on(side) && (meets(side) || !is_masked)) refuse("a branch with a barrier ends by an error");
        judge(side, is_end);
    }
}

}  // namespace weft::passes
