// Promotion, casting rules and loop resolution against NumPy's own answers (tests/data/numpy_resolution.txt).
#include "ops/resolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "weft/errors.h"

namespace weft {
namespace {

std::vector<std::vector<std::string>> numpy_answers() {
    std::ifstream file(WEFT_TEST_DATA "/numpy_resolution.txt");
    std::vector<std::vector<std::string>> lines;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) continue;
        std::istringstream words(line);
        lines.emplace_back();
        for (std::string word; words >> word;) {
            lines.back().push_back(word == "=" ? lines.back().back() : word);
        }
    }
    return lines;
}

std::vector<OperandType> operands_of(std::string_view characters, std::vector<WeakKind> weak) {
    std::vector<OperandType> operands;
    for (char c : characters) operands.emplace_back(DType::parse(std::string(1, c)));
    for (WeakKind kind : weak) operands.emplace_back(kind);
    return operands;
}

std::string describe(const OperandType& operand) {
    switch (operand.weak) {
        case WeakKind::kInt: return "int";
        case WeakKind::kFloat: return "float";
        case WeakKind::kComplex: return "complex";
        default: return std::string(operand.dtype.name());
    }
}

// Calls function(inputs, answer) for every combination of `nin` operands, the last one fastest.
template <typename Function>
void for_each_combination(const std::vector<OperandType>& operands, size_t nin,
                          const std::vector<std::string>& answers, Function function) {
    size_t count = 1;
    for (size_t i = 0; i < nin; ++i) count *= operands.size();
    ASSERT_EQ(answers.size(), count + 1);
    for (size_t index = 0; index < count; ++index) {
        std::vector<OperandType> inputs(nin, OperandType(DType()));
        size_t rest = index;
        for (size_t i = nin; i-- > 0; rest /= operands.size()) inputs[i] = operands[rest % operands.size()];
        std::string text;
        for (const OperandType& input : inputs) text += describe(input) + " ";
        SCOPED_TRACE(answers[0] + ": " + text);
        function(std::span<const OperandType>(inputs), answers[index + 1]);
    }
}

const std::vector<OperandType> kAllOperands =
    operands_of("?bBhHiIlLefdFD", {WeakKind::kInt, WeakKind::kFloat, WeakKind::kComplex});
const std::vector<OperandType> kFewOperands = operands_of("?bBlLed", {WeakKind::kInt, WeakKind::kFloat});

std::string resolve(const OpInfo& op, std::span<const OperandType> inputs,
                    std::optional<DType> output = std::nullopt) {
    try {
        const LoopInfo& loop = resolve_loop(op, inputs, output);
        std::string characters;
        for (int i = 0; i < op.nin + op.nout; ++i)
            characters += DType(loop.types[static_cast<size_t>(i)]).character();
        return characters;
    } catch (const TypeError&) {
        return "-";
    }
}

TEST(Resolve, PicksTheLoopThatNumPyPicks) {
    int ufuncs = 0;
    for (const auto& answers : numpy_answers()) {
        if (answers[0].starts_with("can_cast") || answers[0].starts_with("reduce_") ||
            answers[0].starts_with("result_type") || answers[0].starts_with("dtype:")) {
            continue;
        }
        const OpInfo* op = find_op(answers[0]);
        ASSERT_NE(op, nullptr) << answers[0];
        ++ufuncs;
        for_each_combination(op->nin < 3 ? kAllOperands : kFewOperands, op->nin, answers,
                             [&](std::span<const OperandType> inputs, const std::string& expected) {
                                 EXPECT_EQ(resolve(*op, inputs), expected);
                             });
    }
    EXPECT_GE(ufuncs, 80);
}

TEST(Resolve, ObeysTheDtypeArgumentAsNumPyDoes) {
    const std::vector<OperandType> few = operands_of("?bLlfdD", {});
    int ufuncs = 0;
    for (const auto& answers : numpy_answers()) {
        if (!answers[0].starts_with("dtype:")) continue;
        const OpInfo* op = find_op(answers[0].substr(6));
        ASSERT_NE(op, nullptr) << answers[0];
        ++ufuncs;
        const size_t count = op->nin == 1 ? few.size() : few.size() * few.size();
        ASSERT_EQ(answers.size(), 5 * count + 1);
        for (size_t i = 0; i < 5; ++i) {
            const DType output = DType::parse(std::string_view("?lfdD").substr(i, 1));
            std::vector<std::string> part = {answers[0] + " " + std::string(output.name())};
            part.insert(part.end(), answers.begin() + static_cast<std::ptrdiff_t>(1 + i * count),
                        answers.begin() + static_cast<std::ptrdiff_t>(1 + (i + 1) * count));
            for_each_combination(few, op->nin, part,
                                 [&](std::span<const OperandType> inputs, const std::string& expected) {
                                     EXPECT_EQ(resolve(*op, inputs, output), expected);
                                 });
        }
    }
    EXPECT_GE(ufuncs, 70);
}

