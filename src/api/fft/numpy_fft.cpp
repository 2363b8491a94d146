// numpy.fft and scipy.fft: lengths, axes, norms and errors.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "api/fft/fourier.h"
#include "core/shape.h"
#include "weft/fft.h"
#include "weft/ops.h"

namespace weft::fft {

namespace {

double scale_of(double length, bool forward, Norm norm) {
    switch (norm) {
        case Norm::kOrtho: return 1.0 / std::sqrt(length);
        case Norm::kForward: return forward ? 1.0 / length : 1.0;
        case Norm::kBackward: break;
    }
    return forward ? 1.0 : 1.0 / length;
}

[[noreturn]] void refuse_length(int64_t n) {
    throw ValueError("Invalid number of FFT data points (" + std::to_string(n) + ") specified.");
}

int64_t extent_along(const array& a, int64_t axis) {
    const int64_t rank = a.ndim();
    if (axis < -rank || axis >= rank) throw IndexError("tuple index out of range");
    return a.shape()[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
}

// What the input is made first.
DType working_dtype(DType given, TransformKind kind, int64_t length) {
    const DType dtype = fourier_dtype(given);
    if (kind == TransformKind::kRealToComplex && dtype.is_complex())
        throw TypeError(
            std::string("ufunc 'rfft_n_") + (length % 2 == 0 ? "even" : "odd") +
            "' not supported for the input types, and the inputs could not be safely coerced to any "
            "supported types according to the casting rule ''safe''");
    if (kind == TransformKind::kComplexToReal && !dtype.is_complex())
        return dtype == DType(ScalarType::kFloat32) ? ScalarType::kComplex64 : ScalarType::kComplex128;
    return dtype;
}

array along_axis(const array& a, TransformKind kind, std::optional<int64_t> n, int64_t axis, Norm norm,
                 bool forward) {
    const bool to_real = kind == TransformKind::kComplexToReal;
    const int64_t length = n ? *n : to_real ? 2 * (extent_along(a, axis) - 1) : extent_along(a, axis);
    if (length < 1) refuse_length(length);
    const int place = normalize_axis(axis, a.ndim());
    const DType dtype = working_dtype(a.dtype(), kind, length);
    FourierCall call;
    call.kind = kind;
    call.forward = forward;
    call.scale = scale_of(static_cast<double>(length), forward, norm);
    call.axes.push_back(place);
    call.lengths.push_back(length);
    array result = fourier_transform(a.dtype() == dtype ? a : astype(a, dtype), call);
    if (to_real && a.dtype().is_half_float()) return astype(result, a.dtype());
    return result;
}

// Along several axes: a length for each.
array along_axes(array a, TransformKind kind, std::optional<Dims> s, std::optional<Dims> axes, Norm norm,
                 bool forward) {
    const bool to_real = kind == TransformKind::kComplexToReal;
    const auto rank = static_cast<int64_t>(a.ndim());
    const bool axes_are_given = axes.has_value();
    if (!axes) {
        axes.emplace();
        const int64_t count = s ? static_cast<int64_t>(s->size()) : rank;
        for (int64_t d = -count; d < 0; ++d) axes->push_back(d);
    } else if (!s) {
        if (rank == 0 && !axes->empty()) throw IndexError("cannot do a non-empty take from an empty axes.");
        for (const int64_t axis : *axes) {
            if (axis < -rank || axis >= rank)
                throw IndexError("index " + std::to_string(axis) + " is out of bounds for axis 0 with size " +
                                 std::to_string(rank));
        }
    }
    if (s && s->size() != axes->size()) throw ValueError("Shape and axes have different lengths.");
    if (kind != TransformKind::kComplex && axes->empty())  // NumPy indexes its tuple of axes first, or a list
        throw IndexError(to_real && !s && axes_are_given ? "tuple index out of range"
                                                         : "list index out of range");
    Dims lengths;
    for (size_t i = 0; i < axes->size(); ++i) {
        if (s && (*s)[i] != -1) {
            lengths.push_back((*s)[i]);
            continue;
        }
        const int64_t there = extent_along(a, (*axes)[i]);
        lengths.push_back(to_real && !s && i + 1 == axes->size() ? 2 * (there - 1) : there);
    }
    // The first fault that NumPy finds: it transforms axis after axis.
    for (size_t step = lengths.size(); step-- > 0;) {
        const size_t i = to_real ? lengths.size() - 1 - step : step;
        if (lengths[i] < 1) refuse_length(lengths[i]);
        normalize_axis((*axes)[i], a.ndim());
        if (i + 1 == lengths.size()) working_dtype(a.dtype(), kind, lengths[i]);
    }
    if (axes->empty()) return a;
    DType dtype = working_dtype(a.dtype(), kind, lengths.back());
    FourierCall call;
    call.kind = kind;
    call.forward = forward;
    bool repeats = false;
    for (size_t i = 0; i < axes->size(); ++i) {
        const int64_t axis = normalize_axis((*axes)[i], a.ndim());
        repeats = repeats || std::ranges::find(call.axes, axis) != call.axes.end();
        call.axes.push_back(axis);
        call.lengths.push_back(lengths[i]);
        call.scale *= scale_of(static_cast<double>(lengths[i]), forward, norm);
    }
    const DType given = a.dtype();
    array result = given == dtype ? a : astype(a, dtype);
    if (repeats) {  // one after another, in NumPy's order
        const auto count = static_cast<int64_t>(axes->size());
        for (int64_t i = 0; i < count; ++i) {
            const auto at = static_cast<size_t>(to_real ? i : count - 1 - i);
            const bool is_end = at + 1 == axes->size();
            result = along_axis(result, is_end ? kind : TransformKind::kComplex, lengths[at], (*axes)[at],
                                norm, forward);
        }
    } else {
        result = fourier_transform(result, call);
    }
    return to_real && given.is_half_float() && axes->size() == 1 ? astype(result, given) : result;
}

}  // namespace

array fft(const array& a, std::optional<int64_t> n, int64_t axis, Norm norm) {
    return along_axis(a, TransformKind::kComplex, n, axis, norm, true);
}
array ifft(const array& a, std::optional<int64_t> n, int64_t axis, Norm norm) {
    return along_axis(a, TransformKind::kComplex, n, axis, norm, false);
}
array rfft(const array& a, std::optional<int64_t> n, int64_t axis, Norm norm) {
    return along_axis(a, TransformKind::kRealToComplex, n, axis, norm, true);
}
array irfft(const array& a, std::optional<int64_t> n, int64_t axis, Norm norm) {
    return along_axis(a, TransformKind::kComplexToReal, n, axis, norm, false);
}
// The transform of what is its own conjugate when mirrored is real.
array hfft(const array& a, std::optional<int64_t> n, int64_t axis, Norm norm) {
    return along_axis(a, TransformKind::kComplexToReal, n, axis, norm, true);
}
array ihfft(const array& a, std::optional<int64_t> n, int64_t axis, Norm norm) {
    return along_axis(a, TransformKind::kRealToComplex, n, axis, norm, false);
}

array fftn(const array& a, std::optional<Dims> s, std::optional<Dims> axes, Norm norm) {
    return along_axes(a, TransformKind::kComplex, std::move(s), std::move(axes), norm, true);
}
array ifftn(const array& a, std::optional<Dims> s, std::optional<Dims> axes, Norm norm) {
    return along_axes(a, TransformKind::kComplex, std::move(s), std::move(axes), norm, false);
}
array rfftn(const array& a, std::optional<Dims> s, std::optional<Dims> axes, Norm norm) {
    return along_axes(a, TransformKind::kRealToComplex, std::move(s), std::move(axes), norm, true);
}
array irfftn(const array& a, std::optional<Dims> s, std::optional<Dims> axes, Norm norm) {
    return along_axes(a, TransformKind::kComplexToReal, std::move(s), std::move(axes), norm, false);
}

array hfftn(const array& a, std::optional<Dims> s, std::optional<Dims> axes, Norm norm) {
    return along_axes(a, TransformKind::kComplexToReal, std::move(s), std::move(axes), norm, true);
}
array ihfftn(const array& a, std::optional<Dims> s, std::optional<Dims> axes, Norm norm) {
    return along_axes(a, TransformKind::kRealToComplex, std::move(s), std::move(axes), norm, false);
}

}  // namespace weft::fft
