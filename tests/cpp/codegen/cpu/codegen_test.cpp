#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "codegen/llvm/host_cpu.h"
#include "core/config.h"
#include "ir/oracle.h"
#include "support/ir_testing.h"
#include "support/kernel_testing.h"
#include "support/kernel_texts.h"
#include "weft/errors.h"

namespace weft {
namespace {

std::shared_ptr<const CompiledKernel> compile(const std::string& text,
                                              codegen::CompiledTexts* texts = nullptr) {
    const ir::Module module = ir::parse_and_check(text);
    return codegen::compile_for_cpu(module, module.functions.back().name, {}, texts);
}

template <class T>
ArgumentWord word(T* pointer) {
    return reinterpret_cast<ArgumentWord>(pointer);
}
ArgumentWord word(double value) { return std::bit_cast<ArgumentWord>(value); }
ArgumentWord word(int64_t value) { return static_cast<ArgumentWord>(value); }

void launch(const CompiledKernel& kernel, std::vector<ArgumentWord> words, std::vector<int64_t> grid,
            int64_t cost = 1) {
    EXPECT_EQ(kernel.grid_dimensions, static_cast<int>(grid.size()));
    cpu_device().launch(kernel, words, grid, cost);
}

TEST(Codegen, LinearKernel) {
    codegen::CompiledTexts texts;
    const auto kernel = compile(R"(
kernel @linear(%a: global f64[8] readonly, %b: global f64[8] scope 1 readonly, %out: global f64[8] scope 2, %k: f64, %n: i64) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = load %b[%i]
    %p = multiply %k, %x
    %s = add %p, %y
    store %out[%i], %s
  }
})",
                                &texts);
    EXPECT_EQ(kernel->name, "linear");
    EXPECT_GT(kernel->compile_seconds, 0);
    EXPECT_NE(texts.ir_after_passes.find("kernel @linear"), std::string::npos);
    EXPECT_NE(texts.llvm_ir.find("define void @kernel"), std::string::npos);
    EXPECT_NE(texts.assembly.find("mulpd"), std::string::npos) << "packed multiplications";
    EXPECT_EQ(texts.assembly.find("vfmadd"), std::string::npos) << "never contracted";
    EXPECT_NE(texts.vectorization_remarks.find("vectorized loop"), std::string::npos);
    for (const int64_t n : {0, 1, 7, 1000, 1000000}) {
        std::vector<double> a(static_cast<size_t>(n));
        std::vector<double> b(a.size());
        std::vector<double> out(a.size() + 1, -1);
        for (size_t i = 0; i < a.size(); ++i) {
            a[i] = 0.1 * static_cast<double>(i);
            b[i] = 1.0 / (1.0 + static_cast<double>(i));
        }
        launch(*kernel, {word(a.data()), word(b.data()), word(out.data()), word(2.5), word(n)}, {n});
        for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(out[i], 2.5 * a[i] + b[i]);
        EXPECT_EQ(out.back(), -1);
    }
}

TEST(Codegen, StridesOfEveryKind) {
    const auto kernel = compile(R"(
kernel @strided(%a: global f32[?, ?] readonly, %b: global i16[?, ?] scope 1 readonly, %out: global f32[?, 4] scope 2, %m: i64, %n: i64) {
  parallel grid (%i, %j) in (%m, %n) {
    %x = load %a[%i, %j]
    %y = load %b[%i, %j]
    %z = cast %y to f32
    %s = add %x, %z
    store %out[%i, %j], %s
  }
})");
    constexpr int64_t kRows = 37;
    constexpr int64_t kColumns = 53;
    std::vector<float> a(kRows * kColumns);
    std::vector<int16_t> b(kColumns);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i) * 0.5F;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int16_t>(100 - 3 * static_cast<int>(i));
    std::vector<float> out(kRows * kColumns);
    // a is read transposed and backwards; one row of b is broadcast.
    launch(*kernel,
           {word(a.data() + kRows * kColumns - 1), word(int64_t{-4}), word(int64_t{-4 * kRows}),
            word(b.data()), word(int64_t{0}), word(int64_t{2}), word(out.data()), word(int64_t{4 * kColumns}),
            word(kRows), word(kColumns)},
           {kRows, kColumns});
    for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < kColumns; ++j) {
            const float x = a[static_cast<size_t>(kRows * kColumns - 1 - i - j * kRows)];
            ASSERT_EQ(out[static_cast<size_t>(i * kColumns + j)],
                      x + static_cast<float>(b[static_cast<size_t>(j)]));
        }
    }
}

