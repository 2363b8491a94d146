#include <algorithm>

#include "lang/containers/dicts.h"
#include "lang/containers/sets.h"
#include "lang/lowering.h"
#include "lang/parallel/outline.h"
#include "lang/strings/strings.h"

namespace weft::lang {

using ir::ValueId;

// --- what a `for` goes over -----------------------------------------------------------------------------

FunctionLowering::Sequence FunctionLowering::sequence_of(NodeId id, Environment& environment) {
    const Node& expression = node(id);
    const auto path = [&]() -> std::string {
        if (expression.kind != NodeKind::kCall || node(expression.children[0]).kind != NodeKind::kGlobal)
            return {};
        const Symbol& symbol = source_.symbol(node(expression.children[0]).number);
        return symbol.kind == SymbolKind::kKnown ? symbol.path : std::string();
    }();
    const auto parts = [&](size_t least, size_t most) {
        const size_t count = expression.children.size() - 1;
        if (count < least || count > most)
            fail(id,
                 path.substr(path.rfind('.') + 1) + "() is given " + std::to_string(count) + " arguments");
        std::vector<Sequence> sequences;
        for (size_t i = 1; i <= count && i <= most; ++i) {
            if (path == "builtins.enumerate" && i == 2) break;
            sequences.push_back(sequence_of(expression.children[i], environment));
        }
        return sequences;
    };
    if (path == "builtins.enumerate") {
        std::vector<Sequence> sequences = parts(1, 2);
        const Value start = [&] {
            if (expression.children.size() < 3) return integer(0);
            NodeId given = expression.children[2];
            if (node(given).kind == NodeKind::kKeyword && !node(given).children.empty())
                given = node(given).children[0];
            const Value value = lower(given, environment);
            if (!is_integer(value.type) && is_scalar(value.type))
                fail(given, "Only integers supported as start value in enumerate, not " +
                                lang::describe(value.type));
            return scalar(scalar_type(ScalarType::kInt64, true), as_index(value, given));
        }();
        return enumerated_sequence(sequences[0], start);
    }
    if (path == "builtins.zip" && expression.children.size() > 1) return zip_sequence(parts(1, SIZE_MAX - 1));
    if (path == "builtins.zip") return sequence_of(tuple({}), id);
    if (path == "numpy.ndindex" || path == "numpy.ndenumerate")
        return indices_sequence(id, path == "numpy.ndenumerate", arguments_of(id, environment));
    if (path == "builtins.reversed") {
        const Sequence sequence = parts(1, 1)[0];
        if (sequence.consumes) fail(id, "'generator' object is not reversible");
        return reversed_sequence(sequence, sequence.length ? sequence.length() : sequence.count());
    }
    if (path == "builtins.map") return mapped_sequence(id, environment);
    if (is_lazy(id)) return sequence_of(collect(id, environment), id);
    Value value = required(lower(id, environment), id);
    // The loop is a user, too, where it gives the variable another value.
    const bool may_end = expression.kind != NodeKind::kName || assigned_in_loop_ == nullptr ||
                         (*assigned_in_loop_)[static_cast<size_t>(expression.number)];
    if (may_end && !value.fresh && has_owner(value.type)) {
        count_owners(value, true);
        add_temporary(value);
    }
    return sequence_of(value, id);
}

// The indices of an array or shape in the order of C, for an array with its elements.
FunctionLowering::Sequence FunctionLowering::indices_sequence(NodeId id, bool with_elements,
                                                              const Arguments& given) {
    expect_arguments(with_elements ? "ndenumerate" : "ndindex", given, with_elements ? 1 : 0,
                     with_elements ? 1 : SIZE_MAX);
    std::vector<ValueId> shape;
    const bool is_tuple = given.positional.size() == 1 && given.positional[0].type->kind == TypeKind::kTuple;
    if (with_elements) {
        if (!is_strided(given.positional[0].type))
            fail(id, "ndenumerate() takes an array, not " + lang::describe(given.positional[0].type));
        for (size_t d = 0; d < given.positional[0].type->rank; ++d)
            shape.push_back(size_of(given.positional[0], d));
    } else if (is_tuple) {
        for (size_t i = 0; i < given.positional[0].type->parts.size(); ++i)
            shape.push_back(as_index(tuple_item(given.positional[0], i), id));
    } else {
        for (const Value& size : given.positional) shape.push_back(as_index(size, id));
    }
    Sequence result;
    result.count = [this, shape] {
        ValueId count = integer(1).parts[0];
        for (const ValueId size : shape)
            count = apply(OpId::kMultiply, {count, apply(OpId::kMaximum, {size, integer(0).parts[0]})});
        return count;
    };
    result.element = [this, shape, given, with_elements](ValueId k) {
        const TypeRef type = scalar_type(ScalarType::kInt64, true);
        std::vector<ValueId> indices(shape.size());
        for (size_t d = shape.size(); d-- > 0;) {
            indices[d] = d == 0 ? k : apply(OpId::kRemainder, {k, shape[d]});
            note(indices[d], {0, INT64_MAX, shape[d], 0});
            if (d > 0) k = apply(OpId::kFloorDivide, {k, shape[d]});
        }
        std::vector<Value> items;
        for (const ValueId index : indices) items.push_back(scalar(type, index));
        Value index = tuple(std::move(items));
        if (!with_elements) return index;
        return tuple({std::move(index), load({given.positional[0], std::move(indices)})});
    };
    return result;
}

FunctionLowering::Sequence FunctionLowering::enumerated_sequence(const Sequence& inner, const Value& start) {
    Sequence result;
    result.count = inner.count;
    result.goes_on = inner.goes_on;
    result.length = inner.length;
    result.is_empty = inner.is_empty;
    result.consumes = inner.consumes;
    result.element = [this, inner, start](ValueId k) {
        const TypeRef counter = scalar_type(ScalarType::kInt64, true);
        const auto known = literal_integer(start.type);
        const ValueId number = known && *known == 0 ? k : apply(OpId::kAdd, {k, start.parts[0]});
        return tuple({scalar(counter, number), inner.element(k)});
    };
    return result;
}

FunctionLowering::Sequence FunctionLowering::zip_sequence(std::vector<Sequence> sequences) {
    Sequence result;
    result.count = [this, sequences] {
        ValueId least = sequences[0].count();
        for (size_t i = 1; i < sequences.size(); ++i)
            least = apply(OpId::kMinimum, {least, sequences[i].count()});
        return least;
    };
    result.element = [this, sequences](ValueId k) {
        std::vector<Value> items;
        for (const Sequence& sequence : sequences) items.push_back(sequence.element(k));
        return tuple(std::move(items));
    };
    result.is_empty = std::any_of(sequences.begin(), sequences.end(),
                                  [](const Sequence& sequence) { return sequence.is_empty; });
    const bool changes = std::any_of(sequences.begin(), sequences.end(),
                                     [](const Sequence& sequence) { return sequence.goes_on != nullptr; });
    if (!changes) return result;
    result.consumes = std::any_of(sequences.begin(), sequences.end(),
                                  [](const Sequence& sequence) { return sequence.consumes; });
    if (result.consumes) {
        // Of those behind one that has ended nothing is taken.
        result.count = [this] { return integer(INT64_MAX).parts[0]; };
        result.goes_on = [this, sequences](ValueId k) {
            const std::function<ValueId(size_t)> from = [&](size_t i) {
                const ValueId one = sequences[i].goes_on ? sequences[i].goes_on(k)
                                                         : apply(OpId::kLess, {k, sequences[i].count()});
                if (i + 1 == sequences.size()) return one;
                if (dry_) return from(i + 1);
                return builder_->if_else(
                    one,
                    [&](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>{from(i + 1)}; },
                    [&](ir::Builder&, std::span<const ValueId>) {
                        return std::vector<ValueId>{boolean(false).parts[0]};
                    })[0];
            };
            return from(0);
        };
        return result;
    }
    result.goes_on = [this, sequences](ValueId k) {
        ValueId all{};
        for (const Sequence& sequence : sequences) {
            if (!sequence.goes_on) continue;
            const ValueId one = sequence.goes_on(k);
            all = all.valid() ? apply(OpId::kLogicalAnd, {all, one}) : one;
        }
        return all;
    };
    result.length = [this, sequences] {
        ValueId least{};
        for (const Sequence& sequence : sequences) {
            const ValueId one = sequence.length ? sequence.length() : sequence.count();
            least = least.valid() ? apply(OpId::kMinimum, {least, one}) : one;
        }
        return least;
    };
    return result;
}

FunctionLowering::Sequence FunctionLowering::reversed_sequence(const Sequence& sequence, ValueId count) {
    Sequence result;
    result.is_empty = sequence.is_empty;
    result.count = [count] { return count; };
    const ValueId last =
        sequence.last ? sequence.last() : apply(OpId::kSubtract, {count, integer(1).parts[0]});
    if (sequence.goes_on)
        result.goes_on = [this, sequence, last](ValueId k) {
            return sequence.goes_on(apply(OpId::kSubtract, {last, k}));
        };
    result.element = [this, sequence, count, last](ValueId k) {
        const ValueId number = apply(OpId::kSubtract, {last, k});
        note(number, {0, INT64_MAX, count, 0});
        return sequence.element(number);
    };
    return result;
}

FunctionLowering::Sequence FunctionLowering::sequence_of(const Value& value, NodeId where) {
    if (value.type->kind == TypeKind::kRange) return range_sequence(value, where);
    if (is_list(value.type)) return list_sequence(value, where);
    if (is_dict(value.type)) return sized_sequence(Dicts(*this, where).keys(value), "dictionary", where);
    if (is_set(value.type)) return sized_sequence(Sets(*this, where).items(value), "Set", where);
    if (value.type->kind == TypeKind::kGenerator) return generator_sequence(value, where);
    if (value.type->kind == TypeKind::kTogether) return together_sequence(value, where);
    if (value.type->kind == TypeKind::kString) {  // by its characters
        const std::string& text = value.type->text;
        std::vector<Value> characters;
        for (size_t at = 0, next = 0; at < text.size(); at = next) {
            for (next = at + 1; next < text.size() && (text[next] & '\xC0') == '\x80';) ++next;
            characters.push_back({string_type(text.substr(at, next - at)), {}, 0});
        }
        return sequence_of(tuple(std::move(characters)), where);
    }
    if (is_any_text(value.type)) return Strings(*this, where).characters(value);
    if (value.type->kind == TypeKind::kTuple) {
        Sequence result;
        result.is_empty = value.type->parts.empty();
        result.count = [this, value] {
            return integer(static_cast<int64_t>(value.type->parts.size())).parts[0];
        };
        result.element = [this, value, where](ValueId k) { return any_item(value, k, where); };
        return result;
    }
    if (is_strided(value.type) && value.type->rank == 0) fail(where, "iteration over a 0-d array");
    if (!is_strided(value.type))
        fail(where, "a loop cannot go over " + lang::describe(value.type),
             "Loop over range(), an array, a list or zip().");
    Sequence result;
    result.count = [this, value] { return size_of(value, 0); };
    result.element = [this, value, where](ValueId k) {
        element_at_ = where;
        return item_of(value, k);
    };
    return result;
}

// What no size reaches stands for the largest integer, so that nothing overflows.
ValueId FunctionLowering::above(ValueId value) {
    const ValueId one = integer(1).parts[0];
    if (fact(value).most == INT64_MAX)
        value = builder_->apply(OpId::kMinimum, {value, builder_->index(INT64_MAX - 1)});
    const ValueId sum = builder_->apply(OpId::kAdd, {value, one});
    note_operator(OpId::kAdd, sum, value, one);
    return sum;
}

FunctionLowering::Sequence FunctionLowering::range_sequence(const Value& range, NodeId where) {
    const TypeRef counter = scalar_type(ScalarType::kInt64, true);
    const ValueId start = range.parts[0], stop = range.parts[1], step = range.parts[2];
    const std::optional<int64_t> known_step = literal_integer(range.type->parts[2]);
    Sequence result;
    result.counter = counter;
    if (known_step && *known_step == 0) fail(where, "range() arg 3 must not be zero");
    if (!known_step && !dry_ && fact(step).least < 1) {
        check(apply(OpId::kNotEqual, {step, integer(0).parts[0]}),
              site("ValueError", "range() arg 3 must not be zero"), {}, where);
    }
    // The counter must not run over the end of int64 behind the last element.
    const bool goes_up = known_step ? *known_step > 0 : !dry_ && fact(step).least >= 1;
    result.direct = known_step && (*known_step == 1 ||
                                   (*known_step > 0 && !dry_ && fact(stop).most <= INT64_MAX - *known_step));
    result.bounds = {start, stop, step};
    // range(i - 1, i + 2): of so many iterations as can be told, so that they are unrolled.
    const Sum from = as_sum(start), to = as_sum(stop);
    const bool is_short = !dry_ && result.direct && from.base == to.base && from.subtracts == to.subtracts &&
                          from.least == from.most && to.least == to.most && is_exact(from) && is_exact(to);
    if (is_short) result.direct = false;
    if (!dry_ && (known_step || goes_up)) {
        // Up to `stop`, or down from `start`.
        const Fact low = fact(goes_up ? start : stop), high = fact(goes_up ? stop : start);
        const int64_t more = goes_up ? 0 : 1;
        Fact& known = result.of_element;
        if (low.least < INT64_MAX) known.least = low.least == INT64_MIN ? INT64_MIN : low.least + more;
        if (high.most > INT64_MIN) known.most = high.most - (1 - more);
        const ValueId end = goes_up ? stop : start;
        const Sum sum = as_sum(end);
        const bool is_sum = !sum.subtracts && is_exact(sum, /*only_below=*/true);
        known.below = is_sum ? sum.base : end;
        known.offset = (is_sum ? sum.most : 0) + more;
    }
    if (is_short) {
        const int64_t distance = std::max<int64_t>(to.least - from.least, 0);
        const int64_t steps = (distance + *known_step - 1) / *known_step;
        result.of_element = {fact(start).least, fact(stop).most - 1, {}, 0};
        result.extent = [start, stop](ValueId) { return std::pair(start, stop); };
        result.count = [this, steps] { return integer(steps).parts[0]; };
        result.element = [this, start, step, counter, from, to, of_element = result.of_element](ValueId k) {
            const ValueId element = apply(OpId::kAdd, {start, apply(OpId::kMultiply, {k, step})});
            note(element, of_element);
            if (!dry_) known_.sums[element.index] = {from.base, from.least, to.least - 1, {}, from.subtracts};
            return scalar(counter, element);
        };
        return result;
    }
    // How often the step fits, and the number of the last element, which may take all 64 bits.
    const auto steps_of = [this, start, stop, step, known_step, goes_up] {
        const auto unsigned_of = [&](ValueId value) { return builder_->cast(value, ScalarType::kUInt64); };
        const ValueId zero = integer(0).parts[0];
        const ValueId one = builder_->constant(Constant::of(ScalarType::kUInt64, uint64_t{1}));
        const auto count_up = [&](ValueId from, ValueId to, ValueId by) {
            const ValueId distance = unsigned_of(builder_->apply(OpId::kSubtract, {to, from}));
            return std::pair{
                builder_->apply(OpId::kLess, {from, to}),
                builder_->apply(OpId::kFloorDivide,
                                {builder_->apply(OpId::kSubtract, {distance, one}), unsigned_of(by)})};
        };
        // What is known here, the code generator does not know: that it is no division by zero.
        if (goes_up)
            return count_up(start, stop,
                            known_step ? step : builder_->apply(OpId::kMaximum, {step, builder_->index(1)}));
        const ValueId minus = builder_->apply(OpId::kNegative, {step});
        const auto down = count_up(stop, start, minus);
        if (known_step) return down;
        const auto up = count_up(start, stop, step);
        const ValueId is_up = builder_->apply(OpId::kGreater, {step, zero});
        return std::pair{builder_->apply(OpId::kSelect, {is_up, up.first, down.first}),
                         builder_->apply(OpId::kSelect, {is_up, up.second, down.second})};
    };
    result.last = [this, steps_of] {
        return dry_ ? ValueId{} : builder_->cast(steps_of().second, ScalarType::kInt64);
    };
    result.count = [this, start, stop, known_step, steps_of] {
        if (dry_) return ValueId{};
        const ValueId zero = integer(0).parts[0];
        const Fact first = fact(start), end = fact(stop);
        if (known_step && *known_step == 1 && fits(static_cast<Wide>(end.least) - first.most) &&
            fits(static_cast<Wide>(end.most) - first.least)) {
            const ValueId difference = builder_->apply(OpId::kSubtract, {stop, start});
            return builder_->apply(OpId::kMaximum, {difference, zero});
        }
        const auto [is_any, last] = steps_of();
        // Nobody waits for more than an int64 can tell.
        const ValueId most =
            builder_->constant(Constant::of(ScalarType::kUInt64, static_cast<uint64_t>(INT64_MAX) - 1));
        const ValueId count = builder_->apply(
            OpId::kAdd, {builder_->cast(builder_->apply(OpId::kMinimum, {last, most}), ScalarType::kInt64),
                         builder_->index(1)});
        return builder_->apply(OpId::kSelect, {is_any, count, zero});
    };
    const auto above = [this](ValueId value) { return this->above(value); };
    if (goes_up && !known_step && compilation_.options().is_kernel) {
        // Of a kernel's threads, which share out what there is, one comes to the last element.
        result.extent = [start, stop](ValueId) { return std::pair(start, stop); };
    } else if (known_step && *known_step == -1) {
        result.extent = [start, stop, above](ValueId) { return std::pair(above(stop), above(start)); };
    } else if (!result.direct) {
        result.extent = [this, start, step, above](ValueId count) -> std::pair<ValueId, ValueId> {
            const ValueId one = builder_->index(1);
            const ValueId steps = builder_->apply(OpId::kSubtract, {count, one});
            const ValueId last =
                builder_->apply(OpId::kAdd, {start, builder_->apply(OpId::kMultiply, {steps, step})});
            return {builder_->apply(OpId::kMinimum, {start, last}),
                    above(builder_->apply(OpId::kMaximum, {start, last}))};
        };
    }
    const Fact of_element = result.of_element;
    result.element = [this, start, step, counter, of_element](ValueId k) {
        const ValueId element = apply(OpId::kAdd, {start, apply(OpId::kMultiply, {k, step})});
        note(element, of_element);
        return scalar(counter, element);
    };
    return result;
}

// --- the variables of a loop ----------------------------------------------------------------------------

FunctionLowering::Loop FunctionLowering::open_loop(NodeId id, Environment& environment) {
    const Flow& flow = flows_.at(id);
    Loop loop;
    loop.flow = &flow;
    loop.finals = finals_.size();
    for (size_t v = 0; v < environment.size(); ++v) {
        if (!flow.assigned[v]) continue;
        if (!flow.live_head[v] && !flow.live_after[v]) {  // the loop gives it another value before it is read
            release(environment[v]);
            environment[v] = {simple_type(TypeKind::kUnbound), {}, 0};
            continue;
        }
        loop.carried.push_back(v);
        loop.types.push_back(environment[v].type);
        loop.origins.push_back(environment[v].origin);
    }
    return loop;
}

// Goes through an iteration until no variable's type grows any more.
void FunctionLowering::find_types(NodeId id, Loop& loop, const Environment& environment,
                                  const std::function<bool(Environment&)>& iteration) {
    std::vector<TypeRef> entry;
    for (const Value& value : environment) entry.push_back(value.type);
    entry.push_back(result_);
    std::pair key(id, std::move(entry));
    const auto known = known_loops_.find(key);
    if (known != known_loops_.end() && tries_.empty() && finals_.empty()) {
        loop.breaks = known->second.back() != nullptr;
        loop.types.assign(known->second.begin(), known->second.end() - 1);
        return;
    }
    const DryRun dry(*this);
    do {
        loop.grown = false;
        Environment inner = start_iteration(loop, environment, {});
        const Now now(*this, inner);
        loops_.push_back(&loop);
        const bool reached = iteration(inner);
        loops_.pop_back();
        if (reached) meet(loop, inner, id);
    } while (loop.grown);
    std::vector<TypeRef>& found = known_loops_[std::move(key)];
    found = loop.types;
    found.push_back(loop.breaks ? simple_type(TypeKind::kNone) : nullptr);
}

void FunctionLowering::meet(Loop& loop, const Environment& environment, NodeId where) {
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        const Value& value = environment[loop.carried[i]];
        TypeRef both =
            join_or_fail({loop.types[i], {}, loop.origins[i]}, value, variable(loop.carried[i]), where);
        loop.grown |= both != loop.types[i];
        loop.types[i] = both;
    }
}

