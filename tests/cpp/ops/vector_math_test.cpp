// The vector math library's vector functions give the bits of the scalar ones that kernels call: an element's
// result must not depend on whether it falls into a vector or into the rest of a loop.
#include <dlfcn.h>
#include <gtest/gtest.h>

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

// Calls a vector function on one vector, as its ABI wants it. In assembly, since a compiler passes vectors
// wider than those of the instruction set that it compiles the whole file for in memory. The stack is moved
// below the red zone and aligned.
#define WEFT_CALL_VECTOR(function_name, vmovups, first, second)                                              \
    void function_name(void* symbol, const void* x, const void* y, void* out) {                              \
        register void* function asm("r12") = symbol;                                                         \
        register void* result asm("r13") = out;                                                              \
        asm volatile("movq %%rsp, %%rbx\n andq $-64, %%rsp\n subq $256, %%rsp\n" vmovups " (%[x]), %%" first \
                     "\n" vmovups " (%[y]), %%" second "\n call *%[function]\n" vmovups " %%" first          \
                     ", (%[result])\n vzeroupper\n movq %%rbx, %%rsp\n"                                      \
                     : [function] "+r"(function), [result] "+r"(result), [x] "+D"(x), [y] "+S"(y)            \
                     :                                                                                       \
                     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", \
                       "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",   \
                       "xmm14", "xmm15", "memory", "cc");                                                    \
    }
WEFT_CALL_VECTOR(call_avx2, "vmovups", "ymm0", "ymm1")
WEFT_CALL_VECTOR(call_avx512, "vmovups", "zmm0", "zmm1")
#undef WEFT_CALL_VECTOR

constexpr size_t kCount = 1 << 14;  // a multiple of every vector's length

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
    const auto run = [&](size_t bytes, const char* isa, auto call) {
        const std::string name = symbol(bytes, isa);
        void* address = dlsym(RTLD_DEFAULT, name.c_str());
        ASSERT_NE(address, nullptr) << name;
        for (size_t i = 0; i < kCount; i += bytes / sizeof(T)) call(address, &x[i], &y[i], &vector[i]);
        expect_same_bits(name, scalar, vector, x, y);
    };
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) run(32, "avx2", call_avx2);
    if (__builtin_cpu_supports("avx512f")) run(64, "avx512f", call_avx512);
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
