#include "api/indexing/gather.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "api/indexing/bounds_check.h"
#include "api/recording/record.h"
#include "api/recording/transfer.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/indexed_view.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "graph/storage_locks.h"
#include "library/indexing/gather_loops.h"
#include "weft/ops.h"

namespace weft {

namespace {

// Few elements whose values are host-resident: checked and copied now.
bool try_eager_gather(const GatherRequest& request, array& result) {
    int64_t indexed = 1;  // places that indices name: a piece of the data may be empty, they are checked
    for (const GatherAxis& axis : request.axes) indexed = std::max(indexed, axis.index.size());
    const int64_t count = element_count(request.shape);
    if (!is_small(count) || !is_small(indexed) || request.axes.size() >= StorageLocks::kMost) return false;
    StorageLocks locks;
    locks.add(*request.data.storage());
    for (const GatherAxis& axis : request.axes) locks.add(*axis.index.storage());
    locks.lock();
    if (!locks.all_host_resident()) return false;
    const DType dtype = request.data.dtype();
    std::vector<Dims> strides;
    strides.reserve(request.axes.size());
    std::vector<IndexData> indices;
    for (const GatherAxis& axis : request.axes) {
        strides.push_back(strides_in_result(axis, request.shape));
        const array& index = axis.index;
        indices.push_back({{index.storage()->current.buffer->data() + index.offset(), &strides.back(),
                            index.dtype().scalar_type()},
                           axis.extent,
                           axis.stride});
    }
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(checked_bytes(request.shape, dtype)));
    const StridedData data{request.data.storage()->current.buffer->data() + request.offset,
                           &request.data_strides, dtype.scalar_type()};
    const std::optional<OutOfBounds> wrong =
        gather_eagerly(request.shape, data, indices, {buffer->data(), &request.strides, dtype.scalar_type()});
    locks.unlock();
    if (wrong) {
        const GatherAxis& axis = request.axes[wrong->which];
        throw_out_of_bounds(wrong->position, axis.axis, axis.extent);
    }
    result = array_of(std::move(buffer), dtype, request.shape, request.strides);
    return true;
}

array record(const GatherRequest& request) {
    DeviceBackend& device = device_of(request.data);
    BoundsCheck indices(request.axes, request.shape, device);
    indices.check();
    Operand data;
    data.source = current_version(*request.data.storage());
    data.dtype = request.data.dtype();
    data.strides = request.data_strides;
    data.offset = request.offset;
    auto node = new_node();
    node->become(NodeKind::kGather);
    node->device = &device;
    node->shape = request.shape;
    node->inputs.push_back(std::move(data));
    indices.move_to(*node);
    NodeResult info;
    info.dtype = request.data.dtype();
    info.strides = request.strides;
    info.bytes = checked_bytes(request.shape, info.dtype);
    node->results.push_back(std::move(info));
    array result = array_of(node, 0, request.shape);
    recorded(node);
    if (is_exported(request.data)) evaluate({&node, 1});
    return result;
}

}  // namespace

array gather(const GatherRequest& given) {
    GatherRequest request = given;
    for (GatherAxis& axis : request.axes) {
        if (axis.index.ndim() == 0) axis.index = move_to(axis.index, device_of(request.data));
        check_same_device(request.data, axis.index);
    }
    const bool nothing = std::all_of(request.axes.begin(), request.axes.end(), [&](const GatherAxis& axis) {
        return reads_nothing(axis, request.shape);
    });
    if (nothing)
        return array_of(device_of(request.data).allocate(0), request.data.dtype(), request.shape,
                        request.strides);
    array result;
    if (try_eager_gather(request, result)) return result;
    return record(request);
}

}  // namespace weft
