// Kernels for GPUs compute what kernels for the CPU do, bit for bit: run without a GPU, as tests/simulation
// says.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "device/cuda/launch_shape.h"
#include "ir/parser.h"
#include "support/gpu_kernel_testing.h"
#include "support/kernel_texts.h"
#include "support/ptx_testing.h"

namespace weft {
namespace {

using namespace testing_ptx;

class PtxSimulation : public GpuKernelTest {};

const char* const kAxpy = R"(
kernel @axpy(%n: i64, %c: f32, %a: global f32[4] readonly, %b: global f32[4] scope 1 readonly, %out: global f32[4] scope 2) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = load %b[%i]
    %cx = multiply %c, %x
    %sum = add %cx, %y
    store %out[%i], %sum
  }
})";

TEST_F(PtxSimulation, NeighboursWithAndWithoutAlignment) {
    const ir::Module module = ir::parse(kAxpy);
    const GpuKernel gpu(module, "axpy");
    for (const int64_t n : {1, 3, 4, 5, 1023, 1024, 4097}) {
        for (const int64_t offset : {0, 4, 8}) {
            SCOPED_TRACE(std::to_string(n) + " elements, " + std::to_string(offset) +
                         " bytes from alignment");
            Memory memory(static_cast<uint64_t>(n));
            std::vector<char>&a = memory.add(ScalarType::kFloat32, n),
            &b = memory.add(ScalarType::kFloat32, n), &out = memory.add(ScalarType::kFloat32, n, true);
            const float c = 1.5F;
            int64_t c_word = 0;
            std::memcpy(&c_word, &c, sizeof c);
            expect_same(module, gpu, {{nullptr, n}, {nullptr, c_word}, {&a}, {&b, offset}, {&out}}, {n}, out,
                        ScalarType::kFloat32);
        }
    }
}

// A view that overlaps itself has two strides of an element: its rows begin where no vector may.
TEST_F(PtxSimulation, WindowsBeginAnElementApart) {
    const ir::Module module = ir::parse(R"(
kernel @windows(%n: i64, %m: i64, %in: global i64[8, 8] readonly, %out: global i64[?, 8] scope 1) {
  parallel grid (%i, %j) in (%n, %m) {
    %x = load %in[%i, %j]
    store %out[%i, %j], %x
  }
})");
    const GpuKernel gpu(module, "windows");
    for (const int64_t window : {1, 2, 3, 4, 8}) {
        SCOPED_TRACE(window);
        constexpr int64_t kRows = 33;
        Memory memory(static_cast<uint64_t>(window));
        std::vector<char>&in = memory.add(ScalarType::kInt64, kRows + window),
        &out = memory.add(ScalarType::kInt64, kRows * window, true);
        expect_same(module, gpu, {{nullptr, kRows}, {nullptr, window}, {&in}, {&out}, {nullptr, 8 * window}},
                    {kRows, window}, out, ScalarType::kInt64);
    }
}

TEST_F(PtxSimulation, ArgmaxTakesTheFirstOfEqualsAndNanBeforeAll) {
    const ir::Module module = ir::parse(testing_ptx::kArgmaxOfRows);
    const GpuKernel gpu(module, "argmax");
    std::mt19937 random(3);
    for (const int64_t columns : {1, 33, 511, 512, 1100, 2048}) {
        SCOPED_TRACE(columns);
        const int64_t rows = 12;
        Memory memory(static_cast<uint64_t>(columns));
        std::vector<char>&a = memory.add(ScalarType::kFloat32, rows * columns),
        &out = memory.add(ScalarType::kInt64, rows, true);
        // Rows of the lowest number alone, of few different ones, and of these and some nans.
        for (int64_t k = 0; k < rows * columns; ++k) {
            const int64_t kind = k / columns % 3;
            float x = -HUGE_VALF;
            if (kind > 0) x = static_cast<float>(random() % 3);
            if (kind > 1 && random() % 64 == 0) x = std::nanf("");
            std::memcpy(a.data() + 4 * k, &x, sizeof x);
        }
        expect_same(module, gpu, {{nullptr, rows}, {nullptr, columns}, {&a, 0, {4 * columns}}, {&out}},
                    {rows}, out, ScalarType::kInt64);
    }
}

