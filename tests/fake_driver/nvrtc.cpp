// The fake NVRTC and nvJitLink: a source is compiled by the clang that builds weft, for the CPU, with
// cuda_for_cpu.h before it. Messages have the form of NVRTC's.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/libraries.h"
#include "device/cuda/linker.h"
#include "execution/cuda_source/kernel_signatures.h"
#include "fake_driver.h"
#include "source_image.h"

extern char** environ;

namespace weft::fake_driver {

namespace {

constexpr int kDone = 0, kInvalidOption = 5, kCompilation = 6, kNoNameYet = 9, kFailed = 11;

class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "weft-fake-XXXXXX").string();
        path_ = mkdtemp(name.data()) != nullptr ? name : "";
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

std::string contents_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool run(const std::vector<std::string>& command, const std::string& log) {
    std::vector<char*> arguments;
    for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), 0x241,
                                     0600);  // to write, made anew
    pid_t child = 0;
    const int failed = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return false;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// "module.cu:3:7: error: …" as "module.cu(3): error: …", with the lines below, and how many there were.
std::string as_nvrtc(const std::string& log, const std::string& name) {
    std::string text;
    int errors = 0;
    for (size_t begin = 0; begin < log.size();) {
        const size_t end = std::min(log.find('\n', begin), log.size());
        const std::string line = log.substr(begin, end - begin);
        begin = end + 1;
        const size_t kind = std::min(line.find(": error: "), line.find(": fatal error: "));
        const size_t first = line.find(':');
        if (kind != std::string::npos && first < kind) {
            const size_t second = line.find(':', first + 1);
            text += (errors++ > 0 ? "\n" : "") + line.substr(0, first) + "(" +
                    line.substr(first + 1, second - first - 1) + ")" + line.substr(kind) + "\n";
        } else if (line.find(" | ") != std::string::npos) {
            text += "  " + line.substr(line.find(" | ") + 3) + "\n";  // the source, and its caret
        }
    }
    return text + "\n" + std::to_string(errors) + " errors detected in the compilation of \"" + name +
           "\".\n";
}

struct Program {
    std::string source, name, log, ptx, cubin, lto_ir;
    std::vector<std::string> expressions;
    std::map<std::string, std::string> symbols;
};

// Shared memory whose size the launch tells is as much as any test asks for.
std::string with_shared_memory(std::string source) {
    constexpr std::string_view kExtern = "extern __shared__";
    for (size_t at = source.find(kExtern); at != std::string::npos; at = source.find(kExtern, at)) {
        source.replace(at, kExtern.size(), "__shared__");
        const size_t open = source.find("[]", at);
        if (open != std::string::npos) source.replace(open, 2, "[32768]");
    }
    return source;
}

// Each kernel and name expression tells of itself when the library is loaded.
std::string whole_source(const Program& program) {
    std::string text = "#include \"cuda_for_cpu.h\"\n#line 1 \"" + program.name + "\"\n" +
                       with_shared_memory(program.source) + "\n#line 1 \"__nv_name_map\"\nnamespace {\n";
    int count = 0;
    const auto tell = [&](const std::string& expression, const std::string& address) {
        text +=
            "WeftTold weft_told_" + std::to_string(count++) + "(\"" + expression + "\", " + address + ");\n";
    };
    const bool has_namespaces = program.source.find("namespace ") != std::string::npos;
    for (const auto& [kernel, signature] : signatures_in_source(program.source)) {
        const size_t place = program.source.rfind("__global__", program.source.find(kernel + "("));
        const size_t before = program.source.find_last_of(";}\n", place - 1);
        const std::string line = program.source.substr(before + 1, place - before - 1);
        if (!has_namespaces && line.find("template") == std::string::npos) tell(kernel, "&" + kernel);
    }
    for (const std::string& expression : program.expressions)
        tell(expression, expression[0] == '&' ? expression : "&" + expression);
    return text + "}\n";
}

