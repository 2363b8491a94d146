// Linear algebra that scipy.linalg has beyond NumPy, but for what linalg.cpp binds.
#include "convert/convert.h"
#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/linalg.h"

namespace weft::python {

namespace {

constexpr int64_t kLongWork = 256;  // elements; a factorisation takes many operations for each

template <class Function>
auto compute(const array& input, const Function& function) {
    const ReleaseGil release(input.size() > kLongWork);
    return function();
}

void bind_lu(nb::module_& m) {
    m.def(
        "_linalg_lu_parts",
        [](nb::handle a, bool as_indices) {
            const array input = to_array(a);
            const auto rows = as_indices ? linalg::LURows::kIndices : linalg::LURows::kMatrix;
            linalg::PLU parts = compute(input, [&] { return linalg::lu(input, rows); });
            return nb::make_tuple(wrap(std::move(parts.P)), wrap(std::move(parts.L)),
                                  wrap(std::move(parts.U)));
        },
        arg("a"), arg("as_indices"));
    m.def(
        "_linalg_lu_permuted",
        [](nb::handle a) {
            const array input = to_array(a);
            linalg::PLU parts = compute(input, [&] { return linalg::lu_permuted(input); });
            return nb::make_tuple(wrap(std::move(parts.L)), wrap(std::move(parts.U)));
        },
        arg("a"));
    m.def(
        "_linalg_lu_solve",
        [](nb::handle factors, nb::handle pivots, nb::handle b, int form) {
            const array lu = to_array(factors), swaps = to_array(pivots), right = to_array(b);
            return wrap(compute(lu, [&] { return linalg::lu_solve(lu, swaps, right, "NTC"[form]); }));
        },
        arg("factors"), arg("pivots"), arg("b"), arg("form"));
}

nb::object wrap_if_given(array&& value) { return value.valid() ? wrap(std::move(value)) : nb::none(); }

linalg::EighSubset to_subset(nb::handle positions, nb::handle interval) {
    linalg::EighSubset subset;
    if (!positions.is_none()) {
        const nb::tuple pair = nb::cast<nb::tuple>(positions);
        subset.positions = {to_index(pair[0]), to_index(pair[1])};
    }
    if (!interval.is_none()) {
        const nb::tuple pair = nb::cast<nb::tuple>(interval);
        subset.interval = {FromPython<double>::convert(pair[0]), FromPython<double>::convert(pair[1])};
    }
    return subset;
}

void bind_eigenvalues(nb::module_& m) {
    m.def(
        "_linalg_eigh_subset",
        [](nb::handle a, bool upper, nb::handle positions, nb::handle interval) {
            const array input = to_array(a);
            const linalg::EighSubset subset = to_subset(positions, interval);
            linalg::EighResult result = compute(input, [&] { return linalg::eigh(input, upper, subset); });
            return nb::make_tuple(wrap(std::move(result.eigenvalues)), wrap(std::move(result.eigenvectors)));
        },
        arg("a"), arg("upper"), arg("positions"), arg("interval"));
    m.def(
        "_linalg_eigvalsh_subset",
        [](nb::handle a, bool upper, nb::handle positions, nb::handle interval) {
            const array input = to_array(a);
            const linalg::EighSubset subset = to_subset(positions, interval);
            return wrap(compute(input, [&] { return linalg::eigvalsh(input, upper, subset); }));
        },
        arg("a"), arg("upper"), arg("positions"), arg("interval"));
    m.def(
        "_linalg_eig_sides",
        [](nb::handle a, bool left, bool right) {
            const array input = to_array(a);
            linalg::TwoSidedEig result =
                compute(input, [&] { return linalg::eig(input, linalg::EigSides{left, right}); });
            return nb::make_tuple(wrap(std::move(result.eigenvalues)), wrap_if_given(std::move(result.left)),
                                  wrap_if_given(std::move(result.right)));
        },
        arg("a"), arg("left"), arg("right"));
    m.def(
        "_linalg_generalized_eig",
        [](nb::handle a, nb::handle b, bool left, bool right) {
            const array first = to_array(a), second = to_array(b);
            linalg::GeneralizedEig result =
                compute(first, [&] { return linalg::generalized_eig(first, second, {left, right}); });
            return nb::make_tuple(wrap(std::move(result.alpha)), wrap(std::move(result.beta)),
                                  wrap_if_given(std::move(result.left)),
                                  wrap_if_given(std::move(result.right)));
        },
        arg("a"), arg("b"), arg("left"), arg("right"));
    m.def(
        "_linalg_schur_eigenvalues",
        [](nb::handle t) {
            const array input = to_array(t);
            return wrap(compute(input, [&] { return linalg::schur_eigenvalues(input); }));
        },
        arg("t"));
    m.def(
        "_linalg_sort_schur",
        [](nb::handle t, nb::handle z, nb::handle chosen) {
            const linalg::SchurResult form{to_array(t), to_array(z)};
            const array choice = to_array(chosen);
            linalg::SortedSchur sorted = compute(form.T, [&] { return linalg::sort_schur(form, choice); });
            return nb::make_tuple(wrap(std::move(sorted.T)), wrap(std::move(sorted.Z)),
                                  wrap(std::move(sorted.count)));
        },
        arg("t"), arg("z"), arg("chosen"));
}

void bind_structured(nb::module_& m) {
    m.def(
        "_linalg_solve_toeplitz",
        [](nb::handle column, nb::handle row, nb::handle b) {
            const array down = to_array(column), across = to_array(row), right = to_array(b);
            return wrap(compute(down, [&] { return linalg::solve_toeplitz(down, across, right); }));
        },
        arg("column"), arg("row"), arg("b"));
    m.def(
        "_linalg_ldl",
        [](nb::handle a, bool lower, bool hermitian) {
            const array input = to_array(a);
            linalg::LDLResult result = compute(input, [&] { return linalg::ldl(input, lower, hermitian); });
            return nb::make_tuple(wrap(std::move(result.L)), wrap(std::move(result.D)),
                                  wrap(std::move(result.perm)));
        },
        arg("a"), arg("lower"), arg("hermitian"));
    m.def(
        "_linalg_qr_raw_pivoted",
        [](nb::handle a) {
            const array input = to_array(a);
            linalg::RawPivotedQR result = compute(input, [&] { return linalg::qr_raw_pivoted(input); });
            return nb::make_tuple(wrap(std::move(result.factored)), wrap(std::move(result.tau)),
                                  wrap(std::move(result.P)));
        },
        arg("a"));
}

using Ratio = FromPython<std::optional<double>>;

void bind_by_cholesky(nb::module_& m) {
    m.def(
        "_linalg_cho_solve",
        [](nb::handle factor, nb::handle b, bool lower) {
            const array left = to_array(factor), right = to_array(b);
            return wrap(compute(left, [&] { return linalg::cho_solve(left, right, lower); }));
        },
        arg("factor"), arg("b"), arg("lower"));
    const auto options_of = [](bool upper, int type, nb::handle positions, nb::handle interval) {
        return linalg::PairOptions{upper, static_cast<linalg::PairProblem>(type - 1),
                                   to_subset(positions, interval)};
    };
    m.def(
        "_linalg_generalized_eigh",
        [options_of](nb::handle a, nb::handle b, bool upper, int type, nb::handle positions,
                     nb::handle interval) {
            const array left = to_array(a), right = to_array(b);
            const linalg::PairOptions options = options_of(upper, type, positions, interval);
            linalg::EighResult result =
                compute(left, [&] { return linalg::generalized_eigh(left, right, options); });
            return nb::make_tuple(wrap(std::move(result.eigenvalues)), wrap(std::move(result.eigenvectors)));
        },
        arg("a"), arg("b"), arg("upper"), arg("type"), arg("positions"), arg("interval"));
    m.def(
        "_linalg_generalized_eigvalsh",
        [options_of](nb::handle a, nb::handle b, bool upper, int type, nb::handle positions,
                     nb::handle interval) {
            const array left = to_array(a), right = to_array(b);
            const linalg::PairOptions options = options_of(upper, type, positions, interval);
            return wrap(compute(left, [&] { return linalg::generalized_eigvalsh(left, right, options); }));
        },
        arg("a"), arg("b"), arg("upper"), arg("type"), arg("positions"), arg("interval"));
}

void bind_by_singular_values(nb::module_& m) {
    m.def(
        "_linalg_polar",
        [](nb::handle a, bool left) {
            const array input = to_array(a);
            const auto side = left ? linalg::PolarSide::kLeft : linalg::PolarSide::kRight;
            linalg::PolarResult result = compute(input, [&] { return linalg::polar(input, side); });
            return nb::make_tuple(wrap(std::move(result.U)), wrap(std::move(result.P)));
        },
        arg("a"), arg("left"));
    m.def(
        "_linalg_orth",
        [](nb::handle a, nb::handle rcond) {
            const array input = to_array(a);
            const auto ratio = Ratio::convert(rcond);
            return wrap(compute(input, [&] { return linalg::orth(input, ratio); }));
        },
        arg("a"), arg("rcond"));
    m.def(
        "_linalg_null_space",
        [](nb::handle a, nb::handle rcond, bool by_gesvd) {
            const array input = to_array(a);
            const auto ratio = Ratio::convert(rcond);
            const auto driver = by_gesvd ? linalg::SVDDriver::kGesvd : linalg::SVDDriver::kGesdd;
            return wrap(compute(input, [&] { return linalg::null_space(input, ratio, driver); }));
        },
        arg("a"), arg("rcond"), arg("by_gesvd"));
    m.def(
        "_linalg_ranked_pinv",
        [](nb::handle a, nb::handle atol, nb::handle rtol) {
            const array input = to_array(a);
            const linalg::PinvTolerances tolerances{Ratio::convert(atol).value_or(0.0), Ratio::convert(rtol)};
            linalg::RankedPinv result =
                compute(input, [&] { return linalg::ranked_pinv(input, tolerances); });
            return nb::make_tuple(wrap(std::move(result.inverse)), wrap_result(std::move(result.rank)));
        },
        arg("a"), arg("atol"), arg("rtol"));
}

}  // namespace

void bind_linalg_of_scipy(nb::module_& m) {
    bind_lu(m);
    bind_eigenvalues(m);
    bind_structured(m);
    bind_by_cholesky(m);
    bind_by_singular_values(m);
}

}  // namespace weft::python
