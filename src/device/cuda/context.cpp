#include "device/cuda/context.h"

#include <array>

#include "weft/errors.h"

namespace weft::cuda {

namespace {

// Faults after which CUDA refuses every further call on the context.
bool ruins_context(Result result) {
    switch (result) {
        case kEccUncorrectable:
        case kIllegalAddress:
        case kLaunchTimeout:
        case kContextIsDestroyed:
        case kAssert:
        case kHardwareStackError:
        case kIllegalInstruction:
        case kMisalignedAddress:
        case kInvalidAddressSpace:
        case kInvalidProgramCounter:
        case kLaunchFailed: return true;
        default: return false;
    }
}

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
    driver.check(driver.device_get(&device, ordinal), "find the device");
    return device;
}

}  // namespace

DeviceFacts read_facts(const Driver& driver, int ordinal) {
    return facts_of(driver, find_device(driver, ordinal));
}

Context::Context(const Driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {
    check_fork();
    if (ordinal < 0 || ordinal >= driver.devices) {
        throw DeviceError(
            "there is no device " + name() + ": the driver offers " + std::to_string(driver.devices) +
            (driver.devices == 1 ? " device, cuda:0"
                                 : " devices, cuda:0 to cuda:" + std::to_string(driver.devices - 1)));
    }
    const DeviceHandle device = find_device(driver, ordinal);
    facts_ = facts_of(driver, device);
    driver.check(driver.primary_context_retain(&handle_, device), "make a context on the device");
    const Scope scope(*this);
    driver.check(driver.stream_create(&stream_, kStreamNonBlocking), "create a stream");
    driver.check(driver.stream_create(&copy_stream_, kStreamNonBlocking), "create a stream");
}

void Context::Scope::enter() {
    context_.check_usable();
    ContextHandle current = nullptr;
    if (context_.driver_.context_current(&current) == kSuccess && current == context_.handle_) return;
    context_.check(context_.driver_.context_push(context_.handle_), "enter the device's context");
    // A thread without a context keeps the first device's, which CUDA's runtime would give it too: entering
    // it for each launch would cost as much as a part of the launch.
    pushed_ = current != nullptr || context_.ordinal_ != 0;
}

Context::Scope::~Scope() {
    ContextHandle before = nullptr;
    if (pushed_) context_.driver_.context_pop(&before);
}

void Context::synchronize() {
    const Scope scope(*this);
    check(driver_.stream_synchronize(stream_), "finish the work of the device");
    check(driver_.stream_synchronize(copy_stream_), "finish copies");
}

void Context::reach(Context& peer) {
    {
        const std::lock_guard lock(mutex_);
        if (!reached_.insert(peer.ordinal_).second) return;
    }
    // What is refused here (too many peers, say, or enabled by another library) is no error of the copy.
    int can = 0;
    if (driver_.can_access_peer(&can, find_device(driver_, ordinal_), find_device(driver_, peer.ordinal_)) !=
            kSuccess ||
        can == 0)
        return;
    const Scope scope(*this);
    (void)driver_.enable_peer_access(peer.handle_, 0);
}

void Context::fail(Result result, const char* what) {
    if (!ruins_context(result)) driver_.check(result, what);
    ruin(result);
}

void Context::ruin(Result result) {
    {
        const std::lock_guard lock(mutex_);
        if (fault_.empty()) fault_ = driver_.describe(result);
    }
    ruined_.store(true, std::memory_order_release);
    throw_ruined();
}

void Context::throw_ruined() {
    const std::lock_guard lock(mutex_);
    throw DeviceError("a kernel on " + name() + " failed and ruined this process's CUDA context: " + fault_ +
                      ". What is in the device's memory is lost; save what is on the CPU and start the "
                      "process again. With WEFT_EAGER=1 WEFT_DEBUG=1 the message names the kernel; "
                      "compute-sanitizer shows the access. "
                      "If no kernel of your own is to blame, this is a fault of weft: please report it");
}

}  // namespace weft::cuda
