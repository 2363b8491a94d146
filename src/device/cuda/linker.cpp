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

namespace {

// What follows a directive of the head; its line is taken out.
std::string take_directive(std::string& text, std::string_view directive) {
    const size_t at = text.find(directive);
    if (at == std::string::npos) return "";
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string value = text.substr(at + directive.size(), end - at - directive.size());
    text.erase(at, end - at);
    return value;
}

// Of "8.0" or "sm_90", whose last part may have a letter.
int number_in(std::string_view value) {
    int number = 0;
    for (const char c : value) {
        if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
    }
    return number;
}

// "(.param .b32 func_retval0) name (" up to where a name of a function ends.
size_t find_function(std::string_view text, std::string_view kind, const std::string& name, size_t& begin) {
    for (begin = text.find(kind); begin != std::string_view::npos; begin = text.find(kind, begin + 1)) {
        size_t at = text.find_first_not_of(" \t\n", begin + kind.size());
        if (at != std::string_view::npos && text[at] == '(') {  // what it returns
            at = text.find(')', at);
            if (at != std::string_view::npos) at = text.find_first_not_of(" \t\n", at + 1);
        }
        if (at == std::string_view::npos) return at;
        const size_t end = text.find_first_of(" \t\n(;", at);
        if (text.substr(at, end - at) == name) return end;
    }
    return std::string_view::npos;
}

}  // namespace

std::string merge_ptx(std::string_view callers, std::string_view callees,
                      const std::vector<std::string>& functions) {
    std::string first(callers), second(callees);
    size_t begin = 0;
    for (const std::string& name : functions) {
        if (find_function(second, ".visible .func", name, begin) == std::string::npos) return "";
        if (find_function(first, ".extern .func", name, begin) == std::string::npos) continue;
        const size_t end = first.find(';', begin);
        if (end == std::string::npos) return "";
        first.erase(begin, end + 1 - begin);
    }
    std::string head;
    for (const std::string_view directive : {".version", ".target", ".address_size"}) {
        const std::string one = take_directive(first, directive), other = take_directive(second, directive);
        head += std::string(directive) + (number_in(other) > number_in(one) ? other : one) + "\n";
    }
    return head + second + "\n" + first;
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
