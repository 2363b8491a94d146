#include "execution/kernels/kernel_arguments.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "core/optimisation_switches.h"
#include "core/shape.h"

namespace weft {

BufferUse use_of(const Buffer& buffer, int64_t offset, DType dtype, Dims strides) {
    return {static_cast<int64_t>(buffer.address()) + offset, &buffer, dtype, std::move(strides), false};
}

bool is_integer_divisor(const Node& node, size_t operand) {
    if (node.op == nullptr || operand != 1 || !node.inputs[1].is_constant()) return false;
    const OpId id = node.op->id;
    const bool divides =
        id == OpId::kFloorDivide || id == OpId::kRemainder || id == OpId::kFmod || id == OpId::kDivmod;
    return divides && DType(node.op->loops[static_cast<size_t>(node.loop)].types[1]).is_integer();
}

StepBuilder::StepBuilder(KernelParts& parts, const Group& group, const SpaceBox* box)
    : parts_(parts),
      group_(group),
      box_(box),
      rank_(group.shape.size()),
      members_(group.nodes.begin(), group.nodes.end()) {
    std::sort(members_.begin(), members_.end());
}

ValueForm StepBuilder::input(BufferUse use) {
    for (size_t k = 0; k < parts_.inputs.size(); ++k) {
        const BufferUse& other = parts_.inputs[k];
        // Buffers that others share with us may lie in one place today and not tomorrow, when the plan is met
        // again.
        if (other.base == use.base && other.buffer == use.buffer && other.position == use.position &&
            other.dtype == use.dtype && other.strides == use.strides && other.computed == use.computed) {
            return {ValueForm::Kind::kInput, static_cast<uint16_t>(k), 0};
        }
    }
    parts_.inputs.push_back(std::move(use));
    return {ValueForm::Kind::kInput, static_cast<uint16_t>(parts_.inputs.size() - 1), 0};
}

size_t StepBuilder::add_input(const Node& node, BufferUse use) {
    given_inputs_.emplace(&node, parts_.inputs.size());
    parts_.inputs.push_back(std::move(use));
    return parts_.inputs.size() - 1;
}

ValueForm StepBuilder::operand_of(const Node& consumer, size_t number, const IndexMap& map) {
    const Operand& operand = consumer.inputs[number];
    if (operand.is_constant()) {
        parts_.scalars.push_back({operand.dtype, operand.constant, &consumer, static_cast<uint32_t>(number)});
        parts_.form.scalars.push_back(operand.dtype.scalar_type());
        return {ValueForm::Kind::kScalar, static_cast<uint16_t>(parts_.scalars.size() - 1), 0};
    }
    if (operand.source.node) {
        const Node& producer = *operand.source.node;
        if (const auto number = read_through(&producer)) {
            const auto read = map_into(group_.frames[*number],
                                       {&consumer.shape, &operand.strides, operand.offset, operand.dtype});
            WEFT_CHECK(read.has_value(), "a group reads a storage through a view that has no frame");
            return through_write(*number, compose(*read, map));
        }
        const NodeResult& result = producer.results[operand.source.result];
        const auto read = read_map(operand, consumer.shape, result, producer.result_shape());
        WEFT_CHECK(read.has_value(), "a group reads a value through a view that it cannot compute");
        return value_of(producer, operand.source.result, compose(*read, map));
    }
    return input(use_of(*operand.source.buffer, offset_over_space(operand.strides, operand.offset, map),
                        operand.dtype, strides_over_space(operand.strides, map, rank_)));
}

std::optional<size_t> StepBuilder::read_through(const Node* node) const {
    if (group_.frames.empty()) return std::nullopt;
    const auto found = std::find(group_.nodes.begin(), group_.nodes.end(), node);
    const auto number = static_cast<size_t>(found - group_.nodes.begin());
    return found != group_.nodes.end() && group_.frames[number].valid() ? std::optional(number)
                                                                        : std::nullopt;
}

ValueForm StepBuilder::cast(ValueForm value, DType from, DType to) {
    if (from == to) return value;
    StepForm step;
    step.kind = StepForm::Kind::kCast;
    step.to = to.scalar_type();
    step.operands.push_back(value);
    parts_.form.steps.push_back(std::move(step));
    return {ValueForm::Kind::kStep, static_cast<uint16_t>(parts_.form.steps.size() - 1), 0};
}

ValueForm StepBuilder::through_write(size_t number, IndexMap map) {
    while (true) {
        const Node& write = *group_.nodes[number];
        const Frame& frame = group_.frames[number];
        const Window window = window_of(frame, write).value();
        const Side side = side_of(window, map, box_->lower, box_->upper);
        WEFT_CHECK(side != Side::kBoth, "a box of a group lies on both sides of a window");
        if (side == Side::kInside)
            return cast(operand_of(write, 1, into_window(window, map)), write.inputs[1].dtype, frame.dtype);
        const Source& old = write.inputs[0].source;
        if (old.buffer)
            return input(use_of(*old.buffer, offset_over_space(frame.strides, 0, map), frame.dtype,
                                strides_over_space(frame.strides, map, rank_)));
        if (const auto before = read_through(old.node.get())) {
            map = compose(map_into(group_.frames[*before], whole_of(frame)).value(), map);
            number = *before;
            continue;
        }
        const Node& producer = *old.node;
        const auto read = map_into(producer.results[old.result], producer.result_shape(), whole_of(frame));
        WEFT_CHECK(read.has_value(), "a group reads an old version that it cannot compute");
        return value_of(producer, old.result, compose(*read, map));
    }
}

ValueForm StepBuilder::value_of(const Node& node, uint32_t result, const IndexMap& map) {
    if (const auto found = reductions_.find(&node); found != reductions_.end()) {
        return {ValueForm::Kind::kReduction, static_cast<uint16_t>(found->second), 0};
    }
    if (const auto found = given_inputs_.find(&node); found != given_inputs_.end()) {
        return {ValueForm::Kind::kInput, static_cast<uint16_t>(found->second), 0};
    }
    WEFT_CHECK(std::binary_search(members_.begin(), members_.end(), &node),
               "a group reads a node that is not computed yet");
    for (const Step& step : steps_) {
        if (step.node == &node && step.map == map)
            return {ValueForm::Kind::kStep, step.index, static_cast<uint16_t>(result)};
    }
    StepForm step;
    step.op = node.op;
    step.loop = node.loop;
    step.to = node.results[0].dtype.scalar_type();
    if (node.kind() == NodeKind::kArange) {
        step.kind = StepForm::Kind::kArange;
        const Dims one(1, 1);
        step.operands.push_back(input(
            {map.start[0], nullptr, DType(ScalarType::kInt64), strides_over_space(one, map, rank_), true}));
    } else if (node.kind() == NodeKind::kDraw) {
        ++parts_.operations;
        step.operands.push_back(stream_position(node, map));
    } else if (node.kind() == NodeKind::kGather) {
        ++parts_.operations;
        gather(step, node, map);
    } else if (node.op == nullptr) {
        step.kind = StepForm::Kind::kCast;
    } else {
        ++parts_.operations;
    }
    const size_t first = node.kind() == NodeKind::kDraw ? 1 : 0;
    for (size_t k = first; node.kind() != NodeKind::kGather && k < node.inputs.size(); ++k) {
        if (!is_integer_divisor(node, k)) {
            step.operands.push_back(operand_of(node, k, map));
            continue;
        }
        ir::Constant constant;
        constant.type = node.inputs[k].dtype.scalar_type();
        constant.bytes = node.inputs[k].constant;
        step.operands.push_back(
            {ValueForm::Kind::kConstant, static_cast<uint16_t>(parts_.form.constants.size()), 0});
        parts_.form.constants.push_back(constant);
    }
    const auto index = static_cast<uint16_t>(parts_.form.steps.size());
    parts_.form.steps.push_back(std::move(step));
    steps_.push_back({&node, map, index});
    return {ValueForm::Kind::kStep, index, static_cast<uint16_t>(result)};
}

ValueForm StepBuilder::stream_position(const Node& node, const IndexMap& map) {
    const Dims order = c_strides(node.shape, 1);
    StepForm sum;
    sum.op = &op_info(OpId::kAdd);
    const std::array<ScalarType, 2> types = {ScalarType::kInt64, ScalarType::kInt64};
    sum.loop = static_cast<int>(find_loop(*sum.op, types) - sum.op->loops.data());
    sum.operands.push_back(input({offset_over_space(order, 0, map), nullptr, DType(ScalarType::kInt64),
                                  strides_over_space(order, map, rank_), true}));
    sum.operands.push_back(operand_of(node, 0, map));
    parts_.form.steps.push_back(std::move(sum));
    return {ValueForm::Kind::kStep, static_cast<uint16_t>(parts_.form.steps.size() - 1), 0};
}

// The data is an input whose last dimensions are walked by what the step computes.
void StepBuilder::gather(StepForm& step, const Node& node, const IndexMap& map) {
    step.kind = StepForm::Kind::kGather;
    const Operand& data = node.inputs[0];
    WEFT_CHECK(data.source.buffer != nullptr, "a gather reads a value that is not in memory");
    BufferUse use = use_of(*data.source.buffer, offset_over_space(data.strides, data.offset, map), data.dtype,
                           strides_over_space(data.strides, map, rank_));
    for (const GatheredAxis& axis : node.gathered()) use.computed.push_back(axis.stride);
    step.data = input(std::move(use)).index;
    add_positions(node, 1, map, step.operands, step.wraps);
}

void StepBuilder::add_positions(const Node& node, size_t first, const IndexMap& map,
                                std::vector<ValueForm>& positions, std::vector<bool>& wraps) {
    for (size_t k = 0; k < node.gathered().size(); ++k) {
        const GatheredAxis& axis = node.gathered()[k];
        positions.push_back(operand_of(node, first + k, map));
        wraps.push_back(axis.wraps);
        if (!axis.wraps) continue;
        ScalarBytes extent{};
        std::memcpy(extent.data(), &axis.extent, sizeof axis.extent);
        parts_.scalars.push_back({ScalarType::kInt64, extent});
        parts_.form.scalars.push_back(ScalarType::kInt64);
        positions.push_back({ValueForm::Kind::kScalar, static_cast<uint16_t>(parts_.scalars.size() - 1), 0});
    }
}

void collapse(Dims& extents, std::vector<BufferUse*>& uses, const BufferUse& layout_operand, size_t tail) {
    struct Dimension {
        int64_t extent;
        std::vector<int64_t> strides;
        int64_t order;
    };
    const size_t count = extents.size() - tail;
    std::vector<Dimension> dimensions;
    for (size_t d = 0; d < count; ++d) {
        if (extents[d] == 1) continue;
        Dimension dimension{extents[d], {}, std::abs(layout_operand.strides[d])};
        for (const BufferUse* use : uses) dimension.strides.push_back(use->strides[d]);
        dimensions.push_back(std::move(dimension));
    }
    std::stable_sort(dimensions.begin(), dimensions.end(),
                     [](const Dimension& a, const Dimension& b) { return a.order > b.order; });
    std::vector<Dimension> merged;
    for (Dimension& dimension : dimensions) {
        bool merge = !merged.empty();
        for (size_t k = 0; merge && k < uses.size(); ++k) {
            merge = merged.back().strides[k] == dimension.strides[k] * dimension.extent;
        }
        if (merge) {
            merged.back().extent *= dimension.extent;
            merged.back().strides = dimension.strides;
        } else {
            merged.push_back(std::move(dimension));
        }
    }
    if (merged.empty()) merged.push_back({1, std::vector<int64_t>(uses.size()), 0});
    const Dims tail_extents(std::span(extents.begin() + count, tail));
    extents.clear();
    for (const Dimension& dimension : merged) extents.push_back(dimension.extent);
    for (const int64_t extent : tail_extents) extents.push_back(extent);
    for (size_t k = 0; k < uses.size(); ++k) {
        Dims& strides = uses[k]->strides;
        const Dims rest(std::span(strides.begin() + count, strides.size() - count));
        strides.clear();
        for (const Dimension& dimension : merged) strides.push_back(dimension.strides[k]);
        for (const int64_t stride : rest) strides.push_back(stride);
    }
}

namespace {

StrideClass stride_class(int64_t stride, int64_t itemsize, int64_t row) {
    if (stride == 0) return StrideClass::kZero;
    if (stride == itemsize) return StrideClass::kItem;
    if (stride == -itemsize) return StrideClass::kMinusItem;
    if (row != 0 && stride == row * itemsize) return StrideClass::kRow;
    return StrideClass::kDynamic;
}

}  // namespace

BufferForm buffer_form(const BufferUse& use, bool readonly, uint16_t alias_scope, bool of_element,
                       int64_t row) {
    BufferForm form;
    form.element = use.dtype.scalar_type();
    form.alias_scope = alias_scope;
    form.readonly = readonly;
    form.of_element = of_element;
    for (const int64_t stride : use.strides)
        form.strides.push_back(stride_class(stride, use.position ? 1 : use.dtype.itemsize(), row));
    for (const int64_t stride : use.computed)
        form.computed.push_back(stride_class(stride, use.dtype.itemsize(), 0));
    return form;
}

namespace {

// Views of one array that begin a few elements apart: a thread of a GPU that computes a run of neighbours
// reads them together. Which buffers are one, and offsets in them, are the same whenever a plan is met again.
void find_views_beside(KernelParts& parts) {
    constexpr int64_t kSmallBytes = 2;  // of elements that GPUs read in words of several
    constexpr int64_t kMostSteps = 8;
    for (size_t k = 0; k < parts.inputs.size(); ++k) {
        const BufferUse& use = parts.inputs[k];
        const int64_t itemsize = use.dtype.itemsize();
        if (use.position || itemsize > kSmallBytes || use.strides.empty() || !use.computed.empty() ||
            use.strides.back() != itemsize || use.buffer->on_host())
            continue;
        for (size_t other = 0; other < k; ++other) {
            const BufferUse& before = parts.inputs[other];
            const int64_t bytes = use.base - before.base;
            if (before.position || before.buffer != use.buffer || before.dtype != use.dtype ||
                before.strides != use.strides || !before.computed.empty() ||
                parts.form.inputs[other].beside != 0 || bytes % itemsize != 0 ||
                std::abs(bytes / itemsize) > kMostSteps)
                continue;
            parts.form.inputs[k].beside = static_cast<uint16_t>(other + 1);
            parts.form.inputs[k].steps = static_cast<int16_t>(bytes / itemsize);
            break;
        }
    }
}

// Whether a CPU's kernel reads element after element at computed positions of an array that is many times
// what a core's caches hold; more times where the positions are computed in the kernel, which does that twice
// then.
bool gathers_from_afar(const KernelParts& parts, size_t input) {
    constexpr int64_t kFar = 8, kFarForComputed = 24;
    const BufferUse& use = parts.inputs[input];
    if (use.position || use.computed.empty() || !use.buffer->on_host() ||
        !is_on(OptimisationSwitch::kPrefetch) || (!use.strides.empty() && use.strides.back() != 0))
        return false;
    const auto& steps = parts.form.steps;
    const bool computed = std::any_of(steps.begin(), steps.end(), [&](const StepForm& step) {
        return step.kind == StepForm::Kind::kGather && step.data == input &&
               std::any_of(step.operands.begin(), step.operands.end(),
                           [](const ValueForm& value) { return value.kind == ValueForm::Kind::kStep; });
    });
    const int64_t caches = cpu_device().core_cache_bytes() * (computed ? kFarForComputed : kFar);
    return static_cast<int64_t>(use.buffer->size()) >= caches;
}

}  // namespace

void finish_forms(KernelParts& parts, bool row) {
    const auto grid = static_cast<size_t>(parts.form.grid_rank) - (parts.form.chunked ? 1 : 0);
    const bool combines = parts.form.shape == KernelShape::kCombine;
    for (size_t k = 0; k < parts.outputs.size(); ++k) {
        const bool of_element = row && !parts.form.chunked && parts.outputs[k].strides.size() > grid;
        BufferForm& form = parts.form.outputs[k].buffer;
        form = buffer_form(parts.outputs[k], false, static_cast<uint16_t>(k + 1), of_element, parts.form.row);
        // Of kernels over rows only scans write in a loop that does nothing else.
        const bool in_pieces = parts.form.scan ? !parts.form.scan->across : !row;
        parts.outputs[k].streamed &= !form.strides.empty() && form.strides.back() == StrideClass::kItem &&
                                     in_pieces && form.computed.empty();
        form.streamed = parts.outputs[k].streamed;
        form.prefetch = parts.outputs[k].prefetch;
    }
    for (size_t number = 0; number < parts.inputs.size(); ++number) {
        BufferUse& input = parts.inputs[number];
        uint16_t scope = 0;
        for (size_t k = 0; k < parts.outputs.size(); ++k) {
            if (!input.position && input.buffer == parts.outputs[k].buffer)
                scope = static_cast<uint16_t>(k + 1);
        }
        bool of_element = false;
        if (row && input.strides.size() > grid) {
            of_element = std::any_of(input.strides.begin() + grid, input.strides.end(),
                                     [](int64_t stride) { return stride != 0; });
            if (!of_element) input.strides.resize(grid);
        }
        const size_t along_row = !of_element ? 0 : parts.form.collapsed ? 2 : 1;
        WEFT_CHECK(combines || input.strides.size() == grid + along_row, "strides of a kernel");
        parts.form.inputs.push_back(
            {buffer_form(input, true, scope, of_element, parts.form.row), input.position});
        parts.form.inputs.back().buffer.prefetch = gathers_from_afar(parts, number);
    }
    if (parts.form.shape == KernelShape::kElementwise) find_views_beside(parts);
}

}  // namespace weft
