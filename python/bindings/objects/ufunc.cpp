// weft.ufunc: the entries of the op table as NumPy's universal functions. They are made by walking the table.
#include <algorithm>

#include "api/recording/host_row.h"
#include "api/ufuncs/apply_at.h"
#include "convert/convert.h"
#include "core/shape.h"
#include "device/devices.h"
#include "fast/fast_call.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "module.h"
#include "objects/fold_arguments.h"
#include "objects/objects.h"
#include "objects/ufunc_object.h"
#include "ops/aliases.h"
#include "ops/resolve.h"
#include "package.h"
#include "protocols/by_numpy.h"
#include "protocols/overrides.h"

// After Python.h, which it does not include itself.
#include <structmember.h>

namespace weft::python {

namespace {

constexpr size_t kMostInputs = 3;  // of calls that are not for call_with_options

std::string name_of(const OpInfo& op) { return std::string(op.numpy_name); }

void collect_out(const OpInfo& op, PyObject* out, std::vector<PyObject*>& outputs) {
    if (out == Py_None) return;
    if (PyTuple_Check(out)) {
        if (PyTuple_Size(out) != op.nout)
            throw ValueError("The 'out' tuple must have exactly one entry per ufunc output");
        for (Py_ssize_t i = 0; i < op.nout; ++i) outputs[static_cast<size_t>(i)] = PyTuple_GetItem(out, i);
    } else {
        if (op.nout > 1) throw TypeError("'out' must be a tuple of arrays");
        outputs[0] = out;
    }
}

Argument ufunc_argument(const OpInfo& op, PyObject* object) {
    Argument argument;
    if (!to_argument(object, argument))
        throw TypeError(
            "ufunc '" + name_of(op) +
            "' not supported for the input types, and the inputs could not be safely coerced to any "
            "supported types according to the casting rule ''safe''");
    return argument;
}

/// What a call says beyond its inputs.
struct GivenOptions {
    CallOptions options;             // `out` refers to this object's
    std::vector<PyObject*> outputs;  // None: a new array
    std::vector<array> out;          // the same as arrays; empty where all are new
    nb::object signature;
    bool wants_array = false;  // out=...
};

void read_keyword(const OpInfo& op, const std::string& key, PyObject* value, GivenOptions& given) {
    if (key == "out") {
        if (value == Py_Ellipsis) {
            given.wants_array = true;
        } else {
            collect_out(op, value, given.outputs);
        }
    } else if (key == "where") {
        if (value != Py_True) given.options.where = ufunc_argument(op, value);
    } else if (key == "dtype") {
        given.options.dtype = to_dtype(nb::handle(value));
    } else if (key == "casting") {
        given.options.casting = to_casting(nb::handle(value));
    } else if (key == "order") {
        given.options.order = to_order(nb::handle(value), "KCFA");
    } else if (key == "subok") {
        // Of operands that are plain arrays, or overrides would have been asked.
    } else if (key == "signature" || key == "sig") {
        if (given.signature.is_valid()) throw TypeError("cannot specify both 'sig' and 'signature'");
        given.signature = nb::borrow(value);
    } else {
        throw TypeError(name_of(op) + "() got an unexpected keyword argument '" + key + "'");
    }
}

/// An output that is given without its name.
PyObject* by_position(PyObject* out) {
    if (out == Py_Ellipsis) throw TypeError("out=... is only allowed as a keyword argument.");
    return out;
}

GivenOptions read_options(const OpInfo& op, PyObject* const* arguments, size_t count, PyObject* names) {
    GivenOptions given;
    given.outputs.resize(op.nout, Py_None);
    for (size_t i = op.nin; i < count; ++i) given.outputs[i - op.nin] = by_position(arguments[i]);
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
    bool names_out = count > op.nin;
    for (Py_ssize_t i = 0; i < named; ++i) {
        const std::string key = text_of(nb::handle(PyTuple_GetItem(names, i)));
        if (key == "out" && count > op.nin)
            throw TypeError("cannot specify 'out' as both a positional and keyword argument");
        names_out = names_out || key == "out";
        read_keyword(op, key, arguments[count + static_cast<size_t>(i)], given);
    }
    if (given.options.where && !names_out &&
        PyErr_WarnEx(PyExc_UserWarning,
                     "'where' used without 'out', expect unitialized memory in output. If this is intended, "
                     "use out=None.",
                     1) != 0)
        throw_python_error();
    return given;
}

/// The inputs as `signature` wants them.
std::vector<nb::object> cast_to_signature(PyObject* self, PyObject* const* arguments,
                                          const GivenOptions& given) {
    if (given.options.dtype) throw TypeError("cannot specify both 'signature' and 'dtype'");
    nb::list inputs;
    for (size_t i = 0; i < op_of(self).nin; ++i) inputs.append(nb::borrow(arguments[i]));
    const nb::object converted =
        nb::module_::import_(modules::kUfuncMethods)
            .attr("cast_to_signature")(nb::borrow(self), inputs, given.signature,
                                       nb::str(std::string(casting_name(given.options.casting)).c_str()));
    std::vector<nb::object> cast;
    for (nb::handle input : converted) cast.push_back(nb::borrow(input));
    return cast;
}

void find_output_arrays(GivenOptions& given) {
    const size_t count = given.outputs.size();
    if (std::ranges::any_of(given.outputs, [](PyObject* output) { return output != Py_None; }))
        given.out.resize(count);
    for (size_t i = 0; i < given.out.size(); ++i) {
        PyObject* const output = given.outputs[i];
        if (output == Py_None) continue;
        if (!is_array(output)) throw TypeError("return arrays must be of ArrayType");
        given.out[i] = array_of(output);
    }
    given.options.out = given.out;
}

/// One result, or a tuple of them.
nb::object wrap_results(std::vector<array>&& results, const GivenOptions& given) {
    std::vector<nb::object> wrapped;
    for (size_t i = 0; i < results.size(); ++i) {
        if (given.outputs[i] != Py_None) {
            wrapped.push_back(nb::borrow(given.outputs[i]));
        } else {
            wrapped.push_back(given.wants_array ? wrap(std::move(results[i]))
                                                : wrap_result(std::move(results[i])));
        }
    }
    if (wrapped.size() == 1) return wrapped[0];
    nb::object tuple = steal_or_throw(PyTuple_New(static_cast<Py_ssize_t>(wrapped.size())));
    for (size_t i = 0; i < wrapped.size(); ++i)
        PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), wrapped[i].release().ptr());
    return tuple;
}

