#include "fake_driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "driver_state.h"

namespace weft::fake_driver {

int64_t environment(const char* name, int64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoll(text, nullptr, 10) : otherwise;
}

FakeDriver& state() {
    static auto* instance = new FakeDriver;
    return *instance;
}

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
Result limit(size_t* value, int which) {
    const Entry entry("cuCtxGetLimit");
    if (entry.result == kSuccess && which == kLimitStackSize) *value = state().current()->stack_bytes;
    return entry.result;
}
Result set_limit(int which, size_t value) {
    const Entry entry("cuCtxSetLimit");
    if (entry.result == kSuccess && which == kLimitStackSize) state().current()->stack_bytes = value;
    return entry.result;
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
Result profiler_start() { return Entry("cuProfilerStart").result; }
Result profiler_stop() { return Entry("cuProfilerStop").result; }

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
