#include "lang/tree/liveness.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace weft::lang {

namespace {

void merge(VariableSet& into, const VariableSet& from) {
    for (size_t i = 0; i < from.size(); ++i) into[i] = into[i] || from[i];
}

// Goes backwards: each step takes what is live behind a node and gives what is live before it.
class Analysis {
public:
    explicit Analysis(const Tree& tree, bool calls_inner_functions = true)
        : tree_(tree), none_(tree.variables().size()) {
        if (calls_inner_functions) find_captured(tree.body());
    }

    std::unordered_map<NodeId, Flow> run() {
        block(tree_.body(), none_);
        return std::move(flows_);
    }

    // What is live before an iteration, where that is live behind it.
    VariableSet iteration(NodeId loop, VariableSet live) {
        const Node& node = tree_[loop];
        loops_.push_back({live, live});
        VariableSet before = target(node.children[0], block(node.children[2], std::move(live)));
        loops_.pop_back();
        return before;
    }

private:
    struct Loop {
        VariableSet head, after;
    };

    // Variables that inner functions read may be read wherever those are called, so they are always live.
    // Those that an inner function assigns, and its parameters, are its own.
    void find_captured(NodeId id, bool is_inner = false, VariableSet own = {}) {
        const Node& node = tree_[id];
        if (is_inner && node.kind == NodeKind::kName && !own[static_cast<size_t>(node.number)])
            none_[static_cast<size_t>(node.number)] = true;
        if (!is_function(node)) {
            for (NodeId child : node.children) find_captured(child, is_inner, own);
            return;
        }
        for (NodeId parameter : tree_[node.children[0]].children) {  // defaults are read where it is defined
            for (NodeId value : tree_[parameter].children) find_captured(value, is_inner, own);
        }
        own.resize(none_.size());
        for (NodeId parameter : tree_[node.children[0]].children) {
            if (tree_[parameter].number >= 0) own[static_cast<size_t>(tree_[parameter].number)] = true;
        }
        assigned(node.children[1], own);
        find_captured(node.children[1], true, own);
    }

    static bool is_function(const Node& node) {
        return node.kind == NodeKind::kDef || node.kind == NodeKind::kLambda;
    }

    void end(VariableSet& live, int32_t number) const {
        const auto v = static_cast<size_t>(number);
        live[v] = none_[v];
    }

    VariableSet block(NodeId id, VariableSet live) {
        const std::vector<NodeId>& statements = tree_[id].children;
        add_handlers(live);
        for (size_t i = statements.size(); i-- > 0;) {
            live = statement(statements[i], std::move(live));
            add_handlers(live);
        }
        return live;
    }

    // What handlers read of a try may be read after each statement in it.
    void add_handlers(VariableSet& live) const {
        if (!handlers_.empty()) merge(live, handlers_.back());
    }

    VariableSet handled(const VariableSet& read, NodeId body, VariableSet live) {
        handlers_.push_back(read);
        if (handlers_.size() > 1) merge(handlers_.back(), handlers_[handlers_.size() - 2]);
        live = block(body, std::move(live));
        handlers_.pop_back();
        return live;
    }

    // The try with its handlers is what the finally is behind.
    VariableSet try_statement(NodeId id, const VariableSet& live) {
        const std::vector<NodeId>& parts = tree_[id].children;
        const NodeId body = parts[0], otherwise = parts[1], last = parts[2];
        const VariableSet before_last = block(last, live), behind_error = block(last, none_);
        Flow& whole = flow_of(id, live);
        for (size_t k = 0; k < parts.size(); ++k) {
            if (k != 2) assigned(parts[k], whole.assigned);
        }
        assigned(last, whole.assigned_otherwise);
        const auto note = [&](Flow& flow, const VariableSet& fine, const VariableSet& failed) {
            if (flow.live_otherwise.empty()) flow.live_otherwise = none_;
            merge(flow.live_otherwise, fine);
            merge(flow.live_head, failed);
        };
        note(whole, before_last, behind_error);
        const bool has_final = !tree_[last].children.empty();
        if (has_final) {
            handlers_.push_back(behind_error);
            if (handlers_.size() > 1) merge(handlers_.back(), handlers_[handlers_.size() - 2]);
        }
        const VariableSet fine = block(otherwise, before_last);
        VariableSet caught = none_;
        add_handlers(caught);
        for (size_t k = 3; k < parts.size(); ++k) {
            const std::vector<NodeId>& handler = tree_[parts[k]].children;
            VariableSet before = block(handler.back(), before_last);
            if (handler.size() > 2) end(before, tree_[handler[1]].number);
            merge(caught, before);
        }
        VariableSet before = before_last;
        if (parts.size() > 3) {
            Flow& inner = flow_of(otherwise, before_last);
            assigned(body, inner.assigned);
            for (size_t k = 1; k < parts.size(); ++k) {
                if (k != 2) assigned(parts[k], inner.assigned_otherwise);
            }
            note(inner, fine, caught);
            before = handled(caught, body, fine);
        } else {
            before = block(body, before_last);
        }
        if (has_final) handlers_.pop_back();
        return before;
    }

