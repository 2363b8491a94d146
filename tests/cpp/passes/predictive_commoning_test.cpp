// Expressions of the next iterations are carried there: the same results and bits, nothing read that was not,
// and which loops have them.
#include "passes/predictive_commoning.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "passes/simplify.h"
#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

Module rewritten(const Module& before) {
    Module after = before;
    predictive_commoning(after, after.functions[0]);
    check(after);
    simplify(after, after.functions[0]);
    check(after);
    return after;
}

const Instruction* find_loop(const Region& region) {
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kFor) return &instruction;
        for (const Region& inner : instruction.regions) {
            if (const Instruction* found = find_loop(inner)) return found;
        }
    }
    return nullptr;
}

size_t loads_of_an_iteration(const Module& module) {
    size_t loads = 0;
    for (const Instruction& instruction : find_loop(module.functions[0].body)->regions[0].body)
        loads += instruction.opcode == Opcode::kLoad;
    return loads;
}

size_t carried_values(const Module& module) {
    return find_loop(module.functions[0].body)->regions[0].arguments.size() - 1;
}

// Differences of neighbours, by what is between them.
constexpr std::string_view kFlux = R"(
function @f(%n: i64, %a: global f64[8] scope 1 readonly, %b: global f64[8] scope 2 readonly, %out: global f64[8] scope 3) {
  %one = const i64 1
  %last = subtract %n, %one
  for %i = %one to %last step %one {
    %before = subtract %i, %one
    %behind = add %i, %one
    %a0 = load %a[%before]
    %a1 = load %a[%i]
    %a2 = load %a[%behind]
    %b0 = load %b[%before]
    %b1 = load %b[%i]
    %b2 = load %b[%behind]
    %d0 = subtract %a1, %a0
    %m0 = add %b0, %b1
    %left = multiply %d0, %m0
    %d1 = subtract %a2, %a1
    %m1 = add %b1, %b2
    %right = multiply %d1, %m1
    %flow = subtract %right, %left
    store %out[%i], %flow
  }
}
)";

void expect_same_flux(const Module& before, const Module& after) {
    for (int64_t n = 0; n < 9; n++) {
        std::vector<double> a, b;
        for (int64_t i = 0; i < n; i++) {
            a.push_back(0.1 * static_cast<double>(i * i));
            b.push_back(1.0 / static_cast<double>(i + 3));
        }
        std::vector<double> expected(static_cast<size_t>(n), -1.0), found = expected;
        run(before, argument(n), argument(a), argument(b), argument(expected));
        run(after, argument(n), argument(a), argument(b), argument(found));
        for (size_t i = 0; i < expected.size(); i++)
            EXPECT_EQ(std::bit_cast<uint64_t>(found[i]), std::bit_cast<uint64_t>(expected[i]))
                << n << " " << i;
    }
}

TEST(PredictiveCommoning, CarriesWhatIsBetweenNeighbours) {
    const Module before = parse_and_check(kFlux);
    const Module after = rewritten(before);
    EXPECT_EQ(carried_values(after), 1U);
    EXPECT_EQ(loads_of_an_iteration(after), 4U);
    expect_same_flux(before, after);
}

TEST(PredictiveCommoning, MakesOneAfterAnotherOfIndependentIterations) {
    const std::string text = replaced(kFlux, "step %one {", "step %one lanes 16 {");
    const Module before = parse_and_check(text);
    const Module after = rewritten(before);
    EXPECT_EQ(carried_values(after), 1U);
    EXPECT_EQ(find_loop(after.functions[0].body)->lanes, 1);
    expect_same_flux(before, after);

    // Only lanes tell LLVM that these are independent.
    const std::string other =
        replaced(replaced(text, "%out: global f64[8] scope 3", "%out: global f64[8] scope 2"),
                 "%b: global f64[8] scope 2 readonly", "%b: global f64[8] scope 2");
    EXPECT_EQ(find_loop(rewritten(parse_and_check(other)).functions[0].body)->lanes, 16);
}

TEST(PredictiveCommoning, LeavesLoopsThatWriteWhatTheyRead) {
    const std::string text = replaced(kFlux, "%out: global f64[8] scope 3", "%out: global f64[8] scope 1");
    const Module before = parse_and_check(replaced(text, "scope 1 readonly", "scope 1"));
    EXPECT_EQ(carried_values(rewritten(before)), 0U);
}

TEST(PredictiveCommoning, LeavesLoopsThatMayRaise) {
    const Module before = parse_and_check(
        replaced(kFlux, "    store %out[%i], %flow\n",
                 "    %fine = less %i, %n\n    check %fine else raise 1\n    store %out[%i], %flow\n"));
    EXPECT_EQ(carried_values(rewritten(before)), 0U);
}

// What is between two places need not have been divided.
TEST(PredictiveCommoning, LeavesDivisionsOfIntegersByWhatIsRead) {
    std::string text = replaced(kFlux, "f64", "i64");
    for (const std::string_view product : {"multiply %d0, %m0", "multiply %d1, %m1"})
        text = replaced(text, product, replaced(product, "multiply", "floor_divide"));
    EXPECT_EQ(carried_values(rewritten(parse_and_check(text))), 0U);
    const Module before =
        parse_and_check(replaced(replaced(text, "%d0, %m0", "%d0, %one"), "%d1, %m1", "%d1, %one"));
    EXPECT_EQ(carried_values(rewritten(before)), 1U);
}

