// The kernels of panel_product.h. Included once by each file that compiles them for an instruction set with
// fused multiply-adds, which sets the target before: so everything here has internal linkage, and takes
// nothing from other headers that could be shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "library/products/cpu/panel_product.h"

namespace weft {
namespace {

template <class T>
inline T load_from(const char* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
inline void store_to(char* to, const T& value) {
    __builtin_memcpy(to, &value, sizeof value);
}

template <class T, int kBytes>
struct Lanes {
    static constexpr int kCount = kBytes / static_cast<int>(sizeof(T));
    typedef T Vector __attribute__((ext_vector_type(kBytes / sizeof(T))));

    // Square blocks are transposed by exchanging halves of halves.
    template <int kHalf, size_t... kIndex>
    static Vector lower(Vector a, Vector b, std::index_sequence<kIndex...>) {
        return __builtin_shufflevector(
            a, b, (kIndex & kHalf ? static_cast<int>(kIndex) - kHalf + kCount : static_cast<int>(kIndex))...);
    }
    template <int kHalf, size_t... kIndex>
    static Vector upper(Vector a, Vector b, std::index_sequence<kIndex...>) {
        return __builtin_shufflevector(
            a, b, (kIndex & kHalf ? static_cast<int>(kIndex) + kCount : static_cast<int>(kIndex) + kHalf)...);
    }
    template <int kHalf>
    static inline void transpose(Vector (&rows)[kCount]) {
        constexpr std::make_index_sequence<kCount> kAll;
#pragma clang loop unroll(full)
        for (int i = 0; i < kCount; ++i) {
            if ((i & kHalf) != 0) continue;
            const Vector a = rows[i], b = rows[i + kHalf];
            rows[i] = lower<kHalf>(a, b, kAll);
            rows[i + kHalf] = upper<kHalf>(a, b, kAll);
        }
        if constexpr (kHalf > 1) transpose<kHalf / 2>(rows);
    }
};

// A block of the result that registers hold, over some steps of k. Bytes.
struct Block {
    int64_t steps;
    const char* left;
    int64_t left_row, left_step;
    const char* right;
    int64_t right_step;
    char* out;
    int64_t out_row;
    bool adds, subtracts;
    // What is needed next, for each row of the block: lines that lie one behind the other, and others.
    const char* panel;
    int64_t panel_lines;
    const char* next;
    int64_t next_row, next_line, next_lines;
};

// Each sum is one chain of fused multiply-adds, whatever the block is.
template <class T, int kBytes, int kRows, int kVectors, bool kAdjacent>
void multiply_block(const Block& block) {
    using Vector = typename Lanes<T, kBytes>::Vector;
    Vector sums[kRows][kVectors] = {};
    const char* left = block.left;
    const char* right = block.right;
    const int64_t left_row = kAdjacent ? static_cast<int64_t>(sizeof(T)) : block.left_row;
    const int64_t left_step = block.left_step, right_step = block.right_step, out_row = block.out_row;
    const char* out = block.out;
    const char* panel = block.panel;
    const char* next = block.next;
    // What is needed next is asked for a line at a time, so that the loads of this block do not wait behind.
    const int64_t part = block.steps / kRows;
    int64_t steps = block.steps - part * (kRows - 1);
    for (int row = 0; row < kRows; ++row, steps = part) {
        for (int v = 0; v < kVectors; ++v) __builtin_prefetch(out + v * kBytes, 1);
        __builtin_prefetch(out + kVectors * kBytes - 1, 1);
        out += out_row;
#pragma clang loop unroll(disable)
        for (int64_t line = 0; line < block.panel_lines; ++line, panel += 64) __builtin_prefetch(panel, 0, 2);
#pragma clang loop unroll(disable)
        for (int64_t line = 0; line < block.next_lines; ++line)
            __builtin_prefetch(next + line * block.next_line, 0, 2);
        next += block.next_row;
        for (int64_t p = 0; p < steps; ++p, left += left_step, right += right_step) {
            Vector columns[kVectors];
#pragma clang loop unroll(full)
            for (int v = 0; v < kVectors; ++v) columns[v] = load_from<Vector>(right + v * kBytes);
#pragma clang loop unroll(full)
            for (int r = 0; r < kRows; ++r) {
                const Vector factor = load_from<T>(left + r * left_row);
#pragma clang loop unroll(full)
                for (int v = 0; v < kVectors; ++v)
                    sums[r][v] = __builtin_elementwise_fma(factor, columns[v], sums[r][v]);
            }
        }
    }
    char* to = block.out;
    const bool adds = block.adds;
    const Vector sign = block.subtracts ? T(-1) : T(1);
#pragma clang loop unroll(full)
    for (int r = 0; r < kRows; ++r, to += out_row) {
#pragma clang loop unroll(full)
        for (int v = 0; v < kVectors; ++v) {
            Vector sum = sums[r][v];
            if (adds) sum = __builtin_elementwise_fma(sign, sum, load_from<Vector>(to + v * kBytes));
            store_to(to + v * kBytes, sum);
        }
    }
}

using BlockFunction = void (*)(const Block&);

template <class T, int kBytes, int kMostRows>
struct BlockFunctions {
    BlockFunction of[kMostRows][2][2];  // rows less one, vectors less one, whether rows are adjacent

    template <size_t... kIndex>
    static constexpr BlockFunctions make(std::index_sequence<kIndex...>) {
        return {{{{multiply_block<T, kBytes, kIndex + 1, 1, false>,
                   multiply_block<T, kBytes, kIndex + 1, 1, true>},
                  {multiply_block<T, kBytes, kIndex + 1, 2, false>,
                   multiply_block<T, kBytes, kIndex + 1, 2, true>}}...}};
    }
};

template <class T, int kBytes, int kMostRows>
struct Kernels {
    using Lane = Lanes<T, kBytes>;
    using Vector = typename Lane::Vector;
    static constexpr int64_t kItem = sizeof(T), kCount = Lane::kCount, kColumns = 2 * Lane::kCount;
    static constexpr auto kBlocks =
        BlockFunctions<T, kBytes, kMostRows>::make(std::make_index_sequence<kMostRows>());

    static int64_t padded(int64_t columns) { return columns > kCount ? kColumns : kCount; }

    // Columns that lie along k, a multiple of kCount: kCount of them and as many steps at a time, the last
    // steps for the second time.
    static void transpose_panel(const PanelSource& source, int64_t columns, char* to, int64_t to_step) {
        for (int64_t first = 0; first < columns; first += kCount) {
            const char* from[kCount];
            for (int64_t i = 0; i < kCount; ++i) from[i] = source.data + (first + i) * source.own;
            for (int64_t p = 0; p < source.depth; p += kCount) {
                if (p > source.depth - kCount) p = source.depth - kCount;
                Vector rows[kCount];
                load_transposed(from, p, rows);
                char* at = to + p * to_step + first * kItem;
#pragma clang loop unroll(full)
                for (int64_t i = 0; i < kCount; ++i, at += to_step) store_to(at, rows[i]);
            }
        }
    }

    static inline void load_transposed(const char* const (&from)[kCount], int64_t p, Vector (&rows)[kCount]) {
#pragma clang loop unroll(full)
        for (int64_t i = 0; i < kCount; ++i) rows[i] = load_from<Vector>(from[i] + p * kItem);
        Lane::template transpose<kCount / 2>(rows);
    }

    // Adjacent rows, of all panels at once. They are copied with what lies behind them, which is written over
    // by the next step.
    static void pack_left(const PanelSource& source, const int64_t* starts, int64_t panels, char* to) {
        const char* from = source.data;
        const bool apart = source.step >= kMostRows * kItem;
        for (int64_t p = 0; p < source.depth; ++p, from += source.step) {
            for (int64_t i = 0; i < panels; ++i) {
                const int64_t row = starts[i] - starts[0], rows = starts[i + 1] - starts[i];
                char* at = to + (row * source.depth + p * rows) * kItem;
                const bool inside = apart && (source.depth - p) * rows >= kMostRows && p + 1 < source.depth;
                if (rows == kMostRows || inside) {
                    __builtin_memcpy(at, from + row * kItem, kMostRows * kItem);
                } else {
                    for (int64_t r = 0; r < rows; ++r)
                        store_to(at + r * kItem, load_from<T>(from + (row + r) * kItem));
                }
            }
        }
    }

    // Any number of panels; rows are read as they lie.
    static void pack_right(const PanelSource& source, int64_t columns, char* to) {
        const int64_t panel_bytes = kColumns * source.depth * kItem;
        int64_t whole = columns / kColumns;
        if (source.own == kItem) {
            const char* from = source.data;
            for (int64_t p = 0; p < source.depth; ++p, from += source.step) {
                char* at = to + p * kColumns * kItem;
                for (int64_t panel = 0; panel < whole; ++panel, at += panel_bytes)
                    __builtin_memcpy(at, from + panel * kColumns * kItem, kColumns * kItem);
            }
        } else {
            whole = 0;
        }
        for (int64_t panel = whole; panel * kColumns < columns; ++panel) {
            const int64_t rest = columns - panel * kColumns;
            pack_right_panel(
                {source.data + panel * kColumns * source.own, source.own, source.step, source.depth},
                rest < kColumns ? rest : kColumns, to + panel * panel_bytes);
        }
    }

    static void pack_right_panel(const PanelSource& source, int64_t columns, char* to) {
        const int64_t width = padded(columns), to_step = width * kItem;
        if (columns == width && source.step == kItem && source.depth >= kCount) {
            transpose_panel(source, columns, to, to_step);
            return;
        }
        int64_t p = 0;
        // With what lies behind them: the sums of columns that are not there are nobody's.
        if (source.own == kItem && source.step >= to_step) {
            for (; p + 1 < source.depth; ++p, to += to_step) {
                const char* from = source.data + p * source.step;
                store_to(to, load_from<Vector>(from));
                if (width == kColumns) store_to(to + kBytes, load_from<Vector>(from + kBytes));
            }
        }
        for (; p < source.depth; ++p, to += to_step) {
            const char* from = source.data + p * source.step;
            for (int64_t j = 0; j < columns; ++j)
                store_to(to + j * kItem, load_from<T>(from + j * source.own));
            for (int64_t j = columns; j < width; ++j) store_to(to + j * kItem, T{0});
        }
    }

    // Where a block ends beyond the result, or lies in it otherwise than in registers.
    static void multiply_aside(Block block, BlockFunction function, int64_t rows, int64_t columns,
                               int64_t out_column) {
        alignas(64) char aside[kMostRows * 2 * kBytes];
        char* to = block.out;
        const int64_t to_row = block.out_row;
        const bool adds = block.adds, subtracts = block.subtracts;
        block.out = aside;
        block.out_row = padded(columns) * kItem;
        block.adds = false;
        function(block);
        for (int64_t r = 0; r < rows; ++r, to += to_row) {
            const char* from = aside + r * block.out_row;
            for (int64_t j = 0; j < columns; ++j) {
                T sum = load_from<T>(from + j * kItem);
                if (adds) sum = load_from<T>(to + j * out_column) + (subtracts ? -sum : sum);
                store_to(to + j * out_column, sum);
            }
        }
    }

    static Block block_of(const PanelProduct& product, int64_t row, int64_t rows, int64_t column,
                          int64_t columns, int64_t width) {
        Block block{};
        block.steps = product.depth;
        if (product.left_in_panels) {
            block.left = product.left + row * product.depth * kItem;
            block.left_row = kItem;
            block.left_step = rows * kItem;
        } else {
            block.left = product.left + row * product.left_row;
            block.left_row = product.left_row;
            block.left_step = product.left_step;
        }
        if (product.right_in_panels || columns < width) {
            block.right =
                product.right_in_panels ? product.right + column * product.depth * kItem : product.last_right;
            block.right_step = width * kItem;
        } else {
            block.right = product.right + column * kItem;
            block.right_step = product.right_step;
        }
        block.out = product.out + row * product.out_row + column * product.out_column;
        block.out_row = product.out_row;
        block.adds = product.adds;
        block.subtracts = product.subtracts;
        return block;
    }

    // Its part of the left factor's next steps: of its own rows where these lie along k, else some steps of
    // all rows.
    static void ask_for_next(const PanelProduct& product, Block& block, int64_t row_panel, int64_t rows,
                             int64_t column_panel, int64_t column_panels) {
        if (product.next_step == kItem) {
            const int64_t lines = (product.next_depth * kItem / 64 + column_panels) / column_panels;
            if (column_panel * lines * 64 >= product.next_depth * kItem) return;
            block.next = product.next_left +
                         (product.starts[row_panel] - product.starts[0]) * product.next_row +
                         column_panel * lines * 64;
            block.next_row = product.next_row;
            block.next_line = 64;
            block.next_lines = lines;
        } else if (product.next_row == kItem) {
            const int64_t first = product.next_depth * column_panel / column_panels;
            const int64_t steps = product.next_depth * (column_panel + 1) / column_panels - first;
            const int64_t bytes = (product.starts[product.row_panels] - product.starts[0]) * kItem;
            if (row_panel * 64 >= bytes) return;
            block.next = product.next_left + first * product.next_step + row_panel * 64;
            block.next_line = product.next_step;
            block.next_lines = (steps + rows - 1) / rows;
            block.next_row = block.next_lines * product.next_step;
        }
    }

    static void multiply(const PanelProduct& product) {
        const int64_t column_panels = (product.columns + kColumns - 1) / kColumns;
        const int64_t outer = product.rows_first ? product.row_panels : column_panels;
        const int64_t inner = product.rows_first ? column_panels : product.row_panels;
        // Each block asks for its part of what comes next: of the next panel of columns, and of the next
        // steps of the left factor, where it lies.
        const int64_t whole_panel = kColumns * product.depth * kItem;
        const int64_t panel_part = product.rows_first || !product.right_in_panels || product.row_panels < 2
                                       ? 0
                                       : whole_panel / product.row_panels;
        for (int64_t a = 0; a < outer; ++a) {
            for (int64_t b = 0; b < inner; ++b) {
                const int64_t row_panel = product.rows_first ? a : b;
                const int64_t column_panel = product.rows_first ? b : a;
                const int64_t row = product.starts[row_panel] - product.starts[0];
                const int64_t rows = product.starts[row_panel + 1] - product.starts[row_panel];
                const int64_t column = column_panel * kColumns;
                const int64_t rest = product.columns - column;
                const int64_t columns = rest < kColumns ? rest : kColumns;
                const int64_t width = padded(columns);
                Block block = block_of(product, row, rows, column, columns, width);
                block.panel = product.right + column * product.depth * kItem + whole_panel + b * panel_part;
                block.panel_lines = (panel_part / 64 + rows - 1) / rows;
                if (product.next_left != nullptr)
                    ask_for_next(product, block, row_panel, rows, column_panel, column_panels);
                const bool adjacent = block.left_row == kItem;
                const BlockFunction function = kBlocks.of[rows - 1][width == kColumns][adjacent];
                if (columns == width && product.out_column == kItem) {
                    function(block);
                } else {
                    multiply_aside(block, function, rows, columns, product.out_column);
                }
            }
        }
    }

    // By squares that registers hold, and these by such as the near cache has room for.
    static void transpose(int64_t lines, int64_t length, const char* from, int64_t from_step, char* to,
                          int64_t to_step) {
        constexpr int64_t kSquare = 64, kAhead = 256 / kItem;
        const int64_t whole_lines = lines - lines % kCount, whole_length = length - length % kCount;
        for (int64_t i = 0; i < whole_lines; i += kSquare) {
            const int64_t end = i + kSquare < whole_lines ? i + kSquare : whole_lines;
            for (int64_t j = 0; j < whole_length; j += kCount) {
                for (int64_t line = i; line < end; line += kCount) {
                    const char* own[kCount];
                    for (int64_t k = 0; k < kCount; ++k) {
                        own[k] = from + (line + k) * from_step;
                        __builtin_prefetch(own[k] + (j + kAhead) * kItem);
                        __builtin_prefetch(to + (j + kCount + k) * to_step + line * kItem, 1);
                    }
                    Vector rows[kCount];
                    load_transposed(own, j, rows);
                    char* at = to + j * to_step + line * kItem;
#pragma clang loop unroll(full)
                    for (int64_t k = 0; k < kCount; ++k, at += to_step) store_to(at, rows[k]);
                }
            }
        }
        for (int64_t i = 0; i < lines; ++i) {
            for (int64_t j = i < whole_lines ? whole_length : 0; j < length; ++j)
                store_to(to + j * to_step + i * kItem, load_from<T>(from + i * from_step + j * kItem));
        }
    }

    static constexpr PanelKernels kTable{kMostRows, kColumns,   kItem,    kCount,
                                         pack_left, pack_right, multiply, transpose};
};

template <int kBytes, int kMostRows>
const PanelKernels* choose_panel_kernels(ScalarType type) {
    switch (type) {
        case ScalarType::kFloat32: return &Kernels<float, kBytes, kMostRows>::kTable;
        case ScalarType::kFloat64: return &Kernels<double, kBytes, kMostRows>::kTable;
        default: return nullptr;
    }
}

}  // namespace
}  // namespace weft
