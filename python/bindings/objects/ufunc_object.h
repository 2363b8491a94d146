// The object behind weft.ufunc: an operation of the op table, or one that is made of a function of the
// program's (objects/defined_ufunc.cpp).
#pragma once

#include <string>

#include "objects/objects.h"

namespace weft::python {

class DefinedUfunc;

struct UfuncObject {
    PyObject_HEAD;
    vectorcallfunc call;
    const OpInfo* op;       // of a function of the program's: of all its loops, and null while it has none
    DefinedUfunc* defined;  // owned; null for those of the op table
    PyObject* weak_references;
};

inline UfuncObject* ufunc_object(PyObject* self) { return reinterpret_cast<UfuncObject*>(self); }

/// Throws TypeError for a function of the program's that is not compiled for any types yet.
const OpInfo& op_of(PyObject* self);
/// Of whatever a function was given. Throws TypeError for what is no ufunc.
const OpInfo& op_of(nb::handle object);
std::string name_of(const UfuncObject& ufunc);

UfuncObject* make_ufunc(const OpInfo* op);

// ---- of functions of the program's ----

size_t input_count(const UfuncObject& ufunc);
nb::object identity_of(const UfuncObject& ufunc);
PyObject* function_of(const UfuncObject& ufunc);  // borrowed; null for those of the op table
PyObject* maker_of(const UfuncObject& ufunc);     // borrowed; None for those of the op table
/// The operation for a call with these inputs: where loops are made as types come, the one for their types
/// alone. Null where an input is nothing that has a type, or where the host computes it.
const OpInfo* op_for_call(const UfuncObject& ufunc, PyObject* const* inputs);
/// What computes it where kernels do not, borrowed: a callable with the methods of a ufunc. Else null.
PyObject* host_of(const UfuncObject& ufunc);
/// Where loops are made as types come: makes the one that folding `input` needs. The dtype that elements are
/// folded in, where the function gives another one of two of them; else nothing.
nb::object dtype_of_fold(const UfuncObject& ufunc, PyObject* input);
int traverse_ufunc(PyObject* self, visitproc visit, void* arg);
int clear_ufunc(PyObject* self);
void delete_defined(PyObject* self);
void bind_defined_ufunc(nb::module_& m);

}  // namespace weft::python
