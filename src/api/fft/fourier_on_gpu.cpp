#include "api/fft/fourier_on_gpu.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/fft/cosines_on_gpu.h"
#include "api/recording/gpu_input.h"
#include "api/recording/with_strides.h"
#include "core/shape.h"
#include "core/threads/way_taken.h"
#include "execution/evaluate.h"
#include "execution/kernels/gpu_programs.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/fft/cuda/cufft.h"
#include "weft/operations.h"

namespace weft {

namespace {

// So many pieces of an array are transformed one by one where the axes lie between others; of more, these are
// moved behind the others first. So they are where what lies behind them is less than so many bytes, since a
// GPU reads such pieces slowly.
constexpr int64_t kMostPieces = 32, kLeastBytes = 64;

// Neighbouring axes that are transformed at once.
struct Pass {
    CufftKind kind = CufftKind::kComplex;
    std::vector<size_t> axes;  // as the array has them; in the order of its memory
};

// Cut, or filled with zeros, to what the transform reads.
array to_lengths(const array& input, const FourierCall& call) {
    Dims shape = input.shape(), common = shape;
    for (size_t i = 0; i < call.axes.size(); ++i) {
        const auto axis = static_cast<size_t>(call.axes[i]);
        const bool halved = call.kind == TransformKind::kComplexToReal && i + 1 == call.axes.size();
        shape[axis] = halved ? call.lengths[i] / 2 + 1 : call.lengths[i];
        common[axis] = std::min(common[axis], shape[axis]);
    }
    const array given = input.with_view(input.dtype(), common, input.strides(), input.offset());
    if (common == shape) return given;
    array filled = empty_like(given, {}, 'K', shape);
    assign(filled, false);
    assign(filled.with_view(filled.dtype(), common, filled.strides(), filled.offset()), given);
    return filled;
}

class DeviceTransform {
public:
    DeviceTransform(const array& input, const FourierCall& call)
        : call_(call), device_(device_of(input)), real_(input.dtype().real()), array_(input) {
        for (const int64_t axis : call.axes) transformed_.push_back(static_cast<size_t>(axis));
        array_ = to_lengths(input, call);
        if (call.kind == TransformKind::kRealAsComplex) array_ = astype(array_, complex_of(real_));
        if (call.kind == TransformKind::kComplexToReal && call.forward) array_ = conjugate(array_);
        const Dims* const strides[1] = {&array_.strides()};
        const Dims order = k_order_strides(array_.shape(), strides, array_.itemsize());
        for (size_t d = 0; d < order.size(); ++d) order_.push_back(d);
        std::stable_sort(order_.begin(), order_.end(),
                         [&](size_t a, size_t b) { return order[a] > order[b]; });
    }

    array run() {
        for (const Pass& pass : passes()) run(pass);
        if (call_.kind == TransformKind::kRealToComplex && !call_.forward) array_ = conjugate(array_);
        return call_.scale != 1 ? array_ * call_.scale : array_;
    }

private:
    size_t place_of(size_t axis) const {
        return static_cast<size_t>(std::find(order_.begin(), order_.end(), axis) - order_.begin());
    }
    bool is_transformed(size_t axis) const {
        return std::find(transformed_.begin(), transformed_.end(), axis) != transformed_.end();
    }

    // Neighbours in memory go together. The axis that is halved is the last of its pass.
    std::vector<Pass> passes() const {
        std::vector<Pass> result;
        std::vector<bool> done(order_.size());
        // The axes that end at this place in memory, as many as go together.
        const auto take = [&](size_t place, CufftKind kind) {
            Pass pass{kind, {}};
            // Of several axes to real numbers, cuFFT wants an input that is symmetric over all of them.
            const size_t most = kind == CufftKind::kComplexToReal ? 1 : kMostCufftAxes;
            size_t begin = place + 1;
            while (begin > 0 && place + 1 - begin < most && is_transformed(order_[begin - 1]) &&
                   !done[begin - 1])
                --begin;
            for (size_t d = begin; d <= place; ++d) {
                done[d] = true;
                pass.axes.push_back(order_[d]);
            }
            return pass;
        };
        const bool from_real = call_.kind == TransformKind::kRealToComplex,
                   to_real = call_.kind == TransformKind::kComplexToReal;
        Pass halved;
        if (from_real || to_real)
            halved = take(place_of(transformed_.back()),
                          from_real ? CufftKind::kRealToComplex : CufftKind::kComplexToReal);
        if (from_real) result.push_back(halved);
        for (size_t place = order_.size(); place-- > 0;) {
            if (is_transformed(order_[place]) && !done[place])
                result.push_back(take(place, CufftKind::kComplex));
        }
        if (to_real) result.push_back(halved);
        return result;
    }

