// weft::array: what a NumPy ndarray is, in C++. A handle to a storage with a view of it (shape, byte strides,
// byte offset) and a dtype. Copying the handle shares the storage, as `y = x` does in Python.
//
// Nothing is computed until it is observed; errors in shapes, dtypes and indices are thrown by the call
// itself.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "weft/dims.h"
#include "weft/dtype.h"
#include "weft/elements.h"
#include "weft/errors.h"
#include "weft/shape.h"

namespace weft {

class Storage;
class Argument;

// A Python int of any size, as far as arrays can tell such numbers apart.
struct Integer {
    uint64_t magnitude = 0;
    bool negative = false;
    bool huge = false;         // does not fit 64 bits; `approximation` holds it
    double approximation = 0;  // infinite when it does not fit a double either

    Integer() = default;
    template <std::integral T>
    Integer(T value)
        : magnitude(value < T(0) ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value)),
          negative(value < T(0)),
          approximation(static_cast<double>(value)) {}
};

class array {
public:
    array() = default;  // refers to nothing; only assignment and destruction are allowed
    array(const array&) = default;
    array(array&&) noexcept = default;
    ~array() = default;

    // New memory with these elements: weft::array a = {{1.0, 2.0}, {3.0, 4.0}}. A list of ints is one of
    // int64, as in Python; every other element type is kept. Throws ValueError for rows of different lengths.
    template <ElementType T>
    array(std::initializer_list<T> values);
    template <ElementType T>
    array(std::initializer_list<std::initializer_list<T>> rows);
    template <ElementType T>
    array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks);
    // A copy of what a std::vector, std::array or std::span holds, in C order. Throws ValueError where their
    // number does not make the shape, of which one extent may be -1.
    template <ElementRange R>
    explicit array(const R& values);
    template <ElementRange R>
    array(const R& values, const Shape& shape);

    // Names another array, as `y = x` does in Python.
    array& operator=(const array&) & = default;
    array& operator=(array&&) & noexcept = default;
    // Writes into what was just indexed, as `a[1:-1] = value` does: a(weft::slice(1, -1)) = value. The value
    // broadcasts, and is cast however far.
    void operator=(const Argument& value) &&;
    array(std::shared_ptr<Storage> storage, DType dtype, Dims shape, Dims strides, int64_t offset,
          bool writeable);

    bool valid() const { return storage_ != nullptr; }
    DType dtype() const { return dtype_; }
    int ndim() const { return static_cast<int>(shape_.size()); }
    const Dims& shape() const { return shape_; }
    const Dims& strides() const { return strides_; }  // bytes
    int64_t offset() const { return offset_; }        // bytes from the start of the storage
    int64_t size() const { return element_count(shape_); }
    int64_t itemsize() const { return dtype_.itemsize(); }
    int64_t nbytes() const { return size() * itemsize(); }
    bool writeable() const { return writeable_; }
    // Throws ValueError for memory that others lent for reading. That no view becomes writeable of an array
    // which is not, its owner has to see to.
    void set_writeable(bool writeable);
    bool owns_data() const { return owns_data_; }
    bool c_contiguous() const;
    bool f_contiguous() const;
    const std::shared_ptr<Storage>& storage() const { return storage_; }

    // What the indices choose: integers, weft::slice, weft::all, weft::newaxis and weft::ellipsis give an
    // array that shares this one's memory. With arrays of integers or bools among them it is a Selection,
    // which becomes a copy where it is read (weft/indexing.h). Throws IndexError.
    template <class... Indices>
    auto operator()(const Indices&... indices) const;
    template <class I>
    auto operator[](const I& index) const {
        return (*this)(index);
    }

    // The only element, or the one at a position. Throws ValueError where there are several, TypeError where
    // T is of a lesser kind than the dtype, OverflowError where an integer does not fit T.
    template <ElementType T, class... Indices>
    T item(const Indices&... position) const;
    // What Python's bool(), float() and so on do: a bool says whether the only element is not zero, and
    // throws ValueError for several or none; other types are item() of an array without dimensions.
    template <ElementType T>
    explicit operator T() const;

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
          owns_data_(false) {
        check_shape(shape_, itemsize());
    }

    std::shared_ptr<Storage> storage_;
    DType dtype_;
    Dims shape_, strides_;
    int64_t offset_ = 0;
    bool writeable_ = true;
    bool owns_data_ = true;
};

// An operand of an operation: an array, or a scalar, whose dtype yields to the arrays' as that of a Python
// scalar does (NEP 50): a C++ integer is an int of Python's, a float or double a Python float.
class Argument : public std::variant<array, bool, Integer, double, std::complex<double>> {
public:
    Argument() = default;
    Argument(array value) : variant(std::move(value)) {}
    Argument(Integer value) : variant(value) {}
    template <std::same_as<bool> T>
    Argument(T value) : variant(value) {}
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    Argument(T value) : variant(Integer(value)) {}
    template <std::floating_point T>
    Argument(T value) : variant(static_cast<double>(value)) {}
    template <std::floating_point T>
    Argument(std::complex<T> value) : variant(std::complex<double>(value)) {}
    // What becomes an array: a Selection.
    template <class T>
        requires(!std::same_as<T, array> && !std::derived_from<T, Argument> &&
                 requires(const T& value) {
                     { value.read() } -> std::same_as<array>;
                 })
    Argument(const T& value) : variant(value.read()) {}
};

}  // namespace weft