/// Of the imaginary parts that inputs lose in the loop, or results in `out`.
void warn_of_unsafe_casts(const OpInfo& op, std::span<const Argument> inputs, const CallOptions& options) {
    std::vector<OperandType> types;
    for (const Argument& input : inputs) types.push_back(operand_type(input));
    const LoopInfo& loop = resolve_loop(op, types, options.dtype, options.casting);
    for (size_t i = 0; i < inputs.size(); ++i) warn_of_lost_imaginary_part(types[i].dtype, loop.types[i]);
    for (size_t i = 0; i < options.out.size(); ++i) {
        if (options.out[i].valid())
            warn_of_lost_imaginary_part(loop.types[op.nin + i], options.out[i].dtype());
    }
}

nb::object call_with_options(PyObject* self, const OpInfo& op, PyObject* const* arguments, size_t count,
                             PyObject* names) {
    GivenOptions given = read_options(op, arguments, count, names);
    std::vector<nb::object> cast;  // stands for the arguments
    if (given.signature.is_valid() && !given.signature.is_none())
        cast = cast_to_signature(self, arguments, given);
    find_output_arrays(given);
    std::vector<Argument> inputs;
    bool large = false;
    for (size_t i = 0; i < op.nin; ++i) {
        inputs.push_back(ufunc_argument(op, cast.empty() ? arguments[i] : cast[i].ptr()));
        large = large || is_large(inputs.back());
    }
    if (given.options.casting == Casting::kUnsafe) warn_of_unsafe_casts(op, inputs, given.options);
    std::vector<array> results;
    {
        const ReleaseGil release(large);
        results = call(op, inputs, given.options);
    }
    return wrap_results(std::move(results), given);
}

/// Of operands and results, wherever they stand in a call.
bool any_has_override(PyObject* const* arguments, size_t count, PyObject* names) {
    for (size_t i = 0; i < count; ++i) {
        if (has_override(arguments[i])) return true;
    }
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < named; ++i) {
        PyObject* value = arguments[count + static_cast<size_t>(i)];
        PyObject* name = PyTuple_GetItem(names, i);
        const bool is_out = PyUnicode_CompareWithASCIIString(name, "out") == 0;
        if (!is_out && PyUnicode_CompareWithASCIIString(name, "array") != 0) continue;
        if (has_override(value)) return true;
        if (!is_out || !PyTuple_Check(value)) continue;
        for (Py_ssize_t k = 0; k < PyTuple_Size(value); ++k) {
            if (has_override(PyTuple_GetItem(value, k))) return true;
        }
    }
    return false;
}

/// Leaves a call to weft._protocols.overrides.
PyObject* ask(PyObject* self, const char* method, PyObject* const* arguments, size_t count, PyObject* names) {
    const auto [positional, keywords] = given_arguments(arguments, count, names);
    return override_function("ufunc")(nb::handle(self), method, positional, keywords).release().ptr();
}

bool has_name(PyObject* names, const char* name) {
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < named; ++i) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), name) == 0) return true;
    }
    return false;
}

/// A method of ufuncs, which operands may override.
template <int index>
struct Overridable {
    static inline PyObject* general = nullptr;
    static inline std::string name, doc;
    static inline PyMethodDef definition;