    VariableSet statement(NodeId id, VariableSet live) {
        const Node& node = tree_[id];
        switch (node.kind) {
            case NodeKind::kAssign:
                live = target(node.children[0], std::move(live));
                return expression(node.children[1], std::move(live));
            case NodeKind::kAugment:
                live = target(node.children[0], std::move(live));
                return expression(node.children[0], expression(node.children[1], std::move(live)));
            case NodeKind::kReturn:
            case NodeKind::kRaise: return expressions(node.children, none_);
            case NodeKind::kBreak: return loops_.empty() ? none_ : loops_.back().after;
            case NodeKind::kContinue: return loops_.empty() ? none_ : loops_.back().head;
            case NodeKind::kIf: {
                Flow& flow = flow_of(id, live);
                for (size_t side = 1; side < 3; ++side) assigned(node.children[side], flow.assigned);
                VariableSet before = block(node.children[1], live);
                merge(before, block(node.children[2], std::move(live)));
                return expression(node.children[0], std::move(before));
            }
            case NodeKind::kWhile:
            case NodeKind::kFor: return loop(id, std::move(live));
            case NodeKind::kExpression:
                if (tree_[node.children[0]].kind == NodeKind::kYield) flow_of(id, live);
                [[fallthrough]];
            case NodeKind::kSuspend:
            case NodeKind::kAssert: return expressions(node.children, std::move(live));
            case NodeKind::kDef: end(live, node.number); return defaults(node, std::move(live));
            case NodeKind::kTry: return try_statement(id, live);
            case NodeKind::kDelete:
                for (NodeId child : node.children) live = target(child, std::move(live));
                return live;
            default: return live;
        }
    }

    // Of an inner function: what is evaluated where it is defined.
    VariableSet defaults(const Node& function, VariableSet live) {
        for (NodeId parameter : tree_[function.children[0]].children)
            live = expressions(tree_[parameter].children, std::move(live));
        return live;
    }

    VariableSet loop(NodeId id, VariableSet live) {
        const Node& node = tree_[id];
        const bool is_for = node.kind == NodeKind::kFor;
        const NodeId body = node.children[is_for ? 2 : 1];
        const NodeId otherwise = node.children[is_for ? 3 : 2];
        Flow& flow = flow_of(id, live);
        assigned(body, flow.assigned);
        if (is_for) assigned_by_target(node.children[0], flow.assigned);
        assigned(node.children[0], flow.assigned);
        assigned(otherwise, flow.assigned_otherwise);
        // Only breaks end `while True`.
        VariableSet head = none_;
        if (is_for || !is_true(node.children[0])) {
            head = block(otherwise, live);
            merge(head, live);
        }
        for (;;) {
            loops_.push_back({head, live});
            VariableSet again = block(body, head);
            loops_.pop_back();
            again = is_for ? target(node.children[0], std::move(again))
                           : expression(node.children[0], std::move(again));
            merge(again, head);
            if (again == head) break;
            head = std::move(again);
        }
        flows_.at(id).live_head = head;
        flows_.at(id).live_after = live;
        return is_for ? expression(node.children[1], std::move(head))
                      : expression(node.children[0], std::move(head));
    }

    bool is_true(NodeId condition) const {
        const Node& node = tree_[condition];
        return (node.kind == NodeKind::kBool && node.atoms[0] == "1") ||
               (node.kind == NodeKind::kInt && node.atoms[0] != "0");
    }

    VariableSet target(NodeId id, VariableSet live) {
        const Node& node = tree_[id];
        switch (node.kind) {
            case NodeKind::kName: end(live, node.number); return live;
            case NodeKind::kTuple:
            case NodeKind::kStarred:
                for (size_t i = node.children.size(); i-- > 0;)
                    live = target(node.children[i], std::move(live));
                return live;
            default: return expressions(node.children, std::move(live));
        }
    }

    VariableSet expressions(const std::vector<NodeId>& ids, VariableSet live) {
        for (size_t i = ids.size(); i-- > 0;) live = expression(ids[i], std::move(live));
        return live;
    }

    VariableSet expression(NodeId id, VariableSet live) {
        const Node& node = tree_[id];
        if (node.kind == NodeKind::kName) {
            live[static_cast<size_t>(node.number)] = true;
            return live;
        }
        if (node.kind == NodeKind::kAnd || node.kind == NodeKind::kOr ||
            node.kind == NodeKind::kIfExpression) {
            Flow& flow = flow_of(id, live);
            for (NodeId child : node.children) assigned(child, flow.assigned);
        }
        if (node.kind == NodeKind::kWalrus) end(live, node.number);
        if (is_function(node)) return defaults(node, std::move(live));
        if (node.kind == NodeKind::kListComprehension || node.kind == NodeKind::kSetComprehension ||
            node.kind == NodeKind::kDictComprehension || node.kind == NodeKind::kGeneratorExpression)
            return comprehension(id, std::move(live));
        return expressions(node.children, std::move(live));
    }

