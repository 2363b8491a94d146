#include "lang/containers/list_types.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "weft/errors.h"

namespace weft::lang {

bool has_lists_of_call(const FunctionSource& function) {
    if (function.is_prelude) return true;
    constexpr size_t kMost = 60;  // nodes
    size_t nodes = 0;
    bool makes = false;
    const std::function<bool(NodeId)> is_simple = [&](NodeId id) {
        const Node& node = function.tree[id];
        if (++nodes > kMost) return false;
        switch (node.kind) {
            case NodeKind::kFor:
            case NodeKind::kWhile:
            case NodeKind::kDef:
            case NodeKind::kLambda:
            case NodeKind::kListComprehension:
            case NodeKind::kSetComprehension:
            case NodeKind::kDictComprehension:
            case NodeKind::kGeneratorExpression:
            case NodeKind::kYield:
            case NodeKind::kTry: return false;
            case NodeKind::kGlobal: {
                const Symbol& symbol = function.symbol(node.number);
                if (symbol.function != nullptr) return false;
                makes |= symbol.path == "builtins.list" || symbol.path == "builtins.set" ||
                         symbol.path == "builtins.dict";
                break;
            }
            case NodeKind::kList:
            case NodeKind::kDict: makes |= node.children.empty(); break;
            default: break;
        }
        return std::all_of(node.children.begin(), node.children.end(), is_simple);
    };
    return function.resume == nullptr && function.outer == nullptr && is_simple(function.tree.body()) &&
           makes;
}

uint32_t ListTypes::made_at(ListPlace place) {
    const auto next = kFirstMade + static_cast<uint32_t>(places_.size());
    return canonical(places_.try_emplace(std::move(place), next).first->second);
}

uint32_t ListTypes::canonical(uint32_t list) const {
    for (auto found = merged_.find(list); found != merged_.end(); found = merged_.find(list))
        list = found->second;
    return list;
}

bool ListTypes::holds(TypeRef type, uint32_t list) const {
    return (is_list(type) && canonical(type->list) == canonical(list)) ||
           std::any_of(type->parts.begin(), type->parts.end(),
                       [&](TypeRef part) { return holds(part, list); });
}

TypeRef ListTypes::type_of(uint32_t list, const std::function<TypeRef(TypeRef)>& canonical_type) const {
    const auto found = elements_.find(canonical(list));
    return list_type(found == elements_.end() ? simple_type(TypeKind::kNever) : canonical_type(found->second),
                     canonical(list));
}

void ListTypes::merge(uint32_t one, uint32_t other, const std::function<TypeRef(TypeRef)>& canonical_type) {
    one = canonical(one);
    other = canonical(other);
    if (one == other) return;
    TypeRef a = type_of(one, canonical_type)->parts[0], b = type_of(other, canonical_type)->parts[0];
    if (holds(a, other) || holds(b, one))
        throw ValueError("a list cannot hold itself in a compiled function");
    merged_[std::max(one, other)] = std::min(one, other);
    // Lists in them meet, too.
    const std::function<void(TypeRef, TypeRef)> meet = [&](TypeRef x, TypeRef y) {
        if (is_list(x) && is_list(y)) return merge(x->list, y->list, canonical_type);
        for (size_t i = 0; i < std::min(x->parts.size(), y->parts.size()); ++i)
            meet(x->parts[i], y->parts[i]);
    };
    meet(a, b);
    TypeRef both = join(canonical_type(a), canonical_type(b));
    if (both == nullptr)
        throw ValueError("a list of " + describe(a) + " and one of " + describe(b) + " are one list here");
    elements_.erase(std::max(one, other));
    elements_[canonical(one)] = both;
}

}  // namespace weft::lang
