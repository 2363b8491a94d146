// Runs a kernel for GPUs on the CPU, for tests: each thread of a block is a fiber; one after another they run
// until they come to a shuffle or a barrier, and go on when all that take part have come. The LLVM IR of a
// kernel is compiled for the CPU with its NVVM intrinsics as calls of these functions, and linked with this
// file.
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kWarp = 32;
constexpr size_t kStackBytes = 256 * 1024;

struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    uint32_t x = 0, y = 0;
    bool done = false;
    // What it waits for.
    enum class Waits { kNothing, kShuffle, kBarrier } waits = Waits::kNothing;
    uint32_t value = 0, lane = 0, result = 0;
    bool down = false;
    uint32_t barrier = 0, expected = 0;
};

struct Block {
    std::vector<Thread> threads;
    uint32_t threads_x = 1, threads_y = 1, number = 0, count = 1;
};

Block block;
Thread* current = nullptr;
ucontext_t scheduler;
void (*kernel)(const void*) = nullptr;
const void* kernel_words = nullptr;

void wait(Thread::Waits what) {
    current->waits = what;
    swapcontext(&current->context, &scheduler);
}

void run_thread() {
    kernel(kernel_words);
    current->done = true;
    swapcontext(&current->context, &scheduler);
}

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "simulated kernel: %s\n", what);
    std::abort();
}

// Lets a warp's shuffle happen if every lane that is left has come to it.
bool shuffle_warp(size_t first) {
    const size_t end = std::min(first + kWarp, block.threads.size());
    bool any = false;
    for (size_t t = first; t < end; ++t) {
        if (block.threads[t].done) continue;
        if (block.threads[t].waits != Thread::Waits::kShuffle) return false;
        any = true;
    }
    if (!any) return false;
    if (end - first < kWarp) fail("a shuffle of a warp that is not whole");
    for (size_t t = first; t < end; ++t) {
        Thread& thread = block.threads[t];
        if (thread.done) fail("a shuffle after a lane has ended");
        const size_t lane = t - first;
        const size_t from = thread.down ? lane + thread.lane : thread.lane % kWarp;
        thread.result = block.threads[first + (from < kWarp ? from : lane)].value;
    }
    for (size_t t = first; t < end; ++t) block.threads[t].waits = Thread::Waits::kNothing;
    return true;
}

bool open_barriers() {
    std::map<uint32_t, std::vector<Thread*>> waiting;
    uint32_t alive = 0;
    for (Thread& thread : block.threads) {
        if (thread.done) continue;
        ++alive;
        if (thread.waits == Thread::Waits::kBarrier) waiting[thread.barrier].push_back(&thread);
    }
    bool opened = false;
    for (auto& [number, threads] : waiting) {
        const uint32_t expected = threads[0]->expected == 0 ? alive : threads[0]->expected;
        if (threads.size() < expected) continue;
        if (threads.size() > expected) fail("more threads at a barrier than it waits for");
        for (Thread* thread : threads) thread->waits = Thread::Waits::kNothing;
        opened = true;
    }
    return opened;
}

}  // namespace

