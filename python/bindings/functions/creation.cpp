// New arrays: of other objects' elements, of constants, of evenly spaced numbers.
#include <limits>

#include "api/recording/transfer.h"
#include "convert/convert.h"
#include "core/shape.h"
#include "engine/errors.h"
#include "functions/bound_function.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "interop/interop.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"
#include "weft/creation.h"

namespace weft::python {

namespace {

bool has_order(const array& value, char order) {
    switch (order) {
        case 'C': return value.c_contiguous();
        case 'F': return value.f_contiguous();
        case 'A': return value.c_contiguous() || value.f_contiguous();
        default: return true;
    }
}

/// What np.array and np.asarray share. `copy`: always, never (ValueError when it cannot be), or when needed.
nb::object make_array(nb::handle object, nb::handle dtype_object, std::optional<bool> copy_flag, char order,
                      int64_t minimum_dimensions, bool subok) {
    const std::optional<DType> dtype = to_dtype(dtype_object);
    PyObject* pointer = object.ptr();
    if (is_host_array(pointer)) throw TypeError("array: an array that NumPy computes with");
    array result;
    bool fresh = true;  // nobody else has the storage
    if (is_array(pointer)) {
        result = array_of(object);
        fresh = false;
    } else if (copy_flag == false && has_foreign_buffer(pointer)) {
        result = convert_buffer(pointer, true);
        fresh = false;
    } else if (copy_flag == false && PyObject_HasAttrString(pointer, "__array_interface__") != 0) {
        result = array_of(nb::module_::import_(modules::kSharing).attr("_from_interface")(object, false));
        fresh = false;
    } else if (const nb::object interface = copy_flag == false ? cuda_interface_of(pointer) : nb::none();
               !interface.is_none()) {
        result = share_cuda_interface(object, interface);
        fresh = false;
    } else if (copy_flag == false && PyObject_HasAttrString(pointer, "__dlpack__") != 0) {
        result = array_of(nb::module_::import_(modules::kSharing).attr("from_dlpack")(object));
        fresh = false;
    } else if (is_scalar(pointer)) {
        DeviceBackend* const gpu = gpu_of_scalar(pointer);
        result = move_to(copy(scalar_array(pointer)), gpu == nullptr ? current_device() : *gpu);
    } else if (!convert_foreign(pointer, dtype, result)) {
        result = convert_sequence(pointer, dtype);
    }
    if (copy_flag == false && fresh)
        throw ValueError(
            "Unable to avoid copy while creating an array as requested.\nIf using `np.array(obj, "
            "copy=False)` replace "
            "it with `np.asarray(obj)` to allow a copy when needed (no behavior change in NumPy 1.x).");
    const bool converts = dtype && !(result.dtype() == *dtype);
    const bool lays_out = !has_order(result, order);
    if (!fresh && copy_flag == false && (converts || lays_out))
        throw ValueError("Unable to avoid copy while creating an array as requested.");
    const bool unchanged = !fresh && !converts && !lays_out && copy_flag != true;
    const bool plain = is_plain_array(pointer);
    if (unchanged && is_array(pointer) && result.ndim() >= minimum_dimensions) {
        if (plain || subok) return nb::borrow(object);
        return wrap_plain_view(view(result, result.dtype()), object);
    }
    if (converts) {
        warn_of_lost_imaginary_part(result.dtype(), *dtype);
        result = astype(result, *dtype, order);
    } else if (lays_out || (!fresh && copy_flag == true)) {
        result = copy(result, order);
    }
    if (result.ndim() < minimum_dimensions) {
        Dims shape(static_cast<size_t>(minimum_dimensions) - result.shape().size(), 1);
        for (const int64_t extent : result.shape()) shape.push_back(extent);
        result = reshape(result, shape);
    }
    return subok ? wrap_view(std::move(result), object) : wrap_plain_view(std::move(result), object);
}

std::optional<bool> to_flag(nb::handle object) {
    if (object.is_none()) return std::nullopt;
    // NumPy's _CopyMode.IF_NEEDED is neither true nor false.
    if (!PyBool_Check(object.ptr()) && text_of(object.type().attr("__name__")) == "_CopyMode" &&
        nb::object(object.attr("value")).equal(nb::int_(2)))
        return std::nullopt;
    if (PyUnicode_Check(object.ptr()))
        throw ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.");
    const int truth = PyObject_IsTrue(object.ptr());
    if (truth < 0) throw_python_error();
    return truth != 0;
}

nb::object array_function(nb::handle object, nb::handle dtype, nb::handle copy, nb::handle order, bool subok,
                          int64_t minimum_dimensions, int64_t maximum_dimensions, nb::handle) {
    if (minimum_dimensions > kMaxDimensions)
        throw ValueError("ndmin must be <= " + std::to_string(kMaxDimensions));
    if (maximum_dimensions < 0 || maximum_dimensions > kMaxDimensions)
        throw ValueError("ndmax must be in range [0, " + std::to_string(kMaxDimensions) + "]");
    nb::object result =
        make_array(object, dtype, to_flag(copy), to_order(order, "KCFA"), minimum_dimensions, subok);
    if (maximum_dimensions > 0 && array_of(result).ndim() > std::max(maximum_dimensions, minimum_dimensions))
        throw TypeError("array: what is nested deeper than ndmax is an object");
    return result;
}

// The device that a call names is the current one for as long as this lives; None leaves it as it is.
class GivenDevice {
public:
    explicit GivenDevice(nb::handle name) {
        if (name.is_none()) return;
        if (!PyUnicode_Check(name.ptr()))
            throw TypeError("device must be a device or its name, got " +
                            text_of(name.type().attr("__name__")));
        device_ = &device_named(text_of(name));
        scope_.emplace(*device_);
    }
    DeviceBackend* device() const { return device_; }  // null: none was given

private:
    DeviceBackend* device_ = nullptr;
    std::optional<DeviceScope> scope_;
};

nb::object asarray_with(bool subok, nb::handle object, nb::handle dtype, nb::handle order, nb::handle name,
                        nb::handle copy) {
    const GivenDevice given(name);
    const bool as_it_is = (subok ? is_array(object.ptr()) : is_plain_array(object.ptr())) &&
                          dtype.is_none() && order.is_none() && copy.is_none();
    std::optional<bool> flag = to_flag(copy);
    if (flag == true && is_array(object.ptr()) && given.device() != nullptr &&
        &device_of(array_of(object)) != given.device())
        flag.reset();  // the move is a copy
    nb::object result =
        as_it_is ? nb::borrow(object) : make_array(object, dtype, flag, to_order(order, "KCFA"), 0, subok);
    if (given.device() == nullptr || &device_of(array_of(result)) == given.device()) return result;
    if (flag == false)
        throw ValueError("copy=False, but the array is on " + device_of(array_of(result)).name() +
                         " and device asks for " + given.device()->name());
    return wrap_like(move_to(array_of(result), *given.device()), result);
}

template <bool subok>
nb::object asarray_function(nb::handle object, nb::handle dtype, nb::handle order, nb::handle name,
                            nb::handle copy, nb::handle) {
    return asarray_with(subok, object, dtype, order, name, copy);
}

nb::object filled(nb::handle shape, const Argument& value, DType dtype, nb::handle order) {
    return wrap(full(to_dims(shape), value, dtype, to_order(order, "CF")));
}

nb::object full_function(nb::handle shape, nb::handle fill_value, nb::handle dtype, nb::handle order,
                         nb::handle device, nb::handle) {
    const GivenDevice given(device);
    std::optional<DType> type = to_dtype(dtype);
    if (!is_array(fill_value.ptr()) && !PyList_Check(fill_value.ptr()) && !PyTuple_Check(fill_value.ptr()) &&
        !has_foreign_buffer(fill_value.ptr())) {
        if (!type && PyLong_Check(fill_value.ptr()))
            type = nb::cast<bool>(nb::bool_(PyBool_Check(fill_value.ptr())))
                       ? DType(ScalarType::kBool)
                       : convert_sequence(fill_value.ptr(), {}).dtype();
        const Argument value = to_argument(fill_value);
        if (type) warn_of_lost_imaginary_part(weft::operand_type(value).dtype, *type);
        return wrap(full(to_dims(shape), value, type, to_order(order, "CF")));
    }
    array value = to_array(fill_value);
    if (given.device() != nullptr) value = move_to(value, *given.device());
    const array target = empty(to_dims(shape), type.value_or(value.dtype()), to_order(order, "CF"));
    warn_of_lost_imaginary_part(value.dtype(), target.dtype());
    assign(target, value);
    return wrap(target);
}

nb::object arange_function(nb::handle start, nb::handle stop, nb::handle step, nb::handle dtype,
                           nb::handle device, nb::handle) {
    const GivenDevice given(device);
    // Scalars count as Python's numbers: NumPy takes the dtype from them, but int64 or float64 at least.
    const auto number = [](nb::handle object) {
        if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()))
            throw TypeError("arange: scalar arguments expected instead of a " +
                            text_of(object.type().attr("__name__")) + ".");
        const Argument argument = to_argument(object);
        const auto* given = std::get_if<array>(&argument);
        if (given == nullptr) return argument;
        if (given->size() == 1 && given->ndim() != 0)
            throw TypeError("only 0-dimensional arrays can be converted to Python scalars");
        return to_argument(only_element(*given));
    };
    Argument from = Integer(0), to, by = Integer(1);
    if (!step.is_none()) by = number(step);
    if (stop.is_none()) {
        if (start.is_none()) throw TypeError("arange() requires stop to be specified.");
        to = number(start);
    } else {
        if (!start.is_none()) from = number(start);
        to = number(stop);
    }
    const std::optional<DType> type = to_dtype(dtype);
    if (type && type->is_complex()) return wrap(astype(arange(from, to, by), *type));
    return wrap(arange(from, to, by, type));
}

