// Functions of a program, compiled for given types of arguments: the way from src/lang to machine code, and
// how a compiled function is called.
//
// Arguments travel as words (device/kernel.h), in the order of the parameters: a scalar is one word (two for
// complex128); an array is its base, its shape and its strides in bytes, without the last of a contiguous
// one; a tuple is its items. Global arrays come behind the arguments. Results are the same, 16 bytes a word,
// but that an array of a type that is owned has its owner after the base: a block of the frame of the call
// (codegen/runtime/heap.h), or 0 for memory of an argument.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "codegen/service/function_in_two_steps.h"
#include "device/kernel.h"
#include "lang/lower.h"

namespace weft {
class DeviceBackend;
namespace cuda {
class LinkedParts;
}
}  // namespace weft

namespace weft::jit {

struct GpuKernel;  // jit/gpu_kernel.h

struct Options {
    lang::Options semantics{};
    bool is_kept = true;                                // on disk, for later processes
    bool in_two_steps = false;                          // may begin by code that is quickly made
    bool is_fast = false;                               // fastmath, of a kernel for a GPU
    DeviceBackend* device = nullptr;                    // of such: the GPU
    std::shared_ptr<const cuda::LinkedParts> linked{};  // of such: what is linked with it; or null
    // Of such, 0: as the driver likes. See codegen::PtxOptions.
    int most_registers = 0, most_threads = 0, blocks_at_once = 0;
};

// Shared and immutable; keeps the machine code alive, but not the sources that its errors point at.
class Specialisation {
public:
    std::vector<lang::TypeRef> arguments;
    lang::TypeRef result = nullptr;
    std::vector<lang::Site> sites;
    std::vector<bool> written;   // arguments whose memory it writes
    size_t result_bytes = 0;     // of results or of what an error tells, whichever is more
    double compile_seconds = 0;  // before the first call
    bool from_disk = false;      // an earlier process compiled it
    bool allocates = false;      // it needs a HeapFrame around it
    bool tells = false;          // it prints, to a ListenerScope around it
    bool meets_grid = false;     // its blocks wait for each other: it needs a GridScope around it
    int64_t block_bytes = 0, thread_bytes = 0;  // as lang::Lowered has them
    std::string name;
    std::string ir;                        // before the passes
    std::shared_ptr<const GpuKernel> gpu;  // in place of the function

    int64_t run(const ArgumentWord* words, char* results) const {
        return function_ != nullptr ? function_(words, results) : in_two_steps_->run(words, results);
    }

    // With those of parts that calls have reached since.
    double all_compile_seconds() const {
        const CompiledFunction* const code = current_code();
        return compile_seconds + (code == nullptr ? 0 : codegen::seconds_of_lazy_parts(*code));
    }

    // What the compiler made of it; compiles it once more.
    struct Texts {
        std::string ir_after_passes, llvm_ir, assembly;
    };
    Texts texts() const;
    // Which loops became vectors, or why not, and which indices are checked where, by the lines of the
    // program.
    // The sources have to live. Compiles it once more.
    std::string explain() const;

private:
    codegen::CompiledTexts compile_again() const;
    void take(lang::Lowered&& lowered);
    friend std::shared_ptr<const Specialisation> compile(const lang::FunctionSource&,
                                                         std::span<const lang::TypeRef>, const Options&,
                                                         std::span<const lang::GlobalArgument>);
    const CompiledFunction* current_code() const {  // null on a GPU
        return in_two_steps_ == nullptr ? code_.get() : &in_two_steps_->code();
    }

    std::shared_ptr<const CompiledFunction> code_;
    CpuFunction function_ = nullptr;                                     // of that
    std::shared_ptr<const codegen::FunctionInTwoSteps> in_two_steps_{};  // in its place
    ir::Module module_;
    std::vector<lang::IndexNote> indices_;
    std::vector<lang::ParallelNote> parallel_;
    std::vector<lang::LoopNote> loops_;
};

// Thread safe. Arrays of `arguments` with different scopes must not overlap in memory where one of them is
// written. Throws lang::CompileError.
std::shared_ptr<const Specialisation> compile(const lang::FunctionSource& function,
                                              std::span<const lang::TypeRef> arguments,
                                              const Options& options = {},
                                              std::span<const lang::GlobalArgument> globals = {});

// The kernel IR alone, in which the function itself comes first, and the exceptions of its sites, where
// values do not decide which.
struct KernelText {
    std::string ir;
    std::vector<std::string> exceptions;
    std::string result;          // its type, for people
    bool gives_numbers = false;  // one, or a tuple of several
};
KernelText kernel_text(const lang::FunctionSource& function, std::span<const lang::TypeRef> arguments,
                       const Options& options, std::span<const lang::GlobalArgument> globals);

// For tools/pack_functions.py: while a thread collects, what it compiles is only lowered, and fails. The
// texts are those of the functions that its programs would share with others; the file is the one to ship, or
// has what this machine runs alone.
void begin_collection();
std::set<std::string> end_collection();
std::string pack_of_shared(const std::set<std::string>& texts, bool of_host);

}  // namespace weft::jit
