// Reads and writes at computed positions, done at the call: for few elements whose values are host-resident,
// and in memory that is exported. Positions are read once, checked and then used, so that memory which
// others change meanwhile is never read or written out of bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/index_range.h"
#include "device/device.h"
#include "library/loops/strided_loops.h"

namespace weft {

struct IndexData {
    StridedData index;  // integers; strides over the result's shape
    int64_t extent = 0, stride = 0;
};

// Whether both are in the host's memory and have bytes in common there, as memory has that others lent twice.
bool share_bytes(const Buffer& a, const Buffer& b);

struct OutOfBounds {
    size_t which = 0;  // of the indices
    int64_t position = 0;
};

// out[i] = the element at data + Σ data.strides · i + Σ stride · index[i], where a negative index counts from
// the end. Stops before anything is written at the first index that is out of bounds.
std::optional<OutOfBounds> gather_eagerly(const Dims& shape, const StridedData& data,
                                          std::span<const IndexData> indices, const StridedData& out);

// The other way: those elements of `data` become value[i], of the same type, one after another, so that the
// last one stays. The values do not overlap what is written.
std::optional<OutOfBounds> scatter_eagerly(const Dims& shape, const StridedData& data,
                                           std::span<const IndexData> indices, const StridedData& value);

// One row of indices along one axis, the elements of which are `step` bytes apart: the quick case of the two.
struct IndexRow {
    const char* data = nullptr;  // integers, `stride` bytes apart
    int64_t stride = 0;
    ScalarType type = ScalarType::kInt64;
    int64_t count = 0, extent = 0, step = 0;
};

// Elements of `bytes` bytes, one after another, into `out`. Answers with the first index that is out of
// bounds, or says in which range all are.
std::optional<int64_t> gather_row(const char* data, const IndexRow& row, int64_t bytes, char* out,
                                  IndexRange& range);
// The same of few: each index is used as soon as it is read, so that `out` is half written where one is out
// of bounds.
std::optional<int64_t> gather_few(const char* data, const IndexRow& row, int64_t bytes, char* out);
// The other way, `value_stride` bytes from one value to the next. Nothing is written if an index is out of
// bounds.
std::optional<int64_t> scatter_row(char* data, const IndexRow& row, int64_t bytes, const char* values,
                                   int64_t value_stride);

// The first integer in C order that is no position on an axis of that extent.
std::optional<int64_t> first_out_of_bounds(const Dims& shape, const StridedData& index, int64_t extent);

}  // namespace weft
