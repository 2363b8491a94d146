// Parallel loops with nothing but a loop in them whose iterations are apart, too: chunks are cut inside of
// rows, where there are few of those, and the inner loop runs through what a chunk has of a row.
#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "lang/lowering.h"
#include "lang/parallel/outline.h"
#include "lang/parallel/updates.h"

namespace weft::lang {

using ir::ValueId;

namespace {

bool has_scope(TypeRef type, uint16_t scope) {
    if (is_strided(type) && type->scope == scope) return true;
    return std::any_of(type->parts.begin(), type->parts.end(),
                       [&](TypeRef part) { return has_scope(part, scope); });
}

// The iterations of a loop over range, as far as their text tells that none reads or writes what another
// writes: the arrays that they write are indexed by the counter itself, everywhere in the same dimension.
class Apart {
public:
    Apart(const FunctionSource& source, NodeId loop, const VariableSet& assigned,
          const Environment& environment)
        : source_(source),
          body_(source.tree[loop].children[2]),
          counter_(source.tree[source.tree[loop].children[0]].number),
          assigned_(assigned),
          environment_(environment) {}

    bool find() {
        if (count_assignments(source_.tree, body_, static_cast<size_t>(counter_)) != 0) return false;
        return are_plain(body_) && std::all_of(axes_.begin(), axes_.end(), [&](const auto& written) {
                   return reads_own(body_, written.first) && !written.second.empty();
               });
    }

private:
    const Node& node(NodeId id) const { return source_.tree[id]; }

    bool are_plain(NodeId id) {
        const Node& given = node(id);
        switch (given.kind) {
            case NodeKind::kBlock:
            case NodeKind::kPass:
            case NodeKind::kIf:
            case NodeKind::kWhile:
            case NodeKind::kFor:
            case NodeKind::kContinue:
            case NodeKind::kBreak:  // of a loop inside: `find_parallel_loop` has refused others
            case NodeKind::kExpression:
            case NodeKind::kInt:
            case NodeKind::kFloat:
            case NodeKind::kComplex:
            case NodeKind::kBool:
            case NodeKind::kName:
            case NodeKind::kGlobal:
            case NodeKind::kAttribute:
            case NodeKind::kIndex:
            case NodeKind::kBinary:
            case NodeKind::kUnary:
            case NodeKind::kCompare:
            case NodeKind::kAnd:
            case NodeKind::kOr:
            case NodeKind::kIfExpression:
            case NodeKind::kTuple: break;
            case NodeKind::kAssign:
            case NodeKind::kAugment:
                if (!store(given.children[0])) return false;
                break;
            case NodeKind::kCall: {
                const Node& callee = node(given.children[0]);
                if (callee.kind != NodeKind::kGlobal) return false;
                const Symbol& symbol = source_.symbol(callee.number);
                const bool acts = symbol.path == "builtins.print" || symbol.path == "builtins.next";
                if (symbol.kind != SymbolKind::kKnown || acts) return false;
                const size_t dot = symbol.path.rfind('.');
                const OpInfo* op = find_op(std::string_view(symbol.path).substr(dot + 1));
                if (op != nullptr && given.children.size() > op->nin + size_t{1})
                    return false;  // it has an out
                break;
            }
            default: return false;
        }
        return std::all_of(given.children.begin(), given.children.end(),
                           [&](NodeId child) { return are_plain(child); });
    }

    // Whether the target is a variable, or an element that no other iteration has.
    bool store(NodeId target) {
        const Node& given = node(target);
        if (given.kind == NodeKind::kName) return true;
        if (given.kind == NodeKind::kTuple)
            return std::all_of(given.children.begin(), given.children.end(),
                               [&](NodeId child) { return store(child); });
        const std::optional<ElementOf> element = element_of_variable(source_.tree, target);
        if (!element || !is_array_from_before(element->variable)) return false;
        std::set<size_t>& axes = axes_.try_emplace(element->variable, axes_of(*element)).first->second;
        return !axes.empty();
    }

    bool is_array_from_before(size_t variable) const {
        if (assigned_[variable]) return false;
        TypeRef type = environment_[variable].type;
        return is_array(type) && type->scope != 0;
    }

    // The dimensions in which it is the counter's; none unless it is one element.
    std::set<size_t> axes_of(const ElementOf& element) const {
        std::set<size_t> axes;
        if (element.items.size() != environment_[element.variable].type->rank || !element.fields.empty())
            return axes;
        for (size_t k = 0; k < element.items.size(); ++k) {
            const Node& item = node(element.items[k]);
            if (item.kind == NodeKind::kName && item.number == counter_) axes.insert(k);
        }
        return axes;
    }

