#include "lang/c_source/atomics.h"

#include <map>
#include <string>

namespace weft::lang::c_source {

Atomic atomic_of(Numbers& numbers, std::string_view operation, ScalarType element, const Number& value,
                 const Place& place) {
    static const std::map<std::string_view, OpId> kOperations = {
        {"atomicAdd", OpId::kAdd},       {"atomicSub", OpId::kAdd},        {"atomicMax", OpId::kMaximum},
        {"atomicMin", OpId::kMinimum},   {"atomicAnd", OpId::kBitwiseAnd}, {"atomicOr", OpId::kBitwiseOr},
        {"atomicXor", OpId::kBitwiseXor}};
    const auto found = kOperations.find(operation);
    if (found == kOperations.end())
        throw OutsideSubset(place, std::string(operation) + "() is outside of the subset");
    const DType type(element);
    const bool is_bitwise = found->second == OpId::kBitwiseAnd || found->second == OpId::kBitwiseOr ||
                            found->second == OpId::kBitwiseXor;
    if (type.is_bool() || type.is_complex() || (is_bitwise && !type.is_integer()))
        throw OutsideSubset(place, "a " + c_name(element) + " has no " + std::string(operation) + "()");
    Number operand = numbers.convert(value, element, place);
    if (operation == "atomicSub") operand = {element, numbers.builder().apply(OpId::kNegative, {operand.id})};
    return {&op_info(found->second), operand};
}

}  // namespace weft::lang::c_source
