// The C++ front end of element-wise kernels. Most tests give a body to it and to the compiler of this file,
// and compare what both make of it.
#include "lang/c_source/elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lang/c_source/ranges.h"
#include "lang/c_source_bodies.h"

namespace weft::lang::c_source {
namespace {

// NOLINTBEGIN
#define IN_ALL_TYPES(...)                         \
    SAME(int8_t, uint8_t, double, __VA_ARGS__);   \
    SAME(uint16_t, int16_t, double, __VA_ARGS__); \
    SAME(bool, int32_t, double, __VA_ARGS__);     \
    SAME(uint32_t, int8_t, double, __VA_ARGS__);  \
    SAME(int32_t, uint32_t, double, __VA_ARGS__); \
    SAME(int64_t, uint32_t, double, __VA_ARGS__); \
    SAME(uint64_t, int8_t, double, __VA_ARGS__);  \
    SAME(float, int64_t, double, __VA_ARGS__);    \
    SAME(double, float, double, __VA_ARGS__);     \
    SAME(uint64_t, float, double, __VA_ARGS__)

#define IN_INTEGER_TYPES(...)                      \
    SAME(int8_t, uint8_t, int64_t, __VA_ARGS__);   \
    SAME(uint16_t, int16_t, int64_t, __VA_ARGS__); \
    SAME(bool, int32_t, int64_t, __VA_ARGS__);     \
    SAME(uint32_t, int8_t, int64_t, __VA_ARGS__);  \
    SAME(int64_t, uint32_t, int64_t, __VA_ARGS__); \
    SAME(uint64_t, int8_t, int64_t, __VA_ARGS__)
// NOLINTEND

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wsign-compare"
#pragma clang diagnostic ignored "-Wempty-body"
#pragma clang diagnostic ignored "-Wint-in-bool-context"
#pragma clang diagnostic ignored "-Wparentheses"
#pragma clang diagnostic ignored "-Wunused-value"
#pragma clang diagnostic ignored "-Wdangling-else"
#pragma clang diagnostic ignored "-Wbool-operation"
#pragma clang diagnostic ignored "-Wtautological-constant-out-of-range-compare"
#pragma clang diagnostic ignored "-Wtautological-compare"
#pragma clang diagnostic ignored "-Wconstant-conversion"
#pragma clang diagnostic ignored "-Wimplicit-const-int-float-conversion"
#pragma clang diagnostic ignored "-Wshift-op-parentheses"
#pragma clang diagnostic ignored "-Wlogical-op-parentheses"
#pragma clang diagnostic ignored "-Wbitwise-op-parentheses"

TEST(CSource, ArithmeticConvertsAsCDoes) {
    IN_ALL_TYPES(y = x + z * 0.5f);
    IN_ALL_TYPES(y = x / 4 + z * 0.25);
    IN_ALL_TYPES(y = -x);
    IN_ALL_TYPES(y = +z - 1u);
    IN_ALL_TYPES(y = x * 1.1f);
    IN_ALL_TYPES(y = 1 - x / 3.0);
}

TEST(CSource, ComparisonsConvertAsCDoes) {
    IN_ALL_TYPES(y = (x < z) + 2 * (x > z) + 4 * (x <= z) + 8 * (x >= z) + 16 * (x == z) + 32 * (x != z));
    IN_ALL_TYPES(y = x < -1);
    IN_ALL_TYPES(y = z > 3000000000u);
    IN_ALL_TYPES(y = !x + (x && z) * 2 + (x || z) * 4);
    IN_ALL_TYPES(y = x < z ? x : z);
}

TEST(CSource, IntegersDivideTowardsZero) {
    IN_INTEGER_TYPES(y = (x & 127) / ((z & 15) + 1));
    IN_INTEGER_TYPES(y = -(x & 127) / ((z & 15) + 1));
    IN_INTEGER_TYPES(y = -(x & 127) % ((z & 15) + 1));
    SAME(int32_t, int32_t, int64_t, y = (x / 3) * 1000 + x % 7);
    SAME(int64_t, int32_t, int64_t, y = x / -7 + x % -7);
    SAME(uint64_t, int32_t, uint64_t, y = x / 10 + x % 10);
}

TEST(CSource, Bits) {
    IN_INTEGER_TYPES(y = (x & z) + (x | z) + (x ^ z));
    IN_INTEGER_TYPES(y = ~x);
    IN_INTEGER_TYPES(y = (x & 63) << 3);
    IN_INTEGER_TYPES(y = x >> 2);
    IN_INTEGER_TYPES(y = x >> (z & 3));
    IN_INTEGER_TYPES(y = 1 << 3 + 1);
    IN_INTEGER_TYPES(y = x & 3 == 3);
}

TEST(CSource, Literals) {
    SAME(int32_t, int32_t, double, y = 2147483647 + 0.0);
    SAME(int32_t, int32_t, double, y = 2147483648 - 1);
    SAME(int32_t, int32_t, double, y = 0xffffffff + 1);
    SAME(int32_t, int32_t, double, y = 4294967295 + 1);
    SAME(int32_t, int32_t, double, y = 0x7fffffffffffffff);
    SAME(int32_t, int32_t, double, y = 18446744073709551615u);
    SAME(int32_t, int32_t, double, y = 017 + 0b101 + 1'000'000);
    SAME(int32_t, int32_t, double, y = 'a' + '\n' + '\\');
    SAME(int32_t, int32_t, double, y = 0.1f + 0.1 + .5 + 1. + 1e3 + 1.5e-2f + 0x1.8p3);
    SAME(int32_t, int32_t, double, y = true + true - false);
    SAME(int32_t, int32_t, double, y = 1u - 2 > 0);
    SAME(int32_t, int32_t, uint64_t,
         y = sizeof(int) + sizeof(double) * 10 + sizeof(x) * 100 + sizeof(x + 1ll) * 1000);
}

TEST(CSource, CastsAndAssignments) {
    SAME(int32_t, int32_t, int64_t, y = (signed char)x + (unsigned char)z + short(x) + (unsigned short)(z));
    SAME(int64_t, int32_t, int64_t, y = static_cast<int>(x) + int{z} + unsigned(z) + (bool)x);
    SAME(int32_t, float, int64_t, y = (z > -100 && z < 100) ? int(z) : 7);
    SAME(double, float, float, y = (float)x / 3 + z);
    SAME(int32_t, int32_t, int8_t, y = x; y += z & 1; y -= 1; y *= 3);
    SAME(uint8_t, int32_t, uint8_t, y = x; y <<= 1; y >>= 2; y |= 5; y &= 0x7f; y ^= z; y /= 3; y %= 5);
    SAME(int32_t, int32_t, int64_t, long long a, b = 2; y = (a = x & 7, b += a, a * b));
    SAME(int32_t, int32_t, int64_t, int a = x & 7; y = a++ * 100; y += ++a; y -= a--; y += --a * 1000;
         y += a);
    SAME(uint8_t, int32_t, int64_t, unsigned char a = x; a++; y = a; a = z; --a; y += a);
    SAME(int32_t, int32_t, int64_t, int a = 1; int b = a += 2; y = b * 10 + (a *= 5));
    SAME(int32_t, int32_t, bool, y = x; y = y + 2);
}

TEST(CSource, BranchesAndBlocks) {
    SAME(
        int32_t, int32_t, int64_t, if (x > z) y = 1; else if (x == z) y = 2; else {
            y = 3;
            y *= 2;
        });
    SAME(
        int32_t, int32_t, int64_t, int a = 1; {
            int a = 2;
            y = a;
            a = 5;
        } y += a * 10);
    SAME(
        int32_t, int32_t, int64_t, int a = x; if (x > 0) {
            a = z;
            if (z > 0) a += 3;
        } y = a);
    SAME(int32_t, int32_t, int64_t, int a = 0; if (x > 0 && (a = z) > 3) a += 10; y = a);
    SAME(int32_t, int32_t, int64_t, int a = 0; if (x > 0 || (a = z) > 3) a += 10; y = a);
    SAME(int32_t, int32_t, int64_t, int a = 1; int b = 2; y = x > 0 ? (a = 5) : (b = 7);
         y += a * 10 + b * 100);
    SAME(int32_t, float, double, y = x > 0 ? x : z);
    SAME(int8_t, int8_t, int64_t, y = sizeof(x > 0 ? x : z));
    SAME(int32_t, int32_t, int64_t, ;; {} if (x); y = 4);
}

TEST(CSource, Loops) {
    SAME(int32_t, int32_t, int64_t, for (int k = 0; k < (x & 15); ++k) y += k);
    SAME(int32_t, int32_t, int64_t, int k = x & 15; while (k-- > 0) y = y * 3 + k; y += k);
    SAME(int32_t, int32_t, int64_t, int k = x & 7; do { y += k; } while (--k > 2); y = y * 10 + k);
    SAME(
        int32_t, int32_t, int64_t, for (int k = 0;; k++) {
            if (k > (x & 15)) break;
            if (k & 1) continue;
            y += k;
        });
    SAME(
        int32_t, int32_t, int64_t, int k = 0; do {
            ++k;
            if (k == 3) continue;
            if (k == 7) break;
            y += k;
        } while (k < (x & 15)));
    SAME(
        int32_t, int32_t, int64_t, for (int k = 0; k < 5; ++k) for (int j = 0; j < k; j += 2) {
            if (j == (x & 3)) break;
            y = y * 2 + j;
        });
    SAME(
        int32_t, int32_t, int64_t, int j = 3; for (int k = 0, m = 9; k < m; ++k, --m) {
            y += k * m;
            j = k;
        } y += j);
    SAME(
        int32_t, int32_t, int64_t, int k = 0; while (true) {
            if (k > 4) {
                if (x > 0) break;
                y += 100;
                break;
            } else {
                k += 2;
            }
            y += k;
        });
    SAME(int32_t, int32_t, int64_t, int k; for (k = 0; k < 3; ++k) {} y = k);
    SAME(int32_t, int32_t, int64_t, int k = 5; while (k > 0 && (k -= 2) != (x & 3)) y += k);
}

TEST(CSource, MathFunctions) {
    SAME(double, float, double, y = floor(x) + ceil(z) + trunc(x) - rint(z));
    SAME(double, float, double, y = round(x) + round(z) * 10);
    SAME(double, float, double, y = sqrt(fabs(x)) + sqrtf(fabsf(z)));
    SAME(float, int32_t, double, y = sqrt(z & 255) + fmod(z & 255, 7));
    SAME(double, float, double, y = fmax(x, z) + fmin(x, 1.0));
    SAME(double, double, double, y = copysign(x, z) + fdim(x, z));
    SAME(double, double, double, y = fma(x, z, 1.5));
    SAME(double, float, bool, y = std::isnan(x) || std::isinf(z));
    SAME(double, float, int32_t, y = std::isfinite(x) + 2 * std::signbit(z));
    SAME(double, float, double, y = ldexp(x, 3) + ldexp(z, -2));
    SAME(int32_t, int64_t, int64_t,
         y = (std::abs(x) & 1023) + std::min(1, x & 3) + std::max<long long>(x, z));
    SAME(float, double, double, y = fabs(x) * INFINITY);
    SAME(int32_t, int32_t, double, y = INT_MAX + 1.0 + UINT_MAX);
}

#pragma clang diagnostic pop

int64_t value_of(const std::string& body, const std::string& preamble = {}) {
    ElementSource source = source_of(body);
    source.preamble.text = preamble;
    source.value = ScalarType::kInt64;
    return run(lower_elements("value", source), {})[0].as<int64_t>();
}

std::string message_of(const std::string& body, const std::string& preamble = {}) {
    try {
        value_of(body, preamble);
    } catch (const OutsideSubset& error) {
        return error.what();
    }
    return {};
}

TEST(CSource, Preambles) {
    EXPECT_EQ(value_of("N + TWICE(N + 1)", "#define N 3 // three\n#define TWICE(v) (2 * (v))\n"), 11);
    EXPECT_EQ(value_of("A", "#define A B\n#define B A + 1\nconst int A0 = 1;\n#undef A\n#define A 4"), 4);
    EXPECT_EQ(value_of("f(2) + g(3)",
                       "__device__ int g(int v);\n"
                       "__device__ __forceinline__ int f(const int& v) { return g(v) + 1; }\n"
                       "static inline int g(int v) { return v * v; }"),
              14);
    EXPECT_EQ(value_of("larger(2, 5) + larger<long long>(7, 1)",
                       "template <class T> __device__ T larger(T a, T b) { if (a > b) return a; return b; }"),
              12);
    EXPECT_EQ(
        value_of(
            "same(1) + same(1.0f) * 10 + same(1.0) * 100",
            "int same(int v) { return 1; } int same(float v) { return 2; } int same(double v) { return 3; }"),
        321);
    EXPECT_EQ(value_of("(number)300 + k",
                       "typedef unsigned char number; using word = int; const word k = 5, j = 2;"),
              49);
    EXPECT_EQ(value_of("count(10)",
                       "int count(int n) { int c = 0; for (int k = 0; k < n; ++k) { if (k == 4) return c; c "
                       "+= k; } return -1; }"),
              6);
    EXPECT_EQ(
        value_of("f(1)",
                 "#include <math.h>\n#include <cupy/complex.cuh>\n#pragma once\nint f(int) { return 2; }"),
        2);
}

TEST(CSource, FunctionsWriteThroughReferences) {
    const char* const preamble =
        "__device__ void both(int v, int& twice, long long& square) {\n"
        "    twice = 2 * v;\n    if (v == 3) return;\n    square = (long long)v * v;\n}\n"
        "template <class T> int counted(T& v) { for (int k = 0; k < 3; ++k) v += k; return 7; }\n"
        "long long of(int v) { int a; long long b = 5; both(v, a, b); return a * 100 + b; }\n";
    EXPECT_EQ(value_of("of(3)", preamble), 605);
    EXPECT_EQ(value_of("of(4)", preamble), 816);
    EXPECT_NE(message_of("counted(1)", preamble).find("no counted() takes these arguments"),
              std::string::npos);
    EXPECT_NE(message_of("both(1, 2, 3)", preamble).find("no both() takes these arguments"),
              std::string::npos);
    EXPECT_NE(message_of("nothing() + 1", "void nothing() {}").find("gives nothing"), std::string::npos);
    ElementSource source = source_of(
        "int c = 10; for (int k = 0; k < 2; ++k) { if (k) counted(c); } y = c * 10 + counted(c); y = y * 100 "
        "+ c;");
    source.preamble.text = preamble;
    source.outputs = {{"y", ScalarType::kInt32}};
    EXPECT_EQ(run(lower_elements("test", source), {})[0].as<int32_t>(), (130 + 7) * 100 + 16);
}

TEST(CSource, ConditionsOfThePreprocessor) {
    EXPECT_EQ(value_of("N", "#define A\n#ifdef A\n#define N 1\n#else\n#define N 2\n#endif"), 1);
    EXPECT_EQ(value_of("N", "#ifdef A\n#define N 1\n#else\n#define N 2\n#endif"), 2);
    EXPECT_EQ(value_of("N", "#ifndef A\n#ifdef B\n#define N 3\n#endif\n#define N 4\n#endif"), 4);
    EXPECT_EQ(
        value_of(
            "N",
            "#ifdef A\n# ifdef B\n#define N 3\n# else\n#define N 6\n# endif\n#else\n#define N 5\n#endif"),
        5);
    EXPECT_NE(message_of("1", "#ifdef A\n").find("no #endif"), std::string::npos);
    EXPECT_NE(message_of("1", "#define A\n#ifdef A\n").find("no #endif"), std::string::npos);
    EXPECT_NE(message_of("1", "#endif\n").find("no #ifdef"), std::string::npos);
    EXPECT_NE(message_of("1", "#ifdef __CUDA_ARCH__\n#endif").find("__CUDA_ARCH__"), std::string::npos);
}

TEST(CSource, WhatCLeavesUndefinedHasAResult) {
    EXPECT_EQ(value_of("1 / 0 + 7 % 0"), 0);
    EXPECT_EQ(value_of("INT_MIN / -1"), INT_MIN);
    EXPECT_EQ(value_of("INT_MIN % -1"), 0);
    EXPECT_EQ(value_of("1 << 40"), 0);
    EXPECT_EQ(value_of("-1 >> 100"), -1);
    EXPECT_EQ(value_of("1 << -1"), 0);
    EXPECT_EQ(value_of("INT_MAX + 1"), INT_MIN);
    EXPECT_NO_THROW(value_of("(int)1e300 + (unsigned char)-5.5 + (int)NAN"));
}

TEST(CSource, ArraysOfABodysOwnAreMemory) {
    IN_ALL_TYPES(double w[3] = {1, 2}; w[2] += x; w[0] = w[2] * w[1]; y = w[0] + w[1]++ + w[1]);
    IN_ALL_TYPES(const int n = 2; float w[n + 1][n] = {{1, 2}, {3}};
                 for (int k = 0; k < 3; k++) w[k][k & 1] += k; y = 0;
                 for (int k = 0; k < 6; k++) y = y * 3 + w[k / 2][k % 2];);
    IN_ALL_TYPES(unsigned char w[] = {250, 9, 0}; w[1] += 250; w[0] *= 2;
                 y = w[0] + w[1] * 1000 + sizeof(w););
    IN_ALL_TYPES(int w[4] = {3, 1, 2, 0}; for (int a = 1; a < 4; a++) {
        int t = w[a];
        int b = a - 1;
        while (b >= 0 && w[b] > t) {
            w[b + 1] = w[b];
            b--;
        }
        w[b + 1] = t;
    } y = w[0] + 10 * w[1] + 100 * w[2] + 1000 * w[3];);
    IN_ALL_TYPES(int w[20] = {1}; int w2[2][2] = {{1, 2}, {3}}; {
        int w[1] = {7};
        y = w[0];
    } y += w[0] + w[19] + w2[1][0];);
}

TEST(CSource, SwitchesAreBranches) {
    IN_ALL_TYPES(switch ((int)(z > 1) + 2 * (z > 50)) {
        case 0: y = 1; break;
        case 1:
        case 3: {
            y = 2;
            break;
        }
        default: y = 3;
    });
    IN_ALL_TYPES(y = 0; for (int k = 0; k < 5; k++) {
        switch (k) {
            case 1: continue;
            case 2: y += 10; break;
            default:
                if (k == 4) {
                    y += 5;
                }
        }
        y += 1;
    });
    IN_ALL_TYPES(char c = 3; y = 0; switch (c) {
        case 'a': y = 1; break;
        case 3: y = 2;
    });
    IN_ALL_TYPES(y = 1; switch (3) {
        default: y = 9; break;
        case 2: y = 2; break;
    });
}

TEST(CSource, WhatLiesOutsideOfAnArrayIsZero) {
    ElementSource source =
        source_of("int w[3] = {1, 2, 3}; w[x] = 9; y = w[x] * 1000 + w[0] * 100 + w[1] * 10 + w[2]");
    source.inputs = {{"x", ScalarType::kInt64}};
    source.outputs = {{"y", ScalarType::kInt64}};
    const ElementCode code = lower_elements("test", source);
    const auto at = [&](int64_t x) {
        return run(code, {Constant::of(ScalarType::kInt64, x)})[0].as<int64_t>();
    };
    EXPECT_EQ(at(-1), 123);
    EXPECT_EQ(at(3), 123);
    EXPECT_EQ(at(int64_t{1} << 40), 123);
    EXPECT_EQ(at(1), 9193);
}

TEST(CSource, OutputsThatAreReadAreKnown) {
    const auto reads = [](const std::string& body) -> bool {
        ElementSource source = source_of(body);
        source.inputs = {{"x"}};
        source.outputs = {{"y"}};
        return lower_elements("test", source).reads_output[0];
    };
    EXPECT_TRUE(reads("y += x"));
    EXPECT_TRUE(reads("if (x > 1) y = 2;"));
    EXPECT_TRUE(reads(""));
    EXPECT_FALSE(reads("y = x; y += 1;"));
    EXPECT_FALSE(reads("if (x > 1) y = 2; else y = 3;"));
}

TEST(CSource, ThePositionIsAnArgumentWhereItIsRead) {
    ElementSource source = source_of("y = x + i");
    source.inputs = {{"x"}};
    source.outputs = {{"y"}};
    const ElementCode code = lower_elements("test", source);
    EXPECT_TRUE(code.reads_position);
    EXPECT_FALSE(code.reads_size);
}

TEST(CSource, ErrorsSayWhere) {
    EXPECT_EQ(message_of("1 +\n  wrong"),
              "the operation of test, line 2: the name 'wrong' is not known\n      wrong\n      ^");
    EXPECT_EQ(message_of("1", "int f() {\n\treturn new; }"),
              "the preamble of test, line 2: 'new' is outside of the subset\n    \treturn new; }\n    \t  "
              "     ^");
    EXPECT_NE(message_of("f(1)", "int f(int n) { return n > 0 ? f(n - 1) : 0; }").find("f() calls itself"),
              std::string::npos);
    EXPECT_NE(message_of(std::string(5000, '(')).find("nested too deep"), std::string::npos);
    EXPECT_NE(message_of("A",
                         "#define A B B B B B B B B\n#define B C C C C C C C C\n#define C D D D D D D D D\n"
                         "#define D E E E E E E E E\n#define E F F F F F F F F\n#define F G G G G G G G G\n"
                         "#define G H H H H H H H H\n#define H 1")
                  .find("grow too large"),
              std::string::npos);
}

TEST(CSource, RangesCheckIndices) {
    ElementSource source = source_of("z[i] = x[i + 1]");
    source.inputs = {{"x", ScalarType::kInt32, true}};
    source.outputs = {{"z", ScalarType::kInt32, true}};
    const RangeCode code =
        lower_range("shifted", source, {{ArgumentKind::kRaw, 1}, {ArgumentKind::kRaw, 1}}, false, false);
    ir::check(code.module);
    const RangeCode of_thread =
        lower_range("shifted", source, {{ArgumentKind::kRaw, 1}, {ArgumentKind::kRaw, 1}}, true, true);
    ir::check(of_thread.module);
    ASSERT_EQ(code.checks.size(), 2U);
    EXPECT_EQ(code.checks[0], "'x', in the operation of test, line 1");
    EXPECT_EQ(code.checks, of_thread.checks);
}

}  // namespace
}  // namespace weft::lang::c_source
