// What the names of a body stand for while it is lowered.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lang/c_source/numbers.h"
#include "lang/c_source/syntax.h"

namespace weft::lang::c_source {

// Memory of a body's own, in C order.
struct OwnArray {
    ir::ValueId buffer;
    std::vector<int64_t> sizes;
};

struct Variable {
    std::string name;
    Number value;  // what it has at the place of the walk; its type stays, and is that of an array's elements
    bool is_constant = false;
    std::string why_constant{};      // for people
    std::optional<int64_t> known{};  // of a constant
    std::optional<OwnArray> array{};
};

/// The variables of one function: those in sight are a stack, inner ones last.
class Scopes {
public:
    static constexpr size_t kNone = SIZE_MAX;

    size_t find(std::string_view name) const {
        for (size_t k = variables_.size(); k > 0; --k) {
            if (variables_[k - 1].name == name) return k - 1;
        }
        return kNone;
    }
    size_t find_here(std::string_view name) const {
        const size_t found = find(name);
        return found != kNone && found >= begins_.back() ? found : kNone;
    }
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
    /// Those in sight of these names, in order.
    std::vector<size_t> of_names(const std::set<std::string>& names) const {
        std::vector<size_t> found;
        for (const std::string& name : names) {
            const size_t index = find(name);
            if (index != kNone && !variables_[index].array) found.push_back(index);
        }
        std::ranges::sort(found);
        return found;
    }

private:
    std::vector<Variable> variables_;
    std::vector<size_t> begins_{0};
};

/// Adds the names that are assigned to. What functions of the program get may be references.
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
