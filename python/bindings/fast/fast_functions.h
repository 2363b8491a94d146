// The fast paths (fast/fast_call.h) of reductions, of functions between elements of two arrays, and of what
// puts elements in order. They are inline, so that the table's wrappers (fast/fast_table.cpp) call nothing
// further.
#pragma once

#include <cstring>

#include "api/fast/fast_call.h"
#include "api/fast/fast_sums.h"
#include "api/ordering/fast_interpolate.h"
#include "api/ordering/fast_order.h"
#include "api/products/fast_einsum.h"
#include "core/float_errors.h"
#include "fast/fast_call.h"
#include "graph/operand.h"
#include "objects/objects.h"
#include "weft/bits.h"
#include "weft/products.h"

namespace weft::python {

// ---- reductions ----

/// Of all elements, or over one axis.
template <ReductionId id>
PyObject* fast_reduction(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    const array& value = array_of(self);
    if (count == 0 && !float_errors_watched()) {
        DType dtype;
        alignas(16) char element[16];
        if (try_reduce(reduction_info(id), value, dtype, element))
            return wrap_scalar(dtype, element).release().ptr();
    }
    if (count > 1 || is_large(value)) return nullptr;
    ReduceOptions options;
    int64_t axis = 0;
    if (count == 1) {
        if (!plain_integer(arguments[0], axis)) return nullptr;
        options.axes = Dims{axis};
    }
    return wrap_result(reduce(reduction_info(id), value, options)).release().ptr();
}

inline PyObject* fast_sum(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_reduction<ReductionId::kSum>(self, arguments, count);
}
inline PyObject* fast_prod(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_reduction<ReductionId::kProd>(self, arguments, count);
}
inline PyObject* fast_max(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_reduction<ReductionId::kMax>(self, arguments, count);
}
inline PyObject* fast_min(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_reduction<ReductionId::kMin>(self, arguments, count);
}
inline PyObject* fast_any(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_reduction<ReductionId::kAny>(self, arguments, count);
}
inline PyObject* fast_all(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_reduction<ReductionId::kAll>(self, arguments, count);
}
inline PyObject* fast_argmax(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_reduction<ReductionId::kArgmax>(self, arguments, count);
}
inline PyObject* fast_argmin(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_reduction<ReductionId::kArgmin>(self, arguments, count);
}

inline PyObject* fast_mean(PyObject* self, PyObject* const*, Py_ssize_t count) {
    const array& value = array_of(self);
    alignas(16) char element[16];
    if (count != 0 || float_errors_watched() || !try_mean(value, element)) return nullptr;
    return wrap_scalar(value.dtype(), element).release().ptr();
}

inline PyObject* fast_count_nonzero(PyObject* self, PyObject* const*, Py_ssize_t count) {
    const array& value = array_of(self);
    if (count != 0 || !value.dtype().is_bool()) return nullptr;
    DType dtype;
    alignas(16) char element[16];
    if (!try_reduce(reduction_info(ReductionId::kSum), value, dtype, element)) return nullptr;
    return wrap_scalar(dtype, element).release().ptr();
}

inline PyObject* fast_bincount(PyObject* self, PyObject* const*, Py_ssize_t count) {
    const array& value = array_of(self);
    if (count != 0 || value.ndim() != 1 || value.size() == 0 || is_large(value) ||
        value.dtype().scalar_type() != ScalarType::kInt64)
        return nullptr;
    return to_object(bincount(value, array(), 0));
}

/// Of a row, all elements as often.
inline PyObject* fast_repeat(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    const array& row = array_of(self);
    int64_t times = 0, elements = 0;
    if (count != 1 || row.ndim() != 1 || !plain_integer(arguments[0], times) || times < 1 ||
        __builtin_mul_overflow(row.size(), times, &elements) || elements == 0 || elements > kLargeWork)
        return nullptr;
    array result = copy(broadcast_to(expand_dims(row, Dims{1}), Dims{row.size(), times}), 'C');
    result.set_layout(Dims{elements}, Dims{result.itemsize()});
    return to_object(std::move(result));
}

/// packbits(a), unpackbits(a): of all elements.
template <array (*function)(const array&)>
PyObject* fast_of_all(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 1 || !is_plain_array(arguments[0]) || is_large(array_of(arguments[0]))) return nullptr;
    return to_object(function(array_of(arguments[0])));
}
inline PyObject* fast_packbits(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_of_all<[](const array& a) { return packbits(a); }>(self, arguments, count);
}
inline PyObject* fast_unpackbits(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_of_all<[](const array& a) { return unpackbits(a); }>(self, arguments, count);
}

