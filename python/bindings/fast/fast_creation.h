// The fast paths (fast/fast_call.h) of functions that create arrays and of methods that copy or view them.
// They are inline, so that the table's wrappers (fast/fast_table.cpp) call nothing further.
#pragma once

#include <functional>
#include <memory>

#include "api/fast/fast_call.h"
#include "api/recording/transfer.h"
#include "convert/convert.h"
#include "core/float_errors.h"
#include "fast/fast_call.h"
#include "graph/operand.h"
#include "objects/objects.h"
#include "weft/assembly.h"

namespace weft::python {

// ---- methods ----

inline PyObject* fast_reshape(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    Dims shape;
    if (count == 0 || !plain_integers(arguments, count, shape)) return nullptr;
    return view_to_object(reshape(array_of(self), shape), self);
}

inline PyObject* fast_transpose(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    Dims axes;
    if (!plain_integers(arguments, count, axes) || (count != 0 && axes.empty())) return nullptr;
    return view_to_object(transpose(array_of(self), axes), self);
}

inline PyObject* fast_ravel(PyObject* self, PyObject* const*, Py_ssize_t count) {
    return count == 0 ? view_to_object(ravel(array_of(self)), self) : nullptr;
}

inline PyObject* fast_copy(PyObject* self, PyObject* const*, Py_ssize_t count) {
    return count == 0 ? to_object(copy(array_of(self), 'C')) : nullptr;
}

inline PyObject* fast_astype(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 1) return nullptr;
    const DType target = to_dtype_required(arguments[0]);
    warn_of_lost_imaginary_part(array_of(self).dtype(), target);
    return to_object(astype(array_of(self), target));
}

inline PyObject* fast_item(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    const array& value = array_of(self);
    int64_t position = 0, offset = value.offset();
    if (count == 1) {
        if (value.ndim() != 1 || !plain_integer(arguments[0], position)) return nullptr;
        const int64_t extent = value.shape()[0];
        if (position < 0) position += extent;
        if (position < 0 || position >= extent) return nullptr;
        offset += position * value.strides()[0];
    } else if (count != 0 || value.size() != 1) {
        return nullptr;
    }
    alignas(16) char bytes[16];
    if (try_read(value, offset, bytes)) return element_to_python(value.dtype(), bytes).release().ptr();
    return only_element(value.with_view(value.dtype(), {}, {}, offset)).release().ptr();
}

inline PyObject* fast_tolist(PyObject* self, PyObject* const*, Py_ssize_t count) {
    return count == 0 ? to_nested_list(array_of(self)).release().ptr() : nullptr;
}

// ---- functions ----

/// What comes after the first argument: nothing, or a dtype.
inline bool plain_dtype(PyObject* const* arguments, Py_ssize_t count, std::optional<DType>& dtype) {
    if (count > 2) return false;
    if (count == 2) dtype = to_dtype(arguments[1]);
    return true;
}

inline bool plain_shape(PyObject* const* arguments, Py_ssize_t count, Dims& shape,
                        std::optional<DType>& dtype) {
    return count >= 1 && plain_integers(arguments, 1, shape) && plain_dtype(arguments, count, dtype);
}

inline PyObject* fast_empty(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    Dims shape;
    std::optional<DType> dtype;
    if (!plain_shape(arguments, count, shape, dtype)) return nullptr;
    return to_object(empty(shape, dtype.value_or(DType())));
}

template <int value>
PyObject* fast_filled(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    Dims shape;
    std::optional<DType> dtype;
    if (!plain_shape(arguments, count, shape, dtype)) return nullptr;
    const DType type = dtype.value_or(DType());
    array result;
    if (value == 0 && try_zeros(shape, type, result)) return to_object(std::move(result));
    return to_object(full(shape, Integer(value), type));
}

inline PyObject* fast_zeros(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_filled<0>(self, arguments, count);
}
inline PyObject* fast_ones(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_filled<1>(self, arguments, count);
}

/// A list or tuple of nothing but floats, or nothing but integers of 64 bits.
template <typename T, typename Read>
bool flat_array(PyObject* sequence, Py_ssize_t count, ScalarType type, const Read& read, array& result) {
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count) * sizeof(T));
    T* element = reinterpret_cast<T*>(buffer->data());
    const bool is_list = PyList_CheckExact(sequence);
    SignalChecks signals;
    for (Py_ssize_t i = 0; i < count; ++i, signals.next_iteration()) {
        const nb::object item = element_of(sequence, is_list, i);
        if (!item.is_valid() || !read(item.ptr(), element[i])) return false;
    }
    result = move_to(array_of(std::move(buffer), type, {count}, {static_cast<int64_t>(sizeof(T))}),
                     current_device());
    return true;
}

/// Whether `object` is a scalar of that type whose value is known; sets `value`.
template <typename T>
bool known_scalar(PyObject* object, ScalarType type, T& value) {
    if (Py_TYPE(object) != registry.scalar_types[static_cast<size_t>(type)]) return false;
    const auto* scalar = reinterpret_cast<ScalarObject*>(object);
    if (scalar->lazy.load(std::memory_order_acquire) != nullptr) return false;
    std::memcpy(&value, scalar->bytes, sizeof value);
    return true;
}

inline bool float_element(PyObject* object, double& element) {
    if (!PyFloat_CheckExact(object)) return known_scalar(object, ScalarType::kFloat64, element);
    element = PyFloat_AsDouble(object);
    return true;
}

