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
    std::string ptx{};  // of what is compiled from a source
};

// What is linked with code that weft makes: CUDA C++ and files that the program brings.
class LinkedParts {
public:
    LinkedParts() = default;
    LinkedParts(const LinkedParts&) = delete;
    LinkedParts& operator=(const LinkedParts&) = delete;
    virtual ~LinkedParts() = default;
    // Everything that decides the parts, for keys of what is kept; empty where that may not be kept.
    virtual std::string key(int capability) const = 0;
    // Compiles what is to be compiled. Throws as that does.
    virtual std::vector<LinkPart> parts(int capability) const = 0;
    // CUDA's own libraries, for nvJitLink.
    virtual std::vector<LinkPart> libraries() const = 0;
};

// Two texts of PTX as one, in which the first has no declarations of what the second defines: the driver's
// assembler takes that, so that nvJitLink need not be there, nor be opened. Empty where the second does not
// define all functions of this list.
std::string merge_ptx(std::string_view callers, std::string_view callees,
                      const std::vector<std::string>& functions);

// The version of the nvJitLink that there is: 1000 * major + 10 * minor. Throws DeviceError.
int linker_version();

// What a file is by its first bytes. Throws ValueError for what is no code for GPUs.
LinkInput kind_of_code(std::string_view bytes, const std::string& name);

// The machine code for a device of this compute capability. Throws DeviceError with the linker's messages.
std::string link(std::span<const LinkPart> parts, int capability, const std::vector<std::string>& options);

}  // namespace weft::cuda
