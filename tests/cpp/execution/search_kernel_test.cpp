// Searches of rows in memory, against the same kernels interpreted.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "execution/kernels/search_kernel.h"
#include "lowering/lower.h"
#include "support/kernel_testing.h"

namespace weft {
namespace {

using Kind = ValueForm::Kind;
using enum StrideClass;

constexpr int64_t kChunk = 1024;

BufferForm buffer(ScalarType element, std::vector<StrideClass> strides, bool readonly) {
    BufferForm form;
    form.element = element;
    form.alias_scope = readonly ? 0 : 1;
    form.readonly = readonly;
    form.of_element = readonly;
    form.strides = std::move(strides);
    return form;
}

// Of two kept dimensions; in chunks: of one, and one that is reduced, too.
KernelForm search_form(const char* name, ScalarType type, StrideClass along_row, bool chunked) {
    const ReductionInfo& info = *find_reduction(name);
    KernelForm form;
    form.shape = KernelShape::kReduce;
    form.inputs.push_back({buffer(type, {kDynamic, kDynamic, along_row}, true)});
    form.reductions.push_back({&info, type, ScalarType::kInt64, {Kind::kInput, 0, 0}, 0});
    form.lanes = 32;
    form.block = 512;
    form.grid_rank = chunked ? 3 : 2;
    form.outer_rank = chunked ? 1 : 0;
    form.chunked = chunked;
    form.chunk = chunked ? kChunk : 0;
    const std::vector<StrideClass> strides(static_cast<size_t>(form.grid_rank), kDynamic);
    if (chunked) form.outputs.push_back({{}, buffer(type, strides, false)});
    form.outputs.push_back({{Kind::kReduction, 0, 0}, buffer(ScalarType::kInt64, strides, false)});
    return form;
}

// Rows of 3×2 with the words of a launch, and results that lie in C order.
struct Rows {
    Rows(const KernelForm& form, int64_t length, int64_t first, int64_t second)
        : length(length), grid{first, second}, itemsize(DType(form.inputs[0].buffer.element).itemsize()) {
        if (form.chunked) grid.push_back((length + kChunk - 1) / kChunk);
        for (const int64_t extent : grid) count *= extent;
        const StrideClass along = form.inputs[0].buffer.strides[2];
        stride = along == kItem ? itemsize : along == kMinusItem ? -itemsize : 3 * itemsize;
        elements.resize(static_cast<size_t>(first * second * length * std::abs(stride)));
        values.resize(static_cast<size_t>(count * itemsize));
        places.assign(static_cast<size_t>(count), -1);
    }

    char* row(int64_t i, int64_t j) {
        char* const begin = elements.data() + (i * grid[1] + j) * length * std::abs(stride);
        return stride < 0 ? begin - (length - 1) * stride : begin;
    }

    std::vector<ArgumentWord> words() {
        std::vector<ArgumentWord> all(grid.begin(), grid.end());
        const auto add = [&](auto word) { all.push_back((ArgumentWord)word); };
        const auto add_dense = [&](char* base, int64_t bytes) {
            add(base);
            int64_t step = bytes * count;
            for (const int64_t extent : grid) add(step /= extent);
        };
        add(length);
        add(row(0, 0));
        add(grid[1] * length * std::abs(stride));
        add(length * std::abs(stride));
        if (std::abs(stride) != itemsize) add(stride);
        if (grid.size() == 3) add_dense(values.data(), itemsize);
        add_dense(reinterpret_cast<char*>(places.data()), sizeof(int64_t));
        return all;
    }

