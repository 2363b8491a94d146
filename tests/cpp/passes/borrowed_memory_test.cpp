// borrowed_memory: which counts of memory's users are left out.
#include "passes/calls/borrowed_memory.h"

#include <string>

#include "support/ir_testing.h"

namespace weft::passes {
namespace {

std::string after(const std::string& text) {
    ir::Module module = ir::parse(text);
    borrowed_memory(module, module.functions[0]);
    ir::check(module);
    return ir::print(module.functions[0]);
}

size_t count_of(const std::string& text, const std::string& word) {
    size_t count = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
    return count;
}

TEST(BorrowedMemory, ParametersAreNotCounted) {
    const std::string result = after(R"(
        function @f(%owner: i64, %c: bool) {
          retain %owner
          if %c {
            release %owner
          } else {
            release %owner
          }
        })");
    EXPECT_EQ(count_of(result, "retain") + count_of(result, "release"), 0U) << result;
}

TEST(BorrowedMemory, WhatIsReturnedIsCounted) {
    const std::string result = after(R"(
        function @f(%owner: i64) : i64 {
          retain %owner
          return %owner
        })");
    EXPECT_EQ(count_of(result, "retain"), 1U) << result;
}

TEST(BorrowedMemory, PairsAreLeftOut) {
    const std::string result = after(R"(
        function @f(%n: i64) {
          %0, %1 = heap %n as global f64[] scope 1000 else raise 0
          retain %0
          %2 = const i64 0
          %3 = const i64 1
          for %4 = %2 to %n step %3 {
            retain %0
            release %0
          }
          release %0
          release %0
        })");
    EXPECT_EQ(count_of(result, "retain"), 0U) << result;
    EXPECT_EQ(count_of(result, "release"), 1U) << result;
}

TEST(BorrowedMemory, PairsAroundAnotherReleaseStay) {
    const std::string result = after(R"(
        function @f(%n: i64, %c: bool) {
          %0, %1 = heap %n as global f64[] scope 1000 else raise 0
          retain %0
          if %c {
            release %0
          } else {
            release %0
          }
          release %0
        })");
    EXPECT_EQ(count_of(result, "retain"), 1U) << result;
    EXPECT_EQ(count_of(result, "release"), 3U) << result;
}

}  // namespace
}  // namespace weft::passes
