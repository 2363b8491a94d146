#include "library/linalg/general/eigenvectors.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "library/linalg/dense/packed.h"
#include "library/linalg/spectral/large.h"

namespace weft::lapack {

namespace {

constexpr int64_t kLeast = 16;   // rows that are solved one by one
constexpr int64_t kStrip = 64;   // columns of a strip, which stays with its thread
constexpr int64_t kDepth = 256;  // rows of x for one product
constexpr int64_t kPiece = 224;  // rows of z for one thread

template <class T>
class Solution {
public:
    Solution(int64_t n, const T* t, int64_t ldt, const T* real, const T* imaginary)
        : n_(n), t_(t), ldt_(ldt), real_(real), imaginary_(imaginary), x_(n * n) {
        std::fill(x_.data(), x_ + n * n, T(0));
        T most = 0;
        for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i <= j; ++i) most = std::max(most, std::abs(t[i + j * ldt]));
        // As LAPACK: what is nearer to an eigenvalue is moved.
        least_ = std::max(std::numeric_limits<T>::epsilon() * std::numeric_limits<T>::epsilon() * most,
                          std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon() * T(n));
    }

    bool run() {
        solve(0, n_);
        return scale();
    }
    const T* x() const { return x_; }

private:
    T at(int64_t row, int64_t column) const { return t_[row + column * ldt_]; }
    bool is_pair(int64_t row) const { return row + 1 < n_ && at(row + 1, row) != 0; }
    // No block of two is cut.
    int64_t cut(int64_t row) const { return row > 0 && is_pair(row - 1) ? row + 1 : row; }

    // Rows from `low` to `high` of all vectors, of which the rows behind have been subtracted.
    void solve(int64_t low, int64_t high) {
        if (high - low <= kLeast) return solve_rows(low, high);
        const int64_t half = (high - low) / 2;
        const int64_t middle = cut(low + (half > 2 * kLeast ? half / kLeast * kLeast : half));
        solve(middle, high);
        Packed<T> block(Form::kPlain, middle - low, high - middle, t_ + low + middle * ldt_, ldt_);
        pack_together({&block});
        for_strips(middle, [&](int64_t from, int64_t to) {
            block.multiply(Update::kSubtract, to - from, x_ + middle + from * n_, n_, x_ + low + from * n_,
                           n_);
        });
        solve(low, middle);
    }

    // Columns from `first` on in strips that do not depend on it, and cut no pair.
    template <class Work>
    void for_strips(int64_t first, const Work& work) {
        const int64_t start = first / kStrip;
        parallel_for((n_ + kStrip - 1) / kStrip - start, [&](int64_t piece) {
            const int64_t strip = start + piece;
            const int64_t from = std::max(first, cut(strip * kStrip));
            const int64_t to = cut(std::min(n_, (strip + 1) * kStrip));
            if (from < to) work(from, to);
        });
    }

    void solve_rows(int64_t low, int64_t high) {
        for (int64_t j = low; j < high; ++j) {
            begin(j);
            j += is_pair(j) ? 1 : 0;
        }
        for_strips(low, [&](int64_t from, int64_t to) {
            for (int64_t j = from; j < to; ++j) {
                if (imaginary_[j] == 0) {
                    solve_real(low, high, j);
                } else {
                    solve_complex(low, high, j);
                    ++j;
                }
            }
        });
    }

    // An eigenvector's elements in the rows of its own block.
    void begin(int64_t j) {
        T* const own = x_ + j * n_;
        if (!is_pair(j)) {
            own[j] = 1;
            return;
        }
        T* const other = own + n_;
        const T above = at(j, j + 1), below = at(j + 1, j);
        if (std::abs(above) >= std::abs(below)) {
            own[j] = 1;
            other[j + 1] = imaginary_[j] / above;
        } else {
            own[j] = -imaginary_[j] / below;
            other[j + 1] = 1;
        }
    }

    // What a row's element does to the rows of the block before it.
    void subtract(int64_t low, int64_t row, T factor, T* to) const {
        const T* const column = t_ + row * ldt_;
        for (int64_t i = low; i < row; ++i) to[i] -= factor * column[i];
    }

    T moved(T pivot) const { return std::abs(pivot) < least_ ? least_ : pivot; }

    void solve_real(int64_t low, int64_t high, int64_t j) {
        const int64_t last = std::min(high, j);
        T* const x = x_ + j * n_;
        const T value = real_[j];
        // The vector's own rows, if they are here.
        int64_t row = last;
        if (j < high) subtract(low, j, x[j], x);
        while (row-- > low) {
            if (row > low && is_pair(row - 1)) {
                --row;
                const T a = at(row, row) - value, b = at(row, row + 1), c = at(row + 1, row),
                        d = at(row + 1, row + 1) - value;
                // Both eigenvalues of the block are complex, so it is regular.
                const T r = x[row], s = x[row + 1];
                if (std::abs(a) >= std::abs(c)) {
                    const T factor = c / a;
                    x[row + 1] = (s - factor * r) / moved(d - factor * b);
                    x[row] = (r - b * x[row + 1]) / a;
                } else {
                    const T factor = a / c;
                    x[row + 1] = (r - factor * s) / moved(b - factor * d);
                    x[row] = (s - d * x[row + 1]) / c;
                }
                subtract_two(low, row, x[row], x[row + 1], x);
            } else {
                x[row] /= moved(at(row, row) - value);
                subtract(low, row, x[row], x);
            }
        }
    }

