#include "lang/symbols.h"

#include <map>
#include <mutex>

#include "lang/structures/layout.h"

namespace weft::lang {

const Symbol* symbol_of_dtype(ScalarType type) {
    static auto* const symbols = new std::map<ScalarType, Symbol>;
    static auto* const mutex = new std::mutex;
    const std::lock_guard lock(*mutex);
    Symbol& symbol = (*symbols)[type];
    symbol.kind = SymbolKind::kKnown;
    symbol.name = DType(type).name();
    symbol.path = "numpy." + symbol.name;
    return &symbol;
}

const Symbol* symbol_of_layout(const Layout* layout) {
    static auto* const symbols = new std::map<const Layout*, Symbol>;
    static auto* const mutex = new std::mutex;
    const std::lock_guard lock(*mutex);
    Symbol& symbol = (*symbols)[layout];
    symbol.kind = SymbolKind::kKnown;
    symbol.name = symbol.path = "dtype of " + describe(*layout);
    symbol.layout = layout;
    return &symbol;
}

const Symbol* symbol_of_builtin(const std::string& name) {
    static auto* const symbols = new std::map<std::string, Symbol>;
    static auto* const mutex = new std::mutex;
    const std::lock_guard lock(*mutex);
    Symbol& symbol = (*symbols)[name];
    symbol.kind = SymbolKind::kKnown;
    symbol.name = name;
    symbol.path = "builtins." + name;
    return &symbol;
}

const Symbol* symbol_of_record(const Record* record) {
    static auto* const symbols = new std::map<const Record*, Symbol>;
    static auto* const mutex = new std::mutex;
    const std::lock_guard lock(*mutex);
    Symbol& symbol = (*symbols)[record];
    symbol.kind = SymbolKind::kRecord;
    symbol.name = record->name;
    symbol.record = record;
    return &symbol;
}

std::string Symbol::described() const {
    switch (kind) {
        case SymbolKind::kValue: return describe(type);
        case SymbolKind::kModule: return "module " + path;
        case SymbolKind::kFunction: return "function " + name;
        case SymbolKind::kException: return "exception " + name;
        case SymbolKind::kKnown: return path;
        case SymbolKind::kRecord: return "class " + record->name;
        case SymbolKind::kGlobal: return "global " + name;
        case SymbolKind::kExternal: return "CUDA C++ function " + name;
        case SymbolKind::kUnknown: return path + " " + name;
        case SymbolKind::kMissing: return "missing name " + name;
    }
    return name;
}

}  // namespace weft::lang