Environment FunctionLowering::start_iteration(const Loop& loop, const Environment& environment,
                                              std::span<const ValueId> carried) const {
    Environment inner = environment;
    size_t at = 0;
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        Value& value = inner[loop.carried[i]];
        const NodeId origin = value.origin;
        if (dry_) {
            value = {loop.types[i], std::vector<ValueId>(part_count(loop.types[i])), origin};
        } else {
            value = take(loop.types[i], carried, at);
            value.origin = origin;
        }
    }
    return inner;
}

std::vector<ValueId> FunctionLowering::carried_parts(const Loop& loop, const Environment& environment,
                                                     bool finished, NodeId where) {
    std::vector<ValueId> parts;
    for (size_t i = 0; i < loop.carried.size(); ++i)
        append_converted(parts, environment[loop.carried[i]], loop.types[i], where);
    if (loop.flagged) parts.push_back(boolean(finished).parts[0]);
    return parts;
}

// The same at the end of an iteration, where the other variables of the loop end.
std::vector<ValueId> FunctionLowering::end_iteration(Loop& loop, const Environment& environment,
                                                     bool finished, NodeId where) {
    std::vector<ValueId> parts = carried_parts(loop, environment, finished, where);
    note_end(loop, parts);
    release_dropped(environment, [&](size_t v) {
        return !loop.flow->assigned[v] ||
               std::find(loop.carried.begin(), loop.carried.end(), v) != loop.carried.end();
    });
    return parts;
}

