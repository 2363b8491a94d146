#include "device/cuda/launch_batch.h"

#include <algorithm>
#include <array>

#include "device/cuda/context.h"

namespace weft::cuda {

namespace {

constexpr size_t kSmallestGraph = 4;  // launches: fewer cost as little one by one
constexpr int kMeetings = 3;  // of a sequence of kernels before it becomes a graph, which takes 0.1 ms
constexpr int kMeetingsAfterRefusal = 1000;
constexpr size_t kLargestGraph = 64;  // so that the GPU begins while a long plan is still run
constexpr size_t kMostGraphs = 64;

}  // namespace

// As the driver takes them: all parameters as one block of bytes.
struct LaunchBatch::Arguments {
    Arguments(const Launch& launch, ArgumentWord* words)
        : bytes(launch.count * sizeof(ArgumentWord)),
          extra{kLaunchParamBuffer, words + launch.first, kLaunchParamSize, &bytes, kLaunchParamEnd},
          node{launch.function,
               launch.shape.blocks,
               launch.shape.blocks_y,
               launch.shape.blocks_z,
               launch.shape.threads_x,
               launch.shape.threads_y,
               launch.shape.threads_z,
               launch.shape.shared_bytes,
               nullptr,
               extra.data(),
               nullptr,
               nullptr} {}
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    size_t bytes;
    std::array<void*, 5> extra;
    KernelNodeParams node;
};

void LaunchBatch::open() { open_.store(true, std::memory_order_relaxed); }

void LaunchBatch::close() {
    open_.store(false, std::memory_order_relaxed);
    flush();
}

void LaunchBatch::add(FunctionHandle function, const CudaLaunchShape& shape,
                      std::span<const ArgumentWord> words) {
    const std::lock_guard lock(mutex_);
    if (launches_.size() >= kLargestGraph) launch_collected();
    launches_.reserve(std::max(launches_.capacity(), kLargestGraph));
    const size_t first = words_.size();
    words_.insert(words_.end(), words.begin(), words.end());
    launches_.push_back({function, shape, first, words.size()});
    waiting_.store(true, std::memory_order_release);
}

void LaunchBatch::launch_all() {
    check_fork();  // the lock may be another thread's that is not there
    const std::lock_guard lock(mutex_);
    launch_collected();
}

void LaunchBatch::launch_collected() {
    if (launches_.empty()) return;
    const Context::Scope scope(context_, Context::Scope::Of::kBatch);
    if (launches_.size() >= kSmallestGraph && launch_graph()) {
        drop(launches_.size());
        return;
    }
    for (size_t k = 0; k < launches_.size(); ++k) {
        Result result = launch(launches_[k]);
        if (result != kSuccess) {  // for want of something that others hold for a while
            (void)context_.driver().stream_synchronize(context_.stream());
            result = launch(launches_[k]);
        }
        if (result == kSuccess) continue;
        drop(k);
        context_.check(result,
                       "launch a kernel, which computes values that the program holds and is tried again "
                       "whenever the device is used,");
    }
    drop(launches_.size());
}

void LaunchBatch::drop(size_t count) {
    launches_.erase(launches_.begin(), launches_.begin() + static_cast<std::ptrdiff_t>(count));
    if (!launches_.empty()) return;
    words_.clear();
    waiting_.store(false, std::memory_order_release);
}

Result LaunchBatch::launch(const Launch& launch) {
    Arguments arguments(launch, words_.data());
    const CudaLaunchShape& shape = launch.shape;
    return context_.driver().launch(launch.function, shape.blocks, shape.blocks_y, shape.blocks_z,
                                    shape.threads_x, shape.threads_y, shape.threads_z, shape.shared_bytes,
                                    context_.stream(), nullptr, arguments.extra.data());
}

bool LaunchBatch::launch_graph() {
    uint64_t hash = launches_.size();
    for (const Launch& each : launches_)
        hash = (hash ^ reinterpret_cast<uintptr_t>(each.function)) * 0x9E3779B97F4A7C15u + (hash >> 31);
    if (graphs_.size() >= kMostGraphs && !graphs_.contains(hash)) forget_graphs();
    Graph& graph = graphs_[hash];
    const auto is_same = [](const Launch& launch, FunctionHandle function) {
        return launch.function == function;
    };
    if (!std::equal(launches_.begin(), launches_.end(), graph.functions.begin(), graph.functions.end(),
                    is_same)) {
        forget(graph);
        for (const Launch& each : launches_) graph.functions.push_back(each.function);
    }
    if (++graph.met < kMeetings) return false;
    const Driver& driver = context_.driver();
    Result result = kSuccess;
    if (graph.executable == nullptr) {
        result = make(graph);
    } else {
        for (size_t k = 0; k < launches_.size() && result == kSuccess; ++k) {
            Arguments arguments(launches_[k], words_.data());
            result = driver.graph_set_kernel(graph.executable, graph.nodes[k], &arguments.node);
        }
    }
    if (result == kSuccess) result = driver.graph_launch(graph.executable, context_.stream());
    if (result == kSuccess) return true;
    const std::vector<FunctionHandle> functions = std::move(graph.functions);
    forget(graph);
    graph.functions = functions;
    graph.met = -kMeetingsAfterRefusal;
    return false;
}

// A chain: each kernel may read what the one before it wrote.
Result LaunchBatch::make(Graph& graph) {
    const Driver& driver = context_.driver();
    Result result = driver.graph_create(&graph.graph, 0);
    for (const Launch& each : launches_) {
        if (result != kSuccess) return result;
        Arguments arguments(each, words_.data());
        GraphNodeHandle node = nullptr;
        const GraphNodeHandle* before = graph.nodes.empty() ? nullptr : &graph.nodes.back();
        result =
            driver.graph_add_kernel(&node, graph.graph, before, graph.nodes.empty() ? 0 : 1, &arguments.node);
        if (result == kSuccess) graph.nodes.push_back(node);
    }
    return result != kSuccess ? result : driver.graph_instantiate(&graph.executable, graph.graph, 0);
}

void LaunchBatch::forget_all() {
    const std::lock_guard lock(mutex_);
    forget_graphs();
}

void LaunchBatch::forget_graphs() {
    for (auto& [key, graph] : graphs_) forget(graph);
    graphs_.clear();
}

void LaunchBatch::forget(Graph& graph) {
    const Driver& driver = context_.driver();
    if (graph.executable != nullptr) driver.graph_exec_destroy(graph.executable);
    if (graph.graph != nullptr) driver.graph_destroy(graph.graph);
    graph = Graph();
}

}  // namespace weft::cuda
