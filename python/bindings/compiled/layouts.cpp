#include "compiled/layouts.h"

#include <array>
#include <map>
#include <string>
#include <utility>

#include "compiled/device_structures.h"
#include "compiled/numpy_fields.h"
#include "convert/convert.h"
#include "package.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

nb::object numpy() { return nb::module_::import_("numpy"); }

// What a dtype of NumPy's is in the language; nothing where it is none of numbers.
std::optional<ScalarType> number_of(nb::handle dtype) {
    if (!nb::cast<bool>(dtype.attr("isnative"))) return std::nullopt;
    const std::string kind = text_of(dtype.attr("kind"));
    if (std::string("biufc").find(kind) == std::string::npos) return std::nullopt;
    const DTypeInfo* const found = DType::find(text_of(dtype.attr("name")));
    return found == nullptr ? std::nullopt : std::optional(found->scalar_type);
}

lang::Layout* describe(nb::handle dtype) {
    auto* const layout = new lang::Layout;
    layout->size = nb::cast<int64_t>(dtype.attr("itemsize"));
    layout->handle = nb::borrow(dtype).release().ptr();  // for the life of the process
    if (dtype.attr("names").is_none()) {
        layout->text = text_of(dtype.attr("kind"))[0];
        return layout;
    }
    const nb::object fields = dtype.attr("fields");
    for (nb::handle name : dtype.attr("names")) {
        const nb::object described = fields[name];
        nb::object element = described[0];
        lang::LayoutField field;
        field.name = text_of(name);
        field.offset = nb::cast<int64_t>(described[1]);
        if (nb::len(described) > 2 && nb::isinstance<nb::str>(described[2]))
            field.title = text_of(described[2]);
        if (!element.attr("subdtype").is_none()) {
            for (nb::handle size : element.attr("shape")) field.shape.push_back(nb::cast<int64_t>(size));
            element = element.attr("base");
        }
        field.layout = layout_of(element);
        const std::optional<ScalarType> number = number_of(element);
        if (number) field.scalar = *number;
        if (!number && field.layout == nullptr) {
            field.other = text_of(nb::str(element));
            if (field.other.starts_with("|")) field.other.erase(0, 1);
        }
        layout->fields.push_back(std::move(field));
    }
    return layout;
}

}  // namespace

const lang::Layout* layout_of(nb::handle dtype) {
    const std::string kind = text_of(dtype.attr("kind"));
    if (kind == "M" || kind == "m") {
        const auto type = lang::date_type_named(text_of(dtype.attr("name")));
        return type && nb::cast<bool>(dtype.attr("isnative")) ? lang::date_layout(*type) : nullptr;
    }
    const bool is_text = (kind == "S" || kind == "U") && nb::cast<bool>(dtype.attr("isnative")) &&
                         nb::cast<int64_t>(dtype.attr("itemsize")) > 0 && dtype.attr("subdtype").is_none();
    if ((!is_text && dtype.attr("names").is_none()) || nb::cast<bool>(dtype.attr("hasobject")))
        return nullptr;
    static auto* const by_address = new std::map<PyObject*, const lang::Layout*>;  // of dtypes that are kept
    const auto known = by_address->find(dtype.ptr());
    if (known != by_address->end()) return known->second;
    // Those of record arrays differ by the type of their elements alone, which equality does not tell.
    static PyObject* const by_dtype = PyDict_New();
    const nb::object key = nb::make_tuple(dtype, dtype.attr("type"));
    PyObject* const found = PyDict_GetItemWithError(by_dtype, key.ptr());
    if (found == nullptr && PyErr_Occurred() != nullptr) throw_python_error();
    const lang::Layout* layout = nullptr;
    if (found != nullptr) {
        layout = static_cast<const lang::Layout*>(PyLong_AsVoidPtr(found));
    } else {
        layout = describe(dtype);
        const nb::object address = steal_or_throw(PyLong_FromVoidPtr(const_cast<lang::Layout*>(layout)));
        if (PyDict_SetItem(by_dtype, key.ptr(), address.ptr()) != 0) throw_python_error();
    }
    constexpr size_t kMost = 256;  // programs may make ever new ones that are equal
    if (by_address->size() < kMost) by_address->emplace(nb::borrow(dtype).release().ptr(), layout);
    return layout;
}

const lang::Layout* layout_of_instances(const lang::Record& record, nb::handle dtype) {
    static auto* const layouts = new std::map<const lang::Record*, const lang::Layout*>;
    const lang::Layout*& layout = (*layouts)[&record];
    if (layout == nullptr) {
        lang::Layout* const made = describe(dtype);
        made->record = &record;
        layout = made;
    }
    return layout;
}

