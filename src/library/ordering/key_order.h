// The order of keys of 64 bits, as positions. A key and its position do not fit into 64 bits together; but
// keys that are sorted together mostly differ in their leading bits, which do: so the leading bits with the
// position behind them are sorted as one number, and what has equal ones is put in order afterwards.
#pragma once

#include <cstdint>
#include <span>

namespace weft {

// order = the positions of the keys, as many, from the smallest to the largest key; of equal ones the first
// comes first.
void order_of_keys(std::span<const uint64_t> keys, std::span<uint64_t> order);

}  // namespace weft
