// Axes and flags that are known only when the code runs: NumPy's function is compiled for each that there may
// be.
#include <algorithm>
#include <array>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

struct AxisParameter {
    std::string_view function;
    uint8_t place;  // among the arguments
    std::string_view keyword = "axis";
    uint8_t more = 0;  // axes of the result besides the argument's
};
constexpr AxisParameter kAxes[] = {
    {"sum", 1},
    {"prod", 1},
    {"mean", 1},
    {"var", 1},
    {"std", 1},
    {"min", 1},
    {"max", 1},
    {"amin", 1},
    {"amax", 1},
    {"all", 1},
    {"any", 1},
    {"argmin", 1},
    {"argmax", 1},
    {"ptp", 1},
    {"count_nonzero", 1},
    {"average", 1},
    {"median", 1},
    {"quantile", 2},
    {"percentile", 2},
    {"cumsum", 1},
    {"cumprod", 1},
    {"diff", 2},
    {"nansum", 1},
    {"nanprod", 1},
    {"nanmean", 1},
    {"nanvar", 1},
    {"nanstd", 1},
    {"nanmin", 1},
    {"nanmax", 1},
    {"nanargmin", 1},
    {"nanargmax", 1},
    {"nanmedian", 1},
    {"nanquantile", 2},
    {"nanpercentile", 2},
    {"nancumsum", 1},
    {"nancumprod", 1},
    {"sort", 1},
    {"argsort", 1},
    {"partition", 2},
    {"argpartition", 2},
    {"take", 2},
    {"take_along_axis", 2},
    {"repeat", 2},
    {"roll", 2},
    {"flip", 1},
    {"delete", 2},
    {"insert", 3},
    {"append", 2},
    {"split", 2},
    {"array_split", 2},
    {"trapezoid", 3},
    {"swapaxes", 1, "axis1"},
    {"swapaxes", 2, "axis2"},
    {"moveaxis", 1, "source"},
    {"moveaxis", 2, "destination"},
    {"expand_dims", 1, "axis", 1},
    {"norm", 2},
    {"fft", 2},
    {"ifft", 2},
    {"rfft", 2},
    {"irfft", 2},
    {"hfft", 2},
    {"ihfft", 2},
};

// Flags that decide which code there is, but not the type of the result.
constexpr AxisParameter kFlags[] = {
    {"svd", 1, "full_matrices"},
    {"nan_to_num", 1, "copy"},
    {"polyval", 2, "tensor"},
};

}  // namespace

// One of two ways to a value, which assign no variable.
Value FunctionLowering::one_of(NodeId where, ValueId condition, const std::function<Value()>& yes,
                               const std::function<Value()>& no) {
    TypeRef types[2];
    {
        const DryRun dry(*this);
        types[0] = yes().type;
        types[1] = no().type;
    }
    const TypeRef type = joined(types[0], types[1]);
    if (type == nullptr)
        fail(where,
             "this is " + lang::describe(types[0]) + " or " + lang::describe(types[1]) +
                 " by an argument that is known only when the code runs",
             "Write the argument as a constant, or as a default that calls leave out.");
    Value result{type, {}, 0};
    if (dry_) {
        result.parts.resize(part_count(type));
    } else {
        const auto side = [&](bool holds, const std::function<Value()>& way) -> ir::Builder::Body {
            return [&, holds](ir::Builder&, std::span<const ValueId>) {
                const Learned learned(known_);
                learn(condition, holds);
                std::vector<ValueId> parts;
                const size_t temporaries = temporaries_.size();
                append_converted(parts, kept(way()), type, where);
                end_temporaries(temporaries);
                return parts;
            };
        };
        result.parts = builder_->if_else(condition, side(true, yes), side(false, no));
    }
    result.fresh = has_owner(type);
    add_temporary(result);
    return result;
}

// A call of NumPy's function with an axis that is no constant; nothing for other calls.
std::optional<Value> FunctionLowering::by_axis(const Symbol& symbol, const Arguments& arguments) {
    const std::string name = symbol.path.substr(symbol.path.rfind('.') + 1);
    if (arguments.positional.empty()) return std::nullopt;
    Arguments with = arguments;
    const auto find = [&](const AxisParameter& parameter) -> Value* {
        if (with.positional.size() > parameter.place) return &with.positional[parameter.place];
        for (auto& [keyword, value] : with.keywords) {
            if (keyword == parameter.keyword) return &value;
        }
        return nullptr;
    };
    // What is computed before the ways part stays theirs all: none of them takes it over.
    const auto prepare = [&] {
        for (Value& value : with.positional) {
            if (is_array(value.type)) value = forced(value);
            value.fresh = false;
        }
        for (auto& [keyword, value] : with.keywords) {
            if (is_array(value.type)) value = forced(value);
            value.fresh = false;
        }
        with.defers = false;
    };
    for (const AxisParameter& parameter : kFlags) {
        if (parameter.function != name) continue;
        Value* const given = find(parameter);
        if (given == nullptr || !is_scalar(given->type) || given->type->literal) continue;
        const ValueId holds = truth(*given, arguments.where);
        prepare();
        const auto with_flag = [&](bool flag) {
            *given = boolean(flag);
            return call_known(symbol, with);
        };
        return one_of(
            arguments.where, holds, [&] { return with_flag(true); }, [&] { return with_flag(false); });
    }
    for (const AxisParameter& parameter : kAxes) {
        if (parameter.function != name) continue;
        Value* const given = find(parameter);
        if (given == nullptr || !is_integer(given->type) || literal_integer(given->type)) continue;
        const NodeId where = arguments.where;
        Value& array = with.positional[0];
        if (!is_array(array.type)) array = array_of(array, std::nullopt, where);
        prepare();
        const int64_t most = static_cast<int64_t>(array.type->rank) + parameter.more;
        const Value axis = call_prelude(
            "numpy.axis_of", {{scalar(scalar_type(ScalarType::kInt64, true), as_index(*given, where)),
                               integer(most),
                               {string_type(parameter.keyword == "axis" || source_.is_prelude
                                                ? ""
                                                : std::string(parameter.keyword) + ": "),
                                {},
                                0}},
                              {},
                              where});
        const auto with_axis = [&](int64_t number) {
            *given = integer(number);
            return call_known(symbol, with);
        };
        const std::function<Value(int64_t)> from = [&](int64_t number) {
            if (number + 1 >= most) return with_axis(number);
            return one_of(
                where, apply(OpId::kEqual, {axis.parts[0], integer(number).parts[0]}),
                [&, number] { return with_axis(number); }, [&, number] { return from(number + 1); });
        };
        return from(0);
    }
    return std::nullopt;
}

// A method.
std::optional<Value> FunctionLowering::by_axis(const Value& array, const std::string& name,
                                               const Arguments& rest) {
    if (name == "sort" || name == "partition") return std::nullopt;  // in place
    Arguments arguments = rest;
    arguments.positional.insert(arguments.positional.begin(), array);
    Symbol symbol;
    symbol.kind = SymbolKind::kKnown;
    symbol.path = "numpy." + name;
    return by_axis(symbol, arguments);
}

}  // namespace weft::lang
