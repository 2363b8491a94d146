#include "execution/cuda_source/module_code.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "codegen/service/kernel_cache.h"
#include "core/cuda_files.h"
#include "device/cuda/driver.h"
#include "device/cuda/libraries.h"
#include "device/cuda/linker.h"
#include "device/cuda/nvrtc.h"
#include "execution/cuda_source/compile_log.h"
#include "execution/cuda_source/nvcc.h"
#include "execution/cuda_source/slow_notice.h"
#include "execution/cuda_source/source_includes.h"
#include "weft/errors.h"

namespace weft {

namespace {

using cuda::LinkInput;
using cuda::LinkPart;

bool has_option(const std::vector<std::string>& options, std::initializer_list<std::string_view> names) {
    return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
        return std::any_of(names.begin(), names.end(),
                           [&](std::string_view name) { return option.starts_with(name); });
    });
}

bool names_target(const std::vector<std::string>& options) {
    return has_option(options, {"-arch", "--gpu-architecture", "-gencode", "--generate-code"});
}
bool optimises_when_linking(const std::vector<std::string>& options) {
    return has_option(options, {"-dlto", "--dlto", "-lto"});
}
bool is_relocatable(const std::vector<std::string>& options) {
    return has_option(options, {"-dc", "--device-c", "-rdc=true", "--relocatable-device-code=true"}) ||
           optimises_when_linking(options);
}

// ---- on disk: texts with their sizes before them ----

void append(std::string& bytes, std::string_view text) {
    const uint64_t size = text.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes.append(text);
}

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}
    std::string text() {
        uint64_t size = 0;
        if (rest_.size() < sizeof size) return fail();
        std::memcpy(&size, rest_.data(), sizeof size);
        rest_.remove_prefix(sizeof size);
        if (size > rest_.size()) return fail();
        std::string taken(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return taken;
    }
    bool is_whole() const { return !failed_ && rest_.empty(); }
    bool failed() const { return failed_; }

private:
    std::string fail() {
        failed_ = true;
        return "";
    }
    std::string_view rest_;
    bool failed_ = false;
};

// Of what was compiled; the kernels' parameters are found again in the PTX and the sources.
struct Compiled {
    std::string image, ptx, log;
    std::map<std::string, std::string> symbols;
    double seconds = 0;
};

std::string encode(const Compiled& code) {
    std::string bytes;
    append(bytes, code.image);
    append(bytes, code.ptx);
    append(bytes, code.log);
    append(bytes, std::to_string(code.seconds));
    append(bytes, std::to_string(code.symbols.size()));
    for (const auto& [name, symbol] : code.symbols) {
        append(bytes, name);
        append(bytes, symbol);
    }
    return bytes;
}

std::optional<Compiled> decode(std::string_view bytes) {
    Reader reader(bytes);
    Compiled code;
    code.image = reader.text();
    code.ptx = reader.text();
    code.log = reader.text();
    code.seconds = std::strtod(reader.text().c_str(), nullptr);
    const size_t count = std::strtoull(reader.text().c_str(), nullptr, 10);
    for (size_t k = 0; k < count && !reader.failed(); ++k) {
        std::string name = reader.text();
        code.symbols[std::move(name)] = reader.text();
    }
    if (!reader.is_whole()) return {};
    return code;
}

// ---- compiling ----

// For the key of what is kept: the library is not opened where its file tells its version, which takes as
// long as all else.
std::string stamp_of(CudaCompiler compiler) {
    if (compiler == CudaCompiler::kNvcc) return file_stamp(find_nvcc());
    std::string stamp = cuda::library_stamp(cuda::LibraryId::kNvrtc);
    return stamp.empty() ? "NVRTC " + cuda::version_text(cuda::nvrtc_version()) : stamp;
}

std::string stamp_of_linker() {
    std::string stamp = cuda::library_stamp(cuda::LibraryId::kNvJitLink);
    return stamp.empty() ? "nvJitLink " + cuda::version_text(cuda::linker_version()) : stamp;
}

std::string version_of(CudaCompiler compiler) {
    if (compiler == CudaCompiler::kNvcc) return find_nvcc();
    return "NVRTC " + cuda::version_text(cuda::nvrtc_version());
}

std::string name_of(const ModuleSource& source, size_t number) {
    const std::string& name = source.options.name;
    if (number == 0) return name;
    const size_t dot = std::min(name.rfind('.'), name.size());
    return name.substr(0, dot) + "_" + std::to_string(number) + name.substr(dot);
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw ValueError(path + ": no such file, or it cannot be read");
    return {std::istreambuf_iterator<char>(file), {}};
}