// What stands behind the loop: its variables, and its else. `ends` tells whether it ends but by break.
bool FunctionLowering::close_loop(NodeId id, const Loop& loop, Environment& environment,
                                  std::span<const ValueId> results, bool ends) {
    const Flow& flow = flows_.at(id);
    environment = start_iteration(loop, environment, results);
    if (!dry_) note(results, loop.types, loop.outcomes);
    for (size_t v = 0; v < environment.size(); ++v) {
        const bool is_carried = std::find(loop.carried.begin(), loop.carried.end(), v) != loop.carried.end();
        if (flow.assigned[v] && !is_carried) environment[v] = {simple_type(TypeKind::kUnbound), {}, 0};
    }
    if (!ends && !loop.breaks) {
        if (!dry_) {
            Site never = site("RuntimeError", "an endless loop ended");
            never.function = spot(id).function;
            never.node = spot(id).node;
            builder_->raise(compilation_.add_site(std::move(never)), {});
        }
        return false;
    }
    const NodeId otherwise = node(id).children.back();
    if (node(otherwise).children.empty() || !ends) return true;
    if (!loop.breaks) return lower_block(otherwise, environment);
    return lower_branches(
        id, dry_ ? ValueId{} : results.back(), flow.assigned_otherwise, flow.live_after, environment,
        [&](Environment& inner) { return lower_block(otherwise, inner); }, [](Environment&) { return true; });
}

