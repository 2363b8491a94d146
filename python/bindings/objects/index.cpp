// Indexing, reading and writing: integers, slices, None and Ellipsis, arrays of integers and of bools.
// Reading or writing one element of an array whose values are host-resident goes straight to memory.
#include <cstring>

#include "api/indexing/fast_index.h"
#include "convert/convert.h"
#include "fast/fast_call.h"
#include "graph/indexed_view.h"
#include "graph/operand.h"
#include "objects/objects.h"
#include "protocols/by_numpy.h"

namespace weft::python {

namespace {

constexpr const char* kWrongIndex =
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
    "valid "
    "indices";

/// An array of another library, not a scalar: NumPy's scalars cannot be assigned to.
bool is_foreign_array(PyObject* object) {
    return has_foreign_buffer(object) && PyObject_HasAttrString(object, "__setitem__");
}

array listed_index(PyObject* list) {
    try {
        return to_array(nb::handle(list));
    } catch (const TypeError&) {  // elements that are no numbers
        throw IndexError(kWrongIndex);
    } catch (const OverflowError&) {  // NumPy has objects for those
        throw IndexError(kWrongIndex);
    }
}

struct Key {
    std::vector<Index> indices;
    bool only_integers = true;
    bool gathers = false;      // there are arrays with dimensions, or bools
    bool from_arrays = false;  // there are arrays without: the result is a copy
};

bool is_truth(PyObject* object) {
    return PyBool_Check(object) || (is_scalar(object) && scalar_dtype(object).is_bool());
}

/// A list, a tuple, a range, or another sequence that is neither an array nor text.
bool is_list_of_indices(PyObject* object) {
    if (PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object)) return true;
    return !is_array(object) && !is_scalar(object) && !has_foreign_buffer(object) &&
           !PyUnicode_Check(object) && !PyBytes_Check(object) && PySequence_Check(object) != 0;
}

/// Whether `object` is an integer for indexing; sets `value`.
bool integer_key(PyObject* object, int64_t& value, Key& key) {
    if (PyLong_CheckExact(object)) {
        value = PyLong_AsLongLong(object);
        if (value == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            throw IndexError(kWrongIndex);
        }
        return true;
    }
    if (is_array(object)) {
        const array& index = array_of(object);
        if (index.dtype().is_bool()) return false;
        if (!index.dtype().is_integer())
            throw IndexError("arrays used as indices must be of integer (or boolean) type");
        if (index.ndim() != 0) return false;
        key.from_arrays = true;
    } else if (is_truth(object)) {
        return false;
    } else if (is_scalar(object) && !scalar_dtype(object).is_integer()) {
        return false;
    }
    if (!PyIndex_Check(object)) return false;
    const nb::object integer = nb::steal(PyNumber_Index(object));
    if (!integer.is_valid()) {
        PyErr_Clear();  // such as NumPy's arrays of several integers
        return false;
    }
    if (!is_array(object) && !is_scalar(object) && is_foreign_array(object)) key.from_arrays = true;
    return integer_key(integer.ptr(), value, key);
}

struct PlainSlice {
    Py_ssize_t start, stop, step;  // bounds that are absent lie beyond the range
};

PlainSlice to_slice(PyObject* object) {
    PlainSlice slice{0, 0, 0};
    if (PySlice_Unpack(object, &slice.start, &slice.stop, &slice.step) != 0) {
        if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw_python_error();
        PyErr_Clear();
        slice.step = 0;  // refused when the number of indices has been found right
    }
    return slice;
}

void add_key(PyObject* item, Key& key) {
    int64_t value = 0;
    if (PySlice_Check(item)) {
        key.only_integers = false;
        const PlainSlice slice = to_slice(item);
        key.indices.emplace_back(Slice{slice.start, slice.stop, slice.step});
    } else if (item == Py_Ellipsis) {
        key.only_integers = false;
        key.indices.emplace_back(Ellipsis{});
    } else if (item == Py_None) {
        key.only_integers = false;
        key.indices.emplace_back(NewAxis{});
    } else if (integer_key(item, value, key)) {
        key.indices.emplace_back(value);
    } else if (is_array(item) || is_list_of_indices(item) || is_truth(item) || has_foreign_buffer(item)) {
        const bool listed = is_list_of_indices(item);
        array index = listed ? listed_index(item) : to_array(nb::handle(item));
        if (listed && index.size() == 0) index = astype(index, ScalarType::kInt64);
        const DType dtype = index.dtype();
        if (dtype.is_inexact()) {
            const bool known = index.ndim() != 0 && !listed;
            throw IndexError(known ? "arrays used as indices must be of integer (or boolean) type"
                                   : kWrongIndex);
        }
        key.only_integers = false;
        key.gathers = true;
        key.indices.emplace_back(std::move(index));
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

/// Of an np.int64 whose value is known, as indices that the program computes are.
bool is_known_integer(PyObject* item) {
    return Py_TYPE(item) == registry.scalar_types[static_cast<size_t>(ScalarType::kInt64)] &&
           reinterpret_cast<ScalarObject*>(item)->lazy.load(std::memory_order_acquire) == nullptr;
}

bool is_plain_integer(PyObject* item) { return PyLong_CheckExact(item) || is_known_integer(item); }

bool plain_integer(PyObject* item, int64_t& value) {
    if (!PyLong_CheckExact(item)) {
        if (!is_known_integer(item)) return false;
        std::memcpy(&value, reinterpret_cast<ScalarObject*>(item)->bytes, sizeof value);
        return true;
    }
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(item, &overflow);
    return overflow == 0;
}

/// The byte offset of the element that plain integers for every axis name. Throws IndexError.
bool plain_element(const array& value, PyObject* key, int64_t& offset) {
    int64_t position = 0;
    offset = value.offset();
    if (value.ndim() == 1 && plain_integer(key, position)) {
        offset += element_offset(value, 0, position);
        return true;
    }
    if (!PyTuple_CheckExact(key) || PyTuple_Size(key) != value.ndim()) return false;
    for (int axis = 0; axis < value.ndim(); ++axis) {
        if (!is_plain_integer(PyTuple_GetItem(key, axis))) return false;
    }
    for (int axis = 0; axis < value.ndim(); ++axis) {
        if (!plain_integer(PyTuple_GetItem(key, axis), position)) return false;
        offset += element_offset(value, static_cast<size_t>(axis), position);
    }
    return true;
}

/// The slices of a key, whose bounds Python's code may compute: read before the array is looked at.
struct PlainSlices {
    static constexpr Py_ssize_t kMost = 8;
    PlainSlice slices[kMost];
    std::exception_ptr error;  // of slice number `wrong`, thrown where its turn comes
    Py_ssize_t wrong = 0;

    void read(PyObject* item, Py_ssize_t place) {
        if (error) return;
        try {
            slices[place] = to_slice(item);
        } catch (const nb::python_error&) {
            error = std::current_exception();
            wrong = place;
        }
    }
    const PlainSlice& at(Py_ssize_t place) const {
        if (error && place == wrong) std::rethrow_exception(error);
        return slices[place];
    }
};

/// A key of plain integers, slices, None and Ellipsis, applied to the array of `self` without a list of
/// indices. Nothing for other keys, and for those that need the general way's errors.
std::optional<array> plain_view(PyObject* self, PyObject* key) {
    if (PySlice_Check(key) && array_of(self).ndim() != 0) {
        const PlainSlice slice = to_slice(key);
        IndexedView view(array_of(self), 1);
        view.slice(slice.start, slice.stop, slice.step);
        return view.finish();
    }
    const bool several = PyTuple_CheckExact(key);
    const Py_ssize_t count = several ? PyTuple_Size(key) : 1;
    if (count > PlainSlices::kMost) return std::nullopt;
    PyObject* items[PlainSlices::kMost];  // the key holds them
    int consumed = 0, ellipses = 0;
    bool has_slices = false;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const item = items[i] = several ? PyTuple_GetItem(key, i) : key;
        if (is_plain_integer(item)) {
            ++consumed;
        } else if (PySlice_Check(item)) {
            has_slices = true;
            ++consumed;
        } else if (item == Py_Ellipsis) {
            ++ellipses;
        } else if (item != Py_None) {
            return std::nullopt;
        }
    }
    if (ellipses > 1) throw IndexError("an index can only have a single ellipsis ('...')");
    PlainSlices slices;
    if (has_slices && consumed <= array_of(self).ndim()) {
        for (Py_ssize_t i = 0; i < count; ++i) {
            if (PySlice_Check(items[i])) slices.read(items[i], i);
        }
    }
    IndexedView view(array_of(self), static_cast<size_t>(consumed));
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const item = items[i];
        int64_t position = 0;
        if (PySlice_Check(item)) {
            const PlainSlice& slice = slices.at(i);
            view.slice(slice.start, slice.stop, slice.step);
        } else if (item == Py_None) {
            view.new_axis();
        } else if (item == Py_Ellipsis) {
            view.ellipsis();
        } else if (plain_integer(item, position)) {
            view.integer(position);
        } else {
            return std::nullopt;
        }
    }
    return view.finish();
}

/// x[[3, 1, 2]]: a list of plain integers is an array of them.
bool plain_list(PyObject* key, array& positions) {
    if (!PyList_CheckExact(key)) return false;
    const Py_ssize_t count = PyList_Size(key);
    if (count == 0) return false;
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count) * sizeof(int64_t));
    auto* const to = reinterpret_cast<int64_t*>(buffer->data());
    SignalChecks signals;
    for (Py_ssize_t i = 0; i < count; ++i, signals.next_iteration()) {
        const nb::object item = python::element_of(key, true, i);
        if (!item.is_valid() || !plain_integer(item.ptr(), to[i])) return false;
    }
    positions = weft::array_of(std::move(buffer), ScalarType::kInt64, {count}, {sizeof(int64_t)});
    return true;
}

