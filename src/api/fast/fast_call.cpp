#include "api/fast/fast_call.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "api/fast/power_shortcuts.h"
#include "api/fast/serial_work.h"
#include "core/shape.h"
#include "device/cpu/memory_pool.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "graph/storage_locks.h"
#include "library/loops/strided_loops.h"
#include "library/products/contraction.h"
#include "ops/extreme_search.h"

namespace weft {

namespace {

constexpr size_t kMaxInputs = 3;
constexpr int64_t kMaxConverted = 512;  // elements that are converted to the loop's type on the stack
constexpr size_t kMaxItemsize = 16;
constexpr int64_t kDecidingBools = 16384;  // that are looked at first where there are many
// A search, which other work does not join, over so many bytes takes no longer than work on one of few
// elements.
constexpr int64_t kSearchedBytes = 128;

void copy_element(void* to, const void* from, int64_t itemsize) {
    switch (itemsize) {
        case 1: std::memcpy(to, from, 1); break;
        case 2: std::memcpy(to, from, 2); break;
        case 4: std::memcpy(to, from, 4); break;
        case 8: std::memcpy(to, from, 8); break;
        default: std::memcpy(to, from, static_cast<size_t>(itemsize)); break;
    }
}

void convert(ScalarType from, ScalarType to, const void* input, int64_t stride, void* output, int64_t count) {
    char* const data[2] = {static_cast<char*>(const_cast<void*>(input)), static_cast<char*>(output)};
    const int64_t strides[2] = {stride, DType(to).itemsize()};
    cast_loop(from, to).loop(data, strides, count);
}

bool any_exported(std::span<const GivenOperand> inputs) {
    return std::any_of(inputs.begin(), inputs.end(), [](const GivenOperand& input) {
        return input.value != nullptr && is_exported(*input.value);
    });
}

// A loop and what it runs over, but for the result.
struct Run {
    const LoopInfo* loop = nullptr;
    const array* layout_operand = nullptr;  // the first operand with dimensions, else the first array
    int64_t count = 0;
    char* data[kMaxInputs + 1];
    int64_t strides[kMaxInputs + 1];

    bool prepare(const OpInfo& op, std::span<GivenOperand> inputs) {
        if (op.nout != 1 || inputs.size() > kMaxInputs || may_be_strength_reduced(op, inputs)) return false;
        OperandType types[kMaxInputs] = {DType(), DType(), DType()};
        for (size_t k = 0; k < inputs.size(); ++k) {
            types[k] = inputs[k].type;
            const array* value = inputs[k].value;
            if (value != nullptr && (layout_operand == nullptr || layout_operand->ndim() == 0))
                layout_operand = value;
        }
        if (layout_operand == nullptr || !layout_operand->storage()->device.is_cpu()) return false;
        count = layout_operand->size();
        if (count == 0 || !(is_small(count) || (any_exported(inputs) && is_below_serial_cutoff(&op, count))))
            return false;
        loop = &find_loop_cached(op, {types, inputs.size()});
        if (op.flags.checks_negative_exponent && DType(loop->types[1]).is_signed_integer()) return false;
        for (size_t k = 0; k < inputs.size(); ++k) {
            const array* value = inputs[k].value;
            if (value == nullptr) {
                if (!inputs[k].convert(loop->types[k])) return false;
                data[k] = static_cast<char*>(const_cast<void*>(inputs[k].number));
                strides[k] = 0;
                continue;
            }
            if (value->ndim() == 0 && layout_operand->ndim() != 0) {
                strides[k] = 0;
            } else if (!(value->shape() == layout_operand->shape()) || !single_stride(*value, strides[k])) {
                return false;
            }
            if (value->dtype().scalar_type() != loop->types[k] && count > kMaxConverted) return false;
        }
        return true;
    }

