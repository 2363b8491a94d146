#include "library/called/arrays.h"
#include "library/called/functions.h"
#include "library/products/contraction.h"

namespace weft::called {

int64_t multiply(EngineArguments arguments) {
    Made out(arguments.array());
    const Given left(arguments.array()), right(arguments.array());
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
    return 0;
}

}  // namespace weft::called