std::string ptx_of(const SourceImage& image) {
    std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
    for (const SourceEntry* each : image.entries()) {
        if (each->run == nullptr) continue;
        const std::string symbol = SourceImage::symbol_of(*each);
        text += ".visible .entry " + symbol + "(\n";
        for (int k = 0; k < each->count; ++k) {
            const std::string name = symbol + "_param_" + std::to_string(k),
                              size = std::to_string(each->sizes[k]),
                              bits = std::to_string(8 * each->sizes[k]);
            text += "\t.param ";
            if (each->kinds[k] == 's')
                text += ".align 8 .b8 " + name + "[" + size + "]";
            else
                text += (each->kinds[k] == 'f' ? ".f" : ".u") + bits + " " + name;
            text += k + 1 < each->count ? ",\n" : "\n";
        }
        text += ")\n{\n\tret;\n}\n";
    }
    return text;
}

Program& program_of(void* handle) { return *static_cast<Program*>(handle); }

int give(const std::string& text, size_t* bytes) {
    *bytes = text.size();
    return kDone;
}
int give_text(const std::string& text, size_t* bytes) {
    *bytes = text.size() + 1;
    return kDone;
}
int copy(const std::string& text, char* to, bool is_text) {
    std::memcpy(to, text.c_str(), text.size() + (is_text ? 1 : 0));
    return kDone;
}

constexpr std::string_view kIrMark = "// weft kernel IR";

// That kernel IR calls.
std::vector<std::string> external_functions(const std::string& text) {
    std::vector<std::string> names;
    for (const std::string_view before : {"external @", "external status @"}) {
        for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
            at += before.size();
            names.push_back(text.substr(at, text.find('(', at) - at));
        }
    }
    return names;
}

struct Link {
    std::vector<std::string> parts;
    std::string ptx;  // of weft, which goes into the library as it is
    std::string cubin, log;
};
Link& link_of(void* handle) { return *static_cast<Link*>(handle); }

}  // namespace

// Declared by the engine's own table: a function that differs from it does not compile.
#define WEFT_FAKE_nvrtc(result, name, parameters) \
    extern "C" __attribute__((visibility("default"))) result name parameters;
#define WEFT_FAKE_nvjitlink WEFT_FAKE_nvrtc
#define WEFT_FAKE_cublas(...)
#define WEFT_FAKE_cublaslt(...)
#define WEFT_FAKE_cufft(...)
#define WEFT_FAKE_cusolver(...)
using cuda::StreamHandle;
#define WEFT_LIBRARY_SYMBOL(library, result, name, parameters) WEFT_FAKE_##library(result, name, parameters)
#include "device/cuda/library_symbols.def"
#undef WEFT_LIBRARY_SYMBOL

extern "C" {

int nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return kDone;
}
const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR as the fake NVRTC was told"; }
int nvrtcGetNumSupportedArchs(int* count) {
    *count = 3;
    return kDone;
}
int nvrtcGetSupportedArchs(int* capabilities) {
    constexpr std::array kAll{80, 90, 100};
    std::copy(kAll.begin(), kAll.end(), capabilities);
    return kDone;
}
int nvrtcCreateProgram(void** program, const char* source, const char* name, int, const char* const*,
                       const char* const*) {
    if (enter_library("nvrtcCreateProgram") != cuda::kSuccess) return kFailed;
    auto made = std::make_unique<Program>();
    made->source = source;
    made->name = name;
    *program = made.release();
    count_objects(1);
    return kDone;
}
int nvrtcDestroyProgram(void** program) {
    delete static_cast<Program*>(*program);
    count_objects(-1);
    return enter_library("nvrtcDestroyProgram") != cuda::kSuccess ? kFailed : kDone;
}
int nvrtcAddNameExpression(void* program, const char* expression) {
    if (enter_library("nvrtcAddNameExpression") != cuda::kSuccess) return kFailed;
    program_of(program).expressions.emplace_back(expression);
    return kDone;
}

