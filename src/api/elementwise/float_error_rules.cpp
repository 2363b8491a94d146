#include "api/elementwise/float_error_rules.h"

#include "ops/resolve.h"

namespace weft {

namespace {

array apply(OpId id, const Argument& operand) { return call_unary(op_info(id), operand); }
array apply(OpId id, const Argument& left, const Argument& right) {
    return call_binary(op_info(id), left, right);
}
std::vector<array> take_apart(const array& x) {
    const Argument input = x;
    return call(op_info(OpId::kFrexp), {&input, 1});
}

array either(const Argument& first, const Argument& second) { return apply(OpId::kLogicalOr, first, second); }
array negated(const array& x) { return apply(OpId::kLogicalNot, x); }
array is_nan(const array& x) { return apply(OpId::kIsnan, x); }
array is_infinite(const array& x) { return apply(OpId::kIsinf, x); }
array is_finite(const array& x) { return apply(OpId::kIsfinite, x); }
array is_zero(const array& x) { return apply(OpId::kEqual, x, Integer(0)); }
array differs(const array& x, const Argument& y) { return apply(OpId::kNotEqual, x, y); }
array is_integer(const array& x) { return apply(OpId::kEqual, apply(OpId::kTrunc, x), x); }

// What `look` says of some of `operands`, as one condition; of those that are not floats nothing.
array all_of(std::span<const array> operands, array (*look)(const array&)) {
    array result;
    for (const array& x : operands) {
        if (!x.dtype().is_inexact()) continue;
        result = result.valid() ? both(result, look(x)) : look(x);
    }
    return result.valid() ? result : from_argument(true);
}
array is_no_nan(const array& x) { return negated(is_nan(x)); }

double smallest_normal(DType dtype) {
    switch (dtype.real().scalar_type()) {
        case ScalarType::kFloat16: return 0x1p-14;
        case ScalarType::kFloat32:
        case ScalarType::kBFloat16: return 0x1p-126;
        default: return 0x1p-1022;
    }
}

array is_tiny(const array& x) {
    return apply(OpId::kLess, apply(OpId::kAbsolute, x), smallest_normal(x.dtype()));
}

// Whether x * y is not just `product`; all are finite.
array is_inexact_product(const array& x, const array& y, const array& product) {
    const std::vector<array> a = take_apart(astype(x, ScalarType::kFloat64)),
                             b = take_apart(astype(y, ScalarType::kFloat64)),
                             c = take_apart(astype(product, ScalarType::kFloat64));
    const array shift = apply(OpId::kSubtract, apply(OpId::kAdd, a[1], b[1]), c[1]);
    constexpr int64_t kFar = 100;  // further than equal numbers can be apart, and no underflow of its own
    const array near = apply(OpId::kMinimum, apply(OpId::kMaximum, shift, Integer(-kFar)), Integer(kFar));
    const array rounded = apply(OpId::kMultiply, a[0], b[0]);
    const Argument rest[] = {a[0], b[0], apply(OpId::kNegative, rounded)};
    return either(differs(apply(OpId::kLdexp, rounded, near), c[0]),
                  differs(call(op_info(OpId::kFma), rest)[0], Integer(0)));
}

// Whether the result is infinite because the operation has a pole there; invalid: it has none.
array is_pole(const OpInfo& op, std::span<const array> x) {
    switch (op.facts.pole) {
        case Pole::kZeroDivisor: return both(is_zero(x[1]), is_finite(x[0]));
        case Pole::kZero: return is_zero(x[0]);
        case Pole::kZeroBase: return both(is_zero(x[0]), is_finite(x[1]));
        case Pole::kMinusOne: return apply(OpId::kEqual, x[0], Integer(-1));
        case Pole::kOne: return apply(OpId::kEqual, apply(OpId::kAbsolute, x[0]), Integer(1));
        case Pole::kNone: break;
    }
    return {};
}

// Whether a tiny result of finite operands is not exact; invalid: it always is. Functions that are their
// argument where it is tiny (sin, log1p) are taken to be exact there.
array is_inexact(const OpInfo& op, std::span<const array> x, const array& result) {
    switch (op.facts.tiny) {
        case TinyResult::kProduct: return is_inexact_product(x[0], x[1], result);
        case TinyResult::kSquare: return is_inexact_product(x[0], x[0], result);
        case TinyResult::kQuotient: return is_inexact_product(result, x[1], x[0]);
        case TinyResult::kReciprocal: return is_inexact_product(result, x[0], from_argument(1.0));
        case TinyResult::kInexact: return from_argument(true);
        case TinyResult::kPowerOfTwo: return either(is_zero(result), negated(is_integer(x[0])));
        case TinyResult::kPower: {
            const array mantissa = apply(OpId::kAbsolute, take_apart(x[0])[0]);
            const array exact = both(apply(OpId::kEqual, mantissa, 0.5), is_integer(x[1]));
            return both(negated(is_zero(x[0])), either(is_zero(result), negated(exact)));
        }
        case TinyResult::kUnlessZero: return negated(is_zero(x[0]));
        case TinyResult::kUnlessAnyZero: return both(negated(is_zero(x[0])), negated(is_zero(x[1])));
        case TinyResult::kNeighbour: return differs(result, x[0]);
        case TinyResult::kScaled: return differs(take_apart(result)[0], take_apart(x[0])[0]);
        case TinyResult::kExact: break;
    }
    return {};
}

void inspect_integer_division(FloatWatch& watch, const OpInfo& op, std::span<const array> x) {
    const array& divisor = x.back();
    watch.look(FloatError::kDivide, is_zero(divisor));
    const DType dtype = divisor.dtype();
    if (!dtype.is_signed_integer() || !op.flags.quotient_overflows) return;
    const Integer least(-(int64_t{1} << (8 * dtype.itemsize() - 2)) * 2);
    watch.look(FloatError::kOver,
               both(apply(OpId::kEqual, x[0], least), apply(OpId::kEqual, divisor, Integer(-1))));
}

void inspect_cast_to_integer(FloatWatch& watch, const array& from, DType to) {
    // NumPy converts to short and to unsigned integers by way of longer signed ones.
    double least = -0x1p63, above = 0x1p63;
    if (to.itemsize() < 4 || to.scalar_type() == ScalarType::kInt32) least = -0x1p31, above = 0x1p31;
    if (to.scalar_type() == ScalarType::kUInt64) above = 0x1p64;
    const array whole = apply(OpId::kTrunc, astype(from, ScalarType::kFloat64));
    watch.look(FloatError::kInvalid,
               negated(both(apply(OpId::kGreaterEqual, whole, least), apply(OpId::kLess, whole, above))));
}

}  // namespace

array both(const Argument& first, const Argument& second) { return apply(OpId::kLogicalAnd, first, second); }

void inspect_call(FloatWatch& watch, const OpInfo& op, std::span<const array> operands,
                  std::span<const array> results) {
    if (operands[0].dtype().is_integer() && op.flags.divides_integers) {
        inspect_integer_division(watch, op, operands);
        return;
    }
    if (op.id == OpId::kSpacing) return;
    const bool moves = op.id == OpId::kNextafter;  // towards an infinity, too
    const std::span<const array> sources = moves ? operands.first(1) : operands;
    for (const array& result : results) {
        if (!result.dtype().is_inexact()) continue;
        if (watch.wants(FloatError::kInvalid))
            watch.look(FloatError::kInvalid, both(is_nan(result), all_of(operands, is_no_nan)));
        const array pole = is_pole(op, operands);
        if (pole.valid() && watch.wants(FloatError::kDivide))
            watch.look(FloatError::kDivide, both(is_infinite(result), pole));
        if (watch.wants(FloatError::kOver)) {
            const array infinite = both(is_infinite(result), all_of(sources, is_finite));
            watch.look(FloatError::kOver, pole.valid() ? both(infinite, negated(pole)) : infinite);
        }
        if (watch.wants(FloatError::kUnder) && !result.dtype().is_complex()) {
            const array inexact = is_inexact(op, operands, result);
            if (!inexact.valid()) continue;
            watch.look(FloatError::kUnder, both(both(is_tiny(result), all_of(sources, is_finite)), inexact));
        }
    }
}

void inspect_cast(FloatWatch& watch, const array& from, const array& to) {
    const DType source = from.dtype(), target = to.dtype();
    if (source == target || from.size() == 0 || target.is_bool()) return;
    if (source.is_complex()) {
        inspect_cast(watch, real(from), target.is_complex() ? real(to) : to);
        if (target.is_complex()) inspect_cast(watch, imag(from), imag(to));
        return;
    }
    if (target.is_complex()) {
        inspect_cast(watch, from, real(to));
        return;
    }
    if (target.is_integer()) {
        if (source.is_inexact() && watch.wants(FloatError::kInvalid))
            inspect_cast_to_integer(watch, from, target);
        return;
    }
    if (source.is_integer() || source.is_bool()) {
        if (target.scalar_type() == ScalarType::kFloat16) watch.look(FloatError::kOver, is_infinite(to));
        return;
    }
    if (source.itemsize() < target.itemsize()) return;
    watch.look(FloatError::kOver, both(is_infinite(to), is_finite(from)));
    if (watch.wants(FloatError::kUnder))
        watch.look(FloatError::kUnder, both(is_tiny(to), differs(astype(to, ScalarType::kFloat64),
                                                                 astype(from, ScalarType::kFloat64))));
}

void inspect_reduction(FloatWatch& watch, const ReductionInfo& info, const array& input, const array& result,
                       const ReduceOptions& options) {
    ReduceOptions over;
    over.axes = options.axes;
    over.keepdims = options.keepdims;
    array values = input.dtype() == result.dtype() ? input : astype(input, result.dtype());
    if (options.where) {
        const Argument choice[3] = {
            *options.where, values,
            from_argument(info.combine == OpId::kMultiply ? 1.0 : 0.0, result.dtype())};
        values = call(op_info(OpId::kSelect), choice)[0];
    }
    array finite = reduce("all", is_finite(values), over), no_nan = reduce("all", is_no_nan(values), over);
    if (options.initial) {
        const array initial = from_argument(*options.initial, result.dtype());
        finite = both(finite, is_finite(initial));
        no_nan = both(no_nan, is_no_nan(initial));
    }
    watch.look(FloatError::kInvalid, both(is_nan(result), no_nan));
    watch.look(FloatError::kOver, both(is_infinite(result), finite));
    if (info.combine != OpId::kMultiply || !watch.wants(FloatError::kUnder)) return;
    array none_zero = reduce("all", negated(is_zero(values)), over);
    if (options.initial)
        none_zero = both(none_zero, negated(is_zero(from_argument(*options.initial, result.dtype()))));
    watch.look(FloatError::kUnder, both(both(is_zero(result), finite), none_zero));
}

void inspect_scan(FloatWatch& watch, const array& input, const array& result, int64_t axis) {
    const array values = input.dtype() == result.dtype() ? input : astype(input, result.dtype());
    const OpInfo& all = op_info(OpId::kLogicalAnd);
    watch.look(FloatError::kInvalid, both(is_nan(result), accumulate(all, is_no_nan(values), axis)));
    watch.look(FloatError::kOver, both(is_infinite(result), accumulate(all, is_finite(values), axis)));
}

void inspect_product(FloatWatch& watch, const array& left, const array& right, const array& result) {
    if (!result.dtype().is_inexact() || result.size() == 0) return;
    const auto of_each = [&](array (*look)(const array&)) {
        // Of every row and of every column, where the other operand has rows or columns to be joined with.
        const auto along = [&](const array& operand, int64_t axis) {
            if (!operand.dtype().is_inexact()) return from_argument(true);
            ReduceOptions over;
            over.axes = Dims{axis};
            over.keepdims = left.ndim() > 1 && right.ndim() > 1;
            return reduce("all", look(operand), over);
        };
        return both(along(left, -1), along(right, right.ndim() == 1 ? -1 : -2));
    };
    watch.look(FloatError::kInvalid, both(is_nan(result), of_each(is_no_nan)));
    watch.look(FloatError::kOver, both(is_infinite(result), of_each(is_finite)));
}

void inspect_whole(FloatWatch& watch, std::span<const array> inputs, const array& result) {
    if (!result.dtype().is_inexact() || result.size() == 0) return;
    const auto everywhere = [&](array (*look)(const array&)) {
        array answer = from_argument(true);
        for (const array& input : inputs) {
            if (input.dtype().is_inexact()) answer = both(answer, reduce("all", look(input)));
        }
        return answer;
    };
    watch.look(FloatError::kInvalid, both(is_nan(result), everywhere(is_no_nan)));
    watch.look(FloatError::kOver, both(is_infinite(result), everywhere(is_finite)));
}

}  // namespace weft
