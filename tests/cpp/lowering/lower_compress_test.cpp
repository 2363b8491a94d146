// Kernels that compress: by the oracle, which looks for races, compiled for CPUs and for GPUs, the same words
// and the same results, also where the tiles before one have published no more than what is theirs.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device/cuda/kernel_image.h"
#include "ir/oracle.h"
#include "ir/verifier.h"
#include "lowering/lower.h"
#include "lowering/lower_compress.h"
#include "support/gpu_kernel_testing.h"
#include "support/ptx_testing.h"

namespace weft {
namespace {

using namespace testing_ptx;
using Kind = ValueForm::Kind;

constexpr int64_t kFirstStatus = 16;  // the word of the first tile
constexpr uint64_t kOfTile = uint64_t{1} << 62, kOfAll = uint64_t{2} << 62;

BufferForm buffer(ScalarType element, uint16_t scope, std::vector<StrideClass> strides,
                  std::vector<StrideClass> computed) {
    BufferForm form;
    form.element = element;
    form.alias_scope = scope;
    form.readonly = scope == 0;
    form.strides = std::move(strides);
    form.computed = std::move(computed);
    return form;
}

// What a mask selects of an array, or of positions.
KernelForm compress_form(ScalarType type, bool positions) {
    const std::vector<StrideClass> along{StrideClass::kItem, StrideClass::kItem};
    KernelForm form;
    form.shape = KernelShape::kCompress;
    form.inputs.push_back({buffer(ScalarType::kBool, 0, along, {}), false});
    form.compress.emplace();
    form.compress->mask = {Kind::kInput, 0, 0};
    if (!positions) {
        form.inputs.push_back({buffer(type, 0, along, {}), false});
        form.compress->value = ValueForm{Kind::kInput, 1, 0};
    }
    form.scalars.assign(3, ScalarType::kInt64);
    form.outputs.push_back({{Kind::kInput, 0, 0}, buffer(type, 1, {}, along)});
    form.outputs.push_back({{Kind::kInput, 0, 0}, buffer(ScalarType::kUInt64, 2, {}, {StrideClass::kItem})});
    return form;
}

// Memory of one launch: words, then results.
struct Launch {
    int64_t elements, capacity, step, tiles;
    std::vector<char> mask, values, out;
    std::vector<uint64_t> words;
};

class LowerCompress : public GpuKernelTest {
protected:
    static constexpr int64_t kItem = 8;

    static std::vector<char> initial(const Launch& launch) {
        std::vector<char> memory(launch.words.size() * sizeof(uint64_t));
        std::memcpy(memory.data(), launch.words.data(), memory.size());
        memory.resize(memory.size() + static_cast<size_t>(launch.capacity * kItem), 0x55);
        return memory;
    }

    struct Kernel {
        KernelForm form;
        ir::Module module, for_gpu;
        GpuKernel gpu;
        explicit Kernel(const KernelForm& form)
            : form(form),
              module(lower(form)),
              for_gpu(lower(form, KernelTarget::kGpu)),
              gpu(for_gpu, for_gpu.functions[0].name) {
            ir::check(module.functions[0], &module);
            EXPECT_EQ(gpu.image().team_threads, 256);
        }
    };

    static void expect(const Kernel& kernel, Launch& launch, const std::vector<char>& expected) {
        const ir::Module& module = kernel.module;
        const KernelForm& form = kernel.form;
        const auto results = static_cast<int64_t>(launch.words.size() * sizeof(uint64_t));
        std::vector<char> out = initial(launch);

        const auto oracle_buffer = [](char* base, char* low, char* high, std::vector<int64_t> strides) {
            return ir::OracleBuffer{base, std::move(strides), low, high};
        };
        char *const mask = launch.mask.data(), *const values = launch.values.data(),
                    *const end = out.data() + out.size();
        std::vector<ir::OracleArgument> list;
        list.emplace_back(ir::Constant::of(ScalarType::kInt64, launch.tiles));
        list.emplace_back(oracle_buffer(mask, mask, mask + launch.mask.size(), {1, 1}));
        if (form.compress->value)
            list.emplace_back(oracle_buffer(values, values, values + launch.values.size(), {kItem, kItem}));
        for (const int64_t scalar : {launch.elements, launch.capacity, launch.step})
            list.emplace_back(ir::Constant::of(ScalarType::kInt64, scalar));
        list.emplace_back(oracle_buffer(out.data() + results, out.data() + results, end, {kItem, kItem}));
        list.emplace_back(oracle_buffer(out.data(), out.data(), out.data() + results, {kItem}));
        run_oracle(module, module.functions[0], list, {.detect_races = true});
        EXPECT_EQ(out, expected) << "the oracle";

        std::vector<Argument> arguments{{nullptr, launch.tiles}, {&launch.mask}};
        if (form.compress->value) arguments.push_back({&launch.values});
        for (const int64_t scalar : {launch.elements, launch.capacity, launch.step})
            arguments.push_back({nullptr, scalar});
        arguments.push_back({&out, results});
        arguments.push_back({&out});
        out = initial(launch);
        expect_same(module, kernel.gpu, arguments, {launch.tiles}, out, ScalarType::kUInt64);
        EXPECT_EQ(out, expected) << "for GPUs";
    }

