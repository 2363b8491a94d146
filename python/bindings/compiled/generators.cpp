#include "compiled/generators.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "codegen/runtime/tell.h"
#include "convert/convert.h"
#include "lang/containers/list_layout.h"
#include "lang/errors/diagnostics.h"
#include "lang/generators/resume.h"
#include "module.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

// Shared by nobody; used under the GIL.
struct Generator {
    std::shared_ptr<KeptCall> call;
    std::shared_ptr<const jit::Specialisation> code;  // what goes on with it
    lang::TypeRef frame = nullptr;                    // the type of its frame, a list of one
    int64_t* head = nullptr;
    bool nogil = false, runs = false;
};

struct GeneratorObject {
    PyObject_HEAD;
    Generator* generator;
};

PyTypeObject* generator_type = nullptr;

bool has_kind(lang::TypeRef type, lang::TypeKind kind) {
    return type->kind == kind || std::any_of(type->parts.begin(), type->parts.end(),
                                             [&](lang::TypeRef part) { return has_kind(part, kind); });
}

// Lists in the frame as arguments' lists, which have small numbers.
lang::TypeRef numbered(lang::TypeRef type, std::map<uint32_t, uint32_t>& numbers) {
    if (type->parts.empty()) return type;
    std::vector<lang::TypeRef> parts;
    for (lang::TypeRef part : type->parts) parts.push_back(numbered(part, numbers));
    if (!lang::is_list(type)) return lang::with_parts(type, std::move(parts));
    const auto number = numbers.try_emplace(type->list, static_cast<uint32_t>(numbers.size())).first->second;
    return lang::list_type(parts[0], number);
}

class Maker final : public GeneratorMaker {
public:
    Maker(std::shared_ptr<KeptCall> call, bool nogil) : call_(std::move(call)), nogil_(nogil) {}

    nb::object make(lang::TypeRef type, int64_t* head) override {
        std::map<uint32_t, uint32_t> numbers;
        const lang::TypeRef frame = numbered(type->parts[0], numbers);
        const lang::FunctionSource& function = *type->function;
        const lang::TypeRef yielded = frame->parts[0]->parts[lang::kFrameYielded];
        if (has_kind(yielded, lang::TypeKind::kList) || has_kind(yielded, lang::TypeKind::kGenerator))
            throw lang::CompileError(
                lang::render({&function, 0}, "'" + function.name + "' yields lists or generators to Python",
                             {}, "Go over it in a compiled function, or yield arrays or tuples."));
        auto generator = std::make_unique<Generator>();
        generator->code = code_of(type, frame);
        generator->call = call_;
        generator->frame = frame;
        generator->head = head;
        generator->nogil = nogil_;
        auto* const object = PyObject_New(GeneratorObject, generator_type);
        if (object == nullptr) throw_python_error();
        object->generator = generator.release();
        return nb::steal(reinterpret_cast<PyObject*>(object));
    }

private:
    std::shared_ptr<const jit::Specialisation> code_of(lang::TypeRef type, lang::TypeRef frame) {
        std::shared_ptr<const jit::Specialisation>& known = call_->compiled->generators[type];
        if (known != nullptr) return known;
        const std::array arguments = {frame};
        std::shared_ptr<const jit::Specialisation> code;
        {
            const GilRelease release;
            code = jit::compile(*type->function->resume, arguments, call_->options, call_->globals);
        }
        if (code->arguments[0] != frame) throw InternalError("a generator's frame has two types");
        return call_->compiled->generators[type] = code;
    }

    std::shared_ptr<KeptCall> call_;
    bool nogil_;
};

// Calls code and throws its errors.
void call_code(KeptCall& call, const jit::Specialisation& code, const uint64_t* words, char* results,
               bool nogil) {
    int64_t status = 0;
    Listening listening{code};
    {
        std::optional<codegen::ListenerScope> scope;
        if (code.tells) scope.emplace(&Listening::listen, &listening);
        const ReleaseGil release(nogil || code.tells);
        status = code.run(words, results);
    }
    throw_error_of(status, listening, *call.compiled, code, results);
}

// While a call of the generator runs.
class Entered {
public:
    explicit Entered(Generator& generator) : generator_(generator), call_(generator.call) {
        generator_.runs = true;
        call_->frame.enter();
    }
    ~Entered() {
        call_->frame.leave();
        generator_.runs = false;
    }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

private:
    Generator& generator_;
    std::shared_ptr<KeptCall> call_;
};

