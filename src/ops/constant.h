// One number of any element type, as its bytes: what kernels and reductions take as given.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/dtype.h"

namespace weft {

// The bytes of one scalar constant, in the element's own representation.
struct Constant {
    ScalarType type = ScalarType::kInt64;
    alignas(16) std::array<uint8_t, 16> bytes{};

    template <class T>
    static Constant of(ScalarType type, const T& value) {
        static_assert(sizeof(T) <= 16);
        Constant result;
        result.type = type;
        std::memcpy(result.bytes.data(), &value, sizeof(T));
        return result;
    }
    template <class T>
    T as() const {
        if constexpr (std::is_same_v<T, bool>) return bytes[0] != 0;
        T value;
        std::memcpy(&value, bytes.data(), sizeof(T));
        return value;
    }
    friend bool operator==(const Constant&, const Constant&) = default;
};

}  // namespace weft
