#include "api/indexing/fast_index.h"

#include <cstring>
#include <optional>

#include "core/shape.h"
#include "device/cpu/memory_pool.h"
#include "graph/index_range.h"
#include "graph/indexed_view.h"
#include "graph/operand.h"
#include "graph/storage_locks.h"
#include "library/indexing/compress_loops.h"
#include "library/indexing/gather_loops.h"

namespace weft {

namespace {

constexpr int64_t kMostSelectedFrom = 4096;  // elements of a mask
constexpr int64_t kGathered = 8;             // times as many elements as others are gathered at the call

// Bytes of the pieces that lie along the first axis, each without gaps; 0: there are gaps.
int64_t bytes_of_piece(const array& value) {
    int64_t bytes = value.itemsize();
    for (size_t d = value.shape().size(); d-- > 1; bytes *= value.shape()[d]) {
        if (value.strides()[d] != bytes) return 0;
    }
    return bytes;
}

// Whether the call has to check the bounds of the indices or runs eagerly, so that nothing is gained by
// recording it.
bool inspects_or_runs_eagerly(const array& from, const array& index) {
    if (is_exported(from) || is_exported(index)) return true;
    IndexRange range;
    bool exported = false;
    read_with_range(index, index.shape(), range, exported);
    const int64_t extent = from.shape()[0];
    return !range.within(-extent, extent - 1);
}

// The places where a mask is true.
class Selected {
public:
    // False when the mask is not host-resident.
    bool find(const array& mask) {
        Storage& storage = *mask.storage();
        const std::lock_guard lock(storage.mutex);
        storage.current.resolve();
        if (!storage.current.is_host_resident()) return false;
        const char* bytes = storage.current.buffer->data() + mask.offset();
        char own[kMostSelectedFrom];
        if (storage.exported()) {  // others may change it meanwhile
            std::memcpy(own, bytes, static_cast<size_t>(mask.size()));
            bytes = own;
        }
        count_ = find_places(bytes, mask.size(), places_);
        return true;
    }
    int64_t count() const { return count_; }
    const int64_t* places() const { return places_; }

private:
    int64_t count_ = 0;
    int64_t places_[kMostSelectedFrom];
};

bool is_few_of(const array& mask, const array& value) {
    int64_t stride = 0;
    return mask.ndim() != 0 && mask.size() != 0 && is_small(mask.size()) &&
           mask.size() <= kMostSelectedFrom && mask.shape() == value.shape() && mask.c_contiguous() &&
           single_stride(value, stride);
}

// What is written to an array of positions: one value for all, or one for each.
class Values {
public:
    // With its storage locked and host-resident; `count` elements of `dtype`, apart from the target's bytes.
    void prepare(const GivenOperand& value, int64_t stride, DType dtype, int64_t count,
                 const Buffer& target) {
        stride_ = stride;
        if (value.value == nullptr) {
            data_ = static_cast<const char*>(value.number);
            return;
        }
        const array& source = *value.value;
        const Buffer& buffer = *source.storage()->current.buffer;
        data_ = buffer.data() + source.offset();
        if (source.dtype() == dtype && !share_bytes(buffer, target)) return;
        const int64_t own = stride == 0 ? 1 : count, itemsize = dtype.itemsize();
        converted_ = cpu_device().allocate(static_cast<size_t>(own * itemsize));
        char* const pair[2] = {const_cast<char*>(data_), converted_->data()};
        const int64_t strides[2] = {stride, itemsize};
        cast_loop(source.dtype().scalar_type(), dtype.scalar_type()).loop(pair, strides, own);
        data_ = converted_->data();
        if (stride != 0) stride_ = itemsize;
    }
    const char* data() const { return data_; }
    int64_t stride() const { return stride_; }

private:
    const char* data_ = nullptr;
    int64_t stride_ = 0;
    BufferPtr converted_;
};

// Whether the value is a number, one element, or elements of that shape.
bool fits(const array& target, const Dims& shape, GivenOperand& value, int64_t& stride) {
    stride = 0;
    if (value.value == nullptr) return value.convert(target.dtype());
    const array& source = *value.value;
    if (source.ndim() == 0) return true;
    return source.shape() == shape && single_stride(source, stride);
}

}  // namespace

bool try_gather(const array& from, const array& index, array& result) {
    if (from.ndim() == 0 || index.ndim() == 0 || !index.dtype().is_integer()) return false;
    const int64_t count = index.size(), bytes = bytes_of_piece(from);
    if (count == 0 || bytes == 0 || from.ndim() + index.ndim() > kMaxDimensions) return false;
    int64_t elements = 0, stride = 0;
    if (__builtin_mul_overflow(count, bytes / from.itemsize(), &elements) ||
        !is_small((elements - 1) / kGathered + 1) || !single_stride(index, stride))
        return false;
    const bool few = is_small(elements);
    if (!few && !inspects_or_runs_eagerly(from, index)) return false;
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count * bytes));
    IndexRange range;
    Source version;
    std::optional<int64_t> wrong;
    {
        StorageLocks locks;
        locks.add(*from.storage());
        locks.add(*index.storage());
        locks.lock();
        if (!locks.all_host_resident()) return false;
        const Source& positions = index.storage()->current;
        const IndexRow row{positions.buffer->data() + index.offset(),
                           stride,
                           index.dtype().scalar_type(),
                           count,
                           from.shape()[0],
                           from.strides()[0]};
        const char* const elements = from.storage()->current.buffer->data() + from.offset();
        if (few) {
            wrong = gather_few(elements, row, bytes, buffer->data());
        } else {
            wrong = gather_row(elements, row, bytes, buffer->data(), range);
            version = positions;
        }
    }
    if (wrong) throw_out_of_bounds(*wrong, 0, from.shape()[0]);
    if (!few) remember_range(index, version, range);
    std::shared_ptr<Storage> storage = make_storage(std::move(buffer));
    if (from.ndim() == 1 && index.ndim() == 1) {
        result = array(std::move(storage), from.dtype(), index.shape(), Dims{bytes}, 0, true);
        return true;
    }
    Dims shape = index.shape();
    for (size_t d = 1; d < from.shape().size(); ++d) shape.push_back(from.shape()[d]);
    result = array(std::move(storage), from.dtype(), shape, c_strides(shape, from.itemsize()), 0, true);
    return true;
}

