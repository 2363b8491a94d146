#include "ir/operand_checks.h"

#include <algorithm>
#include <string_view>

#include "ir/calls.h"
#include "ir/printer.h"

namespace weft::ir {

void OperandChecks::complain(const std::string& message) {
    errors_.push_back("@" + function_.name + ": " + message);
}

void OperandChecks::complain(const Instruction& instruction, const std::string& message) {
    std::string text(opcode_name(instruction.opcode));
    if (instruction.op != nullptr) text = std::string(instruction.op->name);
    if (!instruction.results.empty()) text = name(instruction.results[0]) + " = " + text;
    complain(text + ": " + message);
}

bool OperandChecks::valid(ValueId value) const { return value.index < function_.values.size(); }

std::string OperandChecks::name(ValueId value) const {
    if (!valid(value)) return "%<bad value>";
    const std::string& given = function_.values[value.index].name;
    return given.empty() ? "%<value " + std::to_string(value.index) + ">" : "%" + given;
}

const Type* OperandChecks::type_of(ValueId value) const {
    return valid(value) ? &function_.type(value) : nullptr;
}

bool OperandChecks::is_scalar(ValueId value, ScalarType scalar) const {
    return valid(value) && function_.type(value) == Type::of(scalar);
}

void OperandChecks::expect(const Instruction& instruction, ValueId value, ScalarType scalar,
                           const std::string& what) {
    if (!is_scalar(value, scalar)) {
        complain(instruction, what + " must be " + std::string(scalar_name(scalar)) + ", is " +
                                  (valid(value) ? print(function_.type(value)) : "missing"));
    }
}

void OperandChecks::expect_types(const Instruction& instruction, std::span<const ValueId> values,
                                 std::span<const Type> types, const std::string& what) {
    if (values.size() != types.size()) {
        complain(instruction, what + ": expected " + std::to_string(types.size()) + ", found " +
                                  std::to_string(values.size()));
        return;
    }
    for (size_t i = 0; i < values.size(); i++) {
        const Type* type = type_of(values[i]);
        if (type == nullptr || !(*type == types[i])) {
            complain(instruction, what + " " + std::to_string(i) + " must be " + print(types[i]) + ", is " +
                                      (type != nullptr ? print(*type) : "missing"));
        }
    }
}

void OperandChecks::expect_arguments(const Instruction& call, std::span<const Type> parameters) {
    if (call.operands.size() != parameters.size())
        return expect_types(call, call.operands, parameters, "argument");
    for (size_t i = 0; i < parameters.size(); i++) {
        const Type* type = type_of(call.operands[i]);
        if (type == nullptr || !passes_as(*type, parameters[i])) {
            complain(call, "argument " + std::to_string(i) + " must be " + print(parameters[i]) + ", is " +
                               (type != nullptr ? print(*type) : "missing"));
        }
    }
}

bool OperandChecks::has_shape(const Instruction& instruction) {
    const OpcodeInfo& info = opcode_info(instruction.opcode);
    if (instruction.operands.size() < least_operands(instruction)) {
        complain(instruction, "needs at least " + std::to_string(least_operands(instruction)) + " operands");
        return false;
    }
    if (instruction.regions.size() != info.regions) {
        complain(instruction, "needs " + std::to_string(info.regions) + " regions");
        return false;
    }
    if (info.results != OpcodeInfo::kAny && instruction.results.size() != info.results) {
        complain(instruction, "needs " + std::to_string(info.results) + " results");
        return false;
    }
    for (const Region& region : instruction.regions) {
        if (region.body.empty()) {
            complain(instruction, "a region is empty");
            return false;
        }
    }
    return true;
}

bool OperandChecks::is_plain_global(const Type& type) {
    return type.is_buffer && type.buffer.space == AddressSpace::kGlobal && type.buffer.sizes.empty();
}

std::vector<Type> OperandChecks::scalar_types(const Instruction& instruction,
                                              std::span<const ValueId> values) {
    std::vector<Type> types;
    for (ValueId value : values) {
        const Type* type = type_of(value);
        if (type == nullptr || type->is_buffer) complain(instruction, "only scalars can be carried");
        types.push_back(type == nullptr ? Type{} : *type);
    }
    return types;
}

std::vector<Type> OperandChecks::types_of(std::span<const ValueId> values) const {
    std::vector<Type> types;
    for (ValueId value : values) types.push_back(valid(value) ? function_.type(value) : Type{});
    return types;
}

ScalarType OperandChecks::element_of(ValueId buffer) const {
    return valid(buffer) ? function_.type(buffer).buffer.element : ScalarType::kFloat64;
}

bool OperandChecks::check_loop(const Instruction& instruction) {
    if (instruction.op == nullptr) {
        complain(instruction, "has no operation");
        return false;
    }
    if (instruction.loop < 0 || static_cast<size_t>(instruction.loop) >= instruction.op->loops.size()) {
        complain(instruction, "has no loop " + std::to_string(instruction.loop));
        return false;
    }
    return true;
}

void OperandChecks::check_atomic_element(const Instruction& instruction, ScalarType element) {
    DType dtype = DType::of(element);
    if (dtype.is_complex() || dtype.is_bool())
        complain(instruction, "there are no atomics on " + std::string(dtype.name()));
}

bool OperandChecks::expect_plain_global(const Instruction& instruction, ValueId value) {
    const bool is_plain = valid(value) && is_plain_global(function_.type(value));
    if (!is_plain) complain(instruction, "gives a global buffer without sizes");
    return is_plain;
}

void OperandChecks::check_strides(const Instruction& instruction, size_t first, ValueId buffer) {
    const std::vector<int64_t>& strides = function_.type(buffer).buffer.strides;
    const auto dynamic = static_cast<size_t>(std::count(strides.begin(), strides.end(), kDynamic));
    if (instruction.operands.size() != first + dynamic) {
        complain(instruction, "needs an operand for each '?' in its strides");
        return;
    }
    for (ValueId stride : std::span(instruction.operands).subspan(first))
        expect(instruction, stride, ScalarType::kInt64, "a stride");
}

void OperandChecks::check_constant(const Instruction& instruction) {
    expect(instruction, instruction.results[0], instruction.constant.type, "the result");
    size_t size = static_cast<size_t>(DType::of(instruction.constant.type).itemsize());
    const auto& bytes = instruction.constant.bytes;
    if (instruction.constant.type == ScalarType::kBool && bytes[0] > 1) {
        complain(instruction, "a bool is 0 or 1");
    }
    if (std::any_of(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end(),
                    [](uint8_t byte) { return byte != 0; })) {
        complain(instruction, "the bytes after the constant are not zero");
    }
}

void OperandChecks::check_apply(const Instruction& instruction) {
    if (!check_loop(instruction)) return;
    const LoopInfo& loop = instruction.op->loops[static_cast<size_t>(instruction.loop)];
    std::vector<Type> inputs, outputs;
    for (ScalarType type : instruction.op->input_types(loop)) inputs.push_back(Type::of(type));
    for (ScalarType type : instruction.op->output_types(loop)) outputs.push_back(Type::of(type));
    expect_types(instruction, instruction.operands, inputs, "operand");
    expect_types(instruction, instruction.results, outputs, "result");
}

}  // namespace weft::ir
