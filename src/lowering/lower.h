// From a kernel in a canonical form, without sizes and addresses, to kernel IR. Equal forms share a kernel.
//
// A form computes at two levels. A value of the *point* level is computed once for each point of the grid;
// one of the *element* level once for each element of the row that the point reduces or writes. Reductions
// take element values to the point level; those of one phase share a walk over the row, and a later phase may
// read what an earlier one gave (softmax: the largest, then the sum, then the quotients).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "ops/op.h"

namespace weft {

// What of a stride is written into the kernel: only what the code depends on.
enum class StrideClass : uint8_t {
    kZero,
    kDynamic,
    kItem,
    kMinusItem,
    kRow,  // KernelForm::row elements
};

struct BufferForm {
    ScalarType element = ScalarType::kFloat64;
    uint16_t alias_scope = 0;
    bool readonly = true;
    bool of_element = false;            // element level: one more stride, along the row
    std::vector<StrideClass> strides;   // over the grid (but for the dimension of chunks) [, the row]
    std::vector<StrideClass> computed;  // then over what is computed: a gather's step, an output's positions
    bool streamed = false;              // written by non-temporal stores (ir::BufferType::streamed)
    bool prefetch = false;              // the kernel asks memory for what it comes to next

    friend bool operator==(const BufferForm&, const BufferForm&) = default;
};

struct InputForm {
    BufferForm buffer;
    // No memory: the value is the position itself, base + Σ index · stride, an int64 (what arange counts).
    bool position = false;
    // Where that is worth knowing (small elements on a GPU): 1 + the earlier input of which this one is the
    // same array, so many elements further along the last dimension.
    uint16_t beside = 0;
    int16_t steps = 0;
};

struct ValueForm {
    enum class Kind : uint8_t { kInput, kScalar, kStep, kConstant, kReduction } kind = Kind::kInput;
    uint16_t index = 0;
    uint16_t result = 0;  // of a step

    friend bool operator==(const ValueForm&, const ValueForm&) = default;
};

struct StepForm {
    enum class Kind : uint8_t { kOperation, kCast, kArange, kGather } kind = Kind::kOperation;
    const OpInfo* op = nullptr;  // kOperation
    int loop = 0;
    ScalarType to = ScalarType::kFloat64;  // kCast; kArange: the type of start and step
    // kArange: position, start, step; kGather: each index, followed by the axis' extent where it wraps
    std::vector<ValueForm> operands;
    uint16_t data = 0;        // kGather: the input that is read
    std::vector<bool> wraps;  // kGather: whether an index may be negative
};

struct ReductionForm {
    const ReductionInfo* info = nullptr;
    ScalarType compute = ScalarType::kFloat64;
    ScalarType result = ScalarType::kFloat64;  // what a finished value is cast to
    ValueForm element;
    int phase = 0;

    // The types of which a partial result consists.
    std::vector<ScalarType> components() const;
    // How many values are carried along the elements of a chunk (or a whole row).
    size_t carried() const { return info->gives_index || info->deviations ? 2 : 1; }
};

// Running results: of whole rows, or of chunks of them in two kernels, one for what each chunk comes to, one
// for the results from what comes before each chunk; a third between them, which is a row of what chunks come
// to (kBefore), runs where the host cannot look at these.
struct ScanForm {
    enum class Part : uint8_t { kRows, kChunkTotals, kChunks, kBefore } part = Part::kRows;
    const OpInfo* op = nullptr;
    ScalarType compute = ScalarType::kFloat64;
    ValueForm element;
    bool in_order = false;  // from the first element to the last; see library/loops/scan_order.h
    bool across = false;    // kRows: the last grid dimension counts tiles of columns, the vector lanes

    int loop() const;  // of `op`, which combines two values of `compute`
};

// What a mask selects of values, or of positions where there are none: lowering/lower_compress.h.
struct CompressForm {
    ValueForm mask;
    std::optional<ValueForm> value;
    int rank = 1;  // of the space, which is walked in C order; of 1, buffers have a stride for tiles, too
    uint16_t scalars = 0;  // the first of three: elements, capacity, step (CompressLowering::Parameters)
};

struct OutputForm {
    ValueForm value;
    BufferForm buffer;
    // Of a write at computed positions (kElementwise): given as a kGather step's operands are.
    std::vector<ValueForm> positions = {};
    std::vector<bool> wraps = {};
    std::optional<ValueForm> condition = {};  // where it is false nothing is written
    bool largest = false;                     // the larger one of the value and what is there, atomically
};

enum class KernelShape : uint8_t {
    kElementwise,  // grid: all dimensions
    kReduce,       // grid: kept dimensions [, outer reduced dimensions, chunk]; and a row
    kCombine,      // grid: kept dimensions; combines the partial results of kReduce pairwise over the others
    kScan,      // grid: other dimensions [, chunk]; and a row; sizes: the row [, columns, columns of a tile]
    kProduct,   // grid: batch, tiles of rows and of columns; sizes: m, n, k; buffers: over batch, m, n, k
    kCompress,  // grid: tiles; sizes: of the space but for the first; buffers: over the space; outputs: what
                // is selected, words to count in, and what else is stored of each element
};

struct KernelForm {
    KernelShape shape = KernelShape::kElementwise;
    int grid_rank = 1;
    std::vector<InputForm> inputs;  // kCombine: the partial results first
    std::vector<ScalarType> scalars;
    std::vector<ir::Constant> constants;  // scalars whose value the code depends on: divisors of integers
    std::vector<StepForm> steps;
    std::vector<OutputForm> outputs;  // of partial results: their components in order, values ignored
    // kReduce, kCombine
    std::vector<ReductionForm> reductions;
    int outer_rank =
        0;  // kReduce: trailing grid dimensions that are outer reduced ones; kCombine: combined ones
    bool chunked = false;  // kReduce: the last grid dimension counts chunks, the outputs are partial results
    int lanes = 1;
    int64_t block = 0;           // kReduce: elements of a block; 0: all are one
    int64_t shift_elements = 1;  // of squared deviations: elements whose mean is subtracted from all
    int64_t chunk = 0;  // kReduce, when `chunked`: elements of a grid point, a power of two of blocks
    // kReduce, when `chunked`: elements of the row are computed as rows of their own, whose length is one
    // more size; element level buffers have two strides along the row (lowering/collapsed_rows.h).
    bool collapsed = false;
    // kReduce, not `chunked`: elements of each row where these are so few that the kernel has no loop over
    // them (lowering/short_rows.h); else 0.
    int64_t row = 0;

    // kReduce, when `chunked`, on GPUs: what combines its partial results in the same launch, over the kept
    // dimensions.
    std::shared_ptr<const KernelForm> then;

    std::optional<CompressForm> compress;  // kCompress
    std::optional<ScanForm> scan;          // kScan; of kChunks the last input is what comes before each chunk

    std::string key() const;   // equal for equal kernels
    std::string name() const;  // for people
};

// What runs the kernel: searches and what is written along rows are loops that a core walks fast, or the work
// of a team of threads. The bits are the same.
enum class KernelTarget : uint8_t { kCpu, kGpu };

// Parameters: grid sizes, reduced sizes, inputs, scalars, outputs. Of a form with `then` the module has two
// kernels.
ir::Module lower(const KernelForm& form, KernelTarget target = KernelTarget::kCpu);

}  // namespace weft
