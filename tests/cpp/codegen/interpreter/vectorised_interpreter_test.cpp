// The vectorised interpreter against the scalar oracle, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "codegen/interpreter/executor.h"
#include "support/compiled_testing.h"
#include "support/ir_random.h"
#include "support/ir_testing.h"
#include "support/kernel_testing.h"
#include "support/kernel_texts.h"

namespace weft::ir {
namespace {

std::shared_ptr<const codegen::BlockKernel> blocks_of(const Module& module) {
    std::string why;
    return codegen::make_block_kernel(module, module.functions.back(), why);
}

std::string reason_of(std::string_view text) {
    std::string why;
    const Module module = parse_and_check(text);
    return codegen::make_block_kernel(module, module.functions.back(), why) == nullptr ? why : "";
}

// Interprets the kernel over its grid, on several threads.
template <class... Arguments>
void run_blocks(const Module& module, std::vector<int64_t> grid, const Arguments&... arguments) {
    const auto kernel = blocks_of(module);
    ASSERT_NE(kernel, nullptr) << print(module);
    const std::vector<OracleArgument> list{OracleArgument(arguments)...};
    const auto words = words_of(module.functions.back(), list);
    cpu_device().launch(*kernel, words, grid, 1000);
}

TEST(VectorisedInterpreter, EveryLoopOfTheTableGivesTheOraclesBits) {
    std::mt19937_64 random(3);
    for (const OpInfo& op : op_table()) {
        for (const LoopInfo& loop : op.loops) {
            for (const bool contiguous : {true, false}) {
                const Module module = testing_kernels::elementwise_module(op, loop, contiguous);
                const int64_t n = 700, steps = contiguous ? 1 : 2;
                std::vector<std::vector<char>> memory;
                std::vector<OracleArgument> expected, found;
                const size_t operands = op.nin + op.nout;
                memory.reserve(2 * operands);
                for (size_t i = 0; i < operands; ++i) {
                    const int64_t itemsize = DType(loop.types[i]).itemsize();
                    memory.emplace_back(static_cast<size_t>(n * steps * itemsize));
                    testing_kernels::fill(memory.back(), loop.types[i], random);
                    expected.emplace_back(OracleBuffer{memory.back().data(), {steps * itemsize}});
                    if (i < op.nin) {
                        found.push_back(expected.back());
                        continue;
                    }
                    memory.emplace_back(memory.back());
                    found.emplace_back(OracleBuffer{memory.back().data(), {steps * itemsize}});
                }
                expected.emplace_back(argument(n));
                found.emplace_back(argument(n));
                run_oracle(module, module.functions.back(), expected);
                const auto kernel = blocks_of(module);
                ASSERT_NE(kernel, nullptr);
                const int64_t lower = 0;
                kernel->run(words_of(module.functions.back(), found).data(), &lower, &n);
                for (size_t i = op.nin; i < operands; ++i) {
                    const auto itemsize = static_cast<size_t>(DType(loop.types[i]).itemsize());
                    for (size_t at = 0; at < static_cast<size_t>(n * steps); ++at) {
                        ASSERT_TRUE(testing_kernels::same_value(
                            std::get<OracleBuffer>(found[i]).base + at * itemsize,
                            std::get<OracleBuffer>(expected[i]).base + at * itemsize, loop.types[i]))
                            << op.name << " " << testing_kernels::signature(op, loop) << " element " << at;
                    }
                }
            }
        }
    }
}

TEST(VectorisedInterpreter, RandomKernelsEqualTheOracle) {
    int ran = 0;
    for (uint64_t seed = 9000; seed < 9400; seed++) {
        const Module module = random_kernel(seed, {.instructions = 25, .nan_signs = false});
        const auto kernel = blocks_of(module);
        if (kernel == nullptr) continue;
        ++ran;
        RandomArguments expected(module, seed), found(module, seed);
        run_oracle(module, module.functions.back(), expected.arguments());
        const int64_t grid[] = {found.size()};
        cpu_device().launch(*kernel, found.words(), grid, 1);
        for (size_t i = 0; i < expected.contents().size(); i++) {
            const ScalarType type = found.kernel().type(found.kernel().parameters[i]).scalar;
            const auto size = static_cast<size_t>(DType::of(type).itemsize());
            for (size_t at = 0; at < expected.contents()[i].size(); at += size) {
                ASSERT_TRUE(testing_kernels::same_value(found.contents()[i].data() + at,
                                                        expected.contents()[i].data() + at, type))
                    << "seed " << seed << ", parameter " << i << ", element " << at / size << "\n"
                    << print(module);
            }
        }
    }
    EXPECT_GE(ran, 20);
}

template <class T>
void compare_sums(const std::string& type, int64_t lanes, int64_t block, const std::string& strides) {
    const Module module = parse_and_check(testing_kernels::row_sums(type, lanes, block, strides, "?"));
    std::mt19937_64 random(9);
    for (const int64_t n : {0, 1, 2, 3, 7, 31, 32, 33, 64, 100, 257, 1000, 5000, 9001}) {
        const int64_t rows = 5;
        std::vector<T> a(static_cast<size_t>(rows * n));
        for (T& x : a)
            x = static_cast<T>(std::ldexp(static_cast<double>(random() % 100000) - 50000, random() % 20));
        const bool across = strides.starts_with(std::to_string(sizeof(T)));
        OracleBuffer input = argument(a, across ? std::vector{n, rows} : std::vector{rows, n});
        if (across) std::swap(input.strides[0], input.strides[1]);
        std::vector<T> expected(rows), found(rows);
        run(module, argument(rows), argument(n), input, argument(expected));
        run_blocks(module, {rows}, argument(rows), argument(n), input, argument(found));
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), rows * sizeof(T)), 0)
            << type << " n " << n << " lanes " << lanes << " block " << block << " strides " << strides;
    }
}

