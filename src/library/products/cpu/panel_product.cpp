#include "library/products/cpu/panel_product.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core/processor.h"
#include "core/threads/thread_pool.h"
#include "device/device.h"
#include "library/products/cpu/gram_product.h"
#include "library/products/cpu/narrow_product.h"
#include "library/products/cpu/packed/panel_factors.h"
#include "library/products/cpu/product_tasks.h"
#include "library/products/cpu/tile_product.h"

namespace weft {

using namespace cpu_product;

namespace {

constexpr int64_t kLeastRowPanels = 4;  // of a task, as it brings the panels of columns near
constexpr int64_t kMostColumns = 4096;  // packed at a time for all
// Packed at a time for all. Each time all threads wait for each other, so many of them share more.
constexpr int64_t kSharedBytes = 2 << 20, kSharedBytesOfThread = 256 << 10;
constexpr int64_t kSharedBytesOfTiles = 8 << 20;  // where all of k is packed, and not more than the result
constexpr int64_t kTileBytes = 512 << 10;         // of a tile that is worked on further
constexpr int64_t kWorthWaking = 1 << 19;         // multiplications that other threads should help with
constexpr int64_t kTaskWork = 1 << 18;            // of a task of small products

// Of the right factor: panels, or rows where they lie, when these are near each other and read a few times
// only.
class RightReader {
public:
    RightReader(const PanelKernels& kernels, const MatrixProduct& product, int64_t depth)
        : kernels_(kernels), product_(product) {
        constexpr int64_t kFewPanels = 40, kFewPages = 64, kNearBytes = 1 << 20;
        in_place_ = product.right_column == kernels.itemsize && product.m <= kFewPanels * kernels.rows &&
                    product.k * product.n * kernels.itemsize <= kNearBytes &&
                    std::abs(product.right_step) * depth <= kFewPages * kPage;
    }

    bool in_place() const { return in_place_; }

    // Of so many columns in panels.
    int64_t width(int64_t columns) const {
        const int64_t rest = columns % kernels_.columns;
        return columns - rest + (rest == 0 ? 0 : rest <= kernels_.lanes ? kernels_.lanes : kernels_.columns);
    }
    // Of a copy of so many columns, over so many steps.
    int64_t bytes(int64_t columns, int64_t depth) const {
        return (in_place_ ? kernels_.columns : width(columns)) * depth * kernels_.itemsize;
    }

    // What `give` will read.
    void copy(int64_t first, int64_t columns, int64_t begin, int64_t depth, char* to) const {
        const int64_t ragged = columns % kernels_.lanes == 0 ? 0 : columns % kernels_.columns;
        if (in_place_ && ragged == 0) return;
        const int64_t from = in_place_ ? first + columns - ragged : first;
        kernels_.pack_right({source(from, begin), product_.right_column, product_.right_step, depth},
                            first + columns - from, to);
    }

    void give(PanelProduct& part, int64_t first, int64_t begin, const char* copy) const {
        part.right_in_panels = !in_place_;
        part.right = in_place_ ? source(first, begin) : copy;
        part.right_step = product_.right_step;
        part.last_right = copy;
    }

private:
    const char* source(int64_t column, int64_t step) const {
        return product_.right + column * product_.right_column + step * product_.right_step;
    }

