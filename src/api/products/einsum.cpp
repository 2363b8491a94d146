// einsum: what its subscripts say becomes views, sums over axes, and products of two operands at a time.
#include <utility>
#include <vector>

#include "api/products/contraction_path.h"
#include "api/products/fast_einsum.h"
#include "core/float_errors.h"
#include "core/shape.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/operations.h"
#include "weft/ops.h"
#include "weft/products.h"

namespace weft {

namespace {

struct Factor {
    array value;
    Labels labels;
};

// The view of the elements whose indices agree where labels are repeated, with the axes of `out_labels`.
array label_view(const array& input, const Labels& labels, const Labels& out_labels) {
    Dims shape, strides;
    for (const int label : out_labels) {
        int64_t extent = 1, stride = 0;
        for (size_t axis = 0; axis < labels.size(); ++axis) {
            if (labels[axis] != label) continue;
            extent = input.shape()[axis];
            stride += input.strides()[axis];
        }
        shape.push_back(extent);
        strides.push_back(stride);
    }
    return input.with_view(input.dtype(), std::move(shape), std::move(strides), input.offset());
}

// One operand without repeated labels, summed over those that `result` has not.
array alone(const Factor& operand, const Labels& result) {
    Labels order;
    for (const int label : result) {
        if (has(operand.labels, label)) order.push_back(label);
    }
    Dims summed;
    for (const int label : without_repeats(operand.labels)) {
        if (has(result, label)) continue;
        summed.push_back(static_cast<int64_t>(order.size()));
        order.push_back(label);
    }
    array view = label_view(operand.value, operand.labels, order);
    if (summed.empty()) return view;
    return view.dtype().is_bool() ? any(view, summed) : sum(view, summed, {.dtype = view.dtype()});
}

// The labels of a product that is multiplied further: first those of both factors.
Labels kept_labels(const Labels& left, const Labels& right, const Labels& wanted) {
    Labels kept;
    const auto keep = [&](const Labels& labels, bool in_left, bool in_right) {
        for (const int label : labels) {
            if (has(wanted, label) && has(left, label) == in_left && has(right, label) == in_right)
                kept.push_back(label);
        }
    };
    keep(left, true, true);
    keep(left, true, false);
    keep(right, false, true);
    return kept;
}

// The product of the factors of one step; `result` is what is wanted of the last one, `others` are multiplied
// later.
Factor multiply_step(std::vector<Factor> chosen, std::span<const Factor> others, bool is_last,
                     const Labels& result, const Extents& extents) {
    Labels around = result;
    for (const Factor& other : others) around = union_of(around, other.labels);
    while (chosen.size() > 1) {
        size_t i = 0, j = 1;
        if (chosen.size() > 2) {
            std::vector<Labels> sets;
            for (const Factor& factor : chosen) sets.push_back(factor.labels);
            std::tie(i, j) = find_pairs(sets, around, extents, PathSearch::kOptimal)[0];
        }
        const Factor left = std::move(chosen[i]), right = std::move(chosen[j]);
        chosen.erase(chosen.begin() + static_cast<ptrdiff_t>(j));
        chosen.erase(chosen.begin() + static_cast<ptrdiff_t>(i));
        Labels kept = result;
        if (!is_last || !chosen.empty()) {
            Labels wanted = around;
            for (const Factor& factor : chosen) wanted = union_of(wanted, factor.labels);
            kept = kept_labels(left.labels, right.labels, wanted);
        }
        array product = contract(left.value, left.labels, right.value, right.labels, kept);
        chosen.push_back({std::move(product), std::move(kept)});
    }
    return std::move(chosen[0]);
}

array contract_all(std::vector<Factor> operands, const Subscripts& subscripts, const PathChoice& choice) {
    const Labels& result = subscripts.result;
    if (operands.size() == 1) return alone(operands[0], result);
    for (Factor& operand : operands) {
        Labels unique = without_repeats(operand.labels);
        if (unique.size() != operand.labels.size())
            operand.value = label_view(operand.value, operand.labels, unique);
        operand.labels = std::move(unique);
    }
    const ContractionPath path = path_of(subscripts, choice);
    for (size_t number = 0; number < path.size(); ++number) {
        std::vector<Factor> chosen, others;
        for (const int64_t position : path[number])
            chosen.push_back(std::move(operands[static_cast<size_t>(position)]));
        for (Factor& operand : operands) {
            if (operand.value.valid()) others.push_back(std::move(operand));
        }
        Factor product =
            multiply_step(std::move(chosen), others, number + 1 == path.size(), result, subscripts.extents);
        operands = std::move(others);
        operands.push_back(std::move(product));
    }
    return operands[0].labels == result ? std::move(operands[0].value) : alone(operands[0], result);
}

std::string quoted(DType dtype) { return "dtype('" + std::string(dtype.name()) + "')"; }

void check_operand_casts(std::span<const array> operands, DType dtype, Casting casting) {
    for (size_t k = 0; k < operands.size(); ++k) {
        if (can_cast(operands[k].dtype(), dtype, casting)) continue;
        throw TypeError("Iterator operand " + std::to_string(k) + " dtype could not be cast from " +
                        quoted(operands[k].dtype()) + " to " + quoted(dtype) + " according to the rule '" +
                        std::string(casting_name(casting)) + "'");
    }
}

void check_out(const array& out, const Dims& shape, DType dtype, Casting casting, size_t number) {
    if (out.shape() != shape) {
        throw ValueError("non-broadcastable output operand with shape " + shape_text(out.shape()) +
                         " doesn't match the broadcast shape " + shape_text(shape));
    }
    if (can_cast(dtype, out.dtype(), casting)) return;
    throw TypeError("Iterator requested dtype could not be cast from " + quoted(dtype) + " to " +
                    quoted(out.dtype()) + ", the operand " + std::to_string(number) +
                    " dtype, according to the rule '" + std::string(casting_name(casting)) + "'");
}

DType common_dtype(std::span<const array> operands) {
    std::vector<OperandType> types;
    for (const array& operand : operands) types.emplace_back(operand.dtype());
    return result_type(types);
}

array in_order(const array& value, char order) {
    const bool fits =
        order == 'K' || (order != 'F' && value.c_contiguous()) || (order != 'C' && value.f_contiguous());
    return fits ? value : copy(value, order);
}

}  // namespace

array einsum(std::string_view text, std::span<const array> operands, const EinsumOptions& options) {
    const bool is_plain = operands.size() == 2 && !options.out.valid() && !options.dtype &&
                          options.order == 'K' && options.casting == Casting::kSafe &&
                          std::holds_alternative<PathSearch>(options.optimize);
    if (array result;
        is_plain && !float_errors_watched() && try_einsum(text, operands[0], operands[1], result))
        return result;
    const Subscripts subscripts = read_subscripts(text, operands);
    const bool has_out = options.out.valid();
    const bool is_view = operands.size() == 1 && !has_out &&
                         without_repeats(subscripts.inputs[0]).size() == subscripts.result.size();
    // NumPy gives the view whatever dtype is asked for.
    const DType common = is_view         ? operands[0].dtype()
                         : options.dtype ? *options.dtype
                                         : common_dtype(operands);
    Dims shape;
    for (const int label : subscripts.result) shape.push_back(subscripts.extents[label]);
    check_operand_casts(operands, common, options.casting);
    if (has_out) check_out(options.out, shape, common, options.casting, operands.size());
    // Of 16-bit floats float32, rounded once; GPUs multiply two of them so by themselves.
    const bool by_library = operands.size() == 2 && !device_of(operands[0]).is_cpu();
    const DType compute = is_view || by_library ? common : common.accumulator();
    std::vector<Factor> factors;
    factors.reserve(operands.size());
    for (size_t k = 0; k < operands.size(); ++k) {
        const array& operand = operands[k];
        factors.push_back(
            {operand.dtype() == compute ? operand : astype(operand, compute), subscripts.inputs[k]});
    }
    array value = contract_all(std::move(factors), subscripts, options.optimize);
    if (value.shape() != shape) value = broadcast_to(value, shape);
    if (value.dtype() != common) value = astype(value, common);
    if (has_out) {
        assign(options.out, value, options.casting);
        return options.out;
    }
    return is_view ? value : in_order(value, options.order);
}

}  // namespace weft
