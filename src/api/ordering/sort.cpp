#include <algorithm>
#include <functional>
#include <utility>

#include "api/ordering/fast_order.h"
#include "api/ordering/sort_on_gpu.h"
#include "api/recording/transfer.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "execution/fallback.h"
#include "graph/index_range.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/ordering/search_loops.h"
#include "library/ordering/select_loops.h"
#include "library/ordering/sort_loops.h"
#include "weft/ops.h"
#include "weft/ordering.h"

namespace weft {

namespace {

// The rows along one axis.
class Rows {
public:
    Rows(const array& input, size_t axis, const char* from, const Dims& to_strides, char* to)
        : from_(from), to_(to), from_stride_(input.strides()[axis]), to_stride_(to_strides[axis]) {
        for (size_t d = 0; d < input.shape().size(); ++d) {
            if (d == axis) continue;
            shape_.push_back(input.shape()[d]);
            from_strides_.push_back(input.strides()[d]);
            to_strides_.push_back(to_strides[d]);
        }
    }

    int64_t count() const { return element_count(shape_); }

    SortedRow at(int64_t row) const {
        SortedRow result{from_, from_stride_, to_, to_stride_};
        for (size_t d = shape_.size(); d-- > 0; row /= shape_[d]) {
            result.from += row % shape_[d] * from_strides_[d];
            result.to += row % shape_[d] * to_strides_[d];
        }
        return result;
    }

private:
    const char* from_;
    char* to_;
    int64_t from_stride_, to_stride_;
    Dims shape_, from_strides_, to_strides_;
};

using Work = std::function<void(ScalarType type, int64_t rows, int64_t length,
                                const std::function<SortedRow(int64_t row)>& row_at)>;

using OnGpu = array (*)(const array& input, size_t axis, const Dims& strides);

array order_along(const array& given, int64_t axis, DType dtype, const Dims& to_strides, const Work& work,
                  OnGpu on_gpu) {
    const auto along = static_cast<size_t>(normalize_axis(axis, given.ndim()));
    DeviceBackend& device = device_of(given);
    if (!device.is_cpu()) {
        if (given.size() == 0) return array_of(device.allocate(0), dtype, given.shape(), to_strides);
        if (given.shape()[along] <= kMostOrdered) return on_gpu(given, along, to_strides);
        record_fallback(device, "sorting rows of more than 2^30 elements", given.nbytes());
        return move_to(order_along(move_to(given, cpu_device()), axis, dtype, to_strides, work, on_gpu),
                       device);
    }
    const array input = is_exported(given) ? copy(given) : given;  // others may change it meanwhile
    const BufferPtr from = evaluate_storage(*input.storage());
    BufferPtr to = cpu_device().allocate(static_cast<size_t>(checked_bytes(input.shape(), dtype)));
    if (input.size() != 0) {
        const Rows rows(input, along, from->data() + input.offset(), to_strides, to->data());
        work(input.dtype().scalar_type(), rows.count(), input.shape()[along],
             [&](int64_t row) { return rows.at(row); });
    }
    return array_of(std::move(to), dtype, input.shape(), to_strides);
}

// Spares bounds checks of positions where they are used as such.
array known_to_lie_below(array positions, int64_t end) {
    if (positions.size() != 0)
        remember_range(positions, current_version(*positions.storage()), {0, std::max<int64_t>(end - 1, 0)});
    return positions;
}

// Axes that repeat lie innermost in a copy, as NumPy's.
array without_repeats(const array& input) {
    const Dims& strides = input.strides();
    return std::find(strides.begin(), strides.end(), 0) == strides.end() ? input : copy(input, 'K');
}

}  // namespace

array sort(const array& given, int64_t axis) {
    if (array result; try_sort(given, axis, result)) return result;
    const array input = without_repeats(given);
    const Dims* const strides[1] = {&input.strides()};
    const int64_t itemsize = input.itemsize();
    return order_along(input, axis, input.dtype(), k_order_strides(input.shape(), strides, itemsize),
                       sort_rows, sort_on_gpu);
}

array argsort(const array& input, int64_t axis) {
    if (array result; try_argsort(input, axis, result)) return result;
    const DType positions(ScalarType::kInt64);
    array order = order_along(input, axis, positions, c_strides(input.shape(), positions.itemsize()),
                              argsort_rows, argsort_on_gpu);
    return known_to_lie_below(std::move(order),
                              input.shape()[static_cast<size_t>(normalize_axis(axis, input.ndim()))]);
}

namespace {

// As `work`, which takes the places too, all of them along an axis of the input.
template <class Rows>
Work at_places(Rows work, std::vector<int64_t> places, const array& input, int64_t axis) {
    const int64_t length = input.shape()[static_cast<size_t>(normalize_axis(axis, input.ndim()))];
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (!places.empty() && (places.front() < 0 || places.back() >= length))
        throw ValueError("kth(=" + std::to_string(places.front() < 0 ? places.front() : places.back()) +
                         ") out of bounds (" + std::to_string(length) + ")");
    return [work, places = std::move(places)](ScalarType type, int64_t rows, int64_t length,
                                              const std::function<SortedRow(int64_t row)>& row_at) {
        work(type, rows, length, places, row_at);
    };
}

}  // namespace

array partition(const array& given, std::vector<int64_t> places, int64_t axis) {
    const array input = without_repeats(given);
    const Dims* const strides[1] = {&input.strides()};
    return order_along(input, axis, input.dtype(), k_order_strides(input.shape(), strides, input.itemsize()),
                       at_places(partition_rows, std::move(places), input, axis), sort_on_gpu);
}

array argpartition(const array& input, std::vector<int64_t> places, int64_t axis) {
    const DType positions(ScalarType::kInt64);
    array order = order_along(input, axis, positions, c_strides(input.shape(), positions.itemsize()),
                              at_places(argpartition_rows, std::move(places), input, axis), argsort_on_gpu);
    return known_to_lie_below(std::move(order),
                              input.shape()[static_cast<size_t>(normalize_axis(axis, input.ndim()))]);
}

array searchsorted(const array& sorted, const array& values, bool right) {
    if (sorted.ndim() != 1) throw ValueError("object of too small depth for desired array");
    WEFT_CHECK(sorted.dtype() == values.dtype(), "searchsorted in another dtype");
    DeviceBackend& device = device_of(sorted);
    if (!device.is_cpu()) {
        check_same_device(sorted, values);
        return known_to_lie_below(searchsorted_on_gpu(sorted, values, right), sorted.size() + 1);
    }
    check_same_device(sorted, values);
    const array row = is_exported(sorted) ? copy(sorted) : sorted;
    const array wanted = copy(values, 'C');
    const array both[2] = {row, wanted};
    eval(both);
    const BufferPtr row_buffer = evaluate_storage(*row.storage()),
                    wanted_buffer = evaluate_storage(*wanted.storage());
    const int64_t itemsize = sizeof(int64_t);
    BufferPtr to = cpu_device().allocate(static_cast<size_t>(wanted.size() * itemsize));
    search_sorted(row.dtype().scalar_type(), row_buffer->data() + row.offset(), row.strides()[0], row.size(),
                  wanted_buffer->data() + wanted.offset(), wanted.size(), right,
                  reinterpret_cast<int64_t*>(to->data()));
    return known_to_lie_below(
        array_of(std::move(to), ScalarType::kInt64, wanted.shape(), c_strides(wanted.shape(), itemsize)),
        row.size() + 1);
}

}  // namespace weft
