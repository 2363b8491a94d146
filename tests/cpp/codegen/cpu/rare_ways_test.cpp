// What a function computes for rare elements only: a branch in the vectorised loop leads around it. And sine
// and cosine of one angle, which share all that both need.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "support/ir_testing.h"
#include "support/kernel_testing.h"

namespace weft {
namespace {

codegen::CompiledTexts compiled(const std::string& body, const std::string& type, const char* cpu) {
    std::string text = R"(kernel @kernel(%n0: i64, %in0: global T[B] readonly, %out0: global T[B] scope 1) {
  parallel grid (%0) in (%n0) {
    %1 = load %in0[%0]
)" + body + R"(
    store %out0[%0], %2
  }
})";
    text = std::regex_replace(text, std::regex("\\bT\\b"), type);
    text = std::regex_replace(text, std::regex("\\bB\\b"), type == "f64" ? "8" : "4");
    const ir::Module module = ir::parse_and_check(text);
    codegen::CompileOptions options;
    options.cpu = cpu;
    codegen::CompiledTexts texts;
    codegen::compile_for_cpu(module, "kernel", options, &texts);
    return texts;
}

std::ptrdiff_t count(const std::string& text, const char* pattern) {
    const std::regex expression(pattern);
    return std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator());
}

// The blocks that contain such an instruction, each with its label, and the branches to them.
struct Block {
    std::string text;
    std::string branch;
};
std::vector<Block> blocks_with(const std::string& llvm_ir, const std::string& instruction) {
    std::vector<Block> found;
    std::vector<std::string> lines;
    std::istringstream stream(llvm_ir);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    const std::regex label_pattern("^([\\w.]+):.*");
    std::string label;
    std::string text;
    const auto finish = [&] {
        if (text.find(instruction) == std::string::npos) return;
        Block block{text, ""};
        for (const std::string& line : lines) {
            if (line.find("br i1") != std::string::npos &&
                line.find("label %" + label + ",") != std::string::npos)
                block.branch += line;
        }
        found.push_back(block);
    };
    for (const std::string& line : lines) {
        std::smatch match;
        if (std::regex_match(line, match, label_pattern)) {
            finish();
            label = match[1].str();
            text.clear();
        } else if (line.find("declare") == std::string::npos) {
            text += line + "\n";
        }
    }
    finish();
    return found;
}

TEST(RareWays, ABranchLeadsAroundThem) {
    struct Case {
        const char *cpu, *type, *call;
    };
    for (const Case& item : {Case{"x86-64-v4", "f64", "call <8 x double> @Sleef_finz_sind8_u10avx512f("},
                             Case{"x86-64-v4", "f32", "call <16 x float> @Sleef_finz_sinf16_u10avx512f("},
                             Case{"haswell", "f64", "call <4 x double> @Sleef_finz_sind4_u10avx2("},
                             Case{"haswell", "f32", "call <8 x float> @Sleef_finz_sinf8_u10avx2("}}) {
        SCOPED_TRACE(item.call);
        const std::string llvm_ir = compiled("    %2 = sin %1", item.type, item.cpu).llvm_ir;
        EXPECT_EQ(llvm_ir.find("@weft_rarely"), std::string::npos) << llvm_ir;
        const std::vector<Block> blocks = blocks_with(llvm_ir, item.call);
        ASSERT_FALSE(blocks.empty()) << llvm_ir;
        for (const Block& block : blocks) {
            EXPECT_EQ(block.text.find("llvm.fma"), std::string::npos) << block.text;
            EXPECT_NE(block.branch.find("!prof"), std::string::npos) << llvm_ir;
        }
    }
}

TEST(RareWays, AlsoWithoutVectorFunctions) {
    const std::string llvm_ir = compiled("    %2 = sin %1", "f64", "x86-64-v2").llvm_ir;
    const std::vector<Block> blocks = blocks_with(llvm_ir, "call double @Sleef_finz_sind1_u10purecfma(");
    ASSERT_FALSE(blocks.empty()) << llvm_ir;
    for (const Block& block : blocks) EXPECT_EQ(block.text.find("llvm.fma"), std::string::npos) << block.text;
}

TEST(RareWays, SineAndCosineOfOneAngleShareItsRest) {
    constexpr const char* kFma = "\tvfn?m(add|sub)\\d+p[sd]\t";
    for (const char* type : {"f64", "f32"}) {
        for (const char* cpu : {"x86-64-v4", "haswell"}) {
            SCOPED_TRACE(std::string(type) + " " + cpu);
            const auto sine = count(compiled("    %2 = sin %1", type, cpu).assembly, kFma);
            const auto both = count(
                compiled("    %3 = sin %1\n    %4 = cos %1\n    %2 = multiply %3, %4", type, cpu).assembly,
                kFma);
            EXPECT_GE(sine, 8);
            EXPECT_LE(both, sine + 1);
        }
    }
}

}  // namespace
}  // namespace weft
