// Compiled kernels against the scalar oracle, bit for bit: random ones, and reductions of every shape.
#include <random>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "device/device.h"
#include "support/ir_random.h"
#include "support/ir_testing.h"
#include "support/kernel_testing.h"
#include "support/kernel_texts.h"

namespace weft::ir {
namespace {

void expect_equal_to_oracle(uint64_t seed, const RandomKernelOptions& options) {
    Module module = random_kernel(seed, options);
    check(module);
    RandomArguments expected(module, seed), found(module, seed);
    run_oracle(module, module.functions.back(), expected.arguments(), {.detect_races = options.blocks});
    auto kernel = codegen::compile_for_cpu(module, "random");
    int64_t grid[] = {found.size()};
    cpu_device().launch(*kernel, found.words(), grid, 1);
    for (size_t i = 0; i < expected.contents().size(); i++) {
        ScalarType type = found.kernel().type(found.kernel().parameters[i]).scalar;
        auto size = static_cast<size_t>(DType::of(type).itemsize());
        for (size_t at = 0; at < expected.contents()[i].size(); at += size) {
            ASSERT_TRUE(testing_kernels::same_value(found.contents()[i].data() + at,
                                                    expected.contents()[i].data() + at, type))
                << "seed " << seed << ", parameter " << i << ", element " << at / size << "\n"
                << print(module);
        }
    }
}

TEST(IrCompiled, RandomKernelsEqualTheOracle) {
    for (uint64_t seed = 5000; seed < 5060; seed++)
        expect_equal_to_oracle(seed, {.instructions = 50, .nan_signs = false});
}

TEST(IrCompiled, RandomBlocksEqualTheOracle) {
    for (uint64_t seed = 6000; seed < 6050; seed++)
        expect_equal_to_oracle(seed, {.instructions = 12, .blocks = true, .nan_signs = false});
}

template <class T>
void compare_sums(const std::string& type, int64_t lanes, int64_t block, bool dynamic) {
    const std::string itemsize = std::to_string(sizeof(T));
    Module module = parse_and_check(
        testing_kernels::row_sums(type, lanes, block, dynamic ? "?, ?" : "?, " + itemsize, itemsize));
    auto kernel = codegen::compile_for_cpu(module, "row_sums");
    std::mt19937_64 random(9);
    for (int64_t n : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257, 1000}) {
        const int64_t rows = 3;
        std::vector<T> a(static_cast<size_t>(rows * n));
        for (T& x : a)
            x = static_cast<T>(std::ldexp(static_cast<double>(random() % 100000) - 50000, random() % 20));
        std::vector<T> expected(rows), found(rows);
        run(module, argument(rows), argument(n), argument(a, {rows, n}), argument(expected));
        std::vector<ArgumentWord> words{static_cast<ArgumentWord>(rows), static_cast<ArgumentWord>(n),
                                        reinterpret_cast<ArgumentWord>(a.data()),
                                        static_cast<ArgumentWord>(n * sizeof(T))};
        if (dynamic) words.push_back(sizeof(T));
        words.push_back(reinterpret_cast<ArgumentWord>(found.data()));
        int64_t grid[] = {rows};
        cpu_device().launch(*kernel, words, grid, n + 1);
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), rows * sizeof(T)), 0)
            << type << " n " << n << " lanes " << lanes << " block " << block;
    }
}

TEST(IrCompiled, SumsEqualTheOracle) {
    for (auto [lanes, block] :
         {std::pair{1, 0}, {1, 1}, {1, 16}, {8, 0}, {8, 64}, {32, 64}, {32, 0}, {32, 4096}}) {
        compare_sums<double>("f64", lanes, block, false);
        compare_sums<float>("f32", lanes, block, true);
        compare_sums<int64_t>("i64", lanes, block, false);
    }
}

// The lanes of a float sum must become vectors, or the tree costs what it was made to save.
TEST(IrCompiled, LanesBecomeVectors) {
    for (const char* type : {"f64", "f32"}) {
        codegen::CompiledTexts texts;
        std::string itemsize = type[1] == '6' ? "8" : "4";
        codegen::compile_for_cpu(
            parse_and_check(testing_kernels::row_sums(type, 32, 4096, "?, " + itemsize, itemsize)),
            "row_sums", {.cpu = "haswell"}, &texts);
        EXPECT_NE(texts.vectorization_remarks.find("vectorized loop"), std::string::npos)
            << texts.vectorization_remarks;
        std::string add = type[1] == '6' ? "vaddpd" : "vaddps";
        int vectors = 0;
        for (size_t at = texts.assembly.find(add); at != std::string::npos;
             at = texts.assembly.find(add, at + 1)) {
            vectors += texts.assembly.substr(at, texts.assembly.find('\n', at) - at).find("ymm") !=
                       std::string::npos;
        }
        EXPECT_GE(vectors, 4) << texts.assembly;
    }
}

}  // namespace
}  // namespace weft::ir
