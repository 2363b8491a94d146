// The kernels of QR factorisations, symmetric eigenproblems and singular values.
#pragma once

#include "library/linalg/batched/batched.h"
#include "library/linalg/batched/householder.h"
#include "library/linalg/batched/jacobi_svd.h"
#include "library/linalg/batched/scaling.h"
#include "library/linalg/batched/singular_values.h"
#include "library/linalg/batched/symmetric_eigen.h"
#include "library/linalg/batched/tiles.h"

namespace weft::batched {
namespace {

template <class L>
struct SpectralKernels {
    using T = typename L::Element;
    using Value = typename L::Value;
    using Index = typename L::Index;
    using Mask = typename L::Mask;
    using Tile = Tiles<L>;

    static int64_t qr(const Batch& batch, int64_t begin, int64_t end, char* scratch) {
        const int m = batch.rows, n = batch.columns, count = m < n ? m : n;
        Value* const a = reinterpret_cast<Value*>(scratch);
        Value* const q = a + m * n;
        for (; begin < end; begin += L::kCount) {
            Value factors[kMostRows];
            Tile::load(batch.in[0], begin, end, m, n, a, n);
            factor_qr<L>(a, m, n, factors);
            if (batch.operation == Operation::kRawQr) {
                Tile::store(a, n, m, n, batch.out[0], begin, end);
                Tile::store(factors, 1, count, 1, batch.out[1], begin, end);
            } else {
                const int width = batch.right;
                if (batch.out[1].data != nullptr) {
                    make_q<L>(a, n, 0, factors, count, q, m, width);
                    Tile::store(q, width, m, width, batch.out[1], begin, end);
                }
                clear_below<L>(a, width, n);
                Tile::store(a, n, width, n, batch.out[0], begin, end);
            }
            Tile::report(Index(0), batch, begin, stop_of(begin, end));
        }
        return 0;
    }

    static int64_t eigh(const Batch& batch, int64_t begin, int64_t end, char* scratch) {
        const int n = batch.rows;
        const bool with_vectors = batch.out[1].data != nullptr;
        Value* const a = reinterpret_cast<Value*>(scratch);
        Value* const z = a + n * n;
        int64_t wrong = 0;
        for (; begin < end; begin += L::kCount) {
            Value diagonal[kMostRows], beside[kMostRows], factors[kMostRows], work[kMostRows];
            Index places[kMostRows];
            Tile::load(batch.in[0], begin, end, n, n, a, n);
            Mask nan, infinite;
            Value inverse;
            scale_numbers<L>(a, n, n, true, kEigenScale<T>, inverse, nan, infinite);
            make_tridiagonal<L>(a, n, diagonal, beside, factors, work);
            if (with_vectors) make_q<L>(a, n, 1, factors, n - 1, z, n, n);
            Index info = iterate_ql<L>(diagonal, beside, n, with_vectors ? z : nullptr, factors, work);
            info = L::choose(nan, Index(1), info);
            const Mask bad = infinite | (info != Index(0));
            rank<false, L>(diagonal, n, places);
            put_values(diagonal, n, places, inverse, bad, batch.out[0], begin, end);
            if (with_vectors) {
                finish<L>(z, n * n, bad);
                Tile::scatter_columns(z, n, n, n, places, work);
                Tile::store(z, n, n, n, batch.out[1], begin, end);
            }
            wrong += Tile::report(info, batch, begin, stop_of(begin, end));
        }
        return wrong;
    }

    static int64_t singular_values(const Batch& batch, int64_t begin, int64_t end, char* scratch) {
        const bool wide = batch.rows < batch.columns;
        const int m = wide ? batch.columns : batch.rows, n = wide ? batch.rows : batch.columns;
        const Stack in = wide ? transposed(batch.in[0]) : batch.in[0];
        Value* const a = reinterpret_cast<Value*>(scratch);
        int64_t wrong = 0;
        for (; begin < end; begin += L::kCount) {
            Value diagonal[kMostRows], above[kMostRows];
            Index places[kMostRows];
            Tile::load(in, begin, end, m, n, a, n);
            Mask nan, infinite;
            Value inverse;
            scale_numbers<L>(a, m, n, false, kBidiagonalScale<T>, inverse, nan, infinite);
            make_bidiagonal<L>(a, m, n, diagonal, above);
            Index info = iterate_bidiagonal<L>(diagonal, above, n);
            info = L::choose(nan | infinite, Index(1), info);
            rank<true, L>(diagonal, n, places);
            put_values(diagonal, n, places, inverse, info != Index(0), batch.out[0], begin, end);
            wrong += Tile::report(info, batch, begin, stop_of(begin, end));
        }
        return wrong;
    }

