// Functions of the module that need no composition: creation, joining, choosing, dtype rules.
#include "api/elementwise/float_errors.h"
#include "api/indexing/fast_index.h"
#include "api/ordering/select.h"
#include "api/recording/transfer.h"
#include "convert/convert.h"
#include "core/shape.h"
#include "graph/placement.h"
#include "interop/interop.h"
#include "module.h"
#include "objects/objects.h"
#include "ops/resolve.h"
#include "package.h"
#include "protocols/overrides.h"
#include "weft/products.h"

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
        result = move_to(copy(scalar_array(pointer)), current_device());
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
    const int truth = PyObject_IsTrue(object.ptr());
    if (truth < 0) throw_python_error();
    return truth != 0;
}

nb::object array_function(nb::handle object, nb::handle dtype, nb::handle copy, nb::handle order, bool subok,
                          int64_t minimum_dimensions, nb::handle) {
    if (minimum_dimensions > kMaxDimensions)
        throw ValueError("ndmin must be <= " + std::to_string(kMaxDimensions));
    return make_array(object, dtype, to_flag(copy), to_order(order, "KCFA"), minimum_dimensions, subok);
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
        return wrap(full(to_dims(shape), to_argument(fill_value), type, to_order(order, "CF")));
    }
    array value = to_array(fill_value);
    if (given.device() != nullptr) value = move_to(value, *given.device());
    const array target = empty(to_dims(shape), type.value_or(value.dtype()), to_order(order, "CF"));
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

array to_out(nb::handle out) {
    if (out.is_none()) return array();
    if (!is_array(out.ptr())) throw TypeError("output must be an array");
    return array_of(out);
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
    array result = concatenate(inputs, along, to_dtype(dtype), to_casting(casting), to_out(out));
    return out.is_none() ? wrap_joined(std::move(result), items) : nb::borrow(out);
}

nb::object stack_function(nb::handle arrays, nb::handle axis, nb::handle out, nb::handle dtype,
                          nb::handle casting) {
    const nb::object items = items_of(arrays, "stack");
    const std::vector<array> inputs = to_arrays(items);
    array result = stack(inputs, to_index(axis), to_dtype(dtype), to_casting(casting), to_out(out));
    return out.is_none() ? wrap_joined(std::move(result), items) : nb::borrow(out);
}

TakeMode to_take_mode(nb::handle mode) {
    const std::string text = nb::isinstance<nb::str>(mode) ? text_of(mode) : "";
    if (text == "raise") return TakeMode::kRaise;
    if (text == "wrap") return TakeMode::kWrap;
    if (text == "clip") return TakeMode::kClip;
    if (!nb::isinstance<nb::str>(mode)) throw TypeError("clipmode must be a string");
    throw ValueError("clipmode must be one of 'clip', 'raise', or 'wrap' (got '" + text + "')");
}

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
                      gather_at_hand(value, positions, result))
        return wrap_like(std::move(result), input);
    std::optional<int64_t> along;
    if (!axis.is_none()) along = to_index(axis);
    const array target = to_out(out);
    array result;
    {
        const ReleaseGil release(is_large(value) || is_large(positions));
        result = take(value, positions, along, how, target);
    }
    return target.valid() ? nb::borrow(out) : wrap_result_like(std::move(result), input);
}

/// A dtype, or the type of a value, as np.result_type takes them.
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
    if (x.is_none() != y.is_none()) throw ValueError("either both or neither of x and y should be given");
    if (x.is_none()) return nonzero_function(condition);
    array mask = to_array(condition);
    if (!mask.dtype().is_bool()) mask = to_mask(mask);
    const OpInfo* const select = &op_info(OpId::kSelect);
    Argument inputs[] = {mask, to_argument(x), to_argument(y)};
    // Python's integers wrap here, unlike in ufuncs.
    const auto type_of = [](const Argument& argument, nb::handle object) -> OperandType {
        const auto* given = std::get_if<array>(&argument);
        return given != nullptr ? OperandType(given->dtype()) : operand_type(object);
    };
    const OperandType types[] = {type_of(inputs[1], x), type_of(inputs[2], y)};
    const DType common = result_type(types);
    for (size_t k = 1; k < 3 && common.is_integer(); ++k) {
        if (std::holds_alternative<Integer>(inputs[k]))
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
    if (const auto* from = std::get_if<array>(&value); from && rule == Casting::kUnsafe)
        warn_of_lost_imaginary_part(from->dtype(), array_of(target).dtype());
    if (where.ptr() == Py_True) {
        assign(array_of(target), value, rule);
    } else {
        assign_where(array_of(target), value, to_argument(where), rule);
    }
}

