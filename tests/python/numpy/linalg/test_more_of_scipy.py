"""weft.scipy.linalg beside SciPy: factors of symmetric matrices, Toeplitz equations, subsets, sides, sorted forms."""

import numpy
import pytest
import scipy.linalg
import weft
from comparing import outcome
from matrices import hermitian, some

ours = weft.scipy.linalg
TYPES = ["f4", "f8", "c8", "c16"]


def tolerance(dtype):
    return 3e-4 if numpy.dtype(dtype).char in "fF" else 1e-10


def plain(results):
    return [numpy.asarray(each) for each in results]


def same_kinds(found, expected):
    assert len(found) == len(expected)
    for each, other in zip(plain(found), plain(expected)):
        assert each.shape == other.shape
        assert each.dtype == other.dtype


def same_errors(name, *arguments, **options):
    found = outcome(lambda: getattr(ours, name)(*arguments, **options))
    expected = outcome(lambda: getattr(scipy.linalg, name)(*arguments, **options))
    assert isinstance(expected, Exception)
    assert type(found).__name__ == type(expected).__name__
    assert str(found) == str(expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (40, 40), (0, 0), (3, 4, 4)])
def test_ldl(shape, dtype):
    any_matrix = some(shape, dtype) - 2 * numpy.eye(shape[-1], dtype=dtype)
    for other, is_hermitian in ((any_matrix.conj().mT, True), (any_matrix.mT, False)):
        a = any_matrix + other
        for lower in (True, False):
            found = plain(ours.ldl(a, lower=lower, hermitian=is_hermitian))
            same_kinds(found, scipy.linalg.ldl(a, lower=lower, hermitian=is_hermitian))
            factor, d, perm = found
            adjoint = factor.conj().mT if is_hermitian else factor.mT
            numpy.testing.assert_allclose(factor @ d @ adjoint, a, atol=tolerance(dtype) * 10)
            if len(shape) == 2:
                triangle = factor[perm]
                assert not (numpy.triu(triangle, 1) if lower else numpy.tril(triangle, -1)).any()
                assert (triangle.diagonal() == 1).all()
                half = numpy.tril(a) if lower else numpy.triu(a)
                assert (numpy.asarray(ours.ldl(half, lower, is_hermitian)[0]) == factor).all()


def test_ldl_of_pairs_and_errors():
    a = numpy.array([[0, 1, 2.0], [1, 0, 3], [2, 3, 0]])
    for lower in (True, False):
        for found, expected in zip(plain(ours.ldl(a, lower)), scipy.linalg.ldl(a, lower)):
            numpy.testing.assert_allclose(found, expected, atol=1e-15)
    same_errors("ldl", numpy.ones((2, 3)))
    with pytest.warns(weft.exceptions.ComplexWarning):
        ours.ldl(numpy.ones((2, 2)) * 1j)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 2, 9, 100])
def test_solve_toeplitz(n, dtype):
    c, r, b = some((n, 1), dtype)[:, 0], some((n, 1), dtype, 1)[:, 0], some((n, 3), dtype, 2)
    c[0] += n
    for left in (c, (c, r)):
        for right in (b, b[:, 0]):
            found, expected = (
                plain([ours.solve_toeplitz(left, right)])[0],
                scipy.linalg.solve_toeplitz(left, right),
            )
            same_kinds([found], [expected])
            numpy.testing.assert_allclose(found, expected, atol=1e-10)


def test_toeplitz_batches_and_errors():
    c = numpy.array([3.0, 1, 0.5])
    for left, right in (
        (numpy.stack([c, 2 * c]), numpy.ones(3)),
        (c, numpy.ones((2, 3, 2))),
        (numpy.stack([c, 2 * c]), numpy.ones((3, 2))),
        ([], []),
        (c, numpy.ones((3, 0))),
    ):
        found, expected = ours.solve_toeplitz(left, right), scipy.linalg.solve_toeplitz(left, right)
        same_kinds([found], [expected])
        numpy.testing.assert_allclose(numpy.asarray(found), expected, atol=1e-14)
    same_errors("solve_toeplitz", c, numpy.ones(2))
    same_errors("solve_toeplitz", (c, c[:2]), numpy.ones(3))
    same_errors("solve_toeplitz", numpy.ones(3), numpy.ones(3))
    same_errors("solve_toeplitz", c[:, None], numpy.ones(3))


