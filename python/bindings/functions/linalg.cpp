// Linear algebra: what weft.linalg and weft.scipy.linalg are made of. Results of several arrays are tuples,
// which Python names.
#include "weft/linalg.h"
#include "convert/convert.h"
#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

constexpr int64_t kLongWork = 256;  // elements; a factorisation takes many operations for each

template <class Function, class... Arrays>
auto compute(const Function& function, const Arrays&... inputs) {
    const ReleaseGil release(((inputs.size() > kLongWork) || ...));
    return function();
}

nb::tuple pair(array&& first, array&& second) {
    return nb::make_tuple(wrap_result(std::move(first)), wrap_result(std::move(second)));
}

void bind_factorizations(nb::module_& m) {
    m.def(
        "_linalg_cholesky",
        [](nb::handle a, bool upper) {
            const array input = to_array(a);
            return wrap(compute([&] { return linalg::cholesky(input, upper); }, input));
        },
        arg("a"), arg("upper"));
    m.def(
        "_linalg_qr",
        [](nb::handle a, bool complete) {
            const array input = to_array(a);
            linalg::QRResult result = compute(
                [&] {
                    return linalg::qr(input, complete ? linalg::QRMode::kComplete : linalg::QRMode::kReduced);
                },
                input);
            return pair(std::move(result.Q), std::move(result.R));
        },
        arg("a"), arg("complete"));
    m.def(
        "_linalg_qr_r",
        [](nb::handle a) {
            const array input = to_array(a);
            return wrap(compute([&] { return linalg::qr_r(input); }, input));
        },
        arg("a"));
    m.def(
        "_linalg_qr_raw",
        [](nb::handle a) {
            const array input = to_array(a);
            linalg::RawQR result = compute([&] { return linalg::qr_raw(input); }, input);
            return pair(std::move(result.factored), std::move(result.tau));
        },
        arg("a"));
    m.def(
        "_linalg_qr_pivoted",
        [](nb::handle a, bool complete) {
            const array input = to_array(a);
            linalg::PivotedQR result = compute(
                [&] {
                    return linalg::qr_pivoted(
                        input, complete ? linalg::QRMode::kComplete : linalg::QRMode::kReduced);
                },
                input);
            return nb::make_tuple(wrap(std::move(result.Q)), wrap(std::move(result.R)),
                                  wrap(std::move(result.P)));
        },
        arg("a"), arg("complete"));
}

void bind_decompositions(nb::module_& m) {
    m.def(
        "_linalg_svd",
        [](nb::handle a, bool full_matrices, bool by_gesvd) {
            const array input = to_array(a);
            const auto driver = by_gesvd ? linalg::SVDDriver::kGesvd : linalg::SVDDriver::kGesdd;
            linalg::SVDResult result =
                compute([&] { return linalg::svd(input, full_matrices, driver); }, input);
            return nb::make_tuple(wrap(std::move(result.U)), wrap(std::move(result.S)),
                                  wrap(std::move(result.Vh)));
        },
        arg("a"), arg("full_matrices"), arg("by_gesvd") = false);
    m.def(
        "_linalg_svdvals",
        [](nb::handle a, bool by_gesvd) {
            const array input = to_array(a);
            const auto driver = by_gesvd ? linalg::SVDDriver::kGesvd : linalg::SVDDriver::kGesdd;
            return wrap(compute([&] { return linalg::svdvals(input, driver); }, input));
        },
        arg("a"), arg("by_gesvd") = false);
    m.def(
        "_linalg_eig",
        [](nb::handle a, bool always_complex) {
            const array input = to_array(a);
            linalg::EigResult result = compute([&] { return linalg::eig(input, always_complex); }, input);
            return pair(std::move(result.eigenvalues), std::move(result.eigenvectors));
        },
        arg("a"), arg("always_complex") = false);
    m.def(
        "_linalg_eigvals",
        [](nb::handle a, bool always_complex) {
            const array input = to_array(a);
            return wrap_result(compute([&] { return linalg::eigvals(input, always_complex); }, input));
        },
        arg("a"), arg("always_complex") = false);
    m.def(
        "_linalg_eigh",
        [](nb::handle a, bool upper) {
            const array input = to_array(a);
            linalg::EighResult result = compute([&] { return linalg::eigh(input, upper); }, input);
            return pair(std::move(result.eigenvalues), std::move(result.eigenvectors));
        },
        arg("a"), arg("upper"));
    m.def(
        "_linalg_eigvalsh",
        [](nb::handle a, bool upper) {
            const array input = to_array(a);
            return wrap(compute([&] { return linalg::eigvalsh(input, upper); }, input));
        },
        arg("a"), arg("upper"));
}

