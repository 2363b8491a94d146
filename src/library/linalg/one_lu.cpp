#include "library/linalg/one_lu.h"

#include <cstring>

#include "library/linalg/factor.h"
#include "library/linalg/lu_values.h"

namespace weft::lapack {

namespace {

template <class T>
T* elements(const BufferPtr& buffer) {
    return reinterpret_cast<T*>(buffer->data());
}

BufferPtr room_for(int64_t count, size_t itemsize) {
    return cpu_device().allocate(static_cast<size_t>(std::max<int64_t>(count, 1)) * itemsize);
}

}  // namespace

OneLu::OneLu(ScalarType type, const Matrices& a)
    : type_(type), n_(a.rows), transposed_(a.by_rows(DType(type).itemsize())) {
    visit_type(type, [&]<class T>(TypeTag<T>) {
        const BlasThreads inside(library(), 1);
        factors_ = room_for(n_ * n_, sizeof(T));
        pivots_ = room_for(n_, sizeof(int64_t));
        take(transposed_ ? a.transposed() : a, 0, elements<T>(factors_), leading(n_));
        singular_ = lu_in_place(n_, n_, elements<T>(factors_), leading(n_), elements<int64_t>(pivots_)) != 0;
    });
}

void OneLu::solve(const Matrices& b, const Matrices& x) const {
    visit_type(type_, [&]<class T>(TypeTag<T>) {
        const BlasThreads inside(library(), 1);
        const int64_t columns = b.columns, lead = leading(n_);
        int64_t info = 0;
        Room<T> right(n_ * columns);
        take(b, 0, right.data(), lead);
        functions<T>().getrs(transposed_ ? "T" : "N", &n_, &columns, elements<T>(factors_), &lead,
                             elements<int64_t>(pivots_), right, &lead, &info, 1);
        give(right.data(), lead, x, 0);
    });
}

void OneLu::invert(const Matrices& inverse) const {
    visit_type(type_, [&]<class T>(TypeTag<T>) {
        const BlasThreads inside(library(), 1);
        const int64_t lead = leading(n_);
        int64_t info = 0, size = -1;
        T answer{};
        Room<T> copy(n_ * n_);
        std::memcpy(copy.data(), factors_->data(), static_cast<size_t>(n_ * n_) * sizeof(T));
        functions<T>().getri(&n_, copy, &lead, elements<int64_t>(pivots_), &answer, &size, &info);
        size = asked_size(answer);
        Room<T> work(size);
        functions<T>().getri(&n_, copy, &lead, elements<int64_t>(pivots_), work, &size, &info);
        give(copy.data(), lead, transposed_ ? inverse.transposed() : inverse, 0);
    });
}

void OneLu::determinant(char* result) const {
    visit_type(type_, [&]<class T>(TypeTag<T>) {
        const T value =
            singular_ ? T(0) : determinant_of(n_, elements<T>(factors_), elements<int64_t>(pivots_));
        std::memcpy(result, &value, sizeof value);
    });
}

void OneLu::log_determinant(char* sign, char* logarithm) const {
    visit_type(type_, [&]<class T>(TypeTag<T>) {
        const LogDeterminant<T> found =
            singular_ ? LogDeterminant<T>{}
                      : log_determinant_of(n_, elements<T>(factors_), elements<int64_t>(pivots_));
        std::memcpy(sign, &found.sign, sizeof found.sign);
        std::memcpy(logarithm, &found.logarithm, sizeof found.logarithm);
    });
}

}  // namespace weft::lapack
