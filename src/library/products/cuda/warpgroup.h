// What products on Hopper's GPUs ask beside matrix_units.h: the units for matrices work for four warps at
// once, a warpgroup, on factors in shared memory, while its threads go on; and barriers that some warps
// arrive at and others wait at. See "Asynchronous warpgroup level matrix instructions" and "bar" in the PTX
// ISA. For tests on the CPU the same by ordinary code.
#pragma once

#include "library/products/cuda/matrix_units.h"

namespace weft::gpu {

constexpr uint32_t kWarpgroup = 128;

// A factor of bfloat16 in shared memory: panels of 64 rows of 128 bytes, 64 neighbours each, along the depth
// or, where the factor is `transposed`, along the result. Chunks of 16 bytes lie where their number, with the
// bits of the row's turned, says, so that neither rows nor columns of chunks meet in one bank. Panels begin
// at multiples of 1024 bytes.
constexpr uint32_t kPanelExtent = 64, kPanelBytes = kPanelExtent * 128;
inline uint32_t place_in_panel(uint32_t row, uint32_t column) {
    return row * 128 + ((column / 8) ^ (row % 8)) * 16 + column % 8 * 2;
}

// 16 steps of the depth, from `depth` on, of a factor whose panels begin there.
template <bool transposed>
struct FactorInPanels {
    const unsigned char* panels;
    uint32_t depth;

#ifdef __NVPTX__
    uint64_t descriptor() const {
        constexpr uint64_t kSwizzled = uint64_t{1} << 62;
        // From eight rows to the next, and from one panel to the next, which along the depth there is not.
        constexpr uint64_t kRows = 1024 / 16, kPanels = kPanelBytes / 16;
        const uint32_t place = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(
                                   (__attribute__((address_space(3))) const unsigned char*)panels)) +
                               (transposed ? depth * 128 : depth * 2);
        return kSwizzled | kRows << 32 | kPanels << 16 | (place & 0x3FFFF) >> 4;
    }
#else
    double element(uint32_t along_result, uint32_t along_depth) const {
        const uint32_t k = depth + along_depth, i = along_result % kPanelExtent;
        const unsigned char* const at = panels + along_result / kPanelExtent * kPanelBytes +
                                        (transposed ? place_in_panel(k, i) : place_in_panel(i, k));
        const uint32_t word = static_cast<uint32_t>(at[0]) << 16 | static_cast<uint32_t>(at[1]) << 24;
        return static_cast<double>(__builtin_bit_cast(float, word));
    }
#endif
};

// Rows and columns of a warpgroup's result, 64 x 128, of which each thread has these.
struct WarpgroupSums {
    float sum[64];

    static uint32_t row(uint32_t element) {
        return thread() % kWarpgroup / kWarp * 16 + lane() / 4 + element / 2 % 2 * 8;
    }
    static uint32_t column(uint32_t element) { return element / 4 * 8 + lane() % 4 * 2 + element % 2; }

    // Queues sum[64, 128] += left[64, 16] · right[16, 128], or = where it is `fresh`. Nobody may look at the
    // sums before they are waited for.
    template <bool left_transposed, bool right_transposed>
    void multiply_add(const FactorInPanels<left_transposed>& left,
                      const FactorInPanels<right_transposed>& right, bool fresh) {
#ifdef __NVPTX__
        // clang-format off
        asm volatile(
            "{ .reg .pred more;\n\t"
            "setp.eq.u32 more, %66, 0;\n\t"
            "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
            "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
            "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
            "%64, %65, more, 1, 1, %67, %68; }"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]),
              "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]),
              "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]),
              "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]),
              "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]),
              "+f"(sum[30]), "+f"(sum[31]), "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]),
              "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]),
              "+f"(sum[42]), "+f"(sum[43]), "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]),
              "+f"(sum[48]), "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]),
              "+f"(sum[54]), "+f"(sum[55]), "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]),
              "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63])
            : "l"(left.descriptor()), "l"(right.descriptor()), "r"(static_cast<uint32_t>(fresh)),
              "n"(left_transposed ? 1 : 0), "n"(right_transposed ? 1 : 0)
            : "memory");
        // clang-format on
#else
        for (uint32_t e = 0; e < 64; ++e) {
            double whole = fresh ? 0 : sum[e];
            for (uint32_t k = 0; k < 16; ++k) whole += left.element(row(e), k) * right.element(column(e), k);
            sum[e] = static_cast<float>(whole);
        }
#endif
    }

    // What is done with the sums stays on its side of this place.
    void hold() {
#ifdef __NVPTX__
        // clang-format off
        asm volatile(""
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]),
                 "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]),
                 "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]),
                 "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]),
                 "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]),
                 "+f"(sum[30]), "+f"(sum[31]), "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]),
                 "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]),
                 "+f"(sum[42]), "+f"(sum[43]), "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]),
                 "+f"(sum[48]), "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]),
                 "+f"(sum[54]), "+f"(sum[55]), "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]),
                 "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63])
                 :: "memory");
        // clang-format on
#endif
    }
};

// Before the first product of those that are queued, where sums were touched.
inline void begin_products() {
#ifdef __NVPTX__
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
// Ends a group of products.
inline void end_products() {
#ifdef __NVPTX__
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
// Until all groups but the last `left` are done.
template <int left>
void wait_for_products() {
#ifdef __NVPTX__
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
#endif
}

// What this thread has written to shared memory is there for products that are queued after the next barrier.
inline void show_to_products() {
#ifdef __NVPTX__
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

}  // namespace weft::gpu
