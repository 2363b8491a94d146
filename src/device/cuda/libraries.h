// NVIDIA's libraries beside the driver, each opened at its first need and from one table of symbols
// (library_symbols.def): found below CUDA_HOME or CUDA_PATH, in the nvidia-... wheels, or by the system.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/driver_types.h"

namespace weft::cuda {

struct Libraries {
#define WEFT_LIBRARY_SYMBOL(library, result, name, parameters) result(*name) parameters = nullptr;
#include "device/cuda/library_symbols.def"
#undef WEFT_LIBRARY_SYMBOL
};

enum class LibraryId { kCublas, kCublasLt, kNvrtc, kNvJitLink, kCufft, kCusolver };

// The functions of one library; the others' may be null. Throws DeviceError that says what was looked for,
// where, and what to install.
const Libraries& library(LibraryId id);

// What tells one version of the library from another, without opening it: its file with its size and time.
// Where only the system finds it, it is opened, and this is empty.
std::string library_stamp(LibraryId id);

// What weft.show_config() tells; opens everything that can be found.
struct LibraryReport {
    std::string name, path, version;  // no path: not found
    std::string reason;               // why not
};
std::vector<LibraryReport> report_libraries();

}  // namespace weft::cuda
