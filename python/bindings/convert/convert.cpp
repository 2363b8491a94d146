// Python objects to operands, dtypes, shapes and axes, and elements back to Python.
#include <cmath>
#include <cstring>
#include <optional>

#include "api/recording/transfer.h"
#include "convert/convert.h"
#include "core/scalar_traits.h"
#include "device/devices.h"
#include "objects/objects.h"
#include "package.h"

namespace weft::python {

Registry registry;

Integer to_integer(PyObject* object) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
        if (value == -1 && PyErr_Occurred()) throw_python_error();
        return Integer(static_cast<int64_t>(value));
    }
    Integer integer;
    integer.negative = overflow < 0;
    if (overflow > 0) {
        const unsigned long long magnitude = PyLong_AsUnsignedLongLong(object);
        if (magnitude != static_cast<unsigned long long>(-1) || !PyErr_Occurred()) {
            integer.magnitude = magnitude;
            integer.approximation = static_cast<double>(magnitude);
            return integer;
        }
        PyErr_Clear();
    }
    integer.huge = true;
    integer.approximation = PyLong_AsDouble(object);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        integer.approximation = integer.negative ? -HUGE_VAL : HUGE_VAL;
    }
    return integer;
}

bool to_argument(PyObject* object, Argument& argument) {
    if (is_array(object)) {
        argument = array_of(object);
        return true;
    }
    if (PyFloat_CheckExact(object)) {
        argument = PyFloat_AsDouble(object);
        return true;
    }
    if (PyBool_Check(object)) {
        argument = object == Py_True;
        return true;
    }
    if (PyLong_CheckExact(object)) {
        argument = to_integer(object);
        return true;
    }
    if (is_scalar(object)) {
        argument = scalar_array(object);
        return true;
    }
    if (PyComplex_CheckExact(object)) {
        argument = std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
        return true;
    }
    array converted;
    // A scalar of NumPy's stays on the host, as Python's numbers and weft's scalars do.
    std::optional<DeviceScope> on_host;
    if (PySequence_Check(object) == 0 && PyNumber_Check(object) != 0) on_host.emplace(cpu_device());
    if (convert_foreign(object, std::nullopt, converted)) {
        argument = std::move(converted);
        return true;
    }
    // Subclasses of Python's numbers that are not NumPy's scalars, such as those of enum.IntEnum.
    if (PyLong_Check(object)) {
        argument = to_integer(object);
        return true;
    }
    if (PyFloat_Check(object)) {
        argument = PyFloat_AsDouble(object);
        return true;
    }
    if (PyComplex_Check(object)) {
        argument = std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
        return true;
    }
    return false;
}

namespace {

[[noreturn]] void throw_cannot_convert(PyObject* object) {
    const nb::object type_name = nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object))).attr("__name__");
    throw TypeError("weft has no arrays of '" + text_of(type_name) + "' objects");
}

}  // namespace

array array_of(nb::handle object) {
    if (is_array(object.ptr())) return array_of(object.ptr());
    throw TypeError("expected a weft.ndarray, not " + text_of(object.type().attr("__name__")));
}

Argument to_argument(nb::handle object) {
    Argument argument;
    if (!to_argument(object.ptr(), argument)) throw_cannot_convert(object.ptr());
    return argument;
}

array to_array(nb::handle object) {
    if (is_array(object.ptr())) return array_of(object);
    return move_to(from_argument(to_argument(object)), current_device());
}

std::optional<DType> to_dtype(nb::handle object) {
    if (object.is_none()) return std::nullopt;
    return to_dtype_required(object);
}

std::string text_of(nb::handle object) {
    const nb::object text = steal_or_throw(PyObject_Str(object.ptr()));
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes == nullptr) throw_python_error();
    return {bytes, static_cast<size_t>(size)};
}

