// The dtypes that operations compute in, and casts between dtypes.
#include "convert/convert.h"
#include "functions/functions.h"
#include "module.h"
#include "objects/objects.h"
#include "ops/resolve.h"

namespace weft::python {

namespace {

nb::object result_type_function(const nb::args& arguments) {
    if (arguments.size() == 0) throw ValueError("at least one array or dtype is required");
    std::vector<OperandType> operands;
    for (const nb::handle argument : arguments) {
        // pandas' tables and other arrays say theirs.
        const bool is_foreign = !PyType_Check(argument.ptr()) &&
                                PyObject_HasAttrString(argument.ptr(), "__array__") != 0 &&
                                !is_array(argument.ptr()) && !is_scalar(argument.ptr());
        const nb::object said = is_foreign ? nb::getattr(argument, "dtype", nb::none()) : nb::none();
        operands.push_back(operand_type(said.is_none() ? argument : nb::handle(said)));
    }
    return wrap_dtype(result_type(operands));
}

bool can_cast_function(nb::handle from, nb::handle to, nb::handle casting) {
    PyObject* pointer = from.ptr();
    if (from.is_none() || to.is_none())
        throw TypeError("did not understand one of the types; 'None' not accepted");
    if (!PyBool_Check(pointer) &&
        (PyLong_CheckExact(pointer) || PyFloat_CheckExact(pointer) || PyComplex_CheckExact(pointer)))
        throw TypeError(
            "can_cast() does not support Python ints, floats, and complex because the result used to depend "
            "on the "
            "value.\nThis change was part of adopting NEP 50, we may explicitly allow them again in the "
            "future.");
    const DType source = is_scalar(pointer)  ? scalar_dtype(pointer)
                         : is_array(pointer) ? array_of(from).dtype()
                                             : to_dtype_required(from);
    return can_cast(source, to_dtype_required(to), to_casting(casting));
}

}  // namespace

OperandType operand_type(nb::handle object) {
    PyObject* pointer = object.ptr();
    if (is_array(pointer)) return array_of(object).dtype();
    if (is_scalar(pointer)) return scalar_dtype(pointer);
    if (PyBool_Check(pointer)) return DType(ScalarType::kBool);
    if (PyLong_CheckExact(pointer)) return WeakKind::kInt;
    if (PyFloat_CheckExact(pointer)) return WeakKind::kFloat;
    if (PyComplex_CheckExact(pointer)) return WeakKind::kComplex;
    if (has_foreign_buffer(pointer) || PyList_Check(pointer)) return to_array(object).dtype();
    return to_dtype_required(object);
}

void bind_dtypes(nb::module_& m) {
    m.def(
        "promote_types",
        [](nb::handle a, nb::handle b) {
            if (a.is(b) && is_dtype(a.ptr())) return nb::borrow(a);  // with what the program has said of it
            return wrap_dtype(promote_types(to_dtype_required(a), to_dtype_required(b)));
        },
        arg(), arg(), nb::sig("def promote_types(type1, type2, /)"),
        "The smallest dtype that both can be cast to safely.");
    m.def("result_type", result_type_function, arg("arrays_and_dtypes"),
          "The dtype that an operation on these arrays, dtypes and Python numbers computes in.");
    m.def("can_cast", can_cast_function, arg("from_"), arg("to"), arg("casting") = "safe",
          "Whether the casting rule allows a cast between two dtypes.");
}

}  // namespace weft::python
