// Kernels of the graph, lowered for GPUs and for CPUs, compute the same bits: searches, what follows a
// reduction along its rows, running results.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "library/loops/scan_order.h"
#include "lowering/lower.h"
#include "support/gpu_kernel_testing.h"
#include "support/ptx_testing.h"

namespace weft {
namespace {

using namespace testing_ptx;
using Kind = ValueForm::Kind;

class PtxForms : public GpuKernelTest {
protected:
    // The form's kernel for both targets.
    struct Both {
        ir::Module cpu, gpu;
        GpuKernel kernel;
        explicit Both(const KernelForm& form)
            : cpu(lower(form)), gpu(lower(form, KernelTarget::kGpu)), kernel(gpu, gpu.functions[0].name) {}
    };
    static void expect_same_bits(const Both& both, const std::vector<Argument>& arguments,
                                 const std::vector<int64_t>& grid, std::vector<char>& out, ScalarType type) {
        expect_same(both.cpu, both.kernel, arguments, grid, out, type);
    }

    static BufferForm rows(ScalarType element, bool readonly) {
        BufferForm form;
        form.element = element;
        form.alias_scope = readonly ? 0 : 1;
        form.readonly = readonly;
        form.of_element = true;
        form.strides = {StrideClass::kDynamic, StrideClass::kItem};
        return form;
    }
    static BufferForm points(ScalarType element, bool readonly) {
        BufferForm form;
        form.element = element;
        form.alias_scope = readonly ? 0 : 1;
        form.readonly = readonly;
        form.strides = {StrideClass::kItem};
        return form;
    }

