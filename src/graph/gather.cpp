#include "graph/gather.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "core/shape.h"
#include "graph/deferred.h"
#include "graph/evaluate.h"
#include "graph/gather_loops.h"
#include "graph/index_range.h"
#include "graph/indexed_view.h"
#include "graph/placement.h"
#include "graph/record.h"
#include "graph/storage_locks.h"
#include "weft/ops.h"

namespace weft {

namespace {

// The strides of an index over the result's shape.
Dims strides_in_result(const GatherAxis& axis, const Dims& shape) {
    Dims strides(shape.size());
    const Dims& own_shape = axis.index.shape();
    const size_t first = axis.dimension + axis.ndim - own_shape.size();
    for (size_t d = 0; d < own_shape.size(); ++d)
        strides[first + d] = own_shape[d] == 1 ? 0 : axis.index.strides()[d];
    return strides;
}

// Indices that broadcast to nothing are not looked at.
bool reads_nothing(const GatherAxis& axis, const Dims& shape) {
    for (size_t d = axis.dimension; d < axis.dimension + axis.ndim; ++d) {
        if (shape[d] == 0) return true;
    }
    return false;
}

// Few elements whose values are at hand: checked and copied now.
bool try_at_once(const GatherRequest& request, array& result) {
    int64_t indexed = 1;  // places that indices name: a piece of the data may be empty, they are looked at
    for (const GatherAxis& axis : request.axes) indexed = std::max(indexed, axis.index.size());
    const int64_t count = element_count(request.shape);
    if (!is_small(count) || !is_small(indexed) || request.axes.size() >= StorageLocks::kMost) return false;
    StorageLocks locks;
    locks.add(*request.data.storage());
    for (const GatherAxis& axis : request.axes) locks.add(*axis.index.storage());
    locks.lock();
    if (!locks.all_at_hand()) return false;
    const DType dtype = request.data.dtype();
    std::vector<Dims> strides;
    strides.reserve(request.axes.size());
    std::vector<IndexData> indices;
    for (const GatherAxis& axis : request.axes) {
        strides.push_back(strides_in_result(axis, request.shape));
        const array& index = axis.index;
        indices.push_back({{index.storage()->current.buffer->data() + index.offset(), &strides.back(),
                            index.dtype().scalar_type()},
                           axis.extent,
                           axis.stride});
    }
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count * dtype.itemsize()));
    const StridedData data{request.data.storage()->current.buffer->data() + request.offset,
                           &request.data_strides, dtype.scalar_type()};
    const std::optional<OutOfBounds> wrong =
        gather_at_once(request.shape, data, indices, {buffer->data(), &request.strides, dtype.scalar_type()});
    locks.unlock();
    if (wrong) {
        const GatherAxis& axis = request.axes[wrong->which];
        throw_out_of_bounds(wrong->position, axis.axis, axis.extent);
    }
    result = array_of(std::move(buffer), dtype, request.shape, request.strides);
    return true;
}

int64_t integer_at(const array& value) {
    alignas(16) ScalarBytes bytes{};
    read_element(value, {}, bytes.data());
    int64_t integer = 0;
    char* const pair[2] = {reinterpret_cast<char*>(bytes.data()), reinterpret_cast<char*>(&integer)};
    const int64_t steps[2] = {0, 0};
    cast_loop(value.dtype().scalar_type(), ScalarType::kInt64).loop(pair, steps, 1);
    return integer;
}

// One index of a request, in the version that will be read.
struct Checked {
    Operand operand;  // over the index's own shape
    array view;       // of a storage of its own, whose version nobody changes
    IndexRange range;
    array low, high;  // while it is looked at
};

class Recorder {
public:
    explicit Recorder(const GatherRequest& request) : request_(request), axes_(request.axes) {}

