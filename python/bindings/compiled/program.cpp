#include "compiled/program.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiled/layouts.h"
#include "compiled/records.h"
#include "convert/convert.h"
#include "package.h"

namespace weft::python {

lang::TypeRef type_of_constant(nb::handle value) {
    PyObject* const object = value.ptr();
    if (object == Py_None) return lang::simple_type(lang::TypeKind::kNone);
    const lang::Record* const record = record_of(value.type());
    if (PyTuple_CheckExact(object) || record != nullptr) {
        std::vector<lang::TypeRef> parts;
        const nb::object items = record == nullptr ? nb::borrow(value) : fields_of(*record, value);
        for (nb::handle item : nb::borrow<nb::tuple>(items)) {
            parts.push_back(type_of_constant(item));
            if (parts.back() == nullptr) return nullptr;
        }
        return record == nullptr ? lang::tuple_type(std::move(parts))
                                 : lang::record_type(record, std::move(parts));
    }
    if (PySlice_Check(object)) {
        std::vector<lang::TypeRef> bounds;
        for (const char* bound : {"start", "stop", "step"}) {
            bounds.push_back(type_of_constant(value.attr(bound)));
            if (bounds.back() == nullptr) return nullptr;
        }
        return lang::slice_type(std::move(bounds));
    }
    if (object == Py_Ellipsis) return lang::simple_type(lang::TypeKind::kEllipsis);
    if (PyBool_Check(object))
        return lang::literal_type(
            Constant::of(ScalarType::kBool, static_cast<uint8_t>(object == Py_True ? 1 : 0)));
    if (PyLong_Check(object)) {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow != 0) return nullptr;
        return lang::literal_type(Constant::of(ScalarType::kInt64, static_cast<int64_t>(number)));
    }
    if (PyFloat_Check(object))
        return lang::literal_type(Constant::of(ScalarType::kFloat64, PyFloat_AsDouble(object)));
    if (PyComplex_Check(object)) {
        const std::array<double, 2> parts = {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)};
        return lang::literal_type(Constant::of(ScalarType::kComplex128, parts));
    }
    if (PyUnicode_Check(object)) return lang::string_type(text_of(value));
    return nullptr;
}

