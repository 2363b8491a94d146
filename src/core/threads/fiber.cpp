#include "core/threads/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

// Saves the registers that a function has to keep (System V ABI for x86-64, 3.2.1), and the stack's place in
// *from; goes on where `to` was left.
extern "C" void weft_switch_fiber(void** from, void* to);
asm(R"(
    .text
    .globl weft_switch_fiber
    .hidden weft_switch_fiber
    .type weft_switch_fiber, @function
weft_switch_fiber:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmpq *%rcx
    .size weft_switch_fiber, .-weft_switch_fiber
)");

namespace weft {

namespace {

constexpr size_t kGuard = 64 << 10;  // below the first stack
constexpr int kSavedRegisters = 6;
// Stacks begin at different places of their pages, or all would share a few lines of the caches.
constexpr size_t kShift = 320, kShifts = 48;

}  // namespace

FiberStacks::FiberStacks(size_t count) : count_(count) {
    void* const memory = mmap(nullptr, kGuard + count * kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory, kGuard, PROT_NONE);
    base_ = static_cast<char*>(memory) + kGuard;
}

FiberStacks::~FiberStacks() { munmap(base_ - kGuard, kGuard + count_ * kBytes); }

void* prepare_fiber(char* stack, size_t bytes, void (*begin)(), size_t number) {
    const auto top = reinterpret_cast<uintptr_t>(stack + bytes - number % kShifts * kShift) & ~uintptr_t{15};
    auto* place = reinterpret_cast<uintptr_t*>(top);
    *--place = 0;  // as after a call
    *--place = reinterpret_cast<uintptr_t>(begin);
    for (int k = 0; k < kSavedRegisters; ++k) *--place = 0;
    return place;
}

void switch_fiber(void** from, void* to) { weft_switch_fiber(from, to); }

}  // namespace weft
