#include "passes/calls/expand_call.h"

#include <algorithm>
#include <utility>

#include "ir/calls.h"
#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

bool returns_early(const Region& body) {
    if (body.body.back().opcode == Opcode::kRaise) return true;
    return std::any_of(body.body.begin(), body.body.end(), [](const Instruction& instruction) {
        return std::any_of(instruction.regions.begin(), instruction.regions.end(), [](const Region& region) {
            return region.body.back().opcode == Opcode::kReturn || returns_early(region);
        });
    });
}

// Arguments of the types that the callee's body is made for.
std::vector<ValueId> as_parameters(Builder& builder, const Function& callee, const CallScopes& scopes,
                                   std::vector<ValueId> arguments) {
    for (size_t i = 0; i < arguments.size(); i++) {
        const Type type = scopes.in_caller(callee.type(callee.parameters[i]));
        if (!(builder.type(arguments[i]) == type))
            arguments[i] = builder.view(arguments[i], type.buffer, builder.index(0));
    }
    return arguments;
}

// Every return leaves the loop that takes the function's place.
void break_instead(Region& region, int depth) {
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

}  // namespace

size_t instructions_of(const Region& region) {
    size_t count = region.body.size();
    for (const Instruction& instruction : region.body) {
        for (const Region& inner : instruction.regions) count += instructions_of(inner);
    }
    return count;
}

std::vector<ValueId> expand_call(Region& expansion, Function& caller, const Function& callee,
                                 std::span<const ValueId> operands) {
    Region copied = callee.body;
    copied.arguments = callee.parameters;
    Builder builder(caller, expansion.body);
    const CallScopes scopes(callee, caller, operands);
    const std::vector<ValueId> arguments =
        as_parameters(builder, callee, scopes, {operands.begin(), operands.end()});
    if (returns_early(copied)) return append_once(builder, std::move(copied), callee, scopes, arguments);
    return append_copy(builder, copied, arguments, &callee, &scopes);
}

}  // namespace weft::passes
