// The type of what weft.jit makes of a function, with what that tells of its code.
#include <nanobind/nanobind.h>

// after Python.h
#include <structmember.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiled/dispatcher.h"
#include "compiled/ticks.h"
#include "lang/errors/diagnostics.h"
#include "module.h"
#include "package.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

PyTypeObject* jit_type = nullptr;

std::vector<const Program*> programs_of(const State& state) {
    std::vector<const Program*> programs;
    const auto add = [&](const Program* program) {
        if (program != nullptr && std::find(programs.begin(), programs.end(), program) == programs.end())
            programs.push_back(program);
    };
    add(state.program.get());
    for (const std::shared_ptr<const Program>& given : state.functions.programs()) add(given.get());
    for (const std::shared_ptr<Compiled>& each : state.compiled) add(each->program.get());
    for (const auto& [device, compiled] : state.of_other_devices) {
        for (const std::shared_ptr<Compiled>& each : compiled) add(each->program.get());
    }
    return programs;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    JitObject* const self = self_of(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->function);
    Py_VISIT(self->text);
    Py_VISIT(self->around);
    Py_VISIT(self->dict);
    for (const Program* program : programs_of(*self->state)) {
        for (const Guard& guard : program->guards) {
            Py_VISIT(guard.holder.ptr());
            Py_VISIT(guard.name.ptr());
            Py_VISIT(guard.value.ptr());
        }
        for (const DescribedFunction& each : program->described) {
            Py_VISIT(each.function.ptr());
            Py_VISIT(each.code.ptr());
            Py_VISIT(each.defaults.ptr());
            Py_VISIT(each.keyword_defaults.ptr());
        }
        for (const auto& [symbol, type] : program->classes) Py_VISIT(type.ptr());
        Py_VISIT(program->defaults.ptr());
        for (const nb::object& global : program->globals) Py_VISIT(global.ptr());
    }
    return 0;
}

int clear(PyObject* object) {
    JitObject* const self = self_of(object);
    Py_CLEAR(self->function);
    Py_CLEAR(self->text);
    Py_CLEAR(self->around);
    Py_CLEAR(self->dict);
    self->state->program = nullptr;
    self->state->functions.clear();
    self->state->compiled.clear();
    self->state->of_other_devices.clear();
    self->state->refusals.clear();
    return 0;
}