TEST(Resolve, CoversEveryUfuncOfTheTable) {
    std::vector<std::string> names;
    for (const auto& answers : numpy_answers()) names.push_back(answers[0]);
    for (const OpInfo& op : op_table()) {
        if (!op.flags.is_ufunc) continue;
        EXPECT_NE(std::find(names.begin(), names.end(), op.numpy_name), names.end()) << op.name;
    }
}

TEST(Resolve, PromotesAsNumPy) {
    int seen = 0;
    for (const auto& answers : numpy_answers()) {
        if (!answers[0].starts_with("result_type")) continue;
        ++seen;
        for_each_combination(kAllOperands, answers[0] == "result_type" ? 2 : 3, answers,
                             [&](std::span<const OperandType> inputs, const std::string& expected) {
                                 EXPECT_EQ(std::string(1, result_type(inputs).character()), expected);
                             });
    }
    EXPECT_EQ(seen, 2);
}

// All but bfloat16, which NumPy has not.
std::vector<DType> numpy_dtypes() {
    std::vector<DType> dtypes;
    for (const DTypeInfo& info : DType::all()) {
        if (info.scalar_type != ScalarType::kBFloat16) dtypes.emplace_back(info.scalar_type);
    }
    return dtypes;
}

TEST(Resolve, CastsAsNumPy) {
    int seen = 0;
    for (const auto& answers : numpy_answers()) {
        if (!answers[0].starts_with("can_cast_")) continue;
        const Casting casting = parse_casting(answers[0].substr(9));
        ++seen;
        size_t i = 0;
        for (const DType from : numpy_dtypes()) {
            for (const DType to : numpy_dtypes()) {
                EXPECT_EQ(can_cast(from, to, casting), answers[1][i++] == '1')
                    << answers[0] << " " << from.name() << " " << to.name();
            }
        }
    }
    EXPECT_EQ(seen, 5);
}

TEST(Resolve, BFloat16IsBesideFloat16) {
    const DType bfloat16 = ScalarType::kBFloat16, float16 = ScalarType::kFloat16;
    EXPECT_EQ(promote_types(bfloat16, float16), DType(ScalarType::kFloat32));
    EXPECT_FALSE(can_cast(bfloat16, float16));
    EXPECT_FALSE(can_cast(float16, bfloat16));
    EXPECT_TRUE(can_cast(float16, bfloat16, Casting::kSameKind));
    const OperandType with_int8[] = {bfloat16, ScalarType::kInt8};
    EXPECT_EQ(resolve(op_info(OpId::kArctan2), with_int8), "EEE");
    const OperandType small[] = {ScalarType::kInt8};  // float16 comes first, as in NumPy
    EXPECT_EQ(resolve(op_info(OpId::kSqrt), small), "ee");
}

TEST(Resolve, ReducesInNumPysTypes) {
    int seen = 0;
    for (const auto& answers : numpy_answers()) {
        if (!answers[0].starts_with("reduce_")) continue;
        const ReductionInfo* reduction = find_reduction(answers[0].substr(7));
        ASSERT_NE(reduction, nullptr) << answers[0];
        ++seen;
        size_t i = 0;
        for (const DType input : numpy_dtypes()) {
            EXPECT_EQ(resolve_reduction(reduction->id, input).result.character(), answers[1][i++])
                << answers[0] << " " << input.name();
        }
    }
    EXPECT_EQ(seen, 8);
}

template <typename ErrorType, typename Function>
std::string message_of(Function function) {
    try {
        function();
    } catch (const ErrorType& error) {
        return error.what();
    }
    return "nothing thrown";
}

