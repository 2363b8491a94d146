#include "lang/structures/texts.h"

#include <algorithm>
#include <array>

namespace weft::lang {

using ir::ValueId;

namespace {

ScalarType character_of(char kind) { return kind == 'U' ? ScalarType::kUInt32 : ScalarType::kUInt8; }

int64_t count_of(const Layout& layout) { return layout.size / (layout.text == 'U' ? 4 : 1); }

}  // namespace

void FunctionLowering::ArrayTexts::expect_host() const {
    if (f_.compilation_.options().for_gpu)
        f_.fail(where_, "texts of arrays are not compiled for GPUs", "Copy whole structures.");
}

Value FunctionLowering::ArrayTexts::element(const Value& texts, std::span<const ValueId> indices) const {
    return f_.structure_at({texts, {indices.begin(), indices.end()}});
}

Value FunctionLowering::ArrayTexts::read(const Value& place) const {
    expect_host();
    Value made = f_.allocate(place.type, {}, where_);
    f_.copy_bytes(element(made, {}), place);
    return element(made, {});
}

// Code points, or bytes of ASCII, without zeros at the end.
std::vector<uint32_t> FunctionLowering::ArrayTexts::known_characters(const std::string& text,
                                                                     char kind) const {
    std::vector<uint32_t> result;
    for (size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        uint32_t point = length == 1 ? first : first & (0x7FU >> length);
        for (size_t k = 1; k < length && at + k < text.size(); ++k)
            point = point << 6 | (static_cast<unsigned char>(text[at + k]) & 0x3FU);
        if (kind == 'S' && point >= 0x80)
            f_.fail(where_,
                    "'ascii' codec can't encode a character of '" + text + "': ordinal not in range(128)");
        result.push_back(point);
        at += length;
    }
    while (!result.empty() && result.back() == 0) result.pop_back();
    return result;
}

Value FunctionLowering::ArrayTexts::characters(const Value& text, const Value& like) {
    const Layout& layout = *like.type->layout;
    const ScalarType type = character_of(layout.text);
    if (is_text(text.type)) return f_.words_of(text, type, 0, count_of(*text.type->layout));
    const std::vector<uint32_t> known = known_characters(text.type->text, layout.text);
    const std::array shape = {f_.integer(static_cast<int64_t>(known.size())).parts[0]};
    const Value made = f_.allocate(type, shape, where_);
    for (size_t i = 0; i < known.size(); ++i)
        f_.store({made, {f_.integer(static_cast<int64_t>(i)).parts[0]}}, f_.integer(known[i]), where_);
    return made;
}

// As NumPy: what is too long is cut off, and zeros follow what is short.
void FunctionLowering::ArrayTexts::write(const Value& place, const Value& given) {
    expect_host();
    const Layout& layout = *place.type->layout;
    Value text = given;
    if (is_text(text.type) && !text.type->single && text.type->rank == 0) text = element(text, {});
    const bool is_known = text.type->kind == TypeKind::kString;
    if (!is_known && !(is_text(text.type) && text.type->single && text.type->layout->text == layout.text))
        f_.fail(where_, lang::describe(given.type) + " cannot be stored in a text of " + describe(layout),
                "Store a known text, or one of an array of such.");
    if (text.type->layout == &layout) return f_.copy_bytes(place, text);
    const int64_t most = count_of(layout);
    const ScalarType type = character_of(layout.text);
    const Value target = f_.words_of(place, type, 0, most);
    Value source = characters(text, place);
    const auto length = is_known ? static_cast<int64_t>(known_characters(text.type->text, layout.text).size())
                                 : count_of(*text.type->layout);
    f_.fill(target, f_.integer(0), where_);
    const std::array shape = {f_.integer(std::min(length, most)).parts[0]};
    const std::array strides = {f_.integer(DType(type).itemsize()).parts[0]};
    const ValueId zero = f_.integer(0).parts[0];
    f_.copy_into(f_.view(target, zero, shape, strides, true), f_.view(source, zero, shape, strides, true),
                 where_);
}

Value FunctionLowering::ArrayTexts::compare_two(const std::string& name, const Value& left,
                                                const Value& right) {
    const Value& like = is_text(left.type) ? left : right;
    const auto kind = [](const Value& value) { return is_text(value.type) ? value.type->layout->text : 'U'; };
    const bool equality = name == "eq" || name == "ne";
    if (kind(left) != kind(right)) {
        if (equality) return f_.boolean(name == "ne");  // bytes equal no text
        f_.fail(where_, "bytes and texts have no order");
    }
    const Value order =
        f_.call_prelude("texts.order", {{characters(left, like), characters(right, like)}, {}, where_});
    return f_.compare(name, order, f_.integer(0), where_);
}

std::optional<Value> FunctionLowering::ArrayTexts::compare(const std::string& name, const Value& left,
                                                           const Value& right) {
    if (!is_text(left.type) && !is_text(right.type)) return std::nullopt;
    expect_host();
    const auto is_one = [](const Value& value) {
        return value.type->kind == TypeKind::kString || (is_text(value.type) && value.type->single);
    };
    const bool one = is_one(left), other = is_one(right);
    if (one && other) return compare_two(name, left, right);
    const bool known = (one || is_text(left.type)) && (other || is_text(right.type));
    if (!known || (!one && !other && left.type->rank != right.type->rank)) return std::nullopt;
    const Value& array = one ? right : left;
    std::vector<ValueId> shape;
    for (size_t d = 0; d < array.type->rank; ++d) shape.push_back(f_.size_of(array, d));
    for (size_t d = 0; d < shape.size() && !one && !other; ++d)
        f_.check(f_.apply(OpId::kEqual, {shape[d], f_.size_of(right, d)}),
                 f_.site("ValueError", "operands could not be broadcast together"), {}, where_);
    const Value result = f_.allocate(ScalarType::kBool, shape, where_);
    f_.for_each_element(result, [&](std::span<const ValueId> indices) {
        const Value a = one ? left : element(left, indices), b = other ? right : element(right, indices);
        f_.store({result, {indices.begin(), indices.end()}}, compare_two(name, a, b), where_);
    });
    return result;
}

Value FunctionLowering::ArrayTexts::length(const Value& text) {
    return f_.call_prelude("texts.length", {{characters(text, text)}, {}, where_});
}

Value FunctionLowering::ArrayTexts::truths(const Value& texts) {
    expect_host();
    std::vector<ValueId> shape;
    for (size_t d = 0; d < texts.type->rank; ++d) shape.push_back(f_.size_of(texts, d));
    const Value result = f_.allocate(ScalarType::kBool, shape, where_);
    f_.for_each_element(result, [&](std::span<const ValueId> indices) {
        const Value some = f_.compare("ne", length(element(texts, indices)), f_.integer(0), where_);
        f_.store({result, {indices.begin(), indices.end()}}, some, where_);
    });
    return result;
}

}  // namespace weft::lang
