// Arrays on a GPU as the matrices that its factorisations take (library/linalg/cuda/), and what these say of
// them.
#pragma once

#include <optional>
#include <string>

#include "api/recording/deferred_checks.h"
#include "library/linalg/cuda/factorizations.h"
#include "weft/array.h"

namespace weft::linalg {

/// Whether the libraries are there and there is something to do; if not, the reason.
bool is_usable(const array& a, std::string& why);

/// Matrices of its own in a GPU's memory, which are overwritten: those of an array's last two axes, row by
/// row, which the factorisations read as the transposed ones.
class DeviceMatrices {
public:
    /// Of `given`, as `dtype`.
    DeviceMatrices(const array& given, DType dtype);
    /// Without values.
    DeviceMatrices(DeviceBackend& device, DType dtype, const Dims& batch, int64_t rows, int64_t columns);

    cusolver::Matrices transposed() const;
    /// With the addresses of each, where they are taken together.
    cusolver::Matrices transposed_with_pointers();

    DeviceBackend& device() const { return *device_; }
    DType dtype() const { return dtype_; }
    uint64_t address() const { return buffer_->address(); }
    PoisonPtr poison() const { return buffer_->poison(); }
    void set_poison(const PoisonPtr& poison) { buffer_->set_poison(poison); }
    int64_t nbytes() const;
    const Dims& shape() const { return shape_; }

    /// The array that has this memory from now on: nothing overwrites it any more.
    array finish() const;

private:
    DeviceBackend* device_;
    DType dtype_;
    Dims shape_;
    BufferPtr buffer_;
    BufferPtr pointers_;
};

/// Numbers for each matrix of a batch: pivots, eigenvalues, what a factorisation says.
class DeviceNumbers {
public:
    DeviceNumbers(DeviceBackend& device, DType dtype, const Dims& batch, int64_t each);
    uint64_t address() const { return buffer_->address(); }
    void set_poison(const PoisonPtr& poison) { buffer_->set_poison(poison); }
    void clear();
    array finish() const;

private:
    DType dtype_;
    Dims shape_;
    BufferPtr buffer_;
};

/// An integer for each matrix, 0 where it has a result.
class DeviceInfo {
public:
    DeviceInfo(DeviceBackend& device, const Dims& batch, const PoisonPtr& poison, bool keeps_nan = false);
    uint64_t address() const { return numbers_.address(); }
    array failed() const;                              // bools, of the batch's shape
    array failed_or_unknown(const array& read) const;  // or nan is among what was read
    /// Throws LinAlgError where a matrix has none, with one look for all of them; or leaves that for later:
    /// then results are poisoned by what it returns. So they are by what poisons the input.
    PoisonPtr check(const char* message) const;
    /// The same, but a matrix of `read` with infinities or nan has nan for a result, as LAPACK's, and is no
    /// error: cuSOLVER calls it singular or not positive definite, or takes nan for zero. Where the library
    /// keeps nan, as cuBLAS does, the elements are read again only if something failed.
    struct Outcome {
        PoisonPtr poison;
        array undefined;  // of the batch's shape, true where nan is the result; not valid where there is none
        /// Matrices as results.
        array apply(const array& results) const;
    };
    Outcome check(const char* message, const array& read) const;
    /// What a failure stands for: `value`, or nan for a matrix with infinities or nan. As LAPACK's, it is
    /// `value` where the library keeps nan.
    array failed_as(double value, const array& read, const array& otherwise) const;

private:
    DeviceBackend& device_;
    PoisonPtr poison_;
    DeviceNumbers numbers_;
    bool keeps_nan_;
};

/// As the history of kernels names what is done: "cusolver getrf f64 10*3x3".
std::string name_of(const char* routine, DType dtype, const cusolver::Matrices& matrices);

Dims with_core(const Dims& batch, std::initializer_list<int64_t> core);
array swap_last(const array& matrices);

}  // namespace weft::linalg
