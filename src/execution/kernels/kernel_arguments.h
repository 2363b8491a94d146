// What one kernel reads, computes and writes, between a group of the plan and its launch: the canonical form
// (lowering/lower.h) and, beside it, everything that differs from launch to launch.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/index_map.h"
#include "lowering/lower.h"
#include "planning/planner.h"

namespace weft {

struct BufferUse {
    int64_t base = 0;                // address of the first element; of a position: the first one
    const Buffer* buffer = nullptr;  // none for a position, or for memory of a task
    DType dtype;
    Dims strides;           // bytes, over the group's space, later over the kernel's dimensions
    bool position = false;  // no memory: counts base + Σ index · stride (InputForm::position)
    Dims computed = {};     // bytes, of the positions that the kernel's steps compute (gathers, scatters)
    bool streamed = false;  // an output that nobody reads soon (Group::streamed)
    bool prefetch = false;  // an output whose kernel asks memory for what it comes to next
};

BufferUse use_of(const Buffer& buffer, int64_t offset, DType dtype, Dims strides);

// Whether the operand is written into the kernel as a constant, instead of being an argument of its launch:
// integers are divided by a number without dividing, if the compiler sees it.
bool is_integer_divisor(const Node& node, size_t operand);

struct ScalarUse {
    DType dtype;
    ScalarBytes bytes;
    const Node* consumer =
        nullptr;  // whose operand it is; none where the graph's structure decides the value
    uint32_t operand = 0;
};

struct KernelParts {
    std::vector<BufferUse> inputs, outputs;
    std::vector<ScalarUse> scalars;
    KernelForm form;  // inputs and outputs are filled in by finish_forms
    int operations = 0;
    bool in_order = false;    // GridHints::in_order
    bool is_for_few = false;  // points, fewer than machine code is made for
};

// Writes the steps of a group's element-wise nodes into a kernel, from the values that it gives down to what
// it reads. A node that is read through several views becomes several steps.
class StepBuilder {
public:
    // `box`: of a group that reads through writes, where its kernel is to run. Uses are those of the whole
    // space all the same.
    StepBuilder(KernelParts& parts, const Group& group, const SpaceBox* box = nullptr);

    // Reads of this node are the kernel's reduction `index`, or (partial results) what it was combined to.
    void add_reduction(const Node& node, size_t index) { reductions_.emplace(&node, index); }

    // Reads of this node are an input of the kernel, which the caller makes; nothing else is that input.
    size_t add_input(const Node& node, BufferUse use);

    // What operand `number` of a node is that `map` maps to the group's space.
    ValueForm operand_of(const Node& consumer, size_t number, const IndexMap& map);
    // Where a node's computed positions lead to: operands from number `first` on, one for each gathered axis.
    void add_positions(const Node& node, size_t first, const IndexMap& map, std::vector<ValueForm>& positions,
                       std::vector<bool>& wraps);

    // A result of a node of the group.
    ValueForm value_of(const Node& node, uint32_t result, const IndexMap& map);

private:
    struct Step {
        const Node* node;
        IndexMap map;
        uint16_t index;
    };
    ValueForm input(BufferUse use);
    // What is read through the write at position `number` of the group; `map` leads into its frame.
    ValueForm through_write(size_t number, IndexMap map);
    ValueForm cast(ValueForm value, DType from, DType to);
    // Of the group's nodes: the position of one that is read through, none of others.
    std::optional<size_t> read_through(const Node* node) const;
    // Which of its stream's words or halves an element of a kDraw node is.
    ValueForm stream_position(const Node& node, const IndexMap& map);
    void gather(StepForm& step, const Node& node, const IndexMap& map);

    KernelParts& parts_;
    const Group& group_;
    const SpaceBox* box_;
    size_t rank_;
    std::unordered_map<const Node*, size_t> reductions_, given_inputs_;
    std::vector<const Node*> members_;  // sorted: what the kernel computes
    std::vector<Step> steps_;
};

// Orders the first `extents.size() - tail` dimensions by the strides of `layout_operand`, drops extents of
// one and merges neighbours that every use walks as one block. At least one dimension is left. Strides of the
// `tail` dimensions (which a use may lack) stay as they are.
void collapse(Dims& extents, std::vector<BufferUse*>& uses, const BufferUse& layout_operand, size_t tail = 0);

// `row`: KernelForm::row.
BufferForm buffer_form(const BufferUse& use, bool readonly, uint16_t alias_scope, bool of_element,
                       int64_t row = 0);

// The forms of inputs and outputs over the kernel's dimensions. With `row`, the last stride is along the row
// of a reduction: inputs that do not move along it are of the point level and lose it.
void finish_forms(KernelParts& parts, bool row);

}  // namespace weft
