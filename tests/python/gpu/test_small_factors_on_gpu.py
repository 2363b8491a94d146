"""Factors, inverses, determinants and solutions of small matrices on a GPU: a thread a matrix, the CPU's bits."""

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_gpu

pytestmark = needs_gpu

SIDES = [1, 2, 3, 4, 5, 8]


def here(array):
    return numpy.asarray(array.to_device("cpu"))


def squares(n, dtype, count=90):
    values = numpy.random.default_rng(n).standard_normal((count, n, n))
    values[3] *= 1e-12
    values[4] = numpy.eye(n)[::-1]  # rows change places
    return values.astype(dtype)


def positive(n, dtype, count=90):
    values = squares(n, "f8", count)
    return (values @ values.swapaxes(-1, -2) + n * numpy.eye(n)).astype(dtype)


def by_program(kind, function, *arrays, **keywords):
    np.clear_kernel_history()
    result = function(*(gpu(each) for each in arrays), **keywords)
    np.eval(result)
    assert result.device == "cuda:0"
    names = [record["name"] for record in np.kernel_history()]
    assert not any("cusolver" in name for name in names), names
    assert not any(record["fallback"] for record in np.kernel_history())
    assert sum(name.startswith(kind + " float") for name in names) == 1, names
    return here(result)


def same_bits(result, expected):
    expected = numpy.asarray(expected)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert numpy.array_equal(result, expected, equal_nan=True)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", [*SIDES, 12, 16])
def test_cholesky(n, upper, dtype):
    a = positive(n, dtype)
    result = by_program("cholesky", np.linalg.cholesky, a, upper=upper)
    same_bits(result, np.linalg.cholesky(np.asarray(a), upper=upper))
    factors = result.swapaxes(-1, -2) if upper else result
    assert numpy.abs(factors @ factors.swapaxes(-1, -2) - a).max() < 50 * n * numpy.finfo(dtype).eps
    half = numpy.triu(a) if upper else numpy.tril(a)  # the other triangle is not read
    same_bits(by_program("cholesky", np.linalg.cholesky, half, upper=upper), result)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("n", SIDES)
def test_determinants_and_inverses(n, dtype):
    a = squares(n, dtype)
    same_bits(by_program("inverse", np.linalg.inv, a), np.linalg.inv(np.asarray(a)))
    a[7] = 0
    a[8, 0] = a[8, -1] * (n > 1)
    determinants = by_program("det", np.linalg.det, a)
    same_bits(determinants, np.linalg.det(np.asarray(a)))
    assert determinants[7] == 0 and abs(determinants[8]) < 1e-6
    large = numpy.full((2, n, n), 0.0, dtype) + numpy.diag(numpy.full(n, numpy.finfo(dtype).max / 2, dtype))
    large[1] = numpy.diag(numpy.where(numpy.arange(n) % 2, 2.0**-100, 2.0**100))
    found = by_program("det", np.linalg.det, large)
    assert found[0] == (numpy.inf if n > 1 else large[0, 0, 0])
    assert found[1] == (1 if n % 2 == 0 else 2.0**100)  # the parts do not overflow


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("columns", [None, 1, 3, 4, 7, 16])
@pytest.mark.parametrize("n", SIDES)
def test_solutions(n, columns, dtype):
    a = squares(n, dtype)
    b = (
        numpy.random.default_rng(7)
        .standard_normal((n,) if columns is None else (90, n, columns))
        .astype(dtype)
    )
    same_bits(by_program("solve", np.linalg.solve, a, b), np.linalg.solve(np.asarray(a), np.asarray(b)))


def test_one_matrix():
    a, b = squares(3, "f8")[0], numpy.arange(3.0)
    assert numpy.abs(a @ by_program("solve", np.linalg.solve, a, b) - b).max() < 1e-14
    assert numpy.abs(a @ by_program("inverse", np.linalg.inv, a) - numpy.eye(3)).max() < 1e-14
    assert abs(by_program("det", np.linalg.det, a) / numpy.linalg.det(a) - 1) < 1e-14


def test_right_sides_broadcast():
    a, b = (
        squares(4, "f8", 6).reshape(2, 3, 4, 4),
        numpy.random.default_rng(1).standard_normal((5, 1, 1, 4, 2)),
    )
    x = by_program("solve", np.linalg.solve, a, b)
    assert x.shape == (5, 2, 3, 4, 2) and numpy.abs(a @ x - b).max() < 1e-10
    x = by_program("solve", np.linalg.solve, a[0, 0], b)
    assert x.shape == b.shape and numpy.abs(a[0, 0] @ x - b).max() < 1e-10


def test_of_integers_and_views():
    a = numpy.arange(24 * 16).reshape(24, 4, 4) % 11 + 30 * numpy.eye(4, dtype=int)
    moved = gpu(a)
    turned = numpy.swapaxes(a, -1, -2)[::-2]
    assert numpy.allclose(
        here(np.linalg.inv(np.swapaxes(moved, -1, -2)[::-2])), numpy.linalg.inv(turned), 1e-13, 0
    )
    assert numpy.allclose(here(np.linalg.det(moved)), numpy.linalg.det(a), 1e-13, 0)


@pytest.mark.parametrize("defer", [False, True])
def test_matrices_without_a_result(defer):
    a = positive(3, "f8")
    with np.config(deferred_checks=defer):
        for name, change in (("inv", 0.0), ("cholesky", -1.0)):
            function = getattr(np.linalg, name)
            bad = a.copy()
            bad[5] = change
            with pytest.raises(np.linalg.LinAlgError, match=r"Singular|not positive definite"):
                function(gpu(bad)).tolist()
            bad[5] = numpy.nan
            result = here(function(gpu(bad)))
            assert (
                numpy.isnan(numpy.tril(result[5])).any() and numpy.isfinite(numpy.delete(result, 5, 0)).all()
            )
            assert numpy.isfinite(here(function(gpu(a)))).all()
        bad = a.copy()
        bad[6] = 0
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            np.linalg.solve(gpu(bad), gpu(a)).tolist()
    assert np.linalg.cond(gpu(bad))[6].item() == numpy.inf


def test_many_right_sides_are_the_librarys():
    a = squares(4, "f8", 5)[0]
    b = numpy.random.default_rng(2).standard_normal((4, 17))
    np.clear_kernel_history()
    x = np.linalg.solve(gpu(a), gpu(b))
    np.eval(x)
    assert any("cusolver getrs" in record["name"] for record in np.kernel_history())
    assert numpy.abs(a @ here(x) - b).max() < 1e-12
