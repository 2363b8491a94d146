// Arrays whose elements are computed where they are used: an expression of several operators is one loop,
// which reads each array once and makes none but its result.
//
// elementwise() defers what lower_deferred() asks for. Its operands are read later than they were evaluated,
// so nothing but plain expressions may stand between; lower_operands() sees to that.
#include <algorithm>
#include <functional>
#include <utility>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

Value FunctionLowering::lower(NodeId id, Environment& environment) {
    const Value value = lower_deferred(id, environment);
    if (value.deferred == nullptr) return value;
    const Now now(*this, environment);
    const Line line(*this, id);
    return forced(value);
}

// One after the other. What was deferred is computed before an expression that may change what it reads.
std::vector<Value> FunctionLowering::lower_operands(std::span<const NodeId> operands,
                                                    Environment& environment) {
    std::vector<Value> values;
    for (const NodeId operand : operands) {
        if (!writes_nothing(operand)) {
            const Now now(*this, environment);
            for (Value& before : values) before = forced(before);
        }
        values.push_back(lower_deferred(operand, environment));
    }
    return values;
}

// Whether evaluating it writes nothing: no memory, no variable.
bool FunctionLowering::writes_nothing(NodeId id) const {
    const Node& expression = node(id);
    switch (expression.kind) {
        case NodeKind::kInt:
        case NodeKind::kFloat:
        case NodeKind::kComplex:
        case NodeKind::kBool:
        case NodeKind::kNone:
        case NodeKind::kEllipsis:
        case NodeKind::kString:
        case NodeKind::kName:
        case NodeKind::kGlobal: return true;
        case NodeKind::kAttribute: {
            static constexpr std::string_view kPlain[] = {"T", "shape", "size", "ndim", "real", "imag"};
            if (std::find(std::begin(kPlain), std::end(kPlain), expression.atoms[0]) == std::end(kPlain))
                return false;
            break;
        }
        case NodeKind::kCall: {
            const Node& callee = node(expression.children[0]);
            if (callee.kind != NodeKind::kGlobal) return false;
            const Symbol& symbol = source_.symbol(callee.number);
            const OpInfo* op = find_ufunc(symbol);  // without an array that it writes
            const bool is_plain =
                symbol.kind == SymbolKind::kKnown &&
                (symbol.path == "numpy.where" ||
                 (symbol.path == "numpy.clip" && expression.children.size() <= 4));  // without out=
            if (!is_plain && (op == nullptr || expression.children.size() != op->nin + 1)) return false;
            break;
        }
        case NodeKind::kIndex:
        case NodeKind::kSlice:
        case NodeKind::kTuple:
        case NodeKind::kBinary:
        case NodeKind::kUnary:
        case NodeKind::kCompare: break;
        default: return false;
    }
    return std::all_of(expression.children.begin(), expression.children.end(),
                       [&](NodeId child) { return writes_nothing(child); });
}

// A ufunc of NumPy's that call_ufunc() calls; or null.
const OpInfo* FunctionLowering::find_ufunc(const Symbol& symbol) {
    if (symbol.kind != SymbolKind::kKnown || !symbol.path.starts_with("numpy.")) return nullptr;
    static constexpr std::string_view kOther[] = {"real", "imag", "sum",  "prod", "mean", "min",
                                                  "max",  "amin", "amax", "any",  "all",  "copy"};
    const std::string name = symbol.path.substr(std::string_view("numpy.").size());
    if (std::find(std::begin(kOther), std::end(kOther), name) != std::end(kOther)) return nullptr;
    if (DType::find(name) != nullptr && name != "abs") return nullptr;
    const OpInfo* op = find_op(name);
    return op != nullptr && op->flags.is_ufunc && op->nout == 1 ? op : nullptr;
}

// Whether what is computed of them has the order of C, as their types tell.
bool FunctionLowering::are_ordered(std::span<const Value> operands) {
    return std::all_of(operands.begin(), operands.end(),
                       [](const Value& operand) { return !is_array(operand.type) || operand.type->ordered; });
}

// An array that is not made yet, in any order.
Value FunctionLowering::without_order(Value array) {
    array.type = with_rank(array.type, array.type->rank, false);
    array.parts.resize(part_count(array.type));
    return array;
}

// The array of `shape` whose elements `each` gives.
Value FunctionLowering::defer(TypeRef element, std::vector<ValueId> shape, std::span<const Value> operands,
                              std::function<Value(std::span<const Value>)> each, NodeId where) {
    Value result;
    {
        const DryRun dry(*this);
        result = allocate(element->scalar, shape, where);
    }
    // Its sizes are those that it will have; size_of() reads them.
    for (size_t d = 0; d < shape.size(); ++d) result.parts[2 + d] = shape[d];
    result.fresh = false;
    if (!are_ordered(operands)) result = without_order(std::move(result));
    result.deferred = std::make_shared<const DeferredArray>(
        DeferredArray{{operands.begin(), operands.end()}, std::move(each), std::move(shape), where});
    return result;
}

