// Arrays that a body declares: memory of its own for each element of the loop.
//
// What C++ leaves undefined has a result here, too: an element that has no value is 0, one outside of the
// array reads as 0 and is not written.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "lang/c_source/lowering.h"

namespace weft::lang::c_source {

using ir::ValueId;

namespace {

constexpr int64_t kMostBytes = 16 << 10;  // beyond that threads of a GPU run out of memory
constexpr int64_t kFewElements = 16;      // are set one by one

std::optional<int64_t> whole_number(const std::string& text) {
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 0);
    const std::string_view rest = end;
    const bool is_whole = end != text.c_str() && rest.find_first_not_of("uUlL") == rest.npos;
    return is_whole ? std::optional<int64_t>(value) : std::nullopt;
}

std::optional<int64_t> combined(std::string_view mark, int64_t a, int64_t b) {
    constexpr int64_t kMost = int64_t{1} << 31;  // no result leaves 64 bits
    if (std::abs(a) > kMost || std::abs(b) > kMost) return {};
    if (mark == "+") return a + b;
    if (mark == "-") return a - b;
    if (mark == "*") return a * b;
    if (b == 0) return {};
    if (mark == "/") return a / b;
    if (mark == "%") return a % b;
    return {};
}

int64_t count_of(const std::vector<int64_t>& sizes, size_t from = 0) {
    int64_t count = 1;
    for (size_t k = from; k < sizes.size(); ++k) count *= sizes[k];
    return count;
}

}  // namespace

std::optional<int64_t> Lowering::known(const Expression& expression) {
    switch (expression.kind) {
        case ExpressionKind::kNumber: return whole_number(expression.text);
        case ExpressionKind::kName: {
            const size_t found = scopes_.find(expression.text);
            return found == Scopes::kNone ? std::nullopt : scopes_[found].known;
        }
        case ExpressionKind::kUnary: {
            const std::optional<int64_t> of = known(*expression.operands[0]);
            if (!of || (expression.text != "-" && expression.text != "+")) return {};
            return expression.text == "-" ? combined("-", 0, *of) : of;
        }
        case ExpressionKind::kBinary: {
            const std::optional<int64_t> left = known(*expression.operands[0]),
                                         right = known(*expression.operands[1]);
            return left && right ? combined(expression.text, *left, *right) : std::nullopt;
        }
        case ExpressionKind::kSizeOf:
            if (expression.operands.empty()) return DType(program_.type(expression.type)).itemsize();
            return {};
        default: return {};
    }
}

std::vector<int64_t> Lowering::sizes_of(const Declarator& one, ScalarType type) {
    std::vector<int64_t> sizes;
    for (const ExpressionPtr& extent : one.extents) {
        if (extent == nullptr) {
            if (!sizes.empty() || one.initial == nullptr)
                throw OutsideSubset(one.place, "'" + one.name + "' needs a size");
            sizes.push_back(0);
            continue;
        }
        const std::optional<int64_t> size = known(*extent);
        if (!size) throw OutsideSubset(extent->place, "the size of an array is a constant in the subset");
        if (*size < 1) throw OutsideSubset(extent->place, "an array has one element at least");
        sizes.push_back(*size);
    }
    if (sizes[0] == 0) {  // as many as there are values
        const auto& given = one.initial->operands;
        const int64_t inner = count_of(sizes, 1);
        const bool is_nested = !given.empty() && given[0]->kind == ExpressionKind::kList;
        sizes[0] = is_nested ? std::ssize(given) : (std::ssize(given) + inner - 1) / inner;
        if (sizes[0] == 0) throw OutsideSubset(one.place, "an array has one element at least");
    }
    int64_t bytes = DType(type).itemsize();
    for (const int64_t size : sizes) {
        if (size > kMostBytes / bytes)
            throw OutsideSubset(
                one.place, "an array has " + std::to_string(kMostBytes) + " bytes at most in the subset");
        bytes *= size;
    }
    return sizes;
}

void Lowering::declare_array(const Declarator& one, ScalarType type, bool is_constant) {
    if (one.initial != nullptr && one.initial->kind != ExpressionKind::kList)
        throw OutsideSubset(one.place, "the values of an array stand in braces");
    OwnArray array{.buffer = {}, .sizes = sizes_of(one, type)};
    const int64_t count = count_of(array.sizes);
    ir::BufferType buffer{.element = type, .space = ir::AddressSpace::kLocal};
    buffer.strides = {DType(type).itemsize()};
    buffer.sizes = {count};
    ir::Builder& builder = numbers_.builder();
    array.buffer = builder.allocate(buffer, one.name);
    const ValueId zero = numbers_.zero(type).id;
    if (count <= kFewElements) {
        for (int64_t k = 0; k < count; ++k) builder.store(array.buffer, zero, std::array{builder.index(k)});
    } else {
        builder.for_loop(builder.index(0), builder.index(count), builder.index(1), {},
                         [&](ir::Builder& inner, std::span<const ValueId> place) -> std::vector<ValueId> {
                             inner.store(array.buffer, zero, place);
                             return {};
                         });
    }
    if (one.initial != nullptr) fill(array, *one.initial, type, 0, 0);
    scopes_.add({.name = one.name,
                 .value = {type, {}},
                 .is_constant = is_constant,
                 .why_constant = "const",
                 .array = std::move(array)});
}