// Whether something in it loops, but for loops of few iterations, which are unrolled.
bool FunctionLowering::has_loop(NodeId id) const {
    const Node& given = node(id);
    if (given.kind == NodeKind::kWhile || given.kind == NodeKind::kComprehension ||
        given.kind == NodeKind::kTry)
        return true;
    if (given.kind == NodeKind::kFor) {
        const std::vector<NodeId>& range = node(given.children[1]).children;
        if (node(given.children[1]).kind != NodeKind::kCall || range.size() < 2 || range.size() > 3)
            return true;
        const auto literal = [&](NodeId bound) -> std::optional<int64_t> {
            if (node(bound).kind == NodeKind::kUnary && node(bound).atoms[0] == "neg")
                bound = node(bound).children[0];
            if (node(bound).kind != NodeKind::kInt || node(bound).atoms[0].size() > 2) return std::nullopt;
            return std::stoi(node(bound).atoms[0]);
        };
        constexpr int64_t kFew = 8;
        // range(i - 1, i + 2), too
        const auto around = [&](NodeId bound) -> std::string {
            const Node& sum = node(bound);
            if (sum.kind == NodeKind::kName) return sum.atoms[0];
            const bool adds =
                sum.kind == NodeKind::kBinary && (sum.atoms[0] == "add" || sum.atoms[0] == "sub");
            if (!adds || node(sum.children[0]).kind != NodeKind::kName) return {};
            return literal(sum.children[1]).value_or(kFew + 1) <= kFew ? node(sum.children[0]).atoms[0]
                                                                       : std::string();
        };
        const bool same =
            range.size() == 3 && !around(range[1]).empty() && around(range[1]) == around(range[2]);
        for (size_t i = 1; i < range.size() && !same; ++i) {
            if (literal(range[i]).value_or(kFew + 1) > kFew) return true;
        }
    }
    return std::any_of(given.children.begin(), given.children.end(),
                       [&](NodeId child) { return has_loop(child); });
}

