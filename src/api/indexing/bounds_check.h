// The indices of a read or a write at computed positions, between the call and the node: each is captured in
// the version that the node will read, and its bounds are checked, unless what is recorded proves them.
#pragma once

#include <vector>

#include "api/indexing/gather.h"
#include "graph/index_range.h"
#include "graph/node.h"

namespace weft {

// The strides of an index over the result's shape.
Dims strides_in_result(const GatherAxis& axis, const Dims& shape);

// Indices that broadcast to nothing are not checked.
bool reads_nothing(const GatherAxis& axis, const Dims& shape);

class BoundsCheck {
public:
    // Of positions on axes of an array on `device`, over `shape`.
    BoundsCheck(std::span<const GatherAxis> axes, const Dims& shape, DeviceBackend& device);

    // Throws IndexError for positions out of bounds; what is left for later is `poison`
    // (api/recording/deferred_checks.h).
    void check();

    // Gives the positions to the node, which holds them alone from here on: their producers may join its
    // kernel.
    void move_to(Node& node);

private:
    // One index, in the version that will be read.
    struct Checked {
        Operand operand;  // over the index's own shape
        array view;       // of a storage of its own, whose version nobody changes
        IndexRange range;
        array low, high;  // while it is checked
    };

    static Checked capture(array& index);
    bool is_proven(size_t k) const;
    array version_of(size_t k) const;
    void leave_for_later(size_t k);
    [[noreturn]] static void throw_wrong(const Checked& index, const GatherAxis& axis);

    std::vector<GatherAxis> axes_;
    const Dims& shape_;
    DeviceBackend& device_;
    std::vector<Checked> indices_;
    PoisonPtr poison_;
};

}  // namespace weft
