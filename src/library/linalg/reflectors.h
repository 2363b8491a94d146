// Householder reflectors, many at a time: as the identity less v t vᴴ, which turns their products with a
// matrix into products of matrices (Schreiber and Van Loan, A storage-efficient WY representation, 1989).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "library/linalg/dense/packed.h"
#include "library/linalg/matrices.h"

namespace weft::lapack {

// The reflectors H_0 H_1 ... of `width` columns of v, which is one on its diagonal and zero above, without
// being read there.
template <class T>
class ReflectorBlock {
public:
    ReflectorBlock(int64_t rows, int64_t width, const T* v, int64_t ldv, const T* tau)
        : rows_(rows), width_(width), v_(std::in_place, rows * width), t_(width * width) {
        for (int64_t j = 0; j < width; ++j) {
            T* const column = *v_ + j * rows;
            std::fill(column, column + j, T(0));
            column[j] = T(1);
            std::copy(v + j * ldv + j + 1, v + j * ldv + rows, column + j + 1);
        }
        plain_.emplace(Form::kPlain, rows, width, v_->data(), rows);
        adjoint_.emplace(Form::kAdjoint, width, rows, v_->data(), rows);
        tau_ = tau;
    }

    // What is to be done before the first use, in parts that are independent, and what is to be done then.
    int64_t parts() const { return plain_->parts() + adjoint_->parts(); }
    void pack(int64_t part) {
        part < plain_->parts() ? plain_->pack(part) : adjoint_->pack(part - plain_->parts());
    }
    void finish() {
        make_t();
        if (own_products<T>() != nullptr) v_.reset();
        plain_t_.emplace(Form::kPlain, width_, width_, t_.data(), width_);
        adjoint_t_.emplace(Form::kAdjoint, width_, width_, t_.data(), width_);
        plain_t_->pack_all();
        adjoint_t_->pack_all();
    }
    ReflectorBlock& prepare() {
        for (int64_t part = 0; part < parts(); ++part) pack(part);
        finish();
        return *this;
    }

    // On `columns` columns of as many rows; its adjoint where a factorisation needs that.
    void apply(bool adjoint, int64_t columns, T* c, int64_t ldc) const {
        if (columns <= 0) return;
        const Room<T> work(2 * columns * width_);
        T* const inner = work.data();
        T* const factor = inner + columns * width_;
        adjoint_->multiply(Update::kSet, columns, c, ldc, inner, width_);
        (adjoint ? adjoint_t_ : plain_t_)->multiply(Update::kSet, columns, inner, width_, factor, width_);
        plain_->multiply(Update::kSubtract, columns, factor, width_, c, ldc);
    }

private:
    // The upper triangle t of (I - v t vᴴ) = H_0 H_1 ..., a column from those before it and from vᴴ v.
    void make_t() {
        const Room<T> products(width_ * width_);
        adjoint_->multiply(Update::kSet, width_, *v_, rows_, products, width_);
        std::fill(t_.data(), t_ + width_ * width_, T(0));
        for (int64_t j = 0; j < width_; ++j) {
            T* const column = t_ + j * width_;
            for (int64_t k = 0; k < j; ++k) {
                const T factor = -tau_[j] * products[k + j * width_];
                for (int64_t i = 0; i <= k; ++i) column[i] += t_[i + k * width_] * factor;
            }
            column[j] = tau_[j];
        }
    }

    int64_t rows_, width_;
    std::optional<Room<T>> v_;
    const T* tau_;
    Room<T> t_;
    std::optional<Packed<T>> plain_, adjoint_, plain_t_, adjoint_t_;
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
            auto& own = blocks_[static_cast<size_t>(block)];
            own = std::make_unique<ReflectorBlock<T>>(rows - j, std::min(kWidth, count - j), v + j + j * ldv,
                                                      ldv, tau + j);
            own->prepare();
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
