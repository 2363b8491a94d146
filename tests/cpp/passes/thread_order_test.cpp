// Which threads of a GPU's block are neighbours.
#include "passes/thread_order.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"

namespace weft::passes {
namespace {

// a[thread %first, thread %second] = 1.0, and what else a kernel does.
std::string kernel(const std::string& first, const std::string& second, const std::string& more = "") {
    return "function @fill(%a: global f64[?, 8] scope 1) {\n"
           "  %0 = const i64 0\n  %x = intrinsic thread_number(%0)\n"
           "  %1 = const i64 1\n  %y = intrinsic thread_number(%1)\n" +
           more + "  %one = const f64 1.0\n  store %a[" + first + ", " + second + "], %one\n}\n";
}

bool is_reordered(const std::string& text, const std::array<int, 3>& block = {16, 16, 1}) {
    ir::Module module = ir::parse(text);
    const std::string before = ir::print(module.functions[0]);
    const bool reordered = order_threads(module.functions[0], block);
    ir::check(module);
    EXPECT_EQ(reordered, ir::print(module.functions[0]) != before);
    return reordered;
}

TEST(ThreadOrder, ChangesAxesThatGoAlongRows) {
    EXPECT_TRUE(is_reordered(kernel("%x", "%y")));
    EXPECT_FALSE(is_reordered(kernel("%y", "%x")));
    EXPECT_FALSE(is_reordered(kernel("%x", "%x")));
}

TEST(ThreadOrder, StaysWhereBlocksHaveOneRowOrAreNotKnown) {
    EXPECT_FALSE(is_reordered(kernel("%x", "%y"), {256, 1, 1}));
    EXPECT_FALSE(is_reordered(kernel("%x", "%y"), {1, 256, 1}));
    EXPECT_FALSE(is_reordered(kernel("%x", "%y"), {0, 0, 0}));
}

TEST(ThreadOrder, StaysWhereThreadsMeet) {
    EXPECT_FALSE(is_reordered(kernel("%x", "%y", "  barrier\n")));
    EXPECT_FALSE(is_reordered(kernel("%x", "%y", "  %m = intrinsic active_mask(%0)\n")));
    EXPECT_TRUE(is_reordered(kernel("%x", "%y", "  %b = intrinsic block_number(%0)\n")));
}

TEST(ThreadOrder, CountsAccessesInLoopsMore) {
    const std::string loop =
        "  %n = const i64 100\n  for %k = %0 to %n step %1 {\n    %v = load %a[%y, %x]\n  }\n";
    EXPECT_FALSE(is_reordered(kernel("%x", "%y", loop)));
}

TEST(ThreadOrder, GivesEachThreadNumbersOfItsOwn) {
    ir::Module module = ir::parse(kernel("%x", "%y"));
    ASSERT_TRUE(order_threads(module.functions[0], {4, 8, 1}));
    const std::string text = ir::print(module.functions[0]);
    EXPECT_NE(text.find("floor_divide"), std::string::npos) << text;
    EXPECT_NE(text.find("remainder"), std::string::npos) << text;
    EXPECT_EQ(text.find("store %a[%x"), std::string::npos) << text;
}

}  // namespace
}  // namespace weft::passes
