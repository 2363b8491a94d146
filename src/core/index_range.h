// The interval in which the positions of an index array are known to lie.
#pragma once

#include <cstdint>

namespace weft {

struct IndexRange {
    int64_t low = INT64_MIN, high = INT64_MAX;  // both inclusive

    bool within(int64_t first, int64_t last) const { return first <= low && high <= last; }
};

}  // namespace weft
