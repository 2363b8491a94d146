#include "passes/calls/inline_calls.h"

#include <map>
#include <string>

#include "ir/calls.h"
#include "passes/calls/expand_call.h"
#include "passes/rewrite.h"
#include "weft/errors.h"

namespace weft::passes {

using namespace ir;

namespace {

// Instructions of a function whose code is not repeated.
constexpr size_t kLargest = 250;

class Inliner {
public:
    Inliner(const Module& module, Function& function) : module_(module), function_(function) {}

    void run(Region& region) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            replaced_.apply(instruction.operands);
            if (instruction.opcode != Opcode::kCall || instruction.catches || instruction.lazy ||
                stays(instruction.callee)) {
                for (Region& inner : instruction.regions) run(inner);
                region.body.push_back(std::move(instruction));
                continue;
            }
            const Function* callee = module_.find(instruction.callee);
            Region expansion;
            std::vector<ValueId> results = expand_call(expansion, function_, *callee, instruction.operands);
            run(expansion);  // its own calls
            replaced_.apply(results);
            for (Instruction& inner : expansion.body) region.body.push_back(std::move(inner));
            for (size_t i = 0; i < results.size(); i++) replaced_.set(instruction.results[i], results[i]);
        }
    }

private:
    // Functions that come to call themselves, and in functions large ones that are called in several places.
    bool stays(const std::string& name) {
        const auto known = stays_.find(name);
        if (known != stays_.end()) return known->second;
        const Function* callee = module_.find(name);
        WEFT_CHECK(callee != nullptr, "call of the unknown function @" + name);
        return stays_[name] = is_recursive(module_, *callee) ||
                              (!function_.is_kernel && calls_of(name) > 1 && size_of(*callee) > kLargest);
    }

    size_t calls_of(const std::string& name) const {
        size_t count = 0;
        for (const Function& caller : module_.functions)
            for_each_call(caller.body,
                          [&](const Instruction& call) { count += call.callee == name ? 1 : 0; });
        return count;
    }

    // With what it calls in turn, unless it stays.
    size_t size_of(const Function& function) {
        size_t size = instructions_of(function.body);
        for_each_call(function.body, [&](const Instruction& call) {
            const Function* callee = module_.find(call.callee);
            if (callee != nullptr && size <= kLargest && !stays(call.callee)) size += size_of(*callee);
        });
        return size;
    }

    const Module& module_;
    Function& function_;
    Substitution replaced_;
    std::map<std::string, bool> stays_;
};

}  // namespace

void inline_calls(const Module& module, Function& function) { Inliner(module, function).run(function.body); }

}  // namespace weft::passes
