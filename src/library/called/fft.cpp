#include "library/fft/transform.h"

#include <algorithm>

#include "core/shape.h"
#include "library/called/arrays.h"
#include "library/called/functions.h"

namespace weft::called {

int64_t transform(EngineArguments arguments) {
    const EngineArray to = arguments.array(), from = arguments.array();
    const auto axis = static_cast<size_t>(arguments.integer());
    AxisTransform transform;
    transform.kind = static_cast<TransformKind>(arguments.integer());
    transform.forward = arguments.integer() != 0;
    transform.scale = arguments.real();
    transform.length = arguments.integer();
    Made out(to);
    const Given in(from);
    if (element_count(to.shape) == 0) return 0;
    transform.is_double = DType(to.type).real().itemsize() == 8;
    const bool halved = transform.kind == TransformKind::kComplexToReal;
    transform.filled = std::min(from.shape[axis], halved ? transform.length / 2 + 1 : transform.length);
    transform.from = in->data;
    transform.to = out->data;
    transform.from_stride = in->strides[axis];
    transform.to_stride = out->strides[axis];
    for (size_t d = 0; d < to.shape.size(); ++d) {
        if (d == axis) continue;
        transform.rows.push_back(to.shape[d]);
        transform.from_strides.push_back(in->strides[d]);
        transform.to_strides.push_back(out->strides[d]);
    }
    transform_axis(transform);
    out.finish();
    return 0;
}

}  // namespace weft::called
