// Random kernels, compiled for other CPUs than the host, against the scalar oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "codegen/llvm/host_cpu.h"
#include "core/threads/thread_pool.h"
#include "ir/oracle.h"
#include "ir/printer.h"
#include "support/compiled_testing.h"
#include "support/ir_random.h"
#include "support/kernel_testing.h"

namespace weft {
namespace {

using namespace testing_kernels;

// Runs the kernel over its grid in pieces, as tasks would.
void run_in_pieces(const CompiledKernel& kernel, std::span<const ArgumentWord> words, int64_t size) {
    const auto function = static_cast<const CpuKernel&>(kernel).function;
    for (int64_t begin = 0; begin < size;) {
        const int64_t end = std::min(size, begin + 1 + begin % 23);
        GridBox box;
        box.lower[0] = begin;
        box.upper[0] = end;
        function(words.data(), box.lower.data(), box.upper.data());
        begin = end;
    }
}

void compare(uint64_t seed, const char* cpu) {
    const ir::Module module =
        ir::random_kernel(seed, {.instructions = 50, .blocks = seed % 5 == 0, .views = seed % 3 == 0});
    const ir::Function& kernel = module.functions.back();
    const ir::RandomArguments expected(module, seed);
    const ir::RandomArguments found(module, seed);
    ir::run_oracle(module, kernel, expected.arguments());

    codegen::CompileOptions options;
    options.cpu = cpu;
    const auto compiled = codegen::compile_for_cpu(module, kernel.name, options);
    const std::vector<ir::OracleArgument> arguments = found.arguments();
    const std::vector<ArgumentWord> words = ir::words_of(kernel, arguments);
    run_in_pieces(*compiled, words, std::get<ir::Constant>(arguments[0]).as<int64_t>());

    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
        const ir::Type& type = kernel.type(kernel.parameters[i]);
        if (!type.is_buffer) continue;
        const auto size = static_cast<size_t>(DType(type.scalar).itemsize());
        const std::vector<char>& left = found.contents()[i];
        const std::vector<char>& right = expected.contents()[i];
        for (size_t at = 0; at + size <= left.size(); at += size) {
            if (same_value(left.data() + at, right.data() + at, type.scalar)) continue;
            ADD_FAILURE() << "seed " << seed << " for " << cpu << ": element " << at / size << " of %"
                          << kernel.values[kernel.parameters[i].index].name << " differs\n"
                          << ir::print(module);
            return;
        }
    }
}

TEST(CodegenRandom, KernelsEqualTheOracle) {
    const char* const cpus[] = {"haswell", "x86-64-v2"};  // ir_compiled_test.cpp has the host
    parallel_for(120, [&](int64_t task) {
        const char* cpu = cpus[task % 2];
        if (!codegen::runs_on_host(cpu)) return;
        compare(static_cast<uint64_t>(task) + 1, cpu);
    });
}

}  // namespace
}  // namespace weft
