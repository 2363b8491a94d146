// Which C++ types are elements of arrays, and which dtype each is.
#pragma once

#include <complex>
#include <concepts>
#include <ranges>
#include <type_traits>

#include "weft/dtype.h"

namespace weft {

namespace elements_detail {

// None for char and the character types, which are text.
template <class T>
constexpr int scalar_type_of() {
    constexpr auto is_any_of = []<class... Types>(std::type_identity<Types>...) {
        return (std::same_as<T, Types> || ...);
    };
    ScalarType type{};
    if constexpr (std::same_as<T, bool>) {
        type = ScalarType::kBool;
    } else if constexpr (is_any_of(std::type_identity<signed char>{}, std::type_identity<short>{},
                                   std::type_identity<int>{}, std::type_identity<long>{},
                                   std::type_identity<long long>{})) {
        type = sizeof(T) == 1   ? ScalarType::kInt8
               : sizeof(T) == 2 ? ScalarType::kInt16
               : sizeof(T) == 4 ? ScalarType::kInt32
                                : ScalarType::kInt64;
    } else if constexpr (is_any_of(std::type_identity<unsigned char>{}, std::type_identity<unsigned short>{},
                                   std::type_identity<unsigned int>{}, std::type_identity<unsigned long>{},
                                   std::type_identity<unsigned long long>{})) {
        type = sizeof(T) == 1   ? ScalarType::kUInt8
               : sizeof(T) == 2 ? ScalarType::kUInt16
               : sizeof(T) == 4 ? ScalarType::kUInt32
                                : ScalarType::kUInt64;
    } else if constexpr (std::same_as<T, float>) {
        type = ScalarType::kFloat32;
    } else if constexpr (std::same_as<T, double>) {
        type = ScalarType::kFloat64;
    } else if constexpr (std::same_as<T, std::complex<float>>) {
        type = ScalarType::kComplex64;
    } else if constexpr (std::same_as<T, std::complex<double>>) {
        type = ScalarType::kComplex128;
    } else {
        return -1;
    }
    return static_cast<int>(type);
}

}  // namespace elements_detail

/// bool, the integers of 8 to 64 bits, float, double, and std::complex of these two.
template <class T>
concept ElementType = elements_detail::scalar_type_of<T>() >= 0;

/// What lies in memory one element after the other: std::vector, std::array, std::span.
template <class R>
concept ElementRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                       ElementType<std::ranges::range_value_t<R>>;

/// The dtype of a C++ type: dtype_of<float>() is float32.
template <class T>
    requires ElementType<std::remove_const_t<T>>
DType dtype_of() {
    return static_cast<ScalarType>(elements_detail::scalar_type_of<std::remove_const_t<T>>());
}

}  // namespace weft
