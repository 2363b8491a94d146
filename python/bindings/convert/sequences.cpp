// What other objects hold, as arrays: nested sequences, with NumPy's discovery of shape and dtype; anything
// with the buffer protocol (foreign_buffer.cpp); and objects with `__array__`. NumPy is not imported.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "convert/convert.h"
#include "convert/foreign_buffer.h"
#include "core/scalar_traits.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/placement.h"
#include "interop/interop.h"
#include "objects/objects.h"
#include "ops/resolve.h"
#include "package.h"

namespace weft::python {

namespace {

bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object); }

/// Sparse matrices, which have items, refuse to tell how many: NumPy sees an object in these.
bool has_length(PyObject* object) {
    if (PySequence_Size(object) >= 0) return true;
    if (PyErr_ExceptionMatches(PyExc_RecursionError) != 0 || PyErr_ExceptionMatches(PyExc_MemoryError) != 0)
        throw_python_error();
    PyErr_Clear();
    return false;
}

/// A sequence whose items are elements or sequences again. Arrays and texts are not.
bool is_nested(PyObject* object) {
    if (PyList_Check(object) || PyTuple_Check(object)) return true;
    if (is_array(object) || is_scalar(object) || is_text(object) || PyDict_Check(object)) return false;
    return PySequence_Check(object) && !lends_memory(object) && has_length(object);
}

/// What is found in a nest of sequences: its shape, as far as it is regular, the dtype of all elements, and
/// these. Each sequence is walked once, since Python's code runs meanwhile, which may change it.
class Discovery {
public:
    Discovery(bool typed, int max_depth) : typed_(typed), max_depth_(static_cast<size_t>(max_depth)) {}

    void visit(PyObject* object, size_t depth) {
        signals_.next_iteration();
        if (is_array(object)) {
            visit_array(array_of(object), depth);
        } else if (PyFloat_CheckExact(object)) {
            leaf(object, DType(ScalarType::kFloat64), depth);
        } else if (PyBool_Check(object)) {
            leaf(object, DType(ScalarType::kBool), depth);
        } else if (PyLong_CheckExact(object)) {
            visit_integer(object, depth);
        } else if (is_scalar(object)) {
            leaf(object, scalar_dtype(object), depth);
        } else if (is_nested(object)) {
            visit_sequence(object, depth);
        } else if (PyComplex_CheckExact(object)) {
            leaf(object, DType(ScalarType::kComplex128), depth);
        } else if (has_foreign_buffer(object)) {
            visit_foreign(object, depth);
        } else if (PyLong_Check(object)) {
            visit_integer(object, depth);
        } else if (PyFloat_Check(object)) {
            leaf(object, DType(ScalarType::kFloat64), depth);
        } else if (PyComplex_Check(object)) {
            leaf(object, DType(ScalarType::kComplex128), depth);
        } else {
            visit_foreign(object, depth);
        }
    }

    void check_regular() const {
        if (!ragged_) return;
        std::string detected = "(";
        const size_t count = ragged_depth_;
        for (size_t i = 0; i < count; ++i)
            detected += std::to_string(shape_[i]) + (i + 1 < count ? ", " : count == 1 ? "," : "");
        throw ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape "
            "after " +
            std::to_string(count) + " dimensions. The detected shape was " + detected +
            ") + inhomogeneous part.");
    }

    const Dims& shape() const { return shape_; }
    DType dtype() const { return dtype_.value_or(DType()); }
    /// In C order; null stands for the next of the arrays.
    const std::vector<nb::object>& elements() const { return elements_; }
    const std::vector<array>& arrays() const { return arrays_; }
    /// All elements are those of arrays of one shape.
    bool all_arrays() const { return !ragged_ && !arrays_.empty() && arrays_.size() == elements_.size(); }

