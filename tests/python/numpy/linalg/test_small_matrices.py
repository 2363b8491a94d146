"""Batches of small matrices, which have kernels of their own: values by what they have to fulfil, and errors."""

import numpy
import pytest
import weft

TYPES = ["f4", "f8"]
SIDES = [1, 2, 3, 4, 7, 16, 32]
COUNT = 37


def some(rows, columns, dtype):
    generator = numpy.random.default_rng([rows, columns])
    return generator.standard_normal((COUNT, rows, columns)).astype(dtype)


def layouts(a):
    """The same matrices: row by row, column by column, apart, as two axes, backwards."""
    yield a
    yield a.mT.copy().mT
    wide = numpy.zeros((COUNT, 2 * a.shape[1], 3 * a.shape[2]), a.dtype)
    wide[:, ::2, ::3] = a
    yield wide[:, ::2, ::3]
    yield a[::-1].copy()[::-1]


def plain(results):
    return [numpy.asarray(each, numpy.float64) for each in results]


def bound(a, factor=8):
    return factor * max(a.shape[-2:]) * numpy.finfo(a.dtype).eps


def is_orthogonal(q, a):
    return abs(q.mT @ q - numpy.eye(q.shape[-1])).max() <= bound(a)


def norms(a):
    return abs(a.astype(numpy.float64)).sum(axis=(1, 2)).reshape(-1, 1, 1)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", SIDES)
def test_equations(n, dtype):
    a, b, one = some(n, n, dtype), some(n, 5, dtype), some(n, 1, dtype)[0, :, 0]
    for each in layouts(a):
        (x,) = plain([weft.linalg.solve(weft.asarray(each), weft.asarray(b))])
        assert (abs(a @ x - b) <= bound(a) * norms(a) * abs(x).max(axis=(1, 2), keepdims=True)).all()
        (x,) = plain([weft.linalg.solve(weft.asarray(each), weft.asarray(one))])
        assert (
            abs(a @ x[..., None] - one[:, None]) <= bound(a) * norms(a) * abs(x).max(axis=1)[:, None, None]
        ).all()
        (x,) = plain([weft.linalg.inv(weft.asarray(each))])
        rest = abs(a @ x - numpy.eye(n))
        assert (rest <= bound(a) * norms(a) * abs(x).max(axis=(1, 2), keepdims=True)).all()
        exact = numpy.linalg.det(a.astype(numpy.float64))
        difficulty = numpy.linalg.cond(a.astype(numpy.float64))
        assert (
            abs(plain([weft.linalg.det(weft.asarray(each))])[0] / exact - 1) <= bound(a) * difficulty
        ).all()
        sign, logarithm = plain(weft.linalg.slogdet(weft.asarray(each)))
        assert (sign == numpy.sign(exact)).all()
        assert (abs(logarithm - numpy.log(abs(exact))) <= bound(a) * (difficulty + abs(logarithm))).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", SIDES)
def test_symmetric(n, dtype):
    root = some(n, n, dtype)
    positive = root @ root.mT + numpy.eye(n, dtype=dtype)
    a = root + root.mT
    for upper in (False, True):
        keep = numpy.triu if upper else numpy.tril
        for each in layouts(keep(positive) + 7 * (positive - keep(positive))):
            (factor,) = plain([weft.linalg.cholesky(weft.asarray(each), upper=upper)])
            assert (factor == keep(factor)).all()
            product = factor.mT @ factor if upper else factor @ factor.mT
            assert (abs(product - positive) <= bound(a) * norms(positive)).all()
        for each in layouts(keep(a) + 7 * (a - keep(a))):
            triangle = "U" if upper else "L"
            w, v = plain(weft.linalg.eigh(weft.asarray(each), triangle))
            assert is_orthogonal(v, a)
            assert (numpy.diff(w) >= 0).all()
            assert (abs(a @ v - v * w[:, None, :]) <= bound(a) * norms(a)).all()
            (alone,) = plain([weft.linalg.eigvalsh(weft.asarray(each), triangle)])
            assert (abs(alone - w) <= bound(a) * norms(a)[..., 0]).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 2), (2, 6), (16, 16), (32, 9), (32, 32)])
def test_rectangles(shape, dtype):
    a = some(*shape, dtype)
    least = min(shape)
    for each in layouts(a):
        for full in (True, False):
            u, s, vh = plain(weft.linalg.svd(weft.asarray(each), full_matrices=full))
            assert is_orthogonal(u, a) and is_orthogonal(vh.mT, a)
            assert (numpy.diff(s) <= 0).all() and (s >= 0).all()
            product = (u[:, :, :least] * s[:, None, :]) @ vh[:, :least]
            assert (abs(product - a) <= bound(a) * norms(a)).all()
            q, r = plain(weft.linalg.qr(weft.asarray(each), mode="complete" if full else "reduced"))
            assert is_orthogonal(q, a)
            assert (r == numpy.triu(r)).all()
            assert (abs(q @ r - a) <= bound(a) * norms(a)).all()
        values = plain([weft.linalg.svdvals(weft.asarray(each))])[0]
        assert (abs(values - numpy.linalg.svdvals(a)) <= bound(a) * norms(a)[..., 0]).all()
        for mode in ("r", "raw"):
            found, expected = weft.linalg.qr(weft.asarray(each), mode), numpy.linalg.qr(a, mode)
            pairs = zip(found, expected) if mode == "raw" else [(found, expected)]
            for own, others in pairs:
                assert own.shape == others.shape
                # Numbers of a reflection depend on all of the matrix's: near NumPy's where that is well-conditioned.
                near = bound(a, 100) * (norms(a).max() if own.ndim == 3 else 1)
                assert abs(numpy.asarray(own) - others).max() <= near * numpy.linalg.cond(a).max()


