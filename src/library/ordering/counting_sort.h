// Integers whose values lie close together, sorted and told apart without comparing them. For what is
// different, a bit for each value that there could be is set where it is there; how many bits come before
// says which one a value is. For the order, values are counted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/device.h"
#include "weft/dtype.h"

namespace weft {

// Side by side in the host's memory: integers or bools.
struct IntegerRow {
    ScalarType type = ScalarType::kInt64;
    const char* data = nullptr;
    int64_t count = 0;
};

// As sort keys (library/ordering/sort_keys.h), which are unsigned.
struct KeyRange {
    uint64_t low = 0;
    uint64_t width = 0;  // of the highest key above the lowest
};

// The range of a row's keys, if there are some and none is further than `most` from another.
std::optional<KeyRange> range_if_dense(const IntegerRow& row, uint64_t most);

class UniqueIntegers {
public:
    // How far keys may lie from each other: as long as this is less work than sorting, in less memory.
    static uint64_t most_apart(int64_t count);

    // Both are what this object reads later, too.
    UniqueIntegers(const IntegerRow& row, const KeyRange& range);

    int64_t count() const { return before_.back(); }
    // The values in order, of the row's type.
    void write_values(char* to) const;
    // For each of them where it is first, and how often it is there; for each element which one it is. Null:
    // not asked for.
    void describe(int64_t* first, int64_t* counts, int64_t* inverse) const;

private:
    IntegerRow row_;
    KeyRange range_;
    BufferPtr bits_;               // one for each key
    BufferPtr ranks_;              // uint32: how many are set before each word of them
    std::vector<int64_t> before_;  // how many before each part of the words
};

// Writes the row in order, its type side by side, by counting, if there are several elements for each value
// that there could be; else writes nothing.
bool try_to_sort_by_counts(const IntegerRow& row, char* to);

// found[i] = whether element i, an integer or bool of any type, is one of `wanted`, whose keys have this
// range; with `invert` whether it is not.
void find_members(const IntegerRow& elements, const IntegerRow& wanted, const KeyRange& range, bool invert,
                  bool* found);

}  // namespace weft
