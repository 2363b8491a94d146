// Dictionaries by numbers, or by tuples of such. A dictionary is a record of its keys, a table of their
// places and its values; what is done with them is in the prelude (prelude/of_number_sets.py). Taking a key
// out takes time in proportion to the number of keys, which keep their order.
#pragma once

#include "lang/lowering.h"

namespace weft::lang {

inline bool is_dict(TypeRef type) { return type->record == dict_record(); }

class FunctionLowering::Dicts {
public:
    Dicts(FunctionLowering& lowering, NodeId where) : f_(lowering), where_(where) {}

    Value make(const Arguments& arguments);        // dict(), dict(other), dict(pairs)
    Value make_empty(const Arguments& arguments);  // numba.typed.Dict.empty(key_type, value_type)
    Value display(Environment& environment);       // {k: v}, {k: v for k in x}
    Value item(const Value& dict, NodeId index, Environment& environment);
    void put(const Value& dict, NodeId index, const Value& value, Environment& environment);
    void augment(const Value& dict, NodeId statement, Environment& environment);
    void take_out(const Value& dict, NodeId index, Environment& environment);
    Value call_method(const Value& dict, const std::string& name, const Arguments& arguments);
    Value compare(const std::string& name, const Value& left, const Value& right);
    Value keys(const Value& dict) const { return f_.tuple_item(dict, 0); }
    Value values(const Value& dict) const { return f_.tuple_item(dict, 2); }

private:
    Value call(const std::string& name, const Value& dict, std::vector<Value> more);
    Value call_place(const Value& dict, const Value& key);
    Value made(const Value& lists) const;
    Value key_of(NodeId index, Environment& environment);
    Value expect_key(const Value& key) const;
    void put(const Value& dict, const Value& key, const Value& value);
    void put_all(const Value& dict, const Value& other);

    FunctionLowering& f_;
    NodeId where_;
};

}  // namespace weft::lang
