#include "core/config.h"
#include "core/shape.h"
#include "graph/copy_outside.h"
#include "graph/launch.h"
#include "graph/run_elementwise.h"

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

}  // namespace

// In place when nobody else sees the old version and it is read only where it is written. Else a fresh
// buffer takes the value inside of the view and the old bytes outside: one read and one write of the storage.
// A small view whose value reads elsewhere is computed aside, then copied in.
void run_update(Group& group, bool fuse) {
    Node& root = group.root();
    const BufferPtr& old = root.inputs[0].source.buffer;
    const bool owned = fuse && owns_last_references(group, old);
    const int64_t bytes = root.results[0].bytes, itemsize = root.target.dtype.itemsize();
    const int64_t view_bytes = element_count(root.shape) * itemsize;

    KernelParts parts;
    StepBuilder steps(parts, group);
    GroupBuffers buffers = reserve_results(group);
    const BufferUse own_place = use_of(*old, root.target.offset, root.target.dtype, root.target.strides);
    add_value_output(parts, steps, root, own_place);
    add_result_outputs(parts, steps, group, buffers);
    const bool elsewhere = reads_elsewhere(parts, old.get(), own_place, root.shape);

    if (group.memo) group.memo->start(owned ? 1 : 0);
    if (owned && elsewhere && view_bytes * 2 < bytes) {
        const Dims* const order[1] = {&root.target.strides};
        const BufferPtr temporary = reserve(view_bytes);
        const BufferUse aside =
            use_of(*temporary, 0, root.target.dtype, k_order_strides(root.shape, order, itemsize));
        parts.outputs[0] = aside;
        launch_elementwise(parts, root.shape, group.memo.get());
        KernelParts copy;
        copy.inputs.push_back(aside);
        copy.outputs.push_back(own_place);
        copy.form.outputs.push_back({{ValueForm::Kind::kInput, 0, 0}, {}});
        launch_elementwise(copy, root.shape, group.memo.get());
        buffers.back().push_back(old);
    } else if (owned && !elsewhere) {
        launch_elementwise(parts, root.shape, group.memo.get());
        buffers.back().push_back(old);
    } else {
        BufferPtr fresh = reserve(bytes);
        copy_outside(fresh->data(), old->data(), bytes, root.shape, root.target.strides, root.target.offset,
                     itemsize);
        parts.outputs[0] = use_of(*fresh, root.target.offset, root.target.dtype, root.target.strides);
        launch_elementwise(parts, root.shape, group.memo.get());
        buffers.back().push_back(std::move(fresh));
    }
    commit_all(group, buffers);
}

}  // namespace weft