    // Elements of which each third is selected, and a few more; the values are their positions.
    static Launch some(int64_t elements, int64_t capacity) {
        const int64_t tile = compress_tile(ScalarType::kInt64);
        Launch launch{elements, capacity, 1, (elements + tile - 1) / tile, {}, {}, {}, {}};
        for (int64_t k = 0; k < elements; ++k) {
            launch.mask.push_back(k % 3 == 0 || k % 100 == 7 ? 2 : 0);  // a byte that is true
            launch.values.resize(launch.values.size() + sizeof k);
            std::memcpy(launch.values.data() + k * kItem, &k, sizeof k);
        }
        launch.words.resize(static_cast<size_t>(compress_words(launch.tiles)));
        return launch;
    }

    // What the launch leaves, whose tiles begin with number `first` and after `before` selected ones.
    static std::vector<char> result_of(const Launch& launch, int64_t first, uint64_t before) {
        const int64_t tile = compress_tile(ScalarType::kInt64);
        std::vector<uint64_t> words = launch.words;
        std::vector<char> memory = initial(launch);
        const size_t results = words.size() * sizeof(uint64_t);
        for (int64_t k = 0; k < launch.tiles; ++k) {
            const int64_t begin = (first + k) * launch.step * tile;
            for (int64_t at = begin; at < std::min(begin + tile, launch.elements); ++at) {
                if (launch.mask[static_cast<size_t>(at)] == 0) continue;
                if (static_cast<int64_t>(before) < launch.capacity)
                    std::memcpy(memory.data() + results + before * sizeof at, &at, sizeof at);
                ++before;
            }
            words[static_cast<size_t>(kFirstStatus + first + k)] = kOfAll + before;
            if (first + k == launch.tiles - 1) words[kSelectedWord] = before;
        }
        words[0] += static_cast<uint64_t>(launch.tiles);
        std::memcpy(memory.data(), words.data(), results);
        return memory;
    }
};

TEST_F(LowerCompress, ValuesAndPositions) {
    for (const bool positions : {false, true}) {
        const Kernel kernel(compress_form(ScalarType::kInt64, positions));
        for (const int64_t elements : {1, 255, 4096, 4097, 9000}) {
            SCOPED_TRACE(elements);
            Launch launch = some(elements, elements);
            expect(kernel, launch, result_of(launch, 0, 0));
        }
    }
}

TEST_F(LowerCompress, WhatThereIsNoRoomForIsCounted) {
    const Kernel kernel(compress_form(ScalarType::kInt64, false));
    for (const int64_t capacity : {0, 1, 1000, 1500}) {
        SCOPED_TRACE(capacity);
        Launch launch = some(9000, capacity);
        expect(kernel, launch, result_of(launch, 0, 0));
    }
}

TEST_F(LowerCompress, ASampleOfTheTiles) {
    Launch launch = some(9 * compress_tile(ScalarType::kInt64) + 5, 0);
    launch.step = 3;
    launch.tiles = 3;
    expect(Kernel(compress_form(ScalarType::kInt64, false)), launch, result_of(launch, 0, 0));
}

// The tiles before have published what they have; one of them knows about all before it.
TEST_F(LowerCompress, TilesBeforeAreAdded) {
    const Kernel kernel(compress_form(ScalarType::kInt64, false));
    const int64_t tile = compress_tile(ScalarType::kInt64);
    struct Case {
        int64_t number, nearest;  // of the tile, and of that one; -1: none
    };
    for (const auto [number, nearest] : std::initializer_list<Case>{{1, 0},
                                                                    {5, 2},
                                                                    {255, -1},
                                                                    {256, -1},
                                                                    {256, 0},
                                                                    {257, 0},
                                                                    {300, 10},
                                                                    {600, 100},
                                                                    {600, 344},
                                                                    {600, 343}}) {
        SCOPED_TRACE(std::to_string(number) + " after " + std::to_string(nearest));
        Launch launch = some((number + 1) * tile, 0);
        launch.words[0] = static_cast<uint64_t>(number);
        launch.tiles = 1;
        uint64_t before = 0;
        for (int64_t k = 0; k < number; ++k) {
            const auto own = static_cast<uint64_t>(k % 4096);
            before = k == nearest ? uint64_t{1} << 40 : before + own;
            launch.words[static_cast<size_t>(kFirstStatus + k)] =
                k == nearest ? kOfAll + before : kOfTile + own;
        }
        expect(kernel, launch, result_of(launch, number, before));
    }
}

TEST_F(LowerCompress, IsAssembledWithoutSpilling) {
    const std::string ptxas = find_ptxas();
    if (ptxas.empty()) GTEST_SKIP() << "there is no ptxas";
    for (const ScalarType type : {ScalarType::kInt8, ScalarType::kFloat32, ScalarType::kFloat64,
                                  ScalarType::kComplex128, ScalarType::kInt64}) {
        const ir::Module module = lower(compress_form(type, type == ScalarType::kInt64), KernelTarget::kGpu);
        const CudaKernelImage image = codegen::compile_ptx(module, module.functions[0].name, {.sm = 90});
        EXPECT_EQ(image.ptx.find("atom.global.or"), std::string::npos);  // who waits only reads
        const Assembled assembled = assemble(ptxas, image);
        EXPECT_TRUE(assembled.accepted) << assembled.messages;
        EXPECT_EQ(assembled.spilled, 0) << assembled.messages;
        EXPECT_LE(assembled.registers, 64) << assembled.messages;
    }
}

}  // namespace
}  // namespace weft
