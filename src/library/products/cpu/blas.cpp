#include "library/products/cpu/blas.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/memory/allocation_failure.h"
#include "core/small_file.h"

namespace weft {

namespace {

constexpr const char* kFileName = "libscipy_openblas64_.so";
// What OpenBLAS takes of memory for each thread: by default, and as the package beside the engine is built.
constexpr size_t kLargeBuffer = size_t{128} << 20, kSmallBuffer = size_t{32} << 20;
constexpr size_t kOpeningBytes = kLargeBuffer + (size_t{64} << 20);  // its code and its first buffer
constexpr int kMostAttempts = 16;  // to open a file that is there and cannot be opened

// While it lives, the calling thread has one CPU: OpenBLAS starts a thread for each other one as it is
// loaded, which weft does not use, and raises SIGINT where the system refuses one.
class OneCpu {
public:
    OneCpu() {
        changed_ = sched_getaffinity(0, sizeof before_, &before_) == 0;
        if (!changed_) return;
        cpu_set_t one;
        CPU_ZERO(&one);
        for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (!CPU_ISSET(cpu, &before_)) continue;
            CPU_SET(cpu, &one);
            break;
        }
        changed_ = sched_setaffinity(0, sizeof one, &one) == 0;
    }
    ~OneCpu() {
        if (changed_) sched_setaffinity(0, sizeof before_, &before_);
    }
    OneCpu(const OneCpu&) = delete;
    OneCpu& operator=(const OneCpu&) = delete;

private:
    cpu_set_t before_;
    bool changed_;
};

void* open_library(const std::string& path) {
    const OneCpu alone;
    return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// The engine's own folder, with a slash at its end, or nothing.
std::string folder_of_the_engine() {
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&folder_of_the_engine), &info) == 0 || info.dli_fname == nullptr)
        return "";
    const std::string engine = info.dli_fname;
    return engine.substr(0, engine.rfind('/') + 1);
}

// The builds of the scipy-openblas64 package wrap every name; a plain build with 64-bit integers only ends in
// 64_.
void* find(void* library, const std::string& name) {
    void* const found = dlsym(library, ("scipy_" + name + "64_").c_str());
    return found != nullptr ? found : dlsym(library, (name + "64_").c_str());
}

template <class Function>
bool load(void* library, const std::string& name, Function& function) {
    function = reinterpret_cast<Function>(find(library, name));
    return function != nullptr;
}

template <class Functions>
bool load_type(void* library, const std::string& letter, const char* dot, Functions& functions) {
    return load(library, "cblas_" + letter + "gemm", functions.gemm) &&
           load(library, "cblas_" + letter + "gemv", functions.gemv) &&
           load(library, "cblas_" + letter + dot, functions.dot);
}

// Whether the system would give so many bytes now. OpenBLAS does not bear that it does not.
bool can_have(size_t bytes) {
    void* const room =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    return true;
}

size_t address_space() {
    char buffer[128];
    std::string_view text = read_small_file("/proc/self/statm", buffer);
    return static_cast<size_t>(take_number(text).value_or(0)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// The library's memory for one call at a time, which it keeps: a product of a matrix and a vector that is
// longer than what it takes of the stack.
size_t take_first_buffer(const Blas& library) {
    constexpr int kRowMajor = 101;
    constexpr int64_t kLength = 4096;
    const std::vector<double> zeros(static_cast<size_t>(kLength));
    double result = 0;
    const size_t before = address_space();
    library.f64.gemv(kRowMajor, static_cast<int>(BlasTranspose::kNo), 1, kLength, 1, zeros.data(), kLength,
                     zeros.data(), 1, 0, &result, 1);
    // Other threads may have mapped something meanwhile.
    return address_space() - before < kLargeBuffer ? kSmallBuffer : kLargeBuffer;
}

struct Found {
    std::unique_ptr<Blas> library;
    bool refused = false;  // it is there, or may be, but could not be opened now
};

Found load_from(const std::string& path) {
    if (path.empty()) return {};
    const bool is_file = path.find('/') != std::string::npos;
    if (is_file && access(path.c_str(), R_OK) != 0) return {};
    if (!can_have(kOpeningBytes)) {
        if (is_file) throw_allocation_failure(kOpeningBytes);
        return {nullptr, true};
    }
    void* library = open_library(path);
    if (library == nullptr) return {nullptr, is_file};
    auto loaded = std::make_unique<Blas>();
    void (*set_num_threads)(int) = nullptr;
    const char* (*get_config)() = nullptr;
    if (!load_type(library, "s", "dot", loaded->f32) || !load_type(library, "d", "dot", loaded->f64) ||
        !load_type(library, "c", "dotu_sub", loaded->c64) ||
        !load_type(library, "z", "dotu_sub", loaded->c128) ||
        !load(library, "openblas_set_num_threads", set_num_threads)) {
        dlclose(library);
        return {};
    }
    set_num_threads(1);
    if (load(library, "openblas_get_config", get_config)) loaded->version = get_config();
    loaded->path = path;
    loaded->handle = library;
    loaded->buffer_bytes = take_first_buffer(*loaded);
    return {std::move(loaded)};
}

Found find_blas() {
    if (const char* chosen = std::getenv("WEFT_OPENBLAS")) return load_from(chosen);
    bool refused = false;
    // Beside the engine in the Python package; in a folder of its own where weft is installed for C++.
    const std::string folder = folder_of_the_engine();
    for (const std::string& path :
         {folder + kFileName, folder + "weft/" + kFileName, std::string(kFileName)}) {
        if (folder.empty() && path != kFileName) continue;
        Found found = load_from(path);
        if (found.library != nullptr) return found;
        refused |= found.refused;
    }
    return {nullptr, refused};
}

constinit std::atomic<const Blas*> opened{
    nullptr};                                    // never closed: threads may run in it until the process ends
constinit std::atomic<bool> is_resolved{false};  // whether there is one
constinit std::atomic<int64_t> threads_inside{0};

}  // namespace

const Blas* blas() {
    if (const Blas* known = opened.load(std::memory_order_acquire)) return known;
    if (is_resolved.load(std::memory_order_acquire)) return nullptr;
    static constinit std::mutex opening;
    static int attempts = 0;
    const std::lock_guard lock(opening);
    if (is_resolved.load(std::memory_order_relaxed)) return opened.load(std::memory_order_relaxed);
    Found found = find_blas();
    if (debug_enabled(DebugLevel::kLaunches)) {
        log_line(found.library != nullptr ? found.library->version + " from " + found.library->path
                                          : "no OpenBLAS was found: matrix products run on weft's own loops");
    }
    const Blas* const library = found.library.release();
    opened.store(library, std::memory_order_release);
    if (library != nullptr || !found.refused || ++attempts == kMostAttempts)
        is_resolved.store(true, std::memory_order_release);
    return library;
}

void* blas_function(const Blas& library, const std::string& name) { return find(library.handle, name); }

BlasThreads::BlasThreads(const Blas& library, int64_t threads) : threads_(threads) {
    const int64_t others =
        threads_inside.fetch_add(threads) + threads - 1;  // the first one's memory is there
    if (others == 0) return;
    const size_t bytes = static_cast<size_t>(others) * library.buffer_bytes;
    if (can_have(bytes)) return;
    threads_inside.fetch_sub(threads);
    throw_allocation_failure(bytes);
}

BlasThreads::~BlasThreads() { threads_inside.fetch_sub(threads_); }

}  // namespace weft
