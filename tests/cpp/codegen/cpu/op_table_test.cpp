// Every loop of the op table and every cast, compiled for several CPUs, against the ahead-of-time loop: bit
// for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "codegen/llvm/host_cpu.h"
#include "core/threads/thread_pool.h"
#include "support/kernel_testing.h"

namespace weft {
namespace {

using namespace testing_kernels;

// Prime, so that each operation runs through vectors of every width and through the scalar rest.
constexpr int64_t kCount = 211;
constexpr size_t kOffset = 3;  // results must not depend on alignment

struct Operands {
    std::vector<std::vector<char>> memory;
    std::vector<char*> data;
    std::vector<int64_t> strides;

    void add(ScalarType type, std::mt19937_64* random) {
        const int64_t size = DType(type).itemsize();
        std::vector<char>& bytes = memory.emplace_back(static_cast<size_t>(kCount * size) + kOffset);
        if (random != nullptr) fill(std::span(bytes).subspan(kOffset), type, *random);
        data.push_back(bytes.data() + kOffset);
        strides.push_back(size);
    }
};

void expect_same(const CompiledKernel& kernel, StridedLoop loop, std::span<const ScalarType> types,
                 int inputs, uint64_t seed, bool contiguous) {
    std::mt19937_64 random(seed);
    Operands compiled;
    for (size_t i = 0; i < types.size(); ++i)
        compiled.add(types[i], static_cast<int>(i) < inputs ? &random : nullptr);
    Operands expected = compiled;
    for (size_t i = 0; i < types.size(); ++i) expected.data[i] = expected.memory[i].data() + kOffset;

    std::vector<ArgumentWord> words;
    for (size_t i = 0; i < types.size(); ++i) {
        words.push_back(reinterpret_cast<ArgumentWord>(compiled.data[i]));
        if (!contiguous) words.push_back(static_cast<ArgumentWord>(compiled.strides[i]));
    }
    words.push_back(kCount);
    const int64_t grid[] = {kCount};
    cpu_device().launch(kernel, words, grid, 1);
    loop(expected.data.data(), expected.strides.data(), kCount);

    for (auto i = static_cast<size_t>(inputs); i < types.size(); ++i) {
        const int64_t size = expected.strides[i];
        for (int64_t k = 0; k < kCount; ++k) {
            if (same_value(compiled.data[i] + k * size, expected.data[i] + k * size, types[i])) continue;
            std::string text;
            for (size_t j = 0; j < types.size(); ++j) {
                text += std::string("\n  ") + DType(types[j]).character() + ":";
                for (int64_t b = expected.strides[j]; b-- > 0;) {
                    char digits[8];
                    std::snprintf(digits, sizeof(digits), "%02x",
                                  compiled.data[j][k * expected.strides[j] + b] & 0xff);
                    text += digits;
                }
            }
            ADD_FAILURE() << "element " << k << " differs; operands as compiled:" << text;
            return;
        }
    }
}

class CodegenTable : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        options_.cpu = GetParam();
        if (!codegen::runs_on_host(options_.cpu)) GTEST_SKIP() << "this CPU is not a " << GetParam();
    }
    codegen::CompileOptions options_;
};

TEST_P(CodegenTable, OperationsEqualTheLoops) {
    struct Case {
        const OpInfo* op;
        const LoopInfo* loop;
        bool contiguous;
    };
    std::vector<Case> cases;
    for (const OpInfo& op : op_table()) {
        for (const LoopInfo& loop : op.loops) {
            cases.push_back({&op, &loop, true});
            if (options_.cpu.empty()) cases.push_back({&op, &loop, false});
        }
    }
    parallel_for(static_cast<int64_t>(cases.size()), [&](int64_t task) {
        const auto [op, loop, contiguous] = cases[static_cast<size_t>(task)];
        SCOPED_TRACE(std::string(op->name) + " " + signature(*op, *loop) + (contiguous ? "" : " by strides"));
        const auto kernel =
            codegen::compile_for_cpu(elementwise_module(*op, *loop, contiguous), "kernel", options_);
        expect_same(*kernel, loop->loop, std::span(loop->types).first(op->nin + op->nout), op->nin,
                    static_cast<uint64_t>(task), contiguous);
    });
}

TEST_P(CodegenTable, CastsEqualTheLoops) {
    parallel_for(kScalarTypeCount * kScalarTypeCount, [&](int64_t task) {
        const auto from = static_cast<ScalarType>(task / kScalarTypeCount);
        const auto to = static_cast<ScalarType>(task % kScalarTypeCount);
        if (from == to) return;
        SCOPED_TRACE(std::string(DType(from).name()) + " to " + std::string(DType(to).name()));
        const auto kernel = codegen::compile_for_cpu(cast_module(from, to), "kernel", options_);
        const ScalarType types[] = {from, to};
        expect_same(*kernel, cast_loop(from, to).loop, types, 1, static_cast<uint64_t>(task) + 1000000, true);
    });
}

INSTANTIATE_TEST_SUITE_P(Cpus, CodegenTable, testing::Values("", "x86-64-v2", "haswell"),
                         [](const testing::TestParamInfo<const char*>& info) {
                             std::string name = *info.param == '\0' ? "host" : info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace weft
