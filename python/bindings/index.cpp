// Basic indexing, reading and writing: integers, slices, None and Ellipsis. Reading or writing one element of
// an array whose values are at hand goes straight to memory.
#include "bindings.h"
#include "ops/resolve.h"

namespace weft::python {

namespace {

constexpr const char* kWrongIndex =
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
    "valid "
    "indices";

[[noreturn]] void throw_no_array_index(bool boolean) {
    throw NotImplementedError(
        std::string("weft has no ") + (boolean ? "boolean" : "integer") +
        "-array indexing yet; meanwhile read with weft.asarray(numpy.asarray(x)[index])" +
        (boolean ? ", or choose with weft.where(index, x, y), or write with weft.copyto(x, y, where=index)"
                 : ""));
}

/// Whether `key` is an integer for indexing; sets `value`.
bool integer_key(PyObject* key, int64_t& value) {
    if (PyLong_CheckExact(key)) {
        value = PyLong_AsLongLong(key);
        if (value == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            throw IndexError(kWrongIndex);
        }
        return true;
    }
    if (is_array(key)) {
        const array& index = array_of(key);
        if (index.dtype().is_bool()) throw_no_array_index(true);
        if (!index.dtype().is_integer())
            throw IndexError("arrays used as indices must be of integer (or boolean) type");
        if (index.ndim() != 0) throw_no_array_index(false);
    } else if (PyBool_Check(key) || (is_scalar(key) && scalar_dtype(key).is_bool())) {
        throw_no_array_index(true);
    } else if (is_scalar(key) && !scalar_dtype(key).is_integer()) {
        return false;
    }
    if (!PyIndex_Check(key)) return false;
    const nb::object integer = nb::steal(PyNumber_Index(key));
    if (!integer.is_valid()) {
        PyErr_Clear();  // such as NumPy's arrays of several integers
        return false;
    }
    return integer_key(integer.ptr(), value);
}

std::optional<int64_t> slice_part(PyObject* slice, const char* name) {
    const nb::object part = steal_or_throw(PyObject_GetAttrString(slice, name));
    if (part.is_none()) return std::nullopt;
    if (!PyIndex_Check(part.ptr()))
        throw TypeError("slice indices must be integers or None or have an __index__ method");
    const nb::object integer = steal_or_throw(PyNumber_Index(part.ptr()));
    // Numbers beyond 64 bits are clipped, as Python's own sequences do.
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (overflow != 0) return overflow > 0 ? INT64_MAX : INT64_MIN + 1;
    if (value == -1 && PyErr_Occurred()) throw_python_error();
    return value;
}

struct Key {
    std::vector<Index> indices;
    bool only_integers = true;
};

void add_key(PyObject* item, Key& key) {
    int64_t value = 0;
    if (PySlice_Check(item)) {
        key.only_integers = false;
        key.indices.emplace_back(
            Slice{slice_part(item, "start"), slice_part(item, "stop"), slice_part(item, "step")});
    } else if (item == Py_Ellipsis) {
        key.only_integers = false;
        key.indices.emplace_back(Ellipsis{});
    } else if (item == Py_None) {
        key.only_integers = false;
        key.indices.emplace_back(NewAxis{});
    } else if (integer_key(item, value)) {
        key.indices.emplace_back(value);
    } else if (PyList_Check(item) || PyTuple_Check(item) || has_foreign_buffer(item)) {
        const array index = to_array(nb::handle(item));
        const DType dtype = index.dtype();
        if (index.ndim() == 0 && dtype.is_inexact()) throw IndexError(kWrongIndex);
        if (PyList_Check(item) && PyList_Size(item) == 0) throw_no_array_index(false);
        if (dtype.is_inexact())
            throw IndexError("arrays used as indices must be of integer (or boolean) type");
        throw_no_array_index(dtype.is_bool());
    } else {
        throw IndexError(kWrongIndex);
    }
}

Key parse_key(PyObject* object) {
    Key key;
    if (PyTuple_Check(object)) {
        const Py_ssize_t count = PyTuple_Size(object);
        key.indices.reserve(static_cast<size_t>(count));
        for (Py_ssize_t i = 0; i < count; ++i) add_key(PyTuple_GetItem(object, i), key);
    } else {
        add_key(object, key);
    }
    return key;
}

/// Integers for every axis: the position of one element, checked.
std::optional<Dims> element_position(const array& value, const Key& key) {
    if (!key.only_integers || key.indices.size() != static_cast<size_t>(value.ndim())) return std::nullopt;
    Dims position(key.indices.size());
    for (size_t axis = 0; axis < position.size(); ++axis) {
        const int64_t index = std::get<int64_t>(key.indices[axis]);
        const int64_t extent = value.shape()[axis];
        position[axis] = index < 0 ? index + extent : index;
        if (position[axis] < 0 || position[axis] >= extent)
            throw IndexError("index " + std::to_string(index) + " is out of bounds for axis " +
                             std::to_string(axis) + " with size " + std::to_string(extent));
    }
    return position;
}

nb::object read_at(const array& value, const Dims& position) {
    alignas(16) char bytes[16];
    evaluate(value);
    read_element(value, position, bytes);
    return wrap_scalar(value.dtype(), bytes);
}

nb::object subscript(const array& value, const Key& key) {
    if (const std::optional<Dims> position = element_position(value, key)) return read_at(value, *position);
    return wrap(index(value, key.indices));
}

PyObject* array_subscript(PyObject* self, PyObject* key) {
    return guarded([&] { return subscript(array_of(self), parse_key(key)).release().ptr(); });
}

/// One element takes no array with axes, not even of one element, but for a bool, which takes its truth.
void refuse_in_one_element(const array& source, DType target) {
    if (target.is_complex()) throw TypeError("only 0-dimensional arrays can be converted to Python scalars");
    if (!target.is_bool() || source.size() != 1)
        throw ValueError("setting an array element with a sequence.");
}

int array_assign(PyObject* self, PyObject* key, PyObject* value) {
    return guarded_number([&]() -> int {
        if (value == nullptr) throw ValueError("cannot delete array elements");
        const array& whole = array_of(self);
        if (!whole.writeable()) throw ValueError("assignment destination is read-only");
        const Key parsed = key == Py_Ellipsis ? Key{{}, false} : parse_key(key);
        const array target = key == Py_Ellipsis ? whole : index(whole, parsed.indices);
        const bool element = parsed.only_integers && target.ndim() == 0;
        if (element && (PyList_Check(value) || PyTuple_Check(value))) {
            if (target.dtype().is_integer())
                throw TypeError(
                    "int() argument must be a string, a bytes-like object or a real number, not 'list'");
            throw ValueError("setting an array element with a sequence.");
        }
        if (is_array(value)) {
            // `x[1:3] += 1` ends in storing the view into itself.
            const array& source = array_of(value);
            if (source.storage() == target.storage() && source.offset() == target.offset() &&
                source.shape() == target.shape() && source.strides() == target.strides() &&
                source.dtype() == target.dtype())
                return 0;
            if (element && source.ndim() != 0) refuse_in_one_element(source, target.dtype());
        }
        const Argument argument = to_element_argument(nb::handle(value), target.dtype(), target.ndim());
        const ReleaseGil release(is_large(target));
        assign(target, argument);
        return 0;
    });
}

Py_ssize_t array_length(PyObject* self) {
    return guarded_number([&]() -> Py_ssize_t {
        const array& value = array_of(self);
        if (value.ndim() == 0) throw TypeError("len() of unsized object");
        return value.shape()[0];
    });
}

PyObject* array_item(PyObject* self, Py_ssize_t position) {
    return guarded([&] {
        Key key;
        key.indices.emplace_back(static_cast<int64_t>(position));
        if (array_of(self).ndim() == 0)
            throw IndexError("too many indices for array: array is 0-dimensional, but 1 were indexed");
        return subscript(array_of(self), key).release().ptr();
    });
}

PyObject* array_iterate(PyObject* self) {
    return guarded([&]() -> PyObject* {
        const array& value = array_of(self);
        if (value.ndim() == 0) throw TypeError("iteration over a 0-d array");
        evaluate(value);
        return PySeqIter_New(self);
    });
}

int array_contains(PyObject* self, PyObject* value) {
    return guarded_number([&]() -> int {
        const array found = reduce(
            "any", call_binary(*find_op("equal"), Argument(array_of(self)), to_argument(nb::handle(value))));
        alignas(16) char bytes[16];
        read_scalar(found, bytes);
        return bytes[0] != 0;
    });
}

}  // namespace

void add_index_slots(std::vector<PyType_Slot>& slots) {
    const auto add = [&](int slot, auto* function) {
        slots.push_back({slot, reinterpret_cast<void*>(function)});
    };
    add(Py_mp_subscript, array_subscript);
    add(Py_mp_ass_subscript, array_assign);
    add(Py_mp_length, array_length);
    add(Py_sq_length, array_length);
    add(Py_sq_item, array_item);
    add(Py_sq_contains, array_contains);
    add(Py_tp_iter, array_iterate);
}

}  // namespace weft::python
