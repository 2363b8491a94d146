// Arrays repeated, cut into parts and put together again (weft/assembly.h).
#include "weft/assembly.h"

#include <optional>
#include <string>
#include <vector>

#include "functions/bound_function.h"
#include "functions/functions.h"
#include "functions/parts_of_arrays.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/creation.h"
#include "weft/indexing.h"

namespace weft::python {

namespace {

using OptionalIndex = FromPython<std::optional<int64_t>>;

bool is_listed(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

constexpr const char* kTooDeepList =
    "setting an array element with a sequence. The requested array would exceed the maximum number of "
    "dimension of 1.";

/// An array of positions; an empty list is one of integers.
array to_positions(nb::handle object) {
    const array given = to_array(object);
    if (given.size() != 0 || is_array(object.ptr())) return given;
    return astype(given, ScalarType::kInt64);
}

nb::object repeat_function(nb::handle a, nb::handle repeats, nb::handle axis) {
    const array value = to_array(a);
    const auto along = OptionalIndex::convert(axis);
    int overflow = 0;
    if (PyLong_CheckExact(repeats.ptr())) {
        const int64_t count = PyLong_AsLongLongAndOverflow(repeats.ptr(), &overflow);
        if (overflow == 0) {
            const ReleaseGil release(is_large(value));
            array (*const alike)(const array&, int64_t, std::optional<int64_t>) = &repeat;
            array result = alike(value, count, along);
            return wrap(std::move(result));
        }
    }
    array counts = to_array(repeats);
    const bool converts = is_listed(repeats) || PyLong_Check(repeats.ptr()) || PyFloat_Check(repeats.ptr());
    if (is_listed(repeats) && counts.ndim() > 1) throw ValueError(kTooDeepList);
    if (converts) counts = astype(counts, ScalarType::kInt64, 'K', Casting::kUnsafe, false);
    array result;
    {
        const ReleaseGil release(is_large(value) || is_large(counts));
        result = repeat(value, counts, along);
    }
    return wrap(std::move(result));
}

std::vector<int64_t> to_ends(nb::handle list) {
    std::vector<int64_t> ends;
    for (const nb::handle each : nb::borrow<nb::iterable>(list)) {
        if (PyIndex_Check(each.ptr()) == 0)
            throw TypeError("slice indices must be integers or None or have an __index__ method");
        ends.push_back(to_index(each));
    }
    return ends;
}

nb::list parts_of(std::vector<array>&& parts, nb::handle owner) {
    nb::list list;
    for (array& part : parts) {
        const bool is_element = part.ndim() == 0;
        list.append(is_element ? wrap_result(std::move(part)) : wrap_view(std::move(part), owner));
    }
    return list;
}

nb::object split_function(nb::handle ary, nb::handle indices_or_sections, nb::handle axis) {
    const array value = to_array(ary);
    const nb::object owner = is_array(ary.ptr()) ? nb::borrow(ary) : wrap(value);
    const int64_t along = to_index(axis);
    if (PyObject_HasAttrString(indices_or_sections.ptr(), "__len__") != 0)
        return parts_of(array_split(value, to_ends(indices_or_sections), along), owner);
    return parts_of(array_split(value, to_index(indices_or_sections), along), owner);
}

/// The same as an index of one axis: an integer, a slice, an array.
Index to_place(nb::handle object) {
    if (PySlice_Check(object.ptr())) {
        Py_ssize_t start = 0, stop = 0, step = 0;
        if (PySlice_Unpack(object.ptr(), &start, &stop, &step) != 0) throw_python_error();
        return Slice{start, stop, step};
    }
    if (!PyBool_Check(object.ptr()) && PyLong_Check(object.ptr())) {
        int overflow = 0;
        const int64_t position = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
        if (overflow == 0) return position;
    }
    return to_positions(object);
}

/// Of one position: NumPy's text shows what was given.
void check_place(const Index& place, nb::handle given, const array& arr, std::optional<int64_t> axis) {
    int64_t position = 0;
    if (const auto* number = std::get_if<int64_t>(&place)) {
        position = *number;
    } else {
        const auto* list = std::get_if<array>(&place);
        if (list == nullptr || list->size() != 1 || !list->dtype().is_integer()) return;
        const array only = reshape(*list, Shape{});
        if (list->dtype() == DType(ScalarType::kUInt64)) return;
        position = astype(only, ScalarType::kInt64).item<int64_t>();
    }
    if (axis && (*axis < -arr.ndim() || *axis >= arr.ndim())) return;
    const int64_t along = axis ? (*axis < 0 ? *axis + arr.ndim() : *axis) : 0;
    const int64_t extent = axis ? arr.shape()[static_cast<size_t>(along)] : arr.size();
    if (position >= -extent && position <= extent) return;
    throw IndexError("index " + text_of(given) + " is out of bounds for axis " + std::to_string(along) +
                     " with size " + std::to_string(extent));
}

nb::object insert_function(nb::handle arr, nb::handle obj, nb::handle values, nb::handle axis) {
    const array value = to_array(arr);
    const auto along = OptionalIndex::convert(axis);
    const Index place = to_place(obj);
    check_place(place, obj, value, along);
    const Argument given = to_element_argument(values, value.dtype(), kMaxDimensions);
    if (const auto* own = std::get_if<array>(&given); own && is_array(values.ptr()))
        warn_of_lost_imaginary_part(own->dtype(), value.dtype());
    array result;
    {
        const ReleaseGil release(is_large(value));
        result = insert(value, place, given, along);
    }
    return wrap(std::move(result));
}

nb::object delete_function(nb::handle arr, nb::handle obj, nb::handle axis) {
    const array value = to_array(arr);
    const auto along = OptionalIndex::convert(axis);
    const Index place = to_place(obj);
    array result;
    {
        const ReleaseGil release(is_large(value));
        result = delete_(value, place, along);
    }
    return wrap(std::move(result));
}

}  // namespace

void bind_assembly(nb::module_& m) {
    m.def("_repeat", repeat_function, arg("a"), arg("repeats"), arg("axis").none());
    m.def(
        "_tile",
        [](nb::handle a, nb::handle reps) {
            const Shape times = to_dims(reps);
            return wrap(call_without_gil(&tile, to_array(a), times));
        },
        arg("A"), arg("reps"));
    m.def(
        "_resize",
        [](nb::handle a, nb::handle shape) {
            const Shape extents = to_dims(shape);
            return wrap(call_without_gil(&resize, to_array(a), extents));
        },
        arg("a"), arg("new_shape"));
    m.def(
        "_append",
        [](nb::handle arr, nb::handle values, nb::handle axis) {
            const auto along = OptionalIndex::convert(axis);
            return wrap(call_without_gil(&append, to_array(arr), to_array(values), along));
        },
        arg("arr"), arg("values"), arg("axis").none());
    m.def("_array_split", split_function, arg("ary"), arg("indices_or_sections"), arg("axis"));
    m.def(
        "_unstack",
        [](nb::handle x, nb::handle axis) {
            const array value = to_array(x);
            const nb::object owner = is_array(x.ptr()) ? nb::borrow(x) : wrap(value);
            return nb::tuple(parts_of(unstack(value, to_index(axis)), owner));
        },
        arg("x"), arg("axis"));
    m.def(
        "_rot90",
        [](nb::handle input, nb::handle k, nb::handle first, nb::handle second) {
            const array value = to_array(input);
            const nb::object owner = is_array(input.ptr()) ? nb::borrow(input) : wrap(value);
            return wrap_view(rot90(value, to_index(k), {to_index(first), to_index(second)}), owner);
        },
        arg("m"), arg("k"), arg("first"), arg("second"));
    m.def("_insert", insert_function, arg("arr"), arg("obj"), arg("values").none(), arg("axis").none());
    m.def("_delete", delete_function, arg("arr"), arg("obj"), arg("axis").none());
}

}  // namespace weft::python
