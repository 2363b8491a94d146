// Schur forms of small blocks of a Hessenberg matrix, by LAPACK, and what a window at the bottom of the
// matrix shows to have converged: aggressive early deflation (Braman, Byers, Mathias, SIAM J. Matrix Anal.
// Appl. 23, 2002, part II).
#pragma once

#include <vector>

#include "library/linalg/general/outside.h"
#include "library/linalg/matrices.h"

namespace weft::lapack {

template <class T>
struct Shift {
    T real, imaginary;
};

// A block and its vectors, both in column-major order without gaps.
template <class T>
class SmallSchur {
public:
    explicit SmallSchur(int64_t rows) : rows_(rows), t_(rows * rows), v_(rows * rows), values_(2 * rows) {}

    // False where there was no convergence.
    bool run(const T* block, int64_t ldh);
    void give(T* block, int64_t ldh) const;  // from the subdiagonal on
    T* block() const { return t_; }
    T* vectors() const { return v_; }
    // Of the first `count` rows, which end with a block's end.
    std::vector<Shift<T>> eigenvalues(int64_t count) const;

private:
    int64_t rows_;
    Room<T> t_, v_, values_;
};

template <class T>
class Deflation {
public:
    // Of the block from row `top` to row `bottom`, with a window of `rows` rows at its end.
    Deflation(const Outside<T>& matrix, int64_t top, int64_t bottom, int64_t rows)
        : matrix_(matrix), top_(top), first_(bottom - rows + 1), rows_(rows), left_(rows), schur_(rows) {}

    bool run();
    int64_t rows() const { return rows_; }
    int64_t deflated() const { return rows_ - left_; }
    // The eigenvalues that have not converged.
    std::vector<Shift<T>> shifts() const { return shifts_; }

private:
    void look();
    void restore(T& spike);

    const Outside<T>& matrix_;
    int64_t top_, first_, rows_, left_;
    SmallSchur<T> schur_;
    std::vector<Shift<T>> shifts_;
};

}  // namespace weft::lapack
