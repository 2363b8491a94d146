#include "api/fft/frequencies.h"

#include "api/fast/fast_call.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/fft.h"
#include "weft/operations.h"

namespace weft::fft {

namespace {

using Half = int64_t (*)(int64_t extent);

array shifted(const array& x, const Axes& axes, Half half) {
    Dims places, shifts;
    if (axes.list()) {
        places = *axes.list();
    } else {
        for (int64_t d = 0; d < x.ndim(); ++d) places.push_back(d);
    }
    for (const int64_t axis : places)
        shifts.push_back(half(x.shape()[static_cast<size_t>(normalize_axis(axis, x.ndim()))]));
    return roll(x, shifts, places);
}

double step_of(int64_t n, double d) {
    if (n < 1) throw ValueError("n should be at least 1, but it is " + std::to_string(n));
    return 1.0 / (static_cast<double>(n) * d);
}

}  // namespace

array multiples(int64_t count, double step, bool centred) {
    if (count < 0) throw ValueError("negative dimensions are not allowed");
    const int64_t positive = centred ? (count - 1) / 2 + 1 : count;
    if (count > 0 && is_small(count) && current_device().is_cpu()) {
        BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count) * sizeof(double));
        auto* const to = reinterpret_cast<double*>(buffer->data());
        for (int64_t k = 0; k < positive; ++k) to[k] = static_cast<double>(k) * step;
        for (int64_t k = positive; k < count; ++k) to[k] = static_cast<double>(k - count) * step;
        return array_of(std::move(buffer), ScalarType::kFloat64, Dims{count}, Dims{sizeof(double)});
    }
    const array k = arange(Integer(0), Integer(count));
    const array places = centred ? where(less(k, positive), k, subtract(k, count)) : k;
    return multiply(places, step);
}

array fftfreq(int64_t n, double d) { return multiples(n, step_of(n, d), true); }

array rfftfreq(int64_t n, double d) { return multiples(n / 2 + 1, step_of(n, d), false); }

array fftshift(const array& x, const Axes& axes) {
    return shifted(x, axes, [](int64_t extent) { return extent / 2; });
}

array ifftshift(const array& x, const Axes& axes) {
    return shifted(x, axes, [](int64_t extent) { return -(extent / 2); });
}

}  // namespace weft::fft
