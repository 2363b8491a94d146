#include "codegen/runtime/llvm_guard.h"

#include <llvm/Support/ErrorHandling.h>
#include <setjmp.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/memory/allocation_failure.h"
#include "core/memory/reserved_memory.h"
#include "core/threads/stack_room.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

// Where a call into LLVM goes back to when LLVM gives up. Frames between are left as they are, without
// destructors.
struct WayBack {
    jmp_buf place;
    bool out_of_memory = false;
    char reason[384] = "";
};
thread_local constinit WayBack* way_back = nullptr;

constinit std::atomic<bool> given_up{false};

constexpr size_t kLlvmStack = size_t{1}
                              << 20;  // bytes, several times what the largest kernels were seen to take

[[noreturn]] void go_back(bool out_of_memory, const char* reason) {
    WayBack& way = *way_back;
    way.out_of_memory = out_of_memory;
    std::snprintf(way.reason, sizeof way.reason, "%s", reason);
    longjmp(way.place, 1);
}

// LLVM's handlers are of its copy in this library alone. Outside of run_llvm LLVM goes on to end the process.
void on_fatal_error(void*, const char* reason, bool) {
    if (way_back != nullptr) go_back(false, reason);
}
void on_bad_alloc(void*, const char* reason, bool) {
    if (way_back != nullptr) go_back(true, reason);
}

void install_handlers() {
    [[maybe_unused]] static const bool installed = [] {
        llvm::install_fatal_error_handler(&on_fatal_error);
        llvm::install_bad_alloc_error_handler(&on_bad_alloc);
        return true;
    }();
}

// The only function with a frame that is come back to: nothing in it changes after setjmp.
[[gnu::noinline]] bool came_to_its_end(WayBack& way, void (*work)(void*), void* state) {
    if (setjmp(way.place) != 0) return false;
    work(state);
    return true;
}

struct Inside {
    explicit Inside(WayBack& way) : outer(std::exchange(way_back, &way)) {}
    ~Inside() { way_back = outer; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    WayBack* outer;
};

}  // namespace

LlvmGaveUp::LlvmGaveUp(bool out_of_memory, const char* reason) noexcept : out_of_memory_(out_of_memory) {
    std::snprintf(text_, sizeof text_, out_of_memory ? "the compiler has run out of memory (%s)" : "LLVM: %s",
                  reason);
}

void LlvmGaveUp::throw_as_error() const {
    if (out_of_memory_) throw OutOfMemoryError(text_);
    throw InternalError(text_);
}

bool detail::run_llvm(void (*work)(void*), void* state) {
    if (given_up.load(std::memory_order_relaxed))
        throw OutOfMemoryError("the compiler ran out of memory before, and this process compiles no more");
    if (!prepare_reserve()) throw_allocation_failure(kReservedBytes);
    install_handlers();
    WayBack way;
    const Inside inside(way);
    const LastResort last_resort([] { go_back(true, "its reserve is used up"); });
    bool ended = false;
    run_with_stack(kLlvmStack, [&] { ended = came_to_its_end(way, work, state); });
    if (!ended) {
        if (way.out_of_memory) given_up.store(true, std::memory_order_relaxed);
        throw LlvmGaveUp(way.out_of_memory, way.reason);
    }
    return last_resort.was_needed();
}

}  // namespace weft::codegen
