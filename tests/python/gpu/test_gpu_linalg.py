"""Linear algebra on GPUs: by cuSOLVER and cuBLAS, without the CPU, as exact as NumPy's."""

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_fake_driver, needs_gpu, on_cpu, run, run_failing  # noqa: F401

pytestmark = needs_gpu

TYPES = ["f4", "f8", "c8", "c16"]
BATCHES = [(), (1,), (3,), (2, 3)]


def matrices(batch, rows, columns, dtype, seed=0):
    draw = numpy.random.default_rng([seed, rows, columns, len(batch)])
    values = draw.standard_normal((*batch, rows, columns))
    if numpy.dtype(dtype).kind == "c":
        values = values + 1j * draw.standard_normal((*batch, rows, columns))
    return values.astype(dtype)


def hermitian(batch, n, dtype):
    values = matrices(batch, n, n, dtype)
    return values + values.conj().swapaxes(-1, -2)


def positive(batch, n, dtype):
    values = matrices(batch, n, n, dtype)
    return (values @ values.conj().swapaxes(-1, -2) + n * numpy.eye(n)).astype(dtype)


def on_gpu_alone(function, *arrays, **options):
    """The results in NumPy's arrays, and that a GPU has made them."""
    moved = [gpu(each) for each in arrays]
    np.clear_kernel_history()
    results = function(*moved, **options)
    results = results if isinstance(results, tuple) else (results,)
    assert all(each.device == "cuda:0" for each in results)
    np.eval(*results)
    assert not any(record["fallback"] for record in np.kernel_history())
    return [numpy.asarray(each.to_device("cpu")) for each in results]


def close(left, right, dtype, factor=200):
    return numpy.abs(left - right).max(initial=0) <= factor * numpy.finfo(dtype).eps * max(
        numpy.abs(right).max(initial=0), 1
    )


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_equations(batch, dtype):
    a = matrices(batch, 7, 7, dtype)
    for columns in (1, 4, 20):
        b = matrices(batch, 7, columns, dtype, 1)
        (x,) = on_gpu_alone(np.linalg.solve, a, b)
        assert x.dtype == a.dtype and x.shape == b.shape and x.flags.c_contiguous
        assert close(a @ x, b, dtype, 1000)
    (x,) = on_gpu_alone(np.linalg.solve, a, numpy.arange(7).astype(dtype))
    assert close(a @ x[..., None], numpy.arange(7.0)[:, None], dtype, 5000)


def test_equations_broadcast():
    a, b = matrices((3,), 5, 5, "f8"), matrices((2, 1), 5, 2, "f8")
    (x,) = on_gpu_alone(np.linalg.solve, a, b)
    assert x.shape == (2, 3, 5, 2) and close(a @ x, numpy.broadcast_to(b, x.shape), "f8", 1000)
    (x,) = on_gpu_alone(np.linalg.solve, a[0].T, b[:, 0])
    assert close(a[0].T @ x, b[:, 0], "f8", 1000)


@pytest.mark.parametrize("shape", [(15, 15), (16, 16), (130, 130), (2, 520, 520)], ids=str)
def test_rows_come_in_the_order_of_the_pivots(shape):
    """Right sides are put in order before, by a kernel that reads the pivots: also of each matrix of a stack."""
    a = matrices(shape[:-2], *shape[-2:], "f8") + 1e-3
    (inverse,) = on_gpu_alone(np.linalg.inv, a)
    assert close(a @ inverse, numpy.broadcast_to(numpy.eye(shape[-1]), shape), "f8", 1e5)
    b = matrices((*shape[:-2],), shape[-1], 19, "f8", 3)
    (x,) = on_gpu_alone(np.linalg.solve, a, b)
    assert close(a @ x, b, "f8", 1e6)
    (x,) = on_gpu_alone(np.linalg.solve, a, b[None])
    assert x.shape == (1, *b.shape)
    assert close(a @ x, b[None], "f8", 1e6)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_inverses_and_determinants(batch, dtype):
    a = matrices(batch, 6, 6, dtype)
    large = matrices(batch, 17, 17, dtype)
    (inverse,) = on_gpu_alone(np.linalg.inv, large)
    assert close(large @ inverse, numpy.broadcast_to(numpy.eye(17), large.shape), dtype, 20000)
    (inverse,) = on_gpu_alone(np.linalg.inv, a)
    assert inverse.dtype == a.dtype and close(
        a @ inverse, numpy.broadcast_to(numpy.eye(6), a.shape), dtype, 2000
    )
    (det,) = on_gpu_alone(np.linalg.det, a)
    wanted = numpy.linalg.det(a)
    assert (
        det.dtype == a.dtype
        and det.shape == batch
        and numpy.allclose(det, wanted, rtol=1e-3 if a.real.itemsize == 4 else 1e-10)
    )
    sign, logarithm = on_gpu_alone(np.linalg.slogdet, a)
    assert sign.dtype == a.dtype and logarithm.dtype == a.real.dtype
    assert numpy.allclose(sign * numpy.exp(logarithm), wanted, rtol=1e-3 if a.real.itemsize == 4 else 1e-10)


