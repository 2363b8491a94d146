#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "lang/containers/dicts.h"
#include "lang/dates/dates.h"
#include "lang/dtype_values.h"
#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

bool FunctionLowering::lower_block(NodeId id, Environment& environment) {
    const Learned learned(known_);
    for (NodeId statement : node(id).children) {
        const size_t temporaries = temporaries_.size();
        const bool goes_on = lower_statement(statement, environment);
        end_temporaries(temporaries);
        if (!goes_on) return false;
    }
    return true;
}

bool FunctionLowering::decided(const std::function<void()>& walk) {
    const bool around = std::exchange(undecided_, false);
    const size_t loops = loops_.size(), tries = tries_.size(), finals = finals_.size();
    const size_t handling = handling_.size(), binding = binding_.size();
    bool fine = true;
    ++deciding_;
    try {
        walk();
    } catch (const Undecided&) {
        fine = false;
        loops_.resize(loops);
        tries_.resize(tries);
        finals_.erase(finals_.begin() + static_cast<std::ptrdiff_t>(finals), finals_.end());
        handling_.erase(handling_.begin() + static_cast<std::ptrdiff_t>(handling), handling_.end());
        binding_.resize(binding);
        assigned_in_loop_ = nullptr;
    }
    --deciding_;
    undecided_ = around;
    return fine;
}

bool FunctionLowering::lower_statement(NodeId id, Environment& environment) {
    element_at_ = id;
    if (!dry_) {
        undecided_ = false;
        undecided_at_ = 0;
        return lower_decided(id, environment);
    }
    bool goes_on = node(id).kind != NodeKind::kReturn && node(id).kind != NodeKind::kRaise;
    decided([&] { goes_on = lower_decided(id, environment); });
    return goes_on;
}

bool FunctionLowering::lower_decided(NodeId id, Environment& environment) {
    const Node& statement = node(id);
    const Now now(*this, environment);
    const Line line(*this, id);
    const bool is_plain = statement.kind == NodeKind::kPass || statement.kind == NodeKind::kBreak ||
                          statement.kind == NodeKind::kContinue;
    if (!is_plain) note_raise(environment);
    switch (statement.kind) {
        case NodeKind::kAssign:
            assign(
                statement.children[0],
                node(statement.children[0]).kind == NodeKind::kIndex && writes_nothing(statement.children[0])
                    ? lower_deferred(statement.children[1], environment)
                    : lower(statement.children[1], environment),
                environment, id);
            return true;
        case NodeKind::kAugment: augment(id, environment); return true;
        case NodeKind::kExpression: lower(statement.children[0], environment); return true;
        case NodeKind::kPass: return true;
        case NodeKind::kIf: return lower_if(id, environment);
        case NodeKind::kWhile: return lower_while(id, environment);
        case NodeKind::kFor: return lower_for(id, environment);
        case NodeKind::kBreak: return lower_break(id, environment);
        case NodeKind::kContinue: return lower_continue(id, environment);
        case NodeKind::kReturn: return lower_return(id, environment);
        case NodeKind::kRaise: return lower_raise(id, environment);
        case NodeKind::kAssert: lower_assert(id, environment); return true;
        case NodeKind::kTry: return lower_try(id, environment);
        case NodeKind::kRestore: restore(id, environment); return true;
        case NodeKind::kSuspend: suspend(id, environment); return true;
        case NodeKind::kDelete: delete_targets(id, environment); return true;
        case NodeKind::kDef: {
            Value function = kept(define_function(id, environment));
            function.origin = id;
            release(environment[static_cast<size_t>(statement.number)]);
            environment[static_cast<size_t>(statement.number)] = std::move(function);
            return true;
        }
        default: fail(id, "'" + std::string(node_name(statement.kind)) + "' is no statement");
    }
}

