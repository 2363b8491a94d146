// The loops of tile_product.h. Included once by each file that compiles them for an instruction set, which
// sets the target before: so everything here has internal linkage, and takes nothing from other headers that
// could be shared.
#pragma once

#include <cstddef>
#include <cstdint>

#include "library/products/cpu/tile_product.h"

namespace weft {
namespace {

template <class T>
inline T load_element(const char* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

// Elements are `Stored` in memory and `Lane` in registers: 8-bit integers are multiplied as 16-bit ones,
// since no instruction multiplies bytes; the low 8 bits are the same.
template <class StoredType, class LaneType, bool is_logical>
struct Elements {
    using Stored = StoredType;
    using Lane = LaneType;
    static constexpr bool kLogical = is_logical;
    static Lane load(const char* from) {
        const Stored value = load_element<Stored>(from);
        if constexpr (is_logical) {
            return static_cast<Lane>(value != 0);
        } else {
            return static_cast<Lane>(value);
        }
    }
    static Stored join(Stored before, Lane more) {
        if constexpr (is_logical) {
            return static_cast<Stored>(before | more);
        } else {
            return static_cast<Stored>(before + static_cast<Stored>(more));
        }
    }
};

constexpr int64_t kDepthBytes =
    1024;  // of a panel's step along k: panels of a tile stay in the second-level cache

// `rows` rows of packed left elements times `vectors` vectors of packed columns, kept in registers over
// `depth` steps.
template <class E, int kVectorBytes, int kRows, int kVectors>
inline void multiply_panel(int64_t depth, const typename E::Lane* left, const typename E::Lane* right,
                           typename E::Lane* block) {
    using Lane = typename E::Lane;
    typedef Lane Vector __attribute__((vector_size(kVectorBytes)));
    constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(Lane));
    Vector sums[kRows][kVectors] = {};
    for (int64_t p = 0; p < depth; ++p) {
        Vector columns[kVectors];
        __builtin_memcpy(&columns, right + p * kLanes * kVectors, sizeof columns);
        for (int r = 0; r < kRows; ++r) {
            const Lane factor = left[p * kRows + r];
            for (int v = 0; v < kVectors; ++v) {
                if constexpr (E::kLogical) {
                    sums[r][v] |= columns[v] & factor;
                } else {
                    sums[r][v] += columns[v] * factor;
                }
            }
        }
    }
    __builtin_memcpy(block, &sums, sizeof sums);
}

template <class E, int kVectorBytes, int kRows, int kVectors>
void multiply_tile(const MatrixProduct& product) {
    using Lane = typename E::Lane;
    using Stored = typename E::Stored;
    constexpr int64_t kItem = sizeof(Stored);
    constexpr int64_t kColumns = kVectors * kVectorBytes / static_cast<int64_t>(sizeof(Lane));
    constexpr int64_t kDepth = kDepthBytes / static_cast<int64_t>(sizeof(Lane));
    const int64_t panels = (product.n + kColumns - 1) / kColumns;
    const int64_t depth_most = product.k < kDepth ? product.k : kDepth;
    const auto right_bytes = static_cast<size_t>(panels * kColumns * depth_most) * sizeof(Lane);
    const auto left_bytes = static_cast<size_t>(kRows * depth_most) * sizeof(Lane);
    const TileScratch scratch(right_bytes + left_bytes);
    auto* right = reinterpret_cast<Lane*>(scratch.data);
    auto* left = reinterpret_cast<Lane*>(scratch.data + right_bytes);
    alignas(64) Lane block[kRows * kColumns];
    for (int64_t first = 0; first < product.k; first += kDepth) {
        const int64_t depth = product.k - first < kDepth ? product.k - first : kDepth;
        for (int64_t panel = 0; panel < panels; ++panel) {
            const int64_t column = panel * kColumns;
            const int64_t width = product.n - column < kColumns ? product.n - column : kColumns;
            Lane* to = right + panel * kColumns * depth;
            for (int64_t p = 0; p < depth; ++p, to += kColumns) {
                const char* from =
                    product.right + (first + p) * product.right_step + column * product.right_column;
                if (product.right_column == kItem) {
                    for (int64_t j = 0; j < width; ++j) to[j] = E::load(from + j * kItem);
                } else {
                    for (int64_t j = 0; j < width; ++j) to[j] = E::load(from + j * product.right_column);
                }
                for (int64_t j = width; j < kColumns; ++j) to[j] = 0;
            }
        }
        for (int64_t row = 0; row < product.m; row += kRows) {
            const int64_t height = product.m - row < kRows ? product.m - row : kRows;
            for (int64_t r = 0; r < kRows; ++r) {
                const char* from = product.left + (row + r) * product.left_row + first * product.left_step;
                for (int64_t p = 0; p < depth; ++p) {
                    left[p * kRows + r] = r < height ? E::load(from + p * product.left_step) : Lane{0};
                }
            }
            for (int64_t panel = 0; panel < panels; ++panel) {
                const int64_t column = panel * kColumns;
                const int64_t width = product.n - column < kColumns ? product.n - column : kColumns;
                multiply_panel<E, kVectorBytes, kRows, kVectors>(depth, left,
                                                                 right + panel * kColumns * depth, block);
                for (int64_t r = 0; r < height; ++r) {
                    char* to = product.out + (row + r) * product.out_row + column * product.out_column;
                    for (int64_t j = 0; j < width; ++j, to += product.out_column) {
                        const Stored before = first == 0 ? Stored{0} : load_element<Stored>(to);
                        const Stored after = E::join(before, block[r * kColumns + j]);
                        __builtin_memcpy(to, &after, sizeof after);
                    }
                }
            }
        }
    }
}

// One column of the result, or one row: no block of accumulators to fill.
template <class E>
void multiply_rows(const MatrixProduct& product) {
    using Lane = typename E::Lane;
    using Stored = typename E::Stored;
    constexpr int64_t kItem = sizeof(Stored);
    for (int64_t i = 0; i < product.m; ++i) {
        const char* left = product.left + i * product.left_row;
        const char* right = product.right;
        Lane sum = 0;
        for (int64_t p = 0; p < product.k; ++p) {
            const Lane a = E::load(left + p * kItem), b = E::load(right + p * kItem);
            if constexpr (E::kLogical) {
                sum = static_cast<Lane>(sum | (a & b));
            } else {
                sum = static_cast<Lane>(sum + 1U * a * b);  // uint16 would be multiplied as int
            }
        }
        const Stored result = E::join(Stored{0}, sum);
        __builtin_memcpy(product.out + i * product.out_row, &result, sizeof result);
    }
}

template <class E, int kVectorBytes, int kRows>
void multiply_matrices(const MatrixProduct& product) {
    constexpr int64_t kItem = sizeof(typename E::Stored);
    if (product.n == 1 && product.left_step == kItem && product.right_step == kItem) {
        multiply_rows<E>(product);
    } else if (product.m == 1) {
        multiply_tile<E, kVectorBytes, 1, 2>(product);
    } else if (product.n == 1) {
        MatrixProduct swapped{1,
                              product.m,
                              product.k,
                              product.right,
                              0,
                              product.right_step,
                              product.left,
                              product.left_step,
                              product.left_row,
                              product.out,
                              0,
                              product.out_row};
        multiply_tile<E, kVectorBytes, 1, 2>(swapped);
    } else {
        multiply_tile<E, kVectorBytes, kRows, 2>(product);
    }
}

template <int kVectorBytes, int kRows>
TileFunction choose_tile_function(ScalarType type) {
    switch (type) {
        case ScalarType::kBool:
            return multiply_matrices<Elements<uint8_t, uint8_t, true>, kVectorBytes, kRows>;
        case ScalarType::kInt8:
        case ScalarType::kUInt8:
            return multiply_matrices<Elements<uint8_t, uint16_t, false>, kVectorBytes, kRows>;
        case ScalarType::kInt16:
        case ScalarType::kUInt16:
            return multiply_matrices<Elements<uint16_t, uint16_t, false>, kVectorBytes, kRows>;
        case ScalarType::kInt32:
        case ScalarType::kUInt32:
            return multiply_matrices<Elements<uint32_t, uint32_t, false>, kVectorBytes, kRows>;
        case ScalarType::kInt64:
        case ScalarType::kUInt64:
            return multiply_matrices<Elements<uint64_t, uint64_t, false>, kVectorBytes, kRows>;
        case ScalarType::kFloat32:
            return multiply_matrices<Elements<float, float, false>, kVectorBytes, kRows>;
        case ScalarType::kFloat64:
            return multiply_matrices<Elements<double, double, false>, kVectorBytes, kRows>;
        default: return nullptr;
    }
}

}  // namespace
}  // namespace weft
