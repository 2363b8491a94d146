// A kernel for NVIDIA GPUs before it is loaded: the contract between who makes it (codegen/ptx) and who
// launches it (device/cuda/launch_shape.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

// What a kernel for GPUs assumes of a buffer: its base and its dynamic strides are multiples of `alignment`.
struct CudaBufferFacts {
    int base_word = 0;
    int alignment = 1;
    std::vector<int> stride_words;
};

// A kernel for NVIDIA GPUs: PTX with one entry, and what a launch must know about it. The entry has one
// parameter, an array of `words` ArgumentWords by value; it finds the grid's sizes among them.
struct CudaKernelImage {
    std::string name;    // for people
    std::string symbol;  // of the entry
    std::string ptx;
    int sm = 0;  // the least compute capability that runs it: 80, 90
    int words = 0;
    int grid_dimensions = 0;
    // Either each thread computes up to so many points, neighbours in a dimension of the grid (-1: the last)
    // …
    int points_per_thread = 1;
    int run_dimension = -1;
    // Runs may begin where what is written is aligned: then a row may have one more than its points fill.
    bool shifted_runs = false;
    // Blocks are tiles, of runs (blockDim.x) and of rows (blockDim.y), powers of two; a thread takes so many
    // neighbouring rows of this dimension. -1: blocks have one row.
    int tile_dimension = -1;
    int rows_per_thread = 1;
    // How far apart a thread's points are: so many threads take the points between two of them. 1:
    // neighbours.
    int run_distance = 1;
    // … or a team of threads computes a point: `team_threads` times the values of `team_words` of them, or,
    // if that is 0, 32 times a power of two up to kMostTeamThreads, the launch's choice by how many elements
    // a point walks. Teams are rows of a block (blockDim.x), of which a block may have several.
    bool teams = false;
    int team_threads = 0;
    std::vector<int> team_words = {};
    int row_word = -1;                 // the word that says how many elements; -1: `row_elements` at most
    int64_t row_elements = 0;          // 0: unknown
    int64_t elements_per_warp = 4096;  // from which on another warp joins the team
    // Bytes of shared memory that a team wants for each element of its row, to read it once; see
    // row_cache_bytes.
    int64_t row_cache_bytes = 0;
    // Of a kernel that another one follows in the same launch: so many leading dimensions of its grid are the
    // grid of the second, a point of which needs the points of the first that share these indices, no others.
    // Blocks have a point of the second kernel, or (threads that compute points) some that are neighbours in
    // `run_dimension`, and the last one of these goes on with them. Blocks count themselves in tickets
    // (DeviceBackend::tickets), whose address is the last word; each launch leaves zeros. 0: none follows.
    int shared_dimensions = 0;
    // What it takes for granted of what it is launched with; see fits.
    bool wide = false;  // 64-bit indices
    std::vector<CudaBufferFacts> buffers;
    bool has_lines = false;  // the PTX names lines of the program, for profilers
    double compile_seconds = 0;
};
constexpr int kMostTeamThreads = 256;
constexpr int64_t kMostTickets = 1 << 16;  // of 4 bytes: points of the second kernel
constexpr int64_t kMostRowCacheBytes =
    40 << 10;                               // of a block: with what kernels allocate themselves, below 48 KiB
constexpr int64_t kRowCacheAlignment = 16;  // of each team's

}  // namespace weft
