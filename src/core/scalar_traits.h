// The bridge between `ScalarType` at run time and C++ types at compile time: `scalar_type_of<double>`,
// `CppType<ScalarType::kFloat64>` and `visit_scalar_type`, which calls a generic function with the type.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/complex.h"
#include "weft/dtype.h"

namespace weft {

template <ScalarType type>
struct CppTypeOf;
template <typename T>
struct ScalarTypeOf;

#define WEFT_SCALAR_TYPE(enumerator, name, character, kind, type, size, short_name) \
    template <>                                                                     \
    struct CppTypeOf<ScalarType::enumerator> {                                      \
        using Type = type;                                                          \
        static_assert(sizeof(type) == size);                                        \
    };                                                                              \
    template <>                                                                     \
    struct ScalarTypeOf<type> : std::integral_constant<ScalarType, ScalarType::enumerator> {};
#include "weft/scalar_types.def"
#undef WEFT_SCALAR_TYPE

template <ScalarType type>
using CppType = typename CppTypeOf<type>::Type;

template <typename T>
constexpr ScalarType scalar_type_of = ScalarTypeOf<T>::value;

/// float16 and bfloat16, as `DType::is_half_float`.
template <typename T>
constexpr bool is_half_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// A type as a value, for generic functions: `[](auto tag) { using T = typename decltype(tag)::Type; … }`.
template <typename T>
struct TypeTag {
    using Type = T;
};

/// Calls `function(TypeTag<T>{})` with the C++ type of `type`.
template <typename Function>
decltype(auto) visit_scalar_type(ScalarType type, Function&& function) {
    switch (type) {
#define WEFT_SCALAR_TYPE(enumerator, name, character, kind, cpp_type, size, short_name) \
    case ScalarType::enumerator: return std::forward<Function>(function)(TypeTag<cpp_type>{});
#include "weft/scalar_types.def"
#undef WEFT_SCALAR_TYPE
    }
    __builtin_unreachable();
}

/// An element at any address. A bool's byte may hold anything; all but 0 are true.
template <typename T>
T load_element(const void* address) {
    if constexpr (std::is_same_v<T, bool>) {
        return *static_cast<const uint8_t*>(address) != 0;
    } else {
        T value;
        std::memcpy(&value, address, sizeof(T));
        return value;
    }
}

}  // namespace weft
