// Random functions that the host calls, compiled, against the scalar oracle: results, errors and memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "codegen/runtime/heap.h"
#include "codegen/runtime/tell.h"
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
    std::vector<ir::Told> told{};  // on the way there
};

Outcome by_oracle(const ir::Module& module, const ir::RandomArguments& arguments) {
    Outcome outcome;
    ir::OracleOptions options;
    options.told = &outcome.told;
    try {
        outcome.values = ir::run_oracle(module, module.functions.back(), arguments.arguments(), options);
    } catch (const ir::Raised& error) {
        outcome.site = error.site;
        outcome.values = error.payload;
    }
    return outcome;
}

ir::Constant read(const char* bytes, ScalarType type) {
    ir::Constant value{type, {}};
    std::copy_n(bytes, DType(type).itemsize(), value.bytes.begin());
    return value;
}

// Takes what is told as values of the types that the oracle was told.
struct Listening {
    const std::vector<ir::Told>& expected;
    std::vector<ir::Told> told{};

    static bool listen(void* context, uint32_t site, const char* payload) {
        auto& self = *static_cast<Listening*>(context);
        ir::Told& told = self.told.emplace_back(ir::Told{site});
        if (self.told.size() > self.expected.size()) return true;
        for (const ir::Constant& value : self.expected[self.told.size() - 1].payload) {
            told.payload.push_back(read(payload, value.type));
            payload += 16;
        }
        return true;
    }
};

Outcome by_machine(const CompiledFunction& compiled, const ir::RandomArguments& arguments,
                   const Outcome& expected) {
    const std::vector<ArgumentWord> words = ir::words_of(arguments.kernel(), arguments.arguments());
    alignas(16) std::array<char, 64> results{};
    const codegen::HeapFrame frame;
    Listening listening{expected.told};
    const codegen::ListenerScope scope(&Listening::listen, &listening);
    const int64_t status = compiled.function(words.data(), results.data());
    Outcome outcome;
    if (status != 0) outcome.site = static_cast<uint32_t>(status - 1);
    for (size_t i = 0; i < expected.values.size(); ++i)
        outcome.values.push_back(read(results.data() + 16 * i, expected.values[i].type));
    outcome.told = std::move(listening.told);
    return outcome;
}

bool same(const ir::Constant& a, const ir::Constant& b) {
    return same_value(reinterpret_cast<const char*>(a.bytes.data()),
                      reinterpret_cast<const char*>(b.bytes.data()), a.type);
}

