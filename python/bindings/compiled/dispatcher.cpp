// The object that weft.jit makes of a function: a call finds the code for the types of its arguments, or
// compiles it.
#include <nanobind/nanobind.h>

// after Python.h
#include <structmember.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/runtime/grid_blocks.h"
#include "codegen/runtime/heap.h"
#include "codegen/runtime/spread.h"
#include "codegen/runtime/tell.h"
#include "compiled/arguments.h"
#include "compiled/call_record.h"
#include "compiled/dispatcher.h"
#include "compiled/generators.h"
#include "compiled/gpu_arrays.h"
#include "compiled/program.h"
#include "compiled/results.h"
#include "compiled/running.h"
#include "convert/foreign_buffer.h"
#include "device/device.h"
#include "execution/fallback.h"
#include "graph/storage.h"
#include "jit/gpu_kernel.h"
#include "jit/specialisation.h"
#include "lang/errors/argument_errors.h"
#include "lang/errors/diagnostics.h"
#include "lang/exceptions/classes.h"
#include "module.h"
#include "package.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

// Types that a thread compiles for, without the GIL: others that call with them wait.
struct Compilation {
    explicit Compilation(std::vector<uint64_t> of) : key(std::move(of)) {}

    std::vector<uint64_t> key;
    pid_t process = getpid();  // the child of a fork has nobody who compiles
    std::mutex mutex{};
    std::condition_variable ended{};
    bool is_over = false;

    void wait() {
        const GilRelease release;
        std::unique_lock lock(mutex);
        ended.wait(lock, [&] { return is_over; });
    }
    void end() {
        {
            const std::lock_guard lock(mutex);
            is_over = true;
        }
        ended.notify_all();
    }
};

// Used under the GIL.
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

JitObject* self_of(PyObject* object) { return reinterpret_cast<JitObject*>(object); }

PyTypeObject* jit_type = nullptr;

void set_compile_error(const lang::CompileError& error) {
    const nb::object type = nb::module_::import_(modules::kJit).attr("CompileError");
    PyErr_SetString(type.ptr(), error.what());
}

// --- what a call does -----------------------------------------------------------------------------------

void take_program(JitObject* self) {
    State& state = *self->state;
    state.program = make_program(nb::handle(self->function), nb::handle(self->text), state.fast_math);
    state.compiled.clear();
    state.of_other_devices.clear();
    state.refusals.clear();
    state.functions.clear();
    state.has_keyword_only = false;
    state.rest.reset();
    state.parameters.clear();
    state.keyword_only.clear();
    state.defaults.clear();
    state.constants.clear();
    state.names.clear();
    const lang::Tree& tree = state.program->entry().tree;
    size_t given = 0;
    for (lang::NodeId id : tree.parameters()) {
        const lang::Node& node = tree[id];
        state.parameters.push_back(node.atoms[0]);
        state.names.push_back(nb::steal(PyUnicode_InternFromString(node.atoms[0].c_str())));
        if (node.kind == lang::NodeKind::kRest) state.rest = state.parameters.size() - 1;
        state.has_keyword_only |= node.kind == lang::NodeKind::kRest ||
                                  node.kind == lang::NodeKind::kKeyword ||
                                  node.kind == lang::NodeKind::kKeywordDefault;
        state.keyword_only.push_back(node.kind == lang::NodeKind::kKeyword ||
                                     node.kind == lang::NodeKind::kKeywordDefault);
        const bool has_default =
            node.kind == lang::NodeKind::kDefault || node.kind == lang::NodeKind::kKeywordDefault;
        state.defaults.push_back(has_default ? nb::object(state.program->defaults[given++]) : nb::object());
        state.constants.push_back(has_default ? type_of_constant_default(state.defaults.back()) : nullptr);
    }
}

// What a call gives, by parameter. Null is a constant that it leaves out; all others are borrowed.
using Given = std::span<PyObject* const>;

