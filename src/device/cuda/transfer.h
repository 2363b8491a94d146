// Copies between pageable host memory and a GPU, through pinned pieces that the copy engines read and write:
// while one piece travels, the host fills or empties the next. Large copies go on a stream of their own
// beside kernels, ordered with these only where memory is shared.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "device/cuda/memory_pool.h"

namespace weft::cuda {

class Transfers {
public:
    Transfers(Context& context, MemoryPool& pool) : context_(context), pool_(pool) {}

    // `block` is the memory that `to` lies in. Returns when `from` has been read; later work of the stream
    // sees the bytes.
    void copy_in(const Block& block, DeviceAddress to, const char* from, size_t bytes);
    // After all work queued so far; returns when the bytes are there.
    void copy_out(char* to, DeviceAddress from, size_t bytes);

private:
    struct Piece {
        char* memory = nullptr;
        std::unique_ptr<Event> done;  // the piece may be used again
    };
    Piece& next_piece();
    void prepare();

    // While it lives, copies are queued whose order with other work has not been told to the driver; all is
    // waited for before the next use of the device where that is left by an exception.
    class Unordered;

    Context& context_;
    MemoryPool& pool_;
    std::mutex mutex_;  // one copy at a time
    std::array<Piece, 3> pieces_;
    size_t next_ = 0;
    bool prepared_ = false;
    bool pinned_ = true;
    std::unique_ptr<Event> computed_, copied_;
};

}  // namespace weft::cuda
