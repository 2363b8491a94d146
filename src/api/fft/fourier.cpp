#include "api/fft/fourier.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "api/fast/fast_call.h"
#include "api/fft/fourier_on_gpu.h"
#include "api/recording/origins.h"
#include "api/recording/transfer.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "execution/fallback.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "weft/ops.h"

namespace weft {

namespace {

struct Layout {
    char* data;  // read only where it is an input's
    Dims shape, strides;
};

// From one layout to the other along `axis`, of which `filled` numbers are there, in the rows of `extents`.
AxisTransform along(const FourierCall& call, DType real, const Layout& from, const Layout& to, size_t axis,
                    const Dims& extents) {
    AxisTransform t;
    t.kind = call.kind;
    t.forward = call.forward;
    t.is_double = real == DType(ScalarType::kFloat64);
    t.orthogonal = call.orthogonal;
    t.type = call.type;
    t.filled = extents[axis];
    t.from = from.data;
    t.to = to.data;
    t.from_stride = from.strides[axis];
    t.to_stride = to.strides[axis];
    for (size_t d = 0; d < extents.size(); ++d) {
        if (d == axis) continue;
        t.rows.push_back(extents[d]);
        t.from_strides.push_back(from.strides[d]);
        t.to_strides.push_back(to.strides[d]);
    }
    return t;
}

// The places in call.axes in the order of the passes, which is NumPy's whatever the layout, so that the same
// numbers give the same bits: the last axis first, but last of all where its result is real.
std::vector<size_t> order_of_passes(const FourierCall& call) {
    std::vector<size_t> order(call.axes.size());
    const bool forwards = call.kind == TransformKind::kComplexToReal;
    for (size_t i = 0; i < order.size(); ++i) order[i] = forwards ? i : order.size() - 1 - i;
    return order;
}

// All passes, from `from` to `to`.
void run_passes(const FourierCall& call, DType real, const Layout& from, const Layout& to) {
    const std::vector<size_t> order = order_of_passes(call);
    // As far as there are numbers that are not known to be zeros.
    Dims extents = from.shape;
    for (size_t i = 0; i < call.axes.size(); ++i) {
        const auto axis = static_cast<size_t>(call.axes[i]);
        const bool halved = call.kind == TransformKind::kComplexToReal && i + 1 == call.axes.size();
        extents[axis] = std::min(extents[axis], halved ? call.lengths[i] / 2 + 1 : call.lengths[i]);
    }
    Layout between = from;
    BufferPtr held;
    if (call.kind == TransformKind::kComplexToReal && order.size() > 1) {
        // The passes before the last have room of their own.
        Dims shape = extents;
        for (size_t i = 0; i + 1 < call.axes.size(); ++i)
            shape[static_cast<size_t>(call.axes[i])] = call.lengths[i];
        const DType dtype = complex_of(real);
        const Dims* const strides[1] = {&from.strides};
        const Dims room = k_order_strides(shape, strides, dtype.itemsize());
        held = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape, dtype)));
        between = {held->data(), shape, room};
    }
    for (size_t pass = 0; pass < order.size(); ++pass) {
        const size_t i = order[pass];
        const auto axis = static_cast<size_t>(call.axes[i]);
        const bool is_last = pass + 1 == order.size();
        const Layout& target = held != nullptr && !is_last ? between : to;
        const Layout& source = pass == 0 ? from : held != nullptr ? between : to;
        AxisTransform t = along(call, real, source, target, axis, extents);
        t.length = call.lengths[i];
        t.scale = is_last ? call.scale : 1.0;
        if (call.kind == TransformKind::kRealAsComplex && pass > 0) t.kind = TransformKind::kComplex;
        if (call.kind == TransformKind::kRealToComplex && pass > 0) t.kind = TransformKind::kComplex;
        if (call.kind == TransformKind::kComplexToReal && !is_last) t.kind = TransformKind::kComplex;
        transform_axis(t);
        extents[axis] = t.kind == TransformKind::kRealToComplex ? t.length / 2 + 1 : t.length;
    }
}

// Of a new array of shape `to` with its axes in the order of another's, as NumPy's empty_like has them.
Dims strides_like(const Dims& shape, const Dims& strides, int64_t size, const Dims& to, int64_t itemsize) {
    if (is_c_contiguous(shape, strides, size) || to.size() <= 1) return c_strides(to, itemsize);
    if (is_f_contiguous(shape, strides, size)) return f_strides(to, itemsize);
    std::vector<int> axes(to.size());
    std::iota(axes.rbegin(), axes.rend(), 0);
    std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) {
        return std::abs(strides[static_cast<size_t>(a)]) < std::abs(strides[static_cast<size_t>(b)]);
    });
    return strides_by_order(to, axes, itemsize);
}

