// What the programs for small matrices on a GPU have in common: a thread has a matrix.
#pragma once

#include <algorithm>
#include <string>

#include "api/linalg/inputs.h"
#include "api/recording/gpu_input.h"
#include "core/threads/way_taken.h"
#include "execution/kernels/gpu_programs.h"
#include "weft/operations.h"

namespace weft::linalg::gpu {

// Square matrices of so many rows have programs of their own, others those for up to 16.
constexpr int64_t kMostKnown = 4, kMostSmall = 16;

struct SmallSides {
    explicit SmallSides(const array& a)
        : rows(a.shape()[a.shape().size() - 2]),
          columns(a.shape().back()),
          most(std::max(rows, columns)),
          least(std::min(rows, columns)),
          count(a.size() / std::max<int64_t>(rows * columns, 1)) {}
    bool are_known() const { return rows == columns && rows >= 2 && rows <= kMostKnown; }
    int64_t rows, columns, most, least, count;
};

// What a program reads: the elements as `dtype`, in C order.
inline array small_input(const array& a, DType dtype) {
    return dense_on_gpu(a.dtype() == dtype ? a : astype(a, dtype, 'C'));
}

// The strides of a matrix in C order, or of the transposed one.
inline void set_small_strides(uint64_t& row, uint64_t& column, int64_t columns, bool transposed) {
    row = static_cast<uint64_t>(transposed ? 1 : columns);
    column = static_cast<uint64_t>(transposed ? columns : 1);
}

// Queues "weft_<kind>_<bits>_<rows>", which the history names by the matrices of `a`.
template <class Words>
void launch_small(const std::string& kind, const array& a, DType dtype, bool known, uint32_t threads,
                  const Words& words) {
    DeviceBackend& device = device_of(a);
    const SmallSides sides(a);
    const auto count = static_cast<int64_t>(words.count);
    const std::string program =
        kind + (dtype.itemsize() == 8 ? "_64_" : "_32_") + std::to_string(known ? sides.rows : kMostSmall);
    const int64_t bytes = count * sides.rows * sides.columns * dtype.itemsize();
    way_taken = {"a program of weft's own", "a matrix a thread", 0};
    ProgramRecord record(device,
                         kind + " " + std::string(dtype.name()) + " " + std::to_string(count) + "*" +
                             std::to_string(sides.rows) + "x" + std::to_string(sides.columns),
                         bytes, bytes, count * sides.rows * sides.columns);
    launch_program(device, program, "weft_" + program, words, {blocks_of(count, threads), threads, 1, 0});
    record.finish();
}

}  // namespace weft::linalg::gpu
