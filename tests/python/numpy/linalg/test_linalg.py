"""numpy.linalg beside NumPy: kinds of results, errors, and values by what they have to fulfil."""

import concurrent.futures

import numpy
import pytest
import weft
from comparing import assert_same_kind, outcome
from matrices import hermitian, some

TYPES = ["f4", "f8", "c8", "c16"]
SHAPES = [(1, 1), (3, 3), (0, 0), (5, 4, 4), (0, 3, 3), (2, 3, 2, 2), (40, 40)]
EPS = {"f4": 2e-4, "c8": 2e-4, "f8": 1e-11, "c16": 1e-11}


def plain(x):
    return numpy.asarray(x)


def near(found, expected, dtype):
    scale = max(1.0, float(abs(expected).max(initial=0)))
    return float(abs(plain(found) - expected).max(initial=0)) <= EPS[dtype] * scale


def layouts(a):
    yield a
    yield a.mT.copy().mT
    wide = numpy.zeros((*a.shape[:-2], 2 * a.shape[-2], 3 * a.shape[-1]), a.dtype)
    wide[..., ::2, ::3] = a
    yield wide[..., ::2, ::3]
    read_only = a.copy()
    read_only.flags.writeable = False
    yield read_only


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_equations(shape, dtype):
    a = some(shape, dtype)
    n = shape[-1]
    for each in layouts(a):
        x = weft.asarray(each)
        for name in ("inv", "det"):
            found, expected = getattr(weft.linalg, name)(x), getattr(numpy.linalg, name)(a)
            assert_same_kind(found, expected)
            assert near(found, expected, dtype)
        for found, expected in zip(weft.linalg.slogdet(x), numpy.linalg.slogdet(a)):
            assert_same_kind(found, expected)
            assert near(found, expected, dtype)
        for shape_of_b in ((n,), (n, 3), (n, 0), (2, *(1,) * (len(shape) - 2), n, 2)):
            b = some((1, *shape_of_b), dtype, 1)[0] if len(shape_of_b) == 1 else some(shape_of_b, dtype, 1)
            found, expected = weft.linalg.solve(x, b), numpy.linalg.solve(a, b)
            assert_same_kind(found, expected)
            assert near(found, expected, dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factorisations_of_symmetric_matrices(shape, dtype):
    a = hermitian(shape, dtype)
    for each in layouts(a):
        x = weft.asarray(each)
        for upper in (False, True):
            found, expected = weft.linalg.cholesky(x, upper=upper), numpy.linalg.cholesky(a, upper=upper)
            assert_same_kind(found, expected)
            assert near(found, expected, dtype)
        for triangle in "LU":
            half = plain((weft.tril if triangle == "L" else weft.triu)(x))
            values, vectors = weft.linalg.eigh(half, triangle)
            expected = numpy.linalg.eigh(half, triangle)
            assert_same_kind(values, expected[0])
            assert_same_kind(vectors, expected[1])
            assert near(values, expected[0], dtype)
            v = plain(vectors)
            assert near(v.conj().mT @ v, numpy.broadcast_to(numpy.eye(shape[-1]), v.shape), dtype)
            assert near((v * plain(values)[..., None, :]) @ v.conj().mT, a, dtype)
            assert near(weft.linalg.eigvalsh(half, triangle), expected[0], dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (3, 5), (5, 3), (0, 4), (4, 0), (2, 6, 3), (2, 3, 6)])
