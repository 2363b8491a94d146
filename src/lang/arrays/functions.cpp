#include "lang/arrays/functions.h"

#include <algorithm>
#include <array>

#include "lang/errors/argument_errors.h"
#include "lang/prelude.h"
#include "lang/strings/strings.h"
#include "ops/engine_function.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// The prelude's files of functions of the module numpy.
constexpr std::string_view kFiles[] = {"arrays", "roots", "sets", "shapes", "statistics", "windows"};

const Symbol* find_array_function(const std::string& module, const std::string& name) {
    if (module != "numpy") return find_in_prelude(module.substr(module.rfind('.') + 1) + "." + name);
    for (const std::string_view file : kFiles) {
        const Symbol* const found = find_in_prelude(std::string(file) + "." + name);
        if (found != nullptr) return found;
    }
    return nullptr;
}

// Functions whose tuples are no arrays, but sizes, several arrays, or pairs.
constexpr std::string_view kTakesTuples[] = {"indices", "ravel_multi_index", "resize", "select"};

}  // namespace

// --- arguments ------------------------------------------------------------------------------------------

std::vector<Value> FunctionLowering::ArrayFunctions::bind(std::string_view parameters) {
    std::vector<std::string> names;
    std::vector<char> kinds;
    size_t least = 0;
    for (size_t at = 0; at < parameters.size();) {
        const size_t end = std::min(parameters.find(' ', at), parameters.size());
        std::string name(parameters.substr(at, end - at));
        const char last = name.back();
        kinds.push_back(last == '?' || last == '!' ? last : ' ');
        if (kinds.back() != ' ') name.pop_back();
        least += kinds.back() == ' ' ? 1 : 0;
        names.push_back(std::move(name));
        at = end + 1;
    }
    if (given_.positional.size() > names.size())
        f_.fail(where_, wrong_count(name_, least, names.size(), given_.positional.size()));
    std::vector<std::optional<Value>> found(names.size());
    for (size_t i = 0; i < given_.positional.size(); ++i) found[i] = given_.positional[i];
    for (const auto& [keyword, value] : given_.keywords) {
        const auto at = std::find(names.begin(), names.end(), keyword);
        if (at == names.end()) f_.fail(where_, unexpected_keyword(name_, keyword));
        std::optional<Value>& place = found[static_cast<size_t>(at - names.begin())];
        if (place) f_.fail(where_, multiple_values(name_, keyword));
        place = value;
    }
    std::vector<Value> values;
    for (size_t i = 0; i < names.size(); ++i) {
        if (!found[i] && kinds[i] == ' ') f_.fail(where_, name_ + "() needs '" + names[i] + "'");
        if (found[i] && kinds[i] == '!' && !is_none(*found[i]))
            f_.fail(where_, name_ + "() takes no '" + names[i] + "' in a compiled function", "Leave it out.");
        values.push_back(found[i].value_or(f_.none()));
    }
    return values;
}

Value FunctionLowering::ArrayFunctions::prelude(const std::string& name, std::vector<Value> arguments) {
    const Symbol* const function = find_array_function("numpy", name);
    WEFT_CHECK(function != nullptr, "a function that the prelude does not have: " + name);
    return f_.call_function(*function, {std::move(arguments), {}, where_});
}

Value FunctionLowering::ArrayFunctions::array(const Value& given) {
    return is_array(given.type) ? f_.forced(given) : f_.array_of(given, std::nullopt, where_);
}

Value FunctionLowering::ArrayFunctions::array(const Value& given, ScalarType type) {
    const Value found = array(given);
    return found.type->scalar == type ? found : f_.array_of(found, type, where_);
}

std::vector<ValueId> FunctionLowering::ArrayFunctions::shape_of(const Value& array) {
    std::vector<ValueId> shape;
    for (size_t d = 0; d < array.type->rank; ++d) shape.push_back(f_.size_of(array, d));
    return shape;
}

std::string FunctionLowering::ArrayFunctions::text(const Value& value, const std::string& otherwise) {
    if (is_none(value)) return otherwise;
    if (value.type->kind != TypeKind::kString)
        f_.fail(where_, name_ + "() takes a known text here, not " + lang::describe(value.type));
    return value.type->text;
}

bool FunctionLowering::ArrayFunctions::flag(const Value& value, bool otherwise) {
    if (is_none(value)) return otherwise;
    const std::optional<int64_t> known = literal_integer(value.type);
    if (!known)
        f_.fail(where_, name_ + "() takes a bool here that is known when the function is compiled",
                "Write True or False, or a default that calls leave out.");
    return *known != 0;
}

size_t FunctionLowering::ArrayFunctions::axis(const Value& value, size_t rank, int64_t otherwise) {
    const std::optional<int64_t> number = is_none(value) ? otherwise : literal_integer(value.type);
    if (!number)
        f_.fail(where_, "the axis of " + name_ + "() has to be known when the function is compiled",
                "Write it as a number, or as a default that calls leave out.");
    const auto most = static_cast<int64_t>(rank);
    if (*number < -most || *number >= most)
        f_.fail(where_, "axis " + std::to_string(*number) + " is out of bounds for array of dimension " +
                            std::to_string(rank));
    return static_cast<size_t>(*number < 0 ? *number + most : *number);
}

