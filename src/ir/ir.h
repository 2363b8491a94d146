// The kernel IR: what a kernel is between the graph (or a Python function) and machine code.
//
// Frontends build it with ir/builder.h; passes rewrite it; ir/oracle.h gives its meaning by running it
// slowly; codegen turns it into LLVM IR. It is structured (regions, no jumps), typed and in SSA form: every
// value has one definition, which encloses or precedes each use. docs/reference/kernel-ir.md describes the
// text form and every operation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/constant.h"
#include "ops/op.h"
#include "weft/dtype.h"

namespace weft::ir {

// An index into Function::values. Values are never renumbered while a function is being built.
struct ValueId {
    uint32_t index = UINT32_MAX;
    bool valid() const { return index != UINT32_MAX; }
    friend bool operator==(ValueId, ValueId) = default;
};

enum class AddressSpace : uint8_t { kGlobal, kShared, kLocal };

// A stride or size that the kernel's text does not tell: an argument, or of memory that it allocates, what
// operands say.
constexpr int64_t kDynamic = INT64_MIN;

// Memory that loads and stores address as base + sum(index[d] * strides[d]), all in bytes.
// Buffers of different alias scopes never overlap; within one scope anything may.
struct BufferType {
    ScalarType element = ScalarType::kFloat64;
    AddressSpace space = AddressSpace::kGlobal;
    uint16_t alias_scope = 0;
    bool readonly = false;
    bool streamed = false;  // a wish: not read soon, so that non-temporal stores may write it
    bool prefetch = false;  // a wish: the kernel asks memory for what it comes to next
    // Bytes, so many as the rank; kDynamic for what an argument says, or the value that a buffer is.
    std::vector<int64_t> strides{};
    // Elements; only for shared and local buffers, which the kernel allocates. A size of shared memory may be
    // kDynamic, then also the strides of the dimensions before, which are those of C order.
    std::vector<int64_t> sizes{};

    friend bool operator==(const BufferType&, const BufferType&) = default;
};

// Indices, sizes and loop counters are scalars of type kInt64.
struct Type {
    bool is_buffer = false;
    ScalarType scalar = ScalarType::kInt64;
    BufferType buffer;

