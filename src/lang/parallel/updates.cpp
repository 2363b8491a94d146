#include "lang/parallel/updates.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace weft::lang {

namespace {

// What every array has, so that it is no field of structures.
bool is_of_arrays(const std::string& attribute) {
    static constexpr std::string_view kNames[] = {"T",        "flat", "real",   "imag",  "shape", "ndim",
                                                  "itemsize", "size", "nbytes", "flags", "dtype", "strides"};
    return std::find(std::begin(kNames), std::end(kNames), attribute) != std::end(kNames);
}

}  // namespace

std::optional<ElementOf> element_of_variable(const Tree& tree, NodeId id) {
    const bool is_field = tree[id].kind == NodeKind::kAttribute && !is_of_arrays(tree[id].atoms[0]);
    if (tree[id].kind != NodeKind::kIndex && !is_field) return std::nullopt;
    ElementOf result;
    const NodeId base = tree.child(id, 0);
    if (tree[base].kind == NodeKind::kName) {
        result.variable = static_cast<size_t>(tree[base].number);
    } else {
        const std::optional<ElementOf> outer = element_of_variable(tree, base);
        if (!outer) return std::nullopt;
        result = *outer;
    }
    if (is_field) {
        result.fields.push_back(tree[id].atoms[0]);
        return result;
    }
    const std::vector<NodeId>& children = tree[id].children;
    for (size_t k = 1; k < children.size(); ++k) {
        const std::vector<NodeId>& items = tree[children[k]].children;
        if (tree[children[k]].kind == NodeKind::kTuple) {
            result.items.insert(result.items.end(), items.begin(), items.end());
        } else {
            result.items.push_back(children[k]);
        }
    }
    return result;
}

CarriedVariable Updates::find(NodeId body) {
    statement(body);
    if (found_.operation.empty()) refuse(body, "is used before it has a value of this iteration");
    found_.variable = variable_;
    return found_;
}

bool Updates::is_update_of_element(const FunctionSource& source, size_t variable, NodeId statement) {
    const NodeKind kind = source.tree[statement].kind;
    if (kind == NodeKind::kAugment) return true;
    Updates updates(source, variable, Of::kElements);
    if (kind == NodeKind::kAssign) return updates.mentions(source.tree.child(statement, 1));
    try {
        return kind == NodeKind::kIf && updates.is_extreme(statement);
    } catch (const Refusal&) {
        return false;
    }
}

bool Updates::is_place(NodeId id) const {
    if (of_ == Of::kVariable)
        return node(id).kind == NodeKind::kName && static_cast<size_t>(node(id).number) == variable_;
    const std::optional<ElementOf> element = element_of_variable(source_.tree, id);
    return element && element->variable == variable_;
}

// Of an array: its sizes are the same in every iteration.
bool Updates::is_shape(NodeId id) const {
    if (of_ == Of::kVariable || node(id).children.empty()) return false;
    const auto is_array = [&](NodeId child) {
        return node(child).kind == NodeKind::kName && static_cast<size_t>(node(child).number) == variable_;
    };
    if (node(id).kind == NodeKind::kAttribute)
        return is_array(node(id).children[0]) &&
               (node(id).atoms[0] == "shape" || node(id).atoms[0] == "size" || node(id).atoms[0] == "ndim");
    if (node(id).kind != NodeKind::kCall || node(id).children.size() != 2) return false;
    const Node& callee = node(node(id).children[0]);
    return callee.kind == NodeKind::kGlobal && source_.symbol(callee.number).path == "builtins.len" &&
           is_array(node(id).children[1]);
}

bool Updates::mentions(NodeId id) const {
    if (is_shape(id)) return false;
    const NodeKind kind = node(id).kind;
    if ((kind == NodeKind::kName || kind == NodeKind::kWalrus) &&
        static_cast<size_t>(node(id).number) == variable_)
        return true;
    return std::any_of(node(id).children.begin(), node(id).children.end(),
                       [&](NodeId child) { return mentions(child); });
}

void Updates::refuse(NodeId where, const std::string& why) const {
    const std::string name = "'" + source_.tree.variables()[variable_] + "'";
    if (of_ == Of::kVariable)
        throw Refusal{where, name + " goes from one iteration of prange to the next, and " + why,
                      kReductionHelp};
    throw Refusal{where, name + " has elements that several iterations of prange may update, and " + why,
                  "Update them by one operation alone (h[k] += x), and read from another array."};
}

void Updates::refuse_read(NodeId where) const {
    refuse(where, "is read here, which is no update of a reduction");
}

