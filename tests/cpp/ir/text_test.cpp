// The text form: what is printed is read back as it was, exactly, and faults are named with their place.
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "ir/builder.h"
#include "ir/constant_text.h"
#include "support/ir_random.h"
#include "support/ir_testing.h"
#include "weft/errors.h"

namespace weft::ir {
namespace {

TEST(IrText, ConstantsKeepEveryBit) {
    std::mt19937_64 random(5);
    for (int t = 0; t < kScalarTypeCount; t++) {
        auto type = static_cast<ScalarType>(t);
        size_t size = static_cast<size_t>(DType::of(type).itemsize());
        for (int i = 0; i < 2000; i++) {
            Constant constant;
            constant.type = type;
            uint64_t bits[2] = {random(), random()};
            if (i % 3 == 0)
                bits[0] |= 0x7ff0000000000000, bits[1] |= 0x7f8000007c007c00;  // NaNs of many kinds
            if (type == ScalarType::kBool) bits[0] &= 1;
            std::memcpy(constant.bytes.data(), bits, size);
            std::string text = constant_text(constant);
            auto parsed = parse_constant(type, text);
            ASSERT_TRUE(parsed.has_value()) << text;
            EXPECT_EQ(parsed->bytes, constant.bytes) << text;
        }
    }
}

TEST(IrText, ConstantsReadAsOneWouldWriteThem) {
    auto f64 = [](double value) { return constant_text(Constant::of(ScalarType::kFloat64, value)); };
    EXPECT_EQ(f64(2), "2.0");
    EXPECT_EQ(f64(-0.0), "-0.0");
    EXPECT_EQ(f64(0.1), "0.1");
    EXPECT_EQ(f64(1e300), "1e+300");
    EXPECT_EQ(f64(std::numeric_limits<double>::infinity()), "inf");
    EXPECT_EQ(f64(std::bit_cast<double>(uint64_t{0x7ff8000000000000})), "nan");
    EXPECT_EQ(f64(std::bit_cast<double>(uint64_t{0xfff8000000000001})), "0xfff8000000000001");
    EXPECT_EQ(constant_text(Constant::of(ScalarType::kComplex64, Complex<float>{1, -2.5f})), "(1.0, -2.5)");
    EXPECT_EQ(constant_text(Constant::of(ScalarType::kUInt64, UINT64_MAX)), "18446744073709551615");
    EXPECT_EQ(parse_constant(ScalarType::kFloat64, "3")->as<double>(), 3);
    EXPECT_FALSE(parse_constant(ScalarType::kInt8, "300").has_value());
    EXPECT_FALSE(parse_constant(ScalarType::kUInt8, "-1").has_value());
    EXPECT_FALSE(parse_constant(ScalarType::kFloat64, "1.5x").has_value());
    EXPECT_FALSE(parse_constant(ScalarType::kBool, "2").has_value());
}

TEST(IrText, RandomKernelsComeBackAsTheyWere) {
    for (uint64_t seed = 0; seed < 400; seed++) {
        Module module =
            seed % 3 == 0 ? random_function(seed) : random_kernel(seed, {.blocks = seed % 4 == 0});
        check(module);
        std::string text = print(module);
        Module parsed = parse(text);
        ASSERT_EQ(parsed.functions.size(), module.functions.size());
        for (size_t i = 0; i < module.functions.size(); i++) {
            EXPECT_TRUE(equivalent(module.functions[i], parsed.functions[i])) << seed << "\n" << text;
        }
        EXPECT_EQ(print(parsed), text) << seed;
    }
}

TEST(IrText, EquivalenceSeesEveryDifference) {
    Module module = random_kernel(1);
    std::string text = print(module);
    // One constant, another one.
    size_t at = text.find("const i64 ");
    ASSERT_NE(at, std::string::npos);
    std::string changed = text;
    changed.replace(at, 11, "const i64 12345");
    const Module other = parse(changed);
    bool all_equal = true;
    for (size_t i = 0; i < module.functions.size(); i++)
        all_equal &= equivalent(other.functions[i], module.functions[i]);
    EXPECT_FALSE(all_equal);
    // Names do not count.
    Module renamed = module;
    for (ValueInfo& value : renamed.functions.back().values) value.name = "x";
    EXPECT_TRUE(equivalent(renamed.functions.back(), module.functions.back()));
}

// Everything that the text form can say, as the printer writes it.
constexpr std::string_view kEverything = R"(function @f(%x: f64, %k: i64) : f64, i64 {
  return %x, %k
}

function @memory(%n: i64) : i64, global f64[?, 8] scope 3 {
  %owner, %a = heap %n as global f64[?, 8] scope 3 of (%n) else raise 5
  retain %owner
  tell 12 %owner
  tell 13
  release %owner
  %0 = const bool true
  check %0 else raise 6
  %1 = const i64 1
  %2 = const f64 1.0
  %sum = add fast %2, %2
  %3, %4 = heap %n from %owner owners 2 from 8 by 24 as global i64[8] scope 2 else raise 5
  %5 = address %4
  %6 = memory %5 as global f64[?, 8] scope 3 of (%n)
  %7, %8, %9 = call catching @f(%2, %1) : f64, i64
  if %0 {
    raise again %7
  }
  return %3, %6
}

kernel @everything(%n: i64, %p: bool, %a: global f64[?, 8] scope 1 readonly, %b: global c64[], %h: global i32[-4] scope 3, %o: global f32[4] scope 7 streamed prefetch) {
  parallel grid (%i, %j) in (%n, %n) {
    %tile = allocate shared f64[32, 8] size [4, 4] scope 4
    %mine = allocate local f16[2] size [8] scope 5
    parallel block (%t) in (%n) {
      %0 = load %a[%i, %j]
      %1 = load %a[%i, %t] if %p else %0
      store %tile[%t, %t], %0
      store %tile[%t, %j], %1 if %p
      barrier
      %2 = const i32 1
      %old = atomic add %h[%t], %2 relaxed device
      %3 = compare_exchange %h[%t], %2, %old acquire_release system
      %4 = const c64 (1.0, nan)
      store %b[], %4
      %5 = cast %0 to i64
      %6, %7 = divmod %5, %i
      %8, %9 = call @f(%0, %6) : f64, i64
      %of_a = view %a at %6 as global i32[?, 4, 8] scope 1 readonly of (%n)
      %of_h = view %h at %i as global i32[?] scope 3
      %none = null global f64[?] scope 9
    }
    %zero = const f64 -0.0
    %10 = const i64 1
    for %11 = %i to %n step %10 {
      %12 = const bool true
    }
    %13, %14 = for %15 = %i to %n step %10 with (%x = %zero, %y = %j) {
      yield %x, %15
    }
    %16 = while (%v = %zero) {
      %17 = isnan %v
      yield %17, %v
    } do (%w) {
      %18 = negative %w
      yield %18
    }
    if %p {
      store %mine[%i], %19
    }
    %20 = if %p {
      yield %zero
    } else {
      yield %16
    }
    %21, %22 = reduce %23 in %n lanes 8 block 64 with (%zero, %i) {
      yield %20, %23
    } combine (%l, %lk, %r, %rk) {
      %24 = add %l, %r
      yield %24, %lk
    }
    scan %25 in %n with (%zero) {
      yield %20
    } combine (%l.1, %r.1) {
      yield %l.1
    } consume (%k, %prefix) {
      %26 = sqrt %prefix
    }
  }
}
)";