/// Integers for every axis: the byte offset of one element.
std::optional<int64_t> element_of(const array& value, const Key& key) {
    if (!key.only_integers || key.indices.size() != static_cast<size_t>(value.ndim())) return std::nullopt;
    int64_t offset = value.offset();
    for (size_t axis = 0; axis < key.indices.size(); ++axis)
        offset += element_offset(value, axis, std::get<int64_t>(key.indices[axis]));
    return offset;
}

/// x[key] where arrays take part.
nb::object read_by_arrays(nb::handle origin, const Key& key) {
    const array value = array_of(origin);
    if (!key.gathers) return wrap_like(copy(index(value, key.indices)), origin);
    bool large = is_large(value);
    for (const Index& each : key.indices) {
        if (const auto* positions = std::get_if<array>(&each)) large |= is_large(*positions);
    }
    array result;
    {
        const ReleaseGil release(large);
        result = index(value, key.indices);
    }
    if (result.owns_data()) return wrap_like(std::move(result), origin);
    const nb::object owner =
        wrap(array(result.storage(), result.dtype(), result.shape(), result.strides(), 0, true));
    if (is_plain_array(origin.ptr())) return wrap_view(std::move(result), owner);
    return wrap_as(Py_TYPE(origin.ptr()), std::move(result), origin.ptr(), owner.ptr());
}