    array run() {
        for (GatherAxis& axis : axes_) indices_.push_back(capture(axis.index));
        look();
        auto node = new_node();
        node->kind = NodeKind::kGather;
        node->device = &device_of(request_.data);
        node->shape = request_.shape;
        Operand data;
        data.source = current_version(*request_.data.storage());
        data.dtype = request_.data.dtype();
        data.strides = request_.data_strides;
        data.offset = request_.offset;
        node->inputs.push_back(std::move(data));
        for (size_t k = 0; k < indices_.size(); ++k) {
            const GatherAxis& axis = axes_[k];
            Operand& operand = indices_[k].operand;
            operand.source.settle();
            operand.strides = strides_in_result(axis, request_.shape);
            node->inputs.push_back(std::move(operand));
            node->gathered.push_back({axis.extent, axis.stride, indices_[k].range.low < 0});
        }
        indices_.clear();  // only the node holds the indices now: their producers may join its kernel
        NodeResult info;
        info.dtype = request_.data.dtype();
        info.strides = request_.strides;
        info.bytes = element_count(request_.shape) * info.dtype.itemsize();
        node->results.push_back(std::move(info));
        node->poison = poison_;
        array result = array_of(node, 0, request_.shape);
        const bool at_once = is_shown(request_.data);
        recorded(node);
        if (at_once) evaluate({&node, 1});
        return result;
    }

private:
    static Checked capture(array& index) {
        Checked checked;
        bool shown = false;
        checked.operand = read_with_range(index, index.shape(), checked.range, shown);
        if (shown) {  // others may change it at any time
            index = copy(index);
            eval({&index, 1});
            checked.operand = read_with_range(index, index.shape(), checked.range, shown);
        }
        return checked;
    }

    bool is_proven(size_t k) const {
        const GatherAxis& axis = axes_[k];
        return reads_nothing(axis, request_.shape) || indices_[k].range.within(-axis.extent, axis.extent - 1);
    }

    // The index in the version that will be read, whatever is written to it meanwhile.
    array version_of(size_t k) const {
        const array& index = axes_[k].index;
        const Operand& operand = indices_[k].operand;
        auto storage = std::make_shared<Storage>(operand.source, index.storage()->bytes);
        return {std::move(storage), index.dtype(), index.shape(), operand.strides, operand.offset, false};
    }

    // Without a look: what is out of bounds reads some element, and whoever observes the result is told.
    void leave_for_later(size_t k) {
        GatherAxis& axis = axes_[k];
        const array view = version_of(k);
        poison_ = join(poison_,
                       defer({.least = reduce("min", view),
                              .largest = reduce("max", view),
                              .low = -axis.extent,
                              .high = axis.extent - 1,
                              .message = "index {} is out of bounds for axis " + std::to_string(axis.axis) +
                                         " with size " + std::to_string(axis.extent)}));
        const array wide = astype(view, ScalarType::kInt64, 'K', Casting::kUnsafe, false);
        const array at_most = call_binary(*find_op("minimum"), wide, Integer(axis.extent - 1));
        axis.index = call_binary(*find_op("maximum"), at_most, Integer(-axis.extent));
        indices_[k].operand = read_operand(axis.index, axis.index.shape());
        indices_[k].range = {-axis.extent, axis.extent - 1};
    }

    // Computes the smallest and the largest of the indices about which too little is known, together.
    void look() {
        if (defers_checks(device_of(request_.data))) {
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
            each.operand.source.settle();
            const GatherAxis& axis = axes_[k];
            if (!is_proven(k)) throw_wrong(each, axis);
            remember_range(axis.index, each.operand.source, each.range);
        }
    }

    [[noreturn]] static void throw_wrong(const Checked& index, const GatherAxis& axis) {
        std::optional<int64_t> position;
        if (index.operand.source.at_hand()) {
            const StridedData data{index.operand.source.buffer->data() + index.operand.offset,
                                   &index.operand.strides, index.operand.dtype.scalar_type()};
            position = first_out_of_bounds(axis.index.shape(), data, axis.extent);
        } else {
            std::vector<char> copied(static_cast<size_t>(index.view.nbytes()));
            copy_out(index.view, copied.data());
            const Dims strides = c_strides(index.view.shape(), index.view.itemsize());
            position = first_out_of_bounds(axis.index.shape(),
                                           {copied.data(), &strides, index.operand.dtype.scalar_type()},
                                           axis.extent);
        }
        throw_out_of_bounds(position.value_or(index.range.high), axis.axis, axis.extent);
    }

    const GatherRequest& request_;
    std::vector<GatherAxis> axes_;
    std::vector<Checked> indices_;
    PoisonPtr poison_;
};

}  // namespace

array gather(const GatherRequest& given) {
    GatherRequest request = given;
    for (GatherAxis& axis : request.axes) {
        if (axis.index.ndim() == 0) axis.index = move_to(axis.index, device_of(request.data));
        check_same_device(request.data, axis.index);
    }
    const bool nothing = std::all_of(request.axes.begin(), request.axes.end(), [&](const GatherAxis& axis) {
        return reads_nothing(axis, request.shape);
    });
    if (nothing)
        return array_of(device_of(request.data).allocate(0), request.data.dtype(), request.shape,
                        request.strides);
    array result;
    if (try_at_once(request, result)) return result;
    return Recorder(request).run();
}

}  // namespace weft
