#include "weft/fft.h"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "library/fft/cpu/plan_cache.h"
#include "weft/weft.h"

namespace weft {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> numbers(const array& a) {
    std::vector<Complex> result;
    for (int64_t i = 0; i < a.shape()[0]; ++i) result.push_back(a(i).item<Complex>());
    return result;
}

TEST(Fft, OfFourNumbers) {
    const array a{1.0, 2.0, 3.0, 4.0};
    const std::vector<Complex> all = {{10, 0}, {-2, 2}, {-2, 0}, {-2, -2}};
    EXPECT_EQ(numbers(fft::fft(a)), all);
    EXPECT_EQ(numbers(fft::rfft(a)), std::vector<Complex>(all.begin(), all.begin() + 3));
    EXPECT_EQ(fft::irfft(fft::rfft(a))(3).item<double>(), 4.0);
    EXPECT_EQ(fft::ifft(fft::fft(a))(2).item<Complex>(), Complex(3.0, 0.0));
    EXPECT_EQ(fft::fft(a, 8).shape()[0], 8);
    EXPECT_EQ(fft::fft(a, {}, -1, fft::Norm::kForward)(0).item<Complex>(), Complex(2.5, 0.0));
}

TEST(Fft, FrequenciesAndShifts) {
    const std::vector<double> expected = {0, 2, 4, -4, -2}, shifted = {-4, -2, 0, 2, 4};
    const array found = fft::fftfreq(5, 0.1), real = fft::rfftfreq(5, 0.1);
    for (int64_t k = 0; k < 5; ++k) {
        EXPECT_EQ(found(k).item<double>(), expected[static_cast<size_t>(k)]);
        EXPECT_EQ(fft::fftshift(found)(k).item<double>(), shifted[static_cast<size_t>(k)]);
        EXPECT_EQ(fft::ifftshift(fft::fftshift(found))(k).item<double>(), expected[static_cast<size_t>(k)]);
    }
    EXPECT_EQ(real.shape()[0], 3);
    EXPECT_EQ(real(2).item<double>(), 4.0);
    const array long_one = fft::fftfreq(10001);  // computed later
    EXPECT_EQ(long_one(5000).item<double>(), 5000 * (1.0 / 10001));
    EXPECT_EQ(long_one(5001).item<double>(), -5000 * (1.0 / 10001));
    const array matrix = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
    EXPECT_EQ(fft::fftshift(matrix, 1)(0, 0).item<double>(), 3.0);
    EXPECT_EQ(fft::fftshift(matrix)(0, 0).item<double>(), 6.0);
    EXPECT_THROW(fft::fftfreq(0), ValueError);
    EXPECT_THROW(fft::fftshift(matrix, 2), AxisError);
}

TEST(Fft, AlongAxes) {
    const array a = {{1.0, 2.0}, {3.0, 4.0}};
    const array all = fft::fftn(a);
    EXPECT_EQ(numbers(all(0)), (std::vector<Complex>{{10, 0}, {-2, 0}}));
    EXPECT_EQ(numbers(all(1)), (std::vector<Complex>{{-4, 0}, {0, 0}}));
    EXPECT_EQ(fft::irfftn(fft::rfftn(a))(1, 1).item<double>(), 4.0);
    EXPECT_EQ(fft::fftn(a, Dims{4}, Dims{0}).shape(), (Dims{4, 2}));
    EXPECT_EQ(fft::fftn(a, {}, Dims{0, 0})(0, 0).item<Complex>(), Complex(2.0, 0.0));
}

TEST(Fft, CosinesAndSines) {
    const array a{1.0, 1.0};
    EXPECT_EQ(fft::dctn(a)(0).item<double>(), 4.0);
    for (const int64_t type : {1, 2, 3, 4}) {
        EXPECT_NEAR(fft::idctn(fft::dctn(a, type), type)(1).item<double>(), 1.0, 1e-14);
        EXPECT_NEAR(fft::idstn(fft::dstn(a, type), type)(1).item<double>(), 1.0, 1e-14);
    }
    EXPECT_THROW(fft::dctn(a, 5), ValueError);
    EXPECT_THROW(fft::dctn(fft::fft(a)), TypeError);
    EXPECT_THROW(fft::dctn(a, 2, {}, Dims{0, 0}), ValueError);
    EXPECT_EQ(fft::next_fast_len(13), 14);
    EXPECT_EQ(fft::next_fast_len(13, true), 15);
    EXPECT_EQ(fft::prev_fast_len(13), 12);
}

TEST(Fft, RefusesWhatNumPyRefuses) {
    const array a{1.0, 2.0};
    EXPECT_THROW(fft::fft(a, 0), ValueError);
    EXPECT_THROW(fft::fft(a, {}, 1), IndexError);
    EXPECT_THROW(fft::fft(a, 2, 1), AxisError);
    EXPECT_THROW(fft::rfft(fft::fft(a)), TypeError);
    EXPECT_THROW(fft::irfft(array{1.0}), ValueError);
    EXPECT_THROW(fft::fftn(a, Dims{1, 2}, Dims{0}), ValueError);
    EXPECT_THROW(fft::fftn(a, {}, Dims{1}), IndexError);
}

TEST(Fft, KeepsFewPlans) {
    clear_plans();
    for (int64_t n = 1; n < 200; ++n) fft::fft(full({n}, 1.0));
    EXPECT_LE(plan_cache_state().plans, 32u);
    EXPECT_GT(plan_cache_state().plans, 8u);
    const size_t few = plan_cache_state().bytes;
    fft::fft(full({1 << 20}, 1.0));
    EXPECT_GT(plan_cache_state().bytes, few);
    EXPECT_LE(plan_cache_state().bytes, size_t{64} << 20);
    clear_plans();
    EXPECT_EQ(plan_cache_state().plans, 0u);
}

}  // namespace
}  // namespace weft
