#include "library/products/cpu/product_tasks.h"

#include <algorithm>
#include <cstring>

#include "core/threads/thread_pool.h"
#include "device/device.h"

namespace weft::cpu_product {

namespace {

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t even_tile(int64_t extent, int64_t tile) {
    if (tile >= extent) return extent;
    constexpr int64_t kMultiple = 16;  // of the rows of OpenBLAS's inner kernels
    const int64_t even = ceil_divide(extent, ceil_divide(extent, tile));
    return std::min(extent, ceil_divide(even, kMultiple) * kMultiple);
}

}  // namespace

Tiling choose_tiling(Routine routine, int64_t batch, int64_t m, int64_t n, int64_t k) {
    constexpr int64_t kTile = 512, kShortTile = 128;
    constexpr int64_t kTaskWork = 1 << 20;   // multiplications that are worth a task
    constexpr int64_t kLargeTask = 1 << 22;  // beyond, a task is halved while there are few
    constexpr int64_t kFewTasks = 8;
    int64_t rows = std::min(m, kTile), columns = std::min(n, kTile);
    if (routine == Routine::kGemv || routine == Routine::kDot) {
        constexpr int64_t kMemoryWork = 1 << 17;  // as many elements are read
        rows = std::clamp<int64_t>(kMemoryWork / k, 1, m);
    } else {
        while (rows * columns * k < kTaskWork && (rows < m || columns < n)) {
            if (rows < m) rows = std::min(m, rows * 2);
            if (rows * columns * k < kTaskWork && columns < n) columns = std::min(n, columns * 2);
        }
        while (batch * ceil_divide(m, rows) * ceil_divide(n, columns) < kFewTasks &&
               rows * columns * k > kLargeTask && std::max(rows, columns) > kShortTile) {
            int64_t& longer = rows >= columns ? rows : columns;
            longer = ceil_divide(longer, 2);
        }
    }
    rows = even_tile(m, rows);
    columns = even_tile(n, columns);
    Tiling tiling{rows, columns, k, ceil_divide(m, rows), ceil_divide(n, columns), 1, 1};
    const int64_t tasks = batch * tiling.row_tiles * tiling.column_tiles;
    // Few results of many products each: k is cut, and the parts are added in pairs.
    constexpr int64_t kShortestPart = 4096, kPartWork = 1 << 21, kMostPartElements = 1 << 22;
    constexpr int64_t kDotPart = 1 << 15;
    const int64_t steps = m * n == 1 ? kDotPart : std::max(kShortestPart, kPartWork / (m * n));
    if (routine != Routine::kPlain && tasks < kFewTasks && k >= 2 * steps &&
        ceil_divide(k, steps) * m * n * batch <= kMostPartElements) {
        tiling.parts = ceil_divide(k, steps);
        tiling.steps = steps;
    }
    const int64_t work = rows * columns * tiling.steps;
    if (tiling.row_tiles * tiling.column_tiles * tiling.parts == 1)
        tiling.batches =
            std::clamp<int64_t>(kTaskWork / std::max<int64_t>(work, 1) / 8, 1, std::max<int64_t>(batch, 1));
    return tiling;
}

int64_t task_count(const Tiling& tiling, int64_t batch) {
    return ceil_divide(batch, tiling.batches) * tiling.row_tiles * tiling.column_tiles * tiling.parts;
}

void Runner::multiply(const MatrixProduct& product) const {
    switch (routine) {
        case Routine::kPlain: multiply_plainly(type, product); break;
        case Routine::kTile: tile(product); break;
        case Routine::kGemm: call_gemm(*library, type, itemsize, product); break;
        case Routine::kGemv: call_gemv(*library, type, itemsize, product); break;
        case Routine::kDot: call_dot(*library, type, itemsize, product); break;
    }
}

void Runner::run(const MatrixProduct& whole, const Axes& batch, const Tiling& tiling,
                 const TileWork* tile_work) const {
    const int64_t count = extent_of(batch), tiles = tiling.row_tiles * tiling.column_tiles * tiling.parts;
    const int64_t groups = ceil_divide(count, tiling.batches);
    BufferPtr parts;
    const int64_t part_bytes = whole.m * whole.n * itemsize;
    if (tiling.parts > 1)
        parts = cpu_device().allocate(static_cast<size_t>(part_bytes * tiling.parts * count));
    constexpr double kWorthWaking = 1 << 17;
    const bool alone = static_cast<double>(whole.m) * static_cast<double>(whole.n) *
                           static_cast<double>(whole.k) * static_cast<double>(count) <
                       kWorthWaking;
    const auto task = [&](int64_t number) {
        const int64_t group = number / tiles, tile = number % tiles;
        const int64_t part = tile % tiling.parts, place = tile / tiling.parts;
        const int64_t row = place / tiling.column_tiles * tiling.rows;
        const int64_t column = place % tiling.column_tiles * tiling.columns, step = part * tiling.steps;
        for (int64_t index = group * tiling.batches; index < std::min(count, (group + 1) * tiling.batches);
             ++index) {
            const Offsets offsets = batch_offsets(batch, index);
            MatrixProduct product = whole;
            product.m = std::min(tiling.rows, whole.m - row);
            product.n = std::min(tiling.columns, whole.n - column);
            product.k = std::min(tiling.steps, whole.k - step);
            product.left += offsets.left + row * whole.left_row + step * whole.left_step;
            product.right += offsets.right + column * whole.right_column + step * whole.right_step;
            BufferPtr own;
            if (tile_work != nullptr) {
                own = cpu_device().allocate(static_cast<size_t>(product.m * product.n * itemsize));
                product.out = own->data();
                product.out_row = product.n * itemsize;
            } else if (parts != nullptr) {
                product.out = parts->data() + (index * tiling.parts + part) * part_bytes +
                              (row * whole.n + column) * itemsize;
                product.out_row = whole.n * itemsize;
                product.out_column = itemsize;
            } else {
                product.out += offsets.out + row * whole.out_row + column * whole.out_column;
            }
            multiply(product);
            if (tile_work != nullptr)
                (*tile_work)({product.out, product.out_row, row, column, product.m, product.n});
        }
    };
    if (alone) {
        for (int64_t number = 0; number < groups * tiles; ++number) task(number);
    } else {
        parallel_for(groups * tiles, task);
    }
    if (parts == nullptr) return;
    for (int64_t index = 0; index < count; ++index) {
        MatrixProduct product = whole;
        product.out += batch_offsets(batch, index).out;
        add_parts(type, product, parts->data() + index * tiling.parts * part_bytes, tiling.parts);
    }
}

void add_parts(ScalarType type, const MatrixProduct& product, char* parts, int64_t count) {
    const int64_t itemsize = DType(type).itemsize(), bytes = product.m * product.n * itemsize;
    for (int64_t step = 1; step < count; step *= 2) {
        for (int64_t part = 0; part + step < count; part += 2 * step)
            add_rows(type, parts + part * bytes, parts + (part + step) * bytes, product.m * product.n);
    }
    for (int64_t i = 0; i < product.m; ++i) {
        for (int64_t j = 0; j < product.n; ++j) {
            std::memcpy(product.out + i * product.out_row + j * product.out_column,
                        parts + (i * product.n + j) * itemsize, static_cast<size_t>(itemsize));
        }
    }
}

}  // namespace weft::cpu_product
