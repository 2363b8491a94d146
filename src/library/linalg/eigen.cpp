#include "library/linalg/eigen.h"

#include <atomic>

#include "library/linalg/general/general.h"
#include "library/linalg/small_batches.h"
#include "library/linalg/spectral/symmetric.h"

namespace weft::lapack {

namespace {

double operations_of(const Matrices& a, double factor) {
    const auto n = static_cast<double>(a.rows);
    return factor * n * n * n + 1000;
}

// syevd of matrices of one size, with its workspaces.
template <class T>
class SymmetricRoutine {
public:
    SymmetricRoutine(char job, char triangle, int64_t n)
        : job_(job), triangle_(triangle), n_(n), room_(n * n), w_(n) {
        T answer{};
        Real<T> real_answer{};
        int64_t integer_answer = 1;
        size_ = real_size_ = integer_size_ = -1;
        call(&answer, &real_answer, &integer_answer);
        size_ = asked_size(answer);
        real_size_ = asked_size(real_answer);
        integer_size_ = leading(integer_answer);
        work_.emplace(size_);
        real_work_.emplace(real_size_);
        integer_work_.emplace(integer_size_);
    }
    T* matrix() const { return room_; }
    const Real<T>* values() const { return w_; }
    bool run() { return call(*work_, *real_work_, *integer_work_) == 0; }

private:
    int64_t call(T* work, Real<T>* real_work, int64_t* integer_work) {
        const auto& f = functions<T>();
        int64_t info = 0;
        const int64_t lead = leading(n_);
        if constexpr (is_complex<T>) {
            f.syevd(&job_, &triangle_, &n_, room_, &lead, w_, work, &size_, real_work, &real_size_,
                    integer_work, &integer_size_, &info, 1, 1);
        } else {
            f.syevd(&job_, &triangle_, &n_, room_, &lead, w_, work, &size_, integer_work, &integer_size_,
                    &info, 1, 1);
        }
        return info;
    }

    char job_, triangle_;
    int64_t n_, size_ = 0, real_size_ = 0, integer_size_ = 0;
    Room<T> room_;
    Room<Real<T>> w_;
    std::optional<Room<T>> work_;
    std::optional<Room<Real<T>>> real_work_;
    std::optional<Room<int64_t>> integer_work_;
};

// A large matrix, on all threads where they are free.
template <class T>
Spectrum solve_large(const Matrices& a, int64_t index, bool upper, Real<T>* values, const Matrices* vectors) {
    const int64_t n = a.rows;
    const Room<T> room(n * n), columns(vectors == nullptr ? 1 : n * n);
    take(upper ? a.transposed() : a, index, room.data(), n);
    if constexpr (is_complex<T>) {
        if (upper)
            for (int64_t i = 0; i < n * n; ++i) room[i] = std::conj(room[i]);
    }
    const Spectrum spectrum =
        large_symmetric_eigen<T>(n, room, values, vectors == nullptr ? nullptr : columns.data());
    if (spectrum == Spectrum::kFound && vectors != nullptr) give(columns.data(), n, *vectors, index);
    return spectrum;
}

// Without `vectors` the values alone.
template <class T>
bool solve_symmetric(const Matrices& a, bool upper, Real<T>* values, const Matrices* vectors) {
    const int64_t n = a.rows;
    std::atomic<bool> converged = true;
    if (n == 0) return true;
    share_spectra(a.count(), n, operations_of(a, vectors == nullptr ? 2 : 9),
                  [&](int64_t first, int64_t last) {
                      std::optional<SymmetricRoutine<T>> of_lapack;
                      const auto solve_by_lapack = [&](int64_t index) {
                          if (!of_lapack)
                              of_lapack.emplace(vectors == nullptr ? 'N' : 'V', upper ? 'U' : 'L', n);
                          take(a, index, of_lapack->matrix(), n);
                          if (!of_lapack->run()) return false;
                          std::copy(of_lapack->values(), of_lapack->values() + n, values + index * n);
                          if (vectors != nullptr) give(of_lapack->matrix(), n, *vectors, index);
                          return true;
                      };
                      for (int64_t index = first; index < last; ++index) {
                          Spectrum spectrum = Spectrum::kLeftToLapack;
                          if (n >= kLeastSharedSpectrum)
                              spectrum = solve_large<T>(a, index, upper, values + index * n, vectors);
                          if (spectrum == Spectrum::kFound) continue;
                          if (spectrum == Spectrum::kLeftToLapack && solve_by_lapack(index)) continue;
                          converged = false;
                          std::fill(values + index * n, values + (index + 1) * n, kNan<Real<T>>);
                          if (vectors != nullptr) fill(*vectors, index, kNan<T>);
                      }
                  });
    return converged;
}

// geev of matrices of one size.
template <class T>
class GeneralRoutine {
public:
    using C = std::complex<Real<T>>;

