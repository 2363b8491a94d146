// Which kernel IR comes of which form: what is loaded, computed and stored at which level, for CPUs and for
// GPUs; and what of a form is in its key and its name.
#include "lowering/lower.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/printer.h"
#include "ir/verifier.h"

namespace weft {
namespace {

using Kind = ValueForm::Kind;
using enum StrideClass;
using enum ScalarType;

BufferForm memory(ScalarType element, std::vector<StrideClass> strides, bool of_element = false) {
    BufferForm form;
    form.element = element;
    form.readonly = true;
    form.of_element = of_element;
    form.strides = std::move(strides);
    return form;
}

OutputForm output(ValueForm value, ScalarType element, std::vector<StrideClass> strides,
                  bool of_element = false) {
    OutputForm form{value, memory(element, std::move(strides), of_element)};
    form.buffer.alias_scope = 1;
    form.buffer.readonly = false;
    return form;
}

// The loop of an operation whose first operand is of the type.
StepForm step(OpId id, ScalarType type, std::vector<ValueForm> operands) {
    StepForm form;
    form.op = &op_info(id);
    while (form.op->loops[static_cast<size_t>(form.loop)].types[0] != type) ++form.loop;
    form.operands = std::move(operands);
    return form;
}

ReductionForm reduction(const char* name, ScalarType type, ValueForm element, int phase = 0) {
    ReductionForm form;
    form.info = find_reduction(name);
    form.compute = form.result = type;
    form.element = element;
    form.phase = phase;
    return form;
}

constexpr ValueForm kFirst{Kind::kInput, 0, 0}, kSecond{Kind::kInput, 1, 0};
constexpr ValueForm step_value(uint16_t index) { return {Kind::kStep, index, 0}; }
constexpr ValueForm reduced(uint16_t index) { return {Kind::kReduction, index, 0}; }

std::string lowered(const KernelForm& form, KernelTarget target = KernelTarget::kCpu) {
    const ir::Module module = lower(form, target);
    for (const ir::Function& function : module.functions) ir::check(function, &module);
    return print(module);
}

int count(const std::string& text, std::string_view part) {
    int found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

KernelForm sum_of_inputs() {
    KernelForm form;
    form.inputs = {{memory(kFloat32, {kItem})}, {memory(kFloat64, {kZero})}};
    form.scalars = {kFloat64};
    form.steps = {step(OpId::kAdd, kFloat64, {kFirst, kSecond}),
                  step(OpId::kMultiply, kFloat64, {step_value(0), {Kind::kScalar, 0, 0}})};
    form.outputs = {output(step_value(1), kFloat64, {kDynamic})};
    return form;
}

// Rows: each divided by its sum, after a point's own value is added.
KernelForm shares_of_rows() {
    KernelForm form;
    form.shape = KernelShape::kReduce;
    form.inputs = {{memory(kFloat64, {kDynamic, kItem}, true)}, {memory(kFloat64, {kItem})}};
    form.steps = {step(OpId::kSqrt, kFloat64, {kSecond}), step(OpId::kAdd, kFloat64, {kFirst, step_value(0)}),
                  step(OpId::kDivide, kFloat64, {step_value(1), reduced(0)})};
    form.reductions = {reduction("sum", kFloat64, step_value(1))};
    form.outputs = {output(step_value(2), kFloat64, {kDynamic, kItem}, true)};
    form.lanes = 8;
    form.block = 128;
    return form;
}

TEST(Lower, OperandsAreCastAndStridesWrittenIntoTheKernelWhereTheCodeDependsOnThem) {
    EXPECT_EQ(
        lowered(sum_of_inputs()),
        R"(kernel @add_multiply_float64(%n0: i64, %in0: global f32[4] readonly, %in1: global f64[0] readonly, %c0: f64, %out0: global f64[?] scope 1) {
  parallel grid (%0) in (%n0) {
    %1 = load %in0[%0]
    %2 = cast %1 to f64
    %3 = load %in1[%0]
    %4 = add %2, %3
    %5 = multiply %4, %c0
    store %out0[%0], %5
  }
}
)");
}

TEST(Lower, PositionsAreCounted) {
    KernelForm form;
    form.grid_rank = 3;
    form.inputs = {{memory(kInt64, {kItem, kDynamic, kMinusItem})}};
    form.inputs[0].position = true;
    form.outputs = {output(kFirst, kInt64, {kItem, kDynamic, kZero})};
    EXPECT_EQ(
        lowered(form),
        R"(kernel @copy_int64(%n0: i64, %n1: i64, %n2: i64, %position0: i64, %position0s1: i64, %out0: global i64[8, ?, 0] scope 1) {
  parallel grid (%0, %1, %2) in (%n0, %n1, %n2) {
    %3 = add %position0, %0
    %4 = multiply %1, %position0s1
    %5 = add %3, %4
    %6 = negative %2
    %7 = add %5, %6
    store %out0[%0, %1, %2], %7
  }
}
)");
}

TEST(Lower, AValueThatSeveralReadIsComputedOnce) {
    KernelForm form = sum_of_inputs();
    form.steps.push_back(step(OpId::kSubtract, kFloat64, {step_value(1), step_value(1)}));
    form.outputs = {output(step_value(2), kFloat64, {kItem}), output(step_value(1), kFloat32, {kItem})};
    const std::string text = lowered(form);
    EXPECT_EQ(count(text, "= load"), 2);
    EXPECT_EQ(count(text, "= multiply"), 1);
    EXPECT_EQ(count(text, "= subtract %5, %5\n"), 1);
    EXPECT_EQ(count(text, "store"), 2);
}

TEST(Lower, NegativeIndicesCountFromTheEndWhereTheyMayBe) {
    KernelForm form;
    form.inputs = {{memory(kFloat32, {})}, {memory(kInt32, {kItem})}, {memory(kInt64, {kItem})}};
    form.inputs[0].buffer.computed = {kItem, kDynamic};
    form.scalars = {kInt64};
    StepForm gather;
    gather.kind = StepForm::Kind::kGather;
    gather.operands = {kSecond, {Kind::kScalar, 0, 0}, {Kind::kInput, 2, 0}};
    gather.wraps = {true, false};
    form.steps = {gather};
    form.outputs = {output(step_value(0), kFloat32, {kItem})};
    EXPECT_EQ(
        lowered(form),
        R"(kernel @gather_float32(%n0: i64, %in0: global f32[4, ?] readonly, %in1: global i32[4] readonly, %in2: global i64[8] readonly, %c0: i64, %out0: global f32[4] scope 1) {
  parallel grid (%0) in (%n0) {
    %1 = load %in1[%0]
    %2 = cast %1 to i64
    %3 = load %in2[%0]
    %4 = const i64 0
    %5 = less %2, %4
    %6 = add %2, %c0
    %7 = select %5, %6, %2
    %8 = load %in0[%7, %3]
    store %out0[%0], %8
  }
}
)");
}

