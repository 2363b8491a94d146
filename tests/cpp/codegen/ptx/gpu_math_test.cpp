// weft's own elementary functions for GPUs (src/ops/gpu), run as a kernel's: against long double, for angles
// of every size, and beside elements whose angles are large.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/gpu_kernel_testing.h"

namespace weft {
namespace {

using namespace testing_ptx;

template <typename T>
double units_off(T result, long double exact) {
    if (std::isnan(exact)) return std::isnan(result) ? 0 : HUGE_VAL;
    int exponent = 0;
    std::frexp(exact, &exponent);
    using Limits = std::numeric_limits<T>;
    const long double unit = std::ldexp(1.0L, std::max(exponent, Limits::min_exponent) - Limits::digits);
    return static_cast<double>(std::abs(static_cast<long double>(result) - exact) / unit);
}

// Of every size, the nearest to multiples of pi/2, and those that need the most bits of 2/pi.
template <typename T>
std::vector<T> angles() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> all{T(0),
                       -T(0),
                       Limits::min(),
                       Limits::denorm_min(),
                       Limits::max(),
                       Limits::infinity(),
                       Limits::quiet_NaN(),
                       T(0x1.6ac5b262ca1ffp+849),
                       T(0x1.fffff6p+29),
                       T(0x1p30),
                       T(0x1p17),
                       T(0x1.fffffep16)};
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(Limits::min_exponent - 1, Limits::max_exponent - 1);
    std::uniform_real_distribution<double> part(-1, 1);
    for (int k = 0; k < 4000; ++k) {
        all.push_back(static_cast<T>(part(random) * std::exp2(exponent(random))));
        all.push_back(static_cast<T>(part(random) * std::exp2(40 * part(random))));
        all.push_back(static_cast<T>(part(random) * 100));
        const auto multiple =
            static_cast<T>(1.57079632679489661923L * std::floor(std::exp2(34 * std::abs(part(random)))));
        all.push_back(multiple);
        all.push_back(std::nextafter(multiple, T(0)));
    }
    return all;
}

template <typename T>
void expect_near(const std::string& type, double most) {
    const std::vector<T> input = angles<T>();
    const auto count = static_cast<int64_t>(input.size());
    const auto itemsize = static_cast<int64_t>(sizeof(T));
    std::string text = R"(
kernel @waves(%n: i64, %a: global T[S] readonly, %sines: global T[S] scope 1, %cosines: global T[S] scope 2) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %s = sin %x
    %c = cos %x
    store %sines[%i], %s
    store %cosines[%i], %c
  }
})";
    for (size_t at = 0; (at = text.find("T[S]", at)) != std::string::npos;)
        text.replace(at, 4, type + "[" + std::to_string(itemsize) + "]");
    GpuKernel kernel(ir::parse(text), "waves");
    std::vector<char> from(input.size() * sizeof(T)), to(2 * from.size());
    std::memcpy(from.data(), input.data(), from.size());
    const auto half = static_cast<int64_t>(from.size());
    kernel.run({{nullptr, count}, {&from}, {&to}, {&to, half}}, {count}, to, [&] {
        for (size_t k = 0; k < input.size(); ++k) {
            T sine, cosine;
            std::memcpy(&sine, to.data() + k * sizeof(T), sizeof(T));
            std::memcpy(&cosine, to.data() + from.size() + k * sizeof(T), sizeof(T));
            const auto x = static_cast<long double>(input[k]);
            ASSERT_LE(units_off(sine, std::sin(x)), most) << "sine of " << input[k] << ": " << sine;
            ASSERT_LE(units_off(cosine, std::cos(x)), most) << "cosine of " << input[k] << ": " << cosine;
            ASSERT_TRUE(std::isnan(sine) || std::signbit(sine) == std::signbit(std::sin(x))) << input[k];
        }
    });
}

class GpuMath : public GpuKernelTest {};

TEST_F(GpuMath, SinesAndCosinesAreNear) {
    expect_near<double>("f64", 1.8);
    expect_near<float>("f32", 1.8);
}

// Every kind of number: usual ones beside rare ones, which neighbours compute together.
TEST_F(GpuMath, LogarithmsAreNear) {
    using Limits = std::numeric_limits<double>;
    std::vector<double> input{0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              Limits::min(),
                              Limits::denorm_min(),
                              Limits::max(),
                              Limits::infinity(),
                              -Limits::infinity(),
                              Limits::quiet_NaN(),
                              std::nextafter(1.0, 0.0),
                              std::nextafter(1.0, 2.0),
                              std::nextafter(Limits::min(), 0.0),
                              0x1.6a09e667f3bcdp-1,
                              0x1.6a09e667f3bcdp+0};
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> exponent(-1074, 1024), part(0, 1);
    for (int k = 0; k < 5000; ++k) {
        input.push_back(std::exp2(exponent(random)));
        input.push_back(0.5 + 1.5 * part(random));
        input.push_back(1 + (part(random) - 0.5) * std::exp2(-50 * part(random)));
    }
    const auto count = static_cast<int64_t>(input.size());
    GpuKernel kernel(ir::parse(R"(
kernel @logarithms(%n: i64, %a: global f64[8] readonly, %out: global f64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = log %x
    store %out[%i], %y
  }
})"),
                     "logarithms");
    std::vector<char> from(input.size() * sizeof(double)), to(from.size());
    std::memcpy(from.data(), input.data(), from.size());
    kernel.run({{nullptr, count}, {&from}, {&to}}, {count}, to, [&] {
        for (size_t k = 0; k < input.size(); ++k) {
            double result = 0;
            std::memcpy(&result, to.data() + k * sizeof(double), sizeof(double));
            const long double exact = std::log(static_cast<long double>(input[k]));
            if (std::isinf(exact) || exact == 0) {
                ASSERT_EQ(result, static_cast<double>(exact)) << input[k];
            } else {
                ASSERT_LE(units_off(result, exact), 1.0) << "logarithm of " << input[k] << ": " << result;
            }
        }
    });
}