void bind_beyond_numpy(nb::module_& m) {
    m.def(
        "_linalg_lu",
        [](nb::handle a) {
            const array input = to_array(a);
            linalg::LUResult result = compute([&] { return linalg::lu_factor(input); }, input);
            return nb::make_tuple(wrap(std::move(result.factors)), wrap(std::move(result.pivots)),
                                  result.singular);
        },
        arg("a"));
    m.def(
        "_linalg_solve_triangular",
        [](nb::handle a, nb::handle b, bool lower, bool unit_diagonal, int form) {
            const array left = to_array(a), right = to_array(b);
            const linalg::TriangularOptions options{lower, unit_diagonal, "NTC"[form]};
            return wrap(compute([&] { return linalg::solve_triangular(left, right, options); }, left, right));
        },
        arg("a"), arg("b"), arg("lower"), arg("unit_diagonal"), arg("form"));
    m.def(
        "_linalg_solve_banded",
        [](nb::handle below, nb::handle above, nb::handle bands, nb::handle b) {
            const array left = to_array(bands), right = to_array(b);
            const int64_t l = to_index(below), u = to_index(above);
            return wrap(compute([&] { return linalg::solve_banded(l, u, left, right); }, left, right));
        },
        arg("below"), arg("above"), arg("bands"), arg("b"));
    m.def(
        "_linalg_schur",
        [](nb::handle a) {
            const array input = to_array(a);
            linalg::SchurResult result = compute([&] { return linalg::schur(input); }, input);
            return pair(std::move(result.T), std::move(result.Z));
        },
        arg("a"));
    m.def(
        "_linalg_hessenberg",
        [](nb::handle a) {
            const array input = to_array(a);
            linalg::HessenbergResult result = compute([&] { return linalg::hessenberg(input); }, input);
            return pair(std::move(result.H), std::move(result.Q));
        },
        arg("a"));
    m.def(
        "_linalg_triangular_root",
        [](nb::handle a) {
            const array input = to_array(a);
            return wrap(compute([&] { return linalg::triangular_root(input); }, input));
        },
        arg("a"));
}

}  // namespace

void bind_linalg(nb::module_& m) {
    m.def(
        "_linalg_solve",
        [](nb::handle a, nb::handle b) {
            const array left = to_array(a), right = to_array(b);
            return wrap(compute([&] { return linalg::solve(left, right); }, left, right));
        },
        arg("a"), arg("b"));
    const auto bind_one = [&](const char* name, array (*function)(const array&)) {
        m.def(
            name,
            [function](nb::handle a) {
                const array input = to_array(a);
                return wrap_result(compute([&] { return function(input); }, input));
            },
            arg("a"));
    };
    bind_one("_linalg_inv", linalg::inv);
    bind_one("_linalg_inv_or_nan", linalg::inv_or_nan);
    bind_one("_linalg_det", linalg::det);
    m.def(
        "_linalg_slogdet",
        [](nb::handle a) {
            const array input = to_array(a);
            linalg::SlogdetResult result = compute([&] { return linalg::slogdet(input); }, input);
            return pair(std::move(result.sign), std::move(result.logabsdet));
        },
        arg("a"));
    m.def(
        "_linalg_lstsq",
        [](nb::handle a, nb::handle b, nb::handle rcond) {
            const array left = to_array(a), right = to_array(b);
            const auto limit = FromPython<std::optional<double>>::convert(rcond);
            linalg::LstsqResult result =
                compute([&] { return linalg::lstsq(left, right, limit); }, left, right);
            return nb::make_tuple(wrap(std::move(result.x)), wrap(std::move(result.residuals)), result.rank,
                                  wrap(std::move(result.singular_values)));
        },
        arg("a"), arg("b"), arg("rcond"));
    bind_factorizations(m);
    bind_decompositions(m);
    bind_beyond_numpy(m);
}

}  // namespace weft::python
