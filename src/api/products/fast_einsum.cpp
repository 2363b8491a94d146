#include "api/products/fast_einsum.h"

#include "api/fast/fast_call.h"

namespace weft {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// One or two letters that differ, as many as the operand has axes.
bool names_axes(std::string_view labels, const array& operand) {
    if (labels.size() != operand.shape().size() || labels.empty() || labels.size() > 2) return false;
    for (const char label : labels) {
        if (!is_letter(label)) return false;
    }
    return labels.size() == 1 || labels[0] != labels[1];
}

array transposed(const array& matrix) {
    const Dims &shape = matrix.shape(), &strides = matrix.strides();
    return matrix.with_view(matrix.dtype(), Dims{shape[1], shape[0]}, Dims{strides[1], strides[0]},
                            matrix.offset());
}

array flat(const array& operand) {
    return operand.with_view(operand.dtype(), Dims{operand.size()}, Dims{operand.itemsize()},
                             operand.offset());
}

}  // namespace

bool try_einsum(std::string_view text, const array& left, const array& right, array& result) {
    const size_t comma = text.find(','), arrow = text.find("->");
    if (comma == text.npos || arrow == text.npos || arrow < comma) return false;
    const std::string_view of_left = text.substr(0, comma);
    const std::string_view of_right = text.substr(comma + 1, arrow - comma - 1);
    const std::string_view of_result = text.substr(arrow + 2);
    if (!names_axes(of_left, left) || !names_axes(of_right, right) || !left.c_contiguous() ||
        !right.c_contiguous() || left.dtype().is_bool())
        return false;
    if (of_left == of_right && of_result.empty()) {
        if (left.shape() != right.shape()) return false;
        return left.ndim() == 1 ? try_multiply(left, right, result)
                                : try_multiply(flat(left), flat(right), result);
    }
    // The label that is summed over, and those that remain, in this order.
    const size_t place = of_right.find(of_left.back());
    const bool is_last = place != of_right.npos;
    const size_t other = is_last ? place : of_right.find(of_left.front());
    if (other == of_right.npos) return false;
    const size_t own = is_last ? of_left.size() - 1 : 0;
    char kept[2];
    size_t count = 0;
    if (of_left.size() == 2) kept[count++] = of_left[1 - own];
    if (of_right.size() == 2) kept[count++] = of_right[1 - other];
    if (of_result != std::string_view(kept, count) || (count == 2 && kept[0] == kept[1])) return false;
    if (left.shape()[own] != right.shape()[other]) return false;
    const bool turns_left = own == 0 && of_left.size() == 2, turns_right = other == 1;
    if (turns_left && turns_right) return false;  // NumPy's result lies in Fortran order
    if (!turns_left && !turns_right) return try_multiply(left, right, result);
    return try_multiply(turns_left ? transposed(left) : left, turns_right ? transposed(right) : right,
                        result);
}

}  // namespace weft
