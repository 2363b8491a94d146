// Arrays through the public C++ API: what is recorded, what shares a kernel, and that every way gives the
// same bits.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "core/config.h"
#include "core/shape.h"
#include "device/device.h"
#include "ops/op.h"
#include "weft/ops.h"

namespace weft {
namespace {

template <class T>
array from_values(const std::vector<T>& values, const Dims& shape, DType dtype) {
    return copy_in(values.data(), dtype, shape, c_strides(shape, dtype.itemsize()));
}

array random_array(const Dims& shape, unsigned seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(-2, 2);
    std::vector<double> values(static_cast<size_t>(element_count(shape)));
    for (double& value : values) value = uniform(engine);
    return from_values(values, shape, ScalarType::kFloat64);
}

std::vector<double> values_of(const array& input) {
    std::vector<double> values(static_cast<size_t>(input.size()));
    copy_out(input.dtype() == DType(ScalarType::kFloat64) ? input : astype(input, ScalarType::kFloat64),
             values.data());
    return values;
}

array add(const Argument& a, const Argument& b) { return call_binary(op_info(OpId::kAdd), a, b); }
array multiply(const Argument& a, const Argument& b) { return call_binary(op_info(OpId::kMultiply), a, b); }

// Runs `work` as compiled kernels, as the naive plan, and eagerly, and returns the three results.
template <class Work>
void expect_same_bits(const Work& work) {
    struct Restore {
        ~Restore() {
            config().small_limit = 4096;
            config().fuse = true;
        }
    } restore;
    config().small_limit = 0;
    const std::vector<double> fused = values_of(work());
    config().fuse = false;
    const std::vector<double> naive = values_of(work());
    config().fuse = true;
    config().small_limit = int64_t{1} << 40;
    const std::vector<double> eager = values_of(work());
    ASSERT_EQ(fused.size(), naive.size());
    ASSERT_EQ(fused.size(), eager.size());
    EXPECT_EQ(0, std::memcmp(fused.data(), naive.data(), fused.size() * 8));
    EXPECT_EQ(0, std::memcmp(fused.data(), eager.data(), fused.size() * 8));
}

TEST(Graph, ExpressionIsOneKernel) {
    const array a = random_array({100000}, 1), b = random_array({100000}, 2), c = random_array({100000}, 3);
    clear_kernel_history();
    const array result = add(multiply(Integer(2), a), multiply(multiply(Integer(3), b), c));
    EXPECT_FALSE(evaluated(result));
    const std::vector<double> values = values_of(result);
    ASSERT_EQ(kernel_history().size(), 1U);
    EXPECT_EQ(kernel_history()[0].bytes_written, 800000);
    EXPECT_EQ(kernel_history()[0].bytes_read, 2400000);
    const std::vector<double> va = values_of(a), vb = values_of(b), vc = values_of(c);
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 2 * va[i] + 3 * vb[i] * vc[i]);
}

TEST(Graph, BroadcastsAndCastsFuse) {
    const array a = random_array({300, 400}, 1), row = astype(random_array({400}, 2), ScalarType::kFloat32);
    eval({&row, 1});
    clear_kernel_history();
    const array result = add(multiply(a, row), Integer(1));
    const std::vector<double> values = values_of(result);
    EXPECT_EQ(kernel_history().size(), 1U);
    const std::vector<double> va = values_of(a), vr = values_of(row);
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], va[i] * vr[i % 400] + 1);
}

TEST(Graph, ViewsSeeWrites) {
    for (const int64_t extent : {10, 300}) {
        const array a = full({extent, extent}, 0.0, DType(ScalarType::kFloat64));
        const Index inner[2] = {Slice{1, -1, {}}, Slice{{}, {}, 2}};
        const array view = index(a, inner);
        assign(view, Integer(3));
        call_in_place(op_info(OpId::kAdd), view, Integer(1));
        const std::vector<double> values = values_of(a);
        for (int64_t i = 0; i < extent; ++i) {
            for (int64_t j = 0; j < extent; ++j) {
                const bool written = i > 0 && i < extent - 1 && j % 2 == 0;
                ASSERT_EQ(values[static_cast<size_t>(i * extent + j)], written ? 4.0 : 0.0);
            }
        }
    }
}

TEST(Graph, ReadersKeepTheOldVersion) {
    const array a = full({100000}, 1.0);
    const array before = add(a, Integer(1));
    assign(a, Integer(5));
    const Index head[1] = {Slice{{}, 10, {}}};
    assign(index(a, head), Integer(7));
    const array after = add(a, Integer(1));
    EXPECT_EQ(values_of(before)[0], 2.0);
    EXPECT_EQ(values_of(after)[0], 8.0);
    EXPECT_EQ(values_of(after)[99999], 6.0);
}

TEST(Graph, OverlappingAssignmentReadsTheOldValues) {
    expect_same_bits([] {
        const array a = random_array({5000}, 4);
        const Index to[1] = {Slice{1, {}, {}}}, from[1] = {Slice{{}, -1, {}}};
        assign(index(a, to), index(a, from));
        return a;
    });
}

