#include "api/recording/transfer.h"

#include <cstring>
#include <mutex>

#include "api/recording/deferred_checks.h"
#include "api/recording/record.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "weft/ops.h"

namespace weft {

namespace {

// Elements side by side in some order of the axes: the bytes are one piece, laid out as a copy would be.
bool is_dense(const array& input) {
    return input.strides() == copy_strides(input.shape(), input.strides(), input.itemsize(), 'K');
}

}  // namespace

array move_to(const array& input, DeviceBackend& device) {
    if (&device_of(input) == &device) return input;
    if (device.is_cpu()) decide(current_version(*input.storage()));
    const array source = is_dense(input) ? input : copy(input);
    Operand operand = read_operand(source, source.shape());
    auto node = new_node();
    node->become(NodeKind::kTransfer);
    node->device = &device;
    node->shape = source.shape();
    node->inputs.push_back(std::move(operand));
    NodeResult result;
    result.dtype = source.dtype();
    result.strides = source.strides();
    result.bytes = source.nbytes();
    node->results.push_back(std::move(result));
    array moved = array_of(node, 0, source.shape());
    recorded(node);
    if (is_exported(input)) evaluate({&node, 1});
    return moved;
}

Operand moved_operand(const array& input, DeviceBackend& device, DType dtype, const Dims& shape) {
    {
        Storage& storage = *input.storage();
        const std::lock_guard lock(storage.mutex);
        storage.current.resolve();
        if (storage.current.is_host_resident()) {
            ScalarBytes element{}, converted{};
            std::memcpy(element.data(), storage.current.buffer->data() + input.offset(),
                        static_cast<size_t>(input.itemsize()));
            char* const data[2] = {reinterpret_cast<char*>(element.data()),
                                   reinterpret_cast<char*>(converted.data())};
            const int64_t strides[2] = {0, 0};
            cast_loop(input.dtype().scalar_type(), dtype.scalar_type()).loop(data, strides, 1);
            return constant_operand(converted, dtype, shape);
        }
    }
    return read_operand(move_to(input, device), shape);
}

}  // namespace weft
