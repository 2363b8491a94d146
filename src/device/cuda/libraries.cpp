#include "device/cuda/libraries.h"

#include <dlfcn.h>

#include <array>
#include <mutex>
#include <span>
#include <string_view>

#include "core/cuda_files.h"
#include "device/cuda/driver.h"
#include "weft/errors.h"

namespace weft::cuda {

namespace {

// CUDA 13's first: what the newest drivers run. A driver runs libraries of its own major version and older.
struct Search {
    const char* name;
    const char* table;  // in library_symbols.def
    int newest;
    std::array<std::string_view, 2> files;        // of CUDA 13, of CUDA 12
    std::array<std::string_view, 2> in_toolkit;   // likewise
    std::array<std::string_view, 2> in_packages;  // likewise
    const char* packages;                         // what to install
};

constexpr std::array<Search, 6> kSearches{{
    {"cuBLAS",
     "cublas",
     13,
     {"libcublas.so.13", "libcublas.so.12"},
     {"lib64/libcublas.so.13", "lib64/libcublas.so.12"},
     {"nvidia/cu13/lib/libcublas.so.13", "nvidia/cublas/lib/libcublas.so.12"},
     "nvidia-cublas or nvidia-cublas-cu12"},
    {"cuBLASLt",
     "cublaslt",
     13,
     {"libcublasLt.so.13", "libcublasLt.so.12"},
     {"lib64/libcublasLt.so.13", "lib64/libcublasLt.so.12"},
     {"nvidia/cu13/lib/libcublasLt.so.13", "nvidia/cublas/lib/libcublasLt.so.12"},
     "nvidia-cublas or nvidia-cublas-cu12"},
    {"NVRTC",
     "nvrtc",
     13,
     {"libnvrtc.so.13", "libnvrtc.so.12"},
     {"lib64/libnvrtc.so.13", "lib64/libnvrtc.so.12"},
     {"nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"},
     "nvidia-cuda-nvrtc or nvidia-cuda-nvrtc-cu12"},
    {"nvJitLink",
     "nvjitlink",
     13,
     {"libnvJitLink.so.13", "libnvJitLink.so.12"},
     {"lib64/libnvJitLink.so.13", "lib64/libnvJitLink.so.12"},
     {"nvidia/cu13/lib/libnvJitLink.so.13", "nvidia/nvjitlink/lib/libnvJitLink.so.12"},
     "nvidia-nvjitlink or nvidia-nvjitlink-cu12"},
    {"cuFFT",
     "cufft",
     13,
     {"libcufft.so.12", "libcufft.so.11"},
     {"lib64/libcufft.so.12", "lib64/libcufft.so.11"},
     {"nvidia/cu13/lib/libcufft.so.12", "nvidia/cufft/lib/libcufft.so.11"},
     "nvidia-cufft or nvidia-cufft-cu12"},
    {"cuSOLVER",
     "cusolver",
     13,
     {"libcusolver.so.12", "libcusolver.so.11"},
     {"lib64/libcusolver.so.12", "lib64/libcusolver.so.11"},
     {"nvidia/cu13/lib/libcusolver.so.12", "nvidia/cusolver/lib/libcusolver.so.11"},
     "nvidia-cusolver or nvidia-cusolver-cu12"},
}};

struct Opened {
    Libraries functions;
    bool usable = false;
    LibraryReport report;
};

// Global as a library is opened once for the process; guarded by its lock. Never closed.
struct State {
    std::mutex mutex;
    std::array<Opened, kSearches.size()> opened;
    std::array<bool, kSearches.size()> tried{};
};

State& state() {
    static auto* instance = new State;
    return *instance;
}

std::string path_of(void* function) {
    Dl_info info;
    return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

bool load(void* library, const Search& search, Opened& opened) {
    bool whole = true;
    void* any = nullptr;
    const std::string_view wanted = search.table;
    const auto take = [&]<class Function>(std::string_view table, Function& function, const char* name,
                                          bool needed) {
        if (table != wanted) return;
        void* address = dlsym(library, name);
        function = reinterpret_cast<Function>(address);
        whole = whole && (address != nullptr || !needed);
        if (any == nullptr) any = address;
    };
#define WEFT_LIBRARY_SYMBOL(library, result, name, parameters) \
    take(#library, opened.functions.name, #name, true);
#define WEFT_OPTIONAL_LIBRARY_SYMBOL(library, result, name, parameters) \
    take(#library, opened.functions.name, #name, false);
#include "device/cuda/library_symbols.def"
#undef WEFT_LIBRARY_SYMBOL
    if (whole) opened.report.path = path_of(any);
    return whole;
}

std::string version_of(LibraryId id, const Libraries& functions) {
    switch (id) {
        case LibraryId::kCublas: {
            std::array<int, 3> numbers{};
            for (int k = 0; k < 3; ++k) functions.cublasGetProperty(k, &numbers[static_cast<size_t>(k)]);
            return std::to_string(numbers[0]) + "." + std::to_string(numbers[1]) + "." +
                   std::to_string(numbers[2]);
        }
        case LibraryId::kCublasLt: {
            const size_t version = functions.cublasLtGetVersion();
            const size_t major = version >= 100000 ? version / 10000 : version / 1000;
            return std::to_string(major) + " (" + std::to_string(version) + ")";
        }
        case LibraryId::kNvrtc: {
            int major = 0, minor = 0;
            functions.nvrtcVersion(&major, &minor);
            return std::to_string(major) + "." + std::to_string(minor);
        }
        case LibraryId::kNvJitLink: {
            unsigned major = 0, minor = 0;
            functions.nvJitLinkVersion(&major, &minor);
            return std::to_string(major) + "." + std::to_string(minor);
        }
        case LibraryId::kCufft: {
            int version = 0;
            functions.cufftGetVersion(&version);
            return std::to_string(version / 1000) + "." + std::to_string(version / 100 % 10) + "." +
                   std::to_string(version % 100);
        }
        case LibraryId::kCusolver: {
            int version = 0;
            functions.cusolverGetVersion(&version);
            return std::to_string(version / 1000) + "." + std::to_string(version / 100 % 10) + "." +
                   std::to_string(version % 100);
        }
    }
    return "";
}

// Names in the order in which they are tried: libraries that are newer than the driver load, and fail at
// their first call.
std::span<const std::string_view> usable(const Search& search, const std::array<std::string_view, 2>& names) {
    const Driver* driver = find_driver();
    const size_t first = driver != nullptr && driver->version / 1000 < search.newest ? 1 : 0;
    return std::span<const std::string_view>(names).subspan(first);
}

std::string find_file(const Search& search) {
    return find_cuda_file(usable(search, search.in_toolkit), usable(search, search.in_packages));
}

void open(LibraryId id, Opened& opened) {
    const Search& search = kSearches[static_cast<size_t>(id)];
    opened.report.name = search.name;
    std::vector<std::string> candidates;
    const std::string file = find_file(search);
    if (!file.empty()) candidates.push_back(file);
    for (const std::string_view name : usable(search, search.files)) candidates.emplace_back(name);
    std::string looked_for;
    for (const std::string& candidate : candidates) {
        looked_for += (looked_for.empty() ? "" : ", ") + candidate;
        void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) continue;
        if (load(library, search, opened)) {
            opened.usable = true;
            opened.report.version = version_of(id, opened.functions);
            return;
        }
    }
    opened.report.reason = std::string(search.name) + " was not found: looked for " + looked_for +
                           " below CUDA_HOME and CUDA_PATH, in installed packages and in the system; 'pip "
                           "install weft[cuda13]' (or weft[cuda12] for older drivers) brings it, as do " +
                           search.packages;
}

const Opened& opened(LibraryId id) {
    State& all = state();
    const std::lock_guard lock(all.mutex);
    const auto index = static_cast<size_t>(id);
    if (!all.tried[index]) open(id, all.opened[index]);
    all.tried[index] = true;
    return all.opened[index];
}

}  // namespace

const Libraries& library(LibraryId id) {
    const Opened& found = opened(id);
    if (!found.usable) throw DeviceError(found.report.reason);
    return found.functions;
}

std::string library_stamp(LibraryId id) { return file_stamp(find_file(kSearches[static_cast<size_t>(id)])); }

std::vector<LibraryReport> report_libraries() {
    std::vector<LibraryReport> reports;
    for (size_t k = 0; k < kSearches.size(); ++k) reports.push_back(opened(static_cast<LibraryId>(k)).report);
    return reports;
}

}  // namespace weft::cuda
