// Arrays and numbers as text.
#include "weft/print.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "convert/convert.h"
#include "engine/gil.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

/// A whole number, or a float that stands for a limit; far ones are brought near.
int64_t to_limit(nb::handle object) {
    constexpr int64_t kFar = int64_t{1} << 50;
    if (PyLong_Check(object.ptr())) {
        int overflow = 0;
        const int64_t value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
        return overflow != 0 ? overflow * kFar : std::clamp(value, -kFar, kFar);
    }
    if (is_array(object.ptr())) return to_limit(only_element(array_of(object)));
    const double value = PyFloat_AsDouble(object.ptr());
    if (value == -1.0 && PyErr_Occurred() != nullptr) throw_python_error();
    if (std::isnan(value)) return kFar;
    return static_cast<int64_t>(
        std::clamp(std::floor(value), -static_cast<double>(kFar), static_cast<double>(kFar)));
}

int to_small_int(nb::handle object) {
    const nb::object number = steal_or_throw(PyNumber_Index(object.ptr()));
    const int64_t value = to_limit(number);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
        throw OverflowError("Python int too large to convert to C int");
    return static_cast<int>(value);
}

std::optional<int> to_optional_int(nb::handle object) {
    if (object.is_none()) return std::nullopt;
    return to_small_int(object);
}

FloatMode to_float_mode(const std::string& name) {
    if (name == "fixed") return FloatMode::kFixed;
    if (name == "unique") return FloatMode::kUnique;
    return name == "maxprec_equal" ? FloatMode::kMaxprecEqual : FloatMode::kMaxprec;
}

/// Of the dictionary that get_printoptions gives.
PrintOptions to_print_options(const nb::dict& given) {
    PrintOptions options;
    options.precision = to_small_int(given["precision"]);
    options.threshold = to_limit(given["threshold"]);
    options.edgeitems = to_limit(steal_or_throw(PyNumber_Index(nb::object(given["edgeitems"]).ptr())));
    options.linewidth = to_limit(given["linewidth"]);
    const int suppress = PyObject_IsTrue(nb::object(given["suppress"]).ptr());
    if (suppress < 0) throw_python_error();
    options.suppress = suppress != 0;
    options.nanstr = text_of(given["nanstr"]);
    options.infstr = text_of(given["infstr"]);
    const std::string sign = text_of(given["sign"]);
    if (!sign.empty()) options.sign = sign[0];
    options.floatmode = to_float_mode(text_of(given["floatmode"]));
    return options;
}

std::string array2string_function(nb::handle object, const nb::dict& options, const std::string& separator,
                                  const std::string& prefix, const std::string& suffix) {
    const array value = to_array(object);
    const PrintOptions how = to_print_options(options);
    evaluate(value);
    const ReleaseGil release(is_large(value));
    return array2string(value, how, {separator, prefix, suffix});
}

std::string array_repr_function(nb::handle object, const nb::dict& options, const std::string& name) {
    const array value = to_array(object);
    const PrintOptions how = to_print_options(options);
    evaluate(value);
    const ReleaseGil release(is_large(value));
    return to_repr(value, how, name);
}

FloatTextOptions to_float_text_options(nb::handle precision, bool unique, nb::handle trim, bool sign,
                                       nb::handle pad_left, nb::handle min_digits) {
    FloatTextOptions options;
    options.precision = to_optional_int(precision);
    options.unique = unique;
    const std::string word = text_of(trim);
    options.trim = word.size() == 1 ? word[0] : '\0';
    options.sign = sign;
    options.pad_left = to_optional_int(pad_left);
    options.min_digits = to_optional_int(min_digits);
    return options;
}

}  // namespace

void bind_printing(nb::module_& m) {
    m.def("_array2string", array2string_function, arg("array"), arg("options"), arg("separator"),
          arg("prefix"), arg("suffix"));
    m.def("_array_repr", array_repr_function, arg("array"), arg("options"), arg("name"));
    m.def(
        "_format_float_positional",
        [](double value, nb::handle dtype, nb::handle precision, bool unique, bool fractional,
           nb::handle trim, bool sign, nb::handle pad_left, nb::handle pad_right, nb::handle min_digits) {
            FloatTextOptions options =
                to_float_text_options(precision, unique, trim, sign, pad_left, min_digits);
            options.fractional = fractional;
            options.pad_right = to_optional_int(pad_right);
            return format_float_positional(value, to_dtype_required(dtype), options);
        },
        arg("value"), arg("dtype"), arg("precision"), arg("unique"), arg("fractional"), arg("trim"),
        arg("sign"), arg("pad_left"), arg("pad_right"), arg("min_digits"));
    m.def(
        "_format_float_scientific",
        [](double value, nb::handle dtype, nb::handle precision, bool unique, nb::handle trim, bool sign,
           nb::handle pad_left, nb::handle exp_digits, nb::handle min_digits) {
            FloatTextOptions options =
                to_float_text_options(precision, unique, trim, sign, pad_left, min_digits);
            options.exp_digits = to_optional_int(exp_digits).value_or(2);
            return format_float_scientific(value, to_dtype_required(dtype), options);
        },
        arg("value"), arg("dtype"), arg("precision"), arg("unique"), arg("trim"), arg("sign"),
        arg("pad_left"), arg("exp_digits"), arg("min_digits"));
}

}  // namespace weft::python
