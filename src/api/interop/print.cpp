// Arrays as text: the columns of NumPy's array2string with its default options, as
// python/weft/_array/format.py has them with all of its options.
#include "weft/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <functional>
#include <ostream>
#include <vector>

#include "core/shape.h"
#include "weft/memory.h"
#include "weft/ops.h"

namespace weft {

namespace {

// ---- digits ----

// A finite number as it is printed: what is before and after the point, the first with its sign.
struct Parts {
    std::string whole, fraction;
    int exponent = 0;
};

std::string formatted(const char* form, int precision, double value) {
    const int length = std::snprintf(nullptr, 0, form, precision, value);
    std::string text(static_cast<size_t>(length), '\0');
    std::snprintf(text.data(), text.size() + 1, form, precision, value);
    return text;
}

void drop_zeros(std::string& digits) { digits.erase(digits.find_last_not_of('0') + 1); }

class Digits {
public:
    explicit Digits(DType dtype) : type_(dtype.scalar_type()) {}

    Parts positional(double value, int precision) const {
        auto [digits, exponent] = shortest(std::abs(value));
        Parts parts;
        if (exponent < 0) {
            parts.whole = "0";
            parts.fraction = std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
        } else {
            const auto before = static_cast<size_t>(exponent) + 1;
            if (digits.size() < before) digits.resize(before, '0');
            parts.whole = digits.substr(0, before);
            parts.fraction = digits.substr(before);
        }
        if (precision >= 0 && parts.fraction.size() > static_cast<size_t>(precision))
            return fixed(value, precision);
        drop_zeros(parts.fraction);
        return signed_parts(value, std::move(parts));
    }

    Parts scientific(double value, int precision) const {
        if (value == 0) return signed_parts(value, {"0", "", 0});
        auto [digits, exponent] = shortest(std::abs(value));
        if (precision >= 0 && digits.size() > static_cast<size_t>(precision) + 1)
            return scientific_fixed(value, precision, true);
        Parts parts{digits.substr(0, 1), digits.substr(1), exponent};
        drop_zeros(parts.fraction);
        return signed_parts(value, std::move(parts));
    }

    // With just so many digits after the point.
    static Parts scientific_fixed(double value, int precision, bool without_zeros = false) {
        const std::string text = formatted("%.*e", precision, std::abs(value));
        const size_t mark = text.find('e');
        Parts parts{text.substr(0, 1), mark > 2 ? text.substr(2, mark - 2) : "",
                    std::stoi(text.substr(mark + 1))};
        if (without_zeros) drop_zeros(parts.fraction);
        return signed_parts(value, std::move(parts));
    }

private:
    static Parts signed_parts(double value, Parts parts) {
        if (std::signbit(value)) parts.whole.insert(0, "-");
        return parts;
    }

    static Parts fixed(double value, int precision) {
        const std::string text = formatted("%.*f", precision, std::abs(value));
        const size_t point = std::min(text.find('.'), text.size());
        Parts parts{text.substr(0, point), point < text.size() ? text.substr(point + 1) : "", 0};
        drop_zeros(parts.fraction);
        return signed_parts(value, std::move(parts));
    }

    // Digits and decimal exponent of the shortest decimal number that reads back as the same value.
    std::pair<std::string, int> shortest(double value) const {
        char text[64];
        const char* end = text;
        if (type_ == ScalarType::kFloat16 || type_ == ScalarType::kBFloat16) {
            for (int digits = 0; digits < 6; ++digits) {
                end = text + std::snprintf(text, sizeof text, "%.*e", digits, value);
                if (rounded(std::strtod(text, nullptr)) == value) break;
            }
        } else if (type_ == ScalarType::kFloat32) {
            end = std::to_chars(text, text + sizeof text, static_cast<float>(value),
                                std::chars_format::scientific)
                      .ptr;
        } else {
            end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
        }
        const std::string all(static_cast<const char*>(text), end);
        const size_t mark = all.find('e');
        std::string digits = all.substr(0, mark);
        std::erase(digits, '.');
        drop_zeros(digits);
        return {digits.empty() ? "0" : digits, std::stoi(all.substr(mark + 1))};
    }

