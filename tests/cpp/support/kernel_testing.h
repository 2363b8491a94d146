// Kernels for tests, built from the op table: one operation over one dimension.
#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/complex.h"
#include "device/device.h"
#include "ir/builder.h"
#include "ops/op.h"

namespace weft::testing_kernels {

inline ir::BufferType buffer_type(ScalarType element, int scope, bool readonly, int64_t stride) {
    ir::BufferType type;
    type.element = element;
    type.alias_scope = static_cast<uint16_t>(scope);
    type.readonly = readonly;
    type.strides = {stride};
    return type;
}

// out_j[i] = op(in_0[i], ...) for i in a grid of one dimension, through contiguous or dynamic strides.
// Parameters are the inputs, the outputs and the size.
inline ir::Module elementwise_module(const OpInfo& op, const LoopInfo& loop, bool contiguous = true) {
    ir::Builder builder("kernel");
    std::vector<ir::ValueId> buffers;
    const int operands = op.nin + op.nout;
    for (int i = 0; i < operands; ++i) {
        const ScalarType type = loop.types[static_cast<size_t>(i)];
        const int64_t stride = contiguous ? DType(type).itemsize() : ir::kDynamic;
        buffers.push_back(builder.parameter(ir::Type::of(buffer_type(type, i, i < op.nin, stride)),
                                            (i < op.nin ? "in" : "out") + std::to_string(i)));
    }
    const ir::ValueId sizes[] = {builder.parameter(ir::Type::of(ScalarType::kInt64), "n")};
    builder.parallel(ir::ParallelLevel::kGrid, sizes,
                     [&](ir::Builder& body, std::span<const ir::ValueId> point) -> std::vector<ir::ValueId> {
                         std::vector<ir::ValueId> inputs;
                         for (int i = 0; i < op.nin; ++i)
                             inputs.push_back(body.load(buffers[static_cast<size_t>(i)], point));
                         const std::vector<ir::ValueId> results = body.apply_multiple(op, inputs);
                         for (int i = 0; i < op.nout; ++i) {
                             body.store(buffers[static_cast<size_t>(op.nin + i)],
                                        results[static_cast<size_t>(i)], point);
                         }
                         return {};
                     });
    ir::Module module;
    module.functions.push_back(builder.finish());
    return module;
}

// out[i] = cast(in[i]).
inline ir::Module cast_module(ScalarType from, ScalarType to) {
    ir::Builder builder("kernel");
    const ir::ValueId in =
        builder.parameter(ir::Type::of(buffer_type(from, 0, true, DType(from).itemsize())), "in");
    const ir::ValueId out =
        builder.parameter(ir::Type::of(buffer_type(to, 1, false, DType(to).itemsize())), "out");
    const ir::ValueId sizes[] = {builder.parameter(ir::Type::of(ScalarType::kInt64), "n")};
    builder.parallel(ir::ParallelLevel::kGrid, sizes,
                     [&](ir::Builder& body, std::span<const ir::ValueId> point) -> std::vector<ir::ValueId> {
                         body.store(out, body.cast(body.load(in, point), to), point);
                         return {};
                     });
    ir::Module module;
    module.functions.push_back(builder.finish());
    return module;
}

// The operand types of a loop as NumPy writes them: "dd->d".
inline std::string signature(const OpInfo& op, const LoopInfo& loop) {
    std::string text;
    for (int i = 0; i < op.nin + op.nout; ++i) {
        if (i == op.nin) text += "->";
        text += DType(loop.types[static_cast<size_t>(i)]).character();
    }
    return text;
}

// Values of which many are special or small, so that every branch of an operation is met.
inline void fill(std::span<char> bytes, ScalarType type, std::mt19937_64& random) {
    const auto put = [&](size_t offset, auto value) {
        std::memcpy(bytes.data() + offset, &value, sizeof(value));
    };
    const auto real = [&]() -> double {
        switch (random() % 8) {
            case 0: return static_cast<double>(static_cast<int64_t>(random() % 21)) - 10;
            case 1: return 0.0;
            case 2: return -0.0;
            case 3: return std::numeric_limits<double>::infinity() * (random() % 2 == 0 ? 1 : -1);
            case 4: return std::numeric_limits<double>::quiet_NaN();
            case 5:
                return std::ldexp(static_cast<double>(random()) / 0x1p63 - 1,
                                  static_cast<int>(random() % 200) - 100);
            default: return static_cast<double>(random()) / 0x1p63 * 2 - 2;
        }
    };
    const auto size = static_cast<size_t>(DType(type).itemsize());
    for (size_t offset = 0; offset + size <= bytes.size(); offset += size) {
        switch (type) {
            case ScalarType::kBool: put(offset, static_cast<uint8_t>(random() % 2)); break;
            case ScalarType::kFloat16: put(offset, static_cast<_Float16>(real())); break;
            case ScalarType::kBFloat16: put(offset, static_cast<BFloat16>(real())); break;
            case ScalarType::kFloat32: put(offset, static_cast<float>(real())); break;
            case ScalarType::kFloat64: put(offset, real()); break;
            case ScalarType::kComplex64:
                put(offset, static_cast<float>(real()));
                put(offset + 4, static_cast<float>(real()));
                break;
            case ScalarType::kComplex128:
                put(offset, real());
                put(offset + 8, real());
                break;
            default: {  // integers
                const uint64_t value =
                    random() % 3 == 0 ? random() : random() % 13 - (random() % 2 == 0 ? 3 : 0);
                std::memcpy(bytes.data() + offset, &value, size);
            }
        }
    }
}

// Equal bits, or both NaN (whose sign and payload no one promises).
inline bool same_value(const char* left, const char* right, ScalarType type) {
    const auto size = static_cast<size_t>(DType(type).itemsize());
    if (std::memcmp(left, right, size) == 0) return true;
    const auto both_nan = [&](auto zero, size_t offset) {
        auto a = zero;
        auto b = zero;
        std::memcpy(&a, left + offset, sizeof(a));
        std::memcpy(&b, right + offset, sizeof(b));
        return (a != a && b != b) || std::memcmp(&a, &b, sizeof(a)) == 0;
    };
    switch (type) {
        case ScalarType::kFloat16: return both_nan(_Float16{}, 0);
        case ScalarType::kBFloat16: return both_nan(BFloat16(0), 0);
        case ScalarType::kFloat32: return both_nan(0.0F, 0);
        case ScalarType::kFloat64: return both_nan(0.0, 0);
        case ScalarType::kComplex64: return both_nan(0.0F, 0) && both_nan(0.0F, 4);
        case ScalarType::kComplex128: return both_nan(0.0, 0) && both_nan(0.0, 8);
        default: return false;
    }
}

}  // namespace weft::testing_kernels