/// x[key] = value where arrays take part.
void write_by_arrays(const array& target, const Key& key, PyObject* value) {
    // Scalars are arrays here, which wrap around, and not numbers, which have to fit.
    if (is_scalar(value)) warn_of_lost_imaginary_part(scalar_dtype(value), target.dtype());
    const Argument argument = is_scalar(value)
                                  ? to_argument(nb::handle(value))
                                  : to_element_argument(nb::handle(value), target.dtype(), kMaxDimensions);
    bool large = is_large(target);
    if (const auto* source = std::get_if<array>(&argument)) large |= is_large(*source);
    const ReleaseGil release(large);
    assign_at(target, key.indices, argument);
}

PyObject* array_subscript(PyObject* self, PyObject* key) {
    return guarded([&]() -> PyObject* {
        int64_t offset = 0;
        if (plain_element(array_of(self), key, offset)) return read_element_object(array_of(self), offset);
        if (array read; is_array(key) && (try_gather(array_of(self), array_of(key), read) ||
                                          try_compress(array_of(self), array_of(key), read)))
            return wrap_like(std::move(read), self).release().ptr();
        if (std::optional<array> view = plain_view(self, key))
            return wrap_view(std::move(*view), self).release().ptr();
        array positions, read;
        if (plain_list(key, positions) && try_gather(array_of(self), positions, read))
            return wrap_like(std::move(read), self).release().ptr();
        const Key parsed = parse_key(key);
        const array value = array_of(self);
        if (const std::optional<int64_t> element = element_of(value, parsed))
            return read_element_object(value, *element);
        if (parsed.gathers || parsed.from_arrays) return read_by_arrays(self, parsed).release().ptr();
        return wrap_view(index(value, parsed.indices), self).release().ptr();
    });
}

