// The walk over statements and expressions that makes kernel IR of one function.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "lang/c_source/device_function.h"
#include "lang/c_source/elements.h"
#include "lang/c_source/numbers.h"
#include "lang/c_source/scopes.h"
#include "lang/c_source/syntax/syntax.h"

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
    std::map<std::string, CType, std::less<>> types;
    Definitions definitions;
    std::set<std::string> function_names;

    CType full_type(const TypeName& name) const;
    ScalarType type(const TypeName& name) const;  // of a number
    const CStructure* structure(std::string_view name) const;
    /// Those among which one of this name is.
    std::span<const CFunction> functions_called(std::string_view name, const CStructure* of = nullptr) const;

    /// A function, or a method, and what a template's parameters are for these arguments.
    struct Chosen {
        const CFunction* function = nullptr;
        std::map<std::string, CType, std::less<>> types{};
        std::map<std::string, int64_t, std::less<>> numbers{};
        bool is_exact = true;  // no argument is converted
    };
    struct Given {
        CType type{};
        bool is_named = false;  // a reference may be had of it
    };
    /// `of`: whose methods are looked at. Nothing where none takes these arguments.
    std::optional<Chosen> choose(const std::string& name, std::span<const TypeName> given,
                                 std::span<const Given> arguments, const Place& place,
                                 const std::function<std::optional<int64_t>(const Expression&)>& known,
                                 const CStructure* of = nullptr) const;
    /// Whether a function of the IR's own is made of it: what it takes and gives are numbers.
    bool is_of_numbers(const Chosen& chosen) const;

    /// The function for these arguments, which is made when it is first called.
    struct Made {
        std::string name;
        std::optional<ScalarType> result;
        std::vector<ScalarType> parameters;
        std::vector<size_t> references;  // parameters whose last values are results, too
    };
    const Made& function(const Chosen& chosen, const Place& place);
    /// Whether a body names it, or a function that the body calls.
    bool mentions(const std::function<bool(std::string_view)>& body_mentions, std::string_view name) const;
    /// Appends what has been made.
    void finish(ir::Module& module) const;

    /// What a template's parameters are while a function is lowered; gives what they were before.
    using Bound = const std::map<std::string, CType, std::less<>>*;
    Bound bind(Bound types) { return std::exchange(bound_, types); }

private:
    std::optional<Chosen> candidate(
        const CFunction& function, std::span<const TypeName> given, std::span<const Given> arguments,
        const std::function<std::optional<int64_t>(const Expression&)>& known) const;
    Made make(const Chosen& chosen, const std::string& key);
    std::map<std::string, Made> made_;
    std::set<std::string> being_made_;
    std::vector<ir::Function> functions_;
    Bound bound_ = nullptr;  // of the template that is made
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
    /// The same of a kernel, which may end by `return` or `continue` anywhere.
    void kernel(const Statement& block);
    Number value(const Expression& expression);
    /// Of a function: what it gives, and the variables whose values it gives behind that.
    struct Returns {
        std::optional<ScalarType> result{};
        std::vector<size_t> references{};
        // A function that stands in the place of its call gives what it gives in a variable.
        bool is_in_place = false, is_kernel = false;
        CType gives{};
        size_t variable = Scopes::kNone, loop = Scopes::kNone, first_loop = 0;
    };
    void returns(Returns what) { returns_ = std::move(what); }
    /// All functions are put in the place of their calls.
    void stay_in_place() { makes_functions_ = false; }
    /// Throws OutsideSubset.
    DeviceResults call_from_outside(const DeviceFunction& function, std::span<const DeviceArgument> arguments,
                                    const Place& place);
    bool has_ended() { return numbers_.builder().has_ended(); }

