// Calls of what guvectorize made: the function is called with parts of the operands, for each place before
// their own axes.
#include <algorithm>
#include <map>

#include "lang/arrays/ufuncs.h"
#include "lang/errors/argument_errors.h"

namespace weft::lang {

using ir::ValueId;

// An operand as the function sees it.
struct FunctionLowering::Ufuncs::Part {
    Value value{};
    size_t own = 0;        // axes that the layout names, which are the last
    bool is_view = false;  // an array, though it may have one element alone
};

// What the function gets at a place.
Value FunctionLowering::Ufuncs::part_at(const Part& part, std::span<const ValueId> indices) {
    const Value& value = part.value;
    if (!is_array(value.type)) return value;
    const size_t outer = value.type->rank - part.own, missing = indices.size() - outer;
    const ValueId zero = f_.integer(0).parts[0], one = f_.integer(1).parts[0];
    std::vector<ValueId> at;
    for (size_t d = 0; d < outer; ++d) {
        const ValueId is_single = f_.apply(OpId::kEqual, {f_.size_of(value, d), one});
        at.push_back(f_.apply(OpId::kSelect, {is_single, zero, indices[missing + d]}));
    }
    if (!part.is_view) return f_.load({value, at});
    ValueId offset = zero;
    for (size_t d = 0; d < outer; ++d)
        offset = f_.apply(OpId::kAdd, {offset, f_.apply(OpId::kMultiply, {at[d], f_.stride_of(value, d)})});
    std::vector<ValueId> shape, strides;
    for (size_t d = outer; d < value.type->rank; ++d) {
        shape.push_back(f_.size_of(value, d));
        strides.push_back(f_.stride_of(value, d));
    }
    if (part.own == 0) {  // as an array of one element
        shape.push_back(one);
        strides.push_back(zero);
    }
    return f_.view(value, offset, shape, strides, part.own > 0 && value.type->contiguous);
}

Value FunctionLowering::Ufuncs::call_generalized(const Arguments& given) {
    const UfuncFacts& facts = *symbol_->ufunc;
    const size_t inputs = facts.inputs, outputs = facts.outputs;
    const size_t count = given.positional.size();
    if (count < inputs || count > inputs + outputs)
        f_.fail(where_, wrong_count(name(), inputs, inputs + outputs, count));
    std::vector<Value> outs(given.positional.begin() + static_cast<std::ptrdiff_t>(inputs),
                            given.positional.end());
    for (const auto& [keyword, value] : given.keywords) {
        if (keyword != "out" || !outs.empty()) f_.fail(where_, unexpected_keyword(name(), keyword));
        if (value.type->kind == TypeKind::kTuple) {
            for (size_t i = 0; i < value.type->parts.size(); ++i) outs.push_back(f_.tuple_item(value, i));
        } else {
            outs.push_back(value);
        }
        if (outs.size() > outputs) f_.fail(where_, "out has more arrays than " + name() + "() has results");
    }
    outs.resize(outputs, f_.none());

    std::vector<Part> parts;
    for (size_t i = 0; i < inputs; ++i) {
        const Value& value = given.positional[i];
        parts.push_back({is_scalar(value.type) ? value : array(value), facts.axes[i].size(), true});
    }
    for (size_t i = 0; i < outputs; ++i) {
        if (!is_array(outs[i].type) && outs[i].type->kind != TypeKind::kNone)
            f_.fail(where_, "out is an array, not " + lang::describe(outs[i].type));
        parts.push_back({outs[i], facts.axes[inputs + i].size(), true});
    }
    const auto operand_name = [&](size_t i) {
        return name() + ": " + (i < inputs ? "Input operand " : "Output operand ") +
               std::to_string(i < inputs ? i : i - inputs);
    };
    for (size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].value.type->kind == TypeKind::kNone) continue;
        const size_t rank = is_array(parts[i].value.type) ? parts[i].value.type->rank : 0;
        if (rank < parts[i].own)
            f_.fail(where_, operand_name(i) + " does not have enough dimensions (has " +
                                std::to_string(rank) + ", gufunc core with signature " + facts.layout +
                                " requires " + std::to_string(parts[i].own) + ")");
    }

    // The sizes of the axes that have names.
    std::map<std::string, ValueId> sizes;
    for (size_t i = 0; i < parts.size(); ++i) {
        for (size_t d = 0; d < parts[i].own; ++d) {
            const std::string& axis = facts.axes[i][d];
            if (parts[i].value.type->kind == TypeKind::kNone) {
                if (!sizes.contains(axis))
                    f_.fail(where_,
                            operand_name(i) + " has core dimension " + std::to_string(d) +
                                " unspecified, with gufunc signature " + facts.layout +
                                ": no input has an axis " + axis,
                            "Give an array for it.");
                continue;
            }
            const ValueId size = f_.size_of(parts[i].value, parts[i].value.type->rank - parts[i].own + d);
            const auto [known, is_new] = sizes.emplace(axis, size);
            if (is_new) continue;
            Site shapes = f_.site("ValueError", {});
            shapes.kind = SiteKind::kTold;
            shapes.told = {format_type(operand_name(i) + " has a mismatch in its core dimension " +
                                           std::to_string(d) + " (" + axis + "), with gufunc signature " +
                                           facts.layout + " (size {} is different from {})",
                                       std::vector<TypeRef>(2, scalar_type(ScalarType::kInt64, true)))};
            f_.check(f_.apply(OpId::kEqual, {size, known->second}), std::move(shapes), {size, known->second},
                     where_);
        }
    }

    // What is before them.
    std::vector<Value> before;
    for (size_t i = 0; i < inputs; ++i) {
        const Value& value = parts[i].value;
        if (!is_array(value.type) || value.type->rank == parts[i].own) continue;
        std::vector<ValueId> shape, strides;
        for (size_t d = 0; d + parts[i].own < value.type->rank; ++d) {
            shape.push_back(f_.size_of(value, d));
            strides.push_back(f_.stride_of(value, d));
        }
        before.push_back(f_.view(value, f_.integer(0).parts[0], shape, strides, false));
    }
    const std::vector<ValueId> outer = f_.broadcast_shape(before, where_);
    for (size_t i = inputs; i < parts.size(); ++i) {
        const Value& out = parts[i].value;
        if (!is_array(out.type)) continue;
        f_.expect_writeable(out.type, where_);
        if (out.type->rank != outer.size() + parts[i].own)
            f_.fail(where_, operand_name(i) + " has " + std::to_string(out.type->rank) +
                                " dimensions, where the inputs make a result of " +
                                std::to_string(outer.size() + parts[i].own));
        for (size_t d = 0; d < outer.size() && !f_.dry_; ++d) {
            Site shapes = f_.site("ValueError", {});
            shapes.kind = SiteKind::kBroadcast;
            shapes.axis = static_cast<int>(d);
            f_.check(f_.apply(OpId::kEqual, {f_.size_of(out, d), outer[d]}), std::move(shapes),
                     {outer[d], f_.size_of(out, d)}, where_);
        }
    }

    // The types: of a signature, or of the operands.
    std::vector<Value> of_inputs;
    for (size_t i = 0; i < inputs; ++i) of_inputs.push_back(parts[i].value);
    std::vector<Operand> loop;
    if (!facts.loops.empty()) {
        const std::vector<Operand>* const found = loop_for(of_inputs);
        if (found == nullptr) refuse_types(of_inputs);
        loop = *found;
    } else {
        for (size_t i = 0; i < parts.size(); ++i) {
            const TypeRef type = parts[i].value.type;
            if (type->kind == TypeKind::kNone) continue;
            loop.push_back({type->scalar, i < inputs ? parts[i].own : std::max<size_t>(parts[i].own, 1)});
        }
        if (loop.size() < parts.size())
            f_.fail(where_, name() + "() has no signatures, so the types of its results are not known here",
                    "Give arrays for the results, or signatures where it is decorated.");
    }
    std::vector<Value> targets;
    for (size_t i = 0; i < parts.size(); ++i) {
        Part& part = parts[i];
        const ScalarType type = loop[i].type;
        part.is_view = loop[i].rank > 0 || (i >= inputs && !facts.returns);
        if (i < inputs) {
            if (std::ranges::find(facts.written, i) != facts.written.end()) {
                if (!is_array(part.value.type) || part.value.type->scalar != type)
                    f_.fail(where_,
                            operand_name(i) + " is written, and is no array of " +
                                std::string(DType(type).name()),
                            "Give an array of that dtype.");
                f_.expect_writeable(part.value.type, where_);
            }
            if (!is_array(part.value.type) && part.is_view) {
                part.value = f_.array_of(part.value, type, where_);
            } else if (!is_array(part.value.type)) {
                part.value = cast_to(part.value, type);
            } else if (part.value.type->scalar != type) {
                part.value = f_.array_of(part.value, type, where_);
            }
            continue;
        }
        const Value out = part.value;
        const auto overlaps = [&](const Value& operand) {
            return is_array(operand.type) && is_array(out.type) && operand.type->scope == out.type->scope;
        };
        if (is_array(out.type) && out.type->scalar == type && std::ranges::none_of(of_inputs, overlaps)) {
            targets.push_back(out);
            continue;
        }
        if (is_array(out.type)) {  // the function may read what is there
            if (!can_cast(DType(type), DType(out.type->scalar), Casting::kSameKind))
                f_.fail(where_, "Cannot cast ufunc '" + name() + "' output from " +
                                    std::string(DType(type).name()) + " to " +
                                    std::string(DType(out.type->scalar).name()));
            part.value = f_.array_of(out, type, where_);
        } else {
            std::vector<ValueId> shape = outer;
            for (const std::string& axis : facts.axes[i]) shape.push_back(sizes.at(axis));
            part.value = f_.allocate(type, shape, where_);
        }
        targets.push_back(part.value);
    }

    Hoist* const hoist = std::exchange(f_.hoist_, nullptr);
    f_.for_each_place(outer, [&](std::span<const ValueId> indices) {
        const size_t temporaries = f_.temporaries_.size();
        std::vector<Value> arguments;
        for (size_t i = 0; i < (facts.returns ? inputs : parts.size()); ++i)
            arguments.push_back(part_at(parts[i], indices));
        const Value result = f_.call_source(*symbol_->function, {}, {arguments, {}, where_, false});
        for (size_t k = 0; facts.returns && k < outputs; ++k) {
            const Value each = outputs == 1 ? result : f_.tuple_item(result, k);
            if (is_scalar(each.type) && parts[inputs + k].own == 0) {
                f_.store({parts[inputs + k].value, {indices.begin(), indices.end()}}, each, where_);
            } else {
                Part whole = parts[inputs + k];
                whole.is_view = true;
                f_.store_part(part_at(whole, indices), each, where_);
            }
        }
        f_.end_temporaries(temporaries);
    });
    f_.hoist_ = hoist;

    std::vector<Value> results;
    for (size_t k = 0; k < outputs; ++k) {
        const Value& target = targets[k];
        if (!is_array(outs[k].type)) {
            results.push_back(target.type->rank == 0 ? f_.load({target, {}}) : target);
            continue;
        }
        if (f_.dry_ || target.parts != outs[k].parts) f_.store_part(outs[k], target, where_);
        results.push_back(outs[k]);
    }
    if (results.empty()) return f_.none();
    return outputs == 1 ? results[0] : f_.tuple(std::move(results));
}

}  // namespace weft::lang
