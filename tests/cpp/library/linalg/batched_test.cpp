// The kernels of small matrices, by residuals, and that a result does not depend on its neighbours.
#include "library/linalg/batched/batched.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/threads/thread_pool.h"

namespace weft::batched {
namespace {

template <class T>
constexpr ScalarType kType = std::is_same_v<T, float> ? ScalarType::kFloat32 : ScalarType::kFloat64;

// `count` matrices, one behind the other, row by row.
template <class T>
struct Matrices {
    Matrices(int64_t count, int rows, int columns)
        : rows(rows), columns(columns), values(static_cast<size_t>(count * rows * columns)) {}
    T& at(int64_t matrix, int i, int j) {
        return values[static_cast<size_t>((matrix * rows + i) * columns + j)];
    }
    Stack stack() {
        constexpr int64_t kSize = sizeof(T);
        return {reinterpret_cast<char*>(values.data()), rows * columns * kSize, columns * kSize, kSize};
    }
    int rows, columns;
    std::vector<T> values;
};

template <class T>
Matrices<T> normal_matrices(int64_t count, int rows, int columns, uint32_t seed) {
    Matrices<T> result(count, rows, columns);
    std::mt19937 bits(seed);
    std::normal_distribution<double> normal;
    for (T& value : result.values) value = static_cast<T>(normal(bits));
    return result;
}

template <class T>
T largest(const std::vector<T>& values) {
    T most = 0;
    for (const T value : values) most = std::max(most, std::abs(value));
    return most;
}

template <class T>
Batch batch_of(Operation operation, int64_t count, int rows, int columns) {
    Batch batch;
    batch.operation = operation;
    batch.type = kType<T>;
    batch.count = count;
    batch.rows = rows;
    batch.columns = columns;
    return batch;
}

template <class T>
class BatchedLinalg : public testing::Test {
protected:
    static constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
    void SetUp() override {
        if (!has_kernels(Operation::kSolve, kType<T>, 3, 3)) GTEST_SKIP() << "no fused multiply-adds";
    }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BatchedLinalg, Types);

TYPED_TEST(BatchedLinalg, SolutionsHaveSmallResiduals) {
    using T = TypeParam;
    for (const int n : {1, 2, 3, 4, 5, 8, 13, 32}) {
        for (const int right : {1, 3, 37}) {
            constexpr int64_t kCount = 21;
            auto a = normal_matrices<T>(kCount, n, n, 1), b = normal_matrices<T>(kCount, n, right, 2);
            Matrices<T> x(kCount, n, right);
            Batch batch = batch_of<T>(Operation::kSolve, kCount, n, n);
            batch.right = right;
            batch.in[0] = a.stack();
            batch.in[1] = b.stack();
            batch.out[0] = x.stack();
            EXPECT_EQ(run(batch), 0);
            const T bound = 8 * n * n * this->kEpsilon * largest(a.values);
            for (int64_t m = 0; m < kCount; ++m) {
                for (int j = 0; j < right; ++j) {
                    T most = 1;
                    for (int k = 0; k < n; ++k) most = std::max(most, std::abs(x.at(m, k, j)));
                    for (int i = 0; i < n; ++i) {
                        double rest = b.at(m, i, j);
                        for (int k = 0; k < n; ++k)
                            rest -= static_cast<double>(a.at(m, i, k)) * static_cast<double>(x.at(m, k, j));
                        ASSERT_LE(std::abs(rest), bound * most) << n << ' ' << right << ' ' << m;
                    }
                }
            }
        }
    }
}

TYPED_TEST(BatchedLinalg, InversesAreThoseOfTransposedMatricesToo) {
    using T = TypeParam;
    for (const int n : {1, 2, 3, 5, 8, 17, 32}) {
        constexpr int64_t kCount = 19;
        auto a = normal_matrices<T>(kCount, n, n, 3);
        for (int64_t m = 0; m < kCount; ++m) {
            for (int i = 0; i < n; ++i) a.at(m, i, (i + 1) % n) += T(2 * n);  // so pivots are elsewhere
        }
        Matrices<T> x(kCount, n, n), transposed(kCount, n, n);
        Batch batch = batch_of<T>(Operation::kInverse, kCount, n, n);
        batch.in[0] = a.stack();
        batch.out[0] = x.stack();
        EXPECT_EQ(run(batch), 0);
        std::swap(batch.in[0].row, batch.in[0].column);
        batch.out[0] = transposed.stack();
        std::swap(batch.out[0].row, batch.out[0].column);
        EXPECT_EQ(run(batch), 0);
        for (int64_t m = 0; m < kCount; ++m) {
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) {
                    double sum = i == j ? -1 : 0;
                    for (int k = 0; k < n; ++k)
                        sum += static_cast<double>(a.at(m, i, k)) * static_cast<double>(x.at(m, k, j));
                    ASSERT_LE(std::abs(sum), 200 * n * this->kEpsilon);
                    ASSERT_NEAR(x.at(m, i, j), transposed.at(m, i, j), 200 * n * this->kEpsilon);
                }
            }
        }
    }
}

