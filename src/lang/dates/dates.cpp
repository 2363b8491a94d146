#include "lang/dates/dates.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr std::string_view kComparisons[] = {"equal",      "not_equal", "less",
                                             "less_equal", "greater",   "greater_equal"};
constexpr std::string_view kExtremes[] = {"maximum", "minimum", "fmax", "fmin"};
// What gives the elements in another order or shape.
constexpr std::string_view kMoving[] = {
    "ascontiguousarray",
    "asfortranarray",
    "atleast_1d",
    "atleast_2d",
    "broadcast_to",
    "diagonal",
    "expand_dims",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "moveaxis",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "rot90",
    "squeeze",
    "swapaxes",
    "take",
    "tile",
    "transpose",
};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

const DateType kDays{false, DateUnit::kDay, 1}, kMonths{false, DateUnit::kMonth, 1};

}  // namespace

// --- counts ---------------------------------------------------------------------------------------------

Value FunctionLowering::Dates::counts(const Value& value) {
    if (!is_date(value)) return value;
    if (is_structures(value.type))
        return f_.field_view(value, value.type->layout->fields[0], f_.integer(0).parts[0]);
    return f_.scalar(scalar_type(ScalarType::kInt64), f_.tuple_item(value, 0).parts[0]);
}

Value FunctionLowering::Dates::dated(const Value& counts, const DateType& type) {
    if (!is_array(counts.type)) {
        Value item = f_.scalar(scalar_type(ScalarType::kInt64), f_.cast(counts, ScalarType::kInt64));
        Value result = f_.tuple({item});
        result.type = record_type(date_record(type), result.type->parts);
        return result;
    }
    const Value array = f_.forced(counts);
    std::vector<ValueId> shape, strides;
    for (size_t d = 0; d < array.type->rank; ++d) {
        shape.push_back(f_.size_of(array, d));
        strides.push_back(f_.stride_of(array, d));
    }
    return f_.view_as(array, structures_type(date_layout(type), array.type), f_.integer(0).parts[0], shape,
                      strides);
}

Value FunctionLowering::Dates::call_prelude(const std::string& name, std::vector<Value> arguments) {
    return f_.call_prelude("dates." + name, {std::move(arguments), {}, where_});
}

DateType FunctionLowering::Dates::common(const DateType& a, const DateType& b) const {
    const std::optional<DateType> found = common_unit(a, b);
    if (!found)
        f_.fail(where_, name_of(a) + " and " + name_of(b) + " are counted in no common unit",
                "Convert one of them by .astype().");
    return *found;
}

// A count of one unit in another, rounded down.
Value FunctionLowering::Dates::count_in(const Value& count, const DateType& from, const DateType& to) {
    if (from.unit == DateUnit::kGeneric || to.unit == DateUnit::kGeneric) return count;
    if (from.has_months() != to.has_months()) {
        if (from.is_span)
            f_.fail(where_,
                    name_of(from) + " is not converted to " + name_of(to) + ": months have no length");
        if (from.has_months())
            return count_in(call_prelude("days_of_months", {count_in(count, from, kMonths)}), kDays, to);
        return count_in(call_prelude("months_of_days", {count_in(count, from, kDays)}), kMonths, to);
    }
    const bool is_finer = from.unit <= to.unit;
    const std::optional<int64_t> units =
        is_finer ? units_in(from.unit, to.unit) : units_in(to.unit, from.unit);
    int64_t up = from.multiple, down = to.multiple;
    int64_t& scaled = is_finer ? up : down;
    if (!units || __builtin_mul_overflow(scaled, *units, &scaled))
        f_.fail(where_, name_of(from) + " is not converted to " + name_of(to) + ": int64 does not hold it");
    const int64_t both = std::gcd(up, down);
    Value result = count;
    if (up != both) result = call_prelude("finer", {result, f_.integer(up / both)});
    if (down != both) result = call_prelude("coarser", {result, f_.integer(down / both)});
    return result;
}