// One is the argument of the next, which stands in its place by the time when that one is defined.
TEST_F(GpuMath, FunctionsOfFunctionsAreNear) {
    std::vector<double> input;
    for (int k = 0; k < 700; ++k) input.push_back(k % 9 == 0 ? 1e300 * (k + 1) : 0.37 * (k - 300));
    const auto count = static_cast<int64_t>(input.size());
    GpuKernel kernel(ir::parse(R"(
kernel @nested(%n: i64, %a: global f64[8] readonly, %first: global f64[8] scope 1, %second: global f64[8] scope 2, %third: global f64[8] scope 3) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %s = sin %x
    %c = cos %s
    %l = log %c
    %m = absolute %l
    %k = log %m
    store %first[%i], %s
    store %second[%i], %c
    store %third[%i], %k
  }
})"),
                     "nested");
    std::vector<char> from(input.size() * sizeof(double)), to(3 * from.size());
    std::memcpy(from.data(), input.data(), from.size());
    const auto part = static_cast<int64_t>(from.size());
    kernel.run({{nullptr, count}, {&from}, {&to}, {&to, part}, {&to, 2 * part}}, {count}, to, [&] {
        std::vector<double> results(3 * input.size());
        std::memcpy(results.data(), to.data(), to.size());
        for (size_t k = 0; k < input.size(); ++k) {
            const double sine = results[k], cosine = results[k + input.size()];
            const double last = results[k + 2 * input.size()];
            ASSERT_LE(units_off(sine, std::sin(static_cast<long double>(input[k]))), 1.8) << input[k];
            ASSERT_LE(units_off(cosine, std::cos(static_cast<long double>(sine))), 1.8) << input[k];
            const double inner = std::log(cosine);
            if (inner != 0) ASSERT_NEAR(last, std::log(std::abs(inner)), 1e-6) << input[k];
        }
    });
}

// A sample of all bit patterns, in which results overflow, vanish and are subnormal.
TEST_F(GpuMath, ExponentialsAndErrorFunctionsOfFloat32AreNear) {
    std::vector<float> input{0.0F,      -0.0F,     88.7228F,   88.7229F,
                             -87.3365F, -103.97F,  -103.98F,   3.99F,
                             4.0F,      HUGE_VALF, -HUGE_VALF, std::numeric_limits<float>::quiet_NaN()};
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 20011) {
        const auto pattern = static_cast<uint32_t>(bits);
        float x = 0;
        std::memcpy(&x, &pattern, sizeof x);
        input.push_back(x);
    }
    const auto count = static_cast<int64_t>(input.size());
    GpuKernel kernel(ir::parse(R"(
kernel @powers(%n: i64, %a: global f32[4] readonly, %exponentials: global f32[4] scope 1, %errors: global f32[4] scope 2) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = exp %x
    %z = erf %x
    store %exponentials[%i], %y
    store %errors[%i], %z
  }
})"),
                     "powers");
    std::vector<char> from(input.size() * sizeof(float)), to(2 * from.size());
    std::memcpy(from.data(), input.data(), from.size());
    kernel.run({{nullptr, count}, {&from}, {&to}, {&to, static_cast<int64_t>(from.size())}}, {count}, to,
               [&] {
                   for (size_t k = 0; k < input.size(); ++k) {
                       float power = 0, error = 0;
                       std::memcpy(&power, to.data() + k * sizeof(float), sizeof(float));
                       std::memcpy(&error, to.data() + from.size() + k * sizeof(float), sizeof(float));
                       const double x = input[k];
                       const double exact = std::exp(x);
                       if (static_cast<float>(exact) == HUGE_VALF) {
                           ASSERT_EQ(power, HUGE_VALF) << x;
                       } else {
                           ASSERT_LE(units_off(power, static_cast<long double>(exact)), 3.0)
                               << "exp of " << x << ": " << power;
                       }
                       ASSERT_LE(units_off(error, static_cast<long double>(std::erf(x))), 2.0)
                           << "erf of " << x << ": " << error;
                       ASSERT_TRUE(std::isnan(error) || std::signbit(error) == std::signbit(input[k])) << x;
                   }
               });
}

}  // namespace
}  // namespace weft
