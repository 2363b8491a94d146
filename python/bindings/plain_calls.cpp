// Shorter ways into the methods and functions that programs call most, for calls without keywords whose
// arguments are what they mostly are. Every other call goes on to the function that nanobind made; signatures
// and texts are its own.
#include <functional>
#include <memory>

#include "bindings.h"
#include "core/float_errors.h"
#include "graph/at_hand.h"
#include "graph/placement.h"
#include "graph/record.h"

namespace weft::python {

namespace {

/// Null without an error set: not such a call.
using PlainCall = PyObject* (*)(PyObject* self, PyObject* const* arguments, Py_ssize_t count);

/// The second element of nanobind's signature: the text about the function.
std::string text_about(nb::handle function) {
    const nb::object signatures = function.attr("__nb_signature__");
    const nb::object text = nb::object(signatures[0])[1];
    return text.is_none() ? "" : nb::cast<std::string>(text);
}

bool has_name(PyObject* names, const char* name) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), name) == 0) return true;
    }
    return false;
}

template <PlainCall plain>
struct Shortened {
    static inline PyObject* general = nullptr;
    static inline std::string doc;
    static inline PyMethodDef definition;
    static inline bool is_method = false;

    static PyObject* call(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
        if (names == nullptr && (!is_method || is_plain_array(self))) {
            PyObject* result = guarded([&] { return plain(self, arguments, count); });
            if (result != nullptr || PyErr_Occurred() != nullptr) return result;
        }
        if (names != nullptr && !is_method && has_name(names, "like"))
            return guarded([&] { return ask_like(arguments, count, names); });
        if (!is_method) return PyObject_Vectorcall(general, arguments, static_cast<size_t>(count), names);
        return guarded([&]() -> PyObject* {
            std::vector<PyObject*> all{self};
            const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
            all.insert(all.end(), arguments, arguments + count + named);
            return PyObject_Vectorcall(general, all.data(), static_cast<size_t>(count) + 1, names);
        });
    }

    /// array(x, like=y): y may make the array.
    static PyObject* ask_like(PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
        nb::list positional;
        nb::dict keywords;
        for (Py_ssize_t i = 0; i < count; ++i) positional.append(nb::handle(arguments[i]));
        for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i)
            keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(arguments[count + i]);
        return override_function("like")(definition.ml_name, nb::handle(general), nb::tuple(positional),
                                         keywords)
            .release()
            .ptr();
    }

    /// `signature`: as Python reads it from a text, such as "copy($self, order='C')".
    static void define(nb::handle function, const char* name, const char* signature) {
        general = nb::borrow(function).release().ptr();
        doc = std::string(signature) + "\n--\n\n" + text_about(function);
        definition = {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call)),
                      METH_FASTCALL | METH_KEYWORDS, doc.c_str()};
    }
    static void into_type(PyTypeObject* type, const char* name, const char* signature) {
        const nb::handle owner(reinterpret_cast<PyObject*>(type));
        is_method = true;
        define(owner.attr(name), name, signature);
        nb::setattr(owner, name, steal_or_throw(PyDescr_NewMethod(type, &definition)));
    }
    static void into_module(nb::module_& m, const char* name, const char* signature) {
        define(m.attr(name), name, signature);
        const nb::object module_name = m.attr("__name__");
        m.attr(name) = steal_or_throw(PyCFunction_NewEx(&definition, nullptr, module_name.ptr()));
    }
};

bool plain_integer(PyObject* object, int64_t& value) {
    if (!PyLong_CheckExact(object)) return false;
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

/// Integers one by one, or one tuple of them.
bool plain_integers(PyObject* const* arguments, Py_ssize_t count, Dims& dims) {
    int64_t value = 0;
    if (count == 1 && PyTuple_CheckExact(arguments[0])) {
        const Py_ssize_t length = PyTuple_Size(arguments[0]);
        if (length > kMaxDimensions) return false;
        for (Py_ssize_t i = 0; i < length; ++i) {
            if (!plain_integer(PyTuple_GetItem(arguments[0], i), value)) return false;
            dims.push_back(value);
        }
        return true;
    }
    if (count > kMaxDimensions) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (!plain_integer(arguments[i], value)) return false;
        dims.push_back(value);
    }
    return true;
}

PyObject* give(array&& value) { return wrap(std::move(value)).release().ptr(); }
PyObject* give_view(array&& value, PyObject* origin) {
    return wrap_view(std::move(value), origin).release().ptr();
}

// ---- methods ----

PyObject* plain_reshape(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    Dims shape;
    if (count == 0 || !plain_integers(arguments, count, shape)) return nullptr;
    return give_view(reshape(array_of(self), shape), self);
}

PyObject* plain_transpose(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    Dims axes;
    if (!plain_integers(arguments, count, axes) || (count != 0 && axes.empty())) return nullptr;
    return give_view(transpose(array_of(self), axes), self);
}