Value FunctionLowering::Dates::converted(const Value& date, const DateType& to) {
    const DateType from = *date_of(date.type);
    if (from == to) return date;
    if (from.is_span != to.is_span) f_.fail(where_, name_of(from) + " is not converted to " + name_of(to));
    const Value given = counts(date);
    if (!is_array(given.type)) return dated(count_in(given, from, to), to);
    const Deferring now(f_, false);
    const auto each = [&](std::span<const Value> values) {
        return f_.scalar(scalar_type(ScalarType::kInt64),
                         f_.cast(count_in(values[0], from, to), ScalarType::kInt64));
    };
    return dated(f_.elementwise(std::array{given}, each, where_, std::nullopt), to);
}

// --- ufuncs ---------------------------------------------------------------------------------------------

void FunctionLowering::Dates::refuse(const std::string& ufunc, std::span<const Value> operands) const {
    std::string text = ufunc + " has no meaning for ";
    for (size_t i = 0; i < operands.size(); ++i)
        text += (i > 0 ? " and " : "") + lang::describe(operands[i].type);
    f_.fail(where_, text);
}

FunctionLowering::Dates::Loop FunctionLowering::Dates::loop_for(const std::string& ufunc,
                                                                std::span<const Value> operands) {
    std::string kinds;
    std::vector<DateType> dates;
    for (const Value& operand : operands) {
        const DateType* const date = date_of(operand.type);
        if (date == nullptr && !is_array(operand.type) && !is_scalar(operand.type)) refuse(ufunc, operands);
        const DType dtype(operand.type->scalar);
        kinds += date != nullptr                         ? (date->is_span ? 'm' : 'M')
                 : dtype.is_complex()                    ? 'c'
                 : dtype.is_integer() || dtype.is_bool() ? 'q'
                                                         : 'd';
        dates.push_back(date != nullptr ? *date : DateType{true});
    }
    if (operands.size() == 1) {
        if (ufunc == "isnat" || ufunc == "isnan") return {"is_none", dates[0]};
        if (ufunc == "isfinite") return {"is_some", dates[0]};
        if (ufunc == "isinf") return {"never", dates[0]};
        if (kinds == "m" && (ufunc == "negative" || ufunc == "absolute" || ufunc == "sign"))
            return {ufunc, dates[0], dates[0]};
        if (kinds == "m" && ufunc == "positive") return {"itself", dates[0], dates[0]};
        refuse(ufunc, operands);
    }
    const bool compares = is_one_of(kComparisons, ufunc), is_extreme = is_one_of(kExtremes, ufunc);
    if ((ufunc == "equal" || ufunc == "not_equal") && (kinds == "Mm" || kinds == "mM"))
        return {ufunc == "equal" ? "never" : "always"};
    // Beside a date or a span whole numbers count the same unit.
    if (ufunc == "add" || ufunc == "subtract" || compares || is_extreme)
        std::replace(kinds.begin(), kinds.end(), 'q', 'm');
    const auto in_common = [&](const std::string& function, bool gives_date, bool is_span) -> Loop {
        Loop loop{function, common(dates[0], dates[1])};
        if (gives_date) {
            loop.result = loop.of;
            loop.result->is_span = is_span;
        }
        return loop;
    };
    if (compares && (kinds == "MM" || kinds == "mm")) return in_common(ufunc, false, false);
    if (is_extreme && (kinds == "MM" || kinds == "mm")) return in_common(ufunc, true, kinds == "mm");
    if (ufunc == "add" && (kinds == "mm" || kinds == "Mm" || kinds == "mM"))
        return in_common(ufunc, true, kinds == "mm");
    if (ufunc == "subtract" && (kinds == "mm" || kinds == "Mm" || kinds == "MM"))
        return in_common(ufunc, true, kinds != "Mm");
    if (ufunc == "multiply" && (kinds == "mq" || kinds == "qm" || kinds == "md" || kinds == "dm")) {
        const bool is_whole = kinds.find('q') != std::string::npos;
        const DateType& of = dates[kinds[0] == 'm' ? 0 : 1];
        return {is_whole ? "multiply_whole" : "multiply", of, of, !is_whole};
    }
    const bool is_bool_beside = kinds == "mq" && DType(operands[1].type->scalar).is_bool();
    if ((ufunc == "divide" || ufunc == "floor_divide") && (kinds == "mq" || kinds == "md") && !is_bool_beside)
        return {kinds == "mq" ? "divide_whole" : "divide", dates[0], dates[0], kinds == "md"};
    if (ufunc == "divide" && kinds == "mm") return in_common("ratio", false, true);
    if (ufunc == "floor_divide" && kinds == "mm") return in_common(ufunc, false, true);
    if (ufunc == "remainder" && kinds == "mm") return in_common(ufunc, true, true);
    refuse(ufunc, operands);
}

