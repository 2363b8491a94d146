// The fake driver's modules, functions, launches and graphs of launches.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/kernel.h"
#include "driver_state.h"

namespace weft::fake_driver {

namespace {

Result work_of(const KernelNodeParams& params, std::function<Result()>& run);

}  // namespace

Result module_load(ModuleHandle* module, const void* image, unsigned count, const int* options,
                   void** values) {
    const Entry entry("cuModuleLoadDataEx");
    if (entry.result != kSuccess) return entry.result;
    (void)count, (void)options, (void)values;
    auto made = std::make_unique<ModuleState>();
    if (const std::string library = unwrap_image(static_cast<const char*>(image)); !library.empty()) {
        std::string error;
        made->image = SourceImage::load(library, error);
        if (made->image == nullptr) return kInvalidImage;
        if (const auto ptx = made->image->variable(kLinkedPtx); ptx.address != nullptr)
            made->text = static_cast<const char*>(ptx.address);
    } else {
        made->text = static_cast<const char*>(image);
    }
    *module = made.release();
    return kSuccess;
}
Result module_unload(ModuleHandle module) {
    const Entry entry("cuModuleUnload");
    for (const auto& [context, address] : module->variables) context->allocations.erase(address);
    delete module;
    return entry.result;
}
Result module_function(FunctionHandle* function, ModuleHandle module, const char* name) {
    const Entry entry("cuModuleGetFunction");
    if (entry.result != kSuccess) return entry.result;
    auto made = std::make_unique<FunctionState>();
    made->symbol = name;
    if (module->image != nullptr && module->text.empty()) {
        made->image = module->image;
        made->source = module->image->kernel(name);
        if (made->source == nullptr) return kNotFound;
    } else {
        if (module->text.find(name) == std::string::npos) return kNotFound;
        made->kernels = kernels_in(module->text, module->image);
        if (made->kernels.empty()) made->program = program_entry(name);
    }
    *function = made.get();
    module->functions.push_back(std::move(made));
    return kSuccess;
}
Result module_global(DeviceAddress* address, size_t* bytes, ModuleHandle module, const char* name) {
    const Entry entry("cuModuleGetGlobal_v2");
    if (entry.result != kSuccess) return entry.result;
    const SourceImage::Variable found =
        module->image != nullptr ? module->image->variable(name) : SourceImage::Variable{};
    if (found.address == nullptr) return kNotFound;
    *address = reinterpret_cast<DeviceAddress>(found.address);
    *bytes = found.bytes;
    ContextState* const context = state().current();
    context->allocations[*address] = found.bytes;
    module->variables.emplace_back(context, *address);
    return kSuccess;
}
Result parameter_info(FunctionHandle function, size_t number, size_t* offset, size_t* bytes) {
    const Entry entry("cuFuncGetParamInfo");
    if (entry.result != kSuccess) return entry.result;
    if (function->source == nullptr || number >= static_cast<size_t>(function->source->count))
        return kInvalidValue;
    *offset = 0;  // nobody looks at it
    *bytes = static_cast<size_t>(function->source->sizes[number]);
    return kSuccess;
}
Result module_function_count(unsigned* count, ModuleHandle module) {
    const Entry entry("cuModuleGetFunctionCount");
    if (entry.result != kSuccess) return entry.result;
    *count = 0;
    if (module->image == nullptr) return kSuccess;
    for (const SourceEntry* each : module->image->entries()) *count += each->run != nullptr ? 1 : 0;
    return kSuccess;
}
Result module_functions(FunctionHandle* functions, unsigned count, ModuleHandle module) {
    const Entry entry("cuModuleEnumerateFunctions");
    if (entry.result != kSuccess) return entry.result;
    unsigned number = 0;
    for (const SourceEntry* each : module->image->entries()) {
        if (each->run == nullptr || number == count) continue;
        auto made = std::make_unique<FunctionState>();
        made->symbol = SourceImage::symbol_of(*each);
        made->image = module->image;
        made->source = each;
        functions[number++] = made.get();
        module->functions.push_back(std::move(made));
    }
    return kSuccess;
}
Result function_name(const char** name, FunctionHandle function) {
    const Entry entry("cuFuncGetName");
    if (entry.result == kSuccess) *name = function->symbol.c_str();
    return entry.result;
}
Result function_attribute(int* value, int which, FunctionHandle function) {
    const Entry entry("cuFuncGetAttribute");
    if (entry.result != kSuccess) return entry.result;
    const bool is_source = function->source != nullptr;
    switch (which) {
        case kFunctionMostThreads: *value = 1024; break;
        case kFunctionSharedBytes: *value = is_source ? 0 : 16; break;
        case kFunctionPtxVersion:
        case kFunctionBinaryVersion: *value = 90; break;
        case kFunctionMaxDynamicShared: *value = function->most_shared; break;
        case kFunctionSharedCarveout: *value = function->carveout; break;
        default: *value = 16; break;
    }
    return kSuccess;
}
Result best_block(int* blocks, int* threads, FunctionHandle, void*, size_t, int) {
    const Entry entry("cuOccupancyMaxPotentialBlockSize");
    if (entry.result == kSuccess) *blocks = 264, *threads = 512;
    return entry.result;
}
Result function_set_attribute(FunctionHandle function, int which, int value) {
    const Entry entry("cuFuncSetAttribute");
    if (entry.result != kSuccess) return entry.result;
    if (which == kFunctionMaxDynamicShared) function->most_shared = value;
    if (which == kFunctionSharedCarveout) function->carveout = value;
    return kSuccess;
}
Result link_create(unsigned count, const int* options, void** values, LinkHandle* link) {
    const Entry entry("cuLinkCreate_v2");
    if (entry.result != kSuccess) return entry.result;
    *link = new LinkState;
    ++state().objects;
    for (unsigned k = 0; k < count; ++k) {
        if (options[k] == kJitErrorLogBuffer && state().made.fails_some())
            std::strcpy(static_cast<char*>(values[k]), "ptxas error: as the fake driver was told");
    }
    return kSuccess;
}
Result link_add(LinkHandle link, int, void* data, size_t bytes, const char*, unsigned, const int*, void**) {
    const Entry entry("cuLinkAddData_v2");
    if (entry.result != kSuccess) return entry.result;
    link->text.assign(static_cast<const char*>(data), bytes);
    return kSuccess;
}
Result link_complete(LinkHandle link, void** image, size_t* bytes) {
    const Entry entry("cuLinkComplete");
    if (entry.result != kSuccess) return entry.result;
    *image = link->text.data();
    *bytes = link->text.size();
    return kSuccess;
}
Result link_destroy(LinkHandle link) {
    const Entry entry("cuLinkDestroy");
    delete link;
    --state().objects;
    return entry.result;
}
Result launch(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
              unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream,
              void** parameters, void** extra) {
    if (state().skips_kernels) return kSuccess;
    const Entry entry("cuLaunchKernel");
    if (entry.result != kSuccess) return entry.result;
    std::function<Result()> run;
    const KernelNodeParams params{function, grid_x,       grid_y,     grid_z, block_x, block_y,
                                  block_z,  shared_bytes, parameters, extra,  nullptr, nullptr};
    if (const Result result = work_of(params, run)) return result;
    stream->queue.push_back({std::move(run), nullptr, nullptr});
    return kSuccess;
}

// One parameter, the words of a launch: as many as its function has, and that of the grid.
Result launch_together(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       StreamHandle stream, void** parameters) {
    const Entry entry("cuLaunchCooperativeKernel");
    if (entry.result != kSuccess) return entry.result;
    if (function->source != nullptr) {
        const KernelNodeParams of_source{function, grid_x,       grid_y,     grid_z,  block_x, block_y,
                                         block_z,  shared_bytes, parameters, nullptr, nullptr, nullptr};
        std::function<Result()> work;
        if (const Result result = work_of(of_source, work)) return result;
        stream->queue.push_back({std::move(work), nullptr, nullptr});
        return kSuccess;
    }
    if (function->kernels.size() != 1 || function->kernels[0].launch == nullptr) return kInvalidValue;
    size_t bytes = (function->kernels[0].words + 1) * sizeof(uint64_t);
    std::array<void*, 5> extra{kLaunchParamBuffer, parameters[0], kLaunchParamSize, &bytes, kLaunchParamEnd};
    std::function<Result()> run;
    const KernelNodeParams params{function, grid_x,       grid_y,  grid_z,       block_x, block_y,
                                  block_z,  shared_bytes, nullptr, extra.data(), nullptr, nullptr};
    if (const Result result = work_of(params, run)) return result;
    stream->queue.push_back({std::move(run), nullptr, nullptr});
    return kSuccess;
}
Result blocks_at_once(int* blocks, FunctionHandle, int threads, size_t) {
    const Entry entry("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    if (entry.result == kSuccess) *blocks = 1024 / threads;
    return entry.result;
}

Result graph_create(GraphHandle* graph, unsigned flags) {
    const Entry entry("cuGraphCreate");
    if (entry.result != kSuccess) return entry.result;
    if (flags != 0) return kInvalidValue;
    *graph = new GraphState;
    return kSuccess;
}
Result graph_add_kernel(GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* dependencies,
                        size_t count, const KernelNodeParams* params) {
    const Entry entry("cuGraphAddKernelNode_v2");
    if (entry.result != kSuccess) return entry.result;
    auto made = std::make_unique<GraphNodeState>();
    made->function = params->function;
    if (const Result result = work_of(*params, made->run)) return result;
    made->after.assign(dependencies, dependencies + count);
    *node = made.get();
    graph->nodes.push_back(std::move(made));
    return kSuccess;
}
// Nodes in an order of their dependencies, and of those that wait for nothing the last one first: a
// dependency that weft forgot gives wrong bytes.
Result graph_instantiate(GraphExecHandle* executable, GraphHandle graph, unsigned long long) {
    const Entry entry("cuGraphInstantiateWithFlags");
    if (entry.result != kSuccess) return entry.result;
    auto made = std::make_unique<GraphExecState>();
    std::set<GraphNodeState*> done;
    while (made->order.size() < graph->nodes.size()) {
        const auto ready = std::find_if(graph->nodes.rbegin(), graph->nodes.rend(), [&](const auto& node) {
            return !done.contains(node.get()) &&
                   std::all_of(node->after.begin(), node->after.end(),
                               [&](GraphNodeState* before) { return done.contains(before); });
        });
        if (ready == graph->nodes.rend()) return kInvalidValue;
        done.insert(ready->get());
        made->order.push_back(ready->get());
        made->nodes.emplace(ready->get(), **ready);
    }
    *executable = made.release();
    return kSuccess;
}
Result graph_set_kernel(GraphExecHandle executable, GraphNodeHandle node, const KernelNodeParams* params) {
    const Entry entry("cuGraphExecKernelNodeSetParams_v2");
    if (entry.result != kSuccess) return entry.result;
    const auto found = executable->nodes.find(node);
    if (found == executable->nodes.end() || found->second.function != params->function) return kInvalidValue;
    return work_of(*params, found->second.run);
}
Result graph_launch(GraphExecHandle executable, StreamHandle stream) {
    const Entry entry("cuGraphLaunch");
    if (entry.result != kSuccess) return entry.result;
    for (GraphNodeState* node : executable->order)
        stream->queue.push_back({executable->nodes.at(node).run, nullptr, nullptr});
    return kSuccess;
}
Result graph_exec_destroy(GraphExecHandle executable) {
    const Entry entry("cuGraphExecDestroy");
    delete executable;
    return entry.result;
}
Result graph_destroy(GraphHandle graph) {
    const Entry entry("cuGraphDestroy");
    delete graph;
    return entry.result;
}

namespace {

Result work_of_source(const KernelNodeParams& params, std::function<Result()>& run) {
    const SourceEntry& source = *params.function->source;
    const uint64_t threads = uint64_t{params.block_x} * params.block_y * params.block_z;
    if (params.grid_x == 0 || params.grid_y == 0 || params.grid_z == 0 || threads == 0 || threads > 1024)
        return kInvalidValue;
    struct alignas(16) Value {
        std::array<char, 16> bytes;
    };
    std::vector<std::vector<Value>> values;
    for (int k = 0; k < source.count; ++k) {
        const auto bytes = static_cast<size_t>(source.sizes[k]);
        values.emplace_back(bytes / sizeof(Value) + 1);
        std::memcpy(values.back().data(), params.parameters[k], bytes);
    }
    run = [params, &source, values = std::move(values), image = params.function->image]() mutable -> Result {
        std::vector<void*> pointers;
        for (int k = 0; k < source.count; ++k) {
            uint64_t address = 0;
            std::memcpy(&address, values[static_cast<size_t>(k)].data(), sizeof address);
            if (source.kinds[k] == 'p' && address != 0 && !state().is_allocated(address, 1))
                return kIllegalAddress;
            pointers.push_back(values[static_cast<size_t>(k)].data());
        }
        image->run(source, pointers.data(), {params.grid_x, params.grid_y, params.grid_z},
                   {params.block_x, params.block_y, params.block_z});
        return kSuccess;
    };
    return kSuccess;
}

// What a launch will do; its parameters are read now.
Result work_of(const KernelNodeParams& params, std::function<Result()>& run) {
    const uint64_t blocks = uint64_t{params.grid_x} * params.grid_y * params.grid_z,
                   threads = uint64_t{params.block_x} * params.block_y * params.block_z;
    void** const extra = params.extra;
    if (params.function->source != nullptr) return work_of_source(params, run);
    if (blocks == 0 || threads == 0 || threads > 1024 || params.parameters != nullptr || extra == nullptr)
        return kInvalidValue;
    std::vector<uint64_t> words;
    for (size_t k = 0; extra[k] != kLaunchParamEnd; k += 2) {
        if (extra[k] == kLaunchParamSize)
            words.resize(*static_cast<size_t*>(extra[k + 1]) / sizeof(uint64_t));
    }
    for (size_t k = 0; extra[k] != kLaunchParamEnd; k += 2) {
        if (extra[k] == kLaunchParamBuffer)
            std::memcpy(words.data(), extra[k + 1], words.size() * sizeof(uint64_t));
    }
    KernelStub stub;
    if (const auto found = state().stubs.find(params.function->symbol); found != state().stubs.end())
        stub = found->second;
    const ProgramEntry program = params.function->program;
    const size_t shared_bytes = params.shared_bytes;
    run = [=, words = std::move(words), kernels = params.function->kernels]() -> Result {
        if (stub) {
            stub(words, static_cast<unsigned>(blocks), static_cast<unsigned>(threads));
            return kSuccess;
        }
        if (program != nullptr) {
            run_on_fibers(program, words.data(), static_cast<uint32_t>(blocks),
                          static_cast<uint32_t>(threads), shared_bytes);
            return kSuccess;
        }
        // Of two kernels the last word is where their blocks count.
        if (kernels.size() > 1 && !state().is_allocated(words.back(), sizeof(uint32_t)))
            return kIllegalAddress;
        const uint64_t* own = words.data();
        for (const Kernel& kernel : kernels) {
            if (kernel.launch != nullptr) {
                run_launch(kernel, own);
                continue;
            }
            GridBox box;
            for (int d = 0; d < kernel.compiled->grid_dimensions; ++d)
                box.upper[static_cast<size_t>(d)] = static_cast<int64_t>(own[d]);
            static_cast<const CpuKernel&>(*kernel.compiled).function(own, box.lower.data(), box.upper.data());
            own += kernel.words;
        }
        return kSuccess;
    };
    return kSuccess;
}

}  // namespace

}  // namespace weft::fake_driver