    double rounded(double value) const {
        double result = 0;
        const array narrow = astype(scalar(ScalarType::kFloat64, &value), type_);
        read_element(astype(narrow, ScalarType::kFloat64), {}, &result);
        return result;
    }

    ScalarType type_;
};

std::string exponent_text(int exponent, size_t width) {
    std::string digits = std::to_string(std::abs(exponent));
    if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
    return (exponent < 0 ? "-" : "+") + digits;
}

void pad_left(std::string& text, size_t width) {
    if (text.size() < width) text.insert(0, width - text.size(), ' ');
}

// ---- one element, in the columns of its array ----

// Magnitudes from which on floats print with exponents: what the type's digits can show.
double large(DType dtype, bool alone) {
    switch (dtype.scalar_type()) {
        case ScalarType::kFloat16:
        case ScalarType::kBFloat16: return 1e3;
        case ScalarType::kFloat32: return 1e6;
        default: return alone ? 1e16 : 1e8;
    }
}

// A number as the dtype would hold it; comparisons are made in the array's own type.
double in_type(double value, DType dtype) {
    if (dtype == DType(ScalarType::kFloat64)) return value;
    if (dtype == DType(ScalarType::kFloat32)) return static_cast<double>(static_cast<float>(value));
    double result = 0;
    const array narrow = astype(scalar(ScalarType::kFloat64, &value), dtype);
    read_element(astype(narrow, ScalarType::kFloat64), {}, &result);
    return result;
}

// Widths and form that all floats of an array share.
class FloatColumn {
public:
    FloatColumn(std::span<const double> values, DType dtype, const PrintOptions& options, bool plus = false)
        : digits_(dtype), plus_(plus), precision_(options.precision) {
        std::vector<double> finite;
        bool has_minus_infinity = false;
        double largest = 0, smallest = INFINITY;
        for (const double value : values) {
            if (!std::isfinite(value)) {
                has_minus_infinity |= value < 0;
                continue;
            }
            finite.push_back(value);
            if (value == 0) continue;
            largest = std::max(largest, std::abs(value));
            smallest = std::min(smallest, std::abs(value));
        }
        exponents_ = largest > 0 && (largest >= large(dtype, false) ||
                                     (!options.suppress && (smallest < in_type(0.0001, dtype) ||
                                                            in_type(largest / smallest, dtype) > 1000.0)));
        std::vector<Parts> all;
        size_t most_digits = 0;
        for (const double value : finite) {
            all.push_back(exponents_ ? digits_.scientific(value, precision_)
                                     : digits_.positional(value, precision_));
            const Parts& parts = all.back();
            left_ = std::max(left_, with_sign(parts.whole).size());
            most_digits = std::max(most_digits, parts.fraction.size());
            if (exponents_)
                exponent_width_ = std::max(exponent_width_, exponent_text(parts.exponent, 2).size() - 1);
        }
        right_ = most_digits;
        if (exponents_) {
            precision_ = static_cast<int>(most_digits);
            right_ += 2 + exponent_width_;
        }
        if (finite.size() != values.size()) {
            const size_t infinity = 3 + (plus_ || has_minus_infinity ? 1 : 0);
            if (left_ + right_ + 1 < infinity) left_ = infinity - right_ - 1;
            if (left_ + right_ + 1 < 3) left_ = 3 - right_ - 1;
        }
    }

    std::string operator()(double value) const {
        std::string text;
        if (!std::isfinite(value)) {
            text = plus_ && !(value < 0) ? "+" : value < 0 ? "-" : "";
            text += std::isnan(value) ? "nan" : "inf";
            pad_left(text, left_ + right_ + 1);
            return text;
        }
        Parts parts;
        if (exponents_) {
            parts = digits_.scientific(value, precision_);
            // The digits that follow are the value's own, not zeros.
            if (parts.fraction.size() < static_cast<size_t>(precision_))
                parts = Digits::scientific_fixed(value, precision_);
            text = parts.fraction + "e" + exponent_text(parts.exponent, exponent_width_);
        } else {
            parts = digits_.positional(value, precision_);
            text = parts.fraction;
            if (text.size() < right_) text.resize(right_, ' ');
        }
        std::string whole = with_sign(parts.whole);
        pad_left(whole, left_);
        return whole + "." + text;
    }

private:
    std::string with_sign(const std::string& whole) const {
        return plus_ && whole[0] != '-' ? "+" + whole : whole;
    }

