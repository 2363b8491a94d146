#include "ir/calls.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "weft/errors.h"

namespace weft::ir {

CallScopes::CallScopes(const Function& callee, const Function& caller, std::span<const ValueId> arguments) {
    for (size_t i = 0; i < std::min(arguments.size(), callee.parameters.size()); i++) {
        const Type& parameter = callee.type(callee.parameters[i]);
        if (!parameter.is_buffer || arguments[i].index >= caller.values.size()) continue;
        const uint16_t scope = caller.type(arguments[i]).buffer.alias_scope;
        const auto [found, is_new] = scopes_.emplace(parameter.buffer.alias_scope, scope);
        agree_ &= is_new || found->second == scope;
    }
}

Type CallScopes::in_caller(Type type) const {
    if (!type.is_buffer) return type;
    const auto found = scopes_.find(type.buffer.alias_scope);
    if (found != scopes_.end()) type.buffer.alias_scope = found->second;
    return type;
}

void for_each_call(const Region& region, const std::function<void(const Instruction&)>& visit) {
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kCall || instruction.opcode == Opcode::kSpread) visit(instruction);
        for (const Region& inner : instruction.regions) for_each_call(inner, visit);
    }
}

bool is_recursive(const Module& module, const Function& function) {
    std::set<std::string> seen;
    std::vector<const Function*> open{&function};
    while (!open.empty()) {
        const Function* caller = open.back();
        open.pop_back();
        for_each_call(caller->body, [&](const Instruction& call) {
            if (!seen.insert(call.callee).second) return;
            if (const Function* callee = module.find(call.callee)) open.push_back(callee);
        });
    }
    return seen.contains(function.name);
}

std::vector<Function> called_functions(const Module& module, const Function& function, bool lazily) {
    std::vector<Function> found;
    std::set<std::string> known;
    const std::function<void(const Function&)> add = [&](const Function& caller) {
        for_each_call(caller.body, [&](const Instruction& call) {
            if ((call.lazy && !lazily) || !known.insert(call.callee).second) return;
            const Function* callee = module.find(call.callee);
            if (callee == nullptr) throw InternalError("a call of a function that is not there");
            found.push_back(*callee);
            add(*callee);
        });
    };
    add(function);
    return found;
}

bool passes_as(const Type& given, const Type& wanted) {
    if (!given.is_buffer || !wanted.is_buffer) return given == wanted;
    const BufferType &from = given.buffer, &to = wanted.buffer;
    return from.element == to.element && from.space == to.space && from.sizes == to.sizes &&
           (to.readonly || !from.readonly) &&
           std::equal(from.strides.begin(), from.strides.end(), to.strides.begin(), to.strides.end(),
                      [](int64_t known, int64_t asked) { return asked == kDynamic || asked == known; });
}

}  // namespace weft::ir
