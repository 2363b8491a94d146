#include "passes/inline_calls.h"

#include "passes/rewrite.h"
#include "weft/errors.h"

namespace weft::passes {

using namespace ir;

namespace {

class Inliner {
public:
    Inliner(const Module& module, Function& function) : module_(module), function_(function) {}

    void run(Region& region) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            replaced_.apply(instruction.operands);
            if (instruction.opcode != Opcode::kCall) {
                for (Region& inner : instruction.regions) run(inner);
                region.body.push_back(std::move(instruction));
                continue;
            }
            const Function* callee = module_.find(instruction.callee);
            WEFT_CHECK(callee != nullptr, "call of the unknown function @" + instruction.callee);
            Region copied = callee->body;
            copied.arguments = callee->parameters;
            Region expansion;
            Builder builder(function_, expansion.body);
            std::vector<ValueId> results = append_copy(builder, copied, instruction.operands, callee);
            run(expansion);  // its own calls; the verifier refuses recursion
            replaced_.apply(results);
            for (Instruction& inner : expansion.body) region.body.push_back(std::move(inner));
            for (size_t i = 0; i < results.size(); i++) replaced_.set(instruction.results[i], results[i]);
        }
    }

private:
    const Module& module_;
    Function& function_;
    Substitution replaced_;
};

}  // namespace

void inline_calls(const Module& module, Function& function) { Inliner(module, function).run(function.body); }

}  // namespace weft::passes
