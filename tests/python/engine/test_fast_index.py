# ruff: noqa: B023
"""x[i], x[mask] and assignments to them, where all is host-resident: done at the call, against NumPy."""

import itertools

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal, assert_same_outcome, launches, outcome, values

INTEGERS = [numpy.dtype(c) for c in "bBhHiIlL"]
COUNTS = [1, 3, 63, 64, 65, 511, 512, 513, 1500, 4096]


def positions(extent, count, dtype="l", seed=0):
    low = -extent if numpy.dtype(dtype).kind == "i" else 0
    high = min(extent, numpy.iinfo(dtype).max)
    return (
        numpy.random.default_rng(seed).integers(max(low, numpy.iinfo(dtype).min), high, count).astype(dtype)
    )


def both(exported, *arrays):
    """weft's arrays with these elements, over memory that is exported or not."""
    ours = [weft.asarray(a.copy()) if exported else weft.array(a) for a in arrays]
    held = [numpy.asarray(a) for a in ours] if exported else []
    return ours, held


def kernels_of_writing(x, key, value):
    def write():
        x[key] = value
        return x

    return launches(write)[1]


@pytest.mark.parametrize("exported", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reading_every_dtype_by_every_integer(dtype, exported):
    for index_dtype, count in itertools.product(INTEGERS, COUNTS):
        extent = 100 if index_dtype.itemsize == 1 else 700
        a, i = values(dtype, extent), positions(extent, count, index_dtype)
        (x, index), _held = both(exported, a, i)
        for theirs, ours in ((a, x), (a[::-2], x[::-2])):
            t, o = i // 2, index // 2
            result, kernels = launches(lambda ours=ours, o=o: ours[o])
            assert_equal(result, theirs[t])
            assert not kernels


@pytest.mark.parametrize("exported", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reading_by_masks(dtype, exported):
    for count in COUNTS:
        a, m = values(dtype, 2 * count), numpy.random.default_rng(count).random(2 * count) < 0.3
        (x, mask), _held = both(exported, a, m)
        for cut in (slice(None), slice(None, None, 2), slice(None, None, -1), slice(count)):
            mine = weft.array(m[cut]) if cut.step else mask[cut]
            result, kernels = launches(lambda cut=cut, mine=mine: x[cut][mine])
            assert_equal(result, a[cut][m[cut]])
            assert not kernels or count == 4096
    (x,), _held = both(exported, values(dtype, 24).reshape(4, 6))
    for mask in (x == x, x != x, weft.array(numpy.eye(4, 6) > 0)):
        assert_equal(x[mask], numpy.asarray(x)[numpy.asarray(mask)])


def test_masks_that_select_nothing():
    none = numpy.zeros((2, 0))
    for few in (numpy.array([], bool), none[0] != 0, (none != 0)[1], numpy.array([], "f4")[::-1], 3, True):
        a, m = numpy.arange(24.0).astype("f2"), numpy.zeros(24, bool)
        x = weft.array(a)
        x[weft.array(m)] = weft.array(none)[1] != 0 if numpy.ndim(few) else few
        a[m] = few
        assert_equal(x, a)
        assert_equal(x[weft.array(m)], a[m])


def test_bytes_of_bools_other_than_one_select():
    a = numpy.arange(9.0)
    m = numpy.array([0, 1, 2, 255, 0, 7, 0, 0, 1], "u1")
    x, mask = weft.array(a), weft.array(m).view(bool)
    assert_equal(x[mask], a[m != 0])
    x[mask] = -1
    a[m != 0] = -1
    assert_equal(x, a)


@pytest.mark.parametrize("exported", [False, True])
def test_rows_and_indices_of_several_dimensions(exported):
    a, i = numpy.random.default_rng(1).random((30, 4, 5)), positions(30, 24)
    (x, index), _held = both(exported, a, i)
    for theirs, ours in (
        (a, x),
        (a[::2], x[::2]),
        (a[:, 1], x[:, 1]),
        (a[:, ::2], x[:, ::2]),
        (a.T[0].T, x.T[0].T),
    ):
        for shape in ((24,), (4, 6), (2, 3, 4), (24, 1), (1, 24)):
            t, o = i.reshape(shape) % len(theirs), index.reshape(shape) % len(theirs)
            assert_equal(ours[o], theirs[t])
            assert_equal(ours[o.T], theirs[t.T])
            assert_equal(weft.take(ours, o, axis=0), numpy.take(theirs, t, axis=0))
            assert_equal(weft.take(ours, o), numpy.take(theirs, t))
    assert_equal(x[index[:0]], a[i[:0]])
    assert_equal(x[:, :0][index], a[:, :0][i])


@pytest.mark.parametrize("exported", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_writing_every_dtype(dtype, exported):
    for index_dtype, count in itertools.product(INTEGERS, (1, 3, 65, 513, 4096)):
        extent = 100 if index_dtype.itemsize == 1 else 700
        a, i = (
            values(dtype, 2 * extent),
            positions(extent, count, index_dtype),
        )  # many repeat: the last one stays
        v = values(dtype, 2 * count, seed=1)
        (x, index, value), held = both(exported, a, i, v)
        for step in (1, 2, -1):
            for theirs, ours in ((v[:count], value[:count]), (v[::2], value[::2]), (v[1], value[1]), (1, 1)):
                a[::step][i] = theirs
                assert not kernels_of_writing(x[::step], index, ours)
                assert_equal(x, a)
        if exported:
            assert_equal(weft.array(held[0]), a)


@pytest.mark.parametrize("exported", [False, True])
def test_values_of_other_dtypes_are_converted(exported):
    i, m = positions(50, 40), numpy.arange(50) % 3 == 0
    for own, other in itertools.product("?bHlefdF", repeat=2):
        if (own, other) == ("F", "F") or (numpy.dtype(other).kind == "c" and numpy.dtype(own).kind != "c"):
            continue
        a, v = numpy.zeros(50, own), (numpy.arange(40) % 7).astype(other)
        (x, index, mask, value), _held = both(exported, a, i, m, v)
        a[i], x[index] = v, value
        assert_equal(x, a)
        a[m], x[mask] = v[:17], value[:17]
        assert_equal(x, a)
        a[m], x[mask] = v[5], value[5]
        assert_equal(x, a)


@pytest.mark.parametrize("exported", [False, True])
def test_writing_by_masks(exported):
    for count in COUNTS:
        a, m = (
            numpy.random.default_rng(count).random(count),
            numpy.random.default_rng(count).random(count) < 0.4,
        )
        (x, mask), _held = both(exported, a, m)
        v = numpy.arange(float(m.sum()))
        for theirs, ours in (
            (2.5, 2.5),
            (v, weft.array(v)),
            (numpy.float64(7), weft.float64(7)),
            (v[::-1], weft.array(v)[::-1]),
        ):
            a[m] = theirs
            assert not kernels_of_writing(x, mask, ours)
            assert_equal(x, a)
        assert_same_outcome(
            outcome(lambda: x.__setitem__(mask, weft.ones(count + 1))),
            outcome(lambda: a.__setitem__(m, numpy.ones(count + 1))),
        )
        assert_same_outcome(
            outcome(lambda: x[weft.ones(count + 1, bool)]), outcome(lambda: a[numpy.ones(count + 1, bool)])
        )
        assert_equal(x, a)


@pytest.mark.parametrize("exported", [False, True])
@pytest.mark.parametrize("count", [3, 700, 10_000])
def test_positions_out_of_bounds_change_nothing(count, exported):
    a = numpy.arange(float(count))
    for wrong in (count, -count - 1, 2**62, -(2**62)):
        for place in (0, count // 2, count - 1):
            i = positions(count, count)
            i[place] = wrong
            (x, index), _held = both(exported, a, i)
            for do in (
                lambda u, j: u[j],
                lambda u, j: u.__setitem__(j, 5),
                lambda u, j: u.__setitem__(j, u[::-1]),
            ):
                expected, result = outcome(do, a, i), outcome(do, x, index)
                assert isinstance(result, IndexError) and str(result) == str(expected)
            assert_equal(x, a)


@pytest.mark.parametrize("exported", [False, True])
def test_what_is_written_may_be_read_from_the_target(exported):
    for count in (5, 800, 6000):
        a, i, m = numpy.arange(float(count)), positions(count, count), numpy.arange(count) % 2 == 0
        (x, index, mask), _held = both(exported, a, i, m)
        a[i], x[index] = a[::-1], x[::-1]
        assert_equal(x, a)
        a[m], x[mask] = a[: m.sum()][::-1].copy(), x[: int(m.sum())][::-1]
        assert_equal(x, a)
        (y,), _held = both(exported, i % count)
        i = i % count
        i[i], y[y] = i[::-1], y[::-1]
        assert_equal(y, i)


def test_memory_that_was_lent_twice():
    for count in (6, 900, 9000):
        memory, expected = numpy.arange(float(count)), numpy.arange(float(count))
        i = positions(count, count)
        weft.from_dlpack(memory)[weft.array(i)] = weft.from_dlpack(memory[::-1])
        expected[i] = expected[::-1].copy()
        assert_equal(weft.array(memory), expected)
        m = numpy.arange(count) % 2 == 0
        weft.from_dlpack(memory)[weft.array(m)] = weft.from_dlpack(memory[1 : m.sum() + 1])
        expected[m] = expected[1 : m.sum() + 1].copy()
        assert_equal(weft.array(memory), expected)


def test_pending_and_older_versions():
    a, i = numpy.arange(2000.0), positions(2000, 1500)
    x, index = weft.array(a), weft.array(i)
    later = weft.array(numpy.ones(10**5)) * 2  # pending
    before = x[index]
    x[index] = -1
    assert_equal(before, a[i])
    y = x
    view = x[::2]
    x[index] = 3
    a[i] = 3
    assert_equal(y, a)
    assert_equal(view, a[::2])
    large = weft.array(numpy.arange(10**5)) - 5
    reader = large * 2  # of a version that is still to be read
    weft.eval(large)
    large[index] = 0
    assert_equal(reader[:4], numpy.array([-10, -8, -6, -4]))
    assert_equal(later[index], numpy.full(1500, 2.0))


def test_read_only_arrays_are_not_written():
    x = weft.arange(9.0)
    x.flags.writeable = False
    for key in (weft.array([1, 2]), x > 3):
        with pytest.raises(ValueError, match="read-only"):
            x[key] = 1
    assert x.tolist() == list(range(9))


def test_what_was_checked_is_known_and_recorded():
    """More than few elements are gathered at the call once, which has to look at the positions."""
    count = 20_000
    a, i = numpy.random.default_rng(2).random(count), positions(count, count)
    x, index = weft.array(a), weft.array(i)
    result, kernels = launches(lambda: x[index])
    assert not kernels
    assert_equal(result, a[i])
    result, kernels = launches(lambda: x[index] * 2)
    assert len(kernels) == 1
    assert_equal(result, a[i] * 2)
    with pytest.raises(IndexError):
        weft.zeros(count // 2)[index]
    (x, index), _held = both(True, a, i)
    for _ in range(2):  # exported to others, who may change it
        result, kernels = launches(lambda: x[index])
        assert not kernels
        assert_equal(result, a[i])


def test_exported_memory_of_many_elements_is_written_at_the_call():
    count = 100_000
    a, i, v = numpy.zeros(count), positions(count, count), numpy.random.default_rng(3).random(count)
    (x, index, value), held = both(True, a, i, v)
    for theirs, ours in (
        (v, value),
        (2.0, 2.0),
        (v[::-1], value[::-1]),
        (v.astype("f4"), value.astype("f4")),
    ):
        a[i] = theirs
        assert len(kernels_of_writing(x, index, ours)) <= 1  # what is converted
        numpy.testing.assert_array_equal(held[0], a)
