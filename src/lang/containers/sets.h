// Sets of numbers. A set is a record of two lists, its items and a table of their places; what is done with
// them is in the prelude (prelude/of_number_sets.py).
#pragma once

#include "lang/lowering.h"

namespace weft::lang {

inline bool is_set(TypeRef type) { return is_set_record(type->record); }

// What sets hold, and what dictionaries have as keys: real numbers, and tuples of such.
bool is_hashed(TypeRef type);

class FunctionLowering::Sets {
public:
    Sets(FunctionLowering& lowering, NodeId where) : f_(lowering), where_(where) {}

    Value make(const Arguments& arguments);   // set(), set(values)
    Value display(Environment& environment);  // {1, 2}, {k for k in x}
    Value call_method(const Value& set, const std::string& name, const Arguments& arguments);
    // Nothing where the operator is none of sets.
    std::optional<Value> binary(const std::string& name, const Value& left, const Value& right);
    Value compare(const std::string& name, const Value& left, const Value& right);
    Value items(const Value& set) const { return f_.tuple_item(set, 0); }

private:
    Value call(const std::string& name, const Value& set, std::vector<Value> more);
    Value made(const Value& lists) const;
    Value set_of(const Value& given);
    ir::ValueId length(const Value& set) { return f_.length_of(items(set)); }
    void expect_number(const Value& item) const;

    FunctionLowering& f_;
    NodeId where_;
};

}  // namespace weft::lang