    GeneralRoutine(bool vectors, int64_t n)
        : job_(vectors ? 'V' : 'N'),
          n_(n),
          room_(n * n),
          w_(2 * n),
          vectors_(vectors ? n * n : 1),
          real_work_(2 * n) {
        T answer{};
        size_ = -1;
        call(&answer);
        size_ = asked_size(answer);
        work_.emplace(size_);
    }
    // Overwritten by run().
    T* matrix() const { return room_; }
    bool run() { return call(*work_) == 0; }
    // By weft's own way; false where LAPACK has to be taken instead, with the matrix anew.
    bool run_large() {
        if constexpr (is_complex<T>) {
            return false;
        } else {
            return n_ >= kLeastSharedSpectrum &&
                   large_general_eigen<T>(n_, room_, w_, w_ + n_, job_ == 'V' ? vectors_.data() : nullptr) ==
                       Spectrum::kFound;
        }
    }

    void give_values(C* to) const {
        for (int64_t i = 0; i < n_; ++i) {
            if constexpr (is_complex<T>) {
                to[i] = w_[i];
            } else {
                to[i] = {w_[i], w_[n_ + i]};
            }
        }
    }
    // As columns; of a real matrix two columns are the parts of two conjugate vectors.
    void give_vectors(C* to) const {
        if constexpr (is_complex<T>) {
            std::copy(vectors_.data(), vectors_.data() + n_ * n_, to);
        } else {
            for (int64_t j = 0; j < n_; ++j) {
                const T* const column = vectors_ + j * n_;
                const bool is_pair = w_[n_ + j] != 0 && j + 1 < n_;
                for (int64_t i = 0; i < n_; ++i) {
                    to[j * n_ + i] = {column[i], is_pair ? column[n_ + i] : 0};
                    if (is_pair) to[(j + 1) * n_ + i] = {column[i], -column[n_ + i]};
                }
                j += is_pair ? 1 : 0;
            }
        }
    }

private:
    int64_t call(T* work) {
        const auto& f = functions<T>();
        int64_t info = 0;
        const int64_t lead = leading(n_);
        const char none = 'N';
        if constexpr (is_complex<T>) {
            f.geev(&none, &job_, &n_, room_, &lead, w_, nullptr, &lead, vectors_, &lead, work, &size_,
                   real_work_, &info, 1, 1);
        } else {
            f.geev(&none, &job_, &n_, room_, &lead, w_, w_ + n_, nullptr, &lead, vectors_, &lead, work,
                   &size_, &info, 1, 1);
        }
        return info;
    }

    char job_;
    int64_t n_, size_ = 0;
    Room<T> room_, w_, vectors_;
    Room<Real<T>> real_work_;
    std::optional<Room<T>> work_;
};

template <class T>
bool solve_general(const Matrices& a, std::complex<Real<T>>* values, const Matrices* vectors) {
    using C = std::complex<Real<T>>;
    const int64_t n = a.rows;
    std::atomic<bool> converged = true;
    if (n == 0) return true;
    share_spectra(a.count(), is_complex<T> ? 0 : n, operations_of(a, vectors == nullptr ? 10 : 25),
                  [&](int64_t first, int64_t last) {
                      GeneralRoutine<T> routine(vectors != nullptr, n);
                      Room<C> columns(vectors != nullptr ? n * n : 1);
                      const auto take_and_run = [&](int64_t index) {
                          take(a, index, routine.matrix(), n);
                          if (routine.run_large()) return true;
                          if (n >= kLeastSharedSpectrum) take(a, index, routine.matrix(), n);
                          return routine.run();
                      };
                      for (int64_t index = first; index < last; ++index) {
                          if (!take_and_run(index)) {
                              converged = false;
                              std::fill(values + index * n, values + (index + 1) * n, kNan<C>);
                              if (vectors != nullptr) fill(*vectors, index, kNan<C>);
                              continue;
                          }
                          routine.give_values(values + index * n);
                          if (vectors == nullptr) continue;
                          routine.give_vectors(columns);
                          give(columns.data(), n, *vectors, index);
                      }
                  });
    return converged;
}

}  // namespace

bool symmetric_eigen(ScalarType type, const Matrices& a, bool upper, char* values, const Matrices& vectors) {
    if (const auto done = small::symmetric_eigen(type, a, upper, values, &vectors)) return *done;
    return visit_type(type, [&]<class T>(TypeTag<T>) {
        return solve_symmetric<T>(a, upper, reinterpret_cast<Real<T>*>(values), &vectors);
    });
}

bool symmetric_eigenvalues(ScalarType type, const Matrices& a, bool upper, char* values) {
    if (const auto done = small::symmetric_eigen(type, a, upper, values, nullptr)) return *done;
    return visit_type(type, [&]<class T>(TypeTag<T>) {
        return solve_symmetric<T>(a, upper, reinterpret_cast<Real<T>*>(values), nullptr);
    });
}

bool eigen(ScalarType type, const Matrices& a, char* values, const Matrices& vectors) {
    return visit_type(type, [&]<class T>(TypeTag<T>) {
        return solve_general<T>(a, reinterpret_cast<std::complex<Real<T>>*>(values), &vectors);
    });
}

bool eigenvalues(ScalarType type, const Matrices& a, char* values) {
    return visit_type(type, [&]<class T>(TypeTag<T>) {
        return solve_general<T>(a, reinterpret_cast<std::complex<Real<T>>*>(values), nullptr);
    });
}

}  // namespace weft::lapack