namespace {

/// The dtype of a type object: weft's scalar types, Python's number types, NumPy's scalar types (by their
/// name, so that NumPy is not imported).
const DTypeInfo* dtype_of_type(PyObject* type) {
    if (type == reinterpret_cast<PyObject*>(&PyFloat_Type)) return &DType(ScalarType::kFloat64).info();
    if (type == reinterpret_cast<PyObject*>(&PyLong_Type)) return &DType(ScalarType::kInt64).info();
    if (type == reinterpret_cast<PyObject*>(&PyBool_Type)) return &DType(ScalarType::kBool).info();
    if (type == reinterpret_cast<PyObject*>(&PyComplex_Type)) return &DType(ScalarType::kComplex128).info();
    for (size_t i = 0; i < registry.scalar_types.size(); ++i) {
        if (type == reinterpret_cast<PyObject*>(registry.scalar_types[i]))
            return &DType(static_cast<ScalarType>(i)).info();
    }
    const nb::object module = nb::getattr(nb::handle(type), "__module__", nb::none());
    if (nb::isinstance<nb::str>(module) && text_of(module) == "numpy") {
        const std::string name = text_of(nb::handle(type).attr("__name__"));
        if (name == "longlong") return &DType(ScalarType::kInt64).info();
        if (name == "ulonglong") return &DType(ScalarType::kUInt64).info();
        return DType::find(name);
    }
    if (nb::isinstance<nb::str>(module) && text_of(module) == "ml_dtypes" &&
        text_of(nb::handle(type).attr("__name__")) == "bfloat16")
        return &DType(ScalarType::kBFloat16).info();
    if (nb::isinstance<nb::str>(module) && text_of(module) == "ctypes") {
        const nb::object code = nb::getattr(nb::handle(type), "_type_", nb::none());
        if (nb::isinstance<nb::str>(code)) return DType::find(text_of(code));
    }
    return nullptr;
}

/// numpy.dtype and its subclasses (numpy.dtypes.Float64DType and so on), and what else is of these modules.
bool is_numpys_dtype(nb::handle object) {
    const nb::object type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
    const nb::object module = nb::getattr(type, "__module__", nb::none());
    const std::string name = nb::isinstance<nb::str>(module) ? text_of(module) : "";
    return name == "numpy" || name == "numpy.dtypes";
}

}  // namespace

DType to_dtype_required(nb::handle object) {
    PyObject* pointer = object.ptr();
    if (is_dtype(pointer)) return reinterpret_cast<DTypeObject*>(pointer)->dtype;
    if (object.is_none()) return DType();
    if (PyUnicode_Check(pointer)) return DType::parse(text_of(object));
    if (PyType_Check(pointer)) {
        if (const DTypeInfo* info = dtype_of_type(pointer)) return DType(info->scalar_type);
        if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(pointer), registry.generic))
            throw TypeError("Converting '" + text_of(object.attr("__name__")) +
                            "' to a dtype is not allowed: it is an abstract type");
    } else {
        if (is_numpys_dtype(object)) {
            const nb::object code = nb::getattr(object, "str", nb::none());
            if (nb::isinstance<nb::str>(code)) {
                if (const nb::object own = nb::getattr(object, "type", nb::none());
                    text_of(code) == "<V2" && PyType_Check(own.ptr()))
                    return to_dtype_required(own);  // ml_dtypes'
                if (const DTypeInfo* info = DType::find(text_of(code))) return DType(info->scalar_type);
                throw TypeError("weft has no dtype " + text_of(nb::repr(object)));
            }
        }
        if (is_array(pointer)) throw TypeError("Cannot construct a dtype from an array");
    }
    if (const nb::object attribute = nb::getattr(object, "dtype", nb::none());
        attribute.ptr() != pointer && (is_dtype(attribute.ptr()) || is_numpys_dtype(attribute)))
        return to_dtype_required(attribute);
    throw TypeError("Cannot interpret '" + text_of(nb::repr(object)) + "' as a data type");
}

