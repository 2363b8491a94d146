#include "compiled/records.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include "compiled/program.h"
#include "convert/convert.h"
#include "package.h"

namespace weft::python {

namespace {

// Used under the GIL.
std::unordered_map<PyObject*, std::unique_ptr<const lang::Record>>& known_records() {
    static auto* const known = new std::unordered_map<PyObject*, std::unique_ptr<const lang::Record>>;
    return *known;
}

bool may_be_record(PyObject* type) {
    return PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &PyTuple_Type) != 0 ||
           PyObject_HasAttrString(type, "__dataclass_fields__") != 0 ||
           PyObject_HasAttrString(type, "__members__") != 0;
}

}  // namespace

const lang::Record* record_of(nb::handle type) {
    const auto found = known_records().find(type.ptr());
    if (found != known_records().end()) return found->second.get();
    if (type.ptr() == reinterpret_cast<PyObject*>(&PyTuple_Type) || !may_be_record(type.ptr()))
        return nullptr;
    const nb::object described = nb::module_::import_(modules::kJit).attr("describe_record")(type);
    if (described.is_none()) return nullptr;
    auto record = std::make_unique<lang::Record>();
    record->name = text_of(described[0]);
    const std::string what = text_of(described[1]);
    record->is_tuple = what == "tuple";
    record->is_integer = what == "integers";
    record->is_enumeration = record->is_integer || what == "enumeration";
    for (nb::handle name : described[2]) record->fields.push_back(text_of(name));
    for (nb::handle each : described[3])
        record->defaults.push_back(nb::cast<bool>(each[0]) ? type_of_constant(each[1]) : nullptr);
    for (nb::handle each : described[4]) record->keyword_only.push_back(nb::cast<bool>(each));
    record->compares = nb::cast<bool>(described[5]);
    record->orders = nb::cast<bool>(described[6]);
    record->not_made = text_of(described[7]);
    type.inc_ref();
    record->handle = type.ptr();
    return known_records().emplace(type.ptr(), std::move(record)).first->second.get();
}

nb::object fields_of(const lang::Record& record, nb::handle instance) {
    if (record.is_tuple) return nb::borrow(instance);
    if (record.is_enumeration) return nb::module_::import_(modules::kJit).attr("values_of")(instance);
    nb::object values = steal_or_throw(PyTuple_New(static_cast<Py_ssize_t>(record.fields.size())));
    for (size_t i = 0; i < record.fields.size(); ++i) {
        nb::object value = instance.attr(record.fields[i].c_str());
        PyTuple_SetItem(values.ptr(), static_cast<Py_ssize_t>(i), value.release().ptr());
    }
    return values;
}

nb::object make_instance(const lang::Record& record, const nb::object& values) {
    const nb::handle type(static_cast<PyObject*>(const_cast<void*>(record.handle)));
    if (record.is_tuple)
        return nb::handle(reinterpret_cast<PyObject*>(&PyTuple_Type)).attr("__new__")(type, values);
    if (record.is_enumeration) return nb::steal(PySequence_List(type.ptr()))[values[0]];
    const nb::handle base(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
    nb::object instance = base.attr("__new__")(type);
    const nb::object set = base.attr("__setattr__");
    for (size_t i = 0; i < record.fields.size(); ++i)
        set(instance, nb::str(record.fields[i].c_str()), values[i]);
    return instance;
}

}  // namespace weft::python
