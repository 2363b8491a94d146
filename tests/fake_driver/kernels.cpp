#include "kernels.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "codegen/cache/digest.h"
#include "codegen/cpu/compiler.h"
#include "codegen/runtime/grid_blocks.h"
#include "codegen/runtime/heap.h"
#include "core/config.h"
#include "device/cuda/launch_error.h"
#include "ir/parser.h"
#include "lang/lower.h"

namespace weft::fake_driver {

namespace {

constexpr std::string_view kIrBegin = "// weft kernel IR\n", kIrEnd = "// end of kernel IR\n";

// The lines between these two.
std::string ir_in(const std::string& text) {
    const size_t begin = text.find(kIrBegin), end = text.find(kIrEnd);
    if (begin == std::string::npos || end == std::string::npos) return "";
    std::string ir;
    for (size_t line = begin + kIrBegin.size(); line < end;) {
        const size_t next = text.find('\n', line) + 1;
        ir += text.substr(line + 3, next - line - 3);  // after "// "
        line = next;
    }
    return ir;
}

size_t words_of(const ir::Function& kernel) {
    size_t words = 0;
    for (const ir::ValueId parameter : kernel.parameters) {
        const ir::Type& type = kernel.type(parameter);
        words += !type.is_buffer && type.scalar == ScalarType::kComplex128 ? 2 : 1;
        if (type.is_buffer) {
            words += static_cast<size_t>(
                std::count(type.buffer.strides.begin(), type.buffer.strides.end(), ir::kDynamic));
        }
    }
    return words;
}

// By their IR.
std::map<std::string, std::vector<Kernel>>& known_kernels() {
    static auto* const known = new std::map<std::string, std::vector<Kernel>>;
    return *known;
}

// The kernel's object file. WEFT_FAKE_DRIVER_KERNELS names a folder in which the processes of one run of the
// tests keep them for each other.
codegen::KernelObject object_of(const ir::Module& module, const std::string& ir, const ir::Function& kernel) {
    const char* const folder = std::getenv("WEFT_FAKE_DRIVER_KERNELS");
    if (folder == nullptr) return codegen::compile_object_for_cpu(module, kernel.name);
    const auto digest = codegen::digest_of({ir, "\n", kernel.name, "\n", config().cpu()});
    const std::filesystem::path path = std::filesystem::path(folder) / codegen::hexadecimal(digest);
    if (std::ifstream file(path, std::ios::binary); file) {
        codegen::KernelObject object;
        object.name = kernel.name;
        file >> object.symbol >> object.grid_dimensions;
        file.get();  // the end of the line
        object.bytes.assign(std::istreambuf_iterator<char>(file), {});
        return object;
    }
    codegen::KernelObject object = codegen::compile_object_for_cpu(module, kernel.name);
    const std::filesystem::path own = path.string() + "." + std::to_string(getpid());
    std::error_code error;  // where it cannot be kept, the next one compiles it again
    std::filesystem::create_directories(folder, error);
    if (std::ofstream(own, std::ios::binary) << object.symbol << ' ' << object.grid_dimensions << '\n'
                                             << object.bytes << std::flush)
        std::filesystem::rename(own, path, error);
    return object;
}

const std::vector<Kernel>& compiled(const std::string& ir) {
    std::map<std::string, std::vector<Kernel>>& known = known_kernels();
    const auto found = known.find(ir);
    if (found != known.end()) return found->second;
    std::vector<Kernel> kernels;
    if (!ir.empty()) {
        const ir::Module parsed = ir::parse(ir);
        if (!parsed.functions[0].is_kernel) {
            const ir::Function& entry = parsed.functions[0];
            kernels.push_back({nullptr, words_of(entry) + 2,
                               codegen::compile_function_for_cpu(parsed, entry.name),
                               lang::meets_grid(parsed)});
        }
        for (const ir::Function& kernel : parsed.functions) {
            if (!kernel.is_kernel) continue;
            kernels.push_back({codegen::load_for_cpu(object_of(parsed, ir, kernel)), words_of(kernel)});
        }
    }
    return known.emplace(ir, std::move(kernels)).first->second;
}

}  // namespace

const std::vector<Kernel>& kernels_in(const std::string& text) { return compiled(ir_in(text)); }

void run_launch(const Kernel& kernel, const uint64_t* words) {
    const codegen::HeapFrame frame;
    std::optional<codegen::GridScope> together;
    if (kernel.meets_grid) together.emplace();
    alignas(16) std::array<char, 4096> told{};
    const int64_t status = kernel.launch->function(words, told.data());
    auto& error = *reinterpret_cast<LaunchError*>(words[kernel.words - 2]);
    if (status == 0 || error.status != 0) return;
    error.status = status;
    error.launch = static_cast<int64_t>(words[kernel.words - 1]);
    std::copy_n(told.begin(), sizeof(error.values), std::begin(error.values));
}

void write_kernels(const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    for (const auto& [ir, kernels] : known_kernels()) file << ir << '\0';
}

void compile_kernels(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    for (std::string ir; std::getline(file, ir, '\0');) compiled(ir);
}

ProgramEntry program_entry(const char* name) {
    static void* const self = [] {
        Dl_info info{};
        dladdr(reinterpret_cast<void*>(&program_entry), &info);
        return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }();
    return reinterpret_cast<ProgramEntry>(dlsym(self, name));
}

}  // namespace weft::fake_driver
