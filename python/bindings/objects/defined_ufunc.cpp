// Ufuncs of functions of the program's. Such a ufunc has the loops that its signatures say, or gets one for
// each combination of types that it is called with: `maker` in Python (weft/_ufunc/compiled.py) compiles it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiled/program.h"
#include "convert/convert.h"
#include "module.h"
#include "objects/ufunc_object.h"
#include "ops/resolve.h"
#include "package.h"
#include "weft/define.h"

namespace weft::python {

/// Used under the GIL.
class DefinedUfunc {
public:
    std::string name;
    size_t nin = 0;
    bool grows = false;   // a loop for each combination of types
    nb::object function;  // of Python
    nb::object compiled;  // of weft.jit
    nb::object maker;
    nb::object identity;  // a number or None
    nb::object host;      // of Python: what computes it where kernels do not; else nothing
    std::vector<std::pair<std::string, const OpInfo*>> known;  // by the codes of types, the last used first
};

namespace {

constexpr char kWeak = '0';  // then WeakKind; a dtype is 'A' and its number

char code_of(DType dtype) { return static_cast<char>('A' + static_cast<int>(dtype.scalar_type())); }

/// What the type of an input is for the ufunc; 0 where it is nothing that has one.
char code_of(PyObject* input) {
    if (is_array(input)) return code_of(array_of(input).dtype());
    if (is_scalar(input)) return code_of(scalar_dtype(input));
    if (PyFloat_CheckExact(input)) return static_cast<char>(kWeak + static_cast<int>(WeakKind::kFloat));
    if (PyLong_CheckExact(input)) return static_cast<char>(kWeak + static_cast<int>(WeakKind::kInt));
    if (PyBool_Check(input)) return code_of(DType(ScalarType::kBool));
    Argument argument;
    if (!to_argument(input, argument)) return 0;
    if (const auto* value = std::get_if<array>(&argument)) return code_of(value->dtype());
    const WeakKind weak = std::holds_alternative<double>(argument)    ? WeakKind::kFloat
                          : std::holds_alternative<Integer>(argument) ? WeakKind::kInt
                                                                      : WeakKind::kComplex;
    return std::holds_alternative<bool>(argument) ? code_of(DType(ScalarType::kBool))
                                                  : static_cast<char>(kWeak + static_cast<int>(weak));
}

/// As Python's part takes it: a dtype, or the type of Python's numbers.
nb::object type_of_code(char code) {
    if (code >= 'A') return wrap_dtype(DType(static_cast<ScalarType>(code - 'A')));
    PyTypeObject* const types[] = {nullptr, &PyLong_Type, &PyFloat_Type, &PyComplex_Type};
    return nb::borrow(reinterpret_cast<PyObject*>(types[code - kWeak]));
}

bool is_ufunc(nb::handle object) { return Py_TYPE(object.ptr()) == registry.ufunc; }

nb::object object_of(const UfuncObject& ufunc) {
    return nb::borrow(reinterpret_cast<PyObject*>(const_cast<UfuncObject*>(&ufunc)));
}

/// Null where the host computes it.
const OpInfo* make(const UfuncObject& ufunc, const std::string& codes) {
    DefinedUfunc& defined = *ufunc.defined;
    nb::list types;
    for (const char code : codes) types.append(type_of_code(code));
    const nb::object maker = defined.maker;
    const nb::object made = maker(object_of(ufunc), nb::tuple(types));
    if (!is_ufunc(made)) {
        defined.host = made;
        return nullptr;
    }
    const OpInfo& op = op_of(made);
    defined.known.emplace(defined.known.begin(), codes, &op);
    return &op;
}

const OpInfo* find(const UfuncObject& ufunc, const std::string& codes) {
    auto& known = ufunc.defined->known;
    for (size_t k = 0; k < known.size(); ++k) {
        if (known[k].first != codes) continue;
        if (k != 0) std::swap(known[k], known[0]);
        return known[0].second;
    }
    return make(ufunc, codes);
}

/// Where a global, a closure or a called function is another one than before.
void make_again_if_changed(const UfuncObject& ufunc) {
    DefinedUfunc& defined = *ufunc.defined;
    if (!defined.compiled.is_valid() || is_current(defined.compiled)) return;
    defined.known.clear();
    defined.host.reset();
    defined.maker.attr("make_again")(object_of(ufunc));
}

nb::object wrap_ufunc(UfuncObject* object) { return nb::steal(reinterpret_cast<PyObject*>(object)); }

/// A ufunc that has them, what computes them on the host, or None.
void set_loops(UfuncObject& ufunc, nb::handle loops) {
    if (is_ufunc(loops)) {
        ufunc.op = &op_of(loops);
    } else if (!loops.is_none()) {
        ufunc.defined->host = nb::borrow(loops);
    }
}

std::optional<int64_t> to_identity(nb::handle identity) {
    if (identity.is_none()) return {};
    return nb::cast<int64_t>(identity);
}

}  // namespace

size_t input_count(const UfuncObject& ufunc) {
    return ufunc.defined != nullptr ? ufunc.defined->nin : ufunc.op->nin;
}

nb::object identity_of(const UfuncObject& ufunc) { return ufunc.defined->identity; }

PyObject* function_of(const UfuncObject& ufunc) {
    return ufunc.defined != nullptr ? ufunc.defined->function.ptr() : nullptr;
}

PyObject* maker_of(const UfuncObject& ufunc) {
    return ufunc.defined != nullptr && ufunc.defined->maker.is_valid() ? ufunc.defined->maker.ptr() : Py_None;
}

const OpInfo* op_for_call(const UfuncObject& ufunc, PyObject* const* inputs) {
    if (ufunc.defined == nullptr) return ufunc.op;
    make_again_if_changed(ufunc);
    if (ufunc.defined->host.is_valid()) return nullptr;
    if (!ufunc.defined->grows) return ufunc.op;
    std::string codes;
    for (size_t k = 0; k < ufunc.defined->nin; ++k) {
        const char code = code_of(inputs[k]);
        if (code == 0) return nullptr;
        codes += code;
    }
    return find(ufunc, codes);
}

nb::object dtype_of_fold(const UfuncObject& ufunc, PyObject* input) {
    if (ufunc.defined == nullptr) return {};
    make_again_if_changed(ufunc);
    if (ufunc.defined->host.is_valid() || !ufunc.defined->grows || ufunc.defined->nin != 2) return {};
    char code = code_of(input);
    if (code == 0) return {};
    if (code < 'A') code = code_of(DType(to_array(input).dtype()));
    const OpInfo* const op = find(ufunc, std::string(2, code));
    if (op == nullptr) return {};
    const DType result(op->loops[0].types[op->nin]);
    if (result == DType(op->loops[0].types[0])) return {};
    find(ufunc, std::string(2, code_of(result)));
    return wrap_dtype(result);
}

PyObject* host_of(const UfuncObject& ufunc) {
    return ufunc.defined != nullptr ? ufunc.defined->host.ptr() : nullptr;
}

int traverse_ufunc(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (const DefinedUfunc* defined = ufunc_object(self)->defined) {
        Py_VISIT(defined->function.ptr());
        Py_VISIT(defined->compiled.ptr());
        Py_VISIT(defined->maker.ptr());
        Py_VISIT(defined->host.ptr());
    }
    return 0;
}

int clear_ufunc(PyObject* self) {
    if (DefinedUfunc* defined = ufunc_object(self)->defined) {
        defined->function.reset();
        defined->compiled.reset();
        defined->maker.reset();
        defined->host.reset();
    }
    return 0;
}

void delete_defined(PyObject* self) { delete std::exchange(ufunc_object(self)->defined, nullptr); }

std::string name_of(const UfuncObject& ufunc) {
    return ufunc.defined != nullptr ? ufunc.defined->name : std::string(ufunc.op->numpy_name);
}

void bind_defined_ufunc(nb::module_& m) {
    m.def(
        "_define_operation",
        [](const std::string& name, const nb::list& loops, nb::handle identity, const std::string& doc) {
            std::vector<DefinedLoop> given;
            for (const nb::handle loop : loops) {
                DefinedLoop& one = given.emplace_back();
                one.ir = text_of(loop[0]);
                for (const nb::handle output : nb::object(loop[1]))
                    one.outputs.push_back(to_dtype_required(output).scalar_type());
            }
            return wrap_ufunc(make_ufunc(&define_operation(name, given, to_identity(identity), doc)));
        },
        arg("name"), arg("loops"), arg("identity"), arg("doc"),
        "A ufunc whose loops are kernel IR: pairs of its text and of the results' dtypes.");
    m.def(
        "_defined_ufunc",
        [](const std::string& name, int nin, nb::handle compiled, nb::handle identity, nb::handle maker,
           nb::handle loops) {
            UfuncObject* const object = make_ufunc(nullptr);
            object->defined = new DefinedUfunc;
            object->defined->name = name;
            object->defined->nin = static_cast<size_t>(nin);
            object->defined->grows = loops.is_none();
            object->defined->function = compiled.attr("py_func");
            object->defined->compiled = nb::borrow(compiled);
            object->defined->identity = nb::borrow(identity);
            object->defined->maker = nb::borrow(maker);
            set_loops(*object, loops);
            return wrap_ufunc(object);
        },
        arg("name"), arg("nin"), arg("compiled"), arg("identity"), arg("maker"), arg("loops"),
        "A ufunc of a function of the program's. `loops` is one of all its loops; without it `maker` makes "
        "them.");
    m.def(
        "_set_loops",
        [](nb::handle ufunc, nb::handle loops) { set_loops(*ufunc_object(ufunc.ptr()), loops); },
        arg("ufunc"), arg("loops"), "Gives a ufunc of a function of the program's the loops of another one.");
}

}  // namespace weft::python
