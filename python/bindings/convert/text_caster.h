// std::string as an argument and a result of bound functions. In place of nanobind's own caster, whose copy
// of the text may not fail: it is noexcept, and the process would end where there is no memory for it.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
    NB_TYPE_CASTER(std::string, const_name("str"))

    bool from_python(handle source, uint32_t, cleanup_list*) {
        if (!PyUnicode_Check(source.ptr())) return false;
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
        if (text == nullptr) {  // a text with surrogates alone, which has no UTF-8
            PyErr_Clear();
            return false;
        }
        value.assign(text, static_cast<size_t>(size));
        return true;
    }

    static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
        return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    }
};

}  // namespace nanobind::detail
