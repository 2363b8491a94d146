// What the functions of linear algebra share: what they accept, batches, and arrays as the matrices that the
// factorisations of library/linalg take. Arrays on a GPU come here and go back: the one place that decides
// where.
#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include "api/recording/origins.h"
#include "api/recording/transfer.h"
#include "execution/fallback.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/linalg/matrices.h"
#include "weft/linalg.h"

namespace weft::linalg {

/// The type of the result, and the one to compute in: small matrices of single precision are computed in
/// double precision, which costs next to nothing there, and rounded once.
struct Types {
    DType result, compute;
    bool is_complex() const { return result.is_complex(); }
    ScalarType scalar_type() const { return compute.scalar_type(); }
};
/// Throws TypeError for 16-bit floats.
Types common_type(const array& a);
Types common_type(const array& a, const array& b);
/// The types of the real parts, and of complex numbers of the same precision.
Types real_types(const Types& types);
Types complex_types(const Types& types);
DType complex_of(DType dtype);

void check_stacked(const array& a);  // throws LinAlgError for fewer than two axes
void check_square(const array& a);   // and where the last two differ
void check_2d(const array& a);       // and for other than two axes
void check_finite(const array& a);   // throws LinAlgError for infinities and nan

/// The axes before the last two.
Dims batch_of(const array& a);
/// Transposed, and conjugated where it is complex.
array adjoint(const array& a);

/// An array of matrices in the host's memory, computed, of `dtype`; nobody else writes there meanwhile.
class Input {
public:
    Input(const array& given, const Types& types);
    /// Over a batch to which it broadcasts.
    lapack::Matrices over(const Dims& batch) const;
    /// A vector is a matrix of one column.
    const lapack::Matrices& matrices() const { return matrices_; }

private:
    array kept_;
    BufferPtr buffer_;
    lapack::Matrices matrices_;
};

/// A new array in C order.
class Output {
public:
    Output(const Types& types, const Dims& batch, std::initializer_list<int64_t> core);
    void lay_by_columns();  // of each matrix, before anything is written
    lapack::Matrices matrices() const;
    lapack::Matrices columns() const;  // of vectors
    char* data() const { return buffer_->data(); }
    array finish();

private:
    Types types_;
    Dims shape_, strides_;
    BufferPtr buffer_;
};

/// Whether the arrays are on a GPU. Throws ValueError where they are on two devices.
inline bool is_on_gpu(const array& a) { return !device_of(a).is_cpu(); }
inline bool is_on_gpu(const array& a, const array& b) {
    check_same_device(a, b);
    return is_on_gpu(a);
}

/// Where there is no way on a GPU, for the reason `why`: what `function` gives for copies in the host's
/// memory. The history says so. The results are moved by `back`.
template <class Function, class... Rest>
auto on_host(std::string what, const std::string& why, const Function& function, const array& a,
             const Rest&... rest) {
    LibraryCall::set_reason(why.empty() ? "no way on a GPU" : why);
    if (!why.empty()) what += " (" + why + ")";
    record_fallback(device_of(a), what.c_str(), (a.nbytes() + ... + rest.nbytes()));
    return function(move_to(a, cpu_device()), move_to(rest, cpu_device())...);
}
inline void back(const array& a, std::initializer_list<array*> results) {
    for (array* each : results) {
        *each = move_to(*each, device_of(a));
        LibraryCall::made(*each);
    }
}

// Results that a GPU's functions give, for weft.explain.
inline void tell(const array& a) { LibraryCall::made(a); }
inline void tell(const SlogdetResult& r) { LibraryCall::made({&r.sign, &r.logabsdet}); }
inline void tell(const QRResult& r) { LibraryCall::made({&r.Q, &r.R}); }
inline void tell(const RawQR& r) { LibraryCall::made({&r.factored, &r.tau}); }
inline void tell(const EigResult& r) { LibraryCall::made({&r.eigenvalues, &r.eigenvectors}); }
inline void tell(const SVDResult& r) { LibraryCall::made({&r.U, &r.S, &r.Vh}); }
inline void tell(const LstsqResult& r) { LibraryCall::made({&r.x, &r.residuals, &r.singular_values}); }
template <class Result>
Result told(Result result) {
    tell(result);
    return result;
}

}  // namespace weft::linalg
