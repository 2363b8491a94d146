#include "lang/prelude.h"

#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace weft::lang {

namespace {

struct PackedConstant {
    std::string_view kind{};
    int64_t whole = 0;
    double real = 0;
};
struct PackedSymbol {
    std::string_view kind, name, path;
    PackedConstant constant;
};
struct PackedFunction {
    std::string_view path, tree;
    bool stays_in_bounds = false;
    std::vector<PackedSymbol> symbols;
    std::vector<PackedConstant> defaults;
};

const std::vector<PackedFunction>& packed_functions() {
    static const auto* const functions = new std::vector<PackedFunction>{
#include "lang/prelude.inc"
    };
    return *functions;
}

TypeRef type_of(const PackedConstant& constant) {
    if (constant.kind == "none") return simple_type(TypeKind::kNone);
    if (constant.kind == "float") return literal_type(Constant::of(ScalarType::kFloat64, constant.real));
    if (constant.kind == "bool")
        return literal_type(Constant::of(ScalarType::kBool, static_cast<uint8_t>(constant.whole)));
    return literal_type(Constant::of(ScalarType::kInt64, constant.whole));
}

// Trees are made of their texts when they are first asked for, and stay.
class Prelude {
public:
    const Symbol* find(std::string_view path) {
        const std::lock_guard lock(mutex_);
        return made(path);
    }

private:
    const Symbol* made(std::string_view path) {
        const auto found = symbols_.find(path);
        if (found != symbols_.end()) return &found->second;
        for (const PackedFunction& packed : packed_functions()) {
            if (packed.path == path) return &make(packed);
        }
        return nullptr;
    }

    const Symbol& make(const PackedFunction& packed) {
        FunctionSource& source = *sources_.emplace_back(std::make_unique<FunctionSource>());
        Symbol& symbol = symbols_[packed.path];
        symbol.kind = SymbolKind::kFunction;
        symbol.name = packed.path.substr(packed.path.rfind('.') + 1);
        symbol.function = &source;
        source.tree = Tree::parse(packed.tree);
        source.name = source.tree.name();
        source.is_prelude = true;
        source.stays_in_bounds = packed.stays_in_bounds;
        find_inner_functions(source);
        for (const PackedConstant& constant : packed.defaults) source.defaults.push_back(type_of(constant));
        source.symbols.resize(packed.symbols.size());
        for (size_t i = 0; i < packed.symbols.size(); ++i) {
            const PackedSymbol& given = packed.symbols[i];
            Symbol& inner = source.symbols[i];
            inner.name = given.name;
            inner.path = given.path;
            if (given.kind == "function") {
                inner = *made(given.path);
            } else if (given.kind == "exception") {
                inner.kind = SymbolKind::kException;
                inner.name = inner.name.substr(inner.name.rfind('.') + 1);
            } else if (given.kind == "constant") {
                inner.kind = SymbolKind::kValue;
                inner.type = type_of(given.constant);
            } else {
                inner.kind = given.kind == "known" ? SymbolKind::kKnown : SymbolKind::kModule;
            }
        }
        return symbol;
    }

    std::mutex mutex_;
    std::map<std::string_view, Symbol> symbols_;
    std::vector<std::unique_ptr<FunctionSource>> sources_;
};

}  // namespace

const Symbol* find_in_prelude(std::string_view path) {
    static auto* const prelude = new Prelude;
    return prelude->find(path);
}

}  // namespace weft::lang
