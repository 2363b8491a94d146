#include "fake_driver.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "calls.h"
#include "device/kernel.h"
#include "fibers.h"
#include "kernels.h"

// The driver's opaque objects.
namespace weft::cuda {

struct Operation {
    std::function<Result()> run;
    EventState* recorded = nullptr;  // this operation is an event
    EventState* awaited = nullptr;   // or waits for one
};

struct StreamState {
    ContextState* context = nullptr;
    std::deque<Operation> queue;
};

struct EventState {
    StreamState* stream = nullptr;  // where it is queued; null once it has come
};

struct ContextState {
    int device = 0;
    std::vector<std::unique_ptr<StreamState>> streams;  // the first is the default stream
    std::map<DeviceAddress, size_t> allocations;
    size_t live = 0;
    Result fault = kSuccess;
};

struct FunctionState {
    std::string symbol;
    std::vector<fake_driver::Kernel> kernels;     // one after another in each launch
    fake_driver::ProgramEntry program = nullptr;  // of a program in C++
};

struct ModuleState {
    std::string text;
    std::vector<std::unique_ptr<FunctionState>> functions;
};

struct LinkState {
    std::string text;
};

struct GraphNodeState {
    FunctionState* function = nullptr;
    std::function<Result()> run;
    std::vector<GraphNodeState*> after;
};

struct GraphState {
    std::vector<std::unique_ptr<GraphNodeState>> nodes;
};

struct GraphExecState {
    std::map<GraphNodeState*, GraphNodeState> nodes;  // by those of the graph that it was made of
    std::vector<GraphNodeState*> order;
};

}  // namespace weft::cuda

namespace weft::fake_driver {

// Declared by the engine's own table: a function that differs from it does not compile.
#define WEFT_CUDA_SYMBOL(name, symbol, parameters) \
    __attribute__((visibility("default"))) cuda::Result name parameters __asm__(symbol);
using namespace cuda;
#include "device/cuda/driver_symbols.def"
#undef WEFT_CUDA_SYMBOL

namespace {

constexpr int kPattern = 0xA5;  // of memory that was never written

int64_t environment(const char* name, int64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoll(text, nullptr, 10) : otherwise;
}

class FakeDriver final : public Control {
public:
    FakeDriver() {
        contexts.resize(static_cast<size_t>(environment("WEFT_FAKE_DRIVER_DEVICES", 2)));
        for (size_t k = 0; k < contexts.size(); ++k) {
            contexts[k] = std::make_unique<ContextState>();
            contexts[k]->device = static_cast<int>(k);
            contexts[k]->streams.push_back(std::make_unique<StreamState>());
            contexts[k]->streams[0]->context = contexts[k].get();
        }
        memory = static_cast<size_t>(environment("WEFT_FAKE_DRIVER_MEMORY", int64_t{4} << 30));
        skips_kernels = environment("WEFT_FAKE_DRIVER_SKIP_KERNELS", 0) != 0;
    }

    void reset() override {
        const std::lock_guard lock(mutex);
        made.forget();
        stubs.clear();
        for (const auto& context : contexts) context->fault = kSuccess;
    }
    void fail(const std::string& symbol, int nth, Result result, bool for_ever) override {
        const std::lock_guard lock(mutex);
        made.fail(symbol, nth, result, for_ever);
    }
    void succeed() override {
        const std::lock_guard lock(mutex);
        made.succeed();
    }
    int calls(const std::string& symbol) const override {
        const std::lock_guard lock(mutex);
        return static_cast<int>(made.count(symbol));
    }
    int failed_calls() const override {
        const std::lock_guard lock(mutex);
        return static_cast<int>(made.failed());
    }
    std::vector<std::string> log() const override {
        const std::lock_guard lock(mutex);
        return made.log();
    }
    Result fault(int device) const override { return contexts[static_cast<size_t>(device)]->fault; }
    int64_t live_objects() const override {
        const std::lock_guard lock(mutex);
        return objects;
    }
    void set_kernel(const std::string& symbol, KernelStub stub) override {
        const std::lock_guard lock(mutex);
        stubs[symbol] = std::move(stub);
    }
    void set_memory(size_t bytes) override { memory = bytes; }
    size_t live_bytes(int device) const override { return contexts[static_cast<size_t>(device)]->live; }
    size_t queued(int device) const override {
        const std::lock_guard lock(mutex);
        size_t count = 0;
        for (const auto& stream : contexts[static_cast<size_t>(device)]->streams)
            count += stream->queue.size();
        return count;
    }