TYPED_TEST(BatchedLinalg, DeterminantsNeitherOverflowNorLoseSigns) {
    using T = TypeParam;
    constexpr int kSide = 6;
    Matrices<T> a(4, kSide, kSide);
    for (int i = 0; i < kSide; ++i) {
        a.at(0, i, i) = i % 2 == 0 ? std::numeric_limits<T>::max() / 4 : 4 / std::numeric_limits<T>::max();
        a.at(1, i, (i + 1) % kSide) = 2;  // an odd permutation
        a.at(2, i, 0) = T(i + 1);         // singular
        a.at(3, i, i) = std::numeric_limits<T>::quiet_NaN();
    }
    std::vector<T> value(4), sign(4), log(4);
    std::vector<int32_t> info(4, 9);
    constexpr int64_t kSize = sizeof(T);
    Batch batch = batch_of<T>(Operation::kDeterminant, 4, kSide, kSide);
    batch.in[0] = a.stack();
    batch.info = info.data();
    batch.out[0] = {reinterpret_cast<char*>(value.data()), kSize};
    EXPECT_EQ(run(batch), 1);
    EXPECT_EQ(info, (std::vector<int32_t>{0, 0, 2, 0}));
    EXPECT_NEAR(value[0], 1, 8 * this->kEpsilon);
    EXPECT_EQ(value[1], -64);
    EXPECT_EQ(value[2], 0);
    EXPECT_TRUE(std::isnan(value[3]));
    batch.operation = Operation::kSlogdet;
    batch.out[0] = {reinterpret_cast<char*>(sign.data()), kSize};
    batch.out[1] = {reinterpret_cast<char*>(log.data()), kSize};
    EXPECT_EQ(run(batch), 1);
    EXPECT_EQ(sign[1], -1);
    EXPECT_NEAR(log[0], 0, 8 * this->kEpsilon);
    EXPECT_NEAR(log[1], std::log(64.0), 8 * this->kEpsilon);
    EXPECT_EQ(sign[2], 0);
    EXPECT_EQ(log[2], -std::numeric_limits<T>::infinity());
}

TYPED_TEST(BatchedLinalg, CholeskyFactorsSaySoWhereThereAreNone) {
    using T = TypeParam;
    for (const int n : {1, 2, 3, 4, 7, 16, 32}) {
        constexpr int64_t kCount = 18;
        auto root = normal_matrices<T>(kCount, n, n, 4);
        Matrices<T> a(kCount, n, n), l(kCount, n, n);
        for (int64_t m = 0; m < kCount; ++m) {
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) {
                    T sum = i == j ? 1 : 0;
                    for (int k = 0; k < n; ++k) sum += root.at(m, i, k) * root.at(m, j, k);
                    a.at(m, i, j) = j > i ? T(77) : sum;  // what is not read
                }
            }
        }
        a.at(5, n - 1, n - 1) = -1;
        a.at(17, 0, 0) = std::numeric_limits<T>::quiet_NaN();
        std::vector<int32_t> info(kCount, 9);
        Batch batch = batch_of<T>(Operation::kCholesky, kCount, n, n);
        batch.in[0] = a.stack();
        batch.out[0] = l.stack();
        batch.info = info.data();
        EXPECT_EQ(run(batch), 1);
        EXPECT_EQ(info[5], n);
        EXPECT_EQ(info[17], 0);  // nan is not found to be negative
        EXPECT_TRUE(std::isnan(l.at(5, 0, 0)));
        EXPECT_TRUE(std::isnan(l.at(17, n - 1, 0)));
        for (int64_t m = 0; m < kCount; ++m) {
            if (info[static_cast<size_t>(m)] != 0 || m == 17) continue;
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j <= i; ++j) {
                    double rest = a.at(m, i, j);
                    for (int k = 0; k < n; ++k)
                        rest -= static_cast<double>(l.at(m, i, k)) * static_cast<double>(l.at(m, j, k));
                    ASSERT_LE(std::abs(rest), 4 * n * this->kEpsilon * largest(a.values));
                }
                for (int j = i + 1; j < n; ++j) ASSERT_EQ(l.at(m, i, j), 0);
            }
        }
    }
}

