// Objects that override what is computed with them. The rules are in weft._protocols.overrides.
#pragma once

#include "objects/objects.h"

namespace weft::python {

/// Whether the class of an operand may decide: a subclass of ndarray, or one that knows of __array_ufunc__ or
/// __array_wrap__.
bool has_override(PyObject* object);
/// The arguments of a vectorcall, for a call of Python's: `count` without names.
struct GivenArguments {
    nb::tuple positional;
    nb::dict keywords;
};
GivenArguments given_arguments(PyObject* const* arguments, size_t count, PyObject* names);
/// A function of weft._protocols.overrides.
nb::object override_function(const char* name);

}  // namespace weft::python