TEST(Lower, WritesAtComputedPositionsMayHaveAConditionOrBeAtomic) {
    KernelForm form;
    form.inputs = {{memory(kInt64, {kItem})}, {memory(kInt64, {kItem})}, {memory(kBool, {kItem})}};
    form.outputs = {output(kFirst, kInt64, {})};
    form.outputs[0].buffer.computed = {kItem};
    form.outputs[0].positions = {kSecond};
    form.outputs[0].wraps = {false};
    EXPECT_EQ(count(lowered(form), "store %out0[%2], %1\n"), 1);
    form.outputs[0].condition = ValueForm{Kind::kInput, 2, 0};
    EXPECT_EQ(count(lowered(form), "store %out0[%2], %1 if %3\n"), 1);
    form.outputs[0].condition.reset();
    form.outputs[0].largest = true;
    EXPECT_EQ(count(lowered(form), "atomic maximum %out0[%2], %1 relaxed device\n"), 1);
    EXPECT_EQ(form.name(), "scatter_int64");
}

TEST(Lower, WhatAPointNeedsIsComputedBeforeItsRow) {
    const std::string begin =
        R"(kernel @sqrt_add_divide_sum_float64(%n0: i64, %m0: i64, %in0: global f64[?, 8] readonly, %in1: global f64[8] readonly, %out0: global f64[?, 8] scope 1) {
  parallel grid (%0) in (%n0) {
    %1 = const i64 0
    %2 = load %in1[%0]
    %3 = sqrt %2
    %4 = const f64 0.0
    %5 = reduce %6 in %m0 lanes 8 block 128 with (%4) {
      %7 = load %in0[%0, %6]
      %8 = add %7, %3
      yield %8
    } combine (%9, %10) {
      %11 = add %9, %10
      yield %11
    }
)";
    EXPECT_EQ(lowered(shares_of_rows()), begin + R"(    %12 = const i64 0
    %13 = const i64 1
    for %14 = %12 to %m0 step %13 {
      %15 = load %in0[%0, %14]
      %16 = add %15, %3
      %17 = divide %16, %5
      store %out0[%0, %14], %17
    }
  }
}
)");
    // On a GPU the row is written by the threads of a block.
    EXPECT_EQ(lowered(shares_of_rows(), KernelTarget::kGpu), begin + R"(    parallel block (%12) in (%m0) {
      %13 = load %in0[%0, %12]
      %14 = add %13, %3
      %15 = divide %14, %5
      store %out0[%0, %12], %15
    }
  }
}
)");
}

