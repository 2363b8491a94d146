// Eigenvalues and eigenvectors.
#include "library/linalg/eigen.h"

#include "api/linalg/gpu/on_gpu.h"
#include "api/linalg/inputs.h"
#include "core/shape.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::linalg {

namespace {

[[noreturn]] void throw_not_converged() { throw LinAlgError("Eigenvalues did not converge"); }

bool is_real(const array& values) { return !truth_of(any(imag(values) != 0)); }

// What a GPU gave, real where all eigenvalues are.
array as_asked(const array& found, DType complex, bool always_complex) {
    return always_complex ? astype(found, complex) : found;
}

}  // namespace

EigResult eig(const array& a, bool always_complex) {
    const LibraryCall call("linalg.eig", a);
    check_square(a);
    check_finite(a);
    const Types types = common_type(a), complex = complex_types(types);
    if (is_on_gpu(a)) {
        std::string why;
        if (const auto found = gpu::eig(a, types.result, why))
            return told(EigResult{as_asked(found->eigenvalues, complex.result, always_complex),
                                  as_asked(found->eigenvectors, complex.result, always_complex)});
        EigResult result =
            on_host("eig", why, [&](const array& there) { return eig(there, always_complex); }, a);
        back(a, {&result.eigenvalues, &result.eigenvectors});
        return result;
    }
    const Input input(a, types);
    const int64_t n = a.shape().back();
    Output values(complex, batch_of(a), {n}), vectors(complex, batch_of(a), {n, n});
    if (a.size() != 0 &&
        !lapack::eigen(types.scalar_type(), input.matrices(), values.data(), vectors.matrices()))
        throw_not_converged();
    EigResult result{values.finish(), vectors.finish()};
    if (!always_complex && !types.is_complex() && is_real(result.eigenvalues))
        return told(EigResult{copy(real(result.eigenvalues), 'C'), copy(real(result.eigenvectors), 'C')});
    return result;
}

array eigvals(const array& a, bool always_complex) {
    const LibraryCall call("linalg.eigvals", a);
    check_square(a);
    check_finite(a);
    const Types types = common_type(a), complex = complex_types(types);
    if (is_on_gpu(a)) {
        std::string why;
        if (const auto found = gpu::eigvals(a, types.result, why))
            return told(as_asked(*found, complex.result, always_complex));
        array result =
            on_host("eigvals", why, [&](const array& there) { return eigvals(there, always_complex); }, a);
        back(a, {&result});
        return result;
    }
    const Input input(a, types);
    Output values(complex, batch_of(a), {a.shape().back()});
    if (a.size() != 0 && !lapack::eigenvalues(types.scalar_type(), input.matrices(), values.data()))
        throw_not_converged();
    const array result = values.finish();
    const bool as_real = !always_complex && !types.is_complex() && is_real(result);
    return as_real ? told(copy(real(result), 'C')) : result;
}

EighResult eigh(const array& a, bool upper) {
    const LibraryCall call("linalg.eigh", a);
    check_square(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::eigh(a, types.result, upper, why)) return told(*std::move(found));
        EighResult result = on_host("eigh", why, [&](const array& there) { return eigh(there, upper); }, a);
        back(a, {&result.eigenvalues, &result.eigenvectors});
        return result;
    }
    const Input input(a, types);
    const int64_t n = a.shape().back();
    Output values(real_types(types), batch_of(a), {n}), vectors(types, batch_of(a), {n, n});
    if (a.size() != 0 && !lapack::symmetric_eigen(types.scalar_type(), input.matrices(), upper, values.data(),
                                                  vectors.matrices()))
        throw_not_converged();
    return {values.finish(), vectors.finish()};
}

array eigvalsh(const array& a, bool upper) {
    const LibraryCall call("linalg.eigvalsh", a);
    check_square(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::eigvalsh(a, types.result, upper, why)) return told(*std::move(found));
        array result =
            on_host("eigvalsh", why, [&](const array& there) { return eigvalsh(there, upper); }, a);
        back(a, {&result});
        return result;
    }
    const Input input(a, types);
    Output values(real_types(types), batch_of(a), {a.shape().back()});
    if (a.size() != 0 &&
        !lapack::symmetric_eigenvalues(types.scalar_type(), input.matrices(), upper, values.data()))
        throw_not_converged();
    return values.finish();
}

}  // namespace weft::linalg