// Of the result: NumPy makes a new array for each axis, the last first, but the one that becomes real at the
// end.
Dims result_strides(const array& input, const FourierCall& call, const Dims& to, int64_t itemsize) {
    const bool to_real = call.kind == TransformKind::kComplexToReal;
    Dims shape = input.shape(), strides = input.strides();
    int64_t size = input.itemsize();
    const size_t count = call.axes.size();
    for (size_t i = 0; i < count; ++i) {
        const auto axis = static_cast<size_t>(call.axes[to_real ? i : count - 1 - i]);
        Dims next = shape;
        next[axis] = to[axis];
        strides = strides_like(shape, strides, size, next, itemsize);
        shape = next;
        size = itemsize;
    }
    return strides;
}

bool gives_complex(TransformKind kind) {
    return kind == TransformKind::kComplex || kind == TransformKind::kRealAsComplex ||
           kind == TransformKind::kRealToComplex;
}

// As weft.explain says it.
const char* name_of(TransformKind kind) {
    switch (kind) {
        case TransformKind::kComplex: break;
        case TransformKind::kRealAsComplex:
        case TransformKind::kRealToComplex: return "a Fourier transform of real numbers";
        case TransformKind::kComplexToReal: return "a Fourier transform to real numbers";
        case TransformKind::kCosine: return "a cosine transform";
        case TransformKind::kSine: return "a sine transform";
    }
    return "a Fourier transform";
}

// One row of few numbers that are in memory, at once.
constexpr int64_t kShortRow = 4096;

bool try_short_row(const array& input, const FourierCall& call, DType real, DType dtype, int64_t extent,
                   array& result) {
    if (input.ndim() != 1 || call.axes.size() != 1 || call.lengths[0] > kShortRow ||
        input.shape()[0] > kShortRow)
        return false;
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(extent * dtype.itemsize()));
    AxisTransform t;
    t.kind = call.kind;
    t.forward = call.forward;
    t.is_double = real == DType(ScalarType::kFloat64);
    t.orthogonal = call.orthogonal;
    t.type = call.type;
    t.scale = call.scale;
    t.length = call.lengths[0];
    t.filled =
        std::min(input.shape()[0], call.kind == TransformKind::kComplexToReal ? t.length / 2 + 1 : t.length);
    t.to = buffer->data();
    t.from_stride = input.strides()[0];
    t.to_stride = dtype.itemsize();
    BufferPtr held;
    {
        Storage& storage = *input.storage();
        const std::lock_guard lock(storage.mutex);
        storage.current.resolve();
        if (!storage.current.is_host_resident()) return false;
        held = storage.current.buffer;
    }
    t.from = held->data() + input.offset();
    transform_row(t);
    result = array(make_storage(std::move(buffer)), dtype, Dims{extent}, Dims{dtype.itemsize()}, 0, true);
    return true;
}

}  // namespace

DType fourier_dtype(DType dtype) {
    const bool is_short = dtype.is_inexact() && dtype.real().itemsize() <= 4;
    const DType real = is_short ? ScalarType::kFloat32 : ScalarType::kFloat64;
    return dtype.is_complex() ? complex_of(real) : real;
}

array fourier_transform(const array& input, const FourierCall& given) {
    FourierCall call = given;
    const DType real = input.dtype().real();
    WEFT_CHECK(fourier_dtype(input.dtype()) == input.dtype(), "a transform of another dtype");
    if (call.kind == TransformKind::kComplex && !input.dtype().is_complex())
        call.kind = TransformKind::kRealAsComplex;
    DeviceBackend& device = device_of(input);
    if (!device.is_cpu()) {
        LibraryCall telling(name_of(call.kind), input);
        telling.set_axes(call.axes);
        std::string why;
        array result = fourier_on_gpu(input, call, why);
        if (!result.valid()) {
            record_fallback(device, ("a Fourier transform (" + why + ")").c_str(), input.nbytes());
            LibraryCall::set_reason(why);
            result = move_to(fourier_transform(move_to(input, cpu_device()), given), device);
        }
        LibraryCall::made(result);
        return result;
    }
    Dims shape = input.shape();
    for (size_t i = 0; i < call.axes.size(); ++i) {
        const bool halved = call.kind == TransformKind::kRealToComplex && i + 1 == call.axes.size();
        shape[static_cast<size_t>(call.axes[i])] = halved ? call.lengths[i] / 2 + 1 : call.lengths[i];
    }
    const DType dtype = gives_complex(call.kind) ? complex_of(real) : real;
    array result;
    if (try_short_row(input, call, real, dtype, shape.empty() ? 0 : shape[0], result)) return result;

    LibraryCall telling(name_of(call.kind), input);
    telling.set_axes(call.axes);
    const Dims to_strides = result_strides(input, call, shape, dtype.itemsize());
    BufferPtr to = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape, dtype)));
    if (element_count(shape) != 0) {
        const BufferPtr from = evaluate_storage(*input.storage());
        run_passes(call, real, {from->data() + input.offset(), input.shape(), input.strides()},
                   {to->data(), shape, to_strides});
    }
    result = array_of(std::move(to), dtype, shape, to_strides);
    LibraryCall::made(result);
    return result;
}

}  // namespace weft