TEST(Lower, ReductionsOfAPhaseShareAWalkAndALaterPhaseReadsThem) {
    KernelForm form = shares_of_rows();
    form.reductions.push_back(reduction("max", kFloat64, kFirst));
    EXPECT_EQ(count(lowered(form), "= reduce"), 1);
    EXPECT_EQ(count(lowered(form), "with (%"), 1);
    form.reductions[1].phase = 1;
    form.reductions[1].element = step_value(2);
    const std::string text = lowered(form);
    EXPECT_EQ(count(text, "= reduce"), 2);
    EXPECT_LT(text.find("= divide"), text.find("= maximum"));
}

TEST(Lower, ChunksOfARowHaveTheirPlaceAndLength) {
    KernelForm form = shares_of_rows();
    form.steps.pop_back();
    form.grid_rank = 2;
    form.chunked = true;
    form.chunk = 4096;
    form.outputs = {output(reduced(0), kFloat64, {kDynamic, kItem})};
    const std::string text = lowered(form);
    EXPECT_EQ(count(text, "parallel grid (%0, %1) in (%n0, %n1)"), 1);
    EXPECT_EQ(count(text, "const i64 4096"), 2);
    EXPECT_EQ(count(text, "= minimum"), 1);  // the last chunk is shorter
    EXPECT_EQ(count(text, "store %out0[%0, %1]"), 1);
}

TEST(Lower, PartialResultsAreCombinedInAKernelOfTheirOwnOrInTheSameLaunch) {
    KernelForm combine;
    combine.shape = KernelShape::kCombine;
    combine.grid_rank = 1;
    combine.outer_rank = 1;
    combine.inputs = {{memory(kFloat64, {kDynamic, kItem}, true)}};
    combine.reductions = {reduction("sum", kFloat64, kFirst)};
    combine.outputs = {output(reduced(0), kFloat64, {kItem})};
    EXPECT_EQ(combine.name(), "sum_combine_float64");
    EXPECT_EQ(lower(combine).functions.size(), 1U);
    const std::string text = lowered(combine);
    EXPECT_EQ(count(text, "load %in0[%0, "), 1);
    EXPECT_EQ(count(text, "store %out0[%0]"), 1);

    KernelForm form = shares_of_rows();
    form.steps.pop_back();
    form.grid_rank = 2;
    form.chunked = true;
    form.chunk = 4096;
    form.outputs = {output(reduced(0), kFloat64, {kDynamic, kItem})};
    form.then = std::make_shared<const KernelForm>(combine);
    EXPECT_EQ(lower(form, KernelTarget::kGpu).functions.size(), 2U);
    EXPECT_NE(form.key(), shares_of_rows().key());
}

TEST(Lower, ScansKeepWhatCameBefore) {
    KernelForm form;
    form.shape = KernelShape::kScan;
    form.grid_rank = 1;
    form.inputs = {{memory(kFloat64, {kDynamic, kItem}, true)}};
    form.scan.emplace();
    form.scan->op = &op_info(OpId::kAdd);
    form.scan->compute = kFloat64;
    form.scan->element = kFirst;
    form.scan->in_order = true;
    form.outputs = {output({}, kFloat64, {kDynamic, kItem}, true)};
    const std::string text = lowered(form);
    EXPECT_EQ(count(text, "load %in0[%0, "), count(text, "store %out0[%0, "));
    EXPECT_GE(count(text, "= add"), 1);
    EXPECT_EQ(form.name(), "add_scan_float64");
}