@pytest.mark.parametrize("batch", [(), (4,)], ids=str)
def test_singular_matrices(batch):
    a = matrices(batch, 4, 4, "f8")
    a[..., 2, :] = 0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        np.linalg.inv(gpu(a))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        np.linalg.solve(gpu(a), gpu(numpy.ones(4)))
    assert (on_gpu_alone(np.linalg.det, a)[0] == 0).all()
    sign, logarithm = on_gpu_alone(np.linalg.slogdet, a)
    assert (sign == 0).all() and (logarithm == -numpy.inf).all()
    with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
        np.linalg.cholesky(gpu(-hermitian(batch, 4, "f8")))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(batch, dtype, upper):
    a = positive(batch, 6, dtype)
    other = numpy.triu if upper else numpy.tril
    noise = a + (a * 0 + 7 - other(a * 0 + 7))  # what is in the other triangle does not matter
    (factor,) = on_gpu_alone(np.linalg.cholesky, noise, upper=upper)
    assert factor.dtype == a.dtype and (other(factor) == factor).all() and factor.flags.c_contiguous
    adjoint = factor.conj().swapaxes(-1, -2)
    assert close(adjoint @ factor if upper else factor @ adjoint, a, dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(5, 5), (8, 3), (3, 8), (1, 4), (4, 1)], ids=str)
@pytest.mark.parametrize("batch", [(), (3,)], ids=str)
def test_qr(batch, shape, dtype):
    a = matrices(batch, *shape, dtype)
    for mode in ("reduced", "complete"):
        q, r = on_gpu_alone(np.linalg.qr, a, mode=mode)
        wanted = numpy.linalg.qr(a, mode)
        assert q.shape == wanted.Q.shape and r.shape == wanted.R.shape and q.dtype == r.dtype == a.dtype
        assert close(q @ r, a, dtype) and (numpy.triu(r) == r).all()
        assert close(
            q.conj().swapaxes(-1, -2) @ q,
            numpy.broadcast_to(numpy.eye(q.shape[-1]), (*batch, *2 * q.shape[-1:])),
            dtype,
        )
    assert close(abs(on_gpu_alone(np.linalg.qr, a, mode="r")[0]), abs(numpy.linalg.qr(a, "r")), dtype)
    h, tau = on_gpu_alone(np.linalg.qr, a, mode="raw")
    wanted = numpy.linalg.qr(a, "raw")
    assert (
        h.shape == wanted[0].shape and close(h, wanted[0], dtype, 2000) and close(tau, wanted[1], dtype, 2000)
    )


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("n", [5, 33])
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigenvalues_of_hermitian_matrices(batch, n, dtype, triangle):
    a = hermitian(batch, n, dtype)
    keep = numpy.tril if triangle == "L" else numpy.triu
    values, vectors = on_gpu_alone(np.linalg.eigh, keep(a), UPLO=triangle)
    assert values.dtype == a.real.dtype and vectors.dtype == a.dtype
    assert (numpy.diff(values) >= 0).all()
    assert close(a @ vectors, vectors * values[..., None, :], dtype, 2000)
    assert close(vectors.conj().swapaxes(-1, -2) @ vectors, numpy.broadcast_to(numpy.eye(n), a.shape), dtype)
    assert close(
        on_gpu_alone(np.linalg.eigvalsh, keep(a), UPLO=triangle)[0], numpy.linalg.eigvalsh(a), dtype, 500
    )


def reconstructed(u, s, vh):
    return (u[..., : s.shape[-1]] * s[..., None, :]) @ vh[..., : s.shape[-1], :]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(6, 6), (7, 4), (4, 7), (40, 5), (5, 40)], ids=str)