TEST(IrText, PrintsEverythingAsWritten) {
    std::string text(kEverything);
    std::string half = "    %19 = const f16 0.5\n";
    text.insert(text.find("    if %p {\n"), half);
    // Numbers follow the order of the text, so the inserted one takes its place from its surroundings.
    Module module = parse(text);
    std::string printed = print(module);
    EXPECT_EQ(print(parse(printed)), printed);
    EXPECT_EQ(printed, text);
    check(module);
}

std::string parse_error(std::string_view text) {
    try {
        parse(text);
    } catch (const ValueError& error) {
        return error.what();
    }
    return "no error";
}

std::string in_kernel(std::string_view line) {
    return "kernel @k(%n: i64, %a: global f64[8]) {\n  " + std::string(line) + "\n}\n";
}

TEST(IrText, ErrorsSayWhereAndWhat) {
    EXPECT_EQ(parse_error("kernal @k() {}"),
              "kernel IR, line 1, column 1: expected 'kernel' or 'function', found 'kernal'");
    EXPECT_EQ(parse_error("kernel @k(%n i64) {}"), "kernel IR, line 1, column 14: expected ':', found 'i64'");
    EXPECT_EQ(parse_error("kernel @k(%n: int) {}"), "kernel IR, line 1, column 15: unknown type int");
    EXPECT_EQ(parse_error("kernel @k() {"),
              "kernel IR, line 1, column 14: expected an operation, found the end of the text");
    EXPECT_EQ(parse_error(in_kernel("%x = frobnicate %n")),
              "kernel IR, line 2, column 8: unknown operation frobnicate");
    EXPECT_EQ(parse_error(in_kernel("%x = add %n, %m")),
              "kernel IR, line 2, column 16: %m is not defined here");
    EXPECT_EQ(parse_error(in_kernel("%x = add %n")),
              "kernel IR, line 2, column 8: add has no loop for (i64)");
    EXPECT_EQ(parse_error(in_kernel("%x = add %n, %a")),
              "kernel IR, line 2, column 16: expected a scalar, found a buffer");
    EXPECT_EQ(parse_error(in_kernel("%x = load %n[%n]")),
              "kernel IR, line 2, column 13: expected a buffer, found a scalar");
    EXPECT_EQ(parse_error(in_kernel("%n = add %n, %n")), "kernel IR, line 2, column 3: %n is defined twice");
    EXPECT_EQ(parse_error(in_kernel("%x, %y = add %n, %n")),
              "kernel IR, line 2, column 3: 'add' has 1 results, 2 are named");
    EXPECT_EQ(parse_error(in_kernel("add %n, %n")),
              "kernel IR, line 2, column 3: 'add' has 1 results, 0 are named");
    EXPECT_EQ(parse_error(in_kernel("%x = const i8 300")),
              "kernel IR, line 2, column 17: '300' is no constant of type i8");
    EXPECT_EQ(parse_error(in_kernel("yield %n")),
              "kernel IR, line 2, column 3: this body ends with 'return'");
    EXPECT_EQ(parse_error(in_kernel("return\n  barrier")),
              "kernel IR, line 3, column 3: nothing may follow 'return'");
    EXPECT_EQ(parse_error(in_kernel("for %i = %n to %n step %n {\n  break\n  barrier\n}")),
              "kernel IR, line 4, column 3: nothing may follow 'break'");
    EXPECT_EQ(parse_error(in_kernel("for %i = %n to %n step %n {\n  break 99999999999\n}")),
              "kernel IR, line 3, column 9: so many loops cannot lie between");
    EXPECT_EQ(parse_error(in_kernel("continue")),
              "kernel IR, line 2, column 3: this body ends with 'return'");
    EXPECT_EQ(parse_error(in_kernel("parallel warp (%i) in (%n) {}")),
              "kernel IR, line 2, column 12: expected 'grid' or 'block', found 'warp'");
    EXPECT_EQ(parse_error(in_kernel("parallel grid (%i, %j) in (%n) {}")),
              "kernel IR, line 2, column 18: parallel: expected 1 names, found 2");
    EXPECT_EQ(
        parse_error(in_kernel("%x = atomic add %a[%n], %n sloppy device")),
        "kernel IR, line 2, column 30: expected relaxed, acquire, release, acquire_release or sequential");
    EXPECT_EQ(parse_error("kernel @k() {}\nkernel @k() {}"),
              "kernel IR, line 2, column 1: @k is defined twice");
    EXPECT_EQ(parse_error(in_kernel("if %n { %x = add %n, %n }\n  %y = add %x, %n")),
              "kernel IR, line 3, column 12: %x is not defined here");
}