// The largest number of product - expected, of matrix m: left times the diagonal times right.
template <class T>
double product_error(Matrices<T>& left, const std::vector<double>& diagonal, Matrices<T>& right,
                     bool right_transposed, Matrices<T>& expected, int64_t m) {
    double most = 0;
    for (int i = 0; i < expected.rows; ++i) {
        for (int j = 0; j < expected.columns; ++j) {
            double sum = -static_cast<double>(expected.at(m, i, j));
            for (int k = 0; k < static_cast<int>(diagonal.size()); ++k) {
                const T other = right_transposed ? right.at(m, j, k) : right.at(m, k, j);
                sum += static_cast<double>(left.at(m, i, k)) * diagonal[static_cast<size_t>(k)] *
                       static_cast<double>(other);
            }
            most = std::isnan(sum) ? sum : std::max(most, std::abs(sum));
        }
    }
    return most;
}

// How far the columns are from orthonormal.
template <class T>
double orthogonality(Matrices<T>& q, int64_t m) {
    double most = 0;
    for (int i = 0; i < q.columns; ++i) {
        for (int j = 0; j < q.columns; ++j) {
            double sum = i == j ? -1 : 0;
            for (int k = 0; k < q.rows; ++k)
                sum += static_cast<double>(q.at(m, k, i)) * static_cast<double>(q.at(m, k, j));
            most = std::isnan(sum) ? sum : std::max(most, std::abs(sum));
        }
    }
    return most;
}

// Matrices 0 to 4 are zero, of ones (so of rank one), diagonal with equal numbers, very large and very small.
template <class T>
Matrices<T> difficult_matrices(int64_t count, int rows, int columns) {
    Matrices<T> a = normal_matrices<T>(count, rows, columns, 6);
    const T large = sizeof(T) == 8 ? T(1e150) : T(1e18);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
            a.at(0, i, j) = 0;
            a.at(1, i, j) = 1;
            a.at(2, i, j) = i == j ? T(3) : T(0);
            a.at(3, i, j) *= large;
            a.at(4, i, j) /= large;
        }
    }
    return a;
}

template <class T>
double size_of(Matrices<T>& a, int64_t m) {
    double most = 0;
    for (int i = 0; i < a.rows; ++i) {
        for (int j = 0; j < a.columns; ++j)
            most = std::max(most, std::abs(static_cast<double>(a.at(m, i, j))));
    }
    return most;
}

TYPED_TEST(BatchedLinalg, EigenvectorsAreOrthogonalAndReconstruct) {
    using T = TypeParam;
    for (const int n : {1, 2, 3, 5, 8, 16, 32}) {
        constexpr int64_t kCount = 21;
        auto a = difficult_matrices<T>(kCount, n, n);
        for (int64_t m = 0; m < kCount; ++m) {
            for (int i = 0; i < n; ++i) {
                for (int j = i + 1; j < n; ++j) a.at(m, i, j) = a.at(m, j, i);
            }
        }
        Matrices<T> w(kCount, n, 1), alone(kCount, n, 1), v(kCount, n, n);
        Batch batch = batch_of<T>(Operation::kEigh, kCount, n, n);
        batch.in[0] = a.stack();
        batch.out[0] = w.stack();
        batch.out[1] = v.stack();
        EXPECT_EQ(run(batch), 0);
        batch.out[0] = alone.stack();
        batch.out[1] = {};
        EXPECT_EQ(run(batch), 0);
        EXPECT_EQ(w.values, alone.values);
        for (int64_t m = 0; m < kCount; ++m) {
            std::vector<double> values;
            for (int i = 0; i < n; ++i) values.push_back(static_cast<double>(w.at(m, i, 0)));
            EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
            const double bound = 4 * n * static_cast<double>(this->kEpsilon);
            EXPECT_LE(orthogonality(v, m), bound) << n << ' ' << m;
            EXPECT_LE(product_error(v, values, v, true, a, m), 2 * bound * size_of(a, m)) << n << ' ' << m;
        }
    }
}

