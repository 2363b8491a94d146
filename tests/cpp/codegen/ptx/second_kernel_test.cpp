// Two kernels in one launch: partial results of a reduction, which the last block that has some of a point,
// or of some columns, combines. The bits are those of two launches on the CPU, and the tickets are zero
// again.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "library/loops/reduction_order.h"
#include "lowering/lower.h"
#include "support/gpu_kernel_testing.h"
#include "support/ptx_testing.h"

namespace weft {
namespace {

using namespace testing_ptx;
using Kind = ValueForm::Kind;
using enum StrideClass;

struct Reduced {
    const char* name;
    ScalarType element, compute, result;
};

struct Shape {
    bool columns;  // across rows, else along them
    std::vector<int64_t> kept;
    int64_t length, chunk;
    int64_t offset = 0;  // bytes from what is aligned

    int64_t chunks() const { return (length + chunk - 1) / chunk; }
    int64_t points() const {
        return std::accumulate(kept.begin(), kept.end(), int64_t{1}, std::multiplies());
    }
};

class PtxSecondKernel : public GpuKernelTest {
protected:
    static BufferForm buffer(ScalarType element, uint16_t scope, bool readonly, size_t dynamic,
                             size_t items) {
        BufferForm form;
        form.element = element;
        form.alias_scope = scope;
        form.readonly = readonly;
        form.strides.assign(dynamic, kDynamic);
        form.strides.insert(form.strides.end(), items, kItem);
        return form;
    }

    static KernelForm form_of(const std::vector<Reduced>& reductions, const Shape& shape) {
        const size_t kept = shape.kept.size();
        KernelForm first, second;
        first.shape = KernelShape::kReduce;
        first.grid_rank = static_cast<int>(kept) + 1;
        first.chunked = true;
        first.chunk = shape.chunk;
        first.lanes = shape.columns ? 1 : static_cast<int>(kReduceLanes);
        first.block = shape.columns ? 0 : kReduceBlock;
        first.shift_elements = shape.columns ? kShiftElementsAcrossRows : kShiftElements;
        second.shape = KernelShape::kCombine;
        second.grid_rank = static_cast<int>(kept);
        second.outer_rank = 1;
        for (size_t k = 0; k < reductions.size(); ++k) {
            const Reduced& reduced = reductions[k];
            if (k == 0) {
                BufferForm input = buffer(reduced.element, 0, true, kept, 1);
                if (shape.columns) std::swap(input.strides[kept - 1], input.strides[kept]);
                input.of_element = true;
                first.inputs.push_back({input, false});
            }
            ReductionForm reduction{
                find_reduction(reduced.name), reduced.compute, reduced.result, {Kind::kInput, 0, 0}, 0};
            first.reductions.push_back(reduction);
            reduction.element = {};
            second.reductions.push_back(reduction);
            for (const ScalarType type : reduction.components()) {
                const auto scope = static_cast<uint16_t>(first.outputs.size() + 1);
                first.outputs.push_back({{}, buffer(type, scope, false, kept, 1)});
                second.inputs.push_back({buffer(type, 0, true, kept, 1), false});
            }
            second.outputs.push_back(
                {{Kind::kReduction, static_cast<uint16_t>(k), 0},
                 buffer(reduced.result, static_cast<uint16_t>(k + 1), false, kept - 1, 1)});
        }
        first.then = std::make_shared<const KernelForm>(second);
        return first;
    }

    static std::vector<int64_t> strides_of(const std::vector<int64_t>& shape, int64_t itemsize) {
        std::vector<int64_t> strides(shape.size());
        for (size_t d = shape.size(); d-- > 0;) {
            strides[d] = itemsize;
            itemsize *= shape[d];
        }
        strides.pop_back();
        return strides;
    }