    Digits digits_;
    bool plus_, exponents_ = false;
    int precision_;
    size_t left_ = 0, right_ = 0, exponent_width_ = 2;
};

// ---- scalars ----

std::string float_text(double value, DType dtype, const char* zero) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    const Digits digits(dtype);
    const double magnitude = std::abs(value);
    if (magnitude == 0 || (1e-4 <= magnitude && magnitude < large(dtype, true))) {
        const Parts parts = digits.positional(value, -1);
        return parts.fraction.empty() ? parts.whole + zero : parts.whole + "." + parts.fraction;
    }
    const Parts parts = digits.scientific(value, -1);
    return parts.whole + (parts.fraction.empty() ? "" : ".") + parts.fraction + "e" +
           exponent_text(parts.exponent, 2);
}

std::string complex_text(std::complex<double> value, DType part) {
    const std::string imaginary = float_text(value.imag(), part, "") + "j";
    if (value.real() == 0 && !std::signbit(value.real())) return imaginary;
    return "(" + float_text(value.real(), part, "") + (imaginary[0] == '-' ? "" : "+") + imaginary + ")";
}

// ---- arrays ----

// The words of all elements in C order, those of an array in columns.
std::vector<std::string> words(const array& shown, const PrintOptions& options) {
    const DType dtype = shown.dtype();
    const bool alone = shown.ndim() == 0;
    std::vector<std::string> result;
    if (dtype.is_bool()) {
        for (const uint8_t value : to_vector<uint8_t>(astype(shown, ScalarType::kUInt8)))
            result.push_back(value != 0 ? (alone ? "True" : " True") : "False");
    } else if (dtype.is_integer()) {
        if (dtype.is_signed_integer()) {
            for (const int64_t value : to_vector<int64_t>(astype(shown, ScalarType::kInt64)))
                result.push_back(std::to_string(value));
        } else {
            for (const uint64_t value : to_vector<uint64_t>(astype(shown, ScalarType::kUInt64)))
                result.push_back(std::to_string(value));
        }
        size_t width = 0;
        for (const std::string& word : result) width = std::max(width, word.size());
        for (std::string& word : result) pad_left(word, width);
    } else if (dtype.is_complex()) {
        const DType part = dtype.real();
        std::vector<double> reals, imaginaries;
        for (const auto value : to_vector<std::complex<double>>(astype(shown, ScalarType::kComplex128))) {
            if (alone) return {complex_text(value, part)};
            reals.push_back(value.real());
            imaginaries.push_back(value.imag());
        }
        const FloatColumn real(reals, part, options), imaginary(imaginaries, part, options, true);
        for (size_t k = 0; k < reals.size(); ++k) {
            std::string word = imaginary(imaginaries[k]);
            const size_t used = word.find_last_not_of(' ') + 1;
            word.insert(used, "j");
            result.push_back(real(reals[k]) + word);
        }
    } else {
        const std::vector<double> values = to_vector<double>(astype(shown, ScalarType::kFloat64));
        if (alone) return {float_text(values[0], dtype, ".0")};
        const FloatColumn column(values, dtype, options);
        for (const double value : values) result.push_back(column(value));
    }
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

class Layout {
public:
    Layout(std::span<const std::string> all, const Dims& shape, std::vector<bool> shortened,
           std::string separator)
        : words_(all), shape_(shape), shortened_(std::move(shortened)), separator_(std::move(separator)) {
        bare_ = separator_.substr(0, separator_.find_last_not_of(' ') + 1);
    }

    std::string text(size_t axis, std::string indent, int64_t width) {
        std::vector<std::string> items;
        const bool innermost = axis + 1 == shape_.size();
        for (int64_t k = 0; k < shape_[axis]; ++k)
            items.push_back(innermost ? words_[next_++] : text(axis + 1, indent + " ", width - 1));
        if (shortened_[axis]) items.insert(items.begin() + static_cast<ptrdiff_t>(items.size() / 2), "...");
        std::string result = "[";
        if (!innermost) {
            const std::string gap = bare_ + std::string(shape_.size() - axis - 1, '\n') + indent;
            for (size_t k = 0; k < items.size(); ++k) result += (k == 0 ? "" : gap) + items[k];
            return result + "]";
        }
        const int64_t room = width - std::max<int64_t>(static_cast<int64_t>(bare_.size()), 1);
        std::string line = indent;
        std::string lines;
        for (size_t k = 0; k < items.size(); ++k) {
            if (static_cast<int64_t>(line.size() + items[k].size()) > room && line.size() > indent.size()) {
                lines += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
                line = indent;
            }
            line += items[k];
            if (k + 1 < items.size()) line += separator_;
        }
        lines += line;
        return result + lines.substr(std::min(indent.size(), lines.size())) + "]";
    }

private:
    std::span<const std::string> words_;
    const Dims& shape_;
    std::vector<bool> shortened_;
    std::string separator_, bare_;
    size_t next_ = 0;
};

std::string array_text(const array& input, const PrintOptions& options, const std::string& separator,
                       size_t prefix, int64_t width) {
    if (input.size() == 0) return "[]";
    eval({&input, 1});
    const bool summary = input.size() > options.threshold;
    const array shown = summary ? corners(input, options.edgeitems) : input;
    const std::vector<std::string> all = words(shown, options);
    if (input.ndim() == 0) return all[0];
    std::vector<bool> shortened;
    for (const int64_t extent : input.shape()) shortened.push_back(summary && extent > 2 * options.edgeitems);
    return Layout(all, shown.shape(), std::move(shortened), separator)
        .text(0, std::string(prefix + 1, ' '), width);
}

std::string tuple_text(const Dims& shape) {
    std::string text = "(";
    for (size_t k = 0; k < shape.size(); ++k) text += (k == 0 ? "" : ", ") + std::to_string(shape[k]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

std::string to_string(const array& input, const PrintOptions& options) {
    return array_text(input, options, " ", 0, options.linewidth);
}

std::string to_repr(const array& input, const PrintOptions& options) {
    const std::string_view head = "array(";
    // Without dimensions an array prints as its element does in a column of one.
    std::string text;
    if (input.ndim() == 0) {
        const std::string inside = array_text(reshape(input, 1), options, ", ", 0, options.linewidth);
        text = inside.substr(1, inside.size() - 2);
        text.erase(0, text.find_first_not_of(' '));
    } else {
        text = array_text(input, options, ", ", head.size(), options.linewidth - 1);
    }
    std::string extras;
    if ((input.size() == 0 && input.shape() != Dims{0}) || input.size() > options.threshold)
        extras = "shape=" + tuple_text(input.shape());
    const DType dtype = input.dtype();
    const bool implied = dtype.is_bool() || dtype == DType(ScalarType::kInt64) ||
                         dtype == DType(ScalarType::kFloat64) || dtype == DType(ScalarType::kComplex128);
    if (!implied || input.size() == 0)
        extras += (extras.empty() ? "" : ", ") + ("dtype=" + std::string(dtype.name()));
    text = std::string(head) + text;
    if (extras.empty()) return text + ")";
    text += ",";
    extras += ")";
    const size_t last_line = text.size() - (text.rfind('\n') + 1);
    const bool fits = static_cast<int64_t>(last_line + extras.size() + 1) <= options.linewidth;
    return text + (fits ? " " : "\n" + std::string(head.size(), ' ')) + extras;
}

std::ostream& operator<<(std::ostream& stream, const array& input) { return stream << to_string(input); }

std::ostream& operator<<(std::ostream& stream, DType dtype) { return stream << dtype.name(); }

std::ostream& operator<<(std::ostream& stream, const Dims& shape) { return stream << tuple_text(shape); }

}  // namespace weft
