#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "core/threads/thread_pool.h"
#include "device/cuda/kernel_image.h"
#include "execution/kernels/launch_replay.h"
#include "execution/run_elementwise.h"
#include "library/loops/reduction_order.h"
#include "lowering/collapsed_rows.h"
#include "lowering/short_rows.h"

namespace weft {

namespace {

Dims concatenated(const Dims& first, const Dims& second) {
    Dims all = first;
    for (const int64_t value : second) all.push_back(value);
    return all;
}

Dims leading(const Dims& dims, size_t count) { return Dims(std::span(dims.begin(), count)); }

// Of a point: more are work for several blocks.
constexpr int64_t kMostPartials = 1 << 12;
constexpr int64_t kMostPartialsOfColumn = 1 << 6;
constexpr size_t kMostBuffers = 48;  // of both kernels: a launch has room for 512 words

class ReductionRun {
public:
    explicit ReductionRun(const Group& group) : group_(group) {
        for (const Node* node : group.nodes) {
            if (node->kind() == NodeKind::kReduce) reductions_.push_back(node);
        }
        walk_ = space_of(*reductions_[0]);
        inner_ = walk_.reduced_shape.back();
        outer_ = walk_.reduced_shape.size() - 1;
    }

    void describe_and_launch(const GroupBuffers& buffers, GroupRun& run) {
        if (walks_whole_rows(walk_) && !group_.collapsed) {
            run_rows(buffers, run);
        } else {
            run_chunks(buffers, run);
        }
    }

private:
    // The reductions' elements, as steps of `parts`; each in the phase after those that it depends on.
    void add_reductions(KernelParts& parts, StepBuilder& steps) {
        std::unordered_map<const Node*, int> phase;
        for (const Node* node : group_.nodes) {
            int own = 0;
            for (const Operand& input : node->inputs) {
                const auto found = phase.find(input.source.node.get());
                if (found == phase.end()) continue;
                const bool reduces = found->first->kind() == NodeKind::kReduce;
                own = std::max(own, found->second + (reduces ? 1 : 0));
            }
            phase[node] = own;
            if (node->kind() != NodeKind::kReduce) continue;
            ReductionForm form = form_of(*node);
            form.phase = own;
            form.element = steps.operand_of(*node, 0, identity_map(node->shape));
            steps.add_reduction(*node, parts.form.reductions.size());
            parts.form.reductions.push_back(form);
        }
        parts.operations += static_cast<int>(reductions_.size());
        parts.form.lanes = static_cast<int>(walk_.lanes);
        parts.form.shift_elements = walk_.shift_elements;
        parts.form.block = inner_ > walk_.block && walk_.lanes > 1 ? walk_.block : 0;
    }

    static ReductionForm form_of(const Node& node) {
        ReductionForm form;
        form.info = node.reduction();
        form.compute = node.compute_dtype().scalar_type();
        form.result = node.results[0].dtype.scalar_type();
        return form;
    }

    // From strides over the group's space to the kept dimensions, and behind them those of the walk.
    Dims over_walk(const Dims& strides, bool along_rows) const {
        Dims result;
        for (size_t d = 0; d < group_.shape.size(); ++d) {
            if (!group_.reduced[d]) result.push_back(strides[d]);
        }
        if (!along_rows) return result;
        const AxisGroups& groups = walk_.reduced_axes;
        for (size_t g = 0; g < groups.size(); ++g)
            result.push_back(groups.size_of(g) == 0 ? 0 : strides[groups.last_axis(g)]);
        if (collapse_ == 0) return result;
        result.back() = strides[groups.axis(groups.size() - 1, collapse_ - 1)];
        result.push_back(strides[groups.last_axis(groups.size() - 1)]);
        return result;
    }

    // How the rows are collapsed for what the kernel reads, whose strides are over the group's space.
    void find_collapse(const KernelParts& parts) {
        std::optional<size_t> collapse = 0;
        for (const BufferUse& use : parts.inputs)
            collapse = joined_collapses(collapse, collapse_of(use.strides, walk_, group_.shape));
        WEFT_CHECK(collapse.has_value(), "a reduction and what computes its elements walk differently");
        collapse_ = *collapse;
    }

    bool moves_along_rows(const Dims& strides) const {
        for (size_t d = 0; d < group_.shape.size(); ++d) {
            if (group_.reduced[d] && group_.shape[d] != 1 && strides[d] != 0) return true;
        }
        return false;
    }

