// What a window on the diagonal of a Hessenberg matrix does to the matrix around it, and to the vectors.
#pragma once

#include <cstdint>

namespace weft::lapack {

template <class T>
struct Outside {
    int64_t n;
    T* h;
    int64_t ldh;
    T* z;  // null where eigenvalues alone are wanted
    int64_t ldz;

    // Rows and columns from `first` on are multiplied by the orthogonal matrix u of `size` rows: the rows
    // above `above`, the columns from `behind` on, and z. Without z, of rows from `top` and columns before
    // `end` only.
    void multiply(int64_t first, int64_t size, const T* u, int64_t ldu, int64_t above, int64_t behind,
                  int64_t top, int64_t end) const;
};

}  // namespace weft::lapack
