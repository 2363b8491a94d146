// Householder reflectors, many at a time: as the identity less v t vᴴ, which turns their products with a
// matrix into products of matrices (Schreiber and Van Loan, A storage-efficient WY representation, 1989).
#pragma once

#include <memory>
#include <vector>

#include "library/linalg/dense_kernels.h"
#include "library/linalg/matrices.h"

namespace weft::lapack {

// The reflectors H_0 H_1 ... of `width` columns of v, which is one on its diagonal and zero above, without
// being read there.
template <class T>
class ReflectorBlock {
public:
    ReflectorBlock(int64_t rows, int64_t width, const T* v, int64_t ldv, const T* tau)
        : rows_(rows), width_(width), v_(v), ldv_(ldv), t_(width * width) {
        functions<T>().larft("F", "C", &rows, &width, v, &ldv, tau, t_, &width, 1, 1);
    }
    // On `columns` columns of as many rows; its adjoint where a factorisation needs that.
    void apply(bool adjoint, int64_t columns, T* c, int64_t ldc) const {
        const Room<T> work(columns * width_);
        functions<T>().larfb("L", adjoint ? (is_complex<T> ? "C" : "T") : "N", "F", "C", &rows_, &columns,
                             &width_, v_, &ldv_, t_, &width_, c, &ldc, work, &columns, 1, 1, 1, 1);
    }

private:
    int64_t rows_, width_;
    const T* v_;
    int64_t ldv_;
    Room<T> t_;
};

// `count` reflectors, whose vectors are the columns of v from its diagonal on, in blocks: the orthogonal
// matrix of their product in that order.
template <class T>
class Reflectors {
public:
    static constexpr int64_t kWidth = 64;  // of a block

    Reflectors(int64_t rows, int64_t count, const T* v, int64_t ldv, const T* tau)
        : blocks_(static_cast<size_t>((count + kWidth - 1) / kWidth)) {
        parallel_for(static_cast<int64_t>(blocks_.size()), [&](int64_t block) {
            const int64_t j = block * kWidth;
            blocks_[static_cast<size_t>(block)] = std::make_unique<ReflectorBlock<T>>(
                rows - j, std::min(kWidth, count - j), v + j + j * ldv, ldv, tau + j);
        });
    }
    // Only the first `blocks` of them, where the others would meet nothing but zeros.
    void apply(int64_t columns, T* c, int64_t ldc, int64_t blocks) const {
        for (int64_t block = blocks; block-- > 0;)
            blocks_[static_cast<size_t>(block)]->apply(false, columns, c + block * kWidth, ldc);
    }
    void apply(int64_t columns, T* c, int64_t ldc) const { apply(columns, c, ldc, count()); }
    int64_t count() const { return static_cast<int64_t>(blocks_.size()); }

private:
    std::vector<std::unique_ptr<ReflectorBlock<T>>> blocks_;
};

}  // namespace weft::lapack
