// Variables of loops that are never negative: not before the loop, and only ever given what is not, as long
// as they all are not. So the rests and quotients of Euclid's algorithm, of hashes, and of digits are divided
// without signs.
#include <algorithm>
#include <functional>
#include <set>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

// Of integers: whether the expression is not negative where these variables are not.
bool FunctionLowering::is_never_negative(NodeId id, const std::set<size_t>& variables) const {
    const Node& given = node(id);
    const auto child = [&](size_t k) { return is_never_negative(given.children[k], variables); };
    switch (given.kind) {
        case NodeKind::kInt: {
            constexpr size_t kDigits = 18;
            return given.atoms[0].size() <= kDigits && given.atoms[0][0] != '-';
        }
        case NodeKind::kName: return variables.contains(static_cast<size_t>(given.number));
        case NodeKind::kIfExpression: return child(1) && child(2);
        case NodeKind::kBinary: {
            const std::string& name = given.atoms[0];
            if (name == "mod") return child(1);  // which has the sign of the divisor
            if (name == "rshift") return child(0);
            if (name == "and") return child(0) || child(1);
            return (name == "floordiv" || name == "or" || name == "xor") && child(0) && child(1);
        }
        default: return false;
    }
}

// Whether everything that the loop gives the variable is not negative.
bool FunctionLowering::stays_positive(NodeId loop, size_t variable, const std::set<size_t>& variables) const {
    const auto is_it = [&](NodeId id) {
        return node(id).kind == NodeKind::kName && static_cast<size_t>(node(id).number) == variable;
    };
    int fine = 0;
    const std::function<void(NodeId)> look = [&](NodeId id) {
        const Node& each = node(id);
        if (each.kind == NodeKind::kAugment && is_it(each.children[0])) {
            const std::string& name = each.atoms[0];
            const bool given = is_never_negative(each.children[1], variables);
            fine += (name == "rshift" || name == "and" || (name == "mod" && given) ||
                     ((name == "floordiv" || name == "or" || name == "xor") && given))
                        ? 1
                        : 0;
        }
        if (each.kind == NodeKind::kAssign && each.children.size() == 2) {
            const NodeId target = each.children[0], value = each.children[1];
            if (is_it(target)) fine += is_never_negative(value, variables) ? 1 : 0;
            if (node(target).kind == NodeKind::kTuple && node(value).kind == NodeKind::kTuple &&
                node(target).children.size() == node(value).children.size()) {
                for (size_t k = 0; k < node(target).children.size(); ++k) {
                    if (is_it(node(target).children[k]))
                        fine += is_never_negative(node(value).children[k], variables) ? 1 : 0;
                }
            }
        }
        for (const NodeId child : each.children) look(child);
    };
    look(loop);
    return fine == count_assignments(source_.tree, loop, variable);
}

std::set<size_t> FunctionLowering::never_negative(NodeId id, const Loop& loop,
                                                  const Environment& environment) const {
    std::set<size_t> variables;
    for (size_t v = 0; v < environment.size(); ++v) {
        const bool is_integer = environment[v].type == scalar_type(ScalarType::kInt64, true) ||
                                environment[v].type == scalar_type(ScalarType::kInt64);
        const std::optional<int64_t> known = literal_integer(environment[v].type);
        if (known ? *known >= 0 : is_integer && fact(environment[v].parts[0]).least >= 0) variables.insert(v);
    }
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        const bool is_integer = is_scalar(loop.types[i]) && loop.types[i]->scalar == ScalarType::kInt64;
        if (!is_integer) variables.erase(loop.carried[i]);
    }
    for (;;) {
        const auto wrong = std::find_if(variables.begin(), variables.end(), [&](size_t variable) {
            return count_assignments(source_.tree, id, variable) > 0 &&
                   !stays_positive(id, variable, variables);
        });
        if (wrong == variables.end()) return variables;
        variables.erase(wrong);
    }
}

}  // namespace weft::lang
