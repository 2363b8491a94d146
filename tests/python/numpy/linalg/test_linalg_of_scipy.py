"""weft.scipy.linalg beside SciPy: kinds of results, and values where they are unique."""

import numpy
import pytest
import scipy.linalg
import weft
from beside_scipy import both, ours, same
from matrices import hermitian, some


@pytest.fixture(params=[("f8", 2), ("f8", 5), ("f8", 40), ("c16", 2), ("c16", 5), ("c16", 40)], ids=str)
def matrix(request):
    dtype, n = request.param
    return some((n, n), dtype)


@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (2, 4, 4)])
@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_lu(shape, dtype):
    a = some(shape, dtype)
    both("lu", a)
    both("lu", a, permute_l=True)
    both("lu", a, p_indices=True)
    if len(shape) == 2:
        both("lu_factor", a)


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_solve_by_factors(matrix, trans):
    b = some((len(matrix), 2), matrix.dtype, 1)
    for right in (b, b[:, 0]):
        same(
            ours.lu_solve(ours.lu_factor(matrix), right, trans=trans),
            scipy.linalg.lu_solve(scipy.linalg.lu_factor(matrix), right, trans=trans),
        )
    a = matrix / len(matrix) + 2 * numpy.eye(len(matrix))
    for lower in (False, True):
        for unit in (False, True):
            for each in (a, a.T.copy().T):
                both("solve_triangular", each, b, trans=trans, lower=lower, unit_diagonal=unit)


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(matrix, lower):
    a = hermitian(matrix.shape, matrix.dtype)
    b = some((len(a), 2), a.dtype, 1)
    both("cholesky", a, lower=lower)
    same(
        ours.cho_solve(ours.cho_factor(a, lower), b),
        scipy.linalg.cho_solve(scipy.linalg.cho_factor(a, lower), b),
    )
    both("solve", a, b, assume_a="pos", lower=lower)
    both("solve", a, b, assume_a="her", lower=lower)
    with pytest.raises(weft.linalg.LinAlgError):
        ours.cholesky(-a)


def test_banded_and_built_matrices(matrix):
    v, b = matrix[0], some((len(matrix), 2), matrix.dtype, 1)
    bands = some((4, len(matrix)), matrix.dtype, 2)
    bands[1] += 5
    if len(matrix) > 3:
        both("solve_banded", (2, 1), bands, b)
        both("solve_banded", (2, 1), bands, b[:, 0])
    both("toeplitz", v)
    both("toeplitz", v, matrix[1])
    both("circulant", v)
    both("block_diag", matrix, b, [1, 2])
    both("solve_toeplitz", (numpy.r_[5, v[1:]], matrix[1]), b)


def test_functions_of_matrices(matrix):
    a = hermitian(matrix.shape, matrix.dtype) / len(matrix)
    both("expm", a / 10)
    both("expm", matrix * 1e-3)
    both("sqrtm", a)
    both("logm", a)
    numpy.testing.assert_allclose(numpy.asarray(ours.expm(ours.logm(matrix))), matrix, atol=1e-8)
    root = numpy.asarray(ours.sqrtm(matrix))
    numpy.testing.assert_allclose(root @ root, matrix, atol=1e-8)


def test_forms(matrix):
    for output in ("real", "complex"):
        t, z = (numpy.asarray(each) for each in ours.schur(matrix, output=output))
        numpy.testing.assert_allclose(z @ t @ z.conj().T, matrix, atol=1e-10)
        numpy.testing.assert_allclose(z.conj().T @ z, numpy.eye(len(z)), atol=1e-10)
        assert not numpy.tril(t, -2 if output == "real" else -1).any()
    h, q = (numpy.asarray(each) for each in ours.hessenberg(matrix, calc_q=True))
    numpy.testing.assert_allclose(q @ h @ q.conj().T, matrix, atol=1e-10)
    assert not numpy.tril(h, -2).any()


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_orthogonal(shape):
    a = some(shape, "f8")
    for side in ("left", "right"):
        both("polar", a, side)
    for mode in ("full", "economic", "r"):
        for pivoting in (False, True):
            both("qr", a, mode=mode, pivoting=pivoting)
    assert ours.null_space(a).shape == scipy.linalg.null_space(a).shape
    assert ours.orth(a).shape == scipy.linalg.orth(a).shape
    both("svdvals", a)
    same(ours.svd(a, lapack_driver="gesvd")[1], scipy.linalg.svd(a)[1])
    both("pinv", a)


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_generalised_eigenvalues(matrix, kind):
    a, b = (
        hermitian(matrix.shape, matrix.dtype),
        hermitian(matrix.shape, matrix.dtype) + 2 * numpy.eye(len(matrix)),
    )
    for lower in (False, True):
        both("eigh", a, b, type=kind, lower=lower, eigvals_only=True)
        w, v = (numpy.asarray(each) for each in ours.eigh(a, b, type=kind, lower=lower))
        left, right = ((a @ v, b @ v * w), (a @ (b @ v), v * w), (b @ (a @ v), v * w))[kind - 1]
        numpy.testing.assert_allclose(left, right, atol=1e-7 * abs(w).max())
    both("eigh", a, eigvals_only=True, subset_by_index=[0, 1])
    both("eigh", a, eigvals_only=True, subset_by_value=[-1, float(numpy.linalg.eigvalsh(a)[1]) * 1.0001])
    with pytest.raises(ValueError, match="indices"):
        ours.eigh(a, subset_by_index=[0, len(a)])


def test_not_finite():
    for name in ("lu", "svd", "qr", "cholesky", "eigh", "inv", "schur"):
        with pytest.raises(ValueError, match="infs or NaNs"):
            getattr(ours, name)([[1.0, numpy.nan], [0.0, 1.0]])
