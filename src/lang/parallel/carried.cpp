#include "lang/parallel/carried.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace weft::lang {

namespace {

struct Refusal {
    NodeId where;
    std::string why, help;
};

constexpr const char* kHelp =
    "Write it as a reduction (s += x, s = min(s, x)), or give each iteration an element of an array.";

// Looks at one variable of a loop's body: every occurrence of a reduction's variable is in an update of it.
class Reduction {
public:
    Reduction(const FunctionSource& source, size_t variable) : source_(source), variable_(variable) {}

    // Throws Refusal.
    CarriedVariable find(NodeId body) {
        statement(body);
        if (found_.operation.empty()) refuse(body, "is used before it has a value of this iteration");
        found_.variable = variable_;
        return found_;
    }
    // Where the variables stand that are assigned beside a minimum or maximum.
    const std::vector<std::pair<size_t, NodeId>>& beside() const { return beside_; }

private:
    const Node& node(NodeId id) const { return source_.tree[id]; }
    bool is_variable(NodeId id) const {
        return node(id).kind == NodeKind::kName && static_cast<size_t>(node(id).number) == variable_;
    }
    bool mentions(NodeId id) const {
        return is_variable(id) ||
               (node(id).kind == NodeKind::kWalrus && static_cast<size_t>(node(id).number) == variable_) ||
               std::any_of(node(id).children.begin(), node(id).children.end(),
                           [&](NodeId child) { return mentions(child); });
    }

    [[noreturn]] void refuse(NodeId where, const std::string& why) const {
        throw Refusal{where,
                      "'" + source_.tree.variables()[variable_] +
                          "' goes from one iteration of prange to the next, and " + why,
                      kHelp};
    }

    void take(NodeId where, std::string operation) {
        if (found_.operation.empty()) {
            found_.operation = std::move(operation);
            found_.where = where;
        } else if (found_.operation != operation) {
            refuse(where, "is updated by two operations");
        }
    }

    // --- statements ---

    void statement(NodeId id) {
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
                if (mentions(id)) refuse(id, "is read here, which is no update of a reduction");
                return;
        }
        for (NodeId child : given.children) {
            const NodeKind kind = node(child).kind;
            const bool inner = kind == NodeKind::kBlock || kind == NodeKind::kFor ||
                               kind == NodeKind::kWhile || kind == NodeKind::kIf ||
                               kind == NodeKind::kAssign || kind == NodeKind::kAugment;
            if (inner) {
                statement(child);
            } else if (mentions(child)) {
                refuse(child, "is read here, which is no update of a reduction");
            }
        }
    }

    void assign(NodeId id) {
        const NodeId target = node(id).children[0], value = node(id).children[1];
        if (is_variable(target)) {
            if (!mentions(value)) refuse(id, "gets a new value here, whatever it was");
            return take(id, update(value));
        }
        const bool pairs = node(target).kind == NodeKind::kTuple && node(value).kind == NodeKind::kTuple &&
                           node(target).children.size() == node(value).children.size();
        if (!pairs) {
            if (mentions(id)) refuse(id, "is read here, which is no update of a reduction");
            return;
        }
        for (size_t i = 0; i < node(target).children.size(); ++i) {
            const NodeId one = node(target).children[i], other = node(value).children[i];
            if (!mentions(one) && !mentions(other)) continue;
            if (!is_variable(one)) refuse(other, "is read here, which is no update of a reduction");
            if (!mentions(other)) refuse(other, "gets a new value here, whatever it was");
            take(id, update(other));
        }
    }

    void augment(NodeId id) {
        const NodeId target = node(id).children[0], value = node(id).children[1];
        if (!is_variable(target)) {
            if (mentions(id)) refuse(id, "is read here, which is no update of a reduction");
            return;
        }
        if (mentions(value)) refuse(value, "is read here, which is no update of a reduction");
        take(id, operation_of(id, node(id).atoms[0], true));
    }

