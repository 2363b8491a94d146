// Solutions, inverses and determinants, by LU factorisations.
#include <string>

#include "api/linalg/gpu/on_gpu.h"
#include "api/linalg/inputs.h"
#include "api/linalg/kept_factors.h"
#include "core/shape.h"
#include "library/linalg/lu.h"
#include "weft/creation.h"

namespace weft::linalg {

namespace {

std::string remapped_text(const array& operand, size_t core) {
    const Dims& shape = operand.shape();
    if (shape.size() <= core) return shape_text(shape) + "->()";
    std::string text = shape_text(shape) + "->(";
    for (size_t d = 0; d + core < shape.size(); ++d) text += std::to_string(shape[d]) + ",";
    for (size_t d = 0; d < core; ++d) text += d == 0 ? "newaxis" : ",newaxis";
    return text + ")";
}

// NumPy's errors of its generalised ufuncs.
Dims check_solve(const array& a, const array& b) {
    const bool vector = b.ndim() == 1;
    const std::string signature = vector ? "(m,m),(m)->(m)" : "(m,m),(m,n)->(m,n)";
    const std::string name = vector ? "solve1" : "solve";
    if (b.ndim() == 0)
        throw ValueError(
            name + ": Input operand 1 does not have enough dimensions (has 0, gufunc core with signature " +
            signature + " requires 2)");
    const int64_t n = a.shape().back();
    const int64_t rows = vector ? b.shape()[0] : b.shape()[b.shape().size() - 2];
    if (rows != n)
        throw ValueError(
            name + ": Input operand 1 has a mismatch in its core dimension 0, with gufunc signature " +
            signature + " (size " + std::to_string(rows) + " is different from " + std::to_string(n) + ")");
    if (vector) return batch_of(a);
    const Dims first = batch_of(a), second = batch_of(b);
    if (first == second) return first;
    const Dims* const both[2] = {&first, &second};
    try {
        return broadcast_shapes(both);
    } catch (const ValueError&) {
        throw ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: " +
            remapped_text(a, 2) + " " + remapped_text(b, 2) + "  and requested shape " +
            shape_text({n, b.shape().back()}));
    }
}

[[noreturn]] void throw_singular() { throw LinAlgError("Singular matrix"); }

array inverse_of(const array& a, bool singular_is_nan) {
    const LibraryCall call("linalg.inv", a);
    check_square(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::inverse(a, types.result, singular_is_nan, why)) return told(*std::move(found));
        array result =
            on_host("inv", why, [&](const array& there) { return inverse_of(there, singular_is_nan); }, a);
        back(a, {&result});
        return result;
    }
    const int64_t n = a.shape().back();
    Output inverse(types, batch_of(a), {n, n});
    if (const auto factors = kept_factors(a, types); factors != nullptr && !factors->is_singular()) {
        factors->invert(inverse.matrices());
        return inverse.finish();
    }
    const Input input(a, types);
    if (a.size() != 0 && !lapack::invert(types.scalar_type(), input.matrices(), inverse.matrices()) &&
        !singular_is_nan)
        throw_singular();
    return inverse.finish();
}

}  // namespace

array solve(const array& a, const array& b) {
    const LibraryCall call("linalg.solve", a);
    check_square(a);
    const Types types = common_type(a, b);
    const Dims batch = check_solve(a, b);
    if (is_on_gpu(a, b)) {
        std::string why;
        if (auto found = gpu::solve(a, b, types.result, batch, why)) return told(*std::move(found));
        array result = on_host(
            "solve", why, [](const array& left, const array& right) { return solve(left, right); }, a, b);
        back(a, {&result});
        return result;
    }
    const Input right(b, types);
    const int64_t n = a.shape().back();
    const bool vector = b.ndim() == 1;
    const int64_t columns = vector ? 1 : b.shape().back();
    Output x(types, batch,
             vector ? std::initializer_list<int64_t>{n} : std::initializer_list<int64_t>{n, columns});
    if (n == 0 || element_count(batch) == 0) return x.finish();
    if (columns == 0) {  // nothing to solve, but NumPy looks whether the matrices are singular
        solve(a, zeros({n, 1}, types.result));
        return x.finish();
    }
    if (const auto factors = batch.empty() ? kept_factors(a, types) : nullptr) {
        if (factors->is_singular()) throw_singular();
        factors->solve(right.matrices(), vector ? x.columns() : x.matrices());
        return x.finish();
    }
    const Input left(a, types);
    if (!lapack::solve(types.scalar_type(), left.over(batch), right.over(batch),
                       vector ? x.columns() : x.matrices()))
        throw_singular();
    return x.finish();
}

array inv(const array& a) { return inverse_of(a, false); }

array inv_or_nan(const array& a) { return inverse_of(a, true); }

array det(const array& a) {
    const LibraryCall call("linalg.det", a);
    check_square(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::det(a, types.result, why)) return told(*std::move(found));
        array result = on_host("det", why, [](const array& there) { return det(there); }, a);
        back(a, {&result});
        return result;
    }
    Output result(types, batch_of(a), {});
    if (const auto factors = kept_factors(a, types)) {
        factors->determinant(result.data());
        return result.finish();
    }
    const Input input(a, types);
    if (element_count(batch_of(a)) != 0)
        lapack::determinants(types.scalar_type(), input.matrices(), result.data());
    return result.finish();
}

SlogdetResult slogdet(const array& a) {
    const LibraryCall call("linalg.slogdet", a);
    check_square(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::slogdet(a, types.result, why)) return told(*std::move(found));
        SlogdetResult result = on_host("slogdet", why, [](const array& there) { return slogdet(there); }, a);
        back(a, {&result.sign, &result.logabsdet});
        return result;
    }
    Output sign(types, batch_of(a), {}), logarithm(real_types(types), batch_of(a), {});
    if (const auto factors = kept_factors(a, types)) {
        factors->log_determinant(sign.data(), logarithm.data());
        return {sign.finish(), logarithm.finish()};
    }
    const Input input(a, types);
    if (element_count(batch_of(a)) != 0)
        lapack::log_determinants(types.scalar_type(), input.matrices(), sign.data(), logarithm.data());
    return {sign.finish(), logarithm.finish()};
}

}  // namespace weft::linalg
