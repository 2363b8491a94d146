// Arrays of which several iterations of a parallel loop update the same elements: each chunk but the first
// has a copy, which starts with the operation's identity. The copies are combined with the array in the order
// of the chunks. How many chunks there are hangs on the number of iterations and on the sizes of the arrays
// alone.
#include <algorithm>
#include <array>

#include "lang/lowering.h"
#include "lang/parallel/carried.h"
#include "lang/parallel/outline.h"
#include "lang/parallel/updates.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// Iterations with loops in them, or calls, are taken to update as many elements.
constexpr int64_t kUpdatesOfLong = 64;
// Elements that are combined at once, which caches of the first level hold.
constexpr int64_t kBlock = 2048;

}  // namespace

ValueId FunctionLowering::size_product(const Value& array, size_t from) {
    ValueId size = builder_->index(1);
    for (size_t d = from; d < array.type->rank; ++d)
        size = builder_->apply(OpId::kMultiply, {size, size_of(array, d)});
    return size;
}

// So many iterations in a chunk that its updates are at least as many as the elements of its copies.
ValueId FunctionLowering::least_with_copies(const ParallelLoop& plan, const Environment& environment,
                                            NodeId body) {
    ValueId elements = builder_->index(0);
    for (const CarriedVariable& each : plan.arrays) {
        const Value& array = environment[each.variable];
        if (!is_array(array.type) || array.type->rank == 0)
            fail(each.where,
                 "'" + variable(each.variable) + "' is " + lang::describe(array.type) +
                     ", and several iterations of prange may update the same elements of it",
                 is_structures(array.type)
                     ? "Update an array of numbers, as np.zeros(n), and copy from it."
                     : "Only arrays have a copy for each thread; give one a name before the loop.");
        for (size_t v = 0; v < environment.size(); ++v) {
            const Value& other = environment[v];
            if (v != each.variable && plan.captured[v] && is_array(other.type) &&
                other.parts[0] == array.parts[0])
                fail(
                    each.where,
                    "'" + variable(each.variable) + "' and '" + variable(v) +
                        "' are one array, of which several iterations of prange may update the same elements",
                    "Use it by one name.");
        }
        elements = builder_->apply(OpId::kAdd, {elements, size_product(array, 0)});
    }
    if (is_short(body)) return elements;
    const ValueId many = builder_->index(kUpdatesOfLong);
    return builder_->apply(OpId::kFloorDivide, {elements, many});
}

std::vector<Value> FunctionLowering::allocate_copies(const ParallelLoop& plan, const Environment& environment,
                                                     ValueId chunks, NodeId where) {
    std::vector<Value> copies;
    for (const CarriedVariable& each : plan.arrays) {
        const Value& array = environment[each.variable];
        const ValueId one = builder_->index(1);
        const ValueId others =
            builder_->apply(OpId::kSubtract, {builder_->apply(OpId::kMaximum, {chunks, one}), one});
        note(others, {0, INT64_MAX, {}, 0});
        std::vector<ValueId> sizes{others};
        for (size_t d = 0; d < array.type->rank; ++d) sizes.push_back(size_of(array, d));
        copies.push_back(allocate(array.type->scalar, sizes, where, array.type->scope));
    }
    return copies;
}

// In a chunk: the array itself for the first, else the copy of its number.
Value FunctionLowering::copy_of_chunk(const CarriedVariable& carried, const Value& array, const Value& copies,
                                      ValueId number) {
    const Value start = identity(carried, scalar_type(array.type->scalar));
    const ValueId is_first = builder_->apply(OpId::kEqual, {number, builder_->index(0)});
    Value result = array;
    result.parts = builder_->if_else(
        is_first, [&](ir::Builder&, std::span<const ValueId>) { return array.parts; },
        [&](ir::Builder&, std::span<const ValueId>) {
            const Value own = item_of(copies, builder_->apply(OpId::kSubtract, {number, builder_->index(1)}));
            fill(own, start, carried.where);
            return convert(own, array.type, carried.where).parts;
        });
    // Its sizes are the array's, of which more is known.
    const size_t first_size = 1 + (array.type->owned ? 1 : 0);
    std::copy_n(array.parts.begin() + static_cast<ptrdiff_t>(first_size), array.type->rank,
                result.parts.begin() + static_cast<ptrdiff_t>(first_size));
    return result;
}

