#include "library/linalg/spectral/eigen_range.h"

#include <atomic>

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

template <class T>
bool solve_range(const Matrices& a, bool upper, const EigenRange& range, int64_t room, Real<T>* values,
                 const Matrices* vectors, int64_t* found) {
    const int64_t n = a.rows;
    std::atomic<bool> converged = true;
    share_matrices(a.count(), operations_of(a), [&](int64_t first, int64_t last) {
        RangeRoutine<T> routine(vectors != nullptr, upper, n, range, room);
        for (int64_t index = first; index < last; ++index) {
            take(a, index, routine.matrix(), n);
            const bool good = routine.run();
            if (!good) converged = false;
            const int64_t count = good ? std::min(routine.found(), room) : 0;
            found[index] = count;
            std::copy(routine.values(), routine.values() + count, values + index * room);
            std::fill(values + index * room + count, values + (index + 1) * room, kNan<Real<T>>);
            if (vectors == nullptr) continue;
            if (count < room) fill(*vectors, index, kNan<T>);
            Matrices filled = *vectors;
            filled.columns = count;
            give(routine.vectors(), n, filled, index);
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
