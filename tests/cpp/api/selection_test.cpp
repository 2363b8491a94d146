// Elements chosen by conditions, and packed bits, in C++. Values are tested beside NumPy in
// tests/python/numpy/test_selection.py, test_bits.py and test_every_function.py.
#include "support/array_testing.h"

namespace weft {
namespace {

TEST(Selection, Choices) {
    const array low = {1, 2, 3}, high = {10, 20, 30};
    expect_equal(choose(array{1, 0, 1}, {low, high}), {10, 2, 30});
    expect_equal(choose(array{3, -1, 2}, {low, high}, TakeMode::kWrap), {10, 20, 3});
    expect_equal(choose(array{3, -1, 2}, {low, high}, TakeMode::kClip), {10, 2, 30});
    const std::vector<array> many(12, low);
    expect_equal(choose(array{11, 3, 0}, many), low);
    const array out = zeros(3);
    choose(array{0, 1, 0}, std::vector<array>{low, high}, TakeMode::kRaise, out);
    expect_equal(out, {1.0, 20.0, 3.0});
    EXPECT_THROW(choose(array{2, 0, 0}, {low, high}), ValueError);
    EXPECT_THROW(choose(array{0.0}, {low, high}), TypeError);
    EXPECT_THROW(choose(array{0}, std::vector<array>{}), ValueError);
}

TEST(Selection, Cases) {
    const array x = arange(5);
    expect_equal(select({x < 2, x > 3}, {x, x * 10}, 7), {0, 1, 7, 7, 40});
    expect_equal(select({x < 2, x < 4}, {1.5, x}), {1.5, 1.5, 2.0, 3.0, 0.0});
    EXPECT_THROW(select({x < 2}, {1, 2}), ValueError);
    EXPECT_THROW(select({x}, {x}), TypeError);
    const array y = {-1.0, 2.0, 9.0};
    expect_equal(piecewise(y, {y < 0, y > 4}, {0.5, [](const array& some) { return sqrt(some); }}),
                 {0.5, 0.0, 3.0});
    expect_equal(piecewise(y, {y < 0}, {0, 1}), {0.0, 1.0, 1.0});
    EXPECT_THROW(piecewise(y, {y < 0}, {0, 1, 2}), ValueError);
}

TEST(Selection, WhereConditionsHold) {
    const array m = {{1, 0}, {0, 4}};
    expect_equal(argwhere(m), {{0, 0}, {1, 1}});
    EXPECT_EQ(argwhere(asarray(1)).shape(), (Dims{1, 0}));
    expect_equal(flatnonzero(m), {0, 3});
    expect_equal(compress(array{false, true}, m, 0), {{0, 4}});
    expect_equal(compress(array{false, true}, m), array{0});
    expect_equal(extract(m, array{{5, 6}, {7, 8}}), {5, 8});
    EXPECT_THROW(compress(m, m), ValueError);
    EXPECT_THROW(compress(array{false, false, true}, m, 0), IndexError);
}

TEST(Selection, Writes) {
    const array a = arange(6);
    place(a, a > 2, array{7, 8});
    expect_equal(a, {0, 1, 2, 7, 8, 7});
    putmask(a, a > 6, arange(6) * 10);
    expect_equal(a, {0, 1, 2, 30, 40, 50});
    putmask(a, a > 30, asarray(-1));
    expect_equal(a, {0, 1, 2, 30, -1, -1});
    put(a, array{0, -1, 1}, array{5, 6});
    expect_equal(a, {5, 5, 2, 30, -1, 6});
    put(a, array{7, -8}, asarray(9), TakeMode::kWrap);
    expect_equal(a, {5, 9, 2, 30, 9, 6});
    const array turned = transpose(reshape(arange(6), {2, 3}));
    put(turned, array{1, -1}, array{10, 20});
    expect_equal(turned, {{0, 10}, {1, 4}, {2, 20}});
    EXPECT_THROW(put(a, array{6}, asarray(1)), IndexError);
    EXPECT_THROW(put(turned, array{0, 6}, asarray(1)), IndexError);
    EXPECT_THROW(put(a, array{0.5}, asarray(1)), TypeError);
    EXPECT_THROW(place(a, a > 2, array{1.5}), TypeError);
    EXPECT_THROW(place(a, a > 2, zeros(0, int64)), ValueError);
    EXPECT_THROW(putmask(a, array{true}, a), ValueError);
    array fixed = arange(3);
    fixed.set_writeable(false);
    EXPECT_THROW(put(fixed, array{0}, asarray(1)), ValueError);
}

TEST(Bits, PackedAndUnpacked) {
    expect_equal(packbits(array{true, false, true}), array{uint8_t{160}});
    expect_equal(packbits(array{1, 0, 1}, {}, BitOrder::kLittle), array{uint8_t{5}});
    const array truths = (arange(7 * 19 * 5) * 7919) % 3 == 0;
    const array block = reshape(truths, {7, 19, 5});
    for (const array& each : {block, transpose(block)}) {
        for (int64_t axis = 0; axis < 3; ++axis) {
            for (const BitOrder order : {BitOrder::kBig, BitOrder::kLittle}) {
                const array packed = packbits(each, axis, order);
                const int64_t length = each.shape()[static_cast<size_t>(axis)];
                EXPECT_EQ(packed.shape()[static_cast<size_t>(axis)], (length + 7) / 8);
                expect_equal(astype(unpackbits(packed, axis, length, order), bool_), each);
            }
        }
    }
    const array bytes = {uint8_t{3}};
    expect_equal(array(unpackbits(bytes)(slice(6, none))), {uint8_t{1}, uint8_t{1}});
    EXPECT_EQ(unpackbits(bytes, {}, 11).size(), 11);
    EXPECT_EQ(unpackbits(bytes, {}, -3).size(), 5);
    EXPECT_THROW(packbits(array{1.0}), TypeError);
    EXPECT_THROW(packbits(array{1}, 1), AxisError);
    EXPECT_THROW(unpackbits(array{1}), TypeError);
    EXPECT_THROW(unpackbits(bytes, {}, -9), ValueError);
}

TEST(Bits, ManyOnAllThreads) {
    const array truths = (arange(300007) * 31) % 7 < 3;
    const array integers = astype(truths, int32) * 256;
    const array packed = packbits(truths);
    expect_equal(packed, packbits(integers));
    expect_equal(unpackbits(packed, {}, truths.size()), astype(truths, uint8));
}

}  // namespace
}  // namespace weft
