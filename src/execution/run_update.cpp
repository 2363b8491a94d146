#include <algorithm>
#include <optional>
#include <utility>

#include "core/config.h"
#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "core/threads/interrupt.h"
#include "execution/kernels/launch_replay.h"
#include "execution/run_boxes.h"
#include "execution/run_elementwise.h"
#include "library/indexing/complement_slabs.h"
#include "library/indexing/copy_complement.h"

namespace weft {

namespace {

// The value of a write: computed by the group, or something that is there already.
void add_value_output(KernelParts& parts, StepBuilder& steps, const Node& root, BufferUse target) {
    parts.outputs.push_back(std::move(target));
    parts.form.outputs.push_back({steps.operand_of(root, 1, identity_map(root.shape)), {}});
}

// Whether an input of the kernel is the old version at another place than the element that is written.
bool reads_elsewhere(const KernelParts& parts, const Buffer* old, const BufferUse& target,
                     const Dims& shape) {
    for (const BufferUse& input : parts.inputs) {
        if (input.position || input.buffer != old) continue;
        if (!input.computed.empty() || input.base != target.base ||
            input.dtype.itemsize() != target.dtype.itemsize())
            return true;
        for (size_t d = 0; d < shape.size(); ++d) {
            if (shape[d] != 1 && input.strides[d] != target.strides[d]) return true;
        }
    }
    return false;
}

enum class Way : uint8_t {
    kShared,  // others see the old version: a fresh buffer
    kFresh,   // nobody does, but the value reads elsewhere in it
    kInPlace,
    kAside,  // the value is computed aside, then copied in
};
constexpr size_t kWays = 4;

// The kernels of the group's boxes, as if they wrote into the old version.
std::vector<KernelParts> describe(const Group& group, const GroupBuffers& buffers) {
    const Node& root = group.root();
    return describe_boxes(group, [&](StepBuilder& steps, KernelParts& parts) {
        add_value_output(parts, steps, root,
                         use_of(*root.inputs[0].source.buffer, root.update().target.offset,
                                root.update().target.dtype, root.update().target.strides));
        add_result_outputs(parts, steps, group, buffers);
    });
}

Way choose(const Group& group, const std::vector<KernelParts>& boxes) {
    const Node& root = group.root();
    if (std::none_of(boxes.begin(), boxes.end(), [&](const KernelParts& parts) {
            return reads_elsewhere(parts, parts.outputs[0].buffer, parts.outputs[0], root.shape);
        }))
        return Way::kInPlace;
    const int64_t view_bytes = element_count(root.shape) * root.update().target.dtype.itemsize();
    return root.update().in_place || view_bytes * 2 < root.results[0].bytes ? Way::kAside : Way::kFresh;
}

// Which of the group's runs this one is: with the complement of the view copied by kernels or not.
size_t number_of(Way way, bool border_known) { return static_cast<size_t>(way) + (border_known ? kWays : 0); }

// How the last run of a plan that is kept did it, with the old version as much its own.
std::optional<Way> known_way(const Group& group) {
    for (const Way way : {Way::kInPlace, Way::kAside, Way::kFresh}) {
        if (way == Way::kFresh && group.root().update().in_place) continue;
        for (const bool border_known : {false, true}) {
            if (GroupRun::is_known(group, number_of(way, border_known))) return way;
        }
    }
    return std::nullopt;
}

// Whether the kernel reads what it writes and takes several launches (launch_collapsed).
bool changes_in_parts(const std::vector<KernelParts>& boxes, const Dims& shape) {
    if (shape.size() <= static_cast<size_t>(kMaxGridDimensions)) return false;
    KernelParts parts = boxes[0];
    const Buffer* written = parts.outputs[0].buffer;
    const bool reads = std::any_of(parts.inputs.begin(), parts.inputs.end(), [&](const BufferUse& input) {
        return !input.position && input.buffer == written;
    });
    if (!reads) return false;
    Dims extents = shape;
    collapse_uses(parts, extents);
    return extents.size() > static_cast<size_t>(kMaxGridDimensions);
}

void launch_update(const Group& group, const GroupBuffers& buffers, std::vector<KernelParts> boxes, Way way,
                   GroupRun& run) {
    const Node& root = group.root();
    const Access& target = root.update().target;
    const Buffer& result = *buffers.back()[0];
    const BufferUse place = use_of(result, target.offset, target.dtype, target.strides);
    for (KernelParts& parts : boxes) parts.outputs[0] = place;
    if (way != Way::kFresh && way != Way::kShared && changes_in_parts(boxes, root.shape)) {
        // Where one of the launches fails, nothing has changed.
        const BufferPtr whole = run.temporary(static_cast<int64_t>(result.size()));
        group.device->copy(*whole, 0, result, 0, result.size());
        boxes[0].outputs[0] = use_of(*whole, target.offset, target.dtype, target.strides);
        launch_elementwise(boxes[0], root.shape, run);
        group.device->copy(result, 0, *whole, 0, result.size());
        run.cannot_repeat();
        return;
    }
    if (way != Way::kAside) {
        launch_boxes(std::move(boxes), group, run);
        return;
    }
    const int64_t itemsize = target.dtype.itemsize();
    const Dims* const order[1] = {&target.strides};
    const BufferUse aside = use_of(*run.temporary(element_count(root.shape) * itemsize), 0, target.dtype,
                                   k_order_strides(root.shape, order, itemsize));
    for (KernelParts& parts : boxes) parts.outputs[0] = aside;
    launch_boxes(std::move(boxes), group, run);
    KernelParts copy;
    copy.inputs.push_back(aside);
    copy.outputs.push_back(place);
    copy.form.outputs.push_back({{ValueForm::Kind::kInput, 0, 0}, {}});
    launch_elementwise(copy, root.shape, run);
}

void copy_slabs(const Buffer& from, const Buffer& to, DType dtype, const std::vector<Slab>& slabs,
                GroupRun& run) {
    for (const Slab& slab : slabs) {
        KernelParts copy;
        copy.inputs.push_back(use_of(from, slab.offset, dtype, slab.strides));
        copy.outputs.push_back(use_of(to, slab.offset, dtype, slab.strides));
        copy.form.outputs.push_back({{ValueForm::Kind::kInput, 0, 0}, {}});
        launch_elementwise(copy, slab.shape, run);
    }
}

// What lies outside of the view in the old version and the new one: the same from here on, with the old
// one's mark if that is of this view. A loop over two buffers that take turns copies it once.
KnownBorderMark mark_of(const Node& root, const Buffer& old) {
    const Access& target = root.update().target;
    KnownBorder mark{root.results[0].bytes, target.offset, target.dtype.itemsize(), root.shape,
                     target.strides};
    if (old.known_border() != nullptr && *old.known_border() == mark) return old.known_border();
    return std::make_shared<const KnownBorder>(std::move(mark));
}

}  // namespace

// In place when nobody else sees the old version and it is read only where it is written. Else a fresh
// buffer takes the value inside of the view and the old bytes outside: one read and one write of the storage.
// A small view whose value reads elsewhere is computed aside, then copied in.
void run_update(Group& group, bool fuse) {
    Node& root = group.root();
    const BufferPtr& old = root.inputs[0].source.buffer;
    const bool owned = root.update().in_place || (fuse && owns_last_references(group, old));
    GroupBuffers& buffers = reserve_results(group);
    std::optional<std::vector<KernelParts>> parts;
    std::optional<Way> way = owned ? known_way(group) : Way::kShared;
    if (!way) {
        parts = describe(group, buffers);
        way = choose(group, *parts);
    }
    std::optional<std::vector<Slab>> slabs;
    KnownBorderMark mark;
    bool border_known = false;
    if (*way == Way::kInPlace || *way == Way::kAside) {
        if (old->known_border() != nullptr) old->set_known_border(nullptr);
        buffers.back().push_back(old);
    } else {
        const int64_t bytes = root.results[0].bytes;
        const Access& target = root.update().target;
        if (fuse && is_on(OptimisationSwitch::kKnownBorder)) mark = mark_of(root, *old);
        BufferPtr fresh = group.device->allocate_marked(static_cast<size_t>(bytes), mark.get());
        border_known = fresh->known_border() != nullptr;
        if (border_known) {
            // It holds what lies outside already.
        } else if (old->on_host()) {
            copy_complement(fresh->data(), old->data(), bytes, root.shape, target.strides, target.offset,
                            target.dtype.itemsize());
        } else {
            slabs =
                complement_slabs(bytes, root.shape, target.strides, target.offset, target.dtype.itemsize());
            if (!slabs) group.device->copy(*fresh, 0, *old, 0, static_cast<size_t>(bytes));
        }
        buffers.back().push_back(std::move(fresh));
    }
    const WholeWork whole(*way == Way::kInPlace || *way == Way::kAside);  // reads what it overwrites
    GroupRun run(group, buffers, number_of(*way, border_known));
    if (!run.replay()) {
        if (!parts) parts = describe(group, buffers);
        launch_update(group, buffers, std::move(*parts), *way, run);
        if (slabs) copy_slabs(*old, *buffers.back()[0], root.update().target.dtype, *slabs, run);
    }
    run.finish();
    if (mark != nullptr) {
        old->set_known_border(mark);
        buffers.back()[0]->set_known_border(std::move(mark));
    }
    commit_all(group);
}

}  // namespace weft
