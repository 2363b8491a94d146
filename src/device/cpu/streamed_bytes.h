// Which results are written past the caches, by non-temporal stores.
#pragma once

#include <cstdint>

namespace weft {

// Results of more bytes may be: WEFT_STREAM, or what stays in the caches.
int64_t streamed_bytes();

}  // namespace weft
