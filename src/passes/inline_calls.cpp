#include "passes/inline_calls.h"

#include <algorithm>
#include <map>
#include <string>

#include "ir/calls.h"
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
            if (instruction.opcode != Opcode::kCall || instruction.catches || stays(instruction.callee)) {
                for (Region& inner : instruction.regions) run(inner);
                region.body.push_back(std::move(instruction));
                continue;
            }
            const Function* callee = module_.find(instruction.callee);
            Region copied = callee->body;
            copied.arguments = callee->parameters;
            Region expansion;
            Builder builder(function_, expansion.body);
            const CallScopes scopes(*callee, function_, instruction.operands);
            const std::vector<ValueId> arguments =
                as_parameters(builder, *callee, scopes, instruction.operands);
            std::vector<ValueId> results =
                returns_early(copied) ? append_once(builder, std::move(copied), *callee, scopes, arguments)
                                      : append_copy(builder, copied, arguments, callee, &scopes);
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
        size_t size = size_of(function.body);
        for_each_call(function.body, [&](const Instruction& call) {
            const Function* callee = module_.find(call.callee);
            if (callee != nullptr && size <= kLargest && !stays(call.callee)) size += size_of(*callee);
        });
        return size;
    }

    static size_t size_of(const Region& region) {
        size_t size = region.body.size();
        for (const Instruction& instruction : region.body) {
            for (const Region& inner : instruction.regions) size += size_of(inner);
        }
        return size;
    }

    static bool returns_early(const Region& body) {
        if (body.body.back().opcode == Opcode::kRaise) return true;
        return std::any_of(body.body.begin(), body.body.end(), [](const Instruction& instruction) {
            return std::any_of(
                instruction.regions.begin(), instruction.regions.end(), [](const Region& region) {
                    return region.body.back().opcode == Opcode::kReturn || returns_early(region);
                });
        });
    }

    // Arguments of the types that the callee's body is made for.
    static std::vector<ValueId> as_parameters(Builder& builder, const Function& callee,
                                              const CallScopes& scopes, std::vector<ValueId> arguments) {
        for (size_t i = 0; i < arguments.size(); i++) {
            const Type type = scopes.in_caller(callee.type(callee.parameters[i]));
            if (!(builder.type(arguments[i]) == type))
                arguments[i] = builder.view(arguments[i], type.buffer, builder.index(0));
        }
        return arguments;
    }

    // Every return leaves the loop that takes the function's place.
    static void break_instead(Region& region, int depth) {
        for (Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kReturn) {
                instruction.opcode = Opcode::kBreak;
                instruction.depth = depth;
            }
            const int inside = depth + (is_loop(instruction.opcode) ? 1 : 0);
            for (Region& inner : instruction.regions) break_instead(inner, inside);
        }
    }

    // The body of a function that returns from within its loops and branches, as a loop that is left at once.
    std::vector<ValueId> append_once(Builder& builder, Region body, const Function& callee,
                                     const CallScopes& scopes, std::span<const ValueId> arguments) {
        break_instead(body, 0);
        std::vector<ValueId> nothing;
        for (const Type& type : callee.result_types) {
            nothing.push_back(type.is_buffer ? builder.null(scopes.in_caller(type).buffer)
                                             : builder.constant({type.scalar, {}}));
        }
        const ValueId zero = builder.index(0), one = builder.index(1);
        return builder.for_loop(
            zero, one, one, nothing, [&](Builder& inner, std::span<const ValueId>) -> std::vector<ValueId> {
                const Instruction& end = body.body.back();
                std::vector<ValueId> last = append_copy(inner, body, arguments, &callee, &scopes);
                if (end.opcode == Opcode::kRaise && end.again) {
                    inner.raise_again(last[0]);
                } else if (end.opcode == Opcode::kRaise) {
                    inner.raise(end.site, std::move(last));
                } else {
                    inner.break_loop(std::move(last));
                }
                return {};
            });
    }

    const Module& module_;
    Function& function_;
    Substitution replaced_;
    std::map<std::string, bool> stays_;
};

}  // namespace

void inline_calls(const Module& module, Function& function) { Inliner(module, function).run(function.body); }

}  // namespace weft::passes