// --- statements -----------------------------------------------------------------------------------------

bool FunctionLowering::lower_for(NodeId id, Environment& environment) {
    const NodeId given = node(id).children[1];
    if (nest_ != nullptr && !dry_ && nest_->inner == id) return lower_part_of_row(id, environment);
    if (is_parallel(given)) return lower_parallel_for(id, environment);
    if (compilation_.options().for_gpu && compilation_.is_entry(target_) && is_over_prange(given)) {
        // The grid's blocks, one of which the thread is in.
        assign(node(id).children[0], integer(0), environment, id);
        return lower_block(node(id).children[2], environment);
    }
    assigned_in_loop_ = &flows_.at(id).assigned;
    const Sequence sequence = sequence_of(given, environment);
    assigned_in_loop_ = nullptr;
    return lower_for_over(id, sequence, environment);
}

bool FunctionLowering::lower_for_over(NodeId id, const Sequence& sequence, Environment& environment) {
    const Node& statement = node(id);
    if (sequence.is_empty) return lower_block(statement.children[3], environment);
    Loop loop = open_loop(id, environment);
    find_types(id, loop, environment,
               [&](Environment& inner) { return lower_iteration(id, sequence, inner, {}); });
    loop.flagged = loop.breaks && !node(statement.children[3]).children.empty();
    std::vector<ValueId> results;
    if (!dry_) results = run_iterations(id, sequence, loop, environment);
    return close_loop(id, loop, environment, results, true);
}

