// An array's elements side by side in the host's memory, for routines that look at values at the call.
#pragma once

#include <utility>

#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "weft/ops.h"

namespace weft {

class HostRow {
public:
    // Of an array on the CPU, in C order; evaluated, or copied where it lies otherwise or others may change
    // it.
    explicit HostRow(const array& input)
        : dense_(input.c_contiguous() && !is_exported(input) ? input : copy(input, 'C')),
          held_(evaluate_storage(*dense_.storage())) {}

    ScalarType type() const { return dense_.dtype().scalar_type(); }
    int64_t count() const { return dense_.size(); }
    const char* data() const { return held_->data() + dense_.offset(); }
    template <class T>
    const T* as() const {
        return reinterpret_cast<const T*>(data());
    }

private:
    array dense_;
    BufferPtr held_;
};

// What a routine has written, as an array of one dimension.
inline array row_of(BufferPtr buffer, DType dtype, int64_t count) {
    return array_of(std::move(buffer), dtype, Dims{count}, Dims{dtype.itemsize()});
}

// Room for `count` int64 in the host's memory.
class HostPositions {
public:
    explicit HostPositions(int64_t count)
        : buffer_(cpu_device().allocate(static_cast<size_t>(count) * sizeof(int64_t))), count_(count) {}

    int64_t* data() const { return reinterpret_cast<int64_t*>(buffer_->data()); }
    array finish() { return row_of(std::move(buffer_), ScalarType::kInt64, count_); }

private:
    BufferPtr buffer_;
    int64_t count_;
};

}  // namespace weft