    void run_rows(const GroupBuffers& buffers, GroupRun& run) {
        KernelParts parts;
        parts.form.shape = KernelShape::kReduce;
        StepBuilder steps(parts, group_);
        add_reductions(parts, steps);
        add_result_outputs(parts, steps, group_, buffers);
        std::vector<BufferUse*> uses;
        for (BufferUse& use : parts.inputs) use.strides = over_walk(use.strides, true);
        for (BufferUse& use : parts.outputs)
            use.strides = over_walk(use.strides, moves_along_rows(use.strides));
        for (BufferUse& use : parts.inputs) uses.push_back(&use);
        for (BufferUse& use : parts.outputs) uses.push_back(&use);
        Dims extents = concatenated(walk_.kept_shape, walk_.reduced_shape);
        const BufferUse layout_operand = parts.outputs[0];
        collapse(extents, uses, layout_operand, 1);
        parts.form.grid_rank = static_cast<int>(extents.size()) - 1;
        if (is_short_row(parts)) parts.form.row = inner_;
        finish_forms(parts, true);
        run.launch(parts, extents);
    }

    bool is_short_row(const KernelParts& parts) const {
        auto work =
            static_cast<int64_t>(parts.inputs.size() + parts.outputs.size() + parts.form.reductions.size());
        for (const StepForm& step : parts.form.steps) {
            work += step.kind == StepForm::Kind::kGather      ? kGatherCost
                    : step.kind == StepForm::Kind::kOperation ? step.op->cost
                                                              : 1;
        }
        return group_.device->is_cpu() && is_on(OptimisationSwitch::kShortRows) && inner_ > 0 &&
               inner_ <= kLongestShortRow && inner_ * work <= kMostShortRowWork;
    }

    // First kernel: partial results of each chunk of each row; second: the fixed tree above them, and what
    // follows it.
    void run_chunks(const GroupBuffers& buffers, GroupRun& run) {
        KernelParts first;
        first.form.shape = KernelShape::kReduce;
        StepBuilder first_steps(first, group_);
        add_reductions(first, first_steps);
        find_collapse(first);
        const bool deviations = std::any_of(reductions_.begin(), reductions_.end(),
                                            [](const Node* node) { return node->reduction()->deviations; });
        const int64_t chunk = collapse_ == 0 || !group_.device->is_cpu()
                                  ? walk_.chunk
                                  : collapsed_chunk(walk_, first.form.reductions.size(), deviations);
        const int64_t chunks = (inner_ + chunk - 1) / chunk;

        KernelParts second;
        second.form.shape = KernelShape::kCombine;
        second.form.reductions = first.form.reductions;
        for (ReductionForm& reduction : second.form.reductions) reduction.element = {};
        std::vector<DType> components;
        for (const ReductionForm& reduction : first.form.reductions) {
            for (const ScalarType type : reduction.components()) components.emplace_back(type);
        }
        for (size_t k = 0; k < components.size(); ++k)
            second.inputs.push_back({-1 - static_cast<int64_t>(k), nullptr, components[k], {}, false});
        StepBuilder second_steps(second, group_);
        for (size_t k = 0; k < reductions_.size(); ++k) second_steps.add_reduction(*reductions_[k], k);
        add_result_outputs(second, second_steps, group_, buffers);

        for (BufferUse& use : first.inputs) use.strides = over_walk(use.strides, true);
        std::vector<BufferUse*> uses;
        for (BufferUse& use : first.inputs) uses.push_back(&use);
        for (size_t k = components.size(); k < second.inputs.size(); ++k) {
            second.inputs[k].strides = over_walk(second.inputs[k].strides, false);
            uses.push_back(&second.inputs[k]);
        }
        for (BufferUse& use : second.outputs) {
            use.strides = over_walk(use.strides, false);
            uses.push_back(&use);
        }
        Dims extents = concatenated(walk_.kept_shape, walk_.reduced_shape);
        const BufferUse layout_operand = second.outputs[0];
        collapse(extents, uses, layout_operand, walk_.reduced_shape.size());
        const size_t kept = extents.size() - walk_.reduced_shape.size();

        Dims partial_shape = leading(extents, extents.size() - 1);
        partial_shape.push_back(chunks);
        std::vector<BufferPtr> partials;
        for (size_t k = 0; k < components.size(); ++k) {
            const int64_t itemsize = components[k].itemsize();
            partials.push_back(run.temporary(element_count(partial_shape) * itemsize));
            first.outputs.push_back(
                use_of(*partials[k], 0, components[k], c_strides(partial_shape, itemsize)));
            second.inputs[k] = first.outputs[k];
        }
        first.form.grid_rank = static_cast<int>(partial_shape.size());
        first.form.outer_rank = static_cast<int>(outer_);
        first.form.chunked = true;
        first.form.chunk = chunk;
        first.form.collapsed = collapse_ != 0;
        first.form.outputs.resize(components.size());
        finish_forms(first, true);
        Dims first_extents = partial_shape;
        first_extents.push_back(inner_);
        if (collapse_ != 0) {
            const int64_t columns = inner_extent(collapse_, walk_, group_.shape);
            first_extents.push_back(columns);
            extents.back() = inner_ / columns;
            extents.push_back(columns);
        }
        second.form.grid_rank = static_cast<int>(kept);
        second.form.outer_rank = static_cast<int>(outer_) + 1;
        finish_forms(second, false);
        if (combines_in_one_launch(leading(partial_shape, kept), element_count(partial_shape),
                                   uses.size() + 2 * components.size())) {
            first.form.then = std::make_shared<const KernelForm>(second.form);
            run.launch(first, first_extents, extents, second, partial_shape);
            return;
        }
        if (collapse_ == 0 && decides_early(kept, extents)) {
            launch_until_decided(first, chunks, extents, *partials[0], run);
        } else {
            run.launch(first, first_extents, extents);
        }
        run.launch(second, partial_shape);
    }

