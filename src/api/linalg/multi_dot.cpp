// Products of chains of matrices, in the order that takes the fewest multiplications.
#include <string>
#include <vector>

#include "weft/indexing.h"
#include "weft/linalg.h"
#include "weft/ops.h"
#include "weft/products.h"

namespace weft::linalg {

namespace {

// Where to cut each part of a chain, by its first and last matrix: the classical dynamic programme.
class Splits {
public:
    explicit Splits(const std::vector<array>& matrices)
        : count_(matrices.size()), cut_(count_ * count_), cost_(count_ * count_) {
        std::vector<double> extents;
        for (const array& each : matrices) extents.push_back(static_cast<double>(each.shape()[0]));
        extents.push_back(static_cast<double>(matrices.back().shape()[1]));
        for (size_t length = 1; length < count_; ++length) {
            for (size_t first = 0; first + length < count_; ++first) choose(first, first + length, extents);
        }
    }
    size_t cut(size_t first, size_t last) const { return cut_[first * count_ + last]; }

private:
    void choose(size_t first, size_t last, const std::vector<double>& extents) {
        const size_t here = first * count_ + last;
        for (size_t cut = first; cut < last; ++cut) {
            const double cost = cost_[first * count_ + cut] + cost_[(cut + 1) * count_ + last] +
                                extents[first] * extents[cut + 1] * extents[last + 1];
            if (cut != first && cost >= cost_[here]) continue;
            cost_[here] = cost;
            cut_[here] = cut;
        }
    }

    size_t count_;
    std::vector<size_t> cut_;
    std::vector<double> cost_;
};

array product(const std::vector<array>& matrices, const Splits& splits, size_t first, size_t last,
              const array& out = {}) {
    if (first == last) return matrices[first];
    const size_t cut = splits.cut(first, last);
    return dot(product(matrices, splits, first, cut), product(matrices, splits, cut + 1, last), out);
}

void check_chain(const std::vector<array>& matrices) {
    for (const array& each : matrices) {
        if (each.ndim() != 2)
            throw LinAlgError(std::to_string(each.ndim()) +
                              "-dimensional array given. Array must be two-dimensional");
    }
    for (size_t k = 1; k < matrices.size(); ++k) {
        if (matrices[k - 1].shape()[1] != matrices[k].shape()[0])
            dot(matrices[k - 1], matrices[k]);  // throws
    }
}

}  // namespace

array multi_dot(const std::vector<array>& arrays, const array& out) {
    if (arrays.size() < 2) throw ValueError("Expecting at least two arrays.");
    if (arrays.size() == 2) return dot(arrays[0], arrays[1], out);
    std::vector<array> matrices = arrays;
    const bool row = arrays.front().ndim() == 1, column = arrays.back().ndim() == 1;
    if (row) matrices.front() = arrays.front()(newaxis, all);
    if (column) matrices.back() = arrays.back()(all, newaxis);
    check_chain(matrices);
    const Splits splits(matrices);
    const size_t last = matrices.size() - 1;
    if (!row && !column) return product(matrices, splits, 0, last, out);
    array result = product(matrices, splits, 0, last);
    if (row) result = result(0);
    if (column) result = result(ellipsis, 0);
    if (!out.valid()) return result;
    assign(out, result, Casting::kSameKind);
    return out;
}

}  // namespace weft::linalg