@pytest.mark.parametrize("dtype", TYPES)
def test_errors(dtype):
    a = some(4, 4, dtype)
    a[5, 2] = 0
    x = weft.asarray(a)
    for name, arguments, message in [
        ("inv", (), "Singular matrix"),
        ("solve", (weft.asarray(a),), "Singular matrix"),
        ("cholesky", (), "Matrix is not positive definite"),
    ]:
        with pytest.raises(weft.linalg.LinAlgError, match=message):
            numpy.asarray(getattr(weft.linalg, name)(x, *arguments))
    assert weft.linalg.det(x)[5] == 0
    assert weft.linalg.slogdet(x)[1][5] == -numpy.inf
    a[5, 2, 1] = numpy.nan
    with pytest.raises(weft.linalg.LinAlgError, match="SVD did not converge"):
        numpy.asarray(weft.linalg.svdvals(weft.asarray(a)))


def test_bits_depend_on_the_matrix_alone():
    a = some(6, 6, "f8")
    for name in ("inv", "det", "svdvals", "eigvalsh"):
        function = getattr(weft.linalg, name)
        together = numpy.asarray(function(weft.asarray(a)))
        with weft.config(num_threads=1):
            assert numpy.asarray(function(weft.asarray(a))).tobytes() == together.tobytes()
        for start in (1, 20):
            part = numpy.asarray(function(weft.asarray(a[start : start + 9])))
            assert part.tobytes() == together[start : start + 9].tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("place", [(0, 0), (2, 1), (4, 4)])
def test_nan_is_not_an_indefinite_matrix(dtype, place):
    a = numpy.stack([numpy.eye(5, dtype=dtype) * 4 + 1] * 70)
    a[(7, *place)] = numpy.nan
    factors = weft.linalg.cholesky(weft.asarray(a))
    found = numpy.isnan(numpy.asarray(factors))
    expected = numpy.isnan(numpy.linalg.cholesky(a))
    assert found[7].any() and numpy.array_equal(numpy.delete(found, 7, 0), numpy.delete(expected, 7, 0))
    if (
        factors.device.type == "cuda"
    ):  # how far it spreads is the kernel's: to a column's end, or to the whole matrix
        assert found[7][expected[7]].all()
    else:
        assert numpy.array_equal(found[7], expected[7])


@pytest.mark.parametrize("dtype", TYPES)
def test_batches_without_one_stride_have_the_same_bits(dtype):
    """They are copied together and take the same kernels as batches that lie behind each other."""
    a = numpy.random.default_rng(3).standard_normal((6, 5, 4, 4)).astype(dtype) + 4 * numpy.eye(
        4, dtype=dtype
    )
    b = numpy.random.default_rng(4).standard_normal((6, 5, 4, 2)).astype(dtype)
    wide = numpy.zeros((6, 9, 4, 4), dtype)
    wide[:, :5] = a
    apart = weft.asarray(wide)[:, :5]
    for name, arguments in {"inv": (), "det": (), "cholesky": (), "solve": (b,), "qr": (), "svd": ()}.items():
        function = getattr(weft.linalg, name)
        close, other = (function(x, *arguments) for x in (weft.asarray(a), apart)) if name != "cholesky" else (
            function(x @ x.mT) for x in (weft.asarray(a), apart)
        )  # fmt: skip
        for one, two in zip(close, other) if isinstance(close, tuple) else [(close, other)]:
            assert numpy.array_equal(numpy.asarray(one), numpy.asarray(two))
    x = weft.linalg.solve(weft.asarray(a[:1]), b[:, :1])  # both are broadcast, along different axes
    for i in range(6):
        for j in range(5):
            expected = numpy.linalg.solve(a[0, j].astype("f8"), b[i, 0].astype("f8"))
            numpy.testing.assert_allclose(
                numpy.asarray(x[i, j]), expected, rtol=1e-3 if dtype == "f4" else 1e-9
            )


@pytest.mark.parametrize("vectors", [True, False])
def test_rotations_make_singular_values_neither_larger_nor_smaller(vectors):
    """Small angles' cosines round to one, and once made each value five roundings larger."""
    a = numpy.random.default_rng(5).standard_normal((200, 32, 32)).astype("f4")
    result = weft.linalg.svd(weft.asarray(a), compute_uv=vectors)
    (values,) = plain([result.S if vectors else result])
    exact = numpy.linalg.svd(a.astype(numpy.float64), compute_uv=False)
    errors = (values - exact) / exact[:, :1] / numpy.finfo("f4").eps
    assert abs(errors.mean()) < 0.5 and abs(errors).mean() < 1.5


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [3, 6, 8, 16, 29])
def test_results_are_the_same_written_directly_near_and_past_the_caches(dtype, n):
    a = numpy.random.default_rng(n).standard_normal((1003, n, n)).astype(dtype)
    x, s = weft.asarray(a), weft.asarray(a @ a.mT + n * numpy.eye(n, dtype=dtype))

    def bits():
        results = [weft.linalg.inv(s), weft.linalg.cholesky(s), weft.linalg.solve(s, x), *weft.linalg.qr(x)]
        results += [*weft.linalg.svd(x), *weft.linalg.eigh(s), weft.linalg.cholesky(s, upper=True)]
        return [numpy.asarray(each).tobytes() for each in results]

    found = bits()
    for stream in (0, 1 << 40):
        with weft.config(stream=stream):
            assert bits() == found