    // With the storages locked and in memory; converts where the loop needs another type.
    void run(std::span<GivenOperand> inputs) {
        alignas(64) char converted[kMaxInputs][kMaxConverted * kMaxItemsize];
        for (size_t k = 0; k < inputs.size(); ++k) {
            const array* value = inputs[k].value;
            if (value == nullptr) continue;
            data[k] = value->storage()->current.buffer->data() + value->offset();
            const ScalarType type = value->dtype().scalar_type();
            if (type == loop->types[k]) continue;
            convert(type, loop->types[k], data[k], strides[k], converted[k], strides[k] == 0 ? 1 : count);
            data[k] = converted[k];
            if (strides[k] != 0) strides[k] = DType(loop->types[k]).itemsize();
        }
        loop->loop(data, strides, count);
    }
};

}  // namespace

bool single_stride(const array& value, int64_t& stride) {
    const Dims& shape = value.shape();
    const Dims& strides = value.strides();
    if (shape.size() == 1) {
        stride = strides[0];
        return true;
    }
    int64_t expected = value.itemsize();
    stride = expected;
    for (size_t d = shape.size(); d-- > 0;) {
        if (strides[d] != expected) return false;
        expected *= std::max<int64_t>(shape[d], 1);
    }
    return true;
}

bool may_write(Storage& storage) {
    if (!storage.exported() && !has_references(storage.current.buffer, 1)) return false;
    storage.forget();
    storage.current.buffer->set_known_border(nullptr);
    return true;
}

bool GivenOperand::convert(DType dtype) {
    const ScalarType to = dtype.scalar_type();
    ScalarType from = type.dtype.scalar_type();
    if (type.weak == WeakKind::kInt) {
        int64_t integer = 0;
        std::memcpy(&integer, number, sizeof integer);
        if (dtype.is_integer()) {
            if (to != ScalarType::kInt64 && !python_int_fits(integer, dtype)) return false;
        } else if (!dtype.is_bool()) {  // through float64, as Python converts its numbers
            set(ScalarType::kFloat64, static_cast<double>(integer));
            from = ScalarType::kFloat64;
        }
    }
    type = dtype;
    if (from == to) return true;
    alignas(16) ScalarBytes converted;
    weft::convert(from, to, number, 0, converted.data(), 1);
    bytes_ = converted;
    number = bytes_.data();
    return true;
}

bool try_read(const array& from, int64_t offset, void* element) {
    Storage& storage = *from.storage();
    const std::lock_guard lock(storage.mutex);
    storage.current.resolve();
    if (!storage.current.is_host_resident()) return false;
    copy_element(element, storage.current.buffer->data() + offset, from.itemsize());
    return true;
}

bool try_write(const array& to, int64_t offset, const void* element) {
    if (!is_small(1)) return false;
    Storage& storage = *to.storage();
    const std::lock_guard lock(storage.mutex);
    storage.current.resolve();
    if (!storage.current.is_host_resident() || !may_write(storage)) return false;
    copy_element(storage.current.buffer->data() + offset, element, to.itemsize());
    return true;
}

bool NumberCall::prepare(const OpInfo& op, std::span<GivenOperand> inputs) {
    if (op.nout != 1 || inputs.size() > kMaxInputs) return false;
    OperandType types[kMaxInputs] = {DType(), DType(), DType()};
    for (size_t k = 0; k < inputs.size(); ++k) types[k] = inputs[k].type;
    count_ = inputs.size();
    loop_ = &find_loop_cached(op, {types, count_});
    if (op.flags.checks_negative_exponent && DType(loop_->types[1]).is_signed_integer()) return false;
    for (size_t k = 0; k < count_; ++k) {
        if (!inputs[k].convert(loop_->types[k])) return false;
        data_[k] = static_cast<char*>(const_cast<void*>(inputs[k].number));
    }
    dtype_ = loop_->types[count_];
    return true;
}

void NumberCall::run(void* result) {
    data_[count_] = static_cast<char*>(result);
    const int64_t strides[kMaxInputs + 1] = {};
    loop_->loop(data_, strides, 1);
}

namespace {

// Of arrays of one dimension without elements, which nobody has to look at.
bool call_without_elements(const OpInfo& op, std::span<GivenOperand> inputs, array& result) {
    if (op.nout != 1 || inputs.size() > kMaxInputs) return false;
    OperandType types[kMaxInputs] = {DType(), DType(), DType()};
    const array* layout_operand = nullptr;
    for (size_t k = 0; k < inputs.size(); ++k) {
        types[k] = inputs[k].type;
        const array* value = inputs[k].value;
        if (value == nullptr) continue;
        if (value->ndim() != 1 || value->shape()[0] != 0 || !value->storage()->device.is_cpu()) return false;
        layout_operand = value;
    }
    if (layout_operand == nullptr || !is_small(1) || may_be_strength_reduced(op, inputs)) return false;
    const LoopInfo& loop = find_loop_cached(op, {types, inputs.size()});
    if (op.flags.checks_negative_exponent && DType(loop.types[1]).is_signed_integer()) return false;
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k].value == nullptr && !inputs[k].convert(loop.types[k])) return false;
    }
    result =
        array(make_storage(cpu_device().allocate(0)), loop.types[inputs.size()], Dims{0}, Dims{0}, 0, true);
    return true;
}

}  // namespace

namespace {

// Made where it is to be, which a move would read again at once.
template <class... Parts>
void make(array& result, Parts&&... parts) {
    std::destroy_at(&result);
    try {
        std::construct_at(&result, std::forward<Parts>(parts)...);
    } catch (...) {
        std::construct_at(&result);
        throw;
    }
}

}  // namespace

