#include "api/ordering/sort_on_gpu.h"

#include <algorithm>
#include <string>
#include <vector>

#include "api/recording/deferred_checks.h"
#include "api/recording/gpu_input.h"
#include "api/recording/with_strides.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "execution/kernels/gpu_programs.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/ordering/gpu_key_type.h"
#include "weft/ops.h"

namespace weft {

namespace {

using namespace gpu;

// Where things lie in a buffer that several share, one after another.
class Layout {
public:
    int64_t add(int64_t bytes) {
        const int64_t at = end_;
        end_ += (bytes + 255) / 256 * 256;
        return at;
    }
    size_t bytes() const { return static_cast<size_t>(end_); }

private:
    int64_t end_ = 0;
};

class RowOrder {
public:
    RowOrder(DeviceBackend& device, OrderedType type, int64_t rows, int64_t length, bool positions)
        : device_(device),
          type_(type),
          rows_(rows),
          length_(length),
          positions_(positions),
          name_((positions ? "argsort_" : "sort_")),
          bits_(std::to_string(8 * type.bytes)) {}

    BufferPtr run(uint64_t input) {
        const int64_t total = rows_ * length_, itemsize = positions_ ? int64_t{sizeof(int64_t)} : type_.bytes;
        BufferPtr output = device_.allocate(static_cast<size_t>(total * itemsize));
        words_ = {};
        words_.input = input;
        words_.output = output->address();
        words_.rows = static_cast<uint64_t>(rows_);
        words_.length = static_cast<uint64_t>(length_);
        words_.kind = type_.kind;
        words_.infinity = type_.infinity;
        const bool long_rows = length_ > int64_t{kRowThreads} * kRowItems[1];
        ProgramRecord record(device_, name_ + bits_, total * type_.bytes, total * itemsize, total);
        if (long_rows) {
            sort_long_rows(*output);
        } else {
            sort_rows();
        }
        record.finish();
        return output;
    }

private:
    void launch(const std::string& part, const char* entry, CudaLaunchShape shape) {
        launch_program(device_, name_ + part + bits_, "weft_" + name_ + bits_ + "_" + entry, words_, shape);
    }

    void sort_rows() {
        const auto bytes = static_cast<uint32_t>(type_.bytes);
        if (length_ <= 4 * kWarp) {
            constexpr int64_t kRows = kShortRowThreads / kWarp;
            launch("rows_", length_ <= kWarp ? "short_rows_1" : "short_rows_4",
                   {blocks_of(rows_, kRows), kShortRowThreads, 1, 0});
            return;
        }
        const bool few = length_ <= int64_t{kRowThreads} * kRowItems[0];
        launch(
            "rows_", few ? "rows_2" : "rows_16",
            {blocks_of(rows_), kRowThreads, 1, row_memory_bytes(bytes, positions_, kRowItems[few ? 0 : 1])});
    }

    void sort_long_rows(const Buffer& output) {
        const auto bytes = static_cast<uint32_t>(type_.bytes);
        const auto passes = static_cast<int64_t>(type_.bytes), total = rows_ * length_;
        const uint32_t threads = sort_threads(positions_);
        const int64_t tile = int64_t{threads} * sort_items(bytes, positions_),
                      tiles = (length_ + tile - 1) / tile;
        constexpr int64_t kCounters = int64_t{kDigits} * sizeof(uint32_t);
        Layout layout;
        const int64_t scratch = layout.add(sizeof(SortScratch)),
                      counts = layout.add(rows_ * passes * kCounters),
                      published = layout.add(passes * rows_ * tiles * kCounters);
        const size_t zeros = layout.bytes();
        const int64_t keys = layout.add(passes > 1 ? total * type_.bytes : 0),
                      more_positions = layout.add(positions_ ? total * 4 : 0),
                      last_positions = layout.add(positions_ && bytes == 8 ? total * 4 : 0);
        const BufferPtr memory = device_.allocate(layout.bytes());
        const auto at = [&](int64_t offset) { return memory->address() + static_cast<uint64_t>(offset); };
        clear_on_gpu(*memory, 0, zeros);
        words_.tiles = static_cast<uint64_t>(tiles);
        words_.scratch = at(scratch);
        words_.counts = at(counts);
        words_.published = at(published);
        // Positions are wider where they end than on the way: there is room for keys beside them.
        words_.keys[0] = output.address();
        words_.keys[1] = at(keys);
        words_.positions[0] =
            bytes == 8 ? at(last_positions) : output.address() + static_cast<uint64_t>(total) * 4;
        words_.positions[1] = at(more_positions);
        const int64_t piece = int64_t{kCountThreads} * kCountItems * 4,
                      pieces = std::clamp<int64_t>(8 * multiprocessors(device_) / rows_, 1,
                                                   (length_ + piece - 1) / piece);
        launch("", "count",
               {blocks_of(rows_ * pieces), kCountThreads, 1, static_cast<uint32_t>(passes * kCounters)});
        launch("", "begin", {blocks_of(rows_ * passes), kDigits, 1, kWarp * sizeof(uint32_t)});
        for (int64_t pass = 0; pass < passes; ++pass) {
            words_.pass = static_cast<uint64_t>(pass);
            launch("", "pass", {blocks_of(rows_ * tiles), threads, 1, pass_memory_bytes(bytes, positions_)});
        }
    }

