// The fake driver's cuBLASLt: what library/products/cuda calls of it. Descriptions are checked as far as a
// wrong one would read or write elsewhere; an algorithm is chosen for what was described, and no other
// product may be run with it.
#include "fake_driver.h"
#include "product.h"

namespace weft::fake_driver {

namespace {

constexpr int kInvalidValue = 7, kNotSupported = 15;
constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8;
constexpr int kRelu = 2, kBias = 4;
constexpr int kBatchCount = 5, kBatchStride = 6;
constexpr size_t kWorkspace = 256;  // so that somebody has to bring one

struct Description {
    int compute = 0, scale = 0;
    int32_t transposed_a = 0, transposed_b = 0, epilogue = 1;
    uint64_t bias = 0;
};

struct Layout {
    int type = 0;
    int64_t rows = 0, columns = 0, leading = 0;
    int32_t batch = 1;
    int64_t stride = 0;
};

// cublasLtMatmulHeuristicResult_t
struct Choice {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

template <class T>
int take(T& to, const void* value, size_t size) {
    if (size != sizeof(T)) return kInvalidValue;
    std::memcpy(&to, value, size);
    return 0;
}

}  // namespace

}  // namespace weft::fake_driver

using weft::fake_driver::Choice;
using weft::fake_driver::count_objects;
using weft::fake_driver::Description;
using weft::fake_driver::enter_library;
using weft::fake_driver::Layout;
using weft::fake_driver::take;

extern "C" {

size_t cublasLtGetVersion() { return 130000; }
int cublasLtCreate(void** handle) {
    if (const int status = enter_library("cublasLtCreate")) return status;
    *handle = new int(0);
    count_objects(1);
    return 0;
}
int cublasLtMatmulDescCreate(void** description, int compute, int scale) {
    if (const int status = enter_library("cublasLtMatmulDescCreate")) return status;
    *description = new Description{compute, scale};
    count_objects(1);
    return 0;
}
int cublasLtMatmulDescDestroy(void* description) {
    delete static_cast<Description*>(description);
    count_objects(-1);
    return enter_library("cublasLtMatmulDescDestroy");
}
int cublasLtMatmulDescSetAttribute(void* description, int attribute, const void* value, size_t size) {
    if (const int status = enter_library("cublasLtMatmulDescSetAttribute")) return status;
    auto& to = *static_cast<Description*>(description);
    switch (attribute) {
        case weft::fake_driver::kTransposeA: return take(to.transposed_a, value, size);
        case weft::fake_driver::kTransposeB: return take(to.transposed_b, value, size);
        case weft::fake_driver::kEpilogue: return take(to.epilogue, value, size);
        case weft::fake_driver::kBiasPointer: return take(to.bias, value, size);
        default: return weft::fake_driver::kInvalidValue;
    }
}
int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
    if (const int status = enter_library("cublasLtMatrixLayoutCreate")) return status;
    if (leading < static_cast<int64_t>(rows)) return weft::fake_driver::kInvalidValue;
    *layout = new Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading};
    count_objects(1);
    return 0;
}
int cublasLtMatrixLayoutDestroy(void* layout) {
    delete static_cast<Layout*>(layout);
    count_objects(-1);
    return enter_library("cublasLtMatrixLayoutDestroy");
}
int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value, size_t size) {
    if (const int status = enter_library("cublasLtMatrixLayoutSetAttribute")) return status;
    auto& to = *static_cast<Layout*>(layout);
    switch (attribute) {
        case weft::fake_driver::kBatchCount: return take(to.batch, value, size);
        case weft::fake_driver::kBatchStride: return take(to.stride, value, size);
        default: return weft::fake_driver::kInvalidValue;
    }
}
int cublasLtMatmulPreferenceCreate(void** preference) {
    if (const int status = enter_library("cublasLtMatmulPreferenceCreate")) return status;
    *preference = new int(0);
    count_objects(1);
    return 0;
}
int cublasLtMatmulPreferenceDestroy(void* preference) {
    delete static_cast<int*>(preference);
    count_objects(-1);
    return enter_library("cublasLtMatmulPreferenceDestroy");
}
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t) {
    if (const int status = enter_library("cublasLtMatmulPreferenceSetAttribute")) return status;
    return 0;
}
int cublasLtMatmulAlgoGetHeuristic(void*, void* description, void* a, void* b, void*, void* d, void*,
                                   int wanted, void* results, int* found) {
    if (const int status = enter_library("cublasLtMatmulAlgoGetHeuristic")) return status;
    const auto& what = *static_cast<Description*>(description);
    const auto &left = *static_cast<Layout*>(a), &right = *static_cast<Layout*>(b),
               &out = *static_cast<Layout*>(d);
    *found = 0;
    const int64_t rows = what.transposed_a != 0 ? left.columns : left.rows;
    const int64_t columns = what.transposed_b != 0 ? right.rows : right.columns;
    const int64_t depth = what.transposed_a != 0 ? left.rows : left.columns;
    if (wanted < 1 || out.rows != rows || out.columns != columns ||
        depth != (what.transposed_b != 0 ? right.columns : right.rows) || left.batch != out.batch ||
        right.batch != out.batch)
        return weft::fake_driver::kInvalidValue;
    if (left.type == weft::fake_driver::kReal64 && what.epilogue != 1)
        return weft::fake_driver::kNotSupported;
    auto& choice = *static_cast<Choice*>(results);
    choice = {};
    choice.algorithm[0] = reinterpret_cast<uint64_t>(description);
    choice.workspace = weft::fake_driver::kWorkspace;
    *found = 1;
    return 0;
}
int cublasLtMatmul(void*, void* description, const void*, const void* a, void* a_layout, const void* b,
                   void* b_layout, const void*, const void*, void*, void* d, void* d_layout,
                   const void* algorithm, void* workspace, size_t workspace_size,
                   weft::cuda::StreamHandle stream) {
    if (const int status = enter_library("cublasLtMatmul")) return status;
    const auto& what = *static_cast<Description*>(description);
    const auto &left = *static_cast<Layout*>(a_layout), &right = *static_cast<Layout*>(b_layout),
               &out = *static_cast<Layout*>(d_layout);
    uint64_t chosen_for = 0;
    std::memcpy(&chosen_for, algorithm, sizeof chosen_for);
    const bool with_bias = (what.epilogue & weft::fake_driver::kBias) != 0;
    if (chosen_for != reinterpret_cast<uint64_t>(description) || workspace == nullptr ||
        workspace_size < weft::fake_driver::kWorkspace || (with_bias && what.bias == 0))
        return weft::fake_driver::kInvalidValue;
    weft::fake_driver::Product product{static_cast<int>(out.rows),
                                       static_cast<int>(out.columns),
                                       static_cast<int>(what.transposed_a != 0 ? left.rows : left.columns),
                                       a,
                                       b,
                                       d,
                                       left.leading,
                                       right.leading,
                                       out.leading,
                                       left.stride,
                                       right.stride,
                                       out.stride,
                                       what.transposed_a != 0,
                                       what.transposed_b != 0,
                                       out.batch,
                                       what.compute == weft::fake_driver::kCompute32FastTf32};
    if (with_bias) product.bias = reinterpret_cast<const void*>(what.bias);
    product.relu = (what.epilogue & weft::fake_driver::kRelu) != 0;
    weft::fake_driver::run_later(stream, [product, type = left.type, workspace] {
        std::memset(workspace, 0x5A, weft::fake_driver::kWorkspace);
        multiply(product, type);
    });
    return 0;
}

}  // extern "C"
