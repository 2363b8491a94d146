// What a kernel that weft brings as C++ asks of the GPU that runs it: its numbers, memory that the threads of
// a block share, what the lanes of a warp tell each other. Such kernels become PTX when weft is built, by the
// compiler that builds weft and without anything of CUDA. Tests compile the same kernels for the CPU, where
// threads are fibers (tests/fake_driver/fibers.cpp).
#pragma once

#include <cstdint>

namespace weft::gpu {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kAllLanes = ~0U;

}  // namespace weft::gpu

#ifdef __NVPTX__

#pragma clang force_cuda_host_device begin  // ends with the program: all of it runs there

// An entry: `threads` at most in a block, of which so many share a multiprocessor; `words` are its arguments.
#define WEFT_GPU_KERNEL(name, Words, threads, blocks)                                             \
    extern "C" __attribute__((global)) __attribute__((launch_bounds(threads, blocks))) void name( \
        const Words words)

// Of a table: in the memory of the device, where lanes read different places at once, not among constants.
#define WEFT_GPU_TABLE __attribute__((device)) inline

extern __attribute__((shared, aligned(16))) unsigned char weft_block_memory[];

namespace weft::gpu {

__attribute__((device)) inline uint32_t thread() { return __nvvm_read_ptx_sreg_tid_x(); }
__attribute__((device)) inline uint32_t threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
__attribute__((device)) inline uint32_t block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
__attribute__((device)) inline uint32_t blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }
__attribute__((device)) inline void barrier() { __syncthreads(); }
// A barrier of its own number, above 0, which so many threads arrive at, of whom some wait.
__attribute__((device)) inline void wait_at(uint32_t number, uint32_t arriving) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(arriving) : "memory");
}
__attribute__((device)) inline void arrive_at(uint32_t number, uint32_t arriving) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(arriving) : "memory");
}
__attribute__((device)) inline void warp_barrier() { __nvvm_bar_warp_sync(kAllLanes); }
__attribute__((device)) inline unsigned char* block_memory() { return weft_block_memory; }
__attribute__((device)) inline uint32_t ballot(bool value) {
    return __nvvm_vote_ballot_sync(kAllLanes, value);
}
__attribute__((device)) inline uint32_t from_lane(uint32_t value, uint32_t lane) {
    return static_cast<uint32_t>(
        __nvvm_shfl_sync_idx_i32(kAllLanes, static_cast<int>(value), static_cast<int>(lane), kWarp - 1));
}

}  // namespace weft::gpu

#else

#define WEFT_GPU_KERNEL(name, Words, threads, blocks) \
    extern "C" __attribute__((visibility("default"))) void name(const Words& words)
#define WEFT_GPU_TABLE inline const

namespace weft::gpu {

uint32_t thread();
uint32_t threads();
uint32_t block();
uint32_t blocks();
void barrier();
void wait_at(uint32_t number, uint32_t arriving);
void arrive_at(uint32_t number, uint32_t arriving);
void warp_barrier();
unsigned char* block_memory();
uint32_t ballot(bool value);
uint32_t from_lane(uint32_t value, uint32_t lane);

}  // namespace weft::gpu

#endif

namespace weft::gpu {

inline uint32_t lane() { return thread() % kWarp; }
inline uint32_t warp() { return thread() / kWarp; }
inline uint32_t lanes_before() { return (1U << lane()) - 1; }
inline uint32_t count_ones(uint32_t bits) { return static_cast<uint32_t>(__builtin_popcount(bits)); }

inline uint64_t from_lane(uint64_t value, uint32_t lane) {
    return from_lane(static_cast<uint32_t>(value), lane) |
           uint64_t{from_lane(static_cast<uint32_t>(value >> 32), lane)} << 32;
}

// The lanes whose values have the same lowest bits, so many: on an H200 faster than match.any, which is one
// instruction.
template <int bits>
uint32_t lanes_with(uint32_t value) {
    uint32_t same = kAllLanes;
#pragma unroll
    for (int b = 0; b < bits; ++b) {
#ifdef __NVPTX__
        // Four instructions; of ballot() LLVM makes seven.
        asm volatile(
            "{ .reg .pred own;\n\t.reg .b32 lanes;\n\t"
            "and.b32 lanes, %1, %2;\n\t"
            "setp.ne.u32 own, lanes, 0;\n\t"
            "vote.sync.ballot.b32 lanes, own, 0xffffffff;\n\t"
            "@!own not.b32 lanes, lanes;\n\t"
            "and.b32 %0, %0, lanes; }"
            : "+r"(same)
            : "r"(value), "n"(1U << b));
#else
        const bool own = (value >> b & 1) != 0;
        const uint32_t lanes = ballot(own);
        same &= own ? lanes : ~lanes;
#endif
    }
    return same;
}

// The same value, computed anew: what is derived from it twice need not be kept in registers meanwhile.
inline uint32_t forgotten(uint32_t value) {
    asm volatile("" : "+r"(value));
    return value;
}

// Added where others add too; the value before.
template <class T>
T add_to(T* place, T value) {
    return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
}
// At least that from now on.
inline void raise_to(uint64_t* place, uint64_t value) { __atomic_fetch_max(place, value, __ATOMIC_RELAXED); }
// Written and read while others look, with nothing else in that order.
template <class T>
void publish(T* place, T value) {
    __atomic_store_n(place, value, __ATOMIC_RELAXED);
}
template <class T>
T load_relaxed(const T* place) {
    return __atomic_load_n(place, __ATOMIC_RELAXED);
}

// Into the memory of the device, which all blocks see.
template <class T>
T* pointer(uint64_t address) {
#ifdef __NVPTX__
    return (T*)(__attribute__((address_space(1))) T*)address;
#else
    return reinterpret_cast<T*>(address);
#endif
}

// The same place, computed anew.
template <class T>
T* forgotten(T* place) {
#ifdef __NVPTX__
    auto address = reinterpret_cast<uint64_t>((__attribute__((address_space(1))) T*)place);
    asm volatile("" : "+l"(address));
    return pointer<T>(address);
#else
    return place;
#endif
}

// The sum of the lanes before, of a warp whose lanes all come here.
template <class T>
T sum_before(T value) {
    T sum = value;
#pragma unroll
    for (uint32_t distance = 1; distance < kWarp; distance *= 2) {
        const T other = from_lane(sum, lane() - distance);
        if (lane() >= distance) sum += other;
    }
    return sum - value;
}

}  // namespace weft::gpu
