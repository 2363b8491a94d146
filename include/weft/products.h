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
