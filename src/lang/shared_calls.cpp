// Which functions of the prelude are compiled by themselves, for all programs
// (codegen/functions/shared_functions.h).
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/calls.h"
#include "lang/compilation.h"
#include "lang/lowering.h"

namespace weft::lang {

namespace {

bool has_function(TypeRef type) {
    return type->kind == TypeKind::kClosure || type->kind == TypeKind::kSymbol ||
           type->kind == TypeKind::kGenerator || std::ranges::any_of(type->parts, has_function);
}

using Visit = std::function<void(ir::Instruction& call, bool in_loop)>;

void visit_calls(ir::Region& region, bool in_loop, const Visit& visit) {
    for (ir::Instruction& each : region.body) {
        if (each.opcode == ir::Opcode::kCall) visit(each, in_loop);
        if (each.opcode == ir::Opcode::kSpread) visit(each, true);
        const bool repeats = in_loop || ir::is_loop(each.opcode) || each.opcode == ir::Opcode::kParallel;
        for (ir::Region& inner : each.regions) visit_calls(inner, repeats, visit);
    }
}

}  // namespace

bool Compilation::is_shared(const Specialised& function, std::span<const TypeRef> arguments) {
    if (!options_.shares || options_.is_kernel || function.state != Specialised::State::kDone ||
        function.catches || std::ranges::any_of(arguments, has_function))
        return false;
    const auto [known, is_new] = shared_.emplace(function.name, false);
    if (!is_new) return known->second;
    constexpr size_t kLeast = 60;  // instructions, where none is a loop
    size_t size = 0;
    bool has_loop = false, tells = false;
    const std::function<void(const ir::Region&)> look = [&](const ir::Region& region) {
        size += region.body.size();
        for (const ir::Instruction& each : region.body) {
            has_loop |= ir::is_loop(each.opcode);
            tells |= each.opcode == ir::Opcode::kTell || each.catches;
            for (const ir::Region& inner : each.regions) look(inner);
        }
    };
    const ir::Function& code = *module_.find(function.name);
    look(code.body);
    for (const ir::Function& callee : ir::called_functions(module_, code)) look(callee.body);
    return known->second = !tells && (has_loop || size >= kLeast);
}

// What is called in loops through functions of the program, or comes to call itself, is called as often as
// what is in the loops.
void Compilation::share_outside_of_loops(const std::string& entry) {
    std::map<std::string, ir::Function*> functions;
    for (ir::Function& each : module_.functions) functions[each.name] = &each;
    std::set<std::string> seen, repeated;
    const std::function<void(const std::string&, bool)> walk = [&](const std::string& name, bool repeats) {
        if (repeats ? !repeated.insert(name).second : repeated.contains(name) || !seen.insert(name).second)
            return;
        ir::Function& function = *functions.at(name);
        bool calls_lazily = false;
        visit_calls(function.body, repeats,
                    [&](ir::Instruction& call, bool in_loop) { calls_lazily |= call.lazy && !in_loop; });
        repeats = repeats || (calls_lazily && ir::is_recursive(module_, function));
        visit_calls(function.body, repeats, [&](ir::Instruction& call, bool in_loop) {
            call.lazy = call.lazy && !in_loop;
            if (!call.lazy) walk(call.callee, in_loop);
        });
    };
    walk(entry, false);
}

}  // namespace weft::lang
