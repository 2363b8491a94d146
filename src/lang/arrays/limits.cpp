// numpy.finfo and numpy.iinfo: records of constants.
#include <array>
#include <cmath>
#include <limits>

#include "lang/arrays/functions.h"

namespace weft::lang {

namespace {

const Record* record_of_limits(const char* name, std::vector<std::string> fields) {
    auto* made = new Record;
    made->name = name;
    made->defaults.resize(fields.size());
    made->keyword_only.resize(fields.size());
    made->fields = std::move(fields);
    made->not_made = std::string(name) + " is made of a dtype";
    return made;
}

// IEEE 754's formats.
struct FloatFormat {
    ScalarType type;
    int64_t bits, mantissa, exponent, precision;
    double resolution;
};
constexpr FloatFormat kFormats[] = {
    {ScalarType::kFloat16, 16, 10, 5, 3, 1e-3},
    {ScalarType::kFloat32, 32, 23, 8, 6, 1e-6},
    {ScalarType::kFloat64, 64, 52, 11, 15, 1e-15},
};

}  // namespace

Value FunctionLowering::ArrayFunctions::limits_of(const Value& given) {
    ScalarType scalar{};
    if (is_array(given.type) || is_scalar(given.type)) {
        scalar = given.type->scalar;
    } else {
        scalar = f_.dtype_of(given, where_).value_or(ScalarType::kFloat64);
    }
    const DType dtype(scalar);
    std::vector<TypeRef> types;
    std::vector<ir::ValueId> parts;
    const auto add = [&](const Value& value) {
        types.push_back(value.type);
        parts.push_back(value.parts[0]);
    };
    if (name_ == "iinfo") {
        if (!dtype.is_integer())
            f_.fail(where_, "Invalid integer data type '" + std::string(dtype.name()) + "'.");
        static const Record* const record = record_of_limits("iinfo", {"bits", "min", "max"});
        const int64_t bits = dtype.itemsize() * 8;
        const bool is_unsigned = dtype.is_unsigned_integer();
        add(f_.integer(bits));
        add(f_.integer(is_unsigned ? 0 : std::numeric_limits<int64_t>::min() >> (64 - bits)));
        if (scalar == ScalarType::kUInt64) {
            add(f_.constant(Constant::of(scalar, std::numeric_limits<uint64_t>::max())));
        } else {
            add(f_.integer(std::numeric_limits<int64_t>::max() >> ((is_unsigned ? 63 : 64) - bits)));
        }
        return {record_type(record, types), parts, 0};
    }
    const ScalarType real = scalar == ScalarType::kComplex64    ? ScalarType::kFloat32
                            : scalar == ScalarType::kComplex128 ? ScalarType::kFloat64
                                                                : scalar;
    for (const FloatFormat& format : kFormats) {
        if (format.type != real) continue;
        static const Record* const record =
            record_of_limits("finfo", {"bits", "eps", "epsneg", "iexp", "machep", "max", "maxexp", "min",
                                       "minexp", "negep", "nexp", "nmant", "precision", "resolution",
                                       "smallest_normal", "smallest_subnormal", "tiny"});
        const auto number = [&](double value) {
            const Value wide = f_.constant(Constant::of(ScalarType::kFloat64, value));
            add(f_.scalar(scalar_type(real), f_.cast(wide, real)));
        };
        const int64_t most = int64_t{1} << (format.exponent - 1);
        const auto power = [](int64_t exponent) { return std::ldexp(1.0, static_cast<int>(exponent)); };
        const double largest = std::ldexp(2.0 - power(-format.mantissa), static_cast<int>(most - 1));
        add(f_.integer(format.bits));
        number(power(-format.mantissa));
        number(power(-format.mantissa - 1));
        add(f_.integer(format.exponent));
        add(f_.integer(-format.mantissa));
        number(largest);
        add(f_.integer(most));
        number(-largest);
        add(f_.integer(2 - most));
        add(f_.integer(-format.mantissa - 1));
        add(f_.integer(format.exponent));
        add(f_.integer(format.mantissa));
        add(f_.integer(format.precision));
        number(format.resolution);
        number(power(2 - most));
        number(power(2 - most - format.mantissa));
        number(power(2 - most));
        return {record_type(record, types), parts, 0};
    }
    f_.fail(where_, "data type '" + std::string(dtype.name()) + "' not inexact");
}

}  // namespace weft::lang
