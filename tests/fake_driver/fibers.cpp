#include "fibers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/threads/fiber.h"
#include "library/gpu/threads.h"

namespace weft::fake_driver {

namespace {

constexpr size_t kStackBytes = 64 * 1024;
constexpr int kPattern = 0xA5;  // of memory that was never written
constexpr uint32_t kWarp = gpu::kWarp;

enum class Waits { kNothing, kBarrier, kNumbered, kWarpBarrier, kValues };

// A barrier that some threads of a block arrive at and others wait at.
struct NumberedBarrier {
    uint32_t arrived = 0;
    std::vector<uint32_t> waiting;
};
constexpr uint32_t kNumberedBarriers = 16;

struct Fiber {
    void* stack_place = nullptr;
    std::unique_ptr<char[]> stack;
    Waits waits = Waits::kNothing;
    bool done = false;
    uint32_t value = 0;
};

struct Block {
    std::span<Fiber> fibers;
    std::vector<uint32_t> values;  // what each thread told its warp
    NumberedBarrier barriers[kNumberedBarriers];
    std::unique_ptr<std::byte[]> memory;
    uint32_t number = 0, count = 0;
    ProgramEntry entry = nullptr;
    const void* words = nullptr;
};

Block* block = nullptr;
uint32_t current = 0;
void* scheduler = nullptr;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "a program on fibers: %s\n", what);
    std::abort();
}

void wait(Waits what) {
    Fiber& own = block->fibers[current];
    own.waits = what;
    switch_fiber(&own.stack_place, scheduler);
}

void run_fiber() {
    block->entry(block->words);
    block->fibers[current].done = true;
    wait(Waits::kNothing);
    fail("a fiber that has ended runs");
}

void prepare(Fiber& fiber) {
    if (fiber.stack == nullptr) fiber.stack = std::make_unique<char[]>(kStackBytes);
    fiber.stack_place = prepare_fiber(fiber.stack.get(), kStackBytes, run_fiber);
    fiber.waits = Waits::kNothing;
    fiber.done = false;
}

// Lets a warp go on if all its threads are at the same place.
bool open_warp(uint32_t first) {
    const Waits what = block->fibers[first].waits;
    if (what != Waits::kWarpBarrier && what != Waits::kValues) return false;
    for (uint32_t t = first; t < first + kWarp; ++t) {
        if (block->fibers[t].done) fail("a warp waits for a lane that has ended");
        if (block->fibers[t].waits != what) return false;
    }
    for (uint32_t t = first; t < first + kWarp; ++t) {
        block->values[t] = block->fibers[t].value;
        block->fibers[t].waits = Waits::kNothing;
    }
    return true;
}

bool open_barrier() {
    bool any = false;
    for (const Fiber& fiber : block->fibers) {
        if (fiber.done) continue;
        if (fiber.waits != Waits::kBarrier) return false;
        any = true;
    }
    for (Fiber& fiber : block->fibers) fiber.waits = Waits::kNothing;
    return any;
}

void arrive(uint32_t number, uint32_t arriving) {
    if (number == 0 || number >= kNumberedBarriers) fail("a barrier that there is not");
    NumberedBarrier& barrier = block->barriers[number];
    if (++barrier.arrived < arriving) return;
    for (const uint32_t t : barrier.waiting) block->fibers[t].waits = Waits::kNothing;
    barrier = {};
}

const uint32_t* told(uint32_t value) {
    block->fibers[current].value = value;
    wait(Waits::kValues);
    return &block->values[current / kWarp * kWarp];
}

}  // namespace

void run_on_fibers(ProgramEntry entry, const void* words, uint32_t blocks, uint32_t threads,
                   size_t shared_bytes) {
    if (threads % kWarp != 0) fail("a warp that is not whole");
    Block own;
    // One kernel runs at a time. Stacks are kept: fresh ones cost more than most kernels.
    static auto* const kept = new std::vector<Fiber>;
    if (kept->size() < threads) kept->resize(threads);
    own.fibers = {kept->data(), threads};
    own.values = std::vector<uint32_t>(threads);
    own.memory = std::make_unique<std::byte[]>(shared_bytes + 16);
    own.count = blocks;
    own.entry = entry;
    own.words = words;
    block = &own;
    for (own.number = 0; own.number < blocks; ++own.number) {
        std::memset(own.memory.get(), kPattern, shared_bytes);
        for (Fiber& fiber : own.fibers) prepare(fiber);
        while (true) {
            bool moved = false, alive = false;
            // The last thread first: a missing wait shows.
            for (uint32_t warp = threads; warp > 0; warp -= kWarp) {
                do {
                    for (uint32_t t = warp; t-- > warp - kWarp;) {
                        Fiber& fiber = own.fibers[t];
                        if (fiber.done || fiber.waits != Waits::kNothing) continue;
                        current = t;
                        switch_fiber(&scheduler, fiber.stack_place);
                        moved = true;
                    }
                } while (open_warp(warp - kWarp));
            }
            for (const Fiber& fiber : own.fibers) alive |= !fiber.done;
            if (!alive) break;
            if (open_barrier()) moved = true;
            if (!moved) fail("threads wait for what never comes");
        }
    }
    block = nullptr;
}

}  // namespace weft::fake_driver

namespace weft::gpu {

using namespace fake_driver;

uint32_t thread() { return current; }
uint32_t threads() { return static_cast<uint32_t>(fake_driver::block->fibers.size()); }
uint32_t block() { return fake_driver::block->number; }
uint32_t blocks() { return fake_driver::block->count; }
void barrier() { wait(Waits::kBarrier); }
void arrive_at(uint32_t number, uint32_t arriving) { arrive(number, arriving); }
void wait_at(uint32_t number, uint32_t arriving) {
    // The last one to arrive opens it and goes on.
    Fiber& own = fake_driver::block->fibers[current];
    own.waits = Waits::kNumbered;
    fake_driver::block->barriers[number % kNumberedBarriers].waiting.push_back(current);
    arrive(number, arriving);
    if (own.waits == Waits::kNumbered) switch_fiber(&own.stack_place, scheduler);
}
void warp_barrier() { wait(Waits::kWarpBarrier); }
unsigned char* block_memory() { return reinterpret_cast<unsigned char*>(fake_driver::block->memory.get()); }

uint32_t ballot(bool value) {
    const uint32_t* const values = told(value);
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < kWarp; ++l) lanes |= uint32_t{values[l] != 0} << l;
    return lanes;
}
uint32_t from_lane(uint32_t value, uint32_t lane) { return told(value)[lane % kWarp]; }

}  // namespace weft::gpu
