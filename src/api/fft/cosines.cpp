// scipy.fft's transforms of real numbers to real numbers.
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

// By how much the transform there and back multiplies, for each axis.
double factor(TransformKind kind, int type, int64_t length) {
    const int64_t more = type != 1 ? 0 : kind == TransformKind::kCosine ? -1 : 1;
    return 2.0 * static_cast<double>(length + more);
}

array real_transform(const array& a, TransformKind kind, bool forward, int64_t type,
                     const std::optional<Dims>& s, const std::optional<Dims>& axes, Norm norm,
                     std::optional<bool> orthogonalize) {
    const char* const name = kind == TransformKind::kCosine ? "DCT" : "DST";
    if (type < 1 || type > 4) throw ValueError(std::string("invalid ") + name + " type");
    if (a.dtype().is_complex()) throw TypeError(std::string("a ") + name + " is of real numbers");
    const int64_t rank = a.ndim();
    FourierCall call;
    call.kind = kind;
    call.type = static_cast<int>(type);
    if (!forward && (type == 2 || type == 3)) call.type = type == 2 ? 3 : 2;
    call.orthogonal = orthogonalize.value_or(norm == Norm::kOrtho);
    const int64_t count = axes ? static_cast<int64_t>(axes->size())
                          : s  ? static_cast<int64_t>(s->size())
                               : rank;
    if (axes && s && axes->size() != s->size())
        throw ValueError("when given, axes and shape arguments have to be of the same length");
    if (count > rank) throw ValueError("shape requires more axes than are present");
    double whole = 1.0;
    for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(i);
        const int64_t axis = normalize_axis(axes ? (*axes)[at] : rank - count + i, a.ndim());
        if (std::ranges::find(call.axes, axis) != call.axes.end())
            throw ValueError("all axes must be unique");
        const int64_t length = s && (*s)[at] != -1 ? (*s)[at] : a.shape()[static_cast<size_t>(axis)];
        if (length < 1)
            throw ValueError("invalid number of data points (" + std::to_string(length) + ") specified");
        bool has_rows = true;
        for (size_t d = 0; d < a.shape().size(); ++d)
            has_rows = has_rows && (static_cast<int64_t>(d) == axis || a.shape()[d] != 0);
        if (kind == TransformKind::kCosine && call.type == 1 && length < 2 && has_rows)
            throw RuntimeError("zero-length FFT requested");
        call.axes.push_back(axis);
        call.lengths.push_back(length);
        whole *= factor(kind, call.type, length);
    }
    if (count == 0) return a;
    if (norm == Norm::kOrtho)
        call.scale = 1.0 / std::sqrt(whole);
    else if ((norm == Norm::kForward) == forward)
        call.scale = 1.0 / whole;
    const DType dtype = fourier_dtype(a.dtype());
    return fourier_transform(a.dtype() == dtype ? a : astype(a, dtype), call);
}

}  // namespace

array dctn(const array& a, int64_t type, std::optional<Dims> s, std::optional<Dims> axes, Norm norm,
           std::optional<bool> orthogonalize) {
    return real_transform(a, TransformKind::kCosine, true, type, s, axes, norm, orthogonalize);
}
array idctn(const array& a, int64_t type, std::optional<Dims> s, std::optional<Dims> axes, Norm norm,
            std::optional<bool> orthogonalize) {
    return real_transform(a, TransformKind::kCosine, false, type, s, axes, norm, orthogonalize);
}
array dstn(const array& a, int64_t type, std::optional<Dims> s, std::optional<Dims> axes, Norm norm,
           std::optional<bool> orthogonalize) {
    return real_transform(a, TransformKind::kSine, true, type, s, axes, norm, orthogonalize);
}
array idstn(const array& a, int64_t type, std::optional<Dims> s, std::optional<Dims> axes, Norm norm,
            std::optional<bool> orthogonalize) {
    return real_transform(a, TransformKind::kSine, false, type, s, axes, norm, orthogonalize);
}

namespace {

// The least number of at least, or the greatest of at most, `target` that has prime factors of the list
// alone.
int64_t smooth(int64_t target, std::span<const int64_t> primes, bool above) {
    int64_t best = above ? INT64_MAX : 1;
    const auto visit = [&](auto& self, int64_t product, size_t from) -> void {
        if (above ? product >= target : product <= target)
            best = above ? std::min(best, product) : std::max(best, product);
        if (above && product >= target) return;
        const auto limit = [&] { return above ? best : target + 1; };
        for (size_t i = from; i < primes.size(); ++i) {
            int64_t next = 0;
            if (__builtin_mul_overflow(product, primes[i], &next) || next >= limit()) continue;
            self(self, next, i);
        }
    };
    visit(visit, 1, 0);
    return best;
}

constexpr int64_t kPrimes[] = {11, 7, 5, 3, 2};

std::span<const int64_t> primes_of(bool real) {
    return std::span<const int64_t>(kPrimes).subspan(real ? 2 : 0);
}

void check_target(int64_t target) {
    if (target < 0) throw ValueError("Target length must be positive");
    if (target > INT64_MAX / 11)
        throw ValueError("Target length is too large to perform an FFT: " + std::to_string(target));
}

}  // namespace

int64_t next_fast_len(int64_t target, bool real) {
    check_target(target);
    return target == 0 ? 0 : smooth(target, primes_of(real), true);
}

int64_t prev_fast_len(int64_t target, bool real) {
    check_target(target);
    return target == 0 ? 0 : smooth(target, primes_of(real), false);
}

}  // namespace weft::fft
