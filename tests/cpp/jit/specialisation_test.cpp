// Functions from the text of their trees, compiled and called.
#include "jit/specialisation.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "jit/gpu_kernel.h"
#include "lang/errors/diagnostics.h"

namespace weft::jit {
namespace {

using lang::FunctionSource;
using lang::scalar_type;
using lang::Symbol;
using lang::SymbolKind;
using lang::TypeRef;

FunctionSource source_of(const std::string& tree, std::vector<Symbol> symbols = {}) {
    FunctionSource source;
    source.tree = lang::Tree::parse(tree);
    source.name = source.tree.name();
    source.file = "test.py";
    source.symbols = std::move(symbols);
    return source;
}

Symbol known(const std::string& path) {
    Symbol symbol;
    symbol.kind = SymbolKind::kKnown;
    symbol.name = path.substr(path.rfind('.') + 1);
    symbol.path = path;
    return symbol;
}

TypeRef python_int() { return scalar_type(ScalarType::kInt64, true); }
TypeRef python_float() { return scalar_type(ScalarType::kFloat64, true); }

uint64_t word(int64_t value) { return static_cast<uint64_t>(value); }
uint64_t word(double value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}
template <class T>
uint64_t word(T* pointer) {
    return reinterpret_cast<uint64_t>(pointer);
}

// The status and the first result.
template <class Result>
std::pair<int64_t, Result> call(const Specialisation& compiled, std::vector<uint64_t> words) {
    std::vector<char> results(compiled.result_bytes + 16);
    const int64_t status = compiled.run(words.data(), results.data());
    Result result{};
    std::memcpy(&result, results.data(), sizeof(result));
    return {status, result};
}

TEST(Jit, ArithmeticOfPythonsNumbers) {
    const FunctionSource f = source_of(
        "(def f (params (param a) (param b)) (block (return (binary add (binary mul"
        " (name a) (int 3)) (name b)))))");
    const auto ints = compile(f, std::vector<TypeRef>{python_int(), python_int()});
    EXPECT_EQ(ints->result, python_int());
    EXPECT_EQ(call<int64_t>(*ints, {word(int64_t{5}), word(int64_t{-1})}),
              std::pair(int64_t{0}, int64_t{14}));
    const auto floats = compile(f, std::vector<TypeRef>{python_int(), python_float()});
    EXPECT_EQ(floats->result, python_float());
    EXPECT_EQ(call<double>(*floats, {word(int64_t{5}), word(0.5)}).second, 15.5);
}

// def f(n): s = 0; for i in range(n): if i % 2 == 0: continue; if i > 100: break; s += i; else: s = -s;
// return s
TEST(Jit, LoopsWithExitsAndElse) {
    const FunctionSource f = source_of(
        "(def f (params (param n)) (block (assign (name s) (int 0)) (for (name i) (call (global 0) (name n))"
        " (block (if (compare eq (binary mod (name i) (int 2)) (int 0)) (block (continue)) (block))"
        " (if (compare gt (name i) (int 100)) (block (break)) (block)) (augment add (name s) (name i)))"
        " (block (assign (name s) (unary neg (name s))))) (return (name s))))",
        {known("builtins.range")});
    const auto compiled = compile(f, std::vector<TypeRef>{python_int()});
    const auto expected = [](int64_t n) {
        int64_t s = 0;
        for (int64_t i = 0; i < n; ++i) {
            if (i % 2 == 0) continue;
            if (i > 100) return s;
            s += i;
        }
        return -s;
    };
    for (int64_t n : {0, 1, 2, 7, 100, 101, 102, 103, 500})
        EXPECT_EQ(call<int64_t>(*compiled, {word(n)}).second, expected(n)) << n;
}

// A variable's type grows through the loop: s = 0, then s += 0.5.
TEST(Jit, TypesComeToAFixpoint) {
    const FunctionSource f = source_of(
        "(def f (params (param n)) (block (assign (name s) (int 0)) (assign (name t) (int 1))"
        " (while (compare gt (name n) (int 0)) (block (assign (name t) (name s)) (augment add (name s) "
        "(float 0x1p-1))"
        " (augment sub (name n) (int 1))) (block)) (return (tuple (name s) (name t)))))");
    const auto compiled = compile(f, std::vector<TypeRef>{python_int()});
    EXPECT_EQ(lang::describe(compiled->result), "tuple(float, float)");
    EXPECT_EQ(call<double>(*compiled, {word(int64_t{5})}).second, 2.5);
}

TEST(Jit, ArraysAreCheckedAndNegativeIndicesCountFromTheEnd) {
    const FunctionSource f = source_of(
        "(def f (params (param a) (param i)) (block (augment mul (index (name a) (name i)) (int 2))"
        " (return (index (name a) (name i)))))");
    const auto compiled = compile(
        f, std::vector<TypeRef>{lang::array_type(ScalarType::kFloat64, 1, true, false, 1), python_int()});
    EXPECT_EQ(compiled->written, (std::vector<bool>{true, false}));
    double values[] = {1, 2, 3};
    const auto at = [&](int64_t i) { return call<double>(*compiled, {word(values), 3, word(i)}); };
    EXPECT_EQ(at(0), std::pair(int64_t{0}, 2.0));
    EXPECT_EQ(at(-1), std::pair(int64_t{0}, 6.0));
    const int64_t status = at(3).first;
    ASSERT_GT(status, 0);
    char payload[32] = {};
    std::vector<uint64_t> words{word(values), 3, word(int64_t{-4})};
    EXPECT_EQ(compiled->run(words.data(), payload), status);
    const lang::Site& site = compiled->sites[static_cast<size_t>(status - 1)];
    EXPECT_EQ(site.exception, "IndexError");
    EXPECT_EQ(lang::message_of(site, payload), "index -4 is out of bounds for axis 0 with size 3");
}

// for i in range(1, len(a) - 1): b[i] = a[i - 1] + a[i + 1], where only b's size is not known to be a's.
TEST(Jit, ChecksOfProvenIndicesAreLeftOut) {
    const FunctionSource f = source_of(
        "(def f (params (param a)) (block (assign (name s) (float 0x0p+0)) (for (name i) (call (global 0) "
        "(int 1)"
        " (binary sub (call (global 1) (name a)) (int 1))) (block (augment add (name s) (binary add (index "
        "(name a)"
        " (binary sub (name i) (int 1))) (index (name a) (binary add (name i) (int 1)))))) (block)) (return "
        "(name s))))",
        {known("builtins.range"), known("builtins.len")});
    const auto compiled =
        compile(f, std::vector<TypeRef>{lang::array_type(ScalarType::kFloat64, 1, true, false, 1)});
    EXPECT_EQ(compiled->ir.find("check"), std::string::npos) << compiled->ir;
    double values[] = {1, 2, 4, 8};
    EXPECT_EQ(call<double>(*compiled, {word(values), 4}).second, 1 + 4 + 2 + 8);
    EXPECT_EQ(call<double>(*compiled, {word(values), 1}).second, 0);
}

TEST(Jit, AVariableThatIsBoundOnSomeWaysIsCheckedWhereItIsRead) {
    const FunctionSource f = source_of(
        "(def f (params (param n)) (block (for (name i) (call (global 0) (name n)) (block (assign (name x) "
        "(name i)))"
        " (block)) (return (name x))))",
        {known("builtins.range")});
    const auto compiled = compile(f, std::vector<TypeRef>{python_int()});
    EXPECT_EQ(call<int64_t>(*compiled, {word(int64_t{4})}), std::pair(int64_t{0}, int64_t{3}));
    const int64_t status = call<int64_t>(*compiled, {word(int64_t{0})}).first;
    ASSERT_GT(status, 0);
    EXPECT_EQ(compiled->sites[static_cast<size_t>(status - 1)].exception, "UnboundLocalError");
}

TEST(Jit, FunctionsCallFunctions) {
    const FunctionSource square = source_of(
        "(def square (params (param x)) (block (if (compare lt (name x) (int 0))"
        " (block (raise (global 0))) (block)) (return (binary mul (name x) (name x)))))",
        [] {
            Symbol symbol;
            symbol.kind = SymbolKind::kException;
            symbol.name = "ValueError";
            return std::vector<Symbol>{symbol};
        }());
    Symbol callee;
    callee.kind = SymbolKind::kFunction;
    callee.name = "square";
    callee.function = &square;
    const FunctionSource f = source_of(
        "(def f (params (param x)) (block (return (binary add (call (global 0) (name x))"
        " (call (global 0) (float 0x1p-1))))))",
        {callee});
    const auto compiled = compile(f, std::vector<TypeRef>{python_int()});
    EXPECT_EQ(call<double>(*compiled, {word(int64_t{3})}), std::pair(int64_t{0}, 9.25));
    EXPECT_GT(call<double>(*compiled, {word(int64_t{-3})}).first, 0);
}

// The prelude's errors are at the call: isqrt(n) + isqrt(n + 1).
TEST(Jit, ThePreludeRaisesWhereItIsCalled) {
    const FunctionSource f = source_of(
        "(def f (params (param n)) (block (return (binary add (call (global 0) (name n))"
        " (call (global 0) (binary add (name n) (int 1)))))))",
        {known("math.isqrt")});
    const auto compiled = compile(f, std::vector<TypeRef>{python_int()});
    EXPECT_EQ(call<int64_t>(*compiled, {word(int64_t{99})}), std::pair(int64_t{0}, int64_t{19}));
    const int64_t status = call<int64_t>(*compiled, {word(int64_t{-5})}).first;
    ASSERT_GT(status, 0);
    const lang::Site& site = compiled->sites[static_cast<size_t>(status - 1)];
    EXPECT_EQ(site.function, &f);
    EXPECT_EQ(f.tree[site.node].kind, lang::NodeKind::kCall);
    EXPECT_EQ(site.exception, "ValueError");
    EXPECT_EQ(site.text, "isqrt() argument must be nonnegative");
}

// Records are made, read and given back by their fields.
TEST(Jit, RecordsAreTuplesWithNames) {
    lang::Record point;
    point.name = "Point";
    point.fields = {"x", "y"};
    point.defaults = {nullptr, lang::literal_type(Constant::of(ScalarType::kInt64, int64_t{7}))};
    point.keyword_only = {false, false};
    Symbol made;
    made.kind = SymbolKind::kRecord;
    made.name = "Point";
    made.record = &point;
    const FunctionSource f = source_of(
        "(def f (params (param p)) (block (return (call (global 0) (binary add (attribute (name p) x)"
        " (attribute (name p) y))))))",
        {made});
    const TypeRef argument = lang::record_type(&point, {python_int(), python_int()});
    const auto compiled = compile(f, std::vector<TypeRef>{argument});
    EXPECT_EQ(lang::describe(compiled->result), "Point(int, int)");
    EXPECT_EQ(compiled->result, argument);
    EXPECT_EQ(call<int64_t>(*compiled, {word(int64_t{2}), word(int64_t{3})}).second, 5);
}

// A function that is called reads a global array, which no call passes.
TEST(Jit, GlobalArraysComeBehindTheArguments) {
    const double table[] = {1.5, 2.5, 4};
    Symbol global;
    global.kind = SymbolKind::kGlobal;
    global.name = "TABLE";
    global.object = &table;
    const FunctionSource inner =
        source_of("(def inner (params (param i)) (block (return (index (global 0) (name i)))))", {global});
    Symbol callee;
    callee.kind = SymbolKind::kFunction;
    callee.name = "inner";
    callee.function = &inner;
    const FunctionSource f =
        source_of("(def f (params (param i)) (block (return (call (global 0) (name i)))))", {callee});
    const lang::GlobalArgument given{&table, lang::array_type(ScalarType::kFloat64, 1, true, true, 1)};
    const auto compiled = compile(f, std::vector<TypeRef>{python_int()}, {}, std::span(&given, 1));
    EXPECT_EQ(call<double>(*compiled, {word(int64_t{-1}), word(&table), word(int64_t{3})}),
              std::pair(int64_t{0}, 4.0));
    EXPECT_GT(call<double>(*compiled, {word(int64_t{3}), word(&table), word(int64_t{3})}).first, 0);
    EXPECT_EQ(compiled->written, (std::vector<bool>{false, false}));
}

// def f(n): k = n; def g(x, y=k): return x + y + k; k = 100; return g(1)
TEST(Jit, InnerFunctionsReadVariablesWhenTheyAreCalled) {
    FunctionSource f = source_of(
        "(def f (params (param n)) (block (assign (name k) (name n)) (def g (params (param x) (default y "
        "(name k)))"
        " (block (return (binary add (binary add (name x) (name y)) (name k))))) (assign (name k) (int 100))"
        " (return (call (name g) (int 1)))))");
    lang::find_inner_functions(f);
    ASSERT_EQ(f.inner.size(), 1U);
    EXPECT_EQ(f.inner.begin()->second->captured, std::vector<std::string>{"k"});
    const auto compiled = compile(f, std::vector<TypeRef>{python_int()});
    EXPECT_EQ(call<int64_t>(*compiled, {word(int64_t{5})}).second, 106);
}

// raise ValueError(f"{n} is {x}") tells the numbers, for whoever makes the text.
TEST(Jit, TextsAreTold) {
    Symbol error;
    error.kind = SymbolKind::kException;
    error.name = "ValueError";
    const FunctionSource f = source_of(
        "(def f (params (param n) (param x)) (block (raise (call (global 0)"
        " (format \"{} is {:.3f}\" (name n) (name x))))))",
        {error});
    const auto compiled = compile(f, std::vector<TypeRef>{python_int(), python_float()});
    std::array<char, 64> payload{};
    const std::vector<uint64_t> words = {word(int64_t{3}), word(0.5)};
    const int64_t status = compiled->run(words.data(), payload.data());
    ASSERT_GT(status, 0);
    const lang::Site& site = compiled->sites[static_cast<size_t>(status - 1)];
    EXPECT_EQ(site.kind, lang::SiteKind::kTold);
    ASSERT_EQ(site.told.size(), 1U);
    EXPECT_EQ(site.told[0], lang::format_type("{} is {:.3f}", {python_int(), python_float()}));
    double x = 0;
    std::memcpy(&x, payload.data() + 16, sizeof(x));
    EXPECT_EQ(x, 0.5);
    EXPECT_FALSE(compiled->tells);
}

TEST(Jit, ErrorsSayWhereAndWhat) {
    const FunctionSource f = source_of(
        "(def f (params (param c)) (block (if (name c) (block (assign (name y) (int 1))) (block (assign "
        "(name y)"
        " (string \"a\")))) (return (name y))))");
    try {
        compile(f, std::vector<TypeRef>{python_int()});
        FAIL() << "y has two types";
    } catch (const lang::CompileError& error) {
        EXPECT_NE(std::string(error.what()).find("variable 'y' is int on one way and str on another"),
                  std::string::npos)
            << error.what();
    }
}

TEST(GpuKernels, HaveAsManyThreadsInABlockAsThereAreRegisters) {
    EXPECT_EQ(most_threads_with(0), 1024);
    EXPECT_EQ(most_threads_with(64), 1024);
    EXPECT_EQ(most_threads_with(65), 896);
    EXPECT_EQ(most_threads_with(128), 512);
    EXPECT_EQ(most_threads_with(255), 256);
}

}  // namespace
}  // namespace weft::jit
