// The stand-in's cuBLASLt: what library/products/cuda calls of it. Descriptions are checked as far as a wrong
// one would read or write elsewhere; an algorithm is chosen for what was described, and no other product may
// be run with it.
#include "product.h"
#include "stand_in.h"

namespace weft::stand_in {

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

}  // namespace weft::stand_in

using weft::stand_in::Choice;
using weft::stand_in::count_objects;
using weft::stand_in::Description;
using weft::stand_in::enter_library;
using weft::stand_in::Layout;
using weft::stand_in::take;

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
        case weft::stand_in::kTransposeA: return take(to.transposed_a, value, size);
        case weft::stand_in::kTransposeB: return take(to.transposed_b, value, size);
        case weft::stand_in::kEpilogue: return take(to.epilogue, value, size);
        case weft::stand_in::kBiasPointer: return take(to.bias, value, size);
        default: return weft::stand_in::kInvalidValue;
    }
}
int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
    if (const int status = enter_library("cublasLtMatrixLayoutCreate")) return status;
    if (leading < static_cast<int64_t>(rows)) return weft::stand_in::kInvalidValue;
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
        case weft::stand_in::kBatchCount: return take(to.batch, value, size);
        case weft::stand_in::kBatchStride: return take(to.stride, value, size);
        default: return weft::stand_in::kInvalidValue;
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
        return weft::stand_in::kInvalidValue;
    if (left.type == weft::stand_in::kReal64 && what.epilogue != 1) return weft::stand_in::kNotSupported;
    auto& choice = *static_cast<Choice*>(results);
    choice = {};
    choice.algorithm[0] = reinterpret_cast<uint64_t>(description);
    choice.workspace = weft::stand_in::kWorkspace;
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
    const bool with_bias = (what.epilogue & weft::stand_in::kBias) != 0;
    if (chosen_for != reinterpret_cast<uint64_t>(description) || workspace == nullptr ||
        workspace_size < weft::stand_in::kWorkspace || (with_bias && what.bias == 0))
        return weft::stand_in::kInvalidValue;
    weft::stand_in::Product product{static_cast<int>(out.rows),
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
                                    what.compute == weft::stand_in::kCompute32FastTf32};
    if (with_bias) product.bias = reinterpret_cast<const void*>(what.bias);
    product.relu = (what.epilogue & weft::stand_in::kRelu) != 0;
    weft::stand_in::run_later(stream, [product, type = left.type, workspace] {
        std::memset(workspace, 0x5A, weft::stand_in::kWorkspace);
        multiply(product, type);
    });
    return 0;
}

}  // extern "C"
