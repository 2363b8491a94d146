// Texts in C++. Many texts of every kind are tested beside NumPy in tests/python/numpy/texts/test_texts.py.
#include <gtest/gtest.h>

#include <string>

#include "support/array_testing.h"
#include "weft/texts.h"

namespace weft {
namespace {

using texts::Character;
using texts::View;

// Of three bytes: "to", "be", "or", "not", "to".
const char kWords[] = "to\0be\0or\0notto";
View words() { return {kWords, {5}, {3}, 3, Character::kByte}; }

TEST(Texts, AreOrdered) {
    const View input = words();
    expect_equal(texts::argsort(input), {1, 3, 2, 0, 4});
    std::string memory(15, '?');
    texts::sort(input, 0, {memory.data(), {3}, 3});
    EXPECT_EQ(memory, std::string("be\0notor\0to\0to\0", 15));
    expect_equal(texts::ranks(input), {3, 0, 2, 1, 3});
    expect_equal(texts::searchsorted({memory.data(), {5}, {3}, 3, Character::kByte}, input, true),
                 {5, 1, 3, 2, 5});
}

TEST(Texts, AreOrderedAlongAnAxis) {
    const char32_t letters[] = U"dacbef";
    const View input{letters, {2, 3}, {12, 4}, 1, Character::kCodePoint};
    expect_equal(texts::argsort(input, 0), {{1, 0, 0}, {0, 1, 1}});
    std::u32string memory(6, U'?');
    texts::sort(input, 0, {memory.data(), {12, 4}, 1});
    EXPECT_EQ(memory, U"bacdef");
    EXPECT_THROW(texts::argsort(input, 2), AxisError);
}

TEST(Texts, AreSets) {
    const View input = words();
    const Unique found = texts::unique(input, {.inverse = true, .counts = true});
    expect_equal(found.first, {1, 3, 2, 0});
    expect_equal(found.inverse, {3, 0, 2, 1, 3});
    expect_equal(found.counts, {1, 1, 1, 2});
    std::string memory(12, '?');
    texts::take(input, found.first, {memory.data(), {3}, 3});
    EXPECT_EQ(memory, std::string("be\0notor\0to\0", 12));
    const View wider{"or\0\0\0to\0\0\0", {2}, {5}, 5, Character::kByte};
    expect_equal(texts::isin(input, wider), {true, false, true, false, true});
    expect_equal(texts::isin(input, wider, true), {false, true, false, true, false});
}

TEST(Texts, AreComparedAndSearched) {
    const View input = words(), to{"to\0\0", {}, {}, 4, Character::kByte};
    expect_equal(texts::compare(input, to, texts::Comparison::kEqual), {true, false, false, false, true});
    expect_equal(texts::compare(input, to, texts::Comparison::kGreaterEqual),
                 {true, false, false, false, true});
    expect_equal(texts::str_len(input), {2, 2, 2, 3, 2});
    const View o{"o", {}, {}, 1, Character::kByte};
    expect_equal(texts::find(input, o), {1, -1, 0, 1, 1});
    expect_equal(texts::count(input, o), {1, 0, 1, 1, 1});
    expect_equal(texts::startswith(input, o), {false, false, true, false, false});
    expect_equal(texts::startswith(input, o, true), {true, false, false, false, true});
}

TEST(Texts, BecomeOthers) {
    const View input = words(), o{"o", {}, {}, 1, Character::kByte};
    std::string memory(20, '?');
    texts::add(input, o, {memory.data(), {4}, 4});
    EXPECT_EQ(memory, std::string("too\0beo\0oro\0nototoo\0", 20));
    memory.assign(15, '?');
    texts::strip(input, &o, texts::Ends::kBoth, {memory.data(), {3}, 3});
    EXPECT_EQ(memory, std::string("t\0\0be\0r\0\0nott\0\0", 15));
    texts::change_case(input, texts::Case::kTitle, {memory.data(), {3}, 3});
    EXPECT_EQ(memory, std::string("To\0Be\0Or\0NotTo\0", 15));
}

TEST(Texts, TellsWhoseCaseIsNotOfAscii) {
    const char32_t letters[] = U"aéb";
    std::u32string memory(3, U'?');
    const View input{letters, {3}, {4}, 1, Character::kCodePoint};
    expect_equal(texts::change_case(input, texts::Case::kUpper, {memory.data(), {4}, 1}), {1});
    EXPECT_EQ(memory[0], U'A');
    EXPECT_EQ(memory[2], U'B');
}

TEST(Texts, RefusesWhatDoesNotGoTogether) {
    const View bytes = words();
    const View points{U"ab", {2}, {4}, 1, Character::kCodePoint};
    EXPECT_THROW(texts::compare(bytes, points, texts::Comparison::kEqual), TypeError);
    EXPECT_THROW(texts::isin(bytes, points), TypeError);
    EXPECT_THROW(texts::str_len({kWords, {1}, {1}, 0, Character::kByte}), ValueError);
    char memory[64];
    EXPECT_THROW(texts::add(bytes, bytes, {memory, {3}, 3}), ValueError);
    const View three{kWords, {3}, {3}, 3, Character::kByte};
    EXPECT_THROW(texts::find(bytes, three), ValueError);
}

}  // namespace
}  // namespace weft
