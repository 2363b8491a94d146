// Ufuncs that the program made of its functions, and methods of all ufuncs: reduce, accumulate, reduceat,
// outer, at. The prelude's of_ufuncs.py has the loops.
#pragma once

#include "lang/lowering.h"

namespace weft::lang {

class FunctionLowering::Ufuncs {
public:
    // `callee` is_ufunc().
    Ufuncs(FunctionLowering& lowering, const Value& callee, NodeId where);
    Ufuncs(FunctionLowering& lowering, const OpInfo& op, NodeId where);

    static bool is_ufunc(const Value& value);
    static bool has_method(const std::string& name);
    std::optional<Value> attribute(const std::string& name);
    Value call_method(const std::string& method, const Arguments& given);
    // A call, of numbers or of arrays.
    Value call(const Arguments& given);
    // f(x, y, out1, out2): of several results.
    Value call_several(std::span<const Value> operands, std::span<const Value> outs);

private:
    using Operand = UfuncFacts::Operand;
    struct Fold {
        ScalarType total, next;  // of what is accumulated, and of the next operand
    };
    // An axis, and its number where that is known.
    using Axis = std::pair<ir::ValueId, std::optional<size_t>>;
    struct Folded {
        Value array{};
        std::vector<Axis> axes{};  // in their order
        bool are_known = false;
        Value rows{}, lanes{};  // with the folded axes as the first ones, and as the last
    };
    std::string name() const;
    bool is_numpys() const { return op_ != nullptr; }
    std::vector<std::optional<Value>> bind(const std::string& method, const Arguments& given,
                                           std::span<const std::string_view> parameters, size_t least);
    bool is_none(const std::optional<Value>& value) const {
        return !value || value->type->kind == TypeKind::kNone;
    }
    Value array(const Value& given);
    Value of_type(const Value& array, ScalarType type);
    // The function of numbers. Its result is cast as its signature says.
    Value element(std::span<const Value> operands);
    TypeRef type_of_element(std::span<const Value> operands);
    const std::vector<Operand>* loop_for(std::span<const Value> operands) const;
    [[noreturn]] void refuse_types(std::span<const Value> operands) const;
    Value cast_to(const Value& value, ScalarType type);
    void expect_binary(const std::string& method) const;
    Fold fold_types(ScalarType element, const std::optional<Value>& dtype, const std::optional<Value>& out,
                    const std::string& method);
    Axis axis_of(const Value& given, size_t rank);
    Folded folded(const Value& array, const std::optional<Value>& axis);
    void find_views(Folded& found);
    Value goes_by_lanes(const Folded& found);
    Value reduced_by_known(const Folded& found, const Fold& types, const std::optional<Value>& start,
                           bool gives_first);
    Value with_kept(const Value& given, const Folded& found);
    Value moved_first(const Value& array, ir::ValueId axis);
    Value with_first(const Value& array, const Axis& axis);
    Value identity(ScalarType type);
    bool has_identity() const;
    bool is_reorderable() const;
    Value finished(const Value& result, const std::optional<Value>& out, const std::string& text);

    Value reduce(const Arguments& given);
    Value accumulate(const Arguments& given);
    Value reduceat(const Arguments& given);
    Value outer(const Arguments& given);
    Value at(const Arguments& given);

    // (arrays/generalized.cpp)
    Value call_generalized(const Arguments& given);
    struct Part;
    Value part_at(const Part& part, std::span<const ir::ValueId> indices);

    FunctionLowering& f_;
    Value callee_{};
    const Symbol* symbol_ = nullptr;
    const OpInfo* op_;
    NodeId where_;
};

}  // namespace weft::lang
