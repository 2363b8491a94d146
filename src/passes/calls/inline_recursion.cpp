#include "passes/calls/inline_recursion.h"

#include <utility>
#include <vector>

#include "ir/calls.h"
#include "passes/calls/expand_call.h"
#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

// Instructions of the function with the copies: a call is no large part of what a larger one does.
constexpr size_t kLargest = 150;

class Expander {
public:
    Expander(Function& function, const Function& original) : function_(function), original_(original) {}

    void run(Region& region) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            replaced_.apply(instruction.operands);
            for (Region& inner : instruction.regions) run(inner);
            if (instruction.opcode != Opcode::kCall || instruction.catches ||
                instruction.callee != original_.name) {
                region.body.push_back(std::move(instruction));
                continue;
            }
            Region expansion;
            const std::vector<ValueId> results =
                expand_call(expansion, function_, original_, instruction.operands);
            for (Instruction& inner : expansion.body) region.body.push_back(std::move(inner));
            for (size_t i = 0; i < results.size(); ++i) replaced_.set(instruction.results[i], results[i]);
        }
    }

private:
    Function& function_;
    const Function& original_;
    Substitution replaced_;
};

}  // namespace

void inline_recursion(const Module&, Function& function) {
    size_t calls = 0;
    bool only_itself = true;
    for_each_call(function.body, [&](const Instruction& call) {
        ++calls;
        only_itself = only_itself && call.callee == function.name && call.opcode == Opcode::kCall;
    });
    if (calls == 0 || !only_itself || instructions_of(function.body) * (calls + 1) > kLargest) return;
    const Function original = function;
    Expander(function, original).run(function.body);
}

}  // namespace weft::passes
