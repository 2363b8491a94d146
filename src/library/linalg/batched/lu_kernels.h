// The kernels of LU and Cholesky factorisations.
#pragma once

#include <cmath>

#include "library/linalg/batched/batched.h"
#include "library/linalg/batched/cholesky.h"
#include "library/linalg/batched/lu.h"
#include "library/linalg/batched/tiles.h"

namespace weft::batched {
namespace {

template <class Size>
inline Size size_of(int size) {
    if constexpr (Size::kKnown != 0)
        return {};
    else
        return {size};
}

template <class L, class Size>
struct LuKernels {
    using T = typename L::Element;
    using Value = typename L::Value;
    using Index = typename L::Index;
    using Tile = Tiles<L>;
    static constexpr bool kKnown = Size::kKnown != 0;
    static constexpr int kMost = kKnown ? Size::kKnown : kMostRows;
    static constexpr int kInPlace = kKnown ? Size::kKnown * Size::kKnown : 1;

    // Row i of the matrix that was factorised is this row of the given one.
    static inline void order_rows(const Index* pivots, int n, Index* order) {
        for (int i = 0; i < n; ++i) order[i] = Index(i);
        for (int k = 0; k < n; ++k) {
            for (int lane = 0; lane < L::kCount; ++lane) {
                const auto other = static_cast<int>(pivots[k][lane]);
                const auto own = order[k][lane];
                order[k][lane] = order[other][lane];
                order[other][lane] = own;
            }
        }
    }

    static int64_t solve(const Batch& batch, int64_t begin, int64_t end, char* scratch) {
        const Size n = size_of<Size>(batch.rows);
        Value own[kInPlace];
        Value* const a = kKnown ? own : reinterpret_cast<Value*>(scratch);
        Value* const b = reinterpret_cast<Value*>(scratch) + (kKnown ? 0 : n * n);
        int64_t wrong = 0;
        for (; begin < end; begin += L::kCount) {
            Tile::load(batch.in[0], begin, end, n, n, a, n);
            Index pivots[kMost], order[kMost];
            Divisor<L> divisors[kMost];
            const Index info = factor_lu<true, L>(a, n, pivots, divisors);
            order_rows(pivots, n, order);
            for (int first = 0; first < batch.right; first += kMostRows) {
                const int columns = batch.right - first < kMostRows ? batch.right - first : kMostRows;
                Stack from = batch.in[1], to = batch.out[0];
                from.data += first * from.column;
                to.data += first * to.column;
                Tile::load_rows(from, begin, end, order, n, columns, b);
                solve_lu<false, L>(a, n, divisors, b, columns, columns);
                spoil(info, b, n * columns);
                Tile::store(b, columns, n, columns, to, begin, end);
            }
            wrong += Tile::report(info, batch, begin, end < begin + L::kCount ? end : begin + L::kCount);
        }
        return wrong;
    }

    static int64_t invert(const Batch& batch, int64_t begin, int64_t end, char* scratch) {
        const Size n = size_of<Size>(batch.rows);
        Value own[kInPlace], own_inverse[kInPlace];
        Value* const a = kKnown ? own : reinterpret_cast<Value*>(scratch);
        Value* const b = kKnown ? own_inverse : a + n * n;
        int64_t wrong = 0;
        for (; begin < end; begin += L::kCount) {
            Tile::load(batch.in[0], begin, end, n, n, a, n);
            Index pivots[kMost], order[kMost];
            Divisor<L> divisors[kMost];
            Value row[kMost];
            const Index info = factor_lu<true, L>(a, n, pivots, divisors);
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) b[i * n + j] = Value(i == j ? 1 : 0);
            }
            solve_lu<true, L>(a, n, divisors, b, n, n);
            spoil(info, b, n * n);
            order_rows(pivots, n, order);
            Tile::scatter_columns(b, n, n, n, order, row);
            Tile::store(b, n, n, n, batch.out[0], begin, end);
            wrong += Tile::report(info, batch, begin, end < begin + L::kCount ? end : begin + L::kCount);
        }
        return wrong;
    }