private:
    void visit_integer(PyObject* object, size_t depth) {
        const Integer integer = to_integer(object);
        if (integer.huge && !typed_) throw OverflowError("Python int too large to convert to C long");
        leaf(object,
             integer.magnitude > INT64_MAX && !integer.negative ? DType(ScalarType::kUInt64)
                                                                : DType(ScalarType::kInt64),
             depth);
    }

    void leaf(PyObject* object, DType dtype, size_t depth) {
        elements_.push_back(nb::borrow(object));
        add_dtype(dtype);
        if (!shape_known_) {
            shape_known_ = true;
        } else if (depth < shape_.size()) {
            mark_ragged(depth);
        }
    }

    void visit_array(const array& value, size_t depth) {
        elements_.emplace_back();
        arrays_.push_back(value);
        add_dtype(value.dtype());
        if (!shape_known_) {
            for (const int64_t extent : value.shape()) shape_.push_back(extent);
            shape_known_ = true;
            return;
        }
        for (size_t i = 0; i < value.shape().size(); ++i) {
            if (depth + i >= shape_.size() || shape_[depth + i] != value.shape()[i])
                return mark_ragged(depth + i);
        }
        if (depth + value.shape().size() < shape_.size()) mark_ragged(depth + value.shape().size());
    }

    void visit_foreign(PyObject* object, size_t depth) {
        // With a dtype given, texts and None are converted as Python's own types do.
        if (typed_ && (object == Py_None || is_text(object))) return leaf(object, DType(), depth);
        array value;
        if (is_text(object) || !convert_foreign(object, std::nullopt, value))
            throw TypeError("weft has no arrays of '" + type_name(object) + "' objects");
        visit_array(value, depth);
    }

    void visit_sequence(PyObject* object, size_t depth) {
        nb::object items =
            PyTuple_CheckExact(object) ? nb::borrow(object) : steal_or_throw(PySequence_Tuple(object));
        const Py_ssize_t count = PyTuple_Size(items.ptr());
        if (depth >= max_depth_)
            throw ValueError(
                "setting an array element with a sequence. The requested array would exceed the maximum "
                "number of "
                "dimension of " +
                std::to_string(max_depth_) + ".");
        if (!shape_known_) {
            shape_.push_back(count);
            if (count == 0) shape_known_ = true;
        } else if (depth >= shape_.size() || shape_[depth] != count) {
            return mark_ragged(depth);
        }
        for (Py_ssize_t i = 0; i < count; ++i) {
            visit(PyTuple_GetItem(items.ptr(), i), depth + 1);
            if (ragged_ && ragged_depth_ <= depth) return;
        }
    }

    void mark_ragged(size_t depth) {
        ragged_depth_ = ragged_ ? std::min(ragged_depth_, depth) : depth;
        ragged_ = true;
    }

    void add_dtype(DType dtype) {
        dtype_ = dtype_ && !(*dtype_ == dtype) ? promote_types(*dtype_, dtype) : dtype;
    }

    bool typed_;  // the caller gives the dtype
    size_t max_depth_;
    Dims shape_;
    std::optional<DType> dtype_;
    bool shape_known_ = false;  // the first path to an element has been walked: `shape_` is complete
    bool ragged_ = false;
    size_t ragged_depth_ = 0;
    std::vector<nb::object> elements_;
    std::vector<array> arrays_;
    SignalChecks signals_;
};

/// NumPy stores its scalars into signed integers by way of Python's, so that what does not fit is an error.
bool through_python(DType source, DType target) {
    return target.is_signed_integer() && !source.is_bool() && !can_cast(source, target, Casting::kSafe);
}

/// Writes what was found in a nest, in C order, as one of bool, int64, uint64, float64, complex128 (the
/// widest of the kind wanted), checking integers against the range of `dtype`.
class Filler {
public:
    Filler(DType dtype, char* target) : dtype_(dtype), wide_(widest(dtype)), target_(target) {}

    static DType widest(DType dtype) {
        switch (dtype.kind()) {
            case 'b': return DType(ScalarType::kBool);
            case 'i': return DType(ScalarType::kInt64);
            case 'u': return DType(ScalarType::kUInt64);
            case 'f': return DType(ScalarType::kFloat64);
            default: return DType(ScalarType::kComplex128);
        }
    }

