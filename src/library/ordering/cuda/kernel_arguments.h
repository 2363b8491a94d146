// The arguments of the kernels that order elements on GPUs (*_program.cpp beside it): read by the kernels
// as they are, made by who launches them (api/ordering/sort_on_gpu.cpp).
#pragma once

#include <cstdint>

namespace weft::gpu {

// What elements are, for their order.
constexpr uint64_t kOrderUnsigned = 0, kOrderSigned = 1, kOrderFloat = 2, kOrderBool = 3, kOrderComplex = 4;

constexpr uint32_t kDigits = 256;  // of eight bits
constexpr uint32_t kMostPasses = 8;
constexpr uint32_t kCountItems = 16;  // elements that a thread reads before it looks again

// Blocks of a pass over long rows, how many of them share a multiprocessor, and how many elements of a tile
// are a thread's: measured on an H200.
constexpr uint32_t kCountThreads = 256;
constexpr uint32_t sort_threads(bool positions) { return positions ? 512 : 384; }
constexpr uint32_t sort_blocks(bool positions) { return positions ? 2 : 3; }
constexpr uint32_t sort_items(uint64_t key_bytes, bool positions) {
    return key_bytes == 8 ? 14 : positions ? 18 : 22;
}
// Of rows that a block sorts in its own memory.
constexpr uint32_t kRowThreads = 256, kShortRowThreads = 128;
constexpr uint32_t kRowItems[2] = {2, 16};

// Shared memory of a block: while it ranks, of a pass, and of a row.
constexpr uint32_t rank_memory_bytes(uint32_t threads) { return (threads / 32 + 1) * kDigits * 4 + 32 * 4; }
constexpr uint32_t pass_memory_bytes(uint32_t key_bytes, bool positions) {
    const uint32_t element = positions && key_bytes < 4 ? 4 : key_bytes;
    const uint32_t threads = sort_threads(positions);
    return rank_memory_bytes(threads) + kDigits * 4 + 32 +
           threads * sort_items(key_bytes, positions) * element;
}
constexpr uint32_t row_memory_bytes(uint32_t key_bytes, bool positions, uint32_t items) {
    return rank_memory_bytes(kRowThreads) + 48 + kRowThreads * items * (key_bytes + (positions ? 2 : 0));
}

// Rows of equal length, one after another, sorted by digits of their keys from the last one on; each pass
// reads all elements once and writes them once.
struct SortArguments {
    uint64_t input;           // the elements
    uint64_t output;          // the sorted elements, or positions as int64
    uint64_t keys[2];         // memory for the keys between passes; [0] may be the output
    uint64_t positions[2];    // and for positions, of 32 bits
    uint64_t rows, length;    // elements of a row
    uint64_t tiles;           // of a row
    uint64_t kind, infinity;  // of the elements; see order_keys.h
    uint64_t scratch;         // SortScratch, zeros before the first kernel
    uint64_t counts;          // [rows][passes][kDigits] counts, then where each digit begins
    uint64_t published;       // [passes][rows * tiles][kDigits]
    uint64_t pass;
};

// Decided on the device, for all passes.
struct SortScratch {
    uint32_t tickets[kMostPasses];  // tiles that have begun
    uint64_t all, any;              // bits that all keys have, complemented; bits that any key has
};

constexpr uint32_t kEachThreads = 256;  // of kernels whose threads have an element each

// Where `count` values belong in a sorted row of `length` elements: before equal ones, or behind them.
struct SearchArguments {
    uint64_t row, length, values, count, right, kind, infinity, output;
};

// Complex numbers of float64 as two keys each.
struct ComplexKeyArguments {
    uint64_t input, high, low, count;
};

}  // namespace weft::gpu