int nvrtcCompileProgram(void* handle, int count, const char* const* options) {
    if (enter_library("nvrtcCompileProgram") != cuda::kSuccess) return kFailed;
    Program& program = program_of(handle);
    std::vector<std::string> command{WEFT_COMPILER, "-std=c++20",        "-O1",
                                     "-fPIC",       "-ffp-contract=off", "-I" WEFT_FAKE_DRIVER_SOURCES};
    bool is_relocatable = false, links_later = false;
    for (int k = 0; k < count; ++k) {
        const std::string_view option = options[k];
        static constexpr std::array<std::string_view, 12> kIgnored{"-arch=",
                                                                   "--gpu-architecture",
                                                                   "-use_fast_math",
                                                                   "--use_fast_math",
                                                                   "-maxrregcount",
                                                                   "--maxrregcount",
                                                                   "-std=",
                                                                   "--std=",
                                                                   "-lineinfo",
                                                                   "-default-device",
                                                                   "-w",
                                                                   "-ewp"};
        if (option.starts_with("-D") || option.starts_with("-U") || option.starts_with("-I")) {
            command.emplace_back(option);
        } else if (option == "-rdc=true") {
            is_relocatable = true;
        } else if (option == "-dlto") {
            links_later = true;
        } else if (std::none_of(kIgnored.begin(), kIgnored.end(),
                                [&](std::string_view each) { return option.starts_with(each); })) {
            program.log = "nvrtc: error: unrecognized option " + std::string(option) + " found\n";
            return kInvalidOption;
        }
    }
    const Folder folder;
    const std::string source = folder.file("source.cpp"), result = folder.file("result"),
                      log = folder.file("log");
    std::ofstream(source, std::ios::binary) << whole_source(program);
    const bool is_object = is_relocatable || links_later;
    command.insert(command.end(), {is_object ? "-c" : "-shared", source, "-o", result});
    if (!run(command, log)) {
        program.log = as_nvrtc(contents_of(log), program.name);
        return kCompilation;
    }
    std::string bytes = contents_of(result);
    std::string library = bytes, error;
    if (is_object) {
        const std::string linked = folder.file("linked");
        // What other sources define is found when all are linked.
        if (run({WEFT_COMPILER, "-shared", "-Wl,--unresolved-symbols=ignore-all", result, "-o", linked}, log))
            library = contents_of(linked);
    }
    const auto image = SourceImage::load(library, error);
    if (image != nullptr) {
        for (const SourceEntry* each : image->entries()) {
            const bool is_wanted = std::find(program.expressions.begin(), program.expressions.end(),
                                             each->expression) != program.expressions.end();
            if (is_wanted) program.symbols[each->expression] = SourceImage::symbol_of(*each);
        }
        program.ptx = ptx_of(*image);
    }
    if (links_later)
        program.lto_ir = wrap_image(ImageKind::kLtoIr, bytes);
    else
        program.cubin = wrap_image(ImageKind::kCubin, bytes);
    return kDone;
}

int nvrtcGetLoweredName(void* program, const char* expression, const char** lowered) {
    if (enter_library("nvrtcGetLoweredName") != cuda::kSuccess) return kFailed;
    const auto found = program_of(program).symbols.find(expression);
    if (found == program_of(program).symbols.end()) return kNoNameYet;
    *lowered = found->second.c_str();
    return kDone;
}
int nvrtcGetProgramLogSize(void* program, size_t* bytes) {
    if (enter_library("nvrtcGetProgramLogSize") != cuda::kSuccess) return kFailed;
    return give_text(program_of(program).log, bytes);
}
int nvrtcGetProgramLog(void* program, char* log) { return copy(program_of(program).log, log, true); }
int nvrtcGetPTXSize(void* program, size_t* bytes) {
    if (enter_library("nvrtcGetPTXSize") != cuda::kSuccess) return kFailed;
    return give_text(program_of(program).ptx, bytes);
}
int nvrtcGetPTX(void* program, char* ptx) { return copy(program_of(program).ptx, ptx, true); }
int nvrtcGetCUBINSize(void* program, size_t* bytes) {
    if (enter_library("nvrtcGetCUBINSize") != cuda::kSuccess) return kFailed;
    return give(program_of(program).cubin, bytes);
}
int nvrtcGetCUBIN(void* program, char* cubin) { return copy(program_of(program).cubin, cubin, false); }
int nvrtcGetLTOIRSize(void* program, size_t* bytes) {
    if (enter_library("nvrtcGetLTOIRSize") != cuda::kSuccess) return kFailed;
    return give(program_of(program).lto_ir, bytes);
}
int nvrtcGetLTOIR(void* program, char* ir) { return copy(program_of(program).lto_ir, ir, false); }

