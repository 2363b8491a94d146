#include <optional>
#include <utility>

#include "core/shape.h"
#include "core/threads/interrupt.h"
#include "execution/kernels/launch_replay.h"
#include "execution/run_elementwise.h"
#include "library/indexing/copy_complement.h"

namespace weft {

namespace {

// The kernel, which writes into `into`.
KernelParts describe(const Group& group, const GroupBuffers& buffers, const Buffer& into) {
    const Node& root = group.root();
    const IndexMap whole = identity_map(root.shape);
    KernelParts parts;
    StepBuilder steps(parts, group);
    BufferUse place =
        use_of(into, root.update().target.offset, root.update().target.dtype, root.update().target.strides);
    for (const GatheredAxis& axis : root.gathered()) place.computed.push_back(axis.stride);
    parts.outputs.push_back(std::move(place));
    OutputForm form;
    form.value = steps.operand_of(root, 1, whole);
    steps.add_positions(root, 2, whole, form.positions, form.wraps);
    const size_t condition = 2 + root.gathered().size();
    if (condition < root.inputs.size()) form.condition = steps.operand_of(root, condition, whole);
    parts.form.outputs.push_back(std::move(form));
    add_result_outputs(parts, steps, group, buffers);
    return parts;
}

// Equal values may be written to one element in any order.
bool keeps_order(const Node& root) {
    return root.update().repeats_positions && !root.inputs[1].is_constant();
}

bool reads(const KernelParts& parts, const Buffer* buffer) {
    for (const BufferUse& input : parts.inputs) {
        if (!input.position && input.buffer == buffer) return true;
    }
    return false;
}

enum Way : size_t { kInPlace, kFresh };

// Where points run side by side, the last one that writes an element is found first: a table has a slot for
// each element that may be written, which takes the largest number of a point that leads there.
void launch_last_of_each(const Group& group, KernelParts& parts, GroupRun& run) {
    const Node& root = group.root();
    const IndexMap whole = identity_map(root.shape);
    const DType number(ScalarType::kInt64);
    int64_t slots = 1;
    Dims computed(root.gathered().size()), strides(root.shape.size());
    for (size_t k = root.gathered().size(); k-- > 0;) {
        computed[k] = slots * number.itemsize();
        slots *= root.gathered()[k].extent;
    }
    for (size_t d = root.shape.size(); d-- > 0;) {
        if (root.update().target.strides[d] == 0) continue;
        strides[d] = slots * number.itemsize();
        slots *= root.shape[d];
    }
    const BufferPtr table = run.temporary(slots * number.itemsize());
    KernelParts clear;
    clear.outputs.push_back(use_of(*table, 0, number, Dims{number.itemsize()}));
    clear.form.constants.push_back(ir::Constant::of(ScalarType::kInt64, int64_t{-1}));
    clear.form.outputs.push_back({{ValueForm::Kind::kConstant, 0, 0}, {}});
    launch_elementwise(clear, Dims{slots}, run);

    BufferUse slot = use_of(*table, 0, number, strides);
    slot.computed = computed;
    const BufferUse count{0, nullptr, number, c_strides(root.shape, 1), true};
    KernelParts last;
    {
        StepBuilder steps(last, group);
        OutputForm form;
        steps.add_positions(root, 2, whole, form.positions, form.wraps);
        form.value = {ValueForm::Kind::kInput, static_cast<uint16_t>(last.inputs.size()), 0};
        form.largest = true;
        last.inputs.push_back(count);
        last.outputs.push_back(slot);
        last.form.outputs.push_back(std::move(form));
    }
    launch_elementwise(last, root.shape, run);

    OutputForm& form = parts.form.outputs[0];
    const auto read = static_cast<uint16_t>(parts.inputs.size());
    parts.inputs.push_back(slot);
    parts.inputs.push_back(count);
    StepForm look;
    look.kind = StepForm::Kind::kGather;
    look.to = ScalarType::kInt64;
    look.data = read;
    look.operands = form.positions;
    look.wraps = form.wraps;
    const auto step = static_cast<uint16_t>(parts.form.steps.size());
    parts.form.steps.push_back(std::move(look));
    StepForm same;
    same.op = &op_info(OpId::kEqual);
    const ScalarType types[2] = {ScalarType::kInt64, ScalarType::kInt64};
    same.loop = static_cast<int>(find_loop(*same.op, types) - same.op->loops.data());
    same.operands = {{ValueForm::Kind::kStep, step, 0},
                     {ValueForm::Kind::kInput, static_cast<uint16_t>(read + 1), 0}};
    parts.form.steps.push_back(std::move(same));
    form.condition = {ValueForm::Kind::kStep, static_cast<uint16_t>(step + 1), 0};
    launch_elementwise(parts, root.shape, run);
}

}  // namespace

// In place when nobody else sees the old version and the kernel reads nothing of it; else a copy of it is
// written.
void run_scatter(Group& group, bool fuse) {
    Node& root = group.root();
    const BufferPtr& old = root.inputs[0].source.buffer;
    const bool owned = root.update().in_place || (fuse && owns_last_references(group, old));
    GroupBuffers& buffers = reserve_results(group);
    std::optional<KernelParts> parts;
    bool in_place = owned;
    if (owned && !GroupRun::is_known(group, kInPlace)) {
        parts = describe(group, buffers, *old);
        in_place = !reads(*parts, old.get());
        WEFT_CHECK(in_place || !root.update().in_place, "memory that is exported was to move");
    }
    if (in_place) {
        if (old->known_border() != nullptr) old->set_known_border(nullptr);
        buffers.back().push_back(old);
    } else {
        const int64_t bytes = root.results[0].bytes;
        BufferPtr fresh = group.device->allocate(static_cast<size_t>(bytes));
        if (old->on_host()) {
            copy_complement(fresh->data(), old->data(), bytes, {}, {}, 0, 0);
        } else {
            group.device->copy(*fresh, 0, *old, 0, static_cast<size_t>(bytes));
        }
        buffers.back().push_back(std::move(fresh));
    }
    const WholeWork whole(in_place);  // who lets a statement fail may take the old version for whole
    GroupRun run(group, buffers, in_place ? kInPlace : kFresh);
    if (!run.replay()) {
        if (!in_place) parts = describe(group, buffers, *buffers.back()[0]);
        if (!keeps_order(root)) {
            launch_elementwise(*parts, root.shape, run);
        } else if (group.device->is_cpu()) {
            parts->in_order = true;
            launch_elementwise(*parts, root.shape, run);
        } else {
            launch_last_of_each(group, *parts, run);
        }
    }
    run.finish();
    commit_all(group);
}

}  // namespace weft
