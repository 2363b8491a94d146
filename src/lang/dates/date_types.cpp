#include "lang/dates/date_types.h"

#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

namespace weft::lang {

namespace {

constexpr std::array<std::string_view, 13> kUnits = {"Y",  "M",  "W",  "D",  "h",  "m", "s",
                                                     "ms", "us", "ns", "ps", "fs", "as"};
// How many of the next unit one of a unit is, from weeks on.
constexpr std::array<int64_t, 10> kNext = {7, 24, 60, 60, 1000, 1000, 1000, 1000, 1000, 1000};

constexpr std::string_view kField = " count";  // which no program can name

struct Known : Record {
    DateType date;
    Layout layout;
};

const Known& known(const DateType& type) {
    static std::mutex mutex;
    static auto* const all = new std::map<std::string, std::unique_ptr<Known>>;
    const std::scoped_lock lock(mutex);
    std::unique_ptr<Known>& found = (*all)[name_of(type)];
    if (found == nullptr) {
        found = std::make_unique<Known>();
        found->date = type;
        found->name = name_of(type);
        found->fields = {std::string(kField)};
        found->defaults = {nullptr};
        found->keyword_only = {false};
        found->not_made = "write numpy." + std::string(type.is_span ? "timedelta64" : "datetime64");
        LayoutField field;
        field.name = kField;
        field.scalar = ScalarType::kInt64;
        found->layout.fields = {field};
        found->layout.size = 8;
        found->layout.record = found.get();
    }
    return *found;
}

std::optional<int64_t> product(int64_t a, int64_t b) {
    int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
    return result;
}

}  // namespace

std::string name_of(const DateType& type) {
    std::string name = type.is_span ? "timedelta64" : "datetime64";
    if (type.unit == DateUnit::kGeneric) return name;
    return name + "[" + (type.multiple == 1 ? "" : std::to_string(type.multiple)) +
           std::string(kUnits[static_cast<size_t>(type.unit)]) + "]";
}

std::optional<DateType> with_unit(bool is_span, std::string_view unit) {
    DateType type{is_span};
    if (unit == "generic") return type;
    const auto [end, error] = std::from_chars(unit.data(), unit.data() + unit.size(), type.multiple);
    if (error == std::errc{}) unit.remove_prefix(static_cast<size_t>(end - unit.data()));
    if (unit == "μs") unit = "us";
    for (size_t i = 0; i < kUnits.size(); ++i) {
        if (kUnits[i] != unit) continue;
        type.unit = static_cast<DateUnit>(i);
        return type.multiple > 0 ? std::optional(type) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<DateType> date_type_named(std::string_view name) {
    for (const char order : {'<', '='}) {
        if (name.starts_with(order)) name.remove_prefix(1);
    }
    for (const auto& [text, is_span] : {std::pair<std::string_view, bool>{"datetime64", false},
                                        {"timedelta64", true},
                                        {"M8", false},
                                        {"m8", true}}) {
        if (!name.starts_with(text)) continue;
        name.remove_prefix(text.size());
        if (name.empty()) return DateType{is_span};
        if (!name.starts_with('[') || !name.ends_with(']')) return std::nullopt;
        return with_unit(is_span, name.substr(1, name.size() - 2));
    }
    return std::nullopt;
}

const Record* date_record(const DateType& type) { return &known(type); }

const Layout* date_layout(const DateType& type) { return &known(type).layout; }

const DateType* date_of(const Record* record) {
    if (record == nullptr || record->fields.size() != 1 || record->fields[0] != kField) return nullptr;
    return &static_cast<const Known*>(record)->date;
}

const DateType* date_of(TypeRef type) {
    if (type->kind == TypeKind::kRecord) return date_of(type->record);
    return is_structures(type) ? date_of(type->layout->record) : nullptr;
}

std::optional<int64_t> units_in(DateUnit coarse, DateUnit fine) {
    if (coarse == fine) return 1;
    if (coarse == DateUnit::kYear && fine == DateUnit::kMonth) return 12;
    if (coarse > fine || coarse < DateUnit::kWeek || fine == DateUnit::kGeneric) return std::nullopt;
    std::optional<int64_t> count = 1;
    for (auto unit = static_cast<size_t>(coarse); unit < static_cast<size_t>(fine) && count; ++unit)
        count = product(*count, kNext[unit - static_cast<size_t>(DateUnit::kWeek)]);
    return count;
}

std::optional<DateType> common_unit(const DateType& a, const DateType& b) {
    const auto with_kind = [&](DateType type) {
        type.is_span = a.is_span && b.is_span;
        return type;
    };
    if (a.unit == DateUnit::kGeneric) return with_kind(b);
    if (b.unit == DateUnit::kGeneric) return with_kind(a);
    const DateType &coarse = a.unit <= b.unit ? a : b, &fine = a.unit <= b.unit ? b : a;
    DateType result = fine;
    std::optional<int64_t> multiple = coarse.multiple;
    if (coarse.has_months() && !fine.has_months()) {
        if (coarse.is_span) return std::nullopt;  // months have no length
    } else {
        const std::optional<int64_t> count = units_in(coarse.unit, fine.unit);
        multiple = count ? product(*count, coarse.multiple) : std::nullopt;
    }
    if (!multiple) return std::nullopt;
    result.multiple = std::gcd(*multiple, fine.multiple);
    return with_kind(result);
}

namespace {

// Days from 1970 of a day of the Gregorian calendar, by years that begin in March.
int64_t days_of(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2 ? 1 : 0;
    const int64_t era = (year >= 0 ? year : year - 399) / 400;
    const int64_t of_era = year - 400 * era;
    const int64_t of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return 146097 * era + 365 * of_era + of_era / 4 - of_era / 100 + of_year - 719468;
}

bool take_number(std::string_view& text, size_t digits, int64_t least, int64_t most, int64_t& number) {
    if (text.size() < digits) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
    if (error != std::errc{} || end != text.data() + digits || text[0] == '-') return false;
    text.remove_prefix(digits);
    return number >= least && number <= most;
}

bool take(std::string_view& text, char sign) {
    if (!text.starts_with(sign)) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::optional<std::pair<int64_t, DateType>> parse_date(std::string_view text) {
    DateType type;
    if (text.empty() || text == "NaT" || text == "nat" || text == "NAT" || text == "Nat")
        return std::pair(INT64_MIN, type);
    const bool before_zero = take(text, '-');
    int64_t year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0;
    if (!take_number(text, 4, 0, 9999, year)) return std::nullopt;
    if (before_zero) year = -year;
    type.unit = DateUnit::kYear;
    if (take(text, '-')) {
        if (!take_number(text, 2, 1, 12, month)) return std::nullopt;
        type.unit = DateUnit::kMonth;
        if (take(text, '-')) {
            const int64_t days =
                days_of(month == 12 ? year + 1 : year, month % 12 + 1, 1) - days_of(year, month, 1);
            if (!take_number(text, 2, 1, days, day)) return std::nullopt;
            type.unit = DateUnit::kDay;
        }
    }
    if (type.unit == DateUnit::kDay && (take(text, 'T') || take(text, ' '))) {
        if (!take_number(text, 2, 0, 23, hour)) return std::nullopt;
        type.unit = DateUnit::kHour;
        if (take(text, ':')) {
            if (!take_number(text, 2, 0, 59, minute)) return std::nullopt;
            type.unit = DateUnit::kMinute;
            if (take(text, ':')) {
                if (!take_number(text, 2, 0, 59, second)) return std::nullopt;
                type.unit = DateUnit::kSecond;
            }
        }
    }
    if (type.unit == DateUnit::kYear)
        return text.empty() ? std::optional(std::pair(year - 1970, type)) : std::nullopt;
    if (type.unit == DateUnit::kMonth)
        return text.empty() ? std::optional(std::pair(12 * (year - 1970) + month - 1, type)) : std::nullopt;
    int64_t count = days_of(year, month, day);
    if (type.unit >= DateUnit::kHour) count = 24 * count + hour;
    if (type.unit >= DateUnit::kMinute) count = 60 * count + minute;
    if (type.unit >= DateUnit::kSecond) count = 60 * count + second;
    if (type.unit == DateUnit::kSecond && take(text, '.')) {
        size_t digits = 0;
        int64_t fraction = 0;
        while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 9)
            fraction = 10 * fraction + (text[digits++] - '0');
        if (digits == 0) return std::nullopt;
        text.remove_prefix(digits);
        for (; digits % 3 != 0; ++digits) fraction *= 10;
        for (size_t i = 0; i < digits / 3; ++i) {
            const std::optional<int64_t> finer = product(count, 1000);
            if (!finer) return std::nullopt;
            count = *finer;
        }
        count += fraction;
        type.unit = static_cast<DateUnit>(static_cast<size_t>(DateUnit::kSecond) + digits / 3);
    }
    if (!text.empty()) return std::nullopt;
    return std::pair(count, type);
}

}  // namespace weft::lang
