"""numpy.linalg and numpy.fft in compiled functions: the bits that weft has outside of functions."""

import numpy
import pytest
import weft

np = weft


def compiled(text):
    source = f"f = lambda a, b: {text}"
    names, outside = {"np": numpy}, {"np": weft}
    exec(source, names)
    exec(source, outside)
    return weft.jit(names["f"], source=source), outside["f"]


def same(found, expected):
    if isinstance(found, tuple):
        assert len(found) == len(expected)
        for each, other in zip(found, expected, strict=True):
            same(each, other)
        return
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert numpy.array_equal(found, expected, equal_nan=found.dtype.kind in "fc"), (found, expected)


def matrix(n, m, dtype, seed=3):
    values = numpy.random.default_rng(seed).standard_normal((n, m))
    if numpy.dtype(dtype).kind == "c":
        values = values + 1j * values[::-1]
    return (values * 5).astype(dtype)


def layouts(a):
    """Arrays of weft's, which keep their strides: bits may hang on them."""
    yield weft.asarray(a)
    yield weft.asarray(numpy.ascontiguousarray(a.T)).T
    yield weft.asarray(numpy.repeat(a, 2, axis=0))[::2]
    yield weft.asarray(numpy.ascontiguousarray(a[::-1, ::-1]))[::-1, ::-1]


def close(found, expected):
    for each, other in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
        each, other = numpy.asarray(each), numpy.asarray(other)
        assert each.dtype == other.dtype and each.shape == other.shape
        rough = 1e-4 if other.dtype.char in "fF" else 1e-10
        numpy.testing.assert_allclose(each, other, rtol=rough, atol=rough)


def plain(result):
    return tuple(result) if isinstance(result, tuple) else result


SQUARE = [
    "np.linalg.solve(a, b)",
    "np.linalg.solve(a, b[:, 0])",
    "np.linalg.inv(a)",
    "np.linalg.det(a)",
    "np.linalg.slogdet(a)",
    "np.linalg.eigvalsh(a)",
    "np.linalg.eigh(a, UPLO='U')",
    "np.linalg.qr(a)",
    "np.linalg.svd(a)",
    "np.linalg.lstsq(a, b)",
    "np.linalg.norm(a)",
    "np.linalg.norm(a, 2)",
    "np.linalg.norm(a, 1)",
    "np.linalg.norm(a, -np.inf)",
    "np.linalg.norm(a, axis=1)",
    "np.linalg.norm(a, ord=3, axis=0)",
    "np.linalg.norm(a[0], np.inf)",
]


@pytest.mark.parametrize("text", SQUARE)
def test_square_matrices(text):
    f, outside = compiled(text)
    for dtype in ("f4", "f8", "c8", "c16", "i4", "?"):
        if dtype == "?" and ("solve" in text or "inv" in text):
            continue
        for n in (1, 4, 40):
            for a in layouts(matrix(n, n, dtype)):
                b = matrix(n, 3, "f8" if dtype == "?" else dtype, 4)
                b = weft.asarray(b)
                exact = "lstsq" not in text and "norm" not in text and dtype != "i4"
                (same if exact else close)(f(a, b), plain(outside(a, b)))


@pytest.mark.parametrize(
    "text",
    [
        "np.linalg.qr(a)",
        "np.linalg.qr(a, mode='complete')",
        "np.linalg.qr(a, 'r')",
        "np.linalg.svd(a)",
        "np.linalg.svd(a, full_matrices=False)",
        "np.linalg.svd(a, compute_uv=False)",
        "np.linalg.lstsq(a, b)",
        "np.linalg.lstsq(a, b[:, 0], rcond=None)",
        "np.linalg.lstsq(a, b, rcond=0.1)",
    ],
)
def test_other_matrices(text):
    f, outside = compiled(text)
    for dtype in ("f4", "f8", "c16"):
        for n, m in ((6, 3), (3, 6), (50, 35)):
            for a in layouts(matrix(n, m, dtype)):
                b = matrix(n, 2, dtype, 4)
                b = weft.asarray(b)
                (close if "lstsq" in text or "norm" in text else same)(f(a, b), plain(outside(a, b)))


def test_cholesky():
    for dtype in ("f4", "f8", "c16"):
        for n in (1, 5, 40):
            a = matrix(n, n, dtype)
            a = (a @ a.conj().T + n * numpy.eye(n)).astype(dtype)
            for text in ("np.linalg.cholesky(a)", "np.linalg.cholesky(a, upper=True)"):
                f, outside = compiled(text)
                for each in layouts(a):
                    same(f(each, 0), outside(weft.asarray(each), 0))


def test_eigenvalues_of_real_and_complex_matrices():
    f, outside = compiled("np.linalg.eig(a)")
    g, _ = compiled("np.linalg.eigvals(a)")
    a = matrix(6, 6, "c16")
    same(f(a, 0), tuple(outside(weft.asarray(a), 0)))
    a = matrix(6, 6, "f8")
    with pytest.raises(ValueError, match="eigenvalues of a matrix of real numbers are complex"):
        f(a, 0)
    a = a + a.T
    same(f(a, 0), tuple(outside(weft.asarray(a), 0)))
    same(g(a, 0), outside(weft.asarray(a), 0)[0])


def test_batches():
    a = matrix(12, 3, "f8").reshape(4, 3, 3)
    b = matrix(12, 2, "f8").reshape(4, 3, 2)
    for text in ("np.linalg.solve(a, b)", "np.linalg.inv(a)", "np.linalg.det(a)", "np.linalg.solve(a[0], b)"):
        f, outside = compiled(text)
        same(f(a, b), outside(weft.asarray(a), weft.asarray(b)))


