#include "api/ordering/fast_order.h"

#include <array>
#include <cstring>
#include <mutex>

#include "api/fast/fast_call.h"
#include "core/shape.h"
#include "graph/operand.h"
#include "graph/storage_locks.h"
#include "library/ordering/search_loops.h"
#include "library/ordering/sort_loops.h"

namespace weft {

namespace {

constexpr int64_t kMostInRow = 1024;

// Rows that follow one another in memory.
struct Rows {
    int64_t count = 1, length = 0, stride = 0;

    bool find(const array& value, int64_t axis) {
        const int64_t rank = value.ndim();
        if (axis != -1 && axis != rank - 1) return false;
        if (rank == 0 || value.size() == 0 || !is_small(value.size())) return false;
        if (value.dtype().is_complex() || !single_stride(value, stride) || stride == 0) return false;
        length = value.shape().back();
        count = value.size() / length;
        return length <= kMostInRow;
    }
    SortedRow at(int64_t row, const char* from, char* to, int64_t to_stride) const {
        return {from + row * length * stride, stride, to + row * length * to_stride, to_stride};
    }
};

const char* elements_of(const array& value) {
    return value.storage()->current.buffer->data() + value.offset();
}

// With the storage locked and host-resident.
void sort_into(const array& value, const Rows& rows, char* to) {
    const ScalarType type = value.dtype().scalar_type();
    for (int64_t row = 0; row < rows.count; ++row)
        sort_short_row(type, rows.length, rows.at(row, elements_of(value), to, value.itemsize()));
}

}  // namespace

bool try_sort(const array& value, int64_t axis, array& result) {
    Rows rows;
    if (!rows.find(value, axis)) return false;
    const int64_t itemsize = value.itemsize();
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(value.size() * itemsize));
    {
        Storage& storage = *value.storage();
        const std::lock_guard lock(storage.mutex);
        storage.current.resolve();
        if (!storage.current.is_host_resident()) return false;
        sort_into(value, rows, buffer->data());
    }
    result = array(make_storage(std::move(buffer)), value.dtype(), value.shape(),
                   value.ndim() == 1 ? Dims{itemsize} : value.strides(), 0, true);
    return true;
}

bool try_sort_in_place(const array& target, int64_t axis) {
    Rows rows;
    if (!target.writeable() || !rows.find(target, axis)) return false;
    const int64_t itemsize = target.itemsize();
    const BufferPtr sorted = cpu_device().allocate(static_cast<size_t>(target.size() * itemsize));
    Storage& storage = *target.storage();
    const std::lock_guard lock(storage.mutex);
    storage.current.resolve();
    if (!storage.current.is_host_resident() || !may_write(storage)) return false;
    sort_into(target, rows, sorted->data());
    const ScalarType type = target.dtype().scalar_type();
    char* const data[2] = {sorted->data(), storage.current.buffer->data() + target.offset()};
    const int64_t strides[2] = {itemsize, rows.stride};
    cast_loop(type, type).loop(data, strides, target.size());
    return true;
}

bool try_argsort(const array& value, int64_t axis, array& result) {
    Rows rows;
    if (!rows.find(value, axis)) return false;
    constexpr int64_t kItemsize = sizeof(int64_t);
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(value.size() * kItemsize));
    {
        Storage& storage = *value.storage();
        const std::lock_guard lock(storage.mutex);
        storage.current.resolve();
        if (!storage.current.is_host_resident()) return false;
        const ScalarType type = value.dtype().scalar_type();
        for (int64_t row = 0; row < rows.count; ++row)
            argsort_short_row(type, rows.length, rows.at(row, elements_of(value), buffer->data(), kItemsize));
    }
    result = array(make_storage(std::move(buffer)), ScalarType::kInt64, value.shape(),
                   c_strides(value.shape(), kItemsize), 0, true);
    return true;
}

namespace {

bool is_short_row(const array& sorted) { return sorted.ndim() == 1 && is_small(sorted.shape()[0]); }

}  // namespace

bool try_search(const array& sorted, const array& values, bool right, array& result) {
    int64_t stride = 0;
    constexpr int64_t kItemsize = sizeof(int64_t);
    if (!is_short_row(sorted) || values.ndim() == 0 || values.size() == 0 || !is_small(values.size()) ||
        !(sorted.dtype() == values.dtype()) || !single_stride(values, stride) || stride != values.itemsize())
        return false;
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(values.size() * kItemsize));
    StorageLocks locks;
    locks.add(*sorted.storage());
    locks.add(*values.storage());
    locks.lock();
    if (!locks.all_host_resident()) return false;
    search_sorted(sorted.dtype().scalar_type(), elements_of(sorted), sorted.strides()[0], sorted.shape()[0],
                  elements_of(values), values.size(), right, reinterpret_cast<int64_t*>(buffer->data()));
    locks.unlock();
    result = array(make_storage(std::move(buffer)), ScalarType::kInt64, values.shape(),
                   c_strides(values.shape(), kItemsize), 0, true);
    return true;
}

bool try_search(const array& sorted, const void* value, bool right, int64_t& position) {
    if (!is_short_row(sorted)) return false;
    Storage& storage = *sorted.storage();
    const std::lock_guard lock(storage.mutex);
    storage.current.resolve();
    if (!storage.current.is_host_resident()) return false;
    search_sorted(sorted.dtype().scalar_type(), elements_of(sorted), sorted.strides()[0], sorted.shape()[0],
                  static_cast<const char*>(value), 1, right, &position);
    return true;
}

}  // namespace weft