void FunctionLowering::assign(NodeId target, Value value, Environment& environment, NodeId statement,
                              bool counts) {
    const Node& left = node(target);
    switch (left.kind) {
        case NodeKind::kName:
            if (!counts) value = kept(std::move(value));
            value.origin = statement;
            release(environment[static_cast<size_t>(left.number)]);
            environment[static_cast<size_t>(left.number)] = std::move(value);
            return;
        case NodeKind::kTuple: {
            if (value.type->kind == TypeKind::kNever) {
                for (NodeId child : left.children) assign(child, value, environment, statement);
                return;
            }
            if (value.type->kind == TypeKind::kRange || value.type->kind == TypeKind::kGenerator ||
                (is_array(value.type) && value.type->rank == 1)) {
                const Value given = value;
                value = call_lists("copy", {given}, target);
                if (counts) count_owners(given, false);
                counts = false;
            }
            if (is_list(value.type)) {
                if (!counts) value = kept(std::move(value));
                unpack_list(target, value, environment, statement);
                count_owners(value, false);
                return;
            }
            if (value.type->kind != TypeKind::kTuple)
                fail(target, "failed to unpack " + lang::describe(value.type),
                     "Unpack tuples; take elements of arrays by their index.");
            const auto starred = std::find_if(left.children.begin(), left.children.end(), [&](NodeId child) {
                return node(child).kind == NodeKind::kStarred;
            });
            if (starred != left.children.end() && value.type->parts.size() + 1 >= left.children.size()) {
                // a, *b, c = t: b takes what the others leave.
                const auto before = static_cast<size_t>(starred - left.children.begin());
                const size_t taken = value.type->parts.size() + 1 - left.children.size();
                if (!counts) value = kept(std::move(value));
                size_t item = 0;
                for (size_t i = 0; i < left.children.size(); ++i) {
                    if (i != before) {
                        assign(left.children[i], tuple_item(value, item++), environment, statement, true);
                        continue;
                    }
                    std::vector<Value> rest;
                    for (size_t k = 0; k < taken; ++k) rest.push_back(tuple_item(value, item++));
                    assign(node(*starred).children[0], tuple(std::move(rest)), environment, statement, true);
                }
                return;
            }
            if (value.type->parts.size() != left.children.size())
                fail(target, std::to_string(value.type->parts.size()) + " values cannot be unpacked into " +
                                 std::to_string(left.children.size()) + " targets");
            // a, b = b, a: no target may give back what another one takes.
            if (!counts) value = kept(std::move(value));
            for (size_t i = 0; i < left.children.size(); ++i)
                assign(left.children[i], tuple_item(value, i), environment, statement, true);
            return;
        }
        case NodeKind::kIndex: {
            const Value base = required(lower(left.children[0], environment), target);
            if (base.type->kind == TypeKind::kNever) return;
            if (!is_array(base.type)) value = forced(value);
            if (is_dict(base.type)) {
                Dicts(*this, target).put(base, target, value, environment);
                if (counts) count_owners(value, false);
                return;
            }
            if (is_list(base.type)) {
                assign_list_item(target, base, value, environment);
                if (counts) count_owners(value, false);
                return;
            }
            if (base.type->kind == TypeKind::kTogether && base.type->text == "flat") {
                store(element_of_flat(target, base, environment), value, target);
                if (counts) count_owners(value, false);
                return;
            }
            expect_items(base.type, target);
            refuse_global(left.children[0]);
            refuse_rounding(target, value);
            const std::vector<IndexItem> items = index_items(target, environment);
            if (has_never(items)) return;
            if (has_array(items)) {
                store_selected(target, base, items, forced(value));
            } else if (is_field(base.type, items)) {
                store_field(base, field_given(base.type, items[0].value, items[0].node), value, target);
            } else if (const std::optional<Element> element = element_of(target, base, items)) {
                store(*element, forced(value), target);
            } else if (value.deferred != nullptr) {
                store_deferred(sliced(target, base, items), value, target);
            } else {
                store_part(sliced(target, base, items), value, target);
            }
            if (counts) count_owners(value, false);
            return;
        }
        case NodeKind::kAttribute: {
            Value base = lower(left.children[0], environment);
            if (base.type->kind == TypeKind::kNever) return;
            if (base.type->kind == TypeKind::kOptional) base = required(base, target);
            if (is_structures(base.type)) {
                store_field(base, field_named(base.type, left.atoms[0], target), value, target);
                if (counts) count_owners(value, false);
                return;
            }
            fail(target, "attributes cannot be assigned in a compiled function",
                 base.type->record == nullptr ? "Return the new value, or write into an array."
                                              : "Make another " + base.type->record->name + "(...).");
        }
        default: fail(target, "this cannot be assigned in a compiled function");
    }
}

