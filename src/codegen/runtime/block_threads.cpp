#include "codegen/runtime/block_threads.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "codegen/runtime/grid_blocks.h"
#include "codegen/runtime/heap.h"
#include "core/threads/fiber.h"
#include "weft/errors.h"

namespace weft::codegen {

namespace {

enum class Waits : uint8_t { kNothing, kBlock, kWarp, kGrid };

struct Thread {
    void* place = nullptr;  // of its stack
    Waits waits = Waits::kNothing;
    bool ended = false;
    WarpExchange exchange = WarpExchange::kBarrier;
    uint32_t mask = 0;
    int64_t value = 0, lane = 0, result = 0;
};

class BlockRun;
thread_local BlockRun* run_of_thread = nullptr;

// Behind a grid's barrier a block may be on another thread. The empty assembly keeps the compiler from using
// the place of the thread before.
[[gnu::noinline]] BlockRun* current_run() {
    asm volatile("" ::: "memory");
    return run_of_thread;
}
[[gnu::noinline]] BlockRun* exchange_run(BlockRun* run) {
    asm volatile("" ::: "memory");
    return std::exchange(run_of_thread, run);
}

// The stacks of this thread's blocks, kept for the next: fresh ones cost more than most blocks.
FiberStacks& stacks_for(size_t count) {
    thread_local std::unique_ptr<FiberStacks> kept;
    if (kept == nullptr || kept->count() < count) {
        kept.reset();
        kept = std::make_unique<FiberStacks>(count);
    }
    return *kept;
}

class BlockRun {
public:
    BlockRun(SpreadBody body, const void* captures, int64_t size, int64_t row, char* error)
        : body_(body),
          captures_(captures),
          row_(std::max<int64_t>(row, 1)),
          error_(error),
          threads_(static_cast<size_t>(size)) {}

    int64_t run() {
        if (is_in_grid()) own_stacks_ = std::make_unique<FiberStacks>(threads_.size());
        const FiberStacks& stacks = own_stacks_ ? *own_stacks_ : stacks_for(threads_.size());
        for (size_t t = 0; t < threads_.size(); ++t)
            threads_[t].place = prepare_fiber(stacks.stack(t), FiberStacks::kBytes, begin, t);
        BlockRun* const outer = exchange_run(this);
        bool moved = true;
        while (moved) {
            moved = false;
            for (size_t first = 0; first < threads_.size(); first += kWarpLanes) moved |= run_warp(first);
            moved |= open_block();
            moved |= open_grid();
        }
        const bool waits = std::any_of(threads_.begin(), threads_.end(), [](const Thread& thread) {
            return !thread.ended && thread.waits != Waits::kNothing;
        });
        if (waits) {
            stops_ = true;
            for (size_t t = 0; t < threads_.size(); ++t) {
                while (!threads_[t].ended) resume(t);
            }
        }
        exchange_run(outer);
        if (waits && status_ == 0) {
            HeapFrame::stop(std::make_exception_ptr(
                ErrorOf<ErrorKind::kRuntimeError>("the threads of a block wait for each other and never "
                                                  "meet: not all of them come to a barrier, or to "
                                                  "what their warp does together")));
            return kStopped;
        }
        return status_;
    }

    // --- what a thread calls ---

    int64_t wait(Waits what) {
        Thread& own = threads_[running_];
        own.waits = what;
        leave(own);
        return stops_ ? kStopped : 0;
    }
    Thread& running() { return threads_[running_]; }

private:
    // Goes on with the next thread, if that can run, else where threads are chosen.
    void leave(Thread& own) {
        const size_t next = running_ + 1;
        if (stops_ || next == threads_.size() || threads_[next].ended ||
            threads_[next].waits != Waits::kNothing)
            return switch_fiber(&own.place, scheduler_);
        running_ = next;
        switch_fiber(&own.place, threads_[next].place);
    }

    static void begin() {
        BlockRun& run = *current_run();
        const auto number = static_cast<int64_t>(run.running_);
        const int64_t status =
            run.body_(run.captures_, number, number % run.row_, number / run.row_, run.error_);
        Thread& own = run.threads_[static_cast<size_t>(number)];
        own.ended = true;
        if (status != 0 && !run.stops_) {
            run.stops_ = true;
            run.status_ = status;
        }
        run.leave(own);
        std::terminate();
    }

