// What the chunks of a parallel loop come to for the variables that it carries: where they leave it, and how
// it is combined, in the order of the chunks.
#include <array>
#include <limits>

#include "lang/lowering.h"
#include "lang/parallel/carried.h"
#include "lang/parallel/outline.h"

namespace weft::lang {

using ir::ValueId;

namespace {

TypeRef without_flag(TypeRef type) { return type->kind == TypeKind::kMaybe ? type->parts[0] : type; }

}  // namespace

std::vector<FunctionLowering::Partial> FunctionLowering::allocate_partials(const ParallelLoop& plan,
                                                                           const Loop& loop, ValueId chunks,
                                                                           NodeId where) {
    std::vector<Partial> partials;
    for (const CarriedVariable& carried : plan.carried) {
        TypeRef type = without_literals(without_flag(loop.types[loop.place_of(carried.variable)]));
        if (carried.kind == CarriedKind::kBeside) {
            if (type->kind == TypeKind::kUnbound) continue;  // each iteration raises before
            type = maybe_type(type);
        }
        std::vector<ir::Type> parts;
        append_ir_types(parts, type, false);
        Partial& partial = partials.emplace_back(Partial{&carried, type});
        for (const ir::Type& part : parts) {
            if (part.is_buffer)
                fail(where,
                     "'" + variable(carried.variable) + "' is " + lang::describe(type) +
                         ", and is read behind the loop over prange that assigns it",
                     "Write into an array from before the loop.");
            partial.arrays.push_back(allocate(part.scalar, std::span(&chunks, 1), where));
        }
    }
    return partials;
}

Value FunctionLowering::identity(const CarriedVariable& carried, TypeRef type) {
    const std::string& operation = carried.operation;
    const std::string& name = variable(carried.variable);
    if (!is_scalar(type))
        fail(carried.where,
             "'" + name + "' is " + lang::describe(type) +
                 ", and goes from one iteration of prange to the next",
             "Only numbers are combined; give each iteration an element of an array.");
    const ScalarType scalar_kind = type->scalar;
    const auto of = [&](double real, int64_t integer) -> Value {
        if (dry_) return {type, {ValueId{}}, 0};
        if (DType(scalar_kind).is_floating() || DType(scalar_kind).is_complex())
            return {
                type,
                {builder_->cast(builder_->constant(Constant::of(ScalarType::kFloat64, real)), scalar_kind)},
                0};
        return {type, {builder_->cast(builder_->index(integer), scalar_kind)}, 0};
    };
    if (operation == "add" || operation == "or" || operation == "xor") return of(0, 0);
    if (operation == "mul") return of(1, 1);
    if (operation == "and") return of(0, -1);
    if (operation == "any" || operation == "all") {
        if (!is_bool(type))
            fail(carried.where,
                 "'" + name + "' is " + lang::describe(type) + ", and 'and' and 'or' combine bools only",
                 "Write bool(...) around it.");
        return of(0, operation == "all" ? 1 : 0);
    }
    if (is_complex(type)) fail(carried.where, "'" + name + "' is complex, which has no order");
    const bool largest =
        operation == "max" || operation == "maximum" || operation == "fmax" || operation[0] == 'g';
    const double infinite = std::numeric_limits<double>::infinity();
    const DType dtype(scalar_kind);
    const int bits = static_cast<int>(dtype.itemsize()) * 8;
    if (is_bool(type)) return of(0, largest ? 0 : 1);
    if (!dtype.is_integer()) return of(largest ? -infinite : infinite, 0);
    const bool is_signed = scalar_kind == ScalarType::kInt8 || scalar_kind == ScalarType::kInt16 ||
                           scalar_kind == ScalarType::kInt32 || scalar_kind == ScalarType::kInt64;
    const int64_t most = is_signed ? INT64_MAX >> (64 - bits) : -1;  // unsigned: all bits
    const int64_t least = is_signed ? INT64_MIN >> (64 - bits) : 0;
    return of(0, largest ? least : most);
}

// What is known so far, and what a chunk came to.
Value FunctionLowering::combined(const CarriedVariable& carried, const Value& before, const Value& chunk) {
    const std::string& operation = carried.operation;
    const NodeId where = carried.where;
    if (operation == "any" || operation == "all") {
        const OpId op = operation == "any" ? OpId::kLogicalOr : OpId::kLogicalAnd;
        return scalar(before.type, apply(op, {before.parts[0], chunk.parts[0]}));
    }
    if (operation == "min" || operation == "max") {
        Arguments arguments;
        arguments.where = where;
        arguments.positional = {before, chunk};
        return call_extreme(operation == "max", arguments);
    }
    if (operation.starts_with("f") || operation.ends_with("imum")) {
        Arguments arguments;
        arguments.where = where;
        arguments.positional = {before, chunk};
        return call_ufunc(*find_op(operation), arguments);
    }
    return binary(operation, before, chunk, where);
}

void FunctionLowering::combine_partials(std::span<const Partial> partials, ValueId count, ValueId chunks,
                                        const Loop& loop, std::vector<Value>& results, NodeId id) {
    const auto loaded = [&](const Partial& partial, ValueId at) {
        Value value{partial.type, {}, 0};
        for (const Value& array : partial.arrays)
            value.parts.push_back(builder_->load(array.parts[0], std::span(&at, 1)));
        return value;
    };
    const auto result_of = [&](size_t v) -> Value& { return results[loop.place_of(v)]; };
    for (const Partial& partial : partials) {
        const size_t v = partial.carried->variable;
        Value& result = result_of(v);
        switch (partial.carried->kind) {
            case CarriedKind::kBeside: break;
            case CarriedKind::kLast: {
                const ValueId any = builder_->apply(OpId::kGreater, {count, builder_->index(0)});
                result.parts = builder_->if_else(
                    any,
                    [&](ir::Builder&, std::span<const ValueId>) {
                        const ValueId last = builder_->apply(OpId::kSubtract, {chunks, builder_->index(1)});
                        return convert(loaded(partial, last), result.type, id).parts;
                    },
                    [&](ir::Builder&, std::span<const ValueId>) { return result.parts; });
                break;
            }
            case CarriedKind::kReduction: {
                // With the variables that are beside it.
                std::vector<const Partial*> together{&partial};
                for (const Partial& other : partials) {
                    if (other.carried->kind == CarriedKind::kBeside && other.carried->of == v)
                        together.push_back(&other);
                }
                std::vector<ValueId> initials;
                for (const Partial* each : together) {
                    const Value& before = result_of(each->carried->variable);
                    initials.insert(initials.end(), before.parts.begin(), before.parts.end());
                }
                const std::vector<ValueId> finals = builder_->for_loop(
                    builder_->index(0), chunks, builder_->index(1), initials,
                    [&](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                        size_t at = 0;
                        std::vector<Value> before;
                        for (const Partial* each : together)
                            before.push_back(
                                take(result_of(each->carried->variable).type, arguments.subspan(1), at));
                        const Value told = loaded(partial, arguments[0]);
                        if (!is_comparison(partial.carried->operation))
                            return convert(combined(*partial.carried, before[0], told), before[0].type, id)
                                .parts;
                        ValueId better =
                            compare(partial.carried->operation, told, before[0], partial.carried->where)
                                .parts[0];
                        std::vector<Value> after{convert(told, before[0].type, id)};
                        for (const Partial* each : std::span(together).subspan(1)) {
                            const Value value = loaded(*each, arguments[0]);
                            better = builder_->apply(OpId::kLogicalAnd, {better, value.parts[0]});
                            const Value bound{value.type->parts[0],
                                              {value.parts.begin() + 1, value.parts.end()}};
                            after.push_back(convert(bound, before[after.size()].type, id));
                        }
                        const auto parts_of = [](const std::vector<Value>& values) {
                            std::vector<ValueId> parts;
                            for (const Value& value : values)
                                parts.insert(parts.end(), value.parts.begin(), value.parts.end());
                            return parts;
                        };
                        return builder_->if_else(
                            better, [&](ir::Builder&, std::span<const ValueId>) { return parts_of(after); },
                            [&](ir::Builder&, std::span<const ValueId>) { return parts_of(before); });
                    });
                size_t at = 0;
                for (const Partial* each : together) {
                    Value& after = result_of(each->carried->variable);
                    after = take(after.type, finals, at);
                }
                break;
            }
        }
    }
}

}  // namespace weft::lang
