// The walk over statements and expressions that makes kernel IR of one function.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "lang/c_source/elements.h"
#include "lang/c_source/numbers.h"
#include "lang/c_source/scopes.h"
#include "lang/c_source/syntax.h"

namespace weft::lang::c_source {

/// Arrays that a body indexes, and what it knows of the loop around it.
class Surroundings {
public:
    Surroundings() = default;
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;
    virtual ~Surroundings() = default;
    virtual bool is_array(std::string_view) const { return false; }
    virtual Number load(Numbers&, std::string_view array, const Number& index, const Place& place);
    virtual void store(Numbers&, std::string_view array, const Number& index, const Number& value,
                       const Place& place);
    virtual ScalarType element(std::string_view array) const;
    /// What y.size() and its kin give; none where there is no such thing.
    virtual std::optional<Number> of_array(Numbers&, std::string_view array, std::string_view member,
                                           std::optional<int64_t> axis);
    /// atomicAdd(&y[i], value) and its kin.
    virtual Number atomic(Numbers&, std::string_view operation, std::string_view array, const Number& index,
                          const Number& value, const Place& place);
    /// `i`, and the size: `n`, `_ind.size()`.
    virtual std::optional<Number> position(Numbers&) { return {}; }
    virtual std::optional<Number> size(Numbers&) { return {}; }
};

/// A program's names of types, its functions and its constants, which all functions share.
class Program {
public:
    Program(const SourceText& preamble, std::span<const std::pair<std::string, ScalarType>> types);

    Macros macros;
    TypeNames type_names;
    std::map<std::string, ScalarType, std::less<>> types;
    Definitions definitions;
    std::set<std::string> function_names;

    ScalarType type(const TypeName& name) const;
    /// The function for these arguments, which is made when it is first called.
    struct Made {
        std::string name;
        std::optional<ScalarType> result;
        std::vector<ScalarType> parameters;
        std::vector<size_t> references;  // parameters whose last values are results, too
    };
    const Made& function(const std::string& name, std::span<const TypeName> given,
                         std::span<const ScalarType> arguments, const Place& place);
    /// Appends what has been made.
    void finish(ir::Module& module) const;

private:
    struct Candidate {
        const CFunction* function = nullptr;
        std::map<std::string, ScalarType, std::less<>> bound{};  // a template's parameters
        bool is_exact = true;                                    // no argument is converted
    };
    std::optional<Candidate> candidate(const CFunction& function, std::span<const TypeName> given,
                                       std::span<const ScalarType> arguments) const;
    Made make(const CFunction& function, std::map<std::string, ScalarType, std::less<>> bound,
              const std::string& key);
    std::map<std::string, Made> made_;
    std::set<std::string> being_made_;
    std::vector<ir::Function> functions_;
    const std::map<std::string, ScalarType, std::less<>>* bound_ = nullptr;  // of the template that is made
};

class Lowering {
public:
    Lowering(Program& program, Surroundings& surroundings, ir::Builder& builder)
        : program_(program), around_(&surroundings), numbers_(&builder) {}

    Scopes& scopes() { return scopes_; }
    Numbers& numbers() { return numbers_; }
    /// Arrays alone that are used, since each is made where it is declared.
    void declare_constants(const std::function<bool(std::string_view)>& is_used);
    /// Those of a block, in the scope that is there.
    void statements(const Statement& block);
    Number value(const Expression& expression);
    /// Of a function: what it gives, and the variables whose values it gives behind that.
    struct Returns {
        std::optional<ScalarType> result{};
        std::vector<size_t> references{};
    };
    void returns(Returns what) { returns_ = std::move(what); }
    bool has_ended() { return numbers_.builder().has_ended(); }

private:
    struct Loop {
        std::vector<size_t> carried;
        const Expression* step = nullptr;
        const Expression* condition = nullptr;  // of do, which comes after the body
    };

    /// Of an array, with its index computed.
    struct Element {
        std::string name{};
        Place place{};
        ScalarType type = ScalarType::kInt32;
        Number at{ScalarType::kInt64, {}};
        bool is_own = false;  // the rest is of such arrays
        ir::ValueId buffer{};
        std::optional<ir::ValueId> inside{};  // none: it is inside surely
        std::string why_constant{};
    };

    void block(const Statement& statement);
    void statement(const Statement& statement);
    void declaration(const Statement& statement);
    void branch(const Statement& statement);
    void loop(const Statement& statement);
    void go_on();
    void return_from(const Statement& statement);
    std::vector<ir::ValueId> values_of(const std::vector<size_t>& variables) const;
    void set_values(const std::vector<size_t>& variables, std::span<const ir::ValueId> values);
    /// Runs one of two bodies, which assign to `variables` and give a number each.
    Number either(ir::ValueId condition, const std::vector<size_t>& variables,
                  const std::function<Number()>& first, const std::function<Number()>& second);

    bool is_array(const std::string& name) const {
        const size_t found = scopes_.find(name);
        return found == Scopes::kNone ? around_->is_array(name) : scopes_[found].array.has_value();
    }
    Number name(const Expression& expression);
    Number logical(const Expression& expression);
    Number conditional(const Expression& expression);
    Number assign(const Expression& expression);
    Number step(const Expression& expression);
    Number cast(const Expression& expression);
    Number call(const Expression& expression, bool may_give_nothing);
    Number atomic(const Expression& expression);
    Number member(const Expression& expression);
    Number index(const Expression& expression);
    /// A whole number that is known while the kernel is compiled.
    std::optional<int64_t> known(const Expression& expression);
    std::vector<int64_t> sizes_of(const Declarator& one, ScalarType type);
    void declare_array(const Declarator& one, ScalarType type, bool is_constant);
    void fill(const OwnArray& array, const Expression& list, ScalarType type, size_t axis, int64_t first);
    /// None where the expression is no element of an array.
    std::optional<Element> element(const Expression& expression);
    Number load(const Element& element);
    void store(const Element& element, const Number& value);
    /// By a walk whose code is thrown away.
    ScalarType type_of(const Expression& expression);
    void store(const Expression& target, const Number& value);

    Program& program_;
    Surroundings* around_;
    bool is_dry_ = false;  // only types are wanted
    Numbers numbers_;
    Scopes scopes_;
    std::vector<Loop> loops_;
    std::optional<Returns> returns_;
};

}  // namespace weft::lang::c_source