// The element that a statement updates; what chooses it is no element of the same array.
void Updates::enter(NodeId target) {
    target_ = target;
    if (of_ == Of::kVariable) return;
    const ElementOf element = *element_of_variable(source_.tree, target);
    for (NodeId item : element.items) {
        if (mentions(item)) refuse_read(item);
    }
}

void Updates::take(NodeId where, std::string operation) {
    if (found_.operation.empty()) {
        found_.operation = std::move(operation);
        found_.where = where;
    } else if (found_.operation != operation) {
        refuse(where, "is updated by two operations");
    }
}

// --- statements ---

void Updates::statement(NodeId id) {
    const Node& given = node(id);
    switch (given.kind) {
        case NodeKind::kAssign: return assign(id);
        case NodeKind::kAugment: return augment(id);
        case NodeKind::kIf:
            if (is_extreme(id)) return;
            break;
        case NodeKind::kBlock:
        case NodeKind::kFor:
        case NodeKind::kWhile: break;
        default:
            if (mentions(id)) refuse_read(id);
            return;
    }
    for (NodeId child : given.children) {
        const NodeKind kind = node(child).kind;
        const bool inner = kind == NodeKind::kBlock || kind == NodeKind::kFor || kind == NodeKind::kWhile ||
                           kind == NodeKind::kIf || kind == NodeKind::kAssign || kind == NodeKind::kAugment;
        if (inner) {
            statement(child);
        } else if (mentions(child)) {
            refuse_read(child);
        }
    }
}

void Updates::assign(NodeId id) {
    const NodeId target = node(id).children[0], value = node(id).children[1];
    if (is_place(target)) {
        enter(target);
        if (!mentions(value)) refuse(id, "gets a new value here, whatever it was");
        return take(id, update(value));
    }
    const bool pairs = node(target).kind == NodeKind::kTuple && node(value).kind == NodeKind::kTuple &&
                       node(target).children.size() == node(value).children.size();
    if (!pairs) {
        if (mentions(id)) refuse_read(id);
        return;
    }
    for (size_t i = 0; i < node(target).children.size(); ++i) {
        const NodeId one = node(target).children[i], other = node(value).children[i];
        if (!mentions(one) && !mentions(other)) continue;
        if (!is_place(one)) refuse_read(mentions(other) ? other : one);
        enter(one);
        if (!mentions(other)) refuse(other, "gets a new value here, whatever it was");
        take(id, update(other));
    }
}

void Updates::augment(NodeId id) {
    const NodeId target = node(id).children[0], value = node(id).children[1];
    if (!is_place(target)) {
        if (mentions(id)) refuse_read(id);
        return;
    }
    enter(target);
    if (mentions(value)) refuse_read(value);
    take(id, operation_of(id, node(id).atoms[0], true));
}

// The reduction that an operator is with the variable on its left, or on its right.
std::string Updates::operation_of(NodeId where, const std::string& name, bool left) const {
    constexpr std::array kEitherSide = {"add", "mul", "and", "or", "xor"};
    if (std::find(kEitherSide.begin(), kEitherSide.end(), name) != kEitherSide.end()) return name;
    if (left && name == "sub") return "add";
    if (left && name == "truediv") return "mul";
    refuse(where, "is not combined by an operation whose order does not matter");
}

// --- expressions ---

// An expression with the variable in it, which is to be its next value.
std::string Updates::update(NodeId id) {
    std::string operation;
    add_update(id, operation);
    if (operation.empty()) refuse(id, "gets its own value here");
    return operation;
}

void Updates::combine(NodeId id, std::string& operation, std::string next) const {
    if (!operation.empty() && operation != next) refuse(id, "is updated by two operations");
    operation = std::move(next);
}

void Updates::add_update(NodeId id, std::string& operation) const {
    const Node& expression = node(id);
    if (is_place(id)) {
        if (of_ == Of::kElements && !same(id, target_)) refuse_read(id);
        return;
    }
    switch (expression.kind) {
        case NodeKind::kBinary: {
            const NodeId left = expression.children[0], right = expression.children[1];
            const bool is_left = mentions(left);
            if (is_left && mentions(right)) refuse(id, "is on both sides of an operator");
            combine(id, operation, operation_of(id, expression.atoms[0], is_left));
            return add_update(is_left ? left : right, operation);
        }
        case NodeKind::kIfExpression:
            if (mentions(expression.children[0])) break;
            for (size_t i = 1; i < 3; ++i) {
                if (!mentions(expression.children[i]))
                    refuse(expression.children[i], "gets a new value here, whatever it was");
                add_update(expression.children[i], operation);
            }
            return;
        case NodeKind::kAnd:
        case NodeKind::kOr:
            combine(id, operation, expression.kind == NodeKind::kAnd ? "all" : "any");
            return add_update_of_one(id, expression.children, operation);
        case NodeKind::kCall: {
            const std::optional<std::string> extreme = extreme_of(expression.children[0]);
            if (!extreme) break;
            combine(id, operation, *extreme);
            return add_update_of_one(id, std::span(expression.children).subspan(1), operation);
        }
        default: break;
    }
    refuse_read(id);
}

