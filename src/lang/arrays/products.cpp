// numpy.matmul, dot, vdot, inner and @: the engine's products.
#include <algorithm>
#include <array>

#include "lang/arrays/functions.h"

namespace weft::lang {

using ir::ValueId;

// result[batch, left axes, right axes] = the sum over one axis of each. The leading axes of both are the
// batch's, where there is one; they may be fewer, or of one element.
Value FunctionLowering::ArrayFunctions::product(const Value& left, const Value& right,
                                                std::span<const ValueId> batch,
                                                std::span<const size_t> left_axes, size_t left_sum,
                                                std::span<const size_t> right_axes, size_t right_sum) {
    const std::array types = {OperandType(DType(left.type->scalar)), OperandType(DType(right.type->scalar))};
    const ScalarType common = result_type(types).scalar_type();
    const ScalarType compute = DType(common).accumulator().scalar_type();
    const Value a = array(left, compute), b = array(right, compute);
    std::vector<ValueId> shape(batch.begin(), batch.end());
    for (const size_t d : left_axes) shape.push_back(f_.size_of(a, d));
    for (const size_t d : right_axes) shape.push_back(f_.size_of(b, d));
    const Value out = f_.allocate(compute, shape, where_);
    shape.push_back(f_.size_of(a, left_sum));
    const ValueId zero = f_.integer(0).parts[0];
    // The axes before `core` are of the batch.
    const auto walk = [&](const Value& factor, std::span<const size_t> own, size_t sum, bool is_left) {
        const size_t core = own.size() + 1;
        const size_t leading = batch.empty() ? 0 : factor.type->rank - core;
        std::vector<ValueId> strides;
        for (size_t d = 0; d < batch.size(); ++d) {
            if (d + leading < batch.size()) {
                strides.push_back(zero);
                continue;
            }
            const size_t at = d + leading - batch.size();
            const ValueId is_one = f_.apply(OpId::kEqual, {f_.size_of(factor, at), f_.integer(1).parts[0]});
            strides.push_back(f_.apply(OpId::kSelect, {is_one, zero, f_.stride_of(factor, at)}));
        }
        if (!is_left) strides.insert(strides.end(), left_axes.size(), zero);
        for (const size_t d : own) strides.push_back(f_.stride_of(factor, d));
        if (is_left) strides.insert(strides.end(), right_axes.size(), zero);
        strides.push_back(f_.stride_of(factor, sum));
        return f_.view(factor, zero, shape, strides, false);
    };
    const std::array arguments = {out, walk(a, left_axes, left_sum, true),
                                  walk(b, right_axes, right_sum, false)};
    answer(shape.size() == 1 ? "multiply_vectors" : "multiply", arguments);
    return element_or_array(array(out, common));
}

Value FunctionLowering::ArrayFunctions::matmul(const Value& first, const Value& second) {
    const Value left = array(first), right = array(second);
    const size_t left_rank = left.type->rank, right_rank = right.type->rank;
    for (size_t i = 0; i < 2; ++i) {
        if ((i == 0 ? left_rank : right_rank) == 0)
            f_.fail(where_, "matmul: Input operand " + std::to_string(i) +
                                " does not have enough dimensions (has 0, gufunc core with signature "
                                "(n?,k),(k,m?)->(n?,m?) requires 1)");
    }
    const size_t left_sum = left_rank - 1, right_sum = right_rank == 1 ? 0 : right_rank - 2;
    const ValueId k = f_.size_of(left, left_sum), other = f_.size_of(right, right_sum);
    check_sizes(f_.apply(OpId::kEqual, {k, other}),
                "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                "(n?,k),(k,m?)->(n?,m?) (size {} is different from {})",
                {other, k});
    std::vector<Value> batches;
    for (const Value* each : {&left, &right}) {
        if (each->type->rank <= 2) continue;
        std::vector<ValueId> shape, strides;
        for (size_t d = 0; d + 2 < each->type->rank; ++d) {
            shape.push_back(f_.size_of(*each, d));
            strides.push_back(f_.stride_of(*each, d));
        }
        batches.push_back(f_.view(*each, f_.integer(0).parts[0], shape, strides, false));
    }
    const std::vector<ValueId> batch = f_.broadcast_shape(batches, where_);
    std::vector<size_t> rows, columns;
    if (left_rank > 1) rows.push_back(left_rank - 2);
    if (right_rank > 1) columns.push_back(right_rank - 1);
    return product(left, right, batch, rows, left_sum, columns, right_sum);
}

Value FunctionLowering::ArrayFunctions::dot(const Value& first, const Value& second) {
    const auto is_number = [](const Value& value) {
        return is_scalar(value.type) || (is_array(value.type) && value.type->rank == 0);
    };
    if (is_number(first) || is_number(second)) return operate(OpId::kMultiply, {first, second});
    const Value left = array(first), right = array(second);
    const size_t left_sum = left.type->rank - 1;
    const size_t right_sum = right.type->rank == 1 ? 0 : right.type->rank - 2;
    const ValueId k = f_.size_of(left, left_sum), other = f_.size_of(right, right_sum);
    const auto shape_text = [](size_t rank) {
        std::string text = "(";
        for (size_t d = 0; d < rank; ++d) text += d == 0 ? "{}" : ",{}";
        return text + (rank == 1 ? ",)" : ")");
    };
    std::vector<ValueId> sizes = shape_of(left);
    for (const ValueId size : shape_of(right)) sizes.push_back(size);
    sizes.push_back(k);
    sizes.push_back(other);
    check_sizes(f_.apply(OpId::kEqual, {k, other}),
                "shapes " + shape_text(left.type->rank) + " and " + shape_text(right.type->rank) +
                    " not aligned: {} (dim " + std::to_string(left_sum) + ") != {} (dim " +
                    std::to_string(right_sum) + ")",
                std::move(sizes));
    std::vector<size_t> rows, columns;
    for (size_t d = 0; d < left_sum; ++d) rows.push_back(d);
    for (size_t d = 0; d < right.type->rank; ++d) {
        if (d != right_sum) columns.push_back(d);
    }
    return product(left, right, {}, rows, left_sum, columns, right_sum);
}

Value FunctionLowering::ArrayFunctions::vdot(const Value& first, const Value& second) {
    Value left = f_.ravelled(array(first), where_);
    const Value right = f_.ravelled(array(second), where_);
    const ValueId size = f_.size_of(left, 0), other = f_.size_of(right, 0);
    check_sizes(f_.apply(OpId::kEqual, {size, other}), "cannot reshape array of size {} into shape ({},)",
                {other, size});
    if (DType(left.type->scalar).is_complex()) left = operate(OpId::kConjugate, {left});
    return dot(left, right);
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_product() {
    if (name_ == "matmul") {
        const std::vector<Value> given =
            bind("x1 x2 out? casting! order! dtype! subok! signature! axes! axis!");
        return stored(matmul(given[0], given[1]), given[2]);
    }
    if (name_ == "dot") {
        const std::vector<Value> given = bind("a b out?");
        return stored(dot(given[0], given[1]), given[2]);
    }
    if (name_ == "vdot") {
        const std::vector<Value> given = bind("a b");
        return vdot(given[0], given[1]);
    }
    if (name_ == "inner") {
        const std::vector<Value> given = bind("a b");
        const bool is_matrix = is_array(given[1].type) && given[1].type->rank >= 2;
        return dot(given[0], is_matrix ? transposed_last(given[1]) : given[1]);
    }
    return std::nullopt;
}

}  // namespace weft::lang