// With memory of its own.
Value FunctionLowering::forced(const Value& value) {
    if (value.deferred == nullptr) return value;
    if (!value.type->ordered) return forced_in_order(value);
    const DeferredArray& deferred = *value.deferred;
    const Value result = allocate(value.type->scalar, deferred.shape, deferred.where);
    compute_into(result, value, {}, [&] { repeat_into(result, deferred); });
    return result;
}

// The same, but each operator has a loop of its own, so that the code does not grow with the square of their
// number.
Value FunctionLowering::forced_alone(const Value& value) {
    if (value.deferred == nullptr) return value;
    DeferredArray alone = *value.deferred;
    for (Value& operand : alone.operands) operand = forced_alone(operand);
    Value last = value;
    last.deferred = std::make_shared<const DeferredArray>(std::move(alone));
    return forced(last);
}

// Operands whose dimensions may be shorter are computed first, so that no element of them is computed twice.
// Along a dimension of one element they take no steps. What is repeated along the last one, along which
// vectors go, is found out before the loops.
void FunctionLowering::repeat_into(const Value& target, const DeferredArray& deferred) {
    enum class Last : uint8_t { kWhole, kSingle, kAny };
    const std::span<const ValueId> shape = deferred.shape;
    std::vector<Value> operands;
    for (const Value& operand : deferred.operands) operands.push_back(forced_alone(operand));
    std::vector<size_t> open;  // whose last dimension may be either
    std::vector<ValueId> is_whole;
    for (size_t i = 0; i < operands.size(); ++i) {
        const Value& operand = operands[i];
        if (!is_array(operand.type) || operand.type->rank == 0) continue;
        const ValueId size = size_of(operand, operand.type->rank - 1);
        if (size == shape.back() || is_single(size)) continue;
        open.push_back(i);
        is_whole.push_back(builder_->apply(OpId::kEqual, {size, shape.back()}));
    }
    const auto stepping = [&](const Value& operand, Last last) {
        if (!is_array(operand.type) || operand.type->rank == 0) return operand;
        const size_t rank = operand.type->rank, missing = shape.size() - rank;
        const ValueId zero = integer(0).parts[0], one = integer(1).parts[0];
        std::vector<ValueId> sizes, strides;
        for (size_t d = 0; d < rank; ++d) {
            ValueId size = size_of(operand, d), stride = stride_of(operand, d);
            const bool may_repeat = size != shape[missing + d] && !is_single(size);
            if (may_repeat && d + 1 == rank && last == Last::kSingle) {
                size = one;
            } else if (may_repeat) {
                if (d + 1 < rank || last == Last::kAny)
                    stride = builder_->apply(OpId::kSelect,
                                             {builder_->apply(OpId::kEqual, {size, one}), zero, stride});
                size = shape[missing + d];
            }
            sizes.push_back(size);
            strides.push_back(stride);
        }
        return view(operand, zero, sizes, strides, operand.type->contiguous && last != Last::kAny);
    };
    const auto loops = [&](const std::function<Last(size_t)>& last_of) {
        std::vector<Value> views;
        for (size_t i = 0; i < operands.size(); ++i) views.push_back(stepping(operands[i], last_of(i)));
        for_each_element(target, [&](std::span<const ValueId> indices) {
            const size_t temporaries = temporaries_.size();
            std::vector<Value> elements;
            for (const Value& each : views)
                elements.push_back(element_for(each, shape, indices, /*repeats=*/false));
            store({target, {indices.begin(), indices.end()}}, deferred.each(elements), deferred.where);
            end_temporaries(temporaries);
        });
    };
    const auto whole = [](size_t) { return Last::kWhole; };
    const auto side = [this](const std::function<void()>& body) -> ir::Builder::Body {
        return [this, body](ir::Builder&, std::span<const ValueId>) {
            const size_t temporaries = temporaries_.size();
            body();
            end_temporaries(temporaries);
            return std::vector<ValueId>();
        };
    };
    const std::function<void()> all_whole = [&] { loops(whole); };
    const auto repeating = [&](std::vector<size_t> singles) {
        return [&, singles = std::move(singles)] {
            loops([&](size_t i) {
                return std::find(singles.begin(), singles.end(), i) == singles.end() ? Last::kWhole
                                                                                     : Last::kSingle;
            });
        };
    };
    const auto first = [&](const std::function<void()>& yes, const std::function<void()>& no) {
        builder_->if_else(is_whole[0], side(yes), side(no));
    };
    const auto second = [&](const std::function<void()>& yes, const std::function<void()>& no) {
        builder_->if_else(is_whole[1], side(yes), side(no));
    };
    if (open.empty()) {
        all_whole();
    } else if (open.size() == 1) {
        first(all_whole, repeating({open[0]}));
    } else if (open.size() == 2) {  // both repeat where a target that is given is longer
        first([&] { second(all_whole, repeating({open[1]})); },
              [&] { second(repeating({open[0]}), repeating({open[0], open[1]})); });
    } else {
        ValueId all = is_whole[0];
        for (size_t k = 1; k < is_whole.size(); ++k)
            all = builder_->apply(OpId::kLogicalAnd, {all, is_whole[k]});
        builder_->if_else(all, side(all_whole), side([&] {
                              loops([&](size_t i) {
                                  return std::find(open.begin(), open.end(), i) == open.end() ? Last::kWhole
                                                                                              : Last::kAny;
                              });
                          }));
    }
}