Value FunctionLowering::Dates::apply(const std::string& ufunc, std::span<const Value> operands,
                                     const std::optional<Value>& target) {
    for (const Value& operand : operands) {
        if (operand.type->kind == TypeKind::kNever) return f_.never();
    }
    const Loop loop = loop_for(ufunc, operands);
    const DateType* const stored = target ? date_of(target->type) : nullptr;
    if (target && (stored != nullptr) != loop.result.has_value())
        f_.fail(where_, "the result of " + ufunc + " is not stored in " + lang::describe(target->type));
    if (stored != nullptr && stored->is_span != loop.result->is_span)
        f_.fail(where_, name_of(*loop.result) + " is not stored in " + lang::describe(target->type));
    std::vector<Value> given;
    std::vector<std::optional<DateType>> dates;
    bool has_array = target.has_value();
    for (const Value& operand : operands) {
        given.push_back(counts(operand));
        has_array |= is_array(given.back().type);
        const DateType* const date = date_of(operand.type);
        dates.push_back(date != nullptr ? std::optional(*date) : std::nullopt);
    }
    const DateType result = stored != nullptr ? *stored : loop.result.value_or(DateType{});
    const auto each = [&](std::span<const Value> elements) {
        if (loop.function == "never" || loop.function == "always")
            return f_.scalar(scalar_type(ScalarType::kBool), f_.boolean(loop.function == "always").parts[0]);
        std::vector<Value> items;
        for (size_t i = 0; i < elements.size(); ++i) {
            const ScalarType type =
                dates[i] || !loop.takes_floats ? ScalarType::kInt64 : ScalarType::kFloat64;
            Value item = f_.scalar(scalar_type(type, true), f_.cast(elements[i], type));
            if (dates[i]) item = count_in(item, *dates[i], *loop.of);
            items.push_back(item);
        }
        if (loop.function.starts_with("multiply") && !dates[0]) std::swap(items[0], items[1]);
        Value made = loop.function == "itself" ? items[0] : call_prelude(loop.function, items);
        if (loop.result) made = count_in(made, *loop.result, result);
        const ScalarType type = loop.result ? ScalarType::kInt64 : made.type->scalar;
        return f_.scalar(scalar_type(type), f_.cast(made, type));
    };
    const Deferring now(f_, false);
    if (!has_array) {
        const Value made = each(given);
        return loop.result ? dated(made, result) : made;
    }
    if (!target) {
        const Value made = f_.elementwise(given, each, where_, std::nullopt);
        return loop.result ? dated(made, result) : made;
    }
    f_.expect_writeable(target->type, where_);
    const Value place = counts(*target);
    if (!f_.may_overlap(given, place)) {
        f_.elementwise(given, each, where_, place);
    } else {
        f_.store_part(place, f_.elementwise(given, each, where_, std::nullopt), where_);
    }
    return *target;
}

Value FunctionLowering::Dates::map(const std::string& name, std::initializer_list<Value> values) {
    const std::vector<Value> given(values);
    const auto each = [&](std::span<const Value> elements) {
        const Value made = call_prelude(name, {elements.begin(), elements.end()});
        return f_.scalar(scalar_type(made.type->scalar), f_.cast(made, made.type->scalar));
    };
    const Deferring now(f_, false);
    if (std::ranges::none_of(given, [](const Value& value) { return is_array(value.type); }))
        return each(given);
    return f_.elementwise(given, each, where_, std::nullopt);
}

// --- functions ------------------------------------------------------------------------------------------

Value FunctionLowering::Dates::call_known(const std::string& name, const Value& first,
                                          const Arguments& rest) {
    Symbol symbol;
    symbol.kind = SymbolKind::kKnown;
    symbol.name = name;
    symbol.path = "numpy." + name;
    Arguments given = rest;
    given.defers = false;
    given.positional.insert(given.positional.begin(), first);
    return f_.call_known(symbol, given);
}

