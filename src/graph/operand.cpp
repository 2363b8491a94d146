#include "graph/operand.h"

#include <cmath>
#include <complex>
#include <cstring>

#include "core/config.h"
#include "core/shape.h"

namespace weft {

namespace {

double double_of(const Integer& value) {
    if (!value.huge) {
        const auto magnitude = static_cast<double>(value.magnitude);
        return value.negative ? -magnitude : magnitude;
    }
    if (std::isinf(value.approximation)) throw OverflowError("int too large to convert to float");
    return value.approximation;
}

template <class T>
ScalarBytes cast_scalar(ScalarType from, const T& value, DType to) {
    alignas(16) ScalarBytes input{}, output{};
    std::memcpy(input.data(), &value, sizeof value);
    char* const data[2] = {reinterpret_cast<char*>(input.data()), reinterpret_cast<char*>(output.data())};
    const int64_t strides[2] = {0, 0};
    cast_loop(from, to.scalar_type()).loop(data, strides, 1);
    return output;
}

}  // namespace

WideInteger wide_integer(const Integer& value) {
    if (value.huge) {
        const WideInteger clamp = WideInteger{1} << 100;
        return value.negative ? -clamp : clamp;
    }
    const auto magnitude = static_cast<WideInteger>(value.magnitude);
    return value.negative ? -magnitude : magnitude;
}

OperandType operand_type(const Argument& argument) {
    if (const auto* input = std::get_if<array>(&argument)) return input->dtype();
    if (std::holds_alternative<bool>(argument)) return ScalarType::kBool;
    if (std::holds_alternative<Integer>(argument)) return WeakKind::kInt;
    if (std::holds_alternative<double>(argument)) return WeakKind::kFloat;
    return WeakKind::kComplex;
}

ScalarBytes constant_bytes(const Argument& value, DType dtype) {
    if (const auto* integer = std::get_if<Integer>(&value)) {
        if (dtype.is_integer()) {
            check_python_int_fits(wide_integer(*integer), dtype);
            const uint64_t bits = integer->negative ? 0 - integer->magnitude : integer->magnitude;
            return cast_scalar(ScalarType::kUInt64, bits, dtype);
        }
        if (dtype.is_bool())
            return cast_scalar(ScalarType::kBool, integer->huge || integer->magnitude != 0, dtype);
        return cast_scalar(ScalarType::kFloat64, double_of(*integer), dtype);
    }
    if (const auto* real = std::get_if<double>(&value))
        return cast_scalar(ScalarType::kFloat64, *real, dtype);
    if (const auto* truth = std::get_if<bool>(&value)) return cast_scalar(ScalarType::kBool, *truth, dtype);
    if (const auto* number = std::get_if<std::complex<double>>(&value)) {
        return cast_scalar(ScalarType::kComplex128, *number, dtype);
    }
    throw InternalError("constant_bytes of an array");
}

Operand constant_operand(const ScalarBytes& bytes, DType dtype, const Dims& shape) {
    Operand operand;
    operand.constant = bytes;
    operand.dtype = dtype;
    operand.strides = Dims(shape.size());
    return operand;
}

Operand read_operand(const array& input, const Dims& shape) {
    Operand operand;
    operand.source = current_version(*input.storage());
    operand.dtype = input.dtype();
    operand.strides = broadcast_strides(input.shape(), input.strides(), shape);
    operand.offset = input.offset();
    return operand;
}

array array_of(const NodePtr& node, uint32_t result, const Dims& shape) {
    const NodeResult& info = node->results[result];
    Source source;
    source.node = node;
    source.result = result;
    auto storage = std::allocate_shared<Storage>(ObjectAllocator<Storage>(), std::move(source), info.bytes);
    return array(std::move(storage), info.dtype, shape, info.strides, 0, true);
}

array array_of(BufferPtr buffer, DType dtype, Dims shape, Dims strides) {
    return array(make_storage(std::move(buffer)), dtype, std::move(shape), std::move(strides), 0, true);
}

bool is_exported(const array& input) { return input.storage()->exported(); }

bool is_exported(const Argument& value) {
    const auto* source = std::get_if<array>(&value);
    return source != nullptr && is_exported(*source);
}

bool is_small(int64_t elements) { return elements <= config().small_limit.load(std::memory_order_relaxed); }

}  // namespace weft