@pytest.mark.parametrize("dtype", TYPES)
def test_subsets_of_eigenvalues(dtype):
    a = hermitian((30, 30), dtype)
    whole = scipy.linalg.eigvalsh(a)
    for options in (
        {"subset_by_index": [0, 2]},
        {"subset_by_index": [27, 29]},
        {"subset_by_value": [float(whole[4] * 1.001), float(whole[9] * 1.001)]},
        {"subset_by_value": [-numpy.inf, float(whole[3] * 1.001)]},
        {"subset_by_value": [1e6, 1e7]},
    ):
        for lower in (True, False):
            half = numpy.tril(a) if lower else numpy.triu(a)
            w, v = plain(ours.eigh(half, lower=lower, **options))
            expected = scipy.linalg.eigh(a, **options)
            same_kinds((w, v), expected)
            numpy.testing.assert_allclose(w, expected[0], rtol=tolerance(dtype))
            numpy.testing.assert_allclose(a @ v, v * w, atol=tolerance(dtype) * whole[-1])
            numpy.testing.assert_allclose(v.conj().T @ v, numpy.eye(len(w)), atol=tolerance(dtype))
            found = numpy.asarray(ours.eigvalsh(half, lower=lower, **options))
            numpy.testing.assert_allclose(found, expected[0], rtol=tolerance(dtype))
    b = hermitian((30, 30), dtype) + numpy.eye(30, dtype=dtype)
    expected = scipy.linalg.eigh(a, b, subset_by_index=[3, 5])
    w, v = plain(ours.eigh(a, b, subset_by_index=[3, 5]))
    numpy.testing.assert_allclose(w, expected[0], rtol=1e-2 if dtype in ("f4", "c8") else 1e-9)
    assert v.shape == (30, 3)


@pytest.mark.host
@pytest.mark.parametrize("dtype", ["f8", "c8"])
def test_subsets_of_large_matrices(dtype):
    a = hermitian((260, 260), dtype)
    whole = scipy.linalg.eigvalsh(a.astype("c16"))
    limit = 3e-3 if dtype == "c8" else 1e-9
    for lower, options in (
        (True, {"subset_by_index": [250, 259]}),
        (False, {"subset_by_value": [float(whole[249] + 1e-3), 1e9]}),
    ):
        half = numpy.tril(a) if lower else numpy.triu(a)
        w, v = plain(ours.eigh(half, lower=lower, **options))
        assert len(w) == 10
        numpy.testing.assert_allclose(w, whole[-10:], rtol=limit)
        numpy.testing.assert_allclose(a @ v, v * w, atol=limit * whole[-1])
        numpy.testing.assert_allclose(v.conj().T @ v, numpy.eye(10), atol=limit)
    before = weft.config.num_threads
    try:
        bits = set()
        for threads in (1, 3):
            weft.config.num_threads = threads
            w, v = plain(ours.eigh(a, subset_by_index=[0, 99]))
            bits.add((w.tobytes(), v.tobytes()))
        assert len(bits) == 1
    finally:
        weft.config.num_threads = before
    huge = numpy.asarray(ours.eigvalsh(a.astype("c16") * 1e200, subset_by_index=[259, 259]))
    numpy.testing.assert_allclose(huge, whole[-1] * 1e200, rtol=1e-5)


def test_errors_of_subsets():
    a = numpy.eye(4)
    same_errors("eigh", a, subset_by_index=[2, 1])
    same_errors("eigh", a, subset_by_value=[2, 1])
    same_errors("eigh", a, subset_by_index=[1, 2], subset_by_value=[2, 3])
    same_errors("eigh", a, subset_by_index=[1, 2], driver="evd")
    batch = plain(ours.eigh(numpy.stack([a, 2 * a]), subset_by_index=[1, 2]))
    same_kinds(batch, scipy.linalg.eigh(numpy.stack([a, 2 * a]), subset_by_index=[1, 2]))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_eig_of_both_sides(n, dtype):
    limit = 50 * tolerance(dtype)
    for a in (some((n, n), dtype), hermitian((n, n), dtype)):
        for left in (False, True):
            for right in (False, True):
                found, expected = (f(a, left=left, right=right) for f in (ours.eig, scipy.linalg.eig))
                found = found if isinstance(found, tuple) else (found,)
                same_kinds(found, expected if isinstance(expected, tuple) else (expected,))
        w, u, v = plain(ours.eig(a, left=True))
        numpy.testing.assert_allclose(a @ v, v * w, atol=limit)
        numpy.testing.assert_allclose(u.conj().T @ a, w[:, None] * u.conj().T, atol=limit)
        same_kinds(
            [ours.eigvals(a, homogeneous_eigvals=True)], [scipy.linalg.eigvals(a, homogeneous_eigvals=True)]
        )


