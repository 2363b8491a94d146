// weft.dtype: equal to, and hashing as, NumPy's dtype of the same type, without importing NumPy.
#include "weft/dtype.h"

#include "convert/convert.h"
#include "module.h"
#include "objects/objects.h"
#include "ops/resolve.h"
#include "protocols/by_numpy.h"

namespace weft::python {

namespace {

DType dtype_of(PyObject* self) { return reinterpret_cast<DTypeObject*>(self)->dtype; }
/// Of whatever a property or a method was asked of.
DType dtype_of(nb::handle self) {
    if (is_dtype(self.ptr())) return dtype_of(self.ptr());
    throw TypeError("expected a weft.dtype, not " + text_of(self.type().attr("__name__")));
}

nb::str text(std::string_view value) { return nb::str(value.data(), value.size()); }

char character_of(PyObject* dtype) { return reinterpret_cast<DTypeObject*>(dtype)->character; }

constexpr int kRegisteredFlags = 0x40;  // NPY_USE_SETITEM, with which ml_dtypes registers its types

char byte_order(DType dtype) { return dtype.itemsize() > 1 ? '=' : '|'; }

/// What the type allocates: a dtype that a program has described carries its words, a dictionary.
struct DescribedDType {
    DTypeObject plain;
    PyObject* metadata;  // null of most
};

PyObject* metadata_of(PyObject* dtype) { return reinterpret_cast<DescribedDType*>(dtype)->metadata; }

PyObject* described(PyObject* dtype, PyObject* metadata) {
    auto* object = allocate<DescribedDType>(registry.dtype_type);
    new (&object->plain.dtype) DType(dtype_of(dtype));
    object->plain.character = character_of(dtype);
    object->metadata = PyDict_Copy(metadata);
    return reinterpret_cast<PyObject*>(object);
}

PyObject* own_dtype(PyObject* spec) {
    if (is_dtype(spec) && metadata_of(spec) != nullptr) return Py_NewRef(spec);
    const DType dtype = to_dtype_required(spec);
    for (PyObject* const other : registry.long_longs) {
        if (spec == other ||
            (PyUnicode_Check(spec) && text_of(nb::handle(spec)) == std::string(1, character_of(other))))
            return Py_NewRef(other);
    }
    return wrap_dtype(dtype).release().ptr();
}

PyObject* dtype_new(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
    PyObject *spec = nullptr, *align = Py_False, *copy = nullptr, *metadata = nullptr;
    PyObject* const own = guarded([&]() -> PyObject* {
        static const char* names[] = {"dtype", "align", "copy", "metadata", nullptr};
        if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OOO!:dtype", const_cast<char**>(names),
                                         &spec, &align, &copy, &PyDict_Type, &metadata))
            throw_python_error();
        const nb::object dtype = nb::steal(own_dtype(spec));
        if (metadata == nullptr) return nb::object(dtype).release().ptr();
        return described(dtype.ptr(), metadata);
    });
    if (own != nullptr || spec == nullptr) return own;
    PyObject* given[] = {spec, align, metadata == nullptr ? Py_None : metadata};
    return numpy_instead(FailedCall::kDtype, "dtype", given, 3, nullptr);
}

Py_hash_t dtype_hash(PyObject* self) {
    return guarded_number([&]() -> Py_hash_t {
        // NumPy hashes this tuple: kind, byte order, flags, item size, alignment.
        const DType dtype = dtype_of(self);
        const bool registered = dtype == ScalarType::kBFloat16;  // by ml_dtypes, with flags that go with it
        const char kind[] = {registered ? 'V' : dtype.kind()};
        const char order[] = {dtype.itemsize() > 1 ? '<' : '|'};
        const nb::object key =
            nb::make_tuple(nb::bytes(kind, 1), nb::bytes(order, 1), registered ? kRegisteredFlags : 0,
                           static_cast<int>(dtype.itemsize()), static_cast<int>(dtype.alignment()));
        return PyObject_Hash(key.ptr());
    });
}

PyObject* dtype_compare(PyObject* self, PyObject* other, int comparison) {
    return guarded([&]() -> PyObject* {
        DType right;
        try {
            if (other == Py_None) throw TypeError("None");
            right = to_dtype_required(other);
        } catch (const TypeError&) {
            if (comparison == Py_EQ || comparison == Py_NE) return PyBool_FromLong(comparison == Py_NE);
            return not_implemented();
        }
        const DType left = dtype_of(self);
        switch (comparison) {
            case Py_EQ: return PyBool_FromLong(left == right);
            case Py_NE: return PyBool_FromLong(!(left == right));
            case Py_LE: return PyBool_FromLong(can_cast(left, right));
            case Py_LT: return PyBool_FromLong(!(left == right) && can_cast(left, right));
            case Py_GE: return PyBool_FromLong(can_cast(right, left));
            default: return PyBool_FromLong(!(left == right) && can_cast(right, left));
        }
    });
}

