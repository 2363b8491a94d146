// The LU factors of a matrix, kept beside the version of its storage: solve, inv, det and slogdet of the same
// matrix again find them. They vanish when the array is written or freed, and the least recently used ones
// where all together would take more than kMostKeptBytes, or where memory runs out; weft.empty_pool() drops
// all.
#pragma once

#include <memory>

#include "api/linalg/inputs.h"
#include "library/linalg/one_lu.h"

namespace weft::linalg {

constexpr int64_t kMostKeptBytes = int64_t{256} << 20;

// Of a matrix in the host's memory, computed as `types` say: found, or made and kept. Null for what is not
// worth it: batches, small and very large matrices, and memory that others may write.
std::shared_ptr<const lapack::OneLu> kept_factors(const array& a, const Types& types);

}  // namespace weft::linalg