// ---- between elements of two arrays ----

inline PyObject* fast_dot(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 1 || !is_plain_array(arguments[0])) return nullptr;
    const array &left = array_of(self), &right = array_of(arguments[0]);
    if (is_large(left) || is_large(right)) return nullptr;
    return wrap_result(dot(left, right)).release().ptr();
}

/// A function of two arrays.
template <array (*function)(const array&, const array&)>
PyObject* fast_of_two(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !is_plain_array(arguments[0]) || !is_plain_array(arguments[1])) return nullptr;
    const array &left = array_of(arguments[0]), &right = array_of(arguments[1]);
    if (is_large(left) || is_large(right)) return nullptr;
    return wrap_result(function(left, right)).release().ptr();
}
inline PyObject* fast_matmul(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_of_two<matmul>(self, arguments, count);
}
inline PyObject* fast_inner(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_of_two<inner>(self, arguments, count);
}
inline PyObject* fast_vdot(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    return fast_of_two<vdot>(self, arguments, count);
}

/// A product of two arrays of so many axes, where they are few numbers. What is refused has texts of its own.
template <bool (*function)(const array&, const array&, array&)>
PyObject* fast_product(PyObject* const* arguments, Py_ssize_t count, int left_axes, int right_axes) {
    if (count != 2 || !is_plain_array(arguments[0]) || !is_plain_array(arguments[1]) ||
        float_errors_watched())
        return nullptr;
    const array &left = array_of(arguments[0]), &right = array_of(arguments[1]);
    array result;
    if ((left_axes != 0 && left.ndim() != left_axes) || (right_axes != 0 && right.ndim() != right_axes) ||
        !function(left, right, result))
        return nullptr;
    return wrap_result(std::move(result)).release().ptr();
}
inline PyObject* fast_matvec(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    return fast_product<try_multiply>(arguments, count, 2, 1);
}
inline PyObject* fast_vecmat(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count == 2 && is_plain_array(arguments[0]) && array_of(arguments[0]).dtype().is_complex())
        return nullptr;  // which is conjugated
    return fast_product<try_multiply>(arguments, count, 1, 2);
}
inline PyObject* fast_vecdot(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    return fast_product<try_vecdot>(arguments, count, 0, 0);
}

/// einsum(text, a, b)
inline PyObject* fast_einsum(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 3 || !PyUnicode_CheckExact(arguments[0]) || !is_plain_array(arguments[1]) ||
        !is_plain_array(arguments[2]) || float_errors_watched())
        return nullptr;
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(arguments[0], &length);
    if (text == nullptr) {
        PyErr_Clear();
        return nullptr;
    }
    array result;
    if (!try_einsum({text, static_cast<size_t>(length)}, array_of(arguments[1]), array_of(arguments[2]),
                    result))
        return nullptr;
    return wrap_result(std::move(result)).release().ptr();
}

/// The norm of all elements.
inline PyObject* fast_norm(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 1 || !is_plain_array(arguments[0]) || float_errors_watched()) return nullptr;
    DType dtype;
    alignas(16) char element[16];
    if (!try_norm(array_of(arguments[0]), dtype, element)) return nullptr;
    return wrap_scalar(dtype, element).release().ptr();
}
inline PyObject* fast_matrix_norm(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 1 || !is_plain_array(arguments[0]) || array_of(arguments[0]).ndim() != 2) return nullptr;
    return fast_norm(self, arguments, count);
}

