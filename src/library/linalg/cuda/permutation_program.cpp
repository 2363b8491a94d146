// Which row comes to each place when the rows of a matrix are exchanged as its pivots say. The exchanges
// follow each other, so one thread makes them; the rows themselves are then moved all at once.
#include "library/gpu/threads.h"
#include "library/linalg/cuda/permutation_arguments.h"

namespace {

using namespace weft::gpu;

template <class T>
void exchange(T* order, const uint64_t* pivots, uint64_t rows) {
    for (uint64_t i = thread(); i < rows; i += threads()) order[i] = static_cast<T>(i);
    barrier();
    if (thread() == 0) {
        for (uint64_t i = 0; i < rows; ++i) {
            const uint64_t said = pivots[i] - 1;
            const uint64_t other = said < rows ? said : i;  // nan may leave anything among them
            const T kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
    }
    barrier();
}

}  // namespace

WEFT_GPU_KERNEL(weft_permutation, PermutationArguments, kPermutationThreads, 1) {
    const auto* const pivots = pointer<const uint64_t>(words.pivots) + block() * words.rows;
    auto* const output = pointer<uint64_t>(words.output) + block() * words.rows;
    if (words.in_block_memory == 0) return exchange(output, pivots, words.rows);
    auto* const order = reinterpret_cast<uint32_t*>(block_memory());
    exchange(order, pivots, words.rows);
    for (uint64_t i = thread(); i < words.rows; i += threads()) output[i] = order[i];
}
