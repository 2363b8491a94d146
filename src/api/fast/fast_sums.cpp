#include "api/fast/fast_sums.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "api/fast/fast_call.h"
#include "core/complex.h"
#include "core/scalar_traits.h"
#include "core/shape.h"
#include "device/cpu/memory_pool.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "graph/storage_locks.h"
#include "library/loops/strided_loops.h"

namespace weft {

namespace {

constexpr int64_t kMostProducts = 512;  // elements on the stack
constexpr size_t kMostBytes = 8;        // of one of them

template <class T>
T element_at(const char* from, int64_t index) {
    T value;
    std::memcpy(&value, from + index * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
}

// Dense elements' squares; of complex numbers those of their absolute values.
template <class T>
void square(const char* from, int64_t count, T* squares) {
    for (int64_t i = 0; i < count; ++i) {
        const T value = element_at<T>(from, i);
        squares[i] = value * value;
    }
}
template <class T>
void square_complex(const char* from, int64_t count, T* squares) {
    for (int64_t i = 0; i < count; ++i) {
        const T re = element_at<T>(from, 2 * i), im = element_at<T>(from, 2 * i + 1);
        squares[i] = re * re + im * im;
    }
}

void sum_over(ScalarType type, const Dims& shape, const std::vector<bool>& reduced, char* products,
              const Dims& kept, char* sums) {
    const Dims strides = c_strides(shape, DType(type).itemsize());
    reduce_eagerly(reduction_info(ReductionId::kSum), type, shape, reduced, {products, &strides, type},
                   {sums, &kept, type});
}

template <class T>
void take_root(void* element) {
    T sum;
    std::memcpy(&sum, element, sizeof sum);
    sum = std::sqrt(sum);
    std::memcpy(element, &sum, sizeof sum);
}

// Whether elements follow each other without gaps in C order.
bool is_dense(const array& value) {
    int64_t stride = 0;
    return single_stride(value, stride) && (stride == value.itemsize() || value.size() == 1);
}

template <class T>
void multiply(const char* left, const char* right, int64_t count, T* products) {
    for (int64_t i = 0; i < count; ++i) products[i] = element_at<T>(left, i) * element_at<T>(right, i);
}

// The rows of a dense array times a vector: a product of a matrix.
bool multiply_rows(const array& rows, const array& vector, array& result) {
    const int64_t count = rows.shape().back(), itemsize = rows.itemsize();
    if (count == 0 || rows.size() == 0) return false;
    const array matrix = rows.with_view(rows.dtype(), Dims{rows.size() / count, count},
                                        Dims{count * itemsize, itemsize}, rows.offset());
    if (!try_multiply(matrix, vector, result)) return false;
    Dims shape(std::span(rows.shape().begin(), rows.shape().size() - 1));
    Dims strides = c_strides(shape, itemsize);
    result.set_layout(std::move(shape), std::move(strides));
    return true;
}

}  // namespace

bool try_norm(const array& input, DType& dtype, void* element) {
    const int64_t count = input.size();
    const DType given = input.dtype();
    const bool is_inexact = given.is_inexact(),
               is_number = is_inexact || given.is_integer() || given.is_bool();
    if (count == 0 || count > kMostProducts || !is_small(count) || !is_number || given.is_half_float() ||
        !is_dense(input) || !input.storage()->device.is_cpu())
        return false;
    const DType real = is_inexact ? given.real() : DType(ScalarType::kFloat64);
    const bool is_single = real.itemsize() == 4;
    alignas(64) char products[kMostProducts * kMostBytes];
    {
        StorageLocks locks;
        locks.add(*input.storage());
        locks.lock();
        if (!locks.all_host_resident()) return false;
        char* const from = input.storage()->current.buffer->data() + input.offset();
        if (!is_inexact) {
            const Dims to_strides{8}, from_strides{input.itemsize()};
            alignas(64) char numbers[kMostProducts * kMostBytes];
            copy_eagerly(Dims{count}, {from, &from_strides, given.scalar_type()},
                         {numbers, &to_strides, ScalarType::kFloat64});
            square(numbers, count, reinterpret_cast<double*>(products));
        } else if (given.is_complex()) {
            is_single ? square_complex(from, count, reinterpret_cast<float*>(products))
                      : square_complex(from, count, reinterpret_cast<double*>(products));
        } else {
            is_single ? square(from, count, reinterpret_cast<float*>(products))
                      : square(from, count, reinterpret_cast<double*>(products));
        }
    }
    sum_over(real.scalar_type(), input.shape(), std::vector<bool>(input.shape().size(), true), products, {},
             static_cast<char*>(element));
    is_single ? take_root<float>(element) : take_root<double>(element);
    dtype = real;
    return true;
}

bool try_vecdot(const array& left, const array& right, array& result) {
    const DType dtype = left.dtype();
    const ScalarType type = dtype.scalar_type();
    if (!(dtype == right.dtype()) || dtype.is_complex() || left.ndim() == 0 || right.ndim() == 0)
        return false;
    if (left.ndim() == 1 && right.ndim() == 1) return try_multiply(left, right, result);
    if (right.ndim() == 1) return is_dense(left) && multiply_rows(left, right, result);
    if (left.ndim() == 1) return is_dense(right) && multiply_rows(right, left, result);
    const int64_t size = left.size(), count = left.shape().back();
    const bool is_known =
        type == ScalarType::kFloat64 || type == ScalarType::kFloat32 || type == ScalarType::kInt64;
    if (left.shape() != right.shape() || !is_known || size == 0 || size > kMostProducts || !is_small(size) ||
        !is_dense(left) || !is_dense(right))
        return false;
    const int64_t rows = size / count, itemsize = dtype.itemsize();
    alignas(64) char products[kMostProducts * kMostBytes];
    {
        StorageLocks locks;
        locks.add(*left.storage());
        locks.add(*right.storage());
        locks.lock();
        if (!locks.all_host_resident()) return false;
        const char* const a = left.storage()->current.buffer->data() + left.offset();
        const char* const b = right.storage()->current.buffer->data() + right.offset();
        if (type == ScalarType::kFloat64) {
            multiply(a, b, size, reinterpret_cast<double*>(products));
        } else if (type == ScalarType::kFloat32) {
            multiply(a, b, size, reinterpret_cast<float*>(products));
        } else {
            multiply(a, b, size, reinterpret_cast<uint64_t*>(products));  // which wrap
        }
    }
    const size_t last = left.shape().size() - 1;
    std::vector<bool> reduced(last + 1, false);
    reduced[last] = true;
    Dims shape(std::span(left.shape().begin(), last));
    Dims strides = c_strides(shape, itemsize);
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(rows * itemsize));
    sum_over(type, left.shape(), reduced, products, strides, buffer->data());
    result = array(make_storage(std::move(buffer)), dtype, std::move(shape), std::move(strides), 0, true);
    return true;
}

}  // namespace weft