TEST(IrText, PrintsExits) {
    const std::string text = R"(function @f(%n: i64, %p: bool, %x: f64) : f64 {
  %y = for %i = %n to %n step %n with (%v = %x) {
    for %j = %n to %n step %n {
      if %p {
        break
      }
      %w = if %p {
        yield %x
      } else {
        continue 1 %v
      }
      if %p {
      } else {
        return %w
      }
      break 1 %w
    }
    continue %v
  }
  return %y
}
)";
    const Module module = parse_and_check(text);
    EXPECT_EQ(print(module), text);
    for (const auto& [from, to] : {std::pair("break 1 %w", "break %w"), {"continue 1 %v", "break 1 %v"}}) {
        std::string other = text;
        other.replace(other.find(from), std::string(from).size(), to);
        EXPECT_FALSE(equivalent(module.functions[0], parse(other).functions[0])) << to;
    }
}

TEST(IrText, KeepsRangesOfAGrid) {
    std::string text =
        "kernel @k(%n: i64) {\n  parallel grid (%i, %begin to %end, %j) in (%n, %n, %n) {\n  }\n}\n";
    Module module = parse_and_check(text);
    EXPECT_EQ(module.functions[0].body.body[0].range_dimension, 1);
    EXPECT_EQ(print(module), text);
    EXPECT_FALSE(equivalent(module.functions[0],
                            parse("kernel @k(%n: i64) {\n  parallel grid (%i, %j, %l) in (%n, %n, "
                                  "%n) {\n  }\n}\n")
                                .functions[0]));
}

