#include "library/fft/transform.h"

#include "core/processor.h"

namespace weft {

// Each in a file of its own, rows_<instruction set>.cpp.
void transform_rows_sse(const AxisTransform& transform, bool in_parallel);
void transform_rows_avx2(const AxisTransform& transform, bool in_parallel);
void transform_rows_avx512(const AxisTransform& transform, bool in_parallel);

namespace {

void transform_rows(const AxisTransform& transform, bool in_parallel) {
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return transform_rows_avx512(transform, in_parallel);
        case ProcessorLevel::kX86V3: return transform_rows_avx2(transform, in_parallel);
        case ProcessorLevel::kX86V2: break;
    }
    transform_rows_sse(transform, in_parallel);
}

}  // namespace

void transform_axis(const AxisTransform& transform) { transform_rows(transform, true); }
void transform_row(const AxisTransform& transform) { transform_rows(transform, false); }

}  // namespace weft
