#include "lowering/element_function.h"

#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "ops/defined.h"
#include "passes/calls/inline_calls.h"
#include "weft/errors.h"

namespace weft {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

// Why no kernel runs the instruction; empty where one does.
std::string_view refusal_of(const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::kCheck:
        case Opcode::kRaise: return "may raise an error";
        case Opcode::kHeap: return "allocates memory";
        case Opcode::kTell: return "prints";
        case Opcode::kSpread: return "has a parallel loop";
        case Opcode::kEngine: return "calls the engine";
        case Opcode::kExternal: return "calls a function of other machine code";
        case Opcode::kCall: return instruction.catches ? "catches errors" : "calls itself";
        default: return {};
    }
}

void check_runs_in_kernels(const Region& region, std::string_view function) {
    for (const Instruction& instruction : region.body) {
        if (const std::string_view why = refusal_of(instruction); !why.empty())
            throw NotImplementedError(std::string(function) + "() " + std::string(why) +
                                      ", which no kernel does");
        for (const Region& inner : instruction.regions) check_runs_in_kernels(inner, function);
    }
}

// As operations are counted; what is in a loop, as if it ran a few times.
int64_t cost_of(const Region& region) {
    constexpr int64_t kIterations = 8, kMost = 1000;
    int64_t cost = 0;
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kApply) cost += instruction.op->cost;
        int64_t inside = 0;
        for (const Region& inner : instruction.regions) inside += cost_of(inner);
        cost += ir::is_loop(instruction.opcode) ? kIterations * inside : inside;
    }
    return std::min(cost, kMost);
}

// Another function, whose results are those of `function` in other types.
ir::Function casting(const ir::Function& function, std::string name, std::span<const ScalarType> outputs) {
    ir::Builder builder(std::move(name));
    std::vector<ValueId> arguments;
    for (const ValueId parameter : function.parameters) {
        const ir::ValueInfo& info = function.values[parameter.index];
        arguments.push_back(builder.parameter(info.type, info.name));
    }
    std::vector<ValueId> results = builder.call(function, arguments);
    std::vector<ir::Type> types;
    for (size_t k = 0; k < results.size(); ++k) {
        results[k] = builder.cast(results[k], outputs[k]);
        types.push_back(ir::Type::of(outputs[k]));
    }
    builder.return_values(results);
    return builder.finish_function(types);
}

}  // namespace

ElementFunction read_element_function(std::string_view text, std::string_view name,
                                      std::span<const ScalarType> outputs) {
    ir::Module module = ir::parse(text);
    if (module.functions.empty() || module.functions[0].is_kernel)
        throw ValueError("the kernel IR of an operation begins with a function");
    ir::check(module);
    const std::string given = module.functions[0].name;
    ElementFunction result;
    for (const ValueId parameter : module.functions[0].parameters) {
        const ir::Type& type = module.functions[0].type(parameter);
        if (type.is_buffer) throw NotImplementedError(given + "() reads an array, which no operation does");
        result.inputs.push_back(type.scalar);
    }
    for (const ir::Type& type : module.functions[0].result_types) {
        if (type.is_buffer) throw NotImplementedError(given + "() gives an array, which no operation does");
        result.outputs.push_back(type.scalar);
    }
    if (!outputs.empty()) {
        if (outputs.size() != result.outputs.size())
            throw ValueError(given + "() gives " + std::to_string(result.outputs.size()) +
                             " values, and the operation has " + std::to_string(outputs.size()) + " results");
        result.outputs.assign(outputs.begin(), outputs.end());
    }
    ir::Function function = casting(module.functions[0], std::string(name), result.outputs);
    function.is_kernel = true;  // as what calls it is: all calls are inlined
    passes::inline_calls(module, function);
    function.is_kernel = false;
    check_runs_in_kernels(function.body, given);
    result.cost = static_cast<int>(std::max<int64_t>(cost_of(function.body), 1));
    result.ir = ir::print(function);
    return result;
}

void append_definition(ir::Module& module, const OpInfo& op, int loop) {
    if (op.defined == nullptr) return;
    const auto number = static_cast<size_t>(loop);
    if (module.find(op.loops[number].symbol) != nullptr) return;
    for (ir::Function& function : ir::parse(op.defined->ir(number)).functions)
        module.functions.push_back(std::move(function));
}

}  // namespace weft
