#include <algorithm>
#include <cstdint>
#include <cstring>

#include "api/counting/bincount_on_gpu.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/counting/count_loops.h"
#include "weft/ops.h"

namespace weft {

namespace {

// Side by side, in memory that nobody changes.
array dense(const array& input) {
    return input.c_contiguous() && !is_exported(input) ? input : copy(input, 'C');
}

template <class T>
const T* elements_of(const array& input, const BufferPtr& buffer) {
    return reinterpret_cast<const T*>(buffer->data() + input.offset());
}

}  // namespace

array bincount(const array& input, const array& weights, int64_t least) {
    WEFT_CHECK(input.dtype() == DType(ScalarType::kInt64) && input.ndim() == 1,
               "bincount of other positions");
    if (!device_of(input).is_cpu()) {
        if (weights.valid()) check_same_device(input, weights);
        return bincount_on_gpu(input, weights, least);
    }
    if (weights.valid() && weights.size() != input.size())
        throw ValueError("The weights and list don't have the same length.");
    const array positions = dense(input), given = weights.valid() ? dense(weights) : weights;
    const BufferPtr held = evaluate_storage(*positions.storage());
    const std::span<const int64_t> places(elements_of<int64_t>(positions, held),
                                          static_cast<size_t>(positions.size()));
    const CountedRange range = range_of_positions(places);
    if (range.low < 0) throw ValueError("'list' argument must have no negative elements");
    // one more than the highest position, unless that is the largest integer: then it is refused as too big
    const int64_t count = std::max(least, std::min(range.high, INT64_MAX - 1) + 1);
    const DType dtype = given.valid() ? ScalarType::kFloat64 : ScalarType::kInt64;
    const auto bytes = static_cast<size_t>(checked_bytes(Dims{count}, dtype));
    BufferPtr sums = cpu_device().allocate(bytes);
    std::memset(sums->data(), 0, bytes);
    const auto size = static_cast<size_t>(count);
    if (given.valid()) {
        const BufferPtr held_weights = evaluate_storage(*given.storage());
        add_weights(places, elements_of<double>(given, held_weights),
                    {reinterpret_cast<double*>(sums->data()), size});
    } else {
        count_positions(places, {reinterpret_cast<int64_t*>(sums->data()), size});
    }
    return array_of(std::move(sums), dtype, Dims{count}, Dims{dtype.itemsize()});
}

}  // namespace weft
