#include "jit/gpu_kernel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <set>
#include <vector>

#include "codegen/ptx/compiler.h"
#include "codegen/service/kernel_cache.h"
#include "core/optimisation_switches.h"
#include "device/cuda/linker.h"
#include "ir/calls.h"
#include "ir/ir.h"
#include "jit/gpu_print.h"
#include "lang/exceptions/classes.h"
#include "weft/errors.h"

namespace weft::jit {

namespace {

using cuda::CudaDevice;

constexpr int kNewestTarget = 90;  // of the code generator; the driver takes it on to newer devices
constexpr int64_t kUsualSharedBytes = 48 << 10;  // what a kernel has without asking for more

// Of a launch's arguments: (sizes of the grid, of a block, bytes, ...), where the block's are constants.
std::array<int, 3> block_of(std::span<const lang::TypeRef> arguments) {
    std::array<int, 3> block{};
    if (!lang::is_constant(arguments[1])) return block;
    for (size_t axis = 0; axis < block.size(); ++axis)
        block[axis] = static_cast<int>(arguments[1]->parts[axis]->literal->as<int64_t>());
    return block;
}

// Appends the numbers of the parameters that are sizes and strides of arrays.
void add_layouts(lang::TypeRef type, size_t first, GpuKernel& kernel) {
    if (lang::is_strided(type)) {
        const size_t before = first + 1 + (type->owned ? 1 : 0);
        for (size_t axis = 0; axis < type->rank; ++axis) kernel.sizes.push_back(before + axis);
        const size_t behind = first + lang::part_count(type);
        for (size_t number = before + type->rank; number < behind; ++number) kernel.strides.push_back(number);
    } else if (lang::has_items(type)) {
        for (const lang::TypeRef part : type->parts) {
            add_layouts(part, first, kernel);
            first += lang::part_count(part);
        }
    }
}

void add_layouts(std::span<const lang::TypeRef> arguments, GpuKernel& kernel) {
    size_t first = 0;
    for (const lang::TypeRef type : arguments) {
        if (lang::is_constant(type)) continue;  // which is no parameter
        add_layouts(type, first, kernel);
        first += lang::part_count(type);
    }
}

codegen::PtxOptions options_for(const GpuKernel& kernel) {
    codegen::PtxOptions options;
    options.sm = std::min(kernel.device.context().facts().capability, kNewestTarget);
    options.libdevice = codegen::find_libdevice();
    options.fast_math = kernel.options.is_fast;
    options.block = kernel.block;
    options.sizes = kernel.sizes;
    options.strides = kernel.strides;
    options.together = kernel.together;
    options.recursive = kernel.recursive;
    options.printed = kernel.printed;
    options.most_registers = kernel.options.most_registers;
    options.most_threads = kernel.options.most_threads;
    options.blocks_at_once = kernel.options.blocks_at_once;
    return options;
}

// Of what goes to the driver, and is not in the IR.
std::string text_of(const codegen::PtxOptions& options) {
    std::string text = options.fast_math ? "fast" : "";
    for (const int number : {options.block[0], options.block[1], options.block[2], options.most_registers,
                             options.most_threads, options.blocks_at_once})
        text += " " + std::to_string(number);
    for (const size_t number : options.sizes)
        text += (number == options.sizes[0] ? " sizes " : ",") + std::to_string(number);
    if (!is_on(OptimisationSwitch::kThreadOrder)) text += " in their order";
    return text + "\n" + codegen::text_of(options.printed);
}

// The lines of a module, and of each of its instructions.
std::string text_of_lines(const ir::Module& module) {
    if (module.lines.empty()) return {};
    std::string text = "lines";
    for (const ir::SourceLine& each : module.lines)
        text += " " + each.file + ":" + std::to_string(each.line) + "\n";
    const std::function<void(const ir::Region&)> add = [&](const ir::Region& region) {
        for (const ir::Instruction& each : region.body) {
            text += " " + std::to_string(each.line);
            for (const ir::Region& inner : each.regions) add(inner);
        }
    };
    for (const ir::Function& each : module.functions) add(each.body);
    return text;
}

std::string with_commas(std::span<const int64_t> sizes) {
    return "(" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) + ", " +
           std::to_string(sizes[2]) + ")";
}

// As much as the launch asks for, which the driver has to be told where that is more than usual.
void allow_shared(const GpuKernel& kernel, int64_t bytes) {
    const auto most = static_cast<int64_t>(kernel.device.context().facts().shared_per_block);
    if (bytes > most)
        throw ValueError("a block of " + kernel.loaded->name + "() needs " + std::to_string(bytes) +
                         " bytes of shared memory, and " + kernel.device.name() + " has " +
                         std::to_string(most) + " for a block");
    if (bytes <= kUsualSharedBytes || bytes <= kernel.allowed_bytes.load(std::memory_order_relaxed)) return;
    kernel.loaded->function.allow_shared(static_cast<size_t>(bytes));
    kernel.allowed_bytes = bytes;
}

// Bytes of stack below the kernel's own frame, but for what a function that has just been called may take,
// and those of CUDA that it calls. All threads that a GPU can hold have so much, whether they use it or not.
ArgumentWord stack_for_calls(const GpuKernel& kernel) {
    constexpr int64_t kWanted = 16 << 10, kReserve = 3 << 10, kPartOfMemory = 16;
    cuda::Context& context = kernel.device.context();
    const cuda::DeviceFacts& facts = context.facts();
    const int64_t threads = int64_t{facts.multiprocessors} * facts.threads_per_multiprocessor;
    const int64_t affordable = static_cast<int64_t>(facts.memory) / kPartOfMemory / threads;
    const auto bytes =
        static_cast<int64_t>(context.stack_bytes(static_cast<size_t>(std::min(kWanted, affordable))));
    return static_cast<ArgumentWord>(std::max<int64_t>(bytes - kernel.local_bytes - kReserve, 0));
}

// GPUs read elements at multiples of their size only.
void check_alignment(const GpuKernel& kernel, std::span<const ArgumentWord> words) {
    for (const CudaBufferFacts& buffer : kernel.loaded->description.buffers) {
        const auto mask = static_cast<ArgumentWord>(buffer.alignment - 1);
        ArgumentWord all = words[static_cast<size_t>(buffer.base_word)];
        for (const int word : buffer.stride_words) all |= words[static_cast<size_t>(word)];
        if ((all & mask) != 0)
            throw ValueError("an array begins, or steps, at an address that is no multiple of " +
                             std::to_string(buffer.alignment) +
                             " bytes, where GPUs cannot read its elements: give " + kernel.loaded->name +
                             "() a copy");
    }
}

// Functions of other machine code that the module calls.
std::vector<std::string> external_functions(const ir::Module& module) {
    std::set<std::string> names;
    const std::function<void(const ir::Region&)> look = [&](const ir::Region& region) {
        for (const ir::Instruction& each : region.body) {
            if (each.opcode == ir::Opcode::kExternal) names.insert(each.callee);
            for (const ir::Region& inner : each.regions) look(inner);
        }
    };
    for (const ir::Function& each : module.functions) look(each.body);
    return {names.begin(), names.end()};
}

// The kernel and the program's parts as one: by the assembler where they are texts of PTX, which may be newer
// than the driver, else by nvJitLink.
std::string linked_code(CudaDevice& device, const CudaKernelImage& image, const cuda::LinkedParts& linked,
                        const std::vector<std::string>& functions) {
    const int capability = device.context().facts().capability;
    std::vector<cuda::LinkPart> parts = linked.parts(capability);
    if (parts.size() == 1 && !parts[0].ptx.empty()) {
        CudaKernelImage merged = image;
        merged.ptx = cuda::merge_ptx(image.ptx, parts[0].ptx, functions);
        try {
            if (!merged.ptx.empty()) return device.assemble(merged);
        } catch (const DeviceError&) {
            if (device.context().ruined()) throw;
        }
    }
    const bool is_intermediate =
        std::ranges::any_of(parts, [](const auto& part) { return part.kind == cuda::LinkInput::kLtoIr; });
    parts.insert(parts.begin(), {cuda::LinkInput::kPtx, image.ptx, image.name + ".ptx"});
    std::ranges::move(linked.libraries(), std::back_inserter(parts));
    std::vector<std::string> options;
    if (is_intermediate) options.emplace_back("-lto");
    if (image.has_lines) options.emplace_back("-lineinfo");
    return cuda::link(parts, capability, options);
}

}  // namespace

