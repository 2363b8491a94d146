// Memory that is shown to others, or theirs: what is pinned while they hold it, and how work on a GPU is
// ordered with what they queue there. docs/guide/sharing.md tells the rules.
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

// Evaluates, and pins the storage in its device's memory: from here to the end, operations on it run at once
// and in place. One for each consumer; it may end on any thread.
class MemoryPin {
public:
    MemoryPin() = default;
    explicit MemoryPin(const array& input);
    MemoryPin(MemoryPin&&) noexcept;
    MemoryPin& operator=(MemoryPin&&) noexcept;
    ~MemoryPin();

    const array& shown() const { return array_; }
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

// Whether the bytes of all elements, and those between the first and the last, are a number that addresses
// can have: of what others say about memory of theirs. Strides, in bytes, are
// left out where elements are dense; no extent is negative.
bool is_addressable(std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t itemsize);

// What is wrong with memory that somebody describes, as words behind its name; empty where there can be such
// memory, though nobody can say whether there is. Strides are in bytes, and left out where elements are
// dense.
std::string fault_of_memory(uint64_t first_element, std::span<const int64_t> shape,
                            std::span<const int64_t> strides, int64_t itemsize);
// Throws ValueError where something is.
void check_memory(std::string_view name, uint64_t first_element, std::span<const int64_t> shape,
                  std::span<const int64_t> strides, int64_t itemsize);

// Another's memory as an array: `first_element` is where it is, and `owner` keeps it alive. Strides may be of
// any sign. Throws ValueError for what cannot be memory.
array array_over(DeviceBackend& device, uint64_t first_element, DType dtype, const Dims& shape,
                 const Dims& strides, bool writeable, std::shared_ptr<void> owner);

// An evaluation of these nodes, where they read or write memory of GPUs that others hold too: begins after
// what they have queued on CUDA's default stream, and what they queue there later comes after it.
class OrderWithOthers {
public:
    explicit OrderWithOthers(std::span<Node* const> nodes);
    void end();  // the destructor's work, for those who hear of errors
    OrderWithOthers(const OrderWithOthers&) = delete;
    OrderWithOthers& operator=(const OrderWithOthers&) = delete;
    ~OrderWithOthers();

private:
    std::vector<DeviceBackend*> devices_;
};

// The same for a read of one buffer that the host waits for.
void wait_for_others(const Buffer& buffer);

}  // namespace weft