    // Notes a call; what it answers instead of doing its work.
    Result enter(const char* symbol, bool of_context) {
        Result result = made.enter(symbol);
        if (process != 0 && process != getpid()) return kNotInitialized;  // a driver does not survive fork()
        ContextState* context = of_context ? current() : nullptr;
        if (context == nullptr) return result;
        if (ruins_context(result)) context->fault = result;
        return context->fault != kSuccess ? context->fault : result;
    }

    ContextState* current() const { return stack().empty() ? nullptr : stack().back(); }
    static std::vector<ContextState*>& stack() {
        thread_local std::vector<ContextState*> contexts_of_thread;
        return contexts_of_thread;
    }

    // CUDA's default streams have numbers instead of handles; here they are one.
    StreamHandle actual(StreamHandle stream) const {
        return reinterpret_cast<uintptr_t>(stream) <= 2 ? current()->streams[0].get() : stream;
    }

    // Runs what is queued on the stream, up to and with the event if there is one.
    Result run(StreamState& stream, const EventState* until = nullptr) {
        while (!stream.queue.empty()) {
            Operation operation = std::move(stream.queue.front());
            if (operation.awaited != nullptr && operation.awaited->stream != nullptr) {
                EventState* event = operation.awaited;
                stream.queue.front() = std::move(operation);
                if (const Result result = run(*event->stream, event)) return result;
                continue;
            }
            stream.queue.pop_front();
            if (operation.recorded != nullptr) {
                // Recorded again since: only the latest counts.
                const bool again =
                    std::any_of(stream.queue.begin(), stream.queue.end(),
                                [&](const Operation& other) { return other.recorded == operation.recorded; });
                if (!again && operation.recorded->stream == &stream) operation.recorded->stream = nullptr;
                if (operation.recorded == until && !again) return kSuccess;
            }
            if (operation.run == nullptr) continue;
            if (const Result result = operation.run()) {
                stream.context->fault = result;
                return result;
            }
        }
        return kSuccess;
    }
    Result run_all(ContextState& context) {
        for (const auto& stream : context.streams) {
            if (const Result result = run(*stream)) return result;
        }
        return context.fault;
    }

    // Whether these bytes are memory that was given out, on whichever device.
    bool is_allocated(DeviceAddress address, size_t bytes) const {
        for (const auto& context : contexts) {
            auto after = context->allocations.upper_bound(address);
            if (after == context->allocations.begin()) continue;
            --after;
            if (address + bytes <= after->first + after->second) return true;
        }
        return false;
    }

    Result queue_copy(StreamHandle stream, void* to, const void* from, size_t bytes, DeviceAddress checked,
                      DeviceAddress also = 0) {
        actual(stream)->queue.push_back({[=, this]() -> Result {
                                             if (!is_allocated(checked, bytes)) return kIllegalAddress;
                                             if (also != 0 && !is_allocated(also, bytes))
                                                 return kIllegalAddress;
                                             std::memmove(to, from, bytes);
                                             return kSuccess;
                                         },
                                         nullptr, nullptr});
        return kSuccess;
    }

