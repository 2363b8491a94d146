#include "library/counting/count_loops.h"

#include <algorithm>
#include <vector>

#include "core/threads/thread_pool.h"

namespace weft {

namespace {

constexpr int64_t kPart = int64_t{1} << 17;
constexpr int64_t kMostParts = 16;

// Parts with sums of their own, as long as all these are few beside the elements.
int64_t parts_of(size_t positions, size_t sums) {
    const auto count = static_cast<int64_t>(positions);
    const int64_t most = std::max<int64_t>(1, count / (4 * std::max<int64_t>(static_cast<int64_t>(sums), 1)));
    return std::clamp<int64_t>(count / kPart, 1, std::min(kMostParts, most));
}

// `add(i, sums)` for each element, in parts; the parts' sums are added in order.
template <class Sum, class Add>
void in_parts(size_t count, std::span<Sum> sums, const Add& add) {
    const int64_t parts = parts_of(count, sums.size());
    const auto walk = [&](int64_t part, Sum* own) {
        const auto begin = static_cast<size_t>(static_cast<int64_t>(count) * part / parts);
        const auto end = static_cast<size_t>(static_cast<int64_t>(count) * (part + 1) / parts);
        constexpr size_t kTogether = size_t{1} << 20;
        for (size_t i = begin; i < end;) {
            if (i != begin) pause_task();
            for (const size_t stop = std::min(end, i + kTogether); i < stop; ++i) add(i, own);
        }
    };
    if (parts == 1) {
        walk(0, sums.data());
        return;
    }
    std::vector<std::vector<Sum>> own(static_cast<size_t>(parts));
    parallel_for(parts, [&](int64_t part) {
        own[static_cast<size_t>(part)].resize(sums.size());
        walk(part, own[static_cast<size_t>(part)].data());
    });
    for (const std::vector<Sum>& each : own) {
        for (size_t k = 0; k < sums.size(); ++k) sums[k] += each[k];
    }
}

}  // namespace

CountedRange range_of_positions(std::span<const int64_t> positions) {
    if (positions.empty()) return {};
    const auto count = static_cast<int64_t>(positions.size());
    const int64_t parts = (count + kPart - 1) / kPart;
    std::vector<CountedRange> ranges(static_cast<size_t>(parts));
    parallel_for(parts, [&](int64_t part) {
        const auto begin = static_cast<size_t>(part * kPart);
        const size_t end = std::min(positions.size(), begin + static_cast<size_t>(kPart));
        int64_t low = positions[begin], high = low;
        for (size_t i = begin; i < end; ++i) {
            low = std::min(low, positions[i]);
            high = std::max(high, positions[i]);
        }
        ranges[static_cast<size_t>(part)] = {low, high};
    });
    CountedRange all = ranges[0];
    for (const CountedRange& each : ranges)
        all = {std::min(all.low, each.low), std::max(all.high, each.high)};
    return all;
}

void count_positions(std::span<const int64_t> positions, std::span<int64_t> counts) {
    in_parts(positions.size(), counts, [&](size_t i, int64_t* own) { ++own[positions[i]]; });
}

void add_weights(std::span<const int64_t> positions, const double* weights, std::span<double> sums) {
    in_parts(positions.size(), sums, [&](size_t i, double* own) { own[positions[i]] += weights[i]; });
}

}  // namespace weft
