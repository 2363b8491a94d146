// weft::array: what a NumPy ndarray is, in C++. A handle to a storage with a view of it (shape, byte strides,
// byte offset) and a dtype. Copying the handle shares the storage, as `y = x` does in Python.
//
// Nothing is computed until it is observed; errors in shapes, dtypes and indices are thrown by the call
// itself.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "weft/dims.h"
#include "weft/dtype.h"
#include "weft/errors.h"

namespace weft {

class Storage;

// A Python int of any size, as far as arrays can tell such numbers apart.
struct Integer {
    uint64_t magnitude = 0;
    bool negative = false;
    bool huge = false;         // does not fit 64 bits; `approximation` holds it
    double approximation = 0;  // infinite when it does not fit a double either

    Integer() = default;
    Integer(int64_t value)
        : magnitude(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value)),
          negative(value < 0),
          approximation(static_cast<double>(value)) {}
};

class array {
public:
    array() = default;  // refers to nothing; only assignment and destruction are allowed
    array(std::shared_ptr<Storage> storage, DType dtype, Dims shape, Dims strides, int64_t offset,
          bool writeable);

    bool valid() const { return storage_ != nullptr; }
    DType dtype() const { return dtype_; }
    int ndim() const { return static_cast<int>(shape_.size()); }
    const Dims& shape() const { return shape_; }
    const Dims& strides() const { return strides_; }  // bytes
    int64_t offset() const { return offset_; }        // bytes from the start of the storage
    int64_t size() const { return element_count(shape_); }
    int64_t itemsize() const { return static_cast<int64_t>(dtype_.itemsize()); }
    int64_t nbytes() const { return size() * itemsize(); }
    bool writeable() const { return writeable_; }
    // Throws ValueError for memory that others lent for reading. That no view becomes writeable of an array
    // which is not, its owner has to see to.
    void set_writeable(bool writeable);
    bool owns_data() const { return owns_data_; }
    bool c_contiguous() const;
    bool f_contiguous() const;
    const std::shared_ptr<Storage>& storage() const { return storage_; }

    // The same storage under another view; bounds are the caller's business (see graph/indexed_view.h).
    array with_view(DType dtype, Dims shape, Dims strides, int64_t offset) const {
        return array(*this, dtype, std::move(shape), std::move(strides), offset);
    }
    // The same elements in another shape, which is no view of anything (setting x.shape).
    void set_layout(Dims shape, Dims strides);

private:
    array(const array& base, DType dtype, Dims&& shape, Dims&& strides, int64_t offset)
        : storage_(base.storage_),
          dtype_(dtype),
          shape_(std::move(shape)),
          strides_(std::move(strides)),
          offset_(offset),
          writeable_(base.writeable_),
          owns_data_(false) {}

    std::shared_ptr<Storage> storage_;
    DType dtype_;
    Dims shape_, strides_;
    int64_t offset_ = 0;
    bool writeable_ = true;
    bool owns_data_ = true;
};

// An operand of an operation: an array, or a Python scalar, whose dtype yields to the arrays' (NEP 50).
using Argument = std::variant<array, bool, Integer, double, std::complex<double>>;

}  // namespace weft
