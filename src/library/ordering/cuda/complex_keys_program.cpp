// The keys of complex128: two numbers each, since no integer has so many bits.
#include "library/gpu/threads.h"
#include "library/ordering/cuda/order_keys.h"

using namespace weft::gpu;

WEFT_GPU_KERNEL(weft_complex_keys, ComplexKeyArguments, kEachThreads, 4) {
    const uint64_t at = uint64_t{block()} * kEachThreads + thread();
    if (at >= words.count) return;
    const uint64_t* const parts = pointer<const uint64_t>(words.input) + 2 * at;
    const auto key = complex_key<uint64_t>(parts[0], parts[1], 0x7ff0000000000000, true);
    pointer<uint64_t>(words.high)[at] = key.high;
    pointer<uint64_t>(words.low)[at] = key.low;
}
