#include "library/linalg/svd.h"
#include "library/linalg/small_batches.h"
#include "library/linalg/spectral/svd.h"

#include <atomic>

namespace weft::lapack {

namespace {

// The call of gesdd or gesvd for matrices of one shape, with its workspaces.
template <class T>
class Routine {
public:
    Routine(SvdDriver driver, char job, int64_t m, int64_t n, T* a, Real<T>* s, T* u, int64_t u_columns,
            T* vh, int64_t vh_rows)
        : driver_(driver),
          job_(job),
          m_(m),
          n_(n),
          lda_(leading(m)),
          ldvh_(leading(vh_rows)),
          a_(a),
          s_(s),
          u_(u),
          vh_(vh),
          integers_(8 * std::min(m, n)),
          reals_(real_size(u_columns != 0)) {
        T answer{};
        size_ = -1;
        call(&answer);
        size_ = asked_size(answer);
        work_.emplace(size_);
    }

    bool run() { return call(*work_) == 0; }

private:
    // What the complex gesdd and gesvd say that they need.
    int64_t real_size(bool vectors) const {
        if (!is_complex<T>) return 1;
        const int64_t least = std::min(m_, n_), most = std::max(m_, n_);
        if (driver_ == SvdDriver::kGesvd) return 5 * least;
        return vectors ? std::max(5 * least * least + 5 * least, 2 * most * least + 2 * least * least + least)
                       : 7 * least;
    }

    int64_t call(T* work) {
        const auto& f = functions<T>();
        int64_t info = 0;
        if constexpr (is_complex<T>) {
            if (driver_ == SvdDriver::kGesdd) {
                f.gesdd(&job_, &m_, &n_, a_, &lda_, s_, u_, &lda_, vh_, &ldvh_, work, &size_, reals_,
                        integers_, &info, 1);
            } else {
                f.gesvd(&job_, &job_, &m_, &n_, a_, &lda_, s_, u_, &lda_, vh_, &ldvh_, work, &size_, reals_,
                        &info, 1, 1);
            }
        } else {
            if (driver_ == SvdDriver::kGesdd) {
                f.gesdd(&job_, &m_, &n_, a_, &lda_, s_, u_, &lda_, vh_, &ldvh_, work, &size_, integers_,
                        &info, 1);
            } else {
                f.gesvd(&job_, &job_, &m_, &n_, a_, &lda_, s_, u_, &lda_, vh_, &ldvh_, work, &size_, &info, 1,
                        1);
            }
        }
        return info;
    }

    SvdDriver driver_;
    char job_;
    int64_t m_, n_, lda_, ldvh_, size_ = 0;
    T* a_;
    Real<T>* s_;
    T* u_;
    T* vh_;
    Room<int64_t> integers_;
    Room<Real<T>> reals_;
    std::optional<Room<T>> work_;
};

double operations_of(const Matrices& a) {
    const auto m = static_cast<double>(a.rows), n = static_cast<double>(a.columns);
    return 20 * m * n * std::min(m, n) + 1000;
}

void set_identity(auto* to, int64_t n) {
    std::fill(to, to + n * n, 0);
    for (int64_t i = 0; i < n; ++i) to[i * (n + 1)] = 1;
}

template <class T>
void conjugate_all(T* elements, int64_t count) {
    if constexpr (is_complex<T>)
        for (int64_t i = 0; i < count; ++i) elements[i] = std::conj(elements[i]);
}

bool is_shared(const Matrices& a, SvdDriver driver) {
    return driver == SvdDriver::kGesdd && std::min(a.rows, a.columns) >= kLeastSharedSpectrum;
}

// A large matrix, on all threads where they are free, without `u` and `vh` the values alone. A wide
// matrix is the transposed one of a tall matrix, and so are its vectors.
template <class T>
Spectrum decompose_large(const Matrices& a, int64_t index, Real<T>* s, const Matrices* u,
                         const Matrices* vh) {
    const bool wide = a.rows < a.columns;
    const int64_t m = std::max(a.rows, a.columns), n = std::min(a.rows, a.columns);
    const Room<T> room(m * n);
    take(wide ? a.transposed() : a, index, room.data(), m);
    if (u == nullptr) return large_svd<T>(m, n, room, s, 0, nullptr, nullptr);
    const int64_t columns = wide ? vh->rows : u->columns;
    const Room<T> left(m * columns), right(n * n);
    const Spectrum spectrum = large_svd<T>(m, n, room, s, columns, left, right);
    if (spectrum != Spectrum::kFound) return spectrum;
    // Of a = left s rightᴴ the rows of vh are the columns of `right`, conjugated; of aᵀ = left s rightᴴ, u is
    // `right`, conjugated, and the rows of vh are the columns of `left`.
    conjugate_all(right.data(), n * n);
    give(left.data(), m, wide ? vh->transposed() : *u, index);
    give(right.data(), n, wide ? *u : vh->transposed(), index);
    return spectrum;
}

// LAPACK's call for matrices of one shape, with its matrices.
template <class T>
struct Decomposition {
    Room<T> room, left, right;
    Room<Real<T>> values;
    std::optional<Routine<T>> routine;  // of matrices that have elements

