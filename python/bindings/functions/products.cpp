// Products of matrices, einsum, and single steps of contraction.
#include "weft/products.h"

#include <algorithm>

#include "convert/convert.h"
#include "functions/bound_function.h"
#include "functions/functions.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"
#include "protocols/overrides.h"

namespace weft::python {

namespace {

bool is_large_product(const array& left, const array& right) { return is_large(left) || is_large(right); }

array multiply(const array& left, const array& right, const ProductOptions& options) {
    const ReleaseGil release(is_large_product(left, right));
    return matmul(left, right, options);
}

array to_product_out(nb::handle out, const char* message) {
    nb::object given = nb::borrow(out);
    if (PyTuple_Check(out.ptr()) && PyTuple_Size(out.ptr()) == 1)
        given = nb::borrow(PyTuple_GetItem(out.ptr(), 0));
    if (given.is_none()) return array();
    if (!is_array(given.ptr())) throw TypeError(message);
    return array_of(given);
}

nb::object returned_out(nb::handle out) {
    return nb::borrow(PyTuple_Check(out.ptr()) ? nb::handle(PyTuple_GetItem(out.ptr(), 0)) : out);
}

nb::object matmul_function(nb::handle left, nb::handle right, nb::handle out, nb::handle casting,
                           nb::handle order, nb::handle dtype, nb::handle subok, const nb::kwargs& others) {
    if (has_override(left.ptr()) || has_override(right.ptr()) || has_override(out.ptr())) {
        // What was not given is not shown to overrides.
        nb::dict options;
        options.update(others);
        if (!out.is_none()) options["out"] = out;
        if (!dtype.is_none()) options["dtype"] = dtype;
        if (!nb::str("same_kind").equal(casting)) options["casting"] = casting;
        if (!nb::str("K").equal(order)) options["order"] = order;
        if (subok.ptr() != Py_True) options["subok"] = subok;
        return override_function("ufunc")(nb::handle(registry.matmul), "__call__",
                                          nb::make_tuple(left, right), options);
    }
    if (others.size() != 0 || subok.ptr() != Py_True || out.ptr() == Py_Ellipsis) {
        nb::dict all;
        all.update(others);
        all["casting"] = casting;
        all["order"] = order;
        all["dtype"] = dtype;
        all["subok"] = subok;
        return nb::module_::import_(modules::kGeneralised).attr("matmul")(left, right, out, **all);
    }
    if (PyTuple_Check(out.ptr()) && PyTuple_Size(out.ptr()) != 1)
        throw ValueError("The 'out' tuple must have exactly one entry per ufunc output");
    ProductOptions options;
    options.out = to_product_out(out, "return arrays must be of ArrayType");
    options.dtype = to_dtype(dtype);
    options.casting = to_casting(casting);
    options.order = to_order(order, "KCFA");
    const array a = to_array(left), b = to_array(right);
    if (options.casting == Casting::kUnsafe) {
        for (const array& each : {a, b})
            warn_of_lost_imaginary_part(each.dtype(), options.dtype, options.out);
    }
    array result = multiply(a, b, options);
    return options.out.valid() ? returned_out(out) : wrap_result(std::move(result));
}

nb::object dot_function(nb::handle left, nb::handle right, nb::handle out) {
    const array target = out.is_none() ? array() : to_product_out(out, "'out' must be an array");
    const array a = to_array(left), b = to_array(right);
    array result;
    {
        const ReleaseGil release(is_large_product(a, b));
        result = dot(a, b, target);
    }
    if (target.valid()) return returned_out(out);
    if (!registry.has_subclasses) return wrap_result(std::move(result));
    const auto priority = [](nb::handle object) {
        return is_array(object.ptr()) ? priority_of(object.ptr()) : 0;
    };
    return wrap_result_like(std::move(result), priority(right) > priority(left) ? right : left);
}

/// The product of two operands, by a function that is given both.
template <typename Function>
array product_of(nb::handle left, nb::handle right, const Function& function) {
    const array a = to_array(left), b = to_array(right);
    const ReleaseGil release(is_large_product(a, b));
    return function(a, b);
}

nb::object tensordot_function(nb::handle a, nb::handle b, nb::handle first, nb::handle second) {
    array result;
    if (second.is_none()) {
        const int64_t axes = to_index(first);
        result = product_of(a, b, [&](const array& x, const array& y) { return tensordot(x, y, axes); });
    } else {
        const Dims of_a = to_dims(first), of_b = to_dims(second);
        result =
            product_of(a, b, [&](const array& x, const array& y) { return tensordot(x, y, of_a, of_b); });
    }
    return wrap(std::move(result));
}

nb::object trace_function(nb::handle a, nb::handle offset, nb::handle axis1, nb::handle axis2,
                          nb::handle dtype, nb::handle out) {
    const array value = to_array(a), target = to_out(out);
    const std::optional<DType> type = to_dtype(dtype);
    const int64_t by = to_index(offset), first = to_index(axis1), second = to_index(axis2);
    warn_of_lost_imaginary_part(value.dtype(), type, target);
    array result;
    {
        const ReleaseGil release(is_large(value));
        result = trace(value, by, first, second, type, target);
    }
    return target.valid() ? nb::borrow(out) : wrap_result(std::move(result));
}

PathChoice to_path_choice(nb::handle optimize) {
    if (optimize.is_none()) return PathSearch::kOptimal;
    if (PyUnicode_Check(optimize.ptr()))
        return text_of(optimize) == "greedy" ? PathSearch::kGreedy : PathSearch::kOptimal;
    ContractionPath path;
    for (const nb::handle step : optimize) {
        std::vector<int64_t>& positions = path.emplace_back();
        for (const nb::handle position : step) positions.push_back(to_index(position));
    }
    return path;
}

std::vector<array> to_operands(nb::handle objects) {
    std::vector<array> operands;
    for (const nb::handle object : objects) operands.push_back(to_array(object));
    return operands;
}

/// ComplexWarning where an einsum computes with the real parts of its operands, or stores those of its
/// result.
void warn_of_lost_imaginary_parts(std::span<const array> operands, const EinsumOptions& options) {
    if (options.casting != Casting::kUnsafe) return;
    for (const array& operand : operands) {
        if (options.dtype) warn_of_lost_imaginary_part(operand.dtype(), *options.dtype);
    }
    if (!options.out.valid()) return;
    const auto complex =
        std::ranges::find_if(operands, [](const array& a) { return a.dtype().is_complex(); });
    if (options.dtype) {
        warn_of_lost_imaginary_part(*options.dtype, options.out.dtype());
    } else if (complex != operands.end()) {
        warn_of_lost_imaginary_part(complex->dtype(), options.out.dtype());
    }
}

/// `optimize` is None, the name of a search, or the steps of a path.
nb::object einsum_function(nb::handle subscripts, nb::handle objects, nb::handle out, nb::handle optimize,
                           nb::handle dtype, nb::handle order, nb::handle casting) {
    const std::string text = text_of(subscripts);
    const std::vector<array> operands = to_operands(objects);
    EinsumOptions options;
    if (!out.is_none()) {
        if (!is_array(out.ptr())) throw TypeError("out must be an array");
        options.out = array_of(out);
    }
    options.dtype = to_dtype(dtype);
    options.casting = to_casting(casting);
    options.order = to_order(order, "KCFA");
    options.optimize = to_path_choice(optimize);
    if (options.out.valid()) warn_of_lost_imaginary_parts(operands, options);
    array result;
    {
        const ReleaseGil release((options.out.valid() && is_large(options.out)) ||
                                 std::ranges::any_of(operands, [](const array& a) { return is_large(a); }));
        result = einsum(text, operands, options);
    }
    if (options.out.valid()) return nb::borrow(out);
    if (options.dtype && result.dtype() == *options.dtype) warn_of_lost_imaginary_parts(operands, options);
    if (result.ndim() == 0 || operands.size() > 1 || result.storage() != operands[0].storage())
        return wrap_result(std::move(result));
    return wrap_plain_view(std::move(result), nb::object(objects[0]));
}

nb::object einsum_path_function(nb::handle subscripts, nb::handle objects, nb::handle optimize) {
    const EinsumPath path = einsum_path(text_of(subscripts), to_operands(objects), to_path_choice(optimize));
    nb::list steps;
    for (const std::vector<int64_t>& step : path.steps)
        steps.append(to_tuple(Dims(std::span<const int64_t>(step))));
    return nb::make_tuple(steps, path.report);
}

}  // namespace

void bind_products(nb::module_& m) {
    const auto none = nb::none();
    m.def(
        "matmul", matmul_function, nb::arg("x1"), nb::arg("x2"), arg("out") = none, nb::kw_only(),
        arg("casting") = "same_kind", arg("order") = "K", arg("dtype") = none, arg("subok") = true,
        nb::arg("others"),
        "The matrix product of two arrays: (…, m, k) times (…, k, n) is (…, m, n), the axes before "
        "broadcast. A "
        "one-dimensional operand is a row on the left, a column on the right, and its axis is gone after.\n\n"
        "Raises ValueError when the shapes do not fit or an operand is a scalar, and UFuncTypeError, a "
        "TypeError, for "
        "a dtype that cannot be cast.\n\n"
        ">>> np.matmul([[1, 2], [3, 4]], [1, 1])\n"
        "array([3, 7])");
    m.def("dot", dot_function, arg("a"), arg("b"), arg("out") = none,
          "The sum over the last axis of `a` and the last but one of `b`. With a scalar: the product of each "
          "element.\n\n"
          "Raises ValueError when the axes differ in length, or `out` is not just what would be returned.\n\n"
          ">>> np.dot([1, 2], [3, 4])\n"
          "np.int64(11)");
    m.def("_tensordot", tensordot_function, arg("a"), arg("b"), arg("axes"), arg("b_axes") = none);
    m.def("_trace", trace_function, arg("a"), arg("offset"), arg("axis1"), arg("axis2"), arg("dtype") = none,
          arg("out") = none);
    m.def(
        "_outer",
        [](nb::handle a, nb::handle b, nb::handle out) {
            const array target = to_product_out(out, "return arrays must be of ArrayType");
            array result =
                product_of(a, b, [&](const array& x, const array& y) { return outer(x, y, target); });
            return target.valid() ? returned_out(out) : wrap(std::move(result));
        },
        arg("a"), arg("b"), arg("out") = none);
    m.def(
        "_vecdot",
        [](nb::handle x1, nb::handle x2, nb::handle axis, bool keepdims) {
            const int64_t along = to_index(axis);
            return to_python(product_of(
                x1, x2, [&](const array& x, const array& y) { return vecdot(x, y, along, keepdims); }));
        },
        arg("x1"), arg("x2"), arg("axis"), arg("keepdims"));
    m.def(
        "_inner", [](nb::handle a, nb::handle b) { return wrap_result(product_of(a, b, inner)); }, arg("a"),
        arg("b"));
    m.def(
        "_vdot", [](nb::handle a, nb::handle b) { return wrap_result(product_of(a, b, vdot)); }, arg("a"),
        arg("b"));
    m.def(
        "_matvec", [](nb::handle x1, nb::handle x2) { return to_python(product_of(x1, x2, matvec)); },
        arg("x1"), arg("x2"));
    m.def(
        "_vecmat", [](nb::handle x1, nb::handle x2) { return to_python(product_of(x1, x2, vecmat)); },
        arg("x1"), arg("x2"));
    m.def(
        "_cross",
        [](nb::handle a, nb::handle b, nb::handle axisa, nb::handle axisb, nb::handle axisc) {
            const int64_t first = to_index(axisa), second = to_index(axisb), along = to_index(axisc);
            array result = product_of(
                a, b, [&](const array& x, const array& y) { return cross(x, y, first, second, along); });
            // The only component of two pairs is an array, too.
            return result.ndim() == 0 ? wrap(std::move(result)) : to_python(std::move(result));
        },
        arg("a"), arg("b"), arg("axisa"), arg("axisb"), arg("axisc"));
    m.def("_einsum", einsum_function, arg("subscripts"), arg("operands"), arg("out"), arg("optimize"),
          arg("dtype"), arg("order"), arg("casting"));
    m.def("_einsum_path", einsum_path_function, arg("subscripts"), arg("operands"), arg("optimize"));
    method(
        registry.ndarray, "dot",
        [](nb::handle self, nb::handle b, nb::handle out) { return dot_function(self, b, out); }, arg("b"),
        arg("out") = none, "The sum over the last axis of this array and the last but one of `b`.");
}

}  // namespace weft::python
