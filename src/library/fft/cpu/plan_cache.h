// What transforms of one length need beside their numbers (factors, roots of unity), kept for the next of
// that length: the latest used, up to a number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace weft {

struct PlanKey {
    const void* family = nullptr;  // one for each type of plan
    int64_t length = 0;
    bool alone = false;  // for a row that is transformed by itself

    friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

// Null where there is none.
std::shared_ptr<const void> find_plan(const PlanKey& key);
void keep_plan(const PlanKey& key, std::shared_ptr<const void> plan, size_t bytes);

struct PlanCacheState {
    size_t plans = 0, bytes = 0;
};
PlanCacheState plan_cache_state();
void clear_plans();

// A plan, which is made by Plan(length, alone) and counts its bytes by Plan::footprint().
template <class Plan>
std::shared_ptr<const Plan> plan_of(int64_t length, bool alone) {
    static const char family = 0;
    const PlanKey key{&family, length, alone};
    if (auto known = find_plan(key)) return std::static_pointer_cast<const Plan>(std::move(known));
    auto plan = std::make_shared<const Plan>(static_cast<size_t>(length), alone);
    keep_plan(key, plan, plan->footprint());
    return plan;
}

}  // namespace weft
