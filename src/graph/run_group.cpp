#include "graph/run_group.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_map>

#include "core/config.h"
#include "core/log.h"
#include "core/shape.h"
#include "core/thread_pool.h"
#include "graph/at_once.h"
#include "graph/kernel_store.h"
#include "graph/lower.h"
#include "graph/record.h"
#include "graph/reduction_tree.h"

namespace weft {

namespace {

// ---- what a kernel reads and writes ----

struct BufferUse {
    char* base = nullptr;  // address of the first element
    const Buffer* buffer = nullptr;
    DType dtype;
    Dims strides;  // over the group's iteration shape, later over the kernel's dimensions
};

struct GroupParts {
    std::vector<BufferUse> inputs, outputs;
    std::vector<std::pair<DType, ScalarBytes>> scalars;
    KernelForm form;
    Dims extents;  // of the kernel's dimensions
    int operations = 0;
};

ValueForm input_value(GroupParts& parts, const Operand& operand) {
    const BufferPtr& buffer = operand.source.buffer;
    BufferUse use{buffer->data() + operand.offset, buffer.get(), operand.dtype, operand.strides};
    for (size_t k = 0; k < parts.inputs.size(); ++k) {
        const BufferUse& other = parts.inputs[k];
        if (other.base == use.base && other.dtype == use.dtype && other.strides == use.strides) {
            return {ValueForm::Kind::kInput, static_cast<uint16_t>(k), 0};
        }
    }
    parts.inputs.push_back(std::move(use));
    return {ValueForm::Kind::kInput, static_cast<uint16_t>(parts.inputs.size() - 1), 0};
}

using StepIndex = std::unordered_map<const Node*, uint16_t>;

ValueForm value_of(GroupParts& parts, const StepIndex& steps, const Operand& operand) {
    if (operand.is_constant()) {
        parts.scalars.emplace_back(operand.dtype, operand.constant);
        return {ValueForm::Kind::kScalar, static_cast<uint16_t>(parts.scalars.size() - 1), 0};
    }
    if (operand.source.node) {
        const auto step = steps.find(operand.source.node.get());
        WEFT_CHECK(step != steps.end(), "a group reads a node that is not computed yet");
        return {ValueForm::Kind::kStep, step->second, static_cast<uint16_t>(operand.source.result)};
    }
    return input_value(parts, operand);
}

// Integers are divided by a constant without dividing, if the compiler sees it.
bool is_integer_divisor(const Node& node, size_t operand) {
    if (node.op == nullptr || operand != 1 || !node.inputs[1].is_constant()) return false;
    const OpId id = node.op->id;
    const bool divides =
        id == OpId::kFloorDivide || id == OpId::kRemainder || id == OpId::kFmod || id == OpId::kDivmod;
    return divides && DType(node.op->loops[static_cast<size_t>(node.loop)].types[1]).is_integer();
}

// The element-wise nodes of the group, as steps.
StepIndex add_steps(GroupParts& parts, const Group& group) {
    StepIndex steps;
    for (const Node* node : group.nodes) {
        if (node->kind != NodeKind::kElementwise) continue;
        StepForm step;
        step.op = node->op;
        step.loop = node->loop;
        step.to = node->results[0].dtype.scalar_type();
        for (size_t k = 0; k < node->inputs.size(); ++k) {
            if (!is_integer_divisor(*node, k)) {
                step.operands.push_back(value_of(parts, steps, node->inputs[k]));
                continue;
            }
            ir::Constant constant;
            constant.type = node->inputs[k].dtype.scalar_type();
            constant.bytes = node->inputs[k].constant;
            step.operands.push_back(
                {ValueForm::Kind::kConstant, static_cast<uint16_t>(parts.form.constants.size()), 0});
            parts.form.constants.push_back(constant);
        }
        steps.emplace(node, static_cast<uint16_t>(parts.form.steps.size()));
        parts.form.steps.push_back(std::move(step));
        if (node->op != nullptr) ++parts.operations;
    }
    for (const auto& [dtype, bytes] : parts.scalars) parts.form.scalars.push_back(dtype.scalar_type());
    return steps;
}

StrideClass stride_class(int64_t stride, int64_t itemsize) {
    if (stride == 0) return StrideClass::kZero;
    if (stride == itemsize) return StrideClass::kItem;
    if (stride == -itemsize) return StrideClass::kMinusItem;
    return StrideClass::kDynamic;
}

// Strides over the kernel's dimensions become part of the form where the code depends on them.
BufferForm buffer_form(const BufferUse& use, bool readonly, uint16_t alias_scope) {
    BufferForm form;
    form.element = use.dtype.scalar_type();
    form.alias_scope = alias_scope;
    form.readonly = readonly;
    for (size_t d = 0; d < use.strides.size(); ++d) {
        form.strides.push_back(stride_class(use.strides[d], use.dtype.itemsize()));
    }
    return form;
}

// Orders the dimensions by the strides of `uses[first_output]`, drops extents of one and merges neighbours
// that every use walks as one block. At least one dimension is left.
void collapse(Dims& extents, std::vector<BufferUse*>& uses, const BufferUse& leader) {
    struct Dimension {
        int64_t extent;
        std::vector<int64_t> strides;
        int64_t order;
    };
    std::vector<Dimension> dimensions;
    for (size_t d = 0; d < extents.size(); ++d) {
        if (extents[d] == 1) continue;
        Dimension dimension{extents[d], {}, std::abs(leader.strides[d])};
        for (const BufferUse* use : uses) dimension.strides.push_back(use->strides[d]);
        dimensions.push_back(std::move(dimension));
    }
    std::stable_sort(dimensions.begin(), dimensions.end(),
                     [](const Dimension& a, const Dimension& b) { return a.order > b.order; });
    std::vector<Dimension> merged;
    for (Dimension& dimension : dimensions) {
        bool merge = !merged.empty();
        for (size_t k = 0; merge && k < uses.size(); ++k) {
            merge = merged.back().strides[k] == dimension.strides[k] * dimension.extent;
        }
        if (merge) {
            merged.back().extent *= dimension.extent;
            merged.back().strides = dimension.strides;
        } else {
            merged.push_back(std::move(dimension));
        }
    }
    if (merged.empty()) merged.push_back({1, std::vector<int64_t>(uses.size()), 0});
    extents.clear();
    for (BufferUse* use : uses) use->strides.clear();
    for (const Dimension& dimension : merged) {
        extents.push_back(dimension.extent);
        for (size_t k = 0; k < uses.size(); ++k) uses[k]->strides.push_back(dimension.strides[k]);
    }
}

// ---- launching ----

void append_words(std::vector<KernelWord>& words, const BufferUse& use, const BufferForm& form) {
    words.push_back(reinterpret_cast<KernelWord>(use.base));
    for (size_t d = 0; d < form.strides.size(); ++d) {
        if (form.strides[d] == StrideClass::kDynamic)
            words.push_back(static_cast<KernelWord>(use.strides[d]));
    }
}

void append_words(std::vector<KernelWord>& words, DType dtype, const ScalarBytes& bytes) {
    KernelWord parts[2] = {};
    std::memcpy(parts, bytes.data(), static_cast<size_t>(dtype.itemsize()));
    words.push_back(parts[0]);
    if (dtype.itemsize() > 8) words.push_back(parts[1]);
}

int64_t bytes_touched(const BufferUse& use, const Dims& extents) {
    int64_t elements = 1;
    for (size_t d = 0; d < extents.size() && d < use.strides.size(); ++d) {
        if (use.strides[d] != 0) elements *= extents[d];
    }
    return std::min(elements * use.dtype.itemsize(), static_cast<int64_t>(use.buffer->size()));
}

int64_t cost_of(const KernelForm& form) {
    int64_t cost = 1 + static_cast<int64_t>(form.inputs.size() + form.outputs.size());
    for (const StepForm& step : form.steps) cost += step.op == nullptr ? 1 : step.op->cost;
    return cost;
}

// Launches over `extents`: the grid first, then reduced dimensions. Grid dimensions beyond what a launch
// takes are walked here. `counted` is what the history says of elements and bytes.
void launch(const GroupParts& parts, const Dims& extents, const Dims& counted) {
    using Clock = std::chrono::steady_clock;
    KernelForm form = parts.form;
    const size_t grid_rank = static_cast<size_t>(form.grid_rank);
    const size_t extra = grid_rank > kMaxGridDimensions ? grid_rank - kMaxGridDimensions : 0;
    if (extra != 0) {
        form.grid_rank = kMaxGridDimensions;
        for (BufferForm& input : form.inputs)
            input.strides.erase(input.strides.begin(),
                                input.strides.begin() + static_cast<std::ptrdiff_t>(extra));
        for (OutputForm& output : form.outputs)
            output.buffer.strides.erase(output.buffer.strides.begin(),
                                        output.buffer.strides.begin() + static_cast<std::ptrdiff_t>(extra));
    }
    bool fresh = false;
    const std::shared_ptr<const StoredKernel> kernel = find_or_compile(form, fresh);

    KernelRecord record;
    record.name = kernel->name;
    record.ir = kernel->ir;
    record.compile_seconds = fresh ? kernel->compile_seconds : 0;
    record.operations = parts.operations;
    record.elements = element_count(counted);
    for (const BufferUse& use : parts.inputs) record.bytes_read += bytes_touched(use, counted);
    for (const BufferUse& use : parts.outputs) record.bytes_written += bytes_touched(use, counted);

    const auto start = Clock::now();
    Dims position(extra);
    std::vector<KernelWord> words;
    const auto at_position = [&](const BufferUse& use) {
        BufferUse moved = use;
        for (size_t d = 0; d < extra; ++d) moved.base += position[d] * use.strides[d];
        moved.strides = Dims(std::span(use.strides.begin() + extra, use.strides.size() - extra));
        return moved;
    };
    int64_t cost = cost_of(form);
    for (size_t d = grid_rank; d < extents.size(); ++d) cost *= extents[d];
    while (true) {
        words.clear();
        for (size_t d = extra; d < extents.size(); ++d) words.push_back(static_cast<KernelWord>(extents[d]));
        for (size_t k = 0; k < parts.inputs.size(); ++k)
            append_words(words, at_position(parts.inputs[k]), form.inputs[k]);
        for (const auto& [dtype, bytes] : parts.scalars) append_words(words, dtype, bytes);
        for (size_t k = 0; k < parts.outputs.size(); ++k)
            append_words(words, at_position(parts.outputs[k]), form.outputs[k].buffer);
        const std::span<const int64_t> grid(extents.begin() + extra, grid_rank - extra);
        cpu_device().launch(*kernel->compiled, words, grid, cost);
        size_t d = extra;
        while (d-- > 0) {
            if (++position[d] < extents[d]) break;
            position[d] = 0;
        }
        if (d == SIZE_MAX) break;
    }
    record.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (debug_enabled(DebugLevel::kLaunches, record.name)) {
        char text[256];
        const double gigabytes = static_cast<double>(record.bytes_read + record.bytes_written) / 1e9;
        std::snprintf(
            text, sizeof text, "%-40s %12lld elements %9.3f ms %8.2f GB/s%s", record.name.c_str(),
            static_cast<long long>(record.elements), record.seconds * 1e3, gigabytes / record.seconds,
            fresh ? (" (compiled in " + std::to_string(record.compile_seconds * 1e3) + " ms)").c_str() : "");
        log_line(text);
    }
    record_launch(std::move(record));
}

void launch(const GroupParts& parts, const Dims& extents) { launch(parts, extents, extents); }

// ---- element-wise groups ----

bool same_bytes(const BufferUse& a, const BufferUse& b) { return a.buffer == b.buffer; }

void launch_elementwise(GroupParts& parts, const Dims& shape) {
    std::vector<BufferUse*> uses;
    for (BufferUse& use : parts.inputs) uses.push_back(&use);
    for (BufferUse& use : parts.outputs) uses.push_back(&use);
    Dims extents = shape;
    const BufferUse leader = parts.outputs[0];
    collapse(extents, uses, leader);
    parts.form.shape = KernelShape::kElementwise;
    parts.form.grid_rank = static_cast<int>(extents.size());
    for (size_t k = 0; k < parts.outputs.size(); ++k) {
        parts.form.outputs[k].buffer = buffer_form(parts.outputs[k], false, static_cast<uint16_t>(k + 1));
    }
    for (const BufferUse& input : parts.inputs) {
        uint16_t scope = 0;
        for (size_t k = 0; k < parts.outputs.size(); ++k) {
            if (same_bytes(input, parts.outputs[k])) scope = static_cast<uint16_t>(k + 1);
        }
        parts.form.inputs.push_back(buffer_form(input, true, scope));
    }
    launch(parts, extents);
}

BufferPtr reserve(int64_t bytes) { return cpu_device().allocate(static_cast<size_t>(bytes)); }

// Buffers for the results of the stored nodes (but not of a root that writes into a storage).
std::vector<std::vector<BufferPtr>> reserve_results(const Group& group) {
    std::vector<std::vector<BufferPtr>> buffers(group.nodes.size());
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        if (!group.stored[k] || group.nodes[k]->kind == NodeKind::kUpdate) continue;
        for (const NodeResult& result : group.nodes[k]->results) buffers[k].push_back(reserve(result.bytes));
    }
    return buffers;
}

void add_result_outputs(GroupParts& parts, const Group& group, const StepIndex& steps,
                        const std::vector<std::vector<BufferPtr>>& buffers) {
    for (size_t k = group.nodes.size(); k-- > 0;) {
        const Node& node = *group.nodes[k];
        for (size_t r = 0; r < buffers[k].size(); ++r) {
            const NodeResult& result = node.results[r];
            parts.outputs.push_back(
                {buffers[k][r]->data(), buffers[k][r].get(), result.dtype, result.strides});
            parts.form.outputs.push_back(
                {{ValueForm::Kind::kStep, steps.at(&node), static_cast<uint16_t>(r)}, {}});
        }
    }
}

void commit(Node& node, std::vector<BufferPtr> buffers) {
    for (size_t r = 0; r < buffers.size(); ++r) node.results[r].buffer = std::move(buffers[r]);
    const std::vector<Operand> inputs = std::move(node.inputs);
    node.inputs.clear();
    unregister_pending(node);
    node.done.store(true, std::memory_order_release);
}

void commit_all(const Group& group, std::vector<std::vector<BufferPtr>>& buffers) {
    // From the first node to the last: a node that only the group needed dies when its reader lets go of it.
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        if (group.stored[k]) commit(*group.nodes[k], std::move(buffers[k]));
    }
}

