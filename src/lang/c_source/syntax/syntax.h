// The tree of a kernel's parts in C++. Names are bound, and types found, when it is lowered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/c_source/syntax/tokens.h"

namespace weft::lang::c_source {

struct Expression;
struct Statement;
using ExpressionPtr = std::unique_ptr<Expression>;
using StatementPtr = std::unique_ptr<Statement>;

// As it is written: "unsigned int", "T", "complex<float>" with `of`.
struct TypeName {
    std::string name{};
    std::shared_ptr<TypeName> of{};  // of a complex number's parts
    Place place{};
    int pointers = 0;                      // stars behind it
    bool points_to_const = false;          // what the first of them points to is const
    std::shared_ptr<Expression> number{};  // no type: an argument of a template
};

// void*
bool is_to_anything(const TypeName& type);

enum class ExpressionKind : uint8_t {
    kNumber,       // text
    kCharacter,    // text
    kName,         // text
    kUnary,        // text: the operator; operands[0]
    kStep,         // text: ++ or --; `after`: the value is the one before
    kBinary,       // text, two operands; && and || too, and the comma
    kAssign,       // text: = or what is before it in +=; target, value
    kConditional,  // three operands
    kCast,         // type, operands: T(x), (T)x, static_cast<T>(x), complex<T>(x, y), T{x}
    kCall,         // text: the function's name, types: its template's arguments; operands
    kMember,       // text: the member's name; operands: the object, a method's arguments
    kIndex,        // operands: the array, the index
    kSizeOf,       // type or an operand
    kList,         // operands: the values of an array
};

struct Expression {
    ExpressionKind kind = ExpressionKind::kNumber;
    Place place{};
    std::string text{};
    TypeName type{};
    std::vector<TypeName> types{};
    std::vector<ExpressionPtr> operands{};
    bool after = false;
};

struct Declarator {
    std::string name{};
    Place place{};
    int pointers = 0;
    bool is_reference = false;
    bool is_constant = false;              // behind the stars
    ExpressionPtr initial{};               // may be null
    std::vector<ExpressionPtr> extents{};  // of an array; null: as many as there are values
};

// The variable of a switch, which no program can name.
inline constexpr std::string_view kSwitchValue = "the value of switch";

enum class StatementKind : uint8_t {
    kExpression,
    kDeclaration,
    kBlock,
    kIf,     // expression; statements: one or two
    kWhile,  // expression; statement
    kDo,
    kFor,  // statements: what comes first, the body; expression and step may be null
    kBreak,
    kContinue,
    kReturn,  // expression, or null
};

struct Statement {
    StatementKind kind = StatementKind::kBlock;
    Place place{};
    ExpressionPtr expression{}, step{};
    std::vector<StatementPtr> statements{};
    TypeName type{};
    bool is_constant = false;
    bool is_switch = false;  // a kDo that runs once, which `continue` does not know of
    std::vector<Declarator> names{};
};

struct CParameter {
    TypeName type{};
    std::string name{};
    bool is_constant = false;
    bool is_reference = false;        // that is written through
    bool is_const_reference = false;  // one that is only read
    ExpressionPtr otherwise{};        // what it is where no argument is given; may be null
};

struct CFunction {
    std::string name{};
    Place place{};
    std::vector<std::string> types{};    // a template's parameters
    std::vector<std::string> numbers{};  // those of them that are numbers
    TypeName result{};
    std::vector<CParameter> parameters{};
    StatementPtr body{};
    std::vector<std::pair<std::string, ExpressionPtr>> first{};  // of a constructor: what members begin with
    bool is_constructor = false;
    bool is_static = false;
};

struct CStructure {
    std::string name{};
    Place place{};
    std::vector<StatementPtr> members{};  // declarations
    std::vector<CFunction> functions{};
};

// Of a preamble.
struct Definitions {
    std::vector<CFunction> functions{};
    std::vector<std::unique_ptr<CStructure>> structures{};
    std::vector<StatementPtr> constants{};                    // declarations
    std::vector<std::pair<std::string, TypeName>> aliases{};  // typedef, using
};

struct TypeNames {
    std::vector<std::string> known{};                 // types besides those of the language
    std::vector<std::string> hidden{};                // of the language's: variables have these names
    std::set<std::string, std::less<>> namespaces{};  // whose names are known without them
};

// They add the names of types to `types`. Throw OutsideSubset.
Definitions parse_definitions(std::span<const Token> tokens, TypeNames& types);
StatementPtr parse_statements(std::span<const Token> tokens, const TypeNames& types);
ExpressionPtr parse_expression(std::span<const Token> tokens, const TypeNames& types);

// What is there in CUDA C++ without a declaration, and is written in C++ itself (known_functions.cpp).
struct KnownFunctions {
    TypeNames types{};
    Definitions definitions{};
};

const KnownFunctions& known_functions();

}  // namespace weft::lang::c_source
