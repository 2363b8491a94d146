// Templates of ir/ir.h.
#pragma once

#include <cstring>

namespace weft::ir {

template <class T>
Constant Constant::of(ScalarType type, const T& value) {
    static_assert(sizeof(T) <= 16);
    Constant result;
    result.type = type;
    std::memcpy(result.bytes.data(), &value, sizeof(T));
    return result;
}

template <class T>
T Constant::as() const {
    if constexpr (std::is_same_v<T, bool>) return bytes[0] != 0;
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
}

}  // namespace weft::ir
