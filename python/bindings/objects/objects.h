// The Python objects that carry weft's values. They are plain heap types with type slots (an operator goes
// straight into C++); everything with keyword arguments is a nanobind function set on the type.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <atomic>
#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert/text_caster.h"
#include "engine/errors.h"
#include "engine/gil.h"
#include "ops/op.h"
#include "weft/array.h"
#include "weft/ops.h"

namespace weft {
class DeviceBackend;
}

namespace weft::python {

struct ArrayObject {
    PyObject_HEAD;
    array value;
    PyObject* base;                    // what owns the memory of a view; null for an owner
    std::atomic<MemoryPin*> exported;  // owned: the memory was exported by an array interface; null if not
    PyObject* weak_references;
};

/// NumPy's scalar: an immutable element, known (`bytes`) or still to be computed (`lazy`).
struct ScalarObject {
    PyObject_HEAD;
    DType dtype;
    std::atomic<array*> lazy;            // owned, 0-d; null once the value is known
    std::atomic<DeviceBackend*> device;  // where a known value came from; null: from the CPU
    alignas(16) char bytes[16];
};

struct DTypeObject {
    PyObject_HEAD;
    DType dtype;
    char character;  // NumPy's, which has two for int64 and for uint64
};

/// The types and the few objects that are asked for often; set once, when the module is imported.
struct Registry {
    PyTypeObject* ndarray = nullptr;
    PyTypeObject* generic = nullptr;
    PyTypeObject* dtype_type = nullptr;
    PyTypeObject* ufunc = nullptr;
    PyTypeObject* host_memory = nullptr;  // of arrays that NumPy computes with
    std::array<PyTypeObject*, kScalarTypeCount> scalar_types{};
    std::array<PyObject*, kScalarTypeCount> dtypes{};
    std::array<PyObject*, 2> long_longs{};  // the dtypes 'q' and 'Q': equal to 'l' and 'L', as in NumPy
    std::array<PyObject*, 2> truths{};      // np.False_ and np.True_: the only bools whose value is known
    PyObject* module = nullptr;
    PyObject* matmul = nullptr;                // the function, which has no operation's ufunc
    PyObject* finalize = nullptr;              // ndarray's own __array_finalize__, which does nothing
    std::atomic<bool> has_subclasses = false;  // an instance of a subclass of ndarray was made