    int64_t extent_of(size_t axis) const {
        const auto i = static_cast<size_t>(std::find(transformed_.begin(), transformed_.end(), axis) -
                                           transformed_.begin());
        return call_.lengths[i];
    }

    // NumPy takes the first number of a halved axis, and of an even length the last one, for real; cuFFT does
    // not.
    void make_ends_real(size_t axis, int64_t length) {
        if (ours_ == nullptr) array_ = copy(array_, 'K');
        ours_ = nullptr;  // who else holds the memory keeps it from being written in place
        is_copy_ = true;
        Dims shape = array_.shape();
        shape[axis] = 1;
        for (const int64_t end : {int64_t{0}, length / 2}) {
            if (end != 0 && length % 2 != 0) continue;
            assign(array_.with_view(real_, shape, array_.strides(),
                                    array_.offset() + end * array_.strides()[axis] + real_.itemsize()),
                   false);
        }
    }

    void run(const Pass& pass) {
        if (pass.kind == CufftKind::kComplexToReal && array_.size() != 0)
            make_ends_real(pass.axes.back(), extent_of(pass.axes.back()));
        CufftTransform transform;
        transform.kind = pass.kind;
        transform.is_double = real_ == DType(ScalarType::kFloat64);
        // cuFFT knows one direction between real and complex numbers; conjugates make the other one.
        transform.forward = call_.kind == TransformKind::kRealToComplex ||
                            (call_.forward && call_.kind != TransformKind::kComplexToReal);
        for (const size_t axis : pass.axes) transform.lengths.push_back(extent_of(axis));
        const size_t first = place_of(pass.axes.front()), last = place_of(pass.axes.back());
        int64_t outer = 1, inner = 1;
        for (size_t d = 0; d < first; ++d) outer *= array_.shape()[order_[d]];
        for (size_t d = last + 1; d < order_.size(); ++d) inner *= array_.shape()[order_[d]];
        int64_t pieces = 1;
        // cuFFT wants real numbers that lie as complex ones do.
        const bool aligned =
            pass.kind == CufftKind::kComplex || outer == 1 || inner * transform.lengths.back() % 2 == 0;
        if (inner == 1) {
            transform.batch = outer;
        } else if (aligned && outer <= kMostPieces && inner * array_.itemsize() >= kLeastBytes) {
            transform.batch = inner;
            transform.interleaved = true;
            pieces = outer;
        } else {
            std::rotate(order_.begin() + static_cast<std::ptrdiff_t>(first),
                        order_.begin() + static_cast<std::ptrdiff_t>(last + 1), order_.end());
            transform.batch = outer * inner;
        }
        execute(transform, pieces, pass.axes.back());
    }

    array in_memory_order() const {
        Dims axes;
        for (const size_t axis : order_) axes.push_back(static_cast<int64_t>(axis));
        return transpose(array_, axes);
    }

