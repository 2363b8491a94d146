#include "codegen/functions/shared_functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/calls.h"
#include "ir/printer.h"
#include "weft/errors.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Opcode;

namespace {

// The text of a function and of what it calls, in the order in which they come to be called.
class Text {
public:
    Text(const ir::Module& module, const ir::Function& function) : module_(module) { name_of(function.name); }

    SharedFunction run() {
        SharedFunction shared;
        shared.function = *open_[0];
        for (size_t i = 0; i < open_.size(); ++i) {
            ir::Function copy = *open_[i];
            shared.payload = std::max(shared.payload, largest_payload(copy.body));
            number_scopes(copy);
            walk(copy.body);
            copy.name = name_of(copy.name);
            shared.text += ir::print(copy) + "\n";
        }
        shared.sites = std::move(sites_);
        return shared;
    }

private:
    std::string name_of(const std::string& name) {
        const auto [found, is_new] = numbers_.emplace(name, numbers_.size());
        if (is_new) {
            const ir::Function* function = module_.find(name);
            if (function == nullptr) throw InternalError("a call of a function that is not there");
            open_.push_back(function);
        }
        return name.substr(0, name.find('.')) + "." + std::to_string(found->second);
    }

    // Functions that call each other agree about the scopes of results.
    void number_scopes(ir::Function& function) {
        const auto number = [&](ir::Type& type) {
            if (!type.is_buffer) return;
            const auto next = static_cast<uint16_t>(numbers_of_scopes_.size());
            type.buffer.alias_scope = numbers_of_scopes_.emplace(type.buffer.alias_scope, next).first->second;
        };
        for (ir::ValueInfo& value : function.values) number(value.type);
        for (ir::Type& type : function.result_types) number(type);
    }

    void walk(ir::Region& region) {
        for (Instruction& each : region.body) {
            const bool raises = each.opcode == Opcode::kCheck || each.opcode == Opcode::kHeap ||
                                (each.opcode == Opcode::kRaise && !each.again);
            if (raises && each.site != ir::kTooDeep) {
                const auto next = static_cast<uint32_t>(sites_.size());
                const auto [found, is_new] = numbers_of_sites_.emplace(each.site, next);
                if (is_new) sites_.push_back(each.site);
                each.site = found->second;
            } else if (ir::is_loop(each.opcode)) {
                each.site = 0;
            }
            if (each.opcode == Opcode::kCall || each.opcode == Opcode::kSpread)
                each.callee = name_of(each.callee);
            for (ir::Region& inner : each.regions) walk(inner);
        }
    }

    const ir::Module& module_;
    std::map<std::string, size_t> numbers_;
    std::vector<const ir::Function*> open_;
    std::map<uint16_t, uint16_t> numbers_of_scopes_;
    std::map<uint32_t, uint32_t> numbers_of_sites_;
    std::vector<uint32_t> sites_;
};

}  // namespace

std::vector<SharedFunction> shared_functions(const ir::Module& module,
                                             std::span<const ir::Function> callers) {
    std::vector<SharedFunction> found;
    std::set<std::string> known;
    for (const ir::Function& caller : callers) {
        ir::for_each_call(caller.body, [&](const Instruction& call) {
            const ir::Function* callee = call.lazy ? module.find(call.callee) : nullptr;
            if (callee != nullptr && known.insert(call.callee).second)
                found.push_back(Text(module, *callee).run());
        });
    }
    return found;
}

size_t largest_payload(const ir::Region& region) {
    size_t most = 0;
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kRaise || instruction.opcode == Opcode::kCheck)
            most = std::max(most, instruction.operands.size());
        for (const ir::Region& inner : instruction.regions) most = std::max(most, largest_payload(inner));
    }
    return most;
}

}  // namespace weft::codegen
