// Chunks that run at the same time: compiled, against the scalar oracle.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "codegen/runtime/heap.h"
#include "core/complex.h"
#include "core/threads/thread_pool.h"
#include "ir/oracle.h"
#include "ir/parser.h"
#include "ir/verifier.h"
#include "support/compiled_testing.h"
#include "support/ir_testing.h"

namespace weft {
namespace {

// Writes and sums; raises at -1, with the index. Every chunk allocates.
constexpr const char* kScale = R"(
function @scaled(%number: i64, %from: i64, %to: i64, %factor: f64, %z: c128, %a: global f64[?], %sums: global f64[8] scope 1) {
  %one = const i64 1
  %zero = const f64 0.0
  %bad = const f64 -1.0
  %bytes = const i64 4096
  %owner, %own = heap %bytes as global f64[8] scope 2 else raise 9
  %first = const i64 0
  store %own[%first], %factor
  %imaginary = imag %z
  %sum = for %i = %from to %to step %one with (%s = %imaginary) {
    %x = load %a[%i]
    %fine = not_equal %x, %bad
    check %fine else raise 4 %i, %x
    %f = load %own[%first]
    %y = multiply %x, %f
    store %a[%i], %y
    %more = add %s, %y
    yield %more
  }
  store %sums[%number], %sum
}

function @scale(%n: i64, %chunk: i64, %factor: f64, %z: c128, %a: global f64[?], %sums: global f64[8] scope 1) : i64 {
  spread @scaled(%factor, %z, %a, %sums) in %n by %chunk
  return %n
}
)";

struct Outcome {
    int64_t status = 0;
    std::vector<double> values, sums;
    std::array<int64_t, 4> told{};
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome start(int64_t n, int64_t bad) {
    Outcome outcome;
    for (int64_t i = 0; i < 2 * n + 1; ++i) outcome.values.push_back(0.5 * static_cast<double>(i));
    if (bad >= 0) outcome.values[static_cast<size_t>(2 * bad)] = -1;
    outcome.sums.resize(static_cast<size_t>(n) + 1);
    return outcome;
}

TEST(Spread, EqualsTheOracle) {
    const ir::Module module = ir::parse(kScale);
    ir::check(module);
    const auto compiled = codegen::compile_function_for_cpu(module, "scale");
    for (const int threads : {1, 3}) {
        set_num_threads(threads);
        for (const int64_t n : {0, 1, 7, 1000}) {
            for (const int64_t chunk : {-1, 1, 3, 64, 5000}) {
                for (const int64_t bad : {int64_t{-1}, n / 2}) {
                    if (bad >= n) continue;
                    Outcome expected = start(n, bad), found = start(n, bad);
                    const auto arguments = [&](Outcome& outcome) {
                        std::vector<ir::OracleArgument> given;
                        ir::OracleBuffer every_second = ir::argument(outcome.values);
                        every_second.strides = {16};
                        given.emplace_back(ir::Constant::of(ScalarType::kInt64, n));
                        given.emplace_back(ir::Constant::of(ScalarType::kInt64, chunk));
                        given.emplace_back(ir::Constant::of(ScalarType::kFloat64, 3.0));
                        given.emplace_back(
                            ir::Constant::of(ScalarType::kComplex128, Complex<double>{0, 0.25}));
                        given.emplace_back(every_second);
                        given.emplace_back(ir::argument(outcome.sums));
                        return given;
                    };
                    try {
                        ir::run_oracle(module, module.functions.back(), arguments(expected));
                    } catch (const ir::Raised& error) {
                        expected.status = error.site + 1;
                        expected.told = {error.payload[0].as<int64_t>(), 0, 0, 0};
                    }
                    const std::vector<ArgumentWord> words =
                        ir::words_of(module.functions.back(), arguments(found));
                    alignas(16) std::array<char, 64> results{};
                    const codegen::HeapFrame frame;
                    found.status = compiled->function(words.data(), results.data());
                    EXPECT_EQ(found.status, expected.status);
                    EXPECT_EQ(frame.block_count(), 0);
                    if (bad >= 0) {
                        std::memcpy(found.told.data(), results.data(), 8);
                        EXPECT_EQ(found.told, expected.told);
                    } else {
                        EXPECT_EQ(found, expected);
                    }
                }
            }
        }
    }
    set_num_threads(0);
}

}  // namespace
}  // namespace weft