// The arguments in the order of the parameters, with CPython's errors.
void bind_arguments(const State& state, PyObject* const* arguments, size_t count, PyObject* names,
                    std::vector<PyObject*>& bound, nb::object& rest) {
    const std::string& function = state.program->entry().name;
    const size_t total = state.parameters.size();
    const size_t positional =
        state.rest
            ? *state.rest
            : static_cast<size_t>(std::count(state.keyword_only.begin(), state.keyword_only.end(), false));
    if (count > positional && state.rest) {
        rest = steal_or_throw(PyTuple_New(static_cast<Py_ssize_t>(count - positional)));
        for (size_t i = positional; i < count; ++i)
            PyTuple_SetItem(rest.ptr(), static_cast<Py_ssize_t>(i - positional), Py_NewRef(arguments[i]));
    } else if (state.rest) {
        rest = nb::tuple();
    }
    bound.assign(total, nullptr);
    std::copy_n(arguments, std::min(count, positional), bound.begin());
    if (state.rest) bound[*state.rest] = rest.ptr();
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
    size_t keyword_only = 0;
    for (Py_ssize_t k = 0; k < named; ++k) {
        PyObject* const name = PyTuple_GetItem(names, k);
        size_t at = 0;
        while (at < total && (at == state.rest || (state.names[at].ptr() != name &&
                                                   PyUnicode_Compare(state.names[at].ptr(), name) != 0)))
            ++at;
        if (at == total) throw TypeError(lang::unexpected_keyword(function, text_of(nb::handle(name))));
        if (bound[at] != nullptr) throw TypeError(lang::multiple_values(function, state.parameters[at]));
        bound[at] = arguments[count + static_cast<size_t>(k)];
        keyword_only += state.keyword_only[at] ? 1 : 0;
    }
    if (count > positional && !state.rest) {
        const auto defaults =
            std::count_if(state.defaults.begin(), state.defaults.begin() + static_cast<ptrdiff_t>(positional),
                          [](const nb::object& value) { return value.is_valid(); });
        throw TypeError(lang::too_many_arguments(function, positional - static_cast<size_t>(defaults),
                                                 positional, count, keyword_only));
    }
    lang::MissingArguments missing;
    for (size_t i = 0; i < total; ++i) {
        if (bound[i] != nullptr || state.constants[i] != nullptr) continue;
        bound[i] = state.defaults[i].ptr();
        if (bound[i] == nullptr) missing.add(state.parameters[i], state.keyword_only[i]);
    }
    if (!missing.empty()) throw TypeError(missing.message(function));
}

// The global arrays of a program, and of the functions among the arguments of a call.
std::vector<nb::object> globals_of(const State& state, const Program& program,
                                   const CallArguments& arguments) {
    std::vector<nb::object> all = program.globals;
    for (uint64_t number : arguments.functions()) {
        for (const nb::object& object : state.functions.program(number).globals) {
            const auto same = [&](const nb::object& other) { return other.is(object); };
            if (std::none_of(all.begin(), all.end(), same)) all.push_back(object);
        }
    }
    return all;
}

// Holds the locks of the Generators among the arguments.
class StreamLocks {
public:
    explicit StreamLocks(const CallArguments& arguments) {
        for (const auto& [stream, generator] : arguments.generators()) {
            nb::object lock = generator.attr("bit_generator").attr("lock");
            lock.attr("acquire")();
            held_.push_back(std::move(lock));
        }
    }
    StreamLocks(const StreamLocks&) = delete;
    StreamLocks& operator=(const StreamLocks&) = delete;
    ~StreamLocks() {
        PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
        PyErr_Fetch(&type, &value, &trace);
        for (const nb::object& lock : held_) {
            PyObject* const released = PyObject_CallMethod(lock.ptr(), "release", nullptr);
            if (released == nullptr) PyErr_Clear();
            Py_XDECREF(released);
        }
        PyErr_Restore(type, value, trace);
    }

private:
    std::vector<nb::object> held_;
};

struct Signature {
    std::vector<lang::TypeRef> types;
    std::vector<lang::GlobalArgument> globals;
};

Signature types_of(const State& state, const Program& program, const CallArguments& arguments,
                   bool may_overlap) {
    const std::vector<nb::object> objects = globals_of(state, program, arguments);
    Signature signature;
    signature.types = CallArguments::types_of(arguments.key(), state.parameters.size() + objects.size(),
                                              may_overlap, state.functions);
    for (size_t i = 0; i < objects.size(); ++i)
        signature.globals.push_back({objects[i].ptr(), signature.types[state.parameters.size() + i]});
    signature.types.resize(state.parameters.size());
    return signature;
}

