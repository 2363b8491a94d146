#include "lang/generators/resume.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "lang/errors/diagnostics.h"
#include "lang/tree/liveness.h"

namespace weft::lang {

namespace {

bool is_function(const Node& node) { return node.kind == NodeKind::kDef || node.kind == NodeKind::kLambda; }

bool has_yield(const Tree& tree, NodeId id) {
    const Node& node = tree[id];
    if (node.kind == NodeKind::kYield) return true;
    if (is_function(node) && id != 0) return false;
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](NodeId child) { return has_yield(tree, child); });
}

class ResumeText {
public:
    explicit ResumeText(FunctionSource& source) : source_(source), tree_(source.tree) {
        number(tree_.body());
        find_variables();
        open("def " + source.name, 0);
        open("params", 0);
        leaf("param .frame", 0);
        close();
        open("block", 0);
        open("restore", 0);
        leaf("name .r", 0);
        for (const std::string& name : source.frame) leaf("name " + name, 0);
        close();
        open("if", 0);
        open("compare lt", 0);
        leaf("name .r", 0);
        leaf("int 0", 0);
        close();
        open("block", 0);
        give(false, 0);
        close();
        leaf("block", 0);
        close();
        statements(tree_[tree_.body()].children);
        give(false, 0);
        close();
        close();
    }

    std::string text;
    std::vector<Place> places;

private:
    struct Yields {
        int first = 0, last = 0;
    };

    // Which yields are in a node, by their numbers.
    void number(NodeId id) {
        const Node& node = tree_[id];
        if (is_function(node)) return;
        const int before = count_;
        if (node.kind == NodeKind::kYield) ++count_;
        for (NodeId child : node.children) number(child);
        if (count_ > before) yields_[id] = {before + 1, count_};
    }

    static std::string sequence(NodeId loop) { return ".s" + std::to_string(loop); }
    static std::string counter(NodeId loop) { return ".k" + std::to_string(loop); }

    // The variables that are read behind some yield, and for each yield which.
    void find_variables() {
        const auto flows = find_flows(tree_);
        std::vector<std::string>& frame = source_.frame;
        for (NodeId parameter : tree_.parameters()) frame.push_back(tree_[parameter].atoms[0]);
        const auto add = [&](const std::string& name) {
            if (std::find(frame.begin(), frame.end(), name) == frame.end()) frame.push_back(name);
        };
        std::vector<NodeId> loops;
        const std::function<void(NodeId)> visit = [&](NodeId id) {
            const Node& node = tree_[id];
            if (!yields_.contains(id)) return;
            if (node.kind == NodeKind::kFor) loops.push_back(id);
            if (node.kind == NodeKind::kExpression) {
                std::vector<std::string>& live = live_[id];
                const VariableSet& read = flows.at(id).live_after;
                for (size_t v = 0; v < read.size(); ++v) {
                    if (read[v]) live.push_back(tree_.variables()[v]);
                }
                for (NodeId loop : loops) {
                    live.push_back(sequence(loop));
                    live.push_back(counter(loop));
                }
                for (const std::string& name : live) add(name);
            }
            for (NodeId child : node.children) visit(child);
            if (node.kind == NodeKind::kFor) loops.pop_back();
        };
        visit(tree_.body());
    }

    void open(const std::string& head, NodeId at) {
        text += " (" + head;
        places.push_back(tree_.place(at));
    }
    void close() { text += ")"; }
    void leaf(const std::string& head, NodeId at) {
        open(head, at);
        close();
    }

    void give(bool yielded, NodeId at) {
        open("return", at);
        leaf(yielded ? "bool 1" : "bool 0", at);
        close();
    }

    void runs(NodeId at) {  // nothing is skipped
        open("compare eq", at);
        leaf("name .r", at);
        leaf("int 0", at);
        close();
    }

    void is_in(const Yields& yields, NodeId at) {
        if (yields.first == yields.last) {
            open("compare eq", at);
            leaf("name .r", at);
            leaf("int " + std::to_string(yields.first), at);
            return close();
        }
        open("compare le le", at);
        leaf("int " + std::to_string(yields.first), at);
        leaf("name .r", at);
        leaf("int " + std::to_string(yields.last), at);
        close();
    }

    void copy(NodeId id, bool is_inner = false) {
        const Node& node = tree_[id];
        if (node.kind == NodeKind::kReturn && !is_inner) return give(false, id);
        open(head_of(node), id);
        for (NodeId child : node.children) copy(child, is_inner || is_function(node));
        close();
    }

    // Statements that run where nothing is skipped.
    void guarded(const std::function<void()>& write, NodeId at) {
        open("if", at);
        runs(at);
        open("block", at);
        write();
        close();
        leaf("block", at);
        close();
    }

    void block(NodeId id) {
        open("block", id);
        statements(tree_[id].children);
        close();
    }

    void statements(const std::vector<NodeId>& all) {
        for (size_t i = 0; i < all.size();) {
            if (yields_.contains(all[i])) {
                statement(all[i++]);
                continue;
            }
            const size_t first = i;
            while (i < all.size() && !yields_.contains(all[i])) ++i;
            guarded(
                [&] {
                    for (size_t k = first; k < i; ++k) copy(all[k]);
                },
                all[first]);
        }
    }

