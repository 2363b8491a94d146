// NumPy's datetime64 and timedelta64 as types of compiled functions: a value is a record whose field is a
// count of its unit, and an array has structures of such a field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lang/structures/layout.h"
#include "lang/symbols.h"
#include "lang/types.h"

namespace weft::lang {

// From coarse to fine.
enum class DateUnit : uint8_t {
    kYear,
    kMonth,
    kWeek,
    kDay,
    kHour,
    kMinute,
    kSecond,
    kMillisecond,
    kMicrosecond,
    kNanosecond,
    kPicosecond,
    kFemtosecond,
    kAttosecond,
    kGeneric,  // of what takes the unit of others
};

struct DateType {
    bool is_span = false;  // timedelta64
    DateUnit unit = DateUnit::kGeneric;
    int64_t multiple = 1;  // of the unit

    bool has_months() const { return unit == DateUnit::kYear || unit == DateUnit::kMonth; }
    friend bool operator==(const DateType&, const DateType&) = default;
};

// "datetime64[25s]", "timedelta64"; nothing of other names.
std::optional<DateType> date_type_named(std::string_view name);
std::string name_of(const DateType& type);
// "D", "25s"; nothing where it is no unit.
std::optional<DateType> with_unit(bool is_span, std::string_view unit);

const Record* date_record(const DateType& type);
const Layout* date_layout(const DateType& type);
// That of a record; null where it is none of these.
const DateType* date_of(const Record* record);
// That of a value, or of the elements of an array; null where it is none.
const DateType* date_of(TypeRef type);

// The unit that both are counted in; nothing where there is none, as of months and days.
std::optional<DateType> common_unit(const DateType& a, const DateType& b);
// How many `fine` a `coarse` is; nothing where that is not known, or beyond int64.
std::optional<int64_t> units_in(DateUnit coarse, DateUnit fine);

// The count that a text is; nothing where it is no date. Without a unit that of the text's last part.
std::optional<std::pair<int64_t, DateType>> parse_date(std::string_view text);

}  // namespace weft::lang
