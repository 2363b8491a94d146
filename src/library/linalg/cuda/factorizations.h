// Factorisations of matrices in a GPU's memory, by cuSOLVER and by the batched forms of cuBLAS. Matrices are
// dense and in column-major order, one behind the other, of float32, float64, complex64 or complex128. What
// is computed is queued, and `info` has a 32-bit integer for each matrix then: not zero where it has no
// result.
#pragma once

#include <string>

#include "device/device.h"
#include "weft/dtype.h"

namespace weft::cusolver {

struct Matrices {
    uint64_t data = 0;  // an address on the device
    int64_t rows = 0, columns = 0, count = 1;
    uint64_t pointers = 0;  // of the addresses of each matrix, 64 bits each: for what takes batches

    uint64_t at(int64_t index, int64_t itemsize) const {
        return data + static_cast<uint64_t>(index * rows * columns * itemsize);
    }
};

// Whether cuSOLVER and cuBLAS are there and start; if not, the reason and what to install.
bool is_there(DeviceBackend& device, std::string& why);

// Whether the matrices are factorised together: then `pointers` are needed, and pivots are 32-bit integers,
// else of 64.
bool takes_together(const Matrices& matrices);

// L and U in place, and min(rows, columns) pivots for each, from 1 on. Of squares where they are taken
// together.
void factor_lu(ScalarType type, DeviceBackend& device, const Matrices& a, uint64_t pivots, uint64_t info);
// x of a x = b, or of aᵀ x = b, in place of b. For `is_triangular_solve` the rows of b are already in the
// order that the pivots give them.
bool is_triangular_solve(const Matrices& factors, bool transposed, const Matrices& b);
void solve_lu(ScalarType type, DeviceBackend& device, const Matrices& factors, uint64_t pivots,
              bool transposed, const Matrices& b);
// The inverses, of what is taken together.
void invert_lu(ScalarType type, DeviceBackend& device, const Matrices& factors, uint64_t pivots,
               const Matrices& inverses, uint64_t info);

// The lower factor L of a = L Lᴴ in the lower triangle, which alone is read.
void factor_cholesky(ScalarType type, DeviceBackend& device, const Matrices& a, uint64_t info);

// R in the upper triangle, reflectors below, and min(rows, columns) of their factors for each in `tau`.
void factor_qr(ScalarType type, DeviceBackend& device, const Matrices& a, uint64_t tau);
// The first columns of the Q of `count` reflectors, in their place.
void form_q(ScalarType type, DeviceBackend& device, const Matrices& q, int64_t reflectors, uint64_t tau);

// Of Hermitian matrices, of which one triangle is read: ascending values, and vectors in place of the
// matrices.
void factor_symmetric(ScalarType type, DeviceBackend& device, const Matrices& a, bool upper, bool vectors,
                      uint64_t values, uint64_t info);

// Of square matrices: complex values, and where asked for the right vectors, as LAPACK's geev gives them: of
// real matrices real columns, two for a pair. Not in older libraries.
bool has_general(std::string& why);  // where the library is there
void factor_general(ScalarType type, DeviceBackend& device, const Matrices& a, uint64_t values,
                    uint64_t vectors, uint64_t info);

// a = u diag(s) vᴴ of matrices with no more columns than rows, which are overwritten. u is rows × u_columns,
// v is square. Without vectors both are zero.
struct SingularFactors {
    uint64_t s = 0, u = 0, v = 0;
    int64_t u_columns = 0;
};
// Of many small ones; u is square.
bool takes_singular_together(const Matrices& a);
void factor_singular_together(ScalarType type, DeviceBackend& device, const Matrices& a,
                              const SingularFactors& factors, uint64_t info);
// Of double precision, several times quicker than the last. False where it is not to be trusted: a matrix is
// close to a singular one.
bool factor_singular_quickly(ScalarType type, DeviceBackend& device, const Matrices& a,
                             const SingularFactors& factors, uint64_t info);
// The same, but vᴴ in place of v.
void factor_singular(ScalarType type, DeviceBackend& device, const Matrices& a,
                     const SingularFactors& factors, uint64_t info);

}  // namespace weft::cusolver