int64_t to_index(nb::handle object) {
    const nb::object integer = steal_or_throw(PyNumber_Index(object.ptr()));
    const long long value = PyLong_AsLongLong(integer.ptr());
    if (value == -1 && PyErr_Occurred()) throw_python_error();
    return value;
}

/// An integer that no array's axis may have is NumPy's ValueError.
static int64_t to_extent(nb::handle object) {
    const nb::object integer = steal_or_throw(PyNumber_Index(object.ptr()));
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (overflow != 0) throw ValueError("Maximum allowed dimension exceeded");
    return value;
}

Dims to_dims(nb::handle object) {
    Dims dims;
    if (PyLong_Check(object.ptr()) || (!PySequence_Check(object.ptr()) && PyIndex_Check(object.ptr()))) {
        dims.push_back(to_extent(object));
        return dims;
    }
    if (is_array(object.ptr()) && array_of(object).ndim() == 0) {
        dims.push_back(to_extent(object));
        return dims;
    }
    if (!PySequence_Check(object.ptr()))
        throw TypeError("expected a sequence of integers or a single integer, got '" +
                        text_of(nb::repr(object)) + "'");
    const Py_ssize_t count = PySequence_Size(object.ptr());
    if (count < 0) throw_python_error();
    if (count > kMaxDimensions)
        throw ValueError("maximum supported dimension for an ndarray is currently " +
                         std::to_string(kMaxDimensions) + ", found " + std::to_string(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
        const nb::object item = PyTuple_CheckExact(object.ptr())
                                    ? nb::borrow(PyTuple_GetItem(object.ptr(), i))
                                    : steal_or_throw(PySequence_GetItem(object.ptr(), i));
        dims.push_back(to_extent(item));
    }
    return dims;
}

std::optional<Dims> to_axes(nb::handle object) {
    if (object.is_none()) return std::nullopt;
    Dims axes;
    if (PyTuple_Check(object.ptr())) {
        const Py_ssize_t count = PyTuple_Size(object.ptr());
        for (Py_ssize_t i = 0; i < count; ++i) axes.push_back(to_index(PyTuple_GetItem(object.ptr(), i)));
    } else {
        axes.push_back(to_index(object));
    }
    return axes;
}

char to_order(nb::handle object, const char* allowed) {
    if (object.is_none()) return allowed[0];
    std::string text;
    if (PyUnicode_Check(object.ptr())) text = text_of(object);
    if (text.size() == 1) {
        const char order = static_cast<char>(text[0] & ~0x20);
        if (std::strchr(allowed, order) != nullptr) return order;
        if (std::strchr("CFAK", order) != nullptr)
            throw ValueError("order '" + std::string(1, order) + "' is not permitted here");
    }
    if (!PyUnicode_Check(object.ptr())) {
        throw TypeError(
            "order must be str, not " +
            text_of(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__")));
    }
    throw ValueError("order must be one of 'C', 'F', 'A', or 'K' (got '" + text + "')");
}

void warn_of_lost_imaginary_part(DType from, DType to) {
    if (!from.is_complex() || to.is_complex() || to.is_bool()) return;
    const nb::object warning = nb::module_::import_(modules::kExceptions).attr("ComplexWarning");
    if (PyErr_WarnEx(warning.ptr(), "Casting complex values to real discards the imaginary part", 1) != 0)
        throw_python_error();
}

void warn_of_lost_imaginary_part(DType from, std::optional<DType> dtype, const array& out) {
    if (!from.is_complex()) return;
    if (dtype) warn_of_lost_imaginary_part(from, *dtype);
    if (out.valid()) warn_of_lost_imaginary_part(dtype.value_or(from), out.dtype());
}

Casting to_casting(nb::handle object) {
    const std::string text = PyUnicode_Check(object.ptr()) ? text_of(object) : std::string();
    if (text == "no") return Casting::kNo;
    if (text == "equiv") return Casting::kEquiv;
    if (text == "safe") return Casting::kSafe;
    if (text == "same_kind") return Casting::kSameKind;
    if (text == "unsafe") return Casting::kUnsafe;
    throw ValueError("casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got " +
                     text_of(nb::repr(object)) + ")");
}

nb::tuple to_tuple(const Dims& dims) {
    nb::object tuple = steal_or_throw(PyTuple_New(static_cast<Py_ssize_t>(dims.size())));
    for (size_t i = 0; i < dims.size(); ++i) {
        nb::object item = steal_or_throw(PyLong_FromLongLong(dims[i]));
        PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), item.release().ptr());
    }
    return nb::borrow<nb::tuple>(tuple);
}

nb::object element_to_python(DType dtype, const char* bytes) {
    return visit_scalar_type(dtype.scalar_type(), [&](auto tag) -> nb::object {
        using T = typename decltype(tag)::Type;
        const T value = load_element<T>(bytes);
        PyObject* result = nullptr;
        if constexpr (std::is_same_v<T, bool>) {
            result = PyBool_FromLong(value);
        } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
            result = PyLong_FromLongLong(value);
        } else if constexpr (std::is_integral_v<T>) {
            result = PyLong_FromUnsignedLongLong(value);
        } else if constexpr (requires { value.re; }) {
            result = PyComplex_FromDoubles(static_cast<double>(value.re), static_cast<double>(value.im));
        } else {
            result = PyFloat_FromDouble(static_cast<double>(value));
        }
        return steal_or_throw(result);
    });
}

