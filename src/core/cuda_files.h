// Where files of NVIDIA's toolkit may be: below CUDA_HOME or CUDA_PATH, in the folders of packages (the
// nvidia-… wheels), in the toolkit's usual place. Used by whoever needs a library or libdevice, at first
// need.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// How the bindings tell the folders in which packages are installed; called when something is looked for.
void set_package_folders(std::vector<std::string> (*folders)());

// The first file there is of these paths, each relative to a toolkit's folder ("nvvm/libdevice/...") and to a
// package folder ("nvidia/cu13/..."); empty when there is none.
std::string find_cuda_file(std::span<const std::string_view> in_toolkit,
                           std::span<const std::string_view> in_packages);

// What tells one version of a file from another without reading it: its path, size and time; empty where
// there is none.
std::string file_stamp(const std::string& path);

// NVIDIA's bitcode of elementary functions, libdevice.10.bc; empty when there is none.
std::string find_libdevice_file();

}  // namespace weft
