// Products of vectors, and of matrices with vectors: steps of contraction, and what dot and matmul are.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/elementwise/float_errors.h"
#include "api/fast/fast_call.h"
#include "api/fast/fast_sums.h"
#include "api/recording/moved_axis.h"
#include "api/recording/part_of_axis.h"
#include "device/devices.h"
#include "graph/placement.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/operations.h"
#include "weft/products.h"

namespace weft {

namespace {

array conjugated(const array& a) { return a.dtype().is_complex() ? conjugate(a) : a; }

// A step of contraction under the name that floating-point errors are told by.
array contract_as(std::string_view name, const array& left, std::span<const int> left_labels,
                  const array& right, std::span<const int> right_labels, std::span<const int> labels) {
    FloatWatch watch;
    const array result = contract(left, left_labels, right, right_labels, labels, 'C');
    const array operands[] = {left, right};
    if (watch) inspect_whole(watch, operands, result);
    if (watch) watch.report(name, {&result, 1});
    return result;
}

array matmul_as(std::string_view name, const array& left, const array& right) {
    FloatWatch watch;
    const array result = matmul(left, right);
    if (watch) inspect_product(watch, left, right, result);
    if (watch) watch.report(name, {&result, 1});
    return result;
}

std::vector<int> range(int begin, int end) {
    std::vector<int> labels;
    for (int label = begin; label < end; ++label) labels.push_back(label);
    return labels;
}

[[noreturn]] void throw_too_few_axes(std::string_view name, int operand, const array& given,
                                     std::string_view signature, int required) {
    throw ValueError(std::string(name) + ": Input operand " + std::to_string(operand) +
                     " does not have enough dimensions (has " + std::to_string(given.ndim()) +
                     ", gufunc core with signature " + std::string(signature) + " requires " +
                     std::to_string(required) + ")");
}

// That vectors are as long as the axis that they are multiplied over: the last of the second operand, or the
// last but one.
void check_vectors(std::string_view name, std::string_view signature, const array& x1, const array& x2,
                   int second) {
    if (x1.ndim() < 1) throw_too_few_axes(name, 0, x1, signature, 1);
    if (x2.ndim() < second) throw_too_few_axes(name, 1, x2, signature, second);
    const int64_t size = x2.shape()[x2.shape().size() - static_cast<size_t>(second)];
    if (size == x1.shape().back()) return;
    throw ValueError(std::string(name) +
                     ": Input operand 1 has a mismatch in its core dimension 0, with gufunc signature " +
                     std::string(signature) + " (size " + std::to_string(size) + " is different from " +
                     std::to_string(x1.shape().back()) + ")");
}

// As Python writes a tuple.
std::string tuple_text(const Dims& shape) {
    std::string text;
    for (const int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
    return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

// Throws as np.broadcast does, which names the first two operands that do not fit.
void check_broadcast(const Dims& first, const Dims& second) {
    const size_t ndim = std::max(first.size(), second.size());
    for (size_t d = 0; d < ndim; ++d) {
        const size_t before_first = ndim - first.size(), before_second = ndim - second.size();
        if (d < before_first || d < before_second) continue;
        const int64_t one = first[d - before_first], other = second[d - before_second];
        if (one == other || one == 1 || other == 1) continue;
        throw ValueError(
            "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 with "
            "shape " +
            tuple_text(first) + " and arg 1 with shape " + tuple_text(second) + ".");
    }
}

array with_axis(const array& a, int64_t axis) { return expand_dims(a, Dims{axis}); }

}  // namespace

array outer(const array& a, const array& b, const array& out) {
    return multiply(with_axis(ravel(a), 1), with_axis(ravel(b), 0), {.out = out});
}

array inner(const array& a, const array& b) { return dot(a, b.ndim() < 2 ? b : swapaxes(b, -1, -2)); }

array vdot(const array& a, const array& b) {
    const array left = ravel(a), right = ravel(b);
    if (left.size() != right.size())
        throw ValueError("cannot reshape array of size " + std::to_string(right.size()) + " into shape (" +
                         std::to_string(left.size()) + ",)");
    return dot(conjugated(left), right);
}

array tensordot(const array& a, const array& b, int64_t axes) {
    std::vector<int64_t> last, first;
    for (int64_t axis = 0; axis < axes; ++axis) {
        last.push_back(axis - axes);
        first.push_back(axis);
        if (axis >= a.ndim() || axis >= b.ndim()) break;  // which is an error
    }
    return tensordot(a, b, last, first);
}

array tensordot(const array& a, const array& b, std::span<const int64_t> a_axes,
                std::span<const int64_t> b_axes) {
    if (a_axes.size() != b_axes.size()) throw ValueError("shape-mismatch for sum");
    const auto place = [](const array& operand, int64_t axis) {
        if (axis < -operand.ndim() || axis >= operand.ndim()) throw IndexError("tuple index out of range");
        return static_cast<size_t>(axis < 0 ? axis + operand.ndim() : axis);
    };
    std::vector<int> left = range(0, a.ndim()), right = range(a.ndim(), a.ndim() + b.ndim());
    std::vector<bool> summed(left.size());
    bool is_twice = false;
    for (size_t k = 0; k < a_axes.size(); ++k) {
        const size_t i = place(a, a_axes[k]), j = place(b, b_axes[k]);
        if (a.shape()[i] != b.shape()[j]) throw ValueError("shape-mismatch for sum");
        is_twice = is_twice || summed[i] || right[j] < a.ndim();
        summed[i] = true;
        right[j] = static_cast<int>(i);
    }
    if (is_twice) throw ValueError("axes don't match array");
    if (a_axes.empty()) {
        Dims shape = a.shape();
        for (int d = 0; d < b.ndim(); ++d) shape.push_back(1);
        return multiply(reshape(a, shape), b, {.order = 'C'});
    }
    std::vector<int> kept;
    for (const int label : left) {
        if (!summed[static_cast<size_t>(label)]) kept.push_back(label);
    }
    for (const int label : right) {
        if (label >= a.ndim()) kept.push_back(label);
    }
    return contract_as("dot", a, left, b, right, kept);
}

array vecdot(const array& x1, const array& x2, int64_t axis, bool keepdims) {
    if (array result; axis == -1 && !keepdims && !float_errors_watched() && try_vecdot(x1, x2, result))
        return result;
    constexpr std::string_view kSignature = "(n),(n)->()";
    if (x1.ndim() < 1) throw_too_few_axes("vecdot", 0, x1, kSignature, 1);  // whatever the axis is
    if (x2.ndim() < 1) throw_too_few_axes("vecdot", 1, x2, kSignature, 1);
    const array left = axis == -1 ? x1 : move_axis(x1, axis, -1);
    const array right = axis == -1 ? x2 : move_axis(x2, axis, -1);
    check_vectors("vecdot", kSignature, left, right, 1);
    const array result =
        contract_as("vecdot", conjugated(left), range(-left.ndim(), 0), right, range(-right.ndim(), 0),
                    range(-std::max(left.ndim(), right.ndim()), -1));
    return keepdims ? move_axis(with_axis(result, -1), -1, axis) : result;
}

array matvec(const array& x1, const array& x2) {
    const bool is_one = x1.ndim() == 2 && x2.ndim() == 1 && !float_errors_watched();
    if (array result; is_one && try_multiply(x1, x2, result)) return result;
    if (x1.ndim() < 2) throw_too_few_axes("matvec", 0, x1, "(m,n),(n)->(m)", 2);
    check_vectors("matvec", "(m,n),(n)->(m)", x1, x2, 1);
    const array result = matmul_as("matvec", x1, with_axis(x2, -1));
    return place_of_axis(result, result.ndim() - 1, 0);
}

array vecmat(const array& x1, const array& x2) {
    const bool is_one = x1.ndim() == 1 && x2.ndim() == 2 && !float_errors_watched();
    if (array result; is_one && !x1.dtype().is_complex() && try_multiply(x1, x2, result)) return result;
    check_vectors("vecmat", "(n),(n,m)->(m)", x1, x2, 2);
    const array result = matmul_as("vecmat", with_axis(conjugated(x1), -2), x2);
    return place_of_axis(result, result.ndim() - 2, 0);
}

array cross(const array& a, const array& b, int64_t axisa, int64_t axisb, int64_t axisc) {
    if (a.ndim() < 1 || b.ndim() < 1) throw ValueError("At least one array has zero dimension");
    const DeviceScope scope(device_of(a));
    const array left = move_axis(a, axisa, -1), right = move_axis(b, axisb, -1);
    const int64_t of_left = left.shape().back(), of_right = right.shape().back();
    const auto is_vector = [](int64_t extent) { return extent == 2 || extent == 3; };
    if (!is_vector(of_left) || !is_vector(of_right)) {
        throw ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but they are " +
                         std::to_string(of_left) + " and " + std::to_string(of_right) +
                         " dimensional instead.");
    }
    const auto component = [](const array& vectors, int64_t k) {
        return place_of_axis(vectors, vectors.ndim() - 1, k);
    };
    check_broadcast(component(left, 0).shape(), component(right, 0).shape());
    if (of_left == 2 && of_right == 2) {
        return subtract(multiply(component(left, 0), component(right, 1)),
                        multiply(component(left, 1), component(right, 0)));
    }
    // The third component of a pair is 0.
    const auto with_third = [](const array& vectors) {
        if (vectors.shape().back() == 3) return vectors;
        Dims shape = vectors.shape();
        shape[shape.size() - 1] = 1;
        return concatenate({vectors, zeros(shape, vectors.dtype())}, -1);
    };
    const array x = with_third(left), y = with_third(right);
    std::vector<array> parts;
    for (int64_t k = 0; k < 3; ++k) {
        const int64_t next = (k + 1) % 3, last = (k + 2) % 3;
        parts.push_back(subtract(multiply(component(x, next), component(y, last)),
                                 multiply(component(x, last), component(y, next))));
    }
    return move_axis(stack(parts, -1), -1, axisc);
}

array trace(const array& a, int64_t offset, int64_t axis1, int64_t axis2, const std::optional<DType>& dtype,
            const array& out) {
    return sum(diagonal(a, offset, axis1, axis2), -1, {.dtype = dtype, .out = out});
}

}  // namespace weft
