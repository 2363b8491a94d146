// The methods of weft.ndarray that need no composition: views, copies, conversions.
#include "api/recording/transfer.h"
#include "convert/convert.h"
#include "graph/placement.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"
#include "protocols/overrides.h"
#include "weft/creation.h"

namespace weft::python {

namespace {

/// Arguments that NumPy takes either one by one or as one tuple: x.reshape(2, 3), x.reshape((2, 3)).
nb::object one_or_many(const nb::args& arguments) {
    if (arguments.size() == 1 && !PyLong_Check(nb::object(arguments[0]).ptr()))
        return nb::object(arguments[0]);
    return nb::borrow(arguments);
}

std::optional<bool> to_copy_flag(nb::handle copy) {
    if (copy.is_none()) return std::nullopt;
    const int truth = PyObject_IsTrue(copy.ptr());
    if (truth < 0) throw_python_error();
    return truth != 0;
}

char to_reshape_order(nb::handle order) {
    const char result = to_order(order, "CFAK");
    if (result == 'K') throw ValueError("order 'K' is not permitted for reshaping");
    return result;
}

nb::object reshape_method(nb::handle self, const nb::args& shape, nb::handle order, nb::handle copy) {
    if (shape.size() == 0) throw TypeError("reshape() missing shape argument");
    return wrap_view(
        reshape(array_of(self), to_dims(one_or_many(shape)), to_reshape_order(order), to_copy_flag(copy)),
        self);
}

nb::object transpose_method(nb::handle self, const nb::args& axes) {
    const array& value = array_of(self);
    if (axes.size() == 0 || (axes.size() == 1 && nb::object(axes[0]).is_none()))
        return wrap_view(transpose(value, {}), self);
    const Dims dims = to_dims(one_or_many(axes));
    // An empty list means "reversed" to the engine, which is the same for the only array that it may be given
    // for.
    if (dims.empty() && value.ndim() != 0) throw ValueError("axes don't match array");
    return wrap_view(transpose(value, dims), self);
}

nb::object flatten(nb::handle self, nb::handle order) {
    const array& value = array_of(self);
    array flat = ravel(value, to_order(order, "CFAK"));
    return wrap_like(flat.storage() == value.storage() ? copy(flat, 'C') : flat, self);
}

/// The words of casting, of which astype alone takes one more.
Casting to_casting_of_astype(nb::handle casting) {
    try {
        return to_casting(casting);
    } catch (const ValueError&) {
        throw ValueError(
            "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe', 'same_value' (got " +
            text_of(nb::repr(casting)) + ")");
    }
}

nb::object astype_method(nb::handle self, nb::handle dtype, nb::handle order, nb::handle casting, bool subok,
                         bool copy) {
    const array& value = array_of(self);
    const DType target = to_dtype_required(dtype);
    const char layout = to_order(order, "KCFA");
    if (!copy && target == value.dtype() && (subok || is_plain_array(self.ptr())) &&
        (layout == 'K' || (layout == 'C' && value.c_contiguous()) ||
         (layout == 'F' && value.f_contiguous()) ||
         (layout == 'A' && (value.c_contiguous() || value.f_contiguous()))))
        return nb::borrow(self);
    if (PyUnicode_Check(casting.ptr()) && text_of(casting) == "same_value") {
        array same;
        {
            const ReleaseGil release(is_large(value));
            same = astype_same_value(value, target, layout, copy);
        }
        return subok ? wrap_like(std::move(same), self) : wrap(std::move(same));
    }
    const Casting rule = to_casting_of_astype(casting);
    if (rule == Casting::kUnsafe) warn_of_lost_imaginary_part(value.dtype(), target);
    array converted = astype(value, target, layout, rule, copy);
    return subok ? wrap_like(std::move(converted), self) : wrap(std::move(converted));
}

bool is_array_type(nb::handle object) {
    return PyType_Check(object.ptr()) &&
           PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object.ptr()), registry.ndarray) != 0;
}

nb::object view_method(nb::handle self, nb::handle dtype, nb::handle type) {
    const array& value = array_of(self);
    nb::handle element = dtype, given = type;
    if (is_array_type(dtype)) {
        if (!type.is_none()) throw ValueError("Cannot specify output type twice.");
        given = dtype;
        element = nb::none();
    }
    if (!given.is_none() && !is_array_type(given))
        throw ValueError("Type must be a sub-type of ndarray type");
    PyTypeObject* const result =
        given.is_none() ? Py_TYPE(self.ptr()) : reinterpret_cast<PyTypeObject*>(given.ptr());
    return wrap_view_as(result, view(value, element.is_none() ? value.dtype() : to_dtype_required(element)),
                        self);
}

