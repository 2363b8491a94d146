// Elements by their positions or by conditions, read and written.
#include "api/indexing/fast_index.h"
#include "convert/convert.h"
#include "engine/numpy_version.h"
#include "functions/functions.h"
#include "graph/operand.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

nb::object take_function(nb::handle input, nb::handle indices, nb::handle axis, nb::handle out,
                         nb::handle mode) {
    const array value = to_array(input);
    array positions = to_array(indices);
    const bool listed = PyList_Check(indices.ptr()) || PyTuple_Check(indices.ptr());
    if (positions.dtype().is_bool() || listed) {
        positions = astype(positions, ScalarType::kInt64, 'K', Casting::kUnsafe, false);
    } else if (!can_cast(positions.dtype(), ScalarType::kInt64, Casting::kSameKind)) {
        throw TypeError("Cannot cast array data from dtype('" + std::string(positions.dtype().name()) +
                        "') to dtype('int64') according to the rule 'safe'");
    }
    const TakeMode how = to_take_mode(mode);
    if (array result; how == TakeMode::kRaise && out.is_none() && value.size() != 0 &&
                      (axis.is_none() ? value.ndim() == 1 : to_index(axis) == 0) &&
                      try_gather(value, positions, result))
        return wrap_like(std::move(result), input);
    std::optional<int64_t> along;
    if (!axis.is_none()) along = to_index(axis);
    const array target = to_out(out);
    warn_of_lost_imaginary_part(value.dtype(), {}, target);
    array result;
    {
        const TakenOutput into(target, value.dtype());
        const ReleaseGil release(is_large(value) || is_large(positions));
        result = into.write([&](const array& values) { return take(value, positions, along, how, values); });
    }
    return target.valid() ? nb::borrow(out) : wrap_result_like(std::move(result), input);
}

/// Truth of the elements, of axes that repeat them only once, so that these say nothing about memory order.
array to_mask(const array& condition) {
    Dims once = condition.shape();
    for (size_t d = 0; d < once.size(); ++d) {
        if (condition.strides()[d] == 0 && once[d] > 1) once[d] = 1;
    }
    const array narrow =
        condition.with_view(condition.dtype(), once, condition.strides(), condition.offset());
    return broadcast_to(astype(narrow, DType(ScalarType::kBool)), condition.shape());
}

nb::object nonzero_function(nb::handle input) {
    const array value = to_array(input);
    std::vector<array> positions;
    {
        const ReleaseGil release(is_large(value));
        positions = nonzero(value);
    }
    nb::list result;
    for (array& each : positions) result.append(wrap(std::move(each)));
    return nb::tuple(result);
}

nb::object where_function(nb::handle condition, nb::handle x, nb::handle y) {
    if (x.is_none() != y.is_none()) throw TypeError("where: None is an object, or one of x and y is missing");
    if (x.is_none()) return nonzero_function(condition);
    array mask = to_array(condition);
    if (!mask.dtype().is_bool()) mask = to_mask(mask);
    const OpInfo* const select = &op_info(OpId::kSelect);
    Argument inputs[] = {mask, to_argument(x), to_argument(y)};
    // Before NumPy 2.5 Python's integers wrap here, unlike in ufuncs.
    const auto type_of = [](const Argument& argument, nb::handle object) -> OperandType {
        const auto* given = std::get_if<array>(&argument);
        return given != nullptr ? OperandType(given->dtype()) : operand_type(object);
    };
    const OperandType types[] = {type_of(inputs[1], x), type_of(inputs[2], y)};
    const DType common = result_type(types);
    for (size_t k = 1; k < 3 && common.is_integer(); ++k) {
        if (std::holds_alternative<Integer>(inputs[k]) && !is_numpy_2_5())
            inputs[k] = astype(from_argument(inputs[k], DType(ScalarType::kInt64)), common);
    }
    std::vector<array> results;
    {
        const ReleaseGil release(is_large(mask) || is_large(inputs[1]) || is_large(inputs[2]));
        results = call(*select, inputs);
    }
    return wrap(std::move(results.at(0)));
}

void copyto(nb::handle target, nb::handle source, nb::handle casting, nb::handle where) {
    if (!is_array(target.ptr())) {
        const nb::object name =
            nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(target.ptr()))).attr("__name__");
        throw TypeError("copyto() argument 1 must be weft.ndarray, not " + text_of(name));
    }
    const Casting rule = to_casting(casting);
    const Argument value = to_argument(source);
    if (rule == Casting::kUnsafe)
        warn_of_lost_imaginary_part(weft::operand_type(value).dtype, array_of(target).dtype());
    if (where.ptr() == Py_True) {
        assign(array_of(target), value, rule);
    } else {
        assign_where(array_of(target), value, to_argument(where), rule);
    }
}

}  // namespace

TakeMode to_take_mode(nb::handle mode) {
    const std::string text = nb::isinstance<nb::str>(mode) ? text_of(mode) : "";
    if (text == "raise") return TakeMode::kRaise;
    if (text == "wrap") return TakeMode::kWrap;
    if (text == "clip") return TakeMode::kClip;
    if (!nb::isinstance<nb::str>(mode)) throw TypeError("clipmode must be a string");
    throw ValueError("clipmode must be one of 'clip', 'raise', or 'wrap' (got '" + text + "')");
}

void bind_indexing(nb::module_& m) {
    const auto none = nb::none();
    m.def("_take", take_function, arg("a"), arg("indices"), arg("axis"), arg("out"), arg("mode"));
    m.def(
        "_take_along_axis",
        [](nb::handle input, nb::handle indices, int64_t axis) {
            const array& value = array_of(input);
            const array& positions = array_of(indices);
            array result;
            {
                const ReleaseGil release(is_large(value) || is_large(positions));
                result = take_along_axis(value, positions, axis);
            }
            return wrap(std::move(result));
        },
        arg("arr"), arg("indices"), arg("axis"));
    m.def(
        "_put_along_axis",
        [](nb::handle target, nb::handle indices, nb::handle value, int64_t axis) {
            const array& into = array_of(target);
            const array& positions = array_of(indices);
            const Argument argument = to_element_argument(value, into.dtype(), kMaxDimensions);
            const ReleaseGil release(is_large(into) || is_large(positions));
            put_along_axis(into, positions, argument, axis);
        },
        arg("arr"), arg("indices"), arg("values"), arg("axis"));
    m.def("nonzero", nonzero_function, arg("a"),
          "The positions of elements that are not zero: an int64 array for each axis, in C order.\n\n"
          ">>> np.nonzero([[3, 0], [0, 4]])\n(array([0, 1]), array([0, 1]))");
    m.def("where", where_function, arg(), arg() = none, arg() = none,
          nb::sig("def where(condition, x=None, y=None, /)"),
          "Elements of `x` where `condition` is true, of `y` elsewhere; without these two, "
          "nonzero(condition).");
    m.def("copyto", copyto, arg("dst"), arg("src"), arg("casting") = "same_kind", arg("where") = true,
          "Copies `src` into `dst`, where `where` is true.");
}

}  // namespace weft::python
