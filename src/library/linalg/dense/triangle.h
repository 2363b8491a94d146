// Equations with a triangle, by halves: the unknowns of one half, a product that takes them from the other
// half's equations, then that half's. The products' factors are packed once, for any number of right-hand
// sides and of threads that share them.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "library/linalg/dense/leaves.h"
#include "library/linalg/dense/packed.h"

namespace weft::lapack {

struct TriangleForm {
    bool lower;  // of the matrix as it lies
    Form form = Form::kPlain;
    bool unit = false;  // the diagonal is one, and is not read
};

template <class T>
class Triangle {
public:
    // The matrix is read until all parts are packed; where there are no kernels, later too. No element of the
    // diagonal is zero.
    Triangle(TriangleForm form, int64_t n, const T* a, int64_t lda) : form_(form), a_(a), lda_(lda) {
        if constexpr (!is_complex<T>) kernels_ = own_products<T>() == nullptr ? nullptr : leaf_kernels<T>();
        if (n > 0) root_ = divide(0, n);
        for (const Node* node : branches_) {
            parts_of_branches_.push_back(parts_);
            parts_ += node->product->parts();
        }
    }

    // What is to be packed before the first solution, in parts that are independent.
    int64_t parts() const { return parts_; }
    void pack(int64_t part) const {
        const auto next = std::upper_bound(parts_of_branches_.begin(), parts_of_branches_.end(), part);
        const int64_t branch = next - parts_of_branches_.begin() - 1;
        branches_[static_cast<size_t>(branch)]->product->pack(
            part - parts_of_branches_[static_cast<size_t>(branch)]);
    }
    const Triangle& pack_all() const {
        for (int64_t part = 0; part < parts_; ++part) pack(part);
        return *this;
    }

    // b becomes the solution. Its rows before `zeros` are zero, if unknowns are found from the first one on.
    void solve(int64_t columns, T* b, int64_t ldb, int64_t zeros = 0) const {
        if (root_ != nullptr && columns > 0) solve(*root_, columns, b, ldb, zeros);
    }

    bool forward() const { return form_.lower == (form_.form == Form::kPlain); }

private:
    static constexpr int64_t kLapackSide = 64;

    struct Node {
        int64_t first, end;
        std::unique_ptr<Node> before, after;  // in the order of the unknowns
        std::unique_ptr<Packed<T>> product;   // of the equations of `after` with the unknowns of `before`
        std::unique_ptr<TriangleLeaf<Real<T>>> leaf;
    };

    const T* at(int64_t row, int64_t column) const {  // of op(a)
        return form_.form == Form::kPlain ? a_ + row + column * lda_ : a_ + column + row * lda_;
    }

    std::unique_ptr<Node> divide(int64_t first, int64_t end) {
        auto node = std::make_unique<Node>();
        node->first = first;
        node->end = end;
        const int64_t n = end - first, most = kernels_ != nullptr ? kLeafSide : kLapackSide;
        if (n <= most) {
            if constexpr (!is_complex<T>) {
                if (kernels_ != nullptr) node->leaf = leaf_of(first, n);
            }
            return node;
        }
        const int64_t leaves = (n + most - 1) / most;
        const int64_t middle = first + leaves / 2 * most;
        auto upper = divide(first, middle), lower = divide(middle, end);
        const bool down = forward();
        node->before = std::move(down ? upper : lower);
        node->after = std::move(down ? lower : upper);
        const Node &from = *node->before, &to = *node->after;
        node->product = std::make_unique<Packed<T>>(form_.form, to.end - to.first, from.end - from.first,
                                                    at(to.first, from.first), lda_);
        branches_.push_back(node.get());
        return node;
    }

    std::unique_ptr<TriangleLeaf<Real<T>>> leaf_of(int64_t first, int64_t n) const {
        auto leaf = std::make_unique<TriangleLeaf<T>>();
        leaf->forward = forward();
        bool divides = false;
        std::fill(std::begin(leaf->columns), std::end(leaf->columns), T(0));
        std::fill(std::begin(leaf->diagonal), std::end(leaf->diagonal), T(1));
        for (int64_t j = 0; j < n; ++j) {
            for (int64_t i = leaf->forward ? j + 1 : 0; i < (leaf->forward ? n : j); ++i)
                leaf->columns[i + j * kLeafSide] = *at(first + i, first + j);
            if (form_.unit) continue;
            leaf->diagonal[j] = *at(first + j, first + j);
            constexpr T kLeast = std::numeric_limits<T>::min();
            const T size = std::abs(leaf->diagonal[j]);
            divides |= !(size >= kLeast && size <= 1 / kLeast);
        }
        leaf->kind = form_.unit ? Diagonal::kOnes : divides ? Diagonal::kDivisors : Diagonal::kFactors;
        if (leaf->kind == Diagonal::kFactors)
            for (int64_t j = 0; j < n; ++j) leaf->diagonal[j] = 1 / leaf->diagonal[j];
        return leaf;
    }

    void solve(const Node& node, int64_t columns, T* b, int64_t ldb, int64_t zeros) const {
        if (node.product != nullptr) {
            const Node &from = *node.before, &to = *node.after;
            if (zeros < from.end || !forward()) {
                solve(from, columns, b, ldb, zeros);
                node.product->multiply(Update::kSubtract, columns, b + from.first, ldb, b + to.first, ldb,
                                       forward() ? std::max<int64_t>(0, zeros - from.first) : 0);
            }
            solve(to, columns, b, ldb, zeros);
            return;
        }
        const int64_t n = node.end - node.first;
        if constexpr (!is_complex<T>) {
            if (node.leaf != nullptr) return kernels_->solve(*node.leaf, n, columns, b + node.first, ldb);
        }
        int64_t info = 0;
        const char* const forms[] = {"N", "T", "C"};
        functions<T>().trtrs(form_.lower ? "L" : "U", forms[static_cast<int>(form_.form) - 111],
                             form_.unit ? "U" : "N", &n, &columns, a_ + node.first * (lda_ + 1), &lda_,
                             b + node.first, &ldb, &info, 1, 1, 1);
    }

    TriangleForm form_;
    const T* a_;
    int64_t lda_;
    const LeafKernels<Real<T>>* kernels_ = nullptr;
    std::unique_ptr<Node> root_;
    std::vector<Node*> branches_;
    std::vector<int64_t> parts_of_branches_;
    int64_t parts_ = 0;
};

}  // namespace weft::lapack