inline bool integer_element(PyObject* object, int64_t& element) {
    return PyLong_CheckExact(object) ? plain_integer(object, element)
                                     : known_scalar(object, ScalarType::kInt64, element);
}

bool flat_array(PyObject* sequence, array& result) {
    const bool is_list = PyList_CheckExact(sequence);
    if (!is_list && !PyTuple_CheckExact(sequence)) return false;
    const Py_ssize_t count = is_list ? PyList_Size(sequence) : PyTuple_Size(sequence);
    if (count == 0) return false;
    const nb::object head = element_of(sequence, is_list, 0);
    if (!head.is_valid()) return false;
    PyObject* first = head.ptr();
    double number = 0;
    if (float_element(first, number))
        return flat_array<double>(sequence, count, ScalarType::kFloat64, float_element, result);
    int64_t integer = 0;
    return integer_element(first, integer) &&
           flat_array<int64_t>(sequence, count, ScalarType::kInt64, integer_element, result);
}

/// concatenate((a, b)), along the first axis or a given one.
inline PyObject* fast_concatenate(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    int64_t axis = 0;
    if (count < 1 || count > 2 || (count == 2 && !plain_integer(arguments[1], axis))) return nullptr;
    const bool is_list = PyList_CheckExact(arguments[0]);
    if (!is_list && !PyTuple_CheckExact(arguments[0])) return nullptr;
    const Py_ssize_t parts = is_list ? PyList_Size(arguments[0]) : PyTuple_Size(arguments[0]);
    std::vector<array> inputs;
    inputs.reserve(static_cast<size_t>(parts));
    for (Py_ssize_t i = 0; i < parts; ++i) {
        const nb::object part = element_of(arguments[0], is_list, i);
        if (!part.is_valid() || !is_plain_array(part.ptr())) return nullptr;
        inputs.push_back(array_of(part));
    }
    return to_object(concatenate(inputs, axis, std::nullopt, Casting::kSameKind, array()));
}

/// roll(a, shift), along the flat array or a given axis.
inline PyObject* fast_roll(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    int64_t shift = 0, axis = 0;
    if (count < 2 || count > 3 || !is_plain_array(arguments[0]) || !plain_integer(arguments[1], shift))
        return nullptr;
    const array& value = array_of(arguments[0]);
    if (count == 2) return to_object(roll(value, shift));
    return plain_integer(arguments[2], axis) ? to_object(roll(value, shift, axis)) : nullptr;
}

/// array(object): always new; asarray(object): an array itself.
inline PyObject* fast_array_of(PyObject* object, const std::optional<DType>& dtype, bool always_new) {
    array result;
    if (is_plain_array(object)) {
        const array& value = array_of(object);
        const bool converts = dtype && !(value.dtype() == *dtype);
        if (!always_new && !converts) {
            Py_INCREF(object);
            return object;
        }
        if (converts) warn_of_lost_imaginary_part(value.dtype(), *dtype);
        return to_object(converts ? astype(value, *dtype) : copy(value));
    }
    if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) {
        const DType own = PyFloat_CheckExact(object) ? DType() : DType(ScalarType::kInt64);
        const nb::object scalar = nb::steal(number_as_scalar(object, dtype.value_or(own)));
        if (!scalar.is_valid()) return nullptr;
        return to_object(
            move_to(weft::scalar(scalar_dtype(scalar.ptr()), scalar_bytes(scalar.ptr())), current_device()));
    }
    if (!flat_array(object, result)) return nullptr;
    if (dtype && !(result.dtype() == *dtype)) return nullptr;  // converted with Python's rules and errors
    return to_object(std::move(result));
}

inline PyObject* fast_array(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    std::optional<DType> dtype;
    if (count < 1 || !plain_dtype(arguments, count, dtype)) return nullptr;
    return fast_array_of(arguments[0], dtype, true);
}

inline PyObject* fast_asarray(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    std::optional<DType> dtype;
    if (count < 1 || !plain_dtype(arguments, count, dtype)) return nullptr;
    return fast_array_of(arguments[0], dtype, false);
}

/// asanyarray(object): as asarray, but instances of subclasses pass as well.
inline PyObject* fast_asanyarray(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count == 1 && is_array(arguments[0])) return Py_NewRef(arguments[0]);
    return fast_asarray(nullptr, arguments, count);
}

/// eval(...) of what is computed already, or of one array.
inline PyObject* fast_eval(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (is_scalar(arguments[i])) {
            const std::optional<array> lazy = lazy_of(arguments[i]);
            if (lazy && !evaluated(*lazy)) return nullptr;
        } else if (!is_array(arguments[i])) {
            return nullptr;
        } else if (!evaluated(array_of(arguments[i]))) {
            if (count != 1) return nullptr;
            const array pending = array_of(arguments[0]);
            const GilRelease release;
            eval({&pending, 1});
        }
    }
    Py_RETURN_NONE;
}

inline PyObject* fast_arange(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count < 1 || count > 3) return nullptr;
    Argument bounds[3] = {Integer(0), Integer(0), Integer(1)};
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* object = arguments[i];
        Argument& bound = bounds[count == 1 ? 1 : i];
        int64_t integer = 0;
        if (PyFloat_CheckExact(object)) {
            bound = PyFloat_AsDouble(object);
        } else if (plain_integer(object, integer)) {
            bound = Integer(integer);
        } else {
            return nullptr;
        }
    }
    return to_object(arange(bounds[0], bounds[1], bounds[2]));
}

}  // namespace weft::python