    static Type of(ScalarType scalar) { return Type{false, scalar, {}}; }
    static Type of(BufferType buffer) { return Type{true, buffer.element, std::move(buffer)}; }
    friend bool operator==(const Type&, const Type&) = default;
};

using weft::Constant;

// The number of the error of a function that calls itself too deep: of no other one.
constexpr uint32_t kTooDeep = UINT32_MAX;

// Operands and results of the operations; ir/opcodes.def has what else is to be known of them.
//   kConstant   () -> scalar
//   kApply      (scalars) -> scalars: the element-wise operation `op` of the op table, by its loop `loop`
//   kCast       (scalar) -> scalar of another type, with the op table's cast
//   kLoad       (buffer, indices... [, predicate, otherwise]) -> scalar
//   kStore      (buffer, value, indices... [, predicate])
//   kAtomic     (buffer, value, indices...) -> old value: *p = op(*p, value)
//   kCompareExchange  (buffer, expected, desired, indices...) -> old value
//   kAllocate   (dynamic sizes...) -> shared or local buffer; not initialised
//   kView       (buffer, byte offset, dynamic strides...) -> buffer of the same memory, of any element and
//   rank;
//               without strides it has those that the buffer has
//   kNull       () -> global buffer that has no element
//   kAddress    (global buffer) -> where it begins, an int64 that only kMemory takes
//   kMemory     (address, dynamic strides...) -> global buffer that begins there
//   kHeap       (bytes, [owner,] dynamic strides...) -> owner, global buffer; not initialised; raises without
//               memory. With an owner (`grows`) it begins with what that one's memory has, which is gone
//   kRetain     (owner) counts one more user of the memory; an owner of 0 is nobody's
//   kRelease    (owner) counts one user less; without any the memory is gone
//   kBarrier    () block barrier: every thread of the block reaches it, memory of the block is ordered
//   kIntrinsic  (scalars) -> scalars: what threads of a block or warp tell each other, or where one is,
//               by `intrinsic` (ir/intrinsic.h)
//   kFor        (lower, upper, step, initials...) -> finals; region (i, carried...) yields carried
//   kWhile      (initials...) -> finals; region 0 (carried...) yields (bool, forwarded...); region 1
//               (forwarded...) yields carried; the finals are what region 0 forwarded last
//   kIf         (bool) -> results; regions 0 and 1 yield them
//   kParallel   (sizes...) grid or block; region (indices...); iterations are independent of each other.
//               `range_dimension` has two arguments in place of its index: any part of it, from, to
//   kReduce     (size, initials...) -> results; region 0 (i) yields elements; region 1 (left..., right...)
//               yields combined. The tree is fixed by size, `lanes` and `block`; see
//               docs/reference/kernel-ir.md
//   kScan       (size, initials...) region 0 (i) yields elements; region 1 combines; region 2 (i,
//               prefixes...) consumes each inclusive prefix
//   kCall       (arguments...) -> results of Function `callee` of the same module. Where it `catches`, an
//               int64 comes before them: 0, or 1 and the number of the error that the callee has raised
//   kSpread     (size, chunk, arguments...) calls Function `callee` for each chunk of 0 to size, in any order
//               or at the same time, with (number of the chunk, from, to, arguments...). `together`: the
//               calls are the threads of a block, which meet at barriers
//   kEngine     (arguments...) -> what the function `callee` of the engine answers, an int64; after each
//   buffer
//               come its sizes (ops/engine_function.h)
//   kExternal   (arguments...) -> [status,] result: the function `callee` of other machine code, by C's
//               convention. A buffer is where it begins. Where it `tells_status`, the function returns an
//               int32, which is the first result, and writes what else there is to where its first argument
//               points
//   kCheck      (bool, payload...) goes on where it is true, and raises otherwise
//   kTell       (payload...) goes on, unless the host that is told ends the function with the error `site`
//   kYield      ends a region
//   kBreak      ends a region and the loop around it, whose results are the operands
//   kContinue   ends a region and this iteration of the loop around it, which carries on with the operands
//   kReturn     ends a function, from its body or from a region of a loop or branch in it
//   kRaise      (payload...) as kReturn, but with an error, which ends all callers, too. `again`: (what a
//               catching call gave) raises that once more
// `depth` of a break or continue is how many loops lie between it and its own. `site` of a check or raise is
// the number of the error, whose meaning and text the frontend knows, as it does what a tell means.
enum class Opcode : uint8_t {
#define WEFT_OPCODE(enumerator, ...) enumerator,
#include "ir/opcodes.def"
#undef WEFT_OPCODE
};

enum class Intrinsic : uint8_t;  // ir/intrinsic.h

enum class OpcodeEffect : uint8_t { kValue, kNone, kOfRegions, kWrite, kOther };
enum class OpcodeUniformity : uint8_t { kWithOperands, kInBlock, kOwn };

// A row of ir/opcodes.def.
struct OpcodeInfo {
    static constexpr size_t kAny = SIZE_MAX;

    std::string_view text;
    size_t operands, regions, results, index;
    OpcodeEffect effect;
    OpcodeUniformity uniformity;
};

enum class ParallelLevel : uint8_t { kGrid, kBlock };
enum class MemoryOrder : uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease, kSequential };
enum class MemoryScope : uint8_t { kBlock, kDevice, kSystem };

struct Instruction;

struct Region {
    std::vector<ValueId> arguments;
    // The last instruction is kYield (kReturn in a function's body), or one of the exits: kBreak, kContinue,
    // kReturn, kRaise.
    std::vector<Instruction> body;
};

struct Instruction {
    Opcode opcode = Opcode::kYield;
    std::vector<ValueId> operands{};
    std::vector<ValueId> results{};
    std::vector<Region> regions{};

