// Where a thread of a CUDA-style kernel is: its block, its number in it, and the memory that is its block's
// and its own. All functions of a kernel's module take that behind their arguments, as they take global
// arrays.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "ir/thread_memory.h"
#include "lang/facts/known.h"
#include "lang/lower.h"

namespace weft::lang {

// The numbers of a place, three of each; the last are one each: how many bytes of the block's memory the
// launch asks for, and where they begin, behind what the kernel's text asks for.
enum class PlacePart : uint8_t { kThread, kBlock, kBlockSize, kGridSize, kDynamicBytes };
inline constexpr size_t kPlaceNumbers = 14;
inline constexpr size_t kDynamicPlace = 1;   // behind kDynamicBytes
inline constexpr size_t kPlaceOfErrors = 9;  // of which errors tell; the last are a block's sizes
inline constexpr size_t kPlaceOfEvents = 6;  // of which the race checker hears

inline constexpr int64_t kMostOfPlace = int64_t{1} << 31;
inline constexpr int64_t kMostThreadsOfBlock = 1024;      // threads along an axis
inline constexpr int64_t kMostOfGrid = int64_t{1} << 42;  // 2**31 blocks of 1024 threads

// Of the numbers, by their places: blocks and grids are not empty.
inline Fact fact_of_place(size_t number) {
    switch (static_cast<PlacePart>(number / 3)) {
        case PlacePart::kThread: return {0, kMostThreadsOfBlock - 1, {}, 0};
        case PlacePart::kBlockSize: return {1, kMostThreadsOfBlock, {}, 0};
        case PlacePart::kGridSize: return {1, kMostOfPlace, {}, 0};
        default: return {0, kMostOfPlace, {}, 0};
    }
}

// A thread's numbers, a tuple; its block's memory, and its own, arrays of bytes.
enum class PlaceArgument : uint8_t { kNumbers, kBlockMemory, kOwnMemory };
inline constexpr size_t kPlaceArguments = 3;

std::array<GlobalArgument, kPlaceArguments> place_arguments();
bool is_place_argument(const GlobalArgument& global);

// Of all memory that blocks and threads have for themselves.
inline constexpr uint16_t kBlockMemoryScope = 64000;
using ir::kOwnMemoryScope;

inline constexpr int64_t kMemoryAlignment = 16;  // of each array

// Static memory of a kernel's blocks and threads: an array for each place of the program that asks for one.
class KernelMemory {
public:
    // Where the array begins.
    int64_t place_of(PlaceArgument memory, const FunctionSource* function, NodeId node, int64_t bytes);
    // Rounded up, so that another array may begin behind it.
    int64_t bytes_of(PlaceArgument memory) const { return rounded_up(memory_[index(memory)].bytes); }

private:
    struct Known {
        const FunctionSource* function;
        NodeId node;
        int64_t bytes, place;
    };
    struct Memory {
        int64_t bytes = 0;
        std::vector<Known> known{};
    };
    static int64_t rounded_up(int64_t bytes) {
        return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    }
    static size_t index(PlaceArgument memory) { return static_cast<size_t>(memory); }

    std::array<Memory, kPlaceArguments> memory_;
};

}  // namespace weft::lang