    static int64_t svd(const Batch& batch, int64_t begin, int64_t end, char* scratch) {
        // A wide matrix is the transposed of a high one.
        const bool wide = batch.rows < batch.columns;
        const int m = wide ? batch.columns : batch.rows, n = wide ? batch.rows : batch.columns;
        const Stack in = wide ? transposed(batch.in[0]) : batch.in[0];
        const Stack left = wide ? transposed(batch.out[2]) : batch.out[1];
        const Stack right = wide ? transposed(batch.out[1]) : batch.out[2];
        const int width = batch.right != 0 ? m : n;
        Value* const a = reinterpret_cast<Value*>(scratch);
        Value* const u = a + m * n;
        int64_t wrong = 0;
        for (; begin < end; begin += L::kCount) {
            Value factors[kMostRows], norms[kMostRows];
            Index places[kMostRows], order[kMostRows];
            Tile::load(in, begin, end, m, n, a, n);
            Mask nan, infinite;
            Value inverse;
            scale_numbers<L>(a, m, n, false, kJacobiScale<T>, inverse, nan, infinite);
            factor_pivoted_qr<L>(a, m, n, factors, norms, order);
            make_q<L>(a, n, 0, factors, n, u, m, width);
            clear_below<L>(a, n, n);
            Index info = rotate_rows<L>(a, n, u, m, width);
            info = L::choose(nan | infinite, Index(1), info);
            const Mask bad = info != Index(0);
            take_norms<L>(a, n, norms);
            rank<true, L>(norms, n, places);
            complete_rows<L>(a, n, norms);
            finish<L>(a, n * n, bad);
            finish<L>(u, m * width, bad);
            Tile::scatter_columns(u, m, n, width, places, factors);
            Tile::store(u, width, m, width, left, begin, end);
            Tile::scatter_columns(a, n, n, n, order, factors);
            Tile::store_rows(a, n, n, places, right, begin, end);
            put_values(norms, n, places, inverse, bad, batch.out[0], begin, end);
            wrong += Tile::report(info, batch, begin, stop_of(begin, end));
        }
        return wrong;
    }

private:
    static int64_t stop_of(int64_t begin, int64_t end) {
        return end < begin + L::kCount ? end : begin + L::kCount;
    }
    static Stack transposed(const Stack& stack) {
        return {stack.data, stack.matrix, stack.column, stack.row};
    }

    static inline void put_values(Value* values, int n, const Index* places, Value inverse, Mask bad,
                                  const Stack& to, int64_t begin, int64_t end) {
        for (int i = 0; i < n; ++i) values[i] *= inverse;
        finish<L>(values, n, bad);
        Value sorted[kMostRows];
        Tile::scatter_columns(values, 1, n, n, places, sorted);
        Tile::store(values, 1, n, 1, to, begin, end);
    }
};

template <class L>
KernelChoice choose_spectral_kernel(const Batch& batch) {
    switch (batch.operation) {
        case Operation::kQr:
        case Operation::kRawQr: return {SpectralKernels<L>::qr, L::kCount};
        case Operation::kEigh: return {SpectralKernels<L>::eigh, L::kCount};
        case Operation::kSvd:
            if (batch.out[1].data == nullptr && batch.out[2].data == nullptr)
                return {SpectralKernels<L>::singular_values, L::kCount};
            return {SpectralKernels<L>::svd, L::kCount};
        default: return {};
    }
}

template <int kFloats, int kDoubles>
KernelChoice choose_spectral_kernel_for(const Batch& batch) {
    if (batch.type == ScalarType::kFloat32) return choose_spectral_kernel<Lanes<float, kFloats>>(batch);
    if (batch.type == ScalarType::kFloat64) return choose_spectral_kernel<Lanes<double, kDoubles>>(batch);
    return {};
}

}  // namespace
}  // namespace weft::batched