TYPED_TEST(BatchedLinalg, SingularVectorsAreOrthogonalAndReconstruct) {
    using T = TypeParam;
    for (const auto& [rows, columns] :
         {std::pair(1, 1), {2, 2}, {3, 3}, {4, 7}, {16, 16}, {32, 5}, {32, 32}}) {
        for (const bool full : {true, false}) {
            constexpr int64_t kCount = 21;
            const int least = std::min(rows, columns);
            auto a = difficult_matrices<T>(kCount, rows, columns);
            Matrices<T> s(kCount, least, 1), u(kCount, rows, full ? rows : least),
                v(kCount, full ? columns : least, columns);
            Batch batch = batch_of<T>(Operation::kSvd, kCount, rows, columns);
            batch.right = full ? 1 : 0;
            batch.in[0] = a.stack();
            batch.out[0] = s.stack();
            batch.out[1] = u.stack();
            batch.out[2] = v.stack();
            EXPECT_EQ(run(batch), 0);
            for (int64_t m = 0; m < kCount; ++m) {
                std::vector<double> values;
                for (int i = 0; i < least; ++i) values.push_back(static_cast<double>(s.at(m, i, 0)));
                EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
                EXPECT_GE(values.back(), 0);
                Matrices<T> v_columns(1, columns, v.rows);
                for (int i = 0; i < v.rows; ++i) {
                    for (int j = 0; j < columns; ++j) v_columns.at(0, j, i) = v.at(m, i, j);
                }
                const double bound = 4 * std::max(rows, columns) * static_cast<double>(this->kEpsilon);
                EXPECT_LE(orthogonality(u, m), bound) << rows << ' ' << m;
                EXPECT_LE(orthogonality(v_columns, 0), bound) << rows << ' ' << m;
                EXPECT_LE(product_error(u, values, v, false, a, m), 2 * bound * size_of(a, m));
            }
        }
    }
}

// Matrices 5 and on, beside difficult_matrices(): no diagonal, zeros on the diagonal of a bidiagonal one, a
// graded one each way, and the first column of a constant alone.
template <class T>
Matrices<T> bidiagonal_difficulties(int64_t count, int rows, int columns) {
    Matrices<T> a = difficult_matrices<T>(count, rows, columns);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
            const bool beside = j == i + 1, on = i == j;
            a.at(5, i, j) = beside ? T(1) : T(0);
            a.at(6, i, j) = (on && i % 3 != 1) || beside ? T(i + 1) : T(0);
            a.at(7, i, j) = on || beside ? T(std::pow(0.1, i)) : T(0);
            a.at(8, i, j) = on || beside ? T(std::pow(0.1, rows - i)) : T(0);
            a.at(9, i, j) = j == 0 ? T(5) : T(0);
            a.at(10, i, j) = T(1) / T(i + j + 1);
        }
    }
    return a;
}

TYPED_TEST(BatchedLinalg, SingularValuesAloneAreThoseWithVectors) {
    using T = TypeParam;
    for (const auto& [rows, columns] :
         {std::pair(1, 1), {2, 2}, {3, 3}, {4, 7}, {5, 5}, {8, 8}, {16, 16}, {17, 15}, {32, 5}, {32, 32}}) {
        constexpr int64_t kCount = 300;
        const int least = std::min(rows, columns);
        auto a = bidiagonal_difficulties<T>(kCount, rows, columns);
        Matrices<T> s(kCount, least, 1), alone(kCount, least, 1), of_one(1, least, 1), u(kCount, rows, least),
            v(kCount, least, columns);
        Batch batch = batch_of<T>(Operation::kSvd, kCount, rows, columns);
        batch.in[0] = a.stack();
        batch.out[0] = alone.stack();
        EXPECT_EQ(run(batch), 0);
        batch.out[0] = s.stack();
        batch.out[1] = u.stack();
        batch.out[2] = v.stack();
        EXPECT_EQ(run(batch), 0);
        for (int64_t m = 0; m < kCount; ++m) {
            const double bound = 4 * std::max(rows, columns) * static_cast<double>(this->kEpsilon);
            for (int i = 0; i < least; ++i) {
                const auto value = static_cast<double>(alone.at(m, i, 0));
                EXPECT_LE(std::abs(value - static_cast<double>(s.at(m, i, 0))),
                          bound * static_cast<double>(s.at(m, 0, 0)))
                    << rows << ' ' << m << ' ' << i;
                EXPECT_GE(value, 0);
                if (i > 0) EXPECT_LE(value, static_cast<double>(alone.at(m, i - 1, 0)));
            }
            // Whatever the other lanes need.
            Batch one = batch_of<T>(Operation::kSvd, 1, rows, columns);
            one.in[0] = a.stack();
            one.in[0].data += m * one.in[0].matrix;
            one.out[0] = of_one.stack();
            EXPECT_EQ(run(one), 0);
            EXPECT_EQ(
                0, std::memcmp(of_one.values.data(), &alone.at(m, 0, 0), sizeof(T) * of_one.values.size()));
        }
    }
}

