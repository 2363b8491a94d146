#include "lowering/value_lowering.h"

#include <algorithm>

#include "ops/op.h"
#include "weft/errors.h"

namespace weft {

using ir::ValueId;

void ValueLowering::declare() {
    KernelParameters parameters = declare_parameters(builder_, form_);
    grid_sizes_ = std::move(parameters.grid_sizes);
    reduced_sizes_ = std::move(parameters.reduced_sizes);
    inputs_ = std::move(parameters.inputs);
    positions_ = std::move(parameters.positions);
    scalars_ = std::move(parameters.scalars);
    outputs_ = std::move(parameters.outputs);
}

bool ValueLowering::of_element(const ValueForm& value) const {
    if (value.kind == ValueForm::Kind::kInput) return form_.inputs[value.index].buffer.of_element;
    return value.kind == ValueForm::Kind::kStep && step_of_element_[value.index];
}

void ValueLowering::find_levels() {
    for (const StepForm& step : form_.steps) {
        const bool reads_element =
            step.kind == StepForm::Kind::kGather && form_.inputs[step.data].buffer.of_element;
        step_of_element_.push_back(reads_element ||
                                   std::any_of(step.operands.begin(), step.operands.end(),
                                               [&](const ValueForm& value) { return of_element(value); }));
    }
}

ValueLowering::Scope ValueLowering::make_scope(std::span<const ValueId> indices, Scope* point) const {
    Scope scope{{indices.begin(), indices.end()}, {}, {}, point};
    scope.loaded.resize(form_.inputs.size());
    scope.steps.resize(form_.steps.size());
    return scope;
}

void ValueLowering::prepare(Scope& point, const ValueForm& value) {
    if (!of_element(value)) {
        compute(point, value);
        return;
    }
    if (value.kind != ValueForm::Kind::kStep) return;
    const std::vector<bool>& needed = needed_by(value.index);
    for (size_t k = 0; k <= value.index; ++k) {
        if (!needed[k]) continue;
        if (!step_of_element_[k]) {
            compute_step(point, k);
            continue;
        }
        for (const ValueForm& operand : form_.steps[k].operands) {
            if (operand.kind == ValueForm::Kind::kInput && !of_element(operand)) compute(point, operand);
        }
    }
}

ValueId ValueLowering::compute(Scope& scope, const ValueForm& value) {
    if (scope.point != nullptr && !of_element(value)) return compute(*scope.point, value);
    switch (value.kind) {
        case ValueForm::Kind::kInput: {
            ValueId& loaded = scope.loaded[value.index];
            if (!loaded.valid()) loaded = load_input(value.index, scope.indices);
            return loaded;
        }
        case ValueForm::Kind::kScalar: return scalars_[value.index];
        case ValueForm::Kind::kConstant: return builder_.constant(form_.constants[value.index]);
        case ValueForm::Kind::kReduction:
            WEFT_CHECK(reduced_[value.index].valid(), "a kernel reads a reduction that comes later");
            return reduced_[value.index];
        case ValueForm::Kind::kStep: break;
    }
    // Steps come in an order in which each operand is there: no recursion, however long the chain is.
    const std::vector<bool>& needed = needed_by(value.index);
    for (size_t k = 0; k <= value.index; ++k) {
        if (needed[k]) compute_step(scope, k);
    }
    return scope.steps[value.index][value.result];
}

// Which steps `step` needs, itself included.
const std::vector<bool>& ValueLowering::needed_by(size_t step) {
    std::vector<bool>& needed = needed_[step];
    if (!needed.empty()) return needed;
    needed.resize(form_.steps.size());
    needed[step] = true;
    for (size_t k = step + 1; k-- > 0;) {
        if (!needed[k]) continue;
        for (const ValueForm& operand : form_.steps[k].operands) {
            if (operand.kind == ValueForm::Kind::kStep) needed[operand.index] = true;
        }
    }
    return needed;
}

void ValueLowering::compute_step(Scope& scope, size_t index) {
    if (scope.point != nullptr && !step_of_element_[index]) return compute_step(*scope.point, index);
    if (!scope.steps[index].empty()) return;
    const StepForm& step = form_.steps[index];
    Values operands;
    for (size_t k = 0; k < step.operands.size(); ++k) {
        const ValueForm& form = step.operands[k];
        const ValueId operand =
            form.kind == ValueForm::Kind::kStep ? step_value(scope, form) : compute(scope, form);
        switch (step.kind) {
            case StepForm::Kind::kOperation:
                operands.push_back(
                    builder_.cast(operand, step.op->loops[static_cast<size_t>(step.loop)].types[k]));
                break;
            case StepForm::Kind::kCast: operands.push_back(builder_.cast(operand, step.to)); break;
            case StepForm::Kind::kArange: operands.push_back(operand); break;
            case StepForm::Kind::kGather:
                operands.push_back(builder_.cast(operand, ScalarType::kInt64));
                break;
        }
    }
    switch (step.kind) {
        case StepForm::Kind::kOperation:
            scope.steps[index] = builder_.apply_multiple(*step.op, operands);
            break;
        case StepForm::Kind::kCast: scope.steps[index] = operands; break;
        case StepForm::Kind::kArange:
            scope.steps[index] = {arange(step.to, operands[0], operands[1], operands[2])};
            break;
        case StepForm::Kind::kGather: scope.steps[index] = {gather(scope, step, operands)}; break;
    }
}

ValueId ValueLowering::step_value(const Scope& scope, const ValueForm& form) const {
    const Scope& owner = scope.point != nullptr && !step_of_element_[form.index] ? *scope.point : scope;
    return owner.steps[form.index][form.result];
}

ValueId ValueLowering::load_input(size_t index, std::span<const ValueId> indices) {
    const InputForm& input = form_.inputs[index];
    if (input.beside != 0 && target_ == KernelTarget::kGpu) {
        Values moved(indices.begin(), indices.end());
        moved.back() = builder_.apply(OpId::kAdd, {moved.back(), builder_.index(input.steps)});
        return builder_.load(inputs_[input.beside - 1U], moved);
    }
    if (!input.position) return builder_.load(inputs_[index], indices);
    ValueId position = positions_[index].base;
    for (size_t d = 0; d < indices.size(); ++d) {
        ValueId term = indices[d];
        switch (input.buffer.strides[d]) {
            case StrideClass::kZero: continue;
            case StrideClass::kItem: break;
            case StrideClass::kMinusItem: term = builder_.apply(OpId::kNegative, {term}); break;
            case StrideClass::kDynamic:
                term = builder_.apply(OpId::kMultiply, {term, positions_[index].strides[d]});
                break;
            case StrideClass::kRow:
                term = builder_.apply(OpId::kMultiply, {term, builder_.index(form_.row)});
                break;
        }
        position = builder_.apply(OpId::kAdd, {position, term});
    }
    return position;
}

ValueId ValueLowering::arange(ScalarType type, ValueId position, ValueId start, ValueId step) {
    const ScalarType wide =
        type == ScalarType::kBool ? ScalarType::kInt64 : DType(type).accumulator().scalar_type();
    const ValueId offset =
        builder_.apply(OpId::kMultiply, {builder_.cast(position, wide), builder_.cast(step, wide)});
    return builder_.cast(builder_.apply(OpId::kAdd, {builder_.cast(start, wide), offset}), type);
}

// Appends positions that are given as a kGather step's operands are.
void ValueLowering::append_positions(Values& indices, std::span<const ValueId> operands,
                                     const std::vector<bool>& wraps) {
    size_t at = 0;
    for (const bool wrap : wraps) {
        ValueId position = operands[at++];
        if (wrap) {
            const ValueId negative = builder_.apply(OpId::kLess, {position, builder_.index(0)});
            const ValueId from_end = builder_.apply(OpId::kAdd, {position, operands[at++]});
            position = builder_.apply(OpId::kSelect, {negative, from_end, position});
        }
        indices.push_back(position);
    }
}

ValueId ValueLowering::gather(const Scope& scope, const StepForm& step, std::span<const ValueId> operands) {
    const size_t walked = form_.inputs[step.data].buffer.strides.size();
    Values indices(scope.indices.begin(), scope.indices.begin() + static_cast<std::ptrdiff_t>(walked));
    append_positions(indices, operands, step.wraps);
    return builder_.load(inputs_[step.data], indices);
}

void ValueLowering::store(Scope& scope, size_t output) {
    const OutputForm& form = form_.outputs[output];
    const ValueId value = builder_.cast(compute(scope, form.value), form.buffer.element);
    const Values* indices = &scope.indices;
    Values computed;
    if (!form.positions.empty()) {
        Values operands;
        for (const ValueForm& position : form.positions)
            operands.push_back(builder_.cast(compute(scope, position), ScalarType::kInt64));
        const auto walked = static_cast<std::ptrdiff_t>(form.buffer.strides.size());
        computed.assign(scope.indices.begin(), scope.indices.begin() + walked);
        append_positions(computed, operands, form.wraps);
        indices = &computed;
    }
    if (form.largest) {
        builder_.atomic(op_info(OpId::kMaximum), outputs_[output], value, *indices, ir::MemoryOrder::kRelaxed,
                        ir::MemoryScope::kDevice);
    } else if (form.condition) {
        builder_.store_if(outputs_[output], value, *indices, compute(scope, *form.condition));
    } else {
        builder_.store(outputs_[output], value, *indices);
    }
}

bool ValueLowering::is_computed(const Scope& scope, const ValueForm& value) {
    switch (value.kind) {
        case ValueForm::Kind::kInput: return scope.loaded[value.index].valid();
        case ValueForm::Kind::kStep: return !scope.steps[value.index].empty();
        default: return true;
    }
}

}  // namespace weft
