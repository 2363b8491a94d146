#include "graph/lower.h"

#include <cmath>
#include <limits>

#include "core/complex.h"
#include "graph/reduction_tree.h"
#include "ir/builder.h"
#include "weft/errors.h"

namespace weft {

namespace {

using ir::Builder;
using ir::Constant;
using ir::ValueId;

void append_buffer(std::string& key, const BufferForm& buffer) {
    key += static_cast<char>('A' + static_cast<int>(buffer.element));
    key += std::to_string(buffer.alias_scope);
    key += buffer.readonly ? 'r' : 'w';
    for (const StrideClass stride : buffer.strides) key += static_cast<char>('0' + static_cast<int>(stride));
}

void append_value(std::string& key, const ValueForm& value) {
    key += "ivsc"[static_cast<int>(value.kind)];
    key += std::to_string(value.index);
    if (value.result != 0) key += "." + std::to_string(value.result);
}

template <class T>
Constant extreme(ScalarType type, bool maximum) {
    // the neutral element of maximum is the least value
    if constexpr (std::numeric_limits<T>::has_infinity) {
        const T infinity = std::numeric_limits<T>::infinity();
        return Constant::of(type, maximum ? static_cast<T>(-infinity) : infinity);
    } else {
        return Constant::of(type, maximum ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
    }
}

Constant extreme_of(ScalarType type, bool maximum) {
    const double infinity = maximum ? -HUGE_VAL : HUGE_VAL;
    switch (type) {
        case ScalarType::kBool: return Constant::of(type, static_cast<uint8_t>(maximum ? 0 : 1));
        case ScalarType::kInt8: return extreme<int8_t>(type, maximum);
        case ScalarType::kUInt8: return extreme<uint8_t>(type, maximum);
        case ScalarType::kInt16: return extreme<int16_t>(type, maximum);
        case ScalarType::kUInt16: return extreme<uint16_t>(type, maximum);
        case ScalarType::kInt32: return extreme<int32_t>(type, maximum);
        case ScalarType::kUInt32: return extreme<uint32_t>(type, maximum);
        case ScalarType::kInt64: return extreme<int64_t>(type, maximum);
        case ScalarType::kUInt64: return extreme<uint64_t>(type, maximum);
        case ScalarType::kFloat16: return Constant::of(type, static_cast<_Float16>(infinity));
        case ScalarType::kFloat32: return Constant::of(type, static_cast<float>(infinity));
        case ScalarType::kFloat64: return Constant::of(type, infinity);
        case ScalarType::kComplex64: {
            const auto part = static_cast<float>(infinity);
            return Constant::of(type, Complex<float>{part, part});
        }
        case ScalarType::kComplex128: return Constant::of(type, Complex<double>{infinity, infinity});
    }
    throw InternalError("unknown scalar type");
}

Constant number(ScalarType type, double value) {
    switch (type) {
        case ScalarType::kBool: return Constant::of(type, static_cast<uint8_t>(value != 0));
        case ScalarType::kInt8:
        case ScalarType::kUInt8: return Constant::of(type, static_cast<int8_t>(value));
        case ScalarType::kInt16:
        case ScalarType::kUInt16: return Constant::of(type, static_cast<int16_t>(value));
        case ScalarType::kInt32:
        case ScalarType::kUInt32: return Constant::of(type, static_cast<int32_t>(value));
        case ScalarType::kInt64:
        case ScalarType::kUInt64: return Constant::of(type, static_cast<int64_t>(value));
        case ScalarType::kFloat16: return Constant::of(type, static_cast<_Float16>(value));
        case ScalarType::kFloat32: return Constant::of(type, static_cast<float>(value));
        case ScalarType::kFloat64: return Constant::of(type, value);
        case ScalarType::kComplex64:
            return Constant::of(type, Complex<float>{static_cast<float>(value), static_cast<float>(value)});
        case ScalarType::kComplex128: return Constant::of(type, Complex<double>{value, value});
    }
    throw InternalError("unknown scalar type");
}

Constant neutral_element(const ReductionInfo& reduction, ScalarType compute) {
    switch (reduction.id) {
        case ReductionId::kSum: return number(compute, 0.0);  // a sum of -0 is +0, as in NumPy
        case ReductionId::kProd: return number(compute, 1);
        case ReductionId::kAny: return number(compute, 0);
        case ReductionId::kAll: return number(compute, 1);
        case ReductionId::kMax:
        case ReductionId::kArgmax: return extreme_of(compute, true);
        case ReductionId::kMin:
        case ReductionId::kArgmin: return extreme_of(compute, false);
    }
    throw InternalError("unknown reduction");
}

class Lowering {
public:
    explicit Lowering(const KernelForm& form) : form_(form), builder_(form.name()) {}

    ir::Module run() {
        declare();
        switch (form_.shape) {
            case KernelShape::kElementwise: elementwise(); break;
            case KernelShape::kReduce: reduce(); break;
            case KernelShape::kCombine: combine(); break;
            case KernelShape::kArange: arange(); break;
        }
        ir::Module module;
        module.functions.push_back(builder_.finish());
        return module;
    }

private:
    ValueId buffer_parameter(const BufferForm& buffer, const std::string& name) {
        ir::BufferType type;
        type.element = buffer.element;
        type.alias_scope = buffer.alias_scope;
        type.readonly = buffer.readonly;
        const int64_t itemsize = DType::of(buffer.element).itemsize();
        for (const StrideClass stride : buffer.strides) {
            switch (stride) {
                case StrideClass::kZero: type.strides.push_back(0); break;
                case StrideClass::kDynamic: type.strides.push_back(ir::kDynamic); break;
                case StrideClass::kItem: type.strides.push_back(itemsize); break;
                case StrideClass::kMinusItem: type.strides.push_back(-itemsize); break;
            }
        }
        return builder_.parameter(ir::Type::of(std::move(type)), name);
    }

    void declare() {
        const auto size = [&](const std::string& name) {
            return builder_.parameter(ir::Type::of(ScalarType::kInt64), name);
        };
        for (int d = 0; d < form_.grid_rank; ++d) grid_sizes_.push_back(size("n" + std::to_string(d)));
        const int reduced = form_.shape == KernelShape::kReduce    ? 1
                            : form_.shape == KernelShape::kCombine ? form_.outer_rank
                                                                   : 0;
        for (int d = 0; d < reduced; ++d) reduced_sizes_.push_back(size("m" + std::to_string(d)));
        for (size_t k = 0; k < form_.inputs.size(); ++k) {
            inputs_.push_back(buffer_parameter(form_.inputs[k], "in" + std::to_string(k)));
        }
        for (size_t k = 0; k < form_.scalars.size(); ++k) {
            scalars_.push_back(builder_.parameter(ir::Type::of(form_.scalars[k]), "c" + std::to_string(k)));
        }
        for (size_t k = 0; k < form_.outputs.size(); ++k) {
            outputs_.push_back(buffer_parameter(form_.outputs[k].buffer, "out" + std::to_string(k)));
        }
    }

    // The values of all steps at one point of the iteration space; loads appear where they are first needed.
    class Point {
    public:
        Point(Lowering& lowering, std::vector<ValueId> indices)
            : lowering_(lowering), indices_(std::move(indices)), loaded_(lowering.inputs_.size()) {
            for (const StepForm& step : lowering.form_.steps) {
                std::vector<ValueId> operands;
                for (size_t k = 0; k < step.operands.size(); ++k) {
                    const ValueId operand = value(step.operands[k]);
                    const ScalarType wanted = step.op == nullptr
                                                  ? step.to
                                                  : step.op->loops[static_cast<size_t>(step.loop)].types[k];
                    operands.push_back(lowering.builder_.cast(operand, wanted));
                }
                steps_.push_back(step.op == nullptr ? operands
                                                    : lowering.builder_.apply_multiple(*step.op, operands));
            }
        }

        ValueId value(const ValueForm& form) {
            switch (form.kind) {
                case ValueForm::Kind::kInput: {
                    ValueId& loaded = loaded_[form.index];
                    if (!loaded.valid())
                        loaded = lowering_.builder_.load(lowering_.inputs_[form.index], indices_);
                    return loaded;
                }
                case ValueForm::Kind::kScalar: return lowering_.scalars_[form.index];
                case ValueForm::Kind::kConstant:
                    return lowering_.builder_.constant(lowering_.form_.constants[form.index]);
                case ValueForm::Kind::kStep: return steps_[form.index][form.result];
            }
            return {};
        }

    private:
        Lowering& lowering_;
        std::vector<ValueId> indices_;
        std::vector<ValueId> loaded_;
        std::vector<std::vector<ValueId>> steps_;
    };

    void elementwise() {
        builder_.parallel(
            ir::ParallelLevel::kGrid, grid_sizes_, [&](Builder& b, std::span<const ValueId> indices) {
                Point point(*this, {indices.begin(), indices.end()});
                for (size_t k = 0; k < outputs_.size(); ++k) {
                    const ValueId value = point.value(form_.outputs[k].value);
                    b.store(outputs_[k], b.cast(value, form_.outputs[k].buffer.element), indices);
                }
                return std::vector<ValueId>{};
            });
    }

    // Which of two (value, index) pairs argmax keeps: the better value, a NaN before all, the first of
    // equals.
    std::vector<ValueId> better(Builder& b, ValueId left, ValueId left_index, ValueId right,
                                ValueId right_index) {
        ValueId take = b.apply(op_info(form_.reduction->combine), std::array{right, left});
        ValueId tie = b.apply("equal", {right, left});
        if (DType::of(form_.compute).is_inexact()) {
            const ValueId right_nan = b.apply("isnan", {right}), left_nan = b.apply("isnan", {left});
            take = b.apply("logical_or",
                           {take, b.apply("logical_and", {right_nan, b.apply("logical_not", {left_nan})})});
            tie = b.apply("logical_or", {tie, b.apply("logical_and", {right_nan, left_nan})});
        }
        const ValueId earlier = b.apply("less", {right_index, left_index});
        take = b.apply("logical_or", {take, b.apply("logical_and", {tie, earlier})});
        return {b.apply("select", {take, right, left}), b.apply("select", {take, right_index, left_index})};
    }

    std::vector<ValueId> initials(Builder& b) {
        std::vector<ValueId> values{b.constant(neutral_element(*form_.reduction, form_.compute))};
        if (form_.reduction->gives_index) values.push_back(b.index(INT64_MAX));
        return values;
    }

    std::vector<ValueId> combine_pair(Builder& b, std::span<const ValueId> arguments) {
        if (form_.reduction->gives_index)
            return better(b, arguments[0], arguments[1], arguments[2], arguments[3]);
        return {b.apply(op_info(form_.reduction->combine), arguments)};
    }

    // Reduces `size` elements given by `element`, or one after another where there is no neutral element.
    std::vector<ValueId> reduce_dimension(Builder& b, ValueId size, int64_t lanes, int64_t block,
                                          const Builder::Body& element) {
        if (!has_neutral_element(*form_.reduction, form_.compute)) {
            const std::vector<ValueId> zero{b.index(0)};
            const std::vector<ValueId> first = element(b, zero);
            return b.for_loop(
                b.index(1), size, b.index(1), first, [&](Builder& inner, std::span<const ValueId> arguments) {
                    const std::vector<ValueId> next = element(inner, arguments.subspan(0, 1));
                    return std::vector<ValueId>{
                        inner.apply(op_info(form_.reduction->combine), std::array{arguments[1], next[0]})};
                });
        }
        return b.reduce(size, initials(b), lanes, block, element,
                        [&](Builder& inner, std::span<const ValueId> arguments) {
                            return combine_pair(inner, arguments);
                        });
    }

    void store_result(Builder& b, const std::vector<ValueId>& values, std::span<const ValueId> indices) {
        if (form_.partial) {
            for (size_t k = 0; k < outputs_.size(); ++k) b.store(outputs_[k], values[k], indices);
            return;
        }
        const ValueId value = form_.reduction->gives_index ? values[1] : values[0];
        b.store(outputs_[0], b.cast(value, form_.outputs[0].buffer.element), indices);
    }

    void reduce() {
        builder_.parallel(
            ir::ParallelLevel::kGrid, grid_sizes_, [&](Builder& b, std::span<const ValueId> indices) {
                const auto rank = static_cast<size_t>(form_.grid_rank);
                const size_t reduced_grid = static_cast<size_t>(form_.outer_rank) + (form_.blocked ? 1 : 0);
                ValueId begin = b.index(0), count = reduced_sizes_[0];
                if (form_.blocked) {
                    begin = b.apply("multiply", {indices[rank - 1], b.index(form_.chunk)});
                    count = b.apply("minimum",
                                    {b.apply("subtract", {reduced_sizes_[0], begin}), b.index(form_.chunk)});
                }
                ValueId base = begin;  // position of the first element in C order, for argmax
                if (form_.reduction->gives_index && form_.outer_rank > 0) {
                    const size_t first = rank - reduced_grid;
                    ValueId row = indices[first];
                    for (size_t d = first + 1; d < first + static_cast<size_t>(form_.outer_rank); ++d) {
                        row = b.apply("add", {b.apply("multiply", {row, grid_sizes_[d]}), indices[d]});
                    }
                    base = b.apply("add", {b.apply("multiply", {row, reduced_sizes_[0]}), begin});
                }
                const auto element = [&](Builder& inner, std::span<const ValueId> arguments) {
                    std::vector<ValueId> position(indices.begin(), indices.end());
                    if (form_.blocked) position.pop_back();
                    position.push_back(form_.blocked ? inner.apply("add", {begin, arguments[0]})
                                                     : arguments[0]);
                    Point steps(*this, position);
                    std::vector<ValueId> values{inner.cast(steps.value(form_.element), form_.compute)};
                    if (form_.reduction->gives_index)
                        values.push_back(inner.apply("add", {base, arguments[0]}));
                    return values;
                };
                store_result(b, reduce_dimension(b, count, form_.lanes, form_.block, element), indices);
                return std::vector<ValueId>{};
            });
    }

    std::vector<ValueId> combine_dimension(Builder& b, size_t dimension, std::vector<ValueId>& position) {
        const auto element = [&](Builder& inner, std::span<const ValueId> arguments) {
            position.push_back(arguments[0]);
            std::vector<ValueId> values;
            if (dimension + 1 < reduced_sizes_.size()) {
                values = combine_dimension(inner, dimension + 1, position);
            } else {
                for (const ValueId input : inputs_) values.push_back(inner.load(input, position));
            }
            position.pop_back();
            return values;
        };
        return reduce_dimension(b, reduced_sizes_[dimension], 1, 1, element);
    }

    void combine() {
        builder_.parallel(ir::ParallelLevel::kGrid, grid_sizes_,
                          [&](Builder& b, std::span<const ValueId> indices) {
                              std::vector<ValueId> position(indices.begin(), indices.end());
                              store_result(b, combine_dimension(b, 0, position), indices);
                              return std::vector<ValueId>{};
                          });
    }

    void arange() {
        builder_.parallel(
            ir::ParallelLevel::kGrid, grid_sizes_, [&](Builder& b, std::span<const ValueId> indices) {
                const ScalarType type = form_.scalars[0];
                const ScalarType wide = type == ScalarType::kFloat16 ? ScalarType::kFloat32
                                        : type == ScalarType::kBool  ? ScalarType::kInt64
                                                                     : type;
                const ValueId position = b.cast(indices[0], wide);
                const ValueId offset = b.apply("multiply", {position, b.cast(scalars_[1], wide)});
                const ValueId value = b.apply("add", {b.cast(scalars_[0], wide), offset});
                b.store(outputs_[0], b.cast(value, type), indices);
                return std::vector<ValueId>{};
            });
    }

    const KernelForm& form_;
    Builder builder_;
    std::vector<ValueId> grid_sizes_, reduced_sizes_, inputs_, scalars_, outputs_;
};

}  // namespace

std::string KernelForm::key() const {
    std::string key;
    key += static_cast<char>('0' + static_cast<int>(shape));
    key += std::to_string(grid_rank) + "|";
    for (const BufferForm& input : inputs) append_buffer(key, input);
    key += '|';
    for (const ScalarType type : scalars) key += static_cast<char>('A' + static_cast<int>(type));
    for (const ir::Constant& constant : constants) {
        key += static_cast<char>('a' + static_cast<int>(constant.type));
        key.append(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
    }
    for (const StepForm& step : steps) {
        key += '|';
        if (step.op != nullptr) {
            key += std::to_string(static_cast<int>(step.op->id)) + ":" + std::to_string(step.loop);
        } else {
            key += '>';
            key += static_cast<char>('A' + static_cast<int>(step.to));
        }
        for (const ValueForm& operand : step.operands) append_value(key, operand);
    }
    for (const OutputForm& output : outputs) {
        key += '=';
        append_value(key, output.value);
        append_buffer(key, output.buffer);
    }
    if (reduction != nullptr) {
        key += '#' + std::string(reduction->name);
        key += static_cast<char>('A' + static_cast<int>(compute));
        key += static_cast<char>('A' + static_cast<int>(result));
        append_value(key, element);
        key += std::to_string(outer_rank) + (blocked ? "b" : "") + (partial ? "p" : "") +
               std::to_string(lanes) + "/" + std::to_string(block) + "/" + std::to_string(chunk);
    }
    return key;
}

std::string KernelForm::name() const {
    std::string name;
    int more = 0;
    for (const StepForm& step : steps) {
        if (step.op == nullptr) continue;
        if (name.size() > 40) {
            ++more;
        } else {
            name += (name.empty() ? "" : "_") + std::string(step.op->name);
        }
    }
    if (more != 0) name += "_and_" + std::to_string(more) + "_more";
    if (reduction != nullptr) {
        name += (name.empty() ? "" : "_") + std::string(reduction->name);
        if (shape == KernelShape::kCombine) name += "_combine";
    }
    if (shape == KernelShape::kArange) name = "arange";
    if (name.empty()) name = inputs.empty() ? "fill" : "copy";
    const ScalarType type = reduction != nullptr ? compute
                            : outputs.empty()    ? ScalarType::kFloat64
                                                 : outputs[0].buffer.element;
    return name + "_" + std::string(DType::of(type).name());
}

ir::Module lower(const KernelForm& form) { return Lowering(form).run(); }

}  // namespace weft
