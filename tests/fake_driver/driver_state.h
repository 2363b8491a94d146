// What the fake driver knows: its contexts, streams, memory and modules, guarded by one lock. Its functions
// are in fake_driver.cpp, and in modules.cpp those about code and launches.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calls.h"
#include "fake_driver.h"
#include "fibers.h"
#include "kernels.h"
#include "source_image.h"

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
    size_t stack_bytes = 1024;
    Result fault = kSuccess;
};

struct FunctionState {
    std::string symbol;
    std::vector<fake_driver::Kernel> kernels;                 // one after another in each launch
    fake_driver::ProgramEntry program = nullptr;              // of a program in C++
    std::shared_ptr<const fake_driver::SourceImage> image{};  // of CUDA C++
    const fake_driver::SourceEntry* source = nullptr;
    int most_shared = 48 << 10, carveout = -1;  // as it was told
};

struct ModuleState {
    std::string text;
    std::shared_ptr<const fake_driver::SourceImage> image{};
    std::vector<std::pair<ContextState*, DeviceAddress>> variables{};
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

constexpr int kPattern = 0xA5;  // of memory that was never written

int64_t environment(const char* name, int64_t otherwise);

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

FakeDriver& state();

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

inline void* host(DeviceAddress address) { return reinterpret_cast<void*>(address); }

}  // namespace weft::fake_driver
