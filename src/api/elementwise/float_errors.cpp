#include "api/elementwise/float_errors.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/elementwise/float_error_rules.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "ops/resolve.h"

namespace weft {

namespace {

thread_local int watching = 0;

// The loop that call() takes.
const LoopInfo& loop_of(const OpInfo& op, std::span<const Argument> inputs, std::optional<DType> dtype,
                        Casting casting) {
    std::vector<OperandType> types;
    for (const Argument& input : inputs) types.push_back(operand_type(input));
    return dtype ? resolve_loop(op, types, dtype, casting) : find_loop_cached(op, types);
}

bool may_err(const OpInfo& op) {
    return op.defined == nullptr && op.kind != OpKind::kComparison && op.kind != OpKind::kLogical &&
           op.kind != OpKind::kBitwise;
}

// Whether Python numbers and scalars of this type overflow.
void inspect_integers(FloatWatch& watch, const OpInfo& op, const LoopInfo& loop,
                      std::span<const array> inputs) {
    const DType type(loop.types[0]);
    __int128 operands[2] = {};
    for (size_t k = 0; k < inputs.size() && k < 2; ++k) {
        int64_t value = 0;
        const bool is_unsigned = type.is_unsigned_integer();
        read_element(astype(inputs[k], is_unsigned ? ScalarType::kUInt64 : ScalarType::kInt64), {}, &value);
        operands[k] = is_unsigned ? static_cast<__int128>(static_cast<uint64_t>(value)) : value;
    }
    __int128 result = 0;
    switch (op.id) {
        case OpId::kAdd: result = operands[0] + operands[1]; break;
        case OpId::kSubtract: result = operands[0] - operands[1]; break;
        case OpId::kMultiply: result = operands[0] * operands[1]; break;
        case OpId::kNegative: result = -operands[0]; break;
        case OpId::kAbsolute: result = operands[0] < 0 ? -operands[0] : operands[0]; break;
        default: return;
    }
    if (!python_int_fits(result, type)) watch.found(FloatError::kOver);
}

}  // namespace

FloatWatch::FloatWatch() {
    if (watching != 0 || !float_errors_watched()) return;
    if (FloatErrorListener* listener = float_error_listener()) wanted_ = listener->wanted();
    if (wanted_ != 0) ++watching;
}

FloatWatch::~FloatWatch() {
    if (wanted_ != 0) --watching;
}

void FloatWatch::look(FloatError error, const array& condition) {
    if (wants(error) && condition.size() != 0) inspections_.push_back({error, condition});
}

void FloatWatch::report(std::string_view name, std::span<const array> results, std::string_view invalid) {
    std::vector<array> all(results.begin(), results.end()), answers;
    for (const Inspection& inspection : inspections_) {
        const array where = mask_ ? both(inspection.condition, *mask_) : inspection.condition;
        answers.push_back(reduce("any", where));
    }
    all.insert(all.end(), answers.begin(), answers.end());
    eval(all);
    for (size_t k = 0; k < inspections_.size(); ++k) {
        char truth = 0;
        read_element(answers[k], {}, &truth);
        if (truth != 0) found(inspections_[k].error);
    }
    inspections_.clear();
    mask_.reset();
    const FloatErrors errors = std::exchange(found_, 0);
    const FloatErrors apart = invalid.empty() ? 0 : errors & bit(FloatError::kInvalid);
    if (apart != 0) float_error_listener()->report(apart, invalid);
    if (errors != apart) float_error_listener()->report(errors & ~apart, name);
}

std::vector<array> watched_call(FloatWatch& watch, const OpInfo& op, std::span<const Argument> inputs,
                                const CallOptions& options) {
    const bool on_scalars = ScalarOperation::is_current();
    std::vector<Argument> before(inputs.begin(), inputs.end());
    for (Argument& input : before) {
        const auto* operand = std::get_if<array>(&input);
        if (operand == nullptr) continue;
        for (const array& out : options.out) {
            if (out.valid() && out.storage() == operand->storage()) input = copy(*operand);
            if (std::get_if<array>(&input) != operand) break;
        }
    }
    std::vector<array> results = call(op, inputs, options);
    if (!may_err(op) || std::ranges::all_of(results, [](const array& each) { return each.size() == 0; })) {
        watch.report(op.numpy_name, results);
        return results;
    }
    const DeviceScope scope(device_of(results[0]));
    const LoopInfo& loop = loop_of(op, before, options.dtype, options.casting);
    std::vector<array> operands, values = results;
    for (size_t k = 0; k < before.size(); ++k) {
        const auto* given = std::get_if<array>(&before[k]);
        if (given == nullptr) {
            operands.push_back(from_argument(before[k], DType(loop.types[k])));
            if (std::holds_alternative<double>(before[k]))
                inspect_cast(watch, from_argument(before[k]), operands.back());
        } else if (given->dtype().scalar_type() == loop.types[k]) {
            operands.push_back(*given);
        } else {
            operands.push_back(astype(*given, DType(loop.types[k])));
            inspect_cast(watch, *given, operands.back());
        }
    }
    watch.report("cast", results);
    if (!options.out.empty()) {
        CallOptions plain;
        plain.dtype = options.dtype;
        plain.casting = options.casting;
        values = call(op, before, plain);
        for (size_t k = 0; k < values.size(); ++k) {
            if (options.out[k].valid() && !(options.out[k].dtype() == values[k].dtype()))
                inspect_cast(watch, values[k], astype(values[k], options.out[k].dtype()));
        }
    }
    if (options.where) watch.set_mask(*options.where);
    inspect_call(watch, op, operands, values);
    if (on_scalars && DType(loop.types[0]).is_integer()) inspect_integers(watch, op, loop, operands);
    watch.report((on_scalars ? "scalar " : "") + std::string(op.numpy_name), results);
    return results;
}

array watched_reduce(FloatWatch& watch, const ReductionInfo& info, const array& input,
                     const ReduceOptions& options) {
    // Results are inspected before they are cast to out's dtype.
    ReduceOptions plain = options;
    plain.out = array();
    array result = reduce(info, input, plain);
    const array before = copy(result);
    if (options.out.valid()) result = reduce(info, input, options);
    if (before.dtype().is_inexact() && before.size() != 0 && !info.gives_index &&
        (info.combine == OpId::kAdd || info.combine == OpId::kMultiply)) {
        const DeviceScope scope(device_of(input));
        inspect_reduction(watch, info, input, before, options);
    }
    if (info.deviations) {
        watch.report("square", {&result, 1}, "subtract");
    } else {
        watch.report("reduce", {&result, 1});
    }
    return result;
}

array watched_accumulate(FloatWatch& watch, const OpInfo& op, const array& input, int64_t axis,
                         const AccumulateOptions& options) {
    const array before = options.out.valid() ? copy(input) : input;
    const array result = accumulate(op, input, axis, options);
    if (result.dtype().is_inexact() && result.size() != 0 && may_err(op)) {
        const DeviceScope scope(device_of(input));
        inspect_scan(watch, before, result, axis);
    }
    watch.report("accumulate", {&result, 1});
    return result;
}

array watched_astype(FloatWatch& watch, const array& input, DType dtype, char order, Casting casting,
                     bool copy) {
    const array result = astype(input, dtype, order, casting, copy);
    const DeviceScope scope(device_of(input));
    inspect_cast(watch, input, result);
    watch.report("cast", {&result, 1});
    return result;
}

void watched_assign(FloatWatch& watch, const array& target, const Argument& value,
                    const std::optional<Argument>& where, Casting casting) {
    array converted;
    const DeviceScope scope(device_of(target));
    const bool is_number = std::holds_alternative<double>(value);
    if (const auto* source = std::get_if<array>(&value);
        source != nullptr && !(source->dtype() == target.dtype())) {
        converted = astype(*source, target.dtype());
        inspect_cast(watch, *source, converted);
    } else if (is_number && target.dtype().is_inexact()) {
        converted = from_argument(value, target.dtype());
        inspect_cast(watch, from_argument(value), converted);
    }
    if (where && converted.valid()) watch.set_mask(*where);
    if (where) {
        assign_where(target, value, *where, casting);
    } else {
        assign(target, value, casting);
    }
    watch.report("cast", {&target, 1});
}

void inspect_changes(FloatWatch& watch, const OpInfo& op, const array& before,
                     const std::optional<array>& operand, const array& after) {
    std::vector<Argument> inputs = {before};
    if (operand) inputs.emplace_back(*operand);
    const LoopInfo& loop = loop_of(op, inputs, {}, Casting::kSameKind);
    std::vector<array> operands;
    for (size_t k = 0; k < inputs.size(); ++k)
        operands.push_back(astype(std::get<array>(inputs[k]), DType(loop.types[k])));
    const array result = astype(after, DType(loop.types[op.nin]));
    if (may_err(op)) inspect_call(watch, op, operands, {&result, 1});
}

}  // namespace weft