    void fill(const Discovery& found) {
        auto array = found.arrays().begin();
        SignalChecks signals;
        for (const nb::object& each : found.elements()) {
            signals.next_iteration();
            PyObject* const object = each.ptr();
            if (object == nullptr) {
                put_array(*array++);
            } else if (PyFloat_CheckExact(object) && dtype_.is_floating()) {
                put(PyFloat_AsDouble(object));
            } else if (is_scalar(object) && scalar_dtype(object) == wide_ && dtype_ == wide_) {
                std::memcpy(target_, scalar_bytes(object), static_cast<size_t>(wide_.itemsize()));
                target_ += wide_.itemsize();
            } else if (is_scalar(object) && !through_python(scalar_dtype(object), dtype_)) {
                warn_of_lost_imaginary_part(scalar_dtype(object), dtype_);
                put_array(scalar_array(object));
            } else {
                put_object(object);
            }
        }
    }

private:
    template <typename T>
    void put(T value) {
        std::memcpy(target_, &value, sizeof(T));
        target_ += sizeof(T);
    }

    void put_array(const array& value) {
        const array converted = astype(astype(value, dtype_), wide_);
        evaluate(converted);
        copy_out(converted, target_);
        target_ += converted.nbytes();
    }

    void put_object(PyObject* object) {
        switch (dtype_.kind()) {
            case 'b': {
                const int truth = PyObject_IsTrue(object);
                if (truth < 0) throw_python_error();
                return put(static_cast<uint8_t>(truth));
            }
            case 'i':
            case 'u': {
                // int() refuses nan, inf and complex numbers with the words that NumPy passes on.
                const nb::object integer =
                    PyLong_Check(object) ? nb::borrow(object) : steal_or_throw(PyNumber_Long(object));
                return put_integer(integer.ptr());
            }
            case 'f': {
                if (object == Py_None) return put(std::nan(""));
                const nb::object real = steal_or_throw(PyNumber_Float(object));
                return put(PyFloat_AsDouble(real.ptr()));
            }
            default: {
                if (is_text(object)) {
                    const nb::object parsed =
                        nb::borrow(reinterpret_cast<PyObject*>(&PyComplex_Type))(nb::handle(object));
                    return put_object(parsed.ptr());
                }
                const ComplexParts value = complex_value(object);
                put(value.real);
                return put(value.imag);
            }
        }
    }

    void put_integer(PyObject* object) {
        const Integer integer = to_integer(object);
        if (integer.huge && dtype_.itemsize() == 8) {
            throw OverflowError("Python int too large to convert to C long");
        }
        WideInteger value = static_cast<WideInteger>(integer.magnitude);
        if (integer.negative) value = -value;
        if (integer.huge) value = integer.negative ? -(WideInteger{1} << 100) : WideInteger{1} << 100;
        if (!python_int_fits(value, dtype_))
            check_python_int_fits(value, dtype_, text_of(nb::handle(object)));
        if (dtype_.kind() == 'i') {
            put(static_cast<int64_t>(value));
        } else {
            put(static_cast<uint64_t>(value));
        }
    }

    struct ComplexParts {
        double real, imag;
    };
    static ComplexParts complex_value(PyObject* object) {
        if (object == Py_None) return {std::nan(""), std::nan("")};
        if (PyComplex_Check(object)) return {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)};
        const double real = PyFloat_AsDouble(object);
        if (real == -1 && PyErr_Occurred()) throw_python_error();
        return {real, 0};
    }

    DType dtype_, wide_;
    char* target_;
};

}  // namespace

