#include "library/linalg/spectral/general_eigen.h"

#include <atomic>

namespace weft::lapack {

namespace {

double operations_of(const Matrices& a) {
    const auto n = static_cast<double>(a.rows);
    return 30 * n * n * n + 1000;
}

template <class T>
using Complex = std::complex<Real<T>>;

// geev or, with two matrices, ggev, of one size, with workspaces.
template <class T>
class Routine {
public:
    Routine(int64_t n, bool has_second, const TwoSides& wanted)
        : n_(n),
          left_job_(wanted.left != nullptr ? 'V' : 'N'),
          right_job_(wanted.right != nullptr ? 'V' : 'N'),
          has_second_(has_second),
          a_(n * n),
          b_(has_second ? n * n : 1),
          left_(wanted.left != nullptr ? n * n : 1),
          right_(wanted.right != nullptr ? n * n : 1),
          alpha_(2 * n),
          beta_(n),
          real_work_(8 * n),
          columns_(n * n) {
        T answer{};
        call(&answer);
        size_ = asked_size(answer);
        work_.emplace(size_);
    }
    T* first() const { return a_; }
    T* second() const { return b_; }
    const T* beta() const { return beta_; }
    bool run() { return call(*work_) == 0; }
    Complex<T> alpha(int64_t i) const {
        if constexpr (is_complex<T>) {
            return alpha_[i];
        } else {
            return {alpha_[i], alpha_[n_ + i]};
        }
    }
    void give_vectors(const TwoSides& to, int64_t index) {
        if (to.left != nullptr) give_columns(left_, *to.left, index);
        if (to.right != nullptr) give_columns(right_, *to.right, index);
    }

private:
    int64_t call(T* work) {
        const auto& f = functions<T>();
        const int64_t lead = leading(n_);
        int64_t info = 0;
        if constexpr (is_complex<T>) {
            if (has_second_) {
                f.ggev(&left_job_, &right_job_, &n_, a_, &lead, b_, &lead, alpha_, beta_, left_, &lead,
                       right_, &lead, work, &size_, real_work_, &info, 1, 1);
            } else {
                f.geev(&left_job_, &right_job_, &n_, a_, &lead, alpha_, left_, &lead, right_, &lead, work,
                       &size_, real_work_, &info, 1, 1);
            }
        } else if (has_second_) {
            f.ggev(&left_job_, &right_job_, &n_, a_, &lead, b_, &lead, alpha_, alpha_ + n_, beta_, left_,
                   &lead, right_, &lead, work, &size_, &info, 1, 1);
        } else {
            f.geev(&left_job_, &right_job_, &n_, a_, &lead, alpha_, alpha_ + n_, left_, &lead, right_, &lead,
                   work, &size_, &info, 1, 1);
        }
        return info;
    }

    // Of a real matrix two columns are the parts of two conjugate vectors.
    void give_columns(const T* from, const Matrices& to, int64_t index) {
        for (int64_t j = 0; j < n_; ++j) {
            const bool pair = !is_complex<T> && alpha(j).imag() != 0 && j + 1 < n_;
            for (int64_t i = 0; i < n_; ++i) {
                if constexpr (is_complex<T>) {
                    columns_[j * n_ + i] = from[j * n_ + i];
                } else {
                    columns_[j * n_ + i] = {from[j * n_ + i], pair ? from[(j + 1) * n_ + i] : T(0)};
                    if (pair) columns_[(j + 1) * n_ + i] = std::conj(columns_[j * n_ + i]);
                }
            }
            if (pair) ++j;
        }
        if (has_second_) scale_columns();
        give(columns_.data(), n_, to, index);
    }
    // ggev's have a largest element of one.
    void scale_columns() {
        for (int64_t j = 0; j < n_; ++j) {
            Real<T> squares = 0;
            for (int64_t i = 0; i < n_; ++i) squares += std::norm(columns_[j * n_ + i]);
            const Real<T> length = std::sqrt(squares);
            for (int64_t i = 0; i < n_; ++i) columns_[j * n_ + i] /= length;
        }
    }

    int64_t n_, size_ = -1;
    char left_job_, right_job_;
    bool has_second_;
    Room<T> a_, b_, left_, right_, alpha_, beta_;
    Room<Real<T>> real_work_;
    Room<Complex<T>> columns_;
    std::optional<Room<T>> work_;
};

template <class T>
bool solve(const Matrices& a, const Matrices* b, Complex<T>* alpha, T* beta, const TwoSides& vectors) {
    const int64_t n = a.rows;
    std::atomic<bool> converged = true;
    share_matrices(a.count(), operations_of(a), [&](int64_t first, int64_t last) {
        Routine<T> routine(n, b != nullptr, vectors);
        for (int64_t index = first; index < last; ++index) {
            take(a, index, routine.first(), n);
            if (b != nullptr) take(*b, index, routine.second(), n);
            if (!routine.run()) {
                converged = false;
                continue;
            }
            for (int64_t i = 0; i < n; ++i) alpha[index * n + i] = routine.alpha(i);
            if (b != nullptr) std::copy(routine.beta(), routine.beta() + n, beta + index * n);
            routine.give_vectors(vectors, index);
        }
    });
    return converged;
}

}  // namespace

bool two_sided_eigen(ScalarType type, const Matrices& a, char* values, const TwoSides& vectors) {
    return visit_type(type, [&]<class T>(TypeTag<T>) {
        return solve<T>(a, nullptr, reinterpret_cast<Complex<T>*>(values), nullptr, vectors);
    });
}

bool generalized_eigen(ScalarType type, const Matrices& a, const Matrices& b, char* alpha, char* beta,
                       const TwoSides& vectors) {
    return visit_type(type, [&]<class T>(TypeTag<T>) {
        return solve<T>(a, &b, reinterpret_cast<Complex<T>*>(alpha), reinterpret_cast<T*>(beta), vectors);
    });
}

}  // namespace weft::lapack
