#include "library/ordering/sample_sort.h"

#include <atomic>
#include <bit>
#include <utility>

namespace weft {

namespace {

constexpr int64_t kWorthThreads = int64_t{1} << 16;  // keys; fewer are sorted by one thread
constexpr int64_t kLeastBucket = int64_t{1} << 11;   // keys
constexpr int64_t kBucketsPerThread = 8;             // so that all end at about the same time
constexpr int64_t kLeastPiece = int64_t{1} << 13;
constexpr int64_t kSlice = int64_t{1} << 15;  // of what needs no sorting

int64_t own_threads() { return in_parallel_task() ? 1 : num_threads(); }

}  // namespace

int buckets_worth_it(int64_t count, int64_t most_in_bucket) {
    const int64_t threads = own_threads();
    if (count < kWorthThreads || threads == 1) return 1;
    const int64_t wanted = std::max((count - 1) / most_in_bucket + 1, kBucketsPerThread * threads);
    const auto most = static_cast<uint64_t>(std::min<int64_t>(count / kLeastBucket, kMostBuckets));
    return static_cast<int>(std::min(std::bit_ceil(static_cast<uint64_t>(wanted)), std::bit_floor(most)));
}

PieceCounts::PieceCounts(int64_t count, int buckets)
    : count_(count),
      pieces_(std::clamp<int64_t>(count / kLeastPiece, 1, own_threads() == 1 ? 1 : 8 * own_threads())),
      buckets_(static_cast<size_t>(buckets)),
      counts_(static_cast<size_t>(pieces_) * buckets_) {}

int64_t PieceCounts::begin_of(int64_t piece) const {
    return count_ / pieces_ * piece + std::min(piece, count_ % pieces_);
}

std::vector<int64_t> PieceCounts::turn_into_places() {
    std::vector<int64_t> begins;
    int64_t place = 0;
    for (size_t bucket = 0; bucket < buckets_; ++bucket) {
        begins.push_back(place);
        for (size_t k = bucket; k < counts_.size(); k += buckets_) place += std::exchange(counts_[k], place);
    }
    begins.push_back(place);
    return begins;
}

void for_each_bucket(std::span<const Bucket> buckets, const std::function<void(const Bucket& bucket)>& work) {
    std::vector<Bucket> tasks;
    for (const Bucket& bucket : buckets) {
        const int64_t step = bucket.in_order ? kSlice : std::max<int64_t>(bucket.end - bucket.begin, 1);
        for (int64_t begin = bucket.begin; begin < bucket.end; begin += step)
            tasks.push_back({begin, std::min(begin + step, bucket.end), bucket.in_order});
    }
    std::ranges::stable_sort(tasks, [](const Bucket& a, const Bucket& b) {
        return a.in_order != b.in_order ? b.in_order : a.end - a.begin > b.end - b.begin;
    });
    std::atomic<size_t> next{0};
    parallel_for(own_threads(), [&](int64_t) {
        for (size_t k = next++; k < tasks.size(); k = next++) work(tasks[k]);
    });
}

}  // namespace weft