    void subtract_two(int64_t low, int64_t row, T first, T second, T* to) const {
        const T* const left = t_ + row * ldt_;
        const T* const right = left + ldt_;
        for (int64_t i = low; i < row; ++i) to[i] -= first * left[i] + second * right[i];
    }

    // By parts, since the compiler's division of complex numbers looks for NaN.
    struct Number {
        T real, imaginary;
        T size() const { return std::abs(real) + std::abs(imaginary); }
        Number operator-(Number b) const { return {real - b.real, imaginary - b.imaginary}; }
        Number operator*(Number b) const {
            return {real * b.real - imaginary * b.imaginary, real * b.imaginary + imaginary * b.real};
        }
        Number operator*(T b) const { return {real * b, imaginary * b}; }
        // Smith's, so that squares do not overflow.
        Number operator/(Number b) const {
            if (std::abs(b.real) >= std::abs(b.imaginary)) {
                const T ratio = b.imaginary / b.real, whole = b.real + b.imaginary * ratio;
                return {(real + imaginary * ratio) / whole, (imaginary - real * ratio) / whole};
            }
            const T ratio = b.real / b.imaginary, whole = b.real * ratio + b.imaginary;
            return {(real * ratio + imaginary) / whole, (imaginary * ratio - real) / whole};
        }
    };
    Number moved(Number pivot) const { return pivot.size() < least_ ? Number{least_, 0} : pivot; }

    void solve_complex(int64_t low, int64_t high, int64_t j) {
        const int64_t last = std::min(high, j);
        T* const x = x_ + j * n_;
        T* const y = x + n_;
        const Number value{real_[j], imaginary_[j]};
        const auto get = [&](int64_t row) { return Number{x[row], y[row]}; };
        const auto set = [&](int64_t row, Number number) { x[row] = number.real, y[row] = number.imaginary; };
        if (j < high) {
            subtract_two(low, j, x[j], x[j + 1], x);
            subtract_two(low, j, y[j], y[j + 1], y);
        }
        int64_t row = last;
        while (row-- > low) {
            if (row > low && is_pair(row - 1)) {
                --row;
                const Number a = Number{at(row, row), 0} - value, d = Number{at(row + 1, row + 1), 0} - value;
                const T b = at(row, row + 1), c = at(row + 1, row);
                const Number r = get(row), s = get(row + 1);
                if (a.size() >= std::abs(c)) {
                    const Number factor = Number{c, 0} / a;
                    const Number second = (s - factor * r) / moved(d - factor * b);
                    set(row + 1, second);
                    set(row, (r - second * b) / a);
                } else {
                    const Number factor = a * (1 / c);
                    const Number second = (r - factor * s) / moved(Number{b, 0} - factor * d);
                    set(row + 1, second);
                    set(row, (s - d * second) * (1 / c));
                }
                subtract_two(low, row, x[row], x[row + 1], x);
                subtract_two(low, row, y[row], y[row + 1], y);
            } else {
                set(row, get(row) / moved(Number{at(row, row), 0} - value));
                subtract(low, row, x[row], x);
                subtract(low, row, y[row], y);
            }
        }
    }

    // So that no square overflows later.
    bool scale() {
        std::atomic<bool> finite = true;
        const T bound = std::sqrt(std::numeric_limits<T>::max());
        for_strips(0, [&](int64_t from, int64_t to) {
            for (int64_t j = from; j < to; ++j) {
                const bool pair = imaginary_[j] != 0;
                T* const own = x_ + j * n_;
                T most = 0;
                bool nan = false;
                for (int64_t i = 0; i < (pair ? n_ : 0) + std::min(n_, j + 2); ++i) {
                    most = std::max(most, std::abs(own[i]));
                    nan = nan || own[i] != own[i];
                }
                if (nan || !(most < bound)) finite = false;
                const T factor = 1 / most;
                for (int64_t i = 0; i < (pair ? n_ : 0) + std::min(n_, j + 2); ++i) own[i] *= factor;
                j += pair ? 1 : 0;
            }
        });
        return finite;
    }

    int64_t n_;
    const T* t_;
    int64_t ldt_;
    const T* real_;
    const T* imaginary_;
    Room<T> x_;
    T least_;
};

}  // namespace

template <class T>
bool vectors_of_schur(int64_t n, const T* t, int64_t ldt, const T* real, const T* imaginary, T* z,
                      int64_t ldz) {
    Solution<T> solution(n, t, ldt, real, imaginary);
    if (!solution.run()) return false;
    // A piece of rows of z is read whole before it is written.
    for_pieces(n, kPiece, [&](int64_t first, int64_t last) {
        const int64_t rows = last - first;
        std::vector<Packed<T>> parts;
        for (int64_t k = 0; k < n; k += kDepth)
            parts.emplace_back(Form::kPlain, rows, std::min(kDepth, n - k), z + first + k * ldz, ldz)
                .pack_all();
        for (size_t part = 0; part < parts.size(); ++part) {
            // Columns before have no elements in these rows, but a pair's two columns may be in two parts.
            const int64_t k = static_cast<int64_t>(part) * kDepth;
            const int64_t from = part == 0 ? 0 : k - 1;
            parts[part].multiply(part == 0 ? Update::kSet : Update::kAdd, n - from,
                                 solution.x() + k + from * n, n, z + first + from * ldz, ldz);
        }
    });
    return true;
}

template bool vectors_of_schur(int64_t, const float*, int64_t, const float*, const float*, float*, int64_t);
template bool vectors_of_schur(int64_t, const double*, int64_t, const double*, const double*, double*,
                               int64_t);

}  // namespace weft::lapack
