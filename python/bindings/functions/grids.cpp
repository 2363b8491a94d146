// Grids, counted positions and diagonals (weft/grids.h), where the generated binding does not fit.
#include "weft/grids.h"

#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"
#include "ops/resolve.h"

namespace weft::python {

namespace {

std::vector<array> to_arrays(nb::handle sequence) {
    std::vector<array> arrays;
    for (const nb::handle each : sequence) arrays.push_back(to_array(each));
    return arrays;
}

nb::tuple tuple_of(std::vector<array>&& arrays) {
    nb::list list;
    for (array& each : arrays) list.append(wrap_result(std::move(each)));
    return nb::tuple(list);
}

nb::tuple pair_of(std::pair<array, array>&& found) {
    return nb::make_tuple(wrap(std::move(found.first)), wrap(std::move(found.second)));
}

/// Views know what they are of.
nb::object wrap_part(array&& part, nb::handle given) {
    const bool is_own = part.owns_data();
    if (is_own) return wrap(std::move(part));
    if (is_array(given.ptr())) return wrap_plain_view(std::move(part), given);
    const nb::object owner = wrap(part);
    return wrap_plain_view(std::move(part), owner);
}

nb::object meshgrid_function(nb::handle axes, bool copy, bool sparse, bool as_matrix) {
    const MeshgridOptions options{copy, sparse, as_matrix ? GridIndexing::kIJ : GridIndexing::kXY};
    std::vector<array> grids = meshgrid(to_arrays(axes), options);
    nb::list list;
    for (size_t k = 0; k < grids.size(); ++k)
        list.append(wrap_part(std::move(grids[k]), PyTuple_GetItem(axes.ptr(), static_cast<Py_ssize_t>(k))));
    if (!copy && sparse) return list;
    return nb::tuple(list);
}

nb::object indices_function(nb::handle dimensions, nb::handle dtype, bool sparse) {
    const Dims shape = to_dims(dimensions);
    const DType type = to_dtype_required(dtype);
    if (!sparse) return wrap(indices(shape, type));
    nb::list list;
    for (array& each : sparse_indices(shape, type)) list.append(to_python(std::move(each)));
    return nb::tuple(list);
}

nb::object ix_function(nb::handle positions) {
    std::vector<array> rows = to_arrays(positions);
    for (size_t k = 0; k < rows.size(); ++k) {
        const nb::handle given(PyTuple_GetItem(positions.ptr(), static_cast<Py_ssize_t>(k)));
        if (rows[k].ndim() == 1 && rows[k].size() == 0 && !is_array(given.ptr()))
            rows[k] = astype(rows[k], ScalarType::kInt64);
    }
    nb::list list;
    for (array& each : ix_(rows)) list.append(to_python(std::move(each)));
    return nb::tuple(list);
}

/// Of one integer, without arrays; null for shapes that no array has, which the engine refuses.
nb::object unravelled(nb::handle index, const Dims& shape, char order) {
    int overflow = 0;
    const nb::object number = steal_or_throw(PyNumber_Index(index.ptr()));
    const int64_t given = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    int64_t size = 1;
    for (const int64_t extent : shape) {
        if (__builtin_mul_overflow(size, extent, &size)) return {};
    }
    if (overflow != 0 || given < 0 || given >= size)
        throw ValueError("index " + text_of(number) + " is out of bounds for array with size " +
                         std::to_string(size));
    const nb::object result = steal_or_throw(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
    int64_t rest = given;
    for (size_t k = 0; k < shape.size(); ++k) {
        const size_t axis = order == 'F' ? k : shape.size() - 1 - k;
        const int64_t place = rest % shape[axis];
        rest /= shape[axis];
        PyTuple_SetItem(result.ptr(), static_cast<Py_ssize_t>(axis),
                        wrap_scalar(ScalarType::kInt64, &place).release().ptr());
    }
    return result;
}

char checked_order(nb::handle order) {
    if (PyUnicode_Check(order.ptr())) {
        const std::string text = text_of(order);
        if (text == "C" || text == "F") return text[0];
    }
    throw ValueError("order must be one of 'C', 'F' (got '" + text_of(order) + "')");
}

nb::object unravel_function(nb::handle indices, nb::handle shape, nb::handle order) {
    const Dims extents = to_dims(shape);
    const bool is_number =
        PyLong_CheckExact(indices.ptr()) ||
        (is_scalar(indices.ptr()) && scalar_dtype(indices.ptr()) == DType(ScalarType::kInt64));
    if (is_number) {
        if (nb::object result = unravelled(indices, extents, checked_order(order)); result.is_valid())
            return result;
    }
    const array flat = to_array(indices);
    if (flat.size() == 0 && !is_array(indices.ptr()))
        throw TypeError(
            "indices must be integral: an empty sequence is taken for floats. Wrap it in array([], "
            "dtype=int64)");
    return tuple_of(unravel_index(flat, extents, checked_order(order)));
}

nb::object ravel_multi_function(nb::handle multi_index, nb::handle dims, nb::handle mode, nb::handle order) {
    const Dims extents = to_dims(dims);
    const auto mode_of = [](nb::handle object) {
        const std::string text = PyUnicode_Check(object.ptr()) ? text_of(object) : std::string();
        return text == "wrap" ? TakeMode::kWrap : text == "clip" ? TakeMode::kClip : TakeMode::kRaise;
    };
    std::vector<TakeMode> modes;
    if (PyTuple_Check(mode.ptr())) {
        for (const nb::handle each : mode) modes.push_back(mode_of(each));
    } else {
        modes.assign(extents.size(), mode_of(mode));
    }
    return wrap_result(ravel_multi_index(to_arrays(multi_index), extents, modes, checked_order(order)));
}

std::optional<int64_t> to_columns(nb::handle object) {
    return FromPython<std::optional<int64_t>>::convert(object);
}

double to_number(nb::handle object) { return FromPython<double>::convert(object); }

}  // namespace

void bind_grids(nb::module_& m) {
    m.def("_meshgrid", meshgrid_function, arg("xi"), arg("copy"), arg("sparse"), arg("as_matrix"));
    m.def("_indices", indices_function, arg("dimensions"), arg("dtype"), arg("sparse"));
    m.def("_ix", ix_function, arg("positions"));
    m.def("_unravel_index", unravel_function, arg("indices"), arg("shape"), arg("order"));
    m.def("_ravel_multi_index", ravel_multi_function, arg("multi_index"), arg("dims"), arg("mode"),
          arg("order"));
    m.def(
        "_diag",
        [](nb::handle v, nb::handle k) {
            array result = diag(to_array(v), to_index(k));
            return wrap_part(std::move(result), v);
        },
        arg("v"), arg("k"));
    m.def(
        "_fill_diagonal",
        [](nb::handle a, nb::handle value, bool wrap_around) {
            const array target = array_of(a);
            const Argument given = to_array(value);
            warn_of_lost_imaginary_part(std::get<array>(given).dtype(), target.dtype());
            fill_diagonal(target, given, wrap_around);
        },
        arg("a"), arg("val"), arg("wrap"));
    m.def(
        "_tri",
        [](nb::handle rows, nb::handle columns, nb::handle k) {
            return wrap(tri(to_index(rows), to_index(columns), to_number(k), ScalarType::kBool));
        },
        arg("N"), arg("M"), arg("k"));
    m.def(
        "_tril_indices",
        [](nb::handle n, nb::handle k, nb::handle columns) {
            return pair_of(tril_indices(to_index(n), to_number(k), to_columns(columns)));
        },
        arg("n"), arg("k"), arg("m").none());
    m.def(
        "_triu_indices",
        [](nb::handle n, nb::handle k, nb::handle columns) {
            return pair_of(triu_indices(to_index(n), to_number(k), to_columns(columns)));
        },
        arg("n"), arg("k"), arg("m").none());
    m.def(
        "_vander",
        [](nb::handle x, nb::handle columns, bool increasing) {
            return wrap(vander(to_array(x), to_columns(columns), increasing));
        },
        arg("x"), arg("N").none(), arg("increasing"));
}

}  // namespace weft::python