    void resume(size_t number) {
        running_ = number;
        threads_[number].waits = Waits::kNothing;
        switch_fiber(&scheduler_, threads_[number].place);
    }

    // Until all its lanes wait or have ended. A thread that has not begun when another one fails never does.
    bool run_warp(size_t first) {
        const size_t last = std::min(first + kWarpLanes, threads_.size());
        bool moved = false;
        do {
            for (size_t t = first; t < last; ++t) {
                if (stops_) return end_all();
                if (threads_[t].ended || threads_[t].waits != Waits::kNothing) continue;
                resume(t);
                moved = true;
            }
        } while (open_warp(first, last));
        return moved;
    }

    // What waits, ends; what has not begun does not.
    bool end_all() {
        for (size_t t = 0; t < threads_.size(); ++t) {
            while (!threads_[t].ended && threads_[t].waits != Waits::kNothing) resume(t);
            threads_[t].ended = true;
        }
        return false;
    }

    bool open_block() {
        bool any = false;
        for (const Thread& thread : threads_) {
            if (thread.ended) continue;
            if (thread.waits != Waits::kBlock) return false;
            any = true;
        }
        int64_t count = 0, voters = 0;
        for (const Thread& thread : threads_) {
            if (thread.ended) continue;
            ++voters;
            count += thread.value != 0 ? 1 : 0;
        }
        for (Thread& thread : threads_) {
            if (thread.ended) continue;
            const auto vote = static_cast<BlockVote>(thread.lane);
            thread.result = vote == BlockVote::kCount ? count
                            : vote == BlockVote::kAll ? (count == voters ? 1 : 0)
                                                      : (count != 0 ? 1 : 0);
            thread.waits = Waits::kNothing;
        }
        return any;
    }

    // All threads have come to the grid's barrier: the block waits there.
    bool open_grid() {
        bool any = false;
        for (const Thread& thread : threads_) {
            if (thread.ended) continue;
            if (thread.waits != Waits::kGrid) return false;
            any = true;
        }
        if (!any) return false;
        exchange_run(nullptr);
        const int64_t status = wait_for_grid();
        exchange_run(this);
        if (status != 0) {
            stops_ = true;
            status_ = status;
            end_all();
            return false;
        }
        for (Thread& thread : threads_) thread.waits = thread.ended ? thread.waits : Waits::kNothing;
        return true;
    }

    // Opens what lanes of a warp wait for, one mask at a time.
    bool open_warp(size_t first, size_t last) {
        for (size_t t = first; t < last; ++t) {
            const Thread& thread = threads_[t];
            if (thread.ended || thread.waits != Waits::kWarp || thread.exchange == WarpExchange::kActiveMask)
                continue;
            if (has_come(first, last, thread)) {
                open(first, last, thread.exchange, thread.mask);
                return true;
            }
        }
        return open_active(first, last);
    }

    bool has_come(size_t first, size_t last, const Thread& thread) const {
        for (size_t t = first; t < last; ++t) {
            const Thread& other = threads_[t];
            if ((thread.mask >> (t - first) & 1) == 0 || other.ended) continue;
            if (other.waits != Waits::kWarp || other.exchange != thread.exchange || other.mask != thread.mask)
                return false;
        }
        return true;
    }

    bool takes_part(size_t t, size_t first, WarpExchange exchange, uint32_t mask) const {
        const Thread& thread = threads_[t];
        return !thread.ended && (mask >> (t - first) & 1) != 0 && thread.waits == Waits::kWarp &&
               thread.exchange == exchange && thread.mask == mask;
    }

    void open(size_t first, size_t last, WarpExchange exchange, uint32_t mask) {
        std::array<size_t, kWarpLanes> all{};
        size_t count = 0;
        for (size_t t = first; t < last; ++t) {
            if (takes_part(t, first, exchange, mask)) all[count++] = t;
        }
        const std::span<const size_t> lanes(all.data(), count);
        for (const size_t t : lanes) {
            Thread& own = threads_[t];
            own.result = own.value;
            if (exchange == WarpExchange::kShuffle) {
                const bool is_lane = own.lane >= 0 && own.lane < static_cast<int64_t>(last - first);
                const size_t other = first + static_cast<size_t>(is_lane ? own.lane : 0);
                if (is_lane && takes_part(other, first, exchange, mask)) own.result = threads_[other].value;
                continue;
            }
            uint32_t result = 0;
            for (const size_t other : lanes) {
                const uint32_t bit = uint32_t{1} << (other - first);
                switch (exchange) {
                    case WarpExchange::kBallot: result |= threads_[other].value != 0 ? bit : 0; break;
                    case WarpExchange::kMatch: result |= threads_[other].value == own.value ? bit : 0; break;
                    default: break;
                }
            }
            own.result = static_cast<int64_t>(result);
        }
        for (const size_t t : lanes) threads_[t].waits = Waits::kNothing;
    }

