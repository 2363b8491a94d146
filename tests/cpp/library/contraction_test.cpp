// library/products/contraction.h against plain loops: any axes, any strides, any result; and weft's own loops
// for each instruction set that this machine has.
#include "library/products/contraction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "core/processor.h"
#include "core/scalar_traits.h"
#include "library/products/cpu/blas.h"
#include "library/products/cpu/panel_product.h"
#include "library/products/cpu/tile_product.h"
#include "weft/ops.h"
#include "weft/products.h"

namespace weft {
namespace {

// Memory that a random view walks: `base` is the first element's address.
struct View {
    std::vector<char> memory;
    char* base = nullptr;
    Dims strides;
};

class ContractionTest : public testing::Test {
protected:
    std::mt19937_64 random_{20240607};

    int64_t below(int64_t bound) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound)); }

    // Dense in a random order of axes, with gaps or backwards along some.
    View view(const Dims& shape, const std::vector<bool>& walks, int64_t itemsize, bool dense) {
        View made;
        made.strides = Dims(shape.size(), 0);
        std::vector<size_t> order;
        for (size_t d = 0; d < shape.size(); ++d) {
            if (walks[d]) order.push_back(d);
        }
        if (below(2) == 0) std::shuffle(order.begin(), order.end(), random_);
        int64_t stride = itemsize, first = 0;
        for (size_t k = order.size(); k-- > 0;) {
            const size_t axis = order[k];
            if (!dense && below(4) == 0) stride *= 2;
            made.strides[axis] = stride;
            const int64_t span = stride * std::max<int64_t>(shape[axis], 1);
            if (!dense && below(6) == 0) {
                made.strides[axis] = -stride;
                first += stride * (shape[axis] - 1);
            }
            stride = span;
        }
        made.memory.resize(static_cast<size_t>(stride) + 64);
        made.base = made.memory.data() + first;
        return made;
    }

    template <class T>
    void fill(View& made) {
        for (size_t at = 0; at + sizeof(T) <= made.memory.size(); at += sizeof(T)) {
            T value;
            if constexpr (std::is_same_v<T, bool>) {
                value = below(2) == 0;
            } else if constexpr (std::is_integral_v<T>) {
                value = static_cast<T>(random_());
            } else {
                value = static_cast<T>(static_cast<double>(below(2001)) / 1000 - 1);
            }
            std::memcpy(made.memory.data() + at, &value, sizeof value);
        }
    }

    template <class T>
    static T read(const char* from) {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }

    template <class T>
    void check(const Dims& shape, const std::vector<bool>& reduced, const std::vector<bool>& left_walks,
               const std::vector<bool>& right_walks) {
        std::vector<bool> out_walks(shape.size());
        for (size_t d = 0; d < shape.size(); ++d) out_walks[d] = !reduced[d];
        constexpr auto kItem = static_cast<int64_t>(sizeof(T));
        View left = view(shape, left_walks, kItem, false), right = view(shape, right_walks, kItem, false);
        View out = view(shape, out_walks, kItem, below(2) == 0);
        fill<T>(left);
        fill<T>(right);
        contract({scalar_type_of<T>, shape, reduced, left.base, right.base, out.base, left.strides,
                  right.strides, out.strides});
        // Plain loops over the whole space.
        std::vector<int64_t> position(shape.size());
        const auto walk = [&](auto&& self, size_t axis, bool of_result, const auto& visit) -> void {
            if (axis == shape.size()) {
                visit();
                return;
            }
            if (reduced[axis] == of_result) {
                position[axis] = 0;
                self(self, axis + 1, of_result, visit);
                return;
            }
            for (position[axis] = 0; position[axis] < shape[axis]; ++position[axis])
                self(self, axis + 1, of_result, visit);
            position[axis] = 0;
        };
        const auto place = [&](const View& view) {
            int64_t offset = 0;
            for (size_t d = 0; d < shape.size(); ++d) offset += position[d] * view.strides[d];
            return view.base + offset;
        };
        walk(walk, 0, true, [&] {
            const std::vector<int64_t> here = position;
            long double sum = 0;
            uint64_t bits = 0;
            const auto add = [&](auto&& self, size_t axis) -> void {
                if (axis == shape.size()) {
                    const T a = read<T>(place(left)), b = read<T>(place(right));
                    if constexpr (std::is_same_v<T, bool>) {
                        bits |= static_cast<uint64_t>(a && b);
                    } else if constexpr (std::is_integral_v<T>) {
                        bits += static_cast<uint64_t>(a) * static_cast<uint64_t>(b);
                    } else {
                        sum += static_cast<long double>(a) * static_cast<long double>(b);
                    }
                    return;
                }
                if (!reduced[axis]) {
                    self(self, axis + 1);
                    return;
                }
                for (position[axis] = 0; position[axis] < shape[axis]; ++position[axis]) self(self, axis + 1);
                position[axis] = 0;
            };
            add(add, 0);
            position = here;
            const T result = read<T>(place(out));
            if constexpr (std::is_integral_v<T>) {
                ASSERT_EQ(result, static_cast<T>(bits));
            } else {
                const double bound = std::is_same_v<T, float> ? 1e-3 : 1e-11;
                ASSERT_NEAR(static_cast<double>(result), static_cast<double>(sum), bound);
            }
        });
    }

    template <class T>
    void check_random(int rounds) {
        for (int round = 0; round < rounds; ++round) {
            const auto count = static_cast<size_t>(below(6));
            Dims shape(count, 0);
            std::vector<bool> reduced(count), left(count), right(count);
            const int64_t longest = count <= 3 ? 40 : 7;
            for (size_t d = 0; d < count; ++d) {
                shape[d] = 1 + below(longest);
                reduced[d] = below(3) == 0;
                const int64_t kind = below(8);
                left[d] = kind != 0 && kind < 5;
                right[d] = kind == 0 || kind > 3;
                if (below(20) == 0) left[d] = right[d] = false;
            }
            std::string about = "round " + std::to_string(round) + ":";
            for (size_t d = 0; d < count; ++d) {
                about += " " + std::to_string(shape[d]) + (reduced[d] ? " reduced" : "") +
                         (left[d] ? " left" : "") + (right[d] ? " right" : "") + ",";
            }
            SCOPED_TRACE(about);
            check<T>(shape, reduced, left, right);
            if (HasFatalFailure()) return;
        }
    }
};

