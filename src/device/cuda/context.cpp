#include "device/cuda/context.h"

#include <array>
#include <utility>

#include "weft/errors.h"

namespace weft::cuda {

namespace {

int attribute(const Driver& driver, DeviceHandle device, int which) {
    int value = 0;
    driver.check(driver.device_attribute(&value, which, device), "read an attribute of the device");
    return value;
}

DeviceFacts facts_of(const Driver& driver, DeviceHandle device) {
    DeviceFacts facts;
    std::array<char, 256> name{};
    driver.check(driver.device_name(name.data(), static_cast<int>(name.size() - 1), device),
                 "read the name of the device");
    facts.name = name.data();
    facts.capability = 10 * attribute(driver, device, kComputeCapabilityMajor) +
                       attribute(driver, device, kComputeCapabilityMinor);
    facts.multiprocessors = attribute(driver, device, kMultiprocessorCount);
    facts.threads_per_multiprocessor = attribute(driver, device, kMaxThreadsPerMultiprocessor);
    // Two transfers a clock.
    facts.peak_bandwidth = 2 * 1e3 * static_cast<double>(attribute(driver, device, kMemoryClockRate)) *
                           static_cast<double>(attribute(driver, device, kGlobalMemoryBusWidth)) / 8;
    facts.l2_bytes = attribute(driver, device, kL2CacheSize);
    facts.shared_per_block = static_cast<size_t>(attribute(driver, device, kMaxSharedMemoryPerBlockOptin));
    driver.check(driver.device_memory(&facts.memory, device), "read how much memory the device has");
    return facts;
}

DeviceHandle find_device(const Driver& driver, int ordinal) {
    DeviceHandle device = 0;
    driver.check(driver.device_get(&device, ordinal), "find the device cuda:" + std::to_string(ordinal));
    return device;
}

DeviceHandle find_offered_device(const Driver& driver, int ordinal) {
    check_fork();
    if (ordinal >= 0 && ordinal < driver.devices) return find_device(driver, ordinal);
    throw DeviceError("there is no device cuda:" + std::to_string(ordinal) + ": the driver offers " +
                      std::to_string(driver.devices) +
                      (driver.devices == 1
                           ? " device, cuda:0"
                           : " devices, cuda:0 to cuda:" + std::to_string(driver.devices - 1)));
}

}  // namespace

DeviceFacts read_facts(const Driver& driver, int ordinal) {
    return facts_of(driver, find_device(driver, ordinal));
}

Context::Context(const Driver& driver, int ordinal)
    : driver_(driver),
      ordinal_(ordinal),
      primary_(driver, find_offered_device(driver, ordinal)),
      stream_(driver),
      copy_stream_(driver) {
    facts_ = read_facts(driver, ordinal);
    check(primary_.retain(), "make a context");
    const Current current(*this, false);
    check(stream_.create(), "create a stream");
    check(copy_stream_.create(), "create a stream");
}

Context::Current::Current(Context& context, bool keeps) : driver_(context.driver_) {
    ContextHandle current = nullptr;
    const Result asked = driver_.context_current(&current);
    if (asked == kSuccess && current == context.handle()) return;
    context.check(driver_.context_push(context.handle()), "enter the device's context");
    // A thread without a context keeps the first device's, which CUDA's runtime would give it too: entering
    // it for each launch would cost as much as a part of the launch.
    pushed_ = !keeps || asked != kSuccess || current != nullptr || context.ordinal_ != 0;
}

Context::Current::~Current() {
    ContextHandle before = nullptr;
    if (pushed_) driver_.context_pop(&before);
}

void Context::synchronize() {
    const Scope scope(*this);
    check(driver_.stream_synchronize(stream()), "finish the work of the device");
    check(driver_.stream_synchronize(copy_stream()), "finish copies");
}

void Context::worsen(Condition condition) noexcept {
    Condition known = condition_.load(std::memory_order_acquire);
    while (known < condition && !condition_.compare_exchange_weak(known, condition)) {
    }
}

void Context::owe(Whose whose) noexcept {
    worsen(whose == Whose::kOwn ? Condition::kOwesOwn : Condition::kOwesEverybodys);
}

void Context::recover() {
    Condition known = condition_.load(std::memory_order_acquire);
    if (known == Condition::kRuined) throw_ruined();
    if (known == Condition::kSound) return;
    const Current current(*this);
    const char* const what = "finish what was queued when an earlier call failed";
    if (known == Condition::kOwesEverybodys) {
        check(driver_.context_synchronize(), what);
    } else {
        check(driver_.stream_synchronize(stream()), what);
        check(driver_.stream_synchronize(copy_stream()), what);
    }
    condition_.compare_exchange_strong(known, Condition::kSound);  // unless it has worsened
}

size_t Context::stack_bytes(size_t wanted) {
    const Scope scope(*this);
    size_t bytes = 0;
    check(driver_.limit(&bytes, kLimitStackSize), "ask how much stack threads have");
    if (bytes >= wanted) return bytes;
    const Result result = driver_.set_limit(kLimitStackSize, wanted);
    if (result == kOutOfMemory) return bytes;
    check(result, "give threads their stack");
    check(driver_.limit(&bytes, kLimitStackSize), "ask how much stack threads have");
    return bytes;
}

bool Context::reclaim() { return reclaim_ != nullptr && reclaim_(); }

void Context::reach(Context& peer) {
    {
        const std::lock_guard lock(mutex_);
        if (reached_.contains(peer.ordinal_)) return;
    }
    // What is refused here (too many peers, say, or enabled by another library) is no error of the copy.
    DeviceHandle own = 0, other = 0;
    int can = 0;
    const bool asked = driver_.device_get(&own, ordinal_) == kSuccess &&
                       driver_.device_get(&other, peer.ordinal_) == kSuccess &&
                       driver_.can_access_peer(&can, own, other) == kSuccess;
    if (asked && can != 0) {
        const Scope scope(*this);
        (void)driver_.enable_peer_access(peer.handle(), 0);
    }
    const std::lock_guard lock(mutex_);
    reached_.insert(peer.ordinal_);
}

void Context::check_fault(Result result) {
    if (!ruins_context(result)) return;
    {
        const std::lock_guard lock(mutex_);
        if (fault_.empty()) fault_ = driver_.describe(result);
    }
    worsen(Condition::kRuined);
    throw_ruined();
}

void Context::fail(Result result, const char* what) {
    check_fault(result);
    driver_.refuse(result, std::string(what) + " on " + name());
}

void Context::throw_ruined() {
    const std::lock_guard lock(mutex_);
    throw DeviceError("a kernel on " + name() + " failed and ruined this process's CUDA context: " + fault_ +
                      ". What is in the device's memory is lost, and the device cannot be used any more; the "
                      "CPU and other devices can. Save what is there, and start the process again. With "
                      "WEFT_EAGER=1 WEFT_DEBUG=1 the message names the kernel; compute-sanitizer shows the "
                      "access. If no kernel of your own is to blame, this is a fault of weft or of the "
                      "hardware: please report it");
}

}  // namespace weft::cuda
