// Functions that programs share: called lazily, compiled by themselves, with numbers of errors of their own.
#include "codegen/functions/shared_functions.h"

#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "codegen/cache/function_pack.h"
#include "codegen/cpu/compiler.h"
#include "codegen/runtime/heap.h"
#include "ir/parser.h"
#include "support/ir_testing.h"

namespace weft::codegen {
namespace {

// 17 and 30 are errors of @largest, 40 of @row; a row of 5 fails, and so does a table without rows.
constexpr std::string_view kLargest = R"(
function @f(%m: i64, %n: i64, %a: global f64[?, 8] readonly) : f64, i64 {
  %largest, %rows = call lazy @largest.7(%m, %n, %a) : f64, i64
  return %largest, %rows
}
function @largest.7(%m: i64, %n: i64, %a: global f64[?, 8] scope 3 readonly) : f64, i64 {
  %zero = const i64 0
  %one = const i64 1
  %some = greater %m, %zero
  check %some else raise 30 %m
  %low = const f64 -1000.0
  %result = for %i = %zero to %m step %one with (%best = %low) {
    %x = call lazy @row.9(%i, %n, %a) : f64
    %five = const f64 5.0
    %fine = not_equal %x, %five
    check %fine else raise 17 %i, %x
    %next = maximum %best, %x
    yield %next
  }
  return %result, %m
}
function @row.9(%i: i64, %n: i64, %a: global f64[?, 8] scope 4 readonly) : f64 {
  %zero = const i64 0
  %one = const i64 1
  %low = const f64 -1000.0
  %some = greater %n, %zero
  check %some else raise 40
  %result = for %j = %zero to %n step %one with (%best = %low) {
    %x = load %a[%i, %j]
    %next = maximum %best, %x
    yield %next
  }
  return %result
}
)";

TEST(SharedFunctions, HaveTextsWithoutWhatTellsProgramsApart) {
    const ir::Module module = ir::parse_and_check(kLargest);
    const std::vector<SharedFunction> found = shared_functions(module, std::span(module.functions).first(1));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].sites, (std::vector<uint32_t>{30, 17, 40}));
    EXPECT_EQ(found[0].payload, 3U) << "with the condition of the check";
    std::string other(kLargest);
    const auto replace = [&](const std::string& from, const std::string& to) {
        for (size_t at = other.find(from); at != std::string::npos; at = other.find(from, at + to.size()))
            other.replace(at, from.size(), to);
    };
    replace("@largest.7", "@largest.21");
    replace("@row.9", "@row.3");
    replace("raise 30", "raise 2");
    replace("raise 17", "raise 1");
    replace("raise 40", "raise 8");
    replace("scope 3", "scope 12");
    const ir::Module changed = ir::parse_and_check(other);
    const auto again = shared_functions(changed, std::span(changed.functions).first(1));
    EXPECT_EQ(again[0].text, found[0].text);
    EXPECT_EQ(again[0].sites, (std::vector<uint32_t>{2, 1, 8}));
    replace("-1000.0", "-2000.0");
    const ir::Module another = ir::parse_and_check(other);
    EXPECT_NE(shared_functions(another, std::span(another.functions).first(1))[0].text, found[0].text);
}

// A result's memory is in the scope that the callee has it in, behind one that the caller has not.
TEST(SharedFunctions, AgreeAboutTheScopesOfResults) {
    const ir::Module module = ir::parse_and_check(R"(
function @f(%bytes: i64) : i64, global f64[8] scope 3 {
  %o, %a = call lazy @outer.4(%bytes) : i64, global f64[8] scope 3
  return %o, %a
}
function @outer.4(%bytes: i64) : i64, global f64[8] scope 3 {
  %p, %b = heap %bytes as global f64[8] scope 2 else raise 5
  release %p
  %o, %a = call @inner.7(%bytes) : i64, global f64[8] scope 3
  return %o, %a
}
function @inner.7(%bytes: i64) : i64, global f64[8] scope 3 {
  %o, %a = heap %bytes as global f64[8] scope 3 else raise 6
  return %o, %a
}
)");
    const auto found = shared_functions(module, std::span(module.functions).first(1));
    ASSERT_EQ(found.size(), 1U);
    ir::parse_and_check(found[0].text);
}