std::shared_ptr<const GpuKernel> compile_for_gpu(const lang::Lowered& lowered, const std::string& ir,
                                                 const std::string& whole, const Options& options) {
    auto& device = static_cast<CudaDevice&>(*options.device);
    auto made = std::make_shared<GpuKernel>(device);
    made->options = options;
    made->block_bytes = lowered.block_bytes;
    made->block = block_of(lowered.arguments);
    add_layouts(lowered.arguments, *made);
    made->together = lang::meets_grid(lowered.module);
    made->recursive = std::ranges::any_of(lowered.module.functions, [&](const ir::Function& each) {
        return ir::is_recursive(lowered.module, each);
    });
    made->printed = printed_by(lowered.module, lowered.sites);
    const codegen::PtxOptions compile_with = options_for(*made);
    const cuda::DeviceFacts& facts = device.context().facts();
    const std::string linked = options.linked == nullptr ? "" : options.linked->key(facts.capability);
    const bool is_kept = options.is_kept && (options.linked == nullptr || !linked.empty());
    const std::string target = facts.name + " sm_" + std::to_string(facts.capability) + " driver " +
                               std::to_string(device.context().driver().version) + " libdevice " +
                               compile_with.libdevice + " " + text_of(compile_with);
    const std::string key =
        is_kept && codegen::keeps_kernels()
            ? codegen::gpu_cache_key(
                  "launch " + lowered.entry + "\n" + ir + text_of_lines(lowered.module) + linked, target)
            : std::string();
    if (!key.empty()) {
        if (auto cached = codegen::find_gpu_kernel_in_cache(key)) {
            try {
                made->loaded = device.load(std::move(cached->image), cached->machine_code);
                made->from_disk = true;
            } catch (const DeviceError&) {
                if (device.context().ruined()) throw;
                codegen::drop_from_cache(key);
            }
        }
    }
    if (made->loaded == nullptr) {
        const auto start = std::chrono::steady_clock::now();
        codegen::CachedGpuKernel kept;
        kept.image = codegen::compile_launch_for_ptx(lowered.module, lowered.entry, compile_with);
        kept.image.ptx.insert(0, codegen::as_comments(whole, compile_with.printed));
        kept.machine_code = options.linked == nullptr ? device.assemble(kept.image)
                                                      : linked_code(device, kept.image, *options.linked,
                                                                    external_functions(lowered.module));
        kept.image.ptx.clear();
        kept.image.compile_seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        made->loaded = device.load(kept.image, kept.machine_code);
        if (!key.empty()) codegen::keep_gpu_kernel_in_cache(key, kept);
    }
    const cuda::LoadedFunction& function = made->loaded->function;
    made->registers = function.registers();
    made->local_bytes = function.local_bytes();
    made->most_threads = function.most_threads();
    return made;
}