PyObject* plain_ravel(PyObject* self, PyObject* const*, Py_ssize_t count) {
    return count == 0 ? give_view(ravel(array_of(self)), self) : nullptr;
}

PyObject* plain_copy(PyObject* self, PyObject* const*, Py_ssize_t count) {
    return count == 0 ? give(copy(array_of(self), 'C')) : nullptr;
}

PyObject* plain_astype(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 1) return nullptr;
    const DType target = to_dtype_required(arguments[0]);
    warn_of_lost_imaginary_part(array_of(self).dtype(), target);
    return give(astype(array_of(self), target));
}

PyObject* plain_item(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
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
    read_scalar(value.with_view(value.dtype(), {}, {}, offset), bytes);
    return element_to_python(value.dtype(), bytes).release().ptr();
}

PyObject* plain_tolist(PyObject* self, PyObject* const*, Py_ssize_t count) {
    return count == 0 ? to_nested_list(array_of(self)).release().ptr() : nullptr;
}

/// A reduction of all elements, or over one axis.
template <ReductionId id>
PyObject* plain_reduction(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    const array& value = array_of(self);
    if (count == 0 && !float_errors_watched()) {
        DType dtype;
        alignas(16) char element[16];
        if (reduce_at_hand(reduction_info(id), value, dtype, element))
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

// ---- functions ----

/// What comes after the first argument: nothing, or a dtype.
bool plain_dtype(PyObject* const* arguments, Py_ssize_t count, std::optional<DType>& dtype) {
    if (count > 2) return false;
    if (count == 2) dtype = to_dtype(arguments[1]);
    return true;
}

bool plain_shape(PyObject* const* arguments, Py_ssize_t count, Dims& shape, std::optional<DType>& dtype) {
    return count >= 1 && plain_integers(arguments, 1, shape) && plain_dtype(arguments, count, dtype);
}

PyObject* plain_empty(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    Dims shape;
    std::optional<DType> dtype;
    if (!plain_shape(arguments, count, shape, dtype)) return nullptr;
    return give(empty(shape, dtype.value_or(DType())));
}

template <int value>
PyObject* plain_filled(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    Dims shape;
    std::optional<DType> dtype;
    if (!plain_shape(arguments, count, shape, dtype)) return nullptr;
    const DType type = dtype.value_or(DType());
    array result;
    if (value == 0 && zeros_at_hand(shape, type, result)) return give(std::move(result));
    return give(full(shape, Integer(value), type));
}

/// A list or tuple of nothing but floats, or nothing but integers of 64 bits.
template <typename T, typename Read>
bool flat_array(PyObject* sequence, Py_ssize_t count, ScalarType type, const Read& read, array& result) {
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count) * sizeof(T));
    T* element = reinterpret_cast<T*>(buffer->data());
    const bool is_list = PyList_CheckExact(sequence);
    for (Py_ssize_t i = 0; i < count; ++i) {
        const nb::object item = element_of(sequence, is_list, i);
        if (!item.is_valid() || !read(item.ptr(), element[i])) return false;
    }
    result = move_to(array_of(std::move(buffer), type, {count}, {static_cast<int64_t>(sizeof(T))}),
                     current_device());
    return true;
}

bool flat_array(PyObject* sequence, array& result) {
    const bool is_list = PyList_CheckExact(sequence);
    if (!is_list && !PyTuple_CheckExact(sequence)) return false;
    const Py_ssize_t count = is_list ? PyList_Size(sequence) : PyTuple_Size(sequence);
    if (count == 0) return false;
    const nb::object head = element_of(sequence, is_list, 0);
    if (!head.is_valid()) return false;
    PyObject* first = head.ptr();
    if (PyFloat_CheckExact(first)) {
        return flat_array<double>(
            sequence, count, ScalarType::kFloat64,
            [](PyObject* object, double& element) {
                if (!PyFloat_CheckExact(object)) return false;
                element = PyFloat_AsDouble(object);
                return true;
            },
            result);
    }
    if (PyLong_CheckExact(first))
        return flat_array<int64_t>(sequence, count, ScalarType::kInt64, plain_integer, result);
    return false;
}

/// array(object): always new; asarray(object): an array itself.
PyObject* make_plain_array(PyObject* object, const std::optional<DType>& dtype, bool always_new) {
    array result;
    if (is_plain_array(object)) {
        const array& value = array_of(object);
        const bool converts = dtype && !(value.dtype() == *dtype);
        if (!always_new && !converts) {
            Py_INCREF(object);
            return object;
        }
        if (converts) warn_of_lost_imaginary_part(value.dtype(), *dtype);
        return give(converts ? astype(value, *dtype) : copy(value));
    }
    if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) {
        const DType own = PyFloat_CheckExact(object) ? DType() : DType(ScalarType::kInt64);
        const nb::object scalar = nb::steal(number_as_scalar(object, dtype.value_or(own)));
        if (!scalar.is_valid()) return nullptr;
        return give(
            move_to(weft::scalar(scalar_dtype(scalar.ptr()), scalar_bytes(scalar.ptr())), current_device()));
    }
    if (!flat_array(object, result)) return nullptr;
    if (dtype && !(result.dtype() == *dtype)) return nullptr;  // converted with Python's rules and errors
    return give(std::move(result));
}