/// One element takes no array with axes, not even of one element, but for a bool, which takes its truth.
void refuse_in_one_element(const array& source, DType target) {
    if (target.is_complex()) throw TypeError("only 0-dimensional arrays can be converted to Python scalars");
    if (!target.is_bool() || source.size() != 1)
        throw ValueError("setting an array element with a sequence.");
}

int assign_own(PyObject* self, PyObject* key, PyObject* value) {
    return guarded_number([&]() -> int {
        if (value == nullptr) throw ValueError("cannot delete array elements");
        if (!array_of(self).writeable()) throw ValueError("assignment destination is read-only");
        if (is_array(value)) warn_of_lost_imaginary_part(array_of(value).dtype(), array_of(self).dtype());
        if (int64_t offset = 0;
            plain_element(array_of(self), key, offset) && write_element_object(array_of(self), offset, value))
            return 0;
        if (is_array(key) && try_assign(array_of(self), array_of(key), value)) return 0;
        Key parsed{{}, false};
        array target;
        if (key == Py_Ellipsis) {
            target = array_of(self);
        } else if (std::optional<array> view = plain_view(self, key); view && view->ndim() != 0) {
            target = std::move(*view);
        } else {
            parsed = parse_key(key);
            const array whole = array_of(self);
            if (parsed.gathers) {
                write_by_arrays(whole, parsed, value);
                return 0;
            }
            target = index(whole, parsed.indices);
        }
        const bool element = parsed.only_integers && target.ndim() == 0;
        if (target.ndim() != 0 && assign_object(target, value)) return 0;
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
        }
        const Argument argument = to_element_argument(nb::handle(value), target.dtype(), target.ndim());
        if (const auto* source = std::get_if<array>(&argument); element && source && source->ndim() != 0)
            refuse_in_one_element(*source, target.dtype());
        const ReleaseGil release(is_large(target));
        assign(target, argument);
        return 0;
    });
}

int array_assign(PyObject* self, PyObject* key, PyObject* value) {
    const int status = assign_own(self, key, value);
    if (status == 0 || value == nullptr) return status;
    return assign_by_numpy(self, key, value) ? 0 : -1;
}

Py_ssize_t array_length(PyObject* self) {
    return guarded_number([&]() -> Py_ssize_t {
        const array& value = array_of(self);
        if (value.ndim() == 0) throw TypeError("len() of unsized object");
        return value.shape()[0];
    });
}

PyObject* array_item(PyObject* self, Py_ssize_t position) {
    // Python's iterator comes here, and its builtins hear no signal while they iterate.
    constexpr Py_ssize_t kItemsBetweenChecks = 1 << 16;
    return guarded([&]() -> PyObject* {
        if ((position & (kItemsBetweenChecks - 1)) == kItemsBetweenChecks - 1 && PyErr_CheckSignals() != 0)
            return nullptr;
        const array& value = array_of(self);
        if (value.ndim() == 0)
            throw IndexError("too many indices for array: array is 0-dimensional, but 1 were indexed");
        if (position >= value.shape()[0]) {  // how every iteration ends: without the cost of a C++ exception
            PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis 0 with size %lld", position,
                         static_cast<long long>(value.shape()[0]));
            return nullptr;
        }
        if (value.ndim() == 1)
            return read_element_object(value, value.offset() + element_offset(value, 0, position));
        IndexedView view(value, 1);
        view.integer(position);
        return wrap_view(view.finish(), self).release().ptr();
    });
}

PyObject* array_iterate(PyObject* self) {
    return guarded([&]() -> PyObject* {
        if (array_of(self).ndim() == 0) throw TypeError("iteration over a 0-d array");
        evaluate(array_of(self));
        return PySeqIter_New(self);
    });
}

int array_contains(PyObject* self, PyObject* value) {
    return guarded_number([&]() -> int {
        // As ==, which other classes and dtypes have their say in.
        PyObject* const equal = PyObject_RichCompare(self, value, Py_EQ);
        if (equal == nullptr) throw_python_error();
        const array found = reduce("any", to_array(nb::steal(equal)));
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