lang::TypeRef type_of_constant_default(nb::handle value) {
    PyObject* const object = value.ptr();
    const auto is_plain = [](nb::handle item) { return type_of_constant_default(item) != nullptr; };
    bool plain = PyBool_Check(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
                 PyComplex_CheckExact(object);
    if (PyTuple_CheckExact(object)) {
        const auto items = nb::borrow<nb::tuple>(value);
        plain = items.size() > 0 && std::all_of(items.begin(), items.end(), is_plain);
    } else if (!plain) {
        const lang::Record* const record = record_of(value.type());
        plain = record != nullptr && record->is_enumeration;
    }
    const lang::TypeRef type = plain ? type_of_constant(value) : nullptr;
    return type != nullptr && lang::is_constant(type) ? type : nullptr;
}

namespace {

// Names and texts.
using Sources = std::vector<std::pair<std::string, std::string>>;

class Maker {
public:
    explicit Maker(Program& program)
        : program_(program), describe_(nb::module_::import_(modules::kJit).attr("describe")) {}

    const lang::FunctionSource* add(nb::handle function, nb::handle text, std::optional<bool> fast_math) {
        const std::pair key(function.ptr(), fast_math);
        const auto found = made_.find(key);
        if (found != made_.end()) return found->second;
        const nb::object described = describe_(function, text);
        note(function);
        program_.functions.push_back(std::make_unique<lang::FunctionSource>());
        lang::FunctionSource& source = *program_.functions.back();
        made_[key] = &source;
        source.fast_math = fast_math;
        source.name = text_of(described.attr("name"));
        source.file = text_of(described.attr("file"));
        source.first_line = nb::cast<int>(described.attr("first_line"));
        for (nb::handle line : described.attr("source")) source.lines.push_back(text_of(line));
        const nb::bytes bytes(described.attr("positions").attr("tobytes")());
        std::vector<lang::Place> places(bytes.size() / sizeof(lang::Place));
        std::memcpy(places.data(), bytes.c_str(), places.size() * sizeof(lang::Place));
        source.tree = lang::Tree::parse(text_of(described.attr("tree")), places);
        lang::find_inner_functions(source);
        const nb::object defaults = described.attr("defaults");
        for (nb::handle value : defaults) source.defaults.push_back(type_of_constant(value));
        if (program_.functions.size() == 1) program_.defaults = defaults;
        for (nb::handle guard : described.attr("guards"))
            program_.guards.push_back(
                {guard[0], guard[1], nb::len(guard) > 2 ? nb::object(guard[2]) : nb::object()});
        const nb::list symbols(described.attr("symbols"));
        source.symbols.resize(nb::len(symbols));
        for (size_t i = 0; i < source.symbols.size(); ++i) fill(source.symbols[i], symbols[i]);
        return &source;
    }

private:
    void note(nb::handle given) {
        const nb::object function = nb::getattr(given, "__func__", nb::borrow(given));  // of a method
        DescribedFunction now{function, function.attr("__code__"), function.attr("__defaults__"),
                              function.attr("__kwdefaults__")};
        if (!now.keyword_defaults.is_none()) {
            for (nb::handle name : nb::list(now.keyword_defaults))
                program_.guards.push_back(
                    {now.keyword_defaults, nb::borrow(name), now.keyword_defaults[name]});
        }
        program_.described.push_back(std::move(now));
    }

    void fill(lang::Symbol& symbol, nb::handle described) {
        using lang::SymbolKind;
        const std::string kind = text_of(described[0]);
        symbol.name = text_of(described[1]);
        if (kind == "missing") {
            symbol.kind = SymbolKind::kMissing;
            if (nb::len(described) > 2) symbol.path = text_of(described[2]);
        } else if (kind == "constant") {
            symbol.kind = SymbolKind::kValue;
            symbol.type = type_of_constant(described[2]);
            const nb::handle number = described[2];
            if (symbol.type == nullptr && PyLong_Check(number.ptr())) {
                // What an unsigned number of 64 bits holds is NumPy's uint64.
                const unsigned long long bits = PyLong_AsUnsignedLongLong(number.ptr());
                if (PyErr_Occurred() != nullptr) {
                    PyErr_Clear();
                } else {
                    symbol.type =
                        lang::literal_type(Constant::of(ScalarType::kInt64, static_cast<int64_t>(bits)));
                    symbol.path = "uint64";
                }
            }
            if (symbol.type == nullptr) unknown(symbol, "number beyond 64 bits");
        } else if (kind == "scalar") {
            symbol.kind = SymbolKind::kValue;
            symbol.type = type_of_constant(described[3]);
            symbol.path = text_of(described[2]);
            if (symbol.type == nullptr) {  // a uint64 that no int64 is: its bits
                const uint64_t bits = PyLong_AsUnsignedLongLongMask(described[3].ptr());
                symbol.type =
                    lang::literal_type(Constant::of(ScalarType::kInt64, static_cast<int64_t>(bits)));
            }
        } else if (kind == "known" || kind == "module") {
            symbol.kind = kind == "known" ? SymbolKind::kKnown : SymbolKind::kModule;
            symbol.path = text_of(described[2]);
        } else if (kind == "structure") {
            symbol = *lang::symbol_of_layout(layout_of(described[2]));
            symbol.name = text_of(described[1]);
        } else if (kind == "exception") {
            symbol.kind = SymbolKind::kException;
            program_.classes[&symbol] = nb::borrow(described[2]);
            for (nb::handle each : described[2].attr("__mro__")) {
                const bool is_builtin = text_of(each.attr("__module__")) == "builtins";
                symbol.ancestors.push_back(is_builtin
                                               ? text_of(each.attr("__name__"))
                                               : std::to_string(reinterpret_cast<uintptr_t>(each.ptr())));
            }
        } else if (kind == "function" || kind == "ufunc") {
            if (kind == "ufunc") symbol.ufunc = facts_of_ufunc(described[3]);
            fill_function(symbol, described[2]);
        } else if (kind == "vector") {
            fill_function(symbol, described[2]);
            symbol.layout = layout_of_instances(*record_of(described[3]), described[4]);
        } else if (kind == "array" || kind == "object") {
            symbol.kind = SymbolKind::kGlobal;
            const nb::object object = nb::borrow(described[2]);
            symbol.object = object.ptr();
            const auto same = [&](const nb::object& other) { return other.is(object); };
            if (std::none_of(program_.globals.begin(), program_.globals.end(), same))
                program_.globals.push_back(object);
        } else if (kind == "items") {
            symbol.kind = SymbolKind::kValue;
            std::vector<lang::TypeRef> parts;
            for (nb::handle each : described[2]) {
                program_.items.push_back(std::make_unique<lang::Symbol>());
                lang::Symbol& item = *program_.items.back();
                fill(item, each);
                parts.push_back(item.kind == SymbolKind::kValue ? item.type : lang::symbol_type(&item));
            }
            symbol.type = lang::tuple_type(std::move(parts));
        } else if (kind == "external") {
            symbol.kind = SymbolKind::kExternal;
            symbol.external = external_function(described[2].attr("_facts"), sources_);
            add_links(described[2]);
        } else if (kind == "record") {
            symbol.kind = SymbolKind::kRecord;
            symbol.record = record_of(described[2]);
        } else {
            unknown(symbol, text_of(described[2].type().attr("__name__")));
        }
    }

    // As weft._jit._names tells them.
    static std::shared_ptr<const lang::UfuncFacts> facts_of_ufunc(nb::handle given) {
        auto facts = std::make_shared<lang::UfuncFacts>();
        facts->inputs = nb::cast<size_t>(given["inputs"]);
        facts->outputs = nb::cast<size_t>(given["outputs"]);
        for (nb::handle loop : nb::object(given["loops"])) {
            std::vector<lang::UfuncFacts::Operand>& operands = facts->loops.emplace_back();
            for (nb::handle operand : loop)
                operands.push_back(
                    {to_dtype_required(operand[0]).scalar_type(), nb::cast<size_t>(operand[1])});
        }
        const nb::object identity = given["identity"];
        facts->is_reorderable = !identity.is_none();
        if (PyLong_Check(identity.ptr())) facts->identity = nb::cast<int64_t>(identity);
        facts->layout = text_of(given["layout"]);
        for (nb::handle axes : nb::object(given["axes"])) {
            std::vector<std::string>& names = facts->axes.emplace_back();
            for (nb::handle name : axes) names.push_back(text_of(name));
        }
        facts->returns = nb::cast<bool>(given["returns"]);
        for (nb::handle place : nb::object(given["written"]))
            facts->written.push_back(nb::cast<size_t>(place));
        return facts;
    }

    // As weft.cuda.declare_device tells them.
    static std::shared_ptr<const lang::ExternalFunction> external_function(
        nb::handle facts, const std::shared_ptr<Sources>& sources) {
        auto function = std::make_shared<lang::ExternalFunction>();
        function->sources = sources;
        function->name = text_of(facts[0]);
        for (nb::handle parameter : nb::object(facts[1]))
            function->parameters.push_back(
                {to_dtype_required(parameter[0]).scalar_type(), nb::cast<bool>(parameter[1])});
        if (!facts[2].is_none()) function->result = to_dtype_required(facts[2]).scalar_type();
        function->tells_status = nb::cast<bool>(facts[3]);
        return function;
    }

    void add_links(nb::handle owner) {
        const nb::object links = nb::getattr(owner, "_links", nb::none());
        if (links.is_none()) return;
        for (nb::handle link : links) {
            program_.links.push_back(nb::borrow(link));
            const nb::object source = nb::module_::import_(modules::kCudaExternal).attr("source_of")(link);
            if (!source.is_none()) sources_->emplace_back(text_of(source[0]), text_of(source[1]));
        }
    }

    static void unknown(lang::Symbol& symbol, std::string what) {
        symbol.kind = lang::SymbolKind::kUnknown;
        symbol.path = std::move(what);
    }

    // A function that cannot be described is an error where it is called, not where it is named.
    void fill_function(lang::Symbol& symbol, nb::handle function) {
        symbol.kind = lang::SymbolKind::kFunction;
        const nb::object plain = python_function(function);
        const nb::object text = nb::getattr(function, "_text", nb::none());
        add_links(function);
        try {
            symbol.function = add(plain, text, fast_math_of(function));
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_TypeError)) throw;
            symbol.path = text_of(nb::str(error.value()));
        }
    }

    Program& program_;
    std::shared_ptr<Sources> sources_ = std::make_shared<Sources>();  // in CUDA C++, of all functions of such
    nb::object describe_;
    std::map<std::pair<PyObject*, std::optional<bool>>, const lang::FunctionSource*> made_;
};

}  // namespace