    const PanelKernels& kernels_;
    const MatrixProduct& product_;
    bool in_place_;
};

PanelProduct panel_product(const MatrixProduct& product, int64_t depth, const int64_t* starts, int64_t panels,
                           int64_t first_column, int64_t columns) {
    PanelProduct part{};
    part.depth = depth;
    part.starts = starts;
    part.row_panels = panels;
    part.columns = columns;
    part.out = product.out + starts[0] * product.out_row + first_column * product.out_column;
    part.out_row = product.out_row;
    part.out_column = product.out_column;
    return part;
}

// One product on the calling thread.
void multiply_alone(const PanelKernels& kernels, const MatrixProduct& product, const int64_t* starts,
                    int64_t row_panels) {
    const int64_t chunk = kColumnPanels * kernels.columns;
    const Steps steps(product.k);
    const LeftReader left(kernels, product, steps.most());
    const RightReader right(kernels, product, steps.most());
    const int64_t right_bytes = right.bytes(std::min(chunk, product.n), steps.most());
    const int64_t left_bytes = left.bytes(std::min(product.m, kMostRowPanels * kernels.rows));
    const TileScratch scratch(static_cast<size_t>(right_bytes + left_bytes));
    char* const right_copy = scratch.data;
    char* const left_copy = right_copy + right_bytes;
    for (int64_t first = 0; first < product.n; first += chunk) {
        const int64_t columns = std::min(chunk, product.n - first);
        for (int64_t block = 0; block < steps.blocks(); ++block) {
            const int64_t begin = steps.begin(block), depth = steps.depth(block);
            right.copy(first, columns, begin, depth, right_copy);
            for (int64_t panel = 0; panel < row_panels; panel += kMostRowPanels) {
                const int64_t panels = std::min(kMostRowPanels, row_panels - panel);
                const int64_t* const own = starts + panel;
                PanelProduct part = panel_product(product, depth, own, panels, first, columns);
                part.adds = block > 0;
                left.copy(own, panels, begin, depth, left_copy);
                left.give(part, own[0], begin, left_copy, own[0]);
                right.give(part, first, begin, right_copy);
                kernels.multiply(part);
            }
        }
    }
}

// Memory of the threads that share in a product, each its own from task to task, so that it stays in the
// thread's cache.
class ScratchOfThreads {
public:
    char* take(int64_t bytes) {
        std::lock_guard lock(mutex_);
        BufferPtr& own = buffers_[std::this_thread::get_id()];
        if (own == nullptr || static_cast<int64_t>(own->size()) < bytes) {
            own = nullptr;
            own = cpu_device().allocate(static_cast<size_t>(bytes));
        }
        return own->data();
    }

private:
    std::mutex mutex_;
    std::map<std::thread::id, BufferPtr> buffers_;
};

// One product on all threads. One factor is copied by all of them, for all of them: the right one, or the
// left one of few rows. Of the other each task copies what it multiplies.
class Together {
public:
    Together(const PanelKernels& kernels, const MatrixProduct& product, const TileWork* tile_work)
        : kernels_(kernels),
          product_(product),
          tile_work_(tile_work),
          steps_(product.k),
          left_(kernels, product, steps_.most()),
          right_(kernels, product, steps_.most()),
          threads_(num_threads()) {
        row_panels_ = ceil_divide(product.m, kernels.rows);
        if (row_panels_ >= kLeastRowPanels * threads_)
            row_panels_ = std::min(product.m, ceil_divide(row_panels_, threads_) * threads_);
        starts_ = panel_starts(product.m, row_panels_);
        shares_left_ =
            row_panels_ < 2 * kLeastRowPanels * threads_ && product.m < product.n / 2 &&
            (tile_work == nullptr || left_.bytes(product.m) * steps_.blocks() <= most_shared_bytes());
    }

    // The number of tasks.
    int64_t run() {
        const int64_t item = kernels_.itemsize;
        const int64_t extent = shares_left_ ? product_.m : std::min(product_.n, kMostColumns);
        const int64_t shared_bytes = most_shared_bytes();
        int64_t columns = shares_left_ ? product_.n : extent;
        int64_t blocks =
            std::clamp<int64_t>(shared_bytes / (extent * steps_.most() * item), 1, steps_.blocks());
        if (tile_work_ != nullptr) {  // which follows the last of the steps
            blocks = steps_.blocks();
            if (!shares_left_) {
                const int64_t fits = shared_bytes / (product_.k * item) / kernels_.columns * kernels_.columns;
                columns = std::clamp<int64_t>(fits, std::min(kernels_.columns, product_.n), columns);
            }
        }
        int64_t tasks = 0;
        for (first_column_ = 0; first_column_ < product_.n; first_column_ += columns) {
            columns_ = std::min(columns, product_.n - first_column_);
            for (first_block_ = 0; first_block_ < steps_.blocks(); first_block_ += blocks) {
                end_block_ = std::min(steps_.blocks(), first_block_ + blocks);
                tasks += run_phase();
            }
        }
        return tasks;
    }

private:
    static constexpr int64_t kPanelsOfUnit = 2;
    static constexpr int kSpins = 2000;

    int64_t most_shared_bytes() const {
        const int64_t bytes = std::max(kSharedBytes, threads_ * kSharedBytesOfThread);
        if (tile_work_ == nullptr) return bytes;
        return std::max(bytes, std::min(kSharedBytesOfTiles, product_.m * product_.n * kernels_.itemsize));
    }

