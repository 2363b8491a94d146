#include "library/linalg/structured/toeplitz.h"

#include <atomic>

#include "core/threads/interrupt.h"

namespace weft::lapack {

namespace {

// The sum of x[i] * y[i], in several running sums, so that it is done in vector lanes.
template <class T>
T dot(const T* x, const T* y, int64_t count) {
    constexpr int64_t kLanes = 8;
    T sums[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += x[i + lane] * y[i + lane];
    }
    for (; i < count; ++i) sums[i % kLanes] += x[i] * y[i];
    T total{};
    for (const T sum : sums) total += sum;
    return total;
}

// The leading minors of a Toeplitz matrix, one after the other: of the minor of k rows the vectors `ahead`,
// which begins with one, and `behind`, which ends with one, such that minor * ahead is (error, 0, …) and
// minor * behind (0, …, error).
template <class T>
class Minors {
public:
    Minors(const T* column, const T* row, int64_t n)
        : n_(n), reversed_column_(n), row_(row), ahead_(n), behind_(n), next_(n), error_(column[0]) {
        for (int64_t i = 0; i < n; ++i) reversed_column_[n - 1 - i] = column[i];
        ahead_[0] = behind_[0] = T(1);
    }
    T error() const { return error_; }
    const T* behind() const { return behind_; }
    // What the row below the minor of k rows has with a vector of k elements.
    T row_below(const T* vector, int64_t k) const { return dot(reversed_column_ + (n_ - 1 - k), vector, k); }

    // From the minor of k rows to that of k + 1.
    void grow(int64_t k) {
        const T below = row_below(ahead_, k), above = dot(row_ + 1, behind_.data(), k);
        const T of_behind = below / error_, of_ahead = above / error_;
        T *const ahead = ahead_, *const behind = behind_, *const next = next_;
        ahead[k] = T(0);
        next[0] = -of_ahead * ahead[0];
        for (int64_t i = 1; i <= k; ++i) next[i] = behind[i - 1] - of_ahead * ahead[i];
        for (int64_t i = 1; i <= k; ++i) ahead[i] -= of_behind * behind[i - 1];
        std::copy(next, next + k + 1, behind);
        error_ -= below * of_ahead;
    }

private:
    int64_t n_;
    Room<T> reversed_column_;
    const T* row_;
    Room<T> ahead_, behind_, next_;
    T error_;
};

// Of several right sides, in column-major order, in place.
template <class T>
bool solve_one(const T* column, const T* row, int64_t n, T* b, int64_t columns, T* x) {
    Minors<T> minors(column, row, n);
    for (int64_t k = 0; k < n; ++k) {
        if (k > 0) minors.grow(k);
        if (minors.error() == T(0)) return false;
        const T* const behind = minors.behind();
        for (int64_t j = 0; j < columns; ++j) {
            T* const solution = x + j * n;
            const T scale = (b[j * n + k] - minors.row_below(solution, k)) / minors.error();
            solution[k] = T(0);
            for (int64_t i = 0; i <= k; ++i) solution[i] += scale * behind[i];
        }
        if (k % 64 == 0) pause_point();
    }
    return true;
}

template <class T>
bool solve_all(const Matrices& column, const Matrices& row, const Matrices& b, const Matrices& x) {
    const int64_t n = b.rows, columns = b.columns;
    const double operations =
        static_cast<double>(n) * static_cast<double>(n) * (8 + 4 * static_cast<double>(columns));
    std::atomic<bool> regular = true;
    share_matrices(b.count(), operations, [&](int64_t first, int64_t last) {
        Room<T> down(n), across(n), right(n * columns), solution(n * columns);
        for (int64_t index = first; index < last; ++index) {
            take(column, index, down.data(), n);
            take(row, index, across.data(), n);
            take(b, index, right.data(), n);
            if (solve_one<T>(down, across, n, right, columns, solution)) {
                give(solution.data(), n, x, index);
            } else {
                regular = false;
                fill(x, index, kNan<T>);
            }
        }
    });
    return regular;
}

}  // namespace

bool solve_toeplitz(ScalarType type, const Matrices& column, const Matrices& row, const Matrices& b,
                    const Matrices& x) {
    return visit_type(type, [&]<class T>(TypeTag<T>) { return solve_all<T>(column, row, b, x); });
}

}  // namespace weft::lapack