nb::object item(nb::handle self, const nb::args& arguments) {
    const array& value = array_of(self);
    Dims position(static_cast<size_t>(value.ndim()), 0);
    nb::object given = one_or_many(arguments);
    const Dims indices = arguments.size() == 0 ? Dims{} : to_dims(given);
    if (arguments.size() == 0) {
        if (value.size() != 1) throw ValueError("can only convert an array of size 1 to a Python scalar");
    } else if (indices.size() == 1) {
        int64_t flat = indices[0] < 0 ? indices[0] + value.size() : indices[0];
        if (flat < 0 || flat >= value.size())
            throw IndexError("index " + std::to_string(indices[0]) + " is out of bounds for size " +
                             std::to_string(value.size()));
        for (size_t axis = position.size(); axis-- > 0;) {
            position[axis] = flat % value.shape()[axis];
            flat /= value.shape()[axis];
        }
    } else {
        if (indices.size() != position.size()) throw ValueError("incorrect number of indices for array");
        for (size_t axis = 0; axis < position.size(); ++axis) {
            const int64_t extent = value.shape()[axis];
            position[axis] = indices[axis] < 0 ? indices[axis] + extent : indices[axis];
            if (position[axis] < 0 || position[axis] >= extent)
                throw IndexError("index " + std::to_string(indices[axis]) + " is out of bounds for axis " +
                                 std::to_string(axis) + " with size " + std::to_string(extent));
        }
    }
    int64_t offset = value.offset();
    for (size_t axis = 0; axis < position.size(); ++axis) offset += position[axis] * value.strides()[axis];
    return only_element(value.with_view(value.dtype(), {}, {}, offset));
}

nb::object to_bytes(nb::handle self, nb::handle order) {
    const array& value = array_of(self);
    const char layout = to_order(order, "CFAK");
    const bool fortran = layout == 'F' || (layout != 'C' && value.f_contiguous() && !value.c_contiguous());
    const array source = fortran ? transpose(value, {}) : value;
    nb::object bytes =
        steal_or_throw(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(value.nbytes())));
    evaluate(source);
    copy_out(source, PyBytes_AsString(bytes.ptr()));
    return bytes;
}

/// What the package asks of array objects.
void bind_access(nb::module_& m) {
    m.def(
        "_plain",
        [](nb::handle object) {
            const array value = to_array(object);
            return is_array(object.ptr()) ? wrap_plain_view(view(value, value.dtype()), object) : wrap(value);
        },
        arg("object"));
    m.def("_priority", [](nb::handle object) { return priority_of(object.ptr()); }, arg("object"));
    m.def(
        "_array_flags",
        [](nb::handle self) {
            const array& value = array_of(self);
            return nb::make_tuple(value.c_contiguous(), value.f_contiguous(), value.owns_data(),
                                  value.writeable());
        },
        arg("array"));
    m.def(
        "_become", [](nb::handle self, nb::handle other) { become(self, array_of(other)); }, arg("array"),
        arg("other"), "Gives an array object the storage and the layout of another.");
    m.def(
        "_set_writeable",
        [](nb::handle self, bool writeable) {
            array_of(self);  // throws for what is no array
            set_writeable(self.ptr(), writeable);
        },
        arg("array"), arg("writeable"));
}

}  // namespace

