// The loop of one thread over elements of arrays, in steps that are the same for all threads: a walk
// (passes/threads/thread_strides.h). What it is, is found here; what becomes of it, there.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"
#include "passes/rewrite.h"
#include "passes/threads/computed_values.h"

namespace weft::passes {

bool is_operation(const ir::Instruction* instruction, OpId op);
void for_each_operand(const ir::Instruction& instruction, const std::function<void(ir::ValueId)>& visit);
bool returns(const ir::Region& region);

// How values of a loop over threads go with the thread's number, and with the steps of the walk in it.
class ThreadLines {
public:
    ThreadLines(const ir::Function& function, const ir::Instruction& threads, const ir::Instruction& walk);

    bool varies(ir::ValueId value) const { return (line(value).depends & 1U) != 0; }
    // How many more accesses lie side by side for threads than for the steps of one.
    int64_t votes() const { return votes_; }

private:
    // By bits: 1 for the thread, 2 for the step.
    struct Line {
        unsigned depends = 0, rises = 0;
    };
    Line line(ir::ValueId value) const;
    void set(ir::ValueId value, Line line) { lines_[value.index] = line; }
    Line line_of(const ir::Instruction& instruction) const;
    void follow(const ir::Region& region, int64_t weight);
    void vote(const ir::Instruction& instruction, int64_t weight);

    const ir::Function& function_;
    const ir::Instruction& walk_;
    std::unordered_map<uint32_t, Line> lines_;
    int64_t votes_ = 0;
};

// A walk as a loop by its count: a `for` in steps, or a `while` of this form.
//
//   while (%v = %start, …) { yield true } do { if %v < %end { } else { break }; …; yield %v + %step, … }
class CountedWalk {
public:
    CountedWalk(ir::Function& function, const ir::Instruction& loop, const ThreadLines& lines)
        : function_(function), loop_(loop) {
        matches_ = loop.opcode == ir::Opcode::kWhile ? find(lines) : find_in_for(lines);
    }

    bool matches() const { return matches_; }

    // Appends the count and a loop by one from 0 on in its place.
    void append(ir::Builder& builder, Substitution& results);

private:
    bool find_in_for(const ThreadLines& lines);
    bool find(const ThreadLines& lines);

    ir::Function& function_;
    const ir::Instruction& loop_;
    Sources sources_;  // of a `while`: what its body defines
    const ir::Instruction* test_ = nullptr;
    ir::ValueId end_, step_;
    size_t place_ = 0;  // of what counts, among the operands and arguments
    std::vector<size_t> carried_;
    bool matches_ = false;
};

// How often a loop runs from `start` in steps of `step` to below `end`, where that is what the count says:
// that of CountedWalk, or of a range() in a program, which uses unsigned numbers.
struct WalkSteps {
    ir::ValueId start, end, step;
};
std::optional<WalkSteps> steps_of(const Sources& sources, ir::ValueId count);

}  // namespace weft::passes
