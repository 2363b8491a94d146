// Functions of square matrices: exponential, logarithm, square root.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "api/linalg/inputs.h"
#include "device/devices.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/products.h"

namespace weft::linalg {

namespace {

// Of the Padé approximants of the exponential: up to which norm each is as exact as float64 (Higham, 2005).
struct Pade {
    int degree;
    double bound;
};
constexpr Pade kPade[] = {{3, 1.495585217958292e-2},
                          {5, 2.53939833006323e-1},
                          {7, 9.504178996162932e-1},
                          {9, 2.097847961257068},
                          {13, 5.371920351148152}};

// Of the approximant's numerator, from that of the constant on; the last one is 1.
std::vector<double> coefficients(int degree) {
    int64_t each = 1;
    for (int k = degree + 1; k <= 2 * degree; ++k) each *= k;
    std::vector<double> result = {static_cast<double>(each)};
    for (int64_t j = 1; j <= degree; ++j) {
        each = each * (degree - j + 1) / ((2 * degree - j + 1) * j);
        result.push_back(static_cast<double>(each));
    }
    return result;
}

// Numerator and denominator are even parts plus and minus odd parts.
array pade(const array& a, int degree) {
    const std::vector<double> scale = coefficients(degree);
    const array square = matmul(a, a), identity = eye(a.shape().back(), a.dtype());
    array power = identity, even = multiply(scale[0], identity), odd = multiply(scale[1], identity);
    for (int j = 2; j <= degree; j += 2) {
        power = j == 2 ? square : matmul(power, square);
        even = add(even, multiply(scale[static_cast<size_t>(j)], power));
        if (j < degree) odd = add(odd, multiply(scale[static_cast<size_t>(j) + 1], power));
    }
    odd = matmul(a, odd);
    return solve(subtract(even, odd), add(even, odd));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double norm_1(const array& a) { return max(sum(abs(a), -2)).item<double>(); }

// One after the other: the matrices of a batch are scaled apart.
template <class Function>
array for_each_matrix(const array& a, const Function& function) {
    const int64_t n = a.shape().back();
    const array flat = reshape(a, {-1, n, n});
    std::vector<array> results;
    for (int64_t k = 0; k < flat.shape()[0]; ++k) results.push_back(function(flat(k)));
    return reshape(stack(results, 0, {}, Casting::kSameKind, {}), a.shape());
}

array expm_of_one(const array& a) {
    const double size = norm_1(a);
    for (const Pade& each : kPade) {
        if (size <= each.bound) return pade(a, each.degree);
    }
    if (!std::isfinite(size)) return multiply(a, kNan);
    const int halvings = std::max(0, static_cast<int>(std::ceil(std::log2(size / kPade[4].bound))));
    array result = pade(multiply(a, std::ldexp(1.0, -halvings)), 13);
    for (int k = 0; k < halvings; ++k) result = matmul(result, result);
    return result;
}

SchurResult complex_schur(const array& a) {
    if (a.dtype().is_complex()) return schur(a);
    const bool single = a.dtype() == DType(ScalarType::kFloat32);
    return schur(astype(a, single ? ScalarType::kComplex64 : ScalarType::kComplex128));
}

// z t zᴴ, real where a real matrix has such a result up to rounding.
array back_from_schur(const array& z, const array& t, bool real_input) {
    const array result = matmul(matmul(z, t), conjugate(swapaxes(z, -1, -2)));
    if (!real_input) return result;
    if (result.size() == 0) return copy(real(result));
    const double precision = result.itemsize() == 8 ? 0x1p-23 : 0x1p-52;
    const double limit =
        1000.0 * static_cast<double>(result.shape().back()) * precision * max(abs(result)).item<double>();
    return max(abs(imag(result))).item<double>() <= limit ? copy(real(result)) : result;
}

// The points of Gauss and Legendre's quadrature on [0, 1].
struct Node {
    double point, weight;
};
constexpr std::array<Node, 8> kNodes = {{{0.019855071751231884, 0.05061426814518813},
                                         {0.10166676129318664, 0.11119051722668724},
                                         {0.2372337950418355, 0.15685332293894363},
                                         {0.4082826787521751, 0.181341891689181},
                                         {0.591717321247825, 0.181341891689181},
                                         {0.7627662049581645, 0.15685332293894363},
                                         {0.8983332387068134, 0.11119051722668724},
                                         {0.9801449282487681, 0.05061426814518813}}};

array logm_of_one(const array& a) {
    SchurResult form = complex_schur(a);
    const array identity = eye(a.shape().back(), form.T.dtype());
    if (a.size() == 0 || truth_of(weft::all(equal(form.T, identity))))
        return zeros(a.shape(), a.dtype().is_inexact() ? a.dtype() : DType(ScalarType::kFloat64));
    int roots = 0;
    for (; norm_1(subtract(form.T, identity)) > 0.25 && roots < 100; ++roots)
        form.T = triangular_root(form.T);
    // The integral of x / (1 + s x) over s from 0 to 1.
    const array x = subtract(form.T, identity);
    array result;
    for (const Node& node : kNodes) {
        const array term = multiply(node.weight, solve(add(identity, multiply(node.point, x)), x));
        result = result.valid() ? add(result, term) : term;
    }
    return back_from_schur(form.Z, multiply(result, std::ldexp(1.0, roots)), !a.dtype().is_complex());
}

}  // namespace

array expm(const array& given) {
    const DeviceScope scope(device_of(given));
    if (given.size() == 1 && given.ndim() < 2) return reshape(exp(given), {1, 1});
    if (given.ndim() < 2) throw LinAlgError("The input array must be at least two-dimensional");
    check_square(given);
    array a = given;
    if (!a.dtype().is_inexact() || a.itemsize() == 2)
        a = astype(a, a.dtype().kind() == 'f' ? ScalarType::kFloat32 : ScalarType::kFloat64);
    if (a.size() == 0) return copy(a);
    return a.ndim() > 2 ? for_each_matrix(a, expm_of_one) : expm_of_one(a);
}

array sqrtm(const array& a) {
    const DeviceScope scope(device_of(a));
    check_square(a);
    if (a.size() != 0 && a.dtype().is_inexact()) {
        const array known = weft::all(isfinite(a), {-1, -2});
        if (!truth_of(weft::all(known))) {
            const array there = expand_dims(known, {-1, -2});
            const array roots = sqrtm(where(there, a, zeros({}, a.dtype())));
            return copy(where(there, roots, astype(from_argument(kNan), roots.dtype())), 'C');
        }
    }
    const SchurResult form = complex_schur(a);
    return back_from_schur(form.Z, triangular_root(form.T), !a.dtype().is_complex());
}

array logm(const array& a) {
    const DeviceScope scope(device_of(a));
    check_square(a);
    if (a.ndim() > 2 && a.size() != 0) return for_each_matrix(a, logm_of_one);
    return logm_of_one(a);
}

}  // namespace weft::linalg