PyObject* dtype_repr(PyObject* self) {
    return guarded(
        [&] { return text("dtype('" + std::string(dtype_of(self).name()) + "')").release().ptr(); });
}

PyObject* dtype_str(PyObject* self) {
    return guarded([&] { return text(dtype_of(self).name()).release().ptr(); });
}

void dtype_dealloc(PyObject* self) {
    Py_XDECREF(metadata_of(self));
    free_object(self);
}

/// NumPy's type numbers, which its C interface and `dtype.num` show.
int type_number(PyObject* dtype) {
    switch (character_of(dtype)) {
        case '?': return 0;
        case 'b': return 1;
        case 'B': return 2;
        case 'h': return 3;
        case 'H': return 4;
        case 'i': return 5;
        case 'I': return 6;
        case 'l': return 7;
        case 'L': return 8;
        case 'q': return 9;
        case 'Q': return 10;
        case 'f': return 11;
        case 'd': return 12;
        case 'F': return 14;
        case 'D': return 15;
        case 'E': return 256;  // the first that a package registers
        default: return 23;    // 'e'
    }
}

template <typename Function>
void property(PyTypeObject* type, const char* name, const char* doc, Function function) {
    nb::object getter = nb::cpp_function(function, nb::is_method(), nb::name(name));
    nb::object descriptor =
        nb::borrow(reinterpret_cast<PyObject*>(&PyProperty_Type))(getter, nb::none(), nb::none(), doc);
    nb::setattr(reinterpret_cast<PyObject*>(type), name, descriptor);
}

}  // namespace

nb::object numpy_dtype(DType dtype) {
    const nb::object make = nb::module_::import_("numpy").attr("dtype");
    if (!(dtype == ScalarType::kBFloat16)) return make(text(dtype.str()));
    try {
        return make(nb::module_::import_("ml_dtypes").attr("bfloat16"));
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ImportError)) throw;
        throw TypeError(
            "NumPy has bfloat16 only where the package ml_dtypes is installed: 'pip install ml_dtypes', or "
            "use "
            ".view(weft.uint16) or .astype(weft.float32)");
    }
}

nb::object numpy_array(nb::handle holder, DType dtype, nb::handle as, nb::handle copy) {
    const nb::object numpy = nb::module_::import_("numpy");
    const bool unknown = dtype == ScalarType::kBFloat16;
    nb::object shown = unknown ? holder.attr("view")(wrap_dtype(ScalarType::kUInt16)) : nb::borrow(holder);
    shown = steal_or_throw(PyMemoryView_FromObject(shown.ptr()));
    if (unknown) shown = numpy.attr("asarray")(shown).attr("view")(numpy_dtype(dtype));
    return numpy.attr("array")(shown, as, nb::arg("copy") = copy);
}

nb::object wrap_dtype(DType dtype) {
    return nb::borrow(registry.dtypes[static_cast<size_t>(dtype.scalar_type())]);
}

