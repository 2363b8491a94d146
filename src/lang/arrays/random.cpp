#include "lang/arrays/random.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "lang/errors/argument_errors.h"
#include "random/distributions/table.h"

namespace weft::lang {

using distributions::Distribution;
using ir::ValueId;

const Record* generator_record() {
    static const Record* const record = [] {
        auto* made = new Record;
        made->name = "Generator";
        made->fields = {" stream"};  // which no program can name
        made->defaults = {nullptr};
        made->keyword_only = {false};
        made->not_made = "a Generator is not made in a compiled function";
        return made;
    }();
    return record;
}

namespace {

// What a Generator draws as float32, too; draw_floats has the numbers.
constexpr int kStandardExponential = 2, kStandardGamma = 3, kExponentialByLog = 4;

// Of parameters that may be left out.
const std::map<std::string, std::map<std::string, double>, std::less<>>& defaults() {
    static const auto* const all = new std::map<std::string, std::map<std::string, double>, std::less<>>{
        {"normal", {{"loc", 0}, {"scale", 1}}},
        {"exponential", {{"scale", 1}}},
        {"gamma", {{"scale", 1}}},
        {"gumbel", {{"loc", 0}, {"scale", 1}}},
        {"laplace", {{"loc", 0}, {"scale", 1}}},
        {"logistic", {{"loc", 0}, {"scale", 1}}},
        {"lognormal", {{"mean", 0}, {"sigma", 1}}},
        {"poisson", {{"lam", 1}}},
        {"rayleigh", {{"scale", 1}}},
        {"uniform", {{"low", 0}, {"high", 1}}},
    };
    return *all;
}

}  // namespace

FunctionLowering::Draws::Draws(FunctionLowering& lowering, const Value& generator, std::string name,
                               const Arguments& given)
    : f_(lowering), name_(std::move(name)), given_(given), where_(given.where) {
    f_.raise_deferred();
    stream_ = generator.parts[0];
    if (!f_.dry_ && f_.builder_->function().name != f_.target_.name)
        f_.fail(where_,
                "a Generator is drawn from in a parallel loop, so its numbers would hang on the threads",
                "Draw before the loop, or use the functions of np.random, which each thread has its own of.");
}

FunctionLowering::Draws::Draws(FunctionLowering& lowering, ThreadStreamOf module, std::string name,
                               const Arguments& given)
    : f_(lowering),
      legacy_(module == ThreadStreamOf::kNumpy),
      of_python_(module == ThreadStreamOf::kPython),
      name_(std::move(name)),
      given_(given),
      where_(given.where) {
    f_.raise_deferred();
    stream_ = number(static_cast<int64_t>(module));
}

// --- arguments ------------------------------------------------------------------------------------------

std::vector<std::optional<Value>> FunctionLowering::Draws::found(const std::vector<std::string>& names) {
    if (given_.positional.size() > names.size())
        f_.fail(where_, wrong_count(name_, 0, names.size(), given_.positional.size()));
    std::vector<std::optional<Value>> values(names.size());
    for (size_t i = 0; i < given_.positional.size(); ++i) values[i] = given_.positional[i];
    for (const auto& [keyword, value] : given_.keywords) {
        const auto at = std::find(names.begin(), names.end(), keyword);
        if (at == names.end()) f_.fail(where_, unexpected_keyword(name_, keyword));
        std::optional<Value>& place = values[static_cast<size_t>(at - names.begin())];
        if (place) f_.fail(where_, multiple_values(name_, keyword));
        place = value;
    }
    return values;
}

std::vector<Value> FunctionLowering::Draws::bind(const std::string& parameters) {
    std::vector<std::string> names;
    std::vector<std::optional<Value>> otherwise;
    for (size_t at = 0; at < parameters.size();) {
        const size_t end = std::min(parameters.find(' ', at), parameters.size());
        std::string name = parameters.substr(at, end - at);
        otherwise.emplace_back();
        if (const size_t equals = name.find('='); equals != std::string::npos) {
            const Constant value = Constant::of(ScalarType::kFloat64, std::stod(name.substr(equals + 1)));
            otherwise.back() = f_.constant_of(literal_type(value));
            name.resize(equals);
        } else if (name.back() == '?') {
            otherwise.back() = f_.none();
            name.pop_back();
        }
        names.push_back(std::move(name));
        at = end + 1;
    }
    const std::vector<std::optional<Value>> values = found(names);
    std::vector<Value> all;
    for (size_t i = 0; i < names.size(); ++i) {
        if (!values[i] && !otherwise[i]) f_.fail(where_, name_ + "() needs '" + names[i] + "'");
        all.push_back(values[i] ? *values[i] : *otherwise[i]);
    }
    return all;
}

void FunctionLowering::Draws::refuse(const Value& given, std::string_view name, const std::string& wanted,
                                     const std::string& instead) {
    f_.fail(where_,
            name_ + "() takes " + wanted + " for '" + std::string(name) + "' in a compiled function, not " +
                lang::describe(given.type),
            instead);
}

Value FunctionLowering::Draws::real(const Value& given, std::string_view name) {
    if (!is_scalar(given.type) || is_complex(given.type))
        refuse(given, name, "a number", "Draw in a loop over the parameters.");
    return {scalar_type(ScalarType::kFloat64, true), {f_.cast(given, ScalarType::kFloat64)}, 0};
}

Value FunctionLowering::Draws::whole(const Value& given, std::string_view name) {
    if (!is_scalar(given.type) || is_complex(given.type))
        refuse(given, name, "a number", "Draw in a loop over the parameters.");
    return {scalar_type(ScalarType::kInt64, true), {f_.cast(given, ScalarType::kInt64)}, 0};
}

Value FunctionLowering::Draws::index(const Value& given, std::string_view name) {
    if (!is_scalar(given.type) || is_complex(given.type) || is_float(given.type))
        refuse(given, name, "an integer");
    return {scalar_type(ScalarType::kInt64, true), {f_.as_index(given, where_)}, 0};
}

int64_t FunctionLowering::Draws::literal(const Value& given, std::string_view name, int64_t otherwise) {
    if (given.type->kind == TypeKind::kNone) return otherwise;
    const std::optional<int64_t> known = literal_integer(given.type);
    if (!known) refuse(given, name, "an integer that is a constant");
    return *known;
}

std::vector<ValueId> FunctionLowering::Draws::shape_of(const Value& size) {
    if (size.type->kind == TypeKind::kNone) return {};
    std::vector<Value> extents = {size};
    if (size.type->kind == TypeKind::kTuple) {
        extents.clear();
        for (size_t i = 0; i < size.type->parts.size(); ++i) extents.push_back(f_.tuple_item(size, i));
    }
    std::vector<ValueId> shape;
    for (const Value& extent : extents) {
        if (!is_integer(extent.type)) refuse(size, "size", "an integer, a tuple of integers or None");
        shape.push_back(f_.as_index(extent, where_));
    }
    return shape;
}

ScalarType FunctionLowering::Draws::type_of(const Value& dtype, ScalarType otherwise) {
    const bool is_dtype = dtype.type->kind == TypeKind::kNone || dtype.type->kind == TypeKind::kSymbol ||
                          dtype.type->kind == TypeKind::kString;
    if (!is_dtype) refuse(dtype, "dtype", "a dtype");
    return f_.dtype_of(dtype, where_).value_or(otherwise);
}

Value FunctionLowering::Draws::vector(const Value& given, std::string_view name) {
    if (!is_array(given.type) && !is_list(given.type) && given.type->kind != TypeKind::kTuple)
        refuse(given, name, "numbers");
    const Value made = f_.array_of(given, ScalarType::kFloat64, where_);
    if (made.type->rank != 1) f_.fail(where_, std::string(name) + " must be 1-dimensional");
    return made;
}

Value FunctionLowering::Draws::with_first(const Value& array, const Value& axis) {
    const auto rank = static_cast<int64_t>(array.type->rank);
    const int64_t given = literal(axis, "axis", 0), first = given < 0 ? given + rank : given;
    if (first < 0 || first >= rank)
        f_.fail(where_, "axis " + std::to_string(given) + " is out of bounds for array of dimension " +
                            std::to_string(rank));
    if (first == 0) return array;
    std::vector<int> axes(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[0], axes[static_cast<size_t>(first)]);
    return f_.with_axes(array, axes);
}

// --- the engine -----------------------------------------------------------------------------------------

void FunctionLowering::Draws::engine(const std::string& function, const Value* out,
                                     std::vector<ValueId> arguments) {
    std::vector<ValueId> operands;
    if (out != nullptr) {
        operands.push_back(out->parts[0]);
        for (size_t d = 0; d < out->type->rank; ++d) operands.push_back(f_.size_of(*out, d));
    }
    operands.insert(operands.end(), arguments.begin(), arguments.end());
    if (!f_.dry_) f_.builder_->engine(function, operands);
}

Value FunctionLowering::Draws::engine_number(const std::string& function, ScalarType type,
                                             std::vector<ValueId> arguments) {
    const Value result{
        scalar_type(type, type == ScalarType::kInt64 || type == ScalarType::kFloat64), {{}}, 0};
    if (f_.dry_) return result;
    ir::BufferType memory;
    memory.element = type;
    const ValueId address = f_.builder_->engine(function, arguments);
    return {result.type, {f_.builder_->load(f_.builder_->memory(memory, address), {})}, 0};
}

Value FunctionLowering::Draws::made(ScalarType type, std::span<const ValueId> shape) {
    return f_.allocate(type, shape, where_);
}

Value FunctionLowering::Draws::draw(const std::string& distribution, std::vector<Value> parameters,
                                    const Value& size) {
    if (distribution == "random" && size.type->kind == TypeKind::kNone)
        return engine_number("draw_uniform", ScalarType::kFloat64, {stream_});
    const Distribution* found = distributions::find(distribution);
    const ScalarType type = found->is_whole ? ScalarType::kInt64 : ScalarType::kFloat64;
    std::vector<ValueId> arguments = {stream_, number(found - distributions::all().data())};
    std::vector<ValueId> reals, wholes;
    for (size_t k = 0; k < 3; ++k) {
        const bool has = k < parameters.size(), is_whole = has && found->parameters[k].is_whole;
        const Value zero = f_.integer(0);
        const std::string_view name = found->parameters[k].name;
        reals.push_back(real(has && !is_whole ? parameters[k] : zero, name).parts[0]);
        wholes.push_back(is_whole ? whole(parameters[k], name).parts[0] : zero.parts[0]);
    }
    arguments.insert(arguments.end(), reals.begin(), reals.end());
    arguments.insert(arguments.end(), wholes.begin(), wholes.end());
    if (size.type->kind == TypeKind::kNone) return engine_number("draw_number", type, arguments);
    const Value out = made(type, shape_of(size));
    engine("draw_numbers", &out, arguments);
    return out;
}

Value FunctionLowering::Draws::draw_float(int kind, const Value& shape, const Value& size) {
    const bool single = size.type->kind == TypeKind::kNone;
    const Value out = made(ScalarType::kFloat32, single ? std::vector<ValueId>{number(1)} : shape_of(size));
    engine("draw_floats", &out, {stream_, number(kind), real(shape, "shape").parts[0]});
    return single ? f_.load({out, {number(0)}}) : out;
}

// --- distributions --------------------------------------------------------------------------------------

std::optional<Value> FunctionLowering::Draws::call_distribution() {
    const Distribution* found = distributions::find(legacy_ ? "legacy_" + name_ : name_);
    if (found == nullptr || name_.starts_with("legacy_")) return std::nullopt;
    const auto known = defaults().find(name_);
    std::string parameters;
    for (int k = 0; k < found->count; ++k) {
        std::string name(found->parameters[static_cast<size_t>(k)].name);
        if (name == "high - low") name = "high";
        parameters += name;
        if (known != defaults().end() && known->second.contains(name))
            parameters += "=" + std::to_string(known->second.at(name));
        parameters += " ";
    }
    std::vector<Value> values = bind(parameters + "size?");
    const Value size = values.back();
    values.pop_back();
    if (name_ == "uniform") {
        const Value low = real(values[0], "low"), high = real(values[1], "high");
        const ValueId span = f_.apply(OpId::kSubtract, {high.parts[0], low.parts[0]});
        f_.check(f_.apply(OpId::kIsfinite, {span}),
                 f_.site("OverflowError",
                         legacy_ ? "Range exceeds valid bounds" : "high - low range exceeds valid bounds"),
                 {}, where_);
        values[1] = {scalar_type(ScalarType::kFloat64, true), {span}, 0};
    }
    return draw(std::string(found->name), std::move(values), size);
}

// What Generator draws as float32, too.
Value FunctionLowering::Draws::call_standard(const std::string& distribution, int kind) {
    std::vector<Value> values = bind(kind == kStandardGamma         ? "shape size? dtype?"
                                     : kind == kStandardExponential ? "size? dtype? method?"
                                                                    : "size? dtype?");
    const bool has_shape = kind == kStandardGamma;
    const Value size = values[has_shape ? 1 : 0], dtype = values[has_shape ? 2 : 1];
    const Value shape = has_shape ? values[0] : f_.integer(0);
    std::string drawn = distribution;
    if (kind == kStandardExponential && values[2].type->kind != TypeKind::kNone) {
        if (values[2].type->kind != TypeKind::kString) refuse(values[2], "method", "a text");
        if (values[2].type->text != "zig") {
            drawn = "exponential_by_log";
            kind = kExponentialByLog;
        }
    }
    const ScalarType type = type_of(dtype, ScalarType::kFloat64);
    if (type == ScalarType::kFloat32) return draw_float(kind, shape, size);
    if (type != ScalarType::kFloat64) refuse(dtype, "dtype", "float64 or float32");
    return draw(drawn, has_shape ? std::vector<Value>{shape} : std::vector<Value>{}, size);
}

Value FunctionLowering::Draws::call_integers(const Value& low, const Value& high, const Value& size,
                                             const Value& dtype, const Value& endpoint) {
    const ScalarType type = type_of(dtype, ScalarType::kInt64);
    if (!DType(type).is_integer() && type != ScalarType::kBool)
        refuse(dtype, "dtype", "an integer type or bool");
    const bool below = high.type->kind == TypeKind::kNone;
    const auto is_unsigned = [](const Value& value) { return value.type->scalar == ScalarType::kUInt64; };
    const Value first = whole(below ? f_.integer(0) : low, "low");
    const Value last = whole(below ? low : high, below ? "low" : "high");
    // Which of them are uint64 goes along with whether the last one is given, too.
    const int64_t kinds = (!below && is_unsigned(low) ? 2 : 0) | (is_unsigned(below ? low : high) ? 4 : 0);
    const ValueId given_too = f_.cast(scalar_truth(endpoint, "endpoint"), ScalarType::kInt64);
    std::vector<ValueId> arguments = {first.parts[0], last.parts[0],
                                      f_.apply(OpId::kAdd, {given_too, number(kinds)}),
                                      number(legacy_ ? 1 : 0)};
    if (size.type->kind == TypeKind::kNone) {
        arguments.insert(arguments.begin(), {stream_, number(static_cast<int64_t>(type))});
        return engine_number("draw_integer", type, arguments);
    }
    arguments.insert(arguments.begin(), stream_);
    const Value out = made(type, shape_of(size));
    engine("draw_integers", &out, arguments);
    return out;
}

Value FunctionLowering::Draws::scalar_truth(const Value& given, std::string_view name) {
    if (!is_scalar(given.type)) refuse(given, name, "a bool");
    return {scalar_type(ScalarType::kBool, true), {f_.truth(given, where_)}, 0};
}

// --- orders ---------------------------------------------------------------------------------------------

Value FunctionLowering::Draws::order_of(ValueId count) {
    const std::array shape = {count};
    const Value order = made(ScalarType::kInt64, shape);
    if (of_python_) {
        engine("python_order", &order, {});
    } else {
        engine("draw_order", &order, {stream_});
    }
    return order;
}

Value FunctionLowering::Draws::call_permutation(const Value& x, const Value& axis) {
    if (is_scalar(x.type) && !is_integer(x.type)) refuse(x, "x", "an integer, an array or a list");
    if (is_scalar(x.type)) return order_of(f_.apply(OpId::kMaximum, {f_.as_index(x, where_), number(0)}));
    if (!is_array(x.type) && !is_list(x.type) && x.type->kind != TypeKind::kTuple)
        refuse(x, "x", "an integer, an array or a list");
    const Value values = is_array(x.type) ? x : f_.array_of(x, std::nullopt, where_);
    if (values.type->rank == 0) f_.fail(where_, "x must be an integer or at least 1-dimensional");
    std::vector<ValueId> shape;
    for (size_t d = 0; d < values.type->rank; ++d) shape.push_back(f_.size_of(values, d));
    const Value out = made(values.type->scalar, shape);
    const Value from = with_first(values, axis), to = with_first(out, axis);
    f_.call_prelude("random.take", {{from, order_of(f_.size_of(from, 0)), to}, {}, where_});
    return out;
}

Value FunctionLowering::Draws::call_shuffle(const Value& x, const Value& axis) {
    Value items = x;
    if (is_list(x.type)) {
        if (literal(axis, "axis", 0) != 0)
            f_.fail(where_, "Axis argument is only supported on ndarray objects");
    } else {
        if (!is_array(x.type) || x.type->rank == 0) refuse(x, "x", "an array or a list");
        f_.expect_writeable(x.type, where_);
        items = with_first(x, axis);
    }
    const ValueId count = f_.call_builtin("len", {{items}, {}, where_})->parts[0];
    const Value order = order_of(count);
    const Value before = f_.call_method(items, "copy", {{}, {}, where_});
    f_.call_prelude("random.take", {{before, order, items}, {}, where_});
    return f_.none();
}

Value FunctionLowering::Draws::call_vectors() {
    const bool is_multinomial = name_ == "multinomial";
    const std::vector<Value> values = bind(is_multinomial ? "n pvals size?" : "alpha size?");
    const Value given = is_multinomial ? vector(values[1], "pvals") : vector(values[0], "alpha");
    const ValueId width = f_.size_of(given, 0);
    std::vector<ValueId> shape = shape_of(values.back());
    shape.push_back(width);
    const Value out = made(is_multinomial ? ScalarType::kInt64 : ScalarType::kFloat64, shape);
    std::vector<ValueId> arguments = {stream_};
    if (is_multinomial) arguments.push_back(whole(values[0], "n").parts[0]);
    arguments.insert(arguments.end(), {given.parts[0], width, number(legacy_ ? 1 : 0)});
    engine("draw_" + name_, &out, arguments);
    return out;
}

Value FunctionLowering::Draws::call_choice() {
    const std::vector<Value> values =
        bind(legacy_ ? "a size? replace? p?" : "a size? replace? p? axis? shuffle?");
    const auto flag = [&](const Value& value) {
        return value.type->kind == TypeKind::kNone
                   ? number(1)
                   : f_.cast(scalar_truth(value, "replace"), ScalarType::kInt64);
    };
    const bool of_numbers = is_scalar(values[0].type), single = values[1].type->kind == TypeKind::kNone;
    const Value from =
        of_numbers || is_array(values[0].type) ? values[0] : f_.array_of(values[0], std::nullopt, where_);
    if (!of_numbers && from.type->rank != 1 && (legacy_ || from.type->rank == 0))
        f_.fail(where_, legacy_ ? "a must be 1-dimensional" : "a must be a sequence or an integer");
    int64_t axis = legacy_ ? 0 : literal(values[4], "axis", 0);
    if (!of_numbers && axis < 0) axis += static_cast<int64_t>(from.type->rank);
    if (!of_numbers && (axis < 0 || axis >= static_cast<int64_t>(from.type->rank)))
        f_.fail(where_, "axis " + std::to_string(literal(values[4], "axis", 0)) +
                            " is out of bounds for array of dimension " + std::to_string(from.type->rank));
    const ValueId population =
        of_numbers ? f_.as_index(from, where_) : f_.size_of(from, static_cast<size_t>(axis));
    const Value chosen =
        made(ScalarType::kInt64, single ? std::vector<ValueId>{number(1)} : shape_of(values[1]));
    const ValueId replace = flag(values[2]);
    if (values[3].type->kind == TypeKind::kNone) {
        engine(
            "choose", &chosen,
            {stream_, population, replace, number(legacy_ ? 1 : 0), legacy_ ? number(1) : flag(values[5])});
    } else {
        const Value odds = vector(values[3], "p");
        f_.check(f_.apply(OpId::kEqual, {f_.size_of(odds, 0), population}),
                 f_.site("ValueError",
                         legacy_ ? "'a' and 'p' must have same size" : "a and p must have same size"),
                 {}, where_);
        engine("choose_by_odds", &chosen, {stream_, odds.parts[0], f_.size_of(odds, 0), replace});
    }
    if (single) {
        const Value at = f_.load({chosen, {number(0)}});
        if (of_numbers) return {scalar_type(ScalarType::kInt64, true), at.parts, 0};
        return from.type->rank == 1 ? f_.load({from, {at.parts[0]}}) : chosen_parts(from, at, axis);
    }
    if (of_numbers) return chosen;
    if (from.type->rank > 1) return chosen_parts(from, chosen, axis);
    std::vector<ValueId> shape;
    for (size_t d = 0; d < chosen.type->rank; ++d) shape.push_back(f_.size_of(chosen, d));
    const Value out = made(from.type->scalar, shape);
    f_.for_each_element(out, [&](std::span<const ValueId> indices) {
        const std::vector<ValueId> at(indices.begin(), indices.end());
        f_.store({out, at}, f_.load({from, {f_.load({chosen, at}).parts[0]}}), where_);
    });
    return out;
}

Value FunctionLowering::Draws::chosen_parts(const Value& from, const Value& chosen, int64_t axis) {
    Symbol take;
    take.kind = SymbolKind::kKnown;
    take.path = "numpy.take";
    return f_.call_known(take, {{from, chosen, f_.integer(axis)}, {}, where_});
}

// --- calls ----------------------------------------------------------------------------------------------

Value FunctionLowering::Draws::call() {
    if (of_python_) return call_of_python();
    if (legacy_) {
        if (name_ == "random_sample" || name_ == "ranf" || name_ == "sample" || name_ == "random")
            return draw("random", {}, bind("size?")[0]);
        if (name_ == "rand" || name_ == "randn") {
            if (!given_.keywords.empty())
                f_.fail(where_, unexpected_keyword(name_, given_.keywords[0].first));
            const Value size = given_.positional.empty() ? f_.none() : f_.tuple(given_.positional);
            return draw(name_ == "rand" ? "random" : "legacy_standard_normal", {}, size);
        }
        if (name_ == "seed") {
            engine("seed_thread", nullptr, {whole(bind("seed")[0], "seed").parts[0]});
            return f_.none();
        }
        if (name_ == "randint") {
            const std::vector<Value> values = bind("low high? size? dtype?");
            return call_integers(values[0], values[1], values[2], values[3], f_.boolean(false));
        }
    } else {
        static constexpr std::string_view kStandard[] = {"random", "standard_normal", "standard_exponential",
                                                         "standard_gamma"};
        for (int kind = 0; kind <= kStandardGamma; ++kind) {
            if (name_ == kStandard[kind]) return call_standard(name_, kind);
        }
        if (name_ == "integers") {
            const std::vector<Value> values = bind("low high? size? dtype? endpoint?");
            const bool given = values[4].type->kind != TypeKind::kNone;
            return call_integers(values[0], values[1], values[2], values[3],
                                 given ? values[4] : f_.boolean(false));
        }
    }
    if (name_ == "permutation" || name_ == "shuffle") {
        const std::vector<Value> values = bind(legacy_ ? "x" : "x axis?");
        const Value axis = legacy_ ? f_.none() : values[1];
        return name_ == "shuffle" ? call_shuffle(values[0], axis) : call_permutation(values[0], axis);
    }
    if (name_ == "choice") return call_choice();
    if (name_ == "multinomial" || name_ == "dirichlet") return call_vectors();
    if (const std::optional<Value> result = call_distribution()) return *result;
    f_.fail(where_,
            legacy_ ? "numpy.random." + name_ + " is not compiled yet"
                    : "Generator has no method '" + name_ + "' in a compiled function",
            "Call it outside and give its result as an argument.");
}

}  // namespace weft::lang