template <bool always_new>
PyObject* plain_array(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    std::optional<DType> dtype;
    if (count < 1 || !plain_dtype(arguments, count, dtype)) return nullptr;
    return make_plain_array(arguments[0], dtype, always_new);
}

/// asanyarray(object): as asarray, but instances of subclasses pass as well.
PyObject* plain_asanyarray(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count == 1 && is_array(arguments[0])) return Py_NewRef(arguments[0]);
    return plain_array<false>(nullptr, arguments, count);
}

/// For functions that have no shorter way, but may be asked for with like=.
template <int number>
PyObject* no_plain_call(PyObject*, PyObject* const*, Py_ssize_t) {
    return nullptr;
}

/// eval(...) of what is computed already, or of one array.
PyObject* plain_eval(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
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

PyObject* plain_arange(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
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
    return give(arange(bounds[0], bounds[1], bounds[2]));
}

}  // namespace

void bind_plain_calls(nb::module_& m) {
    PyTypeObject* type = registry.ndarray;
    Shortened<plain_reshape>::into_type(type, "reshape", "reshape($self, *shape, order='C', copy=None)");
    Shortened<plain_transpose>::into_type(type, "transpose", "transpose($self, *axes)");
    Shortened<plain_ravel>::into_type(type, "ravel", "ravel($self, order='C')");
    Shortened<plain_copy>::into_type(type, "copy", "copy($self, order='C')");
    Shortened<plain_astype>::into_type(
        type, "astype", "astype($self, dtype, order='K', casting='unsafe', subok=True, copy=True)");
    Shortened<plain_item>::into_type(type, "item", "item($self, *args)");
    Shortened<plain_tolist>::into_type(type, "tolist", "tolist($self)");
    Shortened<plain_reduction<ReductionId::kSum>>::into_type(
        type, "sum", "sum($self, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True)");
    Shortened<plain_reduction<ReductionId::kProd>>::into_type(
        type, "prod",
        "prod($self, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True)");
    Shortened<plain_reduction<ReductionId::kMax>>::into_type(
        type, "max", "max($self, axis=None, out=None, keepdims=False, initial=None, where=True)");
    Shortened<plain_reduction<ReductionId::kMin>>::into_type(
        type, "min", "min($self, axis=None, out=None, keepdims=False, initial=None, where=True)");
    Shortened<plain_reduction<ReductionId::kAny>>::into_type(
        type, "any", "any($self, axis=None, out=None, keepdims=False, *, where=True)");
    Shortened<plain_reduction<ReductionId::kAll>>::into_type(
        type, "all", "all($self, axis=None, out=None, keepdims=False, *, where=True)");
    Shortened<plain_reduction<ReductionId::kArgmax>>::into_type(
        type, "argmax", "argmax($self, axis=None, out=None, *, keepdims=False)");
    Shortened<plain_reduction<ReductionId::kArgmin>>::into_type(
        type, "argmin", "argmin($self, axis=None, out=None, *, keepdims=False)");

    Shortened<plain_empty>::into_module(m, "empty", "empty(shape, dtype=None, order='C')");
    Shortened<plain_filled<0>>::into_module(m, "zeros", "zeros(shape, dtype=None, order='C')");
    Shortened<plain_filled<1>>::into_module(m, "ones", "ones(shape, dtype=None, order='C')");
    Shortened<plain_array<true>>::into_module(
        m, "array", "array(object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, like=None)");
    Shortened<plain_array<false>>::into_module(m, "asarray",
                                               "asarray(a, dtype=None, order=None, *, copy=None)");
    Shortened<plain_asanyarray>::into_module(m, "asanyarray",
                                             "asanyarray(a, dtype=None, order=None, *, copy=None)");
    Shortened<no_plain_call<0>>::into_module(m, "full", "full(shape, fill_value, dtype=None, order='C')");
    Shortened<no_plain_call<1>>::into_module(m, "eye", "eye(N, M=None, k=0, dtype=None, order='C')");
    Shortened<no_plain_call<2>>::into_module(
        m, "frombuffer", "frombuffer(buffer, dtype=None, count=-1, offset=0, *, like=None)");
    Shortened<plain_eval>::into_module(m, "eval", "eval(*arrays)");
    Shortened<plain_arange>::into_module(m, "arange",
                                         "arange(start=None, stop=None, step=None, dtype=None, like=None)");
}

}  // namespace weft::python