TEST(Codegen, InPlaceInOneScope) {
    const auto kernel = compile(R"(
kernel @in_place(%a: global i32[4] readonly, %out: global i32[4], %n: i64) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = add %x, %x
    store %out[%i], %y
  }
})");
    std::vector<int32_t> values(100003);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
    const auto n = static_cast<int64_t>(values.size());
    launch(*kernel, {word(values.data()), word(values.data()), word(n)}, {n});
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 2 * static_cast<int32_t>(i));
}

TEST(Codegen, EveryByteButZeroIsTrue) {
    const auto kernel = compile(R"(
kernel @bools(%a: global bool[1] readonly, %out: global bool[1] scope 1, %copy: global bool[1] scope 3, %count: global i64[8] scope 2, %n: i64) {
  %one = const i64 1
  %zero = const i64 0
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    store %copy[%i], %x
    %both = logical_and %x, %x
    store %out[%i], %both
    %c = if %x {
      yield %one
    } else {
      yield %zero
    }
    store %count[%i], %c
  }
})");
    std::vector<uint8_t> bytes(256);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
    std::vector<uint8_t> out(256, 9), copy(256, 9);
    std::vector<int64_t> counts(256);
    launch(*kernel,
           {word(bytes.data()), word(out.data()), word(copy.data()), word(counts.data()), word(int64_t{256})},
           {256});
    EXPECT_EQ(copy, bytes);  // what only moves it keeps the byte
    for (size_t i = 0; i < 256; ++i) {
        ASSERT_EQ(out[i], i == 0 ? 0 : 1);
        ASSERT_EQ(counts[i], i == 0 ? 0 : 1);
    }
}

TEST(Codegen, ComplexScalarsTakeTwoWords) {
    const auto kernel = compile(R"(
kernel @scale(%a: global c128[16] readonly, %out: global c128[16] scope 1, %k: c128, %h: c64, %n: i64) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = multiply %x, %k
    %w = cast %h to c128
    %z = add %y, %w
    store %out[%i], %z
  }
})");
    const double a[] = {1, 2, 3, 4};
    double out[4] = {};
    const float half[] = {0.5F, 0.25F};
    ArgumentWord packed = 0;
    std::memcpy(&packed, half, sizeof(half));
    launch(*kernel, {word(a), word(out), word(2.0), word(-1.0), packed, word(int64_t{2})}, {2});
    EXPECT_EQ(out[0], 4.5);
    EXPECT_EQ(out[1], 3.25);
    EXPECT_EQ(out[2], 10.5);
    EXPECT_EQ(out[3], 5.25);
}

TEST(Codegen, PredicatedAccessTouchesNothingElse) {
    const auto kernel = compile(R"(
kernel @masked(%a: global f64[8] readonly, %out: global f64[8] scope 1, %limit: i64, %n: i64) {
  %other = const f64 -1.0
  parallel grid (%i) in (%n) {
    %in = less %i, %limit
    %x = load %a[%i] if %in else %other
    store %out[%i], %x if %in
  }
})");
    const bool before = config().guard;
    config().guard = true;  // beyond the limit there is no memory
    BufferPtr buffers[4];
    for (BufferPtr& buffer : buffers) buffer = cpu_device().allocate(8 * 21);
    config().guard = before;
    for (int i = 0; i < 2; ++i) {
        auto* a = reinterpret_cast<double*>(buffers[i]->data());
        auto* out = reinterpret_cast<double*>(buffers[2 + i]->data());
        for (int k = 0; k < 21; ++k) a[k] = k;
        launch(*kernel, {word(a), word(out), word(int64_t{21}), word(int64_t{1000})}, {1000});
        for (int k = 0; k < 21; ++k) EXPECT_EQ(out[k], k);
    }
}