    mutable std::recursive_mutex mutex;
    std::vector<std::unique_ptr<ContextState>> contexts;
    size_t memory = 0;
    bool skips_kernels = false;
    Calls made;
    pid_t process = 0;    // that has initialised the driver
    int64_t objects = 0;  // that were made and not destroyed
    std::map<std::string, KernelStub> stubs;
    std::set<void*> pinned;
};

FakeDriver& state() {
    static auto* instance = new FakeDriver;
    return *instance;
}

// Inside one call of the driver: of one that works in the current context, or has nothing to do with it.
enum class Of { kContext, kNone };
class Entry {
public:
    explicit Entry(const char* symbol, Of of = Of::kContext)
        : lock_(state().mutex), result(state().enter(symbol, of == Of::kContext)) {}

private:
    std::lock_guard<std::recursive_mutex> lock_;

public:
    const Result result;
};

Result work_of(const KernelNodeParams& params, std::function<Result()>& run);

void* host(DeviceAddress address) { return reinterpret_cast<void*>(address); }

}  // namespace

Result init(unsigned) {
    const Entry entry("cuInit", Of::kNone);
    if (entry.result == kSuccess) state().process = getpid();
    return entry.result;
}
Result driver_version(int* version) {
    const Entry entry("cuDriverGetVersion", Of::kNone);
    if (entry.result == kSuccess) *version = static_cast<int>(environment("WEFT_FAKE_DRIVER_VERSION", 13000));
    return entry.result;
}
Result error_name(Result error, const char** text) {
    *text = name_of(error);
    return kSuccess;
}
Result error_string(Result error, const char** text) {
    *text =
        error == kIllegalAddress ? "an illegal memory access was encountered" : "as the fake driver was told";
    return kSuccess;
}
Result device_count(int* count) {
    const Entry entry("cuDeviceGetCount", Of::kNone);
    if (entry.result == kSuccess) *count = static_cast<int>(state().contexts.size());
    return entry.result;
}
Result device_get(DeviceHandle* device, int ordinal) {
    const Entry entry("cuDeviceGet", Of::kNone);
    if (entry.result == kSuccess) *device = ordinal;
    return entry.result;
}
Result device_name(char* name, int length, DeviceHandle device) {
    const Entry entry("cuDeviceGetName", Of::kNone);
    if (entry.result == kSuccess) std::snprintf(name, static_cast<size_t>(length), "Fake GPU %d", device);
    return entry.result;
}
Result device_attribute(int* value, int attribute, DeviceHandle) {
    const Entry entry("cuDeviceGetAttribute", Of::kNone);
    if (entry.result != kSuccess) return entry.result;
    switch (attribute) {
        case kComputeCapabilityMajor: *value = 9; break;
        case kComputeCapabilityMinor: *value = 0; break;
        case kMultiprocessorCount: *value = 4; break;
        case kMaxThreadsPerMultiprocessor: *value = 2048; break;
        case kL2CacheSize: *value = 8 << 20; break;
        case kMaxSharedMemoryPerBlockOptin: *value = 227 << 10; break;
        default: *value = 0; break;
    }
    return kSuccess;
}
Result device_memory(size_t* bytes, DeviceHandle) {
    const Entry entry("cuDeviceTotalMem_v2", Of::kNone);
    if (entry.result == kSuccess) *bytes = state().memory;
    return entry.result;
}
Result primary_context_retain(ContextHandle* context, DeviceHandle device) {
    const Entry entry("cuDevicePrimaryCtxRetain", Of::kNone);
    if (entry.result != kSuccess) return entry.result;
    *context = state().contexts[static_cast<size_t>(device)].get();
    ++state().objects;
    return kSuccess;
}
Result primary_context_release(DeviceHandle) {
    const Entry entry("cuDevicePrimaryCtxRelease_v2", Of::kNone);
    --state().objects;
    return entry.result;
}
Result context_current(ContextHandle* context) {
    if (state().skips_kernels) {
        *context = state().current();
        return kSuccess;
    }
    const Entry entry("cuCtxGetCurrent", Of::kNone);
    if (entry.result == kSuccess) *context = state().current();
    return entry.result;
}
Result context_push(ContextHandle context) {
    const Entry entry("cuCtxPushCurrent_v2", Of::kNone);
    if (entry.result == kSuccess) FakeDriver::stack().push_back(context);
    return entry.result;
}
Result context_pop(ContextHandle* context) {
    const Entry entry("cuCtxPopCurrent_v2", Of::kNone);
    if (entry.result != kSuccess) return entry.result;
    if (FakeDriver::stack().empty()) return kInvalidContext;
    *context = FakeDriver::stack().back();
    FakeDriver::stack().pop_back();
    return kSuccess;
}
Result can_access_peer(int* can, DeviceHandle, DeviceHandle) {
    const Entry entry("cuDeviceCanAccessPeer", Of::kNone);
    if (entry.result == kSuccess) *can = 1;
    return entry.result;
}
Result enable_peer_access(ContextHandle, unsigned) { return Entry("cuCtxEnablePeerAccess").result; }
Result context_synchronize() {
    const Entry entry("cuCtxSynchronize");
    return entry.result != kSuccess ? entry.result : state().run_all(*state().current());
}
Result allocate(DeviceAddress* address, size_t bytes) {
    const Entry entry("cuMemAlloc_v2");
    if (entry.result != kSuccess) return entry.result;
    ContextState* context = state().current();
    if (context == nullptr) return kInvalidContext;
    if (bytes == 0) return kInvalidValue;
    if (context->live + bytes > state().memory) return kOutOfMemory;
    void* memory = nullptr;
    if (posix_memalign(&memory, 512, bytes) != 0) return kOutOfMemory;
    std::memset(memory, kPattern, bytes);
    *address = reinterpret_cast<DeviceAddress>(memory);
    context->allocations[*address] = bytes;
    context->live += bytes;
    return kSuccess;
}
Result free(DeviceAddress address) {
    const Entry entry("cuMemFree_v2");
    if (entry.result != kSuccess) return entry.result;
    ContextState* context = state().current();
    if (context == nullptr) return kInvalidContext;
    if (const Result result = state().run_all(*context)) return result;  // as the driver, it waits
    const auto found = context->allocations.find(address);
    if (found == context->allocations.end()) return kInvalidValue;
    context->live -= found->second;
    context->allocations.erase(found);
    std::free(host(address));
    return kSuccess;
}
Result memory_info(size_t* free_bytes, size_t* total_bytes) {
    const Entry entry("cuMemGetInfo_v2");
    if (entry.result != kSuccess) return entry.result;
    if (state().current() == nullptr) return kInvalidContext;
    *total_bytes = state().memory;
    *free_bytes = state().memory - std::min(state().memory, state().current()->live);
    return kSuccess;
}
Result pointer_attribute(void* value, int attribute, DeviceAddress address) {
    const Entry entry("cuPointerGetAttribute");
    if (entry.result != kSuccess) return entry.result;
    for (const auto& context : state().contexts) {
        const auto after = context->allocations.upper_bound(address);
        if (after == context->allocations.begin()) continue;
        const auto& [begin, bytes] = *std::prev(after);
        if (address >= begin + bytes || attribute != kPointerDeviceOrdinal) continue;
        *static_cast<int*>(value) = context->device;
        return kSuccess;
    }
    return kInvalidValue;
}
Result host_allocate(void** address, size_t bytes, unsigned) {
    const Entry entry("cuMemHostAlloc");
    if (entry.result != kSuccess) return entry.result;
    *address = std::malloc(bytes);
    state().pinned.insert(*address);
    ++state().objects;
    return kSuccess;
}
Result host_free(void* address) {
    const Entry entry("cuMemFreeHost");
    if (state().pinned.erase(address) == 0) return kInvalidValue;
    std::free(address);
    --state().objects;
    return entry.result;
}
Result copy_in(DeviceAddress to, const void* from, size_t bytes, StreamHandle stream) {
    const Entry entry("cuMemcpyHtoDAsync_v2");
    if (entry.result != kSuccess) return entry.result;
    return state().queue_copy(stream, host(to), from, bytes, to);
}
Result copy_out(void* to, DeviceAddress from, size_t bytes, StreamHandle stream) {
    const Entry entry("cuMemcpyDtoHAsync_v2");
    if (entry.result != kSuccess) return entry.result;
    return state().queue_copy(stream, to, host(from), bytes, from);
}
Result copy_within(DeviceAddress to, DeviceAddress from, size_t bytes, StreamHandle stream) {
    const Entry entry("cuMemcpyDtoDAsync_v2");
    if (entry.result != kSuccess) return entry.result;
    return state().queue_copy(stream, host(to), host(from), bytes, to, from);
}
Result copy_peer(DeviceAddress to, ContextHandle, DeviceAddress from, ContextHandle, size_t bytes,
                 StreamHandle stream) {
    const Entry entry("cuMemcpyPeerAsync");
    if (entry.result != kSuccess) return entry.result;
    return state().queue_copy(stream, host(to), host(from), bytes, to, from);
}
Result fill_bytes(DeviceAddress to, unsigned char value, size_t bytes, StreamHandle stream) {
    const Entry entry("cuMemsetD8Async");
    if (entry.result != kSuccess) return entry.result;
    state().actual(stream)->queue.push_back({[=]() -> Result {
                                                 if (!state().is_allocated(to, bytes)) return kIllegalAddress;
                                                 std::memset(host(to), value, bytes);
                                                 return kSuccess;
                                             },
                                             nullptr, nullptr});
    return kSuccess;
}
Result stream_create(StreamHandle* stream, unsigned) {
    const Entry entry("cuStreamCreate");
    if (entry.result != kSuccess) return entry.result;
    ContextState* context = state().current();
    if (context == nullptr) return kInvalidContext;
    context->streams.push_back(std::make_unique<StreamState>());
    *stream = context->streams.back().get();
    (*stream)->context = context;
    ++state().objects;
    return kSuccess;
}
Result stream_destroy(StreamHandle stream) {
    const Entry entry("cuStreamDestroy_v2");
    if (entry.result != kSuccess) return entry.result;
    if (const Result result = state().run(*stream)) return result;
    auto& streams = stream->context->streams;
    std::erase_if(streams, [&](const auto& other) { return other.get() == stream; });
    --state().objects;
    return kSuccess;
}
Result stream_synchronize(StreamHandle stream) {
    const Entry entry("cuStreamSynchronize");
    return entry.result != kSuccess ? entry.result : state().run(*state().actual(stream));
}
Result stream_wait_event(StreamHandle stream, EventHandle event, unsigned) {
    const Entry entry("cuStreamWaitEvent");
    if (entry.result != kSuccess) return entry.result;
    stream = state().actual(stream);
    // An event may be recorded again later; what is waited for is what was recorded before this call. Running
    // it now keeps that simple: it can only make more be done than is sure.
    if (event->stream == stream) return kSuccess;
    if (event->stream != nullptr) {
        auto* marker = new EventState{event->stream};  // lives as long as the process, as tests do
        event->stream->queue.push_back({nullptr, marker, nullptr});
        // The marker has to stand where the event stands.
        auto& queue = event->stream->queue;
        const auto place = std::find_if(queue.rbegin(), queue.rend(), [&](const Operation& operation) {
            return operation.recorded == event;
        });
        std::rotate(place.base(), queue.end() - 1, queue.end());
        stream->queue.push_back({nullptr, nullptr, marker});
    }
    return kSuccess;
}
Result event_create(EventHandle* event, unsigned) {
    const Entry entry("cuEventCreate");
    if (entry.result != kSuccess) return entry.result;
    *event = new EventState;
    ++state().objects;
    return kSuccess;
}
Result event_destroy(EventHandle event) {
    const Entry entry("cuEventDestroy_v2");
    for (const auto& context : state().contexts) {
        for (const auto& stream : context->streams) {
            for (Operation& operation : stream->queue) {
                if (operation.recorded == event) operation.recorded = nullptr;
            }
        }
    }
    delete event;
    --state().objects;
    return entry.result;
}
Result event_record(EventHandle event, StreamHandle stream) {
    const Entry entry("cuEventRecord");
    if (entry.result != kSuccess) return entry.result;
    stream = state().actual(stream);
    event->stream = stream;
    stream->queue.push_back({nullptr, event, nullptr});
    return kSuccess;
}
Result event_query(EventHandle event) {
    const Entry entry("cuEventQuery");
    if (entry.result != kSuccess) return entry.result;
    return event->stream != nullptr ? kNotReady : kSuccess;
}
Result event_synchronize(EventHandle event) {
    const Entry entry("cuEventSynchronize");
    if (entry.result != kSuccess) return entry.result;
    return event->stream != nullptr ? state().run(*event->stream, event) : kSuccess;
}
Result event_elapsed(float* milliseconds, EventHandle, EventHandle) {
    const Entry entry("cuEventElapsedTime");
    if (entry.result == kSuccess) *milliseconds = 0.5F;
    return entry.result;
}
Result module_load(ModuleHandle* module, const void* image, unsigned count, const int* options,
                   void** values) {
    const Entry entry("cuModuleLoadDataEx");
    if (entry.result != kSuccess) return entry.result;
    (void)count, (void)options, (void)values;
    *module = new ModuleState{static_cast<const char*>(image), {}};
    return kSuccess;
}
Result module_unload(ModuleHandle module) {
    const Entry entry("cuModuleUnload");
    delete module;
    return entry.result;
}
Result module_function(FunctionHandle* function, ModuleHandle module, const char* name) {
    const Entry entry("cuModuleGetFunction");
    if (entry.result != kSuccess) return entry.result;
    auto made = std::make_unique<FunctionState>();
    made->symbol = name;
    if (module->text.find(name) == std::string::npos) return kNotFound;
    made->kernels = kernels_in(module->text);
    if (made->kernels.empty()) made->program = program_entry(name);
    *function = made.get();
    module->functions.push_back(std::move(made));
    return kSuccess;
}
Result function_attribute(int* value, int which, FunctionHandle) {
    const Entry entry("cuFuncGetAttribute");
    if (entry.result == kSuccess) *value = which == kFunctionMostThreads ? 1024 : 16;
    return entry.result;
}
Result function_set_attribute(FunctionHandle, int, int) { return Entry("cuFuncSetAttribute").result; }
Result link_create(unsigned count, const int* options, void** values, LinkHandle* link) {
    const Entry entry("cuLinkCreate_v2");
    if (entry.result != kSuccess) return entry.result;
    *link = new LinkState;
    ++state().objects;
    for (unsigned k = 0; k < count; ++k) {
        if (options[k] == kJitErrorLogBuffer && state().made.fails_some())
            std::strcpy(static_cast<char*>(values[k]), "ptxas error: as the fake driver was told");
    }
    return kSuccess;
}
Result link_add(LinkHandle link, int, void* data, size_t bytes, const char*, unsigned, const int*, void**) {
    const Entry entry("cuLinkAddData_v2");
    if (entry.result != kSuccess) return entry.result;
    link->text.assign(static_cast<const char*>(data), bytes);
    return kSuccess;
}
Result link_complete(LinkHandle link, void** image, size_t* bytes) {
    const Entry entry("cuLinkComplete");
    if (entry.result != kSuccess) return entry.result;
    *image = link->text.data();
    *bytes = link->text.size();
    return kSuccess;
}
Result link_destroy(LinkHandle link) {
    const Entry entry("cuLinkDestroy");
    delete link;
    --state().objects;
    return entry.result;
}
Result launch(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
              unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream,
              void** parameters, void** extra) {
    if (state().skips_kernels) return kSuccess;
    const Entry entry("cuLaunchKernel");
    if (entry.result != kSuccess) return entry.result;
    std::function<Result()> run;
    const KernelNodeParams params{function, grid_x,       grid_y,     grid_z, block_x, block_y,
                                  block_z,  shared_bytes, parameters, extra,  nullptr, nullptr};
    if (const Result result = work_of(params, run)) return result;
    stream->queue.push_back({std::move(run), nullptr, nullptr});
    return kSuccess;
}

// One parameter, the words of a launch: as many as its function has, and that of the grid.
Result launch_together(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       StreamHandle stream, void** parameters) {
    const Entry entry("cuLaunchCooperativeKernel");
    if (entry.result != kSuccess) return entry.result;
    if (function->kernels.size() != 1 || function->kernels[0].launch == nullptr) return kInvalidValue;
    size_t bytes = (function->kernels[0].words + 1) * sizeof(uint64_t);
    std::array<void*, 5> extra{kLaunchParamBuffer, parameters[0], kLaunchParamSize, &bytes, kLaunchParamEnd};
    std::function<Result()> run;
    const KernelNodeParams params{function, grid_x,       grid_y,  grid_z,       block_x, block_y,
                                  block_z,  shared_bytes, nullptr, extra.data(), nullptr, nullptr};
    if (const Result result = work_of(params, run)) return result;
    stream->queue.push_back({std::move(run), nullptr, nullptr});
    return kSuccess;
}
Result blocks_at_once(int* blocks, FunctionHandle, int threads, size_t) {
    const Entry entry("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    if (entry.result == kSuccess) *blocks = 1024 / threads;
    return entry.result;
}
Result profiler_start() { return Entry("cuProfilerStart").result; }
Result profiler_stop() { return Entry("cuProfilerStop").result; }

Result graph_create(GraphHandle* graph, unsigned flags) {
    const Entry entry("cuGraphCreate");
    if (entry.result != kSuccess) return entry.result;
    if (flags != 0) return kInvalidValue;
    *graph = new GraphState;
    return kSuccess;
}
Result graph_add_kernel(GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* dependencies,
                        size_t count, const KernelNodeParams* params) {
    const Entry entry("cuGraphAddKernelNode_v2");
    if (entry.result != kSuccess) return entry.result;
    auto made = std::make_unique<GraphNodeState>();
    made->function = params->function;
    if (const Result result = work_of(*params, made->run)) return result;
    made->after.assign(dependencies, dependencies + count);
    *node = made.get();
    graph->nodes.push_back(std::move(made));
    return kSuccess;
}
// Nodes in an order of their dependencies, and of those that wait for nothing the last one first: a
// dependency that weft forgot gives wrong bytes.
Result graph_instantiate(GraphExecHandle* executable, GraphHandle graph, unsigned long long) {
    const Entry entry("cuGraphInstantiateWithFlags");
    if (entry.result != kSuccess) return entry.result;
    auto made = std::make_unique<GraphExecState>();
    std::set<GraphNodeState*> done;
    while (made->order.size() < graph->nodes.size()) {
        const auto ready = std::find_if(graph->nodes.rbegin(), graph->nodes.rend(), [&](const auto& node) {
            return !done.contains(node.get()) &&
                   std::all_of(node->after.begin(), node->after.end(),
                               [&](GraphNodeState* before) { return done.contains(before); });
        });
        if (ready == graph->nodes.rend()) return kInvalidValue;
        done.insert(ready->get());
        made->order.push_back(ready->get());
        made->nodes.emplace(ready->get(), **ready);
    }
    *executable = made.release();
    return kSuccess;
}
Result graph_set_kernel(GraphExecHandle executable, GraphNodeHandle node, const KernelNodeParams* params) {
    const Entry entry("cuGraphExecKernelNodeSetParams_v2");
    if (entry.result != kSuccess) return entry.result;
    const auto found = executable->nodes.find(node);
    if (found == executable->nodes.end() || found->second.function != params->function) return kInvalidValue;
    return work_of(*params, found->second.run);
}
Result graph_launch(GraphExecHandle executable, StreamHandle stream) {
    const Entry entry("cuGraphLaunch");
    if (entry.result != kSuccess) return entry.result;
    for (GraphNodeState* node : executable->order)
        stream->queue.push_back({executable->nodes.at(node).run, nullptr, nullptr});
    return kSuccess;
}
Result graph_exec_destroy(GraphExecHandle executable) {
    const Entry entry("cuGraphExecDestroy");
    delete executable;
    return entry.result;
}
Result graph_destroy(GraphHandle graph) {
    const Entry entry("cuGraphDestroy");
    delete graph;
    return entry.result;
}

namespace {

// What a launch will do; its parameters are read now.
Result work_of(const KernelNodeParams& params, std::function<Result()>& run) {
    const uint64_t blocks = uint64_t{params.grid_x} * params.grid_y * params.grid_z,
                   threads = uint64_t{params.block_x} * params.block_y * params.block_z;
    void** const extra = params.extra;
    if (blocks == 0 || threads == 0 || threads > 1024 || params.parameters != nullptr || extra == nullptr)
        return kInvalidValue;
    std::vector<uint64_t> words;
    for (size_t k = 0; extra[k] != kLaunchParamEnd; k += 2) {
        if (extra[k] == kLaunchParamSize)
            words.resize(*static_cast<size_t*>(extra[k + 1]) / sizeof(uint64_t));
    }
    for (size_t k = 0; extra[k] != kLaunchParamEnd; k += 2) {
        if (extra[k] == kLaunchParamBuffer)
            std::memcpy(words.data(), extra[k + 1], words.size() * sizeof(uint64_t));
    }
    KernelStub stub;
    if (const auto found = state().stubs.find(params.function->symbol); found != state().stubs.end())
        stub = found->second;
    const ProgramEntry program = params.function->program;
    const size_t shared_bytes = params.shared_bytes;
    run = [=, words = std::move(words), kernels = params.function->kernels]() -> Result {
        if (stub) {
            stub(words, static_cast<unsigned>(blocks), static_cast<unsigned>(threads));
            return kSuccess;
        }
        if (program != nullptr) {
            run_on_fibers(program, words.data(), static_cast<uint32_t>(blocks),
                          static_cast<uint32_t>(threads), shared_bytes);
            return kSuccess;
        }
        // Of two kernels the last word is where their blocks count.
        if (kernels.size() > 1 && !state().is_allocated(words.back(), sizeof(uint32_t)))
            return kIllegalAddress;
        const uint64_t* own = words.data();
        for (const Kernel& kernel : kernels) {
            if (kernel.launch != nullptr) {
                run_launch(kernel, own);
                continue;
            }
            GridBox box;
            for (int d = 0; d < kernel.compiled->grid_dimensions; ++d)
                box.upper[static_cast<size_t>(d)] = static_cast<int64_t>(own[d]);
            static_cast<const CpuKernel&>(*kernel.compiled).function(own, box.lower.data(), box.upper.data());
            own += kernel.words;
        }
        return kSuccess;
    };
    return kSuccess;
}

}  // namespace

cuda::Result enter_library(const char* symbol) {
    const std::lock_guard lock(state().mutex);
    constexpr Result kExecutionFailed = 13;
    const Result result = state().enter(symbol, true);
    const bool ruined = state().current() != nullptr && state().current()->fault != kSuccess;
    return ruined ? kExecutionFailed : result;
}

void count_objects(int more) {
    const std::lock_guard lock(state().mutex);
    state().objects += more;
}

void run_later(cuda::StreamHandle stream, std::function<void()> work) {
    const std::lock_guard lock(state().mutex);
    stream->queue.push_back({[work = std::move(work)]() -> Result {
                                 work();
                                 return kSuccess;
                             },
                             nullptr, nullptr});
}

void wait_for(cuda::StreamHandle stream) {
    const std::lock_guard lock(state().mutex);
    (void)state().run(*stream);
}

}  // namespace weft::fake_driver

extern "C" __attribute__((visibility("default"))) weft::fake_driver::Control* weft_fake_driver() {
    return &weft::fake_driver::state();
}