    static PyObject* call(PyObject* self, PyObject* const* arguments, Py_ssize_t given, PyObject* names) {
        const auto count = static_cast<size_t>(given);
        PyObject* const result = guarded([&]() -> PyObject* {
            if (any_has_override(arguments, count, names))
                return ask(self, name.c_str(), arguments, count, names);
            if (name.starts_with("reduce") || name == "accumulate") {
                for (size_t k = 3; k < count; ++k) by_position(arguments[k]);
            }
            std::vector<PyObject*> all{self};
            const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
            all.insert(all.end(), arguments, arguments + given + named);
            nb::object dtype, all_names;  // of what a function of the program's is folded in
            if (count != 0 && (name.starts_with("reduce") || name == "accumulate"))
                dtype = dtype_of_fold(*ufunc_object(self), arguments[0]);
            if (PyObject* const host = host_of(*ufunc_object(self))) {
                const nb::object method = nb::handle(host).attr(name.c_str());
                return PyObject_Vectorcall(method.ptr(), arguments, count, names);
            }
            if (dtype.is_valid() && count < (name == "reduceat" ? 4U : 3U) && !has_name(names, "dtype")) {
                all.push_back(dtype.ptr());
                all_names = nb::make_tuple("dtype");
                if (named != 0) all_names = nb::borrow(names) + all_names;
                names = all_names.ptr();
            }
            return PyObject_Vectorcall(general, all.data(), count + 1, names);
        });
        if (result != nullptr || ufunc_object(self)->defined != nullptr || !numpy_may_answer()) return result;
        const std::string full = name_of(op_of(self)) + "." + name;
        return numpy_instead(FailedCall::kUfunc, full, arguments, count, names);
    }

    static void define(const char* method_name, const char* signature) {
        const nb::handle owner(reinterpret_cast<PyObject*>(registry.ufunc));
        const nb::object function = owner.attr(method_name);
        const nb::object signatures = function.attr("__nb_signature__");
        const nb::object text = nb::object(signatures[0])[1];
        name = method_name;
        doc = std::string(signature) + "\n--\n\n" + (text.is_none() ? "" : text_of(text));
        general = nb::object(function).release().ptr();
        definition = {name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call)),
                      METH_FASTCALL | METH_KEYWORDS, doc.c_str()};
        nb::setattr(owner, method_name, steal_or_throw(PyDescr_NewMethod(registry.ufunc, &definition)));
    }
};

/// Of what no loop can be found for.
PyObject* call_without_types(PyObject* self, PyObject* const* arguments, size_t count, PyObject* names) {
    if (any_has_override(arguments, count, names)) return ask(self, "__call__", arguments, count, names);
    const UfuncObject& ufunc = *ufunc_object(self);
    if (PyObject* const host = host_of(ufunc)) return PyObject_Vectorcall(host, arguments, count, names);
    if (count < input_count(ufunc))
        throw TypeError(name_of(ufunc) + "() takes " + std::to_string(input_count(ufunc)) +
                        " positional arguments at least but " + std::to_string(count) +
                        (count == 1 ? " was given" : " were given"));
    throw TypeError("ufunc '" + name_of(ufunc) + "' not supported for the input types");
}

PyObject* call_own(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* names) {
    return guarded([&]() -> PyObject* {
        const auto count = static_cast<size_t>(PyVectorcall_NARGS(flags));
        const UfuncObject& ufunc = *ufunc_object(self);
        const OpInfo* const found = count < input_count(ufunc) ? ufunc.op : op_for_call(ufunc, arguments);
        if (found == nullptr) return call_without_types(self, arguments, count, names);
        const OpInfo& op = *found;
        if (count < op.nin || count > static_cast<size_t>(op.nin) + op.nout)
            throw TypeError(name_of(op) + "() takes from " + std::to_string(op.nin) + " to " +
                            std::to_string(op.nin + op.nout) + " positional arguments but " +
                            std::to_string(count) + (count == 1 ? " was given" : " were given"));
        // Powers of numbers: api/fast/power_shortcuts.h asks about those of ufuncs, not of operators.
        const bool numbers_alone =
            op.id == OpId::kPower && !is_array(arguments[0]) && !is_array(arguments[1]);
        if (count == op.nin && names == nullptr && !numbers_alone) {
            if (PyObject* result = try_run(op, arguments, count)) return result;
        }
        if (count == op.nin && names != nullptr && PyTuple_Size(names) == 1 &&
            is_plain_array(arguments[count]) &&
            PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "out") == 0) {
            PyObject* out = arguments[count];
            if (try_run_into(op, arguments, count, array_of(out))) {
                Py_INCREF(out);
                return out;
            }
        }
        if (any_has_override(arguments, count, names)) return ask(self, "__call__", arguments, count, names);
        if (count == op.nin && names == nullptr && op.nout == 1 && op.nin <= kMostInputs) {
            Argument inputs[kMostInputs];
            for (size_t k = 0; k < op.nin; ++k) inputs[k] = ufunc_argument(op, arguments[k]);
            return wrap_result(call_refused(op, arguments, {inputs, op.nin})).release().ptr();
        }
        return call_with_options(self, op, arguments, count, names).release().ptr();
    });
}