@pytest.mark.parametrize("batch", [(), (3,)], ids=str)
def test_singular_values(batch, shape, dtype):
    a = matrices(batch, *shape, dtype)
    for full in (False, True):
        u, s, vh = on_gpu_alone(np.linalg.svd, a, full_matrices=full)
        wanted = numpy.linalg.svd(a, full_matrices=full)
        assert [u.shape, s.shape, vh.shape] == [each.shape for each in wanted]
        assert [u.dtype, s.dtype, vh.dtype] == [each.dtype for each in wanted]
        assert close(s, wanted.S, dtype) and close(reconstructed(u, s, vh), a, dtype)
        for each in (u, vh.conj().swapaxes(-1, -2)):
            one = numpy.broadcast_to(numpy.eye(each.shape[-1]), (*batch, *2 * each.shape[-1:]))
            assert close(each.conj().swapaxes(-1, -2) @ each, one, dtype)
    assert close(on_gpu_alone(np.linalg.svdvals, a)[0], wanted.S, dtype)


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_singular_values_of_what_has_few(dtype):
    for a in (numpy.ones((9, 7), dtype), numpy.zeros((7, 9), dtype), numpy.diag([1, 1e-30, 0]).astype(dtype)):
        u, s, vh = on_gpu_alone(np.linalg.svd, a)
        assert close(reconstructed(u, s, vh), a, dtype) and close(s, numpy.linalg.svd(a).S, dtype)
        assert close(u.conj().T @ u, numpy.eye(len(u)), dtype) and close(
            vh @ vh.conj().T, numpy.eye(len(vh)), dtype
        )


def test_what_singular_values_give():
    a, b = matrices((), 9, 4, "f8"), matrices((), 9, 2, "f8", 1)
    x, residuals, rank, s = np.linalg.lstsq(gpu(a), gpu(b))
    wanted = numpy.linalg.lstsq(a, b)
    assert rank == 4
    for found, other in ((x, wanted[0]), (residuals, wanted[1]), (s, wanted[3])):
        assert numpy.allclose(numpy.asarray(found.to_device("cpu")), other)
    x, residuals, rank, s = np.linalg.lstsq(gpu(numpy.ones((4, 3))), gpu(numpy.arange(4.0)))
    assert rank == 1 and residuals.shape == (0,) and numpy.allclose(numpy.asarray(x.to_device("cpu")), 0.5)
    (inverse,) = on_gpu_alone(np.linalg.pinv, a)
    assert numpy.allclose(inverse, numpy.linalg.pinv(a))
    assert np.linalg.matrix_rank(gpu(numpy.ones((4, 3)))) == 1
    assert numpy.isclose(float(np.linalg.cond(gpu(a))), numpy.linalg.cond(a))
    assert numpy.isclose(float(np.linalg.norm(gpu(a), 2)), numpy.linalg.norm(a, 2))


def test_views_and_other_dtypes():
    a = gpu(numpy.arange(72).reshape(8, 9) % 7 + 10 * numpy.eye(8, 9, dtype=int))
    square, host = a[::-1, 1:].T, numpy.asarray(a.to_device("cpu"))[::-1, 1:].T
    (x,) = on_gpu_alone(lambda: np.linalg.solve(square, np.ones(8, device="cuda")))
    assert x.dtype == "f8" and numpy.allclose(host @ x, 1)
    before = numpy.asarray(square.to_device("cpu"))
    np.eval(*np.linalg.svd(square), np.linalg.inv(square), *np.linalg.qr(square))
    assert (numpy.asarray(square.to_device("cpu")) == before).all()


@pytest.mark.parametrize("function", ["inv", "svd", "eigh", "qr", "cholesky"])
def test_matrices_without_elements(function):
    empty = getattr(np.linalg, function)(np.zeros((0, 3, 3), device="cuda"))
    for each in empty if isinstance(empty, tuple) else (empty,):
        assert each.device == "cuda:0" and each.shape[0] == 0


def test_what_is_no_number_is_decided_by_lapack():
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        np.linalg.svd(gpu(numpy.full((3, 3), numpy.nan)))


def test_errors_may_come_late():
    with np.config(deferred_checks=True):
        inverse = np.linalg.inv(gpu(numpy.ones((3, 3))))
        good = np.linalg.inv(gpu(numpy.eye(3)))
        with pytest.raises(np.linalg.LinAlgError, match=r"Singular matrix .found late"):
            (inverse + 1).tolist()
        assert (numpy.asarray(good.to_device("cpu")) == numpy.eye(3)).all()


@needs_fake_driver
def test_a_library_that_is_missing():
    printed, _ = run(
        """
few = np.eye(3, device="cuda") * 2
np.clear_kernel_history()
assert np.linalg.inv(few).tolist() == (np.eye(3) / 2).tolist()  # needs no library
assert not any(record["fallback"] for record in np.kernel_history())
a = np.eye(20, device="cuda") * 2
np.clear_kernel_history()
assert np.linalg.inv(a).tolist() == (np.eye(20) / 2).tolist() and np.linalg.inv(a).device == "cuda:0"
print([record["fallback"] for record in np.kernel_history() if record["fallback"]][0])
""",
        WEFT_FAKE_DRIVER_VERSION="12000",
    )
    assert "inv (cuSOLVER was not found" in printed
    assert "pip install weft[cuda13]" in printed