Value FunctionLowering::Dates::reduced(const std::string& name, const Value& values, const Arguments& rest) {
    return call_known(name, values, rest);
}

std::optional<Value> FunctionLowering::Dates::reduce(const std::string& name, const Value& date,
                                                     const Arguments& rest) {
    const DateType type = *date_of(date.type);
    const Value given = counts(date);
    if (name == "min" || name == "amin") return dated(reduced("min", given, rest), type);
    if (name == "max" || name == "amax")
        return dated(map("from_last", {reduced("max", map("last", {given}), rest)}), type);
    if (name == "argmin") return reduced(name, given, rest);
    if (name == "argmax") return reduced(name, map("last", {given}), rest);
    if (name == "all" || name == "any") return reduced(name, given, rest);
    if (name == "sort" || name == "argsort") {
        const Value sorted = reduced(name, map("last", {given}), rest);
        return name == "sort" ? dated(map("from_last", {sorted}), type) : sorted;
    }
    const bool adds = name == "sum" || name == "mean" || name == "cumsum" || name == "median";
    if (adds && !type.is_span) refuse("add", std::array{date, date});
    if (name == "sum" || name == "mean") {
        const Value is_there = reduced("all", map("is_some", {given}), rest);
        const Value total = map("or_none", {is_there, reduced("sum", given, rest)});
        if (name == "sum") return dated(total, type);
        return dated(map("divide_whole", {total, reduced("sum", map("one", {given}), rest)}), type);
    }
    if (name == "cumsum") {
        const Value missing = call_known(name, map("is_none", {given}), rest);
        return dated(map("unless_any", {missing, call_known(name, given, rest)}), type);
    }
    if (name == "median") {
        if (!rest.positional.empty() || !rest.keywords.empty())
            f_.fail(where_, "median() of dates takes an array alone in a compiled function");
        const Value values = is_array(given.type) ? f_.ravelled(given, where_) : given;
        const Value sorted = call_known("sort", map("last", {values}), {{}, {}, where_});
        return dated(call_prelude("median", {sorted}), type);
    }
    if (name == "ptp") {
        const std::array both = {*reduce("max", date, rest), *reduce("min", date, rest)};
        return apply("subtract", both);
    }
    return std::nullopt;
}

std::optional<Value> FunctionLowering::Dates::moved(const std::string& name, const Value& date,
                                                    const Arguments& rest) {
    if (!is_one_of(kMoving, name) || !is_structures(date.type)) return std::nullopt;
    const DateType type = *date_of(date.type);
    return dated(call_known(name, counts(date), rest), type);
}

Value FunctionLowering::Dates::astype(const Value& given, const Value& dtype) {
    if (dtype.type->kind == TypeKind::kString) {
        if (const std::optional<DateType> to = date_type_named(dtype.type->text))
            return is_date(given) ? converted(given, *to)
                                  : dated(f_.array_of(given, ScalarType::kInt64, where_), *to);
    }
    if (dtype.type->kind == TypeKind::kSymbol && dtype.type->symbol->layout != nullptr) {
        if (const DateType* const to = date_of(dtype.type->symbol->layout->record))
            return converted(given, *to);
    }
    const std::optional<ScalarType> type = f_.dtype_of(dtype, where_);
    const Value numbers = counts(given);
    if (!is_array(numbers.type))
        return f_.scalar(scalar_type(type.value_or(ScalarType::kInt64)),
                         f_.cast(numbers, type.value_or(ScalarType::kInt64)));
    return f_.array_of(numbers, type, where_);
}

std::optional<Value> FunctionLowering::Dates::call_method(const Value& date, const std::string& name,
                                                          const Arguments& rest) {
    if (name == "astype") {
        f_.expect_arguments(name, rest, 1, 1);
        return astype(date, rest.positional[0]);
    }
    if (!is_date(date)) return std::nullopt;
    if (name == "view") {
        f_.expect_arguments(name, rest, 1, 1);
        if (f_.dtype_of(rest.positional[0], where_) != ScalarType::kInt64)
            f_.fail(where_, "dates are viewed as int64 alone in a compiled function");
        return counts(date);
    }
    if (name == "sort" || name == "argpartition" || name == "partition") return std::nullopt;
    if (const std::optional<Value> result = reduce(name, date, rest)) return result;
    if (!is_one_of(kMoving, name) || !is_structures(date.type)) return std::nullopt;
    const DateType type = *date_of(date.type);
    return dated(f_.call_method(counts(date), name, rest), type);
}