bool is_real_number(nb::handle object) { return PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr()); }

/// The numbers of an iterator while they are of the dtype's own kind; the others are left to `rest`, with
/// those before them.
template <typename T, typename Read>
std::vector<T> numbers_of(PyObject* iterator, int64_t count, const Read& read, nb::list& rest) {
    std::vector<T> numbers;
    SignalChecks signals;
    while (count < 0 || static_cast<int64_t>(numbers.size()) < count) {
        const nb::object item = nb::steal(PyIter_Next(iterator));
        if (!item.is_valid()) break;
        T number;
        if (!read(item.ptr(), number)) {
            for (const T each : numbers) rest.append(each);
            rest.append(item);
            break;
        }
        numbers.push_back(number);
        signals.next_iteration();
    }
    if (PyErr_Occurred() != nullptr) throw_python_error();
    return numbers;
}

bool read_integer(PyObject* object, int64_t& number) {
    if (!PyLong_CheckExact(object)) return false;
    int overflow = 0;
    number = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

bool read_float(PyObject* object, double& number) {
    if (PyFloat_CheckExact(object)) {
        number = PyFloat_AsDouble(object);
        return true;
    }
    int64_t integer = 0;
    if (!read_integer(object, integer)) return false;
    number = static_cast<double>(integer);
    return true;
}

void check_length(int64_t count, size_t length) {
    if (count < 0 || static_cast<size_t>(count) == length) return;
    throw ValueError("iterator too short: Expected " + std::to_string(count) + " but iterator had only " +
                     std::to_string(length) + " items.");
}

nb::object from_iterator(nb::handle iterable, nb::handle type, nb::handle number) {
    const DType dtype = to_dtype_required(type);
    const int64_t count = to_index(number);
    const nb::object iterator = steal_or_throw(PyObject_GetIter(iterable.ptr()));
    nb::list items;
    const auto taken = [&](const auto& numbers) -> nb::object {
        check_length(count, numbers.size());
        return wrap(move_to(array(numbers), current_device()));
    };
    if (dtype == DType(ScalarType::kFloat64)) {
        const auto numbers = numbers_of<double>(iterator.ptr(), count, read_float, items);
        if (nb::len(items) == 0) return taken(numbers);
    } else if (dtype == DType(ScalarType::kInt64)) {
        const auto numbers = numbers_of<int64_t>(iterator.ptr(), count, read_integer, items);
        if (nb::len(items) == 0) return taken(numbers);
    }
    SignalChecks signals;
    while (count < 0 || static_cast<int64_t>(nb::len(items)) < count) {
        const nb::object item = nb::steal(PyIter_Next(iterator.ptr()));
        if (!item.is_valid()) break;
        items.append(item);
        signals.next_iteration();
    }
    if (PyErr_Occurred() != nullptr) throw_python_error();
    check_length(count, nb::len(items));
    if (nb::len(items) == 0) return wrap(empty(Dims{0}, dtype));
    return nb::handle(registry.module).attr("array")(items, type);
}

nb::object linspace_function(nb::handle start, nb::handle stop, int64_t count, nb::handle endpoint,
                             nb::handle retstep, nb::handle dtype, nb::handle axis) {
    const bool has_endpoint = FromPython<bool>::convert(endpoint);
    const bool with_step = FromPython<bool>::convert(retstep);
    const std::optional<DType> type = to_dtype(dtype);
    const int64_t along = to_index(axis);
    const auto to_real = FromPython<double>::convert;
    const bool numbers = is_real_number(start) && is_real_number(stop);
    if (numbers && !with_step && along == 0) {
        return wrap(linspace(to_real(start), to_real(stop), count, has_endpoint, type.value_or(DType())));
    }
    const Argument first = numbers ? Argument(to_real(start)) : to_argument(start);
    const Argument last = numbers ? Argument(to_real(stop)) : to_argument(stop);
    if (type && !type->is_integer()) {
        const bool is_complex = weft::operand_type(first).dtype.is_complex();
        warn_of_lost_imaginary_part(weft::operand_type(is_complex ? first : last).dtype, *type);
    }
    std::pair<array, array> made;
    {
        const ReleaseGil release(!numbers);  // what arrays still have to compute decides how
        made = linspace_with_step(first, last, count, {has_endpoint, type, along});
    }
    nb::object values = to_python(std::move(made.first));
    if (!with_step) return values;
    const bool is_single = count - (has_endpoint ? 1 : 0) <= 0;
    nb::object step = is_single ? nb::object(nb::float_(std::numeric_limits<double>::quiet_NaN()))
                                : wrap_result(std::move(made.second));
    return nb::make_tuple(values, step);
}

/// Python's numbers as they are, all else as arrays.
Argument to_end(nb::handle object) {
    const bool is_number = PyLong_CheckExact(object.ptr()) || PyFloat_CheckExact(object.ptr()) ||
                           PyComplex_CheckExact(object.ptr());
    return is_number ? to_argument(object) : Argument(to_array(object));
}

nb::object logspace_function(nb::handle start, nb::handle stop, nb::handle num, nb::handle endpoint,
                             nb::handle base, nb::handle dtype, nb::handle axis) {
    const int64_t count = to_index(num);
    const LinspaceOptions options{FromPython<bool>::convert(endpoint), to_dtype(dtype), to_index(axis)};
    const Argument first = to_end(start), last = to_end(stop), of = to_end(base);
    const bool has_arrays = is_large(first) || is_large(last) || is_large(of);
    array made;
    {
        const ReleaseGil release(has_arrays);
        made = logspace(first, last, count, of, options);
    }
    return wrap(std::move(made));
}

nb::object geomspace_function(nb::handle start, nb::handle stop, nb::handle num, nb::handle endpoint,
                              nb::handle dtype, nb::handle axis) {
    const Argument first = to_array(start), last = to_array(stop);
    const int64_t count = to_index(num);
    const LinspaceOptions options{FromPython<bool>::convert(endpoint), to_dtype(dtype), to_index(axis)};
    array made;
    {
        const ReleaseGil release(is_large(first) || is_large(last));
        made = geomspace(first, last, count, options);
    }
    return wrap(std::move(made));
}

nb::object from_bytes(const nb::bytes& bytes, nb::handle dtype, nb::handle shape) {
    const DType type = to_dtype_required(dtype);
    const Dims dims = to_dims(shape);
    if (static_cast<int64_t>(bytes.size()) != checked_bytes(dims, type))
        throw ValueError("the bytes do not fill the shape");
    return wrap(copy_in(bytes.data(), type, dims, c_strides(dims, type.itemsize())));
}

}  // namespace

