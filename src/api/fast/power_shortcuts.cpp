#include "api/fast/power_shortcuts.h"

#include <cstring>
#include <variant>

#include "core/float_errors.h"
#include "graph/operand.h"
#include "graph/storage.h"

namespace weft {

namespace {

using Reduced = std::optional<StrengthReducedPower>;

Reduced operation_of(double exponent) {
    if (exponent == 3) return StrengthReducedPower{&op_info(OpId::kSquare), true};
    const std::optional<OpId> operation = operation_of_exponent(exponent);
    return operation ? Reduced(StrengthReducedPower{&op_info(*operation)}) : Reduced();
}

template <class T>
double number_of(const void* bytes) {
    T number;
    std::memcpy(&number, bytes, sizeof number);
    return static_cast<double>(number);
}

Reduced operation_of(ScalarType type, const void* exponent) {
    return operation_of(type == ScalarType::kFloat32 ? number_of<float>(exponent)
                                                     : number_of<double>(exponent));
}

// NumPy asks whether the exponent's stride is zero, as it is where there are no dimensions, where its one
// element is repeated, and where operands of one element are brought to one number of dimensions.
bool is_one_for_all(const array& exponent, const array* base) {
    if (exponent.ndim() == 0) return true;
    if (exponent.size() != 1 || base == nullptr || base->ndim() == 0) return false;
    return exponent.ndim() != base->ndim() || base->size() > 1;
}

}  // namespace

Reduced strength_reduced_power(const OpInfo& op, ScalarType loop_type, const Argument& base,
                               const Argument& exponent) {
    if (op.id != OpId::kPower) return {};
    if (loop_type != ScalarType::kFloat32 && loop_type != ScalarType::kFloat64) return {};
    if (ScalarOperation::is_current()) return {};  // NumPy's scalars have operators of their own
    const auto* one = std::get_if<array>(&exponent);
    if (one == nullptr) return operation_of(loop_type, constant_bytes(exponent, loop_type).data());
    if (!is_one_for_all(*one, std::get_if<array>(&base)) || !one->storage()->device.is_cpu()) return {};
    alignas(16) ScalarBytes bytes;
    if (!try_read(*one, one->offset(), bytes.data())) return {};
    GivenOperand number;
    number.set_number(one->dtype(), bytes.data());
    return number.convert(loop_type) ? operation_of(loop_type, number.number) : Reduced();
}

bool may_be_strength_reduced(const OpInfo& op, std::span<const GivenOperand> inputs) {
    if (op.id != OpId::kPower) return false;
    const GivenOperand& exponent = inputs[1];
    if (exponent.value != nullptr) return exponent.value->ndim() == 0 || exponent.value->size() == 1;
    switch (exponent.type.dtype.scalar_type()) {
        case ScalarType::kFloat64: return operation_of(number_of<double>(exponent.number)).has_value();
        case ScalarType::kInt64: return operation_of(number_of<int64_t>(exponent.number)).has_value();
        default: return true;
    }
}

}  // namespace weft