def test_factorisations_of_rectangles(shape, dtype):
    a = some(shape, dtype)
    for each in layouts(a):
        x = weft.asarray(each)
        for mode in ("reduced", "complete", "r", "raw"):
            found, expected = weft.linalg.qr(x, mode), numpy.linalg.qr(a, mode)
            for f, e in zip(*((found, expected) if mode != "r" else ([found], [expected]))):
                assert_same_kind(f, e)
            if mode in ("reduced", "complete"):
                q, r = plain(found.Q), plain(found.R)
                assert near(q @ r, a, dtype)
                assert near(
                    q.conj().mT @ q,
                    numpy.broadcast_to(numpy.eye(q.shape[-1]), q.mT.shape[:-1] + (q.shape[-1],)),
                    dtype,
                )
                assert not numpy.tril(r, -1).any()
        for full in (False, True):
            found, expected = weft.linalg.svd(x, full), numpy.linalg.svd(a, full)
            for f, e in zip(found, expected):
                assert_same_kind(f, e)
            least = min(shape[-2:])
            u, s, vh = plain(found.U), plain(found.S), plain(found.Vh)
            assert near((u[..., :least] * s[..., None, :]) @ vh[..., :least, :], a, dtype)
            assert near(
                u.conj().mT @ u,
                numpy.broadcast_to(numpy.eye(u.shape[-1]), u.shape[:-2] + (u.shape[-1],) * 2),
                dtype,
            )
            assert near(s, expected.S, dtype)
        assert near(weft.linalg.svdvals(x), numpy.linalg.svdvals(a), dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_eigenvalues_of_general_matrices(shape, dtype):
    for a in (some(shape, dtype), hermitian(shape, dtype)):
        values, vectors = weft.linalg.eig(a)
        expected = numpy.linalg.eig(a)
        assert_same_kind(values, expected[0])
        assert_same_kind(vectors, expected[1])
        v = plain(vectors)
        assert near(a @ v, v * plain(values)[..., None, :], dtype)
        assert_same_kind(weft.linalg.eigvals(a), numpy.linalg.eigvals(a))


WRONG = [
    numpy.ones(3),
    numpy.ones(()),
    numpy.ones((2, 3)),
    numpy.ones((2, 2), "f2"),
    numpy.zeros((2, 2)),
    numpy.zeros((3, 2, 2), "c8"),
    numpy.full((2, 2), numpy.nan),
    numpy.full((2, 2), numpy.inf),
    -numpy.eye(2),
    numpy.ones((2, 2), bool),
    numpy.arange(4).reshape(2, 2),
]


@pytest.mark.parametrize(
    "name", ["inv", "det", "slogdet", "cholesky", "qr", "svd", "eig", "eigh", "eigvals", "pinv"]
)
@pytest.mark.parametrize("at", range(len(WRONG)))
def test_errors(name, at):
    ours = outcome(lambda: getattr(weft.linalg, name)(weft.asarray(WRONG[at])))
    theirs = outcome(lambda: getattr(numpy.linalg, name)(WRONG[at]))
    if isinstance(theirs, Exception):
        assert type(ours).__name__ == type(theirs).__name__
        assert str(ours) == str(theirs)
    else:
        assert not isinstance(ours, Exception)


OTHERS_WRONG = [
    lambda m: m.linalg.solve(m.zeros((2, 2)), m.zeros((2, 0))),
    lambda m: m.linalg.solve(m.zeros((3, 2, 2)), m.zeros((2, 0))),
    lambda m: m.linalg.solve(m.zeros((40, 40)), m.zeros((40, 0))),
    lambda m: m.linalg.cond(m.ones(0)),
    lambda m: m.linalg.cond(m.ones((0, 0))),
    lambda m: m.linalg.cross(m.ones((2, 3)), m.ones((4, 3))),
    lambda m: m.cross(m.ones((2, 3)), m.ones((5, 4, 3))),
    lambda m: m.linalg.vecdot(m.ones(()), m.ones(3), axis=0),
    lambda m: m.linalg.vecdot(m.ones(3), m.ones(()), axis=1),
    lambda m: m.broadcast_shapes((2, 3), (4, 1, 1), (5, 2, 3)),
    lambda m: m.broadcast_arrays(m.ones((2, 3)), m.ones(3), m.ones(4)),
]


@pytest.mark.parametrize("at", range(len(OTHERS_WRONG)))
def test_errors_of_several_operands(at):
    ours, theirs = outcome(lambda: OTHERS_WRONG[at](weft)), outcome(lambda: OTHERS_WRONG[at](numpy))
    assert isinstance(theirs, Exception)
    assert type(ours).__name__ == type(theirs).__name__
    assert str(ours) == str(theirs)


@pytest.mark.parametrize("batch", [(), (3,), (0,), (2, 3)])
def test_no_equations_but_regular_matrices(batch):
    a = numpy.broadcast_to(numpy.eye(2), (*batch, 2, 2))
    assert weft.linalg.solve(weft.asarray(a), weft.zeros((2, 0))).shape == (*batch, 2, 0)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [256, 321, 384])
