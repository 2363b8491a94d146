// Which operation on which types LLVM vectorises, for AVX2 and AVX-512, against tests/data/vectorization.txt.
//
// The list holds one line a loop of the op table, `operation types avx2 avx512 reason`: lanes of the
// vectorised loop, 1 where LLVM left it scalar, and why that is so. A new operation that is vectorised need
// not be there. WEFT_UPDATE_LISTS=1 writes the list anew; reasons are kept, and a scalar loop without one
// fails the test.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "core/threads/thread_pool.h"
#include "support/ir_testing.h"
#include "support/kernel_testing.h"

namespace weft {
namespace {

using namespace testing_kernels;

struct Row {
    std::string lanes[2];
    std::string reason;
};

// "8" from LLVM's remark "vectorized loop (vectorization width: 8, interleaved count: 4)".
std::string lanes_of(const std::string& remarks) {
    static const std::regex pattern("vectorized loop \\(vectorization width: (\\d+)");
    std::smatch match;
    return std::regex_search(remarks, match, pattern) ? match[1].str() : "1";
}

std::string compile_remarks(const ir::Module& module, const char* cpu) {
    codegen::CompileOptions options;
    options.cpu = cpu;
    codegen::CompiledTexts texts;
    codegen::compile_for_cpu(module, "kernel", options, &texts);
    return texts.vectorization_remarks;
}

std::map<std::string, Row> read_list(const std::string& path) {
    std::map<std::string, Row> rows;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        std::string name;
        std::string types;
        Row row;
        words >> name >> types >> row.lanes[0] >> row.lanes[1];
        std::getline(words >> std::ws, row.reason);
        rows[name + " " + types] = row;
    }
    return rows;
}

TEST(CodegenVectorization, LoopsAreAsListed) {
    const std::string path = WEFT_TEST_DATA "/vectorization.txt";
    const std::map<std::string, Row> listed = read_list(path);

    struct Case {
        std::string name;
        ir::Module module;
    };
    std::vector<Case> cases;
    for (const OpInfo& op : op_table()) {
        for (const LoopInfo& loop : op.loops) {
            cases.push_back({std::string(op.name) + " " + signature(op, loop), elementwise_module(op, loop)});
        }
    }
    for (const DTypeInfo& from : DType::all()) {
        for (const DTypeInfo& to : DType::all()) {
            cases.push_back({std::string("cast ") + from.character + "->" + to.character,
                             cast_module(from.scalar_type, to.scalar_type)});
        }
    }
    std::map<std::string, Row> found;
    std::map<std::string, std::string> remarks;
    std::mutex mutex;
    parallel_for(static_cast<int64_t>(cases.size()), [&](int64_t i) {
        const Case& item = cases[static_cast<size_t>(i)];
        const std::string texts[2] = {compile_remarks(item.module, "haswell"),
                                      compile_remarks(item.module, "x86-64-v4")};
        const std::lock_guard lock(mutex);
        found[item.name] = {{lanes_of(texts[0]), lanes_of(texts[1])}, ""};
        remarks[item.name] = texts[1];
    });

    const bool update = std::getenv("WEFT_UPDATE_LISTS") != nullptr;
    for (auto& [name, row] : found) {
        const auto entry = listed.find(name);
        if (entry != listed.end()) row.reason = entry->second.reason;
        const bool scalar = row.lanes[0] == "1" || row.lanes[1] == "1";
        if (!scalar) row.reason.clear();
        if (update) continue;
        if (entry == listed.end()) {
            EXPECT_FALSE(scalar)
                << name << " is neither vectorised nor in the list, which WEFT_UPDATE_LISTS=1 writes";
            continue;
        }
        EXPECT_TRUE(row.lanes[0] == entry->second.lanes[0] && row.lanes[1] == entry->second.lanes[1])
            << name << ": " << row.lanes[0] << " " << row.lanes[1] << " lanes, the list says "
            << entry->second.lanes[0] << " " << entry->second.lanes[1] << "\n"
            << remarks[name];
        EXPECT_TRUE(!scalar || !row.reason.empty())
            << name << " is not vectorised, and the list does not say why";
    }
    for (const auto& [name, row] : listed)
        EXPECT_TRUE(update || found.contains(name)) << name << " is no loop of the table";
    if (!update) return;
    std::ofstream file(path);
    file << "# Lanes of the vectorised loop for AVX2 (haswell) and AVX-512 (x86-64-v4), a loop of the op "
            "table a line,\n"
            "# types as NumPy's characters; 1 is a loop that LLVM leaves scalar, and the reason why.\n"
            "# WEFT_UPDATE_LISTS=1 weft_tests --gtest_filter='CodegenVectorization*' writes this file.\n";
    for (const auto& [name, row] : found) {
        file << name << " " << row.lanes[0] << " " << row.lanes[1] << (row.reason.empty() ? "" : " ")
             << row.reason << "\n";
        if ((row.lanes[0] == "1" || row.lanes[1] == "1") && row.reason.empty()) {
            std::printf("%s %s %s\n%s", name.c_str(), row.lanes[0].c_str(), row.lanes[1].c_str(),
                        remarks[name].c_str());
        }
    }
}

// What is not wider than 16 bits is computed in 16 bits, division by a constant too.
TEST(CodegenVectorization, NarrowIntegersStayNarrow) {
    const ir::Module module = ir::parse_and_check(
        R"(kernel @kernel(%n0: i64, %in0: global u8[1] readonly, %in1: global u8[1] readonly, %out0: global u8[1] scope 1) {
  parallel grid (%0) in (%n0) {
    %1 = load %in0[%0]
    %2 = cast %1 to i16
    %3 = load %in1[%0]
    %4 = cast %3 to i16
    %5 = add %2, %4
    %6 = multiply %5, %4
    %7 = const i16 9
    %8 = floor_divide %6, %7
    %9 = remainder %8, %7
    %10 = cast %9 to u8
    store %out0[%0], %10
  }
})");
    codegen::CompileOptions options;
    options.cpu = "x86-64-v4";
    codegen::CompiledTexts texts;
    codegen::compile_for_cpu(module, "kernel", options, &texts);
    EXPECT_NE(texts.llvm_ir.find("<32 x i16>"), std::string::npos) << texts.llvm_ir;
    EXPECT_EQ(texts.llvm_ir.find(" x i32>"), std::string::npos) << texts.llvm_ir;
    EXPECT_NE(texts.assembly.find("vpmulhw"), std::string::npos) << texts.assembly;
}

}  // namespace
}  // namespace weft