    // One kernel, over arrays of these shapes.
    static void check(const std::vector<Reduced>& reductions, const std::vector<Shape>& shapes) {
        const KernelForm form = form_of(reductions, shapes[0]);
        const ir::Module cpu = lower(form), gpu = lower(form, KernelTarget::kGpu);
        const GpuKernel kernel(gpu, gpu.functions[0].name, {.second = gpu.functions[1].name});
        EXPECT_EQ(kernel.image().teams, !shapes[0].columns);
        EXPECT_EQ(kernel.image().shared_dimensions, static_cast<int>(shapes[0].kept.size()));
        for (const Shape& shape : shapes) {
            SCOPED_TRACE(std::to_string(shape.points()) + " points of " + std::to_string(shape.length));
            check(reductions, shape, form, cpu, kernel);
        }
    }
    static void check(const std::vector<Reduced>& reductions, const Shape& shape, const KernelForm& form,
                      const ir::Module& cpu, const GpuKernel& kernel) {
        Memory memory(7);
        const ScalarType element = reductions[0].element;
        std::vector<char>& in = memory.add(element, shape.points() * shape.length + 4);
        std::vector<int64_t> whole = shape.kept;
        whole.insert(shape.columns ? whole.end() - 1 : whole.end(), shape.length);
        std::vector<int64_t> in_strides = strides_of(whole, DType(element).itemsize());
        std::vector<int64_t> grid = shape.kept;
        grid.push_back(shape.chunks());

        std::vector<Argument> first, second;
        for (const int64_t size : grid) first.push_back({nullptr, size});
        first.push_back({nullptr, shape.length});
        first.push_back({&in, shape.offset, in_strides});
        for (const int64_t size : grid) second.push_back({nullptr, size});
        for (const OutputForm& output : form.outputs) {
            const ScalarType type = output.buffer.element;
            std::vector<char>& partial = memory.add(type, shape.points() * shape.chunks(), true);
            const Argument argument{&partial, 0, strides_of(grid, DType(type).itemsize())};
            first.push_back(argument);
            second.push_back(argument);
        }
        std::vector<std::vector<char>*> results;
        for (const Reduced& reduced : reductions) {
            results.push_back(&memory.add(reduced.result, shape.points(), true));
            second.push_back({results.back(), 0, strides_of(shape.kept, DType(reduced.result).itemsize())});
        }
        const auto run_on_cpu = [&](size_t which, const std::vector<Argument>& arguments,
                                    const std::vector<int64_t>& sizes) {
            const auto compiled = codegen::compile_for_cpu(cpu, cpu.functions[which].name);
            cpu_device().launch(*compiled, words_of(arguments), sizes, 1);
        };
        run_on_cpu(0, first, grid);
        run_on_cpu(1, second, shape.kept);
        std::vector<std::vector<char>> expected;
        for (std::vector<char>* result : results) expected.push_back(*result);

        std::vector<char>& tickets = memory.add(ScalarType::kInt32, shape.points(), true);
        std::vector<Argument> all = first;
        all.insert(all.end(), second.begin(), second.end());
        all.push_back({&tickets});
        for (int turn = 0; turn < 2; ++turn) {
            for (const Argument& argument : all) {
                if (argument.memory != nullptr && argument.memory != &in && argument.memory != &tickets)
                    std::fill(argument.memory->begin(), argument.memory->end(), char{0x5A});
            }
            kernel.run(all, grid, tickets, [&] {
                EXPECT_EQ(tickets, std::vector<char>(tickets.size())) << "not ready for the next launch";
                for (size_t k = 0; k < results.size(); ++k) {
                    const auto size = static_cast<size_t>(DType(reductions[k].result).itemsize());
                    for (size_t at = 0; at < static_cast<size_t>(shape.points()) * size; at += size) {
                        ASSERT_TRUE(testing_kernels::same_value(
                            results[k]->data() + at, expected[k].data() + at, reductions[k].result))
                            << reductions[k].name << ": point " << at / size;
                    }
                }
            });
        }
    }

    static std::vector<std::vector<Reduced>> groups() {
        using enum ScalarType;
        return {{{"sum", kFloat32, kFloat32, kFloat32}},
                {{"argmax", kFloat32, kFloat32, kInt64}},
                {{"sum", kFloat64, kFloat64, kFloat64},
                 {"squared_deviations", kFloat64, kFloat64, kFloat64},
                 {"max", kFloat64, kFloat64, kFloat64}},
                {{"sum", kInt8, kInt64, kInt64}}};
    }
};

TEST_F(PtxSecondKernel, RowsAreCombinedByTheirLastBlock) {
    for (const std::vector<Reduced>& reductions : groups()) {
        SCOPED_TRACE(reductions[0].name);
        check(reductions, {{false, {1}, 40'000, 512}, {false, {3}, 5'000, 512}, {false, {1}, 3, 512}});
    }
    check(groups()[0], {{false, {2, 3}, 1'025, 1024}});
}

TEST_F(PtxSecondKernel, ColumnsAreCombinedByTheLastBlockOfTheirTile) {
    for (const std::vector<Reduced>& reductions : groups()) {
        SCOPED_TRACE(reductions[0].name);
        check(reductions, {{true, {37}, 500, 16},
                           {true, {200}, 70, 16},
                           {true, {64}, 2'048, 16},
                           {true, {130}, 90, 16, 8},  // unaligned
                           {true, {1}, 100, 16}});
    }
    check(groups()[0], {{true, {3, 41}, 300, 16}});
}

}  // namespace
}  // namespace weft