bool FunctionLowering::lower_iteration(NodeId id, const Sequence& sequence, Environment& environment,
                                       ValueId counter) {
    note(counter, sequence.direct ? sequence.of_element : Fact{0, INT64_MAX, {}, 0});
    if (!dry_ && hoist_ != nullptr && hoist_->is_of(source_, id)) hoist_->counter = counter;
    const size_t temporaries = temporaries_.size();
    const Value element = sequence.direct ? scalar(sequence.counter, counter) : sequence.element(counter);
    // Of other ranges it is the element that goes along, from one end of its extent to the other.
    if (!dry_ && hoist_ != nullptr && hoist_->is_of(source_, id) && hoist_->by_element)
        hoist_->counter = element.parts[0];
    note_raise(environment);
    assign(node(id).children[0], element, environment, id);
    end_temporaries(temporaries);  // what a tuple of items has beside its variables
    return lower_block(node(id).children[2], environment);
}

// Leaves the loop as at its end.
void FunctionLowering::leave_unless(ValueId holds, Loop& loop, const Environment& inner, NodeId where) {
    builder_->if_else(
        holds, [](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>(); },
        [&](ir::Builder&, std::span<const ValueId>) -> std::vector<ValueId> {
            builder_->break_loop(end_iteration(loop, inner, true, where));
            return {};
        });
}

