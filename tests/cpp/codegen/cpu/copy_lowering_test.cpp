// Loops that only move elements: which are transposed by shuffles, copied by non-temporal stores or from
// constants, and that they move what the oracle moves.
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "support/compiled_testing.h"
#include "support/ir_testing.h"

namespace weft::ir {
namespace {

constexpr int64_t kPlaces = 600;

std::string with(std::string text, const std::string& name, const std::string& value) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
        text.replace(at, name.size(), value);
    return text;
}

// `inner` stores to %to[%place] what it has of %from.
std::string nest(const std::string& type, int64_t outer, int64_t inner, const std::string& body) {
    std::string text = R"(
kernel @move(%n: i64, %first: i64, %a: global TYPE[?, SIZE], %out: global TYPE[?, SIZE] scope 1) {
  parallel grid (%row) in (%n) {
    %zero = const i64 0
    %one = const i64 1
    %places = const i64 600
    %from = allocate local TYPE[SIZE] size [600] scope 2
    %to = allocate local TYPE[SIZE] size [600] scope 3
    for %k = %zero to %places step %one {
      %x = load %a[%row, %k]
      store %from[%k], %x
      store %to[%k], %x
    }
    %outer = const i64 OUTER
    for %i = %zero to %outer step %one {
      %inner = const i64 INNER
      for %j = %zero to %inner step %one {
        BODY
      }
    }
    for %k = %zero to %places step %one {
      %x = load %to[%k]
      store %out[%row, %k], %x
    }
  }
})";
    text = with(text, "BODY", body);
    text = with(text, "TYPE", type);
    text = with(text, "SIZE",
                std::to_string(type == "c128"                                    ? 16
                               : type == "c64" || type == "f64" || type == "i64" ? 8
                               : type == "f32"                                   ? 4
                               : type == "i16"                                   ? 2
                                                                                 : 1));
    return with(with(text, "OUTER", std::to_string(outer)), "INNER", std::to_string(inner));
}

std::string exchange(const std::string& row_index, const std::string& column_index, int64_t from_stride,
                     int64_t to_stride) {
    std::string text = R"(%rows = const i64 FROM
        %columns = const i64 TO
        %from_row = multiply ROW, %rows
        %from_begin = add %from_row, %first
        %from_place = add %from_begin, COLUMN
        %x = load %from[%from_place]
        %to_row = multiply %columns, COLUMN
        %to_place = add ROW, %to_row
        store %to[%to_place], %x)";
    text = with(with(text, "ROW", row_index), "COLUMN", column_index);
    return with(with(text, "FROM", std::to_string(from_stride)), "TO", std::to_string(to_stride));
}

template <class T>
std::vector<T> numbers() {
    std::mt19937_64 random(5);
    std::vector<T> values(2 * kPlaces);
    const auto number = [&] { return static_cast<int8_t>(random() % 100); };
    for (T& value : values) {
        if constexpr (std::is_class_v<T>) {
            value.re = number();
            value.im = number();
        } else {
            value = static_cast<T>(number());
        }
    }
    return values;
}

// Whether shuffles transpose; the results are the oracle's.
template <class T>
bool is_transposed(const std::string& text) {
    const Module module = parse_and_check(text);
    codegen::CompiledTexts texts;
    codegen::compile_for_cpu(module, "move", {}, &texts);
    std::vector<T> a = numbers<T>(), expected(a.size()), found(a.size());
    run(module, argument<int64_t>(2), argument<int64_t>(3), argument(a, {2, kPlaces}),
        argument(expected, {2, kPlaces}));
    run_compiled(module, argument<int64_t>(2), argument<int64_t>(3), argument(a, {2, kPlaces}),
                 argument(found, {2, kPlaces}));
    EXPECT_EQ(found, expected) << text;
    return texts.llvm_ir.find("weft_transpose") != std::string::npos;
}

template <class T>
void transposes(const std::string& type) {
    for (const auto [rows, columns] : {std::pair{2, 2}, {2, 8}, {8, 4}, {8, 8}, {16, 16}}) {
        const std::string of_rows = exchange("%i", "%j", columns + 5, rows + 3);
        EXPECT_TRUE(is_transposed<T>(nest(type, rows, columns, of_rows))) << type << rows << columns;
        const std::string of_columns = exchange("%j", "%i", columns, rows);
        EXPECT_TRUE(is_transposed<T>(nest(type, columns, rows, of_columns))) << type << rows << columns;
    }
}

TEST(CopyLowering, TransposesElementsOfEverySize) {
    transposes<int8_t>("i8");
    transposes<int16_t>("i16");
    transposes<float>("f32");
    transposes<int64_t>("i64");
    transposes<double>("f64");
    transposes<Complex<float>>("c64");
    transposes<Complex<double>>("c128");
}