void bind_creation(nb::module_& m) {
    const auto none = nb::none();
    m.def("array", array_function, arg("object"), arg("dtype") = none, nb::kw_only(), arg("copy") = true,
          arg("order") = "K", arg("subok") = false, arg("ndmin") = 0, arg("ndmax") = 0, arg("like") = none,
          "An array of the elements of `object`: an array of any library, a number, or nested sequences of "
          "numbers.\n\n"
          "Raises ValueError for ragged sequences, TypeError for elements that weft has no dtype for.\n\n"
          ">>> np.array([[1, 2], [3, 4]], dtype=np.float32)\n"
          "array([[1., 2.],\n       [3., 4.]], dtype=float32)");
    m.def(
        "asarray", asarray_function<false>, arg("a"), arg("dtype") = none, arg("order") = none, nb::kw_only(),
        arg("device") = none, arg("copy") = none, arg("like") = none,
        "As array(), but an array of weft's is returned as it is. copy=False shares the memory of other "
        "libraries' arrays, or raises ValueError. `device` says where the result is; without it arrays stay "
        "where they are, and all else goes to the current device.");
    m.def("asanyarray", asarray_function<true>, arg("a"), arg("dtype") = none, arg("order") = none,
          nb::kw_only(), arg("device") = none, arg("copy") = none, arg("like") = none,
          "As asarray(), but instances of subclasses of ndarray stay what they are.");
    m.def(
        "empty",
        [](nb::handle shape, nb::handle dtype, nb::handle order, nb::handle device, nb::handle) {
            const GivenDevice given(device);
            return wrap(empty(to_dims(shape), to_dtype_required(dtype), to_order(order, "CF")));
        },
        arg("shape"), arg("dtype") = none, arg("order") = "C", nb::kw_only(), arg("device") = none,
        arg("like") = none, "An array of arbitrary values.");
    m.def(
        "zeros",
        [](nb::handle shape, nb::handle dtype, nb::handle order, nb::handle device, nb::handle) {
            const GivenDevice given(device);
            return filled(shape, Integer(0), to_dtype_required(dtype), order);
        },
        arg("shape"), arg("dtype") = none, arg("order") = "C", nb::kw_only(), arg("device") = none,
        arg("like") = none, "An array of zeros.");
    m.def(
        "ones",
        [](nb::handle shape, nb::handle dtype, nb::handle order, nb::handle device, nb::handle) {
            const GivenDevice given(device);
            return filled(shape, Integer(1), to_dtype_required(dtype), order);
        },
        arg("shape"), arg("dtype") = none, arg("order") = "C", nb::kw_only(), arg("device") = none,
        arg("like") = none, "An array of ones.");
    m.def("full", full_function, arg("shape"), arg("fill_value"), arg("dtype") = none, arg("order") = "C",
          nb::kw_only(), arg("device") = none, arg("like") = none, "An array filled with `fill_value`.");
    m.def(
        "empty_like",
        [](nb::handle prototype, nb::handle dtype, nb::handle order, bool subok, nb::handle shape,
           nb::handle device) {
            const GivenDevice given(device);
            std::optional<Dims> dims;
            if (!shape.is_none()) dims = to_dims(shape);
            array made = empty_like(to_array(prototype), to_dtype(dtype), to_order(order, "KCFA"), dims,
                                    given.device() != nullptr ? given.device()->name() : "");
            return subok ? wrap_like(std::move(made), prototype) : wrap(std::move(made));
        },
        arg("prototype"), arg("dtype") = none, arg("order") = "K", arg("subok") = true, arg("shape") = none,
        nb::kw_only(), arg("device") = none,
        nb::sig(
            "def empty_like(prototype, /, dtype=None, order='K', subok=True, shape=None, *, device=None)"),
        "An array of arbitrary values, with the shape, dtype and layout of `prototype`.");
    m.def(
        "arange", arange_function, arg("start") = none, arg("stop") = none, arg("step") = none,
        arg("dtype") = none, nb::kw_only(), arg("device") = none, arg("like") = none,
        "Numbers from `start` (or 0) to before `stop`, `step` apart.\n\n>>> np.arange(3)\narray([0, 1, 2])");
    m.def("_fromiter", from_iterator, arg("iter"), arg("dtype"), arg("count"));
    m.def("_linspace", linspace_function, arg("start"), arg("stop"), arg("num"), arg("endpoint"),
          arg("retstep"), arg("dtype"), arg("axis"));
    m.def("_logspace", logspace_function, arg("start"), arg("stop"), arg("num"), arg("endpoint"), arg("base"),
          arg("dtype").none(), arg("axis"));
    m.def("_geomspace", geomspace_function, arg("start"), arg("stop"), arg("num"), arg("endpoint"),
          arg("dtype").none(), arg("axis"));
    m.def(
        "eye",
        [](nb::handle rows, nb::handle columns, nb::handle diagonal, nb::handle dtype, nb::handle order,
           nb::handle device, nb::handle) {
            const GivenDevice given(device);
            const int64_t count = to_index(rows);
            // A diagonal beyond every array is none.
            const nb::object offset = steal_or_throw(PyNumber_Index(diagonal.ptr()));
            int beyond = 0;
            int64_t k = PyLong_AsLongLongAndOverflow(offset.ptr(), &beyond);
            if (beyond != 0) k = beyond * std::numeric_limits<int64_t>::max();
            return wrap(eye(count, columns.is_none() ? count : to_index(columns), k, to_dtype_required(dtype),
                            to_order(order, "CF")));
        },
        arg("N"), arg("M") = none, arg("k") = 0, arg("dtype") = none, arg("order") = "C", nb::kw_only(),
        arg("device") = none, arg("like") = none, "Ones on a diagonal, zeros elsewhere.");
    m.def("_from_bytes", from_bytes, arg("bytes"), arg("dtype"), arg("shape"));
}

}  // namespace weft::python