// What a row is divided by is turned into a factor (codegen/ptx/invariant_division.h): the quotients are the
// same.
TEST_F(PtxSimulation, RowsDividedByOneNumberHaveTheNearestQuotients) {
    const ir::Module module = ir::parse(R"(
kernel @divided(%rows: i64, %columns: i64, %a: global f32[?, 4] readonly, %out: global f32[?, 4] scope 1) {
  parallel grid (%i) in (%rows) {
    %lowest = const f32 -inf
    %most = reduce %k in %columns lanes 32 block 512 with (%lowest) {
      %x = load %a[%i, %k]
      yield %x
    } combine (%l, %r) {
      %both = maximum %l, %r
      yield %both
    }
    parallel block (%t) in (%columns) {
      %x = load %a[%i, %t]
      %y = divide %x, %most
      store %out[%i, %t], %y
    }
  }
})");
    const GpuKernel gpu(module, "divided");
    EXPECT_NE(gpu.image().ptx.find("mul.rn.f64"), std::string::npos) << "nothing is multiplied";
    std::mt19937 random(5);
    std::uniform_real_distribution<float> part(0, 1);
    const int64_t rows = 24;
    for (const int64_t columns : {512, 1030}) {
        SCOPED_TRACE(columns);
        Memory memory(static_cast<uint64_t>(columns));
        std::vector<char>&a = memory.add(ScalarType::kFloat32, rows * columns),
        &out = memory.add(ScalarType::kFloat32, rows * columns, true);
        for (int64_t row = 0; row < rows; ++row) {
            // The divisor is the first element; of most rows an ordinary number, of some a corner.
            const float corners[] = {0.0F,        1.0F,     HUGE_VALF, std::nanf(""), 0x1p-149F,
                                     0x1.8p-140F, 0x1p127F, 0x1p100F,  0x1.8p100F,    49.0F * 0x1p60F};
            const float ordinary = std::ldexp(1 + part(random), static_cast<int>(random() % 200) - 100);
            const float most = row < 10   ? corners[row]
                               : row < 16 ? std::ldexp(2.0F * row + 29, 60)
                                          : ordinary;
            for (int64_t k = 0; k < columns; ++k) {
                // Some quotients are subnormal, or halfway between two that are.
                float x = most * part(random);
                if (k % 4 == 1) x = std::ldexp(most * static_cast<float>(random() % 64), -150);
                if (k % 4 == 2) x = -std::ldexp(part(random), static_cast<int>(random() % 250) - 149);
                if (k % 64 == 3 || std::isnan(x)) x = 0;
                if (k == 0) x = most;
                if (!(x <= most) && k > 0) x = -x;
                std::memcpy(a.data() + 4 * (row * columns + k), &x, sizeof x);
            }
        }
        gpu.run({{nullptr, rows}, {nullptr, columns}, {&a, 0, {4 * columns}}, {&out, 0, {4 * columns}}},
                {rows}, out, [&] {
                    for (int64_t k = 0; k < rows * columns; ++k) {
                        float x, most, quotient;
                        std::memcpy(&x, a.data() + 4 * k, sizeof x);
                        std::memcpy(&most, a.data() + 4 * (k / columns * columns), sizeof most);
                        std::memcpy(&quotient, out.data() + 4 * k, sizeof quotient);
                        const float expected = x / most;
                        ASSERT_TRUE(testing_kernels::same_value(reinterpret_cast<const char*>(&quotient),
                                                                reinterpret_cast<const char*>(&expected),
                                                                ScalarType::kFloat32))
                            << x << " / " << most << " gives " << quotient;
                    }
                });
    }
}