TEST(Codegen, WhileLoops) {
    const auto kernel = compile(R"(
kernel @collatz(%a: global i64[8] readonly, %out: global i64[8] scope 1, %n: i64) {
  %zero = const i64 0
  %one = const i64 1
  %two = const i64 2
  %three = const i64 3
  parallel grid (%i) in (%n) {
    %start = load %a[%i]
    %last, %steps = while (%x = %start, %s = %zero) {
      %more = greater %x, %one
      yield %more, %x, %s
    } do (%y, %t) {
      %odd = bitwise_and %y, %one
      %isodd = equal %odd, %one
      %next = if %isodd {
        %p = multiply %y, %three
        %q = add %p, %one
        yield %q
      } else {
        %h = right_shift %y, %one
        yield %h
      }
      %u = add %t, %one
      yield %next, %u
    }
    store %out[%i], %steps
  }
})");
    std::vector<int64_t> a(500);
    std::vector<int64_t> out(500);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int64_t>(i) + 1;
    launch(*kernel, {word(a.data()), word(out.data()), word(int64_t{500})}, {500});
    for (size_t i = 0; i < a.size(); ++i) {
        int64_t steps = 0;
        for (int64_t x = a[i]; x > 1; ++steps) x = x % 2 == 1 ? 3 * x + 1 : x / 2;
        ASSERT_EQ(out[i], steps) << a[i];
    }
}

TEST(Codegen, ExitsLeaveLoopsAndFunctions) {
    const auto kernel = compile(std::string(testing_kernels::kPairs));
    std::vector<int64_t> out(500);
    launch(*kernel, {word(int64_t{500}), word(int64_t{7}), word(out.data())}, {500});
    for (size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], testing_kernels::pair_of(static_cast<int64_t>(i) + 6, 7)) << i;
}

// Shared memory whose size is known late is taken in a loop; who leaves that gives it back.
TEST(Codegen, ExitsGiveSharedMemoryBack) {
    const auto kernel = compile(R"(
kernel @k(%n: i64, %size: i64, %out: global i64[8] scope 1) {
  %zero = const i64 0
  %one = const i64 1
  %two = const i64 2
  parallel grid (%i) in (%n) {
    %found = for %k = %zero to %n step %one with (%last = %zero) {
      %memory = allocate shared i64[8] size [?] scope 2 of (%size)
      store %memory[%zero], %k
      %v = load %memory[%zero]
      %rest = remainder %v, %two
      %even = equal %rest, %zero
      if %even {
        continue %v
      }
      %here = equal %v, %i
      if %here {
        break %v
      }
      yield %v
    }
    store %out[%i], %found
  }
})");
    std::vector<int64_t> out(100);
    launch(*kernel, {word(int64_t{100}), word(int64_t{1 << 16}), word(out.data())}, {100});
    for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i % 2 == 1 ? static_cast<int64_t>(i) : 99) << i;
}

// Float sums of every length give the oracle's bits, for whatever vectors the CPU has.
TEST(Codegen, SumsHaveTheBitsOfTheirTree) {
    const char* const text = R"(
kernel @sum(%a: global f32[4] readonly, %out: global f32[4] scope 1, %zero: f32, %n: i64) {
  %one = const i64 1
  parallel grid (%j) in (%one) {
    %r = reduce %i in %n lanes 16 block 128 with (%zero) {
      %x = load %a[%i]
      yield %x
    } combine (%l, %r) {
      %s = add %l, %r
      yield %s
    }
    store %out[%j], %r
  }
})";
    ir::Module module = ir::parse_and_check(text);
    std::vector<float> values(1500);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % 1000) * 0.37F - 100;
    for (const char* cpu : {"", "x86-64-v2", "haswell", "x86-64-v4"}) {
        if (!codegen::runs_on_host(cpu)) continue;
        codegen::CompileOptions options;
        options.cpu = cpu;
        const auto kernel = codegen::compile_for_cpu(module, "sum", options);
        for (int64_t n = 0; n < 1500; n += n < 300 ? 1 : 61) {
            std::vector<float> found(1);
            std::vector<float> expected(1);
            ir::run(module, ir::argument(values), ir::argument(expected), ir::argument(0.0F),
                    ir::argument(n));
            launch(*kernel, {word(values.data()), word(found.data()), 0, word(n)}, {1});
            ASSERT_EQ(std::bit_cast<uint32_t>(found[0]), std::bit_cast<uint32_t>(expected[0]))
                << n << " " << cpu;
        }
    }
}

