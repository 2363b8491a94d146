#include "fast/fast_table.h"

#include <unordered_map>

#include "fast/fast_creation.h"
#include "fast/fast_functions.h"
#include "module.h"

namespace weft::python {

namespace {

/// The function of a method: np.sort(a, -1) for a.sort(-1).
template <FastCall method>
PyObject* of_first(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count == 0 || !is_plain_array(arguments[0])) return nullptr;
    return method(arguments[0], arguments + 1, count - 1);
}

/// For functions that have no fast path, but may be asked for with like=.
PyObject* no_fast_path(PyObject*, PyObject* const*, Py_ssize_t) { return nullptr; }

/// Of methods, which weft._methods has put together.
void add_fast_paths_to_methods() {
    PyTypeObject* const type = registry.ndarray;
#define WEFT_FAST_METHOD(row, name, function, signature) \
    WithFastPath<function, row>::into_type(type, #name, signature);
#include "functions/fast_paths.inc"
}

}  // namespace

FastCall fast_function(std::string_view name) {
    static const std::unordered_map<std::string_view, FastCall> functions = {
#define WEFT_FAST_FUNCTION(name, ...) {#name, __VA_ARGS__},
#include "functions/fast_paths.inc"
    };
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

void bind_fast_paths(nb::module_& m) {
#define WEFT_FAST_BUILTIN(row, name, function, signature) \
    WithFastPath<function, row>::into_module(m, #name, signature);
#include "functions/fast_paths.inc"
    m.def("_add_fast_paths_to_methods", add_fast_paths_to_methods);
}

}  // namespace weft::python
