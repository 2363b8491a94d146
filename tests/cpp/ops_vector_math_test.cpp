// The vector math library's vector functions give the bits of the scalar ones that kernels call: an element's
// result must not depend on whether it falls into a vector or into the rest of a loop.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "ops/op.h"

namespace weft {
namespace {

template <typename Function>
Function* find_symbol(const std::string& name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name.c_str()));
}

template <typename T>
std::vector<T> arguments(size_t count, uint64_t seed) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    using Limits = std::numeric_limits<T>;
    const std::vector<T> special = {0,
                                    1,
                                    T(0.5),
                                    2,
                                    T(1e-5),
                                    T(1e22),
                                    T(1e30),
                                    T(88.7),
                                    T(709.7),
                                    T(745),
                                    Limits::max(),
                                    Limits::min(),
                                    Limits::denorm_min(),
                                    Limits::infinity(),
                                    Limits::quiet_NaN(),
                                    1 - Limits::epsilon(),
                                    1 + Limits::epsilon()};
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, 30);
    std::vector<T> values;
    while (values.size() < count) {
        const Bits bits = static_cast<Bits>(random());
        values.push_back(__builtin_bit_cast(T, bits));
        values.push_back(static_cast<T>(normal(random)));
        values.push_back(static_cast<T>(normal(random) / 30));
        const T chosen = special[random() % special.size()];
        values.push_back(random() % 2 == 0 ? chosen : -chosen);
    }
    values.resize(count);
    return values;
}

template <typename T>
void expect_same_bits(const std::string& name, const std::vector<T>& scalar, const std::vector<T>& vector,
                      const std::vector<T>& x, const std::vector<T>& y) {
    size_t differ = 0;
    for (size_t i = 0; i < scalar.size(); ++i) {
        if (scalar[i] != scalar[i] && vector[i] != vector[i]) continue;  // any nan will do
        if (std::memcmp(&scalar[i], &vector[i], sizeof(T)) == 0) continue;
        if (++differ <= 3) {
            ADD_FAILURE() << name << "(" << x[i] << ", " << y[i] << "): scalar " << scalar[i] << ", vector "
                          << vector[i];
        }
    }
    EXPECT_EQ(differ, 0U) << name;
}

// One vector type, with the functions that take it. They are compiled for the instruction set that passes it.
template <typename T, typename Vector>
struct Lanes {
    using One = Vector(Vector);
    using Two = Vector(Vector, Vector);
    static constexpr size_t kCount = sizeof(Vector) / sizeof(T);
};

#define WEFT_RUN_VECTORS(function_name, target_text)                                                       \
    template <typename T, typename Vector>                                                                 \
    __attribute__((target(target_text))) void function_name(void* symbol, int arguments_count, const T* x, \
                                                            const T* y, T* out, size_t count) {            \
        using L = Lanes<T, Vector>;                                                                        \
        for (size_t i = 0; i + L::kCount <= count; i += L::kCount) {                                       \
            Vector a, b, result;                                                                           \
            std::memcpy(&a, x + i, sizeof(Vector));                                                        \
            std::memcpy(&b, y + i, sizeof(Vector));                                                        \
            result = arguments_count == 1 ? reinterpret_cast<typename L::One*>(symbol)(a)                  \
                                          : reinterpret_cast<typename L::Two*>(symbol)(a, b);              \
            std::memcpy(out + i, &result, sizeof(Vector));                                                 \
        }                                                                                                  \
    }
WEFT_RUN_VECTORS(run_avx2, "avx2,fma")
WEFT_RUN_VECTORS(run_avx512, "avx512f")
#undef WEFT_RUN_VECTORS

constexpr size_t kCount = 1 << 14;

template <typename T>
void compare(const VectorMathFunction& function) {
    const auto x = arguments<T>(kCount, 1);
    const auto y = arguments<T>(kCount, 2);
    std::vector<T> scalar(kCount), vector(kCount);
    if (function.arguments == 1) {
        auto* one = find_symbol<T(T)>(function.scalar_symbol);
        ASSERT_NE(one, nullptr) << function.scalar_symbol;
        for (size_t i = 0; i < kCount; ++i) scalar[i] = one(x[i]);
    } else {
        auto* two = find_symbol<T(T, T)>(function.scalar_symbol);
        ASSERT_NE(two, nullptr) << function.scalar_symbol;
        for (size_t i = 0; i < kCount; ++i) scalar[i] = two(x[i], y[i]);
    }
    const std::string stem = std::string("Sleef_finz_") + function.name + (sizeof(T) == 8 ? "d" : "f");
    const auto symbol = [&](size_t bytes, const char* isa) {
        return stem + std::to_string(bytes / sizeof(T)) + "_" + function.accuracy + isa;
    };
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        const std::string name = symbol(32, "avx2");
        void* address = dlsym(RTLD_DEFAULT, name.c_str());
        ASSERT_NE(address, nullptr) << name;
        using Vector = std::conditional_t<sizeof(T) == 8, __m256d, __m256>;
        run_avx2<T, Vector>(address, function.arguments, x.data(), y.data(), vector.data(), kCount);
        expect_same_bits(name, scalar, vector, x, y);
    }
    if (__builtin_cpu_supports("avx512f")) {
        const std::string name = symbol(64, "avx512f");
        void* address = dlsym(RTLD_DEFAULT, name.c_str());
        ASSERT_NE(address, nullptr) << name;
        using Vector = std::conditional_t<sizeof(T) == 8, __m512d, __m512>;
        run_avx512<T, Vector>(address, function.arguments, x.data(), y.data(), vector.data(), kCount);
        expect_same_bits(name, scalar, vector, x, y);
    }
}

TEST(VectorMath, VectorsGiveTheBitsOfScalars) {
    EXPECT_GE(vector_math_functions().size(), 30U);
    for (const VectorMathFunction& function : vector_math_functions()) {
        SCOPED_TRACE(function.scalar_symbol);
        if (function.is_double) {
            compare<double>(function);
        } else {
            compare<float>(function);
        }
    }
}

}  // namespace
}  // namespace weft