TEST_F(PtxSimulation, RowsOfAnyLengthAndStride) {
    const ir::Module module = ir::parse(R"(
kernel @planes(%l: i64, %m: i64, %n: i64, %a: global u8[?, ?, 1] readonly, %b: global f64[?, 0, ?] scope 1 readonly, %out: global f64[?, ?, 8] scope 2) {
  parallel grid (%i, %j, %k) in (%l, %m, %n) {
    %x = load %a[%i, %j, %k]
    %y = load %b[%i, %j, %k]
    %wide = cast %x to f64
    %z = multiply %wide, %y
    store %out[%i, %j, %k], %z
  }
})");
    const GpuKernel gpu(module, "planes");
    const GpuKernel wide(module, "planes", {.wide = true});
    const GpuKernel unaligned(module, "planes", {.unaligned = true});
    EXPECT_EQ(gpu.image().points_per_thread, 4);
    for (const int64_t n : {1, 4, 7, 64, 65}) {
        SCOPED_TRACE(n);
        const int64_t l = 3, m = 5;
        Memory memory(static_cast<uint64_t>(n));
        std::vector<char>&a = memory.add(ScalarType::kUInt8, l * m * n),
        &b = memory.add(ScalarType::kFloat64, l * n),
        &out = memory.add(ScalarType::kFloat64, l * m * n, true);
        const std::vector<Argument> arguments = {{nullptr, l},
                                                 {nullptr, m},
                                                 {nullptr, n},
                                                 {&a, 0, {m * n, n}},
                                                 {&b, (n - 1) * 8, {n * 8, -8}},
                                                 {&out, 0, {m * n * 8, n * 8}}};
        expect_same(module, gpu, arguments, {l, m, n}, out, ScalarType::kFloat64);
        expect_same(module, wide, arguments, {l, m, n}, out, ScalarType::kFloat64);
        expect_same(module, unaligned, arguments, {l, m, n}, out, ScalarType::kFloat64);
    }
}

// Finite numbers of many magnitudes, so that every other order of additions gives other bits.
void fill_with_floats(std::vector<char>& bytes, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
        const auto value = static_cast<float>((static_cast<double>(random()) / 0x1p63 - 1) *
                                              std::ldexp(1.0, static_cast<int>(random() % 12)));
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }
}

// From -1 to 1.
void fill_with_doubles(std::vector<char>& bytes, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        const double value = static_cast<double>(random()) / 0x1p63 - 1;
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }
}

// Sums and squares of columns, neighbours side by side where they lie so; rows are cut.
TEST_F(PtxSimulation, SumsOfColumnsHaveTheTreeOfTheCpu) {
    const ir::Module module = ir::parse(R"(
kernel @column_sums(%columns: i64, %chunks: i64, %rows: i64, %a: global f32[4, ?] readonly, %sums: global f32[?, 4] scope 1, %squares: global f64[?, 8] scope 2) {
  %length = const i64 64
  parallel grid (%j, %c) in (%columns, %chunks) {
    %zero = const f32 0.0
    %none = const f64 0.0
    %begin = multiply %c, %length
    %rest = subtract %rows, %begin
    %count = minimum %rest, %length
    %sum, %square = reduce %k in %count lanes 1 block 0 with (%zero, %none) {
      %row = add %begin, %k
      %x = load %a[%j, %row]
      %wide = cast %x to f64
      %more = multiply %wide, %wide
      yield %x, %more
    } combine (%l0, %l1, %r0, %r1) {
      %both = add %l0, %r0
      %squared = add %l1, %r1
      yield %both, %squared
    }
    store %sums[%j, %c], %sum
    store %squares[%j, %c], %square
  }
})");
    const GpuKernel gpu(module, "column_sums");
    EXPECT_EQ(gpu.image().points_per_thread, 4);
    for (const int64_t columns : {1, 3, 4, 37, 1028}) {
        for (const int64_t rows : {1, 63, 64, 130}) {
            for (const int64_t offset : {0, 4}) {
                SCOPED_TRACE(std::to_string(columns) + " columns, " + std::to_string(rows) + " rows, " +
                             std::to_string(offset) + " bytes from alignment");
                const int64_t chunks = (rows + 63) / 64;
                Memory memory(1);
                std::vector<char>&a = memory.add(ScalarType::kFloat32, rows * columns + 1),
                &sums = memory.add(ScalarType::kFloat32, chunks * columns, true),
                &squares = memory.add(ScalarType::kFloat64, chunks * columns, true);
                fill_with_floats(a, static_cast<uint64_t>(columns));
                const std::vector<Argument> arguments = {
                    {nullptr, columns},          {nullptr, chunks},        {nullptr, rows},
                    {&a, offset, {columns * 4}}, {&sums, 0, {chunks * 4}}, {&squares, 0, {chunks * 8}}};
                expect_same(module, gpu, arguments, {columns, chunks}, sums, ScalarType::kFloat32);
                expect_same(module, gpu, arguments, {columns, chunks}, squares, ScalarType::kFloat64);
            }
        }
    }
}