// What kernels that launch kernels call, where it is installed.
std::optional<LinkPart> device_runtime() {
    constexpr std::array<std::string_view, 1> kInToolkit{"lib64/libcudadevrt.a"};
    constexpr std::array<std::string_view, 2> kInPackages{"nvidia/cu13/lib/libcudadevrt.a",
                                                          "nvidia/cuda_runtime/lib/libcudadevrt.a"};
    const std::string path = find_cuda_file(kInToolkit, kInPackages);
    if (path.empty()) return {};
    return LinkPart{LinkInput::kLibrary, read_file(path), path};
}

struct Job {
    const ModuleSource& source;
    int capability;
    std::vector<std::string> folders;  // of the toolkit's headers
};

// To compile for linking is an option of nvcc's own, which makes objects of the host; cubins have another.
std::vector<std::string> options_for_cubins(std::vector<std::string> options) {
    for (std::string& option : options) {
        if (option == "-dc" || option == "--device-c") option = "-rdc=true";
    }
    return options;
}

std::string linked_with_runtime(std::vector<LinkPart> parts, const Job& job) {
    if (std::optional<LinkPart> runtime = device_runtime()) parts.push_back(std::move(*runtime));
    std::vector<std::string> options;
    if (optimises_when_linking(job.source.options.options)) options.emplace_back("-lto");
    return cuda::link(parts, job.capability, options);
}

// One source by NVRTC. `number`: of the source in its module.
cuda::CompiledSource compile_one(const Job& job, size_t number) {
    cuda::SourceToCompile wanted;
    wanted.code = job.source.sources[number];
    wanted.name = name_of(job.source, number);
    wanted.options = options_for_cubins(job.source.options.options);
    const int target = cuda::nvrtc_target(job.capability);
    if (!names_target(wanted.options))
        wanted.options.push_back((target == job.capability ? "-arch=sm_" : "-arch=compute_") +
                                 std::to_string(target));
    for (const std::string& folder : job.folders) wanted.options.push_back("-I" + folder);
    if (number == 0) wanted.expressions = job.source.options.name_expressions;
    try {
        return cuda::compile_source(wanted);
    } catch (cuda::SourceRefused& refused) {
        throw CompileError("NVRTC does not compile " + wanted.name + ":\n" + first_errors(refused.log),
                           std::move(refused.log));
    }
}

LinkPart part_of(cuda::CompiledSource made, std::string name) {
    if (!made.lto_ir.empty()) return {LinkInput::kLtoIr, std::move(made.lto_ir), std::move(name)};
    if (!made.cubin.empty())
        return {LinkInput::kCubin, std::move(made.cubin), std::move(name), std::move(made.ptx)};
    return {LinkInput::kPtx, std::move(made.ptx), std::move(name)};
}

Compiled compile_by_nvrtc(const Job& job) {
    const std::vector<std::string>& options = job.source.options.options;
    const bool links = job.source.sources.size() > 1 || is_relocatable(options);
    Compiled code;
    std::vector<LinkPart> parts;
    for (size_t number = 0; number < job.source.sources.size(); ++number) {
        cuda::CompiledSource made = compile_one(job, number);
        code.log += made.log;
        code.ptx += made.ptx;
        code.symbols.merge(made.symbols);
        if (!links) {
            code.image = made.cubin.empty() ? std::move(made.ptx) : std::move(made.cubin);
            return code;
        }
        parts.push_back(part_of(std::move(made), name_of(job.source, number)));
    }
    code.image = linked_with_runtime(std::move(parts), job);
    return code;
}

Compiled compile_by_nvcc(const Job& job) {
    if (!job.source.options.name_expressions.empty())
        throw ValueError(
            "name expressions are for backend='nvrtc': nvcc does not tell the symbols of templates");
    if (job.source.sources.size() != 1)
        throw ValueError("several sources are linked for backend='nvrtc' only");
    const std::vector<std::string>& options = job.source.options.options;
    CompiledByNvcc made = weft::compile_by_nvcc(job.source.sources[0], job.source.options.name,
                                                options_for_cubins(options), job.capability);
    Compiled code;
    code.image =
        is_relocatable(options)
            ? linked_with_runtime({{LinkInput::kCubin, std::move(made.cubin), name_of(job.source, 0)}}, job)
            : std::move(made.cubin);
    code.ptx = std::move(made.ptx);
    code.log = std::move(made.log);
    return code;
}