std::optional<Value> FunctionLowering::Dates::call(const std::string& name, const Arguments& given) {
    if (name == "isscalar" && given.positional.size() == 1)
        return f_.boolean(!is_structures(given.positional[0].type));
    if (name == "where" && given.positional.size() == 3) {
        const Value &yes = given.positional[1], &no = given.positional[2];
        const DateType *const a = date_of(yes.type), *const b = date_of(no.type);
        if (a == nullptr || b == nullptr || a->is_span != b->is_span) refuse(name, given.positional);
        const DateType both = common(*a, *b);
        Arguments counted{
            {given.positional[0], counts(converted(yes, both)), counts(converted(no, both))}, {}, where_};
        return dated(f_.call_where(counted), both);
    }
    const OpInfo* const op = find_op(name);
    if (name == "isnat" || (op != nullptr && op->flags.is_ufunc && op->nout == 1)) {
        const size_t inputs = name == "isnat" ? 1 : op->nin;
        std::vector<Value> operands = given.positional;
        std::optional<Value> target;
        if (given.keywords.size() == 1 && given.keywords[0].first == "out") target = given.keywords[0].second;
        if (!target && operands.size() == inputs + 1) {
            target = operands.back();
            operands.pop_back();
        }
        if (operands.size() != inputs || given.keywords.size() > (target ? 1U : 0U))
            f_.expect_arguments(name, given, inputs, inputs);
        if (target && target->type->kind == TypeKind::kNone) target.reset();
        if (target && !is_strided(target->type))
            f_.fail(where_, "out is an array, not " + lang::describe(target->type));
        return apply(name == "isnat" ? name : std::string(op->numpy_name), operands, target);
    }
    if (given.positional.empty() || !is_date(given.positional[0])) return std::nullopt;
    Arguments rest = given;
    rest.positional.erase(rest.positional.begin());
    if (const std::optional<Value> result = reduce(name, given.positional[0], rest)) return result;
    return moved(name, given.positional[0], rest);
}

Value FunctionLowering::Dates::make(bool is_span, const Arguments& given) {
    const std::string name = is_span ? "timedelta64" : "datetime64";
    f_.expect_arguments(name, given, 1, 2);
    const Value& value = given.positional[0];
    std::optional<DateType> type;
    if (given.positional.size() == 2) {
        const TypeRef unit = given.positional[1].type;
        if (unit->kind == TypeKind::kString) type = with_unit(is_span, unit->text);
        if (!type)
            f_.fail(where_, name + "() takes a known text as its unit", "Write 'D', 'h', 's' or 'ns'.");
    }
    if (const DateType* const own = date_of(value.type)) {
        if (own->is_span != is_span) f_.fail(where_, name_of(*own) + " is not converted to " + name);
        return type ? converted(value, *type) : value;
    }
    if (value.type->kind == TypeKind::kString) {
        const auto parsed = parse_date(value.type->text);
        if (!parsed || (is_span && parsed->second.unit != DateUnit::kGeneric))
            f_.fail(where_, "'" + value.type->text + "' is no " + name + " of a compiled function");
        DateType own = parsed->second;
        own.is_span = is_span;
        const Value made = dated(f_.integer(parsed->first), own);
        if (!type) return made;
        return parsed->first == INT64_MIN ? dated(f_.integer(INT64_MIN), *type) : converted(made, *type);
    }
    if (!is_integer(value.type) || (!is_span && !type))
        f_.fail(where_,
                name + "() is not made of " + lang::describe(value.type) + (type ? "" : " without a unit"));
    return dated(f_.scalar(scalar_type(ScalarType::kInt64), f_.cast(value, ScalarType::kInt64)),
                 type.value_or(DateType{is_span}));
}

}  // namespace weft::lang
