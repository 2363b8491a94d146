#include <cmath>
#include <string>
#include <string_view>

#include "api/elementwise/float_errors.h"
#include "weft/creation.h"
#include "weft/errors.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/ops.h"

namespace weft {

namespace {

bool is_float(DType dtype) { return dtype.is_inexact() && !dtype.is_complex(); }

struct Range {
    double least, above;  // the numbers from one up to the other
};

Range range_of(DType integer) {
    const double bits = 8.0 * static_cast<double>(integer.itemsize());
    if (integer.is_unsigned_integer()) return {0, std::exp2(bits)};
    return {-std::exp2(bits - 1), std::exp2(bits - 1)};
}

// Where real elements have no equal of a real dtype.
array changes(const array& input, DType dtype) {
    const DType from = input.dtype();
    if (is_float(from) && is_float(dtype))
        return logical_and(astype(astype(input, dtype), from) != input, input == input);
    if (is_float(from)) {
        const array wide = astype(input, ScalarType::kFloat64);
        const Range range = range_of(dtype);
        return logical_not(
            logical_and(logical_and(wide >= range.least, wide < range.above), trunc(wide) == wide));
    }
    if (is_float(dtype)) {
        const array wide = astype(astype(input, dtype), ScalarType::kFloat64);
        const array fits = logical_and(isfinite(wide), wide < range_of(from).above);
        return astype(where(fits, wide, 0.0), from) != input;
    }
    const array result = astype(input, dtype);
    return logical_or(astype(result, from) != input, (result < 0) != (input < 0));
}

// As NumPy's texts call them.
std::string_view c_name(DType dtype) {
    switch (dtype.scalar_type()) {
        case ScalarType::kBool: return "bool";
        case ScalarType::kInt8: return "byte";
        case ScalarType::kInt16: return "short";
        case ScalarType::kInt32: return "int";
        case ScalarType::kInt64: return "long";
        case ScalarType::kUInt8: return "ubyte";
        case ScalarType::kUInt16: return "ushort";
        case ScalarType::kUInt32: return "uint";
        case ScalarType::kUInt64: return "ulong";
        case ScalarType::kFloat16: return "half";
        case ScalarType::kFloat32: return "float";
        case ScalarType::kFloat64: return "double";
        case ScalarType::kComplex64: return "cfloat";
        case ScalarType::kComplex128: return "cdouble";
        default: return dtype.name();
    }
}

[[noreturn]] void refuse(DType from, DType to, std::string_view why) {
    throw ValueError("could not cast 'same_value' " + std::string(c_name(from)) + " to " +
                     std::string(c_name(to)) + std::string(why));
}

void check_values(const array& input, DType dtype) {
    const DType from = input.dtype();
    if (!from.is_complex()) {
        if (truth_of(any(changes(input, dtype.real())))) refuse(from, dtype, "");
        return;
    }
    const array of_real = changes(real(input), dtype.real());
    const array of_imaginary = dtype.is_complex() ? changes(imag(input), dtype.real()) : imag(input) != 0;
    const array wrong = ravel(logical_or(of_real, of_imaginary));
    if (!truth_of(any(wrong))) return;
    const bool is_real = truth_of(ravel(of_real)(argmax(wrong).item<int64_t>()));
    refuse(from, dtype, is_real || dtype.is_complex() ? "" : ": imag is not 0");
}

}  // namespace

array astype_same_value(const array& input, DType dtype, char order, bool copy) {
    if (input.dtype() != dtype && !dtype.is_bool() && !input.dtype().is_bool()) {
        const FloatWatch watch;  // what the comparisons meet is told by the error alone
        check_values(input, dtype);
    }
    return astype(input, dtype, order, Casting::kUnsafe, copy);
}

}  // namespace weft
