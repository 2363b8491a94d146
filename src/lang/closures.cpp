// Functions inside of functions.
//
// Where one is defined, its value has the values of its defaults alone: the variables of the function around
// it are read when it is called, as Python does. Where it goes to another function, the values that they have
// then go along; nothing can change them meanwhile. Either way they are its first parameters.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "lang/generators/resume.h"
#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

// --- their sources --------------------------------------------------------------------------------------

namespace {

bool is_function(const Node& node) { return node.kind == NodeKind::kDef || node.kind == NodeKind::kLambda; }

bool is_parameter(const Node& node) {
    switch (node.kind) {
        case NodeKind::kParam:
        case NodeKind::kDefault:
        case NodeKind::kRest:
        case NodeKind::kKeywordDefault: return true;
        case NodeKind::kKeyword: return node.children.empty();
        default: return false;
    }
}

// Variables of functions around the one at `id`.
class FreeVariables {
public:
    explicit FreeVariables(const Tree& tree) : tree_(tree) {}

    std::set<std::string> of(NodeId id) const {
        const Node& function = tree_[id];
        std::set<std::string> own, read;
        for (NodeId parameter : tree_[function.children[0]].children) own.insert(tree_[parameter].atoms[0]);
        for (size_t i = 1; i < function.children.size(); ++i) collect(function.children[i], own, read);
        std::set<std::string> free;
        std::set_difference(read.begin(), read.end(), own.begin(), own.end(),
                            std::inserter(free, free.end()));
        return free;
    }

private:
    void target(NodeId id, std::set<std::string>& own) const {
        const Node& node = tree_[id];
        if (node.kind == NodeKind::kName) own.insert(node.atoms[0]);
        if (node.kind == NodeKind::kTuple || node.kind == NodeKind::kStarred) {
            for (NodeId child : node.children) target(child, own);
        }
    }

    void collect(NodeId id, std::set<std::string>& own, std::set<std::string>& read) const {
        const Node& node = tree_[id];
        if (is_function(node)) {
            if (node.kind == NodeKind::kDef) own.insert(node.atoms[0]);
            read.merge(of(id));
            for (NodeId parameter : tree_[node.children[0]].children) {
                for (NodeId child : tree_[parameter].children) collect(child, own, read);
            }
            return;
        }
        if (node.kind == NodeKind::kName) read.insert(node.atoms[0]);
        if (node.kind == NodeKind::kWalrus) own.insert(node.atoms[0]);
        if (node.kind == NodeKind::kExcept && node.children.size() > 2) target(node.children[1], own);
        if (node.kind == NodeKind::kAssign || node.kind == NodeKind::kAugment ||
            node.kind == NodeKind::kFor || node.kind == NodeKind::kComprehension)
            target(node.children[0], own);
        for (NodeId child : node.children) collect(child, own, read);
    }

    const Tree& tree_;
};

// The text of an inner function as one of its own, and the places of its nodes.
class InnerText {
public:
    InnerText(const Tree& tree, NodeId id, const std::vector<std::string>& before) : tree_(tree) {
        const Node& function = tree[id];
        const bool is_lambda = function.kind == NodeKind::kLambda;
        open("def", id);
        text += is_lambda ? " lambda" : " " + function.atoms[0];
        open("params", id);
        for (const std::string& name : before) {
            open("param", id);
            text += " " + name + ")";
        }
        for (NodeId parameter : tree[function.children[0]].children) {
            open(node_name(tree[parameter].kind), parameter);
            text += " " + tree[parameter].atoms[0] + ")";
        }
        text += ")";
        if (is_lambda) {
            open("block", function.children[1]);
            open("return", function.children[1]);
            write(function.children[1]);
            text += "))";
        } else {
            write(function.children[1]);
        }
        text += ")";
    }

    std::string text;
    std::vector<Place> places;

private:
    void open(std::string_view word, NodeId id) {
        text += " (" + std::string(word);
        places.push_back(tree_.place(id));
    }

    void write(NodeId id) {
        const Node& node = tree_[id];
        open(head_of(node), id);
        for (NodeId child : node.children) write(child);
        text += ")";
    }

    const Tree& tree_;
};

}  // namespace

