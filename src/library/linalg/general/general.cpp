#include "library/linalg/general/general.h"

#include <algorithm>
#include <cmath>

#include "library/linalg/general/eigenvectors.h"
#include "library/linalg/general/hessenberg.h"
#include "library/linalg/general/hessenberg_qr.h"

namespace weft::lapack {

namespace {

template <class T, class Call>
void with_work(const Call& call) {
    T answer{};
    call(&answer, -1);
    const int64_t size = asked_size(answer);
    const Room<T> work(size);
    call(work.data(), size);
}

constexpr const char* kWay = "weft's QR iteration";

// Whether the processor has the kernels, and nothing overflows.
template <class T>
bool is_for_windows(int64_t n, const T* a) {
    return has_windows<T>() && magnitude_of(n, n, a, n) == Magnitude::kPlain;
}

template <class T>
void clear_reflectors(int64_t n, T* a) {
    for (int64_t j = 0; j + 2 < n; ++j) std::fill(a + j * n + j + 2, a + (j + 1) * n, T(0));
}

template <class T>
void read_values(int64_t n, const T* t, T* real, T* imaginary) {
    for (int64_t i = 0; i < n; ++i) {
        real[i] = t[i + i * n];
        imaginary[i] = 0;
        if (i + 1 == n || t[i + 1 + i * n] == 0) continue;
        const T size = std::sqrt(std::abs(t[i + 1 + i * n])) * std::sqrt(std::abs(t[i + (i + 1) * n]));
        real[i + 1] = t[i + 1 + (i + 1) * n];
        imaginary[i] = size;
        imaginary[i + 1] = -size;
        ++i;
    }
}

// Of length one; of a conjugate pair the largest element is real. Balancing may have left elements whose
// squares overflow, so the largest becomes one first.
template <class T>
void normalize(int64_t n, const T* imaginary, T* vectors) {
    for (int64_t j = 0; j < n; ++j) {
        const bool pair = imaginary[j] != 0;
        T* const own = vectors + j * n;
        T* const other = own + n;  // of a pair
        const int64_t count = pair ? 2 * n : n;
        T size = 0;
        for (int64_t i = 0; i < count; ++i) size = std::max(size, std::abs(own[i]));
        T sum = 0;
        for (int64_t i = 0; i < count; ++i) {
            own[i] /= size;
            sum += own[i] * own[i];
        }
        const T length = std::sqrt(sum);
        if (!pair) {
            for (int64_t i = 0; i < n; ++i) own[i] /= length;
            continue;
        }
        T most = -1;
        int64_t at = 0;
        for (int64_t i = 0; i < n; ++i) {
            const T square = own[i] * own[i] + other[i] * other[i];
            if (square > most) most = square, at = i;
        }
        // Turned by the conjugate of the largest element.
        const T largest = std::sqrt(most);
        const T c = own[at] / largest / length, s = other[at] / largest / length;
        for (int64_t i = 0; i < n; ++i) {
            const T x = own[i], y = other[i];
            own[i] = c * x + s * y;
            other[i] = c * y - s * x;
        }
        other[at] = 0;
        ++j;
    }
}

}  // namespace

template <class T>
Spectrum large_general_eigen(int64_t n, T* a, T* real, T* imaginary, T* vectors) {
    if (!is_for_windows(n, a)) return Spectrum::kLeftToLapack;
    const BlasThreads inside(library(), num_threads());
    const auto& f = functions<T>();
    int64_t low = 1, high = n, info = 0;
    const Room<T> scales(n), tau(n);
    f.gebal("B", &n, a, &n, &low, &high, scales, &info, 1);
    reduce_to_hessenberg<T>(n, low - 1, high, a, n, tau);
    if (vectors != nullptr) hessenberg_vectors<T>(n, low - 1, high, a, n, tau, vectors, n);
    clear_reflectors(n, a);
    if (!schur_of_hessenberg<T>(n, low - 1, high, a, n, vectors, n)) return Spectrum::kLeftToLapack;
    read_values(n, a, real, imaginary);
    way_taken = {kWay, "by windows", num_threads()};
    if (vectors == nullptr) return Spectrum::kFound;
    if (!vectors_of_schur<T>(n, a, n, real, imaginary, vectors, n)) {
        int64_t found = 0;
        with_work<T>([&](T* work, int64_t size) {
            f.trevc3("R", "B", nullptr, &n, a, &n, nullptr, &n, vectors, &n, &n, &found, work, &size, &info,
                     1, 1);
        });
    }
    f.gebak("B", "R", &n, &low, &high, scales, &n, vectors, &n, &info, 1, 1);
    normalize(n, imaginary, vectors);
    return Spectrum::kFound;
}

template <class T>
Spectrum large_schur(int64_t n, T* a, T* z) {
    if (!is_for_windows(n, a)) return Spectrum::kLeftToLapack;
    large_hessenberg(n, a, z);
    const BlasThreads inside(library(), num_threads());
    if (!schur_of_hessenberg<T>(n, 0, n, a, n, z, n)) {
        way_taken = {kLapack, nullptr, 1};
        return Spectrum::kLeftToLapack;
    }
    way_taken = {kWay, "by windows", num_threads()};
    return Spectrum::kFound;
}

template <class T>
void large_hessenberg(int64_t n, T* a, T* q) {
    const BlasThreads inside(library(), num_threads());
    const Room<T> tau(n);
    reduce_to_hessenberg<T>(n, 0, n, a, n, tau);
    hessenberg_vectors<T>(n, 0, n, a, n, tau, q, n);
    clear_reflectors(n, a);
    way_taken = {"weft's reduction by panels", nullptr, num_threads()};
}

template Spectrum large_general_eigen(int64_t, float*, float*, float*, float*);
template Spectrum large_general_eigen(int64_t, double*, double*, double*, double*);
template Spectrum large_schur(int64_t, float*, float*);
template Spectrum large_schur(int64_t, double*, double*);
template void large_hessenberg(int64_t, float*, float*);
template void large_hessenberg(int64_t, double*, double*);

}  // namespace weft::lapack
