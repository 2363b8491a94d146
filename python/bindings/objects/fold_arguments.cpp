#include "objects/fold_arguments.h"

#include <algorithm>

#include "core/shape.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

void check_folds(const OpInfo& op, const std::string& method) {
    if (op.nin != 2) throw ValueError(method + " only supported for binary functions");
    if (op.nout != 1) throw ValueError(method + " only supported for functions returning a single value");
}

void read_out(nb::handle out, FoldArguments& given) {
    given.out = nb::borrow(out);
    given.wants_array = out.ptr() == Py_Ellipsis;
    if (given.wants_array) given.out = nb::none();
    if (PyTuple_Check(out.ptr())) {
        if (PyTuple_Size(out.ptr()) != 1)
            throw ValueError("The 'out' tuple must have exactly one entry per ufunc output");
        given.out = nb::borrow(PyTuple_GetItem(out.ptr(), 0));
    }
    if (!given.out.is_none() && !is_array(given.out.ptr()))
        throw TypeError("return arrays must be of ArrayType");
}

void check_axes(nb::handle axis, int ndim, const std::string& method, const Dims& axes) {
    const bool of_scalar = ndim == 0 && !PyTuple_Check(axis.ptr()) && (axes[0] == 0 || axes[0] == -1);
    Dims places;
    for (const int64_t each : axes) {
        const int64_t place = of_scalar ? 0 : normalize_axis(each, ndim);
        if (std::ranges::find(places, place) != places.end()) throw ValueError("duplicate value in 'axis'");
        places.push_back(place);
    }
    if (method == "reduce") return;
    if (ndim == 0) throw TypeError("cannot " + method + " on a scalar");
    if (places.size() != 1) throw ValueError(method + " does not allow multiple axes");
}

}  // namespace

FoldArguments read_fold(const OpInfo& op, const std::string& method, nb::handle input, nb::handle axis,
                        nb::handle dtype, nb::handle out) {
    FoldArguments given;
    check_folds(op, method);
    read_out(out, given);
    given.dtype = to_dtype(dtype);
    given.input = to_array(input);
    given.axes = to_axes(axis);
    const int ndim = given.input.ndim();
    if (given.axes) {
        check_axes(axis, ndim, method, *given.axes);
    } else if (method != "reduce") {
        if (ndim == 0) throw TypeError("cannot " + method + " on a scalar");
        if (ndim != 1) throw ValueError(method + " does not allow multiple axes");
    }
    // Of reduceat, which looks at the indices before, weft._ufunc.methods says it.
    if (op.kind == OpKind::kLogical && given.dtype && !given.dtype->is_bool() && method != "reduceat")
        throw TypeError("No loop matching the specified signature and casting was found for ufunc " +
                        std::string(op.numpy_name));
    return given;
}

bool is_no_value(nb::handle object) {
    return object.ptr() == Py_Ellipsis || text_of(object.type().attr("__name__")) == "_NoValueType";
}

void check_without_identity(std::string_view operation, const array& input, const std::optional<Dims>& axes,
                            nb::handle where) {
    const std::string reduction = "reduction operation ", name(operation);
    if (where.ptr() != Py_True)
        throw ValueError(reduction + "'" + name +
                         "' does not have an identity, so to use a where mask one has to specify 'initial'");
    const Dims& shape = input.shape();
    int64_t folded = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
        const auto is_axis = [&](int64_t axis) {
            return static_cast<size_t>(normalize_axis(axis, input.ndim())) == d;
        };
        if (!axes || std::ranges::any_of(*axes, is_axis)) folded *= shape[d];
    }
    if (folded == 0) throw ValueError("zero-size array to " + reduction + name + " which has no identity");
}

}  // namespace weft::python
