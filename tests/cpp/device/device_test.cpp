#include "device/device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/config.h"
#include "device/cpu/available_memory.h"
#include "device/cpu/grid_cut.h"
#include "weft/errors.h"

namespace weft {
namespace {

// Sets one of the settings for one test.
template <class T>
class Setting {
public:
    Setting(std::atomic<T>& setting, T value) : setting_(setting), before_(setting) { setting_ = value; }
    ~Setting() { setting_ = before_; }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

private:
    std::atomic<T>& setting_;
    T before_;
};

DeviceBackend& device() { return cpu_device(); }

TEST(CpuMemory, BuffersAreAlignedAndDistinct) {
    std::mt19937_64 random(1);
    struct Filled {
        BufferPtr buffer;
        uint8_t pattern;
    };
    std::vector<Filled> live;
    const Setting<bool> guard(config().guard, false);
    const size_t before = device().bytes_in_use();
    for (int i = 0; i < 3000; ++i) {
        const size_t bytes = static_cast<size_t>(random() % 16 == 0 ? random() % 3000000 : random() % 20000);
        BufferPtr buffer = device().allocate(bytes);
        ASSERT_NE(buffer->data(), nullptr);
        ASSERT_EQ(buffer->size(), bytes);
        ASSERT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u);
        const auto pattern = static_cast<uint8_t>(random());
        std::memset(buffer->data(), pattern, bytes);
        if (live.size() < 60) {
            live.push_back({std::move(buffer), pattern});
            continue;
        }
        Filled& old = live[random() % live.size()];
        for (size_t k = 0; k < old.buffer->size(); ++k) {
            ASSERT_EQ(static_cast<uint8_t>(old.buffer->data()[k]), old.pattern);
        }
        old = {std::move(buffer), pattern};
    }
    live.clear();
    EXPECT_EQ(device().bytes_in_use(), before);
    device().empty_pool();
    EXPECT_EQ(device().bytes_pooled(), 0u);
}

TEST(CpuMemory, FreedMemoryIsUsedAgain) {
    const Setting<bool> guard(config().guard, false);
    for (size_t bytes : {80, 5000, 100000, 10000000}) {
        const char* first = device().allocate(bytes)->data();
        EXPECT_EQ(device().allocate(bytes)->data(), first) << bytes;
    }
}

TEST(CpuMemory, ThreadsShareThePool) {
    const Setting<bool> guard(config().guard, false);
    const size_t before = device().bytes_in_use();
    std::vector<std::thread> threads;
    std::vector<BufferPtr> kept(8);
    for (size_t t = 0; t < kept.size(); ++t) {
        threads.emplace_back([&, t] {
            std::mt19937_64 random(t);
            for (int i = 0; i < 2000; ++i) {
                BufferPtr buffer = device().allocate(random() % 100000);
                std::memset(buffer->data(), 1, buffer->size());
                if (i % 100 == 0) kept[t] = buffer;  // outlives its thread
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    kept.clear();
    EXPECT_EQ(device().bytes_in_use(), before);
}

TEST(CpuMemory, RefusesWhatCannotBeHad) {
    for (const bool guard : {false, true}) {
        const Setting<bool> setting(config().guard, guard);
        for (const size_t bytes : {size_t{1} << 45, size_t{1} << 60, SIZE_MAX, SIZE_MAX - 4096}) {
            try {
                device().allocate(bytes);
                FAIL() << "allocated " << bytes;
            } catch (const OutOfMemoryError& error) {
                EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos)
                    << error.what();
                EXPECT_NE(std::string(error.what()).find("holds"), std::string::npos) << error.what();
            }
        }
        EXPECT_NE(device().allocate(1000), nullptr);
    }
}

TEST(CpuMemory, CountsPromisesThatWereNotTouched) {
    const Setting<bool> guard(config().guard, false);
    // Half of what is left, three times: Linux would promise it.
    const size_t half = available_memory() / 2;
    std::vector<BufferPtr> held;
    EXPECT_THROW(
        {
            for (int i = 0; i < 3; ++i) held.push_back(device().allocate(half));
        },
        OutOfMemoryError);
    EXPECT_LT(held.size(), 3u);
    held.clear();
    device().empty_pool();
}

TEST(CpuMemory, LimitEmptiesThePoolThenRefuses) {
    const Setting<bool> guard(config().guard, false);
    device().empty_pool();
    const auto limit = static_cast<int64_t>(device().bytes_in_use() + (size_t{100} << 20));
    const Setting<int64_t> setting(config().memory_limit, limit);
    device().allocate(size_t{60} << 20);
    EXPECT_GT(device().bytes_pooled(), size_t{50} << 20);
    const BufferPtr held = device().allocate(size_t{80} << 20);  // fits once the pool is empty
    EXPECT_EQ(device().bytes_pooled(), 0u);
    EXPECT_THROW(device().allocate(size_t{40} << 20), OutOfMemoryError);
}

TEST(CpuMemory, WrapKeepsTheOwner) {
    auto owner = std::make_shared<std::vector<char>>(100);
    const std::weak_ptr<std::vector<char>> watched = owner;
    char* data = owner->data();
    BufferPtr buffer = device().wrap(data, 100, std::move(owner));
    EXPECT_EQ(buffer->data(), data);
    EXPECT_FALSE(watched.expired());
    buffer.reset();
    EXPECT_TRUE(watched.expired());
}

TEST(CpuMemoryDeathTest, GuardPagesCatchOverruns) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const Setting<bool> guard(config().guard, true);
    // Buffers in turn end and begin at a page that cannot be touched.
    const BufferPtr buffers[2] = {device().allocate(24), device().allocate(24)};
    int beyond = 0;
    for (const BufferPtr& buffer : buffers) {
        volatile char* data = buffer->data();
        const bool ends = (reinterpret_cast<uintptr_t>(buffer->data()) + 24) % 4096 == 0;
        EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 8, 0u);
        EXPECT_DEATH(data[ends ? 24 : -1] = 1, "");
        beyond += ends ? 1 : -1;
        data[0] = 1;
        data[23] = 1;
    }
    EXPECT_EQ(beyond, 0) << "one buffer of each kind";
}

// --- launches
// ------------------------------------------------------------------------------------------------

int64_t product(std::span<const int64_t> sizes) {
    int64_t result = 1;
    for (int64_t size : sizes) result *= size;
    return result;
}

TEST(GridCut, BoxesCoverTheGridOnce) {
    const std::vector<std::vector<int64_t>> grids = {
        {},          {0},         {1},          {63},          {1000},    {100000},       {1000003},
        {3, 100000}, {1000, 100}, {2, 3, 5, 7}, {1, 1, 20001}, {7, 0, 9}, {13, 1, 77, 65}};
    for (const auto& grid : grids) {
        for (const int threads : {1, 2, 3, 16}) {
            for (const auto& [cost, columns] : std::vector<std::pair<int64_t, int>>{
                     {1, -1}, {50, -1}, {100000, -1}, {1, 0}, {100000, 0}, {100000, 1}}) {
                if (columns >= static_cast<int>(grid.size())) continue;
                const GridCut cut(grid, cost, threads, {.tile = {}, .columns = columns, .piece = 700});
                EXPECT_LE(cut.tasks(), 8 * threads);
                std::vector<int> seen(static_cast<size_t>(product(grid)));
                for (int64_t task = 0; task < cut.tasks(); ++task) {
                    const GridBox box = cut.box(task);
                    std::vector<int64_t> point(box.lower.begin(),
                                               box.lower.begin() + static_cast<int>(grid.size()));
                    int64_t count = 1;
                    for (size_t d = 0; d < grid.size(); ++d) {
                        ASSERT_LT(box.lower[d], box.upper[d]);
                        count *= box.upper[d] - box.lower[d];
                    }
                    for (int64_t i = 0; i < count; ++i) {
                        int64_t flat = 0;
                        for (size_t d = 0; d < grid.size(); ++d) flat = flat * grid[d] + point[d];
                        ++seen[static_cast<size_t>(flat)];
                        for (size_t d = grid.size(); d-- > 0;) {
                            if (++point[d] < box.upper[d]) break;
                            point[d] = box.lower[d];
                        }
                    }
                }
                for (int times : seen) ASSERT_EQ(times, 1);
            }
        }
    }
}

TEST(GridCut, WorkBelowTheSerialCutoffIsOneTask) {
    EXPECT_EQ(GridCut(std::vector<int64_t>{1000}, 3, 8).tasks(), 1);
    EXPECT_EQ(GridCut(std::vector<int64_t>{10000000}, 3, 1).tasks(), 1);
    EXPECT_GE(GridCut(std::vector<int64_t>{10000000}, 3, 8).tasks(), 8);
    EXPECT_GE(GridCut(std::vector<int64_t>{3, 10000000}, 3, 8).tasks(), 8);
    EXPECT_EQ(GridCut(std::vector<int64_t>{5, 0}, 3, 8).tasks(), 0);
}

TEST(GridCut, InnerCutsFallBetweenCacheLines) {
    const GridCut cut(std::vector<int64_t>{1000003}, 10, 4);
    for (int64_t task = 0; task < cut.tasks(); ++task) EXPECT_EQ(cut.box(task).lower[0] % 64, 0);
}

TEST(GridCut, FewDearPointsAreCutToo) {
    const GridCut cut(std::vector<int64_t>{3, 5}, 1000000, 4);
    EXPECT_EQ(cut.tasks(), 15);
}

TEST(GridCut, ColumnsAreCutLastAndIntoLongPieces) {
    const auto tasks = [](std::vector<int64_t> grid, int threads, int columns) {
        return GridCut(grid, 100000, threads, {.tile = {}, .columns = columns, .piece = 768}).tasks();
    };
    EXPECT_EQ(tasks({4000}, 2, 0), 4);    // the same for each thread, and no shorter than the piece
    EXPECT_EQ(tasks({4000}, 16, 0), 16);  // unless threads would have none
    EXPECT_EQ(tasks({100000}, 2, 0), 8);
    EXPECT_EQ(tasks({16}, 2, 0), 2);
    const GridCut blocks(std::vector<int64_t>{16, 245}, 100000, 2, {.tile = {}, .columns = 0, .piece = 768});
    EXPECT_EQ(blocks.tasks(), 8);
    for (int64_t task = 0; task < blocks.tasks(); ++task) EXPECT_EQ(blocks.box(task).upper[0], 16);
}

TEST(GridCut, TilesCoverTheBoxOnce) {
    GridBox box;
    box.lower = {2, 5, 1};
    box.upper = {5, 140, 200};
    std::vector<int> seen(5 * 140 * 200);
    const std::vector<int64_t> tile = {0, 64, 50};
    for_each_tile(box, tile, [&](const GridBox& part) {
        EXPECT_EQ(part.upper[0] - part.lower[0], 3);
        for (int d = 1; d < 3; ++d) EXPECT_LE(part.upper[d] - part.lower[d], tile[d]);
        for (int64_t i = part.lower[0]; i < part.upper[0]; ++i) {
            for (int64_t j = part.lower[1]; j < part.upper[1]; ++j) {
                for (int64_t k = part.lower[2]; k < part.upper[2]; ++k) ++seen[(i * 140 + j) * 200 + k];
            }
        }
    });
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 3 * 135 * 199);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), 5 * 140 * 200 - 3 * 135 * 199);
    int calls = 0;
    for_each_tile(box, {}, [&](const GridBox& part) { calls += part.upper == box.upper ? 1 : 100; });
    EXPECT_EQ(calls, 1);
}

TEST(CpuDevice, LaunchPassesWordsAndBoxes) {
    CpuKernel kernel;
    kernel.name = "double";
    kernel.grid_dimensions = 1;
    kernel.function = [](const ArgumentWord* words, const int64_t* lower, const int64_t* upper) {
        auto* data = reinterpret_cast<int64_t*>(words[0]);
        for (int64_t i = lower[0]; i < upper[0]; ++i) data[i] += i * static_cast<int64_t>(words[1]);
    };
    std::vector<int64_t> data(1000000, 5);
    const ArgumentWord words[] = {reinterpret_cast<ArgumentWord>(data.data()), 2};
    const int64_t grid[] = {static_cast<int64_t>(data.size())};
    device().launch(kernel, words, grid, 1);
    device().synchronize();
    for (size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], 5 + 2 * static_cast<int64_t>(i));
}

}  // namespace
}  // namespace weft
