#include "device/cuda/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "core/fork.h"
#include "weft/errors.h"

namespace weft::cuda {

namespace {

constexpr const char* kFileName = "libcuda.so.1";

std::atomic<bool> initialised{false};  // in this process or the one it was forked from
std::atomic<bool> forked{false};

[[maybe_unused]] const bool at_fork = on_fork(ForkRank::kCuda, {nullptr, nullptr, [] {
                                                                    if (initialised.load())
                                                                        forked.store(true);
                                                                }});

struct Found {
    std::unique_ptr<Driver> driver;
    std::string reason;
};

const Found& found() {
    static const Found* const result = [] {
        auto* made = new Found;  // never closed: it has threads of its own
        const char* chosen = std::getenv("WEFT_CUDA_DRIVER");
        if (chosen != nullptr && *chosen == '\0') {
            made->reason = "WEFT_CUDA_DRIVER is empty, so no driver is opened";
            return made;
        }
        made->driver = open_driver(chosen != nullptr ? chosen : kFileName, made->reason);
        return made;
    }();
    return *result;
}

std::string path_of(void* function) {
    Dl_info info;
    return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string Driver::describe(Result result) const {
    const char* name = nullptr;
    const char* text = nullptr;
    if (error_name(result, &name) != kSuccess || name == nullptr) name = "an unknown error";
    if (error_string(result, &text) != kSuccess || text == nullptr) text = "no description";
    return std::string(name) + " (" + std::to_string(result) + "): " + text;
}

void Driver::check(Result result, const char* what) const {
    if (result != kSuccess) [[unlikely]]
        throw DeviceError(std::string("CUDA could not ") + what + ": " + describe(result));
}

std::unique_ptr<Driver> open_driver(const std::string& path, std::string& reason) {
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
    const auto load = [&]<class Function>(Function& function, const char* symbol) {
        void* address = dlsym(library, symbol);
        if (address == nullptr) missing += std::string(missing.empty() ? "" : ", ") + symbol;
        function = reinterpret_cast<Function>(address);
    };
#define WEFT_CUDA_SYMBOL(name, symbol, parameters) load(driver->name, symbol);
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
    Result result = driver->init(0);
    if (result == kSuccess) {
        initialised.store(true);
        result = driver->device_count(&driver->devices);
    }
    if (result != kSuccess || driver->devices == 0) {
        reason = "the driver " + driver->path + " (CUDA " + version_text(driver->version) +
                 ") offers no device: " +
                 (result != kSuccess ? driver->describe(result)
                                     : "it counts none; CUDA_VISIBLE_DEVICES may hide them");
        return nullptr;
    }
    return driver;
}

const Driver* find_driver() { return found().driver.get(); }
std::string why_no_driver() { return found().reason; }

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
