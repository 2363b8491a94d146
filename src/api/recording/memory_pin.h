// Memory that is exported: it is pinned while they hold it. docs/guide/sharing.md tells the rules; how
// work on a GPU is ordered with what they queue there stands in execution/stream_order.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/device.h"
#include "graph/node.h"
#include "weft/array.h"

namespace weft {

// Evaluates, and pins the storage in its device's memory: from here to the end, operations on it run eagerly
// and in place. One for each consumer; it may end on any thread.
class MemoryPin {
public:
    MemoryPin() = default;
    explicit MemoryPin(const array& input);
    MemoryPin(MemoryPin&&) noexcept;
    MemoryPin& operator=(MemoryPin&&) noexcept;
    ~MemoryPin();

    const array& exported() const { return array_; }
    // Of the view's first element; a pointer where the memory is the host's.
    uint64_t address() const;
    DeviceBackend& device() const;

    // On a GPU: what is queued on `stream` from now on comes after weft's work. Work on streams other than
    // CUDA's default one is waited for when the pin ends, since the stream may be gone by then.
    void order_stream(uint64_t stream);
    // The consumer orders its work by itself, on a stream that nobody knows.
    void order_unknown_stream() { unknown_stream_ = true; }

private:
    array array_;
    BufferPtr buffer_;
    bool unknown_stream_ = false;
};

}  // namespace weft