std::shared_ptr<const jit::Specialisation> compile(JitObject* self,
                                                   const std::shared_ptr<const Program>& program,
                                                   const CallArguments& arguments, bool may_overlap) {
    State& state = *self->state;
    const Signature signature = types_of(state, *program, arguments, may_overlap);
    const jit::Options options = state.options;
    std::shared_ptr<const jit::Specialisation> code;
    {
        const GilRelease release;
        code = jit::compile(program->entry(), signature.types, options, signature.globals);
    }
    ++state.compilations;
    return code;
}

bool is_of(const std::vector<uint64_t>& key, const CallArguments& arguments) {
    return std::equal(key.begin(), key.end(), arguments.key().begin(), arguments.key().end());
}

std::shared_ptr<Compiled> known(State& state, const CallArguments& arguments) {
    for (size_t i = 0; i < state.compiled.size(); ++i) {
        if (!is_of(state.compiled[i]->key, arguments)) continue;
        if (i > 0) std::swap(state.compiled[i], state.compiled[0]);
        return state.compiled[0];
    }
    return nullptr;
}

std::shared_ptr<Compiled> find(JitObject* self, const CallArguments& arguments) {
    State& state = *self->state;
    for (;;) {
        if (std::shared_ptr<Compiled> found = known(state, arguments)) return found;
        const auto running = std::find_if(state.running.begin(), state.running.end(), [&](const auto& each) {
            return each->process == getpid() && is_of(each->key, arguments);
        });
        if (running == state.running.end()) break;
        std::shared_ptr(*running)->wait();
    }
    auto made = std::make_shared<Compiled>();
    made->key.assign(arguments.key().data(), arguments.key().data() + arguments.key().size());
    struct Running {
        State& state;
        std::shared_ptr<Compilation> compilation;

        ~Running() {
            std::erase(state.running, compilation);
            compilation->end();
        }
    };
    const Running running{state, std::make_shared<Compilation>(made->key)};
    state.running.push_back(running.compilation);
    made->program = state.program;
    made->given = state.functions.programs();
    made->code = compile(self, made->program, arguments, false);
    made->gives_generators = has_generator(made->code->result);
    if (made->program == state.program) state.compiled.insert(state.compiled.begin(), made);
    return made;
}

void add_given(const State& state, Given given, CallArguments& arguments, lang::TypeRef block = nullptr) {
    const std::string& name = state.program->entry().name;
    for (size_t i = 0; i < given.size(); ++i) {
        if (i == 1 && block != nullptr) {
            arguments.add_constant(block);
        } else if (given[i] == nullptr) {
            arguments.add_constant(state.constants[i]);
        } else {
            arguments.add(given[i], i, name, state.parameters[i]);
        }
    }
}

// A call whose result is or has generators, which keep its arguments and its memory.
nb::object run_generators(JitObject* self, const std::shared_ptr<Compiled>& compiled,
                          const jit::Specialisation* code, Given given) {
    State& state = *self->state;
    const auto call = std::make_shared<KeptCall>(state.functions, compiled, state.options);
    if (state.prefers_numpy) call->arguments.prefer_numpy();
    for (PyObject* object : given) call->objects.push_back(nb::borrow(object));
    add_given(state, given, call->arguments);
    call->own_words = call->arguments.words().size();
    const std::vector<nb::object> objects = globals_of(state, *state.program, call->arguments);
    for (const nb::object& object : objects) {
        call->objects.push_back(object);
        call->arguments.add_global(object.ptr(), call->objects.size() - 1, state.program->entry().name);
    }
    const std::vector<lang::TypeRef> types = CallArguments::types_of(
        call->arguments.key(), call->objects.size(), code == compiled->overlap.get(), state.functions);
    for (size_t i = 0; i < objects.size(); ++i)
        call->globals.push_back({objects[i].ptr(), types[given.size() + i]});
    return run_keeping(call, *code, state.nogil);
}

void refresh(JitObject* self) {
    if (self->state->program == nullptr || !self->state->program->is_current() ||
        !self->state->functions.is_current())
        take_program(self);
}

