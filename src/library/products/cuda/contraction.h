// The twin of contract() (library/products/contraction.h) for GPUs: matrix products by cuBLAS where its
// strided batches can express them, without copies. 16-bit floats are types of this one: they are added up in
// float32.
#pragma once

#include <optional>
#include <string>

#include "device/device.h"
#include "library/products/contraction.h"

namespace weft {

// What is done with each element of the result before it is in memory.
struct ProductEpilogue {
    const char* bias = nullptr;  // one number for each of n, which is added to it; as long as n, without gaps
    bool relu = false;           // then the larger of it and 0

    explicit operator bool() const { return bias != nullptr || relu; }
};
// Whether there is a library on this machine that does such, for this type.
bool has_epilogues(ScalarType type);

// Queues the product on the device, a GPU; the pointers are addresses there. Empty, and the report filled;
// or, with nothing done, why it cannot be. Throws DeviceError when cuBLAS fails.
std::string contract_on_gpu(const Contraction& contraction, DeviceBackend& device, ContractionReport& report,
                            const ProductEpilogue& epilogue = {});

// The four axes of a product, each of those that play one part as one; strides in bytes.
struct ProductAxis {
    int64_t extent = 1;
    int64_t left = 0, right = 0, out = 0;

    // Whether another axis, outside of this one, can be counted on with it.
    bool take_outer(int64_t outer, int64_t outer_left, int64_t outer_right, int64_t outer_out);
};
struct ProductAxes {
    ProductAxis batch, m, n, k;
};
std::optional<ProductAxes> product_axes(const Contraction& contraction);

// What of a product cuBLAS can read and write as it lies. Where axes do not go together, nothing of it.
struct CublasFit {
    bool left = false, right = false, out = false;
    explicit operator bool() const { return left && right && out; }
};
CublasFit fit_cublas(const Contraction& contraction);
// Whether there are products of this type in cuBLAS.
bool has_cublas_type(ScalarType type);

}  // namespace weft
