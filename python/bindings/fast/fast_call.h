// Fast paths: operations on values that need no evaluation (fast_call.cpp), and what the fast paths into
// methods and functions share (fast_creation.h, fast_functions.h; fast_table.h has the table). These are for
// calls without keywords whose arguments are what they mostly are. Every other call goes on to the general
// function, nanobind's or Python's; signatures and texts are its own.
#pragma once

#include "convert/convert.h"
#include "objects/objects.h"
#include "protocols/by_numpy.h"
#include "protocols/overrides.h"

namespace weft::python {

// ---- the fast path: null or false, with no error set, where the general path has to be taken ----

/// An operation on arrays and numbers.
PyObject* try_run(const OpInfo& op, PyObject* const* objects, size_t count);
/// The same into an array.
bool try_run_into(const OpInfo& op, PyObject* const* objects, size_t count, const array& target);
/// The general way for operands that one of these has refused: `inputs` are made of the objects. Fast paths
/// that were asked about the same are not asked again.
array call_refused(const OpInfo& op, PyObject* const* objects, std::span<const Argument> inputs,
                   const CallOptions& options = {});
/// The element at a byte offset as a scalar; computes what is pending.
PyObject* read_element_object(const array& from, int64_t offset);
bool write_element_object(const array& to, int64_t offset, PyObject* value);
/// dtype(value) of a number.
PyObject* number_as_scalar(PyObject* value, DType dtype);
/// target[...] = value
bool assign_object(const array& target, PyObject* value);
bool try_assign(const array& target, const array& index, PyObject* value);  // target[index] = value

// ---- fast paths into functions and methods ----

/// A fast path into a function. It answers null, without an error set, to calls that it is not for.
using FastCall = PyObject* (*)(PyObject* self, PyObject* const* arguments, Py_ssize_t count);

/// Of nanobind's functions the second element of their signature.
inline std::string text_about(nb::handle function) {
    if (!nb::hasattr(function, "__nb_signature__")) {
        const nb::object text = function.attr("__doc__");
        return text.is_none() ? "" : text_of(text);
    }
    const nb::object signatures = function.attr("__nb_signature__");
    const nb::object text = nb::object(signatures[0])[1];
    return text.is_none() ? "" : text_of(text);
}

inline bool has_name(PyObject* names, const char* name) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), name) == 0) return true;
    }
    return false;
}

/// A function or a method with its fast path before it. `row` tells those that share a fast path from each
/// other.
template <FastCall fast, int row>
struct WithFastPath {
    static inline PyObject* general = nullptr;
    static inline std::string doc;
    static inline PyMethodDef definition;
    static inline bool is_method = false;

    static PyObject* call(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
        PyObject* const result = call_own(self, arguments, count, names);
        return result != nullptr ? result : call_numpy(self, arguments, count, names);
    }

    /// After an error.
    static PyObject* call_numpy(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                                PyObject* names) {
        if (!numpy_may_answer()) return nullptr;
        const auto positional = static_cast<size_t>(count);
        const char* const name = definition.ml_name;
        if (!is_method) return numpy_instead(FailedCall::kFunction, name, arguments, positional, names);
        return guarded([&] {
            std::vector<PyObject*> all{self};
            const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
            all.insert(all.end(), arguments, arguments + count + named);
            return numpy_instead(FailedCall::kMethod, name, all.data(), positional + 1, names);
        });
    }

    static PyObject* call_own(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
        if (names == nullptr && (!is_method || is_plain_array(self))) {
            PyObject* result = guarded([&] { return fast(self, arguments, count); });
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
        const auto [positional, keywords] = given_arguments(arguments, static_cast<size_t>(count), names);
        return override_function("like")(definition.ml_name, nb::handle(general), positional, keywords)
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

inline bool plain_integer(PyObject* object, int64_t& value) {
    if (!PyLong_CheckExact(object)) return false;
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

/// Integers one by one, or one tuple of them.
inline bool plain_integers(PyObject* const* arguments, Py_ssize_t count, Dims& dims) {
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

inline PyObject* to_object(array&& value) { return wrap(std::move(value)).release().ptr(); }
inline PyObject* view_to_object(array&& value, PyObject* origin) {
    return wrap_view(std::move(value), origin).release().ptr();
}

}  // namespace weft::python
