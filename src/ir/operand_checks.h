// What is wrong with an instruction whatever is around it: how many operands it has, and their types.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace weft::ir {

class OperandChecks {
protected:
    explicit OperandChecks(const Function& function) : function_(function) {}

    // Notes what is wrong.
    void complain(const std::string& message);
    void complain(const Instruction& instruction, const std::string& message);
    bool valid(ValueId value) const;
    std::string name(ValueId value) const;
    const Type* type_of(ValueId value) const;
    bool is_scalar(ValueId value, ScalarType scalar) const;
    void expect(const Instruction& instruction, ValueId value, ScalarType scalar, const std::string& what);
    void expect_types(const Instruction& instruction, std::span<const ValueId> values,
                      std::span<const Type> types, const std::string& what);
    void expect_arguments(const Instruction& call, std::span<const Type> parameters);
    // What ir/opcodes.def says of numbers.
    bool has_shape(const Instruction& instruction);
    static bool is_plain_global(const Type& type);
    std::vector<Type> scalar_types(const Instruction& instruction, std::span<const ValueId> values);
    std::vector<Type> types_of(std::span<const ValueId> values) const;
    ScalarType element_of(ValueId buffer) const;
    bool check_loop(const Instruction& instruction);
    void check_atomic_element(const Instruction& instruction, ScalarType element);
    bool expect_plain_global(const Instruction& instruction, ValueId value);
    // An operand from `first` on for each dynamic stride.
    void check_strides(const Instruction& instruction, size_t first, ValueId buffer);
    void check_constant(const Instruction& instruction);
    void check_apply(const Instruction& instruction);

    const Function& function_;
    std::vector<std::string> errors_;
};

}  // namespace weft::ir