void run_elementwise(const Group& group) {
    GroupParts parts;
    const StepIndex steps = add_steps(parts, group);
    auto buffers = reserve_results(group);
    add_result_outputs(parts, group, steps, buffers);
    if (element_count(group.root().shape) != 0) launch_elementwise(parts, group.root().shape);
    commit_all(group, buffers);
}

// ---- writes into storages ----

void copy_bytes(char* to, const char* from, int64_t bytes) {
    constexpr int64_t kPiece = int64_t{1} << 20;
    const int64_t pieces = (bytes + kPiece - 1) / kPiece;
    parallel_for(pieces, [&](int64_t piece) {
        const int64_t begin = piece * kPiece;
        std::memcpy(to + begin, from + begin, static_cast<size_t>(std::min(kPiece, bytes - begin)));
    });
}

void run_update(Group& group, bool fuse) {
    Node& root = group.root();
    const BufferPtr& old = root.inputs[0].source.buffer;
    long own_references = 0;
    bool reads_elsewhere = false;
    for (const Node* node : group.nodes) {
        for (const Operand& operand : node->inputs) {
            if (operand.source.buffer != old) continue;
            ++own_references;
            if (&operand == &root.inputs[0]) continue;
            reads_elsewhere |= operand.offset != root.target.offset ||
                               operand.strides != root.target.strides ||
                               operand.dtype.itemsize() != root.target.dtype.itemsize();
        }
    }
    const bool in_place = fuse && old.use_count() == own_references;

    GroupParts parts;
    const StepIndex steps = add_steps(parts, group);
    auto buffers = reserve_results(group);
    BufferPtr version = in_place ? old : reserve(root.results[0].bytes);
    BufferPtr temporary;
    const Operand& value = root.inputs[1];
    const bool through_temporary = in_place && reads_elsewhere;
    BufferUse target{version->data() + root.target.offset, version.get(), root.target.dtype,
                     root.target.strides};
    if (through_temporary) {
        const int64_t itemsize = root.target.dtype.itemsize();
        const Dims* const order[1] = {&root.target.strides};
        temporary = reserve(element_count(root.shape) * itemsize);
        parts.outputs.push_back({temporary->data(), temporary.get(), root.target.dtype,
                                 k_order_strides(root.shape, order, itemsize)});
    } else {
        parts.outputs.push_back(target);
    }
    const size_t scalars_before = parts.scalars.size();
    parts.form.outputs.push_back({value_of(parts, steps, value), {}});
    if (parts.scalars.size() != scalars_before) parts.form.scalars.push_back(value.dtype.scalar_type());
    add_result_outputs(parts, group, steps, buffers);

    if (!in_place) copy_bytes(version->data(), old->data(), root.results[0].bytes);
    const BufferUse first_output = parts.outputs[0];
    launch_elementwise(parts, root.shape);
    if (through_temporary) {
        GroupParts copy;
        copy.inputs.push_back(first_output);
        copy.outputs.push_back(target);
        copy.form.outputs.push_back({{ValueForm::Kind::kInput, 0, 0}, {}});
        launch_elementwise(copy, root.shape);
    }
    buffers.back().push_back(std::move(version));
    commit_all(group, buffers);
}