TEST(SharedFunctions, GiveTheCallersNumbersOfErrors) {
    const ir::Module module = ir::parse_and_check(kLargest);
    const auto compiled = compile_function_for_cpu(module, "f");
    EXPECT_EQ(compiled->lazy_parts().all, 0U) << "they are no loops for failing tests";
    std::array<double, 6> a{1, 7, -2, 3, 5, 4};
    alignas(16) std::array<int64_t, 4> results{};
    const HeapFrame frame;
    const auto call = [&](int64_t m, int64_t n, size_t from) {
        const std::array<ArgumentWord, 4> words{std::bit_cast<uint64_t>(m), std::bit_cast<uint64_t>(n),
                                                std::bit_cast<uint64_t>(a.data() + from), 16};
        return compiled->function(words.data(), reinterpret_cast<char*>(results.data()));
    };
    EXPECT_EQ(call(2, 2, 0), 0);
    EXPECT_EQ(std::bit_cast<double>(results[0]), 7.0);
    EXPECT_EQ(results[2], 2);
    EXPECT_EQ(call(3, 2, 0), 18) << "17, which is told as one more";
    EXPECT_EQ(results[0], 2);
    EXPECT_EQ(std::bit_cast<double>(results[2]), 5.0);
    EXPECT_EQ(call(0, 2, 0), 31);
    EXPECT_EQ(results[0], 0);
    EXPECT_EQ(call(1, 0, 0), 41);
    EXPECT_EQ(call(2, 2, 0), 0);
}

TEST(SharedFunctions, MayBeCalledInBothWays) {
    std::string text(kLargest);
    // One that calls itself stays, and is compiled with the program, too.
    const std::string row = "  %result = for %j = %zero to %n step %one with (%best = %low) {";
    text.replace(text.find(row), 0, R"(  %less = subtract %n, %one
  %more = greater %less, %zero
  %rest = if %more {
    %r = call @row.9(%i, %less, %a) : f64
    yield %r
  } else {
    yield %low
  }
)");
    const std::string lazily = "  %largest, %rows = call lazy";
    text.replace(text.find(lazily), 0,
                 "  %first = const i64 0\n  %own = call @row.9(%first, %n, %a) : f64\n"
                 "  %again = call lazy @row.9(%first, %n, %a) : f64\n");
    text.replace(text.find("return %largest"), 15, "%all = add %own, %again\n  return %all");
    const ir::Module module = ir::parse_and_check(text);
    const auto compiled = compile_function_for_cpu(module, "f");
    std::array<double, 4> a{1, 7, -2, 3};
    alignas(16) std::array<int64_t, 4> results{};
    const HeapFrame frame;
    const auto call = [&](int64_t n) {
        const std::array<ArgumentWord, 4> words{2, std::bit_cast<uint64_t>(n),
                                                std::bit_cast<uint64_t>(a.data()), 16};
        return compiled->function(words.data(), reinterpret_cast<char*>(results.data()));
    };
    EXPECT_EQ(call(2), 0);
    EXPECT_EQ(std::bit_cast<double>(results[0]), 14.0);
    EXPECT_EQ(call(0), 41);
}

TEST(FunctionPack, FindsWhatWasWritten) {
    std::map<Digest, std::string> entries;
    for (int i = 0; i < 40; ++i)
        entries[digest_of({std::to_string(i)})] = std::string(static_cast<size_t>(i), 'a');
    const std::string bytes = function_pack(entries);
    const std::string path = ::testing::TempDir() + "weft_function_pack";
    const auto write = [&](const std::string& text) {
        std::FILE* file = std::fopen(path.c_str(), "wb");
        ASSERT_NE(file, nullptr);
        ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
        std::fclose(file);
    };
    write(bytes);
    const FunctionPack pack(path);
    EXPECT_EQ(pack.count(), 40U);
    for (int i = 0; i < 40; ++i)
        EXPECT_EQ(pack.find(digest_of({std::to_string(i)}))->size(), static_cast<size_t>(i));
    EXPECT_FALSE(pack.find(digest_of({"40"})));
    EXPECT_EQ(FunctionPack(path + ".none").count(), 0U);
    for (const size_t size : {bytes.size() - 1, size_t{30}, size_t{3}, size_t{0}}) {
        write(bytes.substr(0, size));
        EXPECT_EQ(FunctionPack(path).count(), 0U) << size;
    }
    std::string damaged = bytes;
    damaged[bytes.size() - 1] ^= 1;  // of the entry whose digest is the last
    write(damaged);
    const FunctionPack with_damage(path);
    size_t found = 0;
    for (int i = 0; i < 40; ++i) found += with_damage.find(digest_of({std::to_string(i)})) ? 1 : 0;
    EXPECT_EQ(found, 39U);
    std::remove(path.c_str());
}

}  // namespace
}  // namespace weft::codegen
