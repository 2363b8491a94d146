#include "compiled/numpy_fields.h"

#include <algorithm>
#include <atomic>

#include "convert/convert.h"

namespace weft::python {

namespace nb = nanobind;

namespace {

struct Descriptor {
    PyObject base;
    PyTypeObject* scalar_type;
    char kind, type, byte_order, former_flags;
    int type_number;
};
struct Array {
    PyObject base;
    char* data;
    int rank;
    Py_ssize_t* shape;
    Py_ssize_t* strides;
    PyObject* owner;
    Descriptor* descriptor;
    int flags;
};

constexpr unsigned kWriteable = 0x400, kWarnsOnWrite = 0x80000000U;

std::optional<ScalarType> type_of(const Descriptor& descriptor) {
    if (descriptor.byte_order != '=' && descriptor.byte_order != '|') return std::nullopt;
    // NPY_BOOL to NPY_CDOUBLE; long and long long have 64 bits.
    switch (descriptor.type_number) {
        case 0: return ScalarType::kBool;
        case 1: return ScalarType::kInt8;
        case 2: return ScalarType::kUInt8;
        case 3: return ScalarType::kInt16;
        case 4: return ScalarType::kUInt16;
        case 5: return ScalarType::kInt32;
        case 6: return ScalarType::kUInt32;
        case 7:
        case 9: return ScalarType::kInt64;
        case 8:
        case 10: return ScalarType::kUInt64;
        case 11: return ScalarType::kFloat32;
        case 12: return ScalarType::kFloat64;
        case 14: return ScalarType::kComplex64;
        case 15: return ScalarType::kComplex128;
        default: return std::nullopt;
    }
}

std::optional<NumpyFields> read(const Array& array) {
    const std::optional<ScalarType> type = type_of(*array.descriptor);
    const auto flags = static_cast<unsigned>(array.flags);
    if (!type || (flags & kWarnsOnWrite) != 0) return std::nullopt;
    const auto rank = static_cast<size_t>(array.rank);
    static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
    return NumpyFields{
        *type, array.data, {array.shape, rank}, {array.strides, rank}, (flags & kWriteable) != 0};
}

// But for strides that step over nothing, which a buffer has otherwise.
bool has_strides_of(const Array& array, const Py_buffer& buffer) {
    const std::span<const Py_ssize_t> shape(buffer.shape, static_cast<size_t>(buffer.ndim));
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] != 1 && buffer.strides[d] != array.strides[d]) return false;
    }
    return true;
}

// Whether the structure is what it is taken for: it says what the buffer protocol says. An array of dates
// lends no buffer, so it does not tell.
std::optional<bool> is_as_expected(PyObject* object) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_RECORDS_RO) != 0) {
        PyErr_Clear();
        return std::nullopt;
    }
    const Array& array = *reinterpret_cast<const Array*>(object);
    bool same = buffer.buf == array.data && buffer.ndim == array.rank &&
                std::equal(buffer.shape, buffer.shape + buffer.ndim, array.shape) &&
                has_strides_of(array, buffer) && array.descriptor != nullptr;
    if (same) {
        const std::optional<ScalarType> type = type_of(*array.descriptor);
        same = !type || DType(*type).itemsize() == buffer.itemsize;
    }
    PyBuffer_Release(&buffer);
    return same;
}

bool is_ndarray(PyTypeObject* type) {
    for (const PyTypeObject* plain :
         {&PyLong_Type, &PyFloat_Type, &PyBool_Type, &PyComplex_Type, &PyTuple_Type}) {
        if (type == plain) return false;
    }
    const nb::handle object(reinterpret_cast<PyObject*>(type));
    const nb::object module = nb::getattr(object, "__module__", nb::none());
    return PyUnicode_Check(module.ptr()) && PyUnicode_CompareWithASCIIString(module.ptr(), "numpy") == 0 &&
           text_of(object.attr("__name__")) == "ndarray";
}

}  // namespace

std::optional<NumpyFields> numpy_fields(PyObject* object) {
    static std::atomic<PyTypeObject*> known{nullptr};
    static std::atomic<PyTypeObject*> last_other{nullptr};
    static std::atomic<bool> is_other{false};
    PyTypeObject* const type = Py_TYPE(object);
    if (type != known.load(std::memory_order_relaxed)) {
        if (is_other.load(std::memory_order_relaxed) || known.load(std::memory_order_relaxed) != nullptr ||
            type == last_other.load(std::memory_order_relaxed))
            return std::nullopt;
        if (!is_ndarray(type)) {
            last_other.store(type, std::memory_order_relaxed);
            return std::nullopt;
        }
        const std::optional<bool> expected = is_as_expected(object);
        if (!expected.value_or(false)) {
            if (expected) is_other.store(true, std::memory_order_relaxed);
            return std::nullopt;
        }
        known.store(type, std::memory_order_relaxed);
    }
    return read(*reinterpret_cast<const Array*>(object));
}

std::optional<NumpyMemory> numpy_memory(PyObject* object) {
    static PyTypeObject* known = nullptr;
    static bool is_other = false;
    if (known == nullptr) {
        PyObject* const modules = PySys_GetObject("modules");
        PyObject* const numpy = modules == nullptr ? nullptr : PyDict_GetItemString(modules, "numpy");
        if (numpy == nullptr || is_other) return std::nullopt;
        const nb::object example = nb::handle(numpy).attr("zeros")(nb::make_tuple(2, 3));
        is_other = !is_as_expected(example.ptr()).value_or(false);
        if (is_other) return std::nullopt;
        known = Py_TYPE(example.ptr());
        Py_INCREF(reinterpret_cast<PyObject*>(known));
    }
    if (Py_TYPE(object) != known && PyType_IsSubtype(Py_TYPE(object), known) == 0) return std::nullopt;
    const Array& array = *reinterpret_cast<const Array*>(object);
    const auto rank = static_cast<size_t>(array.rank);
    const auto flags = static_cast<unsigned>(array.flags);
    return NumpyMemory{reinterpret_cast<PyObject*>(array.descriptor),
                       array.data,
                       {array.shape, rank},
                       {array.strides, rank},
                       (flags & kWriteable) != 0 && (flags & kWarnsOnWrite) == 0};
}

}  // namespace weft::python
