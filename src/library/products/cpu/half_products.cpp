#include "library/products/cpu/half_products.h"

#include <array>
#include <cstring>

#include "core/scalar_traits.h"
#include "core/threads/thread_pool.h"
#include "device/device.h"
#include "library/products/cpu/one_product.h"
#include "weft/errors.h"

namespace weft::cpu_product {

namespace {

// From one element type to another, over what strides of both say.
template <class From, class To>
void convert(const Dims& shape, const char* from, const Dims& from_strides, char* to,
             const Dims& to_strides) {
    const size_t last = shape.empty() ? 0 : shape.size() - 1;
    const int64_t length = shape.empty() ? 1 : shape[last];
    const int64_t from_step = shape.empty() ? 0 : from_strides[last],
                  to_step = shape.empty() ? 0 : to_strides[last];
    int64_t rows = length == 0 ? 0 : 1;
    for (size_t d = 0; d < last; ++d) rows *= shape[d];
    parallel_for(rows, [&](int64_t row) {
        const char* source = from;
        char* target = to;
        for (size_t d = last; d-- > 0; row /= shape[d]) {
            source += row % shape[d] * from_strides[d];
            target += row % shape[d] * to_strides[d];
        }
        for (int64_t i = 0; i < length; ++i, source += from_step, target += to_step) {
            const To value = static_cast<To>(load<From>(source));
            std::memcpy(target, &value, sizeof value);
        }
    });
}

template <class Short>
ContractionReport contract_widened(const Contraction& contraction) {
    WEFT_CHECK(contraction.tile_work == nullptr, "work on the tiles of a product of 16-bit floats");
    Contraction wide = contraction;
    wide.type = ScalarType::kFloat32;
    constexpr int64_t kItemsize = sizeof(float);
    // Without gaps, over the axes that `strides` walks, whose extents and strides are appended to the others.
    const auto dense = [&](const Dims& strides, Dims& wide_strides, std::array<Dims, 3>& walk) {
        int64_t bytes = kItemsize;
        for (size_t d = strides.size(); d-- > 0;) {
            wide_strides[d] = strides[d] == 0 ? 0 : bytes;
            if (strides[d] != 0) bytes *= contraction.shape[d];
        }
        for (size_t d = 0; d < strides.size(); ++d) {
            if (strides[d] == 0) continue;
            walk[0].push_back(contraction.shape[d]);
            walk[1].push_back(strides[d]);
            walk[2].push_back(wide_strides[d]);
        }
        return cpu_device().allocate(static_cast<size_t>(bytes));
    };
    const auto widened = [&](const char* data, const Dims& strides, Dims& wide_strides) {
        std::array<Dims, 3> walk;
        BufferPtr buffer = dense(strides, wide_strides, walk);
        convert<Short, float>(walk[0], data, walk[1], buffer->data(), walk[2]);
        return buffer;
    };
    const BufferPtr left = widened(contraction.left, contraction.left_strides, wide.left_strides);
    const BufferPtr right = widened(contraction.right, contraction.right_strides, wide.right_strides);
    std::array<Dims, 3> walk;
    const BufferPtr out = dense(contraction.out_strides, wide.out_strides, walk);
    wide.left = left->data();
    wide.right = right->data();
    wide.out = out->data();
    ContractionReport report = contract(wide);
    convert<float, Short>(walk[0], out->data(), walk[2], contraction.out, walk[1]);
    report.packed_bytes += static_cast<int64_t>(left->size() + right->size());
    report.packed_operands += 2;
    return report;
}

}  // namespace

ContractionReport contract_in_float32(const Contraction& contraction) {
    return contraction.type == ScalarType::kFloat16 ? contract_widened<Half>(contraction)
                                                    : contract_widened<BFloat16>(contraction);
}

}  // namespace weft::cpu_product
