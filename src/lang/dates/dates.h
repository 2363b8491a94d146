// What compiled functions do with NumPy's dates: operators, ufuncs, reductions and conversions, all of which
// are of the counts. The prelude's of_dates.py has what NumPy does with a count that is no time.
#pragma once

#include "lang/dates/date_types.h"
#include "lang/lowering.h"

namespace weft::lang {

class FunctionLowering::Dates {
public:
    Dates(FunctionLowering& lowering, NodeId where) : f_(lowering), where_(where) {}

    static bool is_date(const Value& value) { return date_of(value.type) != nullptr; }
    static bool any(std::span<const Value> values) { return std::ranges::any_of(values, is_date); }

    // A ufunc by its name: "add", "isnat". The result may be stored in `target`.
    Value apply(const std::string& ufunc, std::span<const Value> operands,
                const std::optional<Value>& target = std::nullopt);
    // A function of NumPy's; nothing where it is none of dates.
    std::optional<Value> call(const std::string& name, const Arguments& given);
    std::optional<Value> call_method(const Value& date, const std::string& name, const Arguments& rest);
    // numpy.datetime64(...), numpy.timedelta64(...)
    Value make(bool is_span, const Arguments& given);
    // Of another unit.
    Value converted(const Value& date, const DateType& to);
    // Numbers as dates, and dates as numbers: a number, or an array over the same memory.
    Value dated(const Value& counts, const DateType& type);
    Value counts(const Value& value);

private:
    struct Loop {
        std::string function;              // of the prelude
        std::optional<DateType> of{};      // the unit that dates are counted in
        std::optional<DateType> result{};  // nothing where it is a number or a bool
        bool takes_floats = false;         // numbers beside dates are floats; else they are whole ones
    };
    Loop loop_for(const std::string& ufunc, std::span<const Value> operands);
    [[noreturn]] void refuse(const std::string& ufunc, std::span<const Value> operands) const;
    DateType common(const DateType& a, const DateType& b) const;
    Value count_in(const Value& count, const DateType& from, const DateType& to);
    Value call_prelude(const std::string& name, std::vector<Value> arguments);
    // A function of the prelude of numbers, or of each element.
    Value map(const std::string& name, std::initializer_list<Value> values);
    Value call_known(const std::string& name, const Value& first, const Arguments& rest);
    Value reduced(const std::string& name, const Value& values, const Arguments& rest);
    std::optional<Value> reduce(const std::string& name, const Value& date, const Arguments& rest);
    std::optional<Value> moved(const std::string& name, const Value& date, const Arguments& rest);
    Value astype(const Value& given, const Value& dtype);

    FunctionLowering& f_;
    NodeId where_;
};

}  // namespace weft::lang
