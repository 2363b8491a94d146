#include "execution/stream_order.h"

#include <algorithm>

#include "core/without_failing.h"

namespace weft {

namespace {

void add_shared(const Buffer* buffer, std::vector<DeviceBackend*>& devices) {
    if (buffer == nullptr || !buffer->is_shared()) return;
    DeviceBackend* device = &buffer->device();
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
}

const Buffer* buffer_of(const Source& source) {
    if (source.buffer != nullptr) return source.buffer.get();
    const Node* node = source.node.get();
    if (node == nullptr || !node->done.load(std::memory_order_acquire)) return nullptr;
    return node->results[source.result].buffer.get();
}

}  // namespace

OrderWithOthers::OrderWithOthers(std::span<Node* const> nodes) {
    if (!Buffer::any_shared()) [[likely]]
        return;
    for (const Node* node : nodes) {
        for (const Operand& operand : node->inputs) add_shared(buffer_of(operand.source), devices_);
    }
    for (DeviceBackend* device : devices_) device->wait_for_stream(kDefaultStream);
}

void OrderWithOthers::end() {
    for (; !devices_.empty(); devices_.pop_back()) devices_.back()->make_stream_wait(kDefaultStream);
}

OrderWithOthers::~OrderWithOthers() {
    for (; !devices_.empty(); devices_.pop_back())
        without_failing(
            [&] { devices_.back()->make_stream_wait(kDefaultStream); });  // an error is on its way
}

void wait_for_others(const Buffer& buffer) {
    if (buffer.is_shared()) buffer.device().wait_for_stream(kDefaultStream);
}

}  // namespace weft
