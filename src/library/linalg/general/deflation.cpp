#include "library/linalg/general/deflation.h"

#include <cmath>
#include <limits>

namespace weft::lapack {

constexpr int64_t kSingleChase = 100;  // rows up to which one bulge at a time is as quick

template <class T>
bool SmallSchur<T>::run(const T* block, int64_t ldh) {
    const int64_t n = rows_;
    std::fill(t_.data(), t_ + n * n, T(0));
    for (int64_t j = 0; j < n; ++j)
        std::copy(block + j * ldh, block + j * ldh + std::min(n, j + 2), t_ + j * n);
    int64_t size = -1, info = 0;
    const int64_t one = 1, yes = 1;
    T answer{};
    if (n <= kSingleChase) {
        std::fill(v_.data(), v_ + n * n, T(0));
        for (int64_t i = 0; i < n; ++i) v_[i * n + i] = 1;
        functions<T>().lahqr(&yes, &yes, &n, &one, &n, t_, &n, values_, values_ + n, &one, &n, v_, &n, &info);
        return info == 0;
    }
    const auto call = [&](T* work) {
        functions<T>().hseqr("S", "I", &n, &one, &n, t_, &n, values_, values_ + n, v_, &n, work, &size, &info,
                             1, 1);
    };
    call(&answer);
    size = asked_size(answer);
    const Room<T> work(size);
    call(work);
    return info == 0;
}

template <class T>
void SmallSchur<T>::give(T* block, int64_t ldh) const {
    for (int64_t j = 0; j < rows_; ++j)
        std::copy(t_ + j * rows_, t_ + j * rows_ + std::min(rows_, j + 2), block + j * ldh);
}

template <class T>
std::vector<Shift<T>> SmallSchur<T>::eigenvalues(int64_t count) const {
    std::vector<Shift<T>> found;
    const auto at = [&](int64_t row, int64_t column) { return t_[row + column * rows_]; };
    for (int64_t i = 0; i < count; ++i) {
        if (i + 1 < count && at(i + 1, i) != 0) {
            // Both diagonal elements of a block are equal.
            const T size = std::sqrt(std::abs(at(i + 1, i))) * std::sqrt(std::abs(at(i, i + 1)));
            found.push_back({at(i, i), size});
            found.push_back({at(i, i), -size});
            ++i;
        } else {
            found.push_back({at(i, i), 0});
        }
    }
    return found;
}

template <class T>
bool Deflation<T>::run() {
    T* const window = matrix_.h + first_ + first_ * matrix_.ldh;
    T* const before =
        first_ > top_ ? window - matrix_.ldh : nullptr;  // the spike's element, of the column before
    T spike = before == nullptr ? T(0) : *before;
    if (!schur_.run(window, matrix_.ldh)) return false;
    const T* const t = schur_.block();
    const T* const v = schur_.vectors();
    const T precision = std::numeric_limits<T>::epsilon(),
            least = std::numeric_limits<T>::min() / precision * T(matrix_.n);
    const auto at = [&](int64_t row, int64_t column) { return std::abs(t[row + column * rows_]); };
    // From below: what has converged stays, other blocks go to the top.
    int64_t moved = 0;
    Room<T> work(rows_);
    while (moved < left_) {
        const int64_t last = left_ - 1;
        const bool pair = last > 0 && t[last + (last - 1) * rows_] != 0;
        T size = at(last, last), part = std::abs(spike * v[last * rows_]);
        if (pair) {
            size += std::sqrt(at(last, last - 1)) * std::sqrt(at(last - 1, last));
            part = std::max(part, std::abs(spike * v[(last - 1) * rows_]));
        }
        if (size == 0) size = std::abs(spike);
        if (part <= std::max(least, precision * size)) {
            left_ -= pair ? 2 : 1;
            continue;
        }
        int64_t from = left_, to = moved + 1, info = 0;
        functions<T>().trexc("V", &rows_, schur_.block(), &rows_, schur_.vectors(), &rows_, &from, &to, work,
                             &info, 1);
        moved = to + (pair ? 1 : 0);
    }
    if (left_ == 0) spike = 0;
    shifts_ = schur_.eigenvalues(left_);
    if (left_ == rows_ && spike != 0) return true;
    restore(spike);
    if (before != nullptr) *before = spike;
    schur_.give(window, matrix_.ldh);
    matrix_.multiply(first_, rows_, schur_.vectors(), rows_, first_, first_ + rows_, top_, first_ + rows_);
    return true;
}

// The spike becomes one element again, and the rows that have not converged a Hessenberg matrix.
template <class T>
void Deflation<T>::restore(T& spike) {
    T* const t = schur_.block();
    T* const v = schur_.vectors();
    const int64_t n = rows_, left = left_, one = 1;
    if (left > 1 && spike != 0) {
        Room<T> row(left), along(n), tau(n);
        for (int64_t j = 0; j < left; ++j) row[j] = v[j * n];
        T beta = row[0], factor = 0;
        functions<T>().larfg(&left, &beta, row + 1, &one, &factor);
        row[0] = 1;
        for (int64_t j = 0; j + 2 < n; ++j) std::fill(t + j * n + j + 2, t + (j + 1) * n, T(0));
        for (int64_t j = 0; j < n; ++j) {
            T sum = 0;
            for (int64_t i = 0; i < left; ++i) sum += row[i] * t[i + j * n];
            for (int64_t i = 0; i < left; ++i) t[i + j * n] -= factor * sum * row[i];
        }
        const auto from_right = [&](T* matrix, int64_t rows) {
            std::fill(along.data(), along + n, T(0));
            for (int64_t j = 0; j < left; ++j)
                for (int64_t i = 0; i < rows; ++i) along[i] += row[j] * matrix[i + j * n];
            for (int64_t j = 0; j < left; ++j)
                for (int64_t i = 0; i < rows; ++i) matrix[i + j * n] -= factor * row[j] * along[i];
        };
        from_right(t, left);
        from_right(v, n);
        int64_t size = -1, info = 0;
        T answer{};
        const auto reduce = [&](T* work) {
            functions<T>().gehrd(&n, &one, &left, t, &n, tau, work, &size, &info);
        };
        reduce(&answer);
        size = asked_size(answer);
        const auto apply = [&](T* work) {
            functions<T>().ormhr("R", "N", &n, &left, &one, &left, t, &n, tau, v, &n, work, &size, &info, 1,
                                 1);
        };
        const Room<T> work(size);
        reduce(work);
        spike *= v[0];
        size = -1;
        apply(&answer);
        size = asked_size(answer);
        const Room<T> more(size);
        apply(more);
    } else if (left > 0) {
        spike *= v[0];
    }
}

template class SmallSchur<float>;
template class SmallSchur<double>;
template class Deflation<float>;
template class Deflation<double>;

}  // namespace weft::lapack
