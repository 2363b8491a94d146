#include "device/cuda/nvrtc.h"

#include <algorithm>
#include <mutex>

#include "device/cuda/libraries.h"
#include "weft/errors.h"

namespace weft::cuda {

namespace {

// nvrtcResult
constexpr int kDone = 0, kInvalidOption = 5, kCompilation = 6, kNameNotValid = 10;

class Program {
public:
    Program(const Libraries& nvrtc, const SourceToCompile& source) : nvrtc_(nvrtc) {
        check(
            nvrtc.nvrtcCreateProgram(&handle_, source.code.c_str(), source.name.c_str(), 0, nullptr, nullptr),
            "begin with a source");
    }
    ~Program() { nvrtc_.nvrtcDestroyProgram(&handle_); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void* handle() const { return handle_; }
    void check(int result, const char* what) const {
        if (result == kDone) [[likely]]
            return;
        throw DeviceError(std::string("NVRTC could not ") + what + ": " + nvrtc_.nvrtcGetErrorString(result));
    }
    // What a pair of its functions, one for the size and one for the bytes, gives.
    std::string take(int (*size_of)(void*, size_t*), int (*take)(void*, char*), const char* what) const {
        size_t bytes = 0;
        check(size_of(handle_, &bytes), what);
        std::string taken(bytes, '\0');
        if (bytes > 0) check(take(handle_, taken.data()), what);
        return taken;
    }
    // The same for texts, which end with a zero byte.
    std::string take_text(int (*size_of)(void*, size_t*), int (*take_it)(void*, char*),
                          const char* what) const {
        std::string text = take(size_of, take_it, what);
        text.resize(std::min(text.size(), text.find('\0')));
        return text;
    }

private:
    const Libraries& nvrtc_;
    void* handle_ = nullptr;
};

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<const char*> pointers;
    pointers.reserve(texts.size());
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    return pointers;
}

}  // namespace

int nvrtc_version() {
    int major = 0, minor = 0;
    if (library(LibraryId::kNvrtc).nvrtcVersion(&major, &minor) != kDone)
        throw DeviceError("NVRTC does not tell its version");
    return 1000 * major + 10 * minor;
}

int nvrtc_target(int capability) {
    const Libraries& nvrtc = library(LibraryId::kNvrtc);
    int count = 0;
    if (nvrtc.nvrtcGetNumSupportedArchs(&count) != kDone || count <= 0) return capability;
    std::vector<int> all(static_cast<size_t>(count));
    if (nvrtc.nvrtcGetSupportedArchs(all.data()) != kDone) return capability;
    int best = 0;
    for (const int each : all) {
        if (each <= capability) best = std::max(best, each);
    }
    if (best == 0)
        throw DeviceError("NVRTC " + std::to_string(nvrtc_version() / 1000) + " makes no code for sm_" +
                          std::to_string(capability) + ": the least is sm_" +
                          std::to_string(*std::min_element(all.begin(), all.end())));
    return best;
}

CompiledSource compile_source(const SourceToCompile& source) {
    const Libraries& nvrtc = library(LibraryId::kNvrtc);
    const Program program(nvrtc, source);
    for (const std::string& expression : source.expressions)
        program.check(nvrtc.nvrtcAddNameExpression(program.handle(), expression.c_str()), "take a name");
    const std::vector<const char*> options = pointers_to(source.options);
    const int result =
        nvrtc.nvrtcCompileProgram(program.handle(), static_cast<int>(options.size()), options.data());
    CompiledSource made;
    made.log = program.take_text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, "give its messages");
    if (result == kCompilation || result == kInvalidOption || result == kNameNotValid)
        throw SourceRefused{std::move(made.log)};
    program.check(result, "compile a source");
    for (const std::string& expression : source.expressions) {
        const char* symbol = nullptr;
        program.check(nvrtc.nvrtcGetLoweredName(program.handle(), expression.c_str(), &symbol),
                      "give a kernel's symbol");
        made.symbols[expression] = symbol;
    }
    made.ptx = program.take_text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, "give its PTX");
    made.cubin = program.take(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, "give its machine code");
    made.lto_ir = program.take(nvrtc.nvrtcGetLTOIRSize, nvrtc.nvrtcGetLTOIR, "give its code to be linked");
    return made;
}

}  // namespace weft::cuda