// Whether what is read has the memory of one scope with the array.
bool FunctionLowering::may_read(const Value& value, const Value& array) const {
    if (value.deferred == nullptr) return is_array(value.type) && value.type->scope == array.type->scope;
    return std::any_of(value.deferred->operands.begin(), value.deferred->operands.end(),
                       [&](const Value& operand) { return may_read(operand, array); });
}

// Fills an array with the elements of a deferred one, in one loop where all operands have its shape.
// Otherwise, and where `fits` does not hold, `build` does it.
void FunctionLowering::compute_into(const Value& target, const Value& value, ValueId fits,
                                    const std::function<void()>& build) {
    const DeferredArray& deferred = *value.deferred;
    const auto add = [&](ValueId size, ValueId wanted) {
        if (size == wanted || is_single(size)) return;
        const ValueId same = builder_->apply(OpId::kEqual, {size, wanted});
        fits = fits.valid() ? builder_->apply(OpId::kLogicalAnd, {fits, same}) : same;
    };
    const std::function<void(const Value&)> look = [&](const Value& operand) {
        if (!is_array(operand.type)) return;
        if (operand.deferred != nullptr) {
            for (const Value& inner : operand.deferred->operands) look(inner);
            return;
        }
        const size_t missing = deferred.shape.size() - operand.type->rank;
        for (size_t d = 0; d < operand.type->rank; ++d) add(size_of(operand, d), deferred.shape[missing + d]);
    };
    for (const Value& operand : deferred.operands) look(operand);
    const auto loop = [&] {
        for_each_element(target, [&](std::span<const ValueId> indices) {
            const size_t temporaries = temporaries_.size();
            const Value element = element_for(value, deferred.shape, indices, /*repeats=*/false);
            store({target, {indices.begin(), indices.end()}}, element, deferred.where);
            end_temporaries(temporaries);
        });
    };
    if (!fits.valid()) return loop();
    const auto side = [&](const std::function<void()>& body) -> ir::Builder::Body {
        return [this, &body](ir::Builder&, std::span<const ValueId>) {
            const size_t temporaries = temporaries_.size();
            body();
            end_temporaries(temporaries);
            return std::vector<ValueId>();
        };
    };
    const std::function<void()> in_one = loop;
    builder_->if_else(fits, side(in_one), side(build), /*likely=*/true);
}

// The element of an operand that stands at the indices of a result; `repeats`: its dimensions may be shorter.
Value FunctionLowering::element_for(const Value& operand, std::span<const ValueId> shape,
                                    std::span<const ValueId> indices, bool repeats) {
    if (!is_array(operand.type)) return operand;
    if (operand.deferred != nullptr) {
        std::vector<Value> elements;
        for (const Value& inner : operand.deferred->operands)
            elements.push_back(element_for(inner, shape, indices, repeats));
        // As if it had been stored and loaded.
        const ScalarType type = operand.type->scalar;
        return scalar(scalar_type(type), cast(operand.deferred->each(elements), type));
    }
    const size_t missing = shape.size() - operand.type->rank;
    std::vector<ValueId> at;
    for (size_t d = 0; d < operand.type->rank; ++d) {
        ValueId index = indices[missing + d];
        if (!dry_ && size_of(operand, d) != shape[missing + d]) {
            const ValueId zero = integer(0).parts[0];
            if (is_single(size_of(operand, d))) {
                index = zero;
            } else if (repeats) {
                const ValueId single =
                    builder_->apply(OpId::kEqual, {size_of(operand, d), integer(1).parts[0]});
                index = builder_->apply(OpId::kSelect, {single, zero, index});
            }
        }
        at.push_back(index);
    }
    return load({operand, std::move(at)});
}

// Whether the size is known to be one, as that of np.newaxis.
bool FunctionLowering::is_single(ValueId size) const {
    const Fact known = fact(size);
    return known.least == 1 && known.most == 1;
}

// target[...] = what was deferred
void FunctionLowering::store_deferred(const Value& target, const Value& value, NodeId where) {
    if (value.type->rank != target.type->rank || may_read(value, target))
        return store_part(target, forced(value), where);
    expect_writeable(target.type, where);
    ValueId fits{};
    for (size_t d = 0; d < target.type->rank; ++d) {
        const ValueId size = size_of(target, d), given = value.deferred->shape[d];
        if (size == given) continue;
        const ValueId same = builder_->apply(OpId::kEqual, {size, given});
        fits = fits.valid() ? builder_->apply(OpId::kLogicalAnd, {fits, same}) : same;
    }
    compute_into(target, value, fits, [&] { store_part(target, forced(value), where); });
}

}  // namespace weft::lang
