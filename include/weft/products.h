// Products of arrays: sums over axes of element-wise products.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

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

/// One step of einsum: axes are named by labels, each once in an operand. Axes of extent one broadcast;
/// labels that are not among `out_labels` are summed over. The dtype is what the operands promote to. `order`
/// is C, or K for the order that NumPy's einsum gives its result.
array contract(const array& left, std::span<const int> left_labels, const array& right,
               std::span<const int> right_labels, std::span<const int> out_labels, char order = 'K');

/// np.einsum: einsum("ij,jk->ik", {a, b}). Each product is taken in the order that costs least. Throws
/// ValueError for a text that is wrong and for shapes that do not fit it. Of one operand whose axes all stay
/// it is a view.
array einsum(std::string_view subscripts, std::span<const array> operands);
inline array einsum(std::string_view subscripts, std::initializer_list<array> operands) {
    return einsum(subscripts, std::span<const array>(operands.begin(), operands.size()));
}

}  // namespace weft
