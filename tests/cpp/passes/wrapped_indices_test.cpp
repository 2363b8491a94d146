// Indices that may count from the end are looked at again only where they are out of bounds as they are.
#include "passes/integers/wrapped_indices.h"

#include <string>

#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

// The last of the indices from %from on; each is from the front or from the end.
constexpr std::string_view kLoop = R"(
function @f(%size: i64, %from: i64, %to: i64) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %last = for %i = %from to %to step %one with (%before = %zero) {
    %sum = add %i, %size
    %negative = less %i, %zero
    %at = select %negative, %sum, %i
    %index = cast %at to u64
    %most = cast %size to u64
    %inside = less %index, %most
    check %inside else raise 7 %i, %size
    yield %at
  }
  return %last
}
)";

Module rewritten(const Module& before) {
    Module after = before;
    wrapped_indices(after, after.functions[0]);
    check(after);
    return after;
}

Constant number(int64_t value) { return Constant::of(ScalarType::kInt64, value); }

TEST(WrappedIndices, GiveTheSameIndexAndTheSameError) {
    const Module before = parse_and_check(std::string(kLoop));
    const Module after = rewritten(before);
    EXPECT_FALSE(equivalent(after.functions[0], before.functions[0]));
    for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{5}, INT64_MAX}) {
        for (const int64_t at : {int64_t{-6}, int64_t{-5}, int64_t{-1}, int64_t{0}, int64_t{4}, int64_t{5},
                                 INT64_MIN, INT64_MAX - 1}) {
            const std::vector<OracleArgument> arguments{number(size), number(at), number(at + 1)};
            const auto outcome = [&](const Module& module) -> std::string {
                try {
                    return std::to_string(
                        run_oracle(module, module.functions[0], arguments)[0].as<int64_t>());
                } catch (const std::exception& error) {
                    return error.what();
                }
            };
            EXPECT_EQ(outcome(after), outcome(before)) << size << " " << at;
        }
    }
}

TEST(WrappedIndices, StayWhereTheSizeIsAnotherOrThereIsNoLoop) {
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"add %i, %size", "add %i, %to"},
                                   {"less %i, %zero", "less %i, %one"},
                                   {"%sum, %i\n", "%i, %sum\n"}}) {
        const Module before = parse_and_check(replaced(kLoop, from, to));
        EXPECT_TRUE(equivalent(rewritten(before).functions[0], before.functions[0])) << to;
    }
}

}  // namespace
}  // namespace weft::passes