int nvJitLinkVersion(unsigned* major, unsigned* minor) {
    *major = 13;
    *minor = 0;
    return kDone;
}
int nvJitLinkCreate(void** link, uint32_t, const char**) {
    if (enter_library("nvJitLinkCreate") != cuda::kSuccess) return kFailed;
    *link = std::make_unique<Link>().release();
    count_objects(1);
    return kDone;
}
int nvJitLinkDestroy(void** link) {
    delete static_cast<Link*>(*link);
    count_objects(-1);
    return enter_library("nvJitLinkDestroy") != cuda::kSuccess ? kFailed : kDone;
}
int nvJitLinkAddData(void* link, int kind, const void* data, size_t size, const char*) {
    if (enter_library("nvJitLinkAddData") != cuda::kSuccess) return kFailed;
    const auto* const bytes = static_cast<const char*>(data);
    if (kind == static_cast<int>(cuda::LinkInput::kPtx) && std::string_view(bytes).find(kIrMark) < size)
        link_of(link).ptx = bytes;
    else if (std::string part = unwrap_image(bytes); !part.empty())
        link_of(link).parts.push_back(std::move(part));
    return kDone;
}
int nvJitLinkComplete(void* handle) {
    if (enter_library("nvJitLinkComplete") != cuda::kSuccess) return kFailed;
    Link& link = link_of(handle);
    const Folder folder;
    const std::string linked = folder.file("linked"), log = folder.file("log");
    std::vector<std::string> command{WEFT_COMPILER, "-shared", "-Wl,-z,defs", "-o", linked};
    for (size_t k = 0; k < link.parts.size(); ++k) {
        command.push_back(folder.file("part" + std::to_string(k) + ".o"));
        std::ofstream(command.back(), std::ios::binary) << link.parts[k];
    }
    if (!link.ptx.empty()) {
        const std::string ptx = folder.file("ptx"), source = folder.file("linked.s");
        std::ofstream(ptx, std::ios::binary) << link.ptx << '\0';
        std::ofstream(source) << ".section .rodata\n.globl " << kLinkedPtx << "\n.type " << kLinkedPtx
                              << ", @object\n.size " << kLinkedPtx << ", " << link.ptx.size() + 1 << "\n"
                              << kLinkedPtx << ":\n.incbin \"" << ptx << "\"\n"
                              << ".section .note.GNU-stack,\"\",@progbits\n";
        command.push_back(source);
        for (const std::string& name : external_functions(link.ptx))
            command.push_back("-Wl,--require-defined=" + name);
    }
    if (!run(command, log)) {
        link.log = contents_of(log);
        return kFailed;
    }
    link.cubin = wrap_image(ImageKind::kCubin, contents_of(linked));
    return kDone;
}
int nvJitLinkGetLinkedCubinSize(void* link, size_t* bytes) {
    if (enter_library("nvJitLinkGetLinkedCubinSize") != cuda::kSuccess) return kFailed;
    return give(link_of(link).cubin, bytes);
}
int nvJitLinkGetLinkedCubin(void* link, void* cubin) {
    return copy(link_of(link).cubin, static_cast<char*>(cubin), false);
}
int nvJitLinkGetErrorLogSize(void* link, size_t* bytes) { return give_text(link_of(link).log, bytes); }
int nvJitLinkGetErrorLog(void* link, char* log) { return copy(link_of(link).log, log, true); }

}  // extern "C"

}  // namespace weft::fake_driver
