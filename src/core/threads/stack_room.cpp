#include "core/threads/stack_room.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <limits>

#include "core/memory/allocation_failure.h"

namespace weft {
namespace {

constexpr size_t kStackBytes = size_t{8} << 20;  // as main threads usually have

// Where the stack that this thread runs on ends; 0 where nobody has looked yet.
thread_local constinit uintptr_t lowest = 0;

uintptr_t find_lowest() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    void* address = nullptr;
    size_t size = 0, guard = 0;
    pthread_attr_getstack(&attributes, &address, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    return reinterpret_cast<uintptr_t>(address) + guard;
}

// A stack above a page that nobody may touch.
class OwnStack {
public:
    OwnStack() {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        size_ = kStackBytes + page;
        void* const mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (mapped == MAP_FAILED) throw_allocation_failure(size_);
        mapped_ = static_cast<char*>(mapped);
        if (mprotect(mapped_, page, PROT_NONE) != 0) {
            munmap(mapped_, size_);
            throw_allocation_failure(size_);
        }
        first_ = mapped_ + page;
    }
    ~OwnStack() { munmap(mapped_, size_); }
    OwnStack(const OwnStack&) = delete;
    OwnStack& operator=(const OwnStack&) = delete;

    char* first() const { return first_; }

private:
    char *mapped_ = nullptr, *first_ = nullptr;
    size_t size_ = 0;
};

struct Job {
    void (*work)(void*);
    void* state;
    ucontext_t here, there;
    std::exception_ptr error;
};

// An address in two halves, since a context is given numbers of 32 bits.
void run_job(unsigned high, unsigned low) {
    auto* job = reinterpret_cast<Job*>(uintptr_t{high} << 32 | low);
    try {
        job->work(job->state);
    } catch (...) {
        job->error = std::current_exception();
    }
}

}  // namespace

size_t stack_left() noexcept {
    if (lowest == 0) lowest = find_lowest();
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return lowest == 0 || here < lowest ? std::numeric_limits<size_t>::max() : here - lowest;
}

void grow_main_stack(size_t bytes) noexcept {
    if (gettid() != getpid() || stack_left() / 2 < bytes) return;
    auto* const lowest_byte = static_cast<volatile char*>(__builtin_alloca(bytes));
    *lowest_byte = 0;
}

void detail::run_on_own_stack(void (*work)(void*), void* state) {
    const OwnStack stack;
    Job job{work, state, {}, {}, {}};
    getcontext(&job.there);
    job.there.uc_stack.ss_sp = stack.first();
    job.there.uc_stack.ss_size = kStackBytes;
    job.there.uc_link = &job.here;
    const auto address = reinterpret_cast<uintptr_t>(&job);
    makecontext(&job.there, reinterpret_cast<void (*)()>(&run_job), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
    const uintptr_t outer = lowest;
    lowest = reinterpret_cast<uintptr_t>(stack.first());
    swapcontext(&job.here, &job.there);
    lowest = outer;
    if (job.error) std::rethrow_exception(job.error);
}

}  // namespace weft
