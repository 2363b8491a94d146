"""weft.scipy.linalg over batches, in other dtypes and with unusual arguments: the kinds that SciPy gives."""

import numpy
import pytest
import scipy.linalg
import weft
from beside_scipy import both, ours, same
from matrices import hermitian, some

BATCH = some((3, 4, 4), "f8") + 6 * numpy.eye(4)
POSITIVE = hermitian((4, 4), "f8") + 8 * numpy.eye(4) + numpy.arange(3)[:, None, None] * numpy.eye(4)


@pytest.mark.parametrize(
    "right",
    [some((4, 1), "f8")[:, 0], some((4, 2), "f8"), some((3, 4, 2), "f8")],
    ids=["vector", "matrix", "batch"],
)
def test_equations(right):
    for a in (BATCH, BATCH[0]):
        for trans in (0, 1):
            factors = scipy.linalg.lu_factor(a)
            same(ours.lu_solve(factors, right, trans), scipy.linalg.lu_solve(factors, right, trans))
        both("solve", a, right)
        both("lstsq", a, right)
        both("lstsq", a[..., :2], right)
    for lower in (False, True):
        for a in (POSITIVE, POSITIVE[0]):
            factor = scipy.linalg.cholesky(a, lower)
            same(ours.cho_solve((factor, lower), right), scipy.linalg.cho_solve((factor, lower), right))
    both("solve_banded", (1, 1), some((3, 3, 4), "f8") + 5, right)


@pytest.mark.filterwarnings("ignore")
def test_a_zero_on_the_diagonal_divides():
    """The factors of a singular matrix give infinities and nan for it alone, as LAPACK's getrs and potrs do."""
    rank_one = numpy.array([[1.0, 2.0], [2.0, 4.0]])
    batch = numpy.stack([numpy.eye(2), rank_one, 2 * numpy.eye(2)])
    for a in (rank_one, batch):
        factors, pivots = scipy.linalg.lu_factor(a)
        for trans in (0, 1):
            found = ours.lu_solve((factors, pivots), numpy.ones(2), trans)
            expected = scipy.linalg.lu_solve((factors, pivots), numpy.ones(2), trans)
            assert numpy.array_equal(numpy.isfinite(found), numpy.isfinite(expected))
            assert numpy.array_equal(found[numpy.isfinite(found)], expected[numpy.isfinite(expected)])
    for lower in (False, True):
        found = ours.cho_solve((numpy.zeros((1, 1)), lower), numpy.ones(1))
        assert numpy.array_equal(found, scipy.linalg.cho_solve((numpy.zeros((1, 1)), lower), numpy.ones(1)))
    with pytest.raises(weft.linalg.LinAlgError):
        ours.solve_triangular(numpy.zeros((1, 1)), numpy.ones(1))


def test_built_matrices():
    rows = some((2, 3, 4), "f8")
    both("toeplitz", rows)
    both("toeplitz", rows, rows[0, :, :2])
    both("circulant", 3.0)
    both("block_diag", rows, rows[:, :1, :2], numpy.ones((2, 0)))


def test_bases():
    low = some((3, 5, 2), "f8") @ some((3, 2, 4), "f8")
    for name in ("orth", "null_space"):
        found, expected = numpy.asarray(getattr(ours, name)(low)), getattr(scipy.linalg, name)(low)
        assert found.shape == expected.shape
        same(found @ found.mT, expected @ expected.mT)
        with pytest.raises(ValueError, match="ranks are from 1 to 2"):
            getattr(ours, name)([numpy.eye(2), numpy.ones((2, 2))])
    inverse, rank = ours.pinv(low, return_rank=True)
    same((inverse, rank), tuple(scipy.linalg.pinv(low, return_rank=True)))
    both("pinv", low, atol=0.5, rtol=0.1)
    both("polar", some((3, 5, 4), "f8"))


def test_pairs_over_batches():
    both("eigh", POSITIVE, BATCH @ BATCH.mT, eigvals_only=True)
    both("eigh", POSITIVE, subset_by_value=[0.0, numpy.inf], eigvals_only=True)
    with pytest.raises(ValueError):
        ours.eigh(numpy.stack([numpy.eye(2), -numpy.eye(2)]), subset_by_value=[0.0, 2.0])
    with pytest.raises(weft.linalg.LinAlgError, match="minor of B"):
        ours.eigh(POSITIVE[0], -POSITIVE[0])


@pytest.mark.parametrize("dtype", "? b h i l e f d F D".split())
def test_dtypes(dtype):
    a = (numpy.eye(4) * 3 + (dtype != "?") * numpy.triu(numpy.ones((4, 4)))).astype(dtype)
    for name in ("det", "schur", "hessenberg", "cholesky", "lu_factor", "expm"):
        result = getattr(ours, name)(a)
        expected = getattr(scipy.linalg, name)(a)
        results = (result, expected) if isinstance(expected, tuple) else ((result,), (expected,))
        for found, other in zip(*results):
            assert (numpy.asarray(found).shape, found.dtype) == (other.shape, other.dtype), name
    ones = numpy.ones((1, 4), dtype)
    both("solve_banded", (0, 0), ones, ones[0])
    assert type(ours.det(a[:2, :2])) is type(weft.float64(1) if dtype not in "FD" else weft.complex128(1))


@pytest.mark.parametrize("kind", [None, "gen", "upper triangular", "lower triangular", "pos", "sym", "her"])
def test_structures(kind):
    for dtype in ("f8", "c16"):
        a = some((2, 4, 4), dtype) + 8 * numpy.eye(4)
        for lower in (False, True):
            both("inv", a, assume_a=kind, lower=lower)
            both("solve", a, some((4, 2), dtype), assume_a=kind, lower=lower)
    both("solve", a.real, numpy.ones(4), assume_a=kind, transposed=True)
    with pytest.raises(KeyError):
        ours.inv(a, assume_a="other")
    with pytest.raises(ValueError, match="recognized"):
        ours.solve(a, a, assume_a="other")


def test_norms():
    x = some((3, 4), "f8")
    both("norm", x, 1)
    both("norm", x, axis=0, check_finite=False)
    with pytest.raises(ValueError, match="infs or NaNs"):
        ours.norm([numpy.nan])
    assert numpy.isnan(ours.norm([numpy.nan], check_finite=False))
    for norm in (weft.linalg.norm, weft.linalg.vector_norm):
        with pytest.raises(weft.exceptions.AxisError):
            norm(weft.asarray(5), ord=2, axis=-1)
    with pytest.raises(TypeError, match="float16"):
        weft.linalg.cond(weft.eye(2, dtype="e"), "x")


def test_roots_of_what_is_not_finite():
    found = numpy.asarray(ours.sqrtm([[[4.0, 0.0], [0.0, 9.0]], [[numpy.inf, 0.0], [0.0, 1.0]]]))
    assert (found[0] == [[2, 0], [0, 3]]).all()
    assert numpy.isnan(found[1]).all()
    assert ours.sqrtm(numpy.ones((0, 2, 2), int)).dtype == "f8"
    with pytest.raises(weft.linalg.LinAlgError):
        ours.sqrtm(numpy.ones((2, 3)))
