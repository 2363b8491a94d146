// Eigenvalues of general matrices with left and right vectors, of pairs of matrices, and their order in a
// Schur form.
#include "library/linalg/spectral/general_eigen.h"

#include "api/linalg/inputs.h"
#include "core/shape.h"
#include "library/linalg/schur.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::linalg {

namespace {

[[noreturn]] void throw_not_converged() { throw LinAlgError("Eigenvalues did not converge"); }

// Where vectors of a batch of n * n matrices go, if they are asked for.
class Vectors {
public:
    Vectors(const Types& types, const Dims& batch, int64_t n, bool wanted) {
        if (!wanted) return;
        output_.emplace(complex_types(types), batch, std::initializer_list<int64_t>{n, n});
        matrices_ = output_->matrices();
    }
    const lapack::Matrices* matrices() const { return output_ ? &matrices_ : nullptr; }
    array finish(bool as_real) {
        if (!output_) return {};
        const array vectors = output_->finish();
        return as_real ? copy(real(vectors), 'C') : vectors;
    }

private:
    std::optional<Output> output_;
    lapack::Matrices matrices_;
};

bool is_real(const Types& types, const array& values) {
    return !types.is_complex() && !truth_of(any(not_equal(imag(values), 0)));
}

}  // namespace

TwoSidedEig eig(const array& a, const EigSides& sides) {
    const LibraryCall call("linalg.eig", a);
    check_square(a);
    check_finite(a);
    const Types types = common_type(a);
    if (is_on_gpu(a) && !sides.left) {
        const EigResult found = sides.right ? eig(a) : EigResult{eigvals(a), {}};
        return {astype(found.eigenvalues, complex_types(types).result), {}, found.eigenvectors};
    }
    if (is_on_gpu(a)) {
        TwoSidedEig result =
            on_host("eig", "left vectors", [&](const array& there) { return eig(there, sides); }, a);
        back(a, {&result.eigenvalues});
        if (sides.left) back(a, {&result.left});
        if (sides.right) back(a, {&result.right});
        return result;
    }
    const Input input(a, types);
    const Dims batch = batch_of(a);
    const int64_t n = a.shape().back();
    Output values(complex_types(types), batch, {n});
    Vectors left(types, batch, n, sides.left), right(types, batch, n, sides.right);
    if (a.size() != 0 && !lapack::two_sided_eigen(types.scalar_type(), input.matrices(), values.data(),
                                                  {left.matrices(), right.matrices()}))
        throw_not_converged();
    TwoSidedEig result{values.finish(), {}, {}};
    const bool as_real = is_real(types, result.eigenvalues);
    result.left = left.finish(as_real);
    result.right = right.finish(as_real);
    return result;
}

GeneralizedEig generalized_eig(const array& a, const array& b, const EigSides& sides) {
    const LibraryCall call("linalg.generalized_eig", a);
    check_square(a);
    check_square(b);
    if (a.shape().back() != b.shape().back()) throw ValueError("a and b must have the same shape");
    check_finite(a);
    check_finite(b);
    const Types types = common_type(a, b);
    const Dims first = batch_of(a), second = batch_of(b);
    const Dims* const both[2] = {&first, &second};
    const Dims batch = broadcast_shapes(both);
    if (is_on_gpu(a, b)) {
        GeneralizedEig result = on_host(
            "eig", "two matrices",
            [&](const array& left, const array& right) { return generalized_eig(left, right, sides); }, a, b);
        back(a, {&result.alpha, &result.beta});
        if (sides.left) back(a, {&result.left});
        if (sides.right) back(a, {&result.right});
        return result;
    }
    const Input one(a, types), other(b, types);
    const int64_t n = a.shape().back();
    Output alpha(complex_types(types), batch, {n}), beta(types, batch, {n});
    Vectors left(types, batch, n, sides.left), right(types, batch, n, sides.right);
    if (n != 0 && element_count(batch) != 0 &&
        !lapack::generalized_eigen(types.scalar_type(), one.over(batch), other.over(batch), alpha.data(),
                                   beta.data(), {left.matrices(), right.matrices()}))
        throw_not_converged();
    GeneralizedEig result{alpha.finish(), beta.finish(), {}, {}};
    const bool as_real = is_real(types, result.alpha);
    result.left = left.finish(as_real);
    result.right = right.finish(as_real);
    return result;
}

array schur_eigenvalues(const array& T) {
    check_square(T);
    const Types types = common_type(T);
    if (is_on_gpu(T)) {
        array result =
            on_host("schur", "eigenvalues", [](const array& there) { return schur_eigenvalues(there); }, T);
        back(T, {&result});
        return result;
    }
    const Input input(T, types);
    Output values(complex_types(types), batch_of(T), {T.shape().back()});
    if (T.size() != 0) lapack::schur_eigenvalues(types.scalar_type(), input.matrices(), values.data());
    return values.finish();
}

SortedSchur sort_schur(const SchurResult& form, const array& chosen) {
    check_square(form.T);
    if (form.Z.shape() != form.T.shape()) throw ValueError("T and Z must have the same shape");
    Dims expected = batch_of(form.T);
    expected.push_back(form.T.shape().back());
    if (chosen.shape() != expected) throw ValueError("there must be a choice for each eigenvalue");
    const Types types = common_type(form.T, form.Z);
    if (is_on_gpu(form.T, form.Z)) {
        SortedSchur result = on_host(
            "schur", "sorted",
            [](const array& t, const array& z, const array& first) { return sort_schur({t, z}, first); },
            form.T, form.Z, chosen);
        back(form.T, {&result.T, &result.Z, &result.count});
        return result;
    }
    const Input t(form.T, types), z(form.Z, types);
    const Dims batch = batch_of(form.T);
    const int64_t n = form.T.shape().back();
    const DType integer = ScalarType::kInt64;
    const array selected = copy(astype(not_equal(chosen, 0), integer), 'C');
    const HostView choice(selected);
    Output sorted_t(types, batch, {n, n}), sorted_z(types, batch, {n, n}),
        count({integer, integer}, batch, {});
    auto* const counts = reinterpret_cast<int64_t*>(count.data());
    std::fill(counts, counts + element_count(batch), 0);
    if (form.T.size() != 0 && !lapack::sort_schur(types.scalar_type(), t.matrices(), z.matrices(),
                                                  reinterpret_cast<const int64_t*>(choice.data()),
                                                  sorted_t.matrices(), sorted_z.matrices(), counts))
        throw LinAlgError("Eigenvalues could not be separated for reordering.");
    return {sorted_t.finish(), sorted_z.finish(), count.finish()};
}

SortedSchur schur(const array& a, const std::function<bool(std::complex<double>)>& is_first) {
    const SchurResult form = schur(a);
    const array values =
        copy(astype(move_to(schur_eigenvalues(form.T), cpu_device()), ScalarType::kComplex128), 'C');
    std::vector<uint8_t> chosen(static_cast<size_t>(values.size()));
    const HostView view(values);
    const auto* each = reinterpret_cast<const std::complex<double>*>(view.data());
    for (uint8_t& choice : chosen) choice = is_first(*each++) ? 1 : 0;
    const array choices = reshape(array(chosen), values.shape());
    return sort_schur(form, move_to(choices, device_of(form.T)));
}

}  // namespace weft::linalg
