#include "api/counting/bincount_on_gpu.h"

#include <algorithm>
#include <array>

#include "api/recording/deferred_checks.h"
#include "api/recording/gpu_input.h"
#include "core/shape.h"
#include "execution/kernels/gpu_programs.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/counting/cuda/kernel_arguments.h"
#include "weft/ops.h"

namespace weft {

namespace {

using namespace gpu;

void launch(DeviceBackend& device, const char* entry, const CountArguments& words, int64_t blocks,
            uint32_t shared_bytes) {
    launch_program(device, "count", entry, words, {blocks_of(blocks), kPositionThreads, 1, shared_bytes});
}

// Enough to fill the device, none without something to do.
int64_t blocks_for(DeviceBackend& device, int64_t count) {
    return std::min<int64_t>((count + kPositionThreads - 1) / kPositionThreads, 8 * multiprocessors(device));
}

// The least and the largest.
std::pair<int64_t, int64_t> range_of(DeviceBackend& device, CountArguments words, const BufferPtr& source) {
    std::array<uint64_t, 2> found{};
    const BufferPtr range = device.allocate(sizeof found);
    clear_on_gpu(*range, 0, sizeof found);
    words.output = range->address();
    launch(device, "weft_count_range", words, blocks_for(device, static_cast<int64_t>(words.count)), 0);
    decide(source->poison());
    device.copy_out(reinterpret_cast<char*>(found.data()), *range, 0, sizeof found);
    constexpr uint64_t kSign = uint64_t{1} << 63;
    return {static_cast<int64_t>(~found[1] ^ kSign), static_cast<int64_t>(found[0] ^ kSign)};
}

// Positions in order, and where each begins among them: then each has its weights side by side.
BufferPtr sums_of_weights(DeviceBackend& device, CountArguments words, const array& positions,
                          const array& weights) {
    const auto bins = static_cast<int64_t>(words.bins), count = positions.size();
    const array order = argsort(positions, 0);
    const array sorted = take(positions, order, {}, TakeMode::kClip);
    const DType whole(ScalarType::kInt64);
    const array begins =
        searchsorted(sorted, arange(Integer(0), Integer(bins + 1), Integer(1), whole), false);
    const array given = dense_on_gpu(weights);
    const ProgramInput order_input(order), begin_input(begins), weight_input(given);
    BufferPtr sums = device.allocate(static_cast<size_t>(bins) * sizeof(double));
    words.order = order_input.address();
    words.begins = begin_input.address();
    words.weights = weight_input.address();
    words.output = sums->address();
    const int64_t mean = count / std::max<int64_t>(bins, 1);
    words.team = mean < 32 ? 1 : mean < 2048 ? 32 : kPositionThreads;
    ProgramRecord record(device, "bincount", count * 16, bins * 8, count);
    launch(device, "weft_count_weights", words,
           (bins * static_cast<int64_t>(words.team) + kPositionThreads - 1) / kPositionThreads,
           kPositionThreads * sizeof(double));
    record.finish();
    sums->set_poison(weight_input.buffer()->poison());
    return sums;
}

}  // namespace

array bincount_on_gpu(const array& input, const array& weights, int64_t least) {
    DeviceBackend& device = device_of(input);
    const DeviceScope scope(device);
    const array positions = dense_on_gpu(input);
    const ProgramInput from(positions);
    CountArguments words{};
    words.positions = from.address();
    words.count = static_cast<uint64_t>(positions.size());
    int64_t bins = least;
    if (positions.size() != 0) {
        const auto [low, high] = range_of(device, words, from.buffer());
        if (low < 0) throw ValueError("'list' argument must have no negative elements");
        // one more than the highest position, unless that is the largest integer: it is refused as too big
        bins = std::max(least, std::min(high, INT64_MAX - 1) + 1);
    }
    const DType dtype = weights.valid() ? ScalarType::kFloat64 : ScalarType::kInt64;
    const auto bytes = static_cast<size_t>(checked_bytes(Dims{bins}, dtype));
    words.bins = static_cast<uint64_t>(bins);
    BufferPtr counts;
    if (weights.valid() && positions.size() != 0 && bins != 0) {
        counts = sums_of_weights(device, words, positions, weights);
    } else {
        counts = device.allocate(bytes);
        clear_on_gpu(*counts, 0, bytes);
        words.output = counts->address();
        if (positions.size() != 0) {
            const bool few = bins <= int64_t{kFewBins};
            ProgramRecord record(device, "bincount", positions.nbytes(), static_cast<int64_t>(bytes),
                                 positions.size());
            launch(device, few ? "weft_count_few" : "weft_count_many", words,
                   std::max<int64_t>(blocks_for(device, positions.size()), 1),
                   few ? static_cast<uint32_t>(bins * 4) : 0);
            record.finish();
        }
    }
    return array_of(std::move(counts), dtype, Dims{bins}, Dims{dtype.itemsize()});
}

}  // namespace weft
