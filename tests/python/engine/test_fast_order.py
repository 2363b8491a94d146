"""Sorting, searching and joining few host-resident elements take fast paths: done at the call, against NumPy."""

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal, exception_kind, launches, outcome, values

COUNTS = [1, 2, 7, 8, 9, 31, 127, 128, 129, 1000, 1024, 1025]


def numbers(dtype, count, seed=0):
    """Many that are equal, with NaN and zeros of both signs; float16 in the order that NumPy sorts rightly."""
    rng = numpy.random.default_rng([seed, count])
    a = rng.integers(-50, 50, count).astype(dtype)
    if a.dtype.kind in "fc" and count > 6:
        a[rng.integers(0, count, count // 5)] = numpy.nan
        a[::7] = -0.0
    return a


def places(a):
    return numpy.argsort(a, kind="stable")


def layouts(a):
    """Arrays with the elements of `a` that lie otherwise, each with NumPy's of the same strides."""
    wide = numpy.zeros(2 * a.size, a.dtype)
    wide[::2] = a
    yield weft.array(a), a
    yield weft.array(wide)[::2], wide[::2]
    yield weft.array(a)[::-1], a[::-1]
    yield weft.asarray(a.copy()), a  # NumPy's memory, which others may write
    if a.size % 4 == 0:
        yield weft.array(a).reshape(4, -1), a.reshape(4, -1)
        yield weft.array(a).reshape(-1, 2, 2), a.reshape(-1, 2, 2)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("count", COUNTS)
def test_sorting_in_each_layout(dtype, count):
    for x, a in layouts(numbers(dtype, count)):
        ordered = numpy.take_along_axis(a, places(a), -1)
        result, kernels = launches(lambda x=x: weft.sort(x))
        assert not kernels
        numpy.testing.assert_array_equal(numpy.asarray(result), ordered)
        assert (result.dtype, result.strides) == (a.dtype, ordered.strides)
        assert_equal(weft.argsort(x), places(a))
        assert_equal(x.argsort(-1), places(a))
        assert x.argsort().strides == places(a).strides
        numpy.testing.assert_array_equal(numpy.asarray(x), a)
        assert x.sort() is None
        numpy.testing.assert_array_equal(numpy.asarray(x), ordered)


def test_sorting_in_place_writes_where_the_array_lies():
    a = numpy.arange(24.0)[::-1].copy()
    x = weft.array(a)
    before = x + 0
    earlier = x[:] * weft.array(2.0)
    for key in (slice(3, 9), slice(None, None, -5), slice(20, 2, -3)):
        x[key].sort()
        a[key].sort()
        assert_equal(x, a)
    assert_equal(before, numpy.arange(24.0)[::-1])
    assert_equal(earlier, 2 * numpy.arange(24.0)[::-1])
    exported = numpy.asarray(x)
    x.sort()
    assert_equal(exported, numpy.arange(24.0))
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x.sort()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_searching_for_arrays_and_numbers(dtype):
    for length, count in ((0, 3), (1, 1), (5, 40), (40, 5), (1000, 300)):
        ordered = numbers(dtype, length, seed=1)
        ordered = ordered[places(ordered)]
        wanted = numbers(dtype, count, seed=2)
        for x, own in ((weft.array(ordered), ordered), (weft.array(ordered[::-1])[::-1], ordered)):
            for side in ("left", "right"):
                expected = numpy.searchsorted(own, wanted, side)
                assert_equal(weft.searchsorted(x, weft.array(wanted), side), expected)
                assert_equal(x.searchsorted(weft.array(wanted), side), expected)
            for number in (3, 3.0, -0.0, 0, 1.5, float("nan"), 10**6, 2**70, True):
                for arguments in ((number,), (number, "right")):
                    expected = outcome(numpy.searchsorted, own, *arguments)
                    result = outcome(weft.searchsorted, x, *arguments)
                    if isinstance(expected, Exception) or isinstance(result, Exception):
                        assert number == 2**70
                        continue
                    assert_equal(result, expected)
                    assert type(result).__name__ == type(expected).__name__
            for number in wanted[:2]:
                expected = numpy.searchsorted(own, number)
                assert_equal(weft.searchsorted(x, weft.array(number)[()]), expected)


CALLS = """
np.sort(a, 1); np.sort(a, -2); np.sort(m, 0); np.sort(m, 1); np.sort(m, 2); np.sort(m, None); np.sort(a, 1.5)
np.sort(a, kind='x'); np.sort(z); np.argsort(a, 1); np.argsort(m, 0); np.argsort(m, -3); np.argsort(z)
np.searchsorted(m, 1.0); np.searchsorted(a, 1.0, 'middle'); np.searchsorted(a, 1.0, 'l'); np.searchsorted(a, [1.0])
np.searchsorted(o, m); np.searchsorted(o, i); np.searchsorted(z, 1.0); np.mean(a); np.mean(i); np.mean(m, 0)
np.mean(e); np.mean(a, 3); np.mean(f); np.count_nonzero(a > 1); np.count_nonzero(i); np.count_nonzero(m, 1)
np.bincount(i); np.bincount(-i); np.bincount(a); np.bincount(e); np.bincount(m); np.dot(a, a); np.dot(a, m)
np.dot(m, a); np.dot(a, 2.0); np.dot(i, a); np.dot(a, i[:2]); np.dot(e, e); a.dot(a); a.dot(a, 1); np.clip(a, 1, 2)
np.clip(i, 1, 2.5); np.clip(i, -5, 300); np.clip(b, -1, 300); np.clip(b, 0, 255); np.clip(a, None, 2)
np.clip(a, 1, None); np.clip(a > 1, 0, 1); np.clip(a, m, 2); np.clip(a, 2, 1); np.clip(f, 1, 2); np.clip(b, -1, 3)
np.clip(b, np.int64(1), 3); np.clip(i, True, 3); np.concatenate((a, a)); np.concatenate([a, i])
np.concatenate((m, m)); np.concatenate((m, m), 1); np.concatenate((m, m), 2); np.concatenate((m, a))
np.concatenate(()); np.concatenate((a, 1)); np.concatenate(a); np.concatenate((a[::-1], a)); np.concatenate((e, a))
np.concatenate((z, z)); np.concatenate((m.T, m.T)); np.concatenate((a[None], a[None]))
np.concatenate((a[:, None], a[:, None]), 1); np.vstack((a, a)); np.hstack((a, a)); np.hstack((m, m))
np.column_stack((a, a)); np.column_stack((a, m.T)); np.dstack((a, a)); np.hstack((1, 2)); np.vstack((1, 2))
np.column_stack((1, 2)); np.hstack(()); np.hstack(1); np.hstack((a, a), dtype='f4'); np.vstack((a, a), dtype='i8')
np.column_stack((e, e)); np.diff(a); np.diff(m); np.diff(m, axis=0); np.diff(m, 2, 0); np.diff(a, 9); np.diff(a > 1)
np.diff(a, prepend=0); np.diff(m, append=m); np.diff(a, prepend=a, append=1); np.diff(z); np.diff(e); np.repeat(a, 2)
np.repeat(m, 2); np.repeat(m, 2, 0); np.repeat(m, 0, 1); np.repeat(a, -1); np.repeat(e, 3); np.repeat(m, 2, 5)
np.repeat(a, True); np.repeat(z, 3); np.repeat(a, 2.0); np.tile(a, 2); np.tile(m, (2, 3)); np.tile(a, 0)
np.tile(z, 2); np.partition(a, 1); np.partition(a, -1); np.partition(a, 9); np.partition(m, 1, 0); np.partition(e, 0)
np.partition(a, True); np.partition(a, [True]); np.partition(a, 1.0); a[[2, 0]]; a[[2, -1, 0]]; a[[3]]; a[[]]
a[[True, False, True]]; a[[0, True]]; a[[1.0]]; m[[1, 0]]; m[[1], 0]; m[[2]]; m.T[[2, 1]]; z[[0]]; a[[[1, 0], [0, 1]]]
np.sum(a); np.sum(m, 0); np.sum(m, -1); np.sum(a, 1); np.max(a); np.max(e); np.min(m, 1); np.any(a); np.all(m, 0)
np.prod(i); np.argmax(m); np.argmin(m, 1); np.argmax(e); np.max(m, (0, 1)); np.sum(1.5); np.mean(2); a.mean()
a.mean(0); m.mean(1); a.mean(1); a.clip(1, 2); a.clip(1); a.clip(); a.clip(min=1); a.sort(3); a.argsort(3)
a.searchsorted(1.0, 'x'); a.searchsorted(); a.dot(); a.sort(1, 2, 3, 4)
""".replace("\n", ";").split(";")


def run(np, call):
    names = {"np": np, "a": np.array([3.0, 1.0, 2.0]), "i": np.array([3, 1, 2]), "z": np.array(2.5)}
    names |= {"m": np.array([[3.0, 1.0, 2.0], [0.5, 5.0, 4.0]]), "e": np.zeros(0, "int64")}
    names |= {
        "o": np.array([1.0, 2.0, 3.0]),
        "f": np.array([3, 1, 2], "f4"),
        "b": np.array([3, 1, 200], "u1"),
    }
    return outcome(eval, call, names)


@pytest.mark.parametrize("call", [c.strip() for c in CALLS if c.strip()])
@pytest.mark.filterwarnings("ignore")
def test_rules(call):
    expected, result = run(numpy, call), run(weft, call)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    else:
        assert not isinstance(result, Exception), result
        assert_equal(result, expected)
        if isinstance(expected, numpy.ndarray):
            assert result.strides == expected.strides


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gathering_stops_at_what_is_out_of_bounds(dtype):
    a = values(dtype, 20)
    x = weft.array(a)
    for wrong in (20, -21, 2**62, -(2**63)):
        index = numpy.array([0, 19, -20, wrong, 3])
        assert isinstance(outcome(lambda i=index: x[weft.array(i)]), IndexError)
        assert str(outcome(lambda i=index: x[weft.array(i)])) == str(outcome(lambda i=index: a[i]))
    index = numpy.arange(40)[::2] - 20
    assert_equal(x[weft.array(numpy.arange(40))[::2] - 20], a[index])
    assert_equal(x[weft.arange(40)[::-3] // 2], a[numpy.arange(40)[::-3] // 2])


def bits(x):
    return numpy.asarray(x).view("u8").tolist()


@pytest.mark.parametrize("count", [2, 3, 10, 500])
@pytest.mark.filterwarnings("ignore")
def test_lines_between_points(count):
    rng = numpy.random.default_rng(count)
    special = [numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0]
    for round in range(30):
        xp, fp = numpy.sort(rng.integers(-9, 9, count) * 0.5), rng.random(count) - 0.5
        if round % 3 == 1:
            fp[rng.integers(0, count, 2)] = rng.choice(special, 2)
        if round % 5 == 2:
            xp[-1] = rng.choice([numpy.inf, 100.0])
        x = numpy.concatenate([rng.random(40) * 12 - 6, rng.choice(xp, 20), special])
        expected = numpy.interp(x, xp, fp)
        points = weft.array(xp), weft.array(fp)
        result, kernels = launches(lambda x=x, points=points: weft.interp(weft.array(x), *points))
        assert not kernels
        # the general way, which takes lists
        assert bits(result) == bits(weft.interp(x.tolist(), *points))
        numpy.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)
        for value, one in zip(x.tolist(), result, strict=True):
            assert bits(weft.interp(value, *points)) == bits(one)
            assert bits(weft.interp(weft.float64(value), *points)) == bits(one)
        for value in (0, 3, -(2**62) - 1):
            assert bits(weft.interp(value, *points)) == bits(weft.interp(float(value), *points))
        backwards = weft.array(xp[::-1])[::-1], weft.array(numpy.repeat(fp, 2))[::2]
        assert bits(weft.interp(weft.array(x[:64]).reshape(8, 8), *backwards)) == bits(
            result[:64].reshape(8, 8)
        )