// `block`: what a launch has in place of its second argument, or null.
void add_all(const State& state, Given given, CallArguments& arguments, lang::TypeRef block = nullptr) {
    add_given(state, given, arguments, block);
    if (!state.program->globals.empty() || !arguments.functions().empty()) {
        size_t place = given.size();
        for (const nb::object& object : globals_of(state, *state.program, arguments))
            arguments.add_global(object.ptr(), place++, state.program->entry().name);
    }
    arguments.finish();
}

nb::object refuse(DeviceBackend& device, const std::string& reason) {
    record_fallback(device, reason.c_str(), 0);
    return nb::str(reason.c_str());
}

jit::LaunchSizes launch_sizes(Given given) {
    const auto axes = [](PyObject* sizes) {
        std::array<int64_t, 3> all{};
        for (size_t axis = 0; axis < all.size(); ++axis)
            all[axis] = PyLong_AsLongLong(PyTuple_GetItem(sizes, static_cast<Py_ssize_t>(axis)));
        return all;
    };
    return {axes(given[0]), axes(given[1]), PyLong_AsLongLong(given[2])};
}

// What a launch may have to tell of later, on whatever thread. It has Python's objects.
LaunchErrorThrower thrower_of(const std::shared_ptr<Compiled>& compiled,
                              const std::shared_ptr<const jit::Specialisation>& code) {
    struct Kept {
        std::shared_ptr<Compiled> compiled;
        std::shared_ptr<const jit::Specialisation> code;
    };
    const std::shared_ptr<const Kept> kept(new Kept{compiled, code}, [](const Kept* each) {
        if (!may_take_gil()) return;
        const GilAcquire acquire;
        delete each;
    });
    return [kept](const LaunchError& error) {
        const GilAcquire acquire;
        if (error.status == codegen::kStopped)
            throw RuntimeError(
                kept->code->name +
                "(): the first thread of a block ended before the grid's barrier, to which all "
                "threads of a grid must come on a GPU");
        const uint32_t site = lang::site_of_error(static_cast<uint32_t>(error.status - 1));
        if (site >= kept->code->sites.size()) throw RuntimeError("a kernel has failed without a reason");
        raise(*kept->compiled, kept->code->sites[site], error.values);
    };
}

// The sizes of a block as constants, with which indices of threads are known to be in bounds; null where
// there is code for many sizes already.
lang::TypeRef type_of_block(State& state, const std::array<int64_t, 3>& block) {
    constexpr size_t kMost = 8;
    if (std::find(state.block_sizes.begin(), state.block_sizes.end(), block) == state.block_sizes.end()) {
        if (state.block_sizes.size() >= kMost) return nullptr;
        state.block_sizes.push_back(block);
    }
    std::vector<lang::TypeRef> axes;
    for (const int64_t size : block)
        axes.push_back(lang::literal_type(Constant::of(ScalarType::kInt64, size)));
    return lang::tuple_type(std::move(axes));
}

// A kernel of a GPU: (sizes of the grid, sizes of a block, bytes, the kernel's own arguments...). Gives None,
// or, where nothing is done since GPUs have not what it needs, the reason.
nb::object launch(JitObject* self, Given given, LaunchPlan& plan) {
    constexpr size_t kOwn = 3;
    refresh(self);
    State& state = *self->state;
    GpuArrays arrays(device_of_launch(given.subspan(kOwn)));
    if (DeviceBackend* const device = &arrays.device(); state.options.device != device) {
        if (state.options.device != nullptr)
            state.of_other_devices[state.options.device] = std::move(state.compiled);
        state.compiled = std::move(state.of_other_devices[device]);
        state.options.device = device;
    }
    if (!plan.is_known) {
        plan.sizes = launch_sizes(given);
        plan.block = type_of_block(state, plan.sizes.block);
        plan.is_known = true;
    }
    CallArguments arguments(state.functions);
    arguments.use_gpu(arrays);
    add_all(state, given, arguments, plan.block);
    if (!arguments.lists().empty() || !arguments.generators().empty())
        return refuse(arrays.device(), "lists and generators cannot be arguments of kernels for GPUs yet");
    const auto key = [&] { return std::vector<uint64_t>(arguments.key().begin(), arguments.key().end()); };
    if (!state.refusals.empty()) [[unlikely]] {
        if (const auto refused = state.refusals.find(key()); refused != state.refusals.end())
            return refuse(arrays.device(), refused->second);
    }
    std::shared_ptr<Compiled> compiled;
    try {
        compiled = find(self, arguments);
    } catch (const NotImplementedError& error) {
        return refuse(arrays.device(), state.refusals[key()] = error.what());
    }
    std::shared_ptr<const jit::Specialisation> code = compiled->code;
    if (arguments.overlaps(code->written)) [[unlikely]] {
        if (compiled->overlap == nullptr)
            compiled->overlap = compile(self, compiled->program, arguments, true);
        code = compiled->overlap;
    }
    ++compiled->calls;
    const CallRecord record;
    {
        const LaunchTurn turn(arrays.device());
        jit::launch(*code->gpu, {arguments.words().data(), arguments.words().size()}, plan.sizes,
                    turn.number());
        LaunchErrorThrower thrower;
        if (!code->sites.empty() || code->meets_grid) thrower = thrower_of(compiled, code);
        arrays.note(code->written, turn.number(), std::move(thrower));
    }
    record.end(*compiled, *code, arguments);
    arrays.finish(code->name, code->written);
    return nb::none();
}

