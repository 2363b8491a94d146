// One GPU as this process uses it: the primary context (shared with other libraries), two streams, and what
// is known of a fault. Whatever calls the driver for a device does it inside a Scope.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "device/cuda/driver.h"
#include "device/cuda/launch_batch.h"

namespace weft::cuda {

struct DeviceFacts {
    std::string name;
    int capability = 0;  // 10 * major + minor: 90 is sm_90
    int multiprocessors = 1;
    int threads_per_multiprocessor = 1024;
    int64_t l2_bytes = 0;
    size_t memory = 0;
    double peak_bandwidth = 0;           // bytes a second
    size_t shared_per_block = 48 << 10;  // the most that a kernel may ask for
};

// Of device `ordinal`, without making a context on it. Throws DeviceError.
DeviceFacts read_facts(const Driver& driver, int ordinal);

// A reference to the primary context of a device.
class PrimaryContext {
public:
    PrimaryContext(const Driver& driver, DeviceHandle device) : driver_(driver), device_(device) {}
    PrimaryContext(const PrimaryContext&) = delete;
    PrimaryContext& operator=(const PrimaryContext&) = delete;
    ~PrimaryContext() {
        if (handle_ != nullptr && !lost_by_fork()) driver_.primary_context_release(device_);
    }
    Result retain() { return driver_.primary_context_retain(&handle_, device_); }
    ContextHandle handle() const { return handle_; }

private:
    const Driver& driver_;
    const DeviceHandle device_;
    ContextHandle handle_ = nullptr;
};

class Stream {
public:
    explicit Stream(const Driver& driver) : driver_(driver) {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() {
        if (handle_ != nullptr && !lost_by_fork()) driver_.stream_destroy(handle_);
    }
    Result create() { return driver_.stream_create(&handle_, kStreamNonBlocking); }
    StreamHandle handle() const { return handle_; }

private:
    const Driver& driver_;
    StreamHandle handle_ = nullptr;
};

class Context {
public:
    // Retains the primary context of device `ordinal`. Throws DeviceError.
    Context(const Driver& driver, int ordinal);
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const Driver& driver() const { return driver_; }
    int ordinal() const { return ordinal_; }
    std::string name() const { return "cuda:" + std::to_string(ordinal_); }
    const DeviceFacts& facts() const { return facts_; }
    ContextHandle handle() const { return primary_.handle(); }
    StreamHandle stream() const { return stream_.handle(); }  // kernels, and small copies between them
    LaunchBatch& batch() { return batch_; }
    StreamHandle copy_stream() const { return copy_stream_.handle(); }  // large copies to and from the host

    // Throws DeviceError after a fork, or when the context is ruined; before that waits for what is owed.
    void check_usable() {
        check_fork();
        if (condition_.load(std::memory_order_acquire) != Condition::kSound) [[unlikely]]
            recover();
    }

private:
    // The context is the calling thread's while it lives.
    class Current {
    public:
        // `keeps`: the first device's may stay current afterwards.
        explicit Current(Context& context, bool keeps = true);
        ~Current();
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;

    private:
        const Driver& driver_;
        bool pushed_ = false;
    };

public:
    // Makes the context the calling thread's for a while, once what has been collected to be launched
    // together is queued. Throws as check_usable.
    class Scope {
    public:
        explicit Scope(Context& context) : current_((context.batch_.flush(), usable(context))) {}
        enum class Of { kBatch };
        Scope(Context& context, Of) : current_(usable(context)) {}  // what is collected is being queued
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        static Context& usable(Context& context) {
            context.check_usable();
            return context;
        }

        const Current current_;
    };

    // Throws DeviceError, or OutOfMemoryError; a fault that ruins the context is remembered, and every later
    // use of it says so: after one nothing that is in the device's memory can be trusted.
    void check(Result result, const char* what) {
        if (result != kSuccess) [[unlikely]]
            fail(result, what);
    }
    // Remembers that what is in the device's memory is lost if the result says so, and throws DeviceError.
    void check_fault(Result result);
    bool ruined() const { return condition_.load(std::memory_order_acquire) == Condition::kRuined; }

    // Work is queued that later work was to come after, and the driver refused to say so. Before the next use
    // of the context all is waited for that weft has queued, or that everybody has.
    enum class Whose { kOwn, kEverybodys };
    void owe(Whose whose) noexcept;

    // Gives free memory back to the driver, where somebody else wants it; whether there was some.
    bool reclaim();
    void set_reclaim(std::function<bool()> reclaim) { reclaim_ = std::move(reclaim); }

    // Work that was queued before is done.
    void synchronize();

    // How many bytes of stack each thread has for calls; `wanted` of them, if there were fewer and the driver
    // has the memory. All kernels in the context share the limit, those of other libraries, too.
    size_t stack_bytes(size_t wanted);

    // From now on copies from the other device's memory go straight over the link between the two, where
    // there is one that allows it; else they go through the host.
    void reach(Context& peer);

private:
    enum class Condition { kSound, kOwesOwn, kOwesEverybodys, kRuined };  // the higher, the worse

    void worsen(Condition condition) noexcept;
    void recover();
    [[noreturn]] void fail(Result result, const char* what);
    [[noreturn]] void throw_ruined();

    const Driver& driver_;
    const int ordinal_;
    DeviceFacts facts_;
    PrimaryContext primary_;
    Stream stream_, copy_stream_;
    LaunchBatch batch_{*this};
    std::function<bool()> reclaim_;
    std::atomic<Condition> condition_{Condition::kSound};
    std::mutex mutex_;       // of what follows
    std::string fault_;      // what ruined it
    std::set<int> reached_;  // ordinals of devices
};

// Marks a place in a stream, for order between streams; with a time if asked for.
class Event {
public:
    explicit Event(Context& context, bool timed = false) : context_(context) {
        context.check(context.driver().event_create(&handle_, timed ? 0 : kEventDisableTiming),
                      "create an event");
    }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    // Of a context that lives as long as the process.
    ~Event() {
        if (!lost_by_fork()) context_.driver().event_destroy(handle_);
    }

    void record(StreamHandle stream) {
        context_.check(context_.driver().event_record(handle_, stream), "record an event");
        recorded_ = true;
    }
    void make_wait(StreamHandle stream) {
        context_.check(context_.driver().stream_wait_event(stream, handle_, 0), "order two streams");
    }
    void wait() {
        if (recorded_) context_.check(context_.driver().event_synchronize(handle_), "wait for the GPU");
    }

    // From another timed event to this one, both of which have come.
    double seconds_since(const Event& earlier) const {
        float milliseconds = 0;
        context_.check(context_.driver().event_elapsed(&milliseconds, earlier.handle_, handle_),
                       "ask how long work took");
        return static_cast<double>(milliseconds) * 1e-3;
    }

private:
    Context& context_;
    EventHandle handle_ = nullptr;
    bool recorded_ = false;
};

}  // namespace weft::cuda