bool try_compress(const array& from, const array& mask, array& result) {
    int64_t stride = 0;
    if (!mask.dtype().is_bool() || !is_few_of(mask, from) || !single_stride(from, stride)) return false;
    const Source values = current_version(*from.storage());
    Selected selected;
    if (!values.is_host_resident() || !selected.find(mask)) return false;
    const int64_t count = selected.count(), itemsize = from.itemsize();
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count * itemsize));
    gather_places(values.buffer->data() + from.offset(), selected.places(), count, stride, itemsize,
                  buffer->data());
    result = array(make_storage(std::move(buffer)), from.dtype(), Dims{count}, Dims{itemsize}, 0, true);
    return true;
}

bool try_fill(const array& target, const array& mask, const array& row, Along along) {
    int64_t stride = 0;
    const int64_t size = row.size(), itemsize = target.itemsize();
    if (!target.writeable() || !mask.dtype().is_bool() || !is_few_of(mask, target) ||
        !single_stride(target, stride) || size == 0 || row.ndim() != 1 || row.dtype() != target.dtype())
        return false;
    Selected selected;
    if (!selected.find(mask)) return false;
    const int64_t count = selected.count();
    if (count == 0) return true;
    int64_t places[kMostSelectedFrom];
    for (int64_t k = 0; k < count; ++k) {
        const int64_t at = along == Along::kAll ? selected.places()[k] : k;
        places[k] = at < size ? at : at % size;
    }
    const BufferPtr values = cpu_device().allocate(static_cast<size_t>(count * itemsize));
    Storage& storage = *target.storage();
    StorageLocks locks;
    locks.add(storage);
    locks.add(*row.storage());
    locks.lock();
    if (!locks.all_host_resident() || !may_write(storage)) return false;
    gather_places(row.storage()->current.buffer->data() + row.offset(), places, count, row.strides()[0],
                  itemsize, values->data());
    scatter_places(storage.current.buffer->data() + target.offset(), selected.places(), count, stride,
                   itemsize, values->data(), itemsize);
    return true;
}

bool try_scatter(const array& target, const array& index, GivenOperand& value) {
    if (!target.writeable() || index.ndim() == 0) return false;
    Storage& storage = *target.storage();
    StorageLocks locks;
    locks.add(storage);
    if (value.value != nullptr) locks.add(*value.value->storage());
    const int64_t itemsize = target.itemsize();
    int64_t stride = 0, value_stride = 0;
    const auto base = [&] { return storage.current.buffer->data() + target.offset(); };
    Values values;
    if (index.dtype().is_bool()) {
        if (!is_few_of(index, target) || !single_stride(target, stride)) return false;
        Selected selected;
        if (!selected.find(index) || !fits(target, Dims{selected.count()}, value, value_stride)) return false;
        if (selected.count() == 0) return true;
        locks.lock();
        if (!locks.all_host_resident() || !may_write(storage)) return false;
        values.prepare(value, value_stride, target.dtype(), selected.count(), *storage.current.buffer);
        scatter_places(base(), selected.places(), selected.count(), stride, itemsize, values.data(),
                       values.stride());
        return true;
    }
    const int64_t count = index.size();
    if (target.ndim() != 1 || !index.dtype().is_integer() || count == 0 || !is_small(count) ||
        !single_stride(index, stride) || !fits(target, index.shape(), value, value_stride))
        return false;
    locks.add(*index.storage());
    const int64_t extent = target.shape()[0];
    std::optional<int64_t> wrong;
    {
        locks.lock();
        if (!locks.all_host_resident() || !may_write(storage)) return false;
        const IndexRow row{index.storage()->current.buffer->data() + index.offset(),
                           stride,
                           index.dtype().scalar_type(),
                           count,
                           extent,
                           target.strides()[0]};
        values.prepare(value, value_stride, target.dtype(), count, *storage.current.buffer);
        wrong = scatter_row(base(), row, itemsize, values.data(), values.stride());
        locks.unlock();
    }
    if (wrong) throw_out_of_bounds(*wrong, 0, extent);
    return true;
}

}  // namespace weft