TEST(CopyLowering, LeavesOtherLoops) {
    const std::string body = exchange("%i", "%j", 16, 8);
    EXPECT_TRUE(is_transposed<float>(nest("f32", 8, 8, body)));
    EXPECT_FALSE(is_transposed<float>(nest("f32", 8, 6, body)));
    EXPECT_FALSE(is_transposed<float>(nest("f32", 8, 32, exchange("%i", "%j", 32, 8))));
    // Places that are written twice: the last one counts.
    EXPECT_FALSE(is_transposed<float>(nest("f32", 8, 8, exchange("%i", "%j", 16, 4))));
    // Rows that stay rows.
    EXPECT_FALSE(is_transposed<float>(
        nest("f32", 8, 8,
             with(with(body, "add %i, %to_row", "add %j, %to_row"), "%columns, %j", "%columns, %i"))));
    // What is more than a copy, or not of the element.
    EXPECT_FALSE(is_transposed<float>(nest(
        "f32", 8, 8, with(body, "store %to[%to_place], %x", "%y = add %x, %x\n store %to[%to_place], %y"))));
    EXPECT_FALSE(is_transposed<float>(nest("f32", 8, 8, with(body, "%x = load %from", "%x = load %to"))));
    EXPECT_FALSE(is_transposed<float>(nest("f32", 8, 8, with(body, "load %from[", "load %a[%row, "))));
    EXPECT_FALSE(is_transposed<float>(with(nest("f32", 8, 8, body), "for %j = %zero", "for %j = %one")));
}

TEST(CopyLowering, CopiesPastTheCachesWhateverLinesBegin) {
    const std::string text = R"(
kernel @copy(%n: i64, %first: i64, %upper: i64, %begin: i64, %a: global f64[?, 8], %out: global f64[?, 8] scope 1 streamed) {
  parallel grid (%row) in (%n) {
    %zero = const i64 0
    %one = const i64 1
    %places = const i64 600
    %local = allocate local f64[8] size [600] scope 2
    for %k = %zero to %places step %one {
      %x = load %a[%row, %k]
      store %local[%k], %x
    }
    for %k = %first to %upper step %one {
      %at = add %begin, %k
      %x = load %local[%k]
      store %out[%row, %at], %x
    }
  }
})";
    const Module module = parse_and_check(text);
    codegen::CompiledTexts texts;
    codegen::compile_for_cpu(module, "copy", {}, &texts);
    EXPECT_NE(texts.assembly.find("movnt"), std::string::npos) << texts.assembly;
    for (const auto [first, upper] :
         {std::pair{0, 0}, {5, 2}, {0, 1}, {3, 10}, {0, 8}, {1, 9}, {7, 300}, {0, 590}}) {
        for (const int64_t begin : {0, 1, 2, 5, 8, 10}) {
            std::vector<double> a = numbers<double>(), expected(a.size(), -1), found(a.size(), -1);
            const auto arguments = [&](std::vector<double>& out) {
                return std::vector<OracleArgument>{argument<int64_t>(2),      argument<int64_t>(first),
                                                   argument<int64_t>(upper),  argument(begin),
                                                   argument(a, {2, kPlaces}), argument(out, {2, kPlaces})};
            };
            run_oracle(module, module.functions.back(), arguments(expected), {});
            run_compiled(module, std::span<const OracleArgument>(arguments(found)));
            EXPECT_EQ(found, expected) << first << " " << upper << " " << begin;
        }
    }
}

TEST(CopyLowering, FillsWithWhatEveryTypeHas) {
    const std::string text = R"(
kernel @fill(%n: i64, %from: i64, %upper: i64, %out: global TYPE[?, SIZE] scope 1) {
  parallel grid (%row) in (%n) {
    %zero = const i64 0
    %one = const i64 1
    %places = const i64 600
    %other = cast %row to TYPE
    %value = const TYPE VALUE
    %local = allocate local TYPE[SIZE] size [600] scope 2
    for %k = %zero to %places step %one {
      store %local[%k], %other
    }
    for %k = %from to %upper step %one {
      %at = add %from, %k
      store %local[%at], STORED
    }
    for %k = %zero to %places step %one {
      %x = load %local[%k]
      store %out[%row, %k], %x
    }
  }
})";
    const auto is_copied = [&]<class T>(T, const std::string& type, const std::string& value,
                                        bool constant = true) {
        std::string filled = with(with(text, "TYPE", type), "SIZE", std::to_string(sizeof(T)));
        filled = with(with(filled, "VALUE", value), "STORED", constant ? "%value" : "%other");
        const Module module = parse_and_check(filled);
        codegen::CompiledTexts texts;
        codegen::compile_for_cpu(module, "fill", {}, &texts);
        for (const auto [from, upper] : {std::pair{0, 0}, {7, 3}, {0, 1}, {5, 300}, {0, 600}, {299, 301}}) {
            std::vector<T> expected(2 * kPlaces), found(2 * kPlaces);
            run(module, argument<int64_t>(2), argument<int64_t>(from), argument<int64_t>(upper),
                argument(expected, {2, kPlaces}));
            run_compiled(module, argument<int64_t>(2), argument<int64_t>(from), argument<int64_t>(upper),
                         argument(found, {2, kPlaces}));
            EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)), 0)
                << type << from << " " << upper;
        }
        return texts.llvm_ir.find("@filled") != std::string::npos;
    };
    EXPECT_TRUE(is_copied(int8_t{}, "i8", "-128"));
    EXPECT_TRUE(is_copied(uint16_t{}, "u16", "65535"));
    EXPECT_TRUE(is_copied(float{}, "f32", "-0.0"));
    EXPECT_TRUE(is_copied(double{}, "f64", "-inf"));
    EXPECT_TRUE(is_copied(int64_t{}, "i64", "3"));
    EXPECT_FALSE(is_copied(double{}, "f64", "1.0", false));
}

}  // namespace
}  // namespace weft::ir
