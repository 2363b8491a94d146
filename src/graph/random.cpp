#include "graph/random.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "core/draw.h"
#include "core/shape.h"
#include "graph/detour.h"
#include "graph/placement.h"
#include "graph/record.h"
#include "weft/errors.h"

namespace weft {

namespace {

// Fills memory of the host, and moves it to where arrays are made.
template <class Fill>
array filled(const Dims& shape, DType dtype, const Fill& fill) {
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape, dtype)));
    fill(buffer->data(), element_count(shape));
    DeviceBackend& device = current_device();
    const array result = array_of(std::move(buffer), dtype, shape, c_strides(shape, dtype.itemsize()));
    if (device.is_cpu()) return result;
    record_detour(device, "random numbers", result.nbytes());
    return move_to(result, device);
}

template <class T>
void fill_real(BitGenerator& generator, Distribution distribution, std::span<T> out) {
    switch (distribution) {
        case Distribution::kUniform: draw_uniform(generator, out); return;
        case Distribution::kNormal: draw_normal(generator, out); return;
        case Distribution::kExponential: draw_exponential(generator, out); return;
        case Distribution::kExponentialByLog: draw_exponential_by_log(generator, out); return;
        case Distribution::kWords: break;
    }
    throw InternalError("words are no real numbers");
}

}  // namespace

array draw(BitGenerator& generator, Distribution distribution, const Dims& shape, DType dtype) {
    return filled(shape, dtype, [&](char* data, int64_t count) {
        const auto size = static_cast<size_t>(count);
        if (distribution == Distribution::kWords) {
            draw_words(generator, {reinterpret_cast<uint64_t*>(data), size});
        } else if (dtype.scalar_type() == ScalarType::kFloat32) {
            fill_real<float>(generator, distribution, {reinterpret_cast<float*>(data), size});
        } else {
            fill_real<double>(generator, distribution, {reinterpret_cast<double*>(data), size});
        }
    });
}

array draw_integers(BitGenerator& generator, const Dims& shape, DType dtype, uint64_t low, uint64_t range) {
    return filled(shape, dtype, [&](char* data, int64_t count) {
        draw_integers(generator, dtype.scalar_type(), low, range, count, data);
    });
}

array draw_permutation(BitGenerator& generator, int64_t extent) {
    const int64_t count = std::max<int64_t>(extent, 0);  // as of arange
    return filled(Dims{count}, ScalarType::kInt64, [&](char* data, int64_t) {
        const std::span<int64_t> positions(reinterpret_cast<int64_t*>(data), static_cast<size_t>(count));
        std::iota(positions.begin(), positions.end(), int64_t{0});
        shuffle(generator, data, count, sizeof(int64_t));
    });
}

}  // namespace weft
