#include "api/recording/write.h"

#include <mutex>

#include "api/recording/record.h"
#include "api/recording/transfer.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/loops/strided_loops.h"

namespace weft {

void throw_cast_error(const char* what, DType from, DType to, Casting casting) {
    throw TypeError("Cannot cast " + std::string(what) + " from dtype('" + std::string(from.name()) +
                    "') to dtype('" + std::string(to.name()) + "') according to the rule '" +
                    std::string(casting_name(casting)) + "'");
}

void check_stored_cast(const Argument& value, DType to, Casting casting) {
    const OperandType type = operand_type(value);
    if (can_cast(type, to, casting)) return;
    const auto* input = std::get_if<array>(&value);
    throw_cast_error(input == nullptr || input->ndim() == 0 ? "scalar" : "array data", type.dtype, to,
                     casting);
}

array without_leading_ones(const array& value, int ndim) {
    array source = value;
    while (source.ndim() > ndim && source.shape()[0] == 1) {
        Dims shape = source.shape(), strides = source.strides();
        shape.erase(0);
        strides.erase(0);
        source = source.with_view(source.dtype(), std::move(shape), std::move(strides), source.offset());
    }
    return source;
}

Operand value_operand(const Argument& value, const array& target, Casting casting) {
    check_stored_cast(value, target.dtype(), casting);
    if (const auto* input = std::get_if<array>(&value)) {
        DeviceBackend& device = device_of(target);
        if (input->ndim() == 0 && &device_of(*input) != &device)
            return moved_operand(*input, device, target.dtype(), target.shape());
        check_same_device(target, *input);
        const array source = without_leading_ones(*input, target.ndim());
        if (!can_broadcast(source.shape(), target.shape())) {
            throw ValueError("could not broadcast input array from shape " + shape_text(source.shape()) +
                             " into shape " + shape_text(target.shape()));
        }
        return read_operand(source, target.shape());
    }
    return constant_operand(constant_bytes(value, target.dtype()), target.dtype(), target.shape());
}

namespace {

// A view that is all of its storage, each byte once: writing it makes a new version that owes nothing to the
// old one.
bool covers_storage(const array& target, const Storage& storage) {
    return target.nbytes() == storage.bytes && target.offset() == 0 &&
           !overlaps_itself(target.shape(), target.strides(), target.itemsize()) &&
           byte_range(target.shape(), target.strides(), 0, target.itemsize()).low == 0;
}

// Copies into the storage's own buffer, reading the value first where the two overlap.
void write_bytes(const array& target, char* base, const Operand& value) {
    const StridedData to{base + target.offset(), &target.strides(), target.dtype().scalar_type()};
    StridedData from{nullptr, &value.strides, value.dtype.scalar_type()};
    if (value.is_constant()) {
        from.data = const_cast<char*>(reinterpret_cast<const char*>(value.constant.data()));
        copy_eagerly(target.shape(), from, to);
        return;
    }
    from.data = value.source.buffer->data() + value.offset;
    const bool same_buffer = value.source.buffer->data() == base;
    const bool identical = same_buffer && value.offset == target.offset() &&
                           value.strides == target.strides() && value.dtype == target.dtype();
    if (identical) return;
    if (same_buffer &&
        views_overlap({&target.shape(), &target.strides(), target.offset(), target.itemsize()},
                      {&target.shape(), &value.strides, value.offset, value.dtype.itemsize()})) {
        const Dims strides = c_strides(target.shape(), value.dtype.itemsize());
        const BufferPtr copy =
            cpu_device().allocate(static_cast<size_t>(target.size() * value.dtype.itemsize()));
        const StridedData temporary{copy->data(), &strides, value.dtype.scalar_type()};
        copy_eagerly(target.shape(), from, temporary);
        copy_eagerly(target.shape(), temporary, to);
        return;
    }
    copy_eagerly(target.shape(), from, to);
}

}  // namespace

namespace {

// On a GPU: the same by kernels, in the order of the device's work.
void write_in_place(const array& target, const BufferPtr& base, Operand value) {
    const NodePtr node = new_node();
    node->become(NodeKind::kUpdate);
    node->device = &base->device();
    node->shape = target.shape();
    node->update().target = {target.dtype(), target.strides(), target.offset()};
    node->update().in_place = true;
    Operand old;
    old.source.buffer = base;
    old.dtype = ScalarType::kUInt8;
    node->inputs.push_back(std::move(old));
    node->inputs.push_back(std::move(value));
    NodeResult result;
    result.dtype = ScalarType::kUInt8;
    result.bytes = target.storage()->bytes;
    node->results.push_back(std::move(result));
    recorded(node);
    evaluate({&node, 1});
    WEFT_CHECK(node->results[0].buffer == base, "memory that is exported was to move");
}

}  // namespace

void write(const array& target, Operand value, WriteUndo* undo) {
    if (target.size() == 0) return;
    Storage& storage = *target.storage();
    // A result that nobody has seen yet can take the target's layout and become the new version itself.
    // Anything else is recorded before the lock is taken, since that may evaluate.
    const bool covers = covers_storage(target, storage);
    const NodePtr producer = value.source.node;
    const bool is_made_for_it =
        producer && producer->depth == 0 && producer->results.size() == 1 && takes_layout(producer->kind());
    const bool fresh = covers && is_made_for_it && value.offset == 0 && value.dtype == target.dtype() &&
                       producer->result_shape() == target.shape();
    if (producer && !fresh) recorded(producer);
    value.source.resolve();
    const uint32_t site = Recording::site_of_call();
    if (undo != nullptr) undo->reserve();
    std::unique_lock lock(storage.mutex);
    storage.current.resolve();
    storage.forget();

    if (storage.exported()) {
        lock.unlock();
        const BufferPtr base = evaluate_storage(storage);
        if (value.source.node) {
            if (!producer->done) evaluate({&producer, 1});
            value.source.resolve();
        }
        if (base->on_host()) {
            write_bytes(target, base->data(), value);
        } else {
            write_in_place(target, base, std::move(value));
        }
        return;
    }

    const bool host_resident = value.is_constant() || value.source.is_host_resident();
    if (host_resident && storage.current.is_host_resident() && is_small(target.size())) {
        const long own = value.source.buffer == storage.current.buffer ? 2 : 1;
        if (has_references(storage.current.buffer, own)) {
            storage.current.buffer->set_known_border(nullptr);
            write_bytes(target, storage.current.buffer->data(), value);
            return;
        }
    }

    if (fresh) {
        producer->results[0].strides = target.strides();
        Recording recording(producer, site);
        if (undo != nullptr) undo->add(target.storage(), producer, storage.current);
        storage.current = std::move(value.source);
        lock.unlock();
        recording.finish();
        return;
    }
    if (covers) {
        const DType dtype = target.dtype();
        Operands inputs;
        inputs.push_back(std::move(value));
        const NodePtr node = make_elementwise(nullptr, 0, std::move(inputs), target.shape(), {&dtype, 1},
                                              &target.strides(), &storage.device);
        Recording recording(node, site);
        if (undo != nullptr) undo->add(target.storage(), node, storage.current);
        storage.current = Source{node, 0, nullptr};
        lock.unlock();
        recording.finish();
        return;
    }

    auto node = new_node();
    node->become(NodeKind::kUpdate);
    node->device = &storage.device;
    node->shape = target.shape();
    node->update().target = {target.dtype(), target.strides(), target.offset()};
    Operand old;
    old.source = storage.current;
    old.dtype = ScalarType::kUInt8;
    node->inputs.push_back(std::move(old));
    node->inputs.push_back(std::move(value));
    NodeResult result;
    result.dtype = ScalarType::kUInt8;
    result.bytes = storage.bytes;
    node->results.push_back(std::move(result));
    Recording recording(node, site);
    if (undo != nullptr)
        undo->add(target.storage(), node, undo->holds_versions() ? storage.current : Source());
    storage.current = Source{node, 0, nullptr};
    lock.unlock();
    recording.finish();
}

void write_and_compute(const array& target, Operand value, bool now) {
    if (!now) [[likely]]
        return write(target, std::move(value));
    WriteUndo undo;
    write(target, std::move(value), &undo);
    const Source version = current_version(*target.storage());
    if (version.node) evaluate({&version.node, 1});
    undo.succeeded();
}

void WriteUndo::add(const std::shared_ptr<Storage>& storage, const NodePtr& node, Source before) {
    written_.push_back({storage, node, std::move(before)});
}

WriteUndo::~WriteUndo() {
    for (size_t k = written_.size(); k-- > 0;) {
        Written& written = written_[k];
        const bool done = written.node->done.load(std::memory_order_acquire);
        Source before = std::move(written.before);
        if (before == Source()) {
            // A kUpdate, whose input it is until it is computed.
            if (done || written.node->kind() != NodeKind::kUpdate) continue;
            before = written.node->inputs[0].source;
        }
        const std::lock_guard lock(written.storage->mutex);
        Source& current = written.storage->current;
        const bool is_its =
            done ? current.buffer == written.node->results[0].buffer || current.node == written.node
                 : current.node == written.node;
        if (is_its) current = std::move(before);
        written.storage->forget();
    }
}

}  // namespace weft