TEST(Codegen, GridsOfAnyRank) {
    std::string sizes;
    std::string indices;
    std::string parameters;
    std::vector<int64_t> grid;
    int64_t points = 1;
    for (int rank = 0; rank <= kMaxGridDimensions; ++rank) {
        std::string text = "kernel @rank(%out: global i64[";
        std::vector<int64_t> strides(grid.size());
        int64_t stride = 8;
        for (size_t d = grid.size(); d-- > 0; stride *= grid[d]) strides[d] = stride;
        for (size_t d = 0; d < grid.size(); ++d) text += (d == 0 ? "" : ", ") + std::to_string(strides[d]);
        text += "], %value: i64" + parameters + ") {\n  parallel grid (" + indices + ") in (" + sizes +
                ") {\n    store %out[" + indices + "], %value\n  }\n}\n";
        SCOPED_TRACE(text);
        if (rank > 0) {
            const auto kernel = compile(text);
            std::vector<int64_t> out(static_cast<size_t>(points) + 1, 0);
            std::vector<ArgumentWord> words = {word(out.data()), word(int64_t{7})};
            for (int64_t size : grid) words.push_back(word(size));
            launch(*kernel, words, grid, 100000);
            EXPECT_EQ(std::count(out.begin(), out.end(), 7), points);
            EXPECT_EQ(out.back(), 0);
        }
        const std::string name = std::to_string(rank);
        grid.push_back(2 + rank % 2);
        points *= grid.back();
        sizes += (rank == 0 ? "%n" : ", %n") + name;
        indices += (rank == 0 ? "%i" : ", %i") + name;
        parameters += ", %n" + name + ": i64";
    }
}

void expect_refusal(const std::string& text, const std::string& what) {
    try {
        compile(text);
        FAIL() << "compiled " << text;
    } catch (const NotImplementedError& error) {
        EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("refused"), std::string::npos) << error.what();
    }
}

// Each thread's additions, maxima and exchanges count, for types that have an instruction and others.
template <class T>
void expect_atomics(const std::string& type) {
    const std::string text = "kernel @atomics(%sum: global " + type + "[0], %largest: global " + type +
                             "[0], %in: global " + type + "[" + std::to_string(sizeof(T)) +
                             "] readonly, %n: i64) {\n"
                             "  %zero = const i64 0\n"
                             "  parallel grid (%i) in (%n) {\n"
                             "    %x = load %in[%i]\n"
                             "    %old = atomic add %sum[%zero], %x relaxed device\n"
                             "    %before = atomic maximum %largest[%zero], %x sequential device\n"
                             "  }\n}\n";
    SCOPED_TRACE(text);
    const auto kernel = compile(text);
    std::vector<T> in(50000), sum(1), largest(1);
    T expected{}, most{};
    for (size_t k = 0; k < in.size(); ++k) {
        in[k] = static_cast<T>((k * 7919) % 101);
        expected = static_cast<T>(expected + in[k]);
        most = std::max(most, in[k]);
    }
    const auto n = static_cast<int64_t>(in.size());
    launch(*kernel, {word(sum.data()), word(largest.data()), word(in.data()), word(n)}, {n}, 1000);
    EXPECT_EQ(sum[0], expected);
    EXPECT_EQ(largest[0], most);
}

TEST(Codegen, AtomicsCountOnAllThreads) {
    expect_atomics<int64_t>("i64");
    expect_atomics<uint8_t>("u8");
    expect_atomics<int16_t>("i16");
    expect_atomics<double>("f64");  // integers of these sizes are exact in any order
    expect_atomics<float>("f32");
}

TEST(Codegen, RefusesByNameWhatItCannotCompile) {
    expect_refusal(R"(
kernel @refused(%out: global i64[8], %n: i64) {
  parallel grid (%b) in (%n) {
    store %out[%b], %b
  }
  parallel grid (%b) in (%n) {
    store %out[%b], %n
  }
})",
                   "more than one parallel(grid)");
}

TEST(Codegen, KnowsCpus) {
    EXPECT_FALSE(codegen::host_cpu().empty());
    EXPECT_TRUE(codegen::runs_on_host(""));
    EXPECT_TRUE(codegen::runs_on_host("x86-64"));
    EXPECT_FALSE(codegen::runs_on_host("bdver4")) << "its XOP went with it";
    const std::string before = config().cpu();
    config().set_cpu("no-such-cpu");
    EXPECT_THROW(compile("kernel @k() {\n}\n"), ValueError);
    config().set_cpu(before);
    EXPECT_NO_THROW(compile("kernel @k() {\n}\n"));
}

