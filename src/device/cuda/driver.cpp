#include "device/cuda/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "core/threads/fork.h"
#include "weft/errors.h"

namespace weft::cuda {

namespace {

constexpr const char* kFileName = "libcuda.so.1";

std::atomic<bool> initialised{false};  // in this process or the one it was forked from
std::atomic<bool> forked{false};

// Never destroyed, nor is the library closed: it has threads of its own.
struct Found {
    std::mutex mutex;  // of what follows
    bool looked = false;
    std::unique_ptr<Driver> loaded;  // not initialised yet, or in vain
    std::string reason;
    std::atomic<const Driver*> usable{nullptr};
};

Found& found() {
    static auto* const instance = new Found;
    return *instance;
}

void go_on_in_child() {
    if (initialised.load()) forked.store(true);
    std::construct_at(&found().mutex);  // another thread may have been opening the driver
}

[[maybe_unused]] const bool at_fork = on_fork(ForkRank::kCuda, {nullptr, nullptr, go_on_in_child});

std::string path_of(void* function) {
    Dl_info info;
    return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

bool ruins_context(Result result) {
    switch (result) {
        case kEccUncorrectable:
        case kNvlinkUncorrectable:
        case kContained:
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

std::string Driver::describe(Result result) const {
    const char* name = nullptr;
    const char* text = nullptr;
    if (error_name(result, &name) != kSuccess || name == nullptr) name = "an unknown error";
    if (error_string(result, &text) != kSuccess || text == nullptr) text = "no description";
    return std::string(name) + " (" + std::to_string(result) + "): " + text;
}

namespace {

// What can be done about it.
const char* advice(Result result) {
    if (ruins_context(result)) return "Save what is on the CPU, and start the process again";
    switch (result) {
        case kOutOfMemory:
            return "Nothing is lost: let go of arrays, call weft.empty_pool(), or end other programs on the "
                   "device, and try again";
        case kNotInitialized:
        case kDeinitialized:
        case kInvalidContext:
        case kContextIsDestroyed:
            return "If it stays so when it is tried again, the driver was shut down in this process: save "
                   "what is on the CPU and start the process again";
        case kNoDevice: return "nvidia-smi shows the devices there are; CUDA_VISIBLE_DEVICES may hide them";
        case kInvalidImage:
        case kInvalidPtx:
            return "Nothing is lost. Update the NVIDIA driver if it is older than weft; else please report "
                   "it";
        case kNotSupported:
            return "Nothing is lost: try again. If it stays so, the device or its driver does not offer what "
                   "weft asks for: update the NVIDIA driver, or compute on the CPU";
        case kSystemNotReady:
            return "The machine's services for its GPUs are not running yet (nvidia-fabricmanager): start "
                   "them, and try again";
        case kDriverMismatch:
            return "The driver's library and its part in the kernel are of different versions: start the "
                   "machine again after an update of the driver";
        default: return "Nothing is lost: try again, and please report it if it stays so";
    }
}

// The library at `path` with all functions that weft calls.
std::unique_ptr<Driver> load_driver(const std::string& path, std::string& reason) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* why = dlerror();
        reason = "the CUDA driver's library could not be opened (" +
                 std::string(why != nullptr ? why : path) +
                 "); a machine with an NVIDIA GPU has it from the driver's package, others do not need it";
        return nullptr;
    }
    auto driver = std::make_unique<Driver>();
    std::string missing;
    const auto load = [&]<class Function>(Function& function, const char* symbol, bool is_needed = true) {
        void* address = dlsym(library, symbol);
        if (address == nullptr && is_needed) missing += std::string(missing.empty() ? "" : ", ") + symbol;
        function = reinterpret_cast<Function>(address);
    };
#define WEFT_CUDA_SYMBOL(name, symbol, parameters) load(driver->name, symbol);
#define WEFT_CUDA_OPTIONAL_SYMBOL(name, symbol, parameters) load(driver->name, symbol, false);
#include "device/cuda/driver_symbols.def"
#undef WEFT_CUDA_SYMBOL
    if (driver->driver_version != nullptr && driver->driver_version(&driver->version) == kSuccess &&
        driver->version < kMinimumDriver) {
        reason = "the driver " + path + " offers CUDA " + version_text(driver->version) + "; weft needs " +
                 version_text(kMinimumDriver) + " or later: update the NVIDIA driver";
        return nullptr;
    }
    if (!missing.empty()) {
        reason = "the driver " + path + " lacks " + missing + ": it is too old or no CUDA driver";
        return nullptr;
    }
    driver->path = path_of(reinterpret_cast<void*>(driver->init));
    return driver;
}

// Whether it offers a device; else why not.
bool initialise(Driver& driver, std::string& reason) {
    Result result = driver.init(0);
    if (result == kSuccess) {
        initialised.store(true);
        result = driver.driver_version(&driver.version);
    }
    if (result == kSuccess) result = driver.device_count(&driver.devices);
    if (result == kSuccess && driver.devices > 0) return true;
    reason = "the driver " + driver.path + " (CUDA " + version_text(driver.version) + ") offers no device: " +
             (result != kSuccess ? driver.describe(result) + ". " + advice(result)
                                 : "it counts none; CUDA_VISIBLE_DEVICES may hide them");
    return false;
}

}  // namespace

void Driver::refuse(Result result, const std::string& what, const std::string& log) const {
    const std::string text = "CUDA could not " + what + ": " + describe(result) + log + ". " + advice(result);
    if (result == kOutOfMemory) throw OutOfMemoryError(text);
    throw DeviceError(text);
}

std::unique_ptr<Driver> open_driver(const std::string& path, std::string& reason) {
    std::unique_ptr<Driver> driver = load_driver(path, reason);
    if (driver != nullptr && !initialise(*driver, reason)) driver.reset();
    return driver;
}

const Driver* find_driver() {
    Found& all = found();
    if (const Driver* usable = all.usable.load(std::memory_order_acquire)) [[likely]]
        return usable;
    const std::lock_guard lock(all.mutex);
    if (const Driver* usable = all.usable.load(std::memory_order_relaxed)) return usable;
    if (!all.looked) {
        const char* chosen = std::getenv("WEFT_CUDA_DRIVER");
        if (chosen != nullptr && *chosen == '\0') {
            all.reason = "WEFT_CUDA_DRIVER is empty, so no driver is opened";
        } else {
            all.loaded = load_driver(chosen != nullptr ? chosen : kFileName, all.reason);
        }
        all.looked = true;
    }
    if (all.loaded == nullptr || !initialise(*all.loaded, all.reason)) return nullptr;
    all.usable.store(all.loaded.get(), std::memory_order_release);
    return all.loaded.get();
}

std::string why_no_driver() {
    const std::lock_guard lock(found().mutex);
    return found().reason;
}

const Driver& driver() {
    check_fork();
    if (const Driver* usable = find_driver()) return *usable;
    throw DeviceError("no CUDA device can be used: " + why_no_driver());
}

bool lost_by_fork() { return forked.load(std::memory_order_relaxed); }

void check_fork() {
    if (!lost_by_fork()) [[likely]]
        return;
    throw DeviceError(
        "CUDA does not survive fork(): this process was forked from one that used a GPU. Start workers "
        "before "
        "the first use of a GPU, or with multiprocessing's 'spawn' or 'forkserver'");
}

}  // namespace weft::cuda