    int64_t column_panels() const { return ceil_divide(columns_, kernels_.columns); }

    int64_t run_phase() {
        choose_tiles();
        block_bytes_ = shares_left_        ? left_.bytes(product_.m)
                       : right_.in_place() ? 0
                                           : right_.bytes(columns_, steps_.most());
        units_a_block_ = ceil_divide(shares_left_ ? row_panels_ : column_panels(), kPanelsOfUnit);
        units_ = block_bytes_ == 0 ? 0 : (end_block_ - first_block_) * units_a_block_;
        const int64_t bytes = block_bytes_ * (end_block_ - first_block_);
        if (shared_ == nullptr || static_cast<int64_t>(shared_->size()) < bytes) {
            shared_ = nullptr;
            shared_ = cpu_device().allocate(static_cast<size_t>(bytes));
        }
        next_unit_.store(0, std::memory_order_relaxed);
        copied_units_.store(0, std::memory_order_relaxed);
        parallel_for(row_tiles_ * column_tiles_, [this](int64_t task) {
            copy_shared();
            multiply(task / column_tiles_, task % column_tiles_);
        });
        return row_tiles_ * column_tiles_;
    }

    void choose_tiles() {
        const int64_t wanted = 4 * threads_;
        const int64_t least = ceil_divide(row_panels_, kMostRowPanels);
        const int64_t most = std::max(least, row_panels_ / kLeastRowPanels);
        row_tiles_ = shares_left_ ? 1 : std::clamp(wanted, least, most);
        if (row_tiles_ > threads_)
            row_tiles_ = std::min(row_panels_, ceil_divide(row_tiles_, threads_) * threads_);
        column_tiles_ = 1;
        if (row_tiles_ < 2 * threads_) {
            const int64_t most_columns = std::max<int64_t>(1, column_panels() / 2);
            column_tiles_ = std::min(most_columns, ceil_divide(wanted, row_tiles_));
        }
        if (shares_left_)
            column_tiles_ = std::max(column_tiles_, ceil_divide(column_panels(), kColumnPanels));
        if (tile_work_ != nullptr) {
            const int64_t bytes = ceil_divide(product_.m, row_tiles_) * columns_ * kernels_.itemsize;
            column_tiles_ = std::clamp(ceil_divide(bytes, kTileBytes), column_tiles_, column_panels());
        }
    }

    char* shared_block(int64_t block) const {
        return shared_->data() + (block - first_block_) * block_bytes_;
    }

    // Its share of it, and waits for the others'.
    void copy_shared() {
        while (next_unit_.load(std::memory_order_relaxed) < units_) {
            const int64_t unit = next_unit_.fetch_add(1, std::memory_order_relaxed);
            if (unit >= units_) break;
            const int64_t block = first_block_ + unit / units_a_block_;
            const int64_t panel = unit % units_a_block_ * kPanelsOfUnit;
            const int64_t begin = steps_.begin(block), depth = steps_.depth(block);
            if (shares_left_) {
                const int64_t* const starts = starts_.data() + panel;
                left_.copy(starts, std::min(kPanelsOfUnit, row_panels_ - panel), begin, depth,
                           const_cast<char*>(left_in(block, *starts)));
            } else {
                const int64_t column = panel * kernels_.columns;
                right_.copy(first_column_ + column,
                            std::min(kPanelsOfUnit * kernels_.columns, columns_ - column), begin, depth,
                            shared_block(block) + column * depth * kernels_.itemsize);
            }
            copied_units_.fetch_add(1, std::memory_order_release);
        }
        for (int spins = 0; copied_units_.load(std::memory_order_acquire) < units_; ++spins) {
            if (spins > kSpins) sched_yield();
        }
    }

    const char* left_in(int64_t block, int64_t row) const {
        PanelProduct part{};
        part.depth = steps_.depth(block);
        left_.give(part, row, 0, shared_block(block), 0);
        return part.left;
    }