// ---- reductions ----

Dims concatenated(const Dims& first, const Dims& second) {
    Dims all = first;
    for (const int64_t value : second) all.push_back(value);
    return all;
}

constexpr int64_t kEnoughRows = 256;
constexpr int64_t kBlocksPerChunk = 64;

// Strides of an input over [kept, reduced dimensions].
Dims reduction_strides(const Dims& strides, const Node& root, const ReductionSpace& space) {
    Dims result;
    for (size_t d = 0; d < root.shape.size(); ++d) {
        if (!root.reduced_axes[d]) result.push_back(strides[d]);
    }
    for (const std::vector<size_t>& axes : space.reduced_axes)
        result.push_back(axes.empty() ? 0 : strides[axes.back()]);
    return result;
}

struct Launchable {
    GroupParts parts;
    Dims extents;
};

// Kept dimensions first, merged where possible; `tail` trailing dimensions stay as they are.
void collapse_kept(Dims& extents, std::vector<BufferUse*>& uses, BufferUse& output, size_t tail) {
    const size_t kept = extents.size() - tail;
    Dims kept_extents(std::span(extents.begin(), kept)),
        tail_extents(std::span(extents.begin() + kept, tail));
    std::vector<Dims> tails;
    for (BufferUse* use : uses) {
        tails.emplace_back(std::span(use->strides.begin() + kept, use->strides.size() - kept));
        use->strides = Dims(std::span(use->strides.begin(), kept));
    }
    std::vector<BufferUse*> all = uses;
    const bool separate = std::find(uses.begin(), uses.end(), &output) == uses.end();
    if (separate) all.push_back(&output);
    const BufferUse leader = output;
    collapse(kept_extents, all, leader);
    extents = concatenated(kept_extents, tail_extents);
    for (size_t k = 0; k < uses.size(); ++k) uses[k]->strides = concatenated(uses[k]->strides, tails[k]);
}

