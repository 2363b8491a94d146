// Divide and conquer of tridiagonal and bidiagonal matrices whose spectra are known.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "library/linalg/spectral/bidiagonal_svd.h"
#include "library/linalg/spectral/tridiagonal_eigen.h"

namespace weft::lapack {
namespace {

template <class R>
class Spectral : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Spectral, Types);

// Second differences: eigenvalue k is 2 - 2 cos(kπ / (n + 1)), and element i of its vector is sin(ikπ / (n +
// 1)).
TYPED_TEST(Spectral, SecondDifferencesHaveSines) {
    using R = TypeParam;
    constexpr int64_t n = 401;
    std::vector<R> diagonal(n, R(2)), below(n - 1, R(-1)), q(n * n);
    const std::vector<int64_t> order = tridiagonal_eigen<R>(n, diagonal.data(), below.data(), q.data(), n);
    ASSERT_EQ(order.size(), size_t{n});
    const double bound = 60 * static_cast<double>(std::numeric_limits<R>::epsilon());
    const auto value = [&](int64_t k) {
        return static_cast<double>(diagonal[static_cast<size_t>(order[static_cast<size_t>(k)])]);
    };
    for (int64_t k = 0; k < n; ++k) {
        const double angle = static_cast<double>(k + 1) * std::numbers::pi / (n + 1);
        EXPECT_NEAR(value(k), 2 - 2 * std::cos(angle), bound);
    }
    // The vector of the largest gap, up to its sign.
    const int64_t middle = n / 2;
    const R* const vector = q.data() + order[middle] * n;
    const double sign = vector[0] < 0 ? -1 : 1, length = std::sqrt((n + 1) / 2.0);
    for (int64_t i = 0; i < n; ++i) {
        const double angle = static_cast<double>((i + 1) * (middle + 1)) * std::numbers::pi / (n + 1);
        EXPECT_NEAR(sign * static_cast<double>(vector[i]), std::sin(angle) / length, 400 * bound);
    }
}

// First differences: singular value k is 2 cos(kπ / (2n + 1)).
TYPED_TEST(Spectral, FirstDifferencesHaveCosines) {
    using R = TypeParam;
    constexpr int64_t n = 350;
    std::vector<R> diagonal(n, R(1)), above(n - 1, R(1)), u(n * n), vh(n * n);
    const std::vector<int64_t> order =
        bidiagonal_svd<R>(n, diagonal.data(), above.data(), u.data(), n, vh.data(), n);
    ASSERT_EQ(order.size(), size_t{n});
    const double bound = 60 * static_cast<double>(std::numeric_limits<R>::epsilon());
    for (int64_t k = 0; k < n; ++k) {
        const auto place = static_cast<size_t>(order[static_cast<size_t>(k)]);
        const double angle = static_cast<double>(k + 1) * std::numbers::pi / (2 * n + 1);
        EXPECT_NEAR(static_cast<double>(diagonal[place]), 2 * std::cos(angle), bound);
        // The matrix times the right vector is the left one times the value.
        for (int64_t i = 0; i < n; ++i) {
            const auto right = [&](int64_t j) {
                return static_cast<double>(vh[place + static_cast<size_t>(j * n)]);
            };
            const double product = right(i) + (i + 1 < n ? right(i + 1) : 0);
            const double left = static_cast<double>(u[static_cast<size_t>(i) + place * n]);
            ASSERT_NEAR(product, left * static_cast<double>(diagonal[place]), bound);
        }
    }
}

// Where all elements beside the diagonal are zero, nothing is left to join.
TYPED_TEST(Spectral, DiagonalMatricesKeepTheirElements) {
    using R = TypeParam;
    constexpr int64_t n = 300;
    std::vector<R> diagonal(n), below(n - 1, R(0)), q(n * n);
    for (int64_t i = 0; i < n; ++i) diagonal[static_cast<size_t>(i)] = static_cast<R>(i * 7 % n);
    const std::vector<int64_t> order = tridiagonal_eigen<R>(n, diagonal.data(), below.data(), q.data(), n);
    ASSERT_EQ(order.size(), size_t{n});
    for (int64_t k = 0; k < n; ++k) {
        const auto place = static_cast<size_t>(order[static_cast<size_t>(k)]);
        EXPECT_NEAR(static_cast<double>(diagonal[place]), static_cast<double>(k), 1e-3);
    }
}

}  // namespace
}  // namespace weft::lapack
