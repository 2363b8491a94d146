// Generators that compiled functions return, as Python's iterators.
#pragma once

#include <memory>
#include <vector>

#include "compiled/arguments.h"
#include "compiled/results.h"
#include "compiled/running.h"

namespace weft::python {

/// A call whose result has generators: they keep what it was given and the memory that it has made.
struct KeptCall {
    KeptCall(GivenFunctions& functions, std::shared_ptr<Compiled> of, const jit::Options& with)
        : arguments(functions), compiled(std::move(of)), options(with) {}

    std::vector<nb::object> objects{};  // the arguments, and the global arrays behind them
    CallArguments arguments;
    size_t own_words = 0;  // of the arguments alone
    std::vector<lang::GlobalArgument> globals{};
    std::shared_ptr<Compiled> compiled;
    jit::Options options;
    codegen::HeapFrame frame{allocate_in_pool};
};

bool has_generator(lang::TypeRef type);

/// Calls the code, whose frame the calling thread is in, and leaves that.
nb::object run_keeping(const std::shared_ptr<KeptCall>& call, const jit::Specialisation& code, bool nogil);

}  // namespace weft::python