TEST(Codegen, CpuDecidesTheWidthOfVectors) {
    const OpInfo& add = op_info(OpId::kAdd);
    const ScalarType types[] = {ScalarType::kFloat64, ScalarType::kFloat64};
    const ir::Module module = testing_kernels::elementwise_module(add, *find_loop(add, types));
    const auto assembly = [&](const char* cpu) {
        codegen::CompileOptions options;
        options.cpu = cpu;
        codegen::CompiledTexts texts;
        codegen::compile_for_cpu(module, "kernel", options, &texts);
        return texts.assembly;
    };
    EXPECT_EQ(assembly("x86-64-v2").find("%ymm"), std::string::npos);
    EXPECT_NE(assembly("haswell").find("%ymm"), std::string::npos);
    EXPECT_EQ(assembly("haswell").find("%zmm"), std::string::npos);
    EXPECT_NE(assembly("x86-64-v4").find("%zmm"), std::string::npos);
    EXPECT_NE(assembly("skylake-avx512").find("%zmm"), std::string::npos);
}

// Sums of floats wait for memory; what computes on the way does not.
TEST(Codegen, SumsOfFloatsHaveNarrowerVectors) {
    const auto assembly = [](const std::string& type, const std::string& element) {
        const std::string text = "kernel @k(%rows: i64, %columns: i64, %from: global " + type + "[?, " +
                                 (type == "f16" ? "2" : "4") +
                                 "] readonly, %to: global f32[4] scope 1) {\n"
                                 "  parallel grid (%i) in (%rows) {\n"
                                 "    %zero = const f32 0\n"
                                 "    %sum = reduce %k in %columns lanes 32 block 512 with (%zero) {\n"
                                 "      %x = load %from[%i, %k]\n" +
                                 element +
                                 "    } combine (%l, %r) {\n      %c = add %l, %r\n      yield %c\n    }\n"
                                 "    store %to[%i], %sum\n  }\n}\n";
        codegen::CompileOptions options;
        options.cpu = "x86-64-v4";
        codegen::CompiledTexts texts;
        codegen::compile_for_cpu(ir::parse(text), "k", options, &texts);
        return texts.assembly;
    };
    EXPECT_EQ(assembly("f32", "      yield %x\n").find("%zmm"), std::string::npos);
    EXPECT_EQ(assembly("f16", "      %y = cast %x to f32\n      yield %y\n").find("%zmm"), std::string::npos);
    EXPECT_NE(assembly("f32", "      %y = sqrt %x\n      yield %y\n").find("%zmm"), std::string::npos);
    EXPECT_NE(assembly("i32", "      %y = cast %x to f32\n      yield %y\n").find("%zmm"), std::string::npos);
}

// Bytes of this process that can be run. Mappings are not counted: the system joins neighbours.
size_t executable_bytes() {
    std::ifstream file("/proc/self/maps");
    size_t bytes = 0;
    for (std::string line; std::getline(file, line);) {
        size_t first = 0, last = 0;
        char access[5] = {};
        if (std::sscanf(line.c_str(), "%zx-%zx %4s", &first, &last, access) == 3 && access[2] == 'x')
            bytes += last - first;
    }
    return bytes;
}

TEST(Codegen, MachineCodeGoesWithItsKernel) {
    const std::string text =
        "kernel @k(%out: global i64[8], %n: i64) {\n  parallel grid (%i) in (%n) {\n"
        "    store %out[%i], %n\n  }\n}\n";
    compile(text);
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t before = executable_bytes();
    std::vector<std::shared_ptr<const CompiledKernel>> kept;
    for (int i = 0; i < 50; ++i) kept.push_back(compile(text));
    EXPECT_GE(executable_bytes(), before + 50 * page);
    kept.clear();
    EXPECT_LT(executable_bytes(), before + 20 * page);
}

TEST(Codegen, CompilesOnSeveralThreads) {
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 10; ++i) {
                const std::string constant = std::to_string(100 * t + i);
                const auto kernel =
                    compile("kernel @k(%out: global i64[8], %n: i64) {\n  %c = const i64 " + constant +
                            "\n  parallel grid (%i) in (%n) {\n    store %out[%i], %c\n  }\n}\n");
                std::vector<int64_t> out(33);
                cpu_device().launch(*kernel, std::vector<ArgumentWord>{word(out.data()), 33},
                                    std::vector<int64_t>{33}, 1);
                right += static_cast<int>(std::count(out.begin(), out.end(), 100 * t + i)) == 33 ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace weft
