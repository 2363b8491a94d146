// Arrays that a body declares: memory of its own for each element of the loop.
//
// What C++ leaves undefined has a result here, too: an element that has no value is 0, one outside of the
// array reads as 0 and is not written.
#include <algorithm>
#include <array>
#include <cstdint>
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
        case ExpressionKind::kCast: {
            const CType to = program_.full_type(expression.type);
            if (expression.operands.size() != 1 || !to.is_number() || !DType(to.scalar).is_integer() ||
                DType(to.scalar).itemsize() < 4)
                return {};
            const std::optional<int64_t> of = known(*expression.operands[0]);
            return of && *of >= 0 && *of <= INT32_MAX ? of : std::nullopt;
        }
        case ExpressionKind::kSizeOf: {
            int64_t alignment = 1;
            if (expression.operands.empty())
                return size_in_bytes(program_.full_type(expression.type), alignment);
            const Expression& of = *expression.operands[0];
            const size_t found = of.kind == ExpressionKind::kName ? scopes_.find(of.text) : Scopes::kNone;
            if (found != Scopes::kNone && scopes_[found].array)
                return size_in_bytes(target_of_variable(found, of.place).type, alignment) *
                       count_of(scopes_[found].array->sizes);
            const CType type = shape(of);
            if (type.is_number()) return DType(type_of(of)).itemsize();
            return size_in_bytes(type, alignment);
        }
        default: return {};
    }
}

std::vector<int64_t> Lowering::sizes_of(const Declarator& one, const CType& type) {
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
    int64_t alignment = 1;
    int64_t bytes = size_in_bytes(type, alignment);
    for (const int64_t size : sizes) {
        if (size > kMostBytes / bytes)
            throw OutsideSubset(
                one.place, "an array has " + std::to_string(kMostBytes) + " bytes at most in the subset");
        bytes *= size;
    }
    return sizes;
}

OwnArray Lowering::allocate_array(const std::string& name, ScalarType type, std::vector<int64_t> sizes) {
    OwnArray array{.buffer = {}, .sizes = std::move(sizes)};
    const int64_t count = count_of(array.sizes);
    ir::BufferType buffer{.element = type, .space = ir::AddressSpace::kLocal};
    buffer.strides = {DType(type).itemsize()};
    buffer.sizes = {count};
    ir::Builder& builder = numbers_.builder();
    const bool is_name = name.find_first_of(" .") == name.npos;
    array.buffer = builder.allocate(buffer, is_name ? name : std::string());
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
    return array;
}

void Lowering::declare_array(const Declarator& one, const CType& type, bool is_constant) {
    if (one.initial != nullptr && one.initial->kind != ExpressionKind::kList)
        throw OutsideSubset(one.place, "the values of an array stand in braces");
    std::vector<int64_t> sizes = sizes_of(one, type);
    const size_t root = declare(one.name, type, std::move(sizes));
    if (one.initial != nullptr) fill(target_of_variable(root, one.place), *one.initial);
    scopes_[root].is_constant = is_constant;
    scopes_[root].why_constant = "const";
}

// Nested lists are those of axes; one that is not nested goes on over the axes behind.
void Lowering::fill(const Target& array, const Expression& list) {
    const int64_t room = count_of(array.sizes), inner = count_of(array.sizes, 1);
    const auto at = [&](size_t axes, int64_t place) {
        Target result = array;
        ir::Builder& builder = numbers_.builder();
        const int64_t count = axes == 1 ? array.sizes[0] : room;
        result.sizes.erase(result.sizes.begin(), result.sizes.begin() + static_cast<ptrdiff_t>(axes));
        const ValueId position = builder.index(place);
        result.offset =
            array.offset
                ? added(builder.apply(OpId::kMultiply, {*array.offset, builder.index(count)}), position)
                : position;
        return result;
    };
    int64_t place = 0;
    for (const ExpressionPtr& one : list.operands) {
        if (place >= room) throw OutsideSubset(one->place, "there are more values than elements");
        if (one->kind == ExpressionKind::kList &&
            (array.sizes.size() > 1 || array.type.structure == nullptr)) {
            if (array.sizes.size() < 2 || place % inner != 0)
                throw OutsideSubset(one->place, "braces do not fit the array's sizes");
            fill(at(1, place / inner), *one);
            place += inner;
            continue;
        }
        set_member(at(array.sizes.size(), place), *one);
        ++place;
    }
}

}  // namespace weft::lang::c_source