Compiled read_files(const Job& job) {
    std::vector<LinkPart> parts;
    Compiled code;
    for (const std::string& path : job.source.paths) {
        LinkPart part{LinkInput::kCubin, read_file(path), path};
        part.kind = cuda::kind_of_code(part.bytes, path);
        if (part.kind == LinkInput::kPtx) code.ptx += part.bytes;
        parts.push_back(std::move(part));
    }
    const LinkInput kind = parts[0].kind;
    const bool loads = parts.size() == 1 &&
                       (kind == LinkInput::kCubin || kind == LinkInput::kPtx || kind == LinkInput::kFatbin);
    if (loads) {
        code.image = std::move(parts[0].bytes);
        return code;
    }
    std::vector<std::string> options;
    if (std::any_of(parts.begin(), parts.end(),
                    [](const auto& part) { return part.kind == LinkInput::kLtoIr; }))
        options.emplace_back("-lto");
    code.image = cuda::link(parts, job.capability, options);
    return code;
}

ModuleCode described(const ModuleSource& source, Compiled code) {
    ModuleCode module;
    module.kernels = signatures_in_ptx(code.ptx);
    std::map<std::string, KernelSignature> declared;
    for (const std::string& text : source.sources) declared.merge(signatures_in_source(text));
    for (auto& [symbol, signature] : module.kernels) {
        refine(signature, signature_of_symbol(symbol));
        const auto found = declared.find(symbol);
        if (found != declared.end()) refine(signature, found->second);
    }
    module.image = std::move(code.image);
    module.symbols = std::move(code.symbols);
    module.log = std::move(code.log);
    module.seconds = code.seconds;
    return module;
}

// Everything that decides the code; empty where it may not be kept.
std::string key_of(const Job& job) {
    std::string form = "module of CUDA C++\n";
    const RawModuleOptions& options = job.source.options;
    append(form, options.name);
    for (const std::vector<std::string>* texts :
         {&options.options, &options.name_expressions, &job.source.sources}) {
        append(form, std::to_string(texts->size()));
        for (const std::string& text : *texts) append(form, text);
    }
    const ReadHeaders headers =
        read_headers(job.source.sources, include_folders_in(options.options), job.folders);
    if (!headers.complete) return "";
    append(form, headers.digest);
    std::string target = "sm_" + std::to_string(job.capability) + " " + stamp_of(options.compiler);
    if (job.source.sources.size() > 1 || is_relocatable(options.options)) target += " " + stamp_of_linker();
    return codegen::gpu_cache_key(form, target);
}

SlowNotice notice_of(const Job& job) {
    return SlowNotice("compiling " + job.source.options.name + " (" +
                      version_of(job.source.options.compiler) +
                      "); it is kept on disk, so that the next process need not");
}

Compiled compile(const Job& job) {
    const auto start = std::chrono::steady_clock::now();
    const SlowNotice notice = notice_of(job);
    Compiled code =
        job.source.options.compiler == CudaCompiler::kNvcc ? compile_by_nvcc(job) : compile_by_nvrtc(job);
    code.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return code;
}

// What the process has, by its key.
struct Known {
    std::mutex mutex;
    std::unordered_map<std::string, std::weak_ptr<const ModuleCode>> modules;
    size_t most = 64;  // before those that nobody uses any more are forgotten
};
Known& known() {
    static auto* const all = new Known;
    return *all;
}

std::shared_ptr<const ModuleCode> find_known(const std::string& key) {
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    const auto found = all.modules.find(key);
    return found == all.modules.end() ? nullptr : found->second.lock();
}

void remember(const std::string& key, const std::shared_ptr<const ModuleCode>& module) {
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    if (all.modules.size() >= all.most) {
        std::erase_if(all.modules, [](const auto& each) { return each.second.expired(); });
        all.most = std::max<size_t>(64, 2 * all.modules.size());
    }
    all.modules[key] = module;
}

// ---- what is linked with kernels in Python ----

std::string encode(std::span<const LinkPart> parts) {
    std::string bytes;
    for (const LinkPart& part : parts) {
        append(bytes, std::to_string(static_cast<int>(part.kind)));
        append(bytes, part.name);
        append(bytes, part.bytes);
        append(bytes, part.ptx);
    }
    return bytes;
}

std::optional<std::vector<LinkPart>> decode_parts(std::string_view bytes) {
    Reader reader(bytes);
    std::vector<LinkPart> parts;
    while (!reader.is_whole() && !reader.failed()) {
        const int kind = std::atoi(reader.text().c_str());
        std::string name = reader.text(), code = reader.text();
        parts.push_back({static_cast<LinkInput>(kind), std::move(code), std::move(name), reader.text()});
    }
    if (reader.failed()) return {};
    return parts;
}

