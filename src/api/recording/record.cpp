#include "api/recording/record.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "api/recording/deferred_checks.h"
#include "core/config.h"
#include "core/host.h"
#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "core/threads/thread_owned.h"
#include "device/devices.h"
#include "execution/evaluate.h"
#include "execution/profile.h"
#include "graph/operand.h"
#include "graph/storage_locks.h"
#include "library/loops/strided_loops.h"
#include "ops/resolve.h"
#include "planning/loop_detector.h"

namespace weft {

namespace {

// A loop's iterations are cut into plans where a storage's next version is first read; other chains may grow
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

}  // namespace

NodePtr make_elementwise(const OpInfo* op, int loop, Operands inputs, const Dims& shape,
                         std::span<const DType> result_dtypes, const Dims* strides, DeviceBackend* device) {
    auto node = new_node();  // kElementwise
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
    makes_version_ = node_->makes_version = node_->kind() == NodeKind::kUpdate;
    node_->site = site;
    inherit_poison(*node_);
    if (is_on(OptimisationSwitch::kLoopDetection)) {
        const std::span<const uint64_t> cuts =
            ThreadOwned<LoopDetector>::get().cuts(*node_, latest_evaluated());
        cuts_.assign(cuts.begin(), cuts.end());
    }
    uint32_t depth = 0;
    for (Operand& input : node_->inputs) {
        input.source.resolve();
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

namespace {

// Whether this is one of many writes of a few elements that follow one another: x[i] = row in a loop, with x
// still to be computed. Once it is, they run at the call.
bool ends_small_writes(const Node& node) {
    constexpr int kWrites = 8;
    struct Latest {
        uint64_t sequence = 0;
        int count = 0;
    };
    static thread_local Latest latest;
    const bool follows = node.sequence == latest.sequence + kSequenceStep;
    latest = {node.sequence, follows ? latest.count + 1 : 1};
    if (latest.count < kWrites) return false;
    latest.count = 0;
    return true;
}

}  // namespace

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
    if (makes_version_ && node->device->is_cpu() && is_small(element_count(node->shape)) &&
        ends_small_writes(*node)) {
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

}  // namespace weft
