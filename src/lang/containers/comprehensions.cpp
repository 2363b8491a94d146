// Comprehensions, and what goes over values without a variable of the program's.
#include <algorithm>
#include <array>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

std::string FunctionLowering::known_path(NodeId callee) const {
    if (node(callee).kind != NodeKind::kGlobal) return {};
    const Symbol& symbol = source_.symbol(node(callee).number);
    return symbol.kind == SymbolKind::kKnown ? symbol.path : std::string();
}

// What is no value of its own, but goes through others.
bool FunctionLowering::is_lazy(NodeId id) const {
    if (node(id).kind == NodeKind::kGeneratorExpression) return true;
    if (node(id).kind != NodeKind::kCall) return false;
    static constexpr std::string_view kLazy[] = {"builtins.zip", "builtins.enumerate", "builtins.reversed",
                                                 "builtins.map", "builtins.filter"};
    const std::string path = known_path(node(id).children[0]);
    return std::find(std::begin(kLazy), std::end(kLazy), path) != std::end(kLazy);
}

// As a list.
Value FunctionLowering::collect(NodeId id, Environment& environment) {
    if (node(id).kind == NodeKind::kGeneratorExpression) return lower_comprehension(id, environment);
    const Value list = make_list(id);
    if (known_path(node(id).children[0]) != "builtins.filter") {
        for_each(sequence_of(id, environment), [&](const Value& element) { append_item(list, element, id); });
        return list;
    }
    if (node(id).children.size() != 3) fail(id, "filter() takes a function and what it goes over");
    const Value function = bound(lower(node(id).children[1], environment), environment, id);
    for_each(sequence_of(node(id).children[2], environment), [&](const Value& element) {
        const Value test = function.type->kind == TypeKind::kNone
                               ? element
                               : call_value(function, {{element}, {}, id}, environment);
        const ValueId holds = truth(test, id);
        if (dry_) return append_item(list, element, id);
        builder_->if_else(
            holds,
            [&](ir::Builder&, std::span<const ValueId>) {
                const size_t temporaries = temporaries_.size();
                append_item(list, element, id);
                end_temporaries(temporaries);
                return std::vector<ValueId>();
            },
            [](ir::Builder&, std::span<const ValueId>) { return std::vector<ValueId>(); });
    });
    return list;
}

// map(f, a, b): what f gives for each.
FunctionLowering::Sequence FunctionLowering::mapped_sequence(NodeId id, Environment& environment) {
    const std::vector<NodeId>& children = node(id).children;
    if (children.size() < 3) fail(id, "map() must have at least two arguments.");
    const Value function = bound(lower(children[1], environment), environment, id);
    std::vector<Sequence> sequences;
    for (size_t i = 2; i < children.size(); ++i) {
        if (node(children[i]).kind != NodeKind::kStarred) {
            sequences.push_back(sequence_of(children[i], environment));
            continue;
        }
        const Value given = lower(node(children[i]).children[0], environment);
        if (given.type->kind != TypeKind::kTuple)
            fail(children[i], "only tuples can be given by *, not " + lang::describe(given.type));
        for (size_t k = 0; k < given.type->parts.size(); ++k)
            sequences.push_back(sequence_of(tuple_item(given, k), id));
    }
    if (sequences.empty()) fail(id, "map() must have at least two arguments.");
    Sequence result = zip_sequence(std::move(sequences));
    const std::function<Value(ValueId)> elements = result.element;
    const Environment around = environment;
    result.element = [this, function, elements, around, id](ValueId k) {
        const Value given = elements(k);
        Arguments arguments;
        arguments.where = id;
        for (size_t i = 0; i < given.type->parts.size(); ++i)
            arguments.positional.push_back(tuple_item(given, i));
        return call_value(function, arguments, around);
    };
    return result;
}

// The body changes no variable.
void FunctionLowering::for_each(const Sequence& sequence, const std::function<void(const Value&)>& body) {
    if (sequence.is_empty) return;
    if (dry_) return body(sequence.element({}));
    Hoist* const hoist = std::exchange(hoist_, nullptr);
    builder_->for_loop(builder_->index(0), sequence.count(), builder_->index(1), {},
                       [&](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                           const Nested nested(*this);
                           note(arguments[0], {0, INT64_MAX, {}, 0});
                           const size_t temporaries = temporaries_.size();
                           Loop nothing;
                           if (sequence.goes_on) leave_unless(sequence.goes_on(arguments[0]), nothing, {}, 0);
                           body(sequence.element(arguments[0]));
                           end_temporaries(temporaries);
                           return {};
                       });
    hoist_ = hoist;
}

Value FunctionLowering::lower_comprehension(NodeId id, Environment& environment) {
    const Value list = make_list(id);
    lower_clause(id, 1, environment,
                 [&](Environment& inner) { append_item(list, lower(node(id).children[0], inner), id); });
    return list;
}

// for TARGET in E if E if E
void FunctionLowering::lower_clause(NodeId id, size_t number, Environment& environment,
                                    const std::function<void(Environment&)>& item) {
    if (number == node(id).children.size()) return item(environment);
    const NodeId clause = node(id).children[number];
    const std::vector<NodeId>& parts = node(clause).children;
    const Flow& flow = flows_.at(clause);
    Sequence sequence = sequence_of(parts[1], environment);
    if (sequence.is_empty) return;
    const auto filter = [&](const auto& self, size_t part, Environment& inner) -> void {
        if (part == parts.size()) return lower_clause(id, number + 1, inner, item);
        const size_t temporaries = temporaries_.size();
        const Value test = lower_condition(parts[part], inner);
        end_temporaries(temporaries);
        if (test.type->literal) {
            if (test.type->literal->as<bool>()) self(self, part + 1, inner);
            return;
        }
        lower_branches(
            clause, test.parts[0], flow.assigned, flow.live_after, inner,
            [&](Environment& side) {
                const size_t before = temporaries_.size();
                self(self, part + 1, side);
                end_temporaries(before);
                return true;
            },
            [](Environment&) { return true; });
    };
    const auto iteration = [&](Environment& inner, ValueId counter) {
        note(counter, {0, INT64_MAX, {}, 0});
        const Now now(*this, inner);
        const size_t temporaries = temporaries_.size();
        assign(parts[0], sequence.element(counter), inner, clause);
        filter(filter, 2, inner);
        end_temporaries(temporaries);
    };
    Loop loop = open_loop(clause, environment);
    find_types(clause, loop, environment, [&](Environment& inner) {
        iteration(inner, {});
        return true;
    });
    std::vector<ValueId> results;
    if (!dry_) {
        Hoist* const hoist = std::exchange(hoist_, nullptr);
        results = builder_->for_loop(
            builder_->index(0), sequence.count(), builder_->index(1),
            carried_parts(loop, environment, true, clause),
            [&](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                const Nested nested(*this);
                Environment inner = start_iteration(loop, environment, arguments.subspan(1));
                if (sequence.goes_on) leave_unless(sequence.goes_on(arguments[0]), loop, inner, clause);
                iteration(inner, arguments[0]);
                return end_iteration(loop, inner, true, clause);
            });
        hoist_ = hoist;
    }
    environment = start_iteration(loop, environment, results);
    for (size_t v = 0; v < environment.size(); ++v) {
        const bool is_carried = std::find(loop.carried.begin(), loop.carried.end(), v) != loop.carried.end();
        if (flow.assigned[v] && !is_carried) environment[v] = {simple_type(TypeKind::kUnbound), {}, 0};
    }
}

}  // namespace weft::lang
