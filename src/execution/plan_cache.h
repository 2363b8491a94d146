// Plans that were made before, found again by the structure of the pending graph: a loop's iteration is
// planned once. The key has all that a plan depends on (operations, shapes, strides, which operands are one
// buffer, what the program holds), but neither addresses nor the values of constants; it is compared whole.
#pragma once

#include <span>
#include <vector>

#include "planning/planner.h"

namespace weft {

// The plan of an evaluation, ready to run: its groups' nodes are those of this evaluation. It goes back to
// the cache with the object.
class PlanLease {
public:
    PlanLease(const NodeSet& nodes, std::span<const NodePtr> roots, bool fuse);
    ~PlanLease();
    PlanLease(const PlanLease&) = delete;
    PlanLease& operator=(const PlanLease&) = delete;

    std::vector<Group>& groups();
    bool was_met_before() const;  // it has been run

private:
    struct Entry;
    friend class PlanCache;
    std::shared_ptr<Entry> entry_;
};

}  // namespace weft
