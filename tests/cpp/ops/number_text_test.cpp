// The text of floats on GPUs is the shortest that reads back as the same number, in Python's form.
#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "ops/gpu/number_text.h"

namespace weft {
namespace {

constexpr scalar::FloatFormat kFloat64{53, -1074}, kFloat32{24, -149}, kFloat16{11, -24}, kBFloat16{8, -133};

std::string text_of(double value, scalar::FloatFormat format = kFloat64) {
    std::array<char, scalar::kFloatTextBytes> text{};
    scalar::write_float(value, format, text.data());
    return text.data();
}

std::string text_of(double real, double imaginary) {
    std::array<char, scalar::kComplexTextBytes> text{};
    scalar::write_complex(real, imaginary, kFloat64, text.data());
    return text.data();
}

// Digits and exponent, as the standard library finds them.
template <class T>
void expect_shortest(T value, scalar::FloatFormat format) {
    if (value == 0 || !std::isfinite(value)) return;
    value = std::abs(value);
    std::array<char, 64> made{};
    std::to_chars(made.begin(), made.end(), value, std::chars_format::scientific);
    scalar::ShortestDigits all;
    scalar::shortest_digits(static_cast<double>(value), format, all);
    std::string text(1, all.digits[0]);
    if (all.count > 1) text += "." + std::string(all.digits + 1, all.digits + all.count);
    const int power = all.point - 1;
    text += power < 0 ? "e-" : "e+";
    if (std::abs(power) < 10) text += "0";
    EXPECT_EQ(text + std::to_string(std::abs(power)), made.data());
}

TEST(NumberText, DigitsAreTheFewestAndTheNearest) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 50'000; ++i) {
        const uint64_t bits = random();
        expect_shortest(std::bit_cast<double>(bits), kFloat64);
        expect_shortest(std::bit_cast<float>(static_cast<uint32_t>(bits)), kFloat32);
        expect_shortest(static_cast<double>(bits % 100'000) / 1000, kFloat64);
        expect_shortest(static_cast<double>(bits >> 11), kFloat64);
    }
    // Where the number below is half as far as the one above, and the least numbers.
    for (int power = -1074; power < 1024; ++power) {
        const double value = std::ldexp(1.0, power);
        expect_shortest(value, kFloat64);
        expect_shortest(std::nextafter(value, 0.0), kFloat64);
        expect_shortest(std::nextafter(value, std::numeric_limits<double>::infinity()), kFloat64);
        if (power >= -149 && power < 128) expect_shortest(static_cast<float>(value), kFloat32);
    }
    for (int power = -323; power < 309; ++power) expect_shortest(std::pow(10.0, power), kFloat64);
    expect_shortest(std::numeric_limits<double>::max(), kFloat64);
}

TEST(NumberText, FormsArePythons) {
    EXPECT_EQ(text_of(1.0), "1.0");
    EXPECT_EQ(text_of(-0.0), "-0.0");
    EXPECT_EQ(text_of(0.1), "0.1");
    EXPECT_EQ(text_of(123456.75), "123456.75");
    EXPECT_EQ(text_of(1e15), "1000000000000000.0");
    EXPECT_EQ(text_of(9999999999999998.0), "9999999999999998.0");
    EXPECT_EQ(text_of(1e16), "1e+16");
    EXPECT_EQ(text_of(1.5e300), "1.5e+300");
    EXPECT_EQ(text_of(1e-4), "0.0001");
    EXPECT_EQ(text_of(1.25e-5), "1.25e-05");
    EXPECT_EQ(text_of(std::numeric_limits<double>::quiet_NaN()), "nan");
    EXPECT_EQ(text_of(-std::numeric_limits<double>::quiet_NaN()), "nan");
    EXPECT_EQ(text_of(-std::numeric_limits<double>::infinity()), "-inf");
    EXPECT_EQ(text_of(double{0.1F}, kFloat32), "0.1");
    EXPECT_EQ(text_of(double{1e-4F}, kFloat32), "1e-04");  // which is less, as NumPy has it
    EXPECT_EQ(text_of(0.0999755859375, kFloat16), "0.1");
    EXPECT_EQ(text_of(5.9604644775390625e-08, kFloat16), "6e-08");
    EXPECT_EQ(text_of(3.140625, kBFloat16), "3.14");
    EXPECT_EQ(text_of(999999.0, kFloat32), "999999.0");
    EXPECT_EQ(text_of(1e6, kFloat32), "1e+06");
    EXPECT_EQ(text_of(16777216.0, kFloat32), "1.6777216e+07");
    EXPECT_EQ(text_of(999.0, kFloat16), "999.0");
    EXPECT_EQ(text_of(2048.0, kFloat16), "2.048e+03");
    EXPECT_EQ(text_of(2048.0, kBFloat16), "2.05e+03");
    EXPECT_EQ(text_of(0.0, 2.0), "2j");
    EXPECT_EQ(text_of(-0.0, 2.5), "(-0+2.5j)");
    EXPECT_EQ(text_of(1.0, -0.0), "(1-0j)");
    EXPECT_EQ(text_of(std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()),
              "(nan-infj)");
}

}  // namespace
}  // namespace weft
