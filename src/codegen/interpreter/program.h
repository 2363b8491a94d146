// What the vectorised interpreter runs: kernel IR turned into steps, each of which computes one value for a
// block of neighbouring elements through an ahead-of-time loop of the op table.
//
// The elements of a block lie along the *axis*: a dimension of the grid, or, in kernels that reduce rows, the
// index of a reduction or of a loop that only writes. A value that is the same for all of them is uniform and
// is computed once; an index that grows by one from element to element is known by its first value alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "ops/lane_fold.h"
#include "ops/op.h"

namespace weft::codegen {

// Values of the IR by their number, then those that the planner adds.
using BlockValue = uint32_t;

enum class BlockClass : uint8_t {
    kUniform,  // the same for all elements of a block
    kAlong,    // an index: the first element's and one more for each further one
    kVarying,
};

struct BlockIndex {
    BlockValue value = 0;
    BlockClass kind = BlockClass::kUniform;
};

enum class BlockStepKind : uint8_t {
    kLoop,         // an ahead-of-time loop over operands and results
    kPositions,    // an index that goes along the axis, as numbers in memory
    kSpread,       // a uniform value, as equal numbers in memory
    kLoad,         // where the strides allow it no copy: the value is where the buffer has it
    kGather,       // a load whose place is computed for each element
    kDestination,  // the result of the next step is written to a buffer at once
    kStore,
    kFor,       // iteration after iteration
    kAlongFor,  // no values carried, iterations independent of each other: an iteration is an element
    kWhile,
    kReduce,
};

struct BlockStep;

struct BlockRegion {
    std::vector<BlockValue> arguments{}, yields{};
    std::vector<BlockStep> steps;
};

struct BlockStep {
    BlockStepKind kind = BlockStepKind::kLoop;
    bool varying = false;     // for all elements of the block, not once
    bool contiguous = false;  // memory accesses: the elements are known to lie side by side
    bool copied = false;      // kLoad: what is loaded is overwritten while it is needed
    uint32_t buffer = 0;      // memory accesses: its number among the program's
    int64_t itemsize = 0;
    const LoopInfo* loop = nullptr;
    std::vector<BlockValue> operands{}, results{};
    std::vector<BlockIndex> indices{};
    std::vector<BlockRegion> regions{};
    // Of loops and reductions: what they carry.
    std::vector<int64_t> itemsizes{};
    std::vector<BlockClass> carried{};
    std::vector<BlockValue> next{};  // kFor, kWhile: where varying values of the next iteration are put
    // kReduce
    bool along = false;  // its elements are those of the blocks
    int64_t lanes = 1, block = 0;
    // One a component, where each is combined by one operation; the second one reduces a block of elements
    // that lie side by side.
    std::vector<StridedLoop> folds{};
    std::vector<LaneFold> lane_folds{};
};

struct BlockBuffer {
    int word = 0;  // of the launch's words: its address, then its dynamic strides
    std::vector<int64_t> strides{};
    uint16_t scope = 0;
};

struct BlockProgram {
    std::string name;
    int grid_dimensions = 0;
    int axis = -1;           // the grid's dimension that blocks lie along; -1: rows are reduced
    int64_t capacity = 0;    // elements of a block at most
    int64_t slot_bytes = 0;  // memory of a thread for all values
    size_t values = 0;
    std::vector<BlockBuffer> buffers{};
    struct Scalar {
        BlockValue value;
        int word, words;
    };
    std::vector<Scalar> scalars{};  // parameters
    std::vector<std::pair<BlockValue, ir::Constant>> constants{};
    struct Slot {
        BlockValue value;
        int64_t offset, itemsize;
    };
    std::vector<Slot> slots{};  // where varying values are
    std::vector<BlockValue> grid{};
    BlockRegion prologue{}, body{};
};

struct BlockPrograms {
    BlockProgram usual;
    // Of a kernel that reduces rows: many points together, for rows of which one is less than a block is
    // worth; `row_word` of the launch's words says how long they are.
    std::optional<BlockProgram> of_short_rows{};
    int row_word = 0;
};

// Nothing where the vectorised interpreter has no way to run the kernel, or none that pays; `why` says what
// it is.
std::optional<BlockPrograms> plan_blocks(const ir::Module& module, const ir::Function& kernel,
                                         std::string& why);

}  // namespace weft::codegen