    // The reduction that an operator is with the variable on its left, or on its right.
    std::string operation_of(NodeId where, const std::string& name, bool left) const {
        constexpr std::array kEitherSide = {"add", "mul", "and", "or", "xor"};
        if (std::find(kEitherSide.begin(), kEitherSide.end(), name) != kEitherSide.end()) return name;
        if (left && name == "sub") return "add";
        if (left && name == "truediv") return "mul";
        refuse(where, "is not combined by an operation whose order does not matter");
    }

    // --- expressions ---

    // An expression with the variable in it, which is to be its next value.
    std::string update(NodeId id) {
        std::string operation;
        add_update(id, operation);
        if (operation.empty()) refuse(id, "gets its own value here");
        return operation;
    }

    void combine(NodeId id, std::string& operation, std::string next) const {
        if (!operation.empty() && operation != next) refuse(id, "is updated by two operations");
        operation = std::move(next);
    }

    void add_update(NodeId id, std::string& operation) const {
        const Node& expression = node(id);
        if (is_variable(id)) return;
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
        refuse(id, "is read here, which is no update of a reduction");
    }

    void add_update_of_one(NodeId id, std::span<const NodeId> items, std::string& operation) const {
        const auto count =
            std::count_if(items.begin(), items.end(), [&](NodeId item) { return mentions(item); });
        if (count != 1) refuse(id, "is there twice");
        for (NodeId item : items) {
            if (mentions(item)) add_update(item, operation);
        }
    }

    std::optional<std::string> extreme_of(NodeId callee) const {
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
    bool is_extreme(NodeId id) {
        const NodeId condition = node(id).children[0];
        if (node(condition).kind != NodeKind::kCompare || node(condition).children.size() != 2) return false;
        if (!node(node(id).children[2]).children.empty()) return false;
        NodeId left = node(condition).children[0], right = node(condition).children[1];
        std::string sign = node(condition).atoms[0];
        if (is_variable(left)) {  // best > x
            std::swap(left, right);
            sign = sign == "lt" ? "gt" : sign == "le" ? "ge" : sign == "gt" ? "lt" : sign == "ge" ? "le" : "";
        }
        if (!is_variable(right) || mentions(left)) return false;
        if (sign != "lt" && sign != "le" && sign != "gt" && sign != "ge") return false;
        std::vector<std::pair<size_t, NodeId>> others;
        bool assigns = false;
        const auto note = [&](NodeId target, NodeId value) {
            if (node(target).kind != NodeKind::kName || mentions(value)) return false;
            if (!is_variable(target)) {
                others.emplace_back(static_cast<size_t>(node(target).number), id);
                return true;
            }
            const bool once = !std::exchange(assigns, true);
            return once && same(value, left);
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
        take(id, sign);
        beside_.insert(beside_.end(), others.begin(), others.end());
        return true;
    }

    bool same(NodeId one, NodeId other) const {
        const Node &a = node(one), &b = node(other);
        return a.kind == b.kind && a.kind != NodeKind::kCall && a.kind != NodeKind::kWalrus &&
               a.number == b.number && a.atoms == b.atoms &&
               std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                          [&](NodeId x, NodeId y) { return same(x, y); });
    }

    const FunctionSource& source_;
    size_t variable_;
    CarriedVariable found_;
    std::vector<std::pair<size_t, NodeId>> beside_;
};

class ParallelAnalysis {
public:
    ParallelAnalysis(const FunctionSource& source, NodeId loop, const Flow& flow)
        : source_(source), loop_(loop), body_(source.tree[loop].children[2]), flow_(flow) {}

    ParallelLoop run() {
        ParallelLoop result;
        try {
            refuse_exits(body_, 0);
            find_carried(result);
        } catch (const Refusal& refusal) {
            result.refused = refusal.where;
            result.why = refusal.why;
            result.help = refusal.help;
        }
        return result;
    }

private:
    const Node& node(NodeId id) const { return source_.tree[id]; }

