// Random functions that the host calls, compiled, against the scalar oracle: results, errors and memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "core/threads/thread_pool.h"
#include "ir/oracle.h"
#include "ir/printer.h"
#include "support/compiled_testing.h"
#include "support/ir_random.h"
#include "support/ir_testing.h"
#include "support/kernel_testing.h"
#include "weft/errors.h"

namespace weft {
namespace {

using namespace testing_kernels;

// What a function has come to: its results, or the number of an error and what it tells.
struct Outcome {
    std::optional<uint32_t> site;
    std::vector<ir::Constant> values;
};

Outcome by_oracle(const ir::Module& module, const ir::RandomArguments& arguments) {
    try {
        return {std::nullopt, ir::run_oracle(module, module.functions.back(), arguments.arguments())};
    } catch (const ir::Raised& error) {
        return {error.site, error.payload};
    }
}

Outcome by_machine(const CompiledFunction& compiled, const ir::RandomArguments& arguments,
                   const std::vector<ir::Constant>& expected) {
    const std::vector<ArgumentWord> words = ir::words_of(arguments.kernel(), arguments.arguments());
    alignas(16) std::array<char, 64> results{};
    const int64_t status = compiled.function(words.data(), results.data());
    Outcome outcome;
    if (status != 0) outcome.site = static_cast<uint32_t>(status - 1);
    for (size_t i = 0; i < expected.size(); ++i) {
        ir::Constant value{expected[i].type, {}};
        std::copy_n(results.data() + 16 * i, DType(value.type).itemsize(), value.bytes.begin());
        outcome.values.push_back(value);
    }
    return outcome;
}

bool same(const ir::Constant& a, const ir::Constant& b) {
    return same_value(reinterpret_cast<const char*>(a.bytes.data()),
                      reinterpret_cast<const char*>(b.bytes.data()), a.type);
}

TEST(CodegenRandom, FunctionsEqualTheOracle) {
    std::atomic<int> raised = 0;
    parallel_for(400, [&](int64_t task) {
        const auto seed = static_cast<uint64_t>(task) + 1;
        const ir::Module module = ir::random_function(seed, {.instructions = 60});
        const ir::RandomArguments theirs(module, seed), ours(module, seed);
        const Outcome expected = by_oracle(module, theirs);
        if (expected.site) ++raised;
        const auto compiled = codegen::compile_function_for_cpu(module, "random");
        const Outcome found = by_machine(*compiled, ours, expected.values);
        ASSERT_EQ(found.site, expected.site) << seed << "\n" << ir::print(module);
        for (size_t i = 0; i < expected.values.size(); ++i)
            EXPECT_TRUE(same(found.values[i], expected.values[i])) << seed << "\n" << ir::print(module);
        const ir::Function& function = module.functions.back();
        for (size_t i = 0; i < function.parameters.size(); ++i) {
            const ir::Type& type = function.type(function.parameters[i]);
            const auto size = static_cast<size_t>(DType(type.scalar).itemsize());
            const std::vector<char>&left = ours.contents()[i], &right = theirs.contents()[i];
            for (size_t at = 0; at + size <= left.size(); at += size) {
                EXPECT_TRUE(same_value(left.data() + at, right.data() + at, type.scalar))
                    << seed << "\n"
                    << ir::print(module);
            }
        }
    });
    EXPECT_GT(raised, 20);
    EXPECT_LT(raised, 300);
}

TEST(Codegen, FunctionsReturnAndRaise) {
    const ir::Module module = ir::parse_and_check(R"(
function @root(%x: f64, %z: c128) : f64, c128, bool {
  %nan = isnan %x
  if %nan {
    raise 8
  }
  %zero = const f64 0.0
  %fine = greater_equal %x, %zero
  check %fine else raise 7 %x, %z
  %y = sqrt %x
  return %y, %z, %fine
})");
    const auto compiled = codegen::compile_function_for_cpu(module, "root");
    const auto call = [&](double x) {
        std::array<ArgumentWord, 3> words{std::bit_cast<ArgumentWord>(x), std::bit_cast<ArgumentWord>(2.5),
                                          std::bit_cast<ArgumentWord>(-1.5)};
        std::array<double, 6> results{};
        const int64_t status = compiled->function(words.data(), reinterpret_cast<char*>(results.data()));
        return std::pair(status, results);
    };
    const auto [status, results] = call(9);
    EXPECT_EQ(status, 0);
    EXPECT_EQ((std::array{results[0], results[2], results[3]}), (std::array{3.0, 2.5, -1.5}));
    EXPECT_EQ(std::bit_cast<int64_t>(results[4]) & 255, 1);
    const auto [raised, payload] = call(-4);
    EXPECT_EQ(raised, 8);
    EXPECT_EQ((std::array{payload[0], payload[2], payload[3]}), (std::array{-4.0, 2.5, -1.5}));
    EXPECT_EQ(call(std::numeric_limits<double>::quiet_NaN()).first, 9);
}

TEST(Codegen, RefusesWhatFunctionsAndKernelsLack) {
    for (const char* const line : {"check %p else raise 1", "raise 1", "if %p {\n raise 1\n}"}) {
        const ir::Module module = ir::parse_and_check("kernel @k(%p: bool) {\n" + std::string(line) + "\n}");
        EXPECT_THROW(codegen::compile_for_cpu(module, "k"), NotImplementedError) << line;
    }
}

TEST(Codegen, AFunctionMayEndByRaising) {
    const ir::Module module = ir::parse_and_check("function @f(%x: i64) : i64 {\n  raise 3 %x\n}");
    const auto compiled = codegen::compile_function_for_cpu(module, "f");
    const ArgumentWord word = 17;
    alignas(16) std::array<int64_t, 2> payload{};
    EXPECT_EQ(compiled->function(&word, reinterpret_cast<char*>(payload.data())), 4);
    EXPECT_EQ(payload[0], 17);
}

}  // namespace
}  // namespace weft
