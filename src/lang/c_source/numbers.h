// Types and conversions of C++ numbers, and the functions of <cmath>, as kernel IR.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "lang/c_source/syntax/source.h"

namespace weft::lang::c_source {

struct Number {
    ScalarType type = ScalarType::kInt32;
    ir::ValueId id{};
};

/// The type that C computes in where one of this stands alone, and 32 bits for floats of 16.
ScalarType promoted(ScalarType type);
/// Of C's usual arithmetic conversions.
ScalarType common_type(ScalarType a, ScalarType b);
std::string c_name(ScalarType type);

/// Makes code by the builder that it has at the time.
class Numbers {
public:
    explicit Numbers(ir::Builder* builder) : builder_(builder) {}

    ir::Builder& builder() { return *builder_; }
    void use(ir::Builder* builder) { builder_ = builder; }

    Number zero(ScalarType type);
    Number integer(ScalarType type, int64_t value);
    Number literal(const std::string& text, const Place& place);
    Number character(const std::string& text, const Place& place);

    /// As an assignment converts it. A cast is the same.
    Number convert(const Number& value, ScalarType to, const Place& place);
    /// As a condition.
    ir::ValueId truth(const Number& value, const Place& place);

    Number unary(std::string_view mark, const Number& value, const Place& place);
    Number binary(std::string_view mark, const Number& left, const Number& right, const Place& place);
    Number complex(ScalarType type, const Number& real, const Number& imag, const Place& place);
    Number real(const Number& value);
    Number imag(const Number& value);

    /// A constant of a header, such as INFINITY.
    bool is_constant(std::string_view name) const;
    Number constant(std::string_view name);
    /// std::numeric_limits<type>::name().
    Number limit(ScalarType type, std::string_view name, const Place& place);
    /// A function of <cmath>, or another that is there in CUDA without a declaration.
    bool is_function(std::string_view name) const;
    Number call(const std::string& name, std::span<const Number> arguments, const Place& place);

private:
    Number apply(OpId op, std::initializer_list<Number> operands, ScalarType result);
    Number op(OpId op, std::initializer_list<Number> operands) {
        return apply(op, operands, operands.begin()->type);
    }
    Number arithmetic(std::string_view mark, const Number& left, const Number& right, const Place& place);
    Number of_complex(std::string_view mark, const Number& left, const Number& right, const Place& place);
    Number quotient(const Number& left, const Number& right);
    Number math(std::string_view name, bool is_single, std::span<const Number> arguments, const Place& place);
    Number rounded(const Number& value);
    Number least_or_most(bool least, std::span<const Number> arguments, const Place& place);
    Number magnitude(const Number& value, const Place& place);

    ir::Builder* builder_;
};

}  // namespace weft::lang::c_source