def test_matrices_of_several_panels(n, dtype):
    a, h = some((n, n), dtype), hermitian((n, n), dtype)
    eps = numpy.finfo(dtype).eps * n
    b = a[:, 0]
    x = plain(weft.linalg.solve(a, b))
    assert numpy.linalg.norm(a @ x - b) <= 10 * eps * numpy.linalg.norm(a) * numpy.linalg.norm(x)
    low = plain(weft.linalg.cholesky(h))
    assert numpy.linalg.norm(low @ low.conj().T - h) <= eps * numpy.linalg.norm(h)
    up = plain(weft.linalg.cholesky(h, upper=True))
    assert numpy.linalg.norm(up.conj().T @ up - h) <= eps * numpy.linalg.norm(h)
    for rectangle in (a, a[:, :260], a[:260]):
        for mode in ("reduced", "complete"):
            q, r = map(plain, weft.linalg.qr(rectangle, mode))
            assert numpy.linalg.norm(q @ r - rectangle) <= eps * numpy.linalg.norm(a)
            assert numpy.linalg.norm(q.conj().T @ q - numpy.eye(q.shape[1])) <= eps * n**0.5
    h[280 if n > 280 else 200, 280 if n > 280 else 200] = -1
    with pytest.raises(weft.linalg.LinAlgError, match="Matrix is not positive definite"):
        weft.linalg.cholesky(h)
    a[:, 90] = 0
    assert weft.linalg.det(a) == 0
    with pytest.raises(weft.linalg.LinAlgError, match="Singular matrix"):
        weft.linalg.solve(a, b)


def test_threads_at_once_have_the_bits_of_one():
    a, h = some((60, 60), "f8"), hermitian((60, 60), "f8")
    big, z = some((300, 300), "f8"), some((90, 90), "c16")  # gemm multiplies complex matrices

    def work():
        linalg = weft.linalg
        results = [
            linalg.solve(a, a[0]),
            linalg.lstsq(a, a[0])[0],
            *linalg.svd(a),
            *linalg.eigh(h),
            linalg.inv(big),
            weft.asarray(z) @ weft.asarray(z),
            weft.asarray(big) @ weft.asarray(big),
        ]
        return [plain(each).tobytes() for each in results]

    expected = work()
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        for found in pool.map(lambda _: work(), range(64)):
            assert found == expected


@pytest.mark.parametrize("dtype", TYPES)
def test_the_number_of_threads_changes_no_bit(dtype):
    a, h = some((400, 400), dtype), hermitian((400, 400), dtype)
    before = weft.config.num_threads

    def work():
        results = (
            *weft.linalg.qr(a),
            weft.linalg.inv(a),
            weft.linalg.cholesky(h),
            weft.linalg.solve(a.copy(), h),
            *weft.scipy.linalg.lu_factor(a[:, :300]),
        )
        return [plain(each).tobytes() for each in results]

    try:
        weft.config.num_threads = 1
        expected = work()
        for threads in (2, 5):
            weft.config.num_threads = threads
            assert work() == expected
    finally:
        weft.config.num_threads = before


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("place", [(0, 0), (2, 0), (2, 2)])
def test_singular_vectors_of_infinities(dtype, place):
    """LAPACK's loop for them may never end."""
    a = some((4, 3, 3), dtype)
    a[(1, *place)] = numpy.inf
    for each in (a[1], a):
        for full in (False, True):
            u, s, vh = (plain(x) for x in weft.linalg.svd(weft.asarray(each), full))
            for x in (u, s, vh):
                bad = numpy.isnan(x).all(axis=tuple(range(each.ndim - 2, x.ndim)))
                assert bad.tolist() == (True if each.ndim == 2 else [False, True, False, False])
    for x, value in ((a[1], None), (a, numpy.nan)):
        if value is not None:
            x = x.copy()
            x[(2, *place)] = value
            with pytest.raises(weft.linalg.LinAlgError, match="SVD did not converge"):
                weft.linalg.svd(weft.asarray(x))
        else:
            with pytest.raises(weft.linalg.LinAlgError, match="Linear Least Squares"):
                weft.linalg.lstsq(weft.asarray(x), weft.ones(3))


