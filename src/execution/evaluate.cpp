#include "execution/evaluate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "api/recording/memory_pin.h"
#include "core/config.h"
#include "core/log.h"
#include "core/shape.h"
#include "core/threads/fork.h"
#include "core/threads/interrupt.h"
#include "core/without_failing.h"
#include "execution/plan_cache.h"
#include "execution/run_group.h"
#include "graph/pending_graph.h"
#include "graph/storage.h"
#include "planning/algebraic_rewrites.h"
#include "planning/gather_pushdown.h"
#include "planning/memory_estimate.h"

namespace weft {

namespace {

// A recursive mutex whose owner is still the owner in the child of a fork, where std::recursive_mutex knows
// it no more (a thread's number changes).
class EvaluationMutex {
public:
    bool try_lock() {
        if (owner_.load(std::memory_order_relaxed) != std::this_thread::get_id()) {
            if (!mutex_.try_lock()) return false;
            owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
        }
        ++depth_;
        return true;
    }
    void lock() {  // by a thread that does not hold it
        mutex_.lock();
        owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
        depth_ = 1;
    }
    void unlock() {
        if (--depth_ > 0) return;
        owner_.store(std::thread::id(), std::memory_order_relaxed);
        mutex_.unlock();
    }
    void abandon() {
        if (owner_.load() != std::this_thread::get_id()) return;
        depth_ = 1;
        unlock();
    }
    // A thread that is not in the child had begun an evaluation: what it did not come to is still pending.
    void restart_in_child() {
        std::construct_at(&mutex_);
        if (owner_.load() == std::this_thread::get_id()) {
            mutex_.lock();
        } else {
            owner_.store(std::thread::id());
            depth_ = 0;
        }
    }

private:
    std::mutex mutex_;
    std::atomic<std::thread::id> owner_;
    int depth_ = 0;
};

// One evaluation at a time: it may reuse memory in place only because nobody else plans over the same nodes.
EvaluationMutex& evaluation_mutex() {
    static auto* mutex = new EvaluationMutex;
    return *mutex;
}

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kEvaluation, {nullptr, nullptr, [] { evaluation_mutex().restart_in_child(); }});

HostHooks hooks;  // these are set before the first evaluation, then only read
CallSiteHooks call_site_hooks;

constexpr auto kInterruptInterval = std::chrono::milliseconds(50);

// Of another thread's evaluation, which may in turn wait for a fork or for the GIL.
void wait_for_evaluation() {
    const ForkWindow window;
    evaluation_mutex().lock();
}

class EvaluationLock {
public:
    EvaluationLock() {
        if (evaluation_mutex().try_lock()) return;
        if (hooks.wait_unlocked == nullptr) {
            wait_for_evaluation();
        } else {
            hooks.wait_unlocked([](void*) { wait_for_evaluation(); }, nullptr);
        }
    }
    EvaluationLock(const EvaluationLock&) = delete;
    EvaluationLock& operator=(const EvaluationLock&) = delete;
    ~EvaluationLock() { evaluation_mutex().unlock(); }

private:
    const ForkExclusion exclusion_;
};

std::string node_name(const Node& node) {
    switch (node.kind) {
        case NodeKind::kElementwise:
            return node.op != nullptr ? std::string(node.op->name)
                                      : (node.inputs[0].is_constant() ? "fill" : "convert");
        case NodeKind::kReduce: return std::string(node.reduction->name);
        case NodeKind::kUpdate: return "write";
        case NodeKind::kArange: return "arange";
        case NodeKind::kDraw: return std::string(node.op->name);
        case NodeKind::kScan: return "scan of " + std::string(node.op->name);
        case NodeKind::kProduct: return "product";
        case NodeKind::kGather: return "gather";
        case NodeKind::kChoose: return node.inputs.size() > 1 ? "choose" : "choose positions";
        case NodeKind::kTransfer: return "copy to " + node.device->name();
    }
    return "";
}

std::string describe(const Group& group, size_t number) {
    std::string text = "kernel " + std::to_string(number) + ": ";
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        text += (k == 0 ? "" : ", ") + node_name(*group.nodes[k]);
    }
    const Node& root = group.root();
    text += "\n  over " + shape_text(group.shape);
    if (!group.device->is_cpu()) text += " on " + group.device->name();
    if (group.reduces) {
        text += ", reducing axes";
        for (size_t d = 0; d < group.reduced.size(); ++d) {
            if (group.reduced[d]) text += " " + std::to_string(d);
        }
    }
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        const Node& node = *group.nodes[k];
        if (!group.stored[k]) continue;
        if (node.kind == NodeKind::kUpdate) {
            text += "; writes " + std::string(node.target.dtype.name()) + " " + shape_text(node.shape);
            if (!node.gathered.empty()) text += " at computed positions";
            continue;
        }
        if (node.kind == NodeKind::kChoose) {
            text += "; chooses " + std::string(node.results[0].dtype.name());
            continue;
        }
        for (const NodeResult& result : node.results)
            text += "; result " + std::string(result.dtype.name()) + " " + shape_text(node.result_shape());
        if (group.streamed[k]) text += ", written past the caches";
        if (&node != &root) text += " (" + node_name(node) + ")";
    }
    for (const Node* node : group.nodes) {
        if (node->rewritten != nullptr) text += std::string("\n  rewritten, ") + node->rewritten;
    }
    text += "\n  ends here because " + group.reason + "\n";
    return text;
}