TEST_F(PtxSimulation, SumsOfRowsHaveTheTreeOfTheCpu) {
    const ir::Module module = ir::parse(testing_kernels::row_sums("f32", 32, 512, "?, 4", "4"));
    const GpuKernel gpu(module, "row_sums");
    ASSERT_TRUE(gpu.image().teams);
    EXPECT_EQ(gpu.image().row_word, 1);
    for (const int64_t columns :
         {0, 1, 31, 32, 33, 511, 512, 513, 1025, 3 * 512, 5 * 512 + 17, 20000, 40000}) {
        SCOPED_TRACE(columns);
        const int64_t rows = columns > 2000 ? 3 : 11;
        Memory memory(1);
        std::vector<char>&a = memory.add(ScalarType::kFloat32, rows * columns + 1),
        &out = memory.add(ScalarType::kFloat32, rows, true);
        fill_with_floats(a, static_cast<uint64_t>(columns));
        const std::vector<Argument> arguments = {
            {nullptr, rows}, {nullptr, columns}, {&a, 0, {columns * 4}}, {&out}};
        expect_same(module, gpu, arguments, {rows}, out, ScalarType::kFloat32);
        // Teams of every size give the same.
        const std::vector<char> expected = out;
        for (const uint32_t threads : {32U, 64U, 128U, 256U}) {
            const uint32_t teams = 256 / threads;
            const auto blocks = static_cast<uint32_t>((rows + teams - 1) / teams);
            if (gpu.simulated() == nullptr) continue;
            gpu.simulated()->run(arguments, CudaLaunchShape{blocks, threads, teams});
            EXPECT_EQ(out, expected) << "teams of " << threads;
        }
    }
}

TEST_F(PtxSimulation, PartialResultsAreCombinedPairwise) {
    const ir::Module module = ir::parse(R"(
kernel @combine(%points: i64, %count: i64, %a: global f64[?, 8] readonly, %out: global f64[8] scope 1) {
  parallel grid (%i) in (%points) {
    %zero = const f64 0.0
    %sum = reduce %k in %count lanes 1 block 1 with (%zero) {
      %x = load %a[%i, %k]
      yield %x
    } combine (%left, %right) {
      %both = add %left, %right
      yield %both
    }
    store %out[%i], %sum
  }
})");
    const GpuKernel gpu(module, "combine");
    for (const int64_t count : {1, 2, 3, 7, 11, 127, 128, 129, 1000, 5000}) {
        SCOPED_TRACE(count);
        Memory memory(static_cast<uint64_t>(count));
        std::vector<char>&a = memory.add(ScalarType::kFloat64, 3 * count),
        &out = memory.add(ScalarType::kFloat64, 3, true);
        fill_with_doubles(a, 1);
        expect_same(module, gpu, {{nullptr, 3}, {nullptr, count}, {&a, 0, {count * 8}}, {&out}}, {3}, out,
                    ScalarType::kFloat64);
    }
}

