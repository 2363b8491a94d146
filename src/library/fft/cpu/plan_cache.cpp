#include "library/fft/cpu/plan_cache.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "core/threads/fork.h"
#include "core/threads/short_lock.h"

namespace weft {

namespace {

constexpr size_t kMostPlans = 32;
constexpr size_t kMostBytes = size_t{64} << 20;

struct Entry {
    PlanKey key;
    std::shared_ptr<const void> plan;
    size_t bytes = 0;
};

// The latest used is the first. It is never destroyed: threads may outlive static destruction.
struct PlanCache {
    ShortLock lock;
    std::array<Entry, kMostPlans> entries;
    size_t count = 0, bytes = 0;
};

PlanCache& cache() {
    static PlanCache& made = *new PlanCache;
    return made;
}

}  // namespace

std::shared_ptr<const void> find_plan(const PlanKey& key) {
    PlanCache& known = cache();
    const ForkExclusion exclusion;
    const std::lock_guard guard(known.lock);
    const auto begin = known.entries.begin(), end = begin + static_cast<std::ptrdiff_t>(known.count);
    const auto found = std::find_if(begin, end, [&](const Entry& entry) { return entry.key == key; });
    if (found == end) return nullptr;
    if (found != begin) std::rotate(begin, found, found + 1);
    return begin->plan;
}

void keep_plan(const PlanKey& key, std::shared_ptr<const void> plan, size_t bytes) {
    if (bytes > kMostBytes / 2) return;
    std::array<Entry, kMostPlans> dropped;  // dies behind the lock
    size_t drops = 0;
    PlanCache& known = cache();
    const ForkExclusion exclusion;
    const std::lock_guard guard(known.lock);
    while (known.count == kMostPlans || (known.count > 0 && known.bytes + bytes > kMostBytes)) {
        Entry& last = known.entries[--known.count];
        known.bytes -= last.bytes;
        std::swap(dropped[drops++], last);
    }
    const auto begin = known.entries.begin();
    std::move_backward(begin, begin + static_cast<std::ptrdiff_t>(known.count),
                       begin + static_cast<std::ptrdiff_t>(known.count) + 1);
    *begin = {key, std::move(plan), bytes};
    known.bytes += bytes;
    ++known.count;
}

PlanCacheState plan_cache_state() {
    PlanCache& known = cache();
    const ForkExclusion exclusion;
    const std::lock_guard guard(known.lock);
    return {known.count, known.bytes};
}

void clear_plans() {
    std::array<Entry, kMostPlans> dropped;
    PlanCache& known = cache();
    const ForkExclusion exclusion;
    const std::lock_guard guard(known.lock);
    std::swap(dropped, known.entries);
    known.count = known.bytes = 0;
}

}  // namespace weft