int64_t most_blocks_together(const GpuKernel& kernel, int64_t threads, int64_t dynamic_bytes) {
    const int64_t shared = kernel.block_bytes + dynamic_bytes;
    allow_shared(kernel, shared);
    return kernel.device.most_blocks_together(kernel.loaded->function.handle(), threads, shared);
}

int most_threads_with(int registers) {
    constexpr int kWarp = 32, kOfBlock = 1 << 16, kPortion = 256;  // which a warp has some of
    const int of_warp = std::max((registers * kWarp + kPortion - 1) / kPortion, 1) * kPortion;
    return std::min(kOfBlock / of_warp * kWarp, 1024);
}

void number_errors_as(std::span<const lang::Site> sites, lang::Lowered& whole) {
    const auto number_of = [&](uint32_t number) {
        const lang::Site& wanted = whole.sites[lang::site_of_error(number)];
        const auto found = std::find_if(sites.begin(), sites.end(), [&](const lang::Site& site) {
            return site.function == wanted.function && site.node == wanted.node && site.kind == wanted.kind &&
                   site.axis == wanted.axis && site.exception == wanted.exception &&
                   site.text == wanted.text && site.told == wanted.told;
        });
        const auto place =
            found == sites.end() ? lang::kMostErrors : static_cast<uint32_t>(found - sites.begin());
        return (number & ~lang::kMostErrors) | place;
    };
    const std::function<void(ir::Region&)> renumber = [&](ir::Region& region) {
        for (ir::Instruction& each : region.body) {
            const bool has_site = each.opcode == ir::Opcode::kCheck || each.opcode == ir::Opcode::kHeap ||
                                  each.opcode == ir::Opcode::kTell ||
                                  (each.opcode == ir::Opcode::kRaise && !each.again);
            if (has_site) each.site = number_of(each.site);
            for (ir::Region& inner : each.regions) renumber(inner);
        }
    };
    for (ir::Function& each : whole.module.functions) renumber(each.body);
}