    void execute(const CufftTransform& transform, int64_t pieces, size_t halved_axis) {
        const DType complex = complex_of(real_);
        const DType to_dtype = transform.kind == CufftKind::kComplexToReal ? real_ : complex;
        array dense = dense_on_gpu(in_memory_order());
        array_ = array();
        auto input = std::make_unique<ProgramInput>(dense);
        if (input->address() % static_cast<uint64_t>(complex.itemsize()) != 0) {
            dense = copy(dense, 'C');
            input = std::make_unique<ProgramInput>(dense);
        }
        Dims shape = dense.shape();
        if (transform.kind != CufftKind::kComplex) {
            const int64_t length = transform.lengths.back();
            shape[place_of(halved_axis)] =
                transform.kind == CufftKind::kRealToComplex ? length / 2 + 1 : length;
        }
        const int64_t from_bytes = transform.from_elements() * dense.itemsize(),
                      to_bytes = transform.to_elements() * to_dtype.itemsize();
        const bool is_ours = is_copy_ || input->buffer() == ours_;
        is_copy_ = false;
        BufferPtr from = input->buffer(), to;
        uint64_t from_address = input->address();
        if (transform.kind == CufftKind::kComplexToReal && !is_ours) {
            from = device_.allocate(static_cast<size_t>(pieces * from_bytes));
            device_.copy(*from, 0, *input->buffer(), static_cast<size_t>(dense.offset()),
                         static_cast<size_t>(pieces * from_bytes));
            from_address = from->address();
        }
        to = is_ours && transform.kind == CufftKind::kComplex
                 ? from
                 : device_.allocate(static_cast<size_t>(pieces * to_bytes));
        way_taken = {"cuFFT", nullptr, 0};
        ProgramRecord record(device_, name_of(transform), pieces * from_bytes, pieces * to_bytes,
                             pieces * std::max(transform.from_elements(), transform.to_elements()));
        for (int64_t piece = 0; piece < pieces; ++piece)
            transform_by_cufft(transform, device_, from_address + static_cast<uint64_t>(piece * from_bytes),
                               to->address() + static_cast<uint64_t>(piece * to_bytes));
        record.finish();
        to->set_poison(input->buffer()->poison());
        ours_ = to;
        const array result = array_of(std::move(to), to_dtype, shape, c_strides(shape, to_dtype.itemsize()));
        Dims back(order_.size());
        for (size_t d = 0; d < order_.size(); ++d) back[order_[d]] = static_cast<int64_t>(d);
        array_ = transpose(result, back);
    }

    static std::string name_of(const CufftTransform& t) {
        constexpr const char* kKinds[] = {"c2c", "r2c", "c2r"};
        std::string name = std::string("cufft ") + kKinds[static_cast<size_t>(t.kind)] +
                           (t.is_double ? " f64 " : " f32 ") + std::to_string(t.batch) + "*";
        for (size_t d = 0; d < t.lengths.size(); ++d)
            name += (d == 0 ? "" : "x") + std::to_string(t.lengths[d]);
        return name;
    }

    const FourierCall& call_;
    DeviceBackend& device_;
    const DType real_;
    array array_;
    BufferPtr ours_;        // what the last pass wrote
    bool is_copy_ = false;  // what the next one reads is nobody else's
    std::vector<size_t> transformed_;
    std::vector<size_t> order_;  // the axes as they lie in memory, the outermost first
};

array run_transform(const array& input, const FourierCall& call) {
    return DeviceTransform(input, call).run();
}

array cosines(const array& input, const FourierCall& call) {
    array result = to_lengths(input, call);
    for (const int64_t axis : call.axes) result = cosines_along(result, call, axis, run_transform);
    return call.scale != 1 ? result * call.scale : result;
}

}  // namespace

array fourier_on_gpu(const array& input, const FourierCall& call, std::string& why) {
    if (!has_cufft(why)) return {};
    DeviceBackend& device = device_of(input);
    const DeviceScope scope(device);
    Dims shape = input.shape();
    for (size_t i = 0; i < call.axes.size(); ++i) {
        const bool halved = call.kind == TransformKind::kRealToComplex && i + 1 == call.axes.size();
        shape[static_cast<size_t>(call.axes[i])] = halved ? call.lengths[i] / 2 + 1 : call.lengths[i];
    }
    const bool of_cosines = call.kind == TransformKind::kCosine || call.kind == TransformKind::kSine;
    const bool to_real = of_cosines || call.kind == TransformKind::kComplexToReal;
    const DType real = input.dtype().real(), dtype = to_real ? real : complex_of(real);
    const Dims* const given[1] = {&input.strides()};
    const Dims strides = k_order_strides(shape, given, dtype.itemsize());
    if (element_count(shape) == 0)
        return array_of(device.allocate(static_cast<size_t>(checked_bytes(shape, dtype))), dtype, shape,
                        strides);
    if (call.axes.empty()) return call.scale != 1 ? input * call.scale : copy(input);
    if (of_cosines) return with_strides(cosines(input, call), strides);
    return with_strides(DeviceTransform(input, call).run(), strides);
}

}  // namespace weft