@pytest.mark.parametrize("dtype", TYPES)
def test_many_right_hand_sides_of_large_matrices(dtype):
    """They are cut into strips of columns."""
    n = 200
    a, b = some((n, n), dtype), some((n, 150), dtype, 1)
    eps = numpy.finfo(dtype).eps
    for each in (a, a.T.copy().T):
        inverse = plain(weft.linalg.inv(weft.asarray(each)))
        bound = 4 * eps * n * numpy.linalg.norm(a, 2) * numpy.linalg.norm(numpy.linalg.inv(a), 2)
        assert abs(inverse @ a - numpy.eye(n)).max() < bound
        x = plain(weft.linalg.solve(weft.asarray(each), b))
        assert abs(a @ x - b).max() < 8 * eps * n * numpy.linalg.norm(a, 2) * abs(x).max()
    triangle = numpy.tril(a) + n**0.5 * numpy.eye(n, dtype=dtype)
    for trans, matrix in enumerate((triangle, triangle.T, triangle.conj().T)):
        x = plain(weft.scipy.linalg.solve_triangular(triangle, b, lower=True, trans=trans))
        assert abs(matrix @ x - b).max() < 8 * eps * n * numpy.linalg.norm(triangle, 2) * abs(x).max()
    triangle[150, 150] = 0
    with pytest.raises(weft.linalg.LinAlgError, match="150"):
        weft.scipy.linalg.solve_triangular(triangle, b, lower=True)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [128, 145, 200])
def test_unknowns_that_are_found_do_not_see_those_that_come_later(n, dtype):
    """The equations of one step are solved together: what overflows there must not reach the others."""
    lower = numpy.tril(some((n, n), dtype)) + n * numpy.eye(n, dtype=dtype)
    b = some((n, 33), dtype, 1)
    for place in (0, 7, 16, n - 2):
        bad = b.copy()
        bad[place, 3] = numpy.inf
        x = plain(weft.scipy.linalg.solve_triangular(lower, bad, lower=True, check_finite=False))
        assert numpy.isfinite(x[:place]).all() and numpy.isfinite(numpy.delete(x, 3, axis=1)).all()
        assert numpy.isinf(x[place, 3]) and not numpy.isfinite(x[place + 1 :, 3]).any()
        x = plain(weft.scipy.linalg.solve_triangular(lower.T, bad, check_finite=False))
        assert numpy.isfinite(x[place + 1 :]).all() and not numpy.isfinite(x[: place + 1, 3]).any()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("far", [False, True])
def test_diagonals_without_a_reciprocal(dtype, far):
    """Denormal numbers have none, and those of the largest numbers are denormal."""
    n = 160
    finfo = numpy.finfo(dtype)
    scale = finfo.max / 2 if far else finfo.smallest_subnormal * 64
    triangle = numpy.eye(n, dtype=dtype) * numpy.dtype(dtype).type(scale)
    x = numpy.asarray(numpy.random.default_rng(3).integers(1, 3, (n, 20)), dtype)
    found = plain(weft.scipy.linalg.solve_triangular(triangle, triangle @ x, lower=True))
    assert (found == x).all()
    found = plain(weft.linalg.solve(weft.asarray(triangle), triangle @ x))
    assert (found == x).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_lu_factors_are_lapacks_in_their_kind(dtype):
    """Rows are chosen by the largest element, and columns of zeros or of NaN do not end the factorisation."""
    import scipy.linalg

    a = some((500, 400), dtype)
    lu, pivots = map(plain, weft.scipy.linalg.lu_factor(a))
    expected, rows = scipy.linalg.lu_factor(a)
    assert (pivots == rows).all() and abs(lu - expected).max() < 1e4 * numpy.finfo(dtype).eps
    assert lu.flags.f_contiguous
    assert abs(numpy.tril(lu, -1)).max() <= 1
    a[:, 130] = 0
    with pytest.warns(Warning, match="Diagonal number 131 is exactly zero"):
        lu, _ = map(plain, weft.scipy.linalg.lu_factor(a))
    assert numpy.isfinite(lu).all() and lu[130, 130] == 0 and abs(numpy.tril(lu, -1)).max() <= 1
    square = some((300, 300), dtype)
    square[150, 150] = numpy.nan
    assert numpy.isnan(plain(weft.linalg.det(weft.asarray(square))))
    assert numpy.isnan(plain(weft.linalg.solve(weft.asarray(square), square[:, :20]))).any()