// --- values ---------------------------------------------------------------------------------------------

Value FunctionLowering::ArrayFunctions::operate(OpId op, std::initializer_list<Value> operands) {
    const std::optional<Value> result = f_.array_operation(op_info(op), operands, where_);
    return result ? *result : f_.by_loop(op_info(op), operands, where_);
}

Value FunctionLowering::ArrayFunctions::later(OpId op, std::initializer_list<Value> operands) {
    const Deferring deferring(f_, true);
    return operate(op, operands);
}

Value FunctionLowering::ArrayFunctions::reduce(const std::string& name, const Value& array, const Value& axis,
                                               bool keeps) {
    Arguments arguments{{axis}, {}, where_};
    if (keeps) arguments.keywords.emplace_back("keepdims", f_.boolean(true));
    return *f_.array_reduction(array, name, arguments);
}

// NumPy gives scalars for arrays without dimensions.
Value FunctionLowering::ArrayFunctions::element_or_array(const Value& array) {
    return array.type->rank == 0 ? f_.load({array, {}}) : array;
}

// out=
Value FunctionLowering::ArrayFunctions::stored(const Value& result, const Value& out, const char* mismatch) {
    if (is_none(out)) return result;
    if (!is_array(out.type)) f_.fail(where_, "out is an array, not " + lang::describe(out.type));
    const size_t rank = is_array(result.type) ? result.type->rank : 0;
    if (out.type->rank != rank && name_ == "clip")
        f_.fail(where_,
                R"(clip(): The argument "out" must have the same number of dimensions as the result)");
    if (out.type->rank != rank || out.type->scalar != result.type->scalar)
        f_.fail(
            where_,
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a "
            "C-Array)");
    for (size_t d = 0; d < rank; ++d) {
        f_.check(f_.apply(OpId::kEqual, {f_.size_of(out, d), f_.size_of(result, d)}),
                 f_.site("ValueError", mismatch), {}, where_);
    }
    f_.store_part(out, result, where_);
    return out;
}

Value FunctionLowering::ArrayFunctions::transposed_last(const Value& array) {
    std::vector<int> axes;
    for (size_t d = 0; d < array.type->rank; ++d) axes.push_back(static_cast<int>(d));
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return f_.with_axes(array, axes);
}

void FunctionLowering::ArrayFunctions::check_sizes(ValueId holds, const std::string& text,
                                                   std::vector<ValueId> sizes) {
    Site shapes = f_.site("ValueError", {});
    shapes.kind = SiteKind::kTold;
    shapes.told = {
        format_type(text, std::vector<TypeRef>(sizes.size(), scalar_type(ScalarType::kInt64, true)))};
    f_.check(holds, std::move(shapes), std::move(sizes), where_);
}

std::vector<Value> FunctionLowering::ArrayFunctions::places(const Value& array) {
    const Value all = prelude("places_of", {array});
    std::vector<Value> each;
    for (size_t d = 0; d < array.type->rank; ++d)
        each.push_back(f_.item_of(all, f_.integer(static_cast<int64_t>(d)).parts[0]));
    return each;
}

// --- the engine -----------------------------------------------------------------------------------------

// What the engine's function answers.
Value FunctionLowering::ArrayFunctions::answer(const std::string& function,
                                               std::span<const Value> arguments) {
    const EngineFunction* callee = find_engine_function(function);
    WEFT_CHECK(callee != nullptr && callee->parameters.size() == arguments.size(),
               "a call of the engine that it does not have: " + function);
    f_.raise_deferred();
    std::vector<ValueId> operands;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const Value& given = arguments[i];
        const char kind = callee->parameters[i];
        if (kind == 'i' || kind == 'd') {
            operands.push_back(f_.cast(given, kind == 'i' ? ScalarType::kInt64 : ScalarType::kFloat64));
            continue;
        }
        if (kind == 'w') {
            f_.expect_writeable(given.type, where_);
            f_.target_.written.insert(given.type->scope);
        }
        operands.push_back(given.parts[0]);
        for (const ValueId size : shape_of(given)) operands.push_back(size);
    }
    return whole(f_.dry_ ? ValueId{} : f_.builder_->engine(function, operands));
}

void FunctionLowering::ArrayFunctions::expect(const Value& answer, const char* exception,
                                              const std::string& text) {
    f_.check(f_.apply(OpId::kEqual, {answer.parts[0], f_.integer(0).parts[0]}), f_.site(exception, text), {},
             where_);
}

Value FunctionLowering::ArrayFunctions::call_engine() { return answer(name_, given_.positional); }

// --- calls ----------------------------------------------------------------------------------------------

std::optional<Value> FunctionLowering::ArrayFunctions::call(const std::string& module) {
    const std::optional<Value> result = find_and_call(module);
    return result && !given_.defers ? f_.forced(*result) : result;
}

