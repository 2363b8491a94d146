// How lists lie in memory. A list is a block of four words, its head: how many elements it has, for how many
// it has room, the owner of their memory, and the address of that. So it stays where it is while it grows.
// An element is the values of the IR that it consists of, beside each other.
#pragma once

#include <cstdint>
#include <vector>

#include "lang/types.h"

namespace weft::lang {

enum class ListWord : int64_t { kLength, kCapacity, kOwner, kAddress };
constexpr int64_t kListWordSize = 8;
constexpr int64_t kListHeadSize = 4 * kListWordSize;

// A value of an element, in the order of the element's values. Addresses and owners are int64s.
struct ItemPart {
    ScalarType type = ScalarType::kInt64;
    bool is_address = false;  // where a buffer begins
    bool is_owner = false;
    int64_t offset = 0;  // in bytes
};

// Owners are the first words of an element.
struct ItemLayout {
    std::vector<ItemPart> parts;
    int64_t owners = 0;
    int64_t stride = 0;
};
ItemLayout item_layout(TypeRef element);

// Whether lists may have elements of this type.
bool is_item(TypeRef type);

}  // namespace weft::lang
