#include "api/linalg/gpu/device_matrices.h"

#include <limits>
#include <utility>

#include "core/shape.h"
#include "core/threads/way_taken.h"
#include "execution/evaluate.h"
#include "execution/kernels/gpu_programs.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::linalg {

namespace {

/// The elements in C order, in memory that nobody else has.
BufferPtr own_copy(const array& given, DType dtype) {
    DeviceBackend& device = device_of(given);
    array made = given.dtype() == dtype ? copy(given, 'C') : astype(given, dtype, 'C');
    BufferPtr buffer = evaluate_storage(*made.storage());
    const auto offset = static_cast<size_t>(made.offset()), bytes = static_cast<size_t>(made.nbytes());
    made = array();
    if (buffer.use_count() == 1 && offset == 0) return buffer;
    BufferPtr own = device.allocate(bytes);
    device.copy(*own, 0, *buffer, offset, bytes);
    own->set_poison(buffer->poison());
    return own;
}

}  // namespace

bool is_usable(const array& a, std::string& why) {
    if (a.size() != 0) return cusolver::is_there(device_of(a), why);
    why = "no elements";
    return false;
}

std::string name_of(const char* routine, DType dtype, const cusolver::Matrices& matrices) {
    way_taken = {"cuSOLVER", routine, 0};
    std::string name = std::string("cusolver ") + routine + " " + std::string(dtype.name()) + " ";
    if (matrices.count > 1) name += std::to_string(matrices.count) + "*";
    return name + std::to_string(matrices.rows) + "x" + std::to_string(matrices.columns);
}

Dims with_core(const Dims& batch, std::initializer_list<int64_t> core) {
    Dims shape = batch;
    for (const int64_t extent : core) shape.push_back(extent);
    return shape;
}

array swap_last(const array& matrices) { return swapaxes(matrices, -1, -2); }

DeviceMatrices::DeviceMatrices(const array& given, DType dtype)
    : device_(&device_of(given)), dtype_(dtype), shape_(given.shape()), buffer_(own_copy(given, dtype)) {}

DeviceMatrices::DeviceMatrices(DeviceBackend& device, DType dtype, const Dims& batch, int64_t rows,
                               int64_t columns)
    : device_(&device), dtype_(dtype), shape_(with_core(batch, {rows, columns})) {
    buffer_ = device.allocate(static_cast<size_t>(checked_bytes(shape_, dtype)));
}

int64_t DeviceMatrices::nbytes() const { return element_count(shape_) * dtype_.itemsize(); }

cusolver::Matrices DeviceMatrices::transposed() const {
    const int64_t rows = shape_[shape_.size() - 2], columns = shape_.back();
    return {buffer_->address(), columns, rows, element_count(shape_) / (rows * columns),
            pointers_ != nullptr ? pointers_->address() : 0};
}

cusolver::Matrices DeviceMatrices::transposed_with_pointers() {
    const cusolver::Matrices matrices = transposed();
    if (pointers_ != nullptr || !cusolver::takes_together(matrices)) return matrices;
    const DType address(ScalarType::kUInt64);
    const array made = arange(Integer(0), Integer(matrices.count), Integer(1), address) *
                           Integer(matrices.rows * matrices.columns * dtype_.itemsize()) +
                       Integer(buffer_->address());
    pointers_ = evaluate_storage(*made.storage());
    return transposed();
}

array DeviceMatrices::finish() const {
    return array_of(buffer_, dtype_, shape_, c_strides(shape_, dtype_.itemsize()));
}

DeviceNumbers::DeviceNumbers(DeviceBackend& device, DType dtype, const Dims& batch, int64_t each)
    : dtype_(dtype), shape_(with_core(batch, {each})) {
    buffer_ = device.allocate(static_cast<size_t>(checked_bytes(shape_, dtype)));
}

void DeviceNumbers::clear() { clear_on_gpu(*buffer_, 0, buffer_->size()); }

array DeviceNumbers::finish() const {
    return array_of(buffer_, dtype_, shape_, c_strides(shape_, dtype_.itemsize()));
}

DeviceInfo::DeviceInfo(DeviceBackend& device, const Dims& batch, const PoisonPtr& poison, bool keeps_nan)
    : device_(device),
      poison_(poison),
      numbers_(device, ScalarType::kInt32, batch, 1),
      keeps_nan_(keeps_nan) {
    numbers_.clear();
    numbers_.set_poison(poison);
}

array DeviceInfo::failed() const {
    const array info = numbers_.finish();
    Dims batch = info.shape();
    batch.resize(batch.size() - 1);
    return reshape(info, batch) > 0;
}

PoisonPtr DeviceInfo::check(const char* message) const {
    const array info = numbers_.finish();
    const array largest = info.size() == 1 ? reshape(info, Shape{}) : max(info);
    if (defers_checks(device_)) {
        Requirement requirement;
        requirement.least = largest;
        requirement.low = INT64_MIN;
        requirement.high = 0;
        requirement.kind = ErrorKind::kLinAlgError;
        requirement.message = message;
        return join(poison_, defer(std::move(requirement)));
    }
    if (integer_at(largest) > 0) throw LinAlgError(message);
    return poison_;
}

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

array have_finite(const array& read) { return all(isfinite(read), {-1, -2}); }

// cuSOLVER reads nan as zero, and its results for such a matrix are those of another one.
array have_nan(const array& read) { return any(not_equal(read, read), {-1, -2}); }

}  // namespace

array DeviceInfo::failed_or_unknown(const array& read) const {
    return read.dtype().is_inexact() && !keeps_nan_ ? failed() | have_nan(read) : failed();
}

DeviceInfo::Outcome DeviceInfo::check(const char* message, const array& read) const {
    if (!read.dtype().is_inexact()) return {check(message), array()};
    if (defers_checks(device_)) {
        const array wrong = failed(), finite = have_finite(read), unknown = have_nan(read);
        Requirement requirement;
        requirement.least = max(astype(wrong & finite, ScalarType::kInt32));
        requirement.low = INT64_MIN;
        requirement.high = 0;
        requirement.kind = ErrorKind::kLinAlgError;
        requirement.message = message;
        return {join(poison_, defer(std::move(requirement))), (wrong & ~finite) | unknown};
    }
    if (keeps_nan_ && !truth_of(any(failed()))) return {poison_, array()};
    const array undefined = failed() | have_nan(read);
    if (!truth_of(any(undefined))) return {poison_, array()};
    if (truth_of(any(failed() & have_finite(read)))) throw LinAlgError(message);
    return {poison_, undefined};
}

array DeviceInfo::Outcome::apply(const array& results) const {
    return undefined.valid() ? where(expand_dims(undefined, {-1, -2}), kNan, results) : results;
}

array DeviceInfo::failed_as(double value, const array& read, const array& otherwise) const {
    const array wrong = failed(), failure = where(wrong, value, otherwise);
    if (!read.dtype().is_inexact() || keeps_nan_) return failure;
    return where((wrong & ~have_finite(read)) | have_nan(read), kNan, failure);
}

}  // namespace weft::linalg