void FunctionLowering::refuse_global(NodeId array) const {
    if (node(array).kind != NodeKind::kGlobal) return;
    const Symbol& symbol = source_.symbol(node(array).number);
    if (symbol.kind == SymbolKind::kGlobal)
        fail(array, "'" + symbol.name + "' is a global array, which a compiled function only reads",
             "Give it as an argument to write into it.");
}

void FunctionLowering::augment(NodeId id, Environment& environment) {
    const Node& statement = node(id);
    const NodeId target = statement.children[0];
    if (node(target).kind == NodeKind::kIndex) {
        const Value base = required(lower(node(target).children[0], environment), target);
        if (base.type->kind == TypeKind::kNever) return;
        if (is_dict(base.type)) return Dicts(*this, id).augment(base, id, environment);
        if (is_list(base.type)) {
            augment_list_item(id, base, environment);
            return;
        }
        expect_items(base.type, target);
        refuse_global(node(target).children[0]);
        const std::vector<IndexItem> items = index_items(target, environment);
        if (has_never(items)) return;
        if (is_field(base.type, items))
            return augment_field(base, field_given(base.type, items[0].value, items[0].node), id,
                                 environment);
        if (has_array(items)) {
            const Value before = selected(target, base, items);
            const Value right = lower(statement.children[1], environment);
            return store_selected(target, base, items, binary(statement.atoms[0], before, right, id));
        }
        const std::optional<Element> element = element_of(target, base, items);
        const Value before = element ? load(*element) : sliced(target, base, items);
        const Value right = is_array(before.type) ? lower_deferred(statement.children[1], environment)
                                                  : lower(statement.children[1], environment);
        if (is_array(before.type)) return augment_array(before, statement.atoms[0], right, id);
        if (is_structures(before.type) && Dates::is_date(before)) {
            const std::array operands = {before, required(right, id)};
            Dates(*this, id).apply(std::string(operation_of(statement.atoms[0], id).numpy_name), operands,
                                   before);
            return;
        }
        const Value after = binary(statement.atoms[0], before, right, id);
        refuse_rounding(target, after);
        return store(*element, after, target);
    }
    if (node(target).kind == NodeKind::kAttribute) {
        Value base = lower(node(target).children[0], environment);
        if (base.type->kind == TypeKind::kNever) return;
        if (base.type->kind == TypeKind::kOptional) base = required(base, target);
        if (is_structures(base.type))
            return augment_field(base, field_named(base.type, node(target).atoms[0], target), id,
                                 environment);
    }
    const Value left = lower(target, environment);
    const bool is_lazy_list = is_list(left.type) && is_lazy(statement.children[1]);
    const Value right = is_lazy_list          ? collect(statement.children[1], environment)
                        : is_array(left.type) ? lower_deferred(statement.children[1], environment)
                                              : lower(statement.children[1], environment);
    if (is_list(left.type) && (statement.atoms[0] == "add" || statement.atoms[0] == "mul")) {
        if (statement.atoms[0] == "add") return extend_list(left, right, id);
        call_lists("multiply", {left, right}, id);
        return;
    }
    if (is_array(left.type)) {
        refuse_global(target);
        return augment_array(left, statement.atoms[0], right, id);
    }
    if (is_structures(left.type) && Dates::is_date(left)) {
        refuse_global(target);
        const std::array operands = {left, required(right, id)};
        Dates(*this, id).apply(std::string(operation_of(statement.atoms[0], id).numpy_name), operands, left);
        return;
    }
    assign(target, binary(statement.atoms[0], left, right, id), environment, id);
}

