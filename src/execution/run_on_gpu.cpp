#include "execution/run_on_gpu.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/log.h"
#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "execution/kernels/kernel_store.h"
#include "execution/kernels/launch.h"
#include "execution/run_product.h"
#include "weft/errors.h"

namespace weft {

namespace {

// What no kernel for GPUs is made of yet; empty where one may be.
std::string why_not_there(const Group& group) {
    if (!is_on(OptimisationSwitch::kGpuKernels)) return "kernels for GPUs are left out";
    if (group.multiplies) return "work on the tiles of a product";
    if (group.root().kind() == NodeKind::kProduct && element_count(group.root().shape) == 0)
        return "a product over an axis of no elements, whose results are zeros";  // of a rewrite
    if (group.reduces && group.shape.size() + 1 > kMaxGridDimensions)
        return "a reduction of more dimensions than a grid has";
    return "";
}

bool gives_nothing(const Group& group) {
    return std::all_of(group.nodes.begin(), group.nodes.end(), [](const Node* node) {
        return node->kind() != NodeKind::kUpdate && element_count(node->result_shape()) == 0;
    });
}

// While it lives, the group reads copies on the CPU of what is on its device, and runs there. Its nodes read
// the device's memory again afterwards, unless they were computed.
class CpuFallback {
public:
    explicit CpuFallback(Group& group) : group_(group) {
        for (Node* node : group.nodes) {
            nodes_.push_back(node->shared_from_this());
            for (Operand& operand : node->inputs) {
                if (operand.source.in_memory() && !operand.source.is_host_resident())
                    copy(operand.source.buffer);
            }
        }
        // All copies are there: nothing can fail from here on.
        for (const NodePtr& node : nodes_) {
            for (Operand& operand : node->inputs) {
                const auto found = copies_.find(operand.source.buffer);
                if (found != copies_.end()) operand.source.buffer = found->second;
            }
        }
        memo_ = std::exchange(group.memo, nullptr);
        group.device = &cpu_device();
    }
    ~CpuFallback() {
        group_.device = nodes_.back()->device;
        group_.memo = std::move(memo_);
        for (const NodePtr& node : nodes_) {
            for (Operand& operand : node->inputs) {
                for (const auto& [original, copy] : copies_) {
                    if (operand.source.buffer == copy) operand.source.buffer = original;
                }
            }
        }
    }
    CpuFallback(const CpuFallback&) = delete;
    CpuFallback& operator=(const CpuFallback&) = delete;

    int64_t bytes() const { return bytes_; }

private:
    void copy(const BufferPtr& buffer) {
        if (copies_.contains(buffer)) return;
        const BufferPtr made = cpu_device().allocate(buffer->size());
        buffer->device().copy_out(made->data(), *buffer, 0, buffer->size());
        bytes_ += static_cast<int64_t>(buffer->size());
        copies_.emplace(buffer, made);
    }

    Group& group_;
    std::shared_ptr<LaunchMemo> memo_;
    std::vector<NodePtr> nodes_;  // some die when others are committed
    std::unordered_map<BufferPtr, BufferPtr> copies_;
    int64_t bytes_ = 0;
};

void run_fallback(Group& group, bool fuse, const std::string& reason) {
    const auto start = std::chrono::steady_clock::now();
    LaunchRecord record;
    record.device = group.device;
    record.fallback = reason;
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        if (!group.stored[k]) continue;
        for (const NodeResult& result : group.nodes[k]->results) record.bytes_written += result.bytes;
    }
    {
        CpuFallback fallback(group);
        record.bytes_read = fallback.bytes();
        run_on_cpu(group, fuse);
    }
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    auto kernel = std::make_shared<StoredKernel>();  // none, so that nothing counts as compiled
    kernel->name = "on the CPU";
    record.kernel = std::move(kernel);
    if (debug_enabled(DebugLevel::kLaunches)) {
        log_line("on the CPU instead of " + record.device->name() + " (" + std::to_string(record.bytes_read) +
                 " bytes there, " + std::to_string(record.bytes_written) + " back): " + reason);
    }
    record_launch(std::move(record));
}

}  // namespace

void run_on_gpu(Group& group, bool fuse) {
    if (gives_nothing(group)) {
        reserve_results(group);
        commit_all(group);
        return;
    }
    std::string reason = why_not_there(group);
    if (reason.empty()) {
        try {
            if (group.root().kind() == NodeKind::kProduct) {
                run_product(group);
            } else {
                run_kernels(group, fuse);
            }
            return;
        } catch (const NotImplementedError& error) {  // nothing has been committed
            reason = error.what();
        }
    }
    run_fallback(group, fuse, reason);
}

}  // namespace weft
