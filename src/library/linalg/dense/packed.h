// C = op(A) B, C + op(A) B or C - op(A) B in column-major order on the calling thread, with A packed once for
// all threads: by weft's own kernels for real numbers where the processor has them, else by OpenBLAS. Who
// calls holds BlasThreads.
#pragma once

#include <initializer_list>
#include <optional>

#include "library/linalg/dense_kernels.h"
#include "library/linalg/matrices.h"
#include "library/products/cpu/packed/packed_factor.h"

namespace weft::lapack {

template <class T>
const PanelKernels* own_products() {
    if constexpr (is_complex<T>) {
        return nullptr;
    } else {
        return panel_kernels(std::is_same_v<T, float> ? ScalarType::kFloat32 : ScalarType::kFloat64);
    }
}

template <class T>
class Packed {
public:
    // op(a) has `rows` rows and `depth` columns. `a` is read until all parts are packed, and later too where
    // there are no kernels.
    Packed(Form form, int64_t rows, int64_t depth, const T* a, int64_t lda)
        : form_(form), rows_(rows), depth_(depth), a_(a), lda_(lda) {
        const PanelKernels* const kernels = own_products<T>();
        if (kernels == nullptr || rows == 0 || depth == 0) return;
        const int64_t item = sizeof(T), far = lda * item;
        const bool plain = form == Form::kPlain;
        factor_.emplace(*kernels, rows, depth, reinterpret_cast<const char*>(a), plain ? item : far,
                        plain ? far : item);
    }

    int64_t rows() const { return rows_; }
    int64_t depth() const { return depth_; }
    int64_t parts() const { return factor_ ? factor_->parts() : 0; }
    void pack(int64_t part) { factor_->pack(part); }
    const Packed& pack_all() {
        for (int64_t part = 0; part < parts(); ++part) pack(part);
        return *this;
    }
    int64_t rows_of_part() const { return factor_ ? factor_->rows_of_part() : 64; }
    int64_t granule() const { return factor_ ? factor_->granule() : 16; }

    // For rows of C from `first` on, a multiple of granule(); `c` is the first of them. Rows of b before
    // `zeros` are zero.
    void multiply(Update update, int64_t first, int64_t rows, int64_t columns, const T* b, int64_t ldb, T* c,
                  int64_t ldc, int64_t zeros = 0) const {
        if (rows <= 0 || columns <= 0) return;
        const int64_t item = sizeof(T);
        if (factor_) {
            factor_->multiply(update, first, rows, columns, reinterpret_cast<const char*>(b), ldb * item,
                              reinterpret_cast<char*>(c), ldc * item, zeros);
        } else {
            lapack::multiply(form_, Form::kPlain, rows, columns, depth_,
                             T(update == Update::kSubtract ? -1 : 1),
                             a_ + (form_ == Form::kPlain ? first : first * lda_), lda_, b, ldb,
                             T(update == Update::kSet ? 0 : 1), c, ldc);
        }
    }
    void multiply(Update update, int64_t columns, const T* b, int64_t ldb, T* c, int64_t ldc,
                  int64_t zeros = 0) const {
        multiply(update, 0, rows_, columns, b, ldb, c, ldc, zeros);
    }

private:
    Form form_;
    int64_t rows_, depth_;
    const T* a_;
    int64_t lda_;
    std::optional<PackedFactor> factor_;
};

// All parts of some factors, by all threads.
template <class T>
void pack_together(std::initializer_list<Packed<T>*> factors) {
    int64_t parts = 0;
    for (const Packed<T>* factor : factors) parts += factor->parts();
    parallel_for(parts, [&](int64_t part) {
        for (Packed<T>* factor : factors) {
            if (part < factor->parts()) return factor->pack(part);
            part -= factor->parts();
        }
    });
}

}  // namespace weft::lapack
