#include "api/indexing/scatter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/indexing/bounds_check.h"
#include "api/recording/record.h"
#include "api/recording/transfer.h"
#include "api/recording/write.h"
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

// The value as elements of the target's type: as it lies or, converted or apart from what is written, one
// after another in memory of its own.
class ValueElements {
public:
    ValueElements(const Operand& value, const Dims& shape, DType dtype, const Buffer& target) {
        const char* const data = value.is_constant() ? reinterpret_cast<const char*>(value.constant.data())
                                                     : value.source.buffer->data() + value.offset;
        const StridedData given{const_cast<char*>(data), &value.strides, value.dtype.scalar_type()};
        const bool is_apart = value.is_constant() || !share_bytes(*value.source.buffer, target);
        if (value.dtype == dtype && is_apart) {
            elements_ = given;
            return;
        }
        own_strides_ = c_strides(shape, dtype.itemsize());
        own_ = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape, dtype)));
        elements_ = {own_->data(), &own_strides_, dtype.scalar_type()};
        copy_eagerly(shape, given, elements_);
    }
    ValueElements(const ValueElements&) = delete;
    ValueElements& operator=(const ValueElements&) = delete;

    const StridedData& elements() const { return elements_; }

private:
    BufferPtr own_;
    Dims own_strides_;
    StridedData elements_;
};

// Into memory of the host, from operands that are there; one element after another.
void write_now(const GatherRequest& request, const Operand& value, const Buffer& base,
               std::span<const char* const> index_bases) {
    const DType dtype = request.data.dtype();
    const ValueElements values(value, request.shape, dtype, base);
    std::vector<Dims> index_strides;
    index_strides.reserve(request.axes.size());
    std::vector<IndexData> indices;
    for (size_t k = 0; k < request.axes.size(); ++k) {
        const GatherAxis& axis = request.axes[k];
        index_strides.push_back(strides_in_result(axis, request.shape));
        indices.push_back({{const_cast<char*>(index_bases[k]) + axis.index.offset(), &index_strides.back(),
                            axis.index.dtype().scalar_type()},
                           axis.extent,
                           axis.stride});
    }
    const auto wrong = scatter_eagerly(
        request.shape, {base.data() + request.offset, &request.data_strides, dtype.scalar_type()}, indices,
        values.elements());
    if (wrong) {
        const GatherAxis& axis = request.axes[wrong->which];
        throw_out_of_bounds(wrong->position, axis.axis, axis.extent);
    }
}

// Few elements, all host-resident, in a version that nobody else reads.
bool try_now(const GatherRequest& request, const Operand& value) {
    int64_t indexed = 1;
    for (const GatherAxis& axis : request.axes) indexed = std::max(indexed, axis.index.size());
    if (!is_small(element_count(request.shape)) || !is_small(indexed) ||
        request.axes.size() >= StorageLocks::kMost)
        return false;
    if (!value.is_constant() && !value.source.is_host_resident()) return false;
    Storage& storage = *request.data.storage();
    StorageLocks locks;
    locks.add(storage);
    for (const GatherAxis& axis : request.axes) locks.add(*axis.index.storage());
    locks.lock();
    if (!locks.all_host_resident() || storage.exported()) return false;
    const BufferPtr& buffer = storage.current.buffer;
    if (!has_references(buffer, value.source.buffer == buffer ? 2 : 1)) return false;
    std::vector<const char*> bases;
    for (const GatherAxis& axis : request.axes) bases.push_back(axis.index.storage()->current.buffer->data());
    storage.forget();
    buffer->set_known_border(nullptr);
    write_now(request, value, *buffer, bases);
    return true;
}

NodePtr update_of(const GatherRequest& request, Operand value, Source old, BoundsCheck& indices,
                  const ScatterOptions& options) {
    NodePtr node = new_node();
    node->become(NodeKind::kUpdate);
    node->device = &device_of(request.data);
    node->shape = request.shape;
    node->update().target = {request.data.dtype(), request.data_strides, request.offset};
    node->update().repeats_positions = !options.distinct;
    Operand whole;
    whole.source = std::move(old);
    whole.dtype = ScalarType::kUInt8;
    node->inputs.push_back(std::move(whole));
    node->inputs.push_back(std::move(value));
    indices.move_to(*node);
    if (options.condition != nullptr) {
        node->inputs.push_back(*options.condition);
        node->inputs.back().source.resolve();
    }
    NodeResult result;
    result.dtype = ScalarType::kUInt8;
    result.bytes = request.data.storage()->bytes;
    node->results.push_back(std::move(result));
    return node;
}

