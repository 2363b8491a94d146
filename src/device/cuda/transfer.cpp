#include "device/cuda/transfer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/threads/thread_pool.h"
#include "weft/errors.h"

namespace weft::cuda {

namespace {

constexpr size_t kPiece = size_t{4} << 20;
constexpr size_t kSmall = size_t{64} << 10;  // copies up to this go on the stream of the kernels
constexpr size_t kPart = size_t{512} << 10;  // one thread does not keep up with the bus

void copy_on_host(char* to, const char* from, size_t bytes) {
    const auto parts = static_cast<int64_t>((bytes + kPart - 1) / kPart);
    if (parts <= 1) {
        std::memcpy(to, from, bytes);
        return;
    }
    parallel_for(parts, [&](int64_t part) {
        const size_t begin = static_cast<size_t>(part) * kPart;
        std::memcpy(to + begin, from + begin, std::min(kPart, bytes - begin));
    });
}

}  // namespace

class Transfers::Unordered {
public:
    explicit Unordered(Context& context) : context_(context) {}
    ~Unordered() {
        if (!ordered_) context_.owe(Context::Whose::kOwn);
    }
    Unordered(const Unordered&) = delete;
    Unordered& operator=(const Unordered&) = delete;
    void ordered() { ordered_ = true; }

private:
    Context& context_;
    bool ordered_ = false;
};

void Transfers::prepare() {
    if (prepared_) return;
    if (computed_ == nullptr) computed_ = std::make_unique<Event>(context_);
    if (copied_ == nullptr) copied_ = std::make_unique<Event>(context_);
    for (Piece& piece : pieces_) {
        if (piece.done == nullptr) piece.done = std::make_unique<Event>(context_);
        if (piece.memory != nullptr) continue;  // of a call that failed later
        void* memory = nullptr;
        if (pinned_) {
            const Result result = context_.driver().host_allocate(&memory, kPiece, kHostAllocPortable);
            context_.check_fault(result);
            pinned_ = result == kSuccess;
        }
        // Memory that may not be locked serves as well, slowly: each copy is then waited for.
        if (!pinned_) memory = std::malloc(kPiece);
        if (memory == nullptr)
            throw OutOfMemoryError("cannot allocate " + std::to_string(kPiece) +
                                   " bytes on the host for copies to and from " + context_.name());
        piece.memory = static_cast<char*>(memory);
    }
    prepared_ = true;
}

Transfers::Piece& Transfers::next_piece() {
    Piece& piece = pieces_[next_];
    piece.done->wait();
    next_ = (next_ + 1) % pieces_.size();
    return piece;
}

void Transfers::copy_in(const Block& block, DeviceAddress to, const char* from, size_t bytes) {
    if (bytes == 0) return;
    check_fork();  // the lock may be another thread's that is not there
    const std::lock_guard lock(mutex_);
    const Context::Scope scope(context_);
    prepare();
    const Driver& driver = context_.driver();
    const bool small = bytes <= kSmall;
    const StreamHandle stream = small ? context_.stream() : context_.copy_stream();
    if (!small && pool_.may_be_in_use(block)) {
        computed_->record(context_.stream());
        computed_->make_wait(stream);
    }
    const MemoryPool::Queueing counted(pool_);
    Unordered order(context_);
    for (size_t begin = 0; begin < bytes; begin += kPiece) {
        const size_t length = std::min(kPiece, bytes - begin);
        const Piece& piece = next_piece();
        copy_on_host(piece.memory, from + begin, length);
        context_.check(driver.copy_in(to + begin, piece.memory, length, stream), "copy to the device");
        piece.done->record(stream);
        if (!pinned_) piece.done->wait();
    }
    if (!small) {
        copied_->record(stream);
        copied_->make_wait(context_.stream());
    }
    order.ordered();
}

void Transfers::copy_out(char* to, DeviceAddress from, size_t bytes) {
    if (bytes == 0) return;
    check_fork();
    const std::lock_guard lock(mutex_);
    const Context::Scope scope(context_);
    prepare();
    const Driver& driver = context_.driver();
    const bool small = bytes <= kSmall;
    const StreamHandle stream = small ? context_.stream() : context_.copy_stream();
    if (!small) {
        computed_->record(context_.stream());
        computed_->make_wait(stream);
    }
    Unordered order(context_);
    // What has been queued and not yet emptied, oldest first.
    std::array<std::pair<const Piece*, size_t>, std::tuple_size_v<decltype(pieces_)>> queued;
    size_t first = 0, count = 0;
    const auto empty_oldest = [&] {
        const auto [piece, begin] = queued[first];
        piece->done->wait();
        copy_on_host(to + begin, piece->memory, std::min(kPiece, bytes - begin));
        first = (first + 1) % queued.size();
        --count;
    };
    for (size_t begin = 0; begin < bytes; begin += kPiece) {
        if (count == queued.size()) empty_oldest();
        const Piece& piece = next_piece();
        context_.check(driver.copy_out(piece.memory, from + begin, std::min(kPiece, bytes - begin), stream),
                       "copy from the device");
        piece.done->record(stream);
        queued[(first + count++) % queued.size()] = {&piece, begin};
    }
    while (count > 0) empty_oldest();
    order.ordered();
}

}  // namespace weft::cuda
