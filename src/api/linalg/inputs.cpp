#include "api/linalg/inputs.h"

#include <string>

#include "core/shape.h"
#include "execution/evaluate.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/ops.h"

namespace weft::linalg {

namespace {

// Of one array: whether it needs 64 bits, and whether it is complex.
struct Needs {
    bool wide, complex;
};

Needs needs_of(DType dtype) {
    if (dtype.kind() == 'V' || dtype.is_half_float())
        throw TypeError("array type " + std::string(dtype.name()) + " is unsupported in linalg");
    return {!dtype.is_inexact() || dtype.real().itemsize() == 8, dtype.is_complex()};
}

DType type_of(Needs needs) {
    if (needs.complex) return needs.wide ? ScalarType::kComplex128 : ScalarType::kComplex64;
    return needs.wide ? ScalarType::kFloat64 : ScalarType::kFloat32;
}

// Small matrices, and so few of them that their kernels for batches gain little by single precision.
constexpr int64_t kSmallSide = 32, kFew = 64;

bool is_small_work(const array& a) {
    const size_t axes = a.shape().size();
    int64_t count = 1;
    for (size_t d = 0; d + 2 < axes && count < kFew; ++d) count *= std::min(a.shape()[d], kFew);
    if (count >= kFew) return false;
    for (size_t d = axes < 2 ? 0 : axes - 2; d < axes; ++d) {
        if (a.shape()[d] > kSmallSide) return false;
    }
    return true;
}

Types types_of(Needs needs, bool small) {
    return {type_of(needs), type_of({needs.wide || small, needs.complex})};
}

}  // namespace

DType complex_of(DType dtype) {
    return dtype.real().itemsize() == 4 ? ScalarType::kComplex64 : ScalarType::kComplex128;
}

Types common_type(const array& a) { return types_of(needs_of(a.dtype()), is_small_work(a)); }

Types common_type(const array& a, const array& b) {
    const Needs first = needs_of(a.dtype()), second = needs_of(b.dtype());
    return types_of({first.wide || second.wide, first.complex || second.complex}, is_small_work(a));
}

Types real_types(const Types& types) { return {types.result.real(), types.compute.real()}; }

Types complex_types(const Types& types) { return {complex_of(types.result), complex_of(types.compute)}; }

void check_stacked(const array& a) {
    if (a.ndim() < 2)
        throw LinAlgError(std::to_string(a.ndim()) +
                          "-dimensional array given. Array must be at least two-dimensional");
}

void check_square(const array& a) {
    check_stacked(a);
    if (a.shape()[a.shape().size() - 2] != a.shape().back())
        throw LinAlgError("Last 2 dimensions of the array must be square");
}

void check_2d(const array& a) {
    if (a.ndim() != 2)
        throw LinAlgError(std::to_string(a.ndim()) +
                          "-dimensional array given. Array must be two-dimensional");
}

void check_finite(const array& a) {
    if (!a.dtype().is_inexact()) return;
    if (!truth_of(all(isfinite(a)))) throw LinAlgError("Array must not contain infs or NaNs");
}

Dims batch_of(const array& a) {
    Dims batch = a.shape();
    batch.resize(batch.size() - 2);
    return batch;
}

array adjoint(const array& a) {
    const array transposed = swapaxes(a, -1, -2);
    return a.dtype().is_complex() ? conjugate(transposed) : transposed;
}

Input::Input(const array& given, const Types& types) : kept_(given) {
    const DType dtype = types.compute;
    if (given.dtype() != dtype) {
        kept_ = astype(given, dtype);
    } else if (is_exported(given)) {
        kept_ = copy(given);  // others may change it meanwhile
    }
    buffer_ = evaluate_storage(*kept_.storage());
    matrices_.data = buffer_->data() + kept_.offset();
    const Dims &shape = kept_.shape(), &strides = kept_.strides();
    const size_t axes = shape.size();
    if (axes == 1) {
        matrices_.rows = shape[0];
        matrices_.columns = 1;
        matrices_.row_stride = strides[0];
        matrices_.column_stride = shape[0] * kept_.itemsize();
        return;
    }
    matrices_.rows = shape[axes - 2];
    matrices_.columns = shape[axes - 1];
    matrices_.row_stride = strides[axes - 2];
    matrices_.column_stride = strides[axes - 1];
    matrices_.shape = shape;
    matrices_.strides = strides;
    matrices_.shape.resize(axes - 2);
    matrices_.strides.resize(axes - 2);
}

lapack::Matrices Input::over(const Dims& batch) const {
    lapack::Matrices result = matrices_;
    result.strides = broadcast_strides(matrices_.shape, matrices_.strides, batch);
    result.shape = batch;
    return result;
}

Output::Output(const Types& types, const Dims& batch, std::initializer_list<int64_t> core)
    : types_(types), shape_(batch) {
    for (const int64_t extent : core) shape_.push_back(extent);
    strides_ = c_strides(shape_, types.compute.itemsize());
    buffer_ = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape_, types.compute)));
}

void Output::lay_by_columns() {
    const size_t axes = shape_.size();
    strides_[axes - 2] = types_.compute.itemsize();
    strides_[axes - 1] = shape_[axes - 2] * types_.compute.itemsize();
}

array Output::finish() {
    array computed = array_of(std::move(buffer_), types_.compute, std::move(shape_), std::move(strides_));
    array result = types_.result == types_.compute ? std::move(computed) : astype(computed, types_.result);
    LibraryCall::made(result);
    return result;
}

lapack::Matrices Output::matrices() const {
    lapack::Matrices result;
    const size_t axes = shape_.size();
    result.data = buffer_->data();
    result.rows = shape_[axes - 2];
    result.columns = shape_[axes - 1];
    result.row_stride = strides_[axes - 2];
    result.column_stride = strides_[axes - 1];
    result.shape = shape_;
    result.strides = strides_;
    result.shape.resize(axes - 2);
    result.strides.resize(axes - 2);
    return result;
}

lapack::Matrices Output::columns() const {
    lapack::Matrices result;
    result.data = buffer_->data();
    result.rows = shape_.back();
    result.columns = 1;
    result.row_stride = types_.compute.itemsize();
    result.column_stride = result.rows * types_.compute.itemsize();
    result.shape = shape_;
    result.strides = strides_;
    result.shape.resize(shape_.size() - 1);
    result.strides.resize(shape_.size() - 1);
    return result;
}

}  // namespace weft::linalg
