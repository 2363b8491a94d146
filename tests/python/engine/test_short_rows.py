"""Rows of a few elements, which kernels reduce without a loop: the bits of the loop, of kernels of single operations,
and NumPy's values."""

import numpy
import pytest
import weft as np

LENGTHS = [2, 7, 16]
REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "mean", "var"]
DTYPES = ["bool", "int8", "float16", "float64", "complex128"]


def values(shape, dtype, seed=3):
    """Values of a few magnitudes, with both zeros; real ones with NaN and infinities."""
    rng = numpy.random.default_rng(seed)
    if numpy.dtype(dtype).kind not in "fc":
        return rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
    found = rng.choice([-0.0, 0.0, 1.5, -2.25, 3.0, 1e-3, 100.0], shape)
    if numpy.dtype(dtype).kind == "c":
        return (found + 1j * rng.choice([-1.0, 0.5], shape)).astype(dtype)
    found.ravel()[:: found.shape[-1] * 7 + 3] = numpy.nan
    found.ravel()[5 :: found.shape[-1] * 11 + 2] = numpy.inf
    return found.astype(dtype)


def bits(array):
    """The bytes of an array, all NaNs being one: which of two an operation gives is open."""
    array = numpy.array(array)
    if array.dtype.kind in "fc":
        parts = array.view(array.real.dtype) if array.dtype.kind == "c" else array
        parts[numpy.isnan(parts)] = numpy.nan
    return array.tobytes()


def ways(function):
    """The results of a function as it is usually computed, by loops, and by a kernel an operation."""
    results = [numpy.asarray(function())]
    with np.config(without="short_rows"):
        results.append(numpy.asarray(function()))
    with np.config(fuse=False):
        results.append(numpy.asarray(function()))
    return results


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
@numpy.errstate(all="ignore")
def test_rows_and_columns(name, dtype):
    if dtype == "complex128" and name in ("max", "min", "argmax", "argmin"):
        pytest.skip("complex numbers have no order in kernels")
    for length in LENGTHS:
        given = values((1500, length), dtype)
        x = np.asarray(given)
        for array, theirs, axis in ((x, given, 1), (np.asarray(given.T.copy()), given.T, 0)):
            usual, by_loops, alone = ways(lambda: getattr(array, name)(axis=axis))  # noqa: B023
            assert bits(usual) == bits(by_loops) == bits(alone), (length, axis)
            with numpy.errstate(all="ignore"):
                expected = getattr(theirs, name)(axis=axis)
            rough = 0.5 if dtype == "float16" else 1e-10
            numpy.testing.assert_allclose(usual, expected, rtol=rough, atol=rough)


@pytest.mark.parametrize("length", [1, *LENGTHS, 17])
def test_what_is_computed_and_written_along_rows(length):
    x, y = np.asarray(values((700, length), "float64")), np.asarray(values((9, length), "float64", 4))

    def distances():
        apart = x[:, None, :] - y
        return (apart * apart).sum(axis=2)

    def shares():
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def standardised():
        return (x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, keepdims=True) + 1)

    def several():
        return np.stack([x.sum(axis=1), (x * 2).max(axis=1), x.argmin(axis=1) * 1.0])

    def strided():
        return x[::2, ::-1].sum(axis=1) + x[::2].prod(axis=1)

    with np.errstate(all="ignore"):
        for function in (distances, shares, standardised, several, strided):
            usual, by_loops, alone = ways(function)
            assert bits(usual) == bits(by_loops) == bits(alone), function.__name__


def test_a_sum_of_negative_zeros_is_positive():
    x = np.full((5000, 3), -0.0)
    assert not np.signbit(x.sum(axis=1)).any()
    assert not np.signbit(np.full((3, 5000), -0.0).sum(axis=0)).any()
    assert np.signbit((x * 1.0).max(axis=1)).all()


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "mean"])
def test_few_rows_at_the_call(name):
    for dtype in ("bool", "int8", "float16", "float64"):
        for shape in ((9, 9, 2), (9, 9, 9), (40, 16), (3, 20, 5), (4, 17)):
            given = values(shape, dtype)
            x = np.asarray(given)
            for array in (x, x[..., ::-1], x[::2]):
                now = numpy.asarray(getattr(array, name)(axis=-1))
                with np.config(small=0, tier="block"):
                    assert bits(now) == bits(getattr(array, name)(axis=-1)), (dtype, shape)