    static void fill_with_doubles(std::vector<char>& bytes, uint64_t seed) {
        std::mt19937_64 random(seed);
        for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
            const double value = static_cast<double>(random()) / 0x1p62 - 2;
            std::memcpy(bytes.data() + at, &value, sizeof value);
        }
    }
};

TEST_F(PtxForms, TheFirstLargestElementIsFound) {
    for (const char* name : {"argmax", "any", "max"}) {
        SCOPED_TRACE(name);
        const bool tests = std::string(name).starts_with("a") && std::string(name).size() == 3;
        const ReductionInfo& info = *find_reduction(name);
        const ScalarType compute = tests ? ScalarType::kBool : ScalarType::kFloat32;
        const ScalarType result = info.gives_index ? ScalarType::kInt64 : compute;
        KernelForm form;
        form.shape = KernelShape::kReduce;
        form.inputs.push_back({rows(compute, true), false});
        form.reductions.push_back({&info, compute, result, {Kind::kInput, 0, 0}, 0});
        form.outputs.push_back({{Kind::kReduction, 0, 0}, points(result, false)});
        form.lanes = 32;
        form.block = 512;
        const Both both(form);
        EXPECT_TRUE(both.kernel.image().teams);
        for (const int64_t columns : {1, 33, 600, 5000}) {
            SCOPED_TRACE(columns);
            const int64_t count = 6, itemsize = DType(compute).itemsize();
            Memory memory(static_cast<uint64_t>(columns));
            // Few different values, some of them NaN.
            std::vector<char>&in = memory.add(compute, count * columns),
            &out = memory.add(result, count, true);
            expect_same_bits(both,
                             {{nullptr, count}, {nullptr, columns}, {&in, 0, {columns * itemsize}}, {&out}},
                             {count}, out, result);
        }
    }
}

// exp(x - max) / sum(exp(x - max)): three walks over the row, the last of which writes it.
TEST_F(PtxForms, Softmax) {
    const ScalarType type = ScalarType::kFloat64;
    const auto operation = [&](OpId id, std::vector<ValueForm> operands) {
        const OpInfo& op = op_info(id);
        StepForm step;
        step.op = &op;
        const std::vector<ScalarType> types(op.nin, type);
        step.loop = static_cast<int>(find_loop(op, types) - op.loops.data());
        step.operands = std::move(operands);
        return step;
    };
    KernelForm form;
    form.shape = KernelShape::kReduce;
    form.inputs.push_back({rows(type, true), false});
    form.reductions.push_back({find_reduction("max"), type, type, {Kind::kInput, 0, 0}, 0});
    form.reductions.push_back({find_reduction("sum"), type, type, {Kind::kStep, 1, 0}, 1});
    form.steps.push_back(operation(OpId::kSubtract, {{Kind::kInput, 0, 0}, {Kind::kReduction, 0, 0}}));
    form.steps.push_back(operation(OpId::kExp, {{Kind::kStep, 0, 0}}));
    form.steps.push_back(operation(OpId::kDivide, {{Kind::kStep, 1, 0}, {Kind::kReduction, 1, 0}}));
    form.outputs.push_back({{Kind::kStep, 2, 0}, rows(type, false)});
    form.lanes = 32;
    form.block = 512;
    const Both both(form);
    EXPECT_TRUE(both.kernel.image().teams);
    EXPECT_EQ(count_of(both.kernel.image().ptx, ".local"), 0U) << both.kernel.image().ptx;
    // What is read again is kept: the elements, and in their place what they are raised to.
    EXPECT_EQ(both.kernel.image().row_cache_bytes, 8);
    EXPECT_EQ(both.kernel.image().elements_per_warp, 512);
    for (const int64_t columns : {1, 31, 100, 513, 1600, 5000, 10000}) {
        SCOPED_TRACE(columns);
        Memory memory(1);
        std::vector<char>&in = memory.add(type, 4 * columns), &out = memory.add(type, 4 * columns, true);
        fill_with_doubles(in, static_cast<uint64_t>(columns));
        expect_same_bits(
            both, {{nullptr, 4}, {nullptr, columns}, {&in, 0, {columns * 8}}, {&out, 0, {columns * 8}}}, {4},
            out, type);
    }
}

// A product by tiles: 70×100 @ 100×65 for two of a batch, with a bias and the larger of that and 0.
TEST_F(PtxForms, ProductsByTiles) {
    for (const ScalarType type : {ScalarType::kBool, ScalarType::kInt8, ScalarType::kInt64,
                                  ScalarType::kBFloat16, ScalarType::kFloat64, ScalarType::kComplex64}) {
        SCOPED_TRACE(DType(type).name());
        const int64_t batch = 2, m = 70, k = 100, n = 65, item = DType(type).itemsize();
        using enum StrideClass;
        const auto buffer = [&](std::vector<StrideClass> strides, bool readonly) {
            BufferForm form;
            form.element = type;
            form.alias_scope = readonly ? 0 : 1;
            form.readonly = readonly;
            form.strides = std::move(strides);
            return form;
        };
        const bool ordered = !DType(type).is_complex() && !DType(type).is_bool();
        const auto step = [&](OpId id, ValueForm left, ValueForm right) {
            const ScalarType types[] = {type, type};
            StepForm form;
            form.op = &op_info(id);
            form.loop = static_cast<int>(find_loop(*form.op, types) - form.op->loops.data());
            form.operands = {left, right};
            return form;
        };
        KernelForm form;
        form.shape = KernelShape::kProduct;
        form.grid_rank = 3;
        form.inputs.push_back({buffer({kDynamic, kDynamic, kZero, kItem}, true), false});
        form.inputs.push_back({buffer({kZero, kZero, kDynamic, kItem}, true), false});  // transposed, of all
        form.outputs.push_back({{Kind::kReduction, 0, 0}, buffer({kDynamic, kDynamic, kItem, kZero}, false)});
        if (ordered) {
            form.inputs.push_back({buffer({kZero, kZero, kItem, kZero}, true), false});
            ir::Constant zero;
            zero.type = type;
            form.constants.push_back(zero);
            form.steps.push_back(step(OpId::kAdd, {Kind::kReduction, 0, 0}, {Kind::kInput, 2, 0}));
            form.steps.push_back(step(OpId::kMaximum, {Kind::kStep, 0, 0}, {Kind::kConstant, 0, 0}));
            form.outputs[0].value = {Kind::kStep, 1, 0};
        }
        const Both both(form);
        EXPECT_TRUE(both.kernel.image().teams);
        EXPECT_EQ(both.kernel.image().team_threads, 256);
        EXPECT_EQ(count_of(both.kernel.image().ptx, ".local"), 0U);
        const std::string ptxas = find_ptxas();
        if (!ptxas.empty()) {
            const Assembled assembled = assemble(ptxas, both.kernel.image());
            EXPECT_TRUE(assembled.accepted) << assembled.messages;
            EXPECT_EQ(assembled.spilled, 0) << assembled.messages;
            EXPECT_LE(assembled.registers, 128) << assembled.messages;
        }
        Memory memory(7);
        std::vector<char>&left = memory.add(type, batch * m * k), &right = memory.add(type, n * k),
        &bias = memory.add(type, n), &out = memory.add(type, batch * m * n, true);
        const std::vector<int64_t> grid{batch, 2, 2};
        std::vector<Argument> arguments{{nullptr, batch},
                                        {nullptr, 2},
                                        {nullptr, 2},
                                        {nullptr, m},
                                        {nullptr, n},
                                        {nullptr, k},
                                        {&left, 0, {m * k * item, k * item}},
                                        {&right, 0, {k * item}},
                                        {&out, 0, {m * n * item, n * item}}};
        if (ordered) arguments.insert(arguments.end() - 1, Argument{&bias});
        expect_same_bits(both, arguments, grid, out, type);
    }
}

KernelForm scan_form(ScanForm::Part part, OpId op, bool in_order) {
    KernelForm form;
    form.shape = KernelShape::kScan;
    form.scan.emplace();
    form.scan->part = part;
    form.scan->op = &op_info(op);
    form.scan->compute = ScalarType::kFloat64;
    form.scan->element = {Kind::kInput, 0, 0};
    form.scan->in_order = in_order;
    return form;
}

TEST_F(PtxForms, RunningResultsOfRows) {
    const ScalarType type = ScalarType::kFloat64;
    for (const bool in_order : {false, true}) {
        for (const bool along : {true, false}) {
            SCOPED_TRACE((in_order ? "in order, " : "in blocks, ") + std::string(along ? "along" : "across"));
            KernelForm form = scan_form(ScanForm::Part::kRows, OpId::kAdd, in_order);
            BufferForm in = rows(type, true), out = rows(type, false);
            if (!along) in.strides = out.strides = {StrideClass::kItem, StrideClass::kDynamic};
            form.inputs.push_back({in, false});
            form.outputs.push_back({{Kind::kInput, 0, 0}, out});
            const Both both(form);
            EXPECT_EQ(both.kernel.image().team_threads, along && !in_order ? 256 : 0);
            if (along && !in_order) {
                EXPECT_NE(both.kernel.image().ptx.find(".maxntid 256"), std::string::npos);
            }
            for (const int64_t length : {1, 127, 300, 4096, 4097, 17000, 40000}) {
                SCOPED_TRACE(length);
                const int64_t count = 3, stride = along ? length * 8 : count * 8;
                Memory memory(1);
                std::vector<char>&from = memory.add(type, count * length),
                &to = memory.add(type, count * length, true);
                fill_with_doubles(from, static_cast<uint64_t>(length));
                expect_same_bits(
                    both, {{nullptr, count}, {nullptr, length}, {&from, 0, {stride}}, {&to, 0, {stride}}},
                    {count}, to, type);
            }
        }
    }
}

TEST_F(PtxForms, RunningResultsOfChunks) {
    const ScalarType type = ScalarType::kFloat64;
    const int64_t count = 2, length = 3 * kScanChunk + 1000, chunks = 4;
    BufferForm of_chunks = points(type, true);
    of_chunks.strides = {StrideClass::kDynamic, StrideClass::kItem};
    Memory memory(1);
    std::vector<char>&in = memory.add(type, count * length), &totals = memory.add(type, count * chunks, true),
    &before = memory.add(type, count * chunks, true), &out = memory.add(type, count * length, true);
    fill_with_doubles(in, 5);

    KernelForm first = scan_form(ScanForm::Part::kChunkTotals, OpId::kAdd, false);
    first.chunked = true;
    first.grid_rank = 2;
    first.inputs.push_back({rows(type, true), false});
    BufferForm totals_form = of_chunks;
    totals_form.alias_scope = 1;
    totals_form.readonly = false;
    first.outputs.push_back({{Kind::kInput, 0, 0}, totals_form});
    expect_same_bits(Both(first),
                     {{nullptr, count},
                      {nullptr, chunks},
                      {nullptr, length},
                      {&in, 0, {length * 8}},
                      {&totals, 0, {chunks * 8}}},
                     {count, chunks}, totals, type);

    KernelForm between = scan_form(ScanForm::Part::kBefore, OpId::kAdd, false);
    BufferForm totals_of_element = of_chunks;
    totals_of_element.of_element = true;
    between.inputs.push_back({totals_of_element, false});
    BufferForm before_form = totals_form;
    before_form.of_element = true;
    between.outputs.push_back({{Kind::kInput, 0, 0}, before_form});
    expect_same_bits(
        Both(between),
        {{nullptr, count}, {nullptr, chunks}, {&totals, 0, {chunks * 8}}, {&before, 0, {chunks * 8}}},
        {count}, before, type);

    KernelForm last = scan_form(ScanForm::Part::kChunks, OpId::kAdd, false);
    last.chunked = true;
    last.grid_rank = 2;
    last.inputs.push_back({rows(type, true), false});
    last.inputs.push_back({of_chunks, false});
    last.outputs.push_back({{Kind::kInput, 0, 0}, rows(type, false)});
    expect_same_bits(Both(last),
                     {{nullptr, count},
                      {nullptr, chunks},
                      {nullptr, length},
                      {&in, 0, {length * 8}},
                      {&before, 0, {chunks * 8}},
                      {&out, 0, {length * 8}}},
                     {count, chunks}, out, type);
    // The whole is the running sum of the rows.
    KernelForm whole = scan_form(ScanForm::Part::kRows, OpId::kAdd, false);
    whole.inputs.push_back({rows(type, true), false});
    whole.outputs.push_back({{Kind::kInput, 0, 0}, rows(type, false)});
    std::vector<char>& expected = memory.add(type, count * length, true);
    const ir::Module module = lower(whole);
    const auto cpu = codegen::compile_for_cpu(module, module.functions[0].name);
    const int64_t grid[] = {count};
    cpu_device().launch(
        *cpu,
        words_of({{nullptr, count}, {nullptr, length}, {&in, 0, {length * 8}}, {&expected, 0, {length * 8}}}),
        grid, 1);
    EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace weft