    /// The scalar types once more, by address: open addressing, mostly empty.
    static constexpr size_t kTableSize = 64;
    std::array<PyTypeObject*, kTableSize> scalar_table{};
    static size_t place_of(PyTypeObject* type) {
        const auto address = reinterpret_cast<uintptr_t>(type);
        return (address >> 4 ^ address >> 10) % kTableSize;
    }
    void add_scalar_type(PyTypeObject* type) {
        size_t place = place_of(type);
        while (scalar_table[place] != nullptr) place = (place + 1) % kTableSize;
        scalar_table[place] = type;
    }
    bool is_scalar_type(PyTypeObject* type) const {
        for (size_t place = place_of(type); scalar_table[place] != nullptr;
             place = (place + 1) % kTableSize) {
            if (scalar_table[place] == type) return true;
        }
        return false;
    }
};
extern Registry registry;

/// An ndarray and no instance of a subclass. These alone take the fast paths.
inline bool is_plain_array(PyObject* object) { return Py_TYPE(object) == registry.ndarray; }
inline bool is_array(PyObject* object) {
    if (is_plain_array(object)) return true;
    return registry.has_subclasses.load(std::memory_order_relaxed) &&
           PyType_IsSubtype(Py_TYPE(object), registry.ndarray) != 0;
}
/// Only the concrete scalar types have instances, and they cannot be derived from.
inline bool is_scalar(PyObject* object) { return registry.is_scalar_type(Py_TYPE(object)); }
inline bool is_dtype(PyObject* object) { return Py_TYPE(object) == registry.dtype_type; }
/// Of what is known to be an array, as slots know it of `self`. What refers to it must not be used any more
/// once Python's code may have run, or another thread: that can give the object another shape and other
/// memory.
inline array& array_of(PyObject* object) { return reinterpret_cast<ArrayObject*>(object)->value; }
/// Of whatever a function was given: the array as it is now. Throws TypeError for what is none.
array array_of(nb::handle object);

/// What a scalar is still to be computed from, if it is.
std::optional<array> lazy_of(PyObject* scalar);
/// The bytes of a scalar's value; computes it first when need be.
const char* scalar_bytes(PyObject* scalar);
/// A scalar as a 0-d array.
array scalar_array(PyObject* scalar);
/// The GPU that the value is on or was read from; null for the CPU.
DeviceBackend* gpu_of_scalar(PyObject* scalar);
inline DType scalar_dtype(PyObject* scalar) { return reinterpret_cast<ScalarObject*>(scalar)->dtype; }
/// Of whatever a method of the scalar types was called on. Throws TypeError for what is none of theirs.
PyObject* checked_scalar(nb::handle object);
/// A bool in an array may be any byte; a scalar's is 0 or 1.
inline void normalize_bool(ScalarObject* scalar) {
    if (scalar->dtype.is_bool()) scalar->bytes[0] = scalar->bytes[0] != 0;
}

PyObject* make_scalar(DType dtype);  // a new scalar, for its bytes to be set
nb::object wrap(array&& value);      // an ndarray that owns its memory
inline nb::object wrap(const array& value) { return wrap(array(value)); }
/// An array made of `origin`, of its type, whose base is the owner of its memory if it is a view.
nb::object wrap_view(array&& value, nb::handle origin);
/// The same, but an ndarray whatever `origin` is.
nb::object wrap_plain_view(array&& value, nb::handle origin);
/// The same, but of a type that is given.
nb::object wrap_view_as(PyTypeObject* type, array&& value, nb::handle origin);
/// An array of `type`, which is told of `origin` by __array_finalize__. `base` may be null.
nb::object wrap_as(PyTypeObject* type, array&& value, PyObject* origin, PyObject* base = nullptr);
/// An array that owns its memory, of the type of `origin` where that is an array.
inline nb::object wrap_like(array&& value, nb::handle origin) {
    if (is_plain_array(origin.ptr()) || !is_array(origin.ptr())) return wrap(std::move(value));
    return wrap_as(Py_TYPE(origin.ptr()), std::move(value), origin.ptr());
}
/// __array_priority__, as NumPy asks for it.
double priority_of(PyObject* object);
/// Throws ValueError where NumPy does.
void set_writeable(PyObject* self, bool writeable);
nb::object wrap_scalar(array value);                     // a scalar of a 0-d array's value
nb::object wrap_scalar(DType dtype, const void* bytes);  // a scalar of a known value
nb::object wrap_dtype(DType dtype);
/// NumPy's own dtype. Throws TypeError where NumPy has none.
nb::object numpy_dtype(DType dtype);
/// numpy.array(holder, as, copy=copy) of a weft array or scalar in the host's memory.
nb::object numpy_array(nb::handle holder, DType dtype, nb::handle as, nb::handle copy);
/// As NumPy's ufuncs return: a scalar for 0-d results, else an ndarray.
inline nb::object wrap_result(array&& value) {
    return value.ndim() == 0 ? wrap_scalar(std::move(value)) : wrap(std::move(value));
}

/// The same, of the type of `origin`.
inline nb::object wrap_result_like(array&& value, nb::handle origin) {
    return value.ndim() == 0 ? wrap_scalar(std::move(value)) : wrap_like(std::move(value), origin);
}

/// The ufunc of an operation.
nb::object ufunc_of(OpId id);

/// Gives an array object another array to be. Throws ValueError where an interface showed its memory: whoever
/// asked keeps the object for as long as they look at that.
void become(nb::handle self, array value);

// ---- making the types and their objects ----

/// Slots of the operators, shared by ndarray and the scalars; the in-place ones are ndarray's alone.
void add_operator_slots(std::vector<PyType_Slot>& slots);
void add_in_place_slots(std::vector<PyType_Slot>& slots);
void add_index_slots(std::vector<PyType_Slot>& slots);

/// Makes a heap type named `weft.<name>` and puts it into the module.
PyTypeObject* make_type(nb::module_& m, const char* name, size_t size, unsigned flags,
                        std::vector<PyType_Slot> slots, PyTypeObject* base = nullptr);

/// Frees an object of one of these types; its value has been destroyed.
inline void free_object(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/// A bare object of `type`; its value has to be constructed by the caller.
template <typename Object>
Object* allocate(PyTypeObject* type) {
    Object* object = PyObject_New(Object, type);
    if (object == nullptr) throw_python_error();
    return object;
}

/// An element of a list or of a tuple; null, with no error set, where another thread has shortened the list.
inline nb::object element_of(PyObject* sequence, bool is_list, Py_ssize_t index) {
#ifdef Py_GIL_DISABLED
    nb::object element = is_list ? nb::steal(PyList_GetItemRef(sequence, index))
                                 : nb::borrow(PyTuple_GetItem(sequence, index));
#else
    nb::object element =
        nb::borrow(is_list ? PyList_GetItem(sequence, index) : PyTuple_GetItem(sequence, index));
#endif
    if (!element.is_valid()) PyErr_Clear();
    return element;
}

/// A parameter that takes anything, None too.
inline auto arg(const char* name = nullptr) { return nb::arg(name).none(); }

/// Adds a method with nanobind's argument handling to one of these types.
template <typename Function, typename... Extra>
void method(PyTypeObject* type, const char* name, Function&& function, const Extra&... extra) {
    nb::cpp_function_def(std::forward<Function>(function), nb::scope(reinterpret_cast<PyObject*>(type)),
                         nb::name(name), nb::is_method(), extra...);
}

}  // namespace weft::python
