// Texts in arrays: elements and fields of NumPy's dtypes S and U. Their layout has no fields and says how
// many bytes they have. One that is read is a copy, as NumPy's bytes_ and str_ are.
#pragma once

#include "lang/lowering.h"
#include "lang/structures/layout.h"

namespace weft::lang {

class FunctionLowering::ArrayTexts {
public:
    ArrayTexts(FunctionLowering& lowering, NodeId where) : f_(lowering), where_(where) {}

    // Whether it is a text of an array's, or an array of such.
    static bool is_text(TypeRef type) { return is_structures(type) && type->layout->text != 0; }

    Value read(const Value& place) const;
    void write(const Value& place, const Value& text);
    // Nothing where neither is a text of an array's.
    std::optional<Value> compare(const std::string& name, const Value& left, const Value& right);
    Value length(const Value& text);
    Value truths(const Value& texts);  // of all elements: whether they are not empty

private:
    Value element(const Value& texts, std::span<const ir::ValueId> indices) const;
    Value compare_two(const std::string& name, const Value& left, const Value& right);
    // Its characters; those of a known text as one of a layout like that of `like` has them.
    Value characters(const Value& text, const Value& like);
    std::vector<uint32_t> known_characters(const std::string& text, char kind) const;
    void expect_host() const;

    FunctionLowering& f_;
    NodeId where_;
};

}  // namespace weft::lang