TYPED_TEST(BatchedLinalg, WhatIsWrittenPastTheCachesHasTheSameBits) {
    using T = TypeParam;
    constexpr int64_t kCount = 1003;
    for (const auto& [rows, columns] : {std::pair(3, 3), {8, 8}, {13, 13}, {7, 4}, {4, 7}}) {
        for (int k = 0; k <= static_cast<int>(Operation::kSvd); ++k) {
            const auto operation = static_cast<Operation>(k);
            if (rows != columns && operation != Operation::kQr && operation != Operation::kRawQr &&
                operation != Operation::kSvd)
                continue;
            auto a = normal_matrices<T>(kCount, rows, columns, 8);
            for (int64_t m = 0; m < kCount; ++m) {
                for (int i = 0; i < std::min(rows, columns); ++i) a.at(m, i, i) += T(9);
            }
            if (operation == Operation::kCholesky) a.at(500, 0, 0) = -1;
            auto b = normal_matrices<T>(kCount, rows, 3, 9);
            for (const bool turned : {false, true}) {  // columns of results are adjacent, not rows
                Batch batch = batch_of<T>(operation, kCount, rows, columns);
                batch.right = operation == Operation::kSolve ? 3
                              : operation == Operation::kQr  ? std::min(rows, columns)
                                                             : 0;
                batch.in[0] = a.stack();
                batch.in[1] = b.stack();
                std::vector<T> results[2][3];
                std::vector<int32_t> info[2];
                const int64_t stream = config().stream.load();
                for (const bool streamed : {false, true}) {
                    config().stream = streamed ? 0 : int64_t{1} << 40;
                    constexpr int64_t kSize = sizeof(T);
                    const int64_t m = rows, n = columns, least = std::min(m, n);
                    int64_t shapes[3][2] = {{m, n}, {0, 0}, {0, 0}};
                    const auto set = [&](int which, int64_t height, int64_t width) {
                        shapes[which][0] = height;
                        shapes[which][1] = width;
                    };
                    if (operation == Operation::kSolve) set(0, n, 3);
                    if (operation == Operation::kDeterminant || operation == Operation::kSlogdet)
                        set(0, 1, 1);
                    if (operation == Operation::kSlogdet) set(1, 1, 1);
                    if (operation == Operation::kQr) set(0, least, n), set(1, m, least);
                    if (operation == Operation::kRawQr) set(1, least, 1);
                    if (operation == Operation::kEigh) set(0, n, 1), set(1, n, n);
                    if (operation == Operation::kSvd) set(0, least, 1), set(1, m, least), set(2, least, n);
                    for (int i = 0; i < 3; ++i) {
                        const int64_t height = shapes[i][0], width = shapes[i][1];
                        if (height == 0) continue;
                        auto& to = results[streamed][i];
                        to.assign(static_cast<size_t>(kCount * height * width + 1), T(77));
                        // Not at the beginning of a line.
                        batch.out[i] = {reinterpret_cast<char*>(to.data() + 1), height * width * kSize,
                                        width * kSize, kSize};
                        if (turned && width > 1) {
                            batch.out[i].row = kSize;
                            batch.out[i].column = height * kSize;
                        }
                    }
                    info[streamed].assign(kCount, 9);
                    batch.info = info[streamed].data();
                    EXPECT_EQ(run(batch), operation == Operation::kCholesky ? 1 : 0);
                }
                config().stream = stream;
                EXPECT_EQ(info[0], info[1]) << k;
                for (int i = 0; i < 3; ++i) {
                    ASSERT_EQ(results[0][i].size(), results[1][i].size());
                    EXPECT_EQ(0, std::memcmp(results[0][i].data(), results[1][i].data(),
                                             results[0][i].size() * sizeof(T)))
                        << k << ' ' << i << ' ' << rows << ' ' << turned;
                }
            }
        }
    }
}

