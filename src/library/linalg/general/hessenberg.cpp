#include "library/linalg/general/hessenberg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "library/linalg/factor.h"
#include "library/linalg/reflectors.h"
#include "library/linalg/spectral/large.h"

namespace weft::lapack {

namespace {

constexpr int64_t kPanel = 32;
constexpr int64_t kColumns = 160;  // of a matrix times a vector, for one thread
constexpr int64_t kStrip = 64;     // columns, of a product
constexpr int64_t kPiece = 112;    // rows, of a product

template <class T>
class Reduction {
public:
    Reduction(int64_t n, int64_t low, int64_t high, T* a, int64_t lda, T* tau)
        : n_(n),
          low_(low),
          high_(high),
          a_(a),
          lda_(lda),
          tau_(tau),
          v_(n * kPanel),
          y_(n * kPanel),
          work_(n * kPanel),
          column_(kPanel),
          inner_(kPanel),
          t_(kPanel * kPanel),
          parts_(n * (n / kColumns + 1)) {}

    void run() {
        T most = 0;
        for (int64_t j = 0; j < n_; ++j)
            for (int64_t i = 0; i < n_; ++i) most = std::max(most, std::abs(*at(i, j)));
        negligible_ = most * std::sqrt(std::numeric_limits<T>::min());
        std::fill(tau_, tau_ + n_ - 1, T(0));
        for (int64_t p = low_; p + 2 <= high_; p += kPanel) {
            const int64_t width = std::min(kPanel, high_ - 1 - p);
            std::fill(v_.data(), v_ + n_ * kPanel, T(0));
            for (int64_t j = 0; j < width; ++j) reduce_column(p, j);
            rows_above(p, width);
            from_right(p, width);
            from_left(p, width);
        }
    }

private:
    T* at(int64_t row, int64_t column) const { return a_ + row + column * lda_; }
    T* v(int64_t row, int64_t j) const { return v_ + row + j * n_; }
    T* y(int64_t row, int64_t j) const { return y_ + row + j * n_; }

    // Rows from p + 1 on of a column that the panel's reflectors before it have not met, and its own one.
    void reduce_column(int64_t p, int64_t j) {
        const int64_t c = p + j, first = p + 1, rows = high_ - first, one = 1;
        T* const own = at(first, c);
        if (j > 0) {
            for (int64_t i = 0; i < j; ++i) column_[i] = *v(c, i);
            multiply_vector(Form::kPlain, rows, j, T(-1), y(first, 0), n_, column_.data(), T(1), own);
            multiply_vector(Form::kTransposed, rows, j, T(1), v(first, 0), n_, own, T(0), inner_.data());
            // By the transposed of t.
            for (int64_t i = j; i-- > 0;) {
                T sum = 0;
                for (int64_t k = 0; k <= i; ++k) sum += t_[k + i * kPanel] * inner_[k];
                inner_[i] = sum;
            }
            multiply_vector(Form::kPlain, rows, j, T(-1), v(first, 0), n_, inner_.data(), T(1), own);
        }
        const int64_t length = high_ - c - 1;
        clear_negligible(at(c + 1, c), length);
        T alpha = *at(c + 1, c);
        functions<T>().larfg(&length, &alpha, at(std::min(c + 2, n_ - 1), c), &one, tau_ + c);
        *at(c + 1, c) = alpha;
        *v(c + 1, j) = T(1);
        std::copy(at(c + 2, c), at(high_, c), v(c + 2, j));

        product_with_rest(first, c + 1, v(0, j), y(0, j));
        const T factor = tau_[c];
        if (j > 0) {
            multiply_vector(Form::kTransposed, length, j, T(1), v(c + 1, 0), n_, v(c + 1, j), T(0),
                            inner_.data());
            multiply_vector(Form::kPlain, rows, j, T(-1), y(first, 0), n_, inner_.data(), T(1), y(first, j));
            for (int64_t i = 0; i < j; ++i) {
                T sum = 0;
                for (int64_t k = i; k < j; ++k) sum += t_[i + k * kPanel] * inner_[k];
                t_[i + j * kPanel] = -factor * sum;
            }
        }
        for (int64_t i = first; i < high_; ++i) *y(i, j) *= factor;
        t_[j + j * kPanel] = factor;
    }

    // Of a matrix of low rank, columns come to have less and less of it. They become zero long before their
    // products are denormal numbers, which take many times as long.
    void clear_negligible(T* column, int64_t rows) const {
        T most = 0;
        for (int64_t i = 0; i < rows; ++i) most = std::max(most, std::abs(column[i]));
        if (most < negligible_) std::fill(column, column + rows, T(0));
    }