std::optional<std::pair<lang::DateType, int64_t>> date_given(PyObject* object) {
    static std::array<PyObject*, 2> classes{};
    if (classes[0] == nullptr) {
        PyObject* const modules = PySys_GetObject("modules");
        if (modules == nullptr || PyDict_GetItemString(modules, "numpy") == nullptr) return std::nullopt;
        classes = {nb::object(numpy().attr("datetime64")).release().ptr(),
                   nb::object(numpy().attr("timedelta64")).release().ptr()};
    }
    PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
    if (type != classes[0] && type != classes[1]) return std::nullopt;
    const nb::handle date(object);
    const auto named = lang::date_type_named(text_of(date.attr("dtype").attr("name")));
    if (!named) return std::nullopt;
    return std::pair(*named, nb::cast<int64_t>(nb::int_(date.attr("view")("int64"))));
}

nb::object make_date(const lang::DateType& type, int64_t count) {
    const nb::object number = numpy().attr("int64")(count);
    return number.attr("view")(lang::name_of(type));
}

std::optional<Structures> structures_of(PyObject* given) {
    if (std::optional<DeviceStructures> records = device_structures_of(given)) return records->structures;
    const nb::object held =
        is_host_array(given) ? nb::object(nb::handle(given).attr("_array")) : nb::borrow(given);
    PyObject* const object = held.ptr();  // which the given one keeps
    if (const std::optional<NumpyMemory> memory = numpy_memory(object)) {
        const lang::Layout* const layout = layout_of(memory->dtype);
        if (layout == nullptr) return std::nullopt;
        return Structures{layout, memory->data, memory->shape, memory->strides, memory->writeable, false};
    }
    static PyObject* element = nullptr;
    if (element == nullptr) {
        PyObject* const modules = PySys_GetObject("modules");
        if (modules == nullptr || PyDict_GetItemString(modules, "numpy") == nullptr) return std::nullopt;
        element = nb::object(numpy().attr("void")).release().ptr();
    }
    if (PyObject_IsInstance(object, element) != 1) return std::nullopt;
    const nb::handle structure(object);
    const lang::Layout* const layout = layout_of(structure.attr("dtype"));
    if (layout == nullptr) return std::nullopt;
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_RECORDS_RO) != 0) throw_python_error();
    auto* const data = static_cast<char*>(buffer.buf);  // which stays as long as the element does
    PyBuffer_Release(&buffer);
    const bool writeable = nb::cast<bool>(structure.attr("flags").attr("writeable"));
    return Structures{layout, data, {}, {}, writeable, true};
}

namespace {

// NumPy's own.
nb::object make_array(nb::handle dtype, char* data, const Dims& shape, const Dims& strides, bool writeable,
                      const nb::object& owner) {
    const auto itemsize = nb::cast<int64_t>(dtype.attr("itemsize"));
    int64_t low = 0, high = itemsize;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 0) return numpy().attr("empty")(to_tuple(shape), dtype);
        const int64_t last = (shape[d] - 1) * strides[d];
        (last < 0 ? low : high) += last;
    }
    nb::dict interface;
    interface["version"] = 3;
    interface["typestr"] = "|u1";
    interface["shape"] = nb::make_tuple(high - low);
    interface["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(data + low), !writeable);
    const nb::object bytes = numpy().attr("asarray")(nb::module_::import_("types").attr("SimpleNamespace")(
        nb::arg("__array_interface__") = interface, nb::arg("owner") = owner));
    return numpy().attr("ndarray")(to_tuple(shape), dtype, bytes, -low, to_tuple(strides));
}

nb::object as_host_array(const nb::object& array) {
    return nb::module_::import_(modules::kHostArrays).attr("as_array")(array);
}

}  // namespace

nb::object make_host_array(nb::handle dtype, char* data, const Dims& shape, const Dims& strides,
                           bool writeable, const nb::object& owner) {
    return as_host_array(make_array(dtype, data, shape, strides, writeable, owner));
}

nb::object dtype_of(const lang::Layout& layout) {
    if (const lang::DateType* const date = lang::date_of(layout.record))
        return numpy().attr("dtype")(lang::name_of(*date));
    return nb::borrow(static_cast<PyObject*>(const_cast<void*>(layout.handle)));
}

nb::object make_structures(const lang::Layout& layout, char* data, const Dims& shape, const Dims& strides,
                           bool writeable, bool is_single, const nb::object& owner) {
    const nb::object dtype = dtype_of(layout);
    const nb::object array = make_array(dtype, data, shape, strides, writeable, owner);
    if (is_single) return array[nb::tuple()];
    const bool is_record = dtype.attr("type").is(numpy().attr("record"));
    return as_host_array(is_record ? nb::object(array.attr("view")(numpy().attr("recarray"))) : array);
}

}  // namespace weft::python