TEST(Graph, LaplaceStepIsExact) {
    expect_same_bits([] {
        const array u = copy(random_array({70, 80}, 5));
        const Slice middle{1, -1, {}}, before{{}, -2, {}}, after{2, {}, {}};
        const auto at = [&](const Slice& rows, const Slice& columns) {
            const Index indices[2] = {rows, columns};
            return index(u, indices);
        };
        for (int step = 0; step < 5; ++step) {
            const array sum = add(multiply(add(at(after, middle), at(before, middle)), 0.3),
                                  multiply(add(at(middle, after), at(middle, before)), 0.7));
            assign(at(middle, middle), multiply(sum, 0.5));
        }
        return u;
    });
}

TEST(Graph, ReductionsGiveTheSameBitsEveryWay) {
    const std::vector<Dims> shapes = {{1},       {31},        {32},      {33},       {512},
                                      {513},     {1000},      {20000},   {400001},   {3, 100001},
                                      {7, 5000}, {300, 1100}, {5000, 7}, {6, 70, 80}};
    for (const Dims& shape : shapes) {
        for (const char* name : {"sum", "prod", "max", "argmin"}) {
            for (int axis = -1; axis < static_cast<int>(shape.size()); ++axis) {
                expect_same_bits([&] {
                    ReduceOptions options;
                    if (axis >= 0) options.axes = Dims{axis};
                    return reduce(name, random_array(shape, 6), options);
                });
            }
        }
    }
}

TEST(Graph, ComplexProductsAndSignsOfZeroEveryWay) {
    expect_same_bits([] {
        const array a = astype(random_array({9, 700}, 14), ScalarType::kComplex128);
        const array b = call_binary(op_info(OpId::kAdd), a, std::complex<double>(0, 0.5));
        ReduceOptions options;
        options.axes = Dims{1};
        return copy(imag(reduce("prod", b, options)));
    });
    expect_same_bits([] { return reduce("sum", full({9000}, -0.0, DType(ScalarType::kFloat64))); });
    const array zero = reduce("sum", full({9000}, -0.0, DType(ScalarType::kFloat64)));
    EXPECT_FALSE(std::signbit(values_of(zero)[0]));
}

TEST(Graph, ReductionOfTransposedAndBroadcastOperands) {
    expect_same_bits([] {
        const array a = random_array({40, 50, 60}, 7);
        const int64_t order[3] = {2, 0, 1};
        ReduceOptions options;
        options.axes = Dims{0, 2};
        return reduce("sum", multiply(transpose(a, order), random_array({60, 40, 50}, 8)), options);
    });
}

TEST(Graph, ErrorsAreThrownAtTheCallAndLoseNothing) {
    const array a = random_array({3, 4}, 9), b = random_array({5}, 10);
    EXPECT_THROW(add(a, b), ValueError);
    try {
        add(a, b);
    } catch (const ValueError& error) {
        EXPECT_NE(std::string(error.what()).find("(3,4) (5,)"), std::string::npos);
    }
    const array frozen = broadcast_to(b, {2, 5});
    EXPECT_THROW(assign(frozen, Integer(1)), ValueError);
    const array bytes = full({3}, Integer(1), DType(ScalarType::kUInt8));
    EXPECT_THROW(add(bytes, Integer(300)), OverflowError);
    EXPECT_EQ(values_of(add(a, Integer(0))), values_of(a));
}

TEST(Graph, LongChainsNeedNoStack) {
    array a = random_array({5000}, 11);
    for (int i = 0; i < 100000; ++i) a = add(a, Integer(1));
    a = array();
    array b = random_array({5000}, 12);
    const double first = values_of(b)[0];
    for (int i = 0; i < 1000; ++i) b = add(b, Integer(1));
    EXPECT_NEAR(values_of(b)[0], first + 1000, 1e-9);
}

TEST(Graph, PlansThatAreKeptHoldNoArrays) {
    const size_t before = cpu_device().bytes_in_use();
    {
        array field = random_array({300, 400}, 1);
        for (int turn = 0; turn < 3; ++turn) {  // from the second on, the plan is one that is kept
            for (int k = 1; k <= 40; ++k) {
                array sum = field;
                for (int n = 0; n < k; ++n) sum = add(sum, multiply(field, n + 0.5));
                eval(std::array{sum, multiply(sum, field)});
            }
            field = add(field, 1.0);
        }
    }
    EXPECT_EQ(cpu_device().bytes_in_use(), before);
}

TEST(Graph, HostViewPinsTheMemory) {
    const array a = full({10000}, 1.0);
    const array later = add(a, Integer(1));
    const HostView exported(a, true);
    auto* data = reinterpret_cast<double*>(exported.data());
    data[0] = 41;
    EXPECT_EQ(values_of(later)[0], 2.0);
    call_in_place(op_info(OpId::kAdd), a, Integer(1));
    EXPECT_EQ(data[0], 42.0);
    EXPECT_EQ(values_of(a)[0], 42.0);
}

TEST(Graph, OverlapIsExact) {
    const array a = random_array({100}, 13);
    const Index even[1] = {Slice{{}, {}, 2}}, odd[1] = {Slice{1, {}, 2}}, third[1] = {Slice{{}, {}, 3}};
    EXPECT_FALSE(shares_memory(index(a, even), index(a, odd)));
    EXPECT_TRUE(may_share_memory(index(a, even), index(a, odd)));
    EXPECT_TRUE(shares_memory(index(a, even), index(a, third)));
}

}  // namespace
}  // namespace weft
