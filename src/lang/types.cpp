#include "lang/types.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "lang/containers/literal_lists.h"
#include "lang/structures/layout.h"
#include "lang/symbols.h"

namespace weft::lang {

namespace {

struct Hash {
    size_t operator()(const Type& type) const {
        size_t hash = static_cast<size_t>(type.kind) * 31 + static_cast<size_t>(type.scalar);
        const auto mix = [&](size_t value) { hash = hash * 1000003 ^ value; };
        mix(static_cast<size_t>(type.weak) | static_cast<size_t>(type.contiguous) << 1 |
            static_cast<size_t>(type.readonly) << 2 | static_cast<size_t>(type.owned) << 60 |
            static_cast<size_t>(type.ordered) << 61 | static_cast<size_t>(type.rank) << 3 |
            static_cast<size_t>(type.scope) << 16);
        if (type.literal) {
            for (uint8_t byte : type.literal->bytes) mix(byte);
        }
        mix(std::hash<std::string>{}(type.text));
        for (TypeRef part : type.parts) mix(std::hash<TypeRef>{}(part));
        mix(std::hash<const Symbol*>{}(type.symbol));
        mix(std::hash<const Record*>{}(type.record));
        mix(std::hash<const FunctionSource*>{}(type.function) + (type.bound ? 1 : 0));
        mix(type.list);
        mix(std::hash<const Layout*>{}(type.layout) + (type.single ? 1 : 0));
        return hash;
    }
};

// Types are few: those of the functions that a program compiles.
struct Table {
    std::mutex mutex;
    std::unordered_set<Type, Hash> types;
};

Table& table() {
    static auto* const types = new Table;  // threads may still compile while the process exits
    return *types;
}

// Python's order of its own numbers.
ScalarType wider_of_python(ScalarType a, ScalarType b) {
    const auto rank = [](ScalarType type) {
        switch (type) {
            case ScalarType::kBool: return 0;
            case ScalarType::kInt64: return 1;
            case ScalarType::kFloat64: return 2;
            default: return 3;
        }
    };
    return rank(a) < rank(b) ? b : a;
}

// Whether a number of Python's is one of `to` without rounding.
bool holds_exactly(const Constant& value, ScalarType to) {
    const DType dtype(to);
    switch (value.type) {
        case ScalarType::kBool: return true;
        case ScalarType::kInt64: {
            const auto number = value.as<int64_t>();
            if (dtype.is_integer()) return python_int_fits(number, dtype);
            return std::abs(static_cast<double>(number)) <= (dtype.is_half_float() ? 256.0 : 16777216.0);
        }
        case ScalarType::kFloat64: {
            const auto number = value.as<double>();
            if (!std::isfinite(number)) return true;
            if (dtype.is_half_float()) return number == std::trunc(number) && std::abs(number) <= 256;
            return static_cast<double>(static_cast<float>(number)) == number;
        }
        default: return false;
    }
}

TypeRef join_scalars(const Type& a, const Type& b) {
    if (a.weak && b.weak) return scalar_type(wider_of_python(a.scalar, b.scalar), true);
    if (!a.weak && !b.weak) {
        const DType x(a.scalar), y(b.scalar);
        if (x != y && (x.kind() == 'b' || y.kind() == 'b') && (x.is_integer() || y.is_integer()))
            return scalar_type(promote_types(x, y).scalar_type());
        const DType both = promote_types(x, y);
        if (both.is_floating() && !x.is_floating() && !y.is_floating()) return nullptr;  // uint64 and int64
        return scalar_type(both.scalar_type());
    }
    const Type& weak = a.weak ? a : b;
    const Type& strong = a.weak ? b : a;
    const DType dtype(strong.scalar);
    if (dtype.is_bool()) return scalar_type(weak.scalar, weak.scalar != ScalarType::kBool);
    if (weak.literal && (dtype.is_inexact() || weak.scalar == ScalarType::kBool) &&
        holds_exactly(*weak.literal, dtype.real().scalar_type()))
        return scalar_type(strong.scalar);
    if (dtype.is_unsigned_integer() && dtype.itemsize() == 8 && weak.scalar == ScalarType::kInt64) {
        if (!weak.literal || weak.literal->as<int64_t>() < 0) return nullptr;
        return scalar_type(strong.scalar);
    }
    return scalar_type(promote_types(dtype, DType(weak.scalar)).scalar_type());
}

}  // namespace

TypeRef intern(Type type) {
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    return &*all.types.insert(std::move(type)).first;
}

TypeRef scalar_type(ScalarType scalar, bool weak) {
    Type type;
    type.kind = TypeKind::kScalar;
    type.scalar = scalar;
    type.weak = weak;
    return intern(std::move(type));
}

TypeRef literal_type(const Constant& value) {
    Type type;
    type.kind = TypeKind::kScalar;
    type.scalar = value.type;
    type.weak = true;
    type.literal = value;
    return intern(std::move(type));
}

TypeRef string_type(std::string text) {
    Type type;
    type.kind = TypeKind::kString;
    type.text = std::move(text);
    return intern(std::move(type));
}

TypeRef choice_type(std::vector<TypeRef> texts) {
    std::sort(texts.begin(), texts.end(), [](TypeRef a, TypeRef b) { return a->text < b->text; });
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    Type type;
    type.kind = TypeKind::kChoice;
    type.parts = std::move(texts);
    return intern(std::move(type));
}

std::vector<TypeRef> texts_of(TypeRef type) {
    if (type->kind == TypeKind::kString) return {type};
    return type->kind == TypeKind::kChoice ? type->parts : std::vector<TypeRef>{};
}

TypeRef slice_type(std::vector<TypeRef> bounds) {
    Type type;
    type.kind = TypeKind::kSlice;
    type.parts = std::move(bounds);
    return intern(std::move(type));
}

// What has no order but that of C has it, whether it is said or not.
static void set_strides(Type& type, size_t rank, bool contiguous, bool ordered) {
    type.rank = static_cast<uint8_t>(rank);
    type.contiguous = contiguous && rank > 0;
    type.ordered = ordered || rank < 2 || (rank == 2 && contiguous);
}

TypeRef array_type(ScalarType element, int rank, bool contiguous, bool readonly, uint16_t scope, bool owned,
                   bool ordered) {
    Type type;
    type.kind = TypeKind::kArray;
    type.scalar = element;
    set_strides(type, static_cast<size_t>(rank), contiguous, ordered);
    type.readonly = readonly;
    type.scope = scope;
    type.owned = owned;
    return intern(std::move(type));
}

TypeRef bytes_type(TypeRef array) {
    Type type = *array;
    type.text = "bytes";
    return intern(std::move(type));
}

TypeRef structures_type(const Layout* layout, TypeRef like) {
    Type type = *like;
    type.kind = TypeKind::kStructures;
    type.scalar = ScalarType::kUInt8;  // as which they are copied
    type.layout = layout;
    type.single = false;
    return intern(std::move(type));
}

TypeRef single_type(TypeRef structures) {
    Type type = *structures;
    set_strides(type, 0, false, true);
    type.single = true;
    return intern(std::move(type));
}

TypeRef with_rank(TypeRef type, size_t rank, bool contiguous, bool ordered) {
    Type copy = *type;
    set_strides(copy, rank, contiguous, ordered);
    copy.single = false;
    return intern(std::move(copy));
}

TypeRef tuple_type(std::vector<TypeRef> parts) {
    Type type;
    type.kind = TypeKind::kTuple;
    type.parts = std::move(parts);
    return intern(std::move(type));
}

TypeRef record_type(const Record* record, std::vector<TypeRef> parts) {
    Type type;
    type.kind = record->is_tuple ? TypeKind::kTuple : TypeKind::kRecord;
    type.parts = std::move(parts);
    type.record = record;
    return intern(std::move(type));
}

TypeRef with_parts(TypeRef type, std::vector<TypeRef> parts) {
    Type copy = *type;
    copy.parts = std::move(parts);
    return intern(std::move(copy));
}

TypeRef closure_type(const FunctionSource* function, bool bound, std::vector<TypeRef> parts) {
    Type type;
    type.kind = TypeKind::kClosure;
    type.parts = std::move(parts);
    type.function = function;
    type.bound = bound;
    return intern(std::move(type));
}

TypeRef list_type(TypeRef element, uint32_t list) {
    Type type;
    type.kind = TypeKind::kList;
    type.parts = {element};
    type.list = list;
    return intern(std::move(type));
}

TypeRef generator_type(const FunctionSource* function, TypeRef frame) {
    Type type;
    type.kind = TypeKind::kGenerator;
    type.parts = {frame};
    type.function = function;
    return intern(std::move(type));
}

TypeRef format_type(std::string text, std::vector<TypeRef> parts) {
    Type type;
    type.kind = TypeKind::kFormat;
    type.text = std::move(text);
    type.parts = std::move(parts);
    return intern(std::move(type));
}

TypeRef simple_type(TypeKind kind) {
    Type type;
    type.kind = kind;
    return intern(std::move(type));
}

TypeRef symbol_type(const Symbol* symbol) {
    Type type;
    type.kind = TypeKind::kSymbol;
    type.symbol = symbol;
    return intern(std::move(type));
}

TypeRef maybe_type(TypeRef type) {
    if (type->kind == TypeKind::kMaybe || type->kind == TypeKind::kUnbound) return type;
    Type maybe;
    maybe.kind = TypeKind::kMaybe;
    maybe.parts = {type};
    return intern(std::move(maybe));
}

TypeRef optional_type(TypeRef type) {
    if (type->kind == TypeKind::kOptional || type->kind == TypeKind::kNone) return type;
    Type optional;
    optional.kind = TypeKind::kOptional;
    optional.parts = {type};
    return intern(std::move(optional));
}

bool is_constant(TypeRef type) {
    if (is_scalar(type)) return type->literal.has_value();
    return has_items(type) && !type->parts.empty() &&
           std::all_of(type->parts.begin(), type->parts.end(), is_constant);
}

TypeRef without_literals(TypeRef type) {
    if (type->literal) return scalar_type(type->scalar, type->weak);
    if (type->parts.empty()) return type;
    Type copy = *type;
    const size_t kept = type->kind == TypeKind::kRange ? 1 : 0;  // a step of 1 saves divisions
    for (size_t i = 0; i + kept < copy.parts.size(); ++i) copy.parts[i] = without_literals(copy.parts[i]);
    return intern(std::move(copy));
}

TypeRef join(TypeRef a, TypeRef b) {
    if (a == b) return a;
    if (a->kind == TypeKind::kNever) return b;
    if (b->kind == TypeKind::kNever) return a;
    if (a->kind == TypeKind::kUnbound) return maybe_type(b);
    if (b->kind == TypeKind::kUnbound) return maybe_type(a);
    if (a->kind == TypeKind::kMaybe || b->kind == TypeKind::kMaybe) {
        TypeRef inner = join(a->kind == TypeKind::kMaybe ? a->parts[0] : a,
                             b->kind == TypeKind::kMaybe ? b->parts[0] : b);
        return inner == nullptr ? nullptr : maybe_type(inner);
    }
    const auto may_be_none = [](TypeRef type) {
        return type->kind == TypeKind::kNone || type->kind == TypeKind::kOptional;
    };
    if (may_be_none(a) || may_be_none(b)) {
        const auto value_of = [](TypeRef type) {
            return type->kind == TypeKind::kOptional ? type->parts[0] : type;
        };
        if (a->kind == TypeKind::kNone) return optional_type(without_literals(value_of(b)));
        if (b->kind == TypeKind::kNone) return optional_type(without_literals(value_of(a)));
        TypeRef inner = join(value_of(a), value_of(b));
        return inner == nullptr ? nullptr : optional_type(without_literals(inner));
    }
    if (is_text(a) && is_text(b)) {
        std::vector<TypeRef> texts = texts_of(a);
        const std::vector<TypeRef> more = texts_of(b);
        texts.insert(texts.end(), more.begin(), more.end());
        return choice_type(std::move(texts));
    }
    const auto is_any_text = [](TypeRef type) {
        return is_text(type) || type->kind == TypeKind::kFormat || type->record == string_record();
    };
    const bool is_one_format = a->kind == TypeKind::kFormat && a->kind == b->kind && a->text == b->text;
    if (is_any_text(a) && is_any_text(b) && !is_one_format)
        return a->record == b->record && a->record != nullptr ? a : text_type();
    if (a->kind != b->kind) return nullptr;
    switch (a->kind) {
        case TypeKind::kScalar: return join_scalars(*a, *b);
        case TypeKind::kStructures:
        case TypeKind::kArray: {
            if (a->scalar != b->scalar || a->rank != b->rank || a->layout != b->layout ||
                a->single != b->single)
                return nullptr;
            Type both = *a;
            both.contiguous &= b->contiguous;
            both.ordered &= b->ordered;
            both.readonly |= b->readonly;
            if (a->text != b->text) both.text.clear();
            both.scope = std::min(a->scope, b->scope);
            both.owned |= b->owned;
            return intern(std::move(both));
        }
        case TypeKind::kList: {
            TypeRef element = join(a->parts[0], b->parts[0]);
            return element == nullptr ? nullptr : list_type(element, std::min(a->list, b->list));
        }
        case TypeKind::kRange: {
            Type both = *without_literals(a);
            if (a->parts[2] != b->parts[2]) both.parts[2] = both.parts[0];
            return intern(std::move(both));
        }
        case TypeKind::kClosure:
        case TypeKind::kGenerator:
        case TypeKind::kTogether:
        case TypeKind::kFormat:
        case TypeKind::kRecord:
        case TypeKind::kSlice:
        case TypeKind::kTuple: {
            if (a->parts.size() != b->parts.size() || a->record != b->record || a->text != b->text ||
                a->function != b->function || a->bound != b->bound)
                return nullptr;
            std::vector<TypeRef> parts;
            for (size_t i = 0; i < a->parts.size(); ++i) {
                parts.push_back(join(a->parts[i], b->parts[i]));
                if (parts.back() == nullptr) return nullptr;
            }
            return with_parts(a, std::move(parts));
        }
        default: return nullptr;
    }
}

bool is_integer(TypeRef type) {
    return is_scalar(type) && (DType(type->scalar).is_integer() || DType(type->scalar).is_bool());
}
bool is_float(TypeRef type) { return is_scalar(type) && DType(type->scalar).is_floating(); }
bool is_complex(TypeRef type) { return is_scalar(type) && DType(type->scalar).is_complex(); }
bool is_bool(TypeRef type) { return is_scalar(type) && type->scalar == ScalarType::kBool; }

int64_t item_size(TypeRef strided) {
    return strided->layout != nullptr ? strided->layout->size : DType(strided->scalar).itemsize();
}

std::optional<int64_t> literal_integer(TypeRef type) {
    if (!type->literal) return {};
    if (type->scalar == ScalarType::kInt64) return type->literal->as<int64_t>();
    if (type->scalar == ScalarType::kBool) return type->literal->as<bool>() ? 1 : 0;
    return {};
}

OperandType operand_type(TypeRef type) {
    if (!type->weak || type->scalar == ScalarType::kBool) return DType(type->scalar);
    if (type->scalar == ScalarType::kInt64) return WeakKind::kInt;
    if (type->scalar == ScalarType::kFloat64) return WeakKind::kFloat;
    return WeakKind::kComplex;
}

bool has_owner(TypeRef type) {
    return (is_strided(type) && type->owned) || is_list(type) ||
           std::any_of(type->parts.begin(), type->parts.end(), has_owner);
}

size_t part_count(TypeRef type) {
    switch (type->kind) {
        case TypeKind::kChoice:
        case TypeKind::kScalar: return 1;
        case TypeKind::kStructures:
        case TypeKind::kArray:
            return size_t{1} + (type->owned ? 1 : 0) + 2 * size_t{type->rank} - (type->contiguous ? 1 : 0);
        case TypeKind::kRange: return 3;
        case TypeKind::kList: return 2;
        case TypeKind::kOptional:
        case TypeKind::kMaybe: return 1 + part_count(type->parts[0]);
        case TypeKind::kClosure:
        case TypeKind::kGenerator:
        case TypeKind::kTogether:
        case TypeKind::kFormat:
        case TypeKind::kRecord:
        case TypeKind::kSlice:
        case TypeKind::kTuple: {
            size_t count = 0;
            for (TypeRef part : type->parts) count += part_count(part);
            return count;
        }
        default: return 0;
    }
}

std::string describe(TypeRef type) {
    switch (type->kind) {
        case TypeKind::kScalar:
            if (type->weak) {
                switch (type->scalar) {
                    case ScalarType::kBool: return "bool";
                    case ScalarType::kInt64: return "int";
                    case ScalarType::kFloat64: return "float";
                    default: return "complex";
                }
            }
            return std::string(DType(type->scalar).name());
        case TypeKind::kNone: return "None";
        case TypeKind::kFormat:
        case TypeKind::kChoice:
        case TypeKind::kString: return "str";
        case TypeKind::kEllipsis: return "ellipsis";
        case TypeKind::kSlice: return "slice";
        case TypeKind::kArray:
            if (is_bytes(type)) return "bytes";
            return "array(" + std::string(DType(type->scalar).name()) + ", " + std::to_string(type->rank) +
                   "d" + (type->readonly ? ", read-only)" : ")");
        case TypeKind::kStructures: {
            const std::string structure = describe(*type->layout);
            if (type->single) return structure;
            return "array(" + structure + ", " + std::to_string(type->rank) + "d" +
                   (type->readonly ? ", read-only)" : ")");
        }
        case TypeKind::kRecord:
        case TypeKind::kTuple: {
            if (type->record != nullptr && (type->record->is_enumeration || type->record == string_record()))
                return type->record->name;
            std::string text = type->record != nullptr ? type->record->name + "("
                               : is_literal_list(type) ? "list("
                                                       : "tuple(";
            for (size_t i = 0; i < type->parts.size(); ++i)
                text += (i > 0 ? ", " : "") + describe(type->parts[i]);
            return text + ")";
        }
        case TypeKind::kClosure: return "function " + type->function->name;
        case TypeKind::kGenerator: return "generator";
        case TypeKind::kTogether: return type->text == "flat" ? "flat iterator" : type->text;
        case TypeKind::kRange: return "range";
        case TypeKind::kList:
            return type->parts[0]->kind == TypeKind::kNever ? "list"
                                                            : "list(" + describe(type->parts[0]) + ")";
        case TypeKind::kSymbol: return type->symbol == nullptr ? "object" : type->symbol->described();
        case TypeKind::kUnbound: return "unbound";
        case TypeKind::kMaybe: return describe(type->parts[0]);
        case TypeKind::kOptional: return "optional(" + describe(type->parts[0]) + ")";
        case TypeKind::kNever: return "never";
    }
    return "";
}

}  // namespace weft::lang
