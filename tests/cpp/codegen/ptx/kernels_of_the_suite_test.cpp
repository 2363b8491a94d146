// Kernels that the Python suite made, for GPUs: a fixed sample of them (tests/data/kernels_of_the_suite.wir),
// or those of the file that WEFT_PTX_KERNELS names (make test-ptx collects all). Generated, and assembled
// where ptxas is.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "core/threads/thread_pool.h"
#include "device/cuda/kernel_image.h"
#include "ir/parser.h"
#include "support/ptx_testing.h"
#include "weft/errors.h"

namespace weft {
namespace {

using namespace testing_ptx;

constexpr int kMostRegisters = 255;
constexpr int kMostSpilled = 512;  // bytes

std::vector<std::string> kernels_in(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> kernels;
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("kernel @", 0) == 0) kernels.emplace_back();
        if (!kernels.empty()) kernels.back() += line + "\n";
    }
    return kernels;
}

TEST(PtxKernels, OfTheSuiteAreGeneratedAndAssembled) {
    const char* all = std::getenv("WEFT_PTX_KERNELS");
    const std::vector<std::string> kernels =
        kernels_in(all != nullptr ? all : WEFT_SOURCE_DIR "/tests/data/kernels_of_the_suite.wir");
    ASSERT_GT(kernels.size(), 100U);
    const std::string ptxas = find_ptxas();
    std::mutex mutex;
    int assembled_count = 0, most_registers = 0, spilling = 0, teams = 0, without_libdevice = 0;
    std::string most_of;
    parallel_for(static_cast<int64_t>(kernels.size()), [&](int64_t task) {
        const std::string& text = kernels[static_cast<size_t>(task)];
        const ir::Module module = ir::parse(text);
        SCOPED_TRACE(module.functions[0].name);
        codegen::PtxOptions options;
        options.sm = task % 2 == 0 ? 80 : 90;
        codegen::PtxTexts texts;
        CudaKernelImage image;
        try {
            image = codegen::compile_ptx(module, module.functions[0].name, options, &texts);
        } catch (const DeviceError&) {
            EXPECT_EQ(codegen::find_libdevice(), "");
            const std::lock_guard lock(mutex);
            ++without_libdevice;
            return;
        }
        EXPECT_EQ(count_of(image.ptx, ".extern"), count_of(image.ptx, ".extern .shared")) << image.ptx;
        if (!texts.uses_gpu_math && !texts.uses_libdevice) {
            EXPECT_EQ(inexact_arithmetic(image.ptx), "") << text;
        }
        {
            const std::lock_guard lock(mutex);
            teams += image.teams ? 1 : 0;
        }
        if (ptxas.empty() || (all == nullptr && task % 8 != 0)) return;
        const Assembled assembled = assemble(ptxas, image);
        EXPECT_TRUE(assembled.accepted) << assembled.messages << text << image.ptx;
        EXPECT_LE(assembled.registers, kMostRegisters);
        EXPECT_LE(assembled.spilled, kMostSpilled) << assembled.messages << text;
        const std::lock_guard lock(mutex);
        ++assembled_count;
        spilling += assembled.spilled > 0 ? 1 : 0;
        if (assembled.registers > most_registers) {
            most_registers = assembled.registers;
            most_of = module.functions[0].name;
        }
    });
    EXPECT_GT(teams, 0);
    RecordProperty("kernels", static_cast<int>(kernels.size()));
    RecordProperty("most_registers", std::to_string(most_registers) + ": " + most_of);
    RecordProperty("spilling", spilling);
    if (all != nullptr) {
        std::printf("%zu kernels, %d of teams, %d assembled; at most %d registers (%s), %d spill\n",
                    kernels.size(), teams, assembled_count, most_registers, most_of.c_str(), spilling);
    }
    if (without_libdevice > 0)
        GTEST_SKIP() << without_libdevice << " kernels need libdevice, which is not installed";
    if (ptxas.empty()) GTEST_SKIP() << "generated, but not assembled: ptxas is not installed";
}

}  // namespace
}  // namespace weft
