// Loops over prange. The iterations become a function of their own, which runs for chunks of them at the same
// time (`spread` of the IR). It gets what it reads of the variables around it; what it comes to for the
// reductions goes into arrays with an element a chunk, and is combined in the order of the chunks. So results
// have the same bits for any number of threads.
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "lang/lowering.h"
#include "lang/parallel/carried.h"
#include "lang/parallel/outline.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// Iterations of a chunk at least, where they have no loop in them and so take some hundred cycles at most.
constexpr int64_t kLeastOfShort = 128;

constexpr int64_t kChunksOfLanes = 32;
constexpr int64_t kChunks = 256;  // at most: a function of the number of iterations alone

}  // namespace

bool FunctionLowering::is_parallel(NodeId sequence) const {
    const Options& options = compilation_.options();
    if (!options.parallel || options.for_gpu || !tries_.empty()) return false;
    return is_over_prange(sequence);
}

bool FunctionLowering::is_over_prange(NodeId sequence) const {
    if (node(sequence).kind != NodeKind::kCall) return false;
    const NodeId callee = node(sequence).children[0];
    if (node(callee).kind != NodeKind::kGlobal) return false;
    const Symbol& symbol = source_.symbol(node(callee).number);
    return symbol.kind == SymbolKind::kKnown && symbol.path == "weft.prange";
}

// Memory that others count users of, for as long as the loop runs.
Value FunctionLowering::borrowed(const Value& value) {
    if (!has_owner(value.type)) return value;
    Value result;
    result.origin = value.origin;
    Type type = *value.type;
    if (is_strided(value.type)) {
        type.owned = false;
        result.parts = value.parts;
        if (!dry_) result.parts.erase(result.parts.begin() + 1);
    } else {
        size_t at = 0;
        if (!has_items(value.type)) result.parts.push_back(value.parts[at++]);  // a flag
        for (TypeRef& part : type.parts) {
            const Value inner = borrowed(take(part, value.parts, at));
            part = inner.type;
            result.parts.insert(result.parts.end(), inner.parts.begin(), inner.parts.end());
        }
    }
    result.type = intern(std::move(type));
    return result;
}

// The value as the function beside has it.
Value FunctionLowering::passed(Outline& outline, const Value& value, const std::string& name) {
    std::vector<ir::Type> types;
    append_ir_types(types, value.type, true);
    Value result{value.type, {}, value.origin};
    const Value border = at_border(value);
    for (size_t i = 0; i < types.size(); ++i) {
        const Fact known = types[i].is_buffer ? Fact{} : fact(value.parts[i]);
        if (value.type->literal) {
            result.parts.push_back(outline.builder.constant(*value.type->literal));
            continue;
        }
        if (!types[i].is_buffer && types[i].scalar == ScalarType::kInt64 && known.least == known.most) {
            result.parts.push_back(outline.builder.index(known.least));
            outline.passed.emplace_back(value.parts[i], result.parts.back());
            continue;
        }
        const auto [found, is_new] = outline.inner.try_emplace(border.parts[i].index);
        if (is_new) {
            found->second = outline.builder.parameter(
                types[i], name_in_ir(name) + (i == 0 ? "" : "." + std::to_string(i)));
            outline.arguments.push_back(border.parts[i]);
            if (!types[i].is_buffer) outline.passed.emplace_back(value.parts[i], found->second);
        }
        result.parts.push_back(found->second);
    }
    return result;
}

// Facts of the values that were passed hold for what they are inside.
void FunctionLowering::pass_facts(const Outline& outline, const Beside& around) {
    std::unordered_map<uint32_t, ValueId> inner;
    for (const auto& [outside, inside] : outline.passed) inner.emplace(outside.index, inside);
    const auto find = [&](ValueId outside) {
        const auto found = inner.find(outside.index);
        return found == inner.end() ? ValueId{} : found->second;
    };
    for (const auto& [outside, inside] : outline.passed) {
        const Fact known = around.known().fact(outside);
        Fact fact = this->fact(inside);
        fact.least = std::max(fact.least, known.least);
        fact.most = std::min(fact.most, known.most);
        fact.below = find(known.below);
        fact.offset = known.offset;
        note(inside, fact);
        if (const auto sum = around.known().sums.find(outside.index);
            sum != around.known().sums.end() && !sum->second.other.valid()) {
            const ValueId base = find(sum->second.base);
            if (base.valid()) {
                known_.sums[inside.index] = sum->second;
                known_.sums[inside.index].base = base;
            }
        }
        if (const auto other = around.known().not_below.find(outside.index);
            other != around.known().not_below.end()) {
            if (find(other->second).valid()) known_.not_below[inside.index] = find(other->second);
        }
    }
}

