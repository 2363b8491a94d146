// Integers between narrow bounds are computed in narrow types: the same values, and where not.
#include "passes/integers/narrow_integers.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ops/interval.h"
#include "passes/simplify.h"
#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

// A kernel over two rows of `type` that computes %r, an i64, of %x and %y.
Module kernel_of(const std::string& type, const std::string& body) {
    const std::string itemsize = type.substr(1) == "8" ? "1" : type.substr(1) == "16" ? "2" : "4";
    Module module =
        parse("kernel @k(%n: i64, %a: global " + type + "[" + itemsize + "] scope 1 readonly, %b: global " +
              type + "[" + itemsize +
              "] scope 2 readonly, %out: global i64[8] scope 3) {\n  parallel grid (%i) in (%n) {\n"
              "    %p = load %a[%i]\n    %q = load %b[%i]\n    %x = cast %p to i64\n"
              "    %y = cast %q to i64\n" +
              body + "\n    store %out[%i], %r\n  }\n}\n");
    check(module);
    return module;
}

Module narrowed(const Module& before) {
    Module after = before;
    simplify(after, after.functions[0]);
    narrow_integers(after, after.functions[0]);
    check(after);
    simplify(after, after.functions[0]);
    check(after);
    return after;
}

bool computes_in(const Module& module, const std::string& name, ScalarType type) {
    const Function& kernel = module.functions[0];
    for (const Instruction& instruction : kernel.body.body[0].regions[0].body) {
        if (instruction.opcode == Opcode::kApply && instruction.op->name == name &&
            kernel.type(instruction.operands.back()).scalar == type)
            return true;
    }
    return false;
}

template <class T>
void expect_same_results(const std::string& type, const std::string& body) {
    const Module before = kernel_of(type, body), after = narrowed(before);
    std::vector<T> a, b;
    const T least = std::numeric_limits<T>::min(), largest = std::numeric_limits<T>::max();
    const std::vector<T> ends = {least,   static_cast<T>(least + 1), 0, 1, static_cast<T>(largest - 1),
                                 largest, static_cast<T>(-1)};
    for (const T x : ends) {
        for (const T y : ends) {
            a.push_back(x);
            b.push_back(y);
        }
    }
    std::mt19937_64 random(7);
    for (int k = 0; k < 200; ++k) {
        a.push_back(static_cast<T>(random()));
        b.push_back(static_cast<T>(random()));
    }
    const auto results_of = [&](const Module& module) {
        std::vector<int64_t> out(a.size(), -1);
        run(module, argument(static_cast<int64_t>(a.size())), argument(a), argument(b), argument(out));
        return out;
    };
    EXPECT_EQ(results_of(before), results_of(after)) << print(after);
}

constexpr const char* kMean =
    "%nine = const i64 9 %s = add %x, %y %t = add %s, %x %r = floor_divide %t, %nine";
constexpr const char* kProduct = "%p2 = multiply %x, %y %d = subtract %p2, %x %r = absolute %d";
constexpr const char* kChoice =
    "%c = less %x, %y %m = minimum %x, %y %h = const i64 7 %w = multiply %m, %h %e = remainder %w, %h "
    "%r = select %c, %w, %e";
constexpr const char* kFar = "%f = const i64 5000000000 %s = add %x, %f %t = subtract %s, %y %r = add %t, %x";

TEST(NarrowIntegers, TheSameValues) {
    for (const char* body : {kMean, kProduct, kChoice, kFar}) {
        expect_same_results<int8_t>("i8", body);
        expect_same_results<uint8_t>("u8", body);
        expect_same_results<int16_t>("i16", body);
        expect_same_results<uint16_t>("u16", body);
        expect_same_results<int32_t>("i32", body);
    }
}

TEST(NarrowIntegers, InTheNarrowestType) {
    EXPECT_TRUE(computes_in(narrowed(kernel_of("i8", kMean)), "floor_divide", ScalarType::kInt16));
    EXPECT_TRUE(computes_in(narrowed(kernel_of("u16", kMean)), "floor_divide", ScalarType::kInt32));
    EXPECT_TRUE(computes_in(narrowed(kernel_of("i8", kProduct)), "multiply", ScalarType::kInt16));
    EXPECT_TRUE(computes_in(narrowed(kernel_of("i16", kProduct)), "multiply", ScalarType::kInt32));
    EXPECT_TRUE(computes_in(narrowed(kernel_of("i8", kChoice)), "less", ScalarType::kInt16));
    EXPECT_TRUE(computes_in(narrowed(kernel_of("i8", kChoice)), "select", ScalarType::kInt16));
}

TEST(NarrowIntegers, NotWhereTheyDoNotFit) {
    EXPECT_TRUE(computes_in(narrowed(kernel_of("i32", kProduct)), "multiply", ScalarType::kInt64));
    EXPECT_TRUE(computes_in(narrowed(kernel_of("i8", kFar)), "add", ScalarType::kInt64));
}

TEST(NarrowIntegers, BoundsOfResults) {
    const auto bounds = [](const char* op, Interval a, Interval b) {
        const Interval both[] = {a, b};
        return interval_of(*find_op(op), both);
    };
    // All pairs of small intervals, beside what the operation itself gives.
    for (const char* name :
         {"add", "subtract", "multiply", "minimum", "maximum", "floor_divide", "remainder", "bitwise_and"}) {
        const OpInfo& op = *find_op(name);
        const std::array types = {ScalarType::kInt64, ScalarType::kInt64};
        const LoopInfo& loop = *find_loop(op, types);
        for (int64_t a = -7; a <= 7; a += 2) {
            for (int64_t b = a; b <= 7; b += 3) {
                for (int64_t c = -7; c <= 7; ++c) {
                    for (int64_t d = c; d <= 7; d += 2) {
                        const std::optional<Interval> all = bounds(name, {a, b}, {c, d});
                        if (!all) continue;
                        for (int64_t x = a; x <= b; ++x) {
                            for (int64_t y = c; y <= d; ++y) {
                                int64_t result = 0;
                                char* const data[] = {reinterpret_cast<char*>(&x),
                                                      reinterpret_cast<char*>(&y),
                                                      reinterpret_cast<char*>(&result)};
                                const int64_t strides[] = {0, 0, 0};
                                loop.loop(data, strides, 1);
                                ASSERT_TRUE(all->low <= result && result <= all->high)
                                    << name << " of " << x << " and " << y << " is " << result;
                            }
                        }
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace weft::passes
