#include "library/linalg/factor.h"

namespace weft::lapack {

template <class T>
int64_t lu_in_place(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots) {
    int64_t info = 0;
    functions<T>().getrf(&rows, &columns, a, &lda, pivots, &info);
    return info;
}

template <class T>
int64_t cholesky_in_place(char triangle, int64_t n, T* a, int64_t lda) {
    int64_t info = 0;
    functions<T>().potrf(&triangle, &n, a, &lda, &info, 1);
    return info;
}

template <class T>
void qr_in_place(int64_t rows, int64_t columns, T* a, int64_t lda, T* tau) {
    int64_t size = -1, info = 0;
    T answer{};
    functions<T>().geqrf(&rows, &columns, a, &lda, tau, &answer, &size, &info);
    size = asked_size(answer);
    Room<T> work(size);
    functions<T>().geqrf(&rows, &columns, a, &lda, tau, work, &size, &info);
}

template <class T>
void q_in_place(int64_t rows, int64_t columns, int64_t count, T* a, int64_t lda, const T* tau) {
    int64_t size = -1, info = 0;
    T answer{};
    functions<T>().orgqr(&rows, &columns, &count, a, &lda, tau, &answer, &size, &info);
    size = asked_size(answer);
    Room<T> work(size);
    functions<T>().orgqr(&rows, &columns, &count, a, &lda, tau, work, &size, &info);
}

#define WEFT_FACTOR(T)                                                     \
    template int64_t lu_in_place(int64_t, int64_t, T*, int64_t, int64_t*); \
    template int64_t cholesky_in_place(char, int64_t, T*, int64_t);        \
    template void qr_in_place(int64_t, int64_t, T*, int64_t, T*);          \
    template void q_in_place(int64_t, int64_t, int64_t, T*, int64_t, const T*);
WEFT_FACTOR(float)
WEFT_FACTOR(double)
WEFT_FACTOR(std::complex<float>)
WEFT_FACTOR(std::complex<double>)
#undef WEFT_FACTOR

}  // namespace weft::lapack
