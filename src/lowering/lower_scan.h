// The body of a kernel that computes running results, in loops: rows that lie along memory, with the blocks
// of a row as vector lanes, or rows across it, with columns as vector lanes. The order in which elements are
// combined is that of library/loops/scan_order.h, both ways.
#pragma once

#include <functional>

#include "ir/builder.h"
#include "lowering/lower.h"

namespace weft {

class ScanLowering {
public:
    using Load = std::function<ir::ValueId(ir::ValueId k)>;
    using Store = std::function<void(ir::ValueId k, ir::ValueId value)>;
    using LoadAt = std::function<ir::ValueId(ir::ValueId k, ir::ValueId column)>;
    using StoreAt = std::function<void(ir::ValueId k, ir::ValueId column, ir::ValueId value)>;

    // `streamed`: results are to be written by non-temporal stores.
    ScanLowering(ir::Builder& builder, const ScanForm& form, bool streamed);

    // Elements 0 … count-1 of a row.
    void row(ir::ValueId count, const Load& element, const Store& store);
    // What comes after chunk [begin, end) of a row when nothing comes before it.
    ir::ValueId chunk_total(ir::ValueId begin, ir::ValueId end, const Load& element);
    // The results of a chunk, from what comes before it.
    void chunk(ir::ValueId begin, ir::ValueId end, ir::ValueId before, const Load& element,
               const Store& store);
    // What comes before each element, of few: what is before a chunk from what each chunk comes to.
    void before(ir::ValueId count, const Load& element, const Store& store);
    // `rows` elements of each of `columns` neighbouring rows across memory; at most max_columns().
    void across(ir::ValueId rows, ir::ValueId columns, const LoadAt& element, const StoreAt& store);

    static int64_t max_columns(ScalarType compute);

    // The same for GPUs. A row by one thread, its neighbours by the next ones; or by a team of threads, a
    // tile after another in shared memory.
    void row_of_thread(ir::ValueId count, const Load& element, const Store& store);
    void row_of_team(ir::ValueId count, const Load& element, const Store& store);
    ir::ValueId chunk_total_of_team(ir::ValueId begin, ir::ValueId end, const Load& element);
    void chunk_of_team(ir::ValueId begin, ir::ValueId end, ir::ValueId before, const Load& element,
                       const Store& store);

private:
    using Values = std::vector<ir::ValueId>;
    ir::ValueId scratch(int64_t length);
    ir::ValueId load(ir::ValueId array, ir::ValueId at);
    void store(ir::ValueId array, ir::ValueId at, ir::ValueId value);
    ir::ValueId combine(ir::ValueId left, ir::ValueId right);
    ir::ValueId identity();
    void each(ir::ValueId lower, ir::ValueId upper, const std::function<void(ir::ValueId)>& body);
    void steps(ir::ValueId lower, ir::ValueId upper, int64_t step,
               const std::function<void(ir::ValueId begin, ir::ValueId end)>& body);
    ir::ValueId steps_carrying(
        ir::ValueId lower, ir::ValueId upper, int64_t step, ir::ValueId initial,
        const std::function<ir::ValueId(ir::ValueId begin, ir::ValueId end, ir::ValueId carried)>& body);
    void row_in_order(ir::ValueId count, const Load& element, const Store& store);
    // What a team shares: elements, then running results of their blocks; what each block comes to, and what
    // comes before it; what a chunk comes to.
    struct Tile {
        ir::ValueId values, totals, befores, whole;
    };
    int64_t tile_elements() const;
    ir::ValueId shared(int64_t length, const char* name);
    Tile shared_tile();
    void by_team(const std::function<void(ir::ValueId thread)>& body);
    ir::ValueId tile_of_team(ir::ValueId thread, const Tile& tile, ir::ValueId begin, ir::ValueId end,
                             ir::ValueId before_chunk, ir::ValueId before, const Load& element,
                             const Store& store);
    ir::ValueId chunk_of_thread(ir::ValueId thread, const Tile& tile, ir::ValueId begin, ir::ValueId end,
                                ir::ValueId before, const Load& element, const Store& store);
    int64_t steps_of_tile() const;
    ir::ValueId blocks(ir::ValueId begin, ir::ValueId end, const Load& element, const Load& finish,
                       const Store& store);

    ir::Builder& b_;
    const ScanForm& form_;
    const bool streamed_;
};

}  // namespace weft
