#include "library/called/arrays.h"

#include "core/threads/thread_pool.h"
#include "library/called/functions.h"

#include <algorithm>
#include <utility>

#include "core/shape.h"
#include "ops/op.h"

namespace weft::called {

namespace {

bool is_aligned(const EngineArray& array) {
    const DType dtype(array.type);
    auto bits = static_cast<int64_t>(reinterpret_cast<uintptr_t>(array.data));
    for (size_t d = 0; d < array.shape.size(); ++d) {
        if (array.shape[d] > 1) bits |= array.strides[d];
    }
    return bits % (dtype.itemsize() / (dtype.is_complex() ? 2 : 1)) == 0;
}

bool is_dense(const EngineArray& array) {
    int64_t expected = DType(array.type).itemsize();
    for (size_t d = array.shape.size(); d-- > 0; expected *= array.shape[d]) {
        if (array.shape[d] != 1 && array.strides[d] != expected) return false;
    }
    return true;
}

// Of two arrays of one shape, row by row.
void cast_elements(const EngineArray& from, const EngineArray& to, size_t axis = 0, int64_t from_offset = 0,
                   int64_t to_offset = 0) {
    const size_t rank = from.shape.size();
    if (axis + 1 < rank) {
        for (int64_t i = 0; i < from.shape[axis]; ++i)
            cast_elements(from, to, axis + 1, from_offset + i * from.strides[axis],
                          to_offset + i * to.strides[axis]);
        return;
    }
    char* data[] = {from.data + from_offset, to.data + to_offset};
    const int64_t strides[] = {rank == 0 ? 0 : from.strides[axis], rank == 0 ? 0 : to.strides[axis]};
    cast_loop(from.type, to.type).loop(data, strides, rank == 0 ? 1 : from.shape[axis]);
}

EngineArray dense_like(const EngineArray& array, ScalarType type, BufferPtr& memory) {
    EngineArray result = array;
    result.type = type;
    result.strides = c_strides(array.shape, DType(type).itemsize());
    memory = cpu_device().allocate(static_cast<size_t>(checked_bytes(array.shape, DType(type))));
    result.data = memory->data();
    return result;
}

}  // namespace

// What an array repeats, its copy repeats, too.
Given::Given(EngineArray array, ScalarType type, bool dense) : array_(std::move(array)) {
    if (array_.type == type && is_aligned(array_) && (!dense || is_dense(array_))) return;
    EngineArray from = array_;
    for (size_t d = 0; d < from.shape.size() && !dense; ++d) {
        if (from.strides[d] == 0 && from.shape[d] > 1) from.shape[d] = 1;
    }
    EngineArray to = dense_like(from, type, copy_);
    if (!dense) {  // in the order of its axes, as astype() has it
        const Dims* const strides[1] = {&from.strides};
        to.strides = k_order_strides(from.shape, strides, DType(type).itemsize());
    }
    cast_elements(from, to);
    for (size_t d = 0; d < from.shape.size(); ++d) {
        if (from.shape[d] != array_.shape[d]) to.strides[d] = 0;
    }
    to.shape = array_.shape;
    array_ = std::move(to);
}

Made::Made(const EngineArray& target, ScalarType type) : target_(target), array_(target) {
    if (target.type == type && is_aligned(target) && is_dense(target)) return;
    array_ = dense_like(target, type, elsewhere_);
}

void Made::finish() {
    if (elsewhere_ != nullptr) cast_elements(array_, target_);
}

lapack::Matrices matrices_of(const EngineArray& array, size_t core) {
    lapack::Matrices result;
    const size_t batch = array.shape.size() - core;
    result.data = array.data;
    result.rows = array.shape[batch];
    result.row_stride = array.strides[batch];
    result.columns = core == 2 ? array.shape[batch + 1] : 1;
    result.column_stride = core == 2 ? array.strides[batch + 1] : result.rows * DType(array.type).itemsize();
    result.shape = array.shape;
    result.strides = array.strides;
    result.shape.resize(batch);
    result.strides.resize(batch);
    return result;
}

int64_t thread_count(EngineArguments) { return num_threads(); }

}  // namespace weft::called