    static int64_t determinant(const Batch& batch, int64_t begin, int64_t end, char* scratch) {
        const Size n = size_of<Size>(batch.rows);
        Value own[kInPlace];
        Value* const a = kKnown ? own : reinterpret_cast<Value*>(scratch);
        int64_t wrong = 0;
        for (; begin < end; begin += L::kCount) {
            Tile::load(batch.in[0], begin, end, n, n, a, n);
            Index pivots[kMost], exponent;
            Divisor<L> divisors[kMost];
            const Index info = factor_lu<false, L>(a, n, pivots, divisors);
            const Value mantissa = determinant_of_lu<L>(a, n, pivots, exponent);
            const int64_t stop = end < begin + L::kCount ? end : begin + L::kCount;
            if (batch.operation == Operation::kDeterminant) {
                const Value value = L::select(info == Index(0), scaled<L>(mantissa, exponent), Value(0));
                for (int64_t i = begin; i < stop; ++i)
                    store_to<T>(batch.out[0].data + i * batch.out[0].matrix,
                                value[static_cast<int>(i - begin)]);
            } else {
                for (int64_t i = begin; i < stop; ++i) {
                    const auto lane = static_cast<int>(i - begin);
                    const bool zero = info[lane] != 0;
                    const T sign = zero ? T(0) : mantissa[lane] < 0 ? T(-1) : T(1);
                    store_to<T>(batch.out[0].data + i * batch.out[0].matrix, sign);
                    store_to<T>(batch.out[1].data + i * batch.out[1].matrix,
                                zero ? -std::numeric_limits<T>::infinity()
                                     : logarithm(mantissa[lane], static_cast<int>(exponent[lane])));
                }
            }
            wrong += Tile::report(info, batch, begin, stop);
        }
        return wrong;
    }

    static int64_t cholesky(const Batch& batch, int64_t begin, int64_t end, char* scratch) {
        const Size n = size_of<Size>(batch.rows);
        Value own[kInPlace];
        Value* const a = kKnown ? own : reinterpret_cast<Value*>(scratch);
        int64_t wrong = 0;
        for (; begin < end; begin += L::kCount) {
            Tile::load(batch.in[0], begin, end, n, n, a, n);
            const Index info = factor_cholesky<L>(a, n);
            for (int i = 0; i < n; ++i) {
                for (int j = i + 1; j < n; ++j) a[i * n + j] = Value(0);
            }
            spoil(info, a, n * n);
            Tile::store(a, n, n, n, batch.out[0], begin, end);
            wrong += Tile::report(info, batch, begin, end < begin + L::kCount ? end : begin + L::kCount);
        }
        return wrong;
    }

private:
    // Results of matrices with which something is wrong.
    static inline void spoil(Index info, Value* values, int count) {
        const auto wrong = info != Index(0);
        if (!L::any(wrong)) return;
        for (int i = 0; i < count; ++i) values[i] = L::select(wrong, Value(Format<T>::kQuietNan), values[i]);
    }

    // Of |mantissa| * 2^exponent; near one without cancellation.
    static T logarithm(T mantissa, int exponent) {
        double x = std::fabs(static_cast<double>(mantissa));
        if (x > 0x1.6a09e667f3bcdp+0) {
            x *= 0.5;
            ++exponent;
        }
        constexpr double kHigh = 0x1.62e42fee00000p-1, kLow = 0x1.a39ef35793c76p-33;
        return static_cast<T>(exponent * kHigh + (exponent * kLow + std::log(x)));
    }
};

template <class L, class Size>
Kernel lu_kernel(Operation operation) {
    switch (operation) {
        case Operation::kSolve: return LuKernels<L, Size>::solve;
        case Operation::kInverse: return LuKernels<L, Size>::invert;
        case Operation::kDeterminant:
        case Operation::kSlogdet: return LuKernels<L, Size>::determinant;
        case Operation::kCholesky: return LuKernels<L, Size>::cholesky;
        default: return nullptr;
    }
}

template <class L>
KernelChoice choose_lu_kernel(const Batch& batch) {
    switch (batch.rows) {
        case 1: return {lu_kernel<L, Fixed<1>>(batch.operation), L::kCount};
        case 2: return {lu_kernel<L, Fixed<2>>(batch.operation), L::kCount};
        case 3: return {lu_kernel<L, Fixed<3>>(batch.operation), L::kCount};
        case 4: return {lu_kernel<L, Fixed<4>>(batch.operation), L::kCount};
        case 5: return {lu_kernel<L, Fixed<5>>(batch.operation), L::kCount};
        case 6: return {lu_kernel<L, Fixed<6>>(batch.operation), L::kCount};
        default: return {lu_kernel<L, Any>(batch.operation), L::kCount};
    }
}

template <int kBytes>
KernelChoice choose_lu_kernel_for(const Batch& batch) {
    if (batch.type == ScalarType::kFloat32) return choose_lu_kernel<Lanes<float, kBytes / 4>>(batch);
    if (batch.type == ScalarType::kFloat64) return choose_lu_kernel<Lanes<double, kBytes / 8>>(batch);
    return {};
}

}  // namespace
}  // namespace weft::batched