void bind_array_methods(nb::module_& m) {
    bind_access(m);
    PyTypeObject* type = registry.ndarray;
    const auto none = nb::none();
    method(type, "reshape", reshape_method, arg("shape"), nb::kw_only(), arg("order") = "C",
           arg("copy") = none,
           "The same elements in another shape: a view where the strides allow it, else a copy. One extent "
           "may be -1.");
    method(
        type, "ravel",
        [](nb::handle self, nb::handle order) {
            return wrap_view(ravel(array_of(self), to_order(order)), self);
        },
        arg("order") = "C", "The elements as one axis: a view where the strides allow it, else a copy.");
    method(type, "flatten", flatten, arg("order") = "C", "A copy of the elements as one axis.");
    method(type, "transpose", transpose_method, arg("axes"),
           "A view with the axes in another order: reversed, or as given.");
    method(
        type, "swapaxes",
        [](nb::handle self, nb::handle first, nb::handle second) {
            return wrap_view(swapaxes(array_of(self), to_index(first), to_index(second)), self);
        },
        arg("axis1"), arg("axis2"), "A view with two axes exchanged.");
    method(
        type, "squeeze",
        [](nb::handle self, nb::handle axis) {
            const std::optional<Dims> axes = to_axes(axis);
            const array value = array_of(self);
            array squeezed = squeeze(value, axes);
            if (squeezed.ndim() == value.ndim()) return nb::borrow(self);
            return wrap_view(std::move(squeezed), self);
        },
        arg("axis") = none, "A view without the axes of extent one, or without those given.");
    method(
        type, "diagonal",
        [](nb::handle self, nb::handle offset, nb::handle axis1, nb::handle axis2) {
            return wrap_view(diagonal(array_of(self), to_index(offset), to_index(axis1), to_index(axis2)),
                             self);
        },
        arg("offset") = 0, arg("axis1") = 0, arg("axis2") = 1, "A read-only view of a diagonal.");
    method(type, "astype", astype_method, arg("dtype"), arg("order") = "K", arg("casting") = "unsafe",
           arg("subok") = true, arg("copy") = true, "A copy with elements of another type.");
    method(
        type, "copy",
        [](nb::handle self, nb::handle order) {
            return wrap_like(copy(array_of(self), to_order(order)), self);
        },
        arg("order") = "C", "A copy.");
    method(
        type, "view", view_method, arg("dtype") = none, arg("type") = none,
        "The same memory, as elements of `dtype`, or as an array of a subclass: view(dtype), view(type) or "
        "view(dtype, type).");
    method(
        type, "__array_finalize__", [](nb::handle, nb::handle) {}, arg("obj"),
        "Called for each array of a subclass that was made; `obj` is the array it was made of, or None.");
    method(
        type, "fill",
        [](nb::handle self, nb::handle value) {
            assign(array_of(self), to_element_argument(value, array_of(self).dtype(), 0));
        },
        arg("value"), "Sets every element to `value`.");
    method(type, "item", item, arg("args"),
           "One element as Python's own type: the only one, or that at an index.");
    method(
        type, "tolist", [](nb::handle self) { return to_nested_list(array_of(self)); },
        "The elements as nested lists of Python's own types.");
    method(type, "tobytes", to_bytes, arg("order") = "C", "The bytes of the elements.");

    method(
        type, "__array__",
        [](nb::handle self, nb::handle dtype, nb::handle copy) {
            array value = array_of(self);
            const bool moves = !device_of(value).is_cpu();
            if (moves) {
                if (!copy.is_none() && !PyObject_IsTrue(copy.ptr()))
                    throw ValueError("an array on " + device_of(value).name() +
                                     " cannot be NumPy's without a copy");
                nb::module_::import_(modules::kFallback)
                    .attr("copied_to_host")(value.nbytes(), device_of(value).name());
                value = move_to(value, cpu_device());
            }
            const nb::object host = moves ? wrap(value) : nb::borrow(self);
            return numpy_array(host, value.dtype(), dtype, copy);
        },
        arg("dtype") = none, arg("copy") = none, "The array as NumPy's, sharing memory where possible.");
    method(type, "__complex__", [](nb::handle self) {
        return nb::borrow(reinterpret_cast<PyObject*>(&PyComplex_Type))(nb::handle(self).attr("item")());
    });
    method(
        type, "to_device",
        [](nb::handle self, nb::handle device, nb::handle stream) {
            return nb::module_::import_(modules::kDevice)
                .attr("to_device")(self, device, nb::arg("stream") = stream);
        },
        arg("device"), nb::kw_only(), arg("stream") = none,
        "The array on another device: itself if it is there, else a copy, made when it is needed.");
    method(type, "__copy__", [](nb::handle self) { return wrap_like(copy(array_of(self)), self); });
    method(
        type, "__deepcopy__",
        [](nb::handle self, nb::handle) { return wrap_like(copy(array_of(self)), self); },
        arg("memo") = none);
    method(type, "__reduce__",
           [](nb::handle self) { return nb::module_::import_(modules::kPickle).attr("reduce")(self); });
    method(
        type, "__reduce_ex__",
        [](nb::handle self, nb::handle protocol) {
            return nb::module_::import_(modules::kPickle).attr("reduce_ex")(self, protocol);
        },
        arg("protocol"));
    method(
        type, "__setstate__",
        [](nb::handle self, nb::handle state) {
            nb::module_::import_(modules::kPickle).attr("set_state")(self, state);
        },
        arg("state"), "Gives the array what pickle kept of another one.");
    method(
        type, "__format__",
        [](nb::handle self, nb::handle spec) {
            return nb::module_::import_(modules::kFormat).attr("array_format")(self, spec);
        },
        arg("format_spec"));
    nb::setattr(reinterpret_cast<PyObject*>(type), "__array_priority__", nb::float_(0.0));
}

}  // namespace weft::python
