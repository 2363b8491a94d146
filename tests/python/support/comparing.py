"""What tests share: the same call in NumPy and in weft, and whether the outcomes are the same."""

import numpy
import weft

DTYPES = [numpy.dtype(character) for character in "?bBhHiIlLefdFD"]


def values(dtype, count, seed=0, *, positive=False):
    """Varied values of a dtype: small, large, special."""
    dtype = numpy.dtype(dtype)
    generator = numpy.random.default_rng([seed, dtype.num])
    if dtype.kind == "b":
        return generator.integers(0, 2, count).astype(bool)
    if dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        low = 0 if positive else max(limits.min, -20)
        result = generator.integers(low, 20, count).astype(dtype)
        result[: min(count, 3)] = [limits.max, limits.min if not positive else 1, 0][: min(count, 3)]
        return result
    real = generator.normal(0, 3, count)
    if positive:
        real = abs(real)
    if dtype.kind == "c":
        return (real + 1j * generator.normal(0, 3, count)).astype(dtype)
    special = [0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan, 0.5]
    result = real.astype(dtype)
    size = min(len(special), count // 2)
    result[:size] = special[:size]
    return result


def to_weft(x):
    """A weft array of the same shape and dtype; strides as NumPy's where they are dense."""
    return weft.array(x)


def outcome(function, *arguments):
    """The result, or the exception."""
    with numpy.errstate(all="ignore"):
        try:
            return function(*arguments)
        except Exception as error:
            return error


def exception_kind(error):
    """The Python exception types that NumPy's and weft's exceptions have in common."""
    kinds = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, AttributeError, KeyError)
    return {kind for kind in kinds if isinstance(error, kind)}


def assert_same_kind(result, expected):
    """Shape, dtype and whether it is a scalar or an array."""
    assert isinstance(expected, numpy.generic) == isinstance(result, weft.generic), (
        type(result),
        type(expected),
    )
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype, (result.dtype, expected.dtype)


def assert_equal(result, expected, *, ulp=0):
    """The same shape, dtype, kind of object and values, to `ulp` units in the last place."""
    if isinstance(expected, tuple):
        assert isinstance(result, tuple) and len(result) == len(expected)
        for one, other in zip(result, expected):
            assert_equal(one, other, ulp=ulp)
        return
    if not isinstance(expected, (numpy.ndarray, numpy.generic)):
        assert type(result) is type(expected), (type(result), type(expected))
        assert result == expected
        return
    assert_same_kind(result, expected)
    assert_values(numpy.asarray(result), numpy.asarray(expected), ulp)


def assert_values(result, expected, ulp):
    if ulp == 0 or expected.dtype.kind in "biu":
        numpy.testing.assert_array_equal(result, expected)
        return
    if expected.dtype.kind == "c":
        # By norm: a part that nearly cancels may have no correct digit of its own.
        finite = numpy.isfinite(expected) & numpy.isfinite(result)
        part = expected.real.dtype
        with numpy.errstate(all="ignore"):
            bound = (
                ulp * numpy.finfo(part).eps * abs(expected.astype(complex))
                + numpy.finfo(part).smallest_subnormal
            )
            assert numpy.all(~finite | (abs(result.astype(complex) - expected.astype(complex)) <= bound))
        assert numpy.array_equal(numpy.isfinite(expected), numpy.isfinite(result))
        return
    same = (result == expected) | (numpy.isnan(result) & numpy.isnan(expected))
    with numpy.errstate(all="ignore"):
        distance = abs(result.astype("g") - expected.astype("g")) / numpy.spacing(abs(expected)).astype("g")
    near = same | (distance <= ulp)
    assert numpy.all(near), (result[~near][:5], expected[~near][:5], distance[~near][:5])


def launches(compute):
    """What `compute` gives, evaluated, and the kernels that it launched, when nothing else is pending."""
    weft.clear_kernel_history()
    result = compute()
    weft.eval(*(result if isinstance(result, tuple) else (result,)))
    return result, weft.kernel_history()


def computed_on(device, work):
    """What `work` gives, as NumPy's arrays: it is on the device, and nothing was computed elsewhere instead."""
    weft.clear_kernel_history()
    results = work()
    results = results if isinstance(results, tuple) else (results,)
    weft.eval(*results)
    assert [record["fallback"] for record in weft.kernel_history() if record["fallback"]] == []
    assert all(result.device == device for result in results)
    return [numpy.asarray(result.to_device("cpu")) for result in results]


def visible_strides(x):
    return [stride for stride, extent in zip(x.strides, x.shape) if extent > 1]


def assert_same_outcome(result, expected):
    """Values, dtype, kind; layout, too; or the same error in the same words."""
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
        assert str(result) == str(expected)
        return
    assert not isinstance(result, Exception), result
    if isinstance(expected, tuple):
        assert isinstance(result, tuple) and len(result) == len(expected)
        for mine, other in zip(result, expected):
            assert_equal(mine, other)
        return
    assert_equal(result, expected)
    if isinstance(expected, numpy.ndarray) and expected.size:
        assert visible_strides(result) == visible_strides(expected)
