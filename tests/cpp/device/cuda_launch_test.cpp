// How GPU kernels are launched: what an image takes for granted, and how its grid becomes blocks of threads.
#include <gtest/gtest.h>

#include <vector>

#include "device/cuda/kernel_image.h"
#include "device/cuda/launch_shape.h"
#include "device/kernel.h"

namespace weft {
namespace {

using Words = std::vector<ArgumentWord>;
using Grid = std::vector<int64_t>;

CudaLaunchShape shape_of(const CudaKernelImage& image, const Grid& grid, const Words& words = {}) {
    return launch_shape(image, words, grid);
}

TEST(CudaLaunch, ThreadsTakeRunsOfTheLastDimension) {
    CudaKernelImage image;
    image.points_per_thread = 4;
    EXPECT_EQ(shape_of(image, {256}).blocks, 1U);
    EXPECT_EQ(shape_of(image, {257}).blocks, 2U);
    EXPECT_EQ(shape_of(image, {128, 5}).blocks, 4U);  // two threads a row
    EXPECT_EQ(shape_of(image, {128, 5}).threads_x, 64U);
    EXPECT_EQ(shape_of(image, {1 << 20}).blocks, 1024U);
    EXPECT_EQ(shape_of(image, {1 << 20}).threads_x, 256U) << "many threads";
    EXPECT_EQ(shape_of(image, {0}).blocks, 0U);
    EXPECT_EQ(shape_of(image, {0, 5}).blocks, 0U);
    EXPECT_EQ(shape_of(image, {}).blocks, 1U);
}

TEST(CudaLaunch, ThreadsTakeRunsOfAnotherDimension) {
    CudaKernelImage image;
    image.points_per_thread = 4;
    image.run_dimension = 0;
    EXPECT_EQ(shape_of(image, {5, 128}).blocks, 4U);  // two threads a column
    EXPECT_EQ(shape_of(image, {0, 128}).blocks, 0U);
    EXPECT_EQ(shape_of(image, {5, 0}).blocks, 0U);
}

TEST(CudaLaunch, RunsThatBeginBeforeTheirRowMayBeOneMore) {
    CudaKernelImage image;
    image.points_per_thread = 16;
    image.shifted_runs = true;
    EXPECT_EQ(shape_of(image, {512, 63}).blocks, 40U);  // rows of 4 runs, and one more
    EXPECT_EQ(shape_of(image, {512, 63}).threads_x, 64U);
    EXPECT_EQ(shape_of(image, {512, 64}).blocks, 512U * 5 / 64);
    EXPECT_EQ(shape_of(image, {512, 0}).blocks, 0U);
}

TEST(CudaLaunch, BlocksAreTiles) {
    CudaKernelImage image;
    image.points_per_thread = 2;
    image.run_dimension = 1;
    image.tile_dimension = 0;
    image.rows_per_thread = 2;
    const auto large = shape_of(image, {1998, 1998});
    EXPECT_EQ(large.threads_x, 64U);
    EXPECT_EQ(large.threads_y, 4U);
    EXPECT_EQ(large.blocks, 16U * 250U);
    const auto narrow = shape_of(image, {1 << 20, 20});
    EXPECT_EQ(narrow.threads_x, 16U);
    EXPECT_EQ(narrow.threads_y, 16U);
    EXPECT_EQ(narrow.blocks, 1U << 15);
    const auto low = shape_of(image, {2, 1 << 20});
    EXPECT_EQ(low.threads_x, 256U);
    EXPECT_EQ(low.threads_y, 1U);
    EXPECT_EQ(low.blocks, 2048U);
    EXPECT_EQ(shape_of(image, {1, 1}).blocks, 1U);
    EXPECT_EQ(shape_of(image, {0, 1}).blocks, 0U);
    // Tiles of few threads are spread over more processors; rows are those of all other dimensions.
    image.run_dimension = 2;
    image.tile_dimension = 1;
    EXPECT_EQ(shape_of(image, {100, 3, 30}).threads_x, 16U);
    EXPECT_EQ(shape_of(image, {100, 3, 30}).threads_y, 4U);
    EXPECT_EQ(shape_of(image, {100, 3, 30}).blocks, 50U);
}

TEST(CudaLaunch, ThreadsMayTakePointsThatAreApart) {
    CudaKernelImage image;
    image.points_per_thread = 4;
    image.run_distance = 32;
    image.tile_dimension = 0;
    image.rows_per_thread = 2;
    EXPECT_EQ(shape_of(image, {8, 20}).threads_x, 32U);  // a point each
    EXPECT_EQ(shape_of(image, {8, 128}).threads_x, 32U);
    EXPECT_EQ(shape_of(image, {8, 129}).threads_x, 64U);  // 32 threads of four points and one of one
    EXPECT_EQ(shape_of(image, {8, 129}).blocks, 4U);
    const auto large = shape_of(image, {1998, 1998});  // 15 times 32, and 32 of the last 78 points
    EXPECT_EQ(large.threads_x, 64U);
    EXPECT_EQ(large.threads_y, 4U);
    EXPECT_EQ(large.blocks, 8U * 250U);
}

TEST(CudaLaunch, TeamsKeepShortRowsInSharedMemory) {
    CudaKernelImage image;
    image.teams = true;
    image.row_word = 0;
    image.row_cache_bytes = 4;
    image.elements_per_warp = 512;
    const auto one = shape_of(image, {1000}, {8001});
    EXPECT_EQ(one.threads_x, 256U);
    EXPECT_EQ(one.shared_bytes, 32016U);
    const auto several = shape_of(image, {1000}, {1000});
    EXPECT_EQ(several.threads_y, 8U);
    EXPECT_EQ(several.shared_bytes, 8U * 4000U);
    image.row_cache_bytes = 16;
    EXPECT_EQ(shape_of(image, {1000}, {1000}).threads_y, 2U) << "as many as there is memory for";
    EXPECT_EQ(shape_of(image, {1000}, {8001}).shared_bytes, 0U) << "a row that is too long";
    EXPECT_EQ(shape_of(image, {1000}, {0}).shared_bytes, 0U);
}

TEST(CudaLaunch, LongerRowsGetLargerTeams) {
    CudaKernelImage image;
    image.teams = true;
    image.row_word = 0;
    const auto short_rows = shape_of(image, {1000}, {100});
    EXPECT_EQ(short_rows.threads_x, 32U);
    EXPECT_EQ(short_rows.threads_y, 8U);
    EXPECT_EQ(short_rows.blocks, 125U);
    const auto long_rows = shape_of(image, {500}, {1 << 20});
    EXPECT_EQ(long_rows.threads_x, 256U);
    EXPECT_EQ(long_rows.threads_y, 1U);
    EXPECT_EQ(long_rows.blocks, 500U);
    EXPECT_EQ(shape_of(image, {2000}, {1 << 20}).threads_x, 64U) << "many rows";
    EXPECT_EQ(shape_of(image, {8000}, {1 << 20}).threads_x, 32U);
    EXPECT_EQ(shape_of(image, {3}, {100}).threads_y, 3U);
}

TEST(CudaLaunch, BlocksBelongToOnePointOfASecondKernel) {
    CudaKernelImage image;
    image.teams = true;
    image.row_elements = 1;
    image.shared_dimensions = 1;
    const auto long_rows = shape_of(image, {3, 20});
    EXPECT_EQ(long_rows.threads_y, 8U);
    EXPECT_EQ(long_rows.blocks, 3U * 3U);
    EXPECT_EQ(shape_of(image, {100, 2}).threads_y, 2U);
    EXPECT_EQ(shape_of(image, {100, 2}).blocks, 100U);
    EXPECT_EQ(shape_of(image, {0, 2}).blocks, 0U);
}

TEST(CudaLaunch, BlocksBelongToSomeColumnsOfASecondKernel) {
    CudaKernelImage image;
    image.points_per_thread = 4;
    image.run_dimension = 0;
    image.shared_dimensions = 1;
    const auto large = shape_of(image, {8000, 32});
    EXPECT_EQ(large.threads_x, 16U);
    EXPECT_EQ(large.threads_y, 16U);
    EXPECT_EQ(large.blocks, 125U * 2U);
    const auto narrow = shape_of(image, {10, 40});
    EXPECT_EQ(narrow.threads_x, 4U);
    EXPECT_EQ(narrow.blocks, 3U);
    const auto few_rows = shape_of(image, {8000, 3});
    EXPECT_EQ(few_rows.threads_y, 4U);
    EXPECT_EQ(few_rows.blocks, (2000U + few_rows.threads_x - 1) / few_rows.threads_x);
    image.run_dimension = 1;
    image.shared_dimensions = 2;
    EXPECT_EQ(shape_of(image, {5, 8000, 32}).blocks % 5, 0U);
    image.points_per_thread = 1;
    EXPECT_EQ(shape_of(image, {5, 8000, 32}).threads_x, 32U);
}

TEST(CudaLaunch, TeamsMayHaveAFixedSize) {
    CudaKernelImage image;
    image.teams = true;
    image.team_threads = 100;
    const auto shape = shape_of(image, {7, 3});
    EXPECT_EQ(shape.threads_x, 100U);
    EXPECT_EQ(shape.threads_y, 1U);
    EXPECT_EQ(shape.blocks, 21U);
}

TEST(CudaLaunch, AnImageFitsWhatItWasCompiledFor) {
    CudaKernelImage image;
    image.buffers = {{.base_word = 0, .alignment = 8, .stride_words = {1}}};
    EXPECT_TRUE(fits(image, Words{4096, 16}, Grid{1 << 20}));
    EXPECT_FALSE(fits(image, Words{4097, 16}, Grid{1 << 20})) << "misaligned";
    EXPECT_FALSE(fits(image, Words{4096, 12}, Grid{1 << 20})) << "misaligned stride";
    EXPECT_TRUE(fits(image, Words{4096, static_cast<ArgumentWord>(-16)}, Grid{1 << 20}));
    const ArgumentWord far = uint64_t{1} << 31;
    EXPECT_FALSE(fits(image, Words{4096, far}, Grid{1 << 20})) << "a stride beyond 32 bits";
    EXPECT_FALSE(fits(image, Words{4096, 16}, Grid{int64_t{1} << 31})) << "a size beyond 32 bits";
    EXPECT_FALSE(fits(image, Words{4096, 16}, Grid{1 << 16, 1 << 16})) << "points beyond 32 bits";
    image.wide = true;
    EXPECT_TRUE(fits(image, Words{4096, far}, Grid{1 << 16, 1 << 16}));
    EXPECT_FALSE(fits(image, Words{4100, far}, Grid{1 << 16, 1 << 16}));
}

}  // namespace
}  // namespace weft
