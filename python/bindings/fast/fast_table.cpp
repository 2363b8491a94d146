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

/// Gives a method of the binding's a signature that inspect.signature reads. Rows are numbered after the
/// table's.
template <int row>
void tell_signature(PyTypeObject* type, const char* name, const char* signature) {
    if (PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), name) == 0) return;
    constexpr int kAfterTable = 10000;
    if (type == registry.ndarray) {
        WithFastPath<no_fast_path, kAfterTable + row>::into_type(type, name, signature);
    } else {
        WithFastPath<no_fast_path, 2 * kAfterTable + row>::into_type(type, name, signature);
    }
}

void tell_signatures_of_protocols(PyTypeObject* type) {
    tell_signature<0>(type, "__array__", "__array__($self, dtype=None, /, *, copy=None)");
    tell_signature<1>(type, "__copy__", "__copy__($self, /)");
    tell_signature<2>(type, "__deepcopy__", "__deepcopy__($self, memo, /)");
    if (type == registry.ndarray) {
        tell_signature<3>(type, "__array_finalize__", "__array_finalize__($self, obj, /)");
        tell_signature<4>(type, "__complex__", "__complex__($self, /)");
        tell_signature<5>(type, "__reduce__", "__reduce__($self, /)");
        tell_signature<6>(type, "__reduce_ex__", "__reduce_ex__($self, protocol, /)");
        tell_signature<7>(type, "__setstate__", "__setstate__($self, state, /)");
        tell_signature<8>(
            type, "__dlpack__",
            "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)");
        tell_signature<9>(type, "__dlpack_device__", "__dlpack_device__($self, /)");
        tell_signature<10>(type, "__format__", "__format__($self, spec, /)");
    } else {
        tell_signature<11>(type, "item", "item($self, /, *args)");
        tell_signature<12>(type, "tolist", "tolist($self, /)");
    }
}

/// Of methods, which weft._methods has put together.
void add_fast_paths_to_methods() {
    PyTypeObject* const type = registry.ndarray;
#define WEFT_FAST_METHOD(row, name, function, signature) \
    WithFastPath<function, row>::into_type(type, #name, signature);
#include "functions/fast_paths.inc"
    tell_signatures_of_protocols(type);
    tell_signatures_of_protocols(registry.generic);
}

}  // namespace

FastCall fast_function(std::string_view name) {
    static const std::unordered_map<std::string_view, FastCall> functions = {
#define WEFT_FAST_FUNCTION(name, ...) {#name, __VA_ARGS__},
#include "functions/fast_paths.inc"
        {"weft.linalg.norm", fast_norm},
        {"weft.linalg.vector_norm", fast_norm},
        {"weft.linalg.matrix_norm", fast_matrix_norm},
        {"weft.linalg.vecdot", fast_vecdot},
    };
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

void bind_fast_paths(nb::module_& m) {
#define WEFT_FAST_BUILTIN(row, name, function, signature) \
    WithFastPath<function, row>::into_module(m, #name, signature);
#include "functions/fast_paths.inc"
    registry.matmul = nb::object(m.attr("matmul")).release().ptr();  // as the package finds it
    m.def("_add_fast_paths_to_methods", add_fast_paths_to_methods);
}

}  // namespace weft::python