codegen::CompiledTexts texts_of(const GpuKernel& kernel, const ir::Module& module, const std::string& entry) {
    codegen::PtxTexts made;
    codegen::CompiledTexts texts;
    texts.assembly = codegen::compile_launch_for_ptx(module, entry, options_for(kernel), &made).ptx;
    texts.ir_after_passes = std::move(made.ir_after_passes);
    texts.llvm_ir = std::move(made.llvm_ir);
    return texts;
}

std::string describe(const GpuKernel& kernel) {
    return "  on " + kernel.device.name() + ": each thread has " + std::to_string(kernel.registers) +
           " registers and " + std::to_string(kernel.local_bytes) + " bytes of memory, each block " +
           std::to_string(kernel.block_bytes) + " bytes of shared memory\n";
}

void launch(const GpuKernel& kernel, std::span<const ArgumentWord> words, const LaunchSizes& sizes,
            int64_t number) {
    const auto& [grid, block, dynamic_bytes] = sizes;
    const int64_t threads = block[0] * block[1] * block[2];
    if (kernel.most_threads > 0 && threads > kernel.most_threads)
        throw ValueError("a block of " + std::to_string(threads) + " threads, " + with_commas(block) + ": " +
                         kernel.loaded->name + "() takes " + std::to_string(kernel.registers) +
                         " registers of each, so " + std::to_string(kernel.most_threads) + " is the most");
    const int64_t shared = kernel.block_bytes + dynamic_bytes;
    allow_shared(kernel, shared);
    check_alignment(kernel, words);
    std::vector<ArgumentWord> all(words.begin(), words.end());
    all.push_back(reinterpret_cast<ArgumentWord>(&kernel.device.launch_error(number)));
    all.push_back(static_cast<ArgumentWord>(number));
    if (kernel.together) {
        all.push_back(kernel.device.grid_word());
        const int64_t blocks = grid[0] * grid[1] * grid[2];
        const int64_t most =
            kernel.device.most_blocks_together(kernel.loaded->function.handle(), threads, shared);
        if (blocks > most)
            throw ValueError("a grid of " + std::to_string(blocks) + " blocks, " + with_commas(grid) +
                             ", that wait for each other: " + kernel.device.name() + " runs " +
                             std::to_string(most) + " blocks of " + kernel.loaded->name +
                             "() with so many threads at once");
    }
    if (kernel.recursive) all.push_back(stack_for_calls(kernel));
    WEFT_CHECK(all.size() == static_cast<size_t>(kernel.loaded->description.words), kernel.loaded->name);
    const CudaLaunchShape shape = shape_of_blocks(grid, block, shared, kernel.together);
    kernel.device.launch_now(*kernel.loaded, all, shape);
}

}  // namespace weft::jit
