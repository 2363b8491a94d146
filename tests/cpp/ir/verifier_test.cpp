// Each rule of the verifier, broken once.
#include "ir/verifier.h"

#include <functional>
#include <string>

#include "ir/builder.h"
#include "support/ir_random.h"
#include "support/ir_testing.h"
#include "weft/errors.h"

namespace weft::ir {
namespace {

std::string errors_of(const Module& module) {
    std::string text;
    for (const Function& function : module.functions) {
        for (const std::string& error : verify(function, &module)) text += error + "\n";
    }
    return text;
}

// The complaints about a kernel of these lines, in a grid over %n with point %i.
std::string complaints(std::string_view lines, std::string_view outside = "") {
    return errors_of(
        parse(std::string(outside) +
              "\nkernel @k(%n: i64, %x: f64, %p: bool, %a: global f64[8] scope 1 readonly, "
              "%b: global f64[8] scope 2, %m: global f64[16, 8] scope 3, %c: global c64[8] scope 4) {\n"
              "parallel grid (%i) in (%n) {\n" +
              std::string(lines) + "\n}\n}\n"));
}

void expect_complaint(std::string_view lines, std::string_view complaint, std::string_view outside = "") {
    std::string found = complaints(lines, outside);
    EXPECT_NE(found.find(complaint), std::string::npos) << lines << "\nfound: " << found;
}

TEST(Verifier, AcceptsWhatIsWellFormed) {
    EXPECT_EQ(complaints("%y = load %a[%i]\nstore %b[%i], %y if %p"), "");
    for (uint64_t seed = 1000; seed < 1200; seed++) EXPECT_EQ(errors_of(random_kernel(seed)), "") << seed;
}

TEST(Verifier, ChecksMemoryAccesses) {
    expect_complaint("store %a[%i], %x", "writes to the read-only buffer %a");
    expect_complaint("store %b[%i], %i", "the value must be f64, is i64");
    expect_complaint("%y = load %m[%i]", "the buffer has 2 dimensions, the indices are 1");
    expect_complaint("%y = load %b[%x]", "an index must be i64, is f64");
    expect_complaint("%y = load %b[%i] if %x else %x", "the predicate must be bool, is f64");
    expect_complaint("%y = load %b[%i] if %p else %i", "the other value must be f64, is i64");
    expect_complaint("%o = atomic add %c[%i], %x relaxed device", "the value must be c64, is f64");
    expect_complaint("%z = load %c[%i]\n%o = atomic add %c[%i], %z relaxed device",
                     "there are no atomics on complex64");
    expect_complaint("%o = atomic greater %b[%i], %x relaxed device",
                     "the operation must take two elements of the buffer and give one");
    expect_complaint("%o = compare_exchange %b[%i], %x, %i relaxed device",
                     "the desired value must be f64, is i64");
    expect_complaint("%t = allocate local f64[8] size [0] scope 9", "sizes must be positive");
    expect_complaint("%t = allocate local f64[8, 8] size [4] scope 9", "needs a size for each stride");
    expect_complaint("%t = allocate local f64[-8] size [4] scope 9",
                     "strides must be constants, not negative");
    expect_complaint("%t = allocate global f64[8]", "gives a shared or local buffer");
    EXPECT_EQ(complaints("%t = allocate shared f64[?, 8] size [4, ?] scope 9 of (%n)"), "");
    EXPECT_EQ(complaints("if %p {\n%t = allocate shared f64[?, 64, 8] size [?, ?, 8] scope 9 of (%n, %i)\n}"),
              "");
    expect_complaint("%t = allocate shared f64[8] size [?] scope 9", "needs an operand for each '?'");
    expect_complaint("%t = allocate shared f64[8] size [4] scope 9 of (%n)", "needs an operand for each '?'");
    expect_complaint("%t = allocate shared f64[8] size [?] scope 9 of (%x)", "a size must be i64, is f64");
    expect_complaint("%t = allocate shared f64[?, 8] size [?, 4] scope 9 of (%n)",
                     "strides must be constants, not negative");
    expect_complaint("%t = allocate local f64[8] size [?] scope 9 of (%n)",
                     "only sizes of shared memory may be '?'");
    expect_complaint("if %p {\n%t = allocate shared f64[8] size [4] scope 9\n}",
                     "shared memory is allocated in a grid");
}

TEST(Verifier, ChecksRegions) {
    expect_complaint("%y = if %p {\nyield %x\n} else {\nyield %i\n}",
                     "yield of region 1 0 must be f64, is i64");
    expect_complaint("%y = if %p {\nyield %x\n}", "yield of region 1: expected 1, found 0");
    expect_complaint("%y = for %k = %i to %n step %n with (%c1 = %x) {\nyield %i\n}",
                     "yield of region 0 0 must be f64, is i64");
    expect_complaint("for %k = %x to %n step %n {\n}", "the lower bound must be i64, is f64");
    expect_complaint("%y = while (%v = %x) {\nyield %v, %v\n} do (%w) {\nyield %w\n}",
                     "the condition must be bool, is f64");
    expect_complaint("parallel grid (%j) in (%n) {\n}", "a grid stands in a kernel's body only");
    expect_complaint("parallel block (%t) in (%n) {\nparallel block (%u) in (%n) {\n}\n}",
                     "a block stands in a grid only");
    expect_complaint(
        "%r = reduce %k in %n lanes 3 block 0 with (%x) {\nyield %x\n} combine (%l, %q) {\nyield %l\n}",
        "lanes must be a power of two");
    expect_complaint(
        "%r = reduce %k in %n lanes 4 block 6 with (%x) {\nyield %x\n} combine (%l, %q) {\nyield %l\n}",
        "block must be a multiple of lanes");
    expect_complaint(
        "%r = reduce %k in %n lanes 1 block 0 with (%x) {\nstore %b[%k], %x\nyield %x\n} combine (%l, %q) "
        "{\nyield %l\n}",
        "writes in a body of a reduction");
    EXPECT_EQ(
        complaints(
            "%r = reduce %k in %n lanes 1 block 0 with (%x) {\n%t = allocate local f64[8] size [1] scope 9\n"
            "%z = const i64 0\nstore %t[%z], %x\nyield %x\n} combine (%l, %q) {\nyield %l\n}"),
        "");
}

TEST(Verifier, ChecksExits) {
    const auto loop = [](std::string_view lines) {
        return "%one = const i64 1\n%y = for %k = %i to %n step %one with (%u = %x) {\n" +
               std::string(lines) + "\n}";
    };
    EXPECT_EQ(complaints(loop("if %p {\nbreak %x\n}\nif %p {\ncontinue %u\n}\nyield %u")), "");
    EXPECT_EQ(complaints(loop("break %x")), "");
    expect_complaint(loop("break %k"), "result of the loop 0 must be f64, is i64");
    expect_complaint(loop("break"), "result of the loop: expected 1, found 0");
    expect_complaint(loop("continue %k"), "carried value 0 must be f64, is i64");
    expect_complaint(loop("break 1 %x"), "there is no such loop around it");
    expect_complaint("if %p {\nbreak\n}", "there is no such loop around it");
    expect_complaint("if %p {\nreturn\n}", "stands in a parallel region, a reduction or a scan");
    expect_complaint(loop("if %p {\nbreak %x\n} else {\ncontinue %x\n}\nyield %u"),
                     "both bodies leave: what follows is never reached");
    expect_complaint(loop("%r = reduce %j in %n lanes 1 block 0 with (%x) {\nif %p {\nbreak %x\n}\nyield "
                          "%x\n} combine (%l, %q) {\nyield %l\n}\nyield %r"),
                     "there is no such loop around it");
    expect_complaint("%y = while (%v = %x) {\nif %p {\nbreak %v\n}\nyield %p, %v\n} do (%w) {\nyield %w\n}",
                     "there is no such loop around it");
    expect_complaint("%y = call @f(%x) : f64", "result 0 must be f64, is i64",
                     "function @f(%x: f64) : f64 {\n%p = isnan %x\nif %p {\n%k = const i64 1\nreturn "
                     "%k\n}\nreturn %x\n}");
    const auto block = [](std::string_view lines) {
        return "parallel block (%t) in (%n) {\n%one = const i64 1\n%q = less %t, %i\n" + std::string(lines) +
               "\n}";
    };
    expect_complaint(block("for %k = %i to %n step %one {\nbarrier\nif %p {\nbreak\n}\n}"),
                     "a barrier stands in it, so it must not be left by an exit");
    // What a loop gives that some threads leave earlier varies.
    for (const char* const exit : {"break", "continue"}) {
        const std::string text = "%last = for %k = %i to %n step %one with (%v = %n) {\nif %q {\n" +
                                 std::string(exit) + " %one\n}\nyield %n\n}\n%z = less %last, %n\n";
        expect_complaint(block(text + "if %z {\nbarrier\n}"), "not all threads reach it");
    }
    EXPECT_EQ(complaints(block("%last = for %k = %i to %n step %one with (%v = %n) {\nif %p {\nbreak "
                               "%one\n}\nyield %n\n}\n%z = less %last, %n\nif %z {\nbarrier\n}")),
              "");
}

TEST(Verifier, ChecksCalls) {
    constexpr std::string_view kCallee = "function @f(%x: f64) : f64 {\nreturn %x\n}\n";
    EXPECT_EQ(complaints("%y = call @f(%x) : f64", kCallee), "");
    expect_complaint("%y = call @g(%x) : f64", "there is no function @g", kCallee);
    expect_complaint("%y = call @f(%i) : f64", "argument 0 must be f64, is i64", kCallee);
    expect_complaint("%y = call @f(%x) : i64", "result 0 must be f64, is i64", kCallee);
    EXPECT_EQ(complaints("", "function @f(%x: f64) : f64 {\n%y = call @f(%x) : f64\nreturn %y\n}\n"), "");
    expect_complaint("", "result 0 must be f64, is i64", "function @f(%x: i64) : f64 {\nreturn %x\n}\n");
    EXPECT_NE(errors_of(parse("function @f(%n: i64) {\nparallel grid (%i) in (%n) {\n}\n}\n"))
                  .find("a grid stands in a kernel only"),
              std::string::npos);
}

TEST(Verifier, ChecksViews) {
    EXPECT_EQ(complaints("%v = view %m at %i as global i32[?] scope 3 of (%n)\n%z = load %v[%i]"), "");
    EXPECT_EQ(complaints("%v = view %m at %i as global i32[16, ?] scope 3 readonly"), "");
    EXPECT_EQ(complaints("%v = view %b at %i as global f64[?] scope 2"), "");
    expect_complaint("%v = view %m at %x as global f64[8] scope 3", "the offset must be i64, is f64");
    expect_complaint("%v = view %m at %i as global f64[8] scope 2",
                     "must be of the space and the scope of %m");
    expect_complaint("%v = view %a at %i as global f64[8] scope 1", "must be read-only as %a");
    expect_complaint("%v = view %b at %i as global f64[?, 8] scope 2", "or those of %b");
    expect_complaint("%v = view %b at %i as global f64[?] scope 2 of (%i, %i)",
                     "needs an operand for each '?' in its strides");
    expect_complaint("%v = view %b at %i as global f64[8] size [4] scope 2", "has no sizes");
    expect_complaint("%v = null local f64[8] scope 9", "gives a global buffer without sizes");
    expect_complaint(
        "parallel block (%t) in (%n) {\n%l = allocate local f64[8] size [4] scope 9\n%v = view %l at "
        "%i as local f64[8] scope 9\n}",
        "a block's threads have no views of local memory");
    expect_complaint(
        "%r = reduce %j in %n lanes 1 block 0 with (%x) {\n%v = view %b at %i as global f64[8] scope "
        "2\nstore %v[%j], %x\nyield %x\n} combine (%l, %q) {\nyield %l\n}",
        "writes in a body of a reduction");
}

TEST(Verifier, ChecksBuffersThatAreCarried) {
    EXPECT_EQ(
        complaints("%c2 = if %p {\nyield %b\n} else {\n%v = view %b at %i as global f64[8] scope 2\nyield "
                   "%v\n}\nstore %c2[%i], %x"),
        "");
    expect_complaint("%y = if %p {\nyield %b\n} else {\nyield %a\n}", "yield of region 1 0 must be");
    expect_complaint(
        "%l = allocate local f64[8] size [4] scope 9\n%y = if %p {\nyield %l\n} else {\nyield %l\n}",
        "only scalars and global buffers can be carried");
    expect_complaint("parallel block (%t) in (%n) {\n%y = if %p {\nyield %b\n} else {\nyield %b\n}\n}",
                     "only scalars can be carried in a block");
    constexpr std::string_view kCallee =
        "function @f(%d: global f64[?] scope 7 readonly, %e: global f64[?] scope 7 readonly) : global f64[?] "
        "scope "
        "7 readonly {\nreturn %e\n}\n";
    EXPECT_EQ(complaints("%y = call @f(%a, %a) : global f64[?] scope 1 readonly", kCallee), "");
    expect_complaint("%y = call @f(%a, %b) : global f64[?] scope 1 readonly",
                     "its parameters of one scope get arguments of several scopes", kCallee);
    expect_complaint("%y = call @f(%a, %a) : global f64[?] scope 7 readonly", "result 0 must be", kCallee);
    expect_complaint("call @g(%a)", "argument 0 must be", "function @g(%d: global f64[?] scope 7) {\n}\n");
}

TEST(Verifier, ChecksWhatIsTold) {
    const auto errors = [](std::string_view lines) {
        return errors_of(
            parse("function @f(%n: i64, %a: global f64[8] scope 1) {\n" + std::string(lines) + "\n}\n"));
    };
    EXPECT_EQ(errors("tell 3\ntell 4 %n, %n"), "");
    EXPECT_NE(errors("tell 3 %a").find("only scalars can be told"), std::string::npos) << errors("tell 3 %a");
    EXPECT_NE(errors_of(parse("kernel @k(%n: i64) {\nparallel grid (%i) in (%n) {\ntell 3 %i\n}\n}\n"))
                  .find("stands in a parallel region"),
              std::string::npos);
}

TEST(Verifier, ChecksHeapMemory) {
    const auto errors = [](std::string_view lines) {
        return errors_of(parse("function @f(%n: i64, %x: f64) {\n" + std::string(lines) + "\n}\n"));
    };
    EXPECT_EQ(errors("%o, %m = heap %n as global f64[?] scope 1 of (%n) else raise 2\nretain %o\nrelease %o"),
              "");
    const auto expect = [&](std::string_view lines, std::string_view complaint) {
        EXPECT_NE(errors(lines).find(complaint), std::string::npos) << errors(lines);
    };
    expect("%o, %m = heap %x as global f64[8] scope 1 else raise 2",
           "the number of bytes must be i64, is f64");
    expect("%o, %m = heap %n as global f64[?] scope 1 else raise 2", "needs an operand for each '?'");
    expect("%o, %m = heap %n as local f64[8] size [4] else raise 2", "gives a global buffer without sizes");
    expect("release %x", "the owner must be i64, is f64");
    EXPECT_EQ(errors("%o, %m = heap %n owners 2 from 8 by 24 as global f64[8] scope 1 else raise 2\n"
                     "%q, %l = heap %n from %o as global f64[?] scope 1 of (%n) else raise 2\n"
                     "%at = address %l\n%k = memory %at as global f64[?] scope 3 of (%n)"),
              "");
    expect("%o, %m = heap %n owners 2 from 8 by 8 as global f64[8] scope 1 else raise 2",
           "has owners that are no words beside each other");
    expect("%o, %m = heap %n owners 1 from 4 by 8 as global f64[8] scope 1 else raise 2",
           "has owners that are no words beside each other");
    expect("%o, %m = heap %n from %x as global f64[8] scope 1 else raise 2",
           "the owner that it grows must be i64, is f64");
    expect("%m = memory %x as global f64[8] scope 1", "the address must be i64, is f64");
    expect("%m = memory %n as global f64[?] scope 1", "needs an operand for each '?'");
    expect("raise again %x", "the error must be i64, is f64");
    expect_complaint("%o, %own = heap %n as global f64[8] scope 9 else raise 2",
                     "stands in a parallel region");
    expect_complaint("release %n", "stands in a parallel region");
}

TEST(Verifier, Spreads) {
    constexpr std::string_view kCallees =
        "function @body(%number: i64, %from: i64, %to: i64, %x: f64, %a: global f64[8]) {\n}\n"
        "function @two(%number: i64, %from: i64) {\n}\n"
        "function @result(%number: i64, %from: i64, %to: i64) : i64 {\nreturn %to\n}\n"
        "kernel @kernel(%number: i64, %from: i64, %to: i64) {\n}\n";
    const auto errors = [&](std::string_view lines) {
        return errors_of(
            parse(std::string(kCallees) +
                  "function @f(%n: i64, %x: f64, %a: global f64[8], %r: global f64[8] readonly) {\n" +
                  std::string(lines) + "\n}\n"));
    };
    EXPECT_EQ(errors("spread @body(%x, %a) in %n by %n"), "");
    const auto expect = [&](std::string_view lines, std::string_view complaint) {
        EXPECT_NE(errors(lines).find(complaint), std::string::npos) << errors(lines);
    };
    expect("spread @body(%x, %a) in %x by %n", "the size must be i64, is f64");
    expect("spread @body(%x, %a) in %n by %x", "the chunk must be i64, is f64");
    expect("spread @body(%x, %r) in %n by %n", "argument 1 must be global f64[8]");
    expect("spread @body(%x) in %n by %n", "argument");
    expect("spread @two() in %n by %n", "does not begin with three i64");
    expect("spread @result() in %n by %n", "@result has results");
    expect("spread @kernel() in %n by %n", "@kernel is a kernel");
    expect("spread @nobody() in %n by %n", "there is no function @nobody");
    expect_complaint("spread @result() in %n by %n", "stands in a kernel, a reduction or a scan", kCallees);
    expect("%z = for %i = %n to %n step %n lanes 4 with (%y = %x) {\nyield %y\n}",
           "a loop of lanes carries no values");
}

TEST(Verifier, WhatThreadsDoTogether) {
    const auto errors = [&](std::string_view lines) {
        return errors_of(
            parse("function @f(%n: i64, %x: f64, %p: bool, %z: c128) {\n" + std::string(lines) + "\n}\n"));
    };
    EXPECT_EQ(errors("barrier\n%y = intrinsic shuffle(%n, %x, %n)\n%k = intrinsic block_count(%p)"), "");
    EXPECT_EQ(errors("intrinsic fence_device()\nif %p {\nbarrier\n}"), "");  // threads meet as they run
    const auto expect = [&](std::string_view lines, std::string_view complaint) {
        EXPECT_NE(errors(lines).find(complaint), std::string::npos) << errors(lines);
    };
    expect("%y = intrinsic shuffle(%x, %x, %n)", "operands must be i64, is f64");
    expect("%y = intrinsic ballot(%n, %x)", "operands must be bool, is f64");
    expect("%y = intrinsic match(%n, %z)", "takes no complex numbers");
    expect_complaint("%k = intrinsic active_mask(%n)", "stands outside of a block");
}

TEST(Verifier, RefusesCallsThatRaiseWhereNothingDoes) {
    constexpr std::string_view kCallees =
        "function @inner(%x: f64, %p: bool) : f64 {\ncheck %p else raise 4 %x\nreturn %x\n}\n"
        "function @outer(%x: f64, %p: bool) : f64 {\n%y = call @inner(%x, %p) : f64\nreturn %y\n}\n"
        "function @deep(%x: f64, %p: bool) : f64 {\nif %p {\nraise 3\n}\nreturn %x\n}\n"
        "function @fine(%x: f64, %p: bool) : f64 {\nreturn %x\n}\n";
    EXPECT_EQ(complaints("%y = call @fine(%x, %p) : f64", kCallees), "");
    for (const std::string_view name : {"inner", "outer", "deep"}) {
        const std::string call = "%y = call @" + std::string(name) + "(%x, %p) : f64\n";
        const std::string complaint = "@" + std::string(name) + " may raise";
        expect_complaint(call, complaint, kCallees);
        const std::string reduction =
            "function @sum(%n: i64, %zero: f64, %x: f64, %p: bool) : f64 {\n"
            "%s = reduce %k in %n lanes 1 block 0 with (%zero) {\n" +
            call + "yield %y\n} combine (%l, %r) {\n%t = add %l, %r\nyield %t\n}\nreturn %s\n}\n";
        EXPECT_NE(errors_of(parse(std::string(kCallees) + reduction)).find(complaint), std::string::npos)
            << errors_of(parse(std::string(kCallees) + reduction));
        EXPECT_EQ(errors_of(parse(std::string(kCallees) + "function @whole(%x: f64, %p: bool) : f64 {\n" +
                                  call + "return %y\n}\n")),
                  "");
    }
}

TEST(Verifier, WantsBarriersInUniformFlow) {
    auto block = [](std::string_view lines) {
        return "parallel block (%t) in (%n) {\n" + std::string(lines) + "\n}";
    };
    EXPECT_EQ(complaints(block("barrier")), "");
    expect_complaint("barrier", "stands outside of a block");
    expect_complaint(
        block("%q = less %t, %i\nif %q {\nbarrier\n}"),
        "not all threads reach it: a 'if' around it depends on %q, which differs between threads");
    EXPECT_EQ(complaints(block("%q = less %i, %n\nif %q {\nbarrier\n}")), "");
    expect_complaint(block("for %k = %t to %n step %n {\nbarrier\n}"), "not all threads reach it");
    EXPECT_EQ(complaints(block("for %k = %i to %n step %n {\nbarrier\n}")), "");
    // What a loop carries varies once anything that flows into it does.
    expect_complaint(
        block("%last = for %k = %i to %n step %n with (%v = %n) {\n%q = less %v, %n\nif %q {\nbarrier\n}\n"
              "yield %t\n}"),
        "not all threads reach it");
    // A loop that some threads leave earlier gives them other results.
    expect_complaint(
        block("%last = for %k = %i to %t step %n with (%v = %n) {\n%w = add %v, %n\nyield %w\n}\n"
              "%q = less %last, %n\nif %q {\nbarrier\n}"),
        "not all threads reach it");
    expect_complaint(
        block("%old = atomic add %b[%i], %x relaxed device\n%q = less %old, %x\nif %q {\nbarrier\n}"),
        "not all threads reach it");
    // Memory that all share looks the same to all; a thread's own does not.
    EXPECT_EQ(complaints(block("%v = load %b[%i]\n%q = less %v, %x\nif %q {\nbarrier\n}")), "");
    expect_complaint(block("%v = load %b[%t]\n%q = less %v, %x\nif %q {\nbarrier\n}"),
                     "not all threads reach it");
    expect_complaint(
        block("%own = allocate local f64[8] size [8] scope 9\n%v = load %own[%i]\n%q = less %v, %x\n"
              "if %q {\nbarrier\n}"),
        "not all threads reach it");
    // What a point of the grid has for itself is the same for the threads of its block, who may read it.
    const std::string own = "%own = allocate local f64[8] size [8] scope 9\nstore %own[%i], %x\n";
    EXPECT_EQ(complaints(own + block("%v = load %own[%i]\n%q = less %v, %x\nif %q {\nbarrier\n}")), "");
    expect_complaint(own + block("store %own[%t], %x"), "writes to %own, which the block's threads share");
    expect_complaint(
        block("%r = reduce %k in %n lanes 1 block 0 with (%x) {\nbarrier\nyield %x\n} combine (%l, %q) "
              "{\nyield %l\n}"),
        "stands in a body of a reduction");
}

// What no text can say: damage done by passes.
TEST(Verifier, ChecksDefinitionsAndUses) {
    auto make = [](const std::function<void(Function&)>& damage) {
        Builder builder("k");
        ValueId x = builder.parameter(Type::of(ScalarType::kFloat64), "x");
        builder.apply(OpId::kSqrt, {x});
        builder.apply(OpId::kExp, {x});
        Function function = builder.finish();
        damage(function);
        std::string text;
        for (const std::string& error : verify(function)) text += error + "\n";
        return text;
    };
    EXPECT_EQ(make([](Function&) {}), "");
    EXPECT_NE(make([](Function& f) {
                  f.body.body[0].operands[0] = f.body.body[1].results[0];
              }).find("not defined there"),
              std::string::npos);
    EXPECT_NE(make([](Function& f) {
                  f.body.body[1].results[0] = f.body.body[0].results[0];
              }).find("defined twice"),
              std::string::npos);
    EXPECT_NE(make([](Function& f) { f.body.body[0].operands[0] = ValueId{99}; }).find("not defined there"),
              std::string::npos);
    EXPECT_NE(make([](Function& f) { f.body.body[0].loop = 99; }).find("has no loop 99"), std::string::npos);
    EXPECT_NE(make([](Function& f) { f.body.body[0].op = nullptr; }).find("has no operation"),
              std::string::npos);
    EXPECT_NE(make([](Function& f) { f.body.body.pop_back(); }).find("does not end with return"),
              std::string::npos);
    EXPECT_NE(make([](Function& f) {
                  f.values[1].type = Type::of(ScalarType::kInt8);
              }).find("result 0 must be f64"),
              std::string::npos);
}

TEST(Verifier, CheckShowsTheText) {
    Module module = parse("kernel @k(%n: i64, %a: global f64[8] readonly, %x: f64) {\nstore %a[%n], %x\n}\n");
    try {
        check(module);
        FAIL();
    } catch (const InternalError& error) {
        std::string text = error.what();
        EXPECT_NE(text.find("writes to the read-only buffer %a"), std::string::npos);
        EXPECT_NE(text.find("store %a[%n], %x"), std::string::npos);
    }
}

}  // namespace
}  // namespace weft::ir
