"""Sorting, searching, choosing and counting on GPUs, by the kernels that weft brings in C++: NumPy's results for every
dtype and layout, with nothing on the CPU instead."""

import numpy
import pytest
import weft as np
from comparing import DTYPES
from on_gpu import gpu, needs_gpu, on_cpu  # noqa: F401

pytestmark = needs_gpu

# Rows of a warp, of a block that sorts few and many elements, of several tiles.
LENGTHS = [1, 2, 20, 32, 33, 128, 500, 3000, 20_000]


def numbers(dtype, shape, seed=0):
    """Many that are equal, NaN and zeros of both signs among them."""
    rng = numpy.random.default_rng([seed, numpy.dtype(dtype).num])
    a = rng.integers(-50, 50, shape).astype(dtype)
    flat = a.reshape(-1)
    if a.dtype.kind in "fc" and a.size > 8:
        flat[rng.integers(0, a.size, a.size // 20)] = numpy.nan
        flat[rng.integers(0, a.size, a.size // 20)] = -numpy.inf
    if a.dtype.kind == "f":
        flat[::7] = -0.0
    if a.dtype.kind == "c":
        flat.imag = rng.integers(-3, 3, a.size)
        flat.imag[rng.integers(0, max(a.size, 1), a.size // 20)] = numpy.nan
    return a


def without_detours(work):
    """On the host, and that it was computed on the GPU."""
    np.clear_kernel_history()
    results = work()
    results = results if isinstance(results, tuple) else (results,)
    np.eval(*results)
    reasons = [record["fallback"] for record in np.kernel_history() if record["fallback"]]
    assert reasons == []
    assert all(result.device == "cuda:0" for result in results)
    return [numpy.asarray(result.to_device("cpu")) for result in results]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_rows_of_every_length(dtype, length):
    a = numbers(dtype, (2, length))
    x = gpu(a)
    # NumPy's other sorts of float16 are wrong on some processors where there are NaN.
    (ordered,) = without_detours(lambda: np.sort(x))
    numpy.testing.assert_array_equal(ordered, numpy.sort(a, kind="stable"))
    assert ordered.dtype == a.dtype
    (positions,) = without_detours(lambda: np.argsort(x))
    numpy.testing.assert_array_equal(positions, numpy.argsort(a, kind="stable"))
    assert positions.dtype == "int64"


@pytest.mark.parametrize("dtype", ["int64", "uint32", "float64", "int16"])
def test_all_bits_of_keys(dtype):
    rng = numpy.random.default_rng(3)
    a = rng.integers(0, 256, 21_000 * numpy.dtype(dtype).itemsize, "uint8").view(dtype)
    (ordered,) = without_detours(lambda: np.sort(gpu(a)))
    numpy.testing.assert_array_equal(ordered, numpy.sort(a, kind="stable"))
    (positions,) = without_detours(lambda: np.argsort(gpu(a)))
    numpy.testing.assert_array_equal(positions, numpy.argsort(a, kind="stable"))


@pytest.mark.parametrize("value", [0, -7, 255])
def test_rows_of_one_value(value):
    for length in (40, 4000, 15_000):
        a = numpy.full(length, value, "int32")
        numpy.testing.assert_array_equal(without_detours(lambda a=a: np.sort(gpu(a)))[0], a)
        positions = without_detours(lambda a=a: np.argsort(gpu(a)))[0]
        numpy.testing.assert_array_equal(positions, numpy.arange(length))


@pytest.mark.parametrize("shape", [(7,), (3, 50), (40, 3, 20), (2, 0), (0, 2), (2, 5000), (1500, 2)])
def test_any_axis_of_any_layout(shape):
    a = numbers("float32", shape)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[..., ::-1], lambda a: a[1:]):
        own, x = view(a), view(gpu(a))
        for axis in range(own.ndim):
            ordered, expected = np.sort(x, axis), numpy.sort(own, axis, kind="stable")
            numpy.testing.assert_array_equal(numpy.asarray(ordered.to_device("cpu")), expected)
            positions = np.argsort(x, axis)
            expected = numpy.argsort(own, axis, kind="stable")
            numpy.testing.assert_array_equal(numpy.asarray(positions.to_device("cpu")), expected)
            assert positions.flags["C_CONTIGUOUS"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_searching_what_is_sorted(dtype):
    row, wanted = numpy.sort(numbers(dtype, 700), kind="stable"), numbers(dtype, (20, 30), seed=1)
    for side in ("left", "right"):
        (found,) = without_detours(lambda side=side: np.searchsorted(gpu(row), gpu(wanted), side))
        numpy.testing.assert_array_equal(found, numpy.searchsorted(row, wanted, side))
    assert np.searchsorted(gpu(row[:0]), gpu(wanted)).tolist() == numpy.zeros((20, 30), int).tolist()


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("size", [1, 31, 1000, 8192, 30_000])
def test_choosing(dtype, size):
    # By the program of three launches; test_gpu_choose.py has the rest.
    with np.config(without="choose_in_one"):
        choose_in_three(dtype, size)


def choose_in_three(dtype, size):
    a = numbers(dtype, size)
    rng = numpy.random.default_rng(size)
    for share in (0, 0.01, 0.5, 1):
        mask = rng.random(size) < share
        (chosen,) = without_detours(lambda mask=mask: gpu(a)[gpu(mask)])
        numpy.testing.assert_array_equal(chosen, a[mask])
        (positions,) = without_detours(lambda mask=mask: np.nonzero(gpu(mask))[0])
        numpy.testing.assert_array_equal(positions, numpy.nonzero(mask)[0])


def test_choosing_from_any_layout():
    a = numbers("float64", (30, 40, 20))
    mask = numpy.random.default_rng(1).random(a.shape) < 0.3
    x, m = gpu(a), gpu(mask)
    numpy.testing.assert_array_equal(numpy.asarray(x.T[m.T].to_device("cpu")), a.T[mask.T])
    numpy.testing.assert_array_equal(numpy.asarray(x[::2][m[::2]].to_device("cpu")), a[::2][mask[::2]])
    for mine, other in zip(np.nonzero(x[:, ::3] > 5), numpy.nonzero(a[:, ::3] > 5), strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(mine.to_device("cpu")), other)


@pytest.mark.parametrize("bins", [1, 10, 3000, 50_000])
def test_counting(bins):
    rng = numpy.random.default_rng(bins)
    a, weights = rng.integers(0, bins, 20_000), rng.random(20_000)
    numpy.testing.assert_array_equal(without_detours(lambda: np.bincount(gpu(a)))[0], numpy.bincount(a))
    (sums,) = without_detours(lambda: np.bincount(gpu(a), gpu(weights), minlength=bins + 5))
    numpy.testing.assert_allclose(sums, numpy.bincount(a, weights, minlength=bins + 5), rtol=1e-13)
    (again,) = without_detours(lambda: np.bincount(gpu(a), gpu(weights), minlength=bins + 5))
    assert sums.tobytes() == again.tobytes()


def test_counting_nothing_and_what_cannot_be_counted():
    assert np.bincount(gpu(numpy.zeros(0, "int64")), minlength=3).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="negative"):
        np.bincount(gpu(numpy.array([1, -1, 3])))


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_what_is_different_and_sets(dtype):
    a, b = numbers(dtype, 3000), numbers(dtype, 200, seed=4)
    everything = {"return_index": True, "return_inverse": True, "return_counts": True}
    for mine, other in zip(without_detours(lambda: np.unique(gpu(a), **everything)),
                           numpy.unique(a, **everything), strict=True):  # fmt: skip
        numpy.testing.assert_array_equal(mine, other)
    a, b = a[~numpy.isnan(a)], b[~numpy.isnan(b)]
    for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d", "isin"):
        (mine,) = without_detours(lambda name=name: getattr(np, name)(gpu(a), gpu(b)))
        numpy.testing.assert_array_equal(mine, getattr(numpy, name)(a, b))


def test_what_rides_on_sorting():
    a, b = numbers("float32", (40, 300)), numbers("int8", (40, 300))
    a[numpy.isnan(a)] = 3
    a[numpy.isinf(a)] = 4
    x = gpu(a)
    for program in (
        lambda m, x: m.median(x, axis=1),
        lambda m, x: m.percentile(x, [5, 50, 95]),
        lambda m, x: m.quantile(x, 0.3, axis=0),
        lambda m, x: m.partition(x, 20, axis=0)[20],
        lambda m, x: m.histogram(x, 12)[0],
        lambda m, x: m.digitize(x, m.arange(-40, 40, 7.0) if m is numpy else gpu(numpy.arange(-40, 40, 7.0))),
    ):
        (mine,) = without_detours(lambda program=program: program(np, x))
        numpy.testing.assert_allclose(mine, program(numpy, a), rtol=1e-5, atol=2e-5)
    (mine,) = without_detours(lambda: np.lexsort((x, gpu(b))))
    numpy.testing.assert_array_equal(mine, numpy.lexsort((a, b)))


@pytest.mark.parametrize("most", [1, 3, 30, 2000])
@pytest.mark.parametrize("name", ["add", "subtract", "maximum", "multiply"])
def test_ufunc_at(name, most):
    rng = numpy.random.default_rng(most)
    positions = rng.integers(0, 40 if most > 1 else 4000, 40 * most)
    if most == 1:
        positions = rng.permutation(4000)[:1000]
    values = rng.integers(1, 4, positions.size).astype("int64")
    a = rng.integers(-50, 50, 4000)
    x = gpu(a.copy())
    without_detours(lambda: (getattr(np, name).at(x, gpu(positions), gpu(values)), x)[1])
    getattr(numpy, name).at(a, positions, values)
    numpy.testing.assert_array_equal(numpy.asarray(x.to_device("cpu")), a)


def test_ufunc_at_of_other_forms():
    rng = numpy.random.default_rng(1)
    positions = rng.integers(0, 30, 200)
    a = rng.random((30, 20)).astype("float32")
    x = gpu(a.copy())
    np.negative.at(x, gpu(positions))
    numpy.negative.at(a, positions)
    np.add.at(x.T, (gpu(positions % 20), gpu(positions)), 1.5)
    numpy.add.at(a.T, (positions % 20, positions), 1.5)
    np.divide.at(x, gpu(positions), 2)
    numpy.divide.at(a, positions, 2)
    numpy.testing.assert_allclose(numpy.asarray(x.to_device("cpu")), a, rtol=1e-5)


@pytest.mark.parametrize("starts", [[0, 4, 9, 9, 20], [3, 3, 50], [0], [99], [0, 1, 2, 3, 99]])
def test_reduceat(starts):
    a = numpy.random.default_rng(2).integers(-9, 9, (3, 100))
    for name in ("add", "maximum", "multiply"):
        (mine,) = without_detours(
            lambda name=name: getattr(np, name).reduceat(gpu(a), gpu(numpy.array(starts)), axis=1)
        )
        numpy.testing.assert_array_equal(mine, getattr(numpy, name).reduceat(a, starts, axis=1))
