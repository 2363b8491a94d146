#include "execution/late_warnings.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "core/without_failing.h"
#include "execution/evaluate.h"
#include "execution/stream_order.h"
#include "graph/storage.h"

namespace weft {

namespace {

using Waiting = DueWarnings::Waiting;

// Never freed, as threads may evaluate while the process ends.
struct Board {
    std::mutex mutex;
    std::vector<Waiting> waiting;
    std::atomic<size_t> count{0};  // of `waiting`
};
Board& board() {
    static auto* const made = new Board;
    return *made;
}

// Adds them, and takes away those whose results are gone. These are freed without the lock: who holds it
// waits for nobody, and a warning may be an object of the host.
void put(std::vector<Waiting> added) {
    std::vector<Waiting> gone;
    Board& all = board();
    const std::lock_guard lock(all.mutex);
    const auto first_gone =
        std::ranges::partition(all.waiting, [](const Waiting& each) { return !each.result.expired(); });
    std::ranges::move(first_gone, std::back_inserter(gone));
    all.waiting.erase(first_gone.begin(), first_gone.end());
    std::ranges::move(added, std::back_inserter(all.waiting));
    all.count.store(all.waiting.size(), std::memory_order_relaxed);
}

// The pending nodes that the roots need, of this number and later.
std::unordered_set<const Node*> needed(std::span<const NodePtr> roots, uint64_t first) {
    std::unordered_set<const Node*> found;
    std::vector<NodePtr> open(roots.begin(), roots.end());
    while (!open.empty()) {
        const NodePtr node = std::move(open.back());
        open.pop_back();
        if (node->done.load(std::memory_order_acquire) || node->sequence < first) continue;
        if (!found.insert(node.get()).second) continue;
        for (Operand& input : node->inputs) {
            input.source.resolve();
            if (input.source.node) open.push_back(input.source.node);
        }
    }
    return found;
}

bool is_true(Storage& condition) {
    const BufferPtr buffer = evaluate_storage(condition);
    if (buffer->on_host()) return *buffer->data() != 0;
    char truth = 0;
    wait_for_others(*buffer);
    buffer->device().copy_out(&truth, *buffer, 0, 1);
    return truth != 0;
}

}  // namespace

void warn_when_computed(const NodePtr& result, std::shared_ptr<Storage> condition,
                        std::shared_ptr<LateWarning> warning) {
    std::vector<Waiting> one;
    one.push_back({result, result.get(), std::move(condition), std::move(warning)});
    put(std::move(one));
}

DueWarnings::~DueWarnings() {
    if (due_.empty()) return;
    without_failing([this] { put(std::move(due_)); });
}

std::span<const NodePtr> DueWarnings::take(std::span<const NodePtr> roots) {
    Board& all = board();
    if (all.count.load(std::memory_order_relaxed) == 0) [[likely]]
        return roots;
    std::unordered_set<const Node*> nodes;
    {
        std::vector<NodePtr> results;  // let go of before anything is planned, and without the lock
        {
            const std::lock_guard lock(all.mutex);
            for (const Waiting& each : all.waiting) {
                if (NodePtr node = each.result.lock()) results.push_back(std::move(node));
            }
        }
        uint64_t first = UINT64_MAX;
        for (const NodePtr& node : results) first = std::min(first, node->sequence);
        nodes = needed(roots, first);
        for (const NodePtr& node : results) {
            if (node->done.load(std::memory_order_acquire)) nodes.insert(node.get());
        }
    }
    {
        const std::lock_guard lock(all.mutex);
        const auto first_due = std::ranges::partition(all.waiting, [&](const Waiting& each) {
            return each.result.expired() || !nodes.contains(each.node);
        });
        std::ranges::move(first_due, std::back_inserter(due_));
        all.waiting.erase(first_due.begin(), first_due.end());
        all.count.store(all.waiting.size(), std::memory_order_relaxed);
    }
    if (due_.empty()) return roots;
    roots_.assign(roots.begin(), roots.end());
    for (const Waiting& each : due_) {
        Source version = current_version(*each.condition);
        if (version.node) roots_.push_back(std::move(version.node));
    }
    return roots_;
}

void DueWarnings::tell() {
    if (due_.empty()) [[likely]]
        return;
    const std::vector<Waiting> told = std::exchange(due_, {});
    roots_.clear();
    for (const Waiting& each : told) {
        if (is_true(*each.condition)) each.warning->tell();
    }
}

}  // namespace weft