// What an evaluation works with, kept for its memory. One that a signal handler starts inside of another has
// its own.
class EvaluationScratch {
public:
    EvaluationScratch() {
        if (kept().empty()) {
            graph_ = std::make_unique<PendingGraph>();
        } else {
            graph_ = std::move(kept().back());
            kept().pop_back();
        }
    }
    EvaluationScratch(const EvaluationScratch&) = delete;
    EvaluationScratch& operator=(const EvaluationScratch&) = delete;
    ~EvaluationScratch() {
        constexpr size_t kMostNodes = size_t{1} << 16;
        if (graph_->nodes().size() > kMostNodes) return;
        without_failing([this] { kept().push_back(std::move(graph_)); });
    }

    // The pending nodes that the roots need, after rewriting.
    std::span<Node* const> collect_rewritten(std::span<const NodePtr> roots, bool fuse) {
        graph_->collect(roots);
        const bool may_rewrite = fuse && config().rewrite.load(std::memory_order_relaxed);
        if (may_rewrite && rewrite(graph_->nodes())) graph_->collect(roots);
        if (fuse && gather_first(graph_->nodes())) graph_->collect(roots);
        return graph_->nodes();
    }

private:
    static std::vector<std::unique_ptr<PendingGraph>>& kept() {  // under the evaluation lock
        static auto* graphs = new std::vector<std::unique_ptr<PendingGraph>>;
        return *graphs;
    }
    std::unique_ptr<PendingGraph> graph_;
};

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

}  // namespace

namespace {

thread_local constinit uint64_t latest_root = 0;

}  // namespace

void abandon_evaluation() { evaluation_mutex().abandon(); }

uint64_t latest_evaluated() { return latest_root; }

void set_host_hooks(HostHooks host) { hooks = host; }
void set_call_site_hooks(CallSiteHooks host) { call_site_hooks = host; }
uint32_t current_call_site() {
    return call_site_hooks.call_site != nullptr ? call_site_hooks.call_site() : 0;
}
std::string text_of_call_site(uint32_t site) {
    return call_site_hooks.text != nullptr ? call_site_hooks.text(site) : "";
}

void without_host_lock(const std::function<void()>& work) {
    if (hooks.wait_unlocked == nullptr) {
        work();
        return;
    }
    const auto run = [](void* state) { (*static_cast<const std::function<void()>*>(state))(); };
    hooks.wait_unlocked(run, const_cast<std::function<void()>*>(&work));
}

namespace {

// How many evaluations have run something; under the evaluation lock. A plan is out of date when another
// evaluation, which code of the host began in the middle of it, has run nodes of it.
uint64_t evaluations = 0;

// Plans and runs what is pending; false where it was left half way because the plan was out of date.
bool run_plan(std::span<const NodePtr> roots) {
    const bool fuse = config().fuse.load(std::memory_order_relaxed);
    EvaluationScratch scratch;
    const std::span<Node* const> nodes = scratch.collect_rewritten(roots, fuse);
    if (nodes.empty()) return true;
    const uint64_t own = ++evaluations;
    PlanLease plan(nodes, roots, fuse);
    std::vector<Group>& groups = plan.groups();
    if (debug_enabled(DebugLevel::kFusion)) {
        for (size_t k = 0; k < groups.size(); ++k) log_line(describe(groups[k], k + 1));
    }
    require_memory(groups);
    OrderWithOthers order(nodes);
    for (Group& group : groups) {
        for (size_t k = 0; k < group.nodes.size(); ++k) {
            if (group.stored[k]) group.keep.push_back(group.nodes[k]->shared_from_this());
        }
    }
    const InterruptibleEvaluation interruptible;
    LaunchesTogether together(plan);
    const bool checks = hooks.check_interrupt != nullptr && groups.size() > 1;
    auto next_check = std::chrono::steady_clock::time_point();
    if (checks) next_check = std::chrono::steady_clock::now() + kInterruptInterval;
    for (Group& group : groups) {
        if (checks && std::chrono::steady_clock::now() > next_check) {
            hooks.check_interrupt();
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
    const EvaluationLock lock;
    for (bool done = false; !done;) {
        try {
            done = run_plan(roots);
        } catch (const Interrupted&) {
            answer_interrupt();
        }
    }
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
        input.source.settle();
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

bool inspect(const std::function<void()>& look) {
    const ForkExclusion exclusion;
    if (!evaluation_mutex().try_lock()) return false;
    const std::lock_guard<EvaluationMutex> lock(evaluation_mutex(), std::adopt_lock);
    look();
    return true;
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
    const std::vector<NodePtr> users = pending_users(buffer.get());
    if (!users.empty()) evaluate(users);
    const std::lock_guard storage_lock(storage.mutex);
    storage.current.settle();
    if (storage.current.buffer != buffer) return false;
    ++storage.pins;
    if (has_pending_users(buffer.get())) {
        --storage.pins;
        return false;
    }
    storage.known.reset();
    return true;
}

std::string explain_plan(std::span<const NodePtr> roots) {
    const EvaluationLock lock;
    const bool fuse = config().fuse.load(std::memory_order_relaxed);
    EvaluationScratch scratch;
    const std::span<Node* const> nodes = scratch.collect_rewritten(roots, fuse);
    if (nodes.empty()) return "nothing is pending: the values are in memory\n";
    const std::vector<Group> groups = make_plan(nodes, roots, fuse);
    std::string text = std::to_string(nodes.size()) + " pending operation(s) in " +
                       std::to_string(groups.size()) + " kernel(s)\n";
    for (size_t k = 0; k < groups.size(); ++k) text += describe(groups[k], k + 1);
    return text;
}

}  // namespace weft