// Each change of a form, by what it is. None may leave the key as it was.
TEST(Lower, EqualKeysMeanEqualForms) {
    using Change = std::function<void(KernelForm&)>;
    const std::vector<Change> changes = {
        [](KernelForm&) {},
        [](KernelForm& form) { form.grid_rank = 2; },
        [](KernelForm& form) { form.shape = KernelShape::kCombine; },
        [](KernelForm& form) { form.inputs[0].buffer.element = kFloat32; },
        [](KernelForm& form) { form.inputs[0].buffer.strides[1] = kDynamic; },
        [](KernelForm& form) { form.inputs[0].buffer.strides[1] = kMinusItem; },
        [](KernelForm& form) { form.inputs[0].buffer.computed = {kItem}; },
        [](KernelForm& form) { form.inputs[0].buffer.alias_scope = 3; },
        [](KernelForm& form) { form.inputs[0].buffer.readonly = false; },
        [](KernelForm& form) { form.inputs[0].buffer.of_element = false; },
        [](KernelForm& form) { form.inputs[0].buffer.prefetch = true; },
        [](KernelForm& form) { form.inputs[0].position = true; },
        [](KernelForm& form) { form.inputs[1].beside = 1; },
        [](KernelForm& form) { form.inputs[1].beside = 1, form.inputs[1].steps = 2; },
        [](KernelForm& form) { form.outputs[0].buffer.streamed = true; },
        [](KernelForm& form) { form.outputs[0].value = step_value(1); },
        [](KernelForm& form) { form.outputs[0].largest = true; },
        [](KernelForm& form) { form.outputs[0].condition = kFirst; },
        [](KernelForm& form) { form.outputs[0].positions = {kFirst}, form.outputs[0].wraps = {false}; },
        [](KernelForm& form) { form.outputs[0].positions = {kFirst}, form.outputs[0].wraps = {true}; },
        [](KernelForm& form) { form.scalars = {kInt64}; },
        [](KernelForm& form) { form.constants = {ir::Constant::of(kInt64, int64_t{3})}; },
        [](KernelForm& form) { form.constants = {ir::Constant::of(kInt64, int64_t{4})}; },
        [](KernelForm& form) { form.steps[0].op = &op_info(OpId::kNegative); },
        [](KernelForm& form) { ++form.steps[0].loop; },
        [](KernelForm& form) { form.steps[0].operands[0] = kFirst; },
        [](KernelForm& form) { form.steps[0].operands[0].result = 1; },
        [](KernelForm& form) { form.steps[0].kind = StepForm::Kind::kCast; },
        [](KernelForm& form) { form.reductions[0].info = find_reduction("prod"); },
        [](KernelForm& form) { form.reductions[0].compute = kFloat32; },
        [](KernelForm& form) { form.reductions[0].result = kFloat32; },
        [](KernelForm& form) { form.reductions[0].phase = 1; },
        [](KernelForm& form) { form.lanes = 16; },
        [](KernelForm& form) { form.block = 256; },
        [](KernelForm& form) { form.shift_elements = 8; },
        [](KernelForm& form) { form.chunk = 1024; },
        [](KernelForm& form) { form.chunked = true; },
        [](KernelForm& form) { form.collapsed = true; },
        [](KernelForm& form) { form.outer_rank = 1; },
        [](KernelForm& form) { form.then = std::make_shared<const KernelForm>(sum_of_inputs()); },
    };
    std::set<std::string> keys;
    for (size_t k = 0; k < changes.size(); ++k) {
        KernelForm form = shares_of_rows(), again = shares_of_rows();
        changes[k](form);
        changes[k](again);
        EXPECT_EQ(form.key(), again.key());
        EXPECT_TRUE(keys.insert(form.key()).second)
            << "change " << k << " is like an earlier one: " << form.key();
    }
}

TEST(Lower, NamesSayWhatAKernelComputes) {
    EXPECT_EQ(sum_of_inputs().name(), "add_multiply_float64");
    EXPECT_EQ(shares_of_rows().name(), "sqrt_add_divide_sum_float64");
    KernelForm form;
    form.outputs = {output({Kind::kScalar, 0, 0}, kInt32, {kItem})};
    EXPECT_EQ(form.name(), "fill_int32");
    form.inputs = {{memory(kInt32, {kItem})}};
    EXPECT_EQ(form.name(), "copy_int32");
    form = sum_of_inputs();
    for (int k = 0; k < 20; ++k) form.steps.push_back(form.steps[0]);
    EXPECT_EQ(form.name(), "add_multiply_add_add_add_add_add_add_add_add_and_12_more_float64");
}

}  // namespace
}  // namespace weft