void finish_forms(GroupParts& parts) {
    for (const BufferUse& input : parts.inputs) parts.form.inputs.push_back(buffer_form(input, true, 0));
    for (size_t k = 0; k < parts.outputs.size(); ++k) {
        parts.form.outputs[k].buffer = buffer_form(parts.outputs[k], false, static_cast<uint16_t>(k + 1));
    }
}

void run_reduction(const Group& group) {
    Node& root = group.root();
    const ReductionInfo& reduction = *root.reduction;
    const NodeResult& result = root.results[0];
    const ReductionSpace space = reduction_space(reduction, root.compute_dtype.scalar_type(), root.shape,
                                                 root.reduced_axes, root.inputs[0].strides, result.strides);
    const ScalarType compute = root.compute_dtype.scalar_type();
    const int64_t inner = space.reduced_shape.back();
    const int64_t blocks = (inner + space.block - 1) / space.block;
    const size_t outer = space.reduced_shape.size() - 1;
    // One kernel walks whole rows when there are rows enough for every core; the tree is the same.
    const bool rows_suffice = space.lanes > 1 && element_count(space.kept_shape) >= kEnoughRows;
    const bool two_phases = outer > 0 || (blocks > 1 && !rows_suffice);

    auto buffers = reserve_results(group);
    GroupParts parts;
    const StepIndex steps = add_steps(parts, group);
    parts.form.element = value_of(parts, steps, root.inputs[0]);
    if (parts.scalars.size() != parts.form.scalars.size())
        parts.form.scalars.push_back(root.inputs[0].dtype.scalar_type());
    parts.form.shape = KernelShape::kReduce;
    parts.form.reduction = &reduction;
    parts.form.compute = compute;
    parts.form.result = result.dtype.scalar_type();
    parts.form.lanes = static_cast<int>(space.lanes);
    // A whole power of two of blocks is a subtree of the pairwise tree, so that chunks change nothing.
    const int64_t chunk = space.lanes > 1 ? space.block * kBlocksPerChunk : space.block;
    const int64_t chunks = (inner + chunk - 1) / chunk;
    parts.form.block = blocks > 1 && space.lanes > 1 ? space.block : 0;
    parts.operations += 1;
    for (BufferUse& use : parts.inputs) use.strides = reduction_strides(use.strides, root, space);

    BufferUse output{buffers.back()[0]->data(), buffers.back()[0].get(), result.dtype, result.strides};
    std::vector<BufferUse*> uses;
    for (BufferUse& use : parts.inputs) uses.push_back(&use);
    Dims extents = concatenated(space.kept_shape, space.reduced_shape);
    collapse_kept(extents, uses, output, space.reduced_shape.size());
    const size_t kept = extents.size() - space.reduced_shape.size();

    if (!two_phases) {
        parts.form.grid_rank = static_cast<int>(kept);
        parts.outputs.push_back(output);
        parts.form.outputs.emplace_back();
        finish_forms(parts);
        launch(parts, extents);
        commit_all(group, buffers);
        return;
    }

    // First kernel: partial results of each block of each inner row; second: the fixed tree above them.
    const size_t results = reduction.gives_index ? 2 : 1;
    Dims partial_shape(std::span(extents.begin(), extents.size() - 1));
    partial_shape.push_back(chunks);
    std::vector<BufferPtr> partials;
    std::vector<BufferUse> partial_uses;
    for (size_t k = 0; k < results; ++k) {
        const DType dtype = k == 0 ? DType(compute) : DType(ScalarType::kInt64);
        partials.push_back(reserve(element_count(partial_shape) * dtype.itemsize()));
        partial_uses.push_back(
            {partials[k]->data(), partials[k].get(), dtype, c_strides(partial_shape, dtype.itemsize())});
    }
    parts.form.grid_rank = static_cast<int>(partial_shape.size());
    parts.form.outer_rank = static_cast<int>(outer);
    parts.form.blocked = true;
    parts.form.chunk = chunk;
    parts.form.partial = true;
    parts.outputs = partial_uses;
    parts.form.outputs.resize(results);
    // Inputs have one stride for the inner dimension; blocks are offsets along it.
    finish_forms(parts);
    Dims first_extents = partial_shape;
    first_extents.push_back(inner);
    launch(parts, first_extents, extents);

    GroupParts second;
    second.form.shape = KernelShape::kCombine;
    second.form.reduction = &reduction;
    second.form.compute = compute;
    second.form.result = result.dtype.scalar_type();
    second.form.grid_rank = static_cast<int>(kept);
    second.form.outer_rank = static_cast<int>(outer) + 1;
    second.inputs = partial_uses;
    second.outputs.push_back(output);
    second.form.outputs.emplace_back();
    finish_forms(second);
    launch(second, partial_shape);
    commit_all(group, buffers);
}

