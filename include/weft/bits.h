// Packed bits: eight truths in a byte.
#pragma once

#include <cstdint>
#include <optional>

#include "weft/array.h"

namespace weft {

/// Which bit of a byte comes first: the one that counts most, as numbers are written, or the one that counts
/// least.
enum class BitOrder : uint8_t { kBig, kLittle };

/// np.packbits: eight elements of an array of bools or integers, true where they are not 0, in each byte of
/// uint8; filled up by zeros. Along an axis, which is shorter by 8 then, or of the flattened array. Throws
/// TypeError for other dtypes, AxisError.
///
///     packbits(array{true, false, true}) is {160}
array packbits(const array& a, std::optional<int64_t> axis = {}, BitOrder order = BitOrder::kBig);

/// np.unpackbits: the bits of bytes as zeros and ones, uint8. `count` says how many along the axis: the first
/// ones, or zeros behind all; a negative one how many are left out. Throws TypeError for another dtype than
/// uint8, ValueError where more are left out than there are, AxisError.
///
///     unpackbits(packbits(array{1, 0, 1}), {}, 3) is {1, 0, 1}
array unpackbits(const array& a, std::optional<int64_t> axis = {}, std::optional<int64_t> count = {},
                 BitOrder order = BitOrder::kBig);

}  // namespace weft
