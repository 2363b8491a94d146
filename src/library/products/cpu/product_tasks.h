// How a product is cut into tasks, and these run.
#pragma once

#include <cstdint>

#include "library/products/cpu/one_product.h"
#include "library/products/cpu/product_axes.h"
#include "library/products/cpu/tile_product.h"

namespace weft::cpu_product {

// How the work is cut. By shapes alone, never by the number of threads.
struct Tiling {
    int64_t rows, columns, steps;  // of a tile, of m, n and k
    int64_t row_tiles, column_tiles, parts;
    int64_t batches;  // matrix products of one task
};
Tiling choose_tiling(Routine routine, int64_t batch, int64_t m, int64_t n, int64_t k);
int64_t task_count(const Tiling& tiling, int64_t batch);

struct Runner {
    ScalarType type;
    int64_t itemsize;
    Routine routine;
    const Blas* library;
    TileFunction tile = tile_function(type);

    // Runs the product for every index of the batch.
    void run(const MatrixProduct& whole, const Axes& batch, const Tiling& tiling,
             const TileWork* tile_work) const;

private:
    void multiply(const MatrixProduct& product) const;
};

// Adds up `count` results of m times n dense elements in pairs, and stores them as the product's. `parts` is
// written over.
void add_parts(ScalarType type, const MatrixProduct& product, char* parts, int64_t count);

}  // namespace weft::cpu_product
