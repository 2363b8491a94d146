// Fibers: stacks beside each other that take turns on one thread. The threads of a CUDA-style kernel's block
// are fibers where they wait for each other (codegen/runtime/block_threads.h).
#pragma once

#include <cstddef>

namespace weft {

// Stacks in one mapping, whose pages are there when they are first written to.
class FiberStacks {
public:
    static constexpr size_t kBytes = 256 << 10;  // of a stack

    explicit FiberStacks(size_t count);
    ~FiberStacks();
    FiberStacks(const FiberStacks&) = delete;
    FiberStacks& operator=(const FiberStacks&) = delete;

    size_t count() const { return count_; }
    char* stack(size_t number) const { return base_ + number * kBytes; }

private:
    char* base_ = nullptr;
    size_t count_ = 0;
};

// Where a fiber is to begin, which must never return: it switches away for good. `number`: of its stack.
void* prepare_fiber(char* stack, size_t bytes, void (*begin)(), size_t number = 0);

// Goes on where `to` was left, or begins; `from` is where this goes on.
void switch_fiber(void** from, void* to);

}  // namespace weft