nb::object run(JitObject* self, PyObject* const* given, size_t count, PyObject* names) {
    refresh(self);
    State& state = *self->state;
    if (state.options.semantics.for_gpu) {
        LaunchPlan plan;
        return launch(self, {given, count}, plan);
    }
    std::vector<PyObject*> bound;
    nb::object rest;
    if (names != nullptr || count != state.parameters.size() || state.has_keyword_only) {
        bind_arguments(state, given, count, names, bound, rest);
        given = bound.data();
        count = bound.size();
    }
    std::optional<CallArguments> added(std::in_place, state.functions);
    try {
        add_all(state, {given, count}, *added);
    } catch (const SharesStorage&) {
        added.emplace(state.functions, /*whole_storages=*/true);
        add_all(state, {given, count}, *added);
    }
    CallArguments& arguments = *added;
    if (state.prefers_numpy) arguments.prefer_numpy();
    const std::shared_ptr<Compiled> compiled = find(self, arguments);
    const jit::Specialisation* code = compiled->code.get();
    // What a generator writes is not known yet.
    const bool overlaps = compiled->gives_generators
                              ? arguments.overlaps(std::vector<bool>(code->written.size(), true))
                              : arguments.overlaps(code->written);
    if (overlaps) [[unlikely]] {
        if (compiled->overlap == nullptr)
            compiled->overlap = compile(self, compiled->program, arguments, true);
        code = compiled->overlap.get();
    }
    ++compiled->calls;
    if (compiled->gives_generators && arguments.has_host_copies()) [[unlikely]]
        throw TypeError(state.program->entry().name +
                        "() makes a generator, which does not take arrays on a GPU: give x.to_device('cpu')");
    if (compiled->gives_generators) [[unlikely]]
        return run_generators(self, compiled, code, {given, count});
    std::array<char, 256> few;
    std::vector<char> many;
    char* results = few.data();
    if (code->result_bytes > few.size()) {
        many.resize(code->result_bytes);
        results = many.data();
    }
    std::optional<codegen::HeapFrame> frame;
    if (code->allocates || !arguments.lists().empty()) frame.emplace(allocate_in_pool);
    if (!arguments.lists().empty()) arguments.lists().copy_in(code->arguments, arguments.words().data());
    int64_t status = 0;
    Listening listening{*code};
    std::optional<jit::RaceChecker> races;
    if (state.options.semantics.tells_accesses) {
        const jit::LaunchSizes sizes = launch_sizes({given, count});
        listening.races = &races.emplace(sizes.grid, sizes.block);
    }
    std::optional<StreamLocks> locks;
    if (!arguments.generators().empty()) locks.emplace(arguments);
    const CallRecord record;
    {
        std::optional<codegen::ListenerScope> scope;
        if (code->tells) scope.emplace(&Listening::listen, &listening);
        std::optional<codegen::GridScope> together;
        if (code->meets_grid) together.emplace();
        // Other threads that print would wait for this one for ever.
        const ReleaseGil release(state.nogil || code->tells);
        status = code->function(arguments.words().data(), results);
    }
    record.end(*compiled, *code, arguments);
    if (!arguments.lists().empty()) Results(results, &*frame, &arguments).copy_back(code->written);
    if (arguments.has_host_copies()) [[unlikely]] {
        arguments.host_copies().copy_back(code->written);
        if (status != 0) arguments.host_copies().record();
    }
    throw_error_of(status, listening, *compiled, *code, results);
    nb::object result = Results(results, frame ? &*frame : nullptr, &arguments).next(code->result);
    if (arguments.has_host_copies()) [[unlikely]]
        arguments.host_copies().record();
    return result;
}

