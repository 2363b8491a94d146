// The programs that weft brings for GPUs: CUDA's assembler takes them, where there is one, and keeps what
// their threads hold in registers.
#include "device/cuda/kernel_image.h"
#include "library/gpu/programs.h"

#include <gtest/gtest.h>

#include <set>

#include "support/ptx_testing.h"

namespace weft {
namespace {

TEST(GpuPrograms, AreTextsWithEntries) {
    std::set<std::string_view> names;
    for (const GpuProgram& program : gpu_programs()) {
        EXPECT_TRUE(names.insert(program.name).second) << program.name;
        EXPECT_NE(program.ptx.find(".visible .entry weft_"), std::string_view::npos) << program.name;
        EXPECT_EQ(program.ptx.find("\n.func"), std::string_view::npos) << program.name << " has a call";
    }
    EXPECT_GE(names.size(), 20u);
}

TEST(GpuPrograms, AreAssembled) {
    const std::string ptxas = testing_ptx::find_ptxas();
    if (ptxas.empty()) GTEST_SKIP() << "no ptxas";
    for (const GpuProgram& program : gpu_programs()) {
        CudaKernelImage image;
        image.ptx = std::string(program.ptx);
        image.sm = 90;
        const bool is_hoppers = image.ptx.find(".target sm_90a") != std::string::npos;
        const testing_ptx::Assembled assembled =
            testing_ptx::assemble(ptxas, image, is_hoppers ? "sm_90a" : "sm_90");
        EXPECT_TRUE(assembled.accepted) << program.name << "\n" << assembled.messages;
        EXPECT_LE(assembled.spilled, 256) << program.name;
    }
}

}  // namespace
}  // namespace weft
