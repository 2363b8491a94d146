// The kernel of bulges.h. Included by files that set an instruction set before, as everything of these files:
// so it has internal linkage, and takes no functions of the standard library that are not instructions.
#pragma once

#include <cstdint>
#include <cstring>

#include "library/linalg/general/bulges.h"

namespace weft::lapack {
namespace {

template <class T, int kBytes>
struct BulgeKernel {
    static constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(T));
    typedef T Vector __attribute__((vector_size(kBytes)));
    using Window = BulgeWindow<T>;

    static Vector load(const T* from) {
        Vector value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    static void store(T* to, Vector value) { std::memcpy(to, &value, sizeof value); }
    static T size_of(T value) { return __builtin_elementwise_abs(value); }

    // Reflectors I - (1, v2, v3)ᵀ (t1, t2, t3) of the bulges of a step, and what they make of the first
    // column.
    struct Reflectors {
        static constexpr int64_t kRoom = Window::kMostBulges + kLanes;
        T v2[kRoom], v3[kRoom], t1[kRoom], t2[kRoom], t3[kRoom], beta[kRoom];
    };

    // The reflector that takes (x, y, z) to (beta, 0, 0).
    static void reflect(T x, T y, T z, int64_t bulge, Reflectors& to) {
        // Scaled by a power of two, so that squares neither overflow nor vanish.
        T most = size_of(x) > size_of(y) ? size_of(x) : size_of(y);
        most = most > size_of(z) ? most : size_of(z);
        const bool plain = most > kLeast && most < 1 / kLeast;
        const T scale = plain ? T(1) : most < 1 ? 1 / (kLeast * kLeast) : kLeast * kLeast;
        x *= scale, y *= scale, z *= scale;
        const T rest = y * y + z * z;
        if (rest == 0) {
            to.v2[bulge] = to.v3[bulge] = to.t1[bulge] = to.t2[bulge] = to.t3[bulge] = 0;
            to.beta[bulge] = x / scale;
            return;
        }
        const T length = __builtin_elementwise_sqrt(x * x + rest), beta = x > 0 ? -length : length;
        const T inverse = 1 / (x - beta), tau = (beta - x) / beta;
        to.v2[bulge] = y * inverse;
        to.v3[bulge] = z * inverse;
        to.t1[bulge] = tau;
        to.t2[bulge] = tau * to.v2[bulge];
        to.t3[bulge] = tau * to.v3[bulge];
        to.beta[bulge] = beta / scale;
    }
    static constexpr T kLeast = sizeof(T) == 4 ? T(0x1p-50) : T(0x1p-466);

    // The reflector with which two shifts begin: of the first column of (H - s1) (H - s2), scaled.
    static void begin(const Window& w, int64_t bulge, Reflectors& to) {
        const ShiftPair<T>& s = w.shifts[bulge];
        const int64_t r = w.top;
        const T h11 = *w.at(r, r), h21 = *w.at(r + 1, r), h12 = *w.at(r, r + 1), h22 = *w.at(r + 1, r + 1),
                h32 = *w.at(r + 2, r + 1);
        const T scale = size_of(h11 - s.real[1]) + size_of(s.imaginary[1]) + size_of(h21);
        if (scale == 0) {
            reflect(0, 0, 0, bulge, to);
            return;
        }
        const T below = h21 / scale;
        const T x = h12 * below + (h11 - s.real[0]) * ((h11 - s.real[1]) / scale) -
                    s.imaginary[0] * (s.imaginary[1] / scale);
        reflect(x, below * (h11 + h22 - s.real[0] - s.real[1]), below * h32, bulge, to);
    }

    // Rows of all columns from the bulges on. Where a vector has bulges that begin right of a column, it has
    // zeros, and they stay.
    static void from_left(const Window& w, int64_t k, int64_t from, int64_t to, const Reflectors& r) {
        for (int64_t j = from; j < to; j += kLanes) {
            const Vector v2 = load(r.v2 + j), v3 = load(r.v3 + j), t1 = load(r.t1 + j), t2 = load(r.t2 + j),
                         t3 = load(r.t3 + j);
            const int64_t first = k + 3 * j;
            int64_t column = first < w.top ? w.top : first;
            column = column < 0 ? 0 : column;
            T* x = w.at(first + 1, column);
            T* y = w.at(first + 2, column);
            T* z = w.at(first + 3, column);
            for (; column < w.size; ++column, x += w.lead, y += w.lead, z += w.lead) {
                const Vector a = load(x), b = load(y), c = load(z);
                const Vector sum = a + v2 * b + v3 * c;
                store(x, a - t1 * sum);
                store(y, b - t2 * sum);
                store(z, c - t3 * sum);
            }
        }
    }

    static void columns(int64_t count, T* x, T* y, T* z, const Vector (&r)[5]) {
        for (int64_t i = 0; i < count; i += kLanes) {
            const Vector a = load(x + i), b = load(y + i), c = load(z + i);
            const Vector sum = r[2] * a + r[3] * b + r[4] * c;
            store(x + i, a - sum);
            store(y + i, b - r[0] * sum);
            store(z + i, c - r[1] * sum);
        }
    }

    static void from_right(const Window& w, int64_t first, int64_t bulge, int64_t used, const Reflectors& r) {
        const Vector factors[5] = {Vector{} + r.v2[bulge], Vector{} + r.v3[bulge], Vector{} + r.t1[bulge],
                                   Vector{} + r.t2[bulge], Vector{} + r.t3[bulge]};
        T* const x = w.elements + (first + 1) * w.lead;
        T* const y = x + w.lead;
        T* const z = y + w.lead;
        const int64_t rows = (first + 5 + 2) / 3;  // of each part: down to row first + 4
        for (int64_t part = 0; part < 3 * w.segment; part += w.segment)
            columns(rows, x + part, y + part, z + part, factors);
        const int64_t part = 3 * w.segment;
        columns(used, x + part, y + part, z + part, factors);
    }

    static void run(const Window& w) {
        Reflectors r = {};
        for (int64_t step = 0; step < w.steps; ++step) {
            const int64_t k = w.first + step;
            // Bulges between the first row and the last but one.
            const int64_t late = w.top - 1 - k, early = w.bottom - 2 - k;
            const int64_t from = late > 0 ? (late + 2) / 3 : 0;
            int64_t to = early < 0 ? 0 : early / 3 + 1;
            to = to < w.bulges ? to : w.bulges;
            if (from >= to) continue;
            for (int64_t j = from; j < to; ++j) {
                const int64_t column = k + 3 * j;
                if (column < w.top) {
                    begin(w, j, r);
                    continue;
                }
                reflect(*w.at(column + 1, column), *w.at(column + 2, column), *w.at(column + 3, column), j,
                        r);
            }
            for (int64_t j = to; j < to + kLanes; ++j) r.v2[j] = r.v3[j] = r.t1[j] = r.t2[j] = r.t3[j] = 0;
            from_left(w, k, from, to, r);
            for (int64_t j = from; j < to; ++j) {
                const int64_t column = k + 3 * j;
                if (column < w.top) continue;
                *w.at(column + 1, column) = r.beta[j];
                *w.at(column + 2, column) = *w.at(column + 3, column) = 0;
            }
            // Rows that no bulge has reached are those of an identity.
            const int64_t reached = to < w.bulges ? w.size : k + 3 * to + 1;
            for (int64_t j = from; j < to; ++j)
                from_right(w, k + 3 * j, j, reached < w.size ? reached : w.size, r);
        }
    }
};

}  // namespace
}  // namespace weft::lapack