// Whether each iteration adds one to the variable, once.
bool FunctionLowering::goes_up(NodeId loop, size_t variable) const {
    const NodeId body = node(loop).children[2];
    const std::function<bool(NodeId)> continues = [&](NodeId id) {
        const Node& given = node(id);
        return given.kind == NodeKind::kContinue ||
               std::any_of(given.children.begin(), given.children.end(), continues);
    };
    const std::vector<NodeId>& statements = node(body).children;
    const auto adds = [&](NodeId id) {
        const Node& given = node(id);
        if (given.kind != NodeKind::kAugment || given.atoms[0] != "add") return false;
        const Node &target = node(given.children[0]), &by = node(given.children[1]);
        return target.kind == NodeKind::kName && static_cast<size_t>(target.number) == variable &&
               by.kind == NodeKind::kInt && by.atoms[0] == "1";
    };
    return std::count_if(statements.begin(), statements.end(), adds) == 1 &&
           count_assignments(source_.tree, loop, variable) == 1 && !continues(body);
}

std::vector<ValueId> FunctionLowering::run_iterations(NodeId id, const Sequence& sequence, Loop& loop,
                                                      const Environment& environment) {
    const std::vector<ValueId> initials = carried_parts(loop, environment, true, id);
    note_end(loop, initials);
    const ValueId lower = sequence.direct ? sequence.bounds[0] : builder_->index(0);
    const ValueId upper = sequence.direct ? sequence.bounds[1] : sequence.count();
    const ValueId step = sequence.direct ? sequence.bounds[2] : integer(1).parts[0];
    Hoist bounds;
    bounds.function = &source_;
    bounds.loop = id;
    bounds.lower = sequence.within.empty() ? lower : sequence.within[0];
    bounds.upper = sequence.within.empty() ? upper : sequence.within[1];

    // Variables that go up with the counter are it and what they are ahead of it, so that indices of them are
    // proven, or looked at before the loop, as those of the counter are.
    std::vector<std::pair<size_t, ValueId>> rising;
    const Environment before = start_iteration(loop, environment, initials);
    const bool by_one = fact(step).least == 1 && fact(step).most == 1;
    for (const size_t v : loop.carried) {
        if (by_one && loop.types[loop.place_of(v)] == scalar_type(ScalarType::kInt64, true) &&
            goes_up(id, v)) {
            const ValueId ahead = builder_->apply(OpId::kSubtract, {before[v].parts[0], lower});
            note_operator(OpId::kSubtract, ahead, before[v].parts[0], lower);
            rising.emplace_back(v, ahead);
        }
    }
    bounds.by_element = sequence.extent && rising.empty();
    if (bounds.by_element) std::tie(bounds.lower, bounds.upper) = sequence.extent(upper);
    const auto iteration = [&](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
        const Nested nested(*this);
        const Learned learned(known_);
        loop.level = open_loops_;
        if (sequence.direct) learn_less(bounds.lower, bounds.upper, 0);  // or there is no iteration
        Environment inner = start_iteration(loop, environment, arguments.subspan(1));
        note_carried(id, loop, environment, initials, arguments.subspan(1));
        if (hoist_ != nullptr && hoist_->is_of(source_, id)) hoist_->counter = arguments[0];
        for (const auto& [v, ahead] : rising) {
            const ValueId value = builder_->apply(OpId::kAdd, {arguments[0], ahead});
            note_operator(OpId::kAdd, value, arguments[0], ahead);
            refine(value, fact(inner[v].parts[0]).least, INT64_MAX);
            inner[v].parts[0] = value;
        }
        const Now now(*this, inner);
        if (sequence.goes_on) leave_unless(sequence.goes_on(arguments[0]), loop, inner, id);
        loops_.push_back(&loop);
        const bool reached = lower_iteration(id, sequence, inner, arguments[0]);
        loops_.pop_back();
        if (!reached) return {};
        return end_iteration(loop, inner, true, id);
    };
    return build_hoisted(node(id).children[2], bounds, [&]() -> std::vector<ValueId> {
        begin_loop(id);
        if (!sequence.independent || !initials.empty())
            return builder_->for_loop(lower, upper, step, initials, iteration);
        builder_->for_lanes(lower, upper, kLanes, iteration);
        return {};
    });
}

