// What a sorted row says by its neighbours: where other elements begin, which ones are there again, which are
// alone. For unique elements and sets. In the host's memory, on all threads.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "weft/dtype.h"

namespace weft {

// Side by side, in the order of library/ordering/sort_keys.h.
struct OrderedElements {
    ScalarType type = ScalarType::kFloat64;
    const char* data = nullptr;
    int64_t count = 0;
    bool equal_nan = false;  // whether NaN equals NaN
};

enum class Neighbors : uint8_t {
    kFirst,  // the element before is another one, or none
    kAgain,  // the next element is equal
    kAlone,  // the elements on both sides are others, or none
};

struct SelectedElements {
    int64_t count = 0;
    BufferPtr values;  // side by side
    BufferPtr places;  // int64; none where not asked for
};

SelectedElements select_by_neighbors(const OrderedElements& row, Neighbors rule, bool with_places);

// inverse[order[i]] = how many elements up to i are kFirst, less one.
void number_by_order(const OrderedElements& row, const int64_t* order, int64_t* inverse);

// lengths[k] = places[k + 1] - places[k], behind the last of them `end`.
void distances_of_places(const int64_t* places, int64_t count, int64_t end, int64_t* lengths);
// to[k] = from[places[k]].
void take_at_places(const int64_t* from, const int64_t* places, int64_t count, int64_t* to);

}  // namespace weft