// The iterations `from` to below `to` of a range, behind which `environment` is.
void FunctionLowering::lower_chunk(NodeId id, const ParallelLoop& plan, const Value& range,
                                   const Fact& of_element, ValueId from, ValueId to,
                                   Environment& environment) {
    const ValueId start = range.parts[0], step = range.parts[2];
    const TypeRef counter = scalar_type(ScalarType::kInt64, true);
    Sequence chunk;
    chunk.of_element = of_element;
    chunk.counter = counter;
    if (nest_ != nullptr) {  // the rows of the chunk's pieces
        const ValueId one = builder_->index(1);
        const ValueId first = apply(OpId::kFloorDivide, {from, nest_->pieces});
        chunk.direct = true;
        chunk.bounds = {apply(OpId::kAdd, {start, first}),
                        apply(OpId::kAdd, {start, rounded_up(to, nest_->pieces)}), one};
    } else if (literal_integer(range.type->parts[2]) == 1) {
        chunk.direct = true;
        chunk.independent = plan.arrays.empty() && may_step_together(node(id).children[2]);
        chunk.bounds = {apply(OpId::kAdd, {start, from}), apply(OpId::kAdd, {start, to}), step};
    } else {
        const auto element = [this, start, from, step](ValueId k) {
            const ValueId at = apply(OpId::kAdd, {from, k});
            return apply(OpId::kAdd, {start, apply(OpId::kMultiply, {at, step})});
        };
        chunk.count = [this, from, to] { return apply(OpId::kSubtract, {to, from}); };
        chunk.element = [this, element, counter, of_element](ValueId k) {
            const ValueId value = element(k);
            note(value, of_element);
            return scalar(counter, value);
        };
        chunk.extent = [this, element](ValueId count) -> std::pair<ValueId, ValueId> {
            const ValueId one = builder_->index(1);
            const ValueId first = element(builder_->index(0));
            const ValueId last = element(builder_->apply(OpId::kSubtract, {count, one}));
            return {builder_->apply(OpId::kMinimum, {first, last}),
                    above(builder_->apply(OpId::kMaximum, {first, last}))};
        };
    }
    Loop loop = open_loop(id, environment);
    find_types(id, loop, environment,
               [&](Environment& inner) { return lower_iteration(id, chunk, inner, {}); });
    if (chunk.direct && plan.arrays.empty() && has_lanes(node(id).children[2], plan, loop))
        return run_lanes(id, plan, chunk, loop, environment);
    const std::vector<ValueId> results = run_iterations(id, chunk, loop, environment);
    environment = start_iteration(loop, environment, results);
}

// A function that is defined before the loop reads variables as they are when the loop begins.
void FunctionLowering::refuse_inner_functions(NodeId id, const ParallelLoop& plan,
                                              const Environment& environment) const {
    const std::function<void(NodeId)> visit = [&](NodeId child) {
        const Node& given = node(child);
        if (given.kind == NodeKind::kDef || given.kind == NodeKind::kLambda)
            fail(child, "a function inside of a loop over prange is not compiled",
                 "Define it before the loop.");
        for (NodeId inner : given.children) visit(inner);
    };
    visit(node(id).children[2]);
    VariableSet assigned = flows_.at(id).assigned;
    for (const CarriedVariable& each : plan.arrays) assigned[each.variable] = true;
    const std::function<void(TypeRef)> look = [&](TypeRef type) {
        if (type->kind == TypeKind::kTuple || type->kind == TypeKind::kMaybe) {
            for (TypeRef part : type->parts) look(part);
        }
        if (type->kind != TypeKind::kClosure || type->bound) return;
        for (const std::string& name : type->function->captured) {
            const std::vector<std::string>& variables = source_.tree.variables();
            const auto at = std::find(variables.begin(), variables.end(), name);
            if (at != variables.end() && assigned[static_cast<size_t>(at - variables.begin())])
                fail(id,
                     "'" + type->function->name + "' reads '" + name +
                         "', which this loop over prange changes",
                     "Give it to the function as an argument.");
        }
    };
    for (const Value& value : environment) look(value.type);
}

