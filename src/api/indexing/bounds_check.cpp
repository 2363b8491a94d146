#include "api/indexing/bounds_check.h"

#include <algorithm>
#include <optional>

#include "api/recording/deferred_checks.h"
#include "core/shape.h"
#include "graph/indexed_view.h"
#include "graph/operand.h"
#include "library/indexing/gather_loops.h"
#include "library/loops/strided_loops.h"
#include "weft/ops.h"

namespace weft {

// The strides of an index over the result's shape.
Dims strides_in_result(const GatherAxis& axis, const Dims& shape) {
    Dims strides(shape.size());
    const Dims& own_shape = axis.index.shape();
    const size_t first = axis.dimension + axis.ndim - own_shape.size();
    for (size_t d = 0; d < own_shape.size(); ++d)
        strides[first + d] = own_shape[d] == 1 ? 0 : axis.index.strides()[d];
    return strides;
}

// Indices that broadcast to nothing are not checked.
bool reads_nothing(const GatherAxis& axis, const Dims& shape) {
    for (size_t d = axis.dimension; d < axis.dimension + axis.ndim; ++d) {
        if (shape[d] == 0) return true;
    }
    return false;
}

BoundsCheck::BoundsCheck(std::span<const GatherAxis> axes, const Dims& shape, DeviceBackend& device)
    : axes_(axes.begin(), axes.end()), shape_(shape), device_(device) {
    for (GatherAxis& axis : axes_) {
        indices_.push_back(capture(axis.index));
        if (axis.is_proven) indices_.back().range = {0, axis.extent - 1};
    }
}

void BoundsCheck::move_to(Node& node) {
    for (size_t k = 0; k < indices_.size(); ++k) {
        const GatherAxis& axis = axes_[k];
        Operand& operand = indices_[k].operand;
        operand.source.resolve();
        operand.strides = strides_in_result(axis, shape_);
        node.inputs.push_back(std::move(operand));
        node.add_gathered({axis.extent, axis.stride, indices_[k].range.low < 0});
    }
    indices_.clear();
    node.poison = join(node.poison, poison_);
}

BoundsCheck::Checked BoundsCheck::capture(array& index) {
    Checked checked;
    bool exported = false;
    checked.operand = read_with_range(index, index.shape(), checked.range, exported);
    if (exported) {  // others may change it at any time
        index = copy(index);
        eval({&index, 1});
        checked.operand = read_with_range(index, index.shape(), checked.range, exported);
    }
    return checked;
}

bool BoundsCheck::is_proven(size_t k) const {
    const GatherAxis& axis = axes_[k];
    return axis.is_proven || reads_nothing(axis, shape_) ||
           indices_[k].range.within(-axis.extent, axis.extent - 1);
}

// The index in the version that will be read, whatever is written to it meanwhile.
array BoundsCheck::version_of(size_t k) const {
    const array& index = axes_[k].index;
    const Operand& operand = indices_[k].operand;
    auto storage = std::make_shared<Storage>(operand.source, index.storage()->bytes);
    return {std::move(storage), index.dtype(), index.shape(), operand.strides, operand.offset, false};
}

// Without a look: what is out of bounds reads some element, and whoever observes the result is told.
void BoundsCheck::leave_for_later(size_t k) {
    GatherAxis& axis = axes_[k];
    const array view = version_of(k);
    poison_ =
        join(poison_, defer({.least = reduce("min", view),
                             .largest = reduce("max", view),
                             .low = -axis.extent,
                             .high = axis.extent - 1,
                             .message = "index {} is out of bounds for axis " + std::to_string(axis.axis) +
                                        " with size " + std::to_string(axis.extent)}));
    const array wide = astype(view, ScalarType::kInt64, 'K', Casting::kUnsafe, false);
    const array at_most = call_binary(op_info(OpId::kMinimum), wide, Integer(axis.extent - 1));
    axis.index = call_binary(op_info(OpId::kMaximum), at_most, Integer(-axis.extent));
    indices_[k].operand = read_operand(axis.index, axis.index.shape());
    indices_[k].range = {-axis.extent, axis.extent - 1};
}

// Computes the smallest and the largest of the indices about which too little is known, together.
void BoundsCheck::check() {
    if (defers_checks(device_)) {
        for (size_t k = 0; k < indices_.size(); ++k) {
            if (!is_proven(k) && axes_[k].extent > 0) leave_for_later(k);
        }
    }
    std::vector<array> looked;
    for (size_t k = 0; k < indices_.size(); ++k) {
        if (is_proven(k)) continue;
        Checked& each = indices_[k];
        each.view = version_of(k);
        each.low = reduce("min", each.view);
        each.high = reduce("max", each.view);
        looked.insert(looked.end(), {each.view, each.low, each.high});
    }
    if (looked.empty()) return;
    eval(looked);
    for (size_t k = 0; k < indices_.size(); ++k) {
        Checked& each = indices_[k];
        if (!each.view.valid()) continue;
        each.range = {integer_at(each.low), integer_at(each.high)};
        each.operand.source.resolve();
        const GatherAxis& axis = axes_[k];
        if (!is_proven(k)) throw_wrong(each, axis);
        remember_range(axis.index, each.operand.source, each.range);
    }
}

void BoundsCheck::throw_wrong(const Checked& index, const GatherAxis& axis) {
    std::optional<int64_t> position;
    if (index.operand.source.is_host_resident()) {
        const StridedData data{index.operand.source.buffer->data() + index.operand.offset,
                               &index.operand.strides, index.operand.dtype.scalar_type()};
        position = first_out_of_bounds(axis.index.shape(), data, axis.extent);
    } else {
        std::vector<char> copied(static_cast<size_t>(index.view.nbytes()));
        copy_out(index.view, copied.data());
        const Dims strides = c_strides(index.view.shape(), index.view.itemsize());
        position = first_out_of_bounds(
            axis.index.shape(), {copied.data(), &strides, index.operand.dtype.scalar_type()}, axis.extent);
    }
    throw_out_of_bounds(position.value_or(index.range.high), axis.axis, axis.extent);
}

}  // namespace weft
