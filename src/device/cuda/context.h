// One GPU as this process uses it: the primary context (shared with other libraries), two streams, and what
// is known of a fault. Whatever calls the driver for a device does it inside a Scope.
#pragma once

#include <atomic>
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
    ContextHandle handle() const { return handle_; }
    StreamHandle stream() const { return stream_; }  // kernels, and small copies between them
    LaunchBatch& batch() { return batch_; }
    StreamHandle copy_stream() const { return copy_stream_; }  // large copies to and from the host

    // Throws DeviceError after a fork, or when the context is ruined.
    void check_usable() {
        check_fork();
        if (ruined()) [[unlikely]]
            throw_ruined();
    }

    // Makes the context the calling thread's for a while, once what has been collected to be launched
    // together is queued. Throws as check_usable.
    class Scope {
    public:
        explicit Scope(Context& context) : context_(context) {
            context.batch_.flush();
            enter();
        }
        enum class Of { kBatch };
        Scope(Context& context, Of) : context_(context) { enter(); }  // what is collected is being queued
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        void enter();

        Context& context_;
        bool pushed_ = false;
    };

    // Throws DeviceError; a fault that ruins the context is remembered, and every later use of it says so:
    // after one nothing that is in the device's memory can be trusted.
    void check(Result result, const char* what) {
        if (result != kSuccess) [[unlikely]]
            fail(result, what);
    }
    // Remembers that what is in the device's memory is lost, and throws DeviceError.
    [[noreturn]] void ruin(Result result);
    bool ruined() const { return ruined_.load(std::memory_order_acquire); }

    // Work that was queued before is done.
    void synchronize();

    // From now on copies from the other device's memory go straight over the link between the two, where
    // there is one that allows it; else they go through the host.
    void reach(Context& peer);

private:
    [[noreturn]] void fail(Result result, const char* what);
    [[noreturn]] void throw_ruined();

    const Driver& driver_;
    const int ordinal_;
    DeviceFacts facts_;
    ContextHandle handle_ = nullptr;
    StreamHandle stream_ = nullptr, copy_stream_ = nullptr;
    LaunchBatch batch_{*this};
    std::atomic<bool> ruined_{false};
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
    ~Event() { context_.driver().event_destroy(handle_); }

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
