// How often each position is there, and what the weights of each are together.
#include "library/counting/cuda/kernel_arguments.h"
#include "library/gpu/threads.h"

namespace {

using namespace weft::gpu;

constexpr uint64_t kSign = uint64_t{1} << 63;  // so that signed numbers are ordered as unsigned ones

uint64_t first_of_thread() { return uint64_t{block()} * kPositionThreads + thread(); }
uint64_t all_threads() { return uint64_t{blocks()} * kPositionThreads; }

}  // namespace

// The least and the largest position, into two numbers that are zero before: the largest, and the complement
// of the least, with their signs turned.
WEFT_GPU_KERNEL(weft_count_range, CountArguments, kPositionThreads, 4) {
    const auto* const positions = pointer<const uint64_t>(words.positions);
    uint64_t most = 0, least = 0;
    for (uint64_t at = first_of_thread(); at < words.count; at += all_threads()) {
        const uint64_t turned = positions[at] ^ kSign;
        most = turned > most ? turned : most;
        least = ~turned > least ? ~turned : least;
    }
#pragma unroll
    for (uint32_t distance = kWarp / 2; distance > 0; distance /= 2) {
        const uint64_t other_most = from_lane(most, lane() ^ distance),
                       other_least = from_lane(least, lane() ^ distance);
        most = other_most > most ? other_most : most;
        least = other_least > least ? other_least : least;
    }
    if (lane() != 0) return;
    auto* const range = pointer<uint64_t>(words.output);
    raise_to(&range[0], most);
    raise_to(&range[1], least);
}

// Counts of each block in its own memory, then in everybody's, which are zeros before.
WEFT_GPU_KERNEL(weft_count_few, CountArguments, kPositionThreads, 2) {
    const auto* const positions = pointer<const uint64_t>(words.positions);
    auto* const own = reinterpret_cast<uint32_t*>(block_memory());
    const auto bins = static_cast<uint32_t>(words.bins);
    for (uint32_t bin = thread(); bin < bins; bin += kPositionThreads) own[bin] = 0;
    barrier();
#pragma unroll 8
    for (uint64_t at = first_of_thread(); at < words.count; at += all_threads())
        add_to(&own[positions[at]], uint32_t{1});
    barrier();
    auto* const counts = pointer<uint64_t>(words.output);
    for (uint32_t bin = thread(); bin < bins; bin += kPositionThreads) {
        if (own[bin] != 0) add_to(&counts[bin], uint64_t{own[bin]});
    }
}

WEFT_GPU_KERNEL(weft_count_many, CountArguments, kPositionThreads, 4) {
    const auto* const positions = pointer<const uint64_t>(words.positions);
    auto* const counts = pointer<uint64_t>(words.output);
    for (uint64_t at = first_of_thread(); at < words.count; at += all_threads())
        add_to(&counts[positions[at]], uint64_t{1});
}

// The sum of the weights of each bin, whose elements are positions[begins[bin]] … of `order`: a team of
// threads for each bin, whose sums are added in one order, whatever the GPU.
WEFT_GPU_KERNEL(weft_count_weights, CountArguments, kPositionThreads, 4) {
    const auto team = static_cast<uint32_t>(words.team);  // 1, a warp or a block
    auto* const sums = reinterpret_cast<double*>(block_memory());
    const uint64_t bin = first_of_thread() / team, own = thread() % team;
    const auto* const begins = pointer<const uint64_t>(words.begins);
    const auto* const order = pointer<const uint64_t>(words.order);
    const auto* const weights = pointer<const double>(words.weights);
    double sum = 0;
    if (bin < words.bins) {
        const uint64_t begin = begins[bin], end = begins[bin + 1];
        for (uint64_t at = begin + own; at < end; at += team) sum += weights[order[at]];
    }
    if (team == 1) {
        if (bin < words.bins) pointer<double>(words.output)[bin] = sum;
        return;
    }
    sums[thread()] = sum;
    barrier();
    for (uint32_t distance = team / 2; distance > 0; distance /= 2) {
        if (own < distance) sums[thread()] += sums[thread() + distance];
        barrier();
    }
    if (own == 0 && bin < words.bins) pointer<double>(words.output)[bin] = sums[thread()];
}