    // Nothing else of the warp can go on: those that have come to one place are active there.
    bool open_active(size_t first, size_t last) {
        uint32_t mask = 0, place = 0;
        for (size_t t = first; t < last; ++t) {
            const Thread& thread = threads_[t];
            if (thread.ended || thread.waits != Waits::kWarp || thread.exchange != WarpExchange::kActiveMask)
                continue;
            if (mask == 0) place = thread.mask;
            if (thread.mask == place) mask |= uint32_t{1} << (t - first);
        }
        for (size_t t = first; t < last; ++t) {
            if ((mask >> (t - first) & 1) == 0) continue;
            threads_[t].result = static_cast<int64_t>(mask);
            threads_[t].waits = Waits::kNothing;
        }
        return mask != 0;
    }

    SpreadBody body_;
    const void* captures_;
    int64_t row_;
    char* error_;
    std::vector<Thread> threads_;
    std::unique_ptr<FiberStacks> own_stacks_{};  // of a block that goes on on other threads
    void* scheduler_ = nullptr;
    size_t running_ = 0;
    bool stops_ = false;
    int64_t status_ = 0;
};

}  // namespace

int64_t spread_together(SpreadBody body, const void* captures, int64_t size, int64_t row, char* error,
                        int64_t, int64_t) {
    if (size <= 0) return 0;
    try {
        return BlockRun(body, captures, size, row, error).run();
    } catch (...) {  // no memory for stacks: compiled code has no way for exceptions
        HeapFrame::stop(std::current_exception());
        return kStopped;
    }
}

int64_t block_barrier() {
    BlockRun* const run = current_run();
    return run == nullptr ? 0 : run->wait(Waits::kBlock);
}

int64_t grid_barrier() {
    BlockRun* const run = current_run();
    return run == nullptr ? wait_for_grid() : run->wait(Waits::kGrid);
}

int64_t block_vote(BlockVote vote, int64_t predicate, int64_t* result) {
    *result = predicate;
    BlockRun* const run = current_run();
    if (run == nullptr) return 0;
    Thread& own = run->running();
    own.value = predicate;
    own.lane = static_cast<int64_t>(vote);
    const int64_t status = run->wait(Waits::kBlock);
    *result = own.result;
    return status;
}

int64_t warp_exchange(WarpExchange exchange, int64_t mask, int64_t value, int64_t lane, int64_t* result) {
    *result = value;
    BlockRun* const run = current_run();
    if (run == nullptr) return 0;
    Thread& own = run->running();
    own.exchange = exchange;
    own.mask = static_cast<uint32_t>(mask);
    own.value = value;
    own.lane = lane;
    const int64_t status = run->wait(Waits::kWarp);
    *result = own.result;
    return status;
}

llvm::Function* declare_spread_together(llvm::Module& module) {
    if (llvm::Function* found = module.getFunction(kSpreadTogether)) return found;
    llvm::Function* const like = declare_spread(module);
    auto* function = llvm::Function::Create(like->getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                            kSpreadTogether, module);
    function->setDoesNotThrow();
    return function;
}

llvm::Function* declare_meeting(llvm::Module& module, const char* name, unsigned words) {
    if (llvm::Function* found = module.getFunction(name)) return found;
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* const word = llvm::Type::getInt64Ty(context);
    std::vector<llvm::Type*> types(words, word);
    if (words > 0) types.push_back(llvm::PointerType::get(context, 0));
    auto* function = llvm::Function::Create(llvm::FunctionType::get(word, types, false),
                                            llvm::GlobalValue::ExternalLinkage, name, module);
    function->setDoesNotThrow();
    return function;
}

}  // namespace weft::codegen
