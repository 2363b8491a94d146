// A function of the program as the compiler is given it: its tree, its text for messages, and what its free
// names stand for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/tree/syntax.h"
#include "lang/types.h"

namespace weft::lang {

struct FunctionSource;
struct Layout;

enum class SymbolKind : uint8_t {
    kValue,  // a constant: a number, a text, None, a tuple of such
    kKnown,  // a function or class that the compiler may know, by its path: "math.sqrt"
    kModule,
    kFunction,  // another function of the program
    kException,
    kRecord,    // a NamedTuple or dataclass
    kGlobal,    // an array, or what has arrays: an argument that is given at each call
    kExternal,  // a function of other machine code
    kUnknown,   // `path` says what it is: "dict"
    kMissing,   // there is no such name
};

// A NamedTuple or a dataclass of the program. Records never end, as types do not.
struct Record {
    std::string name;
    std::vector<std::string> fields;
    std::vector<TypeRef> defaults;  // by field; null where there is none that is a constant
    std::vector<bool> keyword_only;
    bool is_tuple = false;
    // An enumeration: its members by `fields`, their values by `defaults`. A member is its number.
    bool is_enumeration = false;
    bool is_integer = false;                // whose members are integers, too
    bool compares = false, orders = false;  // its instances as its fields do
    std::string not_made{};                 // why a function cannot make one; empty where it can
    const void* handle = nullptr;           // whoever made it knows the class by that
};

// That of NumPy's Generator, whose only field is the address of its stream (lang/arrays/random.cpp).
const Record* generator_record();

// That of sets: their items and the table of these (lang/containers/sets.h).
const Record* set_record();
inline bool is_set_record(const Record* record) { return record == set_record(); }
// That of dictionaries: their keys, the table of these, and the values (lang/containers/dicts.h).
const Record* dict_record();

// That of texts that are made when the code runs: their code points (lang/strings/strings.h).
const Record* string_record();
TypeRef text_type();

// What vectorize or guvectorize has made of a function.
struct UfuncFacts {
    struct Operand {
        ScalarType type;
        size_t rank = 0;  // of the array that the function sees; 0: a number
    };
    size_t inputs = 0, outputs = 0;
    std::vector<std::vector<Operand>> loops{};  // of its signatures; without them by the types of a call
    std::optional<int64_t> identity{};
    bool is_reorderable = false;
    // Of guvectorize alone: the names of each operand's own axes.
    std::string layout{};
    std::vector<std::vector<std::string>> axes{};
    bool returns = false;           // the function returns its results, and has no parameters for them
    std::vector<size_t> written{};  // inputs that the function writes

    bool is_of_numbers() const { return layout.empty(); }
};

// A function in CUDA C++ that kernels call by its symbol (weft.cuda.declare_device).
struct ExternalFunction {
    struct Parameter {
        ScalarType type = ScalarType::kFloat64;
        bool is_pointer = false;  // to elements of the type
    };
    std::string name;
    std::vector<Parameter> parameters;
    std::optional<ScalarType> result{};
    // As Numba has it: it returns an int32, 0 where it raises nothing, and writes its result to where its
    // first argument points, which is not one of the parameters.
    bool tells_status = true;
    // Names and texts of the sources that are linked with the program.
    std::shared_ptr<const std::vector<std::pair<std::string, std::string>>> sources{};
};

struct Symbol {
    SymbolKind kind = SymbolKind::kUnknown;
    std::string name;                      // in the program
    std::string path;                      // kKnown, kModule; of kUnknown the type
    TypeRef type = nullptr;                // kValue
    const Record* record = nullptr;        // kRecord
    const void* object = nullptr;          // kGlobal: which it is
    const Layout* layout = nullptr;        // kKnown: of a structured dtype; kFunction: of what makes vectors
    std::vector<std::string> ancestors{};  // kException: of the class and those that it is of, a name each
    const FunctionSource* function =
        nullptr;  // kFunction; null where it cannot be compiled, which `path` tells
    std::shared_ptr<const UfuncFacts> ufunc{};  // kFunction: of which the program made a ufunc

    std::shared_ptr<const ExternalFunction> external{};  // kExternal

    std::string described() const;
};

// A type of NumPy's, as if the program named it: numpy.float64.
const Symbol* symbol_of_dtype(ScalarType type);
// A structured dtype.
const Symbol* symbol_of_layout(const Layout* layout);
const Symbol* symbol_of_builtin(const std::string& name);
const Symbol* symbol_of_record(const Record* record);

// Owned by whoever made it, with all that it refers to, for as long as anything is compiled from it.
struct FunctionSource {
    std::string name, file;
    int first_line = 1;
    std::vector<std::string> lines;  // of the file, from first_line
    Tree tree;
    std::vector<Symbol> symbols;
    std::vector<TypeRef> defaults;  // of the last parameters; null where no constant is one
    // Functions that are written inside, by their nodes. Their first parameters are what they take from
    // around: `captured` variables, then the values of their own defaults.
    std::map<NodeId, std::unique_ptr<FunctionSource>> inner{};
    const FunctionSource* outer = nullptr;  // the function around an inner one, whose symbols are its own
    std::vector<std::string> captured{};
    size_t own_defaults = 0;
    // Of a generator function: what goes on with it (generators/resume.h), the variables of its frame, and
    // one that it reads from around and that may change there meanwhile.
    std::unique_ptr<FunctionSource> resume{};
    std::vector<std::string> frame{};
    std::string unsettled{};
    // Whether its sums and products may have another order; nothing: as in the function that calls it.
    std::optional<bool> fast_math{};
    bool is_prelude = false;       // the engine's own: what goes wrong in it goes wrong where it is called
    bool stays_in_bounds = false;  // its own indices of arrays need no test (lang/prelude.h)

    const Symbol& symbol(int32_t number) const {
        return outer != nullptr ? outer->symbol(number) : symbols.at(static_cast<size_t>(number));
    }
};

// Makes `inner`, of a source that stays where it is.
void find_inner_functions(FunctionSource& source);

}  // namespace weft::lang