nb::object result_type_function(const nb::args& arguments) {
    if (arguments.size() == 0) throw ValueError("at least one array or dtype is required");
    std::vector<OperandType> operands;
    for (const nb::handle argument : arguments) operands.push_back(operand_type(argument));
    return wrap_dtype(result_type(operands));
}

bool can_cast_function(nb::handle from, nb::handle to, nb::handle casting) {
    PyObject* pointer = from.ptr();
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

nb::object from_bytes(const nb::bytes& bytes, nb::handle dtype, nb::handle shape) {
    const DType type = to_dtype_required(dtype);
    const Dims dims = to_dims(shape);
    if (static_cast<int64_t>(bytes.size()) != checked_bytes(dims, type))
        throw ValueError("the bytes do not fill the shape");
    return wrap(copy_in(bytes.data(), type, dims, c_strides(dims, type.itemsize())));
}

// ---- products ----

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
                           nb::handle order, nb::handle dtype, bool subok) {
    if (has_say(left.ptr()) || has_say(right.ptr()) || has_say(out.ptr())) {
        // What was not given is not shown to overrides.
        nb::dict options;
        if (!out.is_none()) options["out"] = out;
        if (!dtype.is_none()) options["dtype"] = dtype;
        if (!nb::str("same_kind").equal(casting)) options["casting"] = casting;
        if (!nb::str("K").equal(order)) options["order"] = order;
        if (!subok) options["subok"] = false;
        return override_function("ufunc")(nb::handle(registry.matmul), "__call__",
                                          nb::make_tuple(left, right), options);
    }
    ProductOptions options;
    options.out = to_product_out(out, "return arrays must be of ArrayType");
    options.dtype = to_dtype(dtype);
    options.casting = to_casting(casting);
    options.order = to_order(order, "KCFA");
    array result = multiply(to_array(left), to_array(right), options);
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

// Not nanobind's conversion, which is noexcept and asks for memory.
std::vector<int64_t> to_places(nb::handle places) {
    const nb::object items = steal_or_throw(PySequence_Tuple(places.ptr()));
    std::vector<int64_t> result(static_cast<size_t>(PyTuple_Size(items.ptr())));
    for (size_t i = 0; i < result.size(); ++i)
        result[i] = to_index(PyTuple_GetItem(items.ptr(), static_cast<Py_ssize_t>(i)));
    return result;
}

std::vector<int> to_labels(nb::handle labels) {
    std::vector<int> result;
    for (const int64_t label : to_dims(labels)) result.push_back(static_cast<int>(label));
    return result;
}

nb::object contract_function(nb::handle left, nb::handle left_labels, nb::handle right,
                             nb::handle right_labels, nb::handle out_labels, nb::handle order,
                             const std::string& name) {
    const array a = to_array(left), b = to_array(right);
    const std::vector<int> a_labels = to_labels(left_labels), b_labels = to_labels(right_labels),
                           labels = to_labels(out_labels);
    const char layout = to_order(order, "KC");
    array result;
    {
        const ReleaseGil release(is_large_product(a, b));
        if (name.empty()) {
            result = contract(a, a_labels, b, b_labels, labels, layout);
        } else {
            FloatWatch watch;
            result = contract(a, a_labels, b, b_labels, labels, layout);
            const array operands[] = {a, b};
            if (watch) look_at_whole(watch, operands, result);
            if (watch) watch.report(name, {&result, 1});
        }
    }
    return wrap(std::move(result));
}

/// The view of the elements whose indices agree where labels are repeated, with the axes of `out_labels`,
/// each once.
nb::object label_view(nb::handle input, nb::handle labels, nb::handle out_labels) {
    const array value = to_array(input);
    const std::vector<int> names = to_labels(labels), out_names = to_labels(out_labels);
    if (names.size() != value.shape().size()) throw ValueError("as many labels as axes are needed");
    Dims shape(out_names.size()), strides(out_names.size());
    for (size_t d = 0; d < names.size(); ++d) {
        for (size_t k = 0; k < out_names.size(); ++k) {
            if (out_names[k] != names[d]) continue;
            shape[k] = value.shape()[d];
            strides[k] += value.strides()[d];
        }
    }
    return wrap(value.with_view(value.dtype(), std::move(shape), std::move(strides), value.offset()));
}

void bind_products(nb::module_& m) {
    const auto none = nb::none();
    m.def(
        "matmul", matmul_function, nb::arg("x1"), nb::arg("x2"), arg("out") = none, nb::kw_only(),
        arg("casting") = "same_kind", arg("order") = "K", arg("dtype") = none, arg("subok") = true,
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
    m.def(
        "_matmul_named",
        [](const std::string& name, nb::handle left, nb::handle right) {
            const array a = to_array(left), b = to_array(right);
            array result;
            {
                const ReleaseGil release(is_large_product(a, b));
                FloatWatch watch;
                result = matmul(a, b);
                if (watch) look_at_product(watch, a, b, result);
                if (watch) watch.report(name, {&result, 1});
            }
            return wrap(std::move(result));
        },
        arg("name"), arg("left"), arg("right"));
    m.def("_contract", contract_function, arg("left"), arg("left_labels"), arg("right"), arg("right_labels"),
          arg("out_labels"), arg("order") = "K", arg("name") = "");
    m.def("_label_view", label_view, arg("input"), arg("labels"), arg("out_labels"));
    method(
        registry.ndarray, "dot",
        [](nb::handle self, nb::handle b, nb::handle out) { return dot_function(self, b, out); }, arg("b"),
        arg("out") = none, "The sum over the last axis of this array and the last but one of `b`.");
}

}  // namespace

void bind_functions(nb::module_& m) {
    bind_products(m);
    const auto none = nb::none();
    m.def("array", array_function, arg("object"), arg("dtype") = none, nb::kw_only(), arg("copy") = true,
          arg("order") = "K", arg("subok") = false, arg("ndmin") = 0, arg("like") = none,
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
        "An array of arbitrary values, with the shape, dtype and layout of `prototype`.");
    m.def(
        "arange", arange_function, arg("start") = none, arg("stop") = none, arg("step") = none,
        arg("dtype") = none, nb::kw_only(), arg("device") = none, arg("like") = none,
        "Numbers from `start` (or 0) to before `stop`, `step` apart.\n\n>>> np.arange(3)\narray([0, 1, 2])");
    m.def(
        "_linspace",
        [](double start, double stop, int64_t count, bool endpoint, nb::handle dtype) {
            return wrap(linspace(start, stop, count, endpoint, to_dtype_required(dtype)));
        },
        arg("start"), arg("stop"), arg("num"), arg("endpoint"), arg("dtype"));
    m.def(
        "eye",
        [](nb::handle rows, nb::handle columns, nb::handle diagonal, nb::handle dtype, nb::handle order,
           nb::handle device, nb::handle) {
            const GivenDevice given(device);
            const int64_t count = to_index(rows);
            return wrap(eye(count, columns.is_none() ? count : to_index(columns), to_index(diagonal),
                            to_dtype_required(dtype), to_order(order, "CF")));
        },
        arg("N"), arg("M") = none, arg("k") = 0, arg("dtype") = none, arg("order") = "C", nb::kw_only(),
        arg("device") = none, arg("like") = none, "Ones on a diagonal, zeros elsewhere.");
    m.def("concatenate", concatenate_function, arg("arrays"), arg("axis") = 0, arg("out") = none,
          nb::kw_only(), arg("dtype") = none, arg("casting") = "same_kind",
          "The arrays one after the other along an axis; axis=None flattens them first.");
    m.def("stack", stack_function, arg("arrays"), arg("axis") = 0, arg("out") = none, nb::kw_only(),
          arg("dtype") = none, arg("casting") = "same_kind", "The arrays side by side along a new axis.");
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
    const auto ordered = [&](const char* name, array (*order)(const array&, int64_t)) {
        m.def(
            name,
            [order](nb::handle input, int64_t axis) {
                const array& value = array_of(input);
                array result;
                {
                    const ReleaseGil release(is_large(value));
                    result = order(value, axis);
                }
                return wrap(std::move(result));
            },
            arg("a"), arg("axis"));
    };
    ordered("_sort", sort);
    ordered("_argsort", argsort);
    const auto partitioned = [&](const char* name,
                                 array (*part)(const array&, std::vector<int64_t>, int64_t)) {
        m.def(
            name,
            [part](nb::handle input, nb::handle places, int64_t axis) {
                const array& value = array_of(input);
                std::vector<int64_t> positions = to_places(places);
                array result;
                {
                    const ReleaseGil release(is_large(value));
                    result = part(value, std::move(positions), axis);
                }
                return wrap(std::move(result));
            },
            arg("a"), arg("places"), arg("axis"));
    };
    partitioned("_partition", partition);
    partitioned("_argpartition", argpartition);
    m.def(
        "_searchsorted",
        [](nb::handle row, nb::handle values, bool right) {
            const array &sorted = array_of(row), &wanted = array_of(values);
            array result;
            {
                const ReleaseGil release(is_large(wanted));
                result = searchsorted(sorted, wanted, right);
            }
            return wrap_result(std::move(result));
        },
        arg("a"), arg("v"), arg("right"));
    m.def(
        "_different_integers",
        [](nb::handle input, bool first, bool counts, bool inverse) -> nb::object {
            const array& value = array_of(input);
            std::optional<Different> found;
            {
                const ReleaseGil release(is_large(value));
                found = different_integers(value, first, counts, inverse);
            }
            if (!found) return nb::none();
            const auto object = [](array& each) {
                return each.valid() ? wrap(std::move(each)) : nb::object(nb::none());
            };
            return nb::make_tuple(object(found->values), object(found->first), object(found->counts),
                                  object(found->inverse));
        },
        arg("a"), arg("first"), arg("counts"), arg("inverse"));
    m.def(
        "_bincount",
        [](nb::handle input, nb::handle weights, int64_t least) {
            const array& positions = array_of(input);
            const array given = weights.is_none() ? array() : array_of(weights);
            array result;
            {
                const ReleaseGil release(is_large(positions));
                result = bincount(positions, given, least);
            }
            return wrap(std::move(result));
        },
        arg("x"), arg("weights"), arg("minlength"));
    m.def(
        "_strided_view",
        [](nb::handle input, nb::handle shape, nb::handle strides) {
            return wrap_plain_view(strided_view(array_of(input), to_dims(shape), to_dims(strides)), input);
        },
        arg("x"), arg("shape"), arg("strides"));
    m.def("nonzero", nonzero_function, arg("a"),
          "The positions of elements that are not zero: an int64 array for each axis, in C order.\n\n"
          ">>> np.nonzero([[3, 0], [0, 4]])\n(array([0, 1]), array([0, 1]))");
    m.def("where", where_function, arg("condition"), arg("x") = none, arg("y") = none,
          "Elements of `x` where `condition` is true, of `y` elsewhere; without these two, "
          "nonzero(condition).");
    m.def("copyto", copyto, arg("dst"), arg("src"), arg("casting") = "same_kind", arg("where") = true,
          "Copies `src` into `dst`, where `where` is true.");
    m.def(
        "broadcast_to",
        [](nb::handle input, nb::handle shape, bool subok) {
            array wide = broadcast_to(to_array(input), to_dims(shape));
            return subok ? wrap_view(std::move(wide), input) : wrap_plain_view(std::move(wide), input);
        },
        arg("array"), arg("shape"), arg("subok") = false, "A read-only view in a larger shape.");
    m.def(
        "expand_dims",
        [](nb::handle input, nb::handle axis) {
            // By reshape, as in NumPy: the new axes have the strides of a contiguous array.
            const array value = to_array(input);
            const Dims shape = expand_dims(value, to_axes(axis).value_or(Dims{})).shape();
            return wrap_view(reshape(value, shape), input);
        },
        arg("a"), arg("axis"), "A view with new axes of extent one.");
    m.def(
        "flip",
        [](nb::handle input, nb::handle axis) {
            const array flipped = flip(to_array(input), to_axes(axis));
            return flipped.ndim() == 0 ? wrap_scalar(copy(flipped)) : wrap_view(array(flipped), input);
        },
        arg("m"), arg("axis") = none, "A view with the elements in reverse along the axes.");
    m.def("_real", [](nb::handle input) { return wrap_view(real(to_array(input)), input); }, arg("val"));
    m.def(
        "may_share_memory",
        [](nb::handle a, nb::handle b, nb::handle) { return may_share_memory(to_array(a), to_array(b)); },
        arg("a"), arg("b"), arg("max_work") = none, "Whether the memory bounds of two arrays overlap.");
    m.def(
        "shares_memory",
        [](nb::handle a, nb::handle b, nb::handle) { return shares_memory(to_array(a), to_array(b)); },
        arg("a"), arg("b"), arg("max_work") = none,
        "Whether two arrays have an element of memory in common.");
    m.def(
        "promote_types",
        [](nb::handle a, nb::handle b) {
            return wrap_dtype(promote_types(to_dtype_required(a), to_dtype_required(b)));
        },
        arg("type1"), arg("type2"), "The smallest dtype that both can be cast to safely.");
    m.def("result_type", result_type_function, arg("arrays_and_dtypes"),
          "The dtype that an operation on these arrays, dtypes and Python numbers computes in.");
    m.def("can_cast", can_cast_function, arg("from_"), arg("to"), arg("casting") = "safe",
          "Whether the casting rule allows a cast between two dtypes.");
    m.def(
        "_plain",
        [](nb::handle object) {
            const array value = to_array(object);
            return is_array(object.ptr()) ? wrap_plain_view(view(value, value.dtype()), object) : wrap(value);
        },
        arg("object"));
    m.def("_priority", [](nb::handle object) { return priority_of(object.ptr()); }, arg("object"));
    registry.matmul = nb::object(m.attr("matmul")).release().ptr();
    m.def("_from_bytes", from_bytes, arg("bytes"), arg("dtype"), arg("shape"));
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

}  // namespace weft::python