@pytest.mark.parametrize(
    "text, error, message",
    [
        ("np.linalg.inv(a)", np.linalg.LinAlgError, "Singular matrix"),
        ("np.linalg.solve(a, b)", np.linalg.LinAlgError, "Singular matrix"),
        ("np.linalg.cholesky(-a)", np.linalg.LinAlgError, "not positive definite"),
        ("np.linalg.inv(a[:2])", np.linalg.LinAlgError, "Last 2 dimensions of the array must be square"),
        ("np.linalg.solve(a, b[:2])", ValueError, "mismatch in its core dimension"),
        ("np.linalg.inv(a[0])", np.CompileError, "1-dimensional array given"),
        ("np.linalg.svd(a, hermitian=True)", np.CompileError, "takes no 'hermitian'"),
        ("np.linalg.inv(a.astype(np.float16))", np.CompileError, "array type float16 is unsupported"),
        ("np.fft.fft(a, 0)", ValueError, r"Invalid number of FFT data points \(0\) specified"),
    ],
)
def test_errors(text, error, message):
    a = numpy.ones((3, 3))
    a[0, 0] = 1
    with pytest.raises(error, match=message):
        compiled(text)[0](a, numpy.ones((3, 1)))


@pytest.mark.parametrize("text", ["np.linalg.eigvals(a)", "np.linalg.eig(a)[0]", "np.roots(a[0])"])
def test_eigenvalues_of_what_is_not_finite_print_nothing(text, capfd):
    source = f"f = lambda a: {text}"
    names = {"np": numpy}
    exec(source, names)
    f = weft.jit(names["f"], source=source)
    for value in (numpy.nan, numpy.inf):
        for dtype in (float, "f", complex):
            a = numpy.array([[1, 2, value], [2, 1, 3], [4, 5, 6]], dtype)
            with pytest.raises(weft.linalg.LinAlgError, match="must not contain infs or NaNs"):
                f(a)
    assert capfd.readouterr() == ("", "")


def test_errors_are_caught():
    def f(a):
        try:
            return np.linalg.inv(a)[0, 0]
        except ValueError:
            return -1.0

    assert np.jit(f)(numpy.eye(2)) == 1
    assert np.jit(f)(numpy.ones((2, 2))) == -1


@pytest.mark.parametrize(
    "text",
    [
        "np.fft.fft(a)",
        "np.fft.fft(a, axis=0)",
        "np.fft.fft(a, 5)",
        "np.fft.fft(a, 20, norm='ortho')",
        "np.fft.ifft(a)",
        "np.fft.ifft(a, norm='forward')",
        "np.fft.rfft(a.real)",
        "np.fft.rfft(a.real, n=7, axis=0)",
        "np.fft.irfft(a)",
        "np.fft.irfft(a, 9, norm='ortho')",
    ],
)
def test_transforms(text):
    f, outside = compiled(text)
    for dtype in ("f4", "f8", "c8", "c16", "i4"):
        for n, m in ((3, 8), (5, 9), (2, 64)):
            for a in layouts(matrix(n, m, dtype)):
                same(f(a, 0), outside(weft.asarray(a), 0))


@pytest.mark.parametrize("text", ["np.fft.fft2(a)", "np.fft.ifftn(a)", "np.fft.ifft2(a, norm='ortho')"])
def test_transforms_of_several_axes(text):
    f, _ = compiled(text)
    a = matrix(6, 8, "c16")
    numpy.testing.assert_allclose(f(a, 0), eval(text, {"np": numpy, "a": a}), rtol=1e-12, atol=1e-12)


def test_in_loops():
    def spectra(rows):
        out = np.empty(len(rows))
        for i in np.prange(len(rows)):
            out[i] = np.linalg.norm(np.fft.fft(rows[i])) + np.linalg.det(rows[i, :4].reshape(2, 2))
        return out

    rows = matrix(40, 16, "f8")
    expected = [numpy.linalg.norm(numpy.fft.fft(r)) + numpy.linalg.det(r[:4].reshape(2, 2)) for r in rows]
    numpy.testing.assert_allclose(np.jit(spectra)(rows), expected, rtol=1e-10)


def test_norms_whose_order_is_known_when_they_run():
    f = weft.jit(lambda a, order: np.linalg.norm(a, ord=order))
    rows = weft.jit(lambda a, order: np.linalg.norm(a, order, axis=1))
    orders = (numpy.inf, -numpy.inf, 0, 1, -1, 2, -2, 5, 6.7, -4.3)
    with numpy.errstate(divide="ignore"):
        for dtype in "fdFD":
            m = numpy.random.default_rng(5).integers(-3, 4, (5, 4)).astype(dtype)
            for a in (m[0], m[:, 1], m[2, ::2]):
                for order in orders:
                    expected = numpy.linalg.norm(a, order)
                    assert f(a, order) == pytest.approx(expected, rel=1e-5)
                    numpy.testing.assert_allclose(rows(m, order), numpy.linalg.norm(m, order, axis=1), 1e-5)
            for order in (numpy.inf, -numpy.inf, 1, -1, 2, -2):
                assert f(m, order) == pytest.approx(numpy.linalg.norm(m, order), rel=1e-5, abs=1e-6)
            with pytest.raises(ValueError, match="Invalid norm order for matrices"):
                f(m, 3)
