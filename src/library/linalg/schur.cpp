#include "library/linalg/schur.h"

#include <atomic>

#include "library/linalg/general/general.h"

namespace weft::lapack {

namespace {

double operations_of(const Matrices& a) {
    const auto n = static_cast<double>(a.rows);
    return 25 * n * n * n + 1000;
}

template <class T>
bool is_large(const Matrices& a) {
    return !is_complex<T> && a.rows >= kLeastSharedSpectrum;
}

template <class T>
bool write_schur(const Matrices& a, const Matrices& t, const Matrices& z) {
    const int64_t n = a.rows, lead = leading(n);
    const auto& f = functions<T>();
    std::atomic<bool> converged = true;
    share_spectra(a.count(), is_large<T>(a) ? n : 0, operations_of(a), [&](int64_t first, int64_t last) {
        Room<T> room(n * n), vectors(n * n), values(2 * n);
        Room<Real<T>> real_work(n);
        int64_t size = -1, info = 0, ordered = 0, none = 0;
        T answer{};
        const auto decompose = [&](T* work) {
            if constexpr (is_complex<T>) {
                f.gees("V", "N", nullptr, &n, room, &lead, &ordered, values, vectors, &lead, work, &size,
                       real_work, &none, &info, 1, 1);
            } else {
                f.gees("V", "N", nullptr, &n, room, &lead, &ordered, values, values + n, vectors, &lead, work,
                       &size, &none, &info, 1, 1);
            }
        };
        decompose(&answer);
        size = asked_size(answer);
        Room<T> work(size);
        for (int64_t index = first; index < last; ++index) {
            take(a, index, room.data(), lead);
            bool found = false;
            if constexpr (!is_complex<T>) {
                if (is_large<T>(a)) {
                    found = large_schur<T>(n, room, vectors) == Spectrum::kFound;
                    if (!found) take(a, index, room.data(), lead);
                }
            }
            if (!found) decompose(work);
            if (info != 0) converged = false;
            give(room.data(), lead, t, index);
            give(vectors.data(), lead, z, index);
        }
    });
    return converged;
}

template <class T>
void read_eigenvalues(const Matrices& t, std::complex<Real<T>>* values) {
    const int64_t n = t.rows;
    Room<T> room(n * n);
    for (int64_t index = 0; index < t.count(); ++index, values += n) {
        take(t, index, room.data(), n);
        for (int64_t i = 0; i < n; ++i) {
            values[i] = room[i * n + i];
            if constexpr (!is_complex<T>) {
                if (i + 1 == n || room[i * n + i + 1] == 0) continue;
                // Of a block of two both diagonal elements are equal.
                const T size =
                    std::sqrt(std::abs(room[i * n + i + 1])) * std::sqrt(std::abs(room[(i + 1) * n + i]));
                values[i] = {room[i * n + i], size};
                values[i + 1] = {room[(i + 1) * n + i + 1], -size};
                ++i;
            }
        }
    }
}

template <class T>
bool write_sorted(const Matrices& t, const Matrices& z, const int64_t* chosen, const Matrices& sorted_t,
                  const Matrices& sorted_z, int64_t* count) {
    const int64_t n = t.rows, lead = leading(n);
    const auto& f = functions<T>();
    std::atomic<bool> separated = true;
    share_matrices(t.count(), operations_of(t), [&](int64_t first, int64_t last) {
        Room<T> room(n * n), vectors(n * n), values(2 * n), work(leading(n));
        const int64_t size = leading(n), one = 1;
        int64_t integer_work = 0, info = 0;
        Real<T> condition = 0, separation = 0;
        for (int64_t index = first; index < last; ++index) {
            take(t, index, room.data(), lead);
            take(z, index, vectors.data(), lead);
            const int64_t* const own = chosen + index * n;
            if constexpr (is_complex<T>) {
                f.trsen("N", "V", own, &n, room, &lead, vectors, &lead, values, count + index, &condition,
                        &separation, work, &size, &info, 1, 1);
            } else {
                f.trsen("N", "V", own, &n, room, &lead, vectors, &lead, values, values + n, count + index,
                        &condition, &separation, work, &size, &integer_work, &one, &info, 1, 1);
            }
            if (info != 0) separated = false;
            give(room.data(), lead, sorted_t, index);
            give(vectors.data(), lead, sorted_z, index);
        }
    });
    return separated;
}

template <class T>
void write_large_hessenberg(const Matrices& a, const Matrices& h, const Matrices& q) {
    const int64_t n = a.rows;
    share_spectra(a.count(), n, operations_of(a), [&](int64_t first, int64_t last) {
        const Room<T> room(n * n), vectors(n * n);
        for (int64_t index = first; index < last; ++index) {
            take(a, index, room.data(), n);
            large_hessenberg<T>(n, room, vectors);
            give(room.data(), n, h, index);
            give(vectors.data(), n, q, index);
        }
    });
}

template <class T>
void write_hessenberg(const Matrices& a, const Matrices& h, const Matrices& q) {
    if constexpr (!is_complex<T>) {
        if (is_large<T>(a)) return write_large_hessenberg<T>(a, h, q);
    }
    const int64_t n = a.rows, lead = leading(n), one = 1;
    const auto& f = functions<T>();
    share_matrices(a.count(), operations_of(a), [&](int64_t first, int64_t last) {
        Room<T> room(n * n), upper(n * n), tau(n);
        int64_t size = -1, info = 0;
        T answer{}, other{};
        f.gehrd(&n, &one, &n, room, &lead, tau, &answer, &size, &info);
        f.orghr(&n, &one, &n, room, &lead, tau, &other, &size, &info);
        size = std::max(asked_size(answer), asked_size(other));
        Room<T> work(size);
        for (int64_t index = first; index < last; ++index) {
            take(a, index, room.data(), lead);
            f.gehrd(&n, &one, &n, room, &lead, tau, work, &size, &info);
            for (int64_t j = 0; j < n; ++j) {
                const int64_t end = std::min(j + 2, n);
                std::copy(room + j * n, room + j * n + end, upper + j * n);
                std::fill(upper + j * n + end, upper + (j + 1) * n, T(0));
            }
            give(upper.data(), lead, h, index);
            f.orghr(&n, &one, &n, room, &lead, tau, work, &size, &info);
            give(room.data(), lead, q, index);
        }
    });
}

}  // namespace

bool schur(ScalarType type, const Matrices& a, const Matrices& t, const Matrices& z) {
    return visit_type(type, [&]<class T>(TypeTag<T>) { return write_schur<T>(a, t, z); });
}

void schur_eigenvalues(ScalarType type, const Matrices& t, char* values) {
    visit_type(type, [&]<class T>(TypeTag<T>) {
        read_eigenvalues<T>(t, reinterpret_cast<std::complex<Real<T>>*>(values));
    });
}

bool sort_schur(ScalarType type, const Matrices& t, const Matrices& z, const int64_t* chosen,
                const Matrices& sorted_t, const Matrices& sorted_z, int64_t* count) {
    return visit_type(
        type, [&]<class T>(TypeTag<T>) { return write_sorted<T>(t, z, chosen, sorted_t, sorted_z, count); });
}

void hessenberg(ScalarType type, const Matrices& a, const Matrices& h, const Matrices& q) {
    visit_type(type, [&]<class T>(TypeTag<T>) { write_hessenberg<T>(a, h, q); });
}

}  // namespace weft::lapack
