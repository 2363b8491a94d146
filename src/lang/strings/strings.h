// Texts that are made when the code runs: the code points of one are an array of uint32 that nothing changes
// once it is made, so that parts of a text share its memory. What is done with them is in the prelude
// (prelude/of_strings.py). Known texts, those of which a branch decides, and f-strings become such texts
// where an operation needs their characters.
#pragma once

#include "lang/lowering.h"

namespace weft::lang {

inline bool is_string(TypeRef type) { return type->record == string_record(); }
// A text of any kind.
inline bool is_any_text(TypeRef type) {
    return is_text(type) || type->kind == TypeKind::kFormat || is_string(type);
}

class FunctionLowering::Strings {
public:
    Strings(FunctionLowering& lowering, NodeId where) : f_(lowering), where_(where) {}

    Value of(const Value& text);               // any text as one of these
    Value points(const Value& text);           // its code points
    Value wrapped(const Value& points) const;  // and back
    Value allocated(const Value& length);      // code points that are to be written
    Value length(const Value& text);
    Value compare(const std::string& name, const Value& left, const Value& right);
    Value contains(const Value& text, const Value& part);
    Value joined(const Value& left, const Value& right);
    Value repeated(const Value& text, const Value& count);
    Value item(const Value& text, NodeId index, Environment& environment);
    Sequence characters(const Value& text);
    Value number(const Value& text, ScalarType to);
    Value hash(const Value& text);
    Value call_method(const Value& text, const std::string& name, const Arguments& arguments);

private:
    Value call(const std::string& name, std::vector<Value> arguments);
    Value of_known(const std::string& text);
    Value of_format(const Value& format);
    Value of_field(const Value& value, const std::string& field);

    FunctionLowering& f_;
    NodeId where_;
};

}  // namespace weft::lang
