// Arrays one after the other, and side by side.
#include "convert/convert.h"
#include "functions/functions.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/assembly.h"

namespace weft::python {

namespace {

/// What is in the sequence of arrays that is joined, as a tuple: others may change a list meanwhile.
nb::object items_of(nb::handle sequence, const char* function) {
    if (is_array(sequence.ptr())) {
        if (array_of(sequence).ndim() == 0) throw TypeError("iteration over a 0-d array");
    } else if (!PySequence_Check(sequence.ptr())) {
        throw TypeError(std::string(function) + ": the first input argument needs to be a sequence");
    }
    return steal_or_throw(PySequence_Tuple(sequence.ptr()));
}

std::vector<array> to_arrays(const nb::object& items) {
    std::vector<array> arrays;
    arrays.reserve(static_cast<size_t>(PyTuple_Size(items.ptr())));
    for (Py_ssize_t i = 0; i < PyTuple_Size(items.ptr()); ++i)
        arrays.push_back(to_array(PyTuple_GetItem(items.ptr(), i)));
    return arrays;
}

/// An array of the type with the largest __array_priority__ of those that were joined, ndarray's being 0.
nb::object wrap_joined(array value, const nb::object& items) {
    if (!registry.has_subclasses) return wrap(std::move(value));
    PyTypeObject* type = registry.ndarray;
    double highest = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(items.ptr()); ++i) {
        PyObject* item = PyTuple_GetItem(items.ptr(), i);
        if (!is_array(item) || Py_TYPE(item) == type || priority_of(item) <= highest) continue;
        type = Py_TYPE(item);
        highest = priority_of(item);
    }
    return type == registry.ndarray ? wrap(std::move(value)) : wrap_as(type, std::move(value), Py_None);
}

nb::object concatenate_function(nb::handle arrays, nb::handle axis, nb::handle out, nb::handle dtype,
                                nb::handle casting) {
    const nb::object items = items_of(arrays, "concatenate");
    const std::vector<array> inputs = to_arrays(items);
    std::optional<int64_t> along;
    if (!axis.is_none()) along = to_index(axis);
    const std::optional<DType> type = to_dtype(dtype);
    const array target = to_out(out);
    for (const array& input : inputs) warn_of_lost_imaginary_part(input.dtype(), type, target);
    array result = concatenate(inputs, along, type, to_casting(casting), target);
    return out.is_none() ? wrap_joined(std::move(result), items) : nb::borrow(out);
}

nb::object stack_function(nb::handle arrays, nb::handle axis, nb::handle out, nb::handle dtype,
                          nb::handle casting) {
    const nb::object items = items_of(arrays, "stack");
    const std::vector<array> inputs = to_arrays(items);
    const std::optional<DType> type = to_dtype(dtype);
    const array target = to_out(out);
    for (const array& input : inputs) warn_of_lost_imaginary_part(input.dtype(), type, target);
    array result = stack(inputs, to_index(axis), type, to_casting(casting), target);
    return out.is_none() ? wrap_joined(std::move(result), items) : nb::borrow(out);
}

/// Leaves Python's count of calls in calls, which lists within lists are counted as.
struct RecursiveCall {
    RecursiveCall() {
        if (Py_EnterRecursiveCall(" in nested lists of blocks") != 0) throw_python_error();
    }
    RecursiveCall(const RecursiveCall&) = delete;
    ~RecursiveCall() { Py_LeaveRecursiveCall(); }
};

/// Arrays in nested lists, which go into `all` as well. Throws TypeError for tuples, which NumPy refuses.
Block to_block(nb::handle object, const std::string& place, nb::list& all) {
    if (PyTuple_Check(object.ptr()))
        throw TypeError(place +
                        " is a tuple. Only lists can be used to arrange blocks, and np.block does not "
                        "allow implicit conversion from tuple to ndarray.");
    if (!PyList_Check(object.ptr())) {
        all.append(object);
        return to_array(object);
    }
    const RecursiveCall call;
    std::vector<Block> parts;
    const nb::object items = steal_or_throw(PySequence_Tuple(object.ptr()));  // others may change the list
    for (Py_ssize_t k = 0; k < PyTuple_Size(items.ptr()); ++k)
        parts.push_back(
            to_block(PyTuple_GetItem(items.ptr(), k), place + "[" + std::to_string(k) + "]", all));
    return parts;
}

}  // namespace

array to_out(nb::handle out) {
    if (out.is_none()) return array();
    if (!is_array(out.ptr())) throw TypeError("output must be an array");
    return array_of(out);
}

void bind_joining(nb::module_& m) {
    const auto none = nb::none();
    m.def("concatenate", concatenate_function, arg(), arg("axis") = 0, arg("out") = none, nb::kw_only(),
          arg("dtype") = none, arg("casting") = "same_kind",
          nb::sig("def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind')"),
          "The arrays one after the other along an axis; axis=None flattens them first.");
    m.def("stack", stack_function, arg("arrays"), arg("axis") = 0, arg("out") = none, nb::kw_only(),
          arg("dtype") = none, arg("casting") = "same_kind", "The arrays side by side along a new axis.");
    m.def(
        "block",
        [](nb::handle arrays) {
            nb::list all;
            array result = block(to_block(arrays, "arrays", all));
            return wrap_joined(std::move(result), nb::tuple(all));
        },
        arg("arrays"),
        "Arrays in nested lists, joined: the innermost lists along the last axis, those around them along "
        "the "
        "one before.\n\n>>> np.block([[np.ones((1, 2)), np.zeros((1, 1))], [np.zeros((1, 3))]])\n"
        "array([[1., 1., 0.],\n       [0., 0., 0.]])");
    m.def(
        "_trim_zeros",
        [](nb::handle filt, bool front, bool back, nb::handle axes) {
            const array value = array_of(filt);
            if (axes.is_none()) return wrap_view(trim_zeros(value, front, back), filt);
            return wrap_view(trim_zeros(value, front, back, to_dims(axes)), filt);
        },
        arg("filt"), arg("front"), arg("back"), arg("axes") = none);
    m.def("_roll", [](nb::handle input, nb::handle shifts, nb::handle axes) {
        return wrap(roll(array_of(input), to_dims(shifts), to_dims(axes)));
    });
}

}  // namespace weft::python
