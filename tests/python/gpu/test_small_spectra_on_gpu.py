"""Eigenvalues and singular values of many small matrices on a GPU: a thread a matrix, the CPU's bits."""

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_gpu

pytestmark = needs_gpu

# Sides with programs of their own, others, and from how many matrices on they are taken.
EIGH = [(2, 90), (3, 90), (4, 90), (1, 90), (5, 1024), (8, 1030), (12, 4096)]
VALUES = [(2, 90), (3, 90), (4, 90), (1, 90), (5, 90), (8, 90), (12, 2048), (16, 8192)]


def here(array):
    return numpy.asarray(array.to_device("cpu"))


def squares(count, n, dtype):
    values = numpy.random.default_rng([count, n]).standard_normal((count, n, n)).astype(dtype)
    values[1 % count] = 0
    values[2 % count] = numpy.eye(n)
    values[3 % count, :, 0] = values[3 % count, :, -1]  # of lower rank
    return values


def by_program(function, a, *args, **keywords):
    """The results as NumPy's arrays; one program of weft's own made them."""
    np.clear_kernel_history()
    results = function(gpu(a), *args, **keywords)
    results = results if isinstance(results, tuple) else (results,)
    assert all(each.device == "cuda:0" for each in results)
    np.eval(*results)
    names = [record["name"] for record in np.kernel_history()]
    assert not any("cusolver" in name for name in names) and not any(
        record["fallback"] for record in np.kernel_history()
    )
    size = f"{a[..., 0, 0].size}*{a.shape[-2]}x{a.shape[-1]}"
    assert sum(name.startswith(function.__name__) and size in name for name in names) == 1, names
    return [here(each) for each in results]


def same_bits(results, expected):
    expected = expected if isinstance(expected, tuple) else (expected,)
    for each, right in zip(results, expected, strict=True):
        right = numpy.asarray(right)
        assert each.dtype == right.dtype and each.shape == right.shape
        assert numpy.array_equal(each, right, equal_nan=True)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("triangle", ["L", "U"])
@pytest.mark.parametrize("n, count", EIGH)
def test_eigenvectors(n, count, triangle, dtype):
    a = squares(count, n, dtype)  # only one triangle is read
    results = by_program(np.linalg.eigh, a, UPLO=triangle)
    same_bits(results, np.linalg.eigh(np.asarray(a), UPLO=triangle))
    values, vectors = results
    other = numpy.tril(a) if triangle == "L" else numpy.triu(a).swapaxes(-1, -2)
    whole = other + numpy.tril(other, -1).swapaxes(-1, -2)
    assert numpy.abs(whole @ vectors - vectors * values[:, None, :]).max() < 2e3 * numpy.finfo(dtype).eps


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("n, count", VALUES)
def test_values_alone(n, count, dtype):
    a = squares(count, n, dtype)
    same_bits(by_program(np.linalg.eigvalsh, a), np.linalg.eigvalsh(np.asarray(a)))
    same_bits(by_program(np.linalg.svdvals, a), np.linalg.svdvals(np.asarray(a)))


SHAPES = [
    (2, 2),
    (3, 3),
    (4, 4),
    (1, 4),
    (3, 2),
    (2, 4),
    (8, 5),
    (5, 8),
    (8, 8),
    (12, 3),
    (3, 12),
    (16, 16),
    (2, 16),
]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("m, n", SHAPES)
def test_singular_vectors(m, n, full, dtype):
    side = max(m, n)
    count = 90 if side <= 4 else 256 if side <= 8 else 1024 if side <= 12 else 2048
    a = numpy.random.default_rng([m, n]).standard_normal((count, m, n)).astype(dtype)
    a[5] = 0
    a[6, :, 0] = a[6, :, -1]
    results = by_program(np.linalg.svd, a, full_matrices=full)
    same_bits(results, np.linalg.svd(np.asarray(a), full_matrices=full))
    u, s, vh = results
    least = min(m, n)
    again = (u[..., :least] * s[:, None, :]) @ vh[:, :least]
    assert numpy.abs(again - a).max() < 200 * numpy.finfo(dtype).eps
    for vectors in (u, vh.swapaxes(-1, -2)):
        unit = vectors.swapaxes(-1, -2) @ vectors
        assert numpy.abs(unit - numpy.eye(unit.shape[-1])).max() < 200 * numpy.finfo(dtype).eps


def test_of_integers_views_and_stacks():
    a = numpy.arange(2 * 3 * 4 * 4).reshape(2, 3, 4, 4) % 7
    moved = gpu(a)
    values, vectors = np.linalg.eigh(moved)
    assert values.shape == (2, 3, 4) and values.dtype == "f8"
    assert numpy.abs(here(values) - numpy.linalg.eigvalsh(a)).max() < 1e-13
    turned = np.swapaxes(moved, -1, -2)[:, ::-1]
    assert numpy.array_equal(here(np.linalg.eigvalsh(turned, UPLO="U")), here(values)[:, ::-1])
    assert vectors.shape == (2, 3, 4, 4)


def test_numbers_that_are_not_finite():
    a = squares(6, 3, "f8")
    a[4, 1, 0] = numpy.inf
    values, vectors = (here(each) for each in np.linalg.eigh(gpu(a)))
    assert numpy.isnan(values[4]).all() and numpy.isnan(vectors[4]).all()
    assert numpy.isfinite(numpy.delete(values, 4, 0)).all()
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        np.linalg.svd(gpu(a))
    a[4, 1, 0] = numpy.nan
    with pytest.raises(np.linalg.LinAlgError, match="Eigenvalues did not converge"):
        np.linalg.eigvalsh(gpu(a))


def test_explain_says_how():
    values = np.linalg.eigvalsh(gpu(squares(100, 3, "f8")))
    assert "by a program of weft's own, a matrix a thread" in np.explain(values)