void FunctionLowering::begin_loop(NodeId id) {
    if (!source_.is_prelude) builder_->set_loop_site(compilation_.add_loop({&source_, id}));
}

bool FunctionLowering::lower_while(NodeId id, Environment& environment) {
    const Node& statement = node(id);
    const NodeId tested = statement.children[0];
    bool endless = false;
    // The condition is tested in the body, where checks may leave the function.
    const auto test = [&](Environment& inner, Loop& loop) {
        const size_t temporaries = temporaries_.size();
        Value value;
        const auto walk = [&] { value = lower_condition(tested, inner); };
        endless = false;
        if (dry_ && !decided(walk)) return meet(loop, inner, id);
        if (!dry_) walk();
        end_temporaries(temporaries);
        endless = value.type->literal && value.type->literal->as<bool>();
        const ValueId condition = value.parts[0];
        if (endless) return;
        if (dry_) return meet(loop, inner, id);
        builder_->if_else(
            condition, [](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>(); },
            [&](ir::Builder&, std::span<const ValueId>) -> std::vector<ValueId> {
                const Learned learned(known_);
                learn(condition, false);
                builder_->break_loop(end_iteration(loop, inner, true, id));
                return {};
            });
        learn(condition, true);
    };
    Loop loop = open_loop(id, environment);
    find_types(id, loop, environment, [&](Environment& inner) {
        test(inner, loop);
        return lower_block(statement.children[1], inner);
    });
    loop.flagged = loop.breaks && !node(statement.children[2]).children.empty();
    {
        const DryRun dry(*this);  // for `endless`, where the types were known
        Environment inner = start_iteration(loop, environment, {});
        test(inner, loop);
    }
    std::vector<ValueId> results;
    if (!dry_) {
        const std::vector<ValueId> initials = carried_parts(loop, environment, true, id);
        note_end(loop, initials);
        begin_loop(id);
        results = builder_->while_loop(
            initials,
            [&](ir::Builder&, std::span<const ValueId> arguments) {
                std::vector<ValueId> forwarded{boolean(true).parts[0]};
                forwarded.insert(forwarded.end(), arguments.begin(), arguments.end());
                return forwarded;
            },
            [&](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                const Nested nested(*this);
                const Learned learned(known_);
                loop.level = open_loops_;
                Environment inner = start_iteration(loop, environment, arguments);
                note_carried(id, loop, environment, initials, arguments);
                const Now now(*this, inner);
                loops_.push_back(&loop);
                test(inner, loop);
                const bool reached = lower_block(statement.children[1], inner);
                loops_.pop_back();
                if (!reached) return {};
                return end_iteration(loop, inner, true, id);
            });
    }
    return close_loop(id, loop, environment, results, !endless);
}

bool FunctionLowering::lower_break(NodeId id, Environment& environment) {
    if (loops_.empty()) fail(id, "'break' outside loop");
    Loop& loop = *loops_.back();
    if (!lower_finals(loop.finals, environment)) return false;
    if (dry_) {
        meet(loop, environment, id);
        loop.breaks = true;
    } else {
        builder_->break_loop(end_iteration(loop, environment, false, id), open_loops_ - loop.level);
    }
    return false;
}

bool FunctionLowering::lower_continue(NodeId id, Environment& environment) {
    if (loops_.empty()) fail(id, "'continue' not properly in loop");
    Loop& loop = *loops_.back();
    if (!lower_finals(loop.finals, environment)) return false;
    if (dry_) {
        meet(loop, environment, id);
    } else {
        builder_->continue_loop(end_iteration(loop, environment, true, id), open_loops_ - loop.level);
    }
    return false;
}

}  // namespace weft::lang
