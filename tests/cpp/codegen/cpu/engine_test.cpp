// Calls of the engine's functions: by machine code, and by the oracle.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <exception>
#include <string>

#include "codegen/cpu/compiler.h"
#include "codegen/runtime/heap.h"
#include "codegen/runtime/spread.h"
#include "ir/oracle.h"
#include "ops/engine_function.h"
#include "support/ir_testing.h"
#include "weft/errors.h"

namespace weft {
namespace {

constexpr const char* kOrder = R"(
function @f(%m: i64, %k: i64, %a: global f64[?, 8] readonly, %out: global f64[?, ?] scope 1) : i64 {
  %zero = const i64 0
  %answer = engine @sort(%out, %m, %k, %a, %m, %k, %zero)
  return %answer
}
)";

TEST(Engine, MachineCodeAndTheOracleCallTheSame) {
    const ir::Module module = ir::parse_and_check(kOrder);
    std::array<double, 6> a{5, 2, -1, 4, 8, 0}, out{}, expected{};
    // The result lies by columns.
    const std::array<ir::OracleArgument, 4> given{
        ir::Constant::of(ScalarType::kInt64, int64_t{3}), ir::Constant::of(ScalarType::kInt64, int64_t{2}),
        ir::OracleBuffer{reinterpret_cast<char*>(a.data()), {16, 8}},
        ir::OracleBuffer{reinterpret_cast<char*>(expected.data()), {8, 24}}};
    EXPECT_EQ(ir::run_oracle(module, module.functions.back(), given)[0].as<int64_t>(), 0);
    EXPECT_EQ(expected, (std::array<double, 6>{-1, 5, 8, 0, 2, 4}));
    const auto compiled = codegen::compile_function_for_cpu(module, "f");
    const auto word = [](auto value) { return std::bit_cast<ArgumentWord>(value); };
    const std::array<ArgumentWord, 7> words{word(int64_t{3}),  word(int64_t{2}), word(a.data()),
                                            word(int64_t{16}), word(out.data()), word(int64_t{8}),
                                            word(int64_t{24})};
    std::array<int64_t, 2> results{};
    const codegen::HeapFrame frame;
    EXPECT_EQ(compiled->function(words.data(), reinterpret_cast<char*>(results.data())), 0);
    EXPECT_EQ(out, expected);
}

TEST(Engine, FunctionsThatThrowEndTheCall) {
    // No memory has so many elements.
    const ir::Module module = ir::parse_and_check(R"(
function @f(%n: i64, %a: global f64[8] readonly, %out: global f64[16] scope 1) : i64 {
  %zero = const i64 0
  %answer = engine @sort(%out, %n, %a, %n, %zero)
  return %answer
}
)");
    const auto compiled = codegen::compile_function_for_cpu(module, "f");
    double a = 0, out = 0;
    const std::array<ArgumentWord, 3> words{std::bit_cast<ArgumentWord>(int64_t{1} << 59),
                                            std::bit_cast<ArgumentWord>(&a),
                                            std::bit_cast<ArgumentWord>(&out)};
    std::array<int64_t, 2> results{};
    const codegen::HeapFrame frame;
    EXPECT_EQ(compiled->function(words.data(), reinterpret_cast<char*>(results.data())), codegen::kStopped);
    EXPECT_THROW(std::rethrow_exception(codegen::HeapFrame::take_stopped()), std::exception);
}

TEST(Engine, WrongCallsAreFound) {
    const auto check = [](const std::string& call, const std::string& complaint) {
        try {
            ir::parse_and_check("function @f(%n: i64, %x: f64, %a: global f64[8] readonly) : i64 {\n  %r = " +
                                call + "\n  return %r\n}\n");
            ADD_FAILURE() << call;
        } catch (const std::exception& error) {
            EXPECT_NE(std::string(error.what()).find(complaint), std::string::npos) << error.what();
        }
    };
    check("engine @no_such(%n)", "the engine has no function @no_such");
    check("engine @sort(%a, %n, %a, %n, %n)", "writes a buffer that is readonly");
    check("engine @invert(%n, %a)", "takes a global buffer");
    check("engine @qr_r(%a, %n)", "has too few arguments");
    for (const char* name : {"multiply", "sort", "solve", "transform"})
        EXPECT_NE(find_engine_function(name), nullptr) << name;
}

}  // namespace
}  // namespace weft