void Updates::add_update_of_one(NodeId id, std::span<const NodeId> items, std::string& operation) const {
    const auto count = std::count_if(items.begin(), items.end(), [&](NodeId item) { return mentions(item); });
    if (count != 1) refuse(id, "is there twice");
    for (NodeId item : items) {
        if (mentions(item)) add_update(item, operation);
    }
}

std::optional<std::string> Updates::extreme_of(NodeId callee) const {
    if (node(callee).kind != NodeKind::kGlobal) return std::nullopt;
    const Symbol& symbol = source_.symbol(node(callee).number);
    if (symbol.kind != SymbolKind::kKnown) return std::nullopt;
    constexpr std::array<std::pair<std::string_view, const char*>, 6> kExtremes = {
        {{"builtins.min", "min"},
         {"builtins.max", "max"},
         {"numpy.minimum", "minimum"},
         {"numpy.maximum", "maximum"},
         {"numpy.fmin", "fmin"},
         {"numpy.fmax", "fmax"}}};
    for (const auto& [path, name] : kExtremes) {
        if (symbol.path == path) return name;
    }
    return std::nullopt;
}

// `if x < best: best = x`, with other variables that are assigned there, too.
bool Updates::is_extreme(NodeId id) {
    const NodeId condition = node(id).children[0];
    if (node(condition).kind != NodeKind::kCompare || node(condition).children.size() != 2) return false;
    if (!node(node(id).children[2]).children.empty()) return false;
    NodeId left = node(condition).children[0], right = node(condition).children[1];
    std::string sign = node(condition).atoms[0];
    if (is_place(left)) {  // best > x
        std::swap(left, right);
        sign = sign == "lt" ? "gt" : sign == "le" ? "ge" : sign == "gt" ? "lt" : sign == "ge" ? "le" : "";
    }
    if (!is_place(right) || mentions(left)) return false;
    if (sign != "lt" && sign != "le" && sign != "gt" && sign != "ge") return false;
    std::vector<std::pair<size_t, NodeId>> others;
    bool assigns = false;
    const auto note = [&](NodeId target, NodeId value) {
        if (mentions(value)) return false;
        if (!is_place(target)) {
            if (node(target).kind != NodeKind::kName || of_ == Of::kElements) return false;
            others.emplace_back(static_cast<size_t>(node(target).number), id);
            return true;
        }
        const bool once = !std::exchange(assigns, true);
        return once && same(value, left) && same(target, right);
    };
    for (NodeId inner : node(node(id).children[1]).children) {
        if (node(inner).kind != NodeKind::kAssign) return false;
        const NodeId target = node(inner).children[0], value = node(inner).children[1];
        if (node(target).kind == NodeKind::kTuple && node(value).kind == NodeKind::kTuple &&
            node(target).children.size() == node(value).children.size()) {
            for (size_t i = 0; i < node(target).children.size(); ++i) {
                if (!note(node(target).children[i], node(value).children[i])) return false;
            }
        } else if (!note(target, value)) {
            return false;
        }
    }
    if (!assigns) return false;
    enter(right);
    take(id, sign);
    beside_.insert(beside_.end(), others.begin(), others.end());
    return true;
}

bool Updates::same(NodeId one, NodeId other) const {
    const Node &a = node(one), &b = node(other);
    if (a.kind == NodeKind::kCall) {
        // Of functions that answer the same when they are asked again.
        const Node& callee = node(a.children[0]);
        if (callee.kind != NodeKind::kGlobal) return false;
        const Symbol& symbol = source_.symbol(callee.number);
        if (symbol.kind != SymbolKind::kKnown || symbol.path.find("random") != std::string::npos)
            return false;
    }
    return a.kind == b.kind && a.kind != NodeKind::kWalrus && a.number == b.number && a.atoms == b.atoms &&
           std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                      [&](NodeId x, NodeId y) { return same(x, y); });
}

}  // namespace weft::lang
