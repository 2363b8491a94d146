// Eigenvalues and eigenvectors.
#include "library/linalg/eigen.h"

#include "api/linalg/inputs.h"
#include "api/linalg/on_gpu.h"
#include "core/shape.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::linalg {

namespace {

[[noreturn]] void throw_not_converged() { throw LinAlgError("Eigenvalues did not converge"); }

bool is_real(const array& values) { return !truth_of(any(imag(values) != 0)); }

}  // namespace

EigResult eig(const array& a) {
    const LibraryCall call("linalg.eig", a);
    check_square(a);
    check_finite(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::eig(a, types.result, why)) return told(*std::move(found));
        EigResult result = on_host("eig", why, [](const array& there) { return eig(there); }, a);
        back(a, {&result.eigenvalues, &result.eigenvectors});
        return result;
    }
    const Input input(a, types);
    const int64_t n = a.shape().back();
    const Types complex = complex_types(types);
    Output values(complex, batch_of(a), {n}), vectors(complex, batch_of(a), {n, n});
    if (a.size() != 0 &&
        !lapack::eigen(types.scalar_type(), input.matrices(), values.data(), vectors.matrices()))
        throw_not_converged();
    EigResult result{values.finish(), vectors.finish()};
    if (!types.is_complex() && is_real(result.eigenvalues))
        return told(EigResult{copy(real(result.eigenvalues), 'C'), copy(real(result.eigenvectors), 'C')});
    return result;
}

array eigvals(const array& a) {
    const LibraryCall call("linalg.eigvals", a);
    check_square(a);
    check_finite(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::eigvals(a, types.result, why)) return told(*std::move(found));
        array result = on_host("eigvals", why, [](const array& there) { return eigvals(there); }, a);
        back(a, {&result});
        return result;
    }
    const Input input(a, types);
    Output values(complex_types(types), batch_of(a), {a.shape().back()});
    if (a.size() != 0 && !lapack::eigenvalues(types.scalar_type(), input.matrices(), values.data()))
        throw_not_converged();
    const array result = values.finish();
    return !types.is_complex() && is_real(result) ? told(copy(real(result), 'C')) : result;
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