class PartsOfProgram final : public cuda::LinkedParts {
public:
    PartsOfProgram(ModuleSource source, std::vector<std::pair<std::string, std::string>> code)
        : source_(std::move(source)) {
        std::vector<std::string>& options = source_.options.options;
        for (const std::string& path : source_.paths) {
            const size_t slash = path.rfind('/');
            if (path.ends_with(".cu")) {
                source_.sources.push_back(read_file(path));
                options.push_back("-I" + (slash == std::string::npos ? "." : path.substr(0, slash)));
            } else {
                code.emplace_back(path, read_file(path));
            }
        }
        for (auto& [name, bytes] : code) {
            const LinkInput kind = cuda::kind_of_code(bytes, name);
            files_.push_back({kind, std::move(bytes), std::move(name)});
        }
        source_.paths.clear();
        if (!is_relocatable(options)) options.emplace_back("-rdc=true");
    }

    std::string key(int capability) const override {
        std::string key = source_key(capability);
        if (key.empty() && !source_.sources.empty()) return "";
        for (const LinkPart& part : files_) append(key, part.bytes);
        return key;
    }

    std::vector<LinkPart> parts(int capability) const override {
        std::vector<LinkPart> all = compiled(capability);
        all.insert(all.end(), files_.begin(), files_.end());
        return all;
    }

    std::vector<LinkPart> libraries() const override {
        std::vector<LinkPart> all;
        if (std::optional<LinkPart> runtime = device_runtime()) all.push_back(std::move(*runtime));
        return all;
    }

private:
    std::string source_key(int capability) const {
        if (source_.sources.empty()) return "";
        try {
            return key_of({source_, capability, toolkit_folders()});
        } catch (const DeviceError&) {  // there is no nvJitLink, which is not always needed
            return "";
        }
    }

    std::vector<LinkPart> compiled(int capability) const {
        if (source_.sources.empty()) return {};
        const std::lock_guard lock(mutex_);
        const std::string key = source_key(capability);
        const auto known = compiled_.find(key);
        if (!key.empty() && known != compiled_.end()) return known->second;
        const std::string on_disk = key.empty() ? "" : codegen::gpu_cache_key("parts to be linked", key);
        std::optional<std::vector<LinkPart>> made;
        if (!key.empty()) {
            if (const auto bytes = codegen::find_bytes_in_cache(on_disk)) made = decode_parts(*bytes);
        }
        if (!made) {
            const Job job{source_, capability, toolkit_folders()};
            const SlowNotice notice = notice_of(job);
            made.emplace();
            for (size_t number = 0; number < source_.sources.size(); ++number)
                made->push_back(part_of(compile_one(job, number), name_of(source_, number)));
            if (!key.empty()) codegen::keep_bytes_in_cache(on_disk, encode(*made));
        }
        if (!key.empty()) compiled_ = {{key, *made}};  // headers may have been another thing before
        return std::move(*made);
    }

    ModuleSource source_;
    std::vector<LinkPart> files_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, std::vector<LinkPart>> compiled_;  // by key
};

}  // namespace

std::shared_ptr<const ModuleCode> compile_module(const ModuleSource& source, int capability) {
    Job job{source, capability, {}};
    if (source.sources.empty()) return std::make_shared<const ModuleCode>(described(source, read_files(job)));
    job.folders = toolkit_folders();
    const std::string key = key_of(job);
    if (!key.empty()) {
        if (auto found = find_known(key)) return found;
    }
    std::optional<Compiled> code;
    bool from_disk = false;
    if (!key.empty()) {
        if (const auto bytes = codegen::find_bytes_in_cache(key)) {
            code = decode(*bytes);
            from_disk = code.has_value();
            if (!from_disk) codegen::drop_from_cache(key);
        }
    }
    if (!code.has_value()) {
        code = compile(job);
        if (!key.empty()) codegen::keep_bytes_in_cache(key, encode(*code));
    }
    ModuleCode module = described(source, std::move(*code));
    module.from_disk = from_disk;
    auto made = std::make_shared<const ModuleCode>(std::move(module));
    if (!key.empty()) remember(key, made);
    return made;
}

std::shared_ptr<const cuda::LinkedParts> parts_to_link(
    const ModuleSource& source, std::vector<std::pair<std::string, std::string>> code) {
    return std::make_shared<const PartsOfProgram>(source, std::move(code));
}

}  // namespace weft