    // Targets are its own. What := assigns in it goes from one iteration to the next, and out of it.
    VariableSet comprehension(NodeId id, VariableSet live) {
        const std::vector<NodeId>& parts = tree_[id].children;
        const size_t first = tree_[id].kind == NodeKind::kDictComprehension ? 2 : 1;  // behind a key's value
        VariableSet kept(none_.size()), targets(none_.size());
        assigned(id, kept);
        merge(live, kept);
        for (size_t k = parts.size(); k-- > first;) {
            const std::vector<NodeId>& clause = tree_[parts[k]].children;
            assigned_by_target(clause[0], targets);
            Flow& flow = flow_of(parts[k], live);
            flow.assigned = targets;
            merge(flow.assigned, kept);
            flow.live_after = kept;
            for (size_t v = 0; v < none_.size(); ++v) {
                if (none_[v] && targets[v]) flow.live_after[v] = true;
            }
            flow.live_head = flow.live_after;
        }
        for (size_t k = first; k < parts.size(); ++k) {
            const std::vector<NodeId>& clause = tree_[parts[k]].children;
            live = expressions({clause.begin() + 1, clause.end()}, std::move(live));
        }
        live =
            expressions({parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first)}, std::move(live));
        for (size_t v = 0; v < none_.size(); ++v) {
            if (targets[v]) end(live, static_cast<int32_t>(v));
        }
        return live;
    }

    Flow& flow_of(NodeId id, const VariableSet& live) {
        Flow& flow = flows_[id];
        if (flow.assigned.empty()) {
            flow.assigned = VariableSet(none_.size());
            flow.assigned_otherwise = flow.assigned;
            flow.live_after = none_;
            flow.live_head = none_;
        }
        merge(flow.live_after, live);
        return flow;
    }

    void assigned_by_target(NodeId id, VariableSet& set) const {
        const Node& node = tree_[id];
        if (node.kind == NodeKind::kName) set[static_cast<size_t>(node.number)] = true;
        if (node.kind == NodeKind::kTuple || node.kind == NodeKind::kStarred) {
            for (NodeId child : node.children) assigned_by_target(child, set);
        }
    }

    void assigned(NodeId id, VariableSet& set) const {
        const Node& node = tree_[id];
        if (node.kind == NodeKind::kAssign || node.kind == NodeKind::kAugment || node.kind == NodeKind::kFor)
            assigned_by_target(node.children[0], set);
        if (node.kind == NodeKind::kExcept && node.children.size() > 2)
            assigned_by_target(node.children[1], set);
        if (node.kind == NodeKind::kDelete) {
            for (NodeId child : node.children) assigned_by_target(child, set);
        }
        if (node.kind == NodeKind::kWalrus) set[static_cast<size_t>(node.number)] = true;
        if (is_function(node)) {
            if (node.kind == NodeKind::kDef) set[static_cast<size_t>(node.number)] = true;
            return;
        }
        for (NodeId child : node.children) assigned(child, set);
    }

    const Tree& tree_;
    VariableSet none_;
    std::unordered_map<NodeId, Flow> flows_;
    std::vector<Loop> loops_;
    std::vector<VariableSet> handlers_;  // of the tries around: what is read where they catch an error
};

}  // namespace

std::unordered_map<NodeId, Flow> find_flows(const Tree& tree) { return Analysis(tree).run(); }

BodyFlow flow_of_iteration(const Tree& tree, NodeId loop) {
    const size_t count = tree.variables().size();
    BodyFlow flow;
    // Inner functions that read what the loop assigns are not called there (refuse_inner_functions).
    flow.read_first = Analysis(tree, false).iteration(loop, VariableSet(count, false));
    flow.always_assigned = Analysis(tree, false).iteration(loop, VariableSet(count, true));
    flow.always_assigned.flip();
    return flow;
}

namespace {

int count_targets(const Tree& tree, NodeId id, size_t variable) {
    const Node& node = tree[id];
    if (node.kind == NodeKind::kName) return static_cast<size_t>(node.number) == variable ? 1 : 0;
    if (node.kind != NodeKind::kTuple && node.kind != NodeKind::kStarred) return 0;
    int count = 0;
    for (NodeId child : node.children) count += count_targets(tree, child, variable);
    return count;
}

}  // namespace

int count_assignments(const Tree& tree, NodeId id, size_t variable) {
    const Node& node = tree[id];
    const bool is_own = static_cast<size_t>(node.number) == variable;
    if (node.kind == NodeKind::kLambda) return 0;
    if (node.kind == NodeKind::kDef && id != 0) return is_own ? 1 : 0;
    int count = node.kind == NodeKind::kWalrus && is_own ? 1 : 0;
    if (node.kind == NodeKind::kAssign || node.kind == NodeKind::kAugment || node.kind == NodeKind::kFor)
        count += count_targets(tree, node.children[0], variable);
    if (node.kind == NodeKind::kExcept && node.children.size() > 2)
        count += count_targets(tree, node.children[1], variable);
    if (node.kind == NodeKind::kDelete) {
        for (NodeId child : node.children) count += count_targets(tree, child, variable);
    }
    for (NodeId child : node.children) count += count_assignments(tree, child, variable);
    return count;
}

}  // namespace weft::lang
