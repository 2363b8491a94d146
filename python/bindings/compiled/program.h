// A function of the program and all that it calls, as the compiler takes them: made from what
// weft._jit.describe says.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "lang/symbols.h"
#include "objects/objects.h"

namespace weft::python {

/// A value that a function read from a namespace or a closure's cell when it was described.
struct Guard {
    nb::object holder, name,
        value;  // a dictionary and a key, or a cell and None; no value where none is there
};

/// What a function was when it was described: its code and its defaults may be replaced.
struct DescribedFunction {
    nb::object function, code, defaults, keyword_defaults;
    bool is_current() const;
};

/// The type of a number, text, None, or tuple or record of such, with its value; null for anything else.
lang::TypeRef type_of_constant(nb::handle value);

/// The same for what a parameter's default may be to be part of the code: Python's own numbers, members of
/// enumerations, and tuples of such.
lang::TypeRef type_of_constant_default(nb::handle value);

struct Program {
    std::vector<std::unique_ptr<lang::FunctionSource>> functions;  // the first is the one that is called
    std::vector<std::unique_ptr<lang::Symbol>> items;              // of tuples of functions
    std::map<const lang::Symbol*, nb::object> classes;             // of exceptions
    std::vector<Guard> guards;
    std::vector<DescribedFunction> described;
    std::vector<nb::object> globals;  // arrays, and what has arrays: given at each call
    nb::object defaults;              // of the first
    std::vector<nb::object> links;    // of functions in CUDA C++: what is linked with a kernel

    const lang::FunctionSource& entry() const { return *functions.front(); }
    /// Whether all that was read has still the same value.
    bool is_current() const;
};

/// Of what weft.jit made: whether nothing that it read of the program has changed since it was described.
bool is_current(nb::handle jit_function);

/// The Python function of a function or of a dispatcher. Attributes of functions do not count:
/// functools.wraps gives them those of what they wrap.
nb::object python_function(nb::handle function);

/// Throws lang::CompileError or the Python error that describing the function raised. `text` is what was
/// captured at its decoration.
// `fast_math` as lang::FunctionSource has it.
std::shared_ptr<const Program> make_program(nb::handle function, nb::handle text,
                                            std::optional<bool> fast_math);
// Of a compiled function; nothing for others.
std::optional<bool> fast_math_of(nb::handle function);

}  // namespace weft::python
