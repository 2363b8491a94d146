// The types of the elements of lists. Two names may be one list, so the type of a list's elements is one
// wherever it is seen: it belongs to the place that makes the list, or to the argument that it is. What is
// added somewhere widens it everywhere, and lists that meet in one variable have one. When either is found,
// types are found again from the start.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "lang/symbols.h"
#include "lang/types.h"

namespace weft::lang {

// Thrown.
struct ListGrows {
    uint32_t list;
    TypeRef element;
};
struct ListsMeet {
    uint32_t one, other;
};

// Where a list is made: the function with the types of its arguments and, of some, its caller.
struct ListPlace {
    const FunctionSource* function = nullptr;
    std::vector<TypeRef> arguments{};
    const FunctionSource* caller = nullptr;
    NodeId call = 0, node = 0;
    int which = 0;  // of those that the node makes
    friend auto operator<=>(const ListPlace&, const ListPlace&) = default;
};

// Whether the lists of a function are of the call: it is short, calls no other of the program and makes an
// empty list, whose elements its arguments do not tell.
bool has_lists_of_call(const FunctionSource& function);

class ListTypes {
public:
    uint32_t made_at(ListPlace place);
    // As it is known now; `canonical_type` makes the same of the elements.
    TypeRef type_of(uint32_t list, const std::function<TypeRef(TypeRef)>& canonical_type) const;
    uint32_t canonical(uint32_t list) const;
    bool holds(TypeRef type, uint32_t list) const;  // in any depth
    // An argument's list, whose elements its type tells.
    void know(uint32_t list, TypeRef element) { elements_.try_emplace(canonical(list), element); }
    void grow(uint32_t list, TypeRef element) { elements_[canonical(list)] = element; }
    // Throws ValueError where no type holds the elements of both.
    void merge(uint32_t one, uint32_t other, const std::function<TypeRef(TypeRef)>& canonical_type);

private:
    static constexpr uint32_t kFirstMade = 1U << 20;  // arguments have the numbers below

    std::map<ListPlace, uint32_t> places_;
    std::map<uint32_t, uint32_t> merged_;
    std::map<uint32_t, TypeRef> elements_;
};

}  // namespace weft::lang