// The largest element of each row and where it is first, and two sums at once; what is written along the row
// depends on them.
TEST_F(PtxSimulation, RowsAreReducedAndWrittenByTeams) {
    const std::string head = R"(
kernel @spread(%rows: i64, %columns: i64, %a: global f64[?, 8] scope 1 readonly, %out: global f64[?, 8] scope 1) {
  parallel grid (%i) in (%rows) {
    %zero = const f64 0.0
    %lowest = const f64 -inf
    %first = const i64 0
    %one = const i64 1
    %top = reduce %k in %columns lanes 32 block 0 with (%lowest) {
      %x = load %a[%i, %k]
      yield %x
    } combine (%left, %right) {
      %larger = maximum %left, %right
      yield %larger
    }
    %sum, %squares = reduce %k in %columns lanes 32 block 512 with (%zero, %zero) {
      %x = load %a[%i, %k]
      %d = subtract %x, %top
      %dd = multiply %d, %d
      yield %d, %dd
    } combine (%l0, %l1, %r0, %r1) {
      %s0 = add %l0, %r0
      %s1 = add %l1, %r1
      yield %s0, %s1
    }
)";
    const std::string body = R"(
      %x = load %a[%i, %k]
      %d = subtract %x, %sum
      %q = divide %d, %squares
      store %out[%i, %k], %q
    }
  }
})";
    const ir::Module cpu_module = ir::parse(head + "for %k = %first to %columns step %one {" + body);
    const ir::Module gpu_module = ir::parse(head + "parallel block (%k) in (%columns) {" + body);
    const GpuKernel gpu(gpu_module, "spread");
    EXPECT_NE(gpu.image().ptx.find("bar.sync"), std::string::npos);
    for (const int64_t columns : {1, 40, 700, 9000}) {
        SCOPED_TRACE(columns);
        const int64_t rows = 5;
        Memory memory(1);
        std::vector<char>& data = memory.add(ScalarType::kFloat64, rows * columns, true);
        fill_with_doubles(data, 7);
        // In place.
        expect_same(
            cpu_module, gpu,
            {{nullptr, rows}, {nullptr, columns}, {&data, 0, {columns * 8}}, {&data, 0, {columns * 8}}},
            {rows}, data, ScalarType::kFloat64);
    }
}