    // Whether all that is read of the array, or of what may be the same memory, are elements of the counter.
    bool reads_own(NodeId id, size_t written) {
        const Node& given = node(id);
        if (given.kind == NodeKind::kName) {
            const auto v = static_cast<size_t>(given.number);
            return v != written && !has_scope(environment_[v].type, environment_[written].type->scope);
        }
        const std::optional<ElementOf> element = element_of_variable(source_.tree, id);
        if (element && element->variable == written) {
            const std::set<size_t> axes = axes_of(*element);
            std::set<size_t>& common = axes_[written];
            std::erase_if(common, [&](size_t axis) { return !axes.contains(axis); });
            return !common.empty() && std::all_of(element->items.begin(), element->items.end(),
                                                  [&](NodeId item) { return reads_own(item, written); });
        }
        return std::all_of(given.children.begin(), given.children.end(),
                           [&](NodeId child) { return reads_own(child, written); });
    }

    const FunctionSource& source_;
    NodeId body_;
    int32_t counter_;
    const VariableSet& assigned_;
    const Environment& environment_;
    std::map<size_t, std::set<size_t>> axes_;  // of the arrays that are written
};

}  // namespace

// Whether an integer is the same in all iterations of the loop, and computed without that anything is raised.
bool FunctionLowering::is_steady(NodeId id, NodeId loop, const Environment& environment) const {
    const Node& given = node(id);
    const auto is_array_of_before = [&](NodeId base) {
        const auto v = static_cast<size_t>(node(base).number);
        return node(base).kind == NodeKind::kName && !flows_.at(loop).assigned[v] &&
               is_array(environment[v].type);
    };
    switch (given.kind) {
        case NodeKind::kInt: return true;
        case NodeKind::kName: {
            const auto v = static_cast<size_t>(given.number);
            return !flows_.at(loop).assigned[v] && is_integer(environment[v].type);
        }
        case NodeKind::kGlobal: {
            const Symbol& symbol = source_.symbol(given.number);
            return symbol.kind == SymbolKind::kValue && symbol.type != nullptr && is_integer(symbol.type);
        }
        case NodeKind::kUnary:
            return given.atoms[0] == "neg" && is_steady(given.children[0], loop, environment);
        case NodeKind::kBinary: {
            const std::string& op = given.atoms[0];
            return (op == "add" || op == "sub" || op == "mul") &&
                   is_steady(given.children[0], loop, environment) &&
                   is_steady(given.children[1], loop, environment);
        }
        case NodeKind::kIndex: {
            const Node& base = node(given.children[0]);
            return base.kind == NodeKind::kAttribute && base.atoms[0] == "shape" &&
                   is_array_of_before(base.children[0]) && given.children.size() == 2 &&
                   is_steady(given.children[1], loop, environment) &&
                   node(given.children[1]).kind != NodeKind::kName;
        }
        case NodeKind::kCall: {
            const Node& callee = node(given.children[0]);
            return callee.kind == NodeKind::kGlobal && source_.symbol(callee.number).path == "builtins.len" &&
                   given.children.size() == 2 && is_array_of_before(given.children[1]);
        }
        default: return false;
    }
}

// The loop that is all that a parallel loop runs, if chunks may be cut inside of it.
std::optional<FunctionLowering::Nest> FunctionLowering::nest_of(NodeId id, const ParallelLoop& plan,
                                                                const Value& range,
                                                                Environment& environment) {
    const std::vector<NodeId>& statements = node(node(id).children[2]).children;
    if (!plan.arrays.empty() || statements.size() != 1 || literal_integer(range.type->parts[2]) != 1)
        return {};
    const NodeId inner = statements[0];
    const Node& loop = node(inner);
    if (loop.kind != NodeKind::kFor || !node(loop.children[3]).children.empty() ||
        node(loop.children[0]).kind != NodeKind::kName ||
        node(node(id).children[0]).kind != NodeKind::kName || node(loop.children[1]).kind != NodeKind::kCall)
        return {};
    const std::vector<NodeId>& call = node(loop.children[1]).children;
    if (node(call[0]).kind != NodeKind::kGlobal || call.size() > 3) return {};
    const std::string& path = source_.symbol(node(call[0]).number).path;
    if (path != "weft.prange" && path != "builtins.range") return {};
    if (!std::all_of(call.begin() + 1, call.end(),
                     [&](NodeId bound) { return is_steady(bound, id, environment); }))
        return {};
    if (!find_parallel_loop(source_, inner, flows_.at(inner)).arrays.empty()) return {};
    Nest nest;
    nest.inner = inner;
    nest.outer = id;
    nest.declared = path == "weft.prange";
    // Rows with loops inside may step through them together, which parts of rows cannot.
    if (!nest.declared && has_loop(node(inner).children[2])) return {};
    if (!nest.declared && !Apart(source_, inner, flows_.at(id).assigned, environment).find()) return {};
    nest.range = lower(loop.children[1], environment);
    if (literal_integer(nest.range.type->parts[2]) != 1 || !range_sequence(nest.range, inner).direct)
        return {};
    return nest;
}

ValueId FunctionLowering::rounded_up(ValueId value, ValueId by) {
    const ValueId one = builder_->index(1);
    const ValueId less = builder_->apply(OpId::kSubtract, {value, one});
    return builder_->apply(OpId::kAdd, {builder_->apply(OpId::kFloorDivide, {less, by}), one});
}

// How many pieces a row has, and how many iterations each but the last, so that there are about `chunks` of
// them. By the numbers of iterations alone.
void FunctionLowering::cut_rows(Nest& nest, ValueId rows, int64_t chunks, int64_t least) {
    const ValueId one = builder_->index(1);
    const ValueId inside = range_sequence(nest.range, nest.inner).count();
    const ValueId any = builder_->apply(OpId::kMaximum, {rows, one});
    const ValueId wanted = builder_->apply(OpId::kMinimum, {rounded_up(builder_->index(chunks), any),
                                                            rounded_up(inside, builder_->index(least))});
    nest.pieces = builder_->apply(OpId::kMaximum, {wanted, one});
    nest.length = rounded_up(inside, nest.pieces);
    nest.count = inside;
}

// What the chunk has of the row that the loop around is at.
bool FunctionLowering::lower_part_of_row(NodeId id, Environment& environment) {
    const Nest& nest = *nest_;
    const auto apply_to = [&](OpId op, ValueId a, ValueId b) { return builder_->apply(op, {a, b}); };
    const ValueId counter =
        environment[static_cast<size_t>(node(node(nest.outer).children[0]).number)].parts[0];
    const ValueId before =
        apply_to(OpId::kMultiply, apply_to(OpId::kSubtract, counter, nest.start), nest.pieces);
    const ValueId first =
        apply_to(OpId::kMaximum, apply_to(OpId::kSubtract, nest.from, before), builder_->index(0));
    const ValueId last = apply_to(OpId::kMinimum, apply_to(OpId::kSubtract, nest.to, before), nest.pieces);
    const ValueId start = nest.range.parts[0], stop = nest.range.parts[1];
    const auto at = [&](ValueId piece) {
        const ValueId result =
            apply_to(OpId::kAdd, start,
                     apply_to(OpId::kMinimum, apply_to(OpId::kMultiply, piece, nest.length), nest.count));
        note(result, {fact(start).least, std::max(fact(start).most, fact(stop).most), {}, 0});
        return result;
    };
    Sequence sequence = range_sequence(nest.range, id);
    sequence.direct = true;
    sequence.extent = {};
    sequence.within = {start, stop};
    sequence.bounds = {at(first), at(last), sequence.bounds[2]};
    sequence.independent = may_step_together(node(id).children[2]);
    if (!nest.declared) return lower_for_over(id, sequence, environment);
    Loop loop = open_loop(id, environment);
    find_types(id, loop, environment,
               [&](Environment& inner) { return lower_iteration(id, sequence, inner, {}); });
    const bool plain = std::none_of(nest.plan->carried.begin(), nest.plan->carried.end(),
                                    [](const auto& each) { return is_comparison(each.operation); });
    if (!plain || !has_lanes(node(id).children[2], *nest.plan, loop)) {
        const std::vector<ValueId> results = run_iterations(id, sequence, loop, environment);
        return close_loop(id, loop, environment, results, true);
    }
    Environment lanes = environment;
    for (const CarriedVariable& each : nest.plan->carried)
        lanes[each.variable] = identity(each, without_literals(loop.types[loop.place_of(each.variable)]));
    run_lanes(id, *nest.plan, sequence, loop, lanes);
    for (const CarriedVariable& each : nest.plan->carried) {
        Value& value = environment[each.variable];
        value = convert(combined(each, value, lanes[each.variable]), loop.types[loop.place_of(each.variable)],
                        id);
    }
    return close_loop(id, loop, environment, carried_parts(loop, environment, true, id), true);
}

}  // namespace weft::lang
