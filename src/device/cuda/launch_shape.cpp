#include "device/cuda/launch_shape.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "weft/errors.h"

namespace weft {

namespace {

constexpr int64_t kMostNarrow = std::numeric_limits<int32_t>::max();
constexpr int64_t kThreads = 256;       // of a block, unless the kernel says how many
constexpr int64_t kMostThreads = 1024;  // of a block
constexpr int64_t kLeastThreads = 64;
constexpr int64_t kManyWarps = 4096;       // that keep every processor busy with rows
constexpr int64_t kManyThreads = 1 << 16;  // that keep every processor busy with blocks of kThreads
constexpr int64_t kTileThreads = 64;       // of a row of a tile, at most

// The product of the sizes, or more than any grid has.
int64_t points_of(std::span<const int64_t> grid) {
    int64_t points = 1;
    for (const int64_t size : grid) {
        if (size <= 0) return 0;
        if (points > std::numeric_limits<int64_t>::max() / size) return std::numeric_limits<int64_t>::max();
        points *= size;
    }
    return points;
}

int64_t quotient_up(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
int64_t product(int64_t a, int64_t b) {
    return b != 0 && a > std::numeric_limits<int64_t>::max() / b ? std::numeric_limits<int64_t>::max()
                                                                 : a * b;
}

// What threads are counted by: points, or runs of neighbours.
struct Units {
    int64_t runs = 1;  // of a row
    int64_t rows = 1;  // of all other dimensions, or groups of rows

    int64_t all() const { return product(rows, runs); }
};
Units units_of(const CudaKernelImage& image, std::span<const int64_t> grid) {
    Units units;
    if (grid.empty()) return units;
    if (points_of(grid) == 0) return {0, 0};
    const size_t along = image.run_dimension < 0 ? grid.size() - 1 : static_cast<size_t>(image.run_dimension);
    const int64_t distance = image.run_distance, span = distance * image.points_per_thread;
    units.runs = grid[along] / span * distance + std::min(grid[along] % span, distance);
    if (distance == 1) units.runs = quotient_up(grid[along], span) + (image.shifted_runs ? 1 : 0);
    for (size_t d = 0; d < grid.size(); ++d) {
        if (d == along) continue;
        const bool grouped = static_cast<int>(d) == image.tile_dimension;
        units.rows = product(units.rows, grouped ? quotient_up(grid[d], image.rows_per_thread) : grid[d]);
    }
    return units;
}

// Threads of a tile: as many as a block has, rows as long as there are runs to fill them.
void shape_tiles(CudaLaunchShape& shape, const Units& units, int64_t threads) {
    const auto least = [](int64_t count, int64_t most) {
        return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min(count, most))));
    };
    const int64_t height = least(units.rows, threads / least(units.runs, kTileThreads));
    const int64_t width = least(units.runs, threads / height);
    shape.threads_x = static_cast<uint32_t>(width);
    shape.threads_y = static_cast<uint32_t>(height);
}

// Of points that a second kernel's points share: they have blocks of their own.
struct Shared {
    int64_t points = 1;  // of the second kernel
    int64_t units = 1;   // of the first for each
};
// Threads of a row of a tile, at least: whole lines of memory.
constexpr int64_t kRunsOfTile = 16, kPointsOfTile = 32;

Shared shared_of(const CudaKernelImage& image, std::span<const int64_t> grid) {
    const auto leading = static_cast<size_t>(image.shared_dimensions);
    return {points_of(grid.first(leading)), points_of(grid.subspan(leading))};
}

// Tiles of columns and rows, before a second kernel: few columns, so that few blocks share them and the last
// of these has little to combine, but enough of a row to read memory by its lines. The number of blocks.
int64_t shape_columns(CudaLaunchShape& shape, const Units& units, const Shared& shared, int64_t runs,
                      int64_t threads) {
    const auto least = [](int64_t count) {
        return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)));
    };
    const int64_t height = std::min(least(shared.units), threads / std::min(runs, least(units.runs)));
    shape.threads_x = static_cast<uint32_t>(threads / height);
    shape.threads_y = static_cast<uint32_t>(height);
    const int64_t tiles = quotient_up(units.runs, shape.threads_x);
    return product(product(tiles, units.rows / shared.units), quotient_up(shared.units, height));
}

// Of a team whose row has so many elements: all of what it wants, or nothing.
int64_t row_cache_bytes(const CudaKernelImage& image, int64_t row) {
    if (image.row_cache_bytes == 0 || row <= 0 || row > kMostRowCacheBytes / image.row_cache_bytes) return 0;
    return (row * image.row_cache_bytes + kRowCacheAlignment - 1) / kRowCacheAlignment * kRowCacheAlignment;
}

}  // namespace

