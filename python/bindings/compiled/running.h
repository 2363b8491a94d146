// What calls of compiled functions share: their code, errors, and what they print.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "codegen/runtime/heap.h"
#include "compiled/program.h"
#include "jit/race_checker.h"
#include "jit/specialisation.h"
#include "objects/objects.h"

namespace weft {
struct StoredKernel;
}

namespace weft::python {

struct Compiled {
    std::vector<uint64_t> key;
    std::shared_ptr<const jit::Specialisation> code;     // of arrays that do not overlap
    std::shared_ptr<const jit::Specialisation> overlap;  // of arrays that may; null until it is needed
    std::shared_ptr<const Program> program;              // whose symbols its errors name
    std::vector<std::shared_ptr<const Program>> given;   // of functions among its arguments
    std::map<lang::TypeRef, std::shared_ptr<const jit::Specialisation>> generators;  // what goes on with them
    bool gives_generators = false;
    int64_t calls = 0;
    // What the history of launches names, of either code.
    std::shared_ptr<const StoredKernel> recorded, recorded_overlap;
};

/// The error that compiled code has raised, with the line of the program as the innermost entry of its
/// traceback.
[[noreturn]] void raise(const Compiled& compiled, const lang::Site& site, const char* payload);

/// A RecursionError: the error of no site (ir::kTooDeep).
[[noreturn]] void throw_too_deep();

/// Memory of arrays comes from the engine's own pool, so that it becomes an array's without a copy.
codegen::HeapMemory allocate_in_pool(size_t bytes);

/// Prints what compiled code tells. An error of that, as of a closed stream, ends the function.
struct Listening {
    const jit::Specialisation& code;
    jit::RaceChecker* races = nullptr;  // of a kernel whose threads tell what they access
    std::optional<nb::python_error> error{};

    static bool listen(void* context, uint32_t number, const char* payload);
};

/// Throws what a call came to, if it is an error. `payload` is where the code tells what errors say.
void throw_error_of(int64_t status, Listening& listening, const Compiled& compiled,
                    const jit::Specialisation& code, const char* payload);

}  // namespace weft::python