    int64_t length;
    std::vector<int64_t> grid;
    int64_t itemsize, stride = 0, count = 1;
    std::vector<char> elements, values;
    std::vector<int64_t> places;
};

// Any elements, with NaN among them, or few different ones.
void fill_rows(Rows& rows, ScalarType type, bool any, std::mt19937_64& random) {
    testing_kernels::fill(rows.elements, type, random);
    if (any) return;
    std::vector<int64_t> numbers(rows.elements.size() / static_cast<size_t>(rows.itemsize));
    for (int64_t& number : numbers) number = static_cast<int64_t>(random() % 1000 < 998 ? 1 : random() % 3);
    char* const pair[2] = {reinterpret_cast<char*>(numbers.data()), rows.elements.data()};
    const int64_t strides[2] = {sizeof(int64_t), rows.itemsize};
    cast_loop(ScalarType::kInt64, type).loop(pair, strides, static_cast<int64_t>(numbers.size()));
}

void expect_same_places(const KernelForm& form, std::mt19937_64& random) {
    const ScalarType type = form.reductions[0].compute;
    const auto kernel = make_search_kernel(form);
    ASSERT_NE(kernel, nullptr);
    const ir::Module module = lower(form);
    std::string why;
    const auto blocks = codegen::make_block_kernel(module, module.functions[0], why);
    ASSERT_NE(blocks, nullptr) << why;
    for (const int64_t length : {1, 7, 100, 1024, 1025, 5000, 17000}) {
        for (const bool any : {false, true}) {
            Rows rows(form, length, 3, 2);
            fill_rows(rows, type, any, random);
            const std::array<int64_t, 3> lower{};
            blocks->run(rows.words().data(), lower.data(), rows.grid.data());
            const std::vector<int64_t> expected = rows.places;
            std::fill(rows.places.begin(), rows.places.end(), -1);
            std::fill(rows.values.begin(), rows.values.end(), 0);
            kernel->run(rows.words().data(), lower.data(), rows.grid.data());
            ASSERT_EQ(rows.places, expected) << length;
            if (!form.chunked) continue;
            for (int64_t k = 0; k < rows.count; ++k) {  // partial results: the elements, too
                const int64_t row = k / rows.grid[2], j = row % 2;
                const int64_t place = rows.places[static_cast<size_t>(k)] - j * length;
                ASSERT_EQ(std::memcmp(rows.values.data() + k * rows.itemsize,
                                      rows.row(row / 2, j) + place * rows.stride,
                                      static_cast<size_t>(rows.itemsize)),
                          0);
            }
        }
    }
}

TEST(SearchKernel, FindsWhatBlocksFind) {
    std::mt19937_64 random(1);
    for (const DTypeInfo& info : DType::all()) {
        for (const char* name : {"argmax", "argmin"}) {
            for (const bool chunked : {false, true}) {
                for (const StrideClass along : {kItem, kMinusItem, kDynamic}) {
                    SCOPED_TRACE(std::string(info.name) + " " + name);
                    expect_same_places(search_form(name, info.scalar_type, along, chunked), random);
                }
            }
        }
    }
}

TEST(SearchKernel, DoesNothingElse) {
    const KernelForm form = search_form("argmax", ScalarType::kFloat32, kItem, false);
    const auto refuses = [&](auto change) {
        KernelForm other = form;
        change(other);
        return make_search_kernel(other) == nullptr;
    };
    EXPECT_FALSE(refuses([](KernelForm&) {}));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.lanes = 1; }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.reductions[0].info = find_reduction("max"); }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.reductions[0].compute = ScalarType::kFloat64; }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.reductions.push_back(other.reductions[0]); }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.inputs[0].position = true; }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.inputs.push_back(other.inputs[0]); }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.steps.emplace_back(); }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.outputs[0].buffer.element = ScalarType::kInt32; }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.outputs[0].value = {Kind::kInput, 0, 0}; }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.outputs.push_back(other.outputs[0]); }));
    EXPECT_TRUE(refuses([](KernelForm& other) { other.collapsed = true; }));
}

// Says where it was, and how often.
class Marking final : public CpuKernel {
public:
    explicit Marking(Rows& rows) : rows_(rows) {}
    void run(const ArgumentWord*, const int64_t* lower, const int64_t* upper) const override {
        for (int64_t i = lower[0]; i < upper[0]; ++i) {
            for (int64_t j = lower[1]; j < upper[1]; ++j) {
                rows_.places[static_cast<size_t>(i * rows_.grid[1] + j)] += 1'000'000;
                ++points;
            }
        }
    }
    mutable int64_t points = 0;

private:
    Rows& rows_;
};

TEST(SearchKernel, HandsOverWhatIsLeft) {
    const KernelForm form = search_form("argmin", ScalarType::kInt64, kItem, false);
    int handed_over = 0;
    for (int attempt = 0; attempt < 1000 && handed_over < 12; ++attempt) {
        Rows rows(form, 3000, 20, 50);
        const auto kernel = make_search_kernel(form);
        const auto marking = std::make_shared<Marking>(rows);
        std::atomic<bool> done{false};
        std::thread other([&] {
            // Until some rows are done: each time another number of them.
            const volatile int64_t* const watched =
                &rows.places[static_cast<size_t>(rows.count * (attempt % 40) / 40)];
            while (!done.load() && *watched == -1) std::this_thread::yield();
            kernel->replace(marking);
        });
        const int64_t lower[] = {0, 3}, upper[] = {20, 50};
        kernel->run(rows.words().data(), lower, upper);
        done = true;
        other.join();
        handed_over += marking->points > 0 && marking->points < 20 * 47 ? 1 : 0;
        // Each is found (0) or marked (999,999, from -1); none is both, and the others are as they were.
        const auto all = [&](int64_t value) {
            return std::count(rows.places.begin(), rows.places.end(), value);
        };
        ASSERT_EQ(all(999'999), marking->points) << attempt;
        ASSERT_EQ(all(0), 20 * 47 - marking->points) << attempt;
        ASSERT_EQ(all(-1), 20 * 3) << attempt;
    }
    EXPECT_GT(handed_over, 0);
}

}  // namespace
}  // namespace weft
