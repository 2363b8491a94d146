// How running results (cumsum, accumulate) are combined. One place decides it, for kernels
// (lowering/lower_scan.cpp) and for eager work alike, from the operation and the length of a row only, so
// that every way gives the same bits.
#pragma once

#include <cstdint>
#include <optional>

#include "library/loops/strided_loops.h"
#include "ops/constant.h"
#include "ops/op.h"

namespace weft {

// A row is cut into chunks, a chunk into blocks. Within a block elements are combined one after another; a
// block's last result is combined with the one before the block, a chunk's with the one before the chunk:
//     result = before chunk ⊕ (before block ⊕ running result of the block)
// So a sum's error grows with block + chunk / block + n / chunk roundings instead of n, sums of numbers that
// are not negative never fall, and blocks and chunks can be worked on side by side.
constexpr int64_t kScanBlock = 128;
constexpr int64_t kScanChunk = 16384;

// What combined with any element, on the left, gives that element to the bit, for operations that may be
// combined in blocks. Others go from the first element to the last: those that are not associative, and
// products of floats, of which a block's may overflow where the running result does not.
std::optional<Constant> scan_identity(const OpInfo& op, ScalarType compute);

// Whether a row is combined from the first element to the last, without blocks.
bool scans_in_order(const OpInfo& op, ScalarType compute, int64_t length);

// Computes the running results along dimension `axis` with ahead-of-time loops.
void scan_eagerly(const OpInfo& op, const LoopInfo& loop, const Dims& shape, size_t axis,
                  const StridedData& input, const StridedData& output);

}  // namespace weft