void run_arange(const Group& group) {
    Node& root = group.root();
    auto buffers = reserve_results(group);
    GroupParts parts;
    parts.form.shape = KernelShape::kArange;
    for (const Operand& input : root.inputs) {
        parts.scalars.emplace_back(input.dtype, input.constant);
        parts.form.scalars.push_back(input.dtype.scalar_type());
    }
    parts.outputs.push_back(
        {buffers[0][0]->data(), buffers[0][0].get(), root.results[0].dtype, root.results[0].strides});
    parts.form.outputs.emplace_back();
    parts.form.outputs[0].buffer = buffer_form(parts.outputs[0], false, 1);
    if (root.shape[0] != 0) launch(parts, root.shape);
    commit_all(group, buffers);
}

// ---- small groups: ahead-of-time loops, node by node ----

StridedData data_of(const Operand& operand,
                    const std::unordered_map<const Node*, std::vector<BufferPtr>>& computed) {
    if (operand.is_constant()) {
        return {const_cast<char*>(reinterpret_cast<const char*>(operand.constant.data())), &operand.strides,
                operand.dtype.scalar_type()};
    }
    const Buffer* buffer = operand.source.buffer
                               ? operand.source.buffer.get()
                               : computed.at(operand.source.node.get())[operand.source.result].get();
    return {buffer->data() + operand.offset, &operand.strides, operand.dtype.scalar_type()};
}