private:
    struct Loop {
        std::vector<size_t> carried{};
        const Expression* step = nullptr;
        const Expression* condition = nullptr;  // of do, which comes after the body
        bool is_switch = false;                 // or a function: it runs once
    };
    // A value of any type. Of a pointer `number` is the position.
    struct Value {
        CType type{};
        Number number{};
        std::vector<Number> leaves{};  // of a structure
        Pointer pointer{};
        std::optional<Target> target{};  // where it is
        bool is_read = true;             // number or leaves are there
    };

    // statements.cpp
    void block(const Statement& statement);
    void statement(const Statement& statement);
    void declaration(const Statement& statement);
    void declare_variable(const Declarator& one, const CType& type, const Statement& statement);
    void declare_pointer(const Declarator& one, const CType& type, bool is_constant);
    void declare_reference(const Declarator& one, const CType& type, bool is_constant, bool is_auto);
    void branch(const Statement& statement);
    void loop(const Statement& statement);
    void go_on();
    void return_from(const Statement& statement);
    void return_in_place(const Statement& statement);
    void leave(size_t loop);
    size_t first_loop() const;
    std::vector<ir::ValueId> values_of(const std::vector<size_t>& variables) const;
    void set_values(const std::vector<size_t>& variables, std::span<const ir::ValueId> values);
    /// Runs one of two bodies, which assign to `variables` and give a number each.
    Number either(ir::ValueId condition, const std::vector<size_t>& variables,
                  const std::function<Number()>& first, const std::function<Number()>& second);

    // expressions.cpp
    void run(const Expression& expression);  // whatever it gives
    static Number number_of(const Value& value, const Place& place);
    [[noreturn]] static void refuse_target(const Expression& expression);
    Number name(const Expression& expression);
    Number logical(const Expression& expression);
    Number conditional(const Expression& expression);
    Number assign(const Expression& expression);
    Number step(const Expression& expression);
    Number cast(const Expression& expression);
    Number member(const Expression& expression);
    Number index(const Expression& expression);
    Number between_pointers(const Expression& expression);
    /// By a walk whose code is thrown away.
    ScalarType type_of(const Expression& expression);

    // targets.cpp
    /// What kind of value it has; of numbers not which. Makes no code.
    CType shape(const Expression& expression);
    /// None where the expression has no place.
    std::optional<Target> target(const Expression& expression);
    Target target_of_variable(size_t index, const Place& place) const;
    std::optional<Target> own_member(const Expression& name);  // in a method
    Target element(Target of, const Expression& index);
    Target member(Target of, const std::string& name, const Place& place);
    Target pointed_to(const Value& pointer, const Place& place);
    Value pointer(const Expression& expression);
    Value pointer_to(const Target& target, const Place& place);
    Value value_of_pointer(size_t variable, const Place& place) const;
    Value assign_pointer(size_t variable, const Value& value, const Place& place);
    Number load(const Target& target);
    void store(const Target& target, const Number& value);
    size_t leaf_of(const Target& target) const;
    ir::ValueId offset_of(const Target& target);
    ir::ValueId added(ir::ValueId a, ir::ValueId b);

    // structures.cpp
    struct Member {
        CType type{};
        std::vector<int64_t> sizes{};
    };
    std::optional<Member> member_of(const CStructure& structure, std::string_view name);
    size_t declare(const std::string& name, const CType& type, std::vector<int64_t> sizes,
                   bool is_constant = false, std::string why_constant = {});
    void add_leaves(const std::string& name, const CStructure& structure, const std::vector<int64_t>& sizes);
    /// The numbers of a structure, in order; of arrays in it each element.
    void for_each_leaf(const Target& of, const std::function<void(const Target&)>& visit);
    std::vector<Number> leaves_of(const Target& target);
    void set_leaves(const Target& target, std::span<const Number> values);
    std::vector<Number> structure_value(const Expression& expression, const CStructure& of);
    void set_members(const Target& target, const Expression& list);
    void set_member(const Target& target, const Expression& given);
    Target temporary(const CStructure& of, std::span<const Number> values, const Place& place);
    int64_t size_in_bytes(const CType& type, int64_t& alignment);

    // own_arrays.cpp
    /// A whole number that is known while the kernel is compiled.
    std::optional<int64_t> known(const Expression& expression);
    std::vector<int64_t> sizes_of(const Declarator& one, const CType& type);
    void declare_array(const Declarator& one, const CType& type, bool is_constant);
    OwnArray allocate_array(const std::string& name, ScalarType type, std::vector<int64_t> sizes);
    void fill(const Target& array, const Expression& list);

    // calls.cpp
    Value call(const Expression& expression, bool may_give_nothing);
    Value call_method(const Expression& expression);
    Value call_method_of(const Target& self, const std::string& name, std::span<const ExpressionPtr> operands,
                         const Place& place);
    Value construct(const CStructure& of, const std::vector<ExpressionPtr>& arguments, const Place& place);
    /// By an operator that the program defines; nothing where there is none.
    std::optional<Value> call_operator(const Expression& expression);
    Value call_function(const Program::Chosen& chosen, std::vector<Value> arguments, const Place& place);
    Value put_in_place(const Program::Chosen& chosen, std::vector<Value> arguments,
                       const std::optional<Target>& object, const Place& place);
    void body_in_place(const Statement& body);
    void begin_members(const CFunction& constructor, const Target& object);
    void add_parameter(const CParameter& parameter, const CType& type, Value& value, const Place& place);
    Value argument(const Expression& expression);
    void read(Value& value);
    std::optional<Program::Chosen> choose(const std::string& name, std::span<const TypeName> types,
                                          std::span<const Value> arguments, const Place& place,
                                          const CStructure* of = nullptr);
    Number atomic(const Expression& expression);
    CType shape_of_call(const std::string& name, const std::vector<const Expression*>& operands,
                        const CStructure* of = nullptr);

    Program& program_;
    Surroundings* around_;
    bool is_dry_ = false;  // only types are wanted
    bool makes_functions_ = true;
    Numbers numbers_;
    Scopes scopes_;
    std::vector<Loop> loops_;
    std::optional<Returns> returns_;
    std::vector<const CFunction*> in_place_;  // those that stand around what is lowered
    int temporaries_ = 0;
};

}  // namespace weft::lang::c_source