bool try_call(const OpInfo& op, std::span<GivenOperand> inputs, array& result) {
    if (call_without_elements(op, inputs, result)) return true;
    Run run;
    if (!run.prepare(op, inputs) || run.layout_operand->ndim() == 0) return false;
    StorageLocks locks;
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k].value == nullptr) continue;
        if (inputs[k].value->ndim() != 0 && run.strides[k] <= 0) return false;  // which decides the layout
        locks.add(*inputs[k].value->storage());
    }
    const DType dtype = run.loop->types[inputs.size()];
    const int64_t itemsize = dtype.itemsize();
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(run.count * itemsize));
    run.data[inputs.size()] = buffer->data();
    run.strides[inputs.size()] = itemsize;
    {
        locks.lock();
        if (!locks.all_host_resident()) return false;
        run.run(inputs);
        locks.unlock();
    }
    const array& layout_operand = *run.layout_operand;
    const bool same_strides = itemsize == layout_operand.itemsize() &&
                              (layout_operand.ndim() != 1 || layout_operand.strides()[0] == itemsize);
    make(result, make_storage(std::move(buffer)), dtype, layout_operand.shape(),
         same_strides ? layout_operand.strides() : c_strides(layout_operand.shape(), itemsize), 0, true);
    return true;
}

bool try_call_into(const OpInfo& op, std::span<GivenOperand> inputs, const array& target) {
    Run run;
    if (!target.writeable() || !run.prepare(op, inputs)) return false;
    const size_t out = inputs.size();
    if (target.dtype().scalar_type() != run.loop->types[out] ||
        !(target.shape() == run.layout_operand->shape()) || !single_stride(target, run.strides[out]))
        return false;
    StorageLocks locks;
    locks.add(*target.storage());
    for (size_t k = 0; k < inputs.size(); ++k) {
        const array* value = inputs[k].value;
        if (value == nullptr) continue;
        if (value->storage() == target.storage() &&
            (value->offset() != target.offset() || run.strides[k] != run.strides[out] ||
             !(value->dtype() == target.dtype())))
            return false;
        locks.add(*value->storage());
    }
    locks.lock();
    if (!locks.all_host_resident() || !may_write(*target.storage())) return false;
    run.data[out] = target.storage()->current.buffer->data() + target.offset();
    run.run(inputs);
    return true;
}

namespace {

// The first extreme element, by a search whose time its bytes say. Bools are decided by the first one that is
// the extreme; where there are many, it is looked for in a part of them.
bool try_search(const ReductionInfo& reduction, const array& input, void* element) {
    const bool largest = reduction.id == ReductionId::kArgmax;
    int64_t count = input.size(), stride = 0;
    const bool few = is_small((count * input.itemsize() - 1) / kSearchedBytes + 1);
    if (!is_small(1) || !(few || input.dtype().is_bool()) || !single_stride(input, stride)) return false;
    if (!few) count = std::min(count, kDecidingBools);
    Storage& storage = *input.storage();
    const std::lock_guard lock(storage.mutex);
    storage.current.resolve();
    if (!storage.current.is_host_resident()) return false;
    const char* const elements = storage.current.buffer->data() + input.offset();
    const int64_t position =
        find_extreme_search(input.dtype().scalar_type(), largest)(elements, stride, count);
    std::memcpy(element, &position, sizeof position);
    return few || (elements[position * stride] != 0) == largest;
}

}  // namespace

bool try_reduce(const ReductionInfo& reduction, const array& input, DType& dtype, void* element) {
    const int64_t count = input.size();
    if (count != 0 && reduction.gives_index && try_search(reduction, input, element)) {
        dtype = ScalarType::kInt64;
        return true;
    }
    if (count == 0 || !is_small(count)) return false;
    const ReductionTypes types = resolve_reduction(reduction.id, input.dtype());
    if (types.compute.is_half_float()) return false;  // sums are float32's, see reduce
    StorageLocks locks;
    locks.add(*input.storage());
    locks.lock();
    if (!locks.all_host_resident()) return false;
    const Dims none{};
    const StridedData from{input.storage()->current.buffer->data() + input.offset(), &input.strides(),
                           input.dtype().scalar_type()};
    reduce_eagerly(reduction, types.compute.scalar_type(), input.shape(),
                   std::vector<bool>(input.shape().size(), true), from,
                   {static_cast<char*>(element), &none, types.result.scalar_type()});
    dtype = types.result;
    return true;
}

namespace {

template <class T>
void divide_by_count(void* sum, int64_t count) {
    T total;
    std::memcpy(&total, sum, sizeof total);
    const T mean = total / static_cast<T>(count);
    std::memcpy(sum, &mean, sizeof mean);
}

}  // namespace

