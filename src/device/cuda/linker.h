// Several pieces of machine code to one, by nvJitLink: what is compiled for linking (-dc), code that is
// optimised as a whole (-dlto), and files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cuda {

// nvJitLinkInputType
enum class LinkInput : int { kCubin = 1, kPtx = 2, kLtoIr = 3, kFatbin = 4, kObject = 5, kLibrary = 6 };

struct LinkPart {
    LinkInput kind;
    std::string bytes, name;
};

// The version of the nvJitLink that there is: 1000 * major + 10 * minor. Throws DeviceError.
int linker_version();

// What a file is by its first bytes. Throws ValueError for what is no code for GPUs.
LinkInput kind_of_code(std::string_view bytes, const std::string& name);

// The machine code for a device of this compute capability. Throws DeviceError with the linker's messages.
std::string link(std::span<const LinkPart> parts, int capability, const std::vector<std::string>& options);

}  // namespace weft::cuda
