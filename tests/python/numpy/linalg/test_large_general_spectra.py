"""Eigenvalues, eigenvectors, Schur and Hessenberg forms of real matrices without symmetry that weft reduces and
iterates by itself: from 256 rows on. Errors are small multiples of rounding; the number of threads changes no bit."""

import numpy
import pytest
import scipy.linalg
import weft
import weft.scipy.linalg
from matrices import some

pytestmark = pytest.mark.host  # GPUs have libraries for these

TYPES = ["f4", "f8"]
N = 288
# Of residuals and orthogonality, in roundings times the norm and the square root of the size. LAPACK's have up to 6.
BOUND = 16.0


def graded(decades, dtype):
    return 10.0 ** -numpy.linspace(0, decades if dtype == "f8" else decades / 2, N)


def with_values(values, dtype):
    vectors = some((len(values), len(values)), "f8")
    return (vectors * values) @ numpy.linalg.inv(vectors)


MATRICES = {
    "random": lambda dtype: some((N, N), dtype),
    "not a multiple of windows": lambda dtype: some((601, 601), dtype),
    "zeros": lambda dtype: numpy.zeros((N, N)),
    "identity": lambda dtype: numpy.eye(N),
    "triangular": lambda dtype: numpy.triu(some((N, N), dtype)),
    "lower": lambda dtype: numpy.tril(some((N, N), dtype)),
    "one block of Jordan": lambda dtype: 2 * numpy.eye(N) + numpy.eye(N, k=1),
    "nilpotent": lambda dtype: numpy.eye(N, k=1),
    "cycle": lambda dtype: numpy.roll(numpy.eye(N), 1, axis=0),
    "ones": lambda dtype: numpy.ones((N, N)),
    "rank of five": lambda dtype: some((N, 5), dtype) @ some((5, N), dtype),
    "symmetric": lambda dtype: some((N, N), dtype) + some((N, N), dtype).T,
    "skew": lambda dtype: some((N, N), dtype) - some((N, N), dtype).T,
    "orthogonal": lambda dtype: numpy.linalg.qr(some((N, N), "f8"))[0],
    "companion": lambda dtype: numpy.vstack([some((1, N), dtype), numpy.eye(N)[:-1]]),
    "graded": lambda dtype: graded(12, dtype)[:, None] * some((N, N), "f8"),
    "badly balanced": lambda dtype: graded(12, dtype)[:, None] * some((N, N), "f8") / graded(12, dtype),
    "turns": lambda dtype: numpy.kron(numpy.eye(N // 3), [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
    "three values": lambda dtype: with_values(numpy.repeat([1.0, 2.0, 3.0], N // 3), dtype),
    "isolated values": lambda dtype: (
        numpy.triu(some((N, N), dtype)) + numpy.pad(some((N - 90, N - 90), dtype), ((40, 50), (40, 50)))
    ),
    "Toeplitz of Grcar": lambda dtype: numpy.triu(numpy.tril(numpy.ones((N, N)), 3)) - numpy.eye(N, k=-1),
}
ALL = [(kind, dtype) for kind in MATRICES for dtype in TYPES]


def roundings(error, a):
    scale = max(float(numpy.linalg.norm(a.astype("f8"))), 1e-30)
    return float(abs(error).max() / (scale * numpy.finfo(a.dtype).eps * len(a) ** 0.5))


def assert_orthonormal(q, dtype):
    error = q.T.astype("f8") @ q - numpy.eye(len(q))
    assert abs(error).max() < BOUND * len(q) ** 0.5 * numpy.finfo(dtype).eps


@pytest.mark.parametrize(("kind", "dtype"), ALL)
def test_eigenvalues_and_vectors(kind, dtype):
    a = MATRICES[kind](dtype).astype(dtype)
    values, vectors = map(numpy.asarray, weft.linalg.eig(weft.asarray(a)))
    expected = numpy.linalg.eig(a)
    assert values.dtype == expected.eigenvalues.dtype and vectors.dtype == expected.eigenvectors.dtype
    # Balancing lets LAPACK's residuals grow as well.
    allowed = max(
        BOUND, 4 * roundings(a @ expected.eigenvectors - expected.eigenvectors * expected.eigenvalues, a)
    )
    assert roundings(a @ vectors - vectors * values, a) < allowed
    assert abs(numpy.linalg.norm(vectors, axis=0) - 1).max() < 200 * numpy.finfo(dtype).eps
    # Conjugate ones stand behind each other, the one above the real axis first.
    above = numpy.flatnonzero(values.imag > 0)
    assert (values[above + 1] == values[above].conj()).all()
    assert (vectors[:, above + 1] == vectors[:, above].conj()).all()
    assert (values.imag < 0).sum() == len(above)
    alone = numpy.asarray(weft.linalg.eigvals(weft.asarray(a)))
    assert roundings(values.sum() - numpy.trace(a.astype("f8")), a) < BOUND * N**0.5
    assert abs(numpy.sort(abs(alone)) - numpy.sort(abs(values))).max() <= 1e-2 * abs(values).max()


@pytest.mark.parametrize("dtype", TYPES)
def test_values_of_a_well_conditioned_matrix(dtype):
    a = (
        scipy.linalg.block_diag(*[numpy.arange(1, N + 1)[i] for i in range(N)]) + some((N, N), "f8") / N
    ).astype(dtype)
    expected = numpy.sort_complex(numpy.linalg.eigvals(a.astype("f8")))
    for found in (weft.linalg.eigvals(a), weft.linalg.eig(a).eigenvalues):
        found = numpy.sort_complex(numpy.asarray(found))
        assert abs(found - expected).max() < 8 * numpy.finfo(dtype).eps * numpy.linalg.norm(a)


@pytest.mark.parametrize(("kind", "dtype"), ALL)
def test_schur_and_hessenberg_forms(kind, dtype):
    a = MATRICES[kind](dtype).astype(dtype)
    t, z = map(numpy.asarray, weft.scipy.linalg.schur(weft.asarray(a)))
    h, q = map(numpy.asarray, weft.scipy.linalg.hessenberg(weft.asarray(a), calc_q=True))
    for form, vectors, below in ((t, z, 2), (h, q, 2)):
        assert form.dtype == vectors.dtype == a.dtype
        assert (numpy.tril(form, -below) == 0).all()
        assert_orthonormal(vectors, dtype)
        assert roundings(vectors.astype("f8") @ form @ vectors.T - a, a) < BOUND
    # Blocks of two stand alone, have equal diagonal elements, and complex eigenvalues.
    beside = numpy.diag(t, -1)
    rows = numpy.flatnonzero(beside)
    assert (numpy.diff(rows) > 1).all()
    assert (t[rows, rows] == t[rows + 1, rows + 1]).all()
    assert (t[rows, rows + 1] * beside[rows] <= 0).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_the_number_of_threads_changes_no_bit(dtype):
    a = some((620, 620), dtype)

    def work():
        results = [
            *weft.linalg.eig(a),
            weft.linalg.eigvals(a),
            *weft.scipy.linalg.schur(a),
            weft.scipy.linalg.hessenberg(a),
        ]
        return [numpy.asarray(each).tobytes() for each in results]

    with weft.config(num_threads=1):
        expected = work()
    for threads in (2, 5):
        with weft.config(num_threads=threads):
            assert work() == expected


def test_a_batch_is_shared_by_matrices_or_one_after_another():
    a = numpy.stack([some((260, 260), "f8", seed) for seed in range(3)])
    expected = [numpy.asarray(weft.linalg.eigvals(each)).tobytes() for each in a]
    for threads in (1, 2, 5):
        with weft.config(num_threads=threads):
            values = numpy.asarray(weft.linalg.eigvals(a))
        assert [each.tobytes() for each in values] == expected


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_elements_near_the_ends_of_the_range(factor):
    a = some((N, N), "f8")
    values = numpy.asarray(weft.linalg.eigvals(a * factor)) / factor
    expected = numpy.linalg.eigvals(a)
    assert abs(numpy.sort(abs(values)) - numpy.sort(abs(expected))).max() < 1e-10


def test_vectors_that_balancing_makes_large_have_length_one():
    """Their elements came to be so large that squares overflowed, and all of a vector became zero."""
    scale = 10.0 ** numpy.linspace(280, 0, N)
    with numpy.errstate(over="ignore"):
        a = some((N, N), "f8") * scale[:, None] / scale
    a[abs(a) > 1e140] = 0
    values, vectors = map(numpy.asarray, weft.linalg.eig(a))
    assert numpy.isfinite(values).all()
    assert abs(numpy.linalg.norm(vectors, axis=0) - 1).max() < 200 * numpy.finfo("f8").eps


@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf])
def test_elements_that_are_no_numbers(bad):
    a = some((N, N), "f8")
    a[7, 9] = bad
    for name in ("eig", "eigvals"):
        with pytest.raises(numpy.linalg.LinAlgError, match="infs or NaNs"):
            getattr(numpy.linalg, name)(a)
        with pytest.raises(weft.linalg.LinAlgError, match="infs or NaNs"):
            getattr(weft.linalg, name)(a)


def test_a_matrix_of_low_rank_takes_no_longer():
    """Its columns come to be nearly nothing, and products of denormal numbers take many times as long."""
    h = weft.scipy.linalg.hessenberg(weft.asarray(numpy.ones((600, 600))))
    below = numpy.diag(numpy.asarray(h), -1)
    small = abs(below)[abs(below) > 0]
    assert small.min() > 1e-170


def test_explain_names_the_way():
    text = str(weft.explain(weft.linalg.eigvals(weft.asarray(some((N, N), "f8")))))
    assert "weft's QR iteration" in text
    small = str(weft.explain(weft.linalg.eigvals(weft.asarray(some((64, 64), "f8")))))
    assert "LAPACK" in small
