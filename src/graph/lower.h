// From a group of nodes, in a canonical form without sizes and addresses, to kernel IR. Equal forms share a
// kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "ops/op.h"

namespace weft {

// What of a stride is written into the kernel: only what the code depends on.
enum class StrideClass : uint8_t { kZero, kDynamic, kItem, kMinusItem };

struct BufferForm {
    ScalarType element = ScalarType::kFloat64;
    uint16_t alias_scope = 0;
    bool readonly = true;
    std::vector<StrideClass> strides;
};

struct ValueForm {
    enum class Kind : uint8_t { kInput, kScalar, kStep, kConstant } kind = Kind::kInput;
    uint16_t index = 0;
    uint16_t result = 0;  // of a step
};

struct StepForm {
    const OpInfo* op = nullptr;  // null: a cast
    int loop = 0;
    ScalarType to = ScalarType::kFloat64;  // of a cast
    std::vector<ValueForm> operands;
};

struct OutputForm {
    ValueForm value;  // ignored by reductions
    BufferForm buffer;
};

enum class KernelShape : uint8_t {
    kElementwise,  // grid: all dimensions
    kReduce,       // grid: kept dimensions [, outer reduced dimensions, block]; reduces one more dimension
    kCombine,      // grid: kept dimensions; combines the partial results of kReduce pairwise over the others
    kArange,       // scalars: start and step
};

struct KernelForm {
    KernelShape shape = KernelShape::kElementwise;
    int grid_rank = 1;
    std::vector<BufferForm> inputs;
    std::vector<ScalarType> scalars;
    std::vector<ir::Constant> constants;  // scalars whose value the code depends on: divisors of integers
    std::vector<StepForm> steps;
    std::vector<OutputForm> outputs;
    // reductions
    const ReductionInfo* reduction = nullptr;
    ScalarType compute = ScalarType::kFloat64;
    ScalarType result = ScalarType::kFloat64;
    ValueForm element;
    int outer_rank =
        0;  // kReduce: trailing grid dimensions that are outer reduced ones; kCombine: combined ones
    bool blocked = false;  // kReduce: the last grid dimension counts chunks
    bool partial = false;  // kReduce: the outputs are partial results (value [and index]) in the compute type
    int lanes = 1;
    int64_t block = 0;  // kReduce: elements of a block; 0: all are one
    int64_t chunk = 0;  // kReduce, when `blocked`: elements of a grid point, a power of two of blocks

    std::string key() const;   // equal for equal kernels
    std::string name() const;  // for people
};

// Parameters: grid sizes, reduced sizes, inputs, scalars, outputs.
ir::Module lower(const KernelForm& form);

}  // namespace weft
