#include "codegen/runtime/grid_blocks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/runtime/heap.h"
#include "codegen/runtime/stopping/pause.h"
#include "codegen/runtime/tell.h"
#include "core/threads/fiber.h"
#include "core/threads/thread_pool.h"
#include "weft/errors.h"

namespace weft::codegen {

namespace {

class GridRun;

struct Block {
    GridRun* run = nullptr;
    int64_t number = 0;
    void* place = nullptr;   // of its stack
    void* worker = nullptr;  // where the thread that runs it goes on
    std::unique_ptr<HeapFrame> frame{};
    std::vector<char> told{};
    int64_t status = 0;
    bool ended = false;
};

thread_local bool scope_waits = false;
thread_local Block* block_of_thread = nullptr;

// A fiber goes on on another thread: what is a thread's own is looked up anew each time. The empty assembly
// keeps the compiler from knowing better.
[[gnu::noinline]] Block* current_block() {
    asm volatile("" ::: "memory");
    return block_of_thread;
}
[[gnu::noinline]] void set_current_block(Block* block) {
    asm volatile("" ::: "memory");
    block_of_thread = block;
}

class GridRun {
public:
    GridRun(SpreadBody body, const void* captures, int64_t size, int64_t error_bytes)
        : body_(body),
          captures_(captures),
          stacks_(static_cast<size_t>(size)),
          blocks_(static_cast<size_t>(size)),
          listener_(ListenerScope::current()),
          around_(StopScope::current()) {
        const HeapAllocator allocate = HeapFrame::allocator();
        for (size_t b = 0; b < blocks_.size(); ++b) {
            Block& block = blocks_[b];
            block.run = this;
            block.number = static_cast<int64_t>(b);
            block.told.resize(static_cast<size_t>(error_bytes));
            block.frame = std::make_unique<HeapFrame>(allocate);
            block.frame->leave();
            block.place = prepare_fiber(stacks_.stack(b), FiberStacks::kBytes, begin, b);
        }
    }

    int64_t run(char* error) {
        std::vector<Block*> open(blocks_.size());
        std::transform(blocks_.begin(), blocks_.end(), open.begin(), [](Block& block) { return &block; });
        std::exception_ptr paused;
        while (!open.empty()) {
            try {
                parallel_for(static_cast<int64_t>(open.size()),
                             [&](int64_t k) { resume(*open[static_cast<size_t>(k)]); });
            } catch (...) {  // of a pause point: some have not been resumed
                paused = std::current_exception();
                stop();
                for (Block* const block : open) {
                    while (!block->ended) resume(*block);
                }
            }
            std::erase_if(open, [](const Block* block) { return block->ended; });
        }
        if (paused) {
            HeapFrame::stop(paused);
            return kStopped;
        }
        const auto failed = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& block) {
            return block.status != 0 && block.status != kStopped;
        });
        if (stopped_) {
            HeapFrame::stop(stopped_);
            return kStopped;
        }
        if (failed == blocks_.end()) return 0;
        std::memcpy(error, failed->told.data(), failed->told.size());
        return failed->status;
    }

    // The block that the thread runs waits for all others.
    int64_t wait(Block& block) {
        if (stops_.load(std::memory_order_relaxed)) return kStopped;
        switch_fiber(&block.place, block.worker);
        return stops_.load(std::memory_order_relaxed) ? kStopped : 0;
    }

private:
    static void begin() {
        Block& block = *current_block();
        GridRun& run = *block.run;
        if (!run.stops_.load(std::memory_order_relaxed))
            block.status =
                run.body_(run.captures_, block.number, block.number, block.number + 1, block.told.data());
        block.ended = true;
        switch_fiber(&block.place, block.worker);
        std::terminate();
    }

    void resume(Block& block) {
        Block* const outer = current_block();
        set_current_block(&block);
        {
            const StopScope stop_scope(stops_, around_);
            std::optional<ListenerScope> scope;
            if (listener_ != nullptr) scope.emplace(listener_->listener(), listener_->context());
            block.frame->enter();
            switch_fiber(&block.worker, block.place);
            if (block.ended && block.status == kStopped) note_stopped(HeapFrame::take_stopped());
            block.frame->leave();
        }
        set_current_block(outer);
        if (block.ended && block.status != 0) stop();
    }

    void stop() { stops_.store(true, std::memory_order_relaxed); }
    void note_stopped(std::exception_ptr reason) {
        const std::lock_guard lock(mutex_);
        if (reason && !stopped_) stopped_ = std::move(reason);
    }

    SpreadBody body_;
    const void* captures_;
    FiberStacks stacks_;
    std::vector<Block> blocks_;
    const ListenerScope* listener_;
    const StopScope* around_;
    std::atomic<bool> stops_ = false;
    std::mutex mutex_;
    std::exception_ptr stopped_{};
};

}  // namespace

GridScope::GridScope() : outer_(std::exchange(scope_waits, true)) {}
GridScope::~GridScope() { scope_waits = outer_; }
bool GridScope::take() { return std::exchange(scope_waits, false); }

int64_t spread_blocks(SpreadBody body, const void* captures, int64_t size, char* error, int64_t error_bytes) {
    if (size > kMostBlocksTogether)
        throw ValueError("a grid of " + std::to_string(size) + " blocks that wait for each other: " +
                         std::to_string(kMostBlocksTogether) + " are the most on the CPU");
    return GridRun(body, captures, size, error_bytes).run(error);
}

bool is_in_grid() { return current_block() != nullptr; }

int64_t wait_for_grid() {
    Block* const block = current_block();
    if (block != nullptr) return block->run->wait(*block);
    HeapFrame::stop(std::make_exception_ptr(ErrorOf<ErrorKind::kRuntimeError>(
        "blocks wait for the grid, and do not run at once: there is no GridScope around the call")));
    return kStopped;
}

}  // namespace weft::codegen
