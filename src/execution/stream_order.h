// How work on a GPU is ordered with what others queue there, who hold memory of weft's or have lent theirs.
// docs/guide/sharing.md tells the rules.
#pragma once

#include <span>
#include <vector>

#include "device/device.h"
#include "graph/node.h"

namespace weft {

// An evaluation of these nodes, where they read or write memory of GPUs that others hold too: begins after
// what they have queued on CUDA's default stream, and what they queue there later comes after it.
class OrderWithOthers {
public:
    explicit OrderWithOthers(std::span<Node* const> nodes);
    void end();  // the destructor's work, for those who hear of errors
    OrderWithOthers(const OrderWithOthers&) = delete;
    OrderWithOthers& operator=(const OrderWithOthers&) = delete;
    ~OrderWithOthers();

private:
    std::vector<DeviceBackend*> devices_;
};

// The same for a read of one buffer that the host waits for.
void wait_for_others(const Buffer& buffer);

}  // namespace weft