TEST(CodegenRandom, FunctionsEqualTheOracle) {
    std::atomic<int> raised = 0, told = 0, spreads = 0, lazy = 0;
    parallel_for(400, [&](int64_t task) {
        const auto seed = static_cast<uint64_t>(task) + 1;
        const ir::Module module = ir::random_function(seed, {.instructions = 60});
        const ir::RandomArguments theirs(module, seed), ours(module, seed);
        const Outcome expected = by_oracle(module, theirs);
        if (expected.site) ++raised;
        const auto compiled = codegen::compile_function_for_cpu(module, "random");
        const Outcome found = by_machine(*compiled, ours, expected);
        ASSERT_EQ(found.site, expected.site) << seed << "\n" << ir::print(module);
        for (size_t i = 0; i < expected.values.size(); ++i)
            EXPECT_TRUE(same(found.values[i], expected.values[i])) << seed << "\n" << ir::print(module);
        ASSERT_EQ(found.told.size(), expected.told.size()) << seed << "\n" << ir::print(module);
        for (size_t k = 0; k < found.told.size(); ++k) {
            EXPECT_EQ(found.told[k].site, expected.told[k].site) << seed;
            for (size_t i = 0; i < found.told[k].payload.size(); ++i)
                EXPECT_TRUE(same(found.told[k].payload[i], expected.told[k].payload[i])) << seed;
            ++told;
        }
        spreads += ir::print(module).find("  spread ") != std::string::npos ? 1 : 0;
        lazy += static_cast<int>(compiled->lazy_parts().compiled);
        if (expected.site && ir::chunks_raise(module)) return;
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
    EXPECT_GT(spreads, 50);
    EXPECT_GT(told, 80);
    EXPECT_GT(lazy, 5);
    EXPECT_GT(raised, 20);
    EXPECT_LT(raised, 300);
}

// The host hears what is told, from callees too, and may end the function there.
TEST(Codegen, FunctionsTellAndGoOn) {
    const ir::Module module = ir::parse_and_check(R"(
function @step(%i: i64) : i64 {
  %x = cast %i to f64
  tell 3 %i, %x
  %one = const i64 1
  %next = add %i, %one
  return %next
}
function @count(%n: i64) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %last = for %i = %zero to %n step %one with (%s = %zero) {
    %t = call @step(%s) : i64
    yield %t
  }
  tell 4
  return %last
})");
    const auto compiled = codegen::compile_function_for_cpu(module, "count");
    struct Heard {
        std::vector<double> values;
        size_t most = SIZE_MAX;
        static bool listen(void* context, uint32_t site, const char* payload) {
            auto& self = *static_cast<Heard*>(context);
            double value = -1;
            if (site == 3) std::memcpy(&value, payload + 16, sizeof(value));
            self.values.push_back(value);
            return self.values.size() < self.most;
        }
    };
    const auto run = [&](Heard& heard) {
        const codegen::ListenerScope scope(&Heard::listen, &heard);
        const uint64_t words[] = {3};
        alignas(16) std::array<char, 32> results{};
        return compiled->function(words, results.data());
    };
    Heard all, two{{}, 2};
    EXPECT_EQ(run(all), 0);
    EXPECT_EQ(all.values, (std::vector<double>{0, 1, 2, -1}));
    EXPECT_EQ(run(two), 4);
    EXPECT_EQ(two.values, (std::vector<double>{0, 1}));
    EXPECT_EQ(codegen::ListenerScope::current(), nullptr);
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

// A function that swaps two buffers in a loop, calls one that returns early, and returns a view.
TEST(Codegen, FunctionsTakeAndGiveBuffers) {
    const ir::Module module = ir::parse_and_check(R"(
function @pick(%p: bool, %x: global f64[?] scope 4 readonly, %y: global f64[?] scope 4 readonly) : global f64[?] scope 4 readonly, i64 {
  %zero = const i64 0
  if %p {
    return %x, %zero
  }
  %one = const i64 1
  return %y, %one
}

function @f(%n: i64, %p: bool, %a: global f64[?], %b: global f64[?]) : i64, global f64[?, 8] readonly {
  %zero = const i64 0
  %one = const i64 1
  %two = const f64 2.0
  %u, %w = for %k = %zero to %n step %one with (%from = %a, %to = %b) {
    %x = load %from[%k]
    %y = multiply %x, %two
    store %to[%k], %y
    yield %to, %from
  }
  %chosen, %which = call @pick(%p, %u, %w) : global f64[?] readonly, i64
  %16 = const i64 16
  %8 = const i64 8
  %rows = view %chosen at %8 as global f64[?, 8] readonly of (%16)
  return %which, %rows
}
)");
    const auto compiled = codegen::compile_function_for_cpu(module, "f");
    std::array<double, 4> a{1, 0, 3, 0}, b{0, 5, 0, 7};
    for (const uint64_t p : {1, 0}) {
        std::array<double, 4> x = a, y = b;
        const std::array<ArgumentWord, 6> words{
            3, p, std::bit_cast<ArgumentWord>(x.data()), 8, std::bit_cast<ArgumentWord>(y.data()), 8};
        std::array<int64_t, 6> results{};
        ASSERT_EQ(compiled->function(words.data(), reinterpret_cast<char*>(results.data())), 0);
        EXPECT_EQ(x, (std::array<double, 4>{1, 10, 3, 0}));
        EXPECT_EQ(y, (std::array<double, 4>{2, 5, 6, 7}));
        EXPECT_EQ(results[0], p == 1 ? 0 : 1);
        EXPECT_EQ(results[2], std::bit_cast<int64_t>((p == 1 ? y : x).data() + 1));
        EXPECT_EQ(results[4], 16);
    }
}

std::atomic<int64_t> live_blocks = 0;

codegen::HeapMemory allocate_and_count(size_t bytes) {
    codegen::HeapMemory memory = codegen::allocate_heap_memory(bytes);
    ++live_blocks;
    return {memory.data,
            std::shared_ptr<void>(memory.data, [kept = memory.holder](void*) { --live_blocks; })};
}

// %n blocks that are kept, as many that are released; then the %site-th way to end.
constexpr std::string_view kAllocating = R"(
function @inner(%bytes: i64) : i64, global f64[8] scope 1 {
  %o, %a = heap %bytes as global f64[8] scope 1 else raise 5
  return %o, %a
}

function @f(%n: i64, %bytes: i64, %raises: bool) : i64, i64, global f64[?] scope 1, i64 {
  %zero = const i64 0
  %one = const i64 1
  %8 = const i64 8
  %16 = const i64 16
  %less = subtract %bytes, %16
  %x = const f64 2.5
  %o, %a = heap %bytes as global f64[?] scope 1 of (%8) else raise 4
  store %a[%one], %x
  for %k = %zero to %n step %one {
    %p, %b = call @inner(%bytes) : i64, global f64[8] scope 1
    store %b[%k], %x
    %q, %c = heap %less as global f64[8] scope 1 else raise 6
    retain %q
    release %q
    release %q
    release %zero
  }
  if %raises {
    raise 7 %n
  }
  return %o, %o, %a, %zero
}
)";

TEST(Codegen, FramesGiveHeapMemoryBack) {
    const ir::Module module = ir::parse_and_check(kAllocating);
    const auto compiled = codegen::compile_function_for_cpu(module, "f");
    std::array<int64_t, 10> results{};
    const auto call = [&](int64_t count, int64_t bytes, bool raises) {
        const std::array<ArgumentWord, 3> words{static_cast<ArgumentWord>(count),
                                                static_cast<ArgumentWord>(bytes), raises};
        return compiled->function(words.data(), reinterpret_cast<char*>(results.data()));
    };
    codegen::HeapMemory taken;
    {
        const codegen::HeapFrame frame(allocate_and_count);
        EXPECT_EQ(call(3, 24, false), 0);
        EXPECT_EQ(frame.block_count(), 4);
        EXPECT_EQ(live_blocks, 5);  // one is kept for the next of its size
        EXPECT_EQ(results[0], results[2]);
        EXPECT_EQ(results[6], 8);
        taken = frame.take(results[0]);
        EXPECT_EQ(frame.take(results[2]).holder, taken.holder);
        EXPECT_EQ(frame.take(results[8]).data, nullptr);
    }
    EXPECT_EQ(live_blocks, 1);
    EXPECT_EQ(taken.bytes, 24);
    EXPECT_EQ(std::bit_cast<int64_t>(taken.data), results[4]);
    EXPECT_EQ(reinterpret_cast<double*>(taken.data)[1], 2.5);
    EXPECT_EQ(results[4] % 64, 0);
    taken = {};
    EXPECT_EQ(live_blocks, 0);
    for (int i = 0; i < 1'000'000; ++i) {
        const codegen::HeapFrame frame(allocate_and_count);
        ASSERT_EQ(call(2, 24, true), 8);
    }
    EXPECT_EQ(live_blocks, 0);
    {
        const codegen::HeapFrame frame;
        EXPECT_EQ(call(0, -1, false), 5);
        EXPECT_EQ(call(1, 24, false), 0);
    }
    const codegen::HeapFrame full([](size_t) -> codegen::HeapMemory { throw std::bad_alloc(); });
    EXPECT_EQ(call(0, 24, false), 5);
}

TEST(Codegen, HeapMemoryIsNotReadBehindItsRelease) {
    const ir::Module module = ir::parse_and_check(R"(
function @f(%n: i64) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %8 = const i64 8
  %sum = for %k = %zero to %n step %one with (%s = %zero) {
    %o, %a = heap %8 as global i64[8] scope 1 else raise 4
    store %a[%zero], %k
    %x = load %a[%zero]
    release %o
    %q, %b = heap %8 as global i64[8] scope 1 else raise 4
    store %b[%zero], %n
    %y = load %b[%zero]
    %t = add %s, %x
    release %q
    yield %t
  }
  return %sum
}
)");
    const auto compiled = codegen::compile_function_for_cpu(module, "f");
    const ArgumentWord word = 100;
    int64_t results[2] = {};
    const codegen::HeapFrame frame;
    EXPECT_EQ(compiled->function(&word, reinterpret_cast<char*>(results)), 0);
    EXPECT_EQ(results[0], 4950);
    EXPECT_EQ(frame.block_count(), 0);
}

