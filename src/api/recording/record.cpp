#include "api/recording/record.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "api/fast/fast_call.h"
#include "api/recording/deferred_checks.h"
#include "core/config.h"
#include "core/optional_steps.h"
#include "core/shape.h"
#include "core/threads/thread_owned.h"
#include "execution/evaluate.h"
#include "execution/profile.h"
#include "graph/placement.h"
#include "graph/storage_locks.h"
#include "library/loops/strided_loops.h"
#include "ops/resolve.h"
#include "planning/loop_detector.h"

namespace weft {

namespace {

// A loop's turns are cut into plans where a storage's next version is first read; other chains may grow
// longer.
constexpr uint32_t kUpdateDepth = 160;
constexpr uint32_t kChainDepth = 192;
constexpr size_t kPendingNodes = 20000;

constexpr int64_t kLeastPendingBytes = int64_t{2} << 30;

// Pending nodes keep their inputs in memory; past this many bytes (counted once for each reader) they are
// evaluated.
int64_t most_pending_bytes(const DeviceBackend& device) {
    constexpr int64_t kPart = 4;
    const std::atomic<int64_t>& setting =
        device.is_cpu() ? config().memory_limit : config().device_memory_limit;
    const int64_t limit = setting.load(std::memory_order_relaxed), all = device.memory_bytes();
    return std::max(kLeastPendingBytes, (limit != 0 ? std::min(limit, all) : all) / kPart);
}

double double_of(const Integer& value) {
    if (!value.huge) {
        const auto magnitude = static_cast<double>(value.magnitude);
        return value.negative ? -magnitude : magnitude;
    }
    if (std::isinf(value.approximation)) throw OverflowError("int too large to convert to float");
    return value.approximation;
}

template <class T>
ScalarBytes cast_scalar(ScalarType from, const T& value, DType to) {
    alignas(16) ScalarBytes input{}, output{};
    std::memcpy(input.data(), &value, sizeof value);
    char* const data[2] = {reinterpret_cast<char*>(input.data()), reinterpret_cast<char*>(output.data())};
    const int64_t strides[2] = {0, 0};
    cast_loop(from, to.scalar_type()).loop(data, strides, 1);
    return output;
}

}  // namespace

WideInteger wide_integer(const Integer& value) {
    if (value.huge) {
        const WideInteger clamp = WideInteger{1} << 100;
        return value.negative ? -clamp : clamp;
    }
    const auto magnitude = static_cast<WideInteger>(value.magnitude);
    return value.negative ? -magnitude : magnitude;
}

OperandType operand_type(const Argument& argument) {
    if (const auto* input = std::get_if<array>(&argument)) return input->dtype();
    if (std::holds_alternative<bool>(argument)) return ScalarType::kBool;
    if (std::holds_alternative<Integer>(argument)) return WeakKind::kInt;
    if (std::holds_alternative<double>(argument)) return WeakKind::kFloat;
    return WeakKind::kComplex;
}

ScalarBytes constant_bytes(const Argument& value, DType dtype) {
    if (const auto* integer = std::get_if<Integer>(&value)) {
        if (dtype.is_integer()) {
            check_python_int_fits(wide_integer(*integer), dtype);
            const uint64_t bits = integer->negative ? 0 - integer->magnitude : integer->magnitude;
            return cast_scalar(ScalarType::kUInt64, bits, dtype);
        }
        if (dtype.is_bool())
            return cast_scalar(ScalarType::kBool, integer->huge || integer->magnitude != 0, dtype);
        return cast_scalar(ScalarType::kFloat64, double_of(*integer), dtype);
    }
    if (const auto* real = std::get_if<double>(&value))
        return cast_scalar(ScalarType::kFloat64, *real, dtype);
    if (const auto* truth = std::get_if<bool>(&value)) return cast_scalar(ScalarType::kBool, *truth, dtype);
    if (const auto* number = std::get_if<std::complex<double>>(&value)) {
        return cast_scalar(ScalarType::kComplex128, *number, dtype);
    }
    throw InternalError("constant_bytes of an array");
}

Operand constant_operand(const ScalarBytes& bytes, DType dtype, const Dims& shape) {
    Operand operand;
    operand.constant = bytes;
    operand.dtype = dtype;
    operand.strides = Dims(shape.size());
    return operand;
}

Operand read_operand(const array& input, const Dims& shape) {
    Operand operand;
    operand.source = current_version(*input.storage());
    operand.dtype = input.dtype();
    operand.strides = broadcast_strides(input.shape(), input.strides(), shape);
    operand.offset = input.offset();
    return operand;
}

array array_of(const NodePtr& node, uint32_t result, const Dims& shape) {
    const NodeResult& info = node->results[result];
    Source source;
    source.node = node;
    source.result = result;
    auto storage = std::allocate_shared<Storage>(ObjectAllocator<Storage>(), std::move(source), info.bytes);
    return array(std::move(storage), info.dtype, shape, info.strides, 0, true);
}

array array_of(BufferPtr buffer, DType dtype, Dims shape, Dims strides) {
    return array(make_storage(std::move(buffer)), dtype, std::move(shape), std::move(strides), 0, true);
}

bool is_shown(const array& input) { return input.storage()->shown(); }

bool is_shown(const Argument& value) {
    const auto* source = std::get_if<array>(&value);
    return source != nullptr && is_shown(*source);
}

bool is_small(int64_t elements) { return elements <= config().small_limit.load(std::memory_order_relaxed); }

NodePtr make_elementwise(const OpInfo* op, int loop, Operands inputs, const Dims& shape,
                         std::span<const DType> result_dtypes, const Dims* strides, DeviceBackend* device) {
    auto node = new_node();
    node->kind = NodeKind::kElementwise;
    const auto in_memory =
        std::find_if(inputs.begin(), inputs.end(), [](const Operand& input) { return !input.is_constant(); });
    if (in_memory != inputs.end()) {
        node->device = &in_memory->source.device();
    } else {
        node->device = device != nullptr ? device : &current_device();
    }
    node->op = op;
    node->loop = loop;
    node->shape = shape;
    for (const DType dtype : result_dtypes) {
        NodeResult result;
        result.dtype = dtype;
        result.bytes = checked_bytes(shape, dtype);
        if (strides != nullptr) {
            result.strides = *strides;
        } else {
            std::vector<const Dims*> operand_strides;
            for (const Operand& input : inputs) {
                if (!input.is_constant()) operand_strides.push_back(&input.strides);
            }
            result.strides = k_order_strides(shape, operand_strides, dtype.itemsize());
        }
        node->results.push_back(std::move(result));
    }
    node->inputs = std::move(inputs);
    return node;
}

namespace {

constexpr int64_t kLargeWork = 1 << 15;  // elements

// Other threads of the host may go on meanwhile, unless there is little to do.
template <class Work>
void evaluate_beside(bool is_large, Work work) {
    if (is_large) {
        without_host_lock(work);
    } else {
        work();
    }
}

}  // namespace

// What nobody has asked for yet. Where there is no memory for it, or a device refuses it, who looks at the
// values is told; what was recorded is.
template <class Work>
void Recording::evaluate_ahead(Work work) {
    try {
        evaluate_beside(is_large_, work);
    } catch (const OutOfMemoryError&) {
    } catch (const std::bad_alloc&) {
    } catch (const DeviceError&) {
        if (node_->device->is_lost()) throw;
    }
}

uint32_t Recording::site_of_call() { return profiling() ? current_call_site() : 0; }

Recording::Recording(const NodePtr& node, uint32_t site) : node_(node) {
    is_new_ = node_->depth == 0 && !node_->done.load(std::memory_order_acquire);
    if (!is_new_) return;
    is_large_ = element_count(node_->shape) > kLargeWork;
    makes_version_ = node_->makes_version = node_->kind == NodeKind::kUpdate;
    node_->site = site;
    inherit_poison(*node_);
    if (is_on(OptionalStep::kTurns)) {
        const std::span<const uint64_t> cuts =
            ThreadOwned<TurnDetector>::get().cuts(*node_, latest_evaluated());
        cuts_.assign(cuts.begin(), cuts.end());
    }
    uint32_t depth = 0;
    for (Operand& input : node_->inputs) {
        input.source.settle();
        const NodePtr& read = input.source.node;
        if (!read) continue;
        const uint32_t own = read->depth.load(std::memory_order_relaxed);
        depth = std::max(depth, own);
        // Here rather than where that version was written: the value that was written into it is no longer
        // held by the statement that did, and need not be stored.
        if (read->makes_version && own >= kUpdateDepth) versions_.push_back(read);
    }
    node_->depth = depth + 1;
    register_pending(node_);
}

void Recording::finish() {
    if (!is_new_) return;
    const NodePtr& node = node_;
    if (!cuts_.empty() || !versions_.empty()) {
        evaluate_ahead([&] {
            for (const uint64_t sequence : cuts_) evaluate_before(sequence);
            if (!versions_.empty()) evaluate(versions_);
            measure_depth(*node);
        });
        versions_.clear();
    }
    if (config().eager.load(std::memory_order_relaxed)) {
        evaluate_beside(is_large_, [&] { evaluate({&node, 1}); });
        return;
    }
    if (!makes_version_ && node->depth >= kChainDepth) {
        evaluate_ahead([&] { evaluate({&node, 1}); });
        return;
    }
    const bool is_counted = node->sequence % (256 * kSequenceStep) == 0;
    if (pending_bytes() <= kLeastPendingBytes && !is_counted) return;
    const int64_t most_bytes = most_pending_bytes(*node->device);
    if (pending_bytes() <= most_bytes && (!is_counted || pending_node_count() <= kPendingNodes)) return;
    evaluate_ahead([&] {
        evaluate({&node, 1});
        if (pending_bytes() > most_bytes || pending_node_count() > kPendingNodes) evaluate_pending();
    });
}

void recorded(const NodePtr& node) {
    if (node->depth == 0) Recording(node).finish();
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
        copy_at_once(target.shape(), from, to);
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
        copy_at_once(target.shape(), from, temporary);
        copy_at_once(target.shape(), temporary, to);
        return;
    }
    copy_at_once(target.shape(), from, to);
}

}  // namespace