TEST_F(ContractionTest, AnyAxesAndStridesFloat32) { check_random<float>(400); }
TEST_F(ContractionTest, AnyAxesAndStridesFloat64) { check_random<double>(400); }
TEST_F(ContractionTest, AnyAxesAndStridesInt8) { check_random<int8_t>(200); }
TEST_F(ContractionTest, AnyAxesAndStridesUInt16) { check_random<uint16_t>(200); }
TEST_F(ContractionTest, AnyAxesAndStridesInt64) { check_random<int64_t>(200); }
TEST_F(ContractionTest, AnyAxesAndStridesBool) { check_random<bool>(200); }

TEST_F(ContractionTest, EmptySumsAreZeroAndEmptyResultsNothing) {
    double out[6] = {1, 1, 1, 1, 1, 1};
    const double data[1] = {5};
    const auto* bytes = reinterpret_cast<const char*>(data);
    auto* to = reinterpret_cast<char*>(out);
    contract({ScalarType::kFloat64,
              {2, 3, 0},
              {false, false, true},
              bytes,
              bytes,
              to,
              {0, 0, 8},
              {0, 8, 0},
              {24, 8, 0}});
    for (const double value : out) EXPECT_EQ(value, 0);
    out[0] = 1;
    contract({ScalarType::kFloat64,
              {0, 3, 4},
              {false, false, true},
              bytes,
              bytes,
              to,
              {32, 0, 8},
              {0, 8, 24},
              {24, 8, 0}});
    EXPECT_EQ(out[0], 1);
}

template <class T>
void check_tiles(TileFunction function, int64_t m, int64_t n, int64_t k) {
    std::mt19937_64 random(static_cast<uint64_t>(m * 1000003 + n * 1009 + k));
    std::vector<T> left(static_cast<size_t>(m * k)), right(static_cast<size_t>(k * n)),
        out(static_cast<size_t>(m * n));
    for (T& value : left) value = static_cast<T>(random() % 201);
    for (T& value : right) value = static_cast<T>(random() % 201);
    constexpr auto kItem = static_cast<int64_t>(sizeof(T));
    function({m, n, k, reinterpret_cast<const char*>(left.data()), k * kItem, kItem,
              reinterpret_cast<const char*>(right.data()), n * kItem, kItem,
              reinterpret_cast<char*>(out.data()), n * kItem, kItem});
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            uint64_t sum = 0;
            for (int64_t p = 0; p < k; ++p)
                sum += static_cast<uint64_t>(left[static_cast<size_t>(i * k + p)]) *
                       static_cast<uint64_t>(right[static_cast<size_t>(p * n + j)]);
            ASSERT_EQ(out[static_cast<size_t>(i * n + j)], static_cast<T>(sum)) << i << ", " << j;
        }
    }
}

TEST(TileProduct, EveryInstructionSetGivesTheSame) {
    std::vector<TileFunction (*)(ScalarType)> sets{tile_function_sse};
    if (__builtin_cpu_supports("avx2")) sets.push_back(tile_function_avx2);
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        sets.push_back(tile_function_avx512);
    const int64_t shapes[][3] = {{1, 1, 1},    {9, 17, 5},      {1, 70, 300},
                                 {70, 1, 300}, {33, 130, 1100}, {8, 64, 128}};
    for (const auto& set : sets) {
        for (const auto& [m, n, k] : shapes) {
            check_tiles<uint8_t>(set(ScalarType::kUInt8), m, n, k);
            check_tiles<int16_t>(set(ScalarType::kInt16), m, n, k);
            check_tiles<uint32_t>(set(ScalarType::kUInt32), m, n, k);
            check_tiles<int64_t>(set(ScalarType::kInt64), m, n, k);
            check_tiles<float>(set(ScalarType::kFloat32), m, n, std::min<int64_t>(k, 300));
            check_tiles<double>(set(ScalarType::kFloat64), m, n, k);
        }
    }
}

