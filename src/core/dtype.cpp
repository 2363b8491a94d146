// The interned dtypes and the names by which NumPy users ask for them.
#include "weft/dtype.h"

#include <array>

#include "core/scalar_traits.h"
#include "weft/errors.h"

namespace weft {
namespace {

// NumPy's code of a type: byte order, kind, size.
struct Code {
    char text[5];
};
constexpr Code code_of(char kind, int size) {
    const char order = size == 1 ? '|' : '<';
    const auto digit = [](int value) { return static_cast<char>('0' + value); };
    if (size < 10) return {{order, kind, digit(size)}};
    return {{order, kind, digit(size / 10), digit(size % 10)}};
}

// NumPy takes a type that a package registers for mere bytes: bfloat16 is V2, next to float16's f2.
constexpr char code_kind(char character, char kind) { return character == 'E' ? 'V' : kind; }

constexpr Code kCodes[] = {
#define WEFT_SCALAR_TYPE(enumerator, name, character, kind, type, size, short_name) \
    code_of(code_kind(character, kind), size),
#include "weft/scalar_types.def"
#undef WEFT_SCALAR_TYPE
};

}  // namespace

constexpr DTypeInfo kDTypeInfos[kScalarTypeCount] = {
#define WEFT_SCALAR_TYPE(enumerator, name, character, kind, type, size, short_name) \
    {ScalarType::enumerator,                                                        \
     character,                                                                     \
     kind,                                                                          \
     alignof(type),                                                                 \
     size,                                                                          \
     name,                                                                          \
     kCodes[static_cast<int>(ScalarType::enumerator)].text},
#include "weft/scalar_types.def"
#undef WEFT_SCALAR_TYPE
};

namespace {

struct Alias {
    std::string_view name;
    ScalarType type;
};

// NumPy's further names, for Linux on 64 bits (C long is int64; q and Q are other names of l and L).
constexpr Alias kAliases[] = {
    {"bool_", ScalarType::kBool},         {"b1", ScalarType::kBool},
    {"byte", ScalarType::kInt8},          {"ubyte", ScalarType::kUInt8},
    {"short", ScalarType::kInt16},        {"ushort", ScalarType::kUInt16},
    {"intc", ScalarType::kInt32},         {"uintc", ScalarType::kUInt32},
    {"int", ScalarType::kInt64},          {"int_", ScalarType::kInt64},
    {"intp", ScalarType::kInt64},         {"long", ScalarType::kInt64},
    {"longlong", ScalarType::kInt64},     {"uint", ScalarType::kUInt64},
    {"uintp", ScalarType::kUInt64},       {"ulong", ScalarType::kUInt64},
    {"ulonglong", ScalarType::kUInt64},   {"q", ScalarType::kInt64},
    {"Q", ScalarType::kUInt64},           {"p", ScalarType::kInt64},
    {"P", ScalarType::kUInt64},           {"n", ScalarType::kInt64},
    {"N", ScalarType::kUInt64},           {"half", ScalarType::kFloat16},
    {"single", ScalarType::kFloat32},     {"float", ScalarType::kFloat64},
    {"double", ScalarType::kFloat64},     {"csingle", ScalarType::kComplex64},
    {"complex", ScalarType::kComplex128}, {"cdouble", ScalarType::kComplex128},
};

}  // namespace

const DTypeInfo* DType::find(std::string_view text) {
    for (const DTypeInfo& info : kDTypeInfos) {
        if (text == info.name || (text.size() == 1 && text[0] == info.character)) return &info;
    }
    for (const Alias& alias : kAliases) {
        if (text == alias.name) return &kDTypeInfos[static_cast<size_t>(alias.type)];
    }
    std::string_view code = text;
    if (!code.empty() && (code[0] == '<' || code[0] == '=' || code[0] == '|')) {
        code.remove_prefix(1);
        if (code.size() == 1) return find(code);
    }
    for (const DTypeInfo& info : kDTypeInfos) {
        if (code == info.str.substr(1) && code[0] != 'V') return &info;
    }
    return nullptr;
}

DType DType::parse(std::string_view text) {
    const DTypeInfo* info = find(text);
    if (info == nullptr) throw TypeError("data type '" + std::string(text) + "' not understood");
    return DType(info->scalar_type);
}

DType DType::real() const {
    if (scalar_type() == ScalarType::kComplex64) return ScalarType::kFloat32;
    if (scalar_type() == ScalarType::kComplex128) return ScalarType::kFloat64;
    return *this;
}

}  // namespace weft