namespace {

// On a GPU: the same by kernels, in the order of the device's work.
void write_in_place(const array& target, const BufferPtr& base, Operand value) {
    const NodePtr node = new_node();
    node->kind = NodeKind::kUpdate;
    node->device = &base->device();
    node->shape = target.shape();
    node->target = {target.dtype(), target.strides(), target.offset()};
    node->in_place = true;
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
    WEFT_CHECK(node->results[0].buffer == base, "memory that is shown was to move");
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
        producer && producer->depth == 0 && producer->results.size() == 1 &&
        (producer->kind == NodeKind::kElementwise || producer->kind == NodeKind::kScan ||
         producer->kind == NodeKind::kProduct || producer->kind == NodeKind::kGather);
    const bool fresh = covers && is_made_for_it && value.offset == 0 && value.dtype == target.dtype() &&
                       producer->result_shape() == target.shape();
    if (producer && !fresh) recorded(producer);
    value.source.settle();
    const uint32_t site = Recording::site_of_call();
    if (undo != nullptr) undo->reserve();
    std::unique_lock lock(storage.mutex);
    storage.current.settle();
    storage.known.reset();

    if (storage.shown()) {
        lock.unlock();
        const BufferPtr base = evaluate_storage(storage);
        if (value.source.node) {
            if (!producer->done) evaluate({&producer, 1});
            value.source.settle();
        }
        if (base->on_host()) {
            write_bytes(target, base->data(), value);
        } else {
            write_in_place(target, base, std::move(value));
        }
        return;
    }

    const bool at_hand = value.is_constant() || value.source.at_hand();
    if (at_hand && storage.current.at_hand() && is_small(target.size())) {
        const long own = value.source.buffer == storage.current.buffer ? 2 : 1;
        if (has_references(storage.current.buffer, own)) {
            storage.current.buffer->set_surroundings(nullptr);
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
    node->kind = NodeKind::kUpdate;
    node->device = &storage.device;
    node->shape = target.shape();
    node->target = {target.dtype(), target.strides(), target.offset()};
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
            if (done || written.node->kind != NodeKind::kUpdate) continue;
            before = written.node->inputs[0].source;
        }
        const std::lock_guard lock(written.storage->mutex);
        Source& current = written.storage->current;
        const bool is_its =
            done ? current.buffer == written.node->results[0].buffer || current.node == written.node
                 : current.node == written.node;
        if (is_its) current = std::move(before);
        written.storage->known.reset();
    }
}

}  // namespace weft
