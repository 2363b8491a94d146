// Arrays as text: columns of elements, as NumPy's array2string makes them.
#include "weft/print.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "api/interop/element_text.h"
#include "api/interop/float_digits.h"
#include "core/scalar_traits.h"
#include "core/threads/interrupt.h"
#include "weft/ops.h"

namespace weft {

namespace {

// ---- characters ----

// Of UTF-8, as Python counts them.
int64_t width_of(std::string_view text) {
    return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

void pad_left(std::string& text, int64_t width) {
    if (const int64_t own = width_of(text); own < width)
        text.insert(0, static_cast<size_t>(width - own), ' ');
}

std::string_view without_spaces_behind(std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \t\n\r\f\v") + 1);
}

// ---- one element, in the columns of its array ----

// Widths and form that all floats of an array share.
class FloatColumn {
public:
    FloatColumn(std::span<const double> values, DType dtype, const PrintOptions& options, char sign)
        : digits_(dtype), options_(options), sign_(sign), is_fixed_(options.floatmode == FloatMode::kFixed) {
        if (options.floatmode != FloatMode::kUnique) precision_ = options.precision;
        has_exponents_ = needs_exponents(values);
        bool has_finite = false, has_minus = false, has_minus_infinity = false;
        int64_t digits = 0, exponent_digits = 2;
        for (const double value : values) {
            if (!std::isfinite(value)) {
                has_minus_infinity |= value < 0;
                continue;
            }
            has_finite = true;
            has_minus |= std::signbit(value);
            const FloatParts parts = parts_of(value);
            left_ = std::max(left_, static_cast<int64_t>(signed_text(parts.whole).size()));
            digits = std::max(digits, static_cast<int64_t>(parts.fraction.size()));
            if (has_exponents_)
                exponent_digits =
                    std::max(exponent_digits, static_cast<int64_t>(exponent_text(parts.exponent).size()) - 1);
            pauses_.next_iteration();
        }
        right_ = digits;
        const bool all_the_same = is_fixed_ || options.floatmode == FloatMode::kMaxprecEqual;
        if (has_finite && (has_exponents_ || all_the_same)) {
            precision_ = static_cast<int>(digits);
            least_digits_ = digits;
        }
        if (has_exponents_) {
            exponent_width_ = static_cast<size_t>(exponent_digits);
            right_ += 2 + exponent_digits;
        }
        if (sign_ == ' ' && !has_minus) ++left_;
        const bool has_special =
            std::ranges::any_of(values, [](double value) { return !std::isfinite(value); });
        if (!has_special) return;
        const int64_t mark = sign_ != '-' || has_minus_infinity ? 1 : 0;
        left_ = std::max(
            {left_, width_of(options.nanstr) - right_ - 1, width_of(options.infstr) + mark - right_ - 1});
    }

    std::string operator()(double value) const {
        if (!std::isfinite(value)) {
            std::string text = value < 0 ? "-" : sign_ == '+' ? "+" : "";
            text += std::isnan(value) ? options_.nanstr : options_.infstr;
            pad_left(text, left_ + right_ + 1);
            return text;
        }
        FloatParts parts = parts_of(value);
        // The digits that follow are the value's own, not zeros.
        if (static_cast<int64_t>(parts.fraction.size()) < least_digits_) {
            parts = has_exponents_ ? fixed_scientific(value, static_cast<int>(least_digits_))
                                   : fixed_positional(value, static_cast<int>(least_digits_));
        }
        std::string text = signed_text(parts.whole);
        pad_left(text, left_);
        text += '.';
        text += parts.fraction;
        if (has_exponents_) {
            text += "e" + exponent_text(parts.exponent, exponent_width_);
        } else if (const auto width = static_cast<int64_t>(parts.fraction.size()); width < right_) {
            text.append(static_cast<size_t>(right_ - width), ' ');
        }
        return text;
    }

private:
    bool needs_exponents(std::span<const double> values) const {
        double largest = 0, smallest = INFINITY;
        for (const double value : values) {
            if (!std::isfinite(value) || value == 0) continue;
            largest = std::max(largest, std::abs(value));
            smallest = std::min(smallest, std::abs(value));
        }
        if (largest == 0) return false;
        if (largest >= digits_.large_in_arrays()) return true;
        if (options_.suppress) return false;
        // The comparisons are made in the array's own type.
        return smallest < digits_.rounded(0.0001) || digits_.rounded(largest / smallest) > 1000.0;
    }

    FloatParts parts_of(double value) const {
        if (is_fixed_)
            return has_exponents_ ? fixed_scientific(value, *precision_)
                                  : fixed_positional(value, *precision_);
        return has_exponents_ ? digits_.scientific(value, precision_) : digits_.positional(value, precision_);
    }

    std::string signed_text(const std::string& whole) const {
        return sign_ == '+' && whole[0] != '-' ? "+" + whole : whole;
    }

    FloatDigits digits_;
    const PrintOptions& options_;
    char sign_;
    bool is_fixed_, has_exponents_ = false;
    std::optional<int> precision_;
    int64_t left_ = 0, right_ = 0, least_digits_ = 0;
    size_t exponent_width_ = 2;
    PausePoints pauses_;
};

template <class T>
std::string integer_text(T value, char sign) {
    std::string text = std::to_string(value);
    if (sign != '-' && text[0] != '-') text.insert(0, 1, sign);
    return text;
}

// ---- arrays ----

// The words of all elements in C order, those of an array in columns.
std::vector<std::string> words(const array& shown, const PrintOptions& options) {
    const DType dtype = shown.dtype();
    const bool alone = shown.ndim() == 0;
    std::vector<char> bytes(static_cast<size_t>(shown.nbytes()));
    copy_out(shown, bytes.data());
    const auto count = static_cast<size_t>(shown.size());
    std::vector<std::string> result;
    result.reserve(count);
    PausePoints pauses;
    visit_scalar_type(dtype.scalar_type(), [&](auto tag) {
        using T = typename decltype(tag)::Type;
        const auto value = [&](size_t k) { return load_element<T>(bytes.data() + k * sizeof(T)); };
        if constexpr (std::is_same_v<T, bool>) {
            for (size_t k = 0; k < count; ++k)
                result.push_back(!value(k) ? "False" : alone ? "True" : " True");
        } else if constexpr (std::is_integral_v<T>) {
            char sign = options.sign;
            for (size_t k = 0; k < count; ++k) {
                if (sign == ' ' && value(k) < T(0)) sign = '-';
            }
            int64_t width = 0;
            for (size_t k = 0; k < count; ++k, pauses.next_iteration()) {
                result.push_back(integer_text(value(k), sign));
                width = std::max(width, static_cast<int64_t>(result.back().size()));
            }
            for (std::string& word : result) pad_left(word, width);
        } else if constexpr (requires { T().re; }) {
            std::vector<double> reals, imaginaries;
            for (size_t k = 0; k < count; ++k) {
                reals.push_back(static_cast<double>(value(k).re));
                imaginaries.push_back(static_cast<double>(value(k).im));
            }
            const FloatColumn real(reals, dtype.real(), options, options.sign);
            const FloatColumn imaginary(imaginaries, dtype.real(), options, '+');
            for (size_t k = 0; k < count; ++k, pauses.next_iteration()) {
                std::string word = imaginary(imaginaries[k]);
                word.insert(word.find_last_not_of(' ') + 1, "j");
                result.push_back(real(reals[k]) + word);
            }
        } else {
            std::vector<double> values;
            for (size_t k = 0; k < count; ++k) values.push_back(static_cast<double>(value(k)));
            const FloatColumn column(values, dtype, options, options.sign);
            for (const double each : values) {
                result.push_back(column(each));
                pauses.next_iteration();
            }
        }
    });
    return result;
}

// The elements that a summary shows.
array corners(array input, int64_t edge) {
    for (size_t axis = 0; axis < input.shape().size(); ++axis) {
        const int64_t extent = input.shape()[axis];
        if (extent <= 2 * edge) continue;
        std::vector<Index> first(axis + 1, Slice{}), last(axis + 1, Slice{});
        first[axis] = Slice{{}, edge, {}};
        last[axis] = Slice{extent - edge, {}, {}};
        const array parts[2] = {index(input, first), index(input, last)};
        input = concatenate(parts, static_cast<int64_t>(axis), {}, Casting::kSameKind, {});
    }
    return input;
}

// Words in brackets and lines. A row of `axis` begins `indent` characters behind the start of its line.
class Layout {
public:
    Layout(std::span<const std::string> all, const Dims& shape, std::vector<bool> shortened,
           const std::string& separator)
        : words_(all),
          shape_(shape),
          shortened_(std::move(shortened)),
          separator_(separator),
          bare_(without_spaces_behind(separator)) {}

    std::string text(int64_t indent, int64_t width) {
        if (shape_.size() == 1) {
            row(indent, width);
        } else {
            nest(0, indent, width);
        }
        return std::move(text_);
    }

private:
    // `item` writes the next one, or `dots` where some are left out.
    template <class Item, class Dots>
    void items(size_t axis, Item&& item, Dots&& dots) {
        const int64_t count = shape_[axis];
        for (int64_t k = 0; k < count; ++k) {
            if (shortened_[axis] && k == count / 2) dots();
            item();
        }
        if (shortened_[axis] && count == 0) dots();
    }

    void nest(size_t axis, int64_t indent, int64_t width) {
        bool begun = false;
        const auto next_item = [&] {
            if (begun) {
                text_ += bare_;
                text_.append(shape_.size() - axis - 1, '\n');
                text_.append(static_cast<size_t>(indent), ' ');
            }
            begun = true;
        };
        text_ += '[';
        items(
            axis,
            [&] {
                next_item();
                if (axis + 2 == shape_.size()) {
                    row(indent + 1, width - 1);
                } else {
                    nest(axis + 1, indent + 1, width - 1);
                }
            },
            [&] {
                next_item();
                text_ += "...";
            });
        text_ += ']';
    }

    void row(int64_t indent, int64_t width) {
        const int64_t room = width - std::max<int64_t>(width_of(bare_), 1), gap = width_of(separator_);
        int64_t used = indent;
        bool begun = false;
        const auto add = [&](const std::string& word) {
            if (begun) {
                text_ += separator_;
                used += gap;
            }
            begun = true;
            const int64_t own = width_of(word);
            if (used + own > room && used > indent) {
                text_.resize(without_spaces_behind(text_).size());
                text_ += '\n';
                text_.append(static_cast<size_t>(indent), ' ');
                used = indent;
            }
            text_ += word;
            used += own;
            pauses_.next_iteration();
        };
        text_ += '[';
        items(shape_.size() - 1, [&] { add(words_[next_++]); }, [&] { add("..."); });
        text_ += ']';
    }

    std::span<const std::string> words_;
    const Dims& shape_;
    std::vector<bool> shortened_;
    const std::string& separator_;
    std::string_view bare_;
    std::string text_;
    size_t next_ = 0;
    PausePoints pauses_;
};

std::string tuple_text(const Dims& shape) {
    std::string text = "(";
    for (size_t k = 0; k < shape.size(); ++k) text += (k == 0 ? "" : ", ") + std::to_string(shape[k]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

// Whether a text without a dtype reads back as one.
bool is_implied(DType dtype) {
    return dtype.is_bool() || dtype == DType(ScalarType::kInt64) || dtype == DType(ScalarType::kFloat64) ||
           dtype == DType(ScalarType::kComplex128);
}

}  // namespace

std::string array2string(const array& input, const PrintOptions& options, const TextFrame& frame) {
    if (input.size() == 0) return "[]";
    eval({&input, 1});
    const bool summary = input.size() > options.threshold;
    const array shown = summary ? corners(input, options.edgeitems) : input;
    const std::vector<std::string> all = words(shown, options);
    if (input.ndim() == 0) return all[0];
    std::vector<bool> shortened;
    for (const int64_t extent : input.shape()) shortened.push_back(summary && extent > 2 * options.edgeitems);
    return Layout(all, shown.shape(), std::move(shortened), frame.separator)
        .text(width_of(frame.prefix) + 1, options.linewidth - width_of(frame.suffix));
}

std::string to_string(const array& input, const PrintOptions& options) {
    if (input.ndim() > 0) return array2string(input, options);
    alignas(16) char bytes[16];
    eval({&input, 1});
    copy_out(input, bytes);
    return element_text(input.dtype(), bytes);
}

std::string to_repr(const array& input, const PrintOptions& options, std::string_view name) {
    const std::string head = std::string(name) + "(";
    std::string text = head + array2string(input, options, {", ", head, ")"});
    std::string extras;
    if ((input.size() == 0 && input.shape() != Dims{0}) || input.size() > options.threshold)
        extras = "shape=" + tuple_text(input.shape());
    const DType dtype = input.dtype();
    if (!is_implied(dtype) || input.size() == 0)
        extras += (extras.empty() ? "" : ", ") + ("dtype=" + std::string(dtype.name()));
    if (extras.empty()) return text + ")";
    text += ",";
    extras += ")";
    const int64_t last_line = width_of(std::string_view(text).substr(text.rfind('\n') + 1));
    const bool fits = last_line + static_cast<int64_t>(extras.size()) + 1 <= options.linewidth;
    return text + (fits ? " " : "\n" + std::string(static_cast<size_t>(width_of(head)), ' ')) + extras;
}

std::ostream& operator<<(std::ostream& stream, const array& input) { return stream << to_string(input); }

std::ostream& operator<<(std::ostream& stream, DType dtype) { return stream << dtype.name(); }

std::ostream& operator<<(std::ostream& stream, const Dims& shape) { return stream << tuple_text(shape); }

}  // namespace weft
