// The interface of weft/weft.h as C++ programs write it. What operations compute is tested elsewhere; here it
// is which of them is called, with what, and what C++ itself may decide otherwise: overloads, temporaries,
// lifetimes, types.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "support/array_testing.h"

namespace weft {
namespace {

TEST(CppApi, OperatorsAreTheOperationsOfTheirNames) {
    const array a = {7, -3, 2}, b = {2, 2, 3};
    expect_equal(a + b, add(a, b));
    expect_equal(a - b, subtract(a, b));
    expect_equal(a * b, multiply(a, b));
    expect_equal(a / b, divide(a, b));
    expect_equal(a % b, {1, 1, 2});
    expect_equal(a & b, bitwise_and(a, b));
    expect_equal(a | b, bitwise_or(a, b));
    expect_equal(a ^ b, bitwise_xor(a, b));
    expect_equal(a << b, left_shift(a, b));
    expect_equal(a >> b, right_shift(a, b));
    expect_equal(-a, negative(a));
    expect_equal(+a, positive(a));
    expect_equal(~a, invert(a));
    expect_equal(a == b, equal(a, b));
    expect_equal(a != b, not_equal(a, b));
    expect_equal(a < b, less(a, b));
    expect_equal(a <= b, less_equal(a, b));
    expect_equal(a > b, greater(a, b));
    expect_equal(a >= b, greater_equal(a, b));
}

TEST(CppApi, ScalarsOnEitherSideKeepTheArraysType) {
    const array narrow = astype(array{1, 2}, int8);
    EXPECT_EQ((narrow + 1).dtype(), int8);
    EXPECT_EQ((1 - narrow).dtype(), int8);
    EXPECT_EQ((narrow * 1.5).dtype(), DType(float64));
    EXPECT_EQ((2.0F * astype(narrow, float32)).dtype(), float32);
    EXPECT_EQ((narrow + true).dtype(), int8);
    EXPECT_EQ((narrow * std::complex<float>(0, 1)).dtype(), complex128);
    EXPECT_EQ((astype(narrow, uint64) + std::numeric_limits<uint64_t>::max()).dtype(), uint64);
    EXPECT_THROW(narrow + 300, OverflowError);
    expect_equal(3 > array{2, 4}, {true, false});
    expect_equal(2 == array{2, 4}, {true, false});
}

TEST(CppApi, InPlaceOperatorsWriteIntoTheView) {
    array a = {{1.0, 2.0}, {3.0, 4.0}};
    const array other = a;
    a += 1;
    a(0) *= 10;
    a(all, 1) -= a(all, 0);
    expect_equal(other, {{20.0, 10.0}, {4.0, 1.0}});
    array ints = {1, 2};
    EXPECT_THROW(ints += 0.5, UFuncTypeError);
    EXPECT_THROW(ints /= 2, TypeError);
    EXPECT_THROW(broadcast_to(ints, {2, 2}) += 1, ValueError);
}

TEST(CppApi, AssigningToAVariableIsNoWrite) {
    array a = zeros(3);
    array view = a(slice(2));
    view = ones(2);
    expect_equal(a, {0.0, 0.0, 0.0});
    view = a(slice(2));
    view(ellipsis) = 5;
    expect_equal(a, {5.0, 5.0, 0.0});
    a(slice(1, none)) = a(slice(-1));  // overlapping: the old values
    expect_equal(a, {5.0, 5.0, 5.0});
    EXPECT_THROW(a(slice(2)) = ones(3), ValueError);
}

TEST(CppApi, IndicesAreThoseOfPython) {
    const array a = reshape(arange(24), {2, 3, 4});
    expect_equal(a(1, -1, 0), asarray(20));
    EXPECT_EQ(a(1, all, slice(none, none, -2)).shape(), (Dims{3, 2}));
    EXPECT_EQ(a(newaxis, ellipsis, 0).shape(), (Dims{1, 2, 3}));
    EXPECT_EQ(a[0].shape(), (Dims{3, 4}));
    expect_equal(a()(0, 0), {0, 1, 2, 3});
    expect_equal(a(0, array{2, 0}, 1), {9, 1});
    expect_equal(a(1, std::vector<int>{0, 1}, std::vector<int64_t>{3, 2}), {15, 18});
    expect_equal(a(a > 21), {22, 23});
    EXPECT_THROW(a(2), IndexError);
    EXPECT_THROW(a(0, 0, 0, 0), IndexError);
    const size_t position = 1;
    EXPECT_EQ(a.item<int>(position, 2, 3U), 23);
}

TEST(CppApi, SelectionsReadAndWrite) {
    array a = {1.0, -2.0, 3.0, -4.0};
    a(a < 0) = 0;
    a(array{0, 2}) += 1.5;
    a(array{3}) = a(array{0});
    expect_equal(a, {2.5, 0.0, 4.5, 2.5});
    expect_equal(a(a > 3) * 2 + a(a > 3), array{13.5});
    expect_equal(exp(a(a > 3)), exp(array{4.5}));
    EXPECT_DOUBLE_EQ(sum(a(a > 1)).item<double>(), 9.5);
    const array copied = a(a > 3);
    a(2) = 0;
    expect_equal(copied, array{4.5});
}

TEST(CppApi, OptionsReachTheOperation) {
    const array a = {1.0, 2.0, 3.0};
    array out = zeros(3);
    const array returned = add(a, 1, {.out = out, .where = array{true, false, true}});
    expect_equal(out, {2.0, 0.0, 4.0});
    EXPECT_TRUE(shares_memory(returned, out));
    EXPECT_EQ(add(a, 1, {.dtype = float32}).dtype(), float32);
    array whole = zeros(3), part = zeros(3);
    modf(a / 2, {.out = part, .second_out = whole});
    expect_equal(whole, {0.0, 1.0, 1.0});
    expect_equal(part, {0.5, 0.0, 0.5});
    EXPECT_EQ(clip(a, 1.5, 2.5).item<double>(2), 2.5);
}

TEST(CppApi, RollMovesAlongAxes) {
    const array a = {{1, 2, 3}, {4, 5, 6}};
    expect_equal(roll(a, 1), {{6, 1, 2}, {3, 4, 5}});
    expect_equal(roll(a, -1, 1), {{2, 3, 1}, {5, 6, 4}});
    const Dims shifts = {1, 5, -3}, axes = {0, 1, -1};
    expect_equal(roll(a, shifts, axes), {{5, 6, 4}, {2, 3, 1}});
    EXPECT_THROW(roll(a, shifts, Dims{0}), ValueError);
    EXPECT_THROW(roll(a, 1, 2), AxisError);
    expect_equal(roll(zeros({0, 2}), 1, 0), zeros({0, 2}));
}

TEST(CppApi, ReductionsTakeAxes) {
    const array a = reshape(arange(12.0), {2, 2, 3});
    expect_equal(sum(a), asarray(66.0));
    expect_equal(sum(a, -1), {{3.0, 12.0}, {21.0, 30.0}});
    expect_equal(sum(a, {0, 2}), {24.0, 42.0});
    EXPECT_EQ(max(a, 1, {.keepdims = true}).shape(), (Dims{2, 1, 3}));
    EXPECT_EQ(argmax(a).dtype(), int64);
    expect_equal(prod(a(0, 0), {}, {.initial = 5}), asarray(0.0));
    expect_equal(sum(a, {}, {.where = a > 9}), asarray(21.0));
    expect_equal(mean(a, {}, {.where = a > 9}), asarray(10.5));
    EXPECT_TRUE(all(a >= 0).item<bool>());
    EXPECT_FALSE(bool(any(a > 11)));
    EXPECT_EQ(count_nonzero(a).item<int>(), 11);
    expect_equal(cumsum(array{1, 2, 3}), {1, 3, 6});
    array out = zeros(3);
    std(a, {0, 1}, 0, {.out = out});
    expect_equal(out, std(a, {0, 1}));
    EXPECT_THROW(sum(a, 3), AxisError);
    EXPECT_THROW(mean(a, -4), AxisError);
}

TEST(CppApi, TemporariesAreNotHeldByOperations) {
    const array a = linspace(0, 1, 50'000);
    eval(a);
    clear_kernel_history();
    EXPECT_GT(max(sqrt(a) * a + 1).item<double>(), 1.99);
    for (const KernelRecord& kernel : kernel_history()) EXPECT_LT(kernel.bytes_written, 50'000);
}

TEST(CppApi, BracesMakeArrays) {
    EXPECT_EQ((array{1, 2}).dtype(), int64);
    EXPECT_EQ((array{1.0F, 2.0F}).dtype(), float32);
    EXPECT_EQ((array{true, false}).dtype(), bool_);
    EXPECT_EQ((array{int16_t{1}}).dtype(), int16);
    EXPECT_EQ((array{std::complex<double>(1, 2)}).dtype(), complex128);
    EXPECT_EQ((array{{1, 2, 3}, {4, 5, 6}}).shape(), (Dims{2, 3}));
    EXPECT_EQ((array{{{1, 2}}, {{3, 4}}}).shape(), (Dims{2, 1, 2}));
    EXPECT_THROW((array{{1, 2}, {3}}), ValueError);
}

TEST(CppApi, ContainersMakeArrays) {
    const std::vector<float> values = {1, 2, 3, 4, 5, 6};
    EXPECT_EQ(array(values).dtype(), float32);
    EXPECT_EQ(array(values, {2, -1}).shape(), (Dims{2, 3}));
    EXPECT_EQ(array(std::span(values).first(2)).size(), 2);
    EXPECT_EQ(array(std::array<uint8_t, 2>{1, 2}).dtype(), uint8);
    EXPECT_THROW(array(values, {4, 2}), ValueError);
    EXPECT_THROW(array(values, {4, -1}), ValueError);
    EXPECT_THROW(array(values, {-1, -1}), ValueError);
    EXPECT_THROW(array(values, {-2, -3}), ValueError);
    EXPECT_EQ(zeros({values.size(), size_t{2}}).shape(), (Dims{6, 2}));
    EXPECT_EQ(ones(values.size(), int32).dtype(), int32);
    EXPECT_EQ(arange(2, 8).size(), 6);
    EXPECT_EQ(eye(3, float32).dtype(), float32);
}

TEST(CppApi, ElementsAreTheMemoryItself) {
    array a = arange(6.0);
    {
        const Elements<double> elements(a);
        elements[2] = 50;
        a += 1;  // eagerly and in place
        EXPECT_EQ(elements[2], 51);
        const std::span<double> span = elements;
        EXPECT_EQ(span.size(), 6U);
    }
    EXPECT_EQ(a.item<double>(2), 51);
    EXPECT_THROW(Elements<const float>{a}, TypeError);
    EXPECT_THROW(Elements<const double>{a(slice(none, none, 2))}, ValueError);
    EXPECT_THROW(Elements<double>{broadcast_to(a, 6)}, ValueError);
    EXPECT_NO_THROW(Elements<const double>{broadcast_to(a, 6)});
    EXPECT_EQ(to_vector<double>(a(slice(none, none, -5))), (std::vector<double>{6, 1}));
    EXPECT_THROW(to_vector<int>(a), TypeError);
}

TEST(CppApi, SharedMemoryIsReleasedOnce) {
    std::vector<int32_t> mine = {1, 2, 3, 4};
    int released = 0;
    {
        const array view = share(std::span<int32_t>(mine), {2, 2}, [&] { ++released; })(1);
        mine[2] = 30;
        EXPECT_EQ(view.item<int>(0), 30);
        view(1) = 40;
        EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
    EXPECT_EQ(mine[3], 40);
    const array constant = share(std::span<const int32_t>(mine));
    EXPECT_THROW(constant(0) = 1, ValueError);
    const array kept = share(std::vector<double>(1000, 2.0), {10, 100});
    expect_equal(sum(kept), asarray(2000.0));
}

TEST(CppApi, ItemsConvertToTypesOfTheirKind) {
    EXPECT_EQ(asarray(3).item<double>(), 3.0);
    EXPECT_EQ(asarray(300).item<int16_t>(), 300);
    EXPECT_THROW(asarray(300).item<int8_t>(), OverflowError);
    EXPECT_THROW(asarray(2.5).item<int>(), TypeError);
    EXPECT_THROW(asarray(std::complex<double>(1, 2)).item<double>(), TypeError);
    EXPECT_THROW(zeros(2).item<double>(), ValueError);
    EXPECT_EQ(ones({1, 1}).item<float>(), 1.0F);
    EXPECT_THROW((void)static_cast<double>(ones(1)), TypeError);
    EXPECT_EQ(static_cast<double>(ones({})), 1.0);
    EXPECT_TRUE(static_cast<bool>(asarray(0.5)));
    EXPECT_THROW((void)static_cast<bool>(zeros(2)), ValueError);
    EXPECT_THROW((void)static_cast<bool>(zeros(0)), ValueError);
}

TEST(CppApi, EinsumAndProducts) {
    const array a = {{1.0, 2.0}, {3.0, 4.0}}, b = {1.0, 10.0};
    expect_equal(einsum("ij,j", {a, b}), {21.0, 43.0});
    expect_equal(einsum("ij,j", {a, b}), matmul(a, b));
    EXPECT_TRUE(shares_memory(einsum("ii->i", {a}), a));
    EXPECT_THROW(einsum("ij,jk", {a, b}), ValueError);
}

TEST(CppApi, KroneckerProductsAndTriangles) {
    expect_equal(kron(array{1, 10}, array{5, 6}), {5, 6, 50, 60});
    expect_equal(kron(array{{1, 2}}, asarray(3)), {{3, 6}});
    EXPECT_EQ(kron(ones({2, 3}), ones(4)).shape(), (Dims{2, 12}));
    const array a = {{1, 2}, {3, 4}};
    expect_equal(tril(a), {{1, 0}, {3, 4}});
    expect_equal(triu(a), {{1, 2}, {0, 4}});
    expect_equal(tril(a) + triu(a, 1), a);
    expect_equal(triu(array{1, 2}, -1), {{1, 2}, {1, 2}});
    EXPECT_THROW(tril(asarray(1)), TypeError);
}

TEST(CppApi, CastsOfTheSameValues) {
    expect_equal(astype_same_value(array{1.0, 2.0}, ScalarType::kInt8),
                 astype(array{1, 2}, ScalarType::kInt8));
    expect_equal(astype_same_value(array{0.5, 2.0}, ScalarType::kFloat16),
                 astype(array{0.5, 2.0}, ScalarType::kFloat16));
    expect_equal(astype_same_value(array{0.5, 0.0}, ScalarType::kBool), array{true, false});
    EXPECT_THROW(astype_same_value(array{1.5}, ScalarType::kInt8), ValueError);
    EXPECT_THROW(astype_same_value(array{300}, ScalarType::kInt8), ValueError);
    EXPECT_THROW(astype_same_value(array{(int64_t{1} << 53) + 1}, ScalarType::kFloat64), ValueError);
    EXPECT_THROW(astype_same_value(array{0.1}, ScalarType::kFloat32), ValueError);
}

TEST(CppApi, PrintsShapesAndDtypes) {
    std::ostringstream text;
    text << zeros({2, 0}).shape() << Dims{3} << Dims{} << bool_ << array{1.5, 2.0};
    EXPECT_EQ(text.str(), "(2, 0)(3,)()bool[1.5 2. ]");
    EXPECT_EQ(to_string(array{1.0 / 3}, {.precision = 3}), "[0.333]");
}

}  // namespace
}  // namespace weft