void dealloc(PyObject* object) {
    JitObject* const self = self_of(object);
    PyObject_GC_UnTrack(object);
    if (self->weak_references != nullptr) PyObject_ClearWeakRefs(object);
    clear(object);
    delete self->state;
    PyTypeObject* const type = Py_TYPE(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

PyObject* get(PyObject* self, PyObject* instance, PyObject*) {
    if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
    return guarded([&] {
        return nb::module_::import_("types")
            .attr("MethodType")(nb::handle(self), nb::handle(instance))
            .release()
            .ptr();
    });
}

PyObject* repr(PyObject* object) {
    return guarded([&] {
        return nb::str("<compiled function {}>")
            .format(nb::handle(self_of(object)->function).attr("__qualname__"))
            .release()
            .ptr();
    });
}

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(JitObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(JitObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(JitObject, weak_references), READONLY, nullptr},
    {"py_func", T_OBJECT, offsetof(JitObject, function), READONLY, "The Python function."},
    {"_text", T_OBJECT, offsetof(JitObject, text), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

JitObject* checked_jit_function(nb::handle object) {
    if (Py_TYPE(object.ptr()) != jit_type) throw TypeError("expected a compiled function");
    return self_of(object.ptr());
}

bool is_current(nb::handle jit_function) {
    const State& state = *checked_jit_function(jit_function)->state;
    return state.program == nullptr || (state.program->is_current() && state.functions.is_current());
}

namespace {

// A default that is part of the code is told by its value.
std::string signature_of(const State& state, const jit::Specialisation& code) {
    std::string text = "(";
    for (size_t i = 0; i < code.arguments.size(); ++i) {
        text += i > 0 ? ", " : "";
        if (lang::is_constant(code.arguments[i]) && state.defaults[i].is_valid()) {
            text += state.parameters[i] + "=" + text_of(nb::repr(state.defaults[i]));
        } else if (code.gpu != nullptr && i == 1 && lang::is_constant(code.arguments[i])) {
            for (size_t axis = 0; axis < 3; ++axis)  // of a block that it is for
                text += (axis == 0 ? "(" : ", ") + std::to_string(code.gpu->block[axis]);
            text += ")";
        } else {
            text += lang::describe(code.arguments[i]);
        }
    }
    return text + ") -> " + lang::describe(code.result);
}

// The kernel IR for arguments, given by their places, and the exceptions of its sites; no machine code is
// made.
nb::tuple lowered(nb::handle function, const nb::tuple& given, bool of_numbers) {
    JitObject* const self = checked_jit_function(function);
    refresh(self);
    const State& state = *self->state;
    std::vector<PyObject*> objects;
    for (nb::handle each : given) objects.push_back(each.ptr());
    if (objects.size() != state.parameters.size()) throw TypeError("all arguments are needed");
    CallArguments arguments(self->state->functions);
    add_arguments(state, objects, arguments);
    const CallTypes signature = types_of_call(state, *state.program, arguments, false);
    const jit::KernelText made =
        jit::kernel_text(state.program->entry(), signature.types, state.options, signature.globals);
    if (of_numbers && !made.gives_numbers)
        throw TypeError(state.program->entry().name + "() gives " + made.result +
                        ", which is no element of an array: return numbers");
    nb::list exceptions;
    for (const std::string& each : made.exceptions) exceptions.append(each.c_str());
    return nb::make_tuple(made.ir.c_str(), exceptions);
}

nb::dict texts_of(nb::handle function, const std::string& kind) {
    nb::dict texts;
    const State& state = *checked_jit_function(function)->state;
    std::vector<std::pair<std::string, std::shared_ptr<const jit::Specialisation>>> compiled;
    for (const std::shared_ptr<Compiled>& each : state.compiled)
        compiled.emplace_back(signature_of(state, *each->code), each->code);
    for (const auto& [signature, code] : compiled) {
        std::string text = code->ir;
        if (kind != "ir") {
            const GilRelease release;  // others may compile meanwhile
            const jit::Specialisation::Texts made = code->texts();
            text = kind == "llvm" ? made.llvm_ir : made.assembly;
        }
        texts[signature.c_str()] = text;
    }
    return texts;
}

// What the code of a kernel takes, by signature: bytes of a block's shared memory, besides what a launch asks
// for, and of each thread's own. Of a GPU the driver tells a thread's, with its registers, and how many
// threads a block may therefore have. Of code for one size of a block it would tell that size.
nb::dict facts_of(nb::handle function) {
    nb::dict all;
    const State& state = *checked_jit_function(function)->state;
    for (const std::shared_ptr<Compiled>& each : state.compiled) {
        const jit::Specialisation& code = *each->code;
        const std::string signature = signature_of(state, code);
        if (all.contains(signature.c_str())) continue;  // arrays that lie otherwise: the last used is told
        nb::dict one;
        one["block_bytes"] = code.block_bytes;
        one["thread_bytes"] = code.thread_bytes;
        if (code.gpu != nullptr) {
            one["thread_bytes"] = code.gpu->local_bytes;
            one["registers"] = code.gpu->registers;
            const auto& block = code.gpu->block;
            one["block"] = nb::make_tuple(block[0], block[1], block[2]);  // zeros: any
            one["most_threads"] = code.gpu->block[0] == 0 ? code.gpu->most_threads
                                                          : jit::most_threads_with(code.gpu->registers);
        }
        all[signature.c_str()] = one;
    }
    return all;
}

// Of the code of a signature for a GPU.
int64_t most_blocks_together(nb::handle function, const std::string& signature, int64_t threads,
                             int64_t dynamic_bytes) {
    const State& state = *checked_jit_function(function)->state;
    for (const std::shared_ptr<Compiled>& each : state.compiled) {
        if (each->code->gpu != nullptr && signature_of(state, *each->code) == signature)
            return jit::most_blocks_together(*each->code->gpu, threads, dynamic_bytes);
    }
    throw ValueError("nothing is compiled for " + signature);
}

std::string explain(nb::handle function) {
    std::string text;
    const State& state = *checked_jit_function(function)->state;
    for (const std::shared_ptr<Compiled>& each : state.compiled) {
        if (!text.empty()) text += "\n";
        text += each->program->entry().name + signature_of(state, *each->code) + "\n" + each->code->explain();
    }
    return text.empty() ? "nothing is compiled yet: call the function" : text;
}

PyObject* get_signatures(PyObject* self, void*) {
    return guarded([&] {
        nb::list all;
        const State& state = *self_of(self)->state;
        for (const std::shared_ptr<Compiled>& each : state.compiled)
            all.append(signature_of(state, *each->code).c_str());
        return all.release().ptr();
    });
}

// Calls, compilations and where the code came from, by signature.
PyObject* get_fastmath(PyObject* self, void*) {
    return PyBool_FromLong(self_of(self)->state->fast_math ? 1 : 0);
}

PyObject* get_stats(PyObject* self, void*) {
    return guarded([&] {
        nb::dict all;
        const State& state = *self_of(self)->state;
        for (const std::shared_ptr<Compiled>& each : state.compiled) {
            nb::dict one;
            one["calls"] = each->calls;
            one["compile_seconds"] = each->code->all_compile_seconds() +
                                     (each->overlap != nullptr ? each->overlap->all_compile_seconds() : 0);
            one["from_disk"] = each->code->from_disk;
            one["overlapping_arrays"] = each->overlap != nullptr;
            all[signature_of(state, *each->code).c_str()] = one;
        }
        return all.release().ptr();
    });
}

PyObject* reduce(PyObject* self, PyObject*) {
    return guarded([&] {
        return nb::module_::import_(modules::kJitPickling).attr("reduce")(nb::handle(self)).release().ptr();
    });
}

// A function is its own copy, as Python's are.
PyObject* same(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyMethodDef kMethods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__copy__", same, METH_NOARGS, nullptr},
    {"__deepcopy__", same, METH_O, nullptr},
    {"_call", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call_directly)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef kAttributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"_fastmath", get_fastmath, nullptr, nullptr, nullptr},
    {"signatures", get_signatures, nullptr, "The signatures that were compiled, the last used first.",
     nullptr},
    {"stats", get_stats, nullptr,
     "By signature: calls, seconds of compilation up to now, whether an earlier process compiled it, and "
     "whether overlapping arrays needed a variant.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void bind_jit(nb::module_& m) {
    seconds_of_ticks(0);  // learns from now on
    std::vector<PyType_Slot> slots = {
        {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
        {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(clear)},
        {Py_tp_descr_get, reinterpret_cast<void*>(get)},
        {Py_tp_repr, reinterpret_cast<void*>(repr)},
        {Py_tp_methods, kMethods},
        {Py_tp_members, kMembers},
        {Py_tp_getset, kAttributes},
    };
    jit_type =
        make_type(m, "JitFunction", sizeof(JitObject),
                  Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC, slots);
    nb::handle type(reinterpret_cast<PyObject*>(jit_type));
    nb::setattr(type, "_is_weft_jit", nb::bool_(true));
    m.def("_begin_collection", [] { jit::begin_collection(); });
    m.def("_end_collection", [] {
        nb::list texts;
        for (const std::string& text : jit::end_collection())
            texts.append(nb::str(text.c_str(), text.size()));
        return texts;
    });
    m.def("_pack_of_shared", [](const nb::list& given, bool of_host) {
        std::set<std::string> texts;
        for (const nb::handle text : given) texts.insert(nb::cast<std::string>(text));
        std::string bytes;
        {
            const nb::gil_scoped_release release;
            bytes = jit::pack_of_shared(texts, of_host);
        }
        return nb::bytes(bytes.data(), bytes.size());
    });
    m.def(
        "_jit_function",
        [](nb::handle function, nb::handle text, bool boundscheck, bool error_model_python, bool fastmath,
           bool nogil, bool parallel, bool cache, bool prefers_numpy, nb::handle around, bool widens_floats,
           bool is_kernel, bool for_gpu, bool tells_accesses, bool lineinfo, const nb::tuple& limits) {
            auto* const object = PyObject_GC_New(JitObject, jit_type);
            if (object == nullptr) throw_python_error();
            object->call = call_jit_function;
            object->function = Py_NewRef(function.ptr());
            object->text = Py_NewRef(text.ptr());
            object->around = around.is_none() ? nullptr : Py_NewRef(around.ptr());
            object->dict = nullptr;
            object->weak_references = nullptr;
            object->state = new State;
            object->state->options.semantics.check_bounds = boundscheck;
            object->state->options.semantics.check_division = error_model_python;
            object->state->options.semantics.parallel = parallel;
            object->state->options.semantics.widens_floats = widens_floats;
            object->state->options.semantics.is_kernel = is_kernel;
            object->state->options.semantics.for_gpu = for_gpu;
            object->state->options.semantics.tells_accesses = tells_accesses;
            object->state->options.semantics.tells_lines = for_gpu && lineinfo;
            object->state->options.most_registers = nb::cast<int>(limits[0]);
            object->state->options.most_threads = nb::cast<int>(limits[1]);
            object->state->options.blocks_at_once = nb::cast<int>(limits[2]);
            object->state->options.is_fast = fastmath;
            object->state->fast_math = fastmath;
            object->state->options.is_kept = cache;
            object->state->nogil = nogil;
            object->state->prefers_numpy = prefers_numpy;
            PyObject_GC_Track(object);
            return nb::steal(reinterpret_cast<PyObject*>(object));
        },
        arg("function"), arg("text"), nb::arg("boundscheck"), nb::arg("check_division"), nb::arg("fastmath"),
        nb::arg("nogil"), nb::arg("parallel"), nb::arg("cache"), nb::arg("prefers_numpy") = false,
        nb::arg("around") = nb::none(), nb::arg("widens_floats") = false, nb::arg("is_kernel") = false,
        nb::arg("for_gpu") = false, nb::arg("tells_accesses") = false, nb::arg("lineinfo") = false,
        nb::arg("limits") = nb::make_tuple(0, 0, 0));
    method(
        jit_type, "_compile",
        [](nb::handle self, const nb::tuple& given) {
            try {
                return compile_for(checked_jit_function(self), given);
            } catch (const lang::CompileError& error) {
                set_error_of_compilation(error);
                throw_python_error();
            }
        },
        nb::arg("arguments"));
    method(
        jit_type, "_recompile",
        [](nb::handle self, bool fastmath) {
            State& state = *checked_jit_function(self)->state;
            state.fast_math = fastmath;
            state.program = nullptr;  // the next call compiles
        },
        nb::arg("fastmath"));
    method(
        jit_type, "inspect_ir", [](nb::handle self) { return texts_of(self, "ir"); },
        "The kernel IR of each signature, as a dict.");
    method(
        jit_type, "_lowered",
        [](nb::handle self, const nb::tuple& given, bool of_numbers) {
            try {
                return lowered(self, given, of_numbers);
            } catch (const lang::CompileError& error) {
                set_error_of_compilation(error);
                throw_python_error();
            }
        },
        nb::arg("arguments"), nb::arg("of_numbers") = false);
    method(
        jit_type, "inspect_llvm", [](nb::handle self) { return texts_of(self, "llvm"); },
        "LLVM's IR of each signature after its passes, as a dict.");
    method(
        jit_type, "inspect_asm", [](nb::handle self) { return texts_of(self, "asm"); },
        "The machine code of each signature, as assembly, as a dict.");
    method(jit_type, "_kernel_facts", facts_of);
    method(jit_type, "_most_blocks_together", most_blocks_together, nb::arg("signature"), nb::arg("threads"),
           nb::arg("dynamic_bytes"));
    method(
        jit_type, "explain", [](nb::handle self) { return explain(self); },
        "What was compiled: signatures, times, and which indices are checked where, by the lines of the "
        "function.");
}

}  // namespace weft::python