bool FunctionLowering::lower_if(NodeId id, Environment& environment) {
    const Node& statement = node(id);
    const size_t temporaries = temporaries_.size();
    const Value test = lower_condition(statement.children[0], environment);
    end_temporaries(temporaries);
    const ValueId condition = test.parts[0];
    if (test.type->literal)  // if x is None
        return lower_block(statement.children[test.type->literal->as<bool>() ? 1 : 2], environment);
    const Flow& flow = flows_.at(id);
    const auto block = [&](size_t child) {
        return [this, &statement, child](Environment& inner) {
            return lower_block(statement.children[child], inner);
        };
    };
    return lower_branches(id, condition, flow.assigned, flow.live_after, environment, block(1), block(2));
}

bool FunctionLowering::lower_branches(NodeId id, ValueId condition, const VariableSet& assigned,
                                      const VariableSet& live, Environment& environment,
                                      const std::function<bool(Environment&)>& yes,
                                      const std::function<bool(Environment&)>& no) {
    Environment sides[2] = {environment, environment};
    bool reached[2];
    {
        const DryRun dry(*this);
        reached[0] = yes(sides[0]);
        reached[1] = no(sides[1]);
    }
    std::vector<size_t> merged;
    std::vector<Value> values;
    for (size_t v = 0; v < environment.size(); ++v) {
        if (!assigned[v] || !live[v]) continue;
        const Value& one = sides[reached[0] ? 0 : 1][v];
        const Value& other = sides[reached[1] ? 1 : 0][v];
        merged.push_back(v);
        values.push_back({join_or_fail(one, other, variable(v), id), {}, std::max(one.origin, other.origin)});
        values.back().parts.resize(part_count(values.back().type));
    }
    std::vector<ValueId> results;
    if (!dry_) {
        std::vector<TypeRef> types;
        for (const Value& value : values) types.push_back(value.type);
        std::vector<Outcome> outcomes;
        std::vector<ValueId> given[2];
        const size_t first = builder_->function().values.size();
        const auto body = [&](bool holds,
                              const std::function<bool(Environment&)>& side) -> ir::Builder::Body {
            return [&, holds](ir::Builder&, std::span<const ValueId>) -> std::vector<ValueId> {
                const Learned learned(known_);
                learn(condition, holds);
                Environment inner = environment;
                if (!side(inner)) return {};
                std::vector<ValueId> parts;
                for (size_t i = 0; i < merged.size(); ++i)
                    append_converted(parts, inner[merged[i]], values[i].type, id);
                meet(outcomes, types, parts);
                release_dropped(inner, [&](size_t v) { return !assigned[v] || live[v]; });
                given[holds ? 1 : 0] = parts;
                return parts;
            };
        };
        results = builder_->if_else(condition, body(true, yes), body(false, no));
        note(results, types, outcomes, first);
        note_choices(condition, results, given[1], given[0]);
        if (reached[0] != reached[1]) learn(condition, reached[0]);
    }
    if (!reached[0] && !reached[1]) return false;
    for (size_t v = 0; v < environment.size(); ++v) {
        if (assigned[v] && !live[v]) environment[v] = {simple_type(TypeKind::kUnbound), {}, 0};
    }
    size_t at = 0;
    for (size_t i = 0; i < merged.size(); ++i) {
        if (!dry_) values[i].parts = take(values[i].type, results, at).parts;
        environment[merged[i]] = std::move(values[i]);
    }
    return true;
}

bool FunctionLowering::lower_return(NodeId id, Environment& environment) {
    const Node& statement = node(id);
    const Value value = statement.children.empty()
                            ? none()
                            : bound(lower(statement.children[0], environment), environment, id);
    if (value.type->kind == TypeKind::kNever) return false;
    const bool is_function = value.type->kind == TypeKind::kSymbol && value.type->symbol != nullptr &&
                             value.type->symbol->kind == SymbolKind::kFunction;
    if ((value.type->kind == TypeKind::kSymbol && !is_function && !is_dtype(value.type)) ||
        value.type->kind == TypeKind::kRange)
        fail(id, lang::describe(value.type) + " cannot be returned from a compiled function");

    if (dry_) {
        TypeRef both = result_ == nullptr ? value.type : joined(result_, value.type);
        if (both == nullptr)
            fail(id,
                 "'" + source_.name + "' returns " + lang::describe(result_) + " on one way and " +
                     lang::describe(value.type) + " on another",
                 "Return values of one type.", {{result_origin_, lang::describe(result_)}});
        if (result_ == nullptr) result_origin_ = id;
        result_ = both;
        lower_finals(0, environment);
        return false;
    }
    const Value result = at_border(convert(kept(value), result_, id));
    if (!lower_finals(0, environment)) return false;
    for (Value& variable : environment) release(variable);
    const std::vector<Value> around = temporaries_;
    end_temporaries(0);
    const bool goes_on = inlined_ != nullptr && !inlined_->is_loop;
    if (!goes_on) temporaries_ = around;  // which end on the other ways, too
    return_parts(result.parts);
    return false;
}

