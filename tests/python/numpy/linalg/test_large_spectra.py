"""Eigenvalues and singular values of matrices that the threads share: from 256 rows and columns on. Residuals and
orthogonality are small multiples of rounding, whatever the spectrum is; the number of threads changes no bit."""

import numpy
import pytest
import weft
from matrices import hermitian, some

pytestmark = pytest.mark.host  # GPUs have libraries for these

TYPES = ["f4", "f8", "c8", "c16"]
N = 288
# Of residuals and orthogonality, in roundings times the square root of the size. Most are near 2; deflation lets values
# be wrong by 64 roundings, and LAPACK's own results of such matrices have 15.
BOUND = 24.0


def orthogonal(n, dtype):
    return numpy.linalg.qr(some((n, n), dtype))[0]


def with_eigenvalues(values, dtype):
    q = orthogonal(len(values), dtype)
    a = (q * numpy.asarray(values)) @ q.conj().T
    return ((a + a.conj().T) / 2).astype(dtype)


def tridiagonal(diagonal, beside, dtype):
    return (numpy.diag(diagonal) + numpy.diag(beside, 1) + numpy.diag(beside, -1)).astype(dtype)


SYMMETRIC = {
    "random": lambda dtype: hermitian((N, N), dtype),
    "not a multiple of tiles": lambda dtype: hermitian((301, 301), dtype),
    "zeros": lambda dtype: numpy.zeros((N, N), dtype),
    "identity": lambda dtype: numpy.eye(N, dtype=dtype),
    "two values": lambda dtype: with_eigenvalues([1.0] * (N // 2) + [-2.0] * (N // 2), dtype),
    "graded": lambda dtype: with_eigenvalues(10.0 ** -numpy.linspace(0, 12, N), dtype),
    "rank of three": lambda dtype: with_eigenvalues([3.0, 2.0, 1.0] + [0.0] * (N - 3), dtype),
    "diagonal": lambda dtype: numpy.diag(numpy.arange(N) % 7).astype(dtype),
    "pairs of values": lambda dtype: tridiagonal(
        abs(numpy.arange(N + 1) - N // 2)[:N], numpy.ones(N - 1), dtype
    ),
    "falls apart": lambda dtype: tridiagonal(
        numpy.arange(N) % 5, (numpy.arange(N - 1) % 16 != 15).astype(float), dtype
    ),
    "ones": lambda dtype: numpy.ones((N, N), dtype),
}


def roundings(dtype, error, scale, n):
    return float(error / (max(float(scale), 1e-30) * numpy.finfo(dtype).eps * n**0.5))


def longest(columns):
    return numpy.linalg.norm(columns, axis=0).max()


def assert_orthonormal(columns, dtype):
    n = columns.shape[-1]
    assert roundings(dtype, longest(columns.conj().T @ columns - numpy.eye(n)), 1, n) < BOUND


def with_types(kinds, *all_types):
    """Each kind with the types that differ most; some kinds with all."""
    return [(kind, dtype) for kind in kinds for dtype in (TYPES if kind in all_types else ["f4", "c16"])]


@pytest.mark.parametrize(("kind", "dtype"), with_types(SYMMETRIC, "random", "graded"))
def test_eigenvalues(kind, dtype):
    a = SYMMETRIC[kind](dtype)
    expected = numpy.linalg.eigvalsh(a)
    scale, n = abs(expected).max(), len(a)
    for uplo in "LU":
        triangle = numpy.tril(a) if uplo == "L" else numpy.triu(a)
        values, vectors = map(numpy.asarray, weft.linalg.eigh(weft.asarray(triangle), UPLO=uplo))
        assert values.dtype == expected.dtype and vectors.dtype == a.dtype
        assert (numpy.diff(values) >= 0).all()
        assert roundings(dtype, longest(a @ vectors - vectors * values), scale, n) < BOUND
        assert_orthonormal(vectors, dtype)
        alone = numpy.asarray(weft.linalg.eigvalsh(weft.asarray(triangle), UPLO=uplo))
        for found in (values, alone):
            assert roundings(dtype, abs(found - expected).max(), scale, n) < BOUND


GENERAL = {
    "square": lambda dtype: some((N, N), dtype),
    "a little taller": lambda dtype: some((350, 301), dtype),
    "tall": lambda dtype: some((700, 260), dtype),
    "wide": lambda dtype: some((260, 700), dtype),
    "zeros": lambda dtype: numpy.zeros((N, N), dtype),
    "identity": lambda dtype: numpy.eye(N, dtype=dtype),
    "orthogonal": lambda dtype: orthogonal(N, dtype),
    "graded": lambda dtype: (orthogonal(N, dtype) * 10.0 ** -numpy.linspace(0, 12, N)).astype(dtype),
    "rank of three": lambda dtype: some((N, 3), dtype) @ some((3, N), dtype),
    "diagonal": lambda dtype: numpy.diag(numpy.arange(N) % 7).astype(dtype),
    "falls apart": lambda dtype: (
        numpy.diag(numpy.arange(N) % 5) + numpy.diag((numpy.arange(N - 1) % 16 != 15) * 1.0, 1)
    ).astype(dtype),
    "ones": lambda dtype: numpy.ones((300, N), dtype),
}


@pytest.mark.parametrize(("kind", "dtype"), with_types(GENERAL, "square", "tall", "wide", "graded"))
def test_singular_values(kind, dtype):
    a = GENERAL[kind](dtype)
    expected = numpy.linalg.svd(a, compute_uv=False)
    scale, least = expected[0], len(expected)
    for full in (False, True) if a.shape[0] != a.shape[1] else (True,):
        u, values, vh = map(numpy.asarray, weft.linalg.svd(weft.asarray(a), full_matrices=full))
        assert u.shape == (a.shape[0], a.shape[0] if full else least)
        assert vh.shape == (a.shape[1] if full else least, a.shape[1])
        assert (values >= 0).all() and (numpy.diff(values) <= 0).all()
        back = (u[:, :least] * values) @ vh[:least]
        assert roundings(dtype, longest(back - a), scale, least) < BOUND
        assert_orthonormal(u, dtype)
        assert_orthonormal(vh.conj().T, dtype)
        alone = numpy.asarray(weft.linalg.svdvals(weft.asarray(a)))
        for found in (values, alone):
            assert roundings(dtype, abs(found - expected).max(), scale, least) < BOUND


@pytest.mark.parametrize("dtype", ["f8", "c8"])
def test_the_number_of_threads_changes_no_bit(dtype):
    symmetric, general = hermitian((320, 320), dtype), some((500, 300), dtype)

    def work():
        results = [
            *weft.linalg.eigh(symmetric),
            weft.linalg.eigvalsh(symmetric),
            *weft.linalg.svd(general),
            weft.linalg.svdvals(general),
        ]
        return [numpy.asarray(each).tobytes() for each in results]

    with weft.config(num_threads=1):
        expected = work()
    for threads in (2, 5):
        with weft.config(num_threads=threads):
            assert work() == expected
    # A batch of more matrices than threads is shared by matrices, a smaller one is not.
    for threads in (2, 5):
        with weft.config(num_threads=threads):
            values, vectors = weft.linalg.eigh(numpy.stack([symmetric] * 3))
            for i in range(3):
                assert [numpy.asarray(each[i]).tobytes() for each in (values, vectors)] == expected[:2]


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_elements_near_the_ends_of_the_range(factor):
    a = hermitian((N, N), "f8")
    values, _ = weft.linalg.eigh(a * factor)
    expected = numpy.linalg.eigvalsh(a)
    assert abs(numpy.asarray(values) / factor - expected).max() < 1e-11 * abs(expected).max()
    assert (
        abs(numpy.asarray(weft.linalg.svdvals(a * factor)) / factor - numpy.linalg.svdvals(a)).max() < 1e-10
    )


@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf, -numpy.inf])
def test_elements_that_are_no_numbers(bad):
    """They have no spectrum. What NumPy's LAPACK does with them differs from size to size."""
    a = hermitian((N, N), "f8")
    a[7, 7] = bad
    names = ["eigh", "eigvalsh"] + ["svd", "svdvals"] * bool(numpy.isnan(bad))
    for name in names:
        with pytest.raises(weft.linalg.LinAlgError, match="did not converge"):
            getattr(weft.linalg, name)(a)
        with pytest.raises(weft.linalg.LinAlgError, match="did not converge"):
            getattr(weft.linalg, name)(numpy.stack([hermitian((N, N), "f8"), a]))
    if numpy.isinf(bad):
        assert numpy.isnan(weft.linalg.svdvals(a)).all()
        assert all(numpy.isnan(each).all() for each in weft.linalg.svd(a))
