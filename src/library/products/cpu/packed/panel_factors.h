// How the products of panel_product.h cut k into blocks and rows into panels, and how they read the left
// factor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "library/products/cpu/panel_product.h"

namespace weft::cpu_product {

constexpr int64_t kMostSteps = 256;    // of a block of k; so the bits depend on it
constexpr int64_t kMostRowPanels = 9;  // multiplied by each panel of columns while that is in a near cache
constexpr int64_t kColumnPanels = 16;  // packed at a time for one thread
constexpr int64_t kLine = 64, kPage = 4096;

inline int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t whole_lines(int64_t bytes) { return ceil_divide(bytes, kLine) * kLine; }

// k in blocks of nearly the same length.
class Steps {
public:
    explicit Steps(int64_t k) : count_(k), depth_(ceil_divide(k, ceil_divide(k, kMostSteps))) {}
    int64_t blocks() const { return ceil_divide(count_, depth_); }
    int64_t most() const { return depth_; }
    int64_t begin(int64_t block) const { return std::min(count_, block * depth_); }
    int64_t depth(int64_t block) const { return begin(block + 1) - begin(block); }

private:
    int64_t count_, depth_;
};

// Where panels of rows begin: all of nearly the same height.
inline std::vector<int64_t> panel_starts(int64_t rows, int64_t panels) {
    std::vector<int64_t> starts(static_cast<size_t>(panels) + 1);
    for (int64_t i = 0; i <= panels; ++i) starts[static_cast<size_t>(i)] = rows * i / panels;
    return starts;
}

// What a task reads of the left factor: rows where they lie, when they lie along k and not all in the same
// sets of the first-level cache; else a copy of such rows, or of panels where rows are adjacent.
class LeftReader {
public:
    LeftReader(const PanelKernels& kernels, const MatrixProduct& product, int64_t depth)
        : kernels_(kernels), product_(product) {
        const int64_t off = product.left_row & (kPage - 1);
        const bool collides = product.m > 8 && (off < kLine || off > kPage - kLine);
        in_place_ = product.left_step == kernels.itemsize && !collides;
        in_panels_ = !in_place_ && product.left_row == kernels.itemsize;
        row_ = in_place_ ? product.left_row : whole_lines(depth * kernels.itemsize) + kLine;
        depth_ = depth;
    }

    bool in_place() const { return in_place_; }
    // Of a copy of so many rows, over one block of steps.
    int64_t bytes(int64_t rows) const {
        return in_place_ ? 0 : whole_lines(rows * (in_panels_ ? depth_ * kernels_.itemsize : row_));
    }

    // What `give` will read, of these panels, to `to`.
    void copy(const int64_t* starts, int64_t panels, int64_t begin, int64_t depth, char* to) const {
        if (in_place_) return;
        const char* from = source(starts[0], begin);
        if (in_panels_) {
            kernels_.pack_left({from, product_.left_row, product_.left_step, depth}, starts, panels, to);
            return;
        }
        for (int64_t row = starts[0]; row < starts[panels]; ++row, from += product_.left_row, to += row_) {
            if (product_.left_step == kernels_.itemsize) {
                std::memcpy(to, from, static_cast<size_t>(depth * kernels_.itemsize));
            } else if (kernels_.itemsize == 4) {
                gather<uint32_t>(from, depth, to);
            } else {
                gather<uint64_t>(from, depth, to);
            }
        }
    }

    // To a product of the panels from `start` on; `copy` is of those from row `copied` on.
    void give(PanelProduct& part, int64_t start, int64_t begin, const char* copy, int64_t copied) const {
        part.left_in_panels = in_panels_;
        part.left_row = row_;
        part.left_step = kernels_.itemsize;
        part.left = in_place_
                        ? source(start, begin)
                        : copy + (start - copied) * (in_panels_ ? part.depth * kernels_.itemsize : row_);
    }

    void announce(PanelProduct& part, int64_t start, int64_t begin, int64_t depth) const {
        part.next_left = source(start, begin);
        part.next_row = product_.left_row;
        part.next_step = product_.left_step;
        part.next_depth = depth;
    }

private:
    const char* source(int64_t row, int64_t step) const {
        return product_.left + row * product_.left_row + step * product_.left_step;
    }

    template <class Word>
    void gather(const char* from, int64_t depth, char* to) const {
        for (int64_t p = 0; p < depth; ++p)
            std::memcpy(to + p * static_cast<int64_t>(sizeof(Word)), from + p * product_.left_step,
                        sizeof(Word));
    }

    const PanelKernels& kernels_;
    const MatrixProduct& product_;
    bool in_place_, in_panels_;
    int64_t row_, depth_;
};

}  // namespace weft::cpu_product
