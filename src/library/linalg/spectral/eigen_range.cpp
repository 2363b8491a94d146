#include "library/linalg/spectral/eigen_range.h"

#include <atomic>

#include "library/linalg/reflectors.h"
#include "library/linalg/spectral/large.h"
#include "library/linalg/spectral/tridiagonal.h"

namespace weft::lapack {

namespace {

double operations_of(const Matrices& a) {
    const auto n = static_cast<double>(a.rows);
    return 3 * n * n * n + 1000;
}

// syevr of matrices of one size, with its workspaces.
template <class T>
class RangeRoutine {
public:
    RangeRoutine(bool vectors, bool upper, int64_t n, const EigenRange& range, int64_t columns)
        : job_(vectors ? 'V' : 'N'),
          triangle_(upper ? 'U' : 'L'),
          n_(n),
          range_(range),
          matrix_(n * n),
          vectors_(vectors ? n * columns : 1),
          values_(n),
          support_(2 * n) {
        T answer{};
        Real<T> real_answer{};
        int64_t integer_answer = 1;
        call(&answer, &real_answer, &integer_answer);
        size_ = asked_size(answer);
        real_size_ = asked_size(real_answer);
        integer_size_ = leading(integer_answer);
        work_.emplace(size_);
        real_work_.emplace(real_size_);
        integer_work_.emplace(integer_size_);
    }
    T* matrix() const { return matrix_; }
    const T* vectors() const { return vectors_; }
    const Real<T>* values() const { return values_; }
    int64_t found() const { return found_; }
    bool run() { return call(*work_, *real_work_, *integer_work_) == 0; }

private:
    int64_t call(T* work, Real<T>* real_work, int64_t* integer_work) {
        const auto& f = functions<T>();
        const char kind = range_.by_value ? 'V' : 'I';
        const auto low = static_cast<Real<T>>(range_.low), high = static_cast<Real<T>>(range_.high);
        const int64_t first = range_.first + 1, last = range_.last + 1, lead = leading(n_);
        const Real<T> tolerance = 0;
        int64_t info = 0;
        if constexpr (is_complex<T>) {
            f.syevr(&job_, &kind, &triangle_, &n_, matrix_, &lead, &low, &high, &first, &last, &tolerance,
                    &found_, values_, vectors_, &lead, support_, work, &size_, real_work, &real_size_,
                    integer_work, &integer_size_, &info, 1, 1, 1);
        } else {
            f.syevr(&job_, &kind, &triangle_, &n_, matrix_, &lead, &low, &high, &first, &last, &tolerance,
                    &found_, values_, vectors_, &lead, support_, work, &size_, integer_work, &integer_size_,
                    &info, 1, 1, 1);
        }
        return info;
    }