TEST(PredictiveCommoning, LeavesWhatIsFarAway) {
    const Module before = parse_and_check(
        replaced(kFlux, "%behind = add %i, %one", "%far = const i64 6\n    %behind = add %i, %far"));
    EXPECT_EQ(carried_values(rewritten(before)), 0U);
}

// A sum of elements in the rows `rows` and at the places `places` around one.
std::string window(std::string_view type, const std::vector<std::vector<int>>& weights) {
    const std::string element(type);
    const std::string bytes = std::to_string(element == "i64" ? 8 : element == "i16" ? 2 : 1);
    std::string text = "function @f(%n: i64, %row: i64, %a: global " + element + "[?, " + bytes +
                       "] scope 1 readonly, %out: global i64[8] scope 2) {\n"
                       "  %one = const i64 1\n  %zero = const i64 0\n  %last = subtract %n, %one\n"
                       "  for %i = %one to %last step %one  {\n    %s = const i64 8\n";
    std::string sum = "%s";
    for (size_t r = 0; r < weights.size(); r++) {
        for (size_t c = 0; c < weights[r].size(); c++) {
            if (weights[r][c] == 0) continue;
            const std::string id = std::to_string(r) + "_" + std::to_string(c);
            const auto line = [&](const std::string& name, const std::string& value) {
                text += "    %" + name + id + " = " + value + "\n";
            };
            line("r", "const i64 " + std::to_string(r));
            line("k", "const i64 " + std::to_string(static_cast<int>(c) - 1));
            line("j", "add %i, %k" + id);
            line("x", "load %a[%r" + id + ", %j" + id + "]");
            if (element != "i64") line("y", "cast %x" + id + " to i64");
            line("w", "const i64 " + std::to_string(weights[r][c]));
            line("p", "multiply %" + std::string(element == "i64" ? "x" : "y") + id + ", %w" + id);
            line("s", "add " + sum + ", %p" + id);
            sum = "%s" + id;
        }
    }
    return text + "    store %out[%i], " + sum + "\n  }\n}\n";
}

template <class T>
void expect_same_window(const Module& before, const Module& after, int64_t rows) {
    constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    for (int64_t n = 1; n < 9; n++) {
        for (const bool mixed : {false, true}) {
            for (const T value : {kLeast, kMost}) {
                std::vector<T> a(static_cast<size_t>(rows * n), value);
                for (size_t i = 0; mixed && i < a.size(); i += 2) a[i] = static_cast<T>(7 * i);
                std::vector<int64_t> expected(static_cast<size_t>(n), -1), found = expected;
                run(before, argument(n), argument(int64_t{0}), argument(a, {rows, n}), argument(expected));
                run(after, argument(n), argument(int64_t{0}), argument(a, {rows, n}), argument(found));
                EXPECT_EQ(found, expected) << n;
            }
        }
    }
}

TEST(PredictiveCommoning, SumsWindowsByColumns) {
    struct Window {
        std::vector<std::vector<int>> weights;
        size_t loads, carried;
        bool is_worth_it_without_casts;
    };
    for (const Window& each : {Window{{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 3, 2, true},
                               Window{{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}}, 3, 2, true},
                               Window{{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}, 3, 2, false},
                               // The place itself is taken off the column, which is there already.
                               Window{{{1, 1, 1}, {1, 0, 1}, {1, 1, 1}}, 4, 2, false},
                               Window{{{0, 1, 0}, {1, -4, 1}, {0, 1, 0}}, 5, 0, true},
                               Window{{{3, 5, 0}, {3, 5, 0}, {3, 5, 0}}, 3, 1, false}}) {
        const int64_t rows = static_cast<int64_t>(each.weights.size());
        const auto expect = [&]<class T>(std::string_view type, T) {
            const Module before = parse_and_check(window(type, each.weights));
            const Module after = rewritten(before);
            if (type != "i64" || each.is_worth_it_without_casts) {
                EXPECT_EQ(loads_of_an_iteration(after), each.loads) << type << " " << each.weights[0][0];
                EXPECT_EQ(carried_values(after), each.carried) << type << " " << each.weights[0][0];
            } else {
                EXPECT_EQ(carried_values(after), 0U) << each.weights[0][0];
            }
            expect_same_window<T>(before, after, rows);
        };
        expect("i8", int8_t{});
        expect("u8", uint8_t{});
        expect("i16", int16_t{});
        expect("i64", int64_t{});
    }
}

// A column that lacks an element is not completed where nothing is read at both sides of it.
TEST(PredictiveCommoning, ReadsNothingBesideTheWindow) {
    // Before the first row and behind the last one there is no memory.
    const Module before = parse_and_check(replaced(window("i8", {{0, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}}),
                                                   "for %i = %one to %last", "for %i = %zero to %n"));
    expect_same_window<int8_t>(before, rewritten(before), 4);
}

TEST(PredictiveCommoning, ReadsNothingForLoopsWithoutIterations) {
    const Module before = parse_and_check(
        replaced(window("i8", {{1, 1}, {1, 1}, {1, 1}}), "for %i = %one to %last", "for %i = %one to %n"));
    const Module after = rewritten(before);
    EXPECT_EQ(carried_values(after), 1U);
    std::vector<int8_t> none;
    none.reserve(1);
    std::vector<int64_t> out;
    for (const int64_t n : {int64_t{0}, int64_t{1}, INT64_MIN})
        run(after, argument(n), argument(int64_t{0}), argument(none, {3, 0}), argument(out));
}

}  // namespace
}  // namespace weft::passes
