// scipy.fft's fast Hankel transform: a convolution in the logarithm of the points, whose kernel is known in
// Fourier space as a quotient of gamma functions (Hamilton, 2000).
#include "api/fft/hankel.h"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "api/recording/transfer.h"
#include "graph/placement.h"
#include "weft/creation.h"
#include "weft/fft.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::fft {

namespace {

using Complex = std::complex<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// By Stirling's series where it is exact to the last bits, and by the recurrence up to there.
Complex log_gamma(Complex z) {
    // Bernoulli's numbers B(2k) / (2k (2k - 1)).
    constexpr double kTerms[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                 1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
    constexpr double kFar = 10;
    Complex below = 0;
    for (; z.real() < 0 || std::abs(z) < kFar; z += 1.0) below += std::log(z);
    Complex series = 0, power = 1.0 / z;
    const Complex step = power * power;
    for (const double term : kTerms) {
        series += term * power;
        power *= step;
    }
    const double half_log_two_pi = 0.5 * std::log(2 * std::numbers::pi);
    return (z - 0.5) * std::log(z) - z + half_log_two_pi + series - below;
}

bool is_pole(double x) { return x <= 0 && x == std::floor(x); }

// gamma(x) / gamma(y) where one of them has a pole.
double quotient_at_poles(double x, double y) {
    if (!is_pole(y)) return kInfinity;
    if (!is_pole(x)) return 0;
    const double size = std::exp(std::lgamma(1 - y) - std::lgamma(1 - x));
    return std::fmod(std::abs(x - y), 2) == 1 ? -size : size;
}

// One for each frequency of a transform of n real numbers.
std::vector<Complex> kernel_of(int64_t n, const HankelOptions& options) {
    const double q = options.bias, above = (options.mu + 1 + q) / 2, below = (options.mu + 1 - q) / 2;
    const double step = std::numbers::pi / (static_cast<double>(n) * options.dln);
    std::vector<Complex> kernel(static_cast<size_t>(n / 2 + 1));
    for (size_t k = 0; k < kernel.size(); ++k) {
        const double y = step * static_cast<double>(k);
        if (k == 0 && (is_pole(above) || is_pole(below))) {
            kernel[k] = std::exp2(q) * quotient_at_poles(above, below);
            continue;
        }
        const Complex upper = log_gamma({above, y}), lower = log_gamma({below, y});
        kernel[k] =
            std::exp(Complex(upper.real() - lower.real() + std::numbers::ln2 * q,
                             upper.imag() + lower.imag() + 2 * (std::numbers::ln2 - options.offset) * y));
    }
    if (n % 2 == 0) kernel.back() = kernel.back().real();
    return kernel;
}

// exp(factor * ((j - centre) * dln + offset)) for each of n points.
array power_law(int64_t n, double factor, double dln, double offset, DeviceBackend& device) {
    std::vector<double> values(static_cast<size_t>(n));
    const double centre = static_cast<double>(n - 1) / 2;
    for (size_t j = 0; j < values.size(); ++j)
        values[j] = std::exp(factor * ((static_cast<double>(j) - centre) * dln + offset));
    return move_to(array(values), device);
}

array in_type_of(const array& values, const array& like) {
    return values.dtype() == like.dtype() ? values : astype(values, like.dtype());
}

}  // namespace

HankelResult hankel(const array& given, const HankelOptions& options) {
    if (given.ndim() == 0 || given.shape().back() == 0 || options.dln == 0)
        throw ValueError("a Hankel transform needs points at a distance");
    if (given.dtype().is_complex()) throw TypeError("x must be a real sequence");
    const int64_t n = given.shape().back();
    DeviceBackend& device = device_of(given);
    const double q = options.bias, dln = options.dln;
    array a = given;
    if (q != 0)
        a = multiply(a, options.inverse ? power_law(n, q, dln, options.offset, device)
                                        : power_law(n, -q, dln, 0, device));
    std::vector<Complex> kernel = kernel_of(n, options);
    const bool singular = options.inverse ? kernel[0] == Complex(0) : std::isinf(kernel[0].real());
    if (options.inverse) {
        for (Complex& each : kernel) each = 1.0 / std::conj(each);
    }
    if (singular) kernel[0] = 0;
    const array spectrum = rfft(a);
    const array product = in_type_of(multiply(spectrum, move_to(array(kernel), device)), spectrum);
    const array turned = irfft(product, n)(ellipsis, slice(none, none, -1));
    if (q == 0) return {turned, singular};
    const array law =
        options.inverse ? power_law(n, q, dln, 0, device) : power_law(n, -q, dln, options.offset, device);
    return {in_type_of(multiply(turned, law), turned), singular};
}

array fht(const array& a, double dln, double mu, double offset, double bias) {
    return hankel(a, {dln, mu, offset, bias, false}).values;
}

array ifht(const array& A, double dln, double mu, double offset, double bias) {
    return hankel(A, {dln, mu, offset, bias, true}).values;
}

double fhtoffset(double dln, double mu, double initial, double bias) {
    if (dln == 0) throw ValueError("a Hankel transform needs points at a distance");
    const double y = std::numbers::pi / (2 * dln);
    const double turns =
        (log_gamma({(mu + 1 + bias) / 2, y}).imag() + log_gamma({(mu + 1 - bias) / 2, y}).imag()) /
        std::numbers::pi;
    const double phase = (std::numbers::ln2 - initial) / dln + turns;
    return initial + (phase - std::nearbyint(phase)) * dln;
}

}  // namespace weft::fft