    Decomposition(const Matrices& a, const Matrices& u, const Matrices& vh, SvdDriver driver)
        : room(a.rows * a.columns),
          left(a.rows * u.columns),
          right(vh.rows * a.columns),
          values(std::min(a.rows, a.columns)) {
        if (std::min(a.rows, a.columns) == 0) return;
        const char job = u.columns == a.rows && vh.rows == a.columns ? 'A' : 'S';
        routine.emplace(driver, job, a.rows, a.columns, room.data(), values.data(), left.data(), u.columns,
                        right.data(), vh.rows);
    }
};

template <class T>
bool decompose(const Matrices& a, const Matrices& u, Real<T>* s, const Matrices& vh, SvdDriver driver) {
    const int64_t m = a.rows, n = a.columns, least = std::min(m, n);
    std::atomic<bool> converged = true;
    share_spectra(a.count(), least, operations_of(a), [&](int64_t first, int64_t last) {
        std::optional<Decomposition<T>> of_lapack;
        const auto fill_all = [&](int64_t index) {
            fill(u, index, kNan<T>);
            fill(vh, index, kNan<T>);
            std::fill(s + index * least, s + (index + 1) * least, kNan<Real<T>>);
        };
        const auto decompose_by_lapack = [&](int64_t index) {
            if (!of_lapack) of_lapack.emplace(a, u, vh, driver);
            take(a, index, of_lapack->room.data(), leading(m));
            const Magnitude magnitude = magnitude_of(m, n, of_lapack->room.data(), leading(m));
            if (magnitude == Magnitude::kNan) return false;
            if (magnitude == Magnitude::kInfinite) {
                fill_all(index);
                return true;
            }
            if (!of_lapack->routine) {
                if (u.columns == m) set_identity(of_lapack->left.data(), m);
                if (vh.rows == n) set_identity(of_lapack->right.data(), n);
            } else if (!of_lapack->routine->run()) {
                return false;
            }
            give(of_lapack->left.data(), leading(m), u, index);
            give(of_lapack->right.data(), leading(vh.rows), vh, index);
            std::copy(of_lapack->values.data(), of_lapack->values.data() + least, s + index * least);
            return true;
        };
        for (int64_t index = first; index < last; ++index) {
            Spectrum spectrum = Spectrum::kLeftToLapack;
            if (is_shared(a, driver)) spectrum = decompose_large<T>(a, index, s + index * least, &u, &vh);
            if (spectrum == Spectrum::kFound) continue;
            if (spectrum == Spectrum::kLeftToLapack && decompose_by_lapack(index)) continue;
            converged = false;
            fill_all(index);
        }
    });
    return converged;
}

template <class T>
bool write_values(const Matrices& a, Real<T>* s, SvdDriver driver) {
    const int64_t m = a.rows, n = a.columns, least = std::min(m, n);
    if (least == 0) return true;
    std::atomic<bool> converged = true;
    share_spectra(a.count(), least, operations_of(a) / 4, [&](int64_t first, int64_t last) {
        Room<T> room(m * n), none(1);
        Room<Real<T>> values(least);
        Routine<T> routine(driver, 'N', m, n, room.data(), values.data(), none.data(), 0, none.data(), 0);
        for (int64_t index = first; index < last; ++index) {
            Spectrum spectrum = Spectrum::kLeftToLapack;
            if (is_shared(a, driver))
                spectrum = decompose_large<T>(a, index, s + index * least, nullptr, nullptr);
            if (spectrum == Spectrum::kFound) continue;
            take(a, index, room.data(), leading(m));
            const Magnitude magnitude = magnitude_of(m, n, room.data(), leading(m));
            const bool infinite = magnitude == Magnitude::kInfinite;
            const bool good = !infinite && magnitude != Magnitude::kNan && routine.run();
            if (!good && !infinite) converged = false;
            for (int64_t i = 0; i < least; ++i) s[index * least + i] = good ? values[i] : kNan<Real<T>>;
        }
    });
    return converged;
}

template <class T>
bool solve_least_squares(const Matrices& a, const Matrices& b, Real<T> rcond, const Matrices& solved,
                         Real<T>* s, int64_t* rank) {
    const auto& f = functions<T>();
    const int64_t m = a.rows, n = a.columns, columns = b.columns, least = std::min(m, n), rows = solved.rows;
    const int64_t lda = leading(m), ldb = leading(rows);
    std::atomic<bool> converged = true;
    share_matrices(a.count(), operations_of(a), [&](int64_t first, int64_t last) {
        Room<T> room(m * n), right(rows * columns);
        Room<Real<T>> values(least);
        int64_t size = -1, info = 0, found = 0, integers = 1;
        T answer{};
        Real<T> real_answer{};
        if constexpr (is_complex<T>) {
            f.gelsd(&m, &n, &columns, room, &lda, right, &ldb, values, &rcond, &found, &answer, &size,
                    &real_answer, &integers, &info);
        } else {
            f.gelsd(&m, &n, &columns, room, &lda, right, &ldb, values, &rcond, &found, &answer, &size,
                    &integers, &info);
        }
        size = asked_size(answer);
        Room<T> work(size);
        Room<int64_t> integer_work(leading(integers));
        Room<Real<T>> real_work(asked_size(real_answer));
        for (int64_t index = first; index < last; ++index) {
            take(a, index, room.data(), lda);
            std::fill(right.data(), right.data() + rows * columns, T(0));
            take(b, index, right.data(), ldb);
            const Magnitude magnitude = magnitude_of(m, n, room.data(), lda);
            if (magnitude == Magnitude::kNan || magnitude == Magnitude::kInfinite) {
                info = 1;
            } else if constexpr (is_complex<T>) {
                f.gelsd(&m, &n, &columns, room, &lda, right, &ldb, values, &rcond, &found, work, &size,
                        real_work, integer_work, &info);
            } else {
                f.gelsd(&m, &n, &columns, room, &lda, right, &ldb, values, &rcond, &found, work, &size,
                        integer_work, &info);
            }
            if (info != 0) {
                converged = false;
                fill(solved, index, kNan<T>);
                std::fill(s + index * least, s + (index + 1) * least, kNan<Real<T>>);
                continue;
            }
            rank[index] = found;
            give(right.data(), ldb, solved, index);
            std::copy(values.data(), values.data() + least, s + index * least);
        }
    });
    return converged;
}

}  // namespace

bool svd(ScalarType type, const Matrices& a, const Matrices& u, char* s, const Matrices& vh,
         SvdDriver driver) {
    // Where kernels fail, LAPACK tells infinities from nan.
    if (driver == SvdDriver::kGesdd && small::svd(type, a, &u, s, &vh).value_or(false)) return true;
    return visit_type(type, [&]<class T>(TypeTag<T>) {
        return decompose<T>(a, u, reinterpret_cast<Real<T>*>(s), vh, driver);
    });
}

bool singular_values(ScalarType type, const Matrices& a, char* s, SvdDriver driver) {
    // Where kernels fail, LAPACK tells infinities from nan.
    if (driver == SvdDriver::kGesdd && small::svd(type, a, nullptr, s, nullptr).value_or(false)) return true;
    return visit_type(
        type, [&]<class T>(TypeTag<T>) { return write_values<T>(a, reinterpret_cast<Real<T>*>(s), driver); });
}

bool least_squares(ScalarType type, const Matrices& a, const Matrices& b, double rcond,
                   const Matrices& solved, char* s, int64_t* rank) {
    return visit_type(type, [&]<class T>(TypeTag<T>) {
        return solve_least_squares<T>(a, b, static_cast<Real<T>>(rcond), solved,
                                      reinterpret_cast<Real<T>*>(s), rank);
    });
}

}  // namespace weft::lapack