TEST(IrText, CommentsAndSpacesOnlySeparate) {
    Module module = parse("// first\nkernel @k ( %n : i64 ) // here\n{ %x=add %n,%n // sum\n\n }");
    EXPECT_EQ(print(module), "kernel @k(%n: i64) {\n  %x = add %n, %n\n}\n");
}

// No text may bring the parser down.
TEST(IrText, DamagedTextsGiveErrors) {
    std::mt19937_64 random(6);
    std::string text = print(random_kernel(3));
    for (int i = 0; i < 3000; i++) {
        std::string damaged = text;
        for (uint64_t k = 1 + random() % 3; k > 0; k--) {
            size_t at = random() % damaged.size();
            switch (random() % 3) {
                case 0: damaged.erase(at, 1 + random() % 8); break;
                case 1: damaged[at] = static_cast<char>(32 + random() % 95); break;
                default: damaged.insert(at, text.substr(random() % text.size(), random() % 12)); break;
            }
        }
        try {
            Module module = parse(damaged);
            for (const Function& function : module.functions) verify(function, &module);
            print(module);
        } catch (const ValueError&) {
        }
    }
}

TEST(IrText, PrintsWhatIsIllFormedToo) {
    Function function;
    function.name = "broken";
    ValueId value = function.add_value(Type::of(ScalarType::kFloat64));
    for (int opcode = 0; opcode <= static_cast<int>(Opcode::kReturn); opcode++) {
        function.body.body.push_back({.opcode = static_cast<Opcode>(opcode)});
        function.body.body.push_back({.opcode = static_cast<Opcode>(opcode), .operands = {value, ValueId{}}});
    }
    EXPECT_NE(print(function).find("ill-formed"), std::string::npos);
    EXPECT_FALSE(verify(function).empty());
}

}  // namespace
}  // namespace weft::ir
