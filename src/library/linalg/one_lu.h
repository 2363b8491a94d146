// The LU factors of one matrix, to be used again and again.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

class OneLu {
public:
    // Factors the only matrix of `a`.
    OneLu(ScalarType type, const Matrices& a);

    bool is_singular() const { return singular_; }
    int64_t bytes() const { return static_cast<int64_t>(factors_->size() + pivots_->size()); }

    // Of a regular matrix: x of a x = b, and the inverse; one matrix each.
    void solve(const Matrices& b, const Matrices& x) const;
    void invert(const Matrices& inverse) const;

    // As `determinants` and `log_determinants` (library/linalg/lu.h).
    void determinant(char* result) const;
    void log_determinant(char* sign, char* logarithm) const;

private:
    ScalarType type_;
    int64_t n_;
    bool transposed_;  // the factors are of the transposed matrix
    bool singular_ = false;
    BufferPtr factors_, pivots_;
};

}  // namespace weft::lapack