bool fits(const CudaKernelImage& image, std::span<const ArgumentWord> words, std::span<const int64_t> grid) {
    const auto is_narrow = [](int64_t value) { return value >= -kMostNarrow && value <= kMostNarrow; };
    if (!image.wide) {
        for (const int64_t size : grid) {
            if (!is_narrow(size)) return false;
        }
        // The last block's threads have numbers past the end, and runs end past their row's.
        const Units units = units_of(image, grid);
        if (units.all() > kMostNarrow - kThreads) return false;
        if (product(units.runs + image.run_distance, image.points_per_thread) > kMostNarrow) return false;
        if (product(units.rows, image.rows_per_thread) > kMostNarrow) return false;
    }
    for (const CudaBufferFacts& buffer : image.buffers) {
        const auto misaligned = [&](ArgumentWord word) {
            return word % static_cast<ArgumentWord>(buffer.alignment) != 0;
        };
        if (misaligned(words[static_cast<size_t>(buffer.base_word)])) return false;
        for (const int stride_word : buffer.stride_words) {
            const ArgumentWord stride = words[static_cast<size_t>(stride_word)];
            if (misaligned(stride) || (!image.wide && !is_narrow(static_cast<int64_t>(stride)))) return false;
        }
    }
    return true;
}

CudaLaunchShape shape_of_blocks(const std::array<int64_t, 3>& grid, const std::array<int64_t, 3>& block,
                                int64_t shared_bytes, bool together) {
    const auto narrow = [](int64_t size) { return static_cast<uint32_t>(size); };
    CudaLaunchShape shape;
    shape.blocks = narrow(grid[0]);
    shape.blocks_y = narrow(grid[1]);
    shape.blocks_z = narrow(grid[2]);
    shape.threads_x = narrow(block[0]);
    shape.threads_y = narrow(block[1]);
    shape.threads_z = narrow(block[2]);
    shape.shared_bytes = narrow(shared_bytes);
    shape.together = together;
    return shape;
}

CudaLaunchShape launch_shape(const CudaKernelImage& image, std::span<const ArgumentWord> words,
                             std::span<const int64_t> grid) {
    CudaLaunchShape shape;
    const Units counts = units_of(image, grid);
    const int64_t units = counts.all();
    int64_t units_per_block = kThreads;
    bool tiled = false;
    if (image.teams) {
        int64_t team = image.team_threads;
        for (const int word : image.team_words) {
            const auto factor = static_cast<int64_t>(words[static_cast<size_t>(word)]);
            team *= std::clamp<int64_t>(factor, 0, kMostThreads + 1);
        }
        if (team > kMostThreads)
            throw ValueError(image.name + ": a block of more than " + std::to_string(kMostThreads) +
                             " threads");
        if (image.team_threads > 0 && team == 0) return shape;
        if (team == 0) {
            const int64_t row = image.row_word < 0
                                    ? image.row_elements
                                    : static_cast<int64_t>(words[static_cast<size_t>(image.row_word)]);
            const int64_t kept = row_cache_bytes(image, row);
            const auto most = static_cast<uint64_t>(
                std::clamp<int64_t>(row / image.elements_per_warp, 1, kMostTeamThreads / 32));
            auto warps = static_cast<int64_t>(std::bit_floor(most));
            // Warps cost, so many rows have one each; but what is kept is kept by all of a team's.
            while (kept == 0 && warps > 1 && units > kManyWarps / warps) warps /= 2;
            team = 32 * warps;
            const int64_t together = image.shared_dimensions > 0 ? shared_of(image, grid).units : units;
            int64_t teams = std::min(kThreads / team, std::max<int64_t>(together, 1));
            if (kept > 0) teams = std::min(teams, kMostRowCacheBytes / kept);
            shape.threads_y = static_cast<uint32_t>(teams);
            shape.shared_bytes = static_cast<uint32_t>(teams * kept);
        }
        shape.threads_x = static_cast<uint32_t>(team);
        units_per_block = shape.threads_y;
    } else {
        // Few units are spread over more processors.
        int64_t threads = kThreads;
        const int64_t many = image.shared_dimensions > 0 ? kManyThreads / 2 : kManyThreads;
        while (threads > kLeastThreads && units < many / (kThreads / threads)) threads /= 2;
        shape.threads_x = static_cast<uint32_t>(threads);
        units_per_block = threads;
        tiled = image.tile_dimension >= 0 && units > 0;
        if (tiled) shape_tiles(shape, counts, threads);
    }
    int64_t blocks = quotient_up(units, units_per_block);
    if (tiled) {
        blocks =
            product(quotient_up(counts.runs, shape.threads_x), quotient_up(counts.rows, shape.threads_y));
    }
    if (image.shared_dimensions > 0 && units > 0) {
        const Shared shared = shared_of(image, grid);
        if (image.teams) {
            blocks = product(shared.points, quotient_up(shared.units, units_per_block));
        } else {
            const int64_t runs = image.points_per_thread == 1 ? kPointsOfTile : kRunsOfTile;
            blocks = shape_columns(shape, counts, shared, runs, units_per_block);
        }
    }
    if (blocks > kMostNarrow)
        throw NotImplementedError("a grid of " + std::to_string(units) + " threads on a GPU");
    shape.blocks = static_cast<uint32_t>(blocks);
    return shape;
}

}  // namespace weft