    void statement(NodeId id) {
        const Node& node = tree_[id];
        switch (node.kind) {
            case NodeKind::kExpression: return yield(id);
            case NodeKind::kIf:
                open("if", id);
                enters(node.children[1], [&] { copy(node.children[0]); }, id);
                block(node.children[1]);
                block(node.children[2]);
                return close();
            case NodeKind::kWhile:
                open("while", id);
                enters(node.children[1], [&] { copy(node.children[0]); }, id);
                block(node.children[1]);
                block(node.children[2]);
                return close();
            case NodeKind::kFor: return loop(id);
            case NodeKind::kTry:
                open("try", id);
                block(node.children[0]);
                block(node.children[1]);
                for (size_t i = 2; i < node.children.size(); ++i) copy(node.children[i]);
                return close();
            default: refuse(id);
        }
    }

    [[noreturn]] void refuse(NodeId id) const {
        throw CompileError(render({&source_, id}, "a `yield` is not compiled here", {},
                                  "Write it as a statement in loops, ifs or tries."));
    }

    // The condition of what has a body with yields, or not.
    void enters(NodeId body, const std::function<void()>& condition, NodeId at) {
        const auto found = yields_.find(body);
        if (found != yields_.end()) {
            open("or", at);
            is_in(found->second, at);
        }
        open("and", at);
        runs(at);
        condition();
        close();
        if (found != yields_.end()) close();
    }

    void yield(NodeId id) {
        const NodeId value = tree_[id].children[0];
        if (tree_[value].kind != NodeKind::kYield) refuse(id);
        const int number = yields_.at(id).first;
        open("if", id);
        runs(id);
        open("block", id);
        open("suspend " + std::to_string(number), id);
        copy(tree_[value].children[0]);
        const std::vector<std::string>& live = live_.at(id);
        for (const std::string& name : source_.frame) {
            const bool is_live = std::find(live.begin(), live.end(), name) != live.end();
            leaf(is_live ? "name " + name : "none", id);
        }
        close();
        give(true, id);
        close();
        open("block", id);
        open("if", id);
        is_in({number, number}, id);
        open("block", id);
        open("assign", id);
        leaf("name .r", id);
        leaf("int 0", id);
        close();
        close();
        leaf("block", id);
        close();
        close();
        close();
    }

    void loop(NodeId id) {
        const Node& node = tree_[id];
        const auto both = [&] {
            leaf("name " + sequence(id), id);
            leaf("name " + counter(id), id);
        };
        guarded(
            [&] {
                open("assign", id);
                leaf("name " + sequence(id), id);
                open("iterator", node.children[1]);
                copy(node.children[1]);
                close();
                close();
                open("assign", id);
                leaf("name " + counter(id), id);
                leaf("int 0", id);
                close();
            },
            id);
        open("while", id);
        enters(
            node.children[2],
            [&] {
                open("advance", node.children[1]);
                both();
                close();
            },
            id);
        open("block", id);
        guarded(
            [&] {
                open("assign", id);
                copy(node.children[0]);
                open("current", node.children[1]);
                both();
                close();
                close();
                open("augment add", id);
                leaf("name " + counter(id), id);
                leaf("int 1", id);
                close();
            },
            id);
        statements(tree_[node.children[2]].children);
        close();
        block(node.children[3]);
        close();
    }

    FunctionSource& source_;
    const Tree& tree_;
    int count_ = 0;
    std::unordered_map<NodeId, Yields> yields_;
    std::unordered_map<NodeId, std::vector<std::string>> live_;
};

// Whether a variable of the function around has one value once it has one.
bool is_settled(const Tree& tree, const std::string& name) {
    const auto& variables = tree.variables();
    const auto at = std::find(variables.begin(), variables.end(), name);
    if (at == variables.end()) return true;
    const auto number = static_cast<size_t>(at - variables.begin());
    const int assignments = count_assignments(tree, tree.body(), number);
    if (number < tree.parameters().size()) return assignments == 0;
    const std::function<bool(NodeId)> in_loop = [&](NodeId id) {
        const Node& node = tree[id];
        if (is_function(node)) return false;
        if ((node.kind == NodeKind::kFor || node.kind == NodeKind::kWhile) &&
            count_assignments(tree, id, number) > 0)
            return true;
        return std::any_of(node.children.begin(), node.children.end(), in_loop);
    };
    return assignments <= 1 && !in_loop(tree.body());
}

}  // namespace

bool is_generator(const Tree& tree) { return has_yield(tree, tree.body()); }

void find_resume(FunctionSource& source) {
    if (!is_generator(source.tree)) return;
    for (const FunctionSource* outer = source.outer; outer != nullptr; outer = nullptr) {
        for (const std::string& name : source.captured) {
            if (!is_settled(outer->tree, name)) source.unsettled = name;
        }
    }
    const ResumeText made(source);
    auto resume = std::make_unique<FunctionSource>();
    resume->name = source.name;
    resume->file = source.file;
    resume->first_line = source.first_line;
    resume->lines = source.lines;
    resume->outer = &source;
    resume->is_prelude = source.is_prelude;
    resume->fast_math = source.fast_math;
    resume->tree = Tree::parse(made.text, made.places);
    find_inner_functions(*resume);
    source.resume = std::move(resume);
}

}  // namespace weft::lang
