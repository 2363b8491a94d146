// The canonical form of a kernel as text: its key, by which kernels are found
// (execution/kernels/kernel_store.h), and its name.
#include "lowering/lower.h"
#include "ops/defined.h"

namespace weft {

namespace {

void append_buffer(std::string& key, const BufferForm& buffer) {
    key += static_cast<char>('A' + static_cast<int>(buffer.element));
    key += std::to_string(buffer.alias_scope);
    key += buffer.readonly ? 'r' : 'w';
    if (buffer.of_element) key += 'e';
    if (buffer.streamed) key += 's';
    if (buffer.prefetch) key += 'a';
    for (const StrideClass stride : buffer.strides) key += static_cast<char>('0' + static_cast<int>(stride));
    for (const StrideClass stride : buffer.computed) key += static_cast<char>('5' + static_cast<int>(stride));
}

void append_value(std::string& key, const ValueForm& value) {
    key += "ivscr"[static_cast<int>(value.kind)];
    key += std::to_string(value.index);
    if (value.result != 0) key += "." + std::to_string(value.result);
}

// What the program defines is told by the symbol, which its meaning decides.
void append_operation(std::string& key, const OpInfo& op, int loop) {
    if (op.defined != nullptr) {
        key += op.loops[static_cast<size_t>(loop)].symbol;
    } else {
        key += std::to_string(static_cast<int>(op.id)) + ":" + std::to_string(loop);
    }
}

}  // namespace

std::string KernelForm::key() const {
    std::string key;
    key += static_cast<char>('0' + static_cast<int>(shape));
    key += std::to_string(grid_rank) + "|";
    for (const InputForm& input : inputs) {
        if (input.position) key += 'p';
        append_buffer(key, input.buffer);
        if (input.beside != 0) key += 'b' + std::to_string(input.beside) + ":" + std::to_string(input.steps);
    }
    key += '|';
    for (const ScalarType type : scalars) key += static_cast<char>('A' + static_cast<int>(type));
    for (const ir::Constant& constant : constants) {
        key += static_cast<char>('a' + static_cast<int>(constant.type));
        key.append(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
    }
    for (const StepForm& step : steps) {
        key += '|';
        if (step.kind == StepForm::Kind::kOperation) {
            append_operation(key, *step.op, step.loop);
        } else {
            key += step.kind == StepForm::Kind::kCast     ? '>'
                   : step.kind == StepForm::Kind::kArange ? '#'
                                                          : '@';
            key += static_cast<char>('A' + static_cast<int>(step.to));
        }
        if (step.kind == StepForm::Kind::kGather) {
            key += std::to_string(step.data);
            for (const bool wraps : step.wraps) key += wraps ? 'w' : '-';
        }
        for (const ValueForm& operand : step.operands) append_value(key, operand);
    }
    for (const OutputForm& output : outputs) {
        key += '=';
        append_value(key, output.value);
        append_buffer(key, output.buffer);
        for (const ValueForm& position : output.positions) append_value(key, position);
        for (const bool wraps : output.wraps) key += wraps ? 'w' : '-';
        if (output.condition) {
            key += '?';
            append_value(key, *output.condition);
        }
        if (output.largest) key += '^';
    }
    for (const ReductionForm& reduction : reductions) {
        key += '#' + std::string(reduction.info->name);
        if (const DefinedReduction* defined = defined_reduction(*reduction.info)) {
            key += ':';
            append_operation(key, *defined->by, 0);
            key.append(reinterpret_cast<const char*>(defined->start.bytes.data()),
                       defined->start.bytes.size());
        }
        key += static_cast<char>('A' + static_cast<int>(reduction.compute));
        key += static_cast<char>('A' + static_cast<int>(reduction.result));
        append_value(key, reduction.element);
        key += '@' + std::to_string(reduction.phase);
    }
    if (scan) {
        key += '$';
        append_operation(key, *scan->op, scan->op->defined != nullptr ? scan->loop() : 0);
        key += static_cast<char>('A' + static_cast<int>(scan->compute));
        append_value(key, scan->element);
        key += static_cast<char>('0' + static_cast<int>(scan->part));
        key += scan->in_order ? 'o' : 'b';
        key += scan->across ? 'a' : 'r';
    }
    if (compress) {
        key += "%" + std::to_string(compress->rank) + "/" + std::to_string(compress->scalars);
        append_value(key, compress->mask);
        if (compress->value) append_value(key, *compress->value);
    }
    if (!reductions.empty()) {
        key += ',' + std::to_string(outer_rank) + (chunked ? "c" : "") + (collapsed ? "f" : "") +
               (row != 0 ? "w" + std::to_string(row) + ":" : "") + std::to_string(lanes) + "/" +
               std::to_string(block) + "/" + std::to_string(chunk) + "/" + std::to_string(shift_elements);
    }
    if (then != nullptr) key += "+" + then->key();
    return key;
}

std::string KernelForm::name() const {
    std::string name;
    int more = 0;
    bool counts = false;
    const auto append = [&](std::string_view part) {
        if (name.size() > 40) {
            ++more;
        } else {
            name += (name.empty() ? "" : "_") + std::string(part);
        }
    };
    for (const StepForm& step : steps) {
        if (step.kind == StepForm::Kind::kOperation) append(step.op->name);
        if (step.kind == StepForm::Kind::kGather) append("gather");
        counts |= step.kind == StepForm::Kind::kArange;
    }
    for (const OutputForm& output : outputs) {
        if (!output.positions.empty()) append("scatter");
    }
    if (more != 0) name += "_and_" + std::to_string(more) + "_more";
    for (const ReductionForm& reduction : reductions)
        name += (name.empty() ? "" : "_") + std::string(reduction.info->name);
    if (shape == KernelShape::kCombine) name += "_combine";
    if (shape == KernelShape::kProduct) name = "product_of_tiles";
    if (scan) {
        name += (name.empty() ? "" : "_") + std::string(scan->op->name) + "_scan";
        if (scan->part == ScanForm::Part::kChunkTotals) name += "_totals";
        if (scan->part == ScanForm::Part::kBefore) name += "_before";
    }
    if (compress)
        name += std::string(name.empty() ? "" : "_") + (compress->value ? "compress" : "compress_positions");
    if (name.empty()) name = counts ? "arange" : inputs.empty() ? "fill" : "copy";
    const ScalarType type = !reductions.empty() ? reductions[0].compute
                            : scan              ? scan->compute
                            : outputs.empty()   ? ScalarType::kFloat64
                                                : outputs[0].buffer.element;
    name += "_" + std::string(DType::of(type).name());
    if (then != nullptr && !then->steps.empty()) name += "_then_" + then->name();
    return name;
}

}  // namespace weft