void bind_dtype(nb::module_& m) {
    static constexpr const char* kDoc =
        "dtype(dtype, align=False, copy=False, **kwargs)\n--\n\nThe type of an array's elements.\n\n"
        "Made from a name ('float64'), a code ('f8', 'd'), a Python type, a scalar type, or NumPy's dtype.\n"
        "Raises TypeError when weft has no such type.\n\n>>> np.dtype('f4')\ndtype('float32')\n";
    std::vector<PyType_Slot> slots = {
        {Py_tp_new, reinterpret_cast<void*>(dtype_new)},
        {Py_tp_dealloc, reinterpret_cast<void*>(dtype_dealloc)},
        {Py_tp_hash, reinterpret_cast<void*>(dtype_hash)},
        {Py_tp_richcompare, reinterpret_cast<void*>(dtype_compare)},
        {Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
        {Py_tp_str, reinterpret_cast<void*>(dtype_str)},
        {Py_tp_doc, const_cast<char*>(kDoc)},
    };
    registry.dtype_type = make_type(m, "dtype", sizeof(DescribedDType), 0, slots);
    for (const DTypeInfo& info : DType::all()) {
        auto* object = allocate<DescribedDType>(registry.dtype_type);
        new (&object->plain.dtype) DType(info.scalar_type);
        object->plain.character = info.character;
        object->metadata = nullptr;
        registry.dtypes[static_cast<size_t>(info.scalar_type)] = reinterpret_cast<PyObject*>(object);
    }
    for (const bool is_signed : {true, false}) {
        auto* object = allocate<DescribedDType>(registry.dtype_type);
        new (&object->plain.dtype) DType(is_signed ? ScalarType::kInt64 : ScalarType::kUInt64);
        object->plain.character = is_signed ? 'q' : 'Q';
        object->metadata = nullptr;
        registry.long_longs[is_signed ? 0 : 1] = reinterpret_cast<PyObject*>(object);
    }

    PyTypeObject* type = registry.dtype_type;
    property(type, "name", "'float64' and so on.",
             [](nb::handle self) { return text(dtype_of(self).name()); });
    property(type, "str", "The array protocol's code: '<f8'.",
             [](nb::handle self) { return text(dtype_of(self).str()); });
    property(type, "char", "NumPy's character: 'd'.",
             [](nb::handle self) { return std::string(1, character_of(self.ptr())); });
    property(type, "kind", "One of 'b', 'i', 'u', 'f', 'c'.",
             [](nb::handle self) { return std::string_view(&dtype_of(self).info().kind, 1); });
    property(type, "num", "NumPy's type number.", [](nb::handle self) { return type_number(self.ptr()); });
    property(type, "itemsize", "Bytes of an element.",
             [](nb::handle self) { return dtype_of(self).itemsize(); });
    property(type, "alignment", "Alignment of an element in bytes.",
             [](nb::handle self) { return dtype_of(self).alignment(); });
    property(type, "type", "The scalar type: weft.float64 and so on.", [](nb::handle self) {
        return nb::borrow(reinterpret_cast<PyObject*>(
            registry.scalar_types[static_cast<size_t>(dtype_of(self).scalar_type())]));
    });
    property(type, "byteorder", "'=' for native, '|' where it does not apply.", [](nb::handle self) {
        const char order[] = {byte_order(dtype_of(self))};
        return std::string(order, 1);
    });
    property(type, "isnative", "True: weft's arrays are in the machine's byte order.",
             [](nb::handle) { return true; });
    property(type, "isbuiltin", "1, as NumPy's for its own types; 2 for bfloat16.",
             [](nb::handle self) { return dtype_of(self) == ScalarType::kBFloat16 ? 2 : 1; });
    property(type, "hasobject", "False: weft has no arrays of objects.", [](nb::handle) { return false; });
    property(type, "names", "None: weft has no structured types.", [](nb::handle) { return nb::none(); });
    property(type, "fields", "None: weft has no structured types.", [](nb::handle) { return nb::none(); });
    property(type, "subdtype", "None: weft has no subarray types.", [](nb::handle) { return nb::none(); });
    property(type, "shape", "(): weft has no subarray types.", [](nb::handle) { return nb::tuple(); });
    property(type, "ndim", "0: weft has no subarray types.", [](nb::handle) { return 0; });
    property(type, "base", "The dtype itself: weft has no subarray types.",
             [](nb::handle self) { return nb::borrow(self); });
    property(type, "flags", "0: elements are plain numbers.", [](nb::handle) { return 0; });
    property(type, "isalignedstruct", "False: weft has no structured types.",
             [](nb::handle) { return false; });
    property(type, "metadata", "What the program has said of it, or None. Arrays do not keep it.",
             [](nb::handle self) -> nb::object {
                 if (!is_dtype(self.ptr()) || metadata_of(self.ptr()) == nullptr) return nb::none();
                 return steal_or_throw(PyDictProxy_New(metadata_of(self.ptr())));
             });
    property(type, "descr", "The array interface's description.", [](nb::handle self) {
        nb::list list;
        list.append(nb::make_tuple("", text(dtype_of(self).str())));
        return list;
    });
    property(type, "__numpy_dtype__", "The same dtype of NumPy's.",
             [](nb::handle self) { return numpy_dtype(dtype_of(self)); });
    method(type, "__reduce__", [](nb::handle self) {
        return nb::make_tuple(nb::handle(reinterpret_cast<PyObject*>(registry.dtype_type)),
                              nb::make_tuple(text(dtype_of(self).name())));
    });
}

}  // namespace weft::python