constexpr std::string_view kRecursive = R"(
function @fib(%n: i64) : i64 {
  %two = const i64 2
  %small = less %n, %two
  if %small {
    return %n
  }
  %one = const i64 1
  %a = subtract %n, %one
  %b = subtract %n, %two
  %x = call @fib(%a) : i64
  %y = call @fib(%b) : i64
  %z = add %x, %y
  return %z
}

function @even(%n: i64) : bool {
  %zero = const i64 0
  %done = equal %n, %zero
  if %done {
    return %done
  }
  %one = const i64 1
  %m = subtract %n, %one
  %r = call @odd(%m) : bool
  return %r
}

function @odd(%n: i64) : bool {
  %zero = const i64 0
  %done = equal %n, %zero
  if %done {
    %no = logical_not %done
    return %no
  }
  %one = const i64 1
  %m = subtract %n, %one
  %r = call @even(%m) : bool
  return %r
}

function @sum(%n: i64, %z: c128, %a: global c128[?] scope 3 readonly) : c128, i64, global c128[?] scope 3 readonly {
  %zero = const i64 0
  %one = const i64 1
  %some = greater %n, %zero
  check %some else raise 9 %z, %n
  %x = load %a[%zero]
  %t = add %z, %x
  %last = equal %n, %one
  if %last {
    return %t, %n, %a
  }
  %m = subtract %n, %one
  %16 = const i64 16
  %rest = view %a at %16 as global c128[?] scope 3 readonly
  %r, %k, %end = call @sum(%m, %t, %rest) : c128, i64, global c128[?] scope 3 readonly
  %count = add %k, %one
  return %r, %count, %end
}

