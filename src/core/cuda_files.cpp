#include "core/cuda_files.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>

namespace weft {

namespace {

std::atomic<std::vector<std::string> (*)()> package_folders{nullptr};

bool is_file(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

std::string first_file(const std::vector<std::string>& folders, std::span<const std::string_view> paths) {
    for (const std::string& folder : folders) {
        for (const std::string_view path : paths) {
            std::string whole = folder + "/" + std::string(path);
            if (is_file(whole)) return whole;
        }
    }
    return "";
}

}  // namespace

void set_package_folders(std::vector<std::string> (*folders)()) { package_folders.store(folders); }

std::string find_cuda_file(std::span<const std::string_view> in_toolkit,
                           std::span<const std::string_view> in_packages) {
    std::vector<std::string> named;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char* folder = std::getenv(variable);
        if (folder != nullptr && *folder == '/') named.emplace_back(folder);
    }
    std::string found = first_file(named, in_toolkit);
    if (found.empty() && package_folders.load() != nullptr)
        found = first_file(package_folders.load()(), in_packages);
    return found.empty() ? first_file({"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"}, in_toolkit) : found;
}

std::string file_stamp(const std::string& path) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    if (error) return "";
    const auto time = std::filesystem::last_write_time(path, error);
    return error ? ""
                 : path + " " + std::to_string(bytes) + " " + std::to_string(time.time_since_epoch().count());
}

std::string find_libdevice_file() {
    constexpr std::array<std::string_view, 1> kInToolkit{"nvvm/libdevice/libdevice.10.bc"};
    constexpr std::array<std::string_view, 3> kInPackages{"nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
                                                          "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc",
                                                          "triton/backends/nvidia/lib/libdevice.10.bc"};
    return find_cuda_file(kInToolkit, kInPackages);
}

}  // namespace weft