void Lowering::fill(const OwnArray& array, const Expression& list, ScalarType type, size_t axis,
                    int64_t first) {
    const int64_t room = count_of(array.sizes, axis), inner = count_of(array.sizes, axis + 1);
    int64_t place = 0;
    for (const ExpressionPtr& one : list.operands) {
        if (place >= room) throw OutsideSubset(one->place, "there are more values than elements");
        if (one->kind == ExpressionKind::kList) {
            if (axis + 1 >= array.sizes.size() || place % inner != 0)
                throw OutsideSubset(one->place, "braces do not fit the array's sizes");
            fill(array, *one, type, axis + 1, first + place);
            place += inner;
            continue;
        }
        const Number number = numbers_.convert(value(*one), type, one->place);
        ir::Builder& builder = numbers_.builder();
        builder.store(array.buffer, number.id, std::array{builder.index(first + place)});
        ++place;
    }
}

std::optional<Lowering::Element> Lowering::element(const Expression& expression) {
    std::vector<const Expression*> places;
    const Expression* base = &expression;
    for (; base->kind == ExpressionKind::kIndex; base = base->operands[0].get())
        places.insert(places.begin(), base->operands[1].get());
    if (places.empty() || base->kind != ExpressionKind::kName) return {};
    Element result;
    result.name = base->text;
    result.place = expression.place;
    const size_t found = scopes_.find(base->text);
    if (found == Scopes::kNone) {
        if (!around_->is_array(base->text)) return {};
        if (places.size() != 1) throw OutsideSubset(expression.place, "a raw argument has one index");
        result.type = around_->element(base->text);
        result.at = value(*places[0]);
        return result;
    }
    if (!scopes_[found].array) return {};
    const OwnArray array = *scopes_[found].array;
    if (places.size() != array.sizes.size())
        throw OutsideSubset(expression.place, "'" + base->text + "' has " +
                                                  std::to_string(array.sizes.size()) + " indices, not " +
                                                  std::to_string(places.size()));
    result.is_own = true;
    result.type = scopes_[found].value.type;
    for (size_t k = 0; k < places.size(); ++k) {
        const Number index = value(*places[k]);
        if (!DType(index.type).is_integer() && !DType(index.type).is_bool())
            throw OutsideSubset(places[k]->place, "an index is an integer, not a " + c_name(index.type));
        ir::Builder& builder = numbers_.builder();
        const ValueId position = builder.cast(index.id, ScalarType::kInt64);
        const std::optional<int64_t> constant = known(*places[k]);
        if (!constant || *constant < 0 || *constant >= array.sizes[k]) {
            const ValueId fits = builder.apply(
                OpId::kLogicalAnd, {builder.apply(OpId::kGreaterEqual, {position, builder.index(0)}),
                                    builder.apply(OpId::kLess, {position, builder.index(array.sizes[k])})});
            result.inside = result.inside ? builder.apply(OpId::kLogicalAnd, {*result.inside, fits}) : fits;
        }
        result.at.id =
            k == 0 ? position
                   : builder.apply(OpId::kAdd, {builder.apply(OpId::kMultiply,
                                                              {result.at.id, builder.index(array.sizes[k])}),
                                                position});
    }
    result.buffer = array.buffer;
    if (scopes_[found].is_constant) result.why_constant = scopes_[found].why_constant;
    return result;
}

Number Lowering::load(const Element& element) {
    if (!element.is_own) return around_->load(numbers_, element.name, element.at, element.place);
    const std::array at{element.at.id};
    ir::Builder& builder = numbers_.builder();
    if (!element.inside) return {element.type, builder.load(element.buffer, at)};
    return {element.type,
            builder.load_if(element.buffer, at, *element.inside, numbers_.zero(element.type).id)};
}

void Lowering::store(const Element& element, const Number& value) {
    if (!element.is_own) {
        around_->store(numbers_, element.name, element.at, value, element.place);
        return;
    }
    if (!element.why_constant.empty())
        throw OutsideSubset(element.place,
                            "'" + element.name + "' is " + element.why_constant + ", and is assigned to");
    const std::array at{element.at.id};
    if (element.inside) {
        numbers_.builder().store_if(element.buffer, value.id, at, *element.inside);
    } else {
        numbers_.builder().store(element.buffer, value.id, at);
    }
}

}  // namespace weft::lang::c_source
