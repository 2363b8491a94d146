#include "execution/evaluate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "core/config.h"
#include "core/host.h"
#include "core/log.h"
#include "core/shape.h"
#include "core/threads/fork.h"
#include "core/threads/interrupt.h"
#include "core/without_failing.h"
#include "execution/late_warnings.h"
#include "execution/plan_cache.h"
#include "execution/run_group.h"
#include "execution/stream_order.h"
#include "graph/evaluation_lock.h"
#include "graph/storage.h"
#include "planning/explain.h"
#include "planning/memory_estimate.h"
#include "planning/rewritten_graph.h"

namespace weft {

namespace {

constexpr auto kInterruptInterval = std::chrono::milliseconds(50);

// Of a plan of several groups that one GPU has run before.
class LaunchesTogether {
public:
    explicit LaunchesTogether(PlanLease& plan) {
        const std::vector<Group>& groups = plan.groups();
        if (groups.size() < 2 || !plan.was_met_before() || groups[0].device->is_cpu()) return;
        for (const Group& group : groups) {
            if (group.device != groups[0].device) return;
        }
        device_ = groups[0].device;
        device_->begin_launches();
    }
    LaunchesTogether(const LaunchesTogether&) = delete;
    LaunchesTogether& operator=(const LaunchesTogether&) = delete;
    ~LaunchesTogether() {
        without_failing([this] { end(); });  // the next use of the device says so
    }
    void end() {
        if (DeviceBackend* device = std::exchange(device_, nullptr)) device->end_launches();
    }

private:
    DeviceBackend* device_ = nullptr;
};

thread_local constinit uint64_t latest_root = 0;

}  // namespace

uint64_t latest_evaluated() { return latest_root; }

namespace {

// How many evaluations have run something; under the evaluation lock. A plan is out of date when another
// evaluation, which code of the host began in the middle of it, has run nodes of it.
uint64_t evaluations = 0;

// Plans and runs what is pending; false where it was left half way because the plan was out of date.
bool run_plan(std::span<const NodePtr> roots) {
    const bool fuse = config().fuse.load(std::memory_order_relaxed);
    RewrittenGraph graph;
    const NodeSet& nodes = graph.collect(roots, fuse);
    if (nodes.empty()) return true;
    const uint64_t own = ++evaluations;
    PlanLease plan(nodes, roots, fuse);
    std::vector<Group>& groups = plan.groups();
    if (debug_enabled(DebugLevel::kFusion)) {
        for (size_t k = 0; k < groups.size(); ++k) log_line(describe(groups[k], k + 1));
    }
    require_memory(groups, nodes);
    OrderWithOthers order(nodes);
    for (Group& group : groups) {
        for (size_t k = 0; k < group.nodes.size(); ++k) {
            if (group.stored[k]) group.keep.push_back(group.nodes[k]->shared_from_this());
        }
    }
    const InterruptibleEvaluation interruptible;
    LaunchesTogether together(plan);
    const bool checks = host_hooks().check_interrupt != nullptr && groups.size() > 1;
    auto next_check = std::chrono::steady_clock::time_point();
    if (checks) next_check = std::chrono::steady_clock::now() + kInterruptInterval;
    for (Group& group : groups) {
        if (checks && std::chrono::steady_clock::now() > next_check) {
            host_hooks().check_interrupt();
            if (own != evaluations) return false;
            next_check = std::chrono::steady_clock::now() + kInterruptInterval;
        }
        run_group(group, fuse);
        group.keep.clear();  // so that a version nobody else needs can be overwritten by the next
        if (own != evaluations) return false;  // by the end of memory of others
    }
    together.end();
    order.end();
    return true;
}

}  // namespace

void evaluate(std::span<const NodePtr> roots) {
    for (const NodePtr& root : roots) latest_root = std::max(latest_root, root->sequence);
    DueWarnings warnings;
    {
        const EvaluationLock lock;
        const std::span<const NodePtr> wanted = warnings.take(roots);
        for (bool done = false; !done;) {
            try {
                done = run_plan(wanted);
            } catch (const Interrupted&) {
                answer_interrupt();
            }
        }
    }
    warnings.tell();
}

void evaluate_before(uint64_t sequence) {
    const EvaluationLock lock;  // so that nobody takes nodes' inputs away meanwhile
    const std::vector<NodePtr> held = pending_held(sequence);
    if (held.empty()) return;
    evaluate(held);
    measure_pending_depths();
}

void measure_depth(Node& node) {
    const EvaluationLock lock;
    uint32_t depth = 0;
    for (Operand& input : node.inputs) {
        input.source.resolve();
        if (const Node* producer = input.source.node.get())
            depth = std::max(depth, producer->depth.load(std::memory_order_relaxed));
    }
    node.depth = depth + 1;
}

void evaluate_held() {
    const EvaluationLock lock;
    const std::vector<NodePtr> held = pending_held(UINT64_MAX, true);
    if (!held.empty()) evaluate(held);
}

void evaluate_pending() {
    const EvaluationLock lock;  // who finds a node here holds it, as an evaluation must know
    evaluate(all_pending());
}

BufferPtr evaluate_storage(Storage& storage) {
    while (true) {
        Source version = current_version(storage);
        if (version.in_memory()) return version.buffer;
        evaluate({&version.node, 1});
    }
}

bool pin_unread(Storage& storage, const BufferPtr& buffer) {
    const EvaluationLock lock;
    buffer->expose();
    // Mostly nobody has anything pending that reads it, so that is asked first, and the nodes are listed only
    // if somebody has.
    {
        const std::lock_guard storage_lock(storage.mutex);
        storage.current.resolve();
        if (storage.current.buffer != buffer) return false;
        ++storage.pins;
        if (!has_pending_users(buffer.get())) {
            storage.forget();
            return true;
        }
        --storage.pins;
    }
    const std::vector<NodePtr> users = pending_users(buffer.get());
    if (!users.empty()) evaluate(users);
    return false;
}

BufferPtr pin_at_hand(Storage& storage) {
    const EvaluationLock lock;
    const std::lock_guard storage_lock(storage.mutex);
    storage.current.resolve();
    BufferPtr buffer = storage.current.buffer;
    if (buffer == nullptr) return nullptr;
    buffer->expose();  // before it is asked, as by pin_unread()
    if (has_pending_users(buffer.get())) return nullptr;
    ++storage.pins;
    storage.forget();
    return buffer;
}

}  // namespace weft