extern "C" {

// The shared memory that a launch gives besides what a kernel has itself.
alignas(16) char weft_row_cache[48 << 10];

uint32_t simulated_read_ptx_sreg_tid_x() { return current->x; }
uint32_t simulated_read_ptx_sreg_tid_y() { return current->y; }
uint32_t simulated_read_ptx_sreg_ntid_x() { return block.threads_x; }
uint32_t simulated_read_ptx_sreg_ntid_y() { return block.threads_y; }
uint32_t simulated_read_ptx_sreg_ctaid_x() { return block.number; }
uint32_t simulated_read_ptx_sreg_nctaid_x() { return block.count; }

static uint32_t shuffle(uint32_t mask, uint32_t value, uint32_t lane, uint32_t clamp, bool down) {
    if (mask != ~0U || clamp != kWarp - 1) fail("a shuffle of some lanes");
    current->value = value;
    current->lane = lane;
    current->down = down;
    wait(Thread::Waits::kShuffle);
    return current->result;
}
uint32_t simulated_shfl_sync_idx_i32(uint32_t mask, uint32_t value, uint32_t lane, uint32_t clamp) {
    return shuffle(mask, value, lane, clamp, false);
}
uint32_t simulated_shfl_sync_down_i32(uint32_t mask, uint32_t value, uint32_t lane, uint32_t clamp) {
    return shuffle(mask, value, lane, clamp, true);
}
void simulated_barrier(uint32_t number, uint32_t expected) {
    if (number > 15 || expected % kWarp != 0) fail("a barrier that does not exist");
    current->barrier = number;
    current->expected = expected;
    wait(Thread::Waits::kBarrier);
}
void simulated_barrier0() {
    current->barrier = 0;
    current->expected = 0;
    wait(Thread::Waits::kBarrier);
}
// As rough as the GPU's.
double simulated_rcp_approx_ftz_d(double x) {
    return __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, 1 / x) & ~uint64_t{0xFFFFFFFF});
}
float simulated_ex2_approx_ftz_f(float x) {
    const float power = __builtin_exp2f(x);
    return power < 0x1p-126F ? 0 : power;
}
uint64_t simulated_move_i64(uint64_t x) { return x; }
void simulated_membar_cta() {}
void simulated_membar_gl() {}
// As CUDA's: each value is in 8 bytes.
int simulated_vprintf(const char* format, const char* values) {
    std::string text;
    for (const char* at = format; *at != 0; ++at) {
        if (*at != '%' || at[1] == '%') {
            text += *at;
            if (*at == '%') ++at;
            continue;
        }
        const char* const begin = at;
        while (std::strchr("diouxXeEfgGs", *++at) == nullptr) {
        }
        const std::string directive(begin, at + 1);
        char made[512];
        long long word = 0;
        std::memcpy(&word, values, sizeof word);
        values += sizeof word;
        if (*at == 's') {
            std::snprintf(made, sizeof made, directive.c_str(), reinterpret_cast<const char*>(word));
        } else if (std::strchr("eEfgG", *at) != nullptr) {
            std::snprintf(made, sizeof made, directive.c_str(), __builtin_bit_cast(double, word));
        } else {
            std::snprintf(made, sizeof made, directive.c_str(), word);
        }
        text += made;
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    return 0;
}

// 0: done; 1: threads wait for what never comes.
int simulate(void (*entry)(const void*), const void* words, uint32_t blocks, uint32_t threads_x,
             uint32_t threads_y) {
    kernel = entry;
    kernel_words = words;
    block.threads_x = threads_x;
    block.threads_y = threads_y;
    block.count = blocks;
    block.threads = std::vector<Thread>(static_cast<size_t>(threads_x) * threads_y);
    for (Thread& thread : block.threads) thread.stack = std::make_unique<char[]>(kStackBytes);
    for (block.number = 0; block.number < blocks; ++block.number) {
        size_t alive = 0;
        std::fill(std::begin(weft_row_cache), std::end(weft_row_cache), '\x7f');  // of the block before
        for (Thread& thread : block.threads) {
            const auto at = static_cast<uint32_t>(alive++);
            thread.x = at % threads_x;
            thread.y = at / threads_x;
            thread.done = false;
            thread.waits = Thread::Waits::kNothing;
            getcontext(&thread.context);
            thread.context.uc_stack.ss_sp = thread.stack.get();
            thread.context.uc_stack.ss_size = kStackBytes;
            thread.context.uc_link = nullptr;
            makecontext(&thread.context, run_thread, 0);
        }
        while (alive > 0) {
            bool moved = false;
            // The last thread first: a missing wait shows.
            for (size_t t = block.threads.size(); t-- > 0;) {
                Thread& thread = block.threads[t];
                if (thread.done || thread.waits != Thread::Waits::kNothing) continue;
                current = &thread;
                swapcontext(&scheduler, &thread.context);
                moved = true;
                if (thread.done) --alive;
            }
            for (size_t first = 0; first < block.threads.size(); first += kWarp) moved |= shuffle_warp(first);
            moved |= open_barriers();
            if (!moved) return 1;
        }
    }
    return 0;
}

}  // extern "C"