inline PyObject* fast_clip(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    const DType dtype = array_of(self).dtype();
    if (count != 2 || dtype.is_bool() || dtype.is_complex()) return nullptr;
    static const OpInfo& clip = op_info(OpId::kClip);
    PyObject* const operands[3] = {self, arguments[0], arguments[1]};
    return try_run(clip, operands, 3);
}

/// The bytes of a number as an element of that type, float64 or int64, or null: of Python's numbers, which
/// may be put into `own`, or of a scalar.
inline const void* plain_number(PyObject* object, ScalarType type, char* own) {
    if (is_scalar(object)) return scalar_dtype(object) == DType(type) ? scalar_bytes(object) : nullptr;
    int64_t integer = 0;
    double number = 0;
    const bool is_integer = plain_integer(object, integer);
    if (type == ScalarType::kInt64 && is_integer) {
        std::memcpy(own, &integer, sizeof integer);
    } else if (type == ScalarType::kFloat64 && (is_integer || PyFloat_CheckExact(object))) {
        number = is_integer ? static_cast<double>(integer) : PyFloat_AsDouble(object);
        std::memcpy(own, &number, sizeof number);
    } else {
        return nullptr;
    }
    return own;
}

/// interp(x, xp, fp)
inline PyObject* fast_interp(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 3 || float_errors_watched() || !is_plain_array(arguments[1]) ||
        !is_plain_array(arguments[2]))
        return nullptr;
    const array &xp = array_of(arguments[1]), &fp = array_of(arguments[2]);
    if (is_plain_array(arguments[0])) {
        array result;
        if (!try_interpolate(array_of(arguments[0]), xp, fp, result)) return nullptr;
        return to_object(std::move(result));
    }
    alignas(16) char own[16];
    const void* const given = plain_number(arguments[0], ScalarType::kFloat64, own);
    if (given == nullptr) return nullptr;
    double x = 0, value = 0;
    std::memcpy(&x, given, sizeof x);
    if (!try_interpolate(x, xp, fp, value)) return nullptr;
    return wrap_scalar(ScalarType::kFloat64, &value).release().ptr();
}

// ---- order ----

/// What comes behind the array: nothing, or an axis.
inline bool plain_axis(PyObject* const* arguments, Py_ssize_t count, int64_t& axis) {
    axis = -1;
    return count == 0 || (count == 1 && plain_integer(arguments[0], axis));
}

inline PyObject* fast_sort(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    int64_t axis = 0;
    array result;
    if (!plain_axis(arguments, count, axis) || !try_sort(array_of(self), axis, result)) return nullptr;
    return to_object(std::move(result));
}

inline PyObject* fast_sort_in_place(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    int64_t axis = 0;
    if (!plain_axis(arguments, count, axis) || !try_sort_in_place(array_of(self), axis)) return nullptr;
    Py_RETURN_NONE;
}

inline PyObject* fast_argsort(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    int64_t axis = 0;
    array result;
    if (!plain_axis(arguments, count, axis) || !try_argsort(array_of(self), axis, result)) return nullptr;
    return to_object(std::move(result));
}

inline PyObject* fast_searchsorted(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    const array& sorted = array_of(self);
    bool right = false;
    if (count == 2 && PyUnicode_CheckExact(arguments[1])) {
        right = PyUnicode_CompareWithASCIIString(arguments[1], "right") == 0;
        if (!right && PyUnicode_CompareWithASCIIString(arguments[1], "left") != 0) return nullptr;
    } else if (count != 1) {
        return nullptr;
    }
    PyObject* const given = arguments[0];
    if (is_plain_array(given)) {
        array result;
        if (!try_search(sorted, array_of(given), right, result)) return nullptr;
        return to_object(std::move(result));
    }
    alignas(16) char own[16];
    int64_t position = 0;
    const void* const value = plain_number(given, sorted.dtype().scalar_type(), own);
    if (value == nullptr || !try_search(sorted, value, right, position)) return nullptr;
    return wrap_scalar(ScalarType::kInt64, &position).release().ptr();
}

}  // namespace weft::python
