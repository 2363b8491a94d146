#include <random>

#include "support/ir_random_generator.h"

namespace weft::ir {

RandomArguments::RandomArguments(const Module& module, uint64_t seed)
    : kernel_(module.functions.back()), size_(kSize), memory_(kernel_.parameters.size()) {
    std::mt19937_64 random(seed);
    for (size_t i = 0; i < memory_.size(); i++) {
        const Type& type = kernel_.type(kernel_.parameters[i]);
        if (!type.is_buffer) continue;
        memory_[i].resize(static_cast<size_t>(size_ * DType::of(type.scalar).itemsize()));
        // Small numbers, so that operations meet ordinary operands.
        for (int64_t k = 0; k < size_; k++) {
            Constant from = Constant::of(ScalarType::kFloat64, static_cast<double>(random() % 64) / 4 - 5);
            char* data[] = {reinterpret_cast<char*>(from.bytes.data()),
                            memory_[i].data() + k * DType::of(type.scalar).itemsize()};
            int64_t strides[] = {0, 0};
            cast_loop(ScalarType::kFloat64, type.scalar).loop(data, strides, 1);
        }
    }
}

std::vector<OracleArgument> RandomArguments::arguments() const {
    std::vector<OracleArgument> result;
    for (size_t i = 0; i < memory_.size(); i++) {
        const Type& type = kernel_.type(kernel_.parameters[i]);
        if (!type.is_buffer) {
            result.emplace_back(Constant::of(ScalarType::kInt64, size_));
            continue;
        }
        OracleBuffer buffer;
        buffer.base = buffer.low = const_cast<char*>(memory_[i].data());
        buffer.high = buffer.low + memory_[i].size();
        buffer.strides = {DType::of(type.scalar).itemsize()};
        result.emplace_back(buffer);
    }
    return result;
}

std::vector<uint64_t> RandomArguments::words() const {
    std::vector<uint64_t> result;
    for (size_t i = 0; i < memory_.size(); i++) {
        const Type& type = kernel_.type(kernel_.parameters[i]);
        result.push_back(type.is_buffer ? reinterpret_cast<uint64_t>(memory_[i].data())
                                        : static_cast<uint64_t>(size_));
        if (type.is_buffer && type.buffer.strides[0] == kDynamic) {
            result.push_back(static_cast<uint64_t>(DType::of(type.scalar).itemsize()));
        }
    }
    return result;
}

}  // namespace weft::ir
