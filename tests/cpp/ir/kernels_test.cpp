// The hand-written kernels of tests/kernels on the scalar oracle, as written and after the passes, and
// compiled, against plain C++.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "passes/pipeline.h"
#include "support/compiled_testing.h"
#include "support/ir_testing.h"
#include "weft/errors.h"

namespace weft::ir {
namespace {

std::string read_kernel(const std::string& name) {
    std::ifstream file(std::string(WEFT_SOURCE_DIR) + "/tests/kernels/" + name + ".wir");
    EXPECT_TRUE(file.good()) << name;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// All ways in which a kernel runs.
struct Runner {
    const char* name;
    Module module;
    bool compiled = false;

    template <class... Arguments>
    void operator()(const Arguments&... arguments) const {
        if (compiled) {
            run_compiled(module, arguments...);
        } else {
            run(module, arguments...);
        }
    }
};

std::vector<Runner> runners(const std::string& text) {
    const Module module = parse_and_check(text);
    Module lowered = module;
    passes::run_pipeline(lowered);
    check(lowered);
    return {{"as written", module}, {"after the passes", lowered}, {"compiled", module, true}};
}

TEST(IrKernels, AllComeBackFromText) {
    int count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(WEFT_SOURCE_DIR) + "/tests/kernels")) {
        if (entry.path().extension() != ".wir") continue;
        Module module = parse_and_check(read_kernel(entry.path().stem().string()));
        EXPECT_EQ(print(parse(print(module))), print(module)) << entry.path();
        count++;
    }
    EXPECT_GE(count, 3);
}

TEST(IrKernels, Mandelbrot) {
    for (const Runner& runner : runners(read_kernel("mandelbrot"))) {
        const int64_t height = 20, width = 30;
        const int32_t limit = 60;
        const double left = -2.2, top = 1.2, step = 0.1;
        std::vector<int32_t> out(static_cast<size_t>(height * width));
        SCOPED_TRACE(runner.name);
        runner(argument(height), argument(width), argument(limit), argument(left), argument(top),
               argument(step), argument(out, {height, width}));
        int inside = 0;
        for (int64_t i = 0; i < height; i++) {
            for (int64_t j = 0; j < width; j++) {
                double cr = left + static_cast<double>(j) * step, ci = top - static_cast<double>(i) * step;
                double zr = 0, zi = 0;
                int32_t k = 0;
                for (; zr * zr + zi * zi <= 4 && k < limit; k++) {
                    double re = zr * zr - zi * zi + cr;
                    zi = 2 * (zr * zi) + ci;
                    zr = re;
                }
                EXPECT_EQ(out[static_cast<size_t>(i * width + j)], k) << i << " " << j;
                inside += k == limit;
            }
        }
        EXPECT_GT(inside, 30);
        EXPECT_LT(inside, 300);
    }
}

TEST(IrKernels, Histogram) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, 1);
    std::vector<float> a(1000);
    for (float& x : a) x = normal(random);
    const float low = -3, scale = 64.0f / 6;
    std::vector<int64_t> expected(64);
    for (float x : a) {
        float bin = std::floor((x - low) * scale);
        if (bin >= 0 && bin < 64) expected[static_cast<size_t>(bin)]++;
    }
    for (const Runner& runner : runners(read_kernel("histogram"))) {
        std::vector<int64_t> out(64);
        SCOPED_TRACE(runner.name);
        runner(argument<int64_t>(3), argument<int64_t>(32), argument<int64_t>(1000), argument(low),
               argument(scale), argument(a), argument(out));
        EXPECT_EQ(out, expected);
    }
}

struct Product {
    int64_t m = 19, n = 13, k = 21;
    std::vector<float> a = std::vector<float>(static_cast<size_t>(m * k));
    std::vector<float> b = std::vector<float>(static_cast<size_t>(k * n));
    std::vector<float> c = std::vector<float>(static_cast<size_t>(m * n), -1);

    Product() {
        std::mt19937 random(8);
        for (float& x : a) x = static_cast<float>(random() % 1000) / 64;
        for (float& x : b) x = static_cast<float>(random() % 1000) / 64;
    }
    void run_on(const auto& runner) {
        runner(argument((m + 7) / 8), argument((n + 7) / 8), argument(m), argument(n), argument(k),
               argument(a, {m, k}), argument(b, {k, n}), argument(c, {m, n}));
    }
};

TEST(IrKernels, TiledProduct) {
    for (const Runner& runner : runners(read_kernel("tiled_product"))) {
        SCOPED_TRACE(runner.name);
        Product product;
        product.run_on(runner);
        for (int64_t i = 0; i < product.m; i++) {
            for (int64_t j = 0; j < product.n; j++) {
                float sum = 0;
                for (int64_t l = 0; l < product.k; l++) {
                    float term = product.a[static_cast<size_t>(i * product.k + l)] *
                                 product.b[static_cast<size_t>(l * product.n + j)];
                    sum += term;
                }
                EXPECT_EQ(product.c[static_cast<size_t>(i * product.n + j)], sum) << i << " " << j;
            }
        }
    }
}

// The oracle must see that either barrier is needed.
TEST(IrKernels, TiledProductNeedsBothBarriers) {
    std::string text = read_kernel("tiled_product");
    for (size_t at = text.find("barrier\n"); at != std::string::npos; at = text.find("barrier\n", at + 1)) {
        std::string without = text;
        without.erase(at, 7);
        Product product;
        EXPECT_THROW(product.run_on(Runner{"", parse_and_check(without)}), RuntimeError);
    }
}

}  // namespace
}  // namespace weft::ir
