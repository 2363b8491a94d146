// What the parts of compiled functions share: the object that weft.jit makes of a function, and how the code
// for given arguments is found. dispatcher.cpp has calls, jit_function.cpp the type and what it tells,
// kernels/gpu_launch.cpp launches on GPUs.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiled/arguments.h"
#include "compiled/program.h"
#include "compiled/running.h"
#include "jit/gpu_kernel.h"
#include "jit/specialisation.h"
#include "lang/errors/diagnostics.h"
#include "lang/types.h"
#include "module.h"

namespace weft::python {

struct Compilation;  // that a thread runs

/// Used under the GIL.
struct State {
    GivenFunctions functions;
    std::shared_ptr<const Program> program;
    std::vector<std::string> parameters;
    std::vector<bool> keyword_only;
    bool has_keyword_only = false;
    std::optional<size_t> rest;                       // the parameter *args
    std::vector<nb::object> defaults;                 // by parameter; null where there is none
    std::vector<lang::TypeRef> constants;             // of those, null where the value is no part of the type
    std::vector<std::shared_ptr<Compiled>> compiled;  // the last used first
    std::vector<std::shared_ptr<Compilation>> running;
    std::vector<nb::object> names;  // of parameters
    jit::Options options;
    bool fast_math = false;
    bool nogil = false;
    bool prefers_numpy = false;
    int64_t compilations = 0;
    // Of kernels on GPUs: what is compiled for other devices than the last one's.
    std::map<DeviceBackend*, std::vector<std::shared_ptr<Compiled>>> of_other_devices;
    std::vector<std::array<int64_t, 3>> block_sizes;        // that there is code for
    std::map<std::vector<uint64_t>, std::string> refusals;  // why there is nothing for a GPU, by key
};

struct JitObject {
    PyObject_HEAD;
    vectorcallfunc call;
    PyObject* function;
    PyObject* text;    // what was captured at decoration
    PyObject* around;  // null, or what calls go through: around(self, *arguments) calls self._call(...)
    PyObject* dict;
    PyObject* weak_references;
    State* state;
};

inline JitObject* self_of(PyObject* object) { return reinterpret_cast<JitObject*>(object); }

/// Throws TypeError for another object.
JitObject* checked_jit_function(nb::handle object);

/// What a call gives, by parameter. Null is a constant that it leaves out; all others are borrowed.
using Given = std::span<PyObject* const>;

/// Describes the function again where the program has changed what it read.
void refresh(JitObject* self);

/// Adds what a call gives, and global arrays. `block`: what a launch has in place of its second argument, or
/// null.
void add_arguments(const State& state, Given given, CallArguments& arguments, lang::TypeRef block = nullptr);

/// The types of a call's arguments, as code is compiled for.
struct CallTypes {
    std::vector<lang::TypeRef> types;
    std::vector<lang::GlobalArgument> globals;
};
CallTypes types_of_call(const State& state, const Program& program, const CallArguments& arguments,
                        bool may_overlap);

/// The code for arguments, which is compiled where there is none.
std::shared_ptr<Compiled> find_code(JitObject* self, const CallArguments& arguments);

/// Compiles, whether there is code or not.
std::shared_ptr<const jit::Specialisation> compile_code(JitObject* self,
                                                        const std::shared_ptr<const Program>& program,
                                                        const CallArguments& arguments, bool may_overlap);

/// Of a launcher's arguments.
jit::LaunchSizes launch_sizes(Given given);

/// A vectorcall: goes through `around`, or calls directly.
PyObject* call_jit_function(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names);
PyObject* call_directly(PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* names);

/// Compiles for arguments that are like those given, and runs nothing. Gives None, or why nothing is compiled
/// for a GPU.
nb::object compile_for(JitObject* self, const nb::tuple& given);

void set_error_of_compilation(const lang::CompileError& error);

}  // namespace weft::python
