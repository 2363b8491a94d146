// What the files of the binding share: the Python objects that carry weft's values, how Python objects become
// operands and back, and how errors cross over. The objects are plain heap types with type slots (an operator
// goes straight into C++); everything with keyword arguments is a nanobind function set on the type.
#pragma once

#include <cxxabi.h>
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
#include "core/threads/fork.h"
#include "core/threads/interrupt.h"
#include "ops/op.h"
#include "package.h"
#include "weft/array.h"
#include "weft/ops.h"

namespace weft::python {

namespace nb = nanobind;

// ---- the objects ----

struct ArrayObject {
    PyObject_HEAD;
    array value;
    PyObject* base;                 // what owns the memory of a view; null for an owner
    std::atomic<MemoryPin*> shown;  // owned: the memory was shown by an array interface; null if not
    PyObject* weak_references;
};

/// NumPy's scalar: an immutable element, known (`bytes`) or still to be computed (`lazy`).
struct ScalarObject {
    PyObject_HEAD;
    DType dtype;
    std::atomic<array*> lazy;  // owned, 0-d; null once the value is known
    alignas(16) char bytes[16];
};

struct DTypeObject {
    PyObject_HEAD;
    DType dtype;
};

/// The types and the few objects that are asked for often; set once, when the module is imported.
struct Registry {
    PyTypeObject* ndarray = nullptr;
    PyTypeObject* generic = nullptr;
    PyTypeObject* dtype_type = nullptr;
    PyTypeObject* ufunc = nullptr;
    std::array<PyTypeObject*, kScalarTypeCount> scalar_types{};
    std::array<PyObject*, kScalarTypeCount> dtypes{};
    std::array<PyObject*, 2> truths{};  // np.False_ and np.True_: the only bools whose value is known
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

/// An ndarray and no instance of a subclass. These alone take the short ways.
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

// ---- objects that have a say in what is computed with them (weft._protocols.overrides) ----

/// Whether the class of an operand may decide: a subclass of ndarray, or one that knows of __array_ufunc__ or
/// __array_wrap__.
bool has_say(PyObject* object);
/// The ufunc of an operation.
nb::object ufunc_of(OpId id);
/// A function of weft._protocols.overrides.
nb::object override_function(const char* name);

// ---- from Python ----

/// What `object` stands for as an operand; false when weft cannot compute with it (no Python error is set).
bool to_argument(PyObject* object, Argument& argument);
/// As above, but throws TypeError.
Argument to_argument(nb::handle object);
/// str(object), in UTF-8. Throws UnicodeEncodeError for surrogates.
std::string text_of(nb::handle object);
/// An array: itself, or what asarray makes of it.
array to_array(nb::handle object);
/// Python's int of any size.
Integer to_integer(PyObject* object);
/// None gives nothing.
std::optional<DType> to_dtype(nb::handle object);
DType to_dtype_required(nb::handle object);
/// An int or a sequence of ints.
Dims to_dims(nb::handle object);
/// None gives nothing; else an int or a tuple of ints.
std::optional<Dims> to_axes(nb::handle object);
int64_t to_index(nb::handle object);
char to_order(nb::handle object, const char* allowed = "CFAK");
/// ComplexWarning where complex numbers are stored as real ones.
void warn_of_lost_imaginary_part(DType from, DType to);
Casting to_casting(nb::handle object);
nb::tuple to_tuple(const Dims& dims);

/// What np.array makes of a Python object other than one of weft's: nested sequences, buffers, `__array__`.
/// False when the object is none of these. `dtype` is what the elements shall be, if given.
bool convert_foreign(PyObject* object, std::optional<DType> dtype, array& result);
/// As above, for lists, tuples and other sequences.
array convert_sequence(PyObject* object, std::optional<DType> dtype, int max_depth = kMaxDimensions);
/// What `x[...] = value` stores in elements of `dtype`: as to_argument, but Python numbers are converted as
/// Python's own types convert them, with their errors. `max_depth` bounds how far lists may be nested.
Argument to_element_argument(nb::handle value, DType dtype, int max_depth);
/// Of an object with Python's buffer protocol. Copies, or shares its memory.
array convert_buffer(PyObject* object, bool share_memory);
bool has_foreign_buffer(PyObject* object);
/// What `object` says as __cuda_array_interface__, None if it has none.
nb::object cuda_interface_of(PyObject* object);
/// An array over the memory that `object` described so.
array share_cuda_interface(nb::handle object, nb::handle description);

/// Gives an array object another array to be. Throws ValueError where an interface showed its memory: whoever
/// asked keeps the object for as long as they look at that.
void become(nb::handle self, array value);

// ---- to Python ----

/// The pin of an array whose memory is shown for as long as the object lives.
MemoryPin& shown_memory(PyObject* self);
PyObject* get_cuda_interface(PyObject* self, void*);
PyObject* get_array_interface(PyObject* self, void*);
/// ndarray(shape, dtype, buffer, offset, strides, order) over the bytes of a buffer.
nb::object wrap_buffer(PyTypeObject* type, nb::handle buffer, DType dtype, const Dims& shape,
                       const std::optional<Dims>& strides, int64_t offset, char order);
/// Throws where elements would lie outside of `bytes` bytes.
void check_strides(const Dims& shape, const Dims& strides, int64_t itemsize, int64_t bytes, int64_t offset);

nb::object element_to_python(DType dtype, const char* bytes);
/// The value of an array of one element, whatever its axes are. Throws ValueError for others.
nb::object only_element(const array& input);
nb::object to_nested_list(const array& input);

// ---- values at hand: each answers null or false, with no error set, when the general way has to be taken
// ----

/// An operation on arrays and numbers.
PyObject* run_at_hand(const OpInfo& op, PyObject* const* objects, size_t count);
/// The same into an array.
bool run_into_at_hand(const OpInfo& op, PyObject* const* objects, size_t count, const array& target);
/// The element at a byte offset as a scalar; computes what is pending.
PyObject* read_element_object(const array& from, int64_t offset);
bool write_element_object(const array& to, int64_t offset, PyObject* value);
/// dtype(value) of a number.
PyObject* number_as_scalar(PyObject* value, DType dtype);
/// target[...] = value
bool assign_object(const array& target, PyObject* value);
bool assign_at_hand(const array& target, const array& index, PyObject* value);  // target[index] = value

// ---- evaluation ----

/// Computes what is pending for `input`, without the GIL.
void evaluate(const array& input);
/// The value of an array of one element, whatever its axes are, which is computed first when need be. Throws
/// ValueError for others. Each value that stands for an argument is read by this.
void read_scalar(const array& input, void* bytes);

/// The GIL is given up and taken back by these two alone, so that a thread knows whether it holds it: the
/// stable ABI has no way to ask. os.fork holds the GIL: it waits for threads that work without it, and none
/// of those waits for the GIL without letting the fork happen.
inline thread_local constinit int gil_released = 0;
class GilRelease {
public:
    GilRelease();
    ~GilRelease();
    GilRelease(const GilRelease&) = delete;
    GilRelease& operator=(const GilRelease&) = delete;

private:
    PyThreadState* state_;
    std::optional<ForkExclusion> exclusion_;
};
class GilAcquire {
public:
    GilAcquire();
    ~GilAcquire();
    GilAcquire(const GilAcquire&) = delete;
    GilAcquire& operator=(const GilAcquire&) = delete;

private:
    ForkWindow window_;
    HostCode host_;
    PyGILState_STATE state_{};
    int before_ = 0;
};
/// Whether this thread may still take the GIL: once Python ends, only the thread that ends it.
bool may_take_gil();
/// Where Python's signal handlers run.
bool is_main_thread();
/// Of a thread that Python ends by force (pthread_exit, when it asks for the GIL while the interpreter is
/// finalized; from 3.14 on it hangs). Frames of C++ cannot be unwound so: it stays where it is until the
/// process is gone, and keeps nothing that others wait for.
[[noreturn]] void stop_for_ever() noexcept;
inline bool holds_gil() { return gil_released == 0 && PyGILState_GetThisThreadState() != nullptr; }

/// Gives up the GIL while more than a little work may be done.
class ReleaseGil {
public:
    explicit ReleaseGil(bool release) {
        if (release) released_.emplace();
    }

private:
    std::optional<GilRelease> released_;
};
constexpr int64_t kLargeWork = 1 << 15;  // elements
inline bool is_large(const array& value) { return value.size() > kLargeWork; }
inline bool is_large(const Argument& value) {
    const auto* operand = std::get_if<array>(&value);
    return operand != nullptr && is_large(*operand);
}

// ---- errors ----

/// Turns the C++ exception being handled into a Python error.
void set_python_error() noexcept;

template <typename Function>
PyObject* guarded(Function&& function) noexcept {
    try {
        return function();
    } catch (const abi::__forced_unwind&) {
        stop_for_ever();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

/// For slots that answer with a number: -1 is the error.
template <typename Function>
auto guarded_number(Function&& function) noexcept -> decltype(function()) {
    try {
        return function();
    } catch (const abi::__forced_unwind&) {
        stop_for_ever();
    } catch (...) {
        set_python_error();
        return -1;
    }
}

/// For long loops that hold the GIL: lets signal handlers run now and then.
class SignalChecks {
public:
    void turn() {
        constexpr uint32_t kTurns = 1 << 16;
        if (++turns_ % kTurns == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    }

private:
    uint32_t turns_ = 0;
};

/// Throws the Python error that is set.
[[noreturn]] inline void throw_python_error() {
    if (PyErr_Occurred() == nullptr)  // another's code failed and did not say how
        PyErr_SetString(PyExc_SystemError, "a call failed without an exception");
    throw nb::python_error();
}

inline nb::object steal_or_throw(PyObject* object) {
    if (object == nullptr) throw_python_error();
    return nb::steal(object);
}

inline PyObject* not_implemented() {
    Py_INCREF(Py_NotImplemented);
    return Py_NotImplemented;
}

// ---- the parts of the module ----

/// Slots of the operators, shared by ndarray and the scalars; the in-place ones are ndarray's alone.
void add_operator_slots(std::vector<PyType_Slot>& slots);
void add_in_place_slots(std::vector<PyType_Slot>& slots);
void add_index_slots(std::vector<PyType_Slot>& slots);
void add_array_buffer_slots(std::vector<PyType_Slot>& slots);
void add_scalar_buffer_slots(std::vector<PyType_Slot>& slots);

void bind_errors(nb::module_& m);
void bind_dtype(nb::module_& m);
void bind_scalars(nb::module_& m);
void bind_array(nb::module_& m);
void bind_array_methods(nb::module_& m);
void bind_ufunc(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_float_errors(nb::module_& m);
void bind_profile(nb::module_& m);
void bind_random(nb::module_& m);
void bind_array_interface(nb::module_& m);
void bind_overrides(nb::module_& m);
/// Shorter ways into methods and functions that are bound already.
void bind_plain_calls(nb::module_& m);
/// The same for methods that weft._methods puts together, by a function that it calls when they are there.
void bind_plain_methods(nb::module_& m);

/// A shorter way into a function. It answers null, without an error set, to calls that it is not for.
using PlainCall = PyObject* (*)(PyObject* self, PyObject* const* arguments, Py_ssize_t count);
/// That of a function of the package which arguments may override; null if it has none. It is for arrays and
/// numbers alone, which override nothing.
PlainCall plain_function(const std::string& name);

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
inline auto arg(const char* name) { return nb::arg(name).none(); }

/// Adds a method with nanobind's argument handling to one of these types.
template <typename Function, typename... Extra>
void method(PyTypeObject* type, const char* name, Function&& function, const Extra&... extra) {
    nb::cpp_function_def(std::forward<Function>(function), nb::scope(reinterpret_cast<PyObject*>(type)),
                         nb::name(name), nb::is_method(), extra...);
}

}  // namespace weft::python
