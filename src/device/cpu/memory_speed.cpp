#include "device/cpu/memory_speed.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/threads/thread_pool.h"
#include "device/device.h"

namespace weft {

namespace {

constexpr int64_t kLeastBytes = int64_t{64} << 20;  // of an array
constexpr int64_t kMostBytes = int64_t{512} << 20;  // also where caches are larger than that
constexpr int64_t kPart = 1 << 16;                  // elements of a task
constexpr int kRounds = 5;

using Vector = double __attribute__((vector_size(16)));

// By non-temporal stores, as weft's kernels write what they do not read again: nothing is fetched to be
// overwritten.
void triad(double* a, const double* b, const double* c, int64_t count) {
    for (int64_t k = 0; k + 2 <= count; k += 2) {
        const auto& left = *reinterpret_cast<const Vector*>(b + k);
        const auto& right = *reinterpret_cast<const Vector*>(c + k);
        __builtin_nontemporal_store(left + 3.0 * right, reinterpret_cast<Vector*>(a + k));
    }
}

double measure() {
    const int64_t bytes = std::clamp(2 * cpu_device().cache_bytes(), kLeastBytes, kMostBytes);
    const int64_t count = bytes / static_cast<int64_t>(sizeof(double));
    const BufferPtr buffers[3] = {cpu_device().allocate(static_cast<size_t>(bytes)),
                                  cpu_device().allocate(static_cast<size_t>(bytes)),
                                  cpu_device().allocate(static_cast<size_t>(bytes))};
    double* arrays[3];
    for (size_t k = 0; k < 3; ++k) arrays[k] = reinterpret_cast<double*>(buffers[k]->data());
    const int64_t parts = (count + kPart - 1) / kPart;
    parallel_for(parts, [&](int64_t part) {  // pages are where their thread is
        const int64_t begin = part * kPart, end = std::min(count, begin + kPart);
        for (double* values : arrays) std::fill(values + begin, values + end, 1.0);
    });
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        parallel_for(parts, [&](int64_t part) {
            const int64_t begin = part * kPart;
            triad(arrays[0] + begin, arrays[1] + begin, arrays[2] + begin, std::min(count - begin, kPart));
        });
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        best = std::max(best, 3 * static_cast<double>(bytes) / seconds.count());
    }
    return best;
}

}  // namespace

double measured_memory_speed() {
    static const double speed = measure();
    return speed;
}

}  // namespace weft
