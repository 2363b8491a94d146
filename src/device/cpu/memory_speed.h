// How fast this machine's memory is, as a kernel could have it.
#pragma once

namespace weft {

// Bytes a second of a = b + s * c over arrays that no cache holds, on weft's threads. Measured at the first
// call, in some tenths of a second.
double measured_memory_speed();

}  // namespace weft