TEST(VectorisedInterpreter, SumsCombineInTheTreeOfTheIr) {
    for (const auto [lanes, block] :
         {std::pair{8, 0}, {8, 64}, {32, 64}, {32, 0}, {32, 512}, {32, 4096}, {2, 8192}}) {
        compare_sums<double>("f64", lanes, block, "?, 8");
        compare_sums<float>("f32", lanes, block, "?, ?");
        compare_sums<int64_t>("i64", lanes, block, "?, 8");
    }
    for (const auto [lanes, block] : {std::pair{1, 0}, {1, 1}, {1, 16}, {1, 4096}}) {
        compare_sums<double>("f64", lanes, block, "8, ?");
        compare_sums<double>("f64", lanes, block, "?, 8");
        compare_sums<float>("f32", lanes, block, "4, ?");
    }
}

// What is read where it lies must not change before its last use.
TEST(VectorisedInterpreter, WritesInPlaceOverwriteNothingThatIsStillNeeded) {
    const Module module = parse_and_check(R"(
        kernel @shifted(%n: i64, %a: global f64[8] scope 1, %b: global f64[8] scope 2, %c: global f64[8] scope 2) {
          parallel grid (%i) in (%n) {
            %x = load %a[%i]
            %y = load %b[%i]
            %sum = add %x, %y
            %product = multiply %sum, %x
            store %a[%i], %sum
            %again = load %a[%i]
            %z = subtract %again, %x
            store %b[%i], %z
            %w = subtract %y, %product
            store %c[%i], %w
          }
        })");
    const int64_t n = 3000;
    std::vector<double> a(n), b(n), c(n);
    for (int64_t i = 0; i < n; ++i) {
        a[i] = static_cast<double>(i % 17) + 0.5;
        b[i] = 1.0 / static_cast<double>(i + 1);
    }
    std::vector<double> other_a = a, other_b = b, other_c = c;
    run(module, argument(n), argument(a), argument(b), argument(c));
    run_blocks(module, {n}, argument(n), argument(other_a), argument(other_b), argument(other_c));
    EXPECT_EQ(a, other_a);
    EXPECT_EQ(b, other_b);
    EXPECT_EQ(c, other_c);
}