PyObject* call_directly(PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    return guarded([&]() -> PyObject* {
        try {
            return run(self_of(object), arguments, static_cast<size_t>(count), names).release().ptr();
        } catch (const lang::CompileError& error) {
            set_compile_error(error);
            return nullptr;
        }
    });
}

PyObject* call(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject* const around = self_of(object)->around;
    if (around == nullptr) [[likely]]
        return call_directly(object, arguments, count, names);
    std::vector<PyObject*> all = {object};
    all.insert(all.end(), arguments, arguments + count + (names == nullptr ? 0 : PyTuple_Size(names)));
    return PyObject_Vectorcall(around, all.data(), static_cast<size_t>(count) + 1, names);
}

// Compiles for arguments that are like those given, and runs nothing.
nb::object compile_for(JitObject* self, const nb::tuple& given) {
    refresh(self);
    State& state = *self->state;
    std::vector<PyObject*> objects, bound;
    for (nb::handle each : given) objects.push_back(each.ptr());
    nb::object rest;
    bind_arguments(state, objects.data(), objects.size(), nullptr, bound, rest);
    CallArguments arguments(state.functions);
    add_all(state, bound, arguments);
    find(self, arguments);
    return nb::none();
}

// --- the type -------------------------------------------------------------------------------------------

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

JitObject* checked(nb::handle object) {
    if (Py_TYPE(object.ptr()) != jit_type) throw TypeError("expected a compiled function");
    return self_of(object.ptr());
}

}  // namespace

nb::object launch_on_gpu(nb::handle launcher, std::span<PyObject* const> given, LaunchPlan& plan) {
    return launch(checked(launcher), given, plan);
}

void set_error_of_compilation(const lang::CompileError& error) { set_compile_error(error); }

bool is_current(nb::handle jit_function) {
    const State& state = *checked(jit_function)->state;
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
    JitObject* const self = checked(function);
    refresh(self);
    const State& state = *self->state;
    std::vector<PyObject*> objects;
    for (nb::handle each : given) objects.push_back(each.ptr());
    if (objects.size() != state.parameters.size()) throw TypeError("all arguments are needed");
    CallArguments arguments(self->state->functions);
    add_all(state, objects, arguments);
    const Signature signature = types_of(state, *state.program, arguments, false);
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
    const State& state = *checked(function)->state;
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

std::string explain(nb::handle function) {
    std::string text;
    const State& state = *checked(function)->state;
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
    m.def(
        "_jit_function",
        [](nb::handle function, nb::handle text, bool boundscheck, bool error_model_python, bool fastmath,
           bool nogil, bool parallel, bool cache, bool prefers_numpy, nb::handle around, bool widens_floats,
           bool is_kernel, bool for_gpu, bool tells_accesses, const nb::tuple& limits) {
            auto* const object = PyObject_GC_New(JitObject, jit_type);
            if (object == nullptr) throw_python_error();
            object->call = call;
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
        nb::arg("for_gpu") = false, nb::arg("tells_accesses") = false,
        nb::arg("limits") = nb::make_tuple(0, 0, 0));
    method(
        jit_type, "_compile",
        [](nb::handle self, const nb::tuple& given) {
            try {
                return compile_for(checked(self), given);
            } catch (const lang::CompileError& error) {
                set_compile_error(error);
                throw_python_error();
            }
        },
        nb::arg("arguments"));
    method(
        jit_type, "_recompile",
        [](nb::handle self, bool fastmath) {
            State& state = *checked(self)->state;
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
                set_compile_error(error);
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
    method(
        jit_type, "explain", [](nb::handle self) { return explain(self); },
        "What was compiled: signatures, times, and which indices are checked where, by the lines of the "
        "function.");
}

}  // namespace weft::python
