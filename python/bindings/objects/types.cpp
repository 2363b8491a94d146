// Making the heap types of the binding.
#include <memory>
#include <string>

#include "objects/objects.h"

namespace weft::python {

PyTypeObject* make_type(nb::module_& m, const char* name, size_t size, unsigned flags,
                        std::vector<PyType_Slot> slots, PyTypeObject* base) {
    slots.push_back({0, nullptr});
    // Older Pythons keep the pointer to the name.
    static std::vector<std::unique_ptr<std::string>> names;
    names.push_back(std::make_unique<std::string>(std::string("weft.") + name));
    PyType_Spec spec{names.back()->c_str(), static_cast<int>(size), 0, flags | Py_TPFLAGS_DEFAULT,
                     slots.data()};
    nb::object bases;
    if (base != nullptr) bases = nb::make_tuple(nb::handle(reinterpret_cast<PyObject*>(base)));
    nb::object type = steal_or_throw(base == nullptr ? PyType_FromSpec(&spec)
                                                     : PyType_FromSpecWithBases(&spec, bases.ptr()));
    m.attr(name) = type;
    return reinterpret_cast<PyTypeObject*>(type.release().ptr());  // kept for as long as the process lives
}

}  // namespace weft::python