void find_inner_functions(FunctionSource& source) {
    if (is_generator(source.tree)) return find_resume(source);
    const Tree& tree = source.tree;
    const std::function<void(NodeId)> visit = [&](NodeId id) {
        const Node& node = tree[id];
        if (id == 0 || !is_function(node)) {
            for (NodeId child : node.children) visit(child);
            return;
        }
        auto inner = std::make_unique<FunctionSource>();
        inner->name = node.kind == NodeKind::kLambda ? "<lambda>" : node.atoms[0];
        inner->file = source.file;
        inner->first_line = source.first_line;
        inner->lines = source.lines;
        inner->outer = &source;
        std::set<std::string> free = FreeVariables(tree).of(id);
        free.erase(inner->name);  // itself
        inner->captured.assign(free.begin(), free.end());
        std::vector<std::string> before = inner->captured;
        for (NodeId parameter : tree[node.children[0]].children) {
            if (tree[parameter].kind != NodeKind::kDefault &&
                tree[parameter].kind != NodeKind::kKeywordDefault)
                continue;
            before.push_back(".default." + std::to_string(inner->own_defaults++));
        }
        const InnerText text(tree, id, before);
        inner->tree = Tree::parse(text.text, text.places);
        find_inner_functions(*inner);
        source.inner[id] = std::move(inner);
        for (NodeId parameter : tree[node.children[0]].children) {  // a default may be a lambda
            for (NodeId child : tree[parameter].children) visit(child);
        }
    };
    visit(0);
}

// --- their values ---------------------------------------------------------------------------------------

Value FunctionLowering::define_function(NodeId id, Environment& environment) {
    const auto found = source_.inner.find(id);
    if (found == source_.inner.end())
        fail(id, "an inner function is not compiled here", "Define it outside.");
    std::vector<Value> defaults;
    for (NodeId parameter : node(node(id).children[0]).children) {
        if (!is_parameter(node(parameter)) || node(parameter).children.empty()) continue;
        defaults.push_back(lower(node(parameter).children[0], environment));
    }
    Value result = tuple(std::move(defaults));
    result.type = closure_type(found->second.get(), false, result.type->parts);
    return result;
}

std::vector<Value> FunctionLowering::captured_by(const Value& closure, const Environment& environment,
                                                 NodeId where) {
    std::vector<Value> values;
    if (!closure.type->bound) {
        const FunctionSource& function = *closure.type->function;
        if (std::find(binding_.begin(), binding_.end(), &function) != binding_.end())
            fail(where, "inner functions that call each other are not compiled",
                 "Define them outside of '" + source_.name + "'.");
        binding_.push_back(&function);
        for (const std::string& name : function.captured) {
            const std::vector<std::string>& variables = source_.tree.variables();
            const auto at = std::find(variables.begin(), variables.end(), name);
            const auto number = static_cast<size_t>(at - variables.begin());
            const Value& value = environment.at(number);
            // What may have no value is an error where it is read, if it is.
            const bool is_function =
                value.type->kind == TypeKind::kMaybe && value.type->parts[0]->kind == TypeKind::kClosure;
            values.push_back(
                bound(is_function ? read_variable(value, name, where) : value, environment, where));
        }
        binding_.pop_back();
    }
    for (size_t i = 0; i < closure.type->parts.size(); ++i) values.push_back(tuple_item(closure, i));
    return values;
}

Value FunctionLowering::bound(const Value& value, const Environment& environment, NodeId where) {
    if (value.type->kind == TypeKind::kTuple &&
        std::any_of(value.type->parts.begin(), value.type->parts.end(), [](TypeRef part) {
            return part->kind == TypeKind::kClosure || part->kind == TypeKind::kTuple;
        })) {
        std::vector<Value> items;
        for (size_t i = 0; i < value.type->parts.size(); ++i)
            items.push_back(bound(tuple_item(value, i), environment, where));
        Value result = tuple(std::move(items));
        result.type = with_parts(value.type, result.type->parts);
        result.origin = value.origin;
        result.fresh = value.fresh;
        return result;
    }
    if (value.type->kind != TypeKind::kClosure || value.type->bound) return value;
    Value result = tuple(captured_by(value, environment, where));
    result.type = closure_type(value.type->function, true, result.type->parts);
    return result;
}

Value FunctionLowering::call_closure(const Value& closure, const Arguments& arguments,
                                     const Environment& environment) {
    std::vector<Value> captured = captured_by(closure, environment, arguments.where);
    // A later iteration may give it what it reads.
    const bool waits = std::any_of(captured.begin(), captured.end(), [](const Value& value) {
        return value.type->kind == TypeKind::kUnbound || value.type->kind == TypeKind::kNever;
    });
    if (waits && dry_ && !loops_.empty()) return never();
    return call_source(*closure.type->function, std::move(captured), arguments);
}

// An inner function knows itself by its name.
void FunctionLowering::name_itself(Environment& environment) {
    if (source_.outer == nullptr) return;
    const std::vector<std::string>& variables = source_.tree.variables();
    const size_t count = source_.captured.size() + source_.own_defaults;
    const auto at = std::find(variables.begin(), variables.end(), source_.name);
    const auto number = static_cast<size_t>(at - variables.begin());
    if (at == variables.end() || number < arguments_.size()) return;
    std::vector<Value> parts(environment.begin(), environment.begin() + static_cast<std::ptrdiff_t>(count));
    Value itself = tuple(std::move(parts));
    itself.type = closure_type(&source_, true, itself.type->parts);
    environment[number] = std::move(itself);
}

}  // namespace weft::lang