bool FunctionLowering::lower_parallel_for(NodeId id, Environment& environment) {
    const Node& statement = node(id);
    const ParallelLoop plan = find_parallel_loop(source_, id, flows_.at(id));
    if (plan.refused != 0) fail(plan.refused, plan.why, plan.help);
    refuse_inner_functions(id, plan, environment);
    const Value range = lower(statement.children[1], environment);
    if (range.type->kind == TypeKind::kNever) return true;
    if (dry_) return lower_for_over(id, range_sequence(range, id), environment);
    const size_t temporaries = temporaries_.size();
    const Sequence sequence = range_sequence(range, id);
    Loop loop = open_loop(id, environment);
    find_types(id, loop, environment,
               [&](Environment& inner) { return lower_iteration(id, sequence, inner, {}); });

    // Chunks: by the number of iterations alone.
    ValueId count = sequence.count();
    ValueId least = builder_->index(is_short(statement.children[2]) ? kLeastOfShort : 1);
    std::optional<Nest> nest = nest_of(id, plan, range, environment);
    if (nest) {
        const NodeId body = node(nest->inner).children[2];
        const int64_t enough = is_short(body) ? kLeastOfShort : may_step_together(body) ? kLanes : 1;
        cut_rows(*nest, count, kChunks, enough);
        count = builder_->apply(OpId::kMultiply, {count, nest->pieces});
        least = rounded_up(builder_->index(enough),
                           builder_->apply(OpId::kMaximum, {nest->length, builder_->index(1)}));
    } else if (plan.arrays.empty() && may_step_together(statement.children[2])) {
        // Of some hundred iterations vectors are worth more than another thread.
        least = builder_->apply(
            OpId::kMinimum, {rounded_up(count, builder_->index(kChunksOfLanes)), builder_->index(kLanes)});
        least = builder_->apply(OpId::kMaximum, {least, builder_->index(1)});
    }
    ValueId chunk = builder_->apply(OpId::kMaximum, {rounded_up(count, builder_->index(kChunks)), least});
    if (!plan.arrays.empty())
        chunk = builder_->apply(OpId::kMaximum,
                                {chunk, least_with_copies(plan, environment, statement.children[2])});
    const ValueId chunks = rounded_up(count, chunk);
    note(chunks, {0, kChunks, {}, 0});

    const auto type_of = [&](size_t v) { return loop.types[loop.place_of(v)]; };
    const std::vector<Partial> partials = allocate_partials(plan, loop, chunks, id);
    const std::vector<Value> copies = allocate_copies(plan, environment, chunks, id);

    // The function of the iterations.
    Outline outline(compilation_.name_beside(target_.name));
    const ValueId number = outline.builder.parameter(ir::Type::of(ScalarType::kInt64), "number");
    const ValueId from = outline.builder.parameter(ir::Type::of(ScalarType::kInt64), "from");
    const ValueId to = outline.builder.parameter(ir::Type::of(ScalarType::kInt64), "to");
    Environment inner(environment.size(), {simple_type(TypeKind::kUnbound), {}, 0});
    for (size_t v = 0; v < environment.size(); ++v) {
        if (plan.captured[v] && environment[v].type->kind != TypeKind::kUnbound) {
            refuse_list(environment[v].type, variable(v), id);
            inner[v] = passed(outline, borrowed(bound(environment[v], environment, id)), variable(v));
        }
    }
    std::vector<Value> globals;
    for (const Value& global : globals_) globals.push_back(passed(outline, global, "global"));
    const Value inner_range = passed(outline, range, "range");
    if (nest) {
        const auto pass = [&](ValueId& value) {
            value = passed(outline, scalar(scalar_type(ScalarType::kInt64), value), "row").parts[0];
        };
        nest->range = passed(outline, nest->range, "row");
        for (ValueId* value : {&nest->count, &nest->pieces, &nest->length}) pass(*value);
        nest->plan = &plan;
        nest->start = inner_range.parts[0];
        std::tie(nest->from, nest->to) = std::pair(from, to);
    }
    std::vector<std::vector<Value>> places;
    for (const Partial& partial : partials) {
        std::vector<Value>& arrays = places.emplace_back();
        for (const Value& array : partial.arrays)
            arrays.push_back(passed(outline, borrowed(array), variable(partial.carried->variable)));
    }
    std::vector<Value> inner_copies;
    for (const Value& array : copies) inner_copies.push_back(passed(outline, borrowed(array), "copies"));
    // What keeps a branch from being run keeps chunks from it, too: an extreme or a search that has found.
    std::vector<std::pair<size_t, Value>> starts;
    for (const CarriedVariable& carried : plan.carried) {
        const TypeRef type = without_literals(type_of(carried.variable));
        if (!starts_from_before(carried) || !is_scalar(type)) continue;
        const Value before = convert(environment[carried.variable], type, id);
        starts.emplace_back(carried.variable, passed(outline, before, variable(carried.variable)));
    }
    {
        const Beside beside(*this, outline.builder);
        for (Value& value : inner) value = inside(value);
        for (Value& global : globals) global = inside(global);
        std::swap(globals_, globals);
        for (std::vector<Value>& arrays : places) {
            for (Value& array : arrays) array = inside(array);
        }
        pass_facts(outline, beside);
        note(from, {0, INT64_MAX, to, 0});
        for (size_t k = 0; k < copies.size(); ++k) {
            Value& array = inner[plan.arrays[k].variable];
            array = copy_of_chunk(plan.arrays[k], array, inside(inner_copies[k]), number);
        }
        const auto accumulated = accumulated_;
        for (const CarriedVariable& each : plan.arrays)
            accumulated_.emplace_back(each.variable, inner[each.variable].type->scalar);
        for (const CarriedVariable& carried : plan.carried) {
            if (carried.kind == CarriedKind::kReduction)
                inner[carried.variable] = identity(carried, without_literals(type_of(carried.variable)));
        }
        for (const auto& [v, start] : starts) inner[v] = start;
        Fact of_element = sequence.of_element;
        if (of_element.below.valid()) {
            const auto found = outline.inner.find(of_element.below.index);
            of_element.below = found == outline.inner.end() ? ValueId{} : found->second;
        }
        const Nest* const around = std::exchange(nest_, nest ? &*nest : nullptr);
        lower_chunk(id, plan, inner_range, of_element, from, to, inner);
        nest_ = around;
        for (size_t p = 0; p < partials.size(); ++p) {
            const Partial& partial = partials[p];
            Value value = inner[partial.carried->variable];
            const bool is_last = partial.carried->kind == CarriedKind::kLast;
            if (is_last && value.type->kind == TypeKind::kUnbound) continue;  // each iteration raises
            if (is_last && value.type->kind == TypeKind::kMaybe)
                value = {value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}, value.origin};
            const Value stored = convert(value, partial.type, id);
            for (size_t k = 0; k < stored.parts.size(); ++k)
                builder_->store(places[p][k].parts[0], stored.parts[k], std::span(&number, 1));
        }
        accumulated_ = accumulated;
        builder_->return_values({});
        std::swap(globals_, globals);
    }
    ir::Function iterations = outline.builder.finish_function({});
    builder_->spread(iterations.name, count, chunk, outline.arguments);
    compilation_.add_function(std::move(iterations));
    ParallelNote told{&source_, id};
    for (const CarriedVariable& each : plan.arrays) told.copied.push_back(variable(each.variable));
    if (nest) told.inside = nest->inner;
    compilation_.add_parallel(std::move(told));

    std::vector<Value> results;
    for (size_t i = 0; i < loop.carried.size(); ++i)
        results.push_back(convert(environment[loop.carried[i]], loop.types[i], id));
    combine_partials(partials, count, chunks, loop, results, id);
    for (size_t k = 0; k < copies.size(); ++k)
        combine_copies(plan.arrays[k], environment[plan.arrays[k].variable], copies[k]);
    std::vector<ValueId> parts;
    for (const Value& result : results) parts.insert(parts.end(), result.parts.begin(), result.parts.end());
    end_temporaries(temporaries);
    return close_loop(id, loop, environment, parts, true);
}

}  // namespace weft::lang
