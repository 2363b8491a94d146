// The launches of a plan that runs again, put together into one CUDA graph: for the host a node of a graph
// costs a twentieth of a launch, and the GPU goes on from one to the next in a third of the time
// (docs/internals/device.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "device/cuda/driver.h"
#include "device/cuda/launch_shape.h"
#include "device/kernel.h"

namespace weft::cuda {

class Context;

// While a batch is open, launches are collected; whoever enters the context (Context::Scope) queues them
// first, from whichever thread. What has been collected counts as done, so it is never dropped: it is
// launched one by one where the graph cannot be, and tried again once. What the driver refuses then stays
// collected, and whoever enters the context gets the error, until the driver takes it.
class LaunchBatch {
public:
    explicit LaunchBatch(Context& context) : context_(context) {}
    LaunchBatch(const LaunchBatch&) = delete;
    LaunchBatch& operator=(const LaunchBatch&) = delete;

    // One thread opens and closes batches, and launches meanwhile: the one that evaluates. A batch is closed
    // whether or not the driver takes it.
    void open();
    void close();
    // Functions are about to be unloaded, and others may get their handles.
    void forget_all();
    bool is_open() const { return open_.load(std::memory_order_relaxed); }

    // Throws with nothing added.
    void add(FunctionHandle function, const CudaLaunchShape& shape, std::span<const ArgumentWord> words);
    void flush() {
        if (waiting_.load(std::memory_order_acquire)) [[unlikely]]
            launch_all();
    }

private:
    struct Launch {
        FunctionHandle function;
        CudaLaunchShape shape;
        size_t first, count;  // of its words
    };
    struct Graph {
        std::vector<FunctionHandle> functions;
        int met = 0;  // below 0: the driver has refused it
        GraphHandle graph = nullptr;
        GraphExecHandle executable = nullptr;
        std::vector<GraphNodeHandle> nodes;
    };
    struct Arguments;

    // These with the lock held.
    void launch_collected();
    bool launch_graph();  // false where it has to be one by one
    Result make(Graph& graph);
    void forget(Graph& graph);
    void forget_graphs();
    Result launch(const Launch& launch);
    void drop(size_t count);  // the first ones
    void launch_all();

    Context& context_;
    std::atomic<bool> open_{false}, waiting_{false};
    std::mutex mutex_;  // of what follows
    std::vector<Launch> launches_;
    std::vector<ArgumentWord> words_;
    std::unordered_map<uint64_t, Graph> graphs_;  // by their functions
};

}  // namespace weft::cuda