    static constexpr int64_t kWarp = 32;
    DeviceBackend& device_;
    const OrderedType type_;
    const int64_t rows_, length_;
    const bool positions_;
    const std::string name_, bits_;
    SortArguments words_{};
};

// The axis last, in C order without gaps, in memory that nobody changes.
array dense_rows(const array& input, size_t axis, const Dims& order) {
    return dense_on_gpu(axis + 1 == input.shape().size() ? input : transpose(input, order));
}

// The axes with `axis` last, and where each of them came from.
struct AxisOrder {
    AxisOrder(size_t ndim, size_t axis) {
        for (size_t d = 0; d < ndim; ++d) {
            if (d != axis) there.push_back(static_cast<int64_t>(d));
        }
        there.push_back(static_cast<int64_t>(axis));
        back = Dims(ndim);
        for (size_t d = 0; d < ndim; ++d) back[static_cast<size_t>(there[d])] = static_cast<int64_t>(d);
    }
    Dims there, back;
};

// `rows` are such.
array order_dense_rows(const array& rows, DType dtype, bool positions) {
    DeviceBackend& device = device_of(rows);
    const int64_t length = rows.shape().back();
    const ProgramInput from(rows);
    RowOrder work(device, ordered_type(rows.dtype().scalar_type()), rows.size() / length, length, positions);
    BufferPtr sorted = work.run(from.address());
    sorted->set_poison(from.buffer()->poison());
    return array_of(std::move(sorted), dtype, rows.shape(), c_strides(rows.shape(), dtype.itemsize()));
}

// By halves of the keys: first the lower ones, then the higher ones, where equal ones keep their order.
array argsort_wide_rows(const array& rows) {
    DeviceBackend& device = device_of(rows);
    const DType half(ScalarType::kUInt64), position(ScalarType::kInt64);
    const Dims strides = c_strides(rows.shape(), half.itemsize());
    const int64_t bytes = rows.size() * half.itemsize();
    const ProgramInput from(rows);
    BufferPtr high_keys = device.allocate(static_cast<size_t>(bytes)),
              low_keys = device.allocate(static_cast<size_t>(bytes));
    const ComplexKeyArguments words{from.address(), high_keys->address(), low_keys->address(),
                                    static_cast<uint64_t>(rows.size())};
    ProgramRecord record(device, "complex_keys", 2 * bytes, 2 * bytes, rows.size());
    launch_program(device, "complex_keys", "weft_complex_keys", words,
                   {blocks_of(rows.size(), kEachThreads), kEachThreads, 1, 0});
    record.finish();
    high_keys->set_poison(from.buffer()->poison());
    low_keys->set_poison(from.buffer()->poison());
    const array high = array_of(std::move(high_keys), half, rows.shape(), strides),
                low = array_of(std::move(low_keys), half, rows.shape(), strides);
    const array by_low = order_dense_rows(low, position, true);
    const array ordered = copy(take_along_axis(high, by_low, -1), 'C');
    return copy(take_along_axis(by_low, order_dense_rows(ordered, position, true), -1), 'C');
}

array order_rows(const array& given, size_t axis, DType dtype, const Dims& strides, bool positions) {
    const AxisOrder order(given.shape().size(), axis);
    const array rows = dense_rows(given, axis, order.there);
    const bool wide = given.dtype().scalar_type() == ScalarType::kComplex128;
    const array result = wide ? argsort_wide_rows(rows) : order_dense_rows(rows, dtype, positions);
    return with_strides(transpose(result, order.back), strides);
}

}  // namespace

array sort_on_gpu(const array& input, size_t axis, const Dims& strides) {
    if (input.dtype().is_complex()) {
        const array order = argsort_on_gpu(input, axis, c_strides(input.shape(), sizeof(int64_t)));
        return with_strides(take_along_axis(input, order, static_cast<int64_t>(axis)), strides);
    }
    return order_rows(input, axis, input.dtype(), strides, false);
}

array argsort_on_gpu(const array& input, size_t axis, const Dims& strides) {
    return order_rows(input, axis, ScalarType::kInt64, strides, true);
}

array searchsorted_on_gpu(const array& sorted, const array& values, bool right) {
    DeviceBackend& device = device_of(sorted);
    const DType positions(ScalarType::kInt64);
    const Dims strides = c_strides(values.shape(), positions.itemsize());
    BufferPtr places = device.allocate(static_cast<size_t>(values.size() * positions.itemsize()));
    if (values.size() != 0) {
        const array row = dense_on_gpu(sorted), wanted = dense_on_gpu(values), both[2] = {row, wanted};
        eval(both);
        const ProgramInput row_input(row), value_input(wanted);
        const OrderedType type = ordered_type(sorted.dtype().scalar_type());
        const SearchArguments words{row_input.address(),
                                    static_cast<uint64_t>(row.size()),
                                    value_input.address(),
                                    static_cast<uint64_t>(wanted.size()),
                                    right,
                                    type.kind,
                                    type.infinity,
                                    places->address()};
        ProgramRecord record(device, "searchsorted", row.nbytes() + wanted.nbytes(),
                             wanted.size() * positions.itemsize(), wanted.size());
        launch_program(device, "search", "weft_search_" + std::to_string(8 * type.bytes), words,
                       {blocks_of(wanted.size(), kEachThreads), kEachThreads, 1, 0});
        record.finish();
        places->set_poison(join(row_input.buffer()->poison(), value_input.buffer()->poison()));
    }
    return array_of(std::move(places), positions, values.shape(), strides);
}

}  // namespace weft
