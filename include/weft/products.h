// Products of arrays: sums over axes of element-wise products.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weft/array.h"

namespace weft {

struct ProductOptions {
    array out;                   // invalid: a new array
    std::optional<DType> dtype;  // to compute in; absent: NumPy's promotion of the operands
    Casting casting = Casting::kSameKind;
    char order = 'K';  // of a new array: C, F, A or K
};

/// np.matmul: (…, m, k) times (…, k, n) is (…, m, n); the axes before broadcast. One-dimensional operands are
/// a row on the left and a column on the right. Throws ValueError where shapes do not fit, UFuncTypeError
/// where dtypes do not.
array matmul(const array& left, const array& right);
array matmul(const array& left, const array& right, const ProductOptions& options);

/// np.dot: over the last axis of `left` and the last but one (or only) of `right`. `out`, if valid, must be
/// just what would be returned.
array dot(const array& left, const array& right, const array& out = {});

/// np.kron: each element of `left` times all of `right`, in blocks. The operand of fewer axes gets axes of
/// extent one before its own.
///
///     kron(array{1, 10}, array{5, 6}) is {5, 6, 50, 60}
array kron(const array& left, const array& right);

/// np.outer: the product of every pair of an element of `a` and one of `b`, as a matrix: of their elements in
/// C order. `out` has that matrix' shape.
///
///     outer(array{1, 2}, array{3, 4}) is {{3, 4}, {6, 8}}
array outer(const array& a, const array& b, const array& out = {});
/// np.inner: the sum over the last axes of both; with a scalar, the product of each element. Throws
/// ValueError for axes of other lengths.
///
///     inner(array{1, 2}, array{{3, 4}, {5, 6}}) is {11, 17}
array inner(const array& a, const array& b);
/// np.vdot: the sum of conj(a) * b over all elements, in C order. Throws ValueError for other numbers of
/// them.
array vdot(const array& a, const array& b);

/// np.tensordot: the sum of products over the last `axes` axes of `a` and the first of `b`, or over two lists
/// of axes. The result has the other axes of `a`, then those of `b`. Throws ValueError for axes that differ
/// in number or length, or stand twice in a list, IndexError for an axis that is not there.
///
///     tensordot(array{{1, 2}, {3, 4}}, array{{1, 0}, {0, 1}}) is 5
array tensordot(const array& a, const array& b, int64_t axes = 2);
array tensordot(const array& a, const array& b, std::span<const int64_t> a_axes,
                std::span<const int64_t> b_axes);
inline array tensordot(const array& a, const array& b, std::initializer_list<int64_t> a_axes,
                       std::initializer_list<int64_t> b_axes) {
    return tensordot(a, b, std::span<const int64_t>(a_axes.begin(), a_axes.size()),
                     std::span<const int64_t>(b_axes.begin(), b_axes.size()));
}

/// np.vecdot: the sum of conj(x1) * x2 over the last axis, or over `axis`; the other axes broadcast. Throws
/// ValueError for scalars and for vectors of other lengths, AxisError.
///
///     vecdot(array{{1, 2}, {3, 4}}, array{1, 1}) is {3, 7}
array vecdot(const array& x1, const array& x2, int64_t axis = -1, bool keepdims = false);
/// np.matvec, np.vecmat: matrices, the last two axes of one, times vectors, the last axis of the other. Those
/// on the left are conjugated by vecmat. Throw ValueError as vecdot does.
///
///     matvec(array{{1, 2}, {3, 4}}, array{1, 1}) is {3, 7}
array matvec(const array& x1, const array& x2);
array vecmat(const array& x1, const array& x2);

/// np.cross: the cross product of vectors along an axis of each, which lies along `axisc` of the result; of
/// three components, or two, whose third is 0. Of two pairs the third component alone. Throws ValueError for
/// other numbers of components, AxisError.
///
///     cross(array{1, 2, 3}, array{4, 5, 6}) is {-3, 6, -3}
array cross(const array& a, const array& b, int64_t axisa = -1, int64_t axisb = -1, int64_t axisc = -1);

/// np.trace: the sum along a diagonal of two axes. Small integers add up as int64 or uint64. Throws
/// ValueError for fewer axes, AxisError.
///
///     trace(array{{1, 2}, {3, 4}}) is 5
array trace(const array& a, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1,
            const std::optional<DType>& dtype = {}, const array& out = {});

/// One step of einsum: axes are named by labels, each once in an operand. Axes of extent one broadcast;
/// labels that are not among `out_labels` are summed over. The dtype is what the operands promote to. `order`
/// is C, or K for the order that NumPy's einsum gives its result.
array contract(const array& left, std::span<const int> left_labels, const array& right,
               std::span<const int> right_labels, std::span<const int> out_labels, char order = 'K');

/// How the order of einsum's products is found: the cheapest of all orders (of up to eight operands), or the
/// product next which leaves least in memory.
enum class PathSearch : uint8_t { kOptimal, kGreedy };
/// The products one after the other: positions among the operands that are left, whose product becomes the
/// last of them. What is left in the end is multiplied too.
using ContractionPath = std::vector<std::vector<int64_t>>;
using PathChoice = std::variant<PathSearch, ContractionPath>;

struct EinsumOptions {
    array out = {};                    // where the result is written; not given: a new array, or a view
    std::optional<DType> dtype = {};   // to compute in; not given: what the operands promote to
    Casting casting = Casting::kSafe;  // of the operands to that dtype, and of the result to `out`
    char order = 'K';                  // of a new array: C, F, A or K
    PathChoice optimize = PathSearch::kOptimal;
};

/// np.einsum: einsum("ij,jk->ik", {a, b}). Without "->", the result has the labels that occur once, sorted.
/// "..." stands for axes that broadcast, a repeated label for the diagonal. Throws ValueError for a text that
/// is wrong and for shapes that do not fit it, TypeError for a dtype that cannot be cast to. Of one operand
/// whose labels all stay it is a view.
array einsum(std::string_view subscripts, std::span<const array> operands, const EinsumOptions& options = {});
inline array einsum(std::string_view subscripts, std::initializer_list<array> operands,
                    const EinsumOptions& options = {}) {
    return einsum(subscripts, std::span<const array>(operands.begin(), operands.size()), options);
}

struct EinsumPath {
    ContractionPath steps;
    std::string report;  // a table of the steps, with what they cost
};
/// np.einsum_path: the steps that einsum would take.
EinsumPath einsum_path(std::string_view subscripts, std::span<const array> operands,
                       const PathChoice& optimize = PathSearch::kGreedy);
inline EinsumPath einsum_path(std::string_view subscripts, std::initializer_list<array> operands,
                              const PathChoice& optimize = PathSearch::kGreedy) {
    return einsum_path(subscripts, std::span<const array>(operands.begin(), operands.size()), optimize);
}

}  // namespace weft
