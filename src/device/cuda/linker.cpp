#include "device/cuda/linker.h"

#include <algorithm>

#include "device/cuda/libraries.h"
#include "weft/errors.h"

namespace weft::cuda {

namespace {

constexpr int kDone = 0;

class Link {
public:
    Link(const Libraries& linker, std::vector<const char*> options) : linker_(linker) {
        check(linker.nvJitLinkCreate(&handle_, static_cast<uint32_t>(options.size()), options.data()),
              "begin to link");
    }
    ~Link() {
        if (handle_ != nullptr) linker_.nvJitLinkDestroy(&handle_);
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void* handle() const { return handle_; }
    void check(int result, const std::string& what) const {
        if (result == kDone) [[likely]]
            return;
        throw DeviceError("nvJitLink could not " + what + " (" + std::to_string(result) + ")" + log());
    }

private:
    std::string log() const {
        size_t bytes = 0;
        if (handle_ == nullptr || linker_.nvJitLinkGetErrorLogSize(handle_, &bytes) != kDone || bytes <= 1)
            return "";
        std::string text(bytes, '\0');
        if (linker_.nvJitLinkGetErrorLog(handle_, text.data()) != kDone) return "";
        text.resize(std::min(text.size(), text.find('\0')));
        while (!text.empty() && text.back() == '\n') text.pop_back();
        return ":\n" + text;
    }

    const Libraries& linker_;
    void* handle_ = nullptr;
};

bool begins_with(std::string_view bytes, std::string_view with) {
    return bytes.substr(0, with.size()) == with;
}

}  // namespace

int linker_version() {
    unsigned major = 0, minor = 0;
    if (library(LibraryId::kNvJitLink).nvJitLinkVersion(&major, &minor) != kDone)
        throw DeviceError("nvJitLink does not tell its version");
    return static_cast<int>(1000 * major + 10 * minor);
}

LinkInput kind_of_code(std::string_view bytes, const std::string& name) {
    constexpr std::string_view kElf = "\177ELF", kFatbinMagic = "\x50\xed\x55\xba", kArchive = "!<arch>\n",
                               kLtoMagic = "\xed\x43\x4e\x7f";
    constexpr size_t kMachineOffset = 18, kCudaMachine = 190;  // of ELF's header: e_machine, EM_CUDA
    if (begins_with(bytes, kFatbinMagic)) return LinkInput::kFatbin;
    if (begins_with(bytes, kArchive)) return LinkInput::kLibrary;
    if (begins_with(bytes, kLtoMagic)) return LinkInput::kLtoIr;
    if (begins_with(bytes, kElf) && bytes.size() > kMachineOffset + 1) {
        const auto machine = static_cast<unsigned char>(bytes[kMachineOffset]);
        return machine == kCudaMachine ? LinkInput::kCubin : LinkInput::kObject;
    }
    // PTX is text, whose first directive is its version.
    const size_t version = bytes.find(".version");
    if (version != std::string_view::npos && bytes.substr(0, version).find('\0') == std::string_view::npos)
        return LinkInput::kPtx;
    throw ValueError(name + " is no cubin, fatbin, PTX, LTO-IR or library of code for GPUs");
}

std::string link(std::span<const LinkPart> parts, int capability, const std::vector<std::string>& options) {
    const Libraries& linker = library(LibraryId::kNvJitLink);
    const std::string target = "-arch=sm_" + std::to_string(capability);
    std::vector<const char*> all{target.c_str()};
    for (const std::string& option : options) all.push_back(option.c_str());
    const Link made(linker, std::move(all));
    for (const LinkPart& part : parts) {
        const size_t zero = part.kind == LinkInput::kPtx ? 1 : 0;  // which ends a text
        made.check(linker.nvJitLinkAddData(made.handle(), static_cast<int>(part.kind), part.bytes.c_str(),
                                           part.bytes.size() + zero, part.name.c_str()),
                   "take " + part.name);
    }
    made.check(linker.nvJitLinkComplete(made.handle()), "link the parts of a module");
    size_t bytes = 0;
    made.check(linker.nvJitLinkGetLinkedCubinSize(made.handle(), &bytes), "give what it linked");
    std::string cubin(bytes, '\0');
    made.check(linker.nvJitLinkGetLinkedCubin(made.handle(), cubin.data()), "give what it linked");
    return cubin;
}

}  // namespace weft::cuda