PyObject* ufunc_call(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* names) {
    PyObject* const result = call_own(self, arguments, flags, names);
    if (result != nullptr) return result;
    if (ufunc_object(self)->defined != nullptr) return nullptr;  // NumPy has none of this name, or another
    const auto count = static_cast<size_t>(PyVectorcall_NARGS(flags));
    return numpy_instead(FailedCall::kUfunc, op_of(self).numpy_name, arguments, count, names);
}

PyObject* ufunc_repr(PyObject* self) {
    return guarded(
        [&] { return nb::str(("<ufunc '" + name_of(*ufunc_object(self)) + "'>").c_str()).release().ptr(); });
}

void ufunc_dealloc(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (ufunc_object(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
    delete_defined(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

nb::list loop_signatures(const OpInfo& op) {
    const bool is_numpys = op.defined == nullptr;
    nb::list list;
    std::vector<std::string>
        of_long_longs;  // NumPy has the loops of 64 bits twice, and these after both signs
    const auto flush = [&] {
        for (const std::string& text : of_long_longs) list.append(nb::str(text.c_str()));
        of_long_longs.clear();
    };
    for (const LoopInfo& loop : op.loops) {
        std::string text;
        for (const ScalarType type : op.input_types(loop)) text += DType(type).character();
        const bool has_64_bits = text.find_first_not_of("lL") == std::string::npos;
        const bool has_both_signs = has_64_bits && text.find('l') != text.npos && text.find('L') != text.npos;
        text += "->";
        for (const ScalarType type : op.output_types(loop)) text += DType(type).character();
        if (!has_64_bits) flush();
        if (!has_both_signs || !is_numpys) list.append(nb::str(text.c_str()));
        if (!has_64_bits || !is_numpys) continue;
        for (char& letter : text) letter = letter == 'l' ? 'q' : letter == 'L' ? 'Q' : letter;
        of_long_longs.push_back(text);
    }
    flush();
    return list;
}

nb::object identity_of(const OpInfo& op) {
    switch (op.identity) {
        case Identity::kNone: return nb::none();
        case Identity::kZero:
            return op.kind == OpKind::kLogical ? nb::object(nb::bool_(false)) : nb::object(nb::int_(0));
        case Identity::kOne:
            return op.kind == OpKind::kLogical ? nb::object(nb::bool_(true)) : nb::object(nb::int_(1));
        case Identity::kMinusOne: return nb::int_(-1);
        case Identity::kMinusInfinity: return nb::float_(-HUGE_VAL);
    }
    return nb::none();
}

PyObject* get_name(PyObject* self, void*) {
    return guarded([&] { return nb::str(name_of(*ufunc_object(self)).c_str()).release().ptr(); });
}
PyObject* get_doc(PyObject* self, void*) {
    return guarded([&]() -> PyObject* {
        if (PyObject* const function = function_of(*ufunc_object(self)))
            return nb::object(nb::handle(function).attr("__doc__")).release().ptr();
        const std::string_view doc = op_of(self).doc;
        return nb::str(doc.data(), doc.size()).release().ptr();
    });
}
PyObject* get_nin(PyObject* self, void*) { return PyLong_FromSize_t(input_count(*ufunc_object(self))); }
/// Of a function without loops, whose results nobody knows yet, 1.
size_t output_count(PyObject* self) {
    const UfuncObject& ufunc = *ufunc_object(self);
    if (PyObject* const host = host_of(ufunc)) return nb::cast<size_t>(nb::handle(host).attr("nout"));
    return ufunc.op == nullptr ? 1 : ufunc.op->nout;
}
PyObject* get_nout(PyObject* self, void*) {
    return guarded([&] { return PyLong_FromSize_t(output_count(self)); });
}
PyObject* get_nargs(PyObject* self, void*) {
    return guarded([&] { return PyLong_FromSize_t(input_count(*ufunc_object(self)) + output_count(self)); });
}
nb::list signatures_of(PyObject* self) {
    const OpInfo* const op = ufunc_object(self)->op;
    return op == nullptr ? nb::list() : loop_signatures(*op);
}
PyObject* get_ntypes(PyObject* self, void*) {
    return guarded([&] { return PyLong_FromSize_t(signatures_of(self).size()); });
}
PyObject* get_types(PyObject* self, void*) {
    return guarded([&] { return signatures_of(self).release().ptr(); });
}
PyObject* get_identity(PyObject* self, void*) {
    return guarded([&] {
        const UfuncObject& ufunc = *ufunc_object(self);
        return (ufunc.defined != nullptr ? identity_of(ufunc) : identity_of(*ufunc.op)).release().ptr();
    });
}
PyObject* get_signature(PyObject*, void*) { Py_RETURN_NONE; }
PyObject* get_max_ulp(PyObject* self, void*) { return PyFloat_FromDouble(op_of(self).max_ulp); }
PyObject* get_namespace(PyObject* self, void*) {
    return guarded([&] {
        const std::string_view space = op_of(self).name_space;
        return nb::str(space.data(), space.size()).release().ptr();
    });
}
PyObject* get_is_numpy(PyObject* self, void*) { return PyBool_FromLong(op_of(self).flags.is_ufunc); }
PyObject* get_function(PyObject* self, void*) {
    if (PyObject* const function = function_of(*ufunc_object(self))) return Py_NewRef(function);
    PyErr_SetString(PyExc_AttributeError, "this ufunc is none of a Python function's");
    return nullptr;
}

PyObject* get_maker(PyObject* self, void*) { return Py_NewRef(maker_of(*ufunc_object(self))); }

PyGetSetDef kAttributes[] = {
    {"__name__", get_name, nullptr, "NumPy's name of the function.", nullptr},
    {"__qualname__", get_name, nullptr, "NumPy's name of the function.", nullptr},
    {"__doc__", get_doc, nullptr, "What the function computes.", nullptr},
    {"nin", get_nin, nullptr, "The number of inputs.", nullptr},
    {"nout", get_nout, nullptr, "The number of results.", nullptr},
    {"nargs", get_nargs, nullptr, "The number of inputs and results.", nullptr},
    {"ntypes", get_ntypes, nullptr, "The number of loops.", nullptr},
    {"types", get_types, nullptr, "The loops' types, as 'dd->d'.", nullptr},
    {"identity", get_identity, nullptr, "What a reduction starts from.", nullptr},
    {"signature", get_signature, nullptr, "None: the function works element by element.", nullptr},
    {"_max_ulp", get_max_ulp, nullptr, "Largest error in units in the last place.", nullptr},
    {"_namespace", get_namespace, nullptr, "Where the function is found, if not in NumPy's own namespace.",
     nullptr},
    {"_maker", get_maker, nullptr, "What makes the loops of a function of the program's; else None.",
     nullptr},
    {"py_func", get_function, nullptr, "The Python function that it is made of.", nullptr},
    {"_is_numpy", get_is_numpy, nullptr, "Whether NumPy has a ufunc of this name.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(UfuncObject, call), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(UfuncObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

/// The reduction that a ufunc's `reduce` is.
const ReductionInfo* reduction_of(const OpInfo& op) {
    for (const ReductionInfo& info : reduction_table()) {
        if (!info.gives_index && info.combine == op.id) return &info;
    }
    return nullptr;
}

/// What minimum.reduce([a, b, c]) and its kin are where a, b and c are large arrays of one dtype and shape:
/// element-wise work, which needs no array of all of them. None for other calls.
std::optional<array> reduce_arrays(const OpInfo& op, PyObject* input) {
    constexpr Py_ssize_t kMostArrays = 16;
    constexpr int64_t kWorthIt = 1024;
    if (op.id != OpId::kMaximum && op.id != OpId::kMinimum) return {};
    if (!PyList_CheckExact(input) && !PyTuple_CheckExact(input)) return {};
    const nb::object items = steal_or_throw(PySequence_Tuple(input));
    const Py_ssize_t count = PyTuple_Size(items.ptr());
    if (count < 2 || count > kMostArrays) return {};
    std::vector<array> arrays;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const item = PyTuple_GetItem(items.ptr(), i);
        if (Py_TYPE(item) != registry.ndarray) return {};
        arrays.push_back(array_of(item));
        const array& last = arrays.back();
        if (last.size() < kWorthIt || last.shape() != arrays[0].shape() ||
            !(last.dtype() == arrays[0].dtype()) || &device_of(last) != &device_of(arrays[0]))
            return {};
    }
    array result = call_binary(op, arrays[0], arrays[1]);
    for (size_t k = 2; k < arrays.size(); ++k) result = call_binary(op, result, arrays[k]);
    return result;
}

nb::object reduce_method(nb::handle self, nb::handle input, nb::handle axis, nb::handle dtype, nb::handle out,
                         bool keepdims, nb::handle initial, nb::handle where) {
    const OpInfo& op = op_of(self);
    const FoldArguments fold = read_fold(op, "reduce", input, axis, dtype, out);
    const ReductionInfo* reduction = reduction_of(op);
    if (reduction == nullptr)
        return nb::module_::import_(modules::kUfuncMethods)
            .attr("reduce")(self, wrap(array(fold.input)), axis, dtype, fold.out, fold.wants_array, keepdims,
                            is_no_value(initial) ? nb::none() : nb::borrow(initial), where,
                            initial.is_none());
    ReduceOptions options;
    options.axes = fold.axes;
    options.dtype = fold.dtype;
    options.keepdims = keepdims;
    const nb::object& given = fold.out;
    if (!given.is_none()) options.out = array_of(given);
    if (initial.is_none()) check_without_identity(name_of(op), fold.input, fold.axes, where);
    const bool is_given = !initial.is_none() && !is_no_value(initial);
    if (is_given) options.initial = to_argument(initial);
    if (where.ptr() != Py_True) options.where = to_argument(where);
    if (options.axes && *options.axes == Dims{0} && !options.dtype && given.is_none() && !keepdims &&
        !is_given && where.ptr() == Py_True) {
        if (std::optional<array> result = reduce_arrays(op, input.ptr())) return wrap(std::move(*result));
    }
    const array& value = fold.input;
    if (op.kind != OpKind::kLogical) warn_of_lost_imaginary_part(value.dtype(), options.dtype, options.out);
    array result;
    {
        const ReleaseGil release(is_large(value));
        result = weft::reduce(*reduction, value, options);
    }
    if (fold.wants_array) return wrap(std::move(result));
    return given.is_none() ? wrap_result(std::move(result)) : given;
}

nb::object accumulate_method(nb::handle self, nb::handle input, nb::handle axis, nb::handle dtype,
                             nb::handle out) {
    const OpInfo& op = op_of(self);
    const FoldArguments fold = read_fold(op, "accumulate", input, axis, dtype, out);
    const array& value = fold.input;
    AccumulateOptions options;
    options.dtype = fold.dtype;
    if (!fold.out.is_none()) options.out = array_of(fold.out);
    if (op.kind != OpKind::kLogical) warn_of_lost_imaginary_part(value.dtype(), options.dtype, options.out);
    array result;
    {
        const ReleaseGil release(is_large(value));
        result = weft::accumulate(op, value, fold.axes ? (*fold.axes)[0] : 0, options);
    }
    return fold.out.is_none() ? wrap(std::move(result)) : fold.out;
}

nb::object outer(nb::handle self, nb::handle left, nb::handle right, const nb::kwargs& options) {
    if (op_of(self).nin != 2) throw ValueError("outer product only supported for binary functions");
    const array a = to_array(left), b = to_array(right);
    Dims shape = a.shape();
    for (int i = 0; i < b.ndim(); ++i) shape.push_back(1);
    return nb::borrow(self)(wrap(weft::reshape(a, shape)), wrap(b), **options);
}

/// Whether these are positions on an axis of that extent, none of them below `lowest`.
bool are_positions(const HostRow& positions, int64_t lowest, int64_t extent) {
    const auto* const first = positions.as<int64_t>();
    bool are_within = true;
    for (int64_t k = 0; k < positions.count(); ++k) are_within &= first[k] >= lowest && first[k] < extent;
    return are_within;
}

bool is_row_of_int64(const array& value) {
    return value.ndim() == 1 && value.dtype() == DType(ScalarType::kInt64) && device_of(value).is_cpu();
}

/// ufunc.at of a row at an array or a list of integers. False, with nothing changed, for other calls, and for
/// those that are wrong.
bool apply_at_row(const OpInfo& op, nb::handle a, nb::handle indices, nb::handle b) {
    if (!is_plain_array(a.ptr()) || op.nin != (b.is_none() ? 1 : 2)) return false;
    const array& target = array_of(a);
    if (target.ndim() != 1 || !device_of(target).is_cpu()) return false;
    if (!is_plain_array(indices.ptr()) && !PyList_CheckExact(indices.ptr())) return false;
    const DeviceScope scope(device_of(target));
    const array given = to_array(indices);
    if (!is_row_of_int64(given) || given.size() == 0) return false;
    const HostRow row(given);
    const int64_t extent = target.size(), count = row.count();
    array positions = given;
    if (!are_positions(row, 0, extent)) {
        if (!are_positions(row, -extent, extent)) return false;
        HostPositions counted(count);
        for (int64_t k = 0; k < count; ++k) {
            const int64_t position = row.as<int64_t>()[k];
            counted.data()[k] = position < 0 ? position + extent : position;
        }
        positions = counted.finish();
    }
    std::optional<array> values;
    if (!b.is_none()) {
        values = to_array(b);
        if (!device_of(*values).is_cpu() || !can_broadcast(values->shape(), positions.shape())) return false;
        if (values->shape() != positions.shape()) values = broadcast_to(*values, positions.shape());
    }
    const ReleaseGil release(is_large(positions));
    apply_at(op, target, positions, values);
    return true;
}

/// ufunc.reduceat of a row, without options. None for other calls, and for those that are wrong.
std::optional<array> reduce_row_between(const OpInfo& op, const FoldArguments& fold, nb::handle indices) {
    const array& row = fold.input;
    if (row.ndim() != 1 || fold.dtype || !fold.out.is_none() || op.nin != 2 || op.nout != 1) return {};
    if (!is_plain_array(indices.ptr()) && !PyList_CheckExact(indices.ptr())) return {};
    if (!device_of(row).is_cpu()) return {};
    const DeviceScope scope(device_of(row));
    const array starts = to_array(indices);
    if (!is_row_of_int64(starts) || starts.size() == 0 || !are_positions(HostRow(starts), 0, row.size()))
        return {};
    const DType own = row.dtype();
    const bool is_wider = (op.id == OpId::kAdd || op.id == OpId::kMultiply) && own.itemsize() < 8 &&
                          (own.is_bool() || own.is_integer());
    const DType compute =
        is_wider ? DType(own.is_unsigned_integer() ? ScalarType::kUInt64 : ScalarType::kInt64) : own;
    const ScalarType type = compute.scalar_type();
    const bool folds = std::ranges::any_of(op.loops, [&](const LoopInfo& loop) {
        return loop.types[0] == type && loop.types[1] == type && loop.types[2] == type;
    });
    if (!folds) return {};
    const ReleaseGil release(is_large(row));
    return reduce_between(op, is_wider ? astype(row, compute) : row, starts, compute);
}

void define_type(nb::module_& m) {
    std::vector<PyType_Slot> slots = {
        {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
        {Py_tp_dealloc, reinterpret_cast<void*>(ufunc_dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(traverse_ufunc)},
        {Py_tp_clear, reinterpret_cast<void*>(clear_ufunc)},
        {Py_tp_repr, reinterpret_cast<void*>(ufunc_repr)},
        {Py_tp_getset, kAttributes},
        {Py_tp_members, kMembers},
    };
    registry.ufunc =
        make_type(m, "ufunc", sizeof(UfuncObject),
                  Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC, slots);
}

void define_methods() {
    method(registry.ufunc, "reduce", reduce_method, arg("array"), arg("axis") = 0, arg("dtype") = nb::none(),
           arg("out") = nb::none(), arg("keepdims") = false, arg("initial") = nb::ellipsis(),
           arg("where") = true, "Folds the elements over `axis` by this function.");
    method(registry.ufunc, "outer", outer, arg("A"), arg("B"), arg("kwargs"),
           "The function of every pair of an element of A and one of B.");
    method(
        registry.ufunc, "resolve_dtypes",
        [](nb::handle self, nb::handle dtypes, nb::handle signature, nb::handle casting, bool reduction) {
            return nb::module_::import_(modules::kUfuncMethods)
                .attr("resolve_dtypes")(self, dtypes, signature, casting, reduction);
        },
        arg("dtypes"), nb::kw_only(), arg("signature") = nb::none(), arg("casting") = nb::none(),
        arg("reduction") = false,
        "The dtypes that a call with operands of these dtypes computes in: inputs, then results.");
    method(
        registry.ufunc, "accumulate", accumulate_method, arg("array"), arg("axis") = 0,
        arg("dtype") = nb::none(), arg("out") = nb::none(),
        "The running results along `axis`: the first element, the first two combined by this function, and "
        "so on.");
    method(
        registry.ufunc, "at",
        [](nb::handle self, nb::handle a, nb::handle indices, nb::handle b) -> nb::object {
            // One of the program's may have no loop yet.
            const bool has_loops = ufunc_object(self.ptr())->op != nullptr;
            if (has_loops && apply_at_row(op_of(self), a, indices, b)) return nb::none();
            return nb::module_::import_(modules::kUfuncMethods).attr("at")(self, a, indices, b);
        },
        arg("a"), arg("indices"), arg("b") = nb::none(),
        "Applies the function to the elements of `a` that `indices` name, in place, one after another: an "
        "element that is named twice is computed twice.");
    method(
        registry.ufunc, "reduceat",
        [](nb::handle self, nb::handle input, nb::handle indices, nb::handle axis, nb::handle dtype,
           nb::handle out) -> nb::object {
            const FoldArguments fold = read_fold(op_of(self), "reduceat", input, axis, dtype, out);
            if (std::optional<array> found = reduce_row_between(op_of(self), fold, indices))
                return wrap(std::move(*found));
            return nb::module_::import_(modules::kUfuncMethods)
                .attr("reduceat")(self, wrap(array(fold.input)), indices, fold.axes ? (*fold.axes)[0] : 0,
                                  dtype, fold.out);
        },
        arg("array"), arg("indices"), arg("axis") = 0, arg("dtype") = nb::none(), arg("out") = nb::none(),
        "Folds the elements between each of `indices` and the next one.");
}

/// After the methods, which they call.
void make_methods_overridable() {
    Overridable<0>::define("reduce",
                           "reduce($self, array, axis=0, dtype=None, out=None, keepdims=False, "
                           "initial=None, where=True)");
    Overridable<1>::define("accumulate", "accumulate($self, array, axis=0, dtype=None, out=None)");
    Overridable<2>::define("outer", "outer($self, A, B, **kwargs)");
    Overridable<3>::define("at", "at($self, a, indices, b=None)");
    Overridable<4>::define("reduceat", "reduceat($self, array, indices, axis=0, dtype=None, out=None)");
    Overridable<5>::define("resolve_dtypes",
                           "resolve_dtypes($self, dtypes, *, signature=None, casting=None, reduction=False)");
}

/// What Python's part of ufuncs calls.
void define_helpers(nb::module_& m) {
    m.def(
        "_resolve_types",
        [](nb::handle ufunc, const nb::list& operands, nb::handle dtype, nb::handle casting) {
            const OpInfo& op = op_of(ufunc);
            std::vector<OperandType> types;
            for (const nb::handle operand : operands) {
                if (operand.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) {
                    types.emplace_back(WeakKind::kInt);
                } else if (operand.ptr() == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
                    types.emplace_back(WeakKind::kFloat);
                } else if (operand.ptr() == reinterpret_cast<PyObject*>(&PyComplex_Type)) {
                    types.emplace_back(WeakKind::kComplex);
                } else {
                    types.emplace_back(to_dtype_required(operand));
                }
            }
            const LoopInfo& loop = resolve_loop(op, types, to_dtype(dtype), to_casting(casting));
            nb::list result;
            for (size_t k = 0; k < static_cast<size_t>(op.nin) + op.nout; ++k)
                result.append(wrap_dtype(DType(loop.types[k])));
            return result;
        },
        arg("ufunc"), arg("operands"), arg("dtype"), arg("casting"));
    m.def(
        "_apply_at",
        [](nb::handle ufunc, nb::handle target, nb::handle positions, nb::handle operand) {
            std::optional<array> values;
            if (!operand.is_none()) values = array_of(operand);
            const array& into = array_of(target);
            const array& places = array_of(positions);
            const ReleaseGil release(is_large(places));
            apply_at(op_of(ufunc), into, places, values);
        },
        arg("ufunc"), arg("a"), arg("positions"), arg("b"));
    m.def(
        "_reduce_between",
        [](nb::handle ufunc, nb::handle input, nb::handle starts, nb::handle dtype) {
            std::optional<DType> type;
            if (!dtype.is_none()) type = to_dtype_required(dtype);
            const array& values = array_of(input);
            array result;
            {
                const ReleaseGil release(is_large(values));
                result = reduce_between(op_of(ufunc), values, array_of(starts), type);
            }
            return wrap(std::move(result));
        },
        arg("ufunc"), arg("x"), arg("starts"), arg("dtype"));
    // A result whose axes were put in order by views.
    m.def(
        "_as_owner",
        [](nb::handle of) {
            const array& value = array_of(of);
            return wrap(
                array(value.storage(), value.dtype(), value.shape(), value.strides(), value.offset(), true));
        },
        arg("x"));
}

/// A ufunc for each row of the op table, by both of its names, and by its aliases.
void make_ufuncs(nb::module_& m) {
    nb::dict ufuncs;
    for (const OpInfo& op : op_table()) {
        const nb::object ufunc = nb::steal(reinterpret_cast<PyObject*>(make_ufunc(&op)));
        ufuncs[nb::str(op.name.data(), op.name.size())] = ufunc;
        ufuncs[nb::str(op.numpy_name.data(), op.numpy_name.size())] = ufunc;
    }
    for (const OpAlias& alias : op_aliases()) {
        const std::string_view name = op_info(alias.id).name;
        ufuncs[nb::str(alias.name.data(), alias.name.size())] = ufuncs[nb::str(name.data(), name.size())];
    }
    m.attr("_ufuncs") = ufuncs;
}

}  // namespace

const OpInfo& op_of(PyObject* self) {
    const UfuncObject& ufunc = *ufunc_object(self);
    if (ufunc.op == nullptr) [[unlikely]]
        throw TypeError("ufunc '" + name_of(ufunc) + "' is not compiled for any types yet: call it first");
    return *ufunc.op;
}

const OpInfo& op_of(nb::handle object) {
    if (Py_TYPE(object.ptr()) == registry.ufunc) return op_of(object.ptr());
    throw TypeError("expected a weft.ufunc, not " + text_of(object.type().attr("__name__")));
}

UfuncObject* make_ufunc(const OpInfo* op) {
    auto* const object = PyObject_GC_New(UfuncObject, registry.ufunc);
    if (object == nullptr) throw_python_error();
    object->call = ufunc_call;
    object->op = op;
    object->defined = nullptr;
    object->weak_references = nullptr;
    PyObject_GC_Track(object);
    return object;
}

void bind_ufunc(nb::module_& m) {
    define_type(m);
    bind_defined_ufunc(m);
    define_methods();
    make_methods_overridable();
    define_helpers(m);
    make_ufuncs(m);
}

nb::object ufunc_of(OpId id) {
    const std::string_view name = op_info(id).name;
    return nb::handle(registry.module).attr("_ufuncs")[nb::str(name.data(), name.size())];
}

}  // namespace weft::python
