#include "library/linalg/spectral/svd.h"

#include <algorithm>

#include "library/linalg/factor.h"
#include "library/linalg/reflectors.h"
#include "library/linalg/spectral/bidiagonal.h"
#include "library/linalg/spectral/bidiagonal_svd.h"

namespace weft::lapack {

namespace {

constexpr int64_t kStrip = 70;

// From this shape on, a QR factorisation first takes fewer operations: LAPACK's own bound.
bool is_tall(int64_t m, int64_t n) { return 5 * m >= 8 * n; }

// R of a QR factorisation, zeros below its diagonal.
template <class T>
void copy_triangle(int64_t n, const T* a, int64_t lda, T* to) {
    for_pieces(n, kStrip, [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) {
            std::copy(a + j * lda, a + j * lda + j + 1, to + j * n);
            std::fill(to + j * n + j + 1, to + (j + 1) * n, T(0));
        }
    });
}

template <class R>
bool write_values(int64_t n, R* diagonal, R* above, R* values) {
    const BlasThreads inside(library(), 1);
    const Room<R> work(4 * n);
    const int64_t none = 0, one = 1;
    R unused{};
    int64_t info = 0;
    functions<R>().bdsqr("U", &n, &none, &none, &none, diagonal, above, &unused, &one, &unused, &one, &unused,
                         &one, work, &info, 1);
    std::copy(diagonal, diagonal + n, values);
    return info == 0;
}

}  // namespace

template <class T>
Spectrum large_svd(int64_t m, int64_t n, T* a, Real<T>* values, int64_t left_columns, T* left, T* right) {
    using R = Real<T>;
    const Magnitude magnitude = magnitude_of(m, n, a, m);
    if (magnitude != Magnitude::kPlain) return Spectrum::kLeftToLapack;
    const bool by_qr = is_tall(m, n);
    const Room<T> tau(by_qr ? n : 0), triangle(by_qr ? n * n : 0);
    T* square = a;  // what is reduced, of `rows` rows
    int64_t rows = m;
    if (by_qr) {
        qr_in_place(m, n, a, m, tau.data());
        copy_triangle(n, a, m, triangle.data());
        square = triangle;
        rows = n;
    }
    const Room<R> diagonal(n), above(n);
    const Room<T> tau_q(n), tau_p(n), reflectors(n * n);
    reduce_to_bidiagonal<T>(rows, n, square, rows, diagonal, above, tau_q, tau_p, reflectors);
    way_taken = {"weft's reduction by panels", left == nullptr ? "then LAPACK" : "divide and conquer",
                 num_threads()};
    if (left == nullptr)
        return write_values<R>(n, diagonal, above, values) ? Spectrum::kFound : Spectrum::kLeftToLapack;

    const Room<R> u(n * n), vh(n * n);
    const std::vector<int64_t> order = bidiagonal_svd<R>(n, diagonal, above, u, n, vh, n);
    if (order.empty()) return Spectrum::kLeftToLapack;
    const BlasThreads inside(library(), num_threads());
    const Reflectors<T> of_rows(rows, n, square, rows, tau_q),
        of_columns(n - 1, n - 1, reflectors + 1, n, tau_p);
    std::optional<Reflectors<T>> of_qr;
    if (by_qr) of_qr.emplace(m, n, a, m, tau.data());

    const auto source = [&](int64_t j) { return order[static_cast<size_t>(j)]; };
    const auto write_left = [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) {
            T* const to = left + j * m;
            std::fill(to, to + m, T(0));
            if (j < n) {
                std::copy(u + source(j) * n, u + (source(j) + 1) * n, to);
            } else {
                to[j] = T(1);
            }
        }
        // The columns beyond n are zero where the reflectors of a square matrix would meet them.
        if (!by_qr || begin < n) of_rows.apply(end - begin, left + begin * m, m);
        if (of_qr) of_qr->apply(end - begin, left + begin * m, m);
    };
    const auto write_right = [&](int64_t begin, int64_t end) {
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t j = begin; j < end; ++j) right[i + j * n] = vh[source(j) + i * n];
        }
        for (int64_t j = begin; j < end; ++j) values[j] = diagonal[source(j)];
        of_columns.apply(end - begin, right + 1 + begin * n, n);
    };
    const int64_t lefts = (left_columns + kStrip - 1) / kStrip, rights = (n + kStrip - 1) / kStrip;
    parallel_for(lefts + rights, [&](int64_t task) {
        if (task < lefts) {
            write_left(task * kStrip, std::min(left_columns, (task + 1) * kStrip));
        } else {
            write_right((task - lefts) * kStrip, std::min(n, (task - lefts + 1) * kStrip));
        }
    });
    return Spectrum::kFound;
}

#define WEFT_SVD(T) template Spectrum large_svd(int64_t, int64_t, T*, Real<T>*, int64_t, T*, T*);
WEFT_SVD(float)
WEFT_SVD(double)
WEFT_SVD(std::complex<float>)
WEFT_SVD(std::complex<double>)
#undef WEFT_SVD

}  // namespace weft::lapack
