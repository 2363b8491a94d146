// What the names of a body stand for while it is lowered.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/c_source/numbers.h"
#include "lang/c_source/syntax/syntax.h"

namespace weft::lang::c_source {

struct CType {
    ScalarType scalar = ScalarType::kInt32;
    const CStructure* structure = nullptr;  // then it is none
    int pointers = 0;
    bool to_const = false;  // what it points to

    bool is_number() const { return structure == nullptr && pointers == 0; }
    friend bool operator==(const CType&, const CType&) = default;
};

// Memory of a body's own, in C order.
struct OwnArray {
    ir::ValueId buffer;
    std::vector<int64_t> sizes;
};

// What an expression stands for that has a place: a variable, an element, a member, an array, a structure.
struct Target {
    enum class Kind : uint8_t { kVariable, kOwnArray, kRawArray };
    Kind kind = Kind::kVariable;
    Place place{};
    size_t root = 0;               // the variable, or the first of a structure's
    std::string path{};            // the members from there: ".a.b"
    std::string raw{};             // the name of a raw array
    CType type{};                  // with all axes indexed
    std::vector<int64_t> sizes{};  // of axes that are not; -1: whatever it is
    // The position among all of this kind in the memory of `root`; none: there is one alone.
    std::optional<ir::ValueId> offset{};
    std::optional<ir::ValueId> inside{};  // of own arrays; none: it is inside surely
    std::string why_constant{};           // for people; empty: it may be assigned to
};

// `to` without a position, which a variable's value is then, where it is memory.
struct Pointer {
    Target to{};
    std::optional<int64_t> count{};  // of own arrays
    bool is_set = false;
};

struct Variable {
    std::string name;
    Number
        value{};  // what it has at the place of the walk; its type stays, and is that of an array's elements
    bool is_constant = false;
    std::string why_constant{};      // for people
    std::optional<int64_t> known{};  // of a constant
    std::optional<OwnArray> array{};
    // Its leaves come behind it: variables that are called as it is, with the members' names.
    const CStructure* structure = nullptr;
    size_t leaves = 0;
    std::optional<Pointer> pointer{};
    std::optional<Target> alias{};  // it is a reference
    CType type{};                   // of a pointer or structure

    bool has_number() const { return structure == nullptr && !array && !alias && value.id.valid(); }
};

/// The variables of one function: those in sight are a stack, inner ones last.
class Scopes {
public:
    static constexpr size_t kNone = SIZE_MAX;

    size_t find(std::string_view name) const {
        for (size_t k = variables_.size(); k > floor_; --k) {
            if (variables_[k - 1].name == name) return k - 1;
        }
        for (size_t k = std::min(globals_, floor_); k > 0; --k) {
            if (variables_[k - 1].name == name) return k - 1;
        }
        return kNone;
    }
    size_t find_here(std::string_view name) const {
        const size_t found = find(name);
        return found != kNone && found >= begins_.back() ? found : kNone;
    }
    /// What is there now is in sight of all functions.
    void end_globals() { globals_ = variables_.size(); }
    /// From here on the variables that are there are out of sight, but for those of all functions.
    size_t hide() { return std::exchange(floor_, variables_.size()); }
    void show(size_t floor) { floor_ = floor; }
    size_t add(Variable variable) {
        variables_.push_back(std::move(variable));
        return variables_.size() - 1;
    }
    Variable& operator[](size_t index) { return variables_[index]; }
    const Variable& operator[](size_t index) const { return variables_[index]; }
    size_t size() const { return variables_.size(); }
    void open() { begins_.push_back(variables_.size()); }
    void close() {
        variables_.resize(begins_.back());
        begins_.pop_back();
    }
    /// A structure's leaf.
    size_t leaf(size_t root, std::string_view path) const;
    /// Those with numbers that are in sight by these names, or by what these refer to. In order.
    std::vector<size_t> of_names(const std::set<std::string>& names) const;
    /// The numbers of a variable, or of a structure's part.
    void add_numbers(size_t root, std::string_view path, std::set<size_t>& found) const;

private:
    std::vector<Variable> variables_;
    std::vector<size_t> begins_{0};
    size_t floor_ = 0, globals_ = 0;
};

/// Adds the names that are assigned to. What functions of the program get may be references, and what has its
/// address taken, or is referred to, may be assigned to by another name.
void add_assigned(const Expression& expression, const std::set<std::string>& functions,
                  std::set<std::string>& names);
void add_assigned(const Statement& statement, const std::set<std::string>& functions,
                  std::set<std::string>& names);
/// Whether it has the name in it.
bool mentions(const Expression& expression, std::string_view name);
bool mentions(const Statement& statement, std::string_view name);
/// Whether it may only be computed where C++ computes it: it assigns, or reads memory, or calls a function of
/// the program's, whose loops may have no end.
bool has_effects(const Expression& expression, const std::set<std::string>& functions);

}  // namespace weft::lang::c_source
