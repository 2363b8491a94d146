// Lists whose elements are of several types: a display of such is a tuple that says it is a list. It may be
// read, but not changed.
#pragma once

#include "lang/types.h"

namespace weft::lang {

inline bool is_literal_list(TypeRef type) { return type->kind == TypeKind::kTuple && type->text == "list"; }

inline TypeRef literal_list_type(TypeRef tuple) {
    Type type = *tuple;
    type.text = "list";
    return intern(std::move(type));
}

}  // namespace weft::lang