namespace {

/// Beyond, arrays are joined by kernels instead of being computed and copied one after the other.
constexpr int64_t kWorthJoining = 1024;

bool are_joined(const Discovery& found) {
    if (!found.all_arrays()) return false;
    const array& first = found.arrays()[0];
    return first.size() >= kWorthJoining && current_device().is_cpu() &&
           std::all_of(found.arrays().begin(), found.arrays().end(),
                       [](const array& each) { return device_of(each).is_cpu(); });
}

}  // namespace

array convert_sequence(PyObject* object, std::optional<DType> dtype, int max_depth) {
    Discovery discovery(dtype.has_value(), max_depth);
    discovery.visit(object, 0);
    discovery.check_regular();
    const DType target = dtype.value_or(discovery.dtype());
    if (are_joined(discovery))
        return reshape(stack(discovery.arrays(), 0, target, Casting::kUnsafe, {}), discovery.shape());
    const DType wide = Filler::widest(target);
    const Dims& shape = discovery.shape();
    std::vector<char> bytes(static_cast<size_t>(checked_bytes(shape, wide)) + 1);
    Filler(target, bytes.data()).fill(discovery);
    array result = copy_in(bytes.data(), wide, shape, c_strides(shape, wide.itemsize()));
    return wide == target ? result : astype(result, target);
}

Argument to_element_argument(nb::handle value, DType dtype, int max_depth) {
    PyObject* object = value.ptr();
    if (is_scalar(object)) {
        if (through_python(scalar_dtype(object), dtype))  // which warns as well
            return to_argument(steal_or_throw(PyNumber_Long(object)));
        warn_of_lost_imaginary_part(scalar_dtype(object), dtype);
    }
    if (PyList_Check(object) || PyTuple_Check(object)) return convert_sequence(object, dtype, max_depth);
    const bool number = PyFloat_CheckExact(object) || PyComplex_CheckExact(object);
    if ((number && !dtype.is_complex() && !(PyFloat_CheckExact(object) && dtype.is_floating())) ||
        object == Py_None || is_text(object))
        return convert_sequence(object, dtype);
    return to_argument(value);
}

bool convert_foreign(PyObject* object, std::optional<DType> dtype, array& result) {
    if (object == Py_None || is_text(object) || PyType_Check(object)) return false;
    if (PyList_Check(object) || PyTuple_Check(object)) {
        result = convert_sequence(object, dtype);
        return true;
    }
    if (has_foreign_buffer(object)) {
        result = convert_buffer(object, false);
        if (dtype && !(result.dtype() == *dtype)) result = astype(result, *dtype);
        return true;
    }
    if (PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object)) return false;
    if (PyObject_HasAttrString(object, "__array_interface__") != 0) {
        result = array_of(
            nb::module_::import_(modules::kSharing).attr("_from_interface")(nb::handle(object), true));
        if (dtype && !(result.dtype() == *dtype)) result = astype(result, *dtype);
        return true;
    }
    const nb::object interface = cuda_interface_of(object);
    const bool by_dlpack = interface.is_none() && !PyObject_HasAttrString(object, "__array__") &&
                           PyObject_HasAttrString(object, "__dlpack__");
    if (!interface.is_none() || by_dlpack) {
        result = copy(
            by_dlpack
                ? array_of(nb::module_::import_(modules::kSharing).attr("from_dlpack")(nb::handle(object)))
                : share_cuda_interface(object, interface));
        if (dtype && !(result.dtype() == *dtype)) result = astype(result, *dtype);
        return true;
    }
    if (PyObject_HasAttrString(object, "__array__")) {
        const nb::object converted = nb::handle(object).attr("__array__")();
        if (is_array(converted.ptr())) {
            result = array_of(converted);
        } else if (has_foreign_buffer(converted.ptr())) {
            result = convert_buffer(converted.ptr(), false);
        } else {
            throw TypeError("'" + type_name(object) + ".__array__' returned no array that weft can read");
        }
        if (dtype && !(result.dtype() == *dtype)) result = astype(result, *dtype);
        return true;
    }
    if (is_nested(object)) {
        result = convert_sequence(object, dtype);
        return true;
    }
    return false;
}

}  // namespace weft::python
