#include "library/blas.h"

#include <dlfcn.h>
#include <sched.h>

#include <cstdlib>
#include <memory>

#include "core/log.h"

namespace weft {

namespace {

constexpr const char* kFileName = "libscipy_openblas64_.so";

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
template <class Function>
bool load(void* library, const std::string& name, Function& function) {
    void* found = dlsym(library, ("scipy_" + name + "64_").c_str());
    if (found == nullptr) found = dlsym(library, (name + "64_").c_str());
    function = reinterpret_cast<Function>(found);
    return found != nullptr;
}

template <class Functions>
bool load_type(void* library, const std::string& letter, const char* dot, Functions& functions) {
    return load(library, "cblas_" + letter + "gemm", functions.gemm) &&
           load(library, "cblas_" + letter + "gemv", functions.gemv) &&
           load(library, "cblas_" + letter + dot, functions.dot);
}

std::unique_ptr<Blas> load_from(const std::string& path) {
    if (path.empty()) return nullptr;
    void* library = open_library(path);
    if (library == nullptr) return nullptr;
    auto loaded = std::make_unique<Blas>();
    void (*set_num_threads)(int) = nullptr;
    const char* (*get_config)() = nullptr;
    if (!load_type(library, "s", "dot", loaded->f32) || !load_type(library, "d", "dot", loaded->f64) ||
        !load_type(library, "c", "dotu_sub", loaded->c64) ||
        !load_type(library, "z", "dotu_sub", loaded->c128) ||
        !load(library, "openblas_set_num_threads", set_num_threads)) {
        dlclose(library);
        return nullptr;
    }
    set_num_threads(1);
    if (load(library, "openblas_get_config", get_config)) loaded->version = get_config();
    loaded->path = path;
    return loaded;
}

const Blas* find_blas() {
    std::unique_ptr<Blas> found;
    if (const char* chosen = std::getenv("WEFT_OPENBLAS")) {
        found = load_from(chosen);
    } else {
        // Beside the engine in the Python package; in a folder of its own where weft is installed for C++.
        if (const std::string folder = folder_of_the_engine(); !folder.empty()) {
            found = load_from(folder + kFileName);
            if (found == nullptr) found = load_from(folder + "weft/" + kFileName);
        }
        if (found == nullptr) found = load_from(kFileName);
    }
    if (debug_enabled(DebugLevel::kLaunches)) {
        log_line(found != nullptr ? found->version + " from " + found->path
                                  : "no OpenBLAS was found: matrix products run on weft's own loops");
    }
    return found.release();  // never closed: threads may run in it until the process ends
}

}  // namespace

const Blas* blas() {
    static const Blas* const found = find_blas();
    return found;
}

}  // namespace weft
