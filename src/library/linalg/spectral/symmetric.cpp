#include "library/linalg/spectral/symmetric.h"

#include <algorithm>

#include "library/linalg/reflectors.h"
#include "library/linalg/spectral/tridiagonal.h"
#include "library/linalg/spectral/tridiagonal_eigen.h"

namespace weft::lapack {

template <class T>
Spectrum large_symmetric_eigen(int64_t n, T* a, Real<T>* values, T* vectors) {
    using R = Real<T>;
    const Magnitude magnitude = magnitude_of(n, n, a, n);
    if (magnitude == Magnitude::kExtreme) return Spectrum::kLeftToLapack;
    if (magnitude != Magnitude::kPlain) return Spectrum::kNotFound;
    const Room<R> diagonal(n), below(n);
    const Room<T> tau(n);
    reduce_to_tridiagonal<T>(n, a, n, diagonal, below, tau);
    if (vectors == nullptr) {
        const BlasThreads inside(library(), 1);
        int64_t info = 0;
        functions<R>().sterf(&n, diagonal, below, &info);
        std::copy(diagonal.data(), diagonal.data() + n, values);
        if (info == 0) way_taken = {"weft's reduction by panels", "then LAPACK", num_threads()};
        return info == 0 ? Spectrum::kFound : Spectrum::kLeftToLapack;
    }
    const Room<R> q(n * n);
    const std::vector<int64_t> order = tridiagonal_eigen<R>(n, diagonal, below, q, n);
    if (order.empty()) return Spectrum::kLeftToLapack;

    const BlasThreads inside(library(), num_threads());
    const Reflectors<T> reflectors(n - 1, n - 1, a + 1, n, tau);
    constexpr int64_t kStrip = 70;
    parallel_for((n + kStrip - 1) / kStrip, [&](int64_t strip) {
        const int64_t begin = strip * kStrip, end = std::min(n, begin + kStrip);
        for (int64_t j = begin; j < end; ++j) {
            const int64_t from = order[static_cast<size_t>(j)];
            values[j] = diagonal[from];
            std::copy(q + from * n, q + (from + 1) * n, vectors + j * n);
        }
        reflectors.apply(end - begin, vectors + 1 + begin * n, n);
    });
    way_taken = {"weft's reduction by panels", "divide and conquer", num_threads()};
    return Spectrum::kFound;
}

template Spectrum large_symmetric_eigen(int64_t, float*, float*, float*);
template Spectrum large_symmetric_eigen(int64_t, double*, double*, double*);
template Spectrum large_symmetric_eigen(int64_t, std::complex<float>*, float*, std::complex<float>*);
template Spectrum large_symmetric_eigen(int64_t, std::complex<double>*, double*, std::complex<double>*);

}  // namespace weft::lapack
