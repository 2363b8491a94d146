// Elements chosen by conditions or among several arrays, and written where conditions hold
// (weft/selection.h); packed bits (weft/bits.h).
#include "weft/selection.h"

#include <string>
#include <vector>

#include "functions/bound_function.h"
#include "functions/functions.h"
#include "functions/parts_of_arrays.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/bits.h"
#include "weft/creation.h"

namespace weft::python {

namespace {

using OptionalIndex = FromPython<std::optional<int64_t>>;

std::vector<array> to_arrays(nb::handle list) {
    std::vector<array> arrays;
    for (const nb::handle each : nb::borrow<nb::iterable>(list)) arrays.push_back(to_array(each));
    return arrays;
}

bool any_is_large(std::span<const array> arrays) {
    return std::ranges::any_of(arrays, [](const array& each) { return is_large(each); });
}

nb::object choose_function(nb::handle a, nb::handle choices, nb::handle out, nb::handle mode) {
    const array which = to_array(a);
    const std::vector<array> among = to_arrays(choices);
    const TakeMode how = to_take_mode(mode);
    const array target = to_out(out);
    array result;
    {
        const ReleaseGil release(is_large(which) || any_is_large(among));
        result = choose(which, among, how, target);
    }
    return target.valid() ? nb::borrow(out) : wrap_result(std::move(result));
}

/// Python's numbers yield to arrays; all else is an array.
Argument to_choice(nb::handle object) {
    PyObject* const given = object.ptr();
    if (PyLong_CheckExact(given) || PyFloat_CheckExact(given) || PyComplex_CheckExact(given))
        return to_argument(object);
    return to_array(object);
}

nb::object select_function(nb::handle condlist, nb::handle choicelist, nb::handle otherwise) {
    const std::vector<array> conditions = to_arrays(condlist);
    std::vector<Argument> choices;
    for (const nb::handle each : nb::borrow<nb::iterable>(choicelist)) choices.push_back(to_choice(each));
    const Argument rest = to_choice(otherwise);
    array result;
    {
        const ReleaseGil release(any_is_large(conditions));
        result = select(conditions, choices, rest);
    }
    return wrap(std::move(result));
}

/// The functions are Python's: the GIL is held.
nb::object piecewise_function(nb::handle x, nb::handle condlist, nb::handle funclist) {
    const array value = to_array(x);
    const std::vector<array> conditions = to_arrays(condlist);
    std::vector<PiecewiseFunction> functions;
    for (const nb::handle each : nb::borrow<nb::iterable>(funclist)) {
        if (PyCallable_Check(each.ptr()) == 0) {
            functions.emplace_back(to_element_argument(each, value.dtype(), kMaxDimensions));
            continue;
        }
        functions.emplace_back(std::function<Argument(const array&)>([&value, each](const array& some) {
            array own = some;
            return to_element_argument(each(wrap(std::move(own))), value.dtype(), kMaxDimensions);
        }));
    }
    return wrap(piecewise(value, conditions, functions));
}

bool is_pythons(PyObject* object) {
    return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
           PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

/// What NumPy's older functions take: arrays, and any Python values in the dtype of the target.
array to_values(nb::handle object, DType dtype) {
    if (is_array(object.ptr()) || is_scalar(object.ptr())) return to_array(object);
    const bool is_foreign_array = !is_pythons(object.ptr()) &&
                                  PyObject_HasAttrString(object.ptr(), "__dlpack__") != 0 &&
                                  PyObject_HasAttrString(object.ptr(), "strides") != 0;
    if (is_foreign_array) return to_array(object);
    const Argument values = to_element_argument(object, dtype, kMaxDimensions);
    return from_argument(values, dtype);
}

array target_of(nb::handle object, const char* text) {
    if (is_array(object.ptr())) return array_of(object);
    const nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
    throw TypeError(std::string(text) + text_of(type.attr("__name__")));
}

void put_function(nb::handle a, nb::handle indices, nb::handle values, nb::handle mode) {
    const array target = target_of(a, "argument 1 must be weft.ndarray, not ");
    const TakeMode how = to_take_mode(mode);
    if (!target.writeable()) throw ValueError("put: output array is read-only");
    const array places = to_values(indices, ScalarType::kInt64);
    nb::object converted = nb::borrow(values);
    if (is_host_array(values.ptr()))  // NumPy converts it
        converted = nb::handle(registry.module).attr("asarray")(values, wrap_dtype(target.dtype()));
    const Argument given = to_element_argument(converted, target.dtype(), kMaxDimensions);
    if (const auto* own = std::get_if<array>(&given); own && is_array(values.ptr()))
        warn_of_lost_imaginary_part(own->dtype(), target.dtype());
    const array written = from_argument(given, target.dtype());
    const ReleaseGil release(is_large(places));
    put(target, places, written, how);
}

void place_function(nb::handle arr, nb::handle mask, nb::handle values) {
    const array target = target_of(arr, "place() argument 1 must be weft.ndarray, not ");
    if (!target.writeable()) throw ValueError("place: output array is read-only");
    const array truths = to_array(mask);
    if (truths.size() != target.size()) throw ValueError("place: mask and data must be the same size");
    const array written = to_values(values, target.dtype());
    const ReleaseGil release(is_large(target));
    place(target, truths, written);
}

void putmask_function(nb::handle a, nb::handle mask, nb::handle values) {
    if (!is_array(a.ptr())) throw TypeError("putmask: first argument must be an array");
    const array& target = array_of(a);
    const array truths = to_array(mask);
    if (truths.size() != target.size()) throw ValueError("putmask: mask and data must be the same size");
    if (!target.writeable()) throw ValueError("putmask: output array is read-only");
    const array written = to_values(values, target.dtype());
    const ReleaseGil release(is_large(target));
    putmask(target, truths, written);
}

// ---- packed bits ----

std::string text_argument(nb::handle object, const char* where) {
    if (PyUnicode_Check(object.ptr())) return text_of(object);
    const std::string type = object.is_none() ? "None" : text_of(object.type().attr("__name__"));
    throw TypeError(std::string(where) + " must be str, not " + type);
}

BitOrder order_of_packing(nb::handle given) {
    const std::string text = text_argument(given, "pack() argument 3");
    if (text.starts_with("big")) return BitOrder::kBig;
    if (text.starts_with("little")) return BitOrder::kLittle;
    throw ValueError("'order' must be either 'little' or 'big'");
}

BitOrder order_of_unpacking(nb::handle given) {
    const std::string text = text_argument(given, "unpack() argument 4");
    if (text.starts_with("b")) return BitOrder::kBig;
    if (text.starts_with("l")) return BitOrder::kLittle;
    throw ValueError("'order' must begin with 'l' or 'b'");
}

std::optional<int64_t> to_count(nb::handle count) {
    if (PyBool_Check(count.ptr())) throw TypeError("an integer is required");
    return OptionalIndex::convert(count);
}

}  // namespace

void bind_selection(nb::module_& m) {
    m.def("_choose", choose_function, arg("a"), arg("choices"), arg("out").none(), arg("mode"));
    m.def("_select", select_function, arg("condlist"), arg("choicelist"), arg("default"));
    m.def("_piecewise", piecewise_function, arg("x"), arg("condlist"), arg("funclist"));
    m.def(
        "_argwhere", [](nb::handle a) { return to_python(call_without_gil(&argwhere, to_array(a))); },
        arg("a"));
    m.def(
        "_flatnonzero", [](nb::handle a) { return wrap(call_without_gil(&flatnonzero, to_array(a))); },
        arg("a"));
    m.def(
        "_compress",
        [](nb::handle condition, nb::handle a, nb::handle axis, nb::handle out) {
            const array truths = to_array(condition), value = to_array(a), target = to_out(out);
            const auto along = OptionalIndex::convert(axis);
            array result;
            {
                const TakenOutput into(target, value.dtype());
                const ReleaseGil release(is_large(value));
                result =
                    into.write([&](const array& values) { return compress(truths, value, along, values); });
            }
            return target.valid() ? nb::borrow(out) : wrap_result_like(std::move(result), a);
        },
        arg("condition"), arg("a"), arg("axis").none(), arg("out").none());
    m.def(
        "_extract",
        [](nb::handle condition, nb::handle arr) {
            return wrap(call_without_gil(&extract, to_array(condition), to_array(arr)));
        },
        arg("condition"), arg("arr"));
    m.def("_put", put_function, arg("a"), arg("ind"), arg("v"), arg("mode"));
    m.def("_place", place_function, arg("arr"), arg("mask"), arg("vals"));
    m.def("_putmask", putmask_function, arg("a"), arg("mask"), arg("values"));
}

void bind_bits(nb::module_& m) {
    m.def(
        "_packbits",
        [](nb::handle a, nb::handle axis, nb::handle bitorder) {
            const auto along = OptionalIndex::convert(axis);
            const BitOrder order = order_of_packing(bitorder);
            return to_python(call_without_gil(&packbits, to_array(a), along, order));
        },
        arg("a"), arg("axis").none(), arg("bitorder"));
    m.def(
        "_unpackbits",
        [](nb::handle a, nb::handle axis, nb::handle count, nb::handle bitorder) {
            const auto along = OptionalIndex::convert(axis);
            const BitOrder order = order_of_unpacking(bitorder);
            const array packed = to_array(a);
            return to_python(call_without_gil(&unpackbits, packed, along, to_count(count), order));
        },
        arg("a"), arg("axis").none(), arg("count").none(), arg("bitorder"));
}

}  // namespace weft::python