nb::object python_function(nb::handle function) {
    static PyObject* const type = nb::module_::import_("types").attr("FunctionType").ptr();
    if (reinterpret_cast<PyObject*>(Py_TYPE(function.ptr())) == type) return nb::borrow(function);
    return nb::getattr(function, "py_func", nb::borrow(function));
}

bool DescribedFunction::is_current() const {
#ifndef Py_LIMITED_API
    if (PyFunction_Check(function.ptr())) {
        const auto is = [](PyObject* now, const nb::object& then) {
            return now == then.ptr() || (now == nullptr && then.is_none());
        };
        return is(PyFunction_GetCode(function.ptr()), code) &&
               is(PyFunction_GetDefaults(function.ptr()), defaults) &&
               is(PyFunction_GetKwDefaults(function.ptr()), keyword_defaults);
    }
#endif
    // The stable ABI has no other way; a name made of characters at each call would cost as much again.
    static PyObject* const names[] = {PyUnicode_InternFromString("__code__"),
                                      PyUnicode_InternFromString("__defaults__"),
                                      PyUnicode_InternFromString("__kwdefaults__")};
    const nb::object* const then[] = {&code, &defaults, &keyword_defaults};
    for (size_t i = 0; i < std::size(names); ++i) {
        PyObject* const now = PyObject_GetAttr(function.ptr(), names[i]);
        if (now == nullptr) throw_python_error();
        Py_DECREF(now);  // the function has it
        if (now != then[i]->ptr()) return false;
    }
    return true;
}

bool Program::is_current() const {
    for (const DescribedFunction& each : described) {
        if (!each.is_current()) return false;
    }
    for (const Guard& guard : guards) {
        if (guard.name.is_none()) {
            const nb::object value = nb::getattr(guard.holder, "cell_contents", nb::object());
            if (value.ptr() != guard.value.ptr()) return false;
        } else if (PyDict_GetItem(guard.holder.ptr(), guard.name.ptr()) != guard.value.ptr()) {
            return false;
        }
    }
    return true;
}

std::optional<bool> fast_math_of(nb::handle function) {
    if (!nb::hasattr(function.type(), "_is_weft_jit")) return std::nullopt;
    return nb::cast<bool>(function.attr("_fastmath"));
}

std::shared_ptr<const Program> make_program(nb::handle function, nb::handle text,
                                            std::optional<bool> fast_math) {
    auto program = std::make_shared<Program>();
    Maker(*program).add(function, text, fast_math);
    return program;
}

}  // namespace weft::python