// The sum as panel_product.h says that it is rounded.
template <class T>
T chained(const T* left, int64_t left_step, const T* right, int64_t right_step, int64_t k) {
    const int64_t blocks = (k + 255) / 256, depth = (k + blocks - 1) / blocks;
    T total = 0;
    for (int64_t begin = 0; begin < k; begin += depth) {
        T sum = 0;
        for (int64_t p = begin; p < std::min(k, begin + depth); ++p)
            sum = std::fma(left[p * left_step], right[p * right_step], sum);
        total = begin == 0 ? sum : total + sum;
    }
    return total;
}

template <class T>
void check_panels(const PanelKernels& kernels, int64_t m, int64_t n, int64_t k) {
    constexpr auto kItem = static_cast<int64_t>(sizeof(T));
    std::mt19937_64 random(static_cast<uint64_t>(m * 1000003 + n * 1009 + k));
    const auto below = [&](int64_t bound) {
        return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
    };
    const int64_t gap = below(3);
    const bool left_lies = below(2) == 0, right_lies = below(2) == 0;
    const int64_t right_step = right_lies ? 1 : n + gap, right_column = right_lies ? k + gap : 1;
    const int64_t row = left_lies ? 1 : k + gap, step = left_lies ? m + gap : 1;
    std::vector<T> left(static_cast<size_t>((m + gap) * (k + gap))),
        right(static_cast<size_t>((n + gap) * (k + gap))), out(static_cast<size_t>(m * (n + gap)));
    for (std::vector<T>* const values : {&left, &right}) {
        for (T& value : *values) value = static_cast<T>(static_cast<double>(below(20001)) / 10000 - 1);
    }
    const MatrixProduct product{m,
                                n,
                                k,
                                reinterpret_cast<const char*>(left.data()),
                                row * kItem,
                                step * kItem,
                                reinterpret_cast<const char*>(right.data()),
                                right_step * kItem,
                                right_column * kItem,
                                reinterpret_cast<char*>(out.data()),
                                (n + gap) * kItem,
                                kItem};
    multiply_by_panels(kernels, scalar_type_of<T>, product, {}, nullptr);
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            const T expected =
                chained(left.data() + i * row, step, right.data() + j * right_column, right_step, k);
            ASSERT_EQ(out[static_cast<size_t>(i * (n + gap) + j)], expected) << i << ", " << j;
        }
    }
}

TEST(PanelProduct, EveryInstructionSetGivesTheBitsOfOneChain) {
    std::vector<const PanelKernels* (*)(ScalarType)> sets;
    if (__builtin_cpu_supports("x86-64-v3")) sets.push_back(panel_kernels_avx2);
    if (__builtin_cpu_supports("x86-64-v4")) sets.push_back(panel_kernels_avx512);
    const int64_t shapes[][3] = {{2, 2, 1},     {3, 5, 700},   {14, 32, 256}, {15, 33, 257}, {29, 47, 64},
                                 {130, 70, 90}, {90, 300, 20}, {7, 900, 130}, {200, 9, 513}, {61, 64, 1023}};
    for (const auto& set : sets) {
        for (const auto& [m, n, k] : shapes) {
            SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + ", " + std::to_string(k));
            check_panels<float>(*set(ScalarType::kFloat32), m, n, k);
            check_panels<double>(*set(ScalarType::kFloat64), m, n, k);
        }
    }
}

TEST(PanelProduct, RunsWhereTheProcessorHasFusedMultiplyAdds) {
    EXPECT_EQ(panel_kernels(ScalarType::kFloat32) != nullptr, processor_level() != ProcessorLevel::kX86V2);
    EXPECT_EQ(panel_kernels(ScalarType::kComplex64), nullptr);
    EXPECT_EQ(panel_kernels(ScalarType::kInt32), nullptr);
}

TEST(OpenBlas, IsFoundBesideTheEngine) {
    const Blas* library = blas();
    ASSERT_NE(library, nullptr);
    EXPECT_NE(library->version.find("OpenBLAS"), std::string::npos);
}

TEST(Products, FromCpp) {
    const array a = reshape(arange(Integer(0), Integer(6), Integer(1), DType()), Dims{2, 3});
    const array product = matmul(a, transpose(a, {}));
    double values[4];
    copy_out(product, values);
    EXPECT_EQ(values[0], 5);
    EXPECT_EQ(values[1], 14);
    EXPECT_EQ(values[3], 50);
    EXPECT_THROW(matmul(a, a), ValueError);
}

}  // namespace
}  // namespace weft
