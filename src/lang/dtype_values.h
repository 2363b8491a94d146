// Dtypes as values of a compiled function.
#pragma once

#include "lang/symbols.h"
#include "lang/types.h"

namespace weft::lang {

// Whether it is a dtype, and not the class of its scalars, which is another object.
inline bool is_dtype(TypeRef type) {
    const Symbol* const symbol = type->symbol;
    if (symbol == nullptr || symbol->kind != SymbolKind::kKnown) return false;
    const DTypeInfo* const found = DType::find(symbol->name);
    return symbol->layout != nullptr || (found != nullptr && symbol == symbol_of_dtype(found->scalar_type));
}

}  // namespace weft::lang