void arange_at_once(const Node& node, char* out) {
    const ScalarType type = node.results[0].dtype.scalar_type();
    const ScalarType wide = type == ScalarType::kFloat16 ? ScalarType::kFloat32
                            : type == ScalarType::kBool  ? ScalarType::kInt64
                                                         : type;
    const int64_t count = node.shape[0], itemsize = DType::of(wide).itemsize();
    std::vector<int64_t> positions(static_cast<size_t>(count));
    for (int64_t k = 0; k < count; ++k) positions[static_cast<size_t>(k)] = k;
    std::vector<char> values(static_cast<size_t>(count * itemsize));
    const Dims wide_strides{itemsize}, index_strides{8}, none{0};
    const auto constant = [&](size_t k) {
        return StridedData{const_cast<char*>(reinterpret_cast<const char*>(node.inputs[k].constant.data())),
                           &none, type};
    };
    const StridedData result{values.data(), &wide_strides, wide};
    copy_at_once(node.shape, {reinterpret_cast<char*>(positions.data()), &index_strides, ScalarType::kInt64},
                 result);
    const ScalarType types[2] = {wide, wide};
    const OpInfo& multiply = op_info(OpId::kMultiply);
    const OpInfo& add = op_info(OpId::kAdd);
    const StridedData product[3] = {result, constant(1), result}, sum[3] = {constant(0), result, result};
    run_at_once(multiply, *find_loop(multiply, types), node.shape, product);
    run_at_once(add, *find_loop(add, types), node.shape, sum);
    copy_at_once(node.shape, result, {out, &node.results[0].strides, type});
}