namespace {

nb::object nested_list(DType dtype, const Dims& shape, size_t axis, const char*& data,
                       SignalChecks& signals) {
    if (axis == shape.size()) {
        nb::object element = element_to_python(dtype, data);
        data += dtype.itemsize();
        return element;
    }
    nb::object list = steal_or_throw(PyList_New(static_cast<Py_ssize_t>(shape[axis])));
    if (axis + 1 == shape.size() && dtype.scalar_type() == ScalarType::kFloat64) {
        for (int64_t i = 0; i < shape[axis]; ++i, data += sizeof(double), signals.next_iteration()) {
            double value = 0;
            std::memcpy(&value, data, sizeof value);
            PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i),
                           steal_or_throw(PyFloat_FromDouble(value)).release().ptr());
        }
        return list;
    }
    for (int64_t i = 0; i < shape[axis]; ++i, signals.next_iteration()) {
        nb::object item = nested_list(dtype, shape, axis + 1, data, signals);
        PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), item.release().ptr());
    }
    return list;
}

}  // namespace

nb::object to_nested_list(const array& given) {
    constexpr int64_t kFew = 1024;  // bytes
    const bool is_small = given.nbytes() <= kFew;
    std::optional<array> held;  // others may change the object that has it while it is computed
    if (!is_small || !evaluated(given)) held.emplace(given);
    const array& input = held ? *held : given;
    char few[kFew];
    std::vector<char> many;
    if (!is_small) many.resize(static_cast<size_t>(input.nbytes()));
    evaluate(input);
    copy_out(input, is_small ? few : many.data());
    const char* data = is_small ? few : many.data();
    const DType dtype = input.dtype();
    const Dims shape = input.shape();  // making a list may run code of Python
    SignalChecks signals;
    return nested_list(dtype, shape, 0, data, signals);
}

nb::object only_element(const array& input) {
    alignas(16) char bytes[16];
    const DType dtype = input.dtype();
    read_scalar(input, bytes);
    return element_to_python(dtype, bytes);
}

void evaluate(const array& input) {
    if (evaluated(input)) return;
    const array held = input;  // others may change the object that has it
    const GilRelease release;
    eval(std::span(&held, 1));
}

void read_scalar(const array& input, void* bytes) {
    if (input.size() != 1)
        throw ValueError("expected one value, but the array has " + std::to_string(input.size()) +
                         " elements");
    const array only = input.with_view(input.dtype(), {}, {}, input.offset());
    evaluate(only);
    read_element(only, {}, bytes);
}

}  // namespace weft::python