    // On a GPU the last block that has partial results of a point, or of some columns, combines them, if
    // these are not too many for one block.
    bool combines_in_one_launch(const Dims& kept, int64_t partials, size_t buffers) const {
        if (group_.device->is_cpu() || !is_on(OptimisationSwitch::kOneLaunch)) return false;
        const int64_t points = element_count(kept);
        const bool columns = walk_.lanes == 1;
        const bool apart = std::any_of(reductions_.begin(), reductions_.end(), [&](const Node* node) {
            // In order, or of so many registers that the rows are read slower than a launch is worth.
            return !has_neutral_element(*node->reduction(), node->compute_dtype().scalar_type()) ||
                   (node->reduction()->deviations && !columns);
        });
        return points <= kMostTickets && buffers <= kMostBuffers && !apart && (!columns || collapse_ == 0) &&
               partials <= points * (columns ? kMostPartialsOfColumn : kMostPartials);
    }

    // any or all of one long row: most arrays decide in their first elements, and the rest need not be read.
    bool decides_early(size_t kept, const Dims& extents) const {
        const ReductionId id = reductions_[0]->reduction()->id;
        return group_.device->is_cpu() && reductions_.size() == 1 &&
               (id == ReductionId::kAny || id == ReductionId::kAll) && outer_ == 0 && kept == 1 &&
               extents[0] == 1 && walk_.lanes > 1;
    }

    // Launches a few chunks, then several times as many, until a partial result decides. The partial results
    // of chunks that are not read decide nothing.
    void launch_until_decided(KernelParts& parts, int64_t chunks, const Dims& extents, const Buffer& partials,
                              GroupRun& run) const {
        run.cannot_repeat();
        const bool neutral = reductions_[0]->reduction()->id == ReductionId::kAll;
        std::memset(partials.data(), neutral ? 1 : 0, static_cast<size_t>(chunks));
        int64_t begin = 0;
        for (int64_t wave = 2 * num_threads(); begin < chunks; wave *= 4) {
            const int64_t count = std::min(wave, chunks - begin), first = begin * walk_.chunk;
            const int64_t length = std::min(count * walk_.chunk, inner_ - first);
            launch_once(parts, Dims{1, count, length}, Dims{extents[0], length});
            const char* done = partials.data() + begin;
            if (std::any_of(done, done + count, [&](char partial) { return (partial != 0) != neutral; }))
                return;
            for (BufferUse& use : parts.inputs) {
                if (use.strides.size() == 2) use.base += count * walk_.chunk * use.strides.back();
            }
            parts.outputs[0].base += count;
            begin += count;
        }
    }

    const Group& group_;
    std::vector<const Node*> reductions_;
    ReductionSpace walk_;
    int64_t inner_ = 0;
    size_t outer_ = 0;
    size_t collapse_ = 0;  // lowering/collapsed_rows.h
};

}  // namespace

void run_reduction(Group& group) {
    const GroupBuffers& buffers = reserve_results(group);
    GroupRun run(group, buffers);
    if (!run.replay()) ReductionRun(group).describe_and_launch(buffers, run);
    run.finish();
    commit_all(group);
}

}  // namespace weft