    // Attributes; which of them count depends on the opcode.
    const OpInfo* op = nullptr;  // kApply, kAtomic
    int loop = 0;                // kApply: index into op->loops, chosen by the operand types
    Constant constant{};         // kConstant
    bool fast = false;           // kApply: as fastmath allows (docs/reference/kernel-ir.md)
    bool predicated = false;     // kLoad, kStore: the predicate operand(s) are present
    ParallelLevel level = ParallelLevel::kGrid;
    int range_dimension =
        -1;  // kParallel, grid: the dimension whose points come as ranges (begin, end); or none
    MemoryOrder order = MemoryOrder::kRelaxed;
    MemoryScope scope = MemoryScope::kDevice;
    std::string callee{};       // kCall, kSpread, kEngine, kExternal
    bool together = false;      // kSpread
    Intrinsic intrinsic{};      // kIntrinsic
    bool catches = false;       // kCall
    bool lazy = false;          // kCall: the callee is compiled when a call is first reached
    bool tells_status = false;  // kExternal
    bool likely = false;        // kIf: the first region runs nearly always
    bool again = false;         // kRaise
    bool grows = false;         // kHeap
    // kHeap: from byte `from` on, every `stride` bytes, there are `count` owners beside each other, which
    // count as users until the memory is gone. They are 0 at first.
    struct Owners {
        int64_t from = 0, stride = 0, count = 0;
        friend bool operator==(const Owners&, const Owners&) = default;
    } owners{};
    int depth = 0;      // kBreak, kContinue
    uint32_t site = 0;  // kCheck, kRaise, kHeap, kTell; kFor, kWhile: the loop of the program, or 0
    int64_t lanes = 1;  // kReduce: how many interleaved accumulators; kFor: independent iterations
    int64_t block = 0;  // kReduce: elements a block; blocks are combined pairwise. 0: one block
    // Where the program has it: Module::lines, from 1 on, or 0. Of no meaning, and not in the text.
    uint32_t line = 0;
};

struct ValueInfo {
    Type type;
    std::string
        name;  // without the %; may be empty or shared with others: the printer numbers and distinguishes
};

struct Function {
    std::string name;
    std::vector<ValueInfo> values;    // indexed by ValueId
    std::vector<ValueId> parameters;  // buffers and scalars
    std::vector<Type> result_types;   // scalars and global buffers; empty for a kernel
    Region body;                      // ends with kReturn
    bool is_kernel = true;

    const Type& type(ValueId value) const { return values[value.index].type; }
    ValueId add_value(Type type, std::string value_name = {});
};

// A line of the program.
struct SourceLine {
    std::string file;
    int line = 0;
    friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

struct Module {
    std::vector<Function> functions{};
    std::vector<SourceLine> lines{};  // that instructions name, where the frontend tells them
    const Function* find(std::string_view name) const;
};

const OpcodeInfo& opcode_info(Opcode opcode);
inline std::string_view opcode_name(Opcode opcode) { return opcode_info(opcode).text; }
// The opcode that ends a body is one of these.
inline bool ends_body(Opcode opcode) {
    return opcode == Opcode::kYield || opcode == Opcode::kBreak || opcode == Opcode::kContinue ||
           opcode == Opcode::kReturn || opcode == Opcode::kRaise;
}
inline bool is_loop(Opcode opcode) { return opcode == Opcode::kFor || opcode == Opcode::kWhile; }
// Whether a region hands its values to what it belongs to. Otherwise it ends by leaving a loop or the
// function.
inline bool yields(const Region& region) { return region.body.back().opcode == Opcode::kYield; }
// Whether the results follow from the operands alone.
inline bool is_value(Opcode opcode) { return opcode_info(opcode).effect == OpcodeEffect::kValue; }
// How many operands the instruction has at least.
size_t least_operands(const Instruction& instruction);
// Whether an exit in it leaves a loop before its condition does, or starts its next iteration early.
bool is_left(const Instruction& loop);
// The breaks and continues in it that are its own.
std::vector<const Instruction*> exits_of(const Instruction& loop);
std::string_view scalar_name(ScalarType type);  // as in the text form: "f64"

// Whether two functions are the same but for the numbers and names of values.
bool equivalent(const Function& a, const Function& b);

// How a kernel is called, on either target. A launch passes, for each parameter in order, a buffer (base
// address and the values of its dynamic strides) or a scalar; see KernelArguments in device/kernel.h.

}  // namespace weft::ir
