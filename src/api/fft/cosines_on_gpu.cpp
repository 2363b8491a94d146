#include "api/fft/cosines_on_gpu.h"

#include <complex>
#include <numbers>

#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft {

namespace {

constexpr double kRoot2 = std::numbers::sqrt2;

// Of an array whose last axis is transformed.
class LastAxis {
public:
    using Transform = array (*)(const array&, const FourierCall&);
    LastAxis(const array& input, Transform transform)
        : input_(input), transform_(transform), n_(input.shape().back()) {}

    array cosines(int type) const {
        switch (type) {
            case 1: return real(fourier(TransformKind::kRealToComplex, mirrored(), 2 * (n_ - 1)));
            case 2: return second(input_);
            case 3: return third(input_);
            default: return real(fourth()) * 2.0;
        }
    }
    array sines(int type) const {
        switch (type) {
            case 1: {
                const array spectrum =
                    fourier(TransformKind::kRealToComplex, mirrored_and_negated(), 2 * (n_ + 1));
                return -imag(part(spectrum, slice(1, n_ + 1)));
            }
            case 2: return part(second(input_ * signs()), slice(none, none, -1));
            case 3: return third(part(input_, slice(none, none, -1))) * signs();
            default: return imag(fourth()) * -2.0;
        }
    }
    // What makes the matrix of the transform orthogonal, but for a factor: the ends of what is read, or of
    // what is written.
    array weighted(const array& values, double first, double last) const {
        if (n_ == 1) return values * (first * last);  // which is both ends
        const array places = arange(n_);
        return values * astype(where(places == 0, first, where(places == n_ - 1, last, 1.0)), values.dtype());
    }

private:
    static array part(const array& values, const Slice& along) { return values(ellipsis, along); }
    array part(const Slice& along) const { return part(input_, along); }

    array fourier(TransformKind kind, const array& values, int64_t length) const {
        FourierCall call;
        call.kind = kind;
        call.forward = kind != TransformKind::kComplexToReal;
        call.axes.push_back(values.ndim() - 1);
        call.lengths.push_back(length);
        return transform_(values, call);
    }
    // exp(i * step * (k + from)) for k below `count`.
    array turns(double step, double from, int64_t count) const {
        const array angles = (astype(arange(count), ScalarType::kFloat64) + from) * step;
        const array result = cos(angles) + sin(angles) * std::complex<double>(0, 1);
        return input_.dtype().itemsize() == 4 ? astype(result, ScalarType::kComplex64) : result;
    }
    array signs() const { return astype(where((arange(n_) & 1) == 1, -1.0, 1.0), input_.dtype()); }

    array mirrored() const { return concatenate({input_, part(slice(n_ - 2, 0, -1))}, -1); }
    array mirrored_and_negated() const {
        const array zero = zeros_like(part(slice(1)));
        return concatenate({zero, input_, zero, -part(slice(none, none, -1))}, -1);
    }
    // The even places, then the odd ones backwards; its transform has the cosines as real and imaginary
    // parts.
    array second(const array& values) const {
        const array odd = part(values, slice(1, none, 2));
        const array order =
            concatenate({part(values, slice(0, none, 2)), part(odd, slice(none, none, -1))}, -1);
        const array spectrum = fourier(TransformKind::kRealToComplex, order, n_) *
                               turns(-std::numbers::pi / (2.0 * static_cast<double>(n_)), 0, n_ / 2 + 1);
        const array rest = imag(part(spectrum, slice(1, (n_ + 1) / 2)));
        return concatenate({real(spectrum) * 2.0, part(rest, slice(none, none, -1)) * -2.0}, -1);
    }
    array third(const array& values) const {
        const int64_t half = n_ / 2 + 1;
        const array none_there = zeros_like(part(values, slice(1)));
        const array backwards =
            part(concatenate({none_there, part(values, slice(none, none, -1))}, -1), slice(half));
        const array spectrum = (part(values, slice(half)) - backwards * std::complex<double>(0, 1)) *
                               turns(std::numbers::pi / (2.0 * static_cast<double>(n_)), 0, half);
        const array order = fourier(TransformKind::kComplexToReal, spectrum, n_);
        const array result = empty(Shape(values.shape()), values.dtype());
        assign(part(result, slice(0, none, 2)), part(order, slice((n_ + 1) / 2)));
        if (n_ > 1)
            assign(part(result, slice(1, none, 2)),
                   part(part(order, slice((n_ + 1) / 2, none)), slice(none, none, -1)));
        return result;
    }
    array fourth() const {
        const auto n = static_cast<double>(n_);
        const array turned = input_ * turns(-std::numbers::pi / (2 * n), 0, n_);
        const array spectrum = fourier(TransformKind::kComplex, turned, 2 * n_);
        return part(spectrum, slice(n_)) * turns(-std::numbers::pi / (2 * n), 0.5, n_);
    }

    const array& input_;
    const Transform transform_;
    const int64_t n_;
};

}  // namespace

array cosines_along(const array& input, const FourierCall& call, int64_t axis,
                    array (*transform)(const array&, const FourierCall&)) {
    const bool cosine = call.kind == TransformKind::kCosine;
    array values = swapaxes(input, axis, -1);
    const bool weighs = call.orthogonal;
    if (weighs && call.type == 1 && cosine)
        values = LastAxis(values, transform).weighted(values, kRoot2, kRoot2);
    if (weighs && call.type == 3)
        values = LastAxis(values, transform).weighted(values, cosine ? kRoot2 : 1, cosine ? 1 : kRoot2);
    const LastAxis work(values, transform);
    array result = cosine ? work.cosines(call.type) : work.sines(call.type);
    if (weighs && call.type == 1 && cosine) result = work.weighted(result, 1 / kRoot2, 1 / kRoot2);
    if (weighs && call.type == 2)
        result = work.weighted(result, cosine ? 1 / kRoot2 : 1, cosine ? 1 : 1 / kRoot2);
    return swapaxes(result, axis, -1);
}

}  // namespace weft