bool try_mean(const array& input, void* element) {
    const ScalarType type = input.dtype().scalar_type();
    if (type != ScalarType::kFloat64 && type != ScalarType::kFloat32) return false;
    DType dtype;
    if (!try_reduce(reduction_info(ReductionId::kSum), input, dtype, element)) return false;
    type == ScalarType::kFloat64 ? divide_by_count<double>(element, input.size())
                                 : divide_by_count<float>(element, input.size());
    return true;
}

namespace {

bool is_aligned(const char* data, int64_t step, int64_t itemsize) {
    return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(itemsize) == 0 && step % itemsize == 0;
}

}  // namespace

bool try_multiply(const array& left, const array& right, array& result) {
    const DType dtype = left.dtype();
    const Dims &a = left.shape(), &b = right.shape();
    if (!(dtype == right.dtype()) || a.size() > 2 || b.size() > 2 || a.size() == 0 || b.size() == 0)
        return false;
    const bool row = a.size() == 1, column = b.size() == 1;
    if (b[0] != a.back()) return false;
    const Dims &left_strides = left.strides(), &right_strides = right.strides();
    const int64_t itemsize = dtype.itemsize();
    MatrixProduct product{};
    product.m = row ? 1 : a[0];
    product.n = column ? 1 : b[1];
    product.k = b[0];
    const ScalarType type = dtype.scalar_type();
    const bool tiny = is_tiny(type, product), vectors = row && column;
    if (!(tiny || vectors) || !is_small(product.m * product.n * product.k)) return false;
    product.left_row = row ? 0 : left_strides[0];
    product.left_step = left_strides.back();
    product.right_step = right_strides[0];
    product.right_column = column ? 0 : right_strides[1];
    product.out_row = product.n * itemsize;
    product.out_column = itemsize;
    StorageLocks locks;
    locks.add(*left.storage());
    locks.add(*right.storage());
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(product.m * product.n * itemsize));
    product.out = buffer->data();
    {
        locks.lock();
        if (!locks.all_host_resident()) return false;
        product.left = left.storage()->current.buffer->data() + left.offset();
        product.right = right.storage()->current.buffer->data() + right.offset();
        if (tiny) {
            multiply_tiny(type, product);
        } else if (!is_aligned(product.left, product.left_step, itemsize) ||
                   !is_aligned(product.right, product.right_step, itemsize) ||
                   !multiply_vectors(type, product)) {
            return false;
        }
        locks.unlock();
    }
    Dims shape;
    if (!row) shape.push_back(product.m);
    if (!column) shape.push_back(product.n);
    const Dims strides = c_strides(shape, itemsize);
    result = array(make_storage(std::move(buffer)), dtype, shape, strides, 0, true);
    return true;
}

bool try_assign(const array& target, GivenOperand& value) {
    int64_t to_stride = 0, from_stride = 0;
    const int64_t count = target.size();
    if (!target.writeable() || count == 0 || !is_small(count) || !single_stride(target, to_stride))
        return false;
    const array* source = value.value;
    StorageLocks locks;
    locks.add(*target.storage());
    if (source == nullptr) {
        if (!value.convert(target.dtype())) return false;
    } else {
        if (source->storage() == target.storage() || !single_stride(*source, from_stride)) return false;
        if (source->ndim() == 0) {
            from_stride = 0;
        } else if (!(source->shape() == target.shape())) {
            return false;
        }
        locks.add(*source->storage());
    }
    locks.lock();
    if (!locks.all_host_resident() || !may_write(*target.storage())) return false;
    const ScalarType to = target.dtype().scalar_type();
    const ScalarType from = source != nullptr ? source->dtype().scalar_type() : to;
    char* const data[2] = {source != nullptr ? source->storage()->current.buffer->data() + source->offset()
                                             : static_cast<char*>(const_cast<void*>(value.number)),
                           target.storage()->current.buffer->data() + target.offset()};
    const int64_t strides[2] = {from_stride, to_stride};
    cast_loop(from, to).loop(data, strides, count);
    return true;
}

bool try_zeros(const Dims& shape, DType dtype, array& result) {
    if (!current_device().is_cpu()) return false;
    int64_t count = 1;
    for (const int64_t extent : shape) {
        if (extent < 1 || __builtin_mul_overflow(count, extent, &count) || !is_small(count)) return false;
    }
    const auto bytes = static_cast<size_t>(count * dtype.itemsize());
    BufferPtr buffer = cpu_device().allocate(bytes);
    std::memset(buffer->data(), 0, bytes);
    result =
        array(make_storage(std::move(buffer)), dtype, shape, c_strides(shape, dtype.itemsize()), 0, true);
    return true;
}

}  // namespace weft