    void multiply(int64_t row_tile, int64_t column_tile) {
        const int64_t item = kernels_.itemsize;
        const int64_t panel = row_panels_ * row_tile / row_tiles_;
        const int64_t panels = row_panels_ * (row_tile + 1) / row_tiles_ - panel;
        const int64_t* const starts = starts_.data() + panel;
        const int64_t rows = starts[panels] - starts[0];
        const int64_t column = column_panels() * column_tile / column_tiles_ * kernels_.columns;
        const int64_t end = column_panels() * (column_tile + 1) / column_tiles_ * kernels_.columns;
        const int64_t columns = std::min(columns_, end) - column;
        const bool own_right = shares_left_ || right_.in_place();
        const int64_t most_rows = ceil_divide(rows, panels) * std::min(kMostRowPanels, panels);
        const int64_t left_bytes = shares_left_ ? 0 : left_.bytes(most_rows);
        const int64_t right_bytes = own_right ? right_.bytes(columns, steps_.most()) : 0;
        const int64_t tile_row =
            whole_lines(columns * item) + kLine;  // so that rows are not all in the same sets
        const int64_t tile_bytes = tile_work_ == nullptr ? 0 : rows * tile_row;
        char* const left_copy = scratch_.take(left_bytes + right_bytes + tile_bytes);
        char* const right_copy = left_copy + left_bytes;
        char* const tile = right_copy + right_bytes;
        MatrixProduct product = product_;
        if (tile_work_ != nullptr) {
            product.out_row = tile_row;
            product.out_column = item;
            product.out = tile - starts[0] * product.out_row - (first_column_ + column) * item;
        }
        for (int64_t block = first_block_; block < end_block_; ++block) {
            const int64_t begin = steps_.begin(block), depth = steps_.depth(block);
            if (own_right) right_.copy(first_column_ + column, columns, begin, depth, right_copy);
            for (int64_t first = 0; first < panels; first += kMostRowPanels) {
                const int64_t* const own = starts + first;
                const int64_t own_panels = std::min(kMostRowPanels, panels - first);
                PanelProduct part =
                    panel_product(product, depth, own, own_panels, first_column_ + column, columns);
                part.adds = block > 0;
                if (!shares_left_) left_.copy(own, own_panels, begin, depth, left_copy);
                left_.give(part, *own, begin, shares_left_ ? shared_block(block) : left_copy,
                           shares_left_ ? 0 : *own);
                right_.give(part, first_column_ + column, begin,
                            own_right ? right_copy : shared_block(block) + column * depth * item);
                if (!shares_left_ && block + 1 < end_block_)
                    left_.announce(part, *own, steps_.begin(block + 1), steps_.depth(block + 1));
                kernels_.multiply(part);
            }
        }
        if (tile_work_ != nullptr)
            (*tile_work_)({tile, product.out_row, starts[0], first_column_ + column, rows, columns});
    }

    const PanelKernels& kernels_;
    const MatrixProduct& product_;
    const TileWork* tile_work_;
    const Steps steps_;
    const LeftReader left_;
    const RightReader right_;
    const int64_t threads_;
    int64_t row_panels_ = 0;
    std::vector<int64_t> starts_;
    bool shares_left_ = false;
    // Of a phase: some columns, and some blocks of k.
    int64_t first_column_ = 0, columns_ = 0, first_block_ = 0, end_block_ = 0;
    int64_t row_tiles_ = 1, column_tiles_ = 1;
    BufferPtr shared_;
    ScratchOfThreads scratch_;
    int64_t block_bytes_ = 0, units_ = 0, units_a_block_ = 0;
    alignas(64) std::atomic<int64_t> next_unit_{0};
    alignas(64) std::atomic<int64_t> copied_units_{0};
};

// Few results of many products each: k is cut into parts, which are added in pairs. By shape alone.
int64_t part_steps(int64_t batch, int64_t m, int64_t n, int64_t k) {
    constexpr int64_t kMostElements = 1 << 16;
    constexpr int64_t kShortestPart = 1024, kPartWork = 1 << 22, kPartReads = 1 << 17, kMostParts = 16;
    if (batch * m * n > kMostElements) return k;
    const int64_t worth = std::min(kPartWork / (m * n), kPartReads / (m + n));
    const int64_t steps = std::max({kShortestPart, worth, ceil_divide(k, kMostParts)});
    return k >= 2 * steps ? steps : k;
}

MatrixProduct at_offsets(const MatrixProduct& product, const Offsets& offsets) {
    MatrixProduct moved = product;
    moved.left += offsets.left;
    moved.right += offsets.right;
    moved.out += offsets.out;
    return moved;
}

// Many rows times a tiny matrix, some rows a task.
int64_t multiply_rows(const NarrowKernels& kernels, const MatrixProduct& product, const Axes& batch) {
    const int64_t count = extent_of(batch);
    const int64_t rows = std::max<int64_t>(64, kTaskWork / (product.n * product.k));
    const int64_t pieces = ceil_divide(product.m, rows);
    const auto task = [&](int64_t number) {
        MatrixProduct one = at_offsets(product, batch_offsets(batch, number / pieces));
        const int64_t begin = number % pieces * rows;
        one.left += begin * one.left_row;
        one.out += begin * one.out_row;
        one.m = std::min(rows, product.m - begin);
        kernels.multiply_rows(one);
    };
    if (pieces * count == 1) {
        task(0);
    } else {
        parallel_for(pieces * count, task);
    }
    return pieces * count;
}

}  // namespace

const PanelKernels* panel_kernels(ScalarType type) {
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return panel_kernels_avx512(type);
        case ProcessorLevel::kX86V3: return panel_kernels_avx2(type);
        case ProcessorLevel::kX86V2: break;
    }
    return nullptr;
}

