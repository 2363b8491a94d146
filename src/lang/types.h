// What the values of a function are, as far as code depends on it. Types are shared and never end, so that
// two are equal where their addresses are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/constant.h"
#include "ops/resolve.h"
#include "weft/dtype.h"

namespace weft::lang {

enum class TypeKind : uint8_t {
    kNever,  // of a call that has not returned yet, while a recursive function's type is being found
    kScalar,
    kNone,
    kString,  // known text
    kChoice,  // one of several known texts, its parts, which are in order: the number of the one
    kEllipsis,
    kArray,
    kStructures,  // an array of structures, or one of them where it is single
    kTuple,       // of a NamedTuple where it has a record
    kRecord,      // an instance of a dataclass
    kFormat,      // a text that is made of values where it is needed: str.format of `text` and the parts
    kClosure,     // an inner function; bound, its parts are what it has captured, then the values of its
                  // defaults
    kRange,       // start, stop, step
    kSlice,       // start, stop, step, each of which may be None
    kSymbol,      // a free name that is no value: a module, a function, a builtin, an exception
    kUnbound,     // a variable before its first assignment
    kMaybe,       // a variable that is bound on some of the ways that lead here
    kOptional,    // a value or None
    kList,        // of elements of one type
    kTogether,    // what is gone through, of several values, as `text` says: "zip", "flat" (generators/)
    kGenerator,   // of `function`: its part is a list whose only element is its frame (generators/)
};

struct Symbol;
struct Record;
struct FunctionSource;
struct Layout;
struct Type;
using TypeRef = const Type*;

struct Type {
    TypeKind kind = TypeKind::kNone;

    // kScalar, and the elements of kArray. A weak scalar is Python's own int, float, complex or bool, which
    // takes the other operand's type (NEP 50); the others are NumPy's.
    ScalarType scalar = ScalarType::kInt64;
    bool weak = false;
    std::optional<Constant> literal{};  // a weak scalar whose value is known

    // kArray, kStructures
    uint8_t rank = 0;
    bool contiguous = false;  // the last dimension's stride is an element's size
    bool ordered = false;     // strides never grow from one dimension to the next, those of one element aside
    bool readonly = false;
    bool owned = false;  // it may be in memory that the function has allocated, so its users are counted
    uint16_t scope = 0;  // arrays of different scopes share no memory

    const Layout* layout = nullptr;  // kStructures
    bool single = false;             // an element, which the array knows by its place, too

    std::string text{};                        // kString, kFormat, kTogether; kArray: "bytes", if it is some
    std::vector<TypeRef> parts{};              // kTuple, kRecord: of the items; kMaybe, kOptional, kList: one
    const Symbol* symbol = nullptr;            // kSymbol
    const Record* record = nullptr;            // kRecord, and a kTuple with names
    const FunctionSource* function = nullptr;  // kClosure, kGenerator
    bool bound = false;                        // kClosure, outside of the function that it is written in
    uint32_t list = 0;                         // kList: which lists it may be (containers/list_types.h)

    friend bool operator==(const Type&, const Type&) = default;
};

TypeRef intern(Type type);
TypeRef scalar_type(ScalarType scalar, bool weak = false);
TypeRef literal_type(const Constant& value);
TypeRef string_type(std::string text);
// One of the texts, whose types these are.
TypeRef choice_type(std::vector<TypeRef> texts);
// The texts that one of this type may be: none where it is no text, or not known.
std::vector<TypeRef> texts_of(TypeRef type);
TypeRef slice_type(std::vector<TypeRef> bounds);
TypeRef array_type(ScalarType element, int rank, bool contiguous, bool readonly, uint16_t scope,
                   bool owned = false, bool ordered = false);
// The same, which is of Python's bytes.
TypeRef bytes_type(TypeRef array);
inline bool is_bytes(TypeRef type) { return type->kind == TypeKind::kArray && type->text == "bytes"; }
// An array of structures with the rank, scope and so on of `like`.
TypeRef structures_type(const Layout* layout, TypeRef like);
// The structure itself, in the memory of an array without dimensions.
TypeRef single_type(TypeRef structures);
// The same with another rank.
TypeRef with_rank(TypeRef type, size_t rank, bool contiguous, bool ordered = false);
TypeRef tuple_type(std::vector<TypeRef> parts);
TypeRef closure_type(const FunctionSource* function, bool bound, std::vector<TypeRef> parts);
TypeRef format_type(std::string text, std::vector<TypeRef> parts);
TypeRef list_type(TypeRef element, uint32_t list);
TypeRef generator_type(const FunctionSource* function, TypeRef frame);
TypeRef record_type(const Record* record, std::vector<TypeRef> parts);
// The same with other parts.
TypeRef with_parts(TypeRef type, std::vector<TypeRef> parts);
TypeRef simple_type(TypeKind kind);  // kNone, kNever, kRange, kUnbound
TypeRef symbol_type(const Symbol* symbol);
TypeRef maybe_type(TypeRef type);
TypeRef optional_type(TypeRef type);
// Whether it tells the whole value, a number or several.
bool is_constant(TypeRef type);
// Without the values of literals.
TypeRef without_literals(TypeRef type);

// The type that holds values of both; nothing where there is none.
TypeRef join(TypeRef a, TypeRef b);

inline bool is_scalar(TypeRef type) { return type->kind == TypeKind::kScalar; }
// Whether its parts are items, one beside the other.
inline bool has_items(TypeRef type) {
    return type->kind == TypeKind::kTuple || type->kind == TypeKind::kRecord ||
           type->kind == TypeKind::kFormat || type->kind == TypeKind::kClosure ||
           type->kind == TypeKind::kGenerator || type->kind == TypeKind::kTogether ||
           type->kind == TypeKind::kSlice;
}
inline bool is_array(TypeRef type) { return type->kind == TypeKind::kArray; }
inline bool is_structures(TypeRef type) { return type->kind == TypeKind::kStructures; }
// What lies in memory by a shape and strides.
inline bool is_strided(TypeRef type) { return is_array(type) || is_structures(type); }
// A text of those that are known.
inline bool is_text(TypeRef type) {
    return type->kind == TypeKind::kString || type->kind == TypeKind::kChoice;
}
inline bool is_list(TypeRef type) { return type->kind == TypeKind::kList; }
bool is_integer(TypeRef type);  // or bool
bool is_float(TypeRef type);
bool is_complex(TypeRef type);
bool is_bool(TypeRef type);
// Of an element, in bytes.
int64_t item_size(TypeRef strided);
std::optional<int64_t> literal_integer(TypeRef type);

// As promotion takes it.
OperandType operand_type(TypeRef type);
// Whether it has arrays whose users are counted.
bool has_owner(TypeRef type);
// How many values of the IR one of this type is made of. An array is its buffer, its owner if it is owned,
// its shape and its strides in bytes, without the last of a contiguous one; so are structures. A list is its
// head (containers/ list_layout.h) and its owner.
size_t part_count(TypeRef type);
// "int64", "array(float64, 2d)", "tuple(int64, float64)": for messages.
std::string describe(TypeRef type);

}  // namespace weft::lang
