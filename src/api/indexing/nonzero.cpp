#include "api/indexing/nonzero.h"

#include <algorithm>

#include "api/indexing/compress_on_gpu.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/indexing/compress_loops.h"
#include "weft/ops.h"

namespace weft {

namespace {

// In C order without gaps, in memory that nobody changes.
array dense(const array& input) {
    return input.c_contiguous() && !is_exported(input) ? input : copy(input, 'C');
}

const char* bytes_of(const array& input, const BufferPtr& buffer) { return buffer->data() + input.offset(); }

array int64_array(BufferPtr buffer, int64_t count) {
    return array_of(std::move(buffer), ScalarType::kInt64, Dims{count}, Dims{sizeof(int64_t)});
}

array truth(const array& input) { return input.dtype().is_bool() ? input : astype(input, ScalarType::kBool); }

}  // namespace

std::vector<array> nonzero_positions(const array& input) {
    const Dims& shape = input.shape();
    const DeviceScope scope(device_of(input));
    if (input.size() == 0) {
        std::vector<array> none;
        for (size_t d = 0; d < shape.size(); ++d) none.push_back(empty(Dims{0}, ScalarType::kInt64));
        return none;
    }
    std::vector<array> positions;
    if (!device_of(input).is_cpu()) {
        array flat = positions_on_gpu(truth(input));
        if (shape.size() == 1) return {std::move(flat)};
        int64_t inner = input.size();
        for (const int64_t extent : shape) {
            inner /= extent;
            const array along = call_binary(op_info(OpId::kFloorDivide), flat, Integer(inner));
            positions.push_back(call_binary(op_info(OpId::kRemainder), along, Integer(extent)));
        }
        return positions;
    }
    const array mask = dense(truth(input));
    const BufferPtr held = evaluate_storage(*mask.storage());
    const std::vector<int64_t> before = count_selected(bytes_of(mask, held), mask.size());
    const int64_t total = before.back();
    std::vector<int64_t*> out;
    for (size_t d = 0; d < shape.size(); ++d) {
        BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(total) * sizeof(int64_t));
        out.push_back(reinterpret_cast<int64_t*>(buffer->data()));
        positions.push_back(int64_array(std::move(buffer), total));
    }
    write_positions(bytes_of(mask, held), shape, before, out);
    return positions;
}

std::vector<array> nonzero(const array& input) {
    if (input.ndim() == 0)
        throw ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.");
    return nonzero_positions(input);
}

array compressed(const array& input, const array& mask) {
    const DeviceScope scope(device_of(input));
    if (input.size() == 0) return empty(Dims{0}, input.dtype());
    if (!device_of(input).is_cpu()) return compressed_on_gpu(input, mask);
    const array chosen = dense(mask), values = dense(input);
    const array both[2] = {chosen, values};
    eval(both);
    const BufferPtr mask_buffer = evaluate_storage(*chosen.storage()),
                    value_buffer = evaluate_storage(*values.storage());
    const std::vector<int64_t> before = count_selected(bytes_of(chosen, mask_buffer), chosen.size());
    const int64_t total = before.back(), itemsize = input.itemsize();
    BufferPtr result = cpu_device().allocate(static_cast<size_t>(total * itemsize));
    write_selected(bytes_of(chosen, mask_buffer), chosen.size(), before, bytes_of(values, value_buffer),
                   itemsize, result->data());
    return array_of(std::move(result), input.dtype(), Dims{total}, Dims{itemsize});
}

}  // namespace weft