// Blocks of the array along its first dimension, each with its copies in order.
void FunctionLowering::combine_copies(const CarriedVariable& carried, const Value& array,
                                      const Value& copies) {
    const ValueId none = builder_->index(0), one = builder_->index(1);
    const ValueId row = builder_->apply(OpId::kMaximum, {size_product(array, 1), one});
    const ValueId rows = builder_->apply(
        OpId::kMaximum, {builder_->apply(OpId::kFloorDivide, {builder_->index(kBlock), row}), one});
    // Where one chunk has run there is nothing to do.
    const ValueId any = builder_->apply(OpId::kGreater, {size_of(copies, 0), none});
    const ValueId count = builder_->apply(OpId::kSelect, {any, size_of(array, 0), none});

    Outline outline(compilation_.name_beside(target_.name));
    outline.builder.parameter(ir::Type::of(ScalarType::kInt64), "number");
    const ValueId from = outline.builder.parameter(ir::Type::of(ScalarType::kInt64), "from");
    const ValueId to = outline.builder.parameter(ir::Type::of(ScalarType::kInt64), "to");
    Value inner_array = passed(outline, borrowed(array), variable(carried.variable));
    Value inner_copies = passed(outline, borrowed(copies), "copies");
    {
        const Beside beside(*this, outline.builder);
        inner_array = inside(inner_array);
        inner_copies = inside(inner_copies);
        const ValueId step = builder_->index(1);
        const ValueId size = builder_->apply(OpId::kSubtract, {to, from});
        std::vector<ValueId> shape{size};
        for (size_t d = 1; d < array.type->rank; ++d) shape.push_back(size_of(inner_array, d));
        const auto block_of = [&](const Value& whole) {
            const ValueId offset = builder_->apply(OpId::kMultiply, {from, stride_of(whole, 0)});
            std::vector<ValueId> own_strides;
            for (size_t d = 0; d < whole.type->rank; ++d) own_strides.push_back(stride_of(whole, d));
            return view(whole, offset, shape, own_strides, whole.type->contiguous);
        };
        const Value target = block_of(inner_array);
        builder_->for_loop(
            builder_->index(0), size_of(inner_copies, 0), step, {},
            [&](ir::Builder&, std::span<const ValueId> arguments) -> std::vector<ValueId> {
                const ValueId offset =
                    builder_->apply(OpId::kMultiply, {arguments[0], stride_of(inner_copies, 0)});
                std::vector<ValueId> own_shape, own_strides;
                for (size_t d = 1; d < inner_copies.type->rank; ++d) {
                    own_shape.push_back(size_of(inner_copies, d));
                    own_strides.push_back(stride_of(inner_copies, d));
                }
                const Value source = block_of(
                    view(inner_copies, offset, own_shape, own_strides, inner_copies.type->contiguous));
                for_each_element(target, [&](std::span<const ValueId> indices) {
                    const std::vector<ValueId> at{indices.begin(), indices.end()};
                    const Value before = load({target, at}), told = load({source, at});
                    if (!is_comparison(carried.operation))
                        return store({target, at}, combined(carried, before, told), carried.where);
                    const Value better = compare(carried.operation, told, before, carried.where);
                    store({target, at},
                          scalar(before.type, builder_->apply(OpId::kSelect, {better.parts[0], told.parts[0],
                                                                              before.parts[0]})),
                          carried.where);
                });
                return {};
            });
        builder_->return_values({});
    }
    ir::Function blocks = outline.builder.finish_function({});
    builder_->spread(blocks.name, count, rows, outline.arguments);
    compilation_.add_function(std::move(blocks));
}

// What is stored in an element of such an array is not rounded, or parts of a sum would be rounded each.
void FunctionLowering::refuse_rounding(NodeId target, const Value& value) const {
    if (accumulated_.empty() || !is_scalar(value.type)) return;
    const std::optional<ElementOf> element = element_of_variable(source_.tree, target);
    if (!element) return;
    for (const auto& [carried, type] : accumulated_) {
        if (carried != element->variable || !DType(type).is_integer() || is_integer(value.type)) continue;
        fail(target,
             "'" + variable(carried) +
                 "' has integers, and several iterations of prange may add floats to one",
             "Give it elements of a float type.");
    }
}

}  // namespace weft::lang
