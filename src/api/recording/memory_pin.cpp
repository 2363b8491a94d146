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

}  // namespace weft