@pytest.mark.parametrize("dtype", TYPES)
def test_generalised_eig(dtype):
    a, b = some((6, 6), dtype), some((6, 6), dtype, 1)
    limit = 100 * tolerance(dtype)
    for second in (b, numpy.eye(6, dtype=dtype), numpy.zeros((6, 6), dtype)):
        same_kinds(ours.eig(a, second, left=True), scipy.linalg.eig(a, second, left=True))
        same_kinds(
            ours.eig(a, second, homogeneous_eigvals=True),
            scipy.linalg.eig(a, second, homogeneous_eigvals=True),
        )
    w, u, v = plain(ours.eig(a, b, left=True))
    numpy.testing.assert_allclose(a @ v, (b @ v) * w, atol=limit)
    numpy.testing.assert_allclose(u.conj().T @ a, w[:, None] * (u.conj().T @ b), atol=limit)
    numpy.testing.assert_allclose(numpy.linalg.norm(v, axis=0), 1, rtol=limit)
    (alpha, beta), v = plain(ours.eig(a, b, homogeneous_eigvals=True))
    numpy.testing.assert_allclose(a @ v * beta, b @ v * alpha, atol=limit)
    singular = numpy.diag([1, 1, 1, 1, 0, 0]).astype(dtype)
    pencil = numpy.diag([1, 2, 3, 4, 5, 0]).astype(dtype)
    expected = scipy.linalg.eigvals(pencil, singular)
    numpy.testing.assert_array_equal(numpy.asarray(ours.eigvals(pencil, singular)), expected)
    same_errors("eig", a, numpy.eye(3))
    same_errors("eig", a[:3])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("output", ["real", "complex"])
def test_sorted_schur(dtype, output):
    a = some((12, 12), dtype) / 2
    takes_complex = output == "complex" or numpy.dtype(dtype).kind == "c"
    for sort in ("lhp", "rhp", "iuc", "ouc", lambda x, y=0: (x.real if takes_complex else x) > 0.5):
        t, z, count = ours.schur(a, output=output, sort=sort)
        expected = scipy.linalg.schur(a, output=output, sort=sort)
        same_kinds((t, z), expected[:2])
        assert type(count) is int
        assert count == expected[2]
        t, z = plain((t, z))
        numpy.testing.assert_allclose(z @ t @ z.conj().T, a, atol=20 * tolerance(dtype))
        first = numpy.linalg.eigvals(t[:count, :count])
        if isinstance(sort, str):
            holds = {
                "lhp": first.real < 0,
                "rhp": first.real >= 0,
                "iuc": abs(first) <= 1,
                "ouc": abs(first) > 1,
            }[sort]
            assert holds.all()
    batch = ours.schur(numpy.stack([a, -a]), output=output, sort="lhp")
    same_kinds(batch, scipy.linalg.schur(numpy.stack([a, -a]), output=output, sort="lhp"))
    same_errors("schur", a, sort="xyz")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_raw_qr_with_pivots(shape, dtype):
    a = some(shape, dtype)
    (factored, tau), r, perm = ours.qr(a, mode="raw", pivoting=True)
    (expected, expected_tau), expected_r, expected_perm = scipy.linalg.qr(a, mode="raw", pivoting=True)
    same_kinds((factored, tau, r, perm), (expected, expected_tau, expected_r, expected_perm))
    for found, other in zip(plain((factored, tau, r)), (expected, expected_tau, expected_r)):
        numpy.testing.assert_allclose(found, other, atol=tolerance(dtype))
    assert (numpy.asarray(perm) == expected_perm).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_lu_of_one_element(dtype):
    for shape in ((1, 1), (3, 1, 1), (1, 5), (5, 1), (0, 3)):
        a = numpy.ones(shape, dtype)
        for options in ({}, {"permute_l": True}, {"p_indices": True}):
            same_kinds(ours.lu(a, **options), scipy.linalg.lu(a, **options))
