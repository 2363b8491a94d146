#include "device/cuda/nvtx.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/cuda_files.h"

namespace weft::cuda {

namespace {

struct Nvtx {
    int (*push)(const char* text) = nullptr;
    int (*pop)() = nullptr;
};

constexpr std::array<std::string_view, 2> kInToolkit{"lib64/libnvtx3interop.so.1",
                                                     "lib64/libnvToolsExt.so.1"};
constexpr std::array<std::string_view, 2> kInPackages{"nvidia/cu13/lib/libnvtx3interop.so.1",
                                                      "nvidia/nvtx/lib/libnvToolsExt.so.1"};

Nvtx find() {
    std::vector<std::string> candidates;
    if (const char* given = std::getenv("WEFT_NVTX")) {
        candidates.emplace_back(given);
    } else {
        if (std::string file = find_cuda_file(kInToolkit, kInPackages); !file.empty())
            candidates.push_back(std::move(file));
        candidates.insert(candidates.end(), {"libnvtx3interop.so.1", "libnvToolsExt.so.1"});
    }
    for (const std::string& candidate : candidates) {
        void* library = candidate.empty() ? nullptr : dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) continue;
        Nvtx found;
        found.push = reinterpret_cast<decltype(found.push)>(dlsym(library, "nvtxRangePushA"));
        found.pop = reinterpret_cast<decltype(found.pop)>(dlsym(library, "nvtxRangePop"));
        if (found.push != nullptr && found.pop != nullptr) return found;
    }
    return {};
}

const Nvtx& nvtx() {
    static const Nvtx found = find();
    return found;
}

}  // namespace

bool has_nvtx() { return nvtx().push != nullptr; }
void begin_nvtx_range(const char* text) { nvtx().push(text); }
void end_nvtx_range() { nvtx().pop(); }

}  // namespace weft::cuda