int64_t multiply_by_panels(const PanelKernels& kernels, ScalarType type, const MatrixProduct& product,
                           const Axes& batch, const TileWork* tile_work) {
    const int64_t count = extent_of(batch), item = kernels.itemsize;
    const double work =
        static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
    if (const NarrowKernels* const narrow = narrow_kernels(type);
        tile_work == nullptr && narrow != nullptr && fits_rows(*narrow, product))
        return multiply_rows(*narrow, product, batch);
    const int64_t part =
        tile_work != nullptr ? product.k : part_steps(count, product.m, product.n, product.k);
    const int64_t parts = ceil_divide(product.k, part);
    if (tile_work != nullptr || (parts == 1 && work >= kWorthWaking && count < 4 * num_threads())) {
        int64_t tasks = 0;
        for (int64_t index = 0; index < count; ++index) {
            const MatrixProduct one = at_offsets(product, batch_offsets(batch, index));
            const auto together = [&](const MatrixProduct& some) {
                return Together(kernels, some, tile_work).run();
            };
            tasks += tile_work == nullptr && is_gram(one, item)
                         ? multiply_gram(one, item, kernels.columns, together)
                         : together(one);
        }
        return tasks;
    }
    const NarrowKernels* const narrow = narrow_kernels(type);
    const bool by_columns = narrow != nullptr && fits_columns(*narrow, product);
    const int64_t row_panels = ceil_divide(product.m, kernels.rows);
    const std::vector<int64_t> starts = panel_starts(product.m, row_panels);
    BufferPtr buffer;
    const int64_t part_bytes = product.m * product.n * item;
    if (parts > 1) buffer = cpu_device().allocate(static_cast<size_t>(part_bytes * parts * count));
    const int64_t at_once =
        parts > 1 ? 1 : std::clamp<int64_t>(static_cast<int64_t>(kTaskWork / work), 1, count);
    const int64_t tasks = ceil_divide(count, at_once) * parts;
    const auto task = [&](int64_t number) {
        const int64_t group = number / parts, which = number % parts;
        for (int64_t index = group * at_once; index < std::min(count, (group + 1) * at_once); ++index) {
            MatrixProduct one = at_offsets(product, batch_offsets(batch, index));
            if (parts > 1) {
                one.left += which * part * one.left_step;
                one.right += which * part * one.right_step;
                one.k = std::min(part, product.k - which * part);
                one.out = buffer->data() + (index * parts + which) * part_bytes;
                one.out_row = product.n * item;
                one.out_column = item;
            }
            if (by_columns) {
                narrow->multiply_columns(one, Steps(one.k).most());
            } else {
                multiply_alone(kernels, one, starts.data(), row_panels);
            }
        }
    };
    if (tasks == 1 || work * static_cast<double>(count) < kWorthWaking) {
        for (int64_t number = 0; number < tasks; ++number) task(number);
    } else {
        parallel_for(tasks, task);
    }
    if (parts > 1) {
        for (int64_t index = 0; index < count; ++index) {
            add_parts(type, at_offsets(product, batch_offsets(batch, index)),
                      buffer->data() + index * parts * part_bytes, parts);
        }
    }
    return tasks;
}

}  // namespace weft
