// Linear algebra: norms and what follows from singular values, tensor equations, powers and functions of
// matrices.
#include "convert/convert.h"
#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"
#include "weft/indexing.h"
#include "weft/linalg.h"

namespace weft::python {

namespace {

using linalg::NormOrder;

NormOrder to_norm_order(nb::handle ord) {
    if (ord.is_none()) return {};
    const bool is_sequence = PyList_Check(ord.ptr()) != 0 || PyTuple_Check(ord.ptr()) != 0;
    Argument number;
    if (PyUnicode_Check(ord.ptr()) == 0 && !is_sequence && to_argument(ord.ptr(), number)) return number;
    return text_of(ord);  // a name, or none that there is
}

constexpr int64_t kLongWork = 256;  // elements; singular values take many operations for each

template <class Function>
array compute(const array& input, const Function& function) {
    const ReleaseGil release(input.size() > kLongWork);
    return function();
}

void bind_norms(nb::module_& m) {
    m.def(
        "_linalg_norm",
        [](nb::handle x, nb::handle ord, nb::handle axis, nb::handle keepdims) {
            const array input = to_array(x);
            const NormOrder order = to_norm_order(ord);
            const Axes axes = FromPython<Axes>::convert(axis);
            const bool keeps = FromPython<bool>::convert(keepdims);
            return wrap_result(compute(input, [&] { return linalg::norm(input, order, axes, keeps); }));
        },
        arg("x"), arg("ord"), arg("axis"), arg("keepdims"));
    m.def(
        "_linalg_vector_norm",
        [](nb::handle x, nb::handle ord, nb::handle axis, nb::handle keepdims) {
            const array input = to_array(x);
            const NormOrder order = to_norm_order(ord);
            const Axes axes = FromPython<Axes>::convert(axis);
            const bool keeps = FromPython<bool>::convert(keepdims);
            return wrap_result(
                compute(input, [&] { return linalg::vector_norm(input, order, axes, keeps); }));
        },
        arg("x"), arg("ord"), arg("axis"), arg("keepdims"));
    m.def(
        "_linalg_cond",
        [](nb::handle x, nb::handle p, bool passes_nan) {
            const array input = to_array(x);
            const NormOrder order = to_norm_order(p);
            return wrap_result(compute(input, [&] { return linalg::cond(input, order, passes_nan); }));
        },
        arg("x"), arg("p"), arg("passes_nan"));
    m.def(
        "_linalg_matrix_rank",
        [](nb::handle a, nb::handle tol, nb::handle hermitian, nb::handle rtol) -> nb::object {
            const array input = to_array(a);
            const linalg::RankOptions options{FromPython<std::optional<Argument>>::convert(tol),
                                              FromPython<std::optional<Argument>>::convert(rtol),
                                              FromPython<bool>::convert(hermitian)};
            array rank = compute(input, [&] { return linalg::matrix_rank(input, options); });
            if (input.ndim() < 2) return nb::int_(rank.item<int64_t>());
            return wrap_result(std::move(rank));
        },
        arg("a"), arg("tol"), arg("hermitian"), arg("rtol"));
    m.def(
        "_linalg_pinv",
        [](nb::handle a, nb::handle rcond, nb::handle hermitian) {
            const array input = to_array(a);
            const Argument limit = to_argument(rcond);
            const bool symmetric = FromPython<bool>::convert(hermitian);
            return wrap(compute(input, [&] { return linalg::pinv(input, limit, symmetric); }));
        },
        arg("a"), arg("rcond"), arg("hermitian"));
    m.def(
        "_linalg_svd_of_hermitian",
        [](nb::handle a) {
            const array input = to_array(a);
            linalg::SVDResult result;
            {
                const ReleaseGil release(input.size() > kLongWork);
                result = linalg::svd_of_hermitian(input);
            }
            return nb::make_tuple(wrap(std::move(result.U)), wrap(std::move(result.S)),
                                  wrap(std::move(result.Vh)));
        },
        arg("a"));
}

void bind_tensors(nb::module_& m) {
    m.def(
        "_linalg_tensorsolve",
        [](nb::handle a, nb::handle b, nb::handle axes) {
            const array left = to_array(a), right = to_array(b);
            const std::optional<Dims> order = to_axes(axes);
            return wrap(compute(left, [&] { return linalg::tensorsolve(left, right, order); }));
        },
        arg("a"), arg("b"), arg("axes"));
    m.def(
        "_linalg_tensorinv",
        [](nb::handle a, nb::handle ind) {
            const array input = to_array(a);
            const int64_t leading = to_index(ind);
            return wrap(compute(input, [&] { return linalg::tensorinv(input, leading); }));
        },
        arg("a"), arg("ind"));
    m.def(
        "_linalg_matrix_power",
        [](nb::handle a, nb::handle n) {
            const array input = to_array(a);
            const int64_t exponent = to_index(n);
            return wrap(compute(input, [&] { return linalg::matrix_power(input, exponent); }));
        },
        arg("a"), arg("n"));
}

void bind_chains(nb::module_& m) {
    m.def(
        "_linalg_multi_dot",
        [](nb::handle arrays, nb::handle out) -> nb::object {
            std::vector<array> chain;
            for (const nb::handle each : nb::iter(arrays)) chain.push_back(to_array(each));
            if (!out.is_none() && !is_array(out.ptr())) throw TypeError("'out' must be an array");
            const array target = out.is_none() ? array() : array_of(nb::borrow(out));
            array result;
            {
                const ReleaseGil release(true);
                result = linalg::multi_dot(chain, target);
            }
            return target.valid() ? nb::borrow(out) : wrap_result(std::move(result));
        },
        arg("arrays"), arg("out") = nb::none());
}

}  // namespace

void bind_linalg_norms(nb::module_& m) {
    bind_norms(m);
    bind_tensors(m);
    bind_chains(m);
    const auto bind_one = [&](const char* name, array (*function)(const array&)) {
        m.def(
            name,
            [function](nb::handle a) {
                const array input = to_array(a);
                return wrap(compute(input, [&] { return function(input); }));
            },
            arg("a"));
    };
    bind_one("_linalg_svdvals_of_hermitian", linalg::svdvals_of_hermitian);
    bind_one("_linalg_expm", linalg::expm);
    bind_one("_linalg_logm", linalg::logm);
    bind_one("_linalg_sqrtm", linalg::sqrtm);
}

}  // namespace weft::python