def test_matrices_with_wide_strips():
    """Beyond 1024 columns strips are wider than panels."""
    n = 1150
    a = some((n, n), "f4")
    eps = numpy.finfo("f4").eps
    q, r = map(plain, weft.linalg.qr(a))
    assert abs(q @ r - a).max() < 100 * eps * abs(r).max()
    assert abs(q.T @ q - numpy.eye(n)).max() < 100 * eps
    square = (a @ a.T) / n + numpy.eye(n, dtype="f4")
    lower = plain(weft.linalg.cholesky(square))
    assert abs(lower @ lower.T - square).max() < 100 * eps * abs(square).max()
    lu, pivots = map(plain, weft.scipy.linalg.lu_factor(a))
    rows = numpy.arange(n)
    for i, pivot in enumerate(pivots):
        rows[[i, pivot]] = rows[[pivot, i]]
    assert (
        abs((numpy.tril(lu, -1) + numpy.eye(n)) @ numpy.triu(lu) - a[rows]).max() < 400 * eps * abs(lu).max()
    )


@pytest.mark.parametrize("dtype", TYPES)
def test_singular_values_of_what_is_not_finite_where_numpy_2_5_is_installed(dtype, monkeypatch):
    monkeypatch.setattr("weft._engine.numpy_version._known", (2, 5))
    linalg = weft.linalg
    for value in (numpy.inf, -numpy.inf, numpy.nan):
        a = numpy.ones((3, 3), dtype)
        a[0, 0] = value
        x, stack = weft.asarray(a), weft.asarray(numpy.stack([numpy.eye(3, dtype=dtype), a]))
        for call in (
            lambda x, stack: linalg.svd(x),
            lambda x, stack: linalg.svd(x, full_matrices=False),
            lambda x, stack: linalg.svd(x, compute_uv=False),
            lambda x, stack: linalg.svd(stack),
            lambda x, stack: linalg.svdvals(stack),
            lambda x, stack: linalg.pinv(x),
            lambda x, stack: linalg.matrix_rank(x),
            lambda x, stack: linalg.norm(x, 2),
            lambda x, stack: linalg.norm(stack, "nuc", (1, 2)),
            lambda x, stack: linalg.matrix_norm(x, ord=-2),
            lambda x, stack: linalg.lstsq(x, weft.ones(3, dtype)),
        ):
            with pytest.raises(linalg.LinAlgError, match="SVD did not converge"):
                call(x, stack)
        for p in (None, 2, -2, "nuc", "fro"):
            one, several = float(linalg.cond(x, p)), plain(linalg.cond(stack, p))
            expected = numpy.nan if numpy.isnan(value) else numpy.inf
            numpy.testing.assert_equal([one, float(several[1])], [expected] * 2)
            assert numpy.isfinite(several[0])
    assert linalg.cond(weft.ones((2, 2), dtype), "nuc") == numpy.inf
    assert linalg.norm(weft.array([1, numpy.inf]), 2) == numpy.inf  # of a vector
    assert linalg.matrix_rank(weft.array([1, numpy.inf])) == 1
    assert linalg.svd(weft.ones((2, 2), dtype), hermitian=True).S.shape == (2,)


def test_beside_earlier_numpy_infinities_give_nan_and_nan_has_no_condition_number(monkeypatch):
    monkeypatch.setattr(numpy, "__version__", "2.4.6")
    x = weft.array([[1, numpy.inf], [1, 1]])
    assert numpy.isnan(plain(weft.linalg.svdvals(x))).all()
    assert weft.linalg.cond(x) == numpy.inf
    with pytest.raises(weft.linalg.LinAlgError, match="SVD did not converge"):
        weft.linalg.cond(weft.array([[1, numpy.nan], [1, 1]]))
