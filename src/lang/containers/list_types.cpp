#include "lang/containers/list_types.h"

#include <algorithm>
#include <utility>

#include "weft/errors.h"

namespace weft::lang {

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
