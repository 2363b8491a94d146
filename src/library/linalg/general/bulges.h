// Chains of bulges of the multishift QR algorithm, chased down inside of a window of a Hessenberg matrix
// (Braman, Byers, Mathias, SIAM J. Matrix Anal. Appl. 23, 2002). Bulges stand three rows apart, so that their
// reflectors have no row in common, and a vector holds the same row of neighbouring bulges.
#pragma once

#include <cstdint>

namespace weft::lapack {

// Two shifts, which are real or conjugate.
template <class T>
struct ShiftPair {
    T real[2], imaginary[2];
};

// A square window. Each column has its rows 0, 3, 6 ..., then 1, 4, 7 ..., then 2, 5, 8 ..., then a column of
// the matrix by which all columns were multiplied. Bulge j acts on the three rows and columns behind `first`
// + 3 j + step. It begins at row `top`, and ends at row `bottom`, which may be outside of the window.
template <class T>
struct BulgeWindow {
    int64_t size;           // rows and columns, without those of padding
    int64_t segment;        // elements from one of a column's four parts to the next
    int64_t lead;           // elements from column to column
    T* elements;            // what is behind `size` is zero
    int64_t first;          // may be negative for bulges that have not begun
    int64_t top, bottom;    // rows of the window
    int64_t bulges, steps;  // at most kMostBulges
    const ShiftPair<T>* shifts;

    static constexpr int64_t kMostBulges = 64;
    static constexpr int64_t kPadding = 64;  // rows and columns that a vector may read behind the last ones
    T* at(int64_t row, int64_t column) const {
        return elements + column * lead + row % 3 * segment + row / 3;
    }
    T* accumulated(int64_t column) const { return elements + column * lead + 3 * segment; }
};

template <class T>
using ChaseBulges = void (*)(const BulgeWindow<T>& window);

// For this processor; null where it has no kernel.
template <class T>
ChaseBulges<T> chase_bulges();

ChaseBulges<float> chase_bulges_avx2(float);
ChaseBulges<double> chase_bulges_avx2(double);
ChaseBulges<float> chase_bulges_avx512(float);
ChaseBulges<double> chase_bulges_avx512(double);

}  // namespace weft::lapack
