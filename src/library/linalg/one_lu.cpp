#include "library/linalg/one_lu.h"

#include <cstring>

#include "library/linalg/factor.h"
#include "library/linalg/factored.h"
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
        Room<T> right(n_ * b.columns);
        take(b, 0, right.data(), leading(n_));
        solve_with_lu<T>(transposed_ ? "T" : "N", n_, b.columns, elements<T>(factors_),
                         elements<int64_t>(pivots_), right);
        give(right.data(), leading(n_), x, 0);
    });
}

void OneLu::invert(const Matrices& inverse) const {
    visit_type(type_, [&]<class T>(TypeTag<T>) {
        const BlasThreads inside(library(), 1);
        const Room<T> room(n_ * n_);
        invert_lu<T>(n_, elements<T>(factors_), elements<int64_t>(pivots_), room);
        give(room.data(), leading(n_), transposed_ ? inverse.transposed() : inverse, 0);
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