// Reductions of more dimensions than a grid has are left to the loops too: right, on one thread.
bool is_small_group(const Group& group) {
    const Node& root = group.root();
    if (root.kind == NodeKind::kReduce && root.shape.size() + 1 > kMaxGridDimensions) return true;
    return is_small(element_count(root.shape));
}

void run_small(Group& group, bool fuse) {
    std::unordered_map<const Node*, std::vector<BufferPtr>> computed;
    std::vector<std::vector<BufferPtr>> buffers(group.nodes.size());
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        Node& node = *group.nodes[k];
        std::vector<BufferPtr>& results = buffers[k];
        const int64_t count = element_count(node.shape);
        if (node.kind == NodeKind::kUpdate) {
            const BufferPtr& old = node.inputs[0].source.buffer;
            long own_references = 0;
            for (const Node* each : group.nodes) {
                for (const Operand& operand : each->inputs) own_references += operand.source.buffer == old;
            }
            const bool in_place = fuse && old.use_count() == own_references;
            BufferPtr version = in_place ? old : reserve(node.results[0].bytes);
            StridedData value = data_of(node.inputs[1], computed);
            // A value that reads the old version elsewhere is taken aside before the write.
            const Dims dense = c_strides(node.shape, node.inputs[1].dtype.itemsize());
            BufferPtr aside;
            if (in_place && node.inputs[1].source.buffer == old) {
                aside = reserve(count * node.inputs[1].dtype.itemsize());
                const StridedData copy{aside->data(), &dense, value.type};
                copy_at_once(node.shape, value, copy);
                value = copy;
            }
            if (!in_place) copy_bytes(version->data(), old->data(), node.results[0].bytes);
            copy_at_once(node.shape, value,
                         {version->data() + node.target.offset, &node.target.strides,
                          node.target.dtype.scalar_type()});
            results.push_back(std::move(version));
            continue;
        }
        for (const NodeResult& result : node.results) results.push_back(reserve(result.bytes));
        if (node.kind == NodeKind::kArange) {
            arange_at_once(node, results[0]->data());
        } else if (node.kind == NodeKind::kReduce) {
            reduce_at_once(
                *node.reduction, node.compute_dtype.scalar_type(), node.shape, node.reduced_axes,
                data_of(node.inputs[0], computed),
                {results[0]->data(), &node.results[0].strides, node.results[0].dtype.scalar_type()});
        } else if (count != 0) {
            std::vector<StridedData> operands;
            for (const Operand& operand : node.inputs) operands.push_back(data_of(operand, computed));
            for (size_t r = 0; r < node.results.size(); ++r) {
                operands.push_back(
                    {results[r]->data(), &node.results[r].strides, node.results[r].dtype.scalar_type()});
            }
            if (node.op == nullptr) {
                copy_at_once(node.shape, operands[0], operands[1]);
            } else {
                run_at_once(*node.op, node.op->loops[static_cast<size_t>(node.loop)], node.shape, operands);
            }
        }
        computed.emplace(&node, results);
    }
    computed.clear();
    commit_all(group, buffers);
}

}  // namespace

void run_group(Group& group, bool fuse) {
    for (Node* node : group.nodes) {
        for (Operand& operand : node->inputs) operand.source.settle();
    }
    if (is_small_group(group)) {
        run_small(group, fuse);
        return;
    }
    switch (group.root().kind) {
        case NodeKind::kElementwise: run_elementwise(group); break;
        case NodeKind::kUpdate: run_update(group, fuse); break;
        case NodeKind::kReduce: run_reduction(group); break;
        case NodeKind::kArange: run_arange(group); break;
    }
}

}  // namespace weft