function @all(%n: i64, %even: i64, %size: i64, %a: global c128[16]) : i64, bool, c128, i64, global c128[?] readonly {
  %f = call @fib(%n) : i64
  %e = call @even(%even) : bool
  %zero = const c128 (0.0, 0.0)
  %s, %k, %end = call @sum(%size, %zero, %a) : c128, i64, global c128[?] readonly
  return %f, %e, %s, %k, %end
}
)";

TEST(Codegen, FunctionsCallThemselves) {
    const ir::Module module = ir::parse_and_check(kRecursive);
    std::array<double, 6> a{1, 2, 3, 4, 5, 6};
    ir::OracleBuffer buffer;
    buffer.base = buffer.low = reinterpret_cast<char*>(a.data());
    buffer.high = buffer.low + sizeof(a);
    buffer.strides = {16};
    const auto compiled = codegen::compile_function_for_cpu(module, "all");
    const auto call = [&](int64_t n, int64_t even, int64_t size, std::array<int64_t, 12>& results) {
        const std::array<ArgumentWord, 4> words{static_cast<ArgumentWord>(n), static_cast<ArgumentWord>(even),
                                                static_cast<ArgumentWord>(size),
                                                std::bit_cast<ArgumentWord>(a.data())};
        return compiled->function(words.data(), reinterpret_cast<char*>(results.data()));
    };
    std::array<int64_t, 12> results{};
    ASSERT_EQ(call(20, 101, 3, results), 0);
    EXPECT_EQ(results[0], 6765);
    EXPECT_EQ(results[2] & 255, 0);
    EXPECT_EQ(std::bit_cast<double>(results[4]), 9);
    EXPECT_EQ(std::bit_cast<double>(results[5]), 12);
    EXPECT_EQ(results[6], 3);
    EXPECT_EQ(results[8], std::bit_cast<int64_t>(a.data() + 4));
    EXPECT_EQ(results[10], 16);
    ASSERT_EQ(call(20, 100, 3, results), 0);
    EXPECT_EQ(results[2] & 255, 1);
    const std::vector<ir::OracleArgument> arguments{ir::Constant::of(ScalarType::kInt64, int64_t{12}),
                                                    ir::Constant::of(ScalarType::kInt64, int64_t{8}),
                                                    ir::Constant::of(ScalarType::kInt64, int64_t{2}), buffer};
    const std::vector<ir::Constant> expected = ir::run_oracle(module, module.functions.back(), arguments);
    EXPECT_EQ(expected[0].as<int64_t>(), 144);
    EXPECT_TRUE(expected[1].as<bool>());
    EXPECT_EQ(expected[4].as<int64_t>(), std::bit_cast<int64_t>(a.data() + 2));
    // An error ends all callers, and tells what it was given.
    ASSERT_EQ(call(3, 0, 0, results), 10);
    EXPECT_EQ(std::bit_cast<double>(results[0]), 0);
    EXPECT_EQ(results[2], 0);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(call(3, 100'000'000'000, 1, results), int64_t{ir::kTooDeep} + 1);
        EXPECT_EQ(call(10, 1000, 1, results), 0);
    }
    const auto own = codegen::compile_function_for_cpu(module, "fib");
    const ArgumentWord word = 15;
    ASSERT_EQ(own->function(&word, reinterpret_cast<char*>(results.data())), 0);
    EXPECT_EQ(results[0], 610);
    const ir::Module endless = ir::parse_and_check("function @f(%n: i64) {\n  call @f(%n)\n}");
    const auto without_end = codegen::compile_function_for_cpu(endless, "f");
    EXPECT_EQ(without_end->function(&word, reinterpret_cast<char*>(results.data())),
              int64_t{ir::kTooDeep} + 1);
    const ir::Module kernel = ir::parse_and_check(
        "function @f(%n: i64) {\n  call @f(%n)\n}\nkernel @k(%n: i64) {\n  call @f(%n)\n}");
    EXPECT_THROW(codegen::compile_for_cpu(kernel, "k"), NotImplementedError);
}

TEST(Codegen, LargeFunctionsAreThereOnce) {
    std::string text = "function @large(%x: i64) : i64 {\n  %y0 = multiply %x, %x\n";
    for (int i = 0; i < 300; ++i)
        text += "  %y" + std::to_string(i + 1) + " = " + (i % 2 ? "add" : "multiply") + " %y" +
                std::to_string(i) + ", %x\n";
    text += "  return %y300\n}\nfunction @f(%x: i64) : i64 {\n";
    text += "  %a = call @large(%x) : i64\n  %b = call @large(%a) : i64\n  return %b\n}\n";
    const ir::Module module = ir::parse_and_check(text);
    codegen::CompileOptions options;
    options.keep_texts = true;
    codegen::CompiledTexts texts;
    const auto compiled = codegen::compile_function_for_cpu(module, "f", options, &texts);
    EXPECT_NE(texts.llvm_ir.find("callee.large"), std::string::npos);
    EXPECT_NE(texts.ir_after_passes.find("function @large"), std::string::npos);
    const ArgumentWord word = 3;
    int64_t results[2] = {};
    ASSERT_EQ(compiled->function(&word, reinterpret_cast<char*>(results)), 0);
    const std::vector<ir::OracleArgument> arguments{ir::Constant::of(ScalarType::kInt64, int64_t{3})};
    EXPECT_EQ(results[0], ir::run_oracle(module, module.functions.back(), arguments)[0].as<int64_t>());
}

// Few blocks stay for the next allocation, and none beyond the call.
TEST(Codegen, ReleasedBlocksAreUsedAgain) {
    const codegen::HeapFrame frame(allocate_and_count);
    const auto allocate = [](int64_t bytes) {
        int64_t owner = 0;
        EXPECT_NE(codegen::heap_allocate(bytes, &owner), nullptr);
        return owner;
    };
    const int64_t first = allocate(100);
    codegen::heap_release(first);
    EXPECT_NE(allocate(101), first);
    EXPECT_NE(allocate(101), first);
    EXPECT_EQ(allocate(100), first);
    EXPECT_EQ(frame.block_count(), 3);
    const int64_t before = live_blocks;
    std::vector<int64_t> owners;
    for (int64_t bytes = 200; bytes < 300; ++bytes) owners.push_back(allocate(bytes));
    owners.push_back(allocate(int64_t{2} << 20));
    for (const int64_t owner : owners) codegen::heap_release(owner);
    EXPECT_EQ(live_blocks, before + 8);
    EXPECT_EQ(frame.block_count(), 3);
}

}  // namespace
}  // namespace weft