@needs_fake_driver
@pytest.mark.parametrize(
    "symbol", ["cusolverDnCreate", "cusolverDnSetStream", "cusolverDnCreateParams", "cublasCreate_v2"]
)
def test_a_library_that_does_not_start(symbol):
    run_failing(f"""
a = np.eye(20, device="cuda") * 2
np.eval(a)
objects = fake_driver.weft_fake_driver_live_objects()
with fails({symbol!r}, 1):
    np.clear_kernel_history()
    assert np.linalg.inv(a).tolist() == (np.eye(20) / 2).tolist()
    assert any("does not start" in record["fallback"] for record in np.kernel_history()), np.kernel_history()
with fails({symbol!r}, 2 if "solver" in {symbol!r} else 3, for_ever=True):
    error_of(lambda: np.linalg.inv(a))
np.clear_kernel_history()
assert np.linalg.inv(a).tolist() == (np.eye(20) / 2).tolist()
assert not any(record["fallback"] for record in np.kernel_history())
""")


@needs_fake_driver
def test_calls_that_fail():
    run_failing("""
def of(values):
    return numpy.asarray(values.to_device("cpu"))
with np.device("cuda"):
    a = np.eye(18) * 2 + 1
    many, odd = np.eye(18) + np.zeros((3, 1, 1)) + 1, np.arange(360.0).reshape(20, 18) % 19
    large = np.eye(34) + np.zeros((2, 1, 1))
    np.eval(a, many, odd, large)
    programs = {
        "solve": lambda: of(np.linalg.solve(a, odd[:18])) + of(np.linalg.solve(a, np.ones((18, 20)))).sum(),
        "inverses": lambda: of(np.linalg.inv(many)),
        "cholesky": lambda: of(np.linalg.cholesky(a)) + of(np.linalg.cholesky(many)).sum(),
        "qr": lambda: of(np.linalg.qr(odd).R) + of(np.linalg.qr(odd).Q).sum(),
        "eigh": lambda: of(np.linalg.eigvalsh(a)) + sum(of(np.linalg.eigvalsh(x)).sum() for x in (many, large)),
        "svd": lambda: of(np.linalg.svdvals(odd[:, 0:1] + odd)) + of(np.linalg.svdvals(many)).sum(),
    }
    for name, program in programs.items():
        wanted = program()
        program()
        objects = fake_driver.weft_fake_driver_live_objects()
        fake_driver.weft_fake_driver_log.restype = ctypes.c_char_p
        fake_driver.weft_fake_driver_forget()
        assert (program() == wanted).all()
        called = set(fake_driver.weft_fake_driver_log().decode().split())
        kinds = ("cublasSg", "cublasDg", "cusolver")
        library = sorted(each for each in called if each.startswith(kinds) and "Destroy" not in each)
        assert library, name
        for symbol in library:
            for status in (3 if "blas" in symbol else 2, 7):
                with fails(symbol, status):
                    message = error_of(program)
                assert "STATUS_" in message and "try again" in message, (name, symbol, message)
                assert fake_driver.weft_fake_driver_live_objects() == objects, symbol
                assert (program() == wanted).all(), (name, symbol)
""")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("defer", [False, True])
def test_matrices_that_are_not_finite_are_no_error(n, dtype, defer):
    """As LAPACK, which cuSOLVER does not follow: it calls them singular."""
    good = positive((), n, dtype)
    bad = good.copy()
    bad[0, 0] = numpy.nan
    with np.config(deferred_checks=defer):
        for name in ("inv", "cholesky"):
            function = getattr(np.linalg, name)
            (alone,) = on_gpu_alone(function, bad)
            assert numpy.isnan(alone).any()
            first, second = on_gpu_alone(function, numpy.stack([good, bad]))[0]
            assert numpy.isnan(second).any() and not numpy.isnan(first).any()
            assert close(first, getattr(numpy.linalg, name)(good), dtype, 1000)
            with pytest.raises(np.linalg.LinAlgError):
                function(gpu(numpy.stack([good * 0, bad]))).tolist()
        (x,) = on_gpu_alone(np.linalg.solve, bad, good)
        assert numpy.isnan(x).any()
        for results, expected in (
            (on_gpu_alone(np.linalg.det, numpy.stack([bad, good * 0])), [0.0]),
            (on_gpu_alone(np.linalg.slogdet, numpy.stack([bad, good * 0])), [0.0, -numpy.inf]),
        ):
            for result, value in zip(results, expected):
                assert numpy.isnan(result[0]) and result[1] == value
