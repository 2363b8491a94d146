#include "api/recording/memory_pin.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "api/recording/deferred_checks.h"
#include "core/shape.h"
#include "core/without_failing.h"
#include "execution/evaluate.h"
#include "graph/storage.h"
#include "weft/errors.h"

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

MemoryPin::MemoryPin(const array& input) : array_(input) {
    Storage& storage = *input.storage();
    while (true) {
        BufferPtr buffer = evaluate_storage(storage);
        decide(buffer->poison());
        if (!pin_unread(storage, buffer)) continue;
        buffer->begin_sharing();
        buffer_ = std::move(buffer);
        return;
    }
}

MemoryPin::MemoryPin(MemoryPin&& other) noexcept
    : array_(std::move(other.array_)),
      buffer_(std::move(other.buffer_)),
      unknown_stream_(other.unknown_stream_) {}

MemoryPin& MemoryPin::operator=(MemoryPin&& other) noexcept {
    std::swap(array_, other.array_);
    std::swap(buffer_, other.buffer_);
    std::swap(unknown_stream_, other.unknown_stream_);
    return *this;
}

MemoryPin::~MemoryPin() {
    if (buffer_ == nullptr) return;
    without_failing([this] {  // the next use of the device says so, or waits for it
        if (unknown_stream_) {
            buffer_->device().synchronize_with_others();
        } else if (!buffer_->on_host()) {
            buffer_->device().wait_for_stream(kDefaultStream);
        }
    });
    buffer_->end_sharing();
    Storage& storage = *array_.storage();
    const std::lock_guard lock(storage.mutex);
    --storage.pins;
}

uint64_t MemoryPin::address() const { return buffer_->address() + static_cast<uint64_t>(array_.offset()); }

DeviceBackend& MemoryPin::device() const { return buffer_->device(); }

void MemoryPin::order_stream(uint64_t stream) {
    if (stream > kDefaultStreamOfThread) unknown_stream_ = true;
    buffer_->device().make_stream_wait(stream);
}

bool is_addressable(std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t itemsize) {
    int64_t bytes = 2 * itemsize, reach = itemsize;
    bool fits = true;
    for (size_t d = 0; d < shape.size(); ++d) {
        fits &= !__builtin_mul_overflow(bytes, shape[d], &bytes);
        fits &= strides.empty() || strides[d] != INT64_MIN;
        if (strides.empty() || shape[d] < 2) continue;
        int64_t span = 0;
        fits = fits && !__builtin_mul_overflow(std::abs(strides[d]), int64_t{2}, &span) &&
               !__builtin_mul_overflow(span, shape[d] - 1, &span) &&
               !__builtin_add_overflow(reach, span, &reach);
    }
    return fits;
}

namespace {
constexpr uint64_t kLastAddress = uint64_t{1} << 57;  // of x86-64's with five levels of pages
}

std::string fault_of_memory(uint64_t first_element, std::span<const int64_t> shape,
                            std::span<const int64_t> strides, int64_t itemsize) {
    if (shape.size() > static_cast<size_t>(kMaxDimensions))
        return "has " + std::to_string(shape.size()) + " dimensions";
    if (!strides.empty() && strides.size() != shape.size())
        return "has another number of strides than of dimensions";
    for (const int64_t extent : shape) {
        if (extent < 0) return "has a dimension of " + std::to_string(extent);
    }
    const char* const too_far = "has a shape and strides that reach further than memory does";
    if (!is_addressable(shape, strides, itemsize)) return too_far;
    const Dims extents(shape);
    const ByteRange range =
        byte_range(extents, strides.empty() ? c_strides(extents, itemsize) : Dims(strides), 0, itemsize);
    if (range.empty()) return {};
    if (first_element == 0) return "has elements, but no address";
    uint64_t end = 0;
    if (first_element < static_cast<uint64_t>(-range.low) ||
        __builtin_add_overflow(first_element, static_cast<uint64_t>(range.high), &end) || end > kLastAddress)
        return too_far;
    return {};
}

void check_memory(std::string_view name, uint64_t first_element, std::span<const int64_t> shape,
                  std::span<const int64_t> strides, int64_t itemsize) {
    const std::string fault = fault_of_memory(first_element, shape, strides, itemsize);
    if (!fault.empty()) throw ValueError(std::string(name) + " " + fault);
}

array array_over(DeviceBackend& device, uint64_t first_element, DType dtype, const Dims& shape,
                 const Dims& strides, bool writeable, std::shared_ptr<void> owner) {
    check_memory("the memory", first_element, shape, strides, dtype.itemsize());
    const ByteRange range = byte_range(shape, strides, 0, dtype.itemsize());
    const int64_t low = range.empty() ? 0 : range.low;
    const auto bytes = static_cast<size_t>(range.empty() ? 0 : range.high - range.low);
    char* const lowest = reinterpret_cast<char*>(first_element + static_cast<uint64_t>(low));
    BufferPtr buffer = device.wrap(lowest, bytes, std::move(owner));
    buffer->begin_sharing();  // for as long as it lives
    auto storage = std::make_shared<Storage>(std::move(buffer));
    storage->foreign = true;
    storage->readonly = !writeable;
    return array(std::move(storage), dtype, shape, strides, -low, writeable)
        .with_view(dtype, shape, strides, -low);  // others own the memory
}

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