    char job_, triangle_;
    int64_t n_, found_ = 0, size_ = -1, real_size_ = -1, integer_size_ = -1;
    EigenRange range_;
    Room<T> matrix_, vectors_;
    Room<Real<T>> values_;
    Room<int64_t> support_;
    std::optional<Room<T>> work_;
    std::optional<Room<Real<T>>> real_work_;
    std::optional<Room<int64_t>> integer_work_;
};

// The eigenvalues of a tridiagonal matrix in a range, and their vectors: by LAPACK, on the calling thread.
template <class R>
class TridiagonalRange {
public:
    TridiagonalRange(int64_t n, bool vectors, int64_t room)
        : n_(n),
          room_(room),
          job_(vectors ? 'V' : 'N'),
          values_(n),
          vectors_(vectors ? n * room : 1),
          support_(2 * n),
          work_(18 * n),
          integer_work_(10 * n) {}
    const R* values() const { return values_; }
    const R* vector(int64_t j) const { return vectors_ + j * n_; }
    // How many there are; nothing without convergence.
    std::optional<int64_t> run(R* diagonal, R* below, const EigenRange& range) {
        const char kind = range.by_value ? 'V' : 'I';
        const auto low = static_cast<R>(range.low), high = static_cast<R>(range.high);
        const int64_t first = range.first + 1, last = range.last + 1;
        const int64_t size = 18 * n_, integer_size = 10 * n_;
        int64_t found = 0, exactly = 1, info = 0;
        functions<R>().stemr(&job_, &kind, &n_, diagonal, below, &low, &high, &first, &last, &found, values_,
                             vectors_, &n_, &room_, support_, &exactly, work_, &size, integer_work_,
                             &integer_size, &info, 1, 1);
        if (info != 0 || found > room_) return {};
        return found;
    }

private:
    int64_t n_, room_;
    char job_;
    Room<R> values_, vectors_;
    Room<int64_t> support_;
    Room<R> work_;
    Room<int64_t> integer_work_;
};

// A large matrix, reduced on all threads where they are free. Nothing where LAPACK must decide.
template <class T>
std::optional<int64_t> solve_large(const Matrices& a, int64_t index, bool upper, const EigenRange& range,
                                   int64_t room, Real<T>* values, const Matrices* vectors) {
    using R = Real<T>;
    const int64_t n = a.rows;
    const Room<T> matrix(n * n);
    take(upper ? a.transposed() : a, index, matrix.data(), n);
    if constexpr (is_complex<T>) {
        if (upper)
            for (int64_t i = 0; i < n * n; ++i) matrix[i] = std::conj(matrix[i]);
    }
    if (magnitude_of<T>(n, n, matrix, n) != Magnitude::kPlain) return {};
    const Room<R> diagonal(n), below(n);
    const Room<T> tau(n);
    reduce_to_tridiagonal<T>(n, matrix, n, diagonal, below, tau);
    TridiagonalRange<R> tridiagonal(n, vectors != nullptr, room);
    std::optional<int64_t> found;
    {
        const BlasThreads inside(library(), 1);
        found = tridiagonal.run(diagonal, below, range);
    }
    if (!found) return {};
    std::copy(tridiagonal.values(), tridiagonal.values() + *found, values);
    way_taken = {"weft's reduction by panels", "then LAPACK", num_threads()};
    if (vectors == nullptr || *found == 0) return found;
    const BlasThreads inside(library(), num_threads());
    const Room<T> columns(n * *found);
    const Reflectors<T> reflectors(n - 1, n - 1, matrix + 1, n, tau);
    for_pieces(*found, 64, [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j)
            std::copy(tridiagonal.vector(j), tridiagonal.vector(j) + n, columns + j * n);
        reflectors.apply(end - begin, columns + 1 + begin * n, n);
    });
    Matrices filled = *vectors;
    filled.columns = *found;
    give(columns.data(), n, filled, index);
    return found;
}

template <class T>
bool solve_one(const Matrices& a, int64_t index, RangeRoutine<T>& routine, int64_t room, Real<T>* values,
               const Matrices* vectors) {
    take(a, index, routine.matrix(), a.rows);
    if (!routine.run()) {
        if (vectors != nullptr) fill(*vectors, index, kNan<T>);
        return false;
    }
    const int64_t count = std::min(routine.found(), room);
    std::copy(routine.values(), routine.values() + count, values);
    if (vectors == nullptr) return true;
    Matrices filled = *vectors;
    filled.columns = count;
    give(routine.vectors(), a.rows, filled, index);
    return true;
}

template <class T>
bool solve_range(const Matrices& a, bool upper, const EigenRange& range, int64_t room, Real<T>* values,
                 const Matrices* vectors, int64_t* found) {
    const int64_t n = a.rows;
    std::atomic<bool> converged = true;
    share_spectra(a.count(), n, operations_of(a), [&](int64_t first, int64_t last) {
        std::optional<RangeRoutine<T>> of_lapack;
        for (int64_t index = first; index < last; ++index) {
            std::optional<int64_t> large;
            if (n >= kLeastSharedSpectrum)
                large = solve_large<T>(a, index, upper, range, room, values + index * room, vectors);
            if (!large) {
                if (!of_lapack) of_lapack.emplace(vectors != nullptr, upper, n, range, room);
                const bool good = solve_one(a, index, *of_lapack, room, values + index * room, vectors);
                if (!good) converged = false;
                large = good ? std::min(of_lapack->found(), room) : 0;
            }
            found[index] = *large;
            std::fill(values + index * room + *large, values + (index + 1) * room, kNan<Real<T>>);
            if (vectors == nullptr || *large == room) continue;
            Matrices rest = *vectors;
            rest.data += *large * rest.column_stride;
            rest.columns -= *large;
            fill(rest, index, kNan<T>);
        }
    });
    return converged;
}

}  // namespace

bool symmetric_eigen_range(ScalarType type, const Matrices& a, bool upper, const EigenRange& range,
                           int64_t room, char* values, const Matrices* vectors, int64_t* found) {
    return visit_type(type, [&]<class T>(TypeTag<T>) {
        return solve_range<T>(a, upper, range, room, reinterpret_cast<Real<T>*>(values), vectors, found);
    });
}

}  // namespace weft::lapack
