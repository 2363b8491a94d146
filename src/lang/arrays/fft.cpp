// numpy.fft along axes, one after the other.
#include <array>

#include "lang/arrays/functions.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// Of library/fft/transform.h.
constexpr int64_t kComplex = 0, kRealAsComplex = 1, kRealToComplex = 2, kComplexToReal = 3;

}  // namespace

Value FunctionLowering::ArrayFunctions::transformed(const Value& given, const std::string& kind,
                                                    const Value& n, size_t axis, const std::string& norm) {
    const bool forward = kind == "fft" || kind == "rfft", to_real = kind == "irfft";
    const DType dtype(given.type->scalar);
    const bool narrow = dtype.is_inexact() && dtype.real().itemsize() <= 4;
    const ScalarType real = narrow ? ScalarType::kFloat32 : ScalarType::kFloat64;
    const ScalarType complex = narrow ? ScalarType::kComplex64 : ScalarType::kComplex128;
    if (kind == "rfft" && dtype.is_complex())
        f_.fail(where_, "rfft() takes real numbers, not " + lang::describe(given.type), "Take its .real.");
    const bool is_complex = dtype.is_complex() || to_real;
    const Value of = array(given, is_complex ? complex : real);
    const auto number = [&](int64_t value) { return f_.integer(value).parts[0]; };
    const ValueId extent = f_.size_of(of, axis);
    const ValueId length =
        !is_none(n) ? f_.as_index(n, where_)
        : to_real   ? f_.apply(OpId::kMultiply, {number(2), f_.apply(OpId::kSubtract, {extent, number(1)})})
                    : extent;
    check_sizes(f_.apply(OpId::kGreaterEqual, {length, number(1)}),
                "Invalid number of FFT data points ({}) specified.", {length});
    std::vector<ValueId> shape = shape_of(of);
    shape[axis] = kind == "rfft"
                      ? f_.apply(OpId::kAdd, {f_.apply(OpId::kFloorDivide, {length, number(2)}), number(1)})
                      : length;
    const Value out = f_.allocate(to_real ? real : complex, shape, where_);
    const Value one = f_.constant(Constant::of(ScalarType::kFloat64, 1.0));
    const Value size =
        f_.scalar(scalar_type(ScalarType::kFloat64, true), f_.cast(whole(length), ScalarType::kFloat64));
    Value scale = one;
    if (norm == "ortho") {
        scale = f_.divide("truediv", one, operate(OpId::kSqrt, {size}), where_);
    } else if (norm == (forward ? "forward" : "backward")) {
        scale = f_.divide("truediv", one, size, where_);
    } else if (norm != "forward" && norm != "backward") {
        f_.fail(where_, "Invalid norm value " + norm + "; should be \"backward\",\"ortho\" or \"forward\".");
    }
    const int64_t which = to_real          ? kComplexToReal
                          : kind == "rfft" ? kRealToComplex
                          : is_complex     ? kComplex
                                           : kRealAsComplex;
    const std::array arguments = {out,
                                  of,
                                  f_.integer(static_cast<int64_t>(axis)),
                                  f_.integer(which),
                                  f_.integer(forward ? 1 : 0),
                                  scale,
                                  whole(length)};
    answer("transform", arguments);
    return out;
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_fft() {
    if (name_ == "fft" || name_ == "ifft" || name_ == "rfft" || name_ == "irfft") {
        const std::vector<Value> given = bind("a n? axis? norm? out!");
        const Value a = array(given[0]);
        return transformed(a, name_, given[1], axis(given[2], a.type->rank), text(given[3], "backward"));
    }
    if (name_ == "fft2" || name_ == "ifft2" || name_ == "fftn" || name_ == "ifftn") {
        const std::vector<Value> given = bind("a s! axes! norm? out!");
        Value a = array(given[0]);
        const bool of_two = name_ == "fft2" || name_ == "ifft2";
        if (of_two && a.type->rank < 2)
            f_.fail(where_, name_ + "() takes an array of two dimensions or more");
        for (size_t k = 0; k < (of_two ? 2U : a.type->rank); ++k)
            a = transformed(a, name_[0] == 'i' ? "ifft" : "fft", f_.none(), a.type->rank - 1 - k,
                            text(given[3], "backward"));
        return a;
    }
    return std::nullopt;
}

}  // namespace weft::lang
