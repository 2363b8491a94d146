// Instructions of GPUs for product kernels: products of small matrices on tensor cores, and copies into
// shared memory that go on while a block computes. See "Warp-level matrix instructions" and "cp.async" in the
// PTX ISA. For tests on the CPU the same by ordinary code.
#pragma once

#include "library/gpu/threads.h"

namespace weft::gpu {

// sum[16, 8] += left[16, 16] · right[16, 8] by a warp, of bfloat16, two neighbours along the depth in a word.
// Lane 4 g + q has left[g, 2 q], left[g + 8, 2 q], left[g, 2 q + 8], left[g + 8, 2 q + 8] and their
// neighbours; right[2 q, g], right[2 q + 8, g] and theirs; and sum[g, 2 q], sum[g, 2 q + 1], sum[g + 8, 2 q],
// sum[g + 8, 2 q + 1].
inline void multiply_add(float (&sum)[4], const uint32_t (&left)[4], const uint32_t (&right)[2]) {
#ifdef __NVPTX__
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#else
    const auto number = [](uint32_t word, uint32_t half) {
        return static_cast<double>(__builtin_bit_cast(float, half == 0 ? word << 16 : word & 0xFFFF0000U));
    };
    const uint32_t g = lane() / 4, q = lane() % 4;
    double sums[4] = {sum[0], sum[1], sum[2], sum[3]};
    for (uint32_t pair = 0; pair < 8; ++pair) {
        const uint32_t word = pair / 4, from = pair % 4;
        const uint32_t upper = from_lane(left[2 * word], 4 * g + from);
        const uint32_t lower = from_lane(left[2 * word + 1], 4 * g + from);
        const uint32_t first = from_lane(right[word], 4 * (2 * q) + from);
        const uint32_t second = from_lane(right[word], 4 * (2 * q + 1) + from);
        for (uint32_t half = 0; half < 2; ++half) {
            sums[0] += number(upper, half) * number(first, half);
            sums[1] += number(upper, half) * number(second, half);
            sums[2] += number(lower, half) * number(first, half);
            sums[3] += number(lower, half) * number(second, half);
        }
    }
    for (int c = 0; c < 4; ++c) sum[c] = static_cast<float>(sums[c]);
#endif
}

// The product alone.
inline void multiply(float (&product)[4], const uint32_t (&left)[4], const uint32_t (&right)[2]) {
#ifdef __NVPTX__
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %10, %10, %10};"
        : "=f"(product[0]), "=f"(product[1]), "=f"(product[2]), "=f"(product[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]), "f"(0.0F));
#else
    for (float& each : product) each = 0;
    multiply_add(product, left, right);
#endif
}

// The upper halves of two words, the first one's below.
inline uint32_t upper_halves(uint32_t first, uint32_t second) {
#ifdef __NVPTX__
    return __nvvm_prmt(first, second, 0x7632);
#else
    return first >> 16 | (second & 0xFFFF0000U);
#endif
}

// The first `bytes` of 16 that lie side by side, and zeros for the others; both places are aligned to 16.
inline void copy_async(float* shared, const float* global, uint32_t bytes) {
#ifdef __NVPTX__
    const auto place =
        static_cast<uint32_t>(reinterpret_cast<uintptr_t>((__attribute__((address_space(3))) float*)shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(global), "r"(bytes)
                 : "memory");
#else
    for (uint32_t k = 0; k < 4; ++k) shared[k] = 4 * k < bytes ? global[k] : 0;
#endif
}
// Ends a group of copies.
inline void end_copies() {
#ifdef __NVPTX__
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Until all of this thread's groups but the last `left` are there.
template <int left>
void wait_for_copies() {
#ifdef __NVPTX__
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

}  // namespace weft::gpu