    void refuse_exits(NodeId id, int depth) const {
        const NodeKind kind = node(id).kind;
        if (kind == NodeKind::kReturn)
            throw Refusal{
                id, "'return' in a loop over prange",
                "Its iterations run at the same time; use range where one of them ends the function."};
        if (kind == NodeKind::kBreak && depth == 0)
            throw Refusal{id, "'break' in a loop over prange",
                          "Its iterations run at the same time; use range where one of them ends the loop."};
        const int inside = depth + (kind == NodeKind::kFor || kind == NodeKind::kWhile ? 1 : 0);
        for (NodeId child : node(id).children) refuse_exits(child, inside);
    }

    void find_carried(ParallelLoop& result) const {
        const BodyFlow body = flow_of_iteration(source_.tree, loop_);
        result.captured = body.read_first;
        std::vector<size_t> open;  // assigned by some iterations, and read behind the loop
        for (size_t v = 0; v < flow_.assigned.size(); ++v) {
            if (!flow_.assigned[v]) continue;
            if (!body.read_first[v]) {
                if (!flow_.live_after[v]) continue;
                if (body.always_assigned[v]) {
                    result.carried.push_back({v, CarriedKind::kLast, {}, 0, loop_});
                } else {
                    open.push_back(v);
                }
                continue;
            }
            result.captured[v] = false;
            Reduction reduction(source_, v);
            result.carried.push_back(reduction.find(body_));
            for (const auto& [beside, where] : reduction.beside())
                result.carried.push_back({beside, CarriedKind::kBeside, {}, v, where});
        }
        // What is beside a minimum and not read behind the loop is an iteration's own.
        std::erase_if(result.carried, [&](const CarriedVariable& each) {
            return each.kind == CarriedKind::kBeside && !flow_.live_after[each.variable];
        });
        for (size_t v : open) {
            const auto count =
                std::count_if(result.carried.begin(), result.carried.end(), [&](const CarriedVariable& each) {
                    return each.kind == CarriedKind::kBeside && each.variable == v;
                });
            if (count == 1 && assignments(body_, v) == 1) continue;
            throw Refusal{loop_,
                          "'" + source_.tree.variables()[v] +
                              "' is read behind a loop over prange that assigns it in some iterations only",
                          kHelp};
        }
        // `always_assigned` may be beside a minimum, too: then it is the last iteration's.
        std::erase_if(result.carried, [&](const CarriedVariable& each) {
            return each.kind == CarriedKind::kBeside &&
                   std::find(open.begin(), open.end(), each.variable) == open.end();
        });
    }

    size_t assignments(NodeId id, size_t variable) const {
        const Node& given = node(id);
        size_t count = 0;
        if (given.kind == NodeKind::kAssign || given.kind == NodeKind::kAugment ||
            given.kind == NodeKind::kFor)
            count += in_target(given.children[0], variable);
        if (given.kind == NodeKind::kWalrus && static_cast<size_t>(given.number) == variable) ++count;
        for (NodeId child : given.children) count += assignments(child, variable);
        return count;
    }

    size_t in_target(NodeId id, size_t variable) const {
        const Node& given = node(id);
        if (given.kind == NodeKind::kName) return static_cast<size_t>(given.number) == variable ? 1 : 0;
        size_t count = 0;
        if (given.kind == NodeKind::kTuple || given.kind == NodeKind::kStarred) {
            for (NodeId child : given.children) count += in_target(child, variable);
        }
        return count;
    }

    const FunctionSource& source_;
    NodeId loop_, body_;
    const Flow& flow_;
};

}  // namespace

ParallelLoop find_parallel_loop(const FunctionSource& source, NodeId loop, const Flow& flow) {
    return ParallelAnalysis(source, loop, flow).run();
}

}  // namespace weft::lang
