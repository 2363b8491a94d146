#include "lang/symbols.h"

namespace weft::lang {

std::string Symbol::described() const {
    switch (kind) {
        case SymbolKind::kValue: return describe(type);
        case SymbolKind::kModule: return "module " + path;
        case SymbolKind::kFunction: return "function " + name;
        case SymbolKind::kException: return "exception " + name;
        case SymbolKind::kKnown: return path;
        case SymbolKind::kRecord: return "class " + record->name;
        case SymbolKind::kGlobal: return "global " + name;
        case SymbolKind::kUnknown: return path + " " + name;
        case SymbolKind::kMissing: return "missing name " + name;
    }
    return name;
}

}  // namespace weft::lang
