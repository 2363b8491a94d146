#include <cstdint>
#include <utility>

#include "library/called/arrays.h"
#include "library/called/functions.h"
#include "library/products/contraction.h"

namespace weft::called {

namespace {

void multiply_arrays(const EngineArray& target, EngineArray first, EngineArray second) {
    Made out(target);
    const Given left(std::move(first)), right(std::move(second));
    Contraction contraction;
    contraction.type = out->type;
    contraction.shape = left->shape;
    contraction.reduced.resize(left->shape.size());
    contraction.reduced.back() = true;
    contraction.left = left->data;
    contraction.right = right->data;
    contraction.out = out->data;
    contraction.left_strides = left->strides;
    contraction.right_strides = right->strides;
    contraction.out_strides = out->strides;
    contraction.out_strides.push_back(0);
    contract(contraction);
    out.finish();
}

}  // namespace

int64_t multiply(EngineArguments arguments) {
    const EngineArray out = arguments.array();
    EngineArray left = arguments.array(), right = arguments.array();
    multiply_arrays(out, std::move(left), std::move(right));
    return 0;
}

int64_t multiply_vectors(EngineArguments arguments) {
    const EngineArray out = arguments.array();
    EngineArray left = arguments.array(), right = arguments.array();
    const MatrixProduct product{
        1, 1, left.shape[0], left.data, 0, left.strides[0], right.data, right.strides[0], 0, out.data, 0, 0};
    const auto bits = static_cast<int64_t>(reinterpret_cast<uintptr_t>(left.data) |
                                           reinterpret_cast<uintptr_t>(right.data) |
                                           reinterpret_cast<uintptr_t>(out.data)) |
                      left.strides[0] | right.strides[0];
    const bool is_aligned = bits % DType(out.type).itemsize() == 0;
    if (!is_aligned || !weft::multiply_vectors(out.type, product))
        multiply_arrays(out, std::move(left), std::move(right));
    return 0;
}

}  // namespace weft::called