    // The matrix from (first, column) on times x, by strips of columns whose sums are added in order.
    void product_with_rest(int64_t first, int64_t column, const T* x, T* to) const {
        const int64_t rows = high_ - first, strips = (high_ - column + kColumns - 1) / kColumns;
        for_pieces(high_ - column, kColumns, [&](int64_t from, int64_t end) {
            T* const part = from == 0 ? to + first : parts_ + (from / kColumns - 1) * n_;
            multiply_vector(Form::kPlain, rows, end - from, T(1), at(first, column + from), lda_,
                            x + column + from, T(0), part);
        });
        for (int64_t strip = 0; strip + 1 < strips; ++strip) {
            const T* const part = parts_ + strip * n_;
            for (int64_t i = 0; i < rows; ++i) to[first + i] += part[i];
        }
    }

    // The rows of y above the panel: a v t.
    void rows_above(int64_t p, int64_t width) {
        const int64_t depth = high_ - p - 1;
        for_pieces(p + 1, kPiece, [&](int64_t from, int64_t to) {
            Packed<T> rows(Form::kPlain, to - from, depth, at(from, p + 1), lda_);
            T* const work = work_ + from;
            rows.pack_all().multiply(Update::kSet, width, v(p + 1, 0), n_, work, n_);
            for (int64_t j = 0; j < width; ++j) {
                T* const result = y(0, j);
                for (int64_t i = from; i < to; ++i) result[i] = 0;
                for (int64_t k = 0; k <= j; ++k) {
                    const T factor = t_[k + j * kPanel];
                    const T* const column = work_ + k * n_;
                    for (int64_t i = from; i < to; ++i) result[i] += factor * column[i];
                }
            }
        });
    }

    // What is right of the panel, and above it the panel itself: less y vᵀ.
    void from_right(int64_t p, int64_t width) {
        const int64_t next = p + width;
        Packed<T> all(Form::kPlain, high_, width, y(0, 0), n_),
            above(Form::kPlain, p + 1, width, y(0, 0), n_);
        pack_together({&all, &above});
        const Room<T> rows(width * (high_ - p - 1));  // of v, as columns
        for (int64_t i = p + 1; i < high_; ++i)
            for (int64_t j = 0; j < width; ++j) rows[(i - p - 1) * width + j] = *v(i, j);
        const int64_t strips = (high_ - next + kStrip - 1) / kStrip;
        parallel_for(strips + 1, [&](int64_t strip) {
            if (strip == strips)
                return above.multiply(Update::kSubtract, width - 1, rows, width, at(0, p + 1), lda_);
            const int64_t from = next + strip * kStrip, to = std::min(high_, from + kStrip);
            all.multiply(Update::kSubtract, to - from, rows + (from - p - 1) * width, width, at(0, from),
                         lda_);
        });
    }

    void from_left(int64_t p, int64_t width) {
        const int64_t next = p + width;
        ReflectorBlock<T> block(high_ - p - 1, width, v(p + 1, 0), n_, tau_ + p);
        parallel_for(block.parts(), [&](int64_t part) { block.pack(part); });
        block.finish();
        for_pieces(n_ - next, kStrip, [&](int64_t from, int64_t to) {
            block.apply(true, to - from, at(p + 1, next + from), lda_);
        });
    }

    int64_t n_, low_, high_;
    T* a_;
    int64_t lda_;
    T* tau_;
    T negligible_ = 0;
    Room<T> v_, y_, work_, column_, inner_, t_, parts_;
};

}  // namespace

template <class T>
void reduce_to_hessenberg(int64_t n, int64_t low, int64_t high, T* a, int64_t lda, T* tau) {
    Reduction<T>(n, low, high, a, lda, tau).run();
}

template <class T>
void hessenberg_vectors(int64_t n, int64_t low, int64_t high, const T* a, int64_t lda, const T* tau, T* q,
                        int64_t ldq) {
    for (int64_t j = 0; j < n; ++j) {
        std::fill(q + j * ldq, q + j * ldq + n, T(0));
        q[j + j * ldq] = T(1);
    }
    const int64_t first = low + 1, rows = high - first;
    if (rows <= 0) return;
    T* const own = q + first + first * ldq;
    for (int64_t j = 0; j < rows; ++j)
        std::copy(a + first + j + (low + j) * lda, a + high + (low + j) * lda, own + j + j * ldq);
    q_in_place(rows, rows, rows, own, ldq, tau + low);
}

template void reduce_to_hessenberg(int64_t, int64_t, int64_t, float*, int64_t, float*);
template void reduce_to_hessenberg(int64_t, int64_t, int64_t, double*, int64_t, double*);
template void hessenberg_vectors(int64_t, int64_t, int64_t, const float*, int64_t, const float*, float*,
                                 int64_t);
template void hessenberg_vectors(int64_t, int64_t, int64_t, const double*, int64_t, const double*, double*,
                                 int64_t);

}  // namespace weft::lapack