// Each point adds one to its element: a point that is left out or done twice shows.
TEST(VectorisedInterpreter, HandsOverInTheMiddleOfALaunch) {
    const char* const by_points = R"(
        kernel @count(%p: i64, %q: i64, %r: i64, %a: global i64[?, ?, 8] scope 1) {
          %one = const i64 1
          parallel grid (%i, %j, %k) in (%p, %q, %r) {
            %x = load %a[%i, %j, %k]
            %y = add %x, %one
            store %a[%i, %j, %k], %y
          }
        })";
    const char* const by_rows = R"(
        kernel @count(%p: i64, %q: i64, %r: i64, %a: global i64[?, ?, 8] scope 1) {
          %one = const i64 1
          %zero = const i64 0
          parallel grid (%i, %j, %k) in (%p, %q, %r) {
            %ones = reduce %l in %p lanes 32 block 0 with (%zero) {
              %is_first = equal %l, %zero
              %found = select %is_first, %one, %zero
              yield %found
            } combine (%left, %right) {
              %both = add %left, %right
              yield %both
            }
            %x = load %a[%i, %j, %k]
            %y = add %x, %ones
            store %a[%i, %j, %k], %y
          }
        })";
    const int64_t shape[] = {3, 41, 1500};
    const int64_t elements = shape[0] * shape[1] * shape[2];
    for (const char* text : {by_points, by_rows}) {
        const Module module = parse_and_check(text);
        const auto compiled =
            std::static_pointer_cast<const CpuKernel>(codegen::compile_for_cpu(module, "count"));
        int handed_over = 0;
        // On a busy machine the other thread seldom comes in between.
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        for (int attempt = 0; handed_over < 12 && std::chrono::steady_clock::now() < end; ++attempt) {
            std::vector<int64_t> a(static_cast<size_t>(elements));
            const std::vector<ArgumentWord> words{3,
                                                  41,
                                                  1500,
                                                  reinterpret_cast<ArgumentWord>(a.data()),
                                                  static_cast<ArgumentWord>(shape[1] * shape[2] * 8),
                                                  static_cast<ArgumentWord>(shape[2] * 8)};
            const auto blocks = blocks_of(module);
            ASSERT_NE(blocks, nullptr);
            std::atomic<bool> done{false};
            std::thread other([&] {
                // Until some elements are there: each time another number of them.
                volatile const int64_t* const watched =
                    &a[static_cast<size_t>(elements * (attempt % 40) / 40)];
                while (!done.load() && *watched == 0) std::this_thread::yield();
                handed_over += done.load() ? 0 : 1;
                blocks->replace(compiled);
            });
            const int64_t lower[] = {0, 0, 0};
            blocks->run(words.data(), lower, shape);
            done = true;
            other.join();
            ASSERT_EQ(std::count(a.begin(), a.end(), 1), elements) << attempt;
        }
        EXPECT_GT(handed_over, 0);
    }
}

TEST(VectorisedInterpreter, SaysWhatItHasNoWayToRun) {
    EXPECT_EQ(reason_of(R"(
        kernel @f(%n: i64, %h: global i64[8]) {
          %one = const i64 1
          parallel grid (%i) in (%n) {
            %old = atomic add %h[%i], %one relaxed device
          }
        })"),
              "no atomic");
    EXPECT_NE(reason_of(R"(
        kernel @f(%n: i64, %p: global i64[8] readonly, %h: global i64[8] scope 1) {
          parallel grid (%i) in (%n) {
            %k = load %p[%i]
            store %h[%k], %i
          }
        })"),
              "");
}

}  // namespace
}  // namespace weft::ir