TYPED_TEST(BatchedLinalg, QrFactorsReconstruct) {
    using T = TypeParam;
    for (const auto& [rows, columns] : {std::pair(1, 1), {2, 5}, {3, 3}, {9, 4}, {32, 32}}) {
        for (const int width : {std::min(rows, columns), rows}) {
            constexpr int64_t kCount = 21;
            auto a = difficult_matrices<T>(kCount, rows, columns);
            Matrices<T> q(kCount, rows, width), r(kCount, width, columns);
            Batch batch = batch_of<T>(Operation::kQr, kCount, rows, columns);
            batch.right = width;
            batch.in[0] = a.stack();
            batch.out[0] = r.stack();
            batch.out[1] = q.stack();
            EXPECT_EQ(run(batch), 0);
            const std::vector<double> ones(static_cast<size_t>(width), 1.0);
            for (int64_t m = 0; m < kCount; ++m) {
                const double bound = 4 * std::max(rows, columns) * static_cast<double>(this->kEpsilon);
                EXPECT_LE(orthogonality(q, m), bound) << rows << ' ' << m;
                EXPECT_LE(product_error(q, ones, r, false, a, m), bound * size_of(a, m)) << rows << ' ' << m;
                for (int i = 0; i < width; ++i) {
                    for (int j = 0; j < std::min(i, columns); ++j) ASSERT_EQ(r.at(m, i, j), 0);
                }
            }
        }
    }
}

TYPED_TEST(BatchedLinalg, NanAndInfinityEnd) {
    using T = TypeParam;
    constexpr int64_t kCount = 3;
    constexpr int kSide = 6;
    auto a = normal_matrices<T>(kCount, kSide, kSide, 7);
    a.at(1, 4, 2) = std::numeric_limits<T>::quiet_NaN();
    a.at(2, 3, 3) = std::numeric_limits<T>::infinity();
    Matrices<T> values(kCount, kSide, 1), left(kCount, kSide, kSide), right(kCount, kSide, kSide);
    std::vector<int32_t> info(kCount, 9);
    for (const Operation operation : {Operation::kEigh, Operation::kSvd}) {
        Batch batch = batch_of<T>(operation, kCount, kSide, kSide);
        batch.in[0] = a.stack();
        batch.out[0] = values.stack();
        batch.out[1] = left.stack();
        batch.out[2] = right.stack();
        batch.info = info.data();
        const bool is_eigh = operation == Operation::kEigh;
        EXPECT_EQ(run(batch), is_eigh ? 1 : 2);
        EXPECT_EQ(info, (std::vector<int32_t>{0, 1, is_eigh ? 0 : 1}));
        for (const int64_t m : {1, 2}) {
            EXPECT_TRUE(std::isnan(values.at(m, 0, 0)));
            EXPECT_TRUE(std::isnan(left.at(m, 1, 2)));
        }
        EXPECT_FALSE(std::isnan(values.at(0, 0, 0)));
    }
}

TYPED_TEST(BatchedLinalg, BitsDependOnTheMatrixAlone) {
    using T = TypeParam;
    constexpr int64_t kCount = 5000, kFew = 7;
    for (const int n : {3, 9}) {
        for (const Operation operation : {Operation::kInverse, Operation::kCholesky, Operation::kEigh}) {
            auto a = normal_matrices<T>(kCount, n, n, 5);
            for (int64_t m = 0; m < kCount; ++m) {
                for (int i = 0; i < n; ++i) a.at(m, i, i) += T(4 * n);
            }
            Matrices<T> all(kCount, n, n), again(kCount, n, n), few(kFew, n, n), values(kCount, n, 1);
            Batch batch = batch_of<T>(operation, kCount, n, n);
            batch.in[0] = a.stack();
            Stack& to = batch.out[operation == Operation::kEigh ? 1 : 0];
            batch.out[0] = values.stack();
            to = all.stack();
            run(batch);
            const int threads = num_threads();
            set_num_threads(threads == 1 ? 3 : 1);
            to = again.stack();
            run(batch);
            set_num_threads(0);
            EXPECT_EQ(0, std::memcmp(all.values.data(), again.values.data(), all.values.size() * sizeof(T)));
            batch.count = kFew;
            batch.in[0].data += 1001 * batch.in[0].matrix;
            to = few.stack();
            run(batch);
            EXPECT_EQ(0, std::memcmp(few.values.data(), &all.at(1001, 0, 0), few.values.size() * sizeof(T)));
        }
    }
}

}  // namespace
}  // namespace weft::batched