std::string kernel_text(const std::string& name) {
    std::ifstream file(WEFT_SOURCE_DIR "/tests/kernels/" + name + ".wir");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST_F(PtxSimulation, Histogram) {
    const ir::Module module = ir::parse(kernel_text("histogram"));
    const GpuKernel gpu(module, "histogram");
    const int64_t n = 10000, blocks = 3, threads = 96, bins = 64;
    Memory memory(1);
    std::vector<char>&a = memory.add(ScalarType::kFloat32, n, true),
    &out = memory.add(ScalarType::kInt64, bins, true);
    std::mt19937_64 random(3);
    std::vector<int64_t> expected(static_cast<size_t>(bins));
    for (int64_t k = 0; k < n; ++k) {
        const float x = static_cast<float>(random() % 10000) / 100.0F - 10.0F;
        std::memcpy(a.data() + 4 * k, &x, sizeof x);
        const float bin = std::floor((x - 0.0F) * 0.8F);
        if (bin >= 0 && bin < bins) ++expected[static_cast<size_t>(bin)];
    }
    const float low = 0.0F, scale = 0.8F;
    int64_t low_word = 0, scale_word = 0;
    std::memcpy(&low_word, &low, 4);
    std::memcpy(&scale_word, &scale, 4);
    const std::vector<Argument> arguments = {
        {nullptr, blocks},     {nullptr, threads}, {nullptr, n}, {nullptr, low_word},
        {nullptr, scale_word}, {&a, 0, {4}},       {&out}};
    EXPECT_EQ(launch_shape(gpu.image(), words_of(arguments), std::array{blocks}).threads_x, 96U);
    gpu.run(arguments, {blocks}, out, [&] {
        for (int64_t k = 0; k < bins; ++k) {
            int64_t count = 0;
            std::memcpy(&count, out.data() + 8 * k, sizeof count);
            EXPECT_EQ(count, expected[static_cast<size_t>(k)]) << "bin " << k;
        }
    });
}

TEST_F(PtxSimulation, TiledProduct) {
    const ir::Module module = ir::parse(kernel_text("tiled_product"));
    const GpuKernel gpu(module, "tiled_product");
    EXPECT_EQ(gpu.image().team_threads, 64);
    const int64_t m = 13, n = 21, k = 30;
    Memory memory(1);
    std::vector<char>&a = memory.add(ScalarType::kFloat32, m * k, true),
    &b = memory.add(ScalarType::kFloat32, k * n, true), &c = memory.add(ScalarType::kFloat32, m * n, true);
    fill_with_floats(a, 1);
    fill_with_floats(b, 2);
    const std::vector<Argument> arguments = {{nullptr, 2},        {nullptr, 3},       {nullptr, m},
                                             {nullptr, n},        {nullptr, k},       {&a, 0, {k * 4, 4}},
                                             {&b, 0, {n * 4, 4}}, {&c, 0, {n * 4, 4}}};
    const auto at = [](const std::vector<char>& bytes, int64_t element) {
        float value = 0;
        std::memcpy(&value, bytes.data() + 4 * element, sizeof value);
        return value;
    };
    gpu.run(arguments, {2, 3}, c, [&] {
        for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
                float sum = 0;
                for (int64_t l = 0; l < k; ++l) sum += at(a, i * k + l) * at(b, l * n + j);
                EXPECT_EQ(at(c, i * n + j), sum) << i << ", " << j;
            }
        }
    });
}

TEST_F(PtxSimulation, Mandelbrot) {
    const ir::Module module = ir::parse(kernel_text("mandelbrot"));
    const GpuKernel gpu(module, "mandelbrot");
    const int64_t height = 17, width = 33;
    Memory memory(1);
    std::vector<char>& out = memory.add(ScalarType::kInt32, height * width, true);
    const auto word = [](double value) {
        int64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        return bits;
    };
    expect_same(module, gpu,
                {{nullptr, height},
                 {nullptr, width},
                 {nullptr, 100},
                 {nullptr, word(-2.0)},
                 {nullptr, word(1.2)},
                 {nullptr, word(0.08)},
                 {&out, 0, {width * 4}}},
                {height, width}, out, ScalarType::kInt32);
}

// What the hardware has no instruction for.
TEST_F(PtxSimulation, AtomicsOfSmallElements) {
    const ir::Module module = ir::parse(R"(
kernel @counts(%n: i64, %a: global u16[2] readonly, %out: global u16[2] scope 1) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %seven = const u16 7
    %bin = remainder %x, %seven
    %at = cast %bin to i64
    %one = const u16 1
    %old = atomic add %out[%at], %one relaxed device
  }
})");
    const GpuKernel gpu(module, "counts");
    const int64_t n = 1000;
    Memory memory(5);
    std::vector<char>&a = memory.add(ScalarType::kUInt16, n), &out = memory.add(ScalarType::kUInt16, 7, true);
    std::vector<uint16_t> expected(7), counted(7);
    for (int64_t k = 0; k < n; ++k) {
        uint16_t x = 0;
        std::memcpy(&x, a.data() + 2 * k, sizeof x);
        ++expected[x % 7];
    }
    gpu.run({{nullptr, n}, {&a}, {&out}}, {n}, out, [&] {
        std::memcpy(counted.data(), out.data(), 14);
        EXPECT_EQ(counted, expected);
    });
}

}  // namespace
}  // namespace weft