Site FunctionLowering::site_of_exception(NodeId expression, Environment& environment,
                                         std::vector<ValueId>& payload) {
    const bool calls = node(expression).kind == NodeKind::kCall;
    const NodeId named = calls ? node(expression).children[0] : expression;
    Site result = site({}, {});
    result.has_text = false;
    if (node(named).kind == NodeKind::kString)
        fail(expression, "Directly raising a string constant as an exception is not supported",
             "Write raise ValueError(\"...\").");
    if (node(named).kind != NodeKind::kGlobal)
        fail(expression, "only exceptions can be raised", "Write raise ValueError(\"...\").");
    const Symbol& symbol = source_.symbol(node(named).number);
    if (symbol.kind == SymbolKind::kMissing) refuse_missing(symbol, named);
    if (symbol.kind != SymbolKind::kException)
        fail(expression, symbol.described() + " is no exception", "Write raise ValueError(\"...\").");
    if (source_.is_prelude) {
        result.exception = symbol.name;
    } else {
        result.symbol = &symbol;
    }
    if (!calls) return result;
    const Arguments arguments = arguments_of(expression, environment);
    if (!arguments.keywords.empty())
        fail(expression, "an exception takes no keywords in a compiled function");
    tell_arguments(result, arguments.positional, payload, expression);
    return result;
}

// What an exception is made of: one known text, or values that are told when it is raised.
void FunctionLowering::tell_arguments(Site& site, std::span<const Value> values,
                                      std::vector<ValueId>& payload, NodeId where) {
    site.has_text = !values.empty();
    if (values.empty()) return;
    if (values.size() == 1 && values[0].type->kind == TypeKind::kString) {
        site.text = values[0].type->text;
        return;
    }
    site.kind = SiteKind::kTold;
    for (const Value& value : values) {
        expect_printable(value.type, where);
        site.told.push_back(value.type);
        append_told(payload, value);
    }
}

bool FunctionLowering::lower_raise(NodeId id, Environment& environment) {
    const Node& statement = node(id);
    if (statement.children.empty()) return raise_again(id, environment);
    std::vector<ValueId> payload;
    Site raised = site_of_exception(statement.children[0], environment, payload);
    raise_site(std::move(raised), std::move(payload), id);
    return false;
}

void FunctionLowering::lower_assert(NodeId id, Environment& environment) {
    const Node& statement = node(id);
    const Value test = lower_condition(statement.children[0], environment);
    Site failed = site("AssertionError", {});
    if (statement.children.size() < 2 || node(statement.children[1]).kind == NodeKind::kString) {
        failed.has_text = statement.children.size() > 1;
        if (failed.has_text) failed.text = node(statement.children[1]).atoms[0];
        check(test.parts[0], std::move(failed), {}, id);
        learn(test.parts[0], true);
        return;
    }
    // The text is made only where the assertion fails.
    const auto fails = [&] {
        Environment inner = environment;
        std::vector<ValueId> payload;
        const std::vector<Value> around = temporaries_;
        const Value text = lower(statement.children[1], inner);
        tell_arguments(failed, std::span(&text, 1), payload, statement.children[1]);
        raise_site(std::move(failed), std::move(payload), id);
        temporaries_ = around;  // the text ends with the call
    };
    if (dry_) return fails();
    builder_->if_else(
        test.parts[0], [](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>(); },
        [&](ir::Builder&, std::span<const ValueId>) {
            fails();
            return std::vector<ValueId>();
        });
}

}  // namespace weft::lang
