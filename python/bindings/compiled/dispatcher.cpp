// Calls of what weft.jit makes of a function: a call finds the code for the types of its arguments, or
// compiles it.
#include "compiled/dispatcher.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
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
#include "compiled/generators.h"
#include "compiled/kernels/gpu_launch.h"
#include "compiled/linked_parts.h"
#include "compiled/program.h"
#include "compiled/results.h"
#include "compiled/running.h"
#include "convert/foreign_buffer.h"
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

namespace {

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

}  // namespace

CallTypes types_of_call(const State& state, const Program& program, const CallArguments& arguments,
                        bool may_overlap) {
    const std::vector<nb::object> objects = globals_of(state, program, arguments);
    CallTypes signature;
    signature.types = CallArguments::types_of(arguments.key(), state.parameters.size() + objects.size(),
                                              may_overlap, state.functions);
    for (size_t i = 0; i < objects.size(); ++i)
        signature.globals.push_back({objects[i].ptr(), signature.types[state.parameters.size() + i]});
    signature.types.resize(state.parameters.size());
    return signature;
}

std::shared_ptr<const jit::Specialisation> compile_code(JitObject* self,
                                                        const std::shared_ptr<const Program>& program,
                                                        const CallArguments& arguments, bool may_overlap) {
    State& state = *self->state;
    const CallTypes signature = types_of_call(state, *program, arguments, may_overlap);
    jit::Options options = state.options;
    if (options.semantics.for_gpu) options.linked = linked_parts(*program);
    options.semantics.has_externals = options.linked != nullptr;
    options.in_two_steps = arguments.generators().empty();
    std::shared_ptr<const jit::Specialisation> code;
    try {
        const GilRelease release;
        code = jit::compile(program->entry(), signature.types, options, signature.globals);
    } catch (const CompileError& error) {  // of CUDA C++ that is linked
        set_error_of_source(error);
        throw_python_error();
    }
    ++state.compilations;
    return code;
}

namespace {

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

}  // namespace

std::shared_ptr<Compiled> find_code(JitObject* self, const CallArguments& arguments) {
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
    made->code = compile_code(self, made->program, arguments, false);
    made->gives_generators = has_generator(made->code->result);
    if (made->program == state.program) state.compiled.insert(state.compiled.begin(), made);
    return made;
}

namespace {

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

}  // namespace

void refresh(JitObject* self) {
    if (self->state->program == nullptr || !self->state->program->is_current() ||
        !self->state->functions.is_current())
        take_program(self);
}

void add_arguments(const State& state, Given given, CallArguments& arguments, lang::TypeRef block) {
    add_given(state, given, arguments, block);
    if (!state.program->globals.empty() || !arguments.functions().empty()) {
        size_t place = given.size();
        for (const nb::object& object : globals_of(state, *state.program, arguments))
            arguments.add_global(object.ptr(), place++, state.program->entry().name);
    }
    arguments.finish();
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

namespace {

nb::object run(JitObject* self, PyObject* const* given, size_t count, PyObject* names) {
    PyObject* const* const first = given;
    const size_t positional = count;
    refresh(self);
    State& state = *self->state;
    if (state.options.semantics.for_gpu) {
        LaunchPlan plan;
        return launch_on_gpu(self, {given, count}, plan);
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
        add_arguments(state, {given, count}, *added);
    } catch (const SharesStorage&) {
        added.emplace(state.functions, /*whole_storages=*/true);
        add_arguments(state, {given, count}, *added);
    }
    CallArguments& arguments = *added;
    if (state.prefers_numpy) arguments.prefer_numpy();
    std::shared_ptr<Compiled> compiled;
    try {
        compiled = find_code(self, arguments);
    } catch (const lang::CompileError&) {
        if (!state.functions.know_all_texts()) throw;
        return run(self, first, positional, names);
    }
    const jit::Specialisation* code = compiled->code.get();
    // What a generator writes is not known yet.
    const bool overlaps = compiled->gives_generators
                              ? arguments.overlaps(std::vector<bool>(code->written.size(), true))
                              : arguments.overlaps(code->written);
    if (overlaps) [[unlikely]] {
        if (compiled->overlap == nullptr)
            compiled->overlap = compile_code(self, compiled->program, arguments, true);
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
        status = code->run(arguments.words().data(), results);
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

}  // namespace

PyObject* call_directly(PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    return guarded([&]() -> PyObject* {
        try {
            return run(self_of(object), arguments, static_cast<size_t>(count), names).release().ptr();
        } catch (const lang::CompileError& error) {
            set_error_of_compilation(error);
            return nullptr;
        }
    });
}

PyObject* call_jit_function(PyObject* object, PyObject* const* arguments, size_t flags, PyObject* names) {
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject* const around = self_of(object)->around;
    if (around == nullptr) [[likely]]
        return call_directly(object, arguments, count, names);
    std::vector<PyObject*> all = {object};
    all.insert(all.end(), arguments, arguments + count + (names == nullptr ? 0 : PyTuple_Size(names)));
    return PyObject_Vectorcall(around, all.data(), static_cast<size_t>(count) + 1, names);
}

nb::object compile_for(JitObject* self, const nb::tuple& given) {
    refresh(self);
    State& state = *self->state;
    std::vector<PyObject*> objects, bound;
    for (nb::handle each : given) objects.push_back(each.ptr());
    nb::object rest;
    bind_arguments(state, objects.data(), objects.size(), nullptr, bound, rest);
    if (state.options.semantics.for_gpu) return compile_on_gpu(self, bound);
    CallArguments arguments(state.functions);
    add_arguments(state, bound, arguments);
    find_code(self, arguments);
    return nb::none();
}

void set_error_of_compilation(const lang::CompileError& error) {
    const nb::object type = nb::module_::import_(modules::kJit).attr("CompileError");
    PyErr_SetString(type.ptr(), error.what());
}

}  // namespace weft::python
