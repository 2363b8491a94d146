// Every loop of the op table and every cast as a kernel for GPUs: generated for the oldest and the newest
// target that is spoken of, and assembled by ptxas where it is installed. A sample of them by default; all
// with WEFT_TEST_PTX=all (make test-ptx).
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "core/threads/thread_pool.h"
#include "device/cuda/kernel_image.h"
#include "support/kernel_testing.h"
#include "support/ptx_testing.h"
#include "weft/errors.h"

namespace weft {
namespace {

using namespace testing_kernels;
using namespace testing_ptx;

bool tests_all() {
    const char* value = std::getenv("WEFT_TEST_PTX");
    return value != nullptr && std::string(value) == "all";
}

struct Case {
    std::string what;
    ir::Module module;
};

// A kernel may use so many registers: two blocks of 256 threads fit on a multiprocessor. What calls divisions
// or reductions of large angles saves a few around the call.
constexpr int kMostRegisters = 128;
constexpr int kMostSpilled = 128;  // bytes

class PtxTable : public testing::TestWithParam<int> {
protected:
    static std::vector<Case> cases() {
        std::vector<Case> all;
        size_t number = 0;
        for (const OpInfo& op : op_table()) {
            for (const LoopInfo& loop : op.loops) {
                if (!tests_all() && number++ % 5 != 0) continue;
                all.push_back(
                    {std::string(op.name) + " " + signature(op, loop), elementwise_module(op, loop)});
            }
        }
        for (int task = 0; task < kScalarTypeCount * kScalarTypeCount; ++task) {
            const auto from = static_cast<ScalarType>(task / kScalarTypeCount);
            const auto to = static_cast<ScalarType>(task % kScalarTypeCount);
            if (from == to || (!tests_all() && number++ % 5 != 0)) continue;
            all.push_back({std::string(DType(from).name()) + " to " + std::string(DType(to).name()),
                           cast_module(from, to)});
        }
        return all;
    }
};

TEST_P(PtxTable, IsGeneratedAndAssembled) {
    const std::string ptxas = find_ptxas();
    std::mutex mutex;
    int most_registers = 0, spilling = 0, assembled_count = 0;
    std::atomic<int> without_libdevice = 0;
    std::string most_of;
    const std::vector<Case> all = cases();
    parallel_for(static_cast<int64_t>(all.size()), [&](int64_t task) {
        const Case& one = all[static_cast<size_t>(task)];
        SCOPED_TRACE(one.what);
        CudaKernelImage image;
        codegen::PtxTexts texts;
        try {
            image = codegen::compile_ptx(one.module, "kernel", {.sm = GetParam()}, &texts);
        } catch (const DeviceError&) {
            EXPECT_EQ(codegen::find_libdevice(), "");
            ++without_libdevice;
            return;
        }
        EXPECT_NE(image.ptx.find(".visible .entry " + image.symbol), std::string::npos);
        EXPECT_EQ(image.ptx.find(".extern"), std::string::npos) << "a function is missing\n" << image.ptx;
        if (!texts.uses_gpu_math && !texts.uses_libdevice) {
            EXPECT_EQ(inexact_arithmetic(image.ptx), "") << image.ptx;
        }
        // Assembling takes longer than generating: a part of the sample.
        if (ptxas.empty() || (!tests_all() && task % 8 != 0)) return;
        const Assembled assembled = assemble(ptxas, image);
        EXPECT_TRUE(assembled.accepted) << assembled.messages << image.ptx;
        EXPECT_LE(assembled.registers, kMostRegisters);
        EXPECT_LE(assembled.spilled, kMostSpilled) << assembled.messages;
        const std::lock_guard lock(mutex);
        ++assembled_count;
        if (assembled.spilled > 0) ++spilling;
        if (assembled.registers > most_registers) {
            most_registers = assembled.registers;
            most_of = one.what;
        }
    });
    RecordProperty("kernels", static_cast<int>(all.size()));
    RecordProperty("assembled", assembled_count);
    RecordProperty("most_registers", std::to_string(most_registers) + ": " + most_of);
    RecordProperty("spilling", spilling);
    if (tests_all()) {
        std::printf("sm_%d: %zu kernels, %d assembled; at most %d registers (%s), %d spill\n", GetParam(),
                    all.size(), assembled_count, most_registers, most_of.c_str(), spilling);
    }
    if (without_libdevice > 0)
        GTEST_SKIP() << without_libdevice << " kernels need libdevice, which is not installed";
    if (ptxas.empty()) GTEST_SKIP() << "generated, but not assembled: ptxas is not installed";
}

INSTANTIATE_TEST_SUITE_P(Targets, PtxTable, testing::Values(80, 90),
                         [](const testing::TestParamInfo<int>& info) {
                             return "sm_" + std::to_string(info.param);
                         });

}  // namespace
}  // namespace weft
