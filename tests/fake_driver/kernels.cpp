#include "kernels.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "codegen/cache/digest.h"
#include "codegen/cpu/compiler.h"
#include "codegen/runtime/external_functions.h"
#include "codegen/runtime/grid_blocks.h"
#include "codegen/runtime/heap.h"
#include "codegen/runtime/tell.h"
#include "core/config.h"
#include "device/cuda/launch_error.h"
#include "ir/parser.h"
#include "lang/lower.h"
#include "ops/gpu/number_text.h"

namespace weft::fake_driver {

namespace {

struct Section {
    std::string_view begin, end;
};
constexpr Section kIr{"// weft kernel IR\n", "// end of kernel IR\n"},
    kPrinted{"// what it prints\n", "// end of what it prints\n"};

// The lines between these two.
std::string comments_in(const std::string& text, const Section& section) {
    const size_t begin = text.find(section.begin), end = text.find(section.end);
    if (begin == std::string::npos || end == std::string::npos) return "";
    std::string lines;
    for (size_t line = begin + section.begin.size(); line < end;) {
        const size_t next = text.find('\n', line) + 1;
        lines += text.substr(line + 3, next - line - 3);  // after "// "
        line = next;
    }
    return lines;
}

template <class T>
T value_at(const char* bytes) {
    T value{};
    std::memcpy(&value, bytes, sizeof(value));
    return value;
}

std::string integer_text(ScalarType type, const char* bytes) {
    switch (type) {
        case ScalarType::kInt8: return std::to_string(value_at<int8_t>(bytes));
        case ScalarType::kInt16: return std::to_string(value_at<int16_t>(bytes));
        case ScalarType::kInt32: return std::to_string(value_at<int32_t>(bytes));
        case ScalarType::kUInt8: return std::to_string(value_at<uint8_t>(bytes));
        case ScalarType::kUInt16: return std::to_string(value_at<uint16_t>(bytes));
        case ScalarType::kUInt32: return std::to_string(value_at<uint32_t>(bytes));
        case ScalarType::kUInt64: return std::to_string(value_at<uint64_t>(bytes));
        default: return std::to_string(value_at<int64_t>(bytes));
    }
}

double to_double(ScalarType type, const char* bytes) {
    switch (type) {
        case ScalarType::kFloat16: return static_cast<double>(value_at<_Float16>(bytes));
        case ScalarType::kBFloat16: {
            const uint32_t bits = uint32_t{value_at<uint16_t>(bytes)} << 16;
            return static_cast<double>(value_at<float>(reinterpret_cast<const char*>(&bits)));
        }
        case ScalarType::kFloat32:
        case ScalarType::kComplex64: return static_cast<double>(value_at<float>(bytes));
        default: return value_at<double>(bytes);
    }
}

std::string text_of(const codegen::PrintedPart& part, const char* payload) {
    using Kind = codegen::PrintedPart::Kind;
    const char* const bytes = payload + 16 * part.value;
    const scalar::FloatFormat format =
        part.type == ScalarType::kFloat16    ? scalar::FloatFormat{11, -24}
        : part.type == ScalarType::kBFloat16 ? scalar::FloatFormat{8, -133}
        : part.type == ScalarType::kFloat32 || part.type == ScalarType::kComplex64
            ? scalar::FloatFormat{24, -149}
            : scalar::FloatFormat{53, -1074};
    std::array<char, 512> made{};
    switch (part.kind) {
        case Kind::kText: return part.text;
        case Kind::kInteger: return integer_text(part.type, bytes);
        case Kind::kFloat: scalar::write_float(to_double(part.type, bytes), format, made.data()); break;
        case Kind::kComplex:
            scalar::write_complex(to_double(part.type, bytes),
                                  to_double(part.type, bytes + (part.type == ScalarType::kComplex64 ? 4 : 8)),
                                  format, made.data());
            break;
        case Kind::kChoice:
            return part.choices.at(part.type == ScalarType::kBool ? value_at<uint8_t>(bytes)
                                                                  : value_at<uint64_t>(bytes));
        case Kind::kByFormat:
            if (part.type == ScalarType::kFloat64) {
                const auto value = value_at<double>(bytes);
                std::snprintf(made.data(), made.size(), part.text.c_str(),
                              std::isnan(value) ? std::abs(value) : value);
            } else {
                std::snprintf(made.data(), made.size(), part.text.c_str(), value_at<long long>(bytes));
            }
            break;
    }
    return made.data();
}

// In one piece, as CUDA's vprintf does.
bool print(void* context, uint32_t site, const char* payload) {
    const auto& printed = *static_cast<const codegen::PrintedBySite*>(context);
    std::string text;
    if (const auto found = printed.find(site); found != printed.end()) {
        for (const codegen::PrintedPart& part : found->second) text += text_of(part, payload);
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    return true;
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

// By their IR, what they print, and what they are linked with.
using Image = std::shared_ptr<const SourceImage>;
using Texts = std::tuple<std::string, std::string, Image>;
std::map<Texts, std::vector<Kernel>>& known_kernels() {
    static auto* const known = new std::map<Texts, std::vector<Kernel>>;
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

// The newest last. What is compiled later, when it is reached, looks here, too.
std::vector<Image>& linked_images() {
    static auto* const images = new std::vector<Image>;
    return *images;
}

void* find_linked(const char* name) {
    std::vector<Image>& all = linked_images();
    for (auto image = all.rbegin(); image != all.rend(); ++image) {
        if (void* const address = (*image)->variable(name).address) return address;
    }
    return nullptr;
}

const std::vector<Kernel>& compiled(const std::string& ir, const std::string& printed, const Image& linked) {
    std::map<Texts, std::vector<Kernel>>& known = known_kernels();
    const auto found = known.find({ir, printed, linked});
    if (found != known.end()) return found->second;
    if (linked != nullptr) {
        linked_images().push_back(linked);
        codegen::set_external_functions(find_linked);
    }
    std::vector<Kernel> kernels;
    if (!ir.empty()) {
        const ir::Module parsed = ir::parse(ir);
        if (!parsed.functions[0].is_kernel) {
            const ir::Function& entry = parsed.functions[0];
            kernels.push_back({nullptr, words_of(entry) + 2,
                               codegen::compile_function_for_cpu(parsed, entry.name),
                               lang::meets_grid(parsed), codegen::parse_printed(printed)});
        }
        for (const ir::Function& kernel : parsed.functions) {
            if (!kernel.is_kernel) continue;
            kernels.push_back({codegen::load_for_cpu(object_of(parsed, ir, kernel)), words_of(kernel)});
        }
    }
    return known.emplace(Texts(ir, printed, linked), std::move(kernels)).first->second;
}

}  // namespace

const std::vector<Kernel>& kernels_in(const std::string& text, const Image& linked) {
    return compiled(comments_in(text, kIr), comments_in(text, kPrinted), linked);
}

void run_launch(const Kernel& kernel, const uint64_t* words) {
    const codegen::HeapFrame frame;
    codegen::PrintedBySite printed = kernel.printed;
    const codegen::ListenerScope listens(print, &printed);
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
    for (const auto& [texts, kernels] : known_kernels()) {
        const auto& [ir, printed, linked] = texts;
        if (linked == nullptr) file << ir << '\0' << printed << '\0';
    }
}

void compile_kernels(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    for (std::string ir, printed; std::getline(file, ir, '\0') && std::getline(file, printed, '\0');)
        compiled(ir, printed, nullptr);
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
