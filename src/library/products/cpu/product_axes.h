// The axes of a product on the CPU: which of them are batch, m, n and k, how each operand walks them, and how
// many become few, by packing an operand where nothing else helps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "device/device.h"
#include "library/products/contraction.h"

namespace weft::cpu_product {

enum Walker : size_t { kLeft, kRight, kOut };

struct Axis {
    int64_t extent = 1;
    std::array<int64_t, 3> stride{};  // by Walker
};
using Axes = std::vector<Axis>;

// The longest stride first.
void sort_by(Axes& axes, Walker walker);
// Neighbours that every walker takes as one become one.
void join_axes(Axes& axes);
int64_t extent_of(const Axes& axes);

struct Problem {
    ScalarType type;
    int64_t itemsize;
    std::array<const char*, 2> operand;
    char* out;
    Axes batch, m, n, k;

    Axes& own(Walker walker) { return walker == kLeft ? m : n; }
};

// Packs each operand once, and counts it.
class Packer {
public:
    Packer(Problem& problem, ContractionReport& report) : problem_(problem), report_(report) {}
    void pack(Walker walker);
    void swap_operands() { std::swap(held_[kLeft], held_[kRight]); }

private:
    Problem& problem_;
    ContractionReport& report_;
    std::array<BufferPtr, 2> held_;
};

// k: one axis for both operands, in the order that needs the fewest bytes packed.
void join_reduced(Problem& problem, Packer& packer);
// m or n: one axis. Others become batch axes, unless the products would be small and a packed copy makes one
// of them.
void join_own(Problem& problem, Walker walker, Packer& packer);

struct Offsets {
    int64_t left = 0, right = 0, out = 0;
};
Offsets batch_offsets(const Axes& batch, int64_t index);

// Of the first matrices of the batch; m, n and k have an axis or none.
MatrixProduct matrix_product(const Problem& problem);
void swap_operands(Problem& problem);

}  // namespace weft::cpu_product