// Null, without an error, at the end.
nb::object next_of(Generator& generator) {
    if (generator.runs) throw ValueError("generator already executing");
    if (generator.call == nullptr) return {};
    const std::shared_ptr<KeptCall> call = generator.call;
    const Entered entered(generator);
    const jit::Specialisation& code = *generator.code;
    std::vector<uint64_t> words = {reinterpret_cast<uint64_t>(generator.head), 0};
    for (size_t i = call->own_words; i < call->arguments.words().size(); ++i)
        words.push_back(call->arguments.words()[i]);
    std::vector<char> results(std::max<size_t>(code.result_bytes, 16));
    try {
        call_code(*call, code, words.data(), results.data(), generator.nogil);
    } catch (nb::python_error& error) {
        generator.call = nullptr;
        if (!error.matches(PyExc_StopIteration)) throw;
        nb::raise_from(error, PyExc_RuntimeError, "generator raised StopIteration");
    } catch (...) {
        generator.call = nullptr;
        throw;
    }
    if (results[0] == 0) {
        generator.call = nullptr;
        return {};
    }
    const lang::TypeRef frame = generator.frame->parts[0];
    const lang::TypeRef yielded = frame->parts[lang::kFrameYielded];
    const lang::ItemLayout layout = lang::item_layout(frame);
    const size_t first = lang::part_count(frame->parts[lang::kFrameState]);
    const char* const item =
        reinterpret_cast<const char*>(generator.head[static_cast<size_t>(lang::ListWord::kAddress)]);
    std::vector<char> values(16 * std::max<size_t>(lang::part_count(yielded), 1));
    for (size_t k = 0; k < lang::part_count(yielded); ++k) {
        const lang::ItemPart& part = layout.parts[first + k];
        std::memcpy(values.data() + 16 * k, item + part.offset,
                    static_cast<size_t>(DType(part.type).itemsize()));
    }
    Results made(values.data() + 16, &call->frame, &call->arguments);  // behind the flag
    made.keeps_memory(nullptr);
    return made.next(yielded->parts[0]);
}

PyObject* iterate(PyObject* self) { return Py_NewRef(self); }

PyObject* next(PyObject* object) {
    return guarded(
        [&] { return next_of(*reinterpret_cast<GeneratorObject*>(object)->generator).release().ptr(); });
}

PyObject* close(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        Generator& generator = *reinterpret_cast<GeneratorObject*>(object)->generator;
        if (generator.runs) throw ValueError("generator already executing");
        generator.call = nullptr;
        return Py_NewRef(Py_None);
    });
}

void dealloc(PyObject* object) {
    delete reinterpret_cast<GeneratorObject*>(object)->generator;
    PyTypeObject* const type = Py_TYPE(object);
    PyObject_Free(object);
    Py_DECREF(type);
}

PyMethodDef kMethods[] = {
    {"close", close, METH_NOARGS, "Ends it, and lets go of what it keeps."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool has_generator(lang::TypeRef type) { return has_kind(type, lang::TypeKind::kGenerator); }

nb::object run_keeping(const std::shared_ptr<KeptCall>& call, const jit::Specialisation& code, bool nogil) {
    struct Left {
        codegen::HeapFrame& frame;
        ~Left() { frame.leave(); }
    };
    const Left left{call->frame};
    if (!call->arguments.lists().empty())
        throw TypeError(
            "a compiled function that is given lists cannot return a generator: give arrays or tuples");
    std::vector<char> results(std::max<size_t>(code.result_bytes, 16));
    call_code(*call, code, call->arguments.words().data(), results.data(), nogil);
    Maker maker(call, nogil);
    Results made(results.data(), &call->frame, &call->arguments);
    made.keeps_memory(&maker);
    return made.next(code.result);
}

void bind_generators(nb::module_& m) {
    std::vector<PyType_Slot> slots = {
        {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
        {Py_tp_iter, reinterpret_cast<void*>(iterate)},
        {Py_tp_iternext, reinterpret_cast<void*>(next)},
        {Py_tp_methods, kMethods},
    };
    generator_type =
        make_type(m, "CompiledGenerator", sizeof(GeneratorObject), Py_TPFLAGS_DISALLOW_INSTANTIATION, slots);
}

}  // namespace weft::python