// The value in memory of its own: it may read what is written.
Operand set_aside(Operand value, const Dims& shape) {
    const DType dtype = value.dtype;
    const Dims strides = c_strides(shape, dtype.itemsize());
    Operands inputs;
    inputs.push_back(std::move(value));
    const NodePtr node = make_elementwise(nullptr, 0, std::move(inputs), shape, {&dtype, 1}, &strides);
    recorded(node);
    evaluate({&node, 1});
    Operand result;
    result.source.buffer = node->results[0].buffer;
    result.dtype = dtype;
    result.strides = strides;
    return result;
}

// Into memory of the host that others see.
void write_exported_now(const GatherRequest& request, Operand value) {
    const BufferPtr base = evaluate_storage(*request.data.storage());
    if (const NodePtr producer = value.source.node) {
        if (!producer->done) evaluate({&producer, 1});
        value.source.resolve();
    }
    std::vector<BufferPtr> held;
    std::vector<const char*> bases;
    for (const GatherAxis& axis : request.axes) {
        held.push_back(evaluate_storage(*axis.index.storage()));
        bases.push_back(held.back()->data());
    }
    write_now(request, value, *base, bases);
}

// Memory that others see stays where it is.
void write_exported(const GatherRequest& request, Operand value, BoundsCheck& indices,
                    const ScatterOptions& options) {
    const BufferPtr base = evaluate_storage(*request.data.storage());
    if (!base->on_host()) {
        if (!value.is_constant()) value = set_aside(std::move(value), request.shape);
        const NodePtr node = update_of(request, std::move(value), Source{{}, 0, base}, indices, options);
        node->update().in_place = true;
        recorded(node);
        evaluate({&node, 1});
        WEFT_CHECK(node->results[0].buffer == base, "memory that is exported was to move");
        return;
    }
    write_exported_now(request, std::move(value));
}

}  // namespace

void scatter(const GatherRequest& given, Operand value, const ScatterOptions& options) {
    GatherRequest request = given;
    DeviceBackend& device = device_of(request.data);
    for (GatherAxis& axis : request.axes) {
        if (axis.index.ndim() == 0) axis.index = move_to(axis.index, device);
        check_same_device(request.data, axis.index);
    }
    const bool nothing = std::all_of(request.axes.begin(), request.axes.end(), [&](const GatherAxis& axis) {
        return reads_nothing(axis, request.shape);
    });
    if (nothing) return;
    if (value.source.node) recorded(value.source.node);
    value.source.resolve();
    if (options.condition == nullptr && try_now(request, value)) return;
    if (options.condition == nullptr && device.is_cpu() &&
        is_exported(request.data)) {  // it checks indices itself
        write_exported_now(request, std::move(value));
        return;
    }
    BoundsCheck indices(request.axes, request.shape, device);
    indices.check();
    if (element_count(request.shape) == 0) return;
    value.source.resolve();
    Storage& storage = *request.data.storage();
    const uint32_t site = Recording::site_of_call();
    WriteUndo undo;
    undo.reserve();
    std::unique_lock lock(storage.mutex);
    storage.forget();
    storage.current.resolve();
    if (storage.exported()) {
        lock.unlock();
        WEFT_CHECK(options.condition == nullptr, "selected elements go to memory of their own");
        write_exported(request, std::move(value), indices, options);
        return;
    }
    const NodePtr node = update_of(request, std::move(value), storage.current, indices, options);
    Recording recording(node, site);
    undo.add(request.data.storage(), node, Source());
    storage.current = Source{node, 0, nullptr};
    lock.unlock();
    recording.finish();
    if (options.now) evaluate({&node, 1});
    undo.succeeded();
}

}  // namespace weft
