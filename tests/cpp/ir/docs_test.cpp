// Every example of docs/reference/kernel-ir.md is what the printer writes.
#include <fstream>
#include <sstream>
#include <string>

#include "passes/pipeline.h"
#include "support/ir_testing.h"

namespace weft::ir {
namespace {

std::string read_page() {
    std::ifstream file(std::string(WEFT_SOURCE_DIR) + "/docs/reference/kernel-ir.md");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(IrDocs, ExamplesAreWellFormedAndPrintedAsWritten) {
    std::string page = read_page();
    const std::string start = "```wir\n", end = "```";
    int count = 0;
    for (size_t at = page.find(start); at != std::string::npos; at = page.find(start, at)) {
        at += start.size();
        std::string example = page.substr(at, page.find(end, at) - at);
        Module module = parse_and_check(example);
        EXPECT_EQ(print(module), example);
        passes::run_pipeline(module);
        count++;
    }
    EXPECT_GE(count, 7);
}

// The words that the page must explain.
TEST(IrDocs, NamesEveryOperationTypeAndPass) {
    std::string page = read_page();
    for (int i = 0; i <= static_cast<int>(Opcode::kReturn); i++) {
        auto opcode = static_cast<Opcode>(i);
        if (opcode == Opcode::kApply) continue;  // written by the operation's name
        EXPECT_NE(page.find(opcode_name(opcode)), std::string::npos) << opcode_name(opcode);
    }
    for (int i = 0; i < kScalarTypeCount; i++) {
        EXPECT_NE(page.find(scalar_name(static_cast<ScalarType>(i))), std::string::npos);
    }
    for (const passes::Pass& pass : passes::pipeline()) {
        EXPECT_NE(page.find("`" + std::string(pass.name) + "`"), std::string::npos) << pass.name;
    }
}

}  // namespace
}  // namespace weft::ir