TEST(Resolve, RefusesInNumPysWords) {
    const OperandType bools[] = {ScalarType::kBool, ScalarType::kBool};
    EXPECT_EQ(message_of<TypeError>([&] { resolve_loop(op_info(OpId::kSubtract), bools); }),
              "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
              "operator, or "
              "the logical_xor function instead.");
    EXPECT_EQ(
        message_of<TypeError>([&] { resolve_loop(op_info(OpId::kNegative), std::span(bools).first(1)); }),
        "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the "
        "logical_not function instead.");
    const OperandType mixed[] = {ScalarType::kFloat64, ScalarType::kInt8};
    EXPECT_EQ(message_of<TypeError>([&] { resolve_loop(op_info(OpId::kBitwiseAnd), mixed); }),
              "ufunc 'bitwise_and' not supported for the input types, and the inputs could not be safely "
              "coerced to "
              "any supported types according to the casting rule ''safe''");
    EXPECT_EQ(message_of<UFuncTypeError>([&] { resolve_loop(op_info(OpId::kGcd), mixed); }),
              "ufunc 'gcd' did not contain a loop with signature matching types (<class "
              "'numpy.dtypes.Float64DType'>, <class 'numpy.dtypes.Int8DType'>) -> None");
    EXPECT_EQ(message_of<UFuncTypeError>([&] {
                  check_output_cast(op_info(OpId::kAdd), 0, ScalarType::kFloat64, ScalarType::kInt64);
              }),
              "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') with casting rule "
              "'same_kind'");
}

TEST(Resolve, TakesTheLoopOfTheAskedType) {
    const OperandType inputs[] = {ScalarType::kInt64, ScalarType::kInt64};
    EXPECT_EQ(resolve_loop(op_info(OpId::kAdd), inputs, DType(ScalarType::kFloat32)).types[0],
              ScalarType::kFloat32);
    const OperandType floats[] = {ScalarType::kFloat64, ScalarType::kFloat64};
    EXPECT_EQ(message_of<UFuncTypeError>(
                  [&] { resolve_loop(op_info(OpId::kAdd), floats, DType(ScalarType::kInt32)); }),
              "Cannot cast ufunc 'add' input 0 from dtype('float64') to dtype('int32') with casting rule "
              "'same_kind'");
}

TEST(Resolve, ChecksPythonIntegers) {
    EXPECT_EQ(message_of<OverflowError>([] { check_python_int_fits(300, ScalarType::kUInt8); }),
              "Python integer 300 out of bounds for uint8");
    EXPECT_EQ(message_of<OverflowError>([] { check_python_int_fits(-1, ScalarType::kUInt64); }),
              "Python integer -1 out of bounds for uint64");
    EXPECT_EQ(message_of<OverflowError>([] {
                  check_python_int_fits(static_cast<WideInteger>(1) << 100, ScalarType::kInt64, "10**40");
              }),
              "Python int too large to convert to C long");
    EXPECT_TRUE(python_int_fits(255, ScalarType::kUInt8));
    EXPECT_TRUE(python_int_fits(-128, ScalarType::kInt8));
    EXPECT_FALSE(python_int_fits(128, ScalarType::kInt8));
    EXPECT_TRUE(python_int_fits(static_cast<WideInteger>(UINT64_MAX), ScalarType::kUInt64));
    EXPECT_TRUE(python_int_fits(INT64_MIN, ScalarType::kInt64));
}

TEST(Resolve, ComparesWithIntegersOutOfRange) {
    const DType u8 = ScalarType::kUInt8;
    EXPECT_EQ(compare_with_out_of_range(OpId::kLess, 300, u8, false), true);  // array < 300
    EXPECT_EQ(compare_with_out_of_range(OpId::kLess, 300, u8, true), false);  // 300 < array
    EXPECT_EQ(compare_with_out_of_range(OpId::kGreaterEqual, -1, u8, false), true);
    EXPECT_EQ(compare_with_out_of_range(OpId::kGreater, -1, u8, true), false);
    EXPECT_EQ(compare_with_out_of_range(OpId::kEqual, -1, u8, false), false);
    EXPECT_EQ(compare_with_out_of_range(OpId::kNotEqual, 256, u8, true), true);
    EXPECT_EQ(compare_with_out_of_range(OpId::kLess, 255, u8, false), std::nullopt);
}

}  // namespace
}  // namespace weft
