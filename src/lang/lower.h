// From a function's tree and the types of its arguments to kernel IR: types are found and code is made by the
// same walk, which runs dry where a branch's or loop's types have to be known before its code is made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "lang/symbols.h"
#include "lang/types.h"

namespace weft::lang {

struct Options {
    bool check_bounds = true;
    bool check_division = true;
    bool parallel = true;  // loops over prange run at the same time
    // Numba's promotion in place of NEP 50: beside numbers of Python's, floats of fewer than 64 bits have 64.
    bool widens_floats = false;
    bool shares = false;  // large functions of the prelude are compiled by themselves, for all that call them
    bool is_kernel = false;       // launches a CUDA-style kernel (kernels/kernels.h)
    bool tells_accesses = false;  // of such: each access to memory, and what orders them (jit/race_checker.h)
    bool for_gpu = false;         // of such: what each thread of a GPU runs, and not the loop over the blocks
    bool has_externals = false;   // of such: functions of other machine code are linked
    bool tells_lines = false;     // of such: the lines of the program (ir::Module::lines)
};

enum class SiteKind : uint8_t {
    kFixed,      // `text` as it is
    kIndex,      // payload: index, size; `axis`
    kBroadcast,  // payload: a size, and the one that it has to be; `axis`
    kToInteger,  // payload: a float64, which no int64 holds
    kTooLarge,   // payload: a float64, the bytes of an array that is not made
    kUnbound,    // `text` names the variable
    kTold,       // what `told` says, by a payload of all its values
    kEvent,      // `event`, which a kernel's thread tells of itself
};

// What threads of a kernel do that matters to other threads. All tell their numbers in the block and that of
// their block; accesses tell before that an address, how many bytes, whether they are memory of the block,
// and those that write the value; meetings of a warp their mask.
enum class ThreadEvent : uint8_t { kRead, kWrite, kAtomic, kBlockMeeting, kWarpMeeting, kFence };

// An error that compiled code raises, by its number in the IR (exceptions/classes.h).
struct Site {
    SiteKind kind = SiteKind::kFixed;
    std::string exception;  // "IndexError"; empty: the class that `symbol` names
    const Symbol* symbol = nullptr;
    std::string text;
    bool has_text = true;  // an exception may be raised without arguments
    int axis = 0;
    int payload = 0;  // how many values the code tells, 16 bytes each
    int place = -1;   // from which of them on they are the numbers of a kernel's thread and of its block
    ThreadEvent event = ThreadEvent::kRead;
    std::vector<TypeRef> told{};              // an exception's arguments, or what is printed
    std::string separator = " ", end = "\n";  // of what is printed
    bool flush = false;
    const FunctionSource* function = nullptr;
    NodeId node = 0;
};

// What became of the check of an index.
enum class IndexKind : uint8_t { kProven, kBeforeLoop, kInPlace };
struct IndexNote {
    IndexKind kind = IndexKind::kProven;
    const FunctionSource* function = nullptr;
    NodeId node = 0;
    int axis = 0;
};

// A loop whose iterations run at the same time.
struct ParallelNote {
    const FunctionSource* function = nullptr;
    NodeId node = 0;
    std::vector<std::string> copied{};  // arrays of which each chunk has a copy
    NodeId inside = 0;                  // the loop inside of which chunks are cut, too
};

// A loop of the program, by ir::Instruction::site less 1.
struct LoopNote {
    const FunctionSource* function = nullptr;
    NodeId node = 0;
};

// An array of as many bytes or more has no size that NumPy knows.
constexpr double kBytesOfAll = 9223372036854775808.0;

// What an error says. `payload` is what the code wrote: values 16 bytes apart.
std::string message_of(const Site& site, const char* payload);
// "in block (2, 0, 0), thread (17, 0, 0)": of a site with a place.
std::string place_of(const Site& site, const char* payload);
// The exception's name, where it is none of the program's own.
std::string exception_of(const Site& site, const char* payload);

struct Lowered {
    ir::Module module;
    std::string entry;
    TypeRef result = nullptr;
    std::vector<Site> sites;
    std::vector<IndexNote> indices;
    std::vector<ParallelNote> parallel;
    std::vector<LoopNote> loops;
    std::vector<bool> written;         // which arguments' memory, for arguments with scopes of their own
    std::vector<TypeRef> arguments{};  // as they are in the code: lists of what is added to them, too
    // Of a kernel: memory of a block, besides what a launch asks for, and of a thread, for its own arrays.
    int64_t block_bytes = 0, thread_bytes = 0;
};

// An array of the program that functions read, without that it is passed: what symbols have as `object`.
struct GlobalArgument {
    const void* object = nullptr;
    TypeRef type = nullptr;
};

// Throws CompileError. The sources have to live as long as the result. The module's entry takes `globals`
// behind the arguments, and nothing for an argument whose type is a constant.
Lowered lower(const FunctionSource& function, std::span<const TypeRef> arguments, const Options& options = {},
              std::span<const GlobalArgument> globals = {});

// Whether blocks of a kernel wait for each other.
bool meets_grid(const ir::Module& module);

}  // namespace weft::lang
