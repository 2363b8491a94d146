#include "lang/containers/list_layout.h"

#include <algorithm>

#include "lang/containers/literal_lists.h"

namespace weft::lang {

namespace {

void add_parts(std::vector<ItemPart>& parts, TypeRef type) {
    const auto word = [&](bool is_address, bool is_owner) {
        parts.push_back({ScalarType::kInt64, is_address, is_owner, 0});
    };
    switch (type->kind) {
        case TypeKind::kScalar: parts.push_back({type->scalar, false, false, 0}); return;
        case TypeKind::kChoice: word(false, false); return;
        case TypeKind::kStructures:
        case TypeKind::kArray:
            word(true, false);
            if (type->owned) word(false, true);
            for (size_t left = part_count(type) - 1 - (type->owned ? 1 : 0); left > 0; --left)
                word(false, false);
            return;
        case TypeKind::kList:
            word(true, false);
            word(false, true);
            return;
        case TypeKind::kMaybe:
        case TypeKind::kOptional: parts.push_back({ScalarType::kBool, false, false, 0}); [[fallthrough]];
        default:
            for (TypeRef part : type->parts) add_parts(parts, part);
    }
}

}  // namespace

ItemLayout item_layout(TypeRef element) {
    ItemLayout layout;
    add_parts(layout.parts, element);
    for (ItemPart& part : layout.parts) {
        if (part.is_owner) part.offset = kListWordSize * layout.owners++;
    }
    int64_t end = kListWordSize * layout.owners, widest = layout.owners > 0 ? kListWordSize : 1;
    for (ItemPart& part : layout.parts) {
        if (part.is_owner) continue;
        const int64_t size = DType(part.type).itemsize();
        part.offset = (end + size - 1) / size * size;
        end = part.offset + size;
        widest = std::max(widest, size);
    }
    layout.stride = std::max<int64_t>((end + widest - 1) / widest * widest, 1);
    return layout;
}

bool is_item(TypeRef type) {
    switch (type->kind) {
        case TypeKind::kNever:
        case TypeKind::kScalar:
        case TypeKind::kNone:
        case TypeKind::kString:
        case TypeKind::kChoice:
        case TypeKind::kEllipsis:
        case TypeKind::kArray:
        case TypeKind::kStructures:
        case TypeKind::kList: return true;
        case TypeKind::kTuple:
            if (is_literal_list(type)) return false;
            [[fallthrough]];
        case TypeKind::kRecord:
        case TypeKind::kGenerator:
        case TypeKind::kSlice:
        case TypeKind::kOptional: return std::all_of(type->parts.begin(), type->parts.end(), is_item);
        default: return false;
    }
}

}  // namespace weft::lang