std::optional<Value> FunctionLowering::ArrayFunctions::find_and_call(const std::string& module) {
    if (module == "numpy") {
        if (auto result = call_product()) return result;
        for (const auto function : {&ArrayFunctions::call_contraction, &ArrayFunctions::call_padding,
                                    &ArrayFunctions::call_ordering, &ArrayFunctions::call_scan,
                                    &ArrayFunctions::call_rounding, &ArrayFunctions::call_without_nan,
                                    &ArrayFunctions::call_counting, &ArrayFunctions::call_shown}) {
            if (auto result = (this->*function)()) return result;
        }
    }
    if (module == "numpy.lib.stride_tricks") return call_shown();
    if (module == "numpy.linalg") {
        if (auto result = call_linalg()) return result;
    }
    if (module == "numpy.fft") {
        if (auto result = call_fft()) return result;
    }
    const Symbol* const function = find_array_function(module, name_);
    if (function == nullptr) return std::nullopt;
    const bool is_polynomial = module == "numpy.polynomial.polynomial";
    Arguments arguments = given_;
    const bool is_alone = arguments.positional.size() + arguments.keywords.size() == 1;
    Value* const alone = !is_alone                    ? nullptr
                         : arguments.keywords.empty() ? &arguments.positional[0]
                                                      : &arguments.keywords[0].second;
    // None and a text are objects, of which only a text with characters is true.
    if (alone != nullptr && (name_ == "argwhere" || name_ == "flatnonzero") &&
        (is_none(*alone) || is_any_text(alone->type)))
        *alone = f_.scalar(scalar_type(ScalarType::kBool, true), f_.truth(*alone, where_));
    // One row that the program has written is one variable, whose result has no dimensions.
    if (alone != nullptr && (name_ == "cov" || name_ == "corrcoef") &&
        alone->type->kind == TypeKind::kTuple && alone->type->parts.size() == 1 &&
        alone->type->parts[0]->kind == TypeKind::kTuple)
        *alone = f_.tuple_item(*alone, 0);
    if (is_polynomial && name_ == "polyval") arguments.positional = of_polyval(), arguments.keywords.clear();
    const bool takes_tuples =
        std::find(std::begin(kTakesTuples), std::end(kTakesTuples), name_) != std::end(kTakesTuples);
    const std::function<bool(TypeRef)> is_of_numbers = [&](TypeRef type) {
        if (is_scalar(type) || is_array(type)) return true;
        return (is_list(type) || (type->kind == TypeKind::kTuple && !takes_tuples)) &&
               std::all_of(type->parts.begin(), type->parts.end(), is_of_numbers);
    };
    const auto as_array = [&](Value& value) {
        if ((is_list(value.type) || value.type->kind == TypeKind::kTuple) && is_of_numbers(value.type) &&
            !(takes_tuples && is_array(value.type->parts[0])) && value.type->record == nullptr)
            value = array(value);
    };
    for (Value& value : arguments.positional) as_array(value);
    for (auto& [keyword, value] : arguments.keywords) as_array(value);
    if (is_polynomial && given_.positional.size() == 2 &&
        (name_ == "polyadd" || name_ == "polysub" || name_ == "polymul" || name_ == "polydiv")) {
        for (const Value& value : arguments.positional) {
            if (is_array(value.type) && value.type->rank > 1) f_.fail(where_, "Coefficient array is not 1-d");
        }
    }
    return f_.call_function(*function, arguments);
}

// The points and the coefficients, which have an axis behind their own for each of the points'.
std::vector<Value> FunctionLowering::ArrayFunctions::of_polyval() {
    const std::vector<Value> given = bind("x c tensor?");
    const Value x = is_scalar(given[0].type) ? given[0] : array(given[0]);
    const Value c = array(given[1]);
    if (c.type->rank < 2 || !is_array(x.type) || !flag(given[2], true)) return {x, c};
    std::vector<int> axes(c.type->rank + x.type->rank, -1);
    for (size_t d = 0; d < c.type->rank; ++d) axes[d] = static_cast<int>(d);
    return {x, f_.with_axes(c, axes)};
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_method(const Value& array) {
    if (name_ == "sort") {
        const std::vector<Value> given = bind("axis? kind? order! stable?");
        if (array.type->rank == 0) f_.fail(where_, "axis -1 is out of bounds for array of dimension 0");
        f_.store_part(array, sorted(array, axis(given[0], array.type->rank), false), where_);
        return f_.none();
    }
    static constexpr std::string_view kMethods[] = {
        "dot",   "argsort",  "searchsorted", "cumsum",   "cumprod", "nonzero", "repeat",
        "take",  "diagonal", "trace",        "clip",     "ptp",     "conj",    "conjugate",
        "round", "squeeze",  "item",         "compress", "put",     "tolist",  "argpartition"};
    if (std::find(std::begin(kMethods), std::end(kMethods), name_) == std::end(kMethods)) return std::nullopt;
    Arguments arguments = given_;
    const bool is_second = name_ == "compress" && !arguments.positional.empty();
    arguments.positional.insert(arguments.positional.begin() + (is_second ? 1 : 0), array);
    Symbol symbol;
    symbol.kind = SymbolKind::kKnown;
    symbol.path = "numpy." + name_;
    return f_.call_known(symbol, arguments);
}

}  // namespace weft::lang
