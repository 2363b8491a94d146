"""Sorting, searching in what is sorted, unique elements, sets: against NumPy, for every dtype."""

import itertools
import random

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal, computed_on, exception_kind, outcome

N = 200_000  # more than one thread sorts


# Rows of a warp, of a block of threads that sorts few and many elements, of several tiles.
LENGTHS = [0, 1, 2, 20, 32, 33, 128, 500, 3000, 20_000]


def numbers(dtype, shape, seed=0):
    """Many that are equal, NaN and zeros of both signs among them."""
    rng = numpy.random.default_rng([seed, numpy.dtype(dtype).num])
    a = rng.integers(-50, 50, shape).astype(dtype)
    flat, size = a.reshape(-1), a.size
    if a.dtype.kind in "fc" and size > 8:
        flat[rng.integers(0, size, size // 20)] = numpy.nan
        flat[rng.integers(0, size, size // 20)] = -numpy.inf
    if a.dtype.kind == "f":
        flat[::7] = -0.0
    if a.dtype.kind == "c":
        flat.imag = rng.integers(-3, 3, size)
        flat.imag[rng.integers(0, max(size, 1), size // 20)] = numpy.nan
    return a


def widened(a):
    """The same numbers in a dtype that NumPy sorts rightly: with NaNs its float16 sort is wrong on some processors."""
    return a.astype("f4") if a.dtype == "f2" else a


def sorted_by_numpy(a):
    """NumPy's usual sort of float16 is wrong on some processors where there are NaN."""
    return numpy.sort(a, kind="stable")


EVERYTHING = {"return_index": True, "return_inverse": True, "return_counts": True}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "device, length", [("cpu", N), *itertools.product(["cpu", "cuda"], LENGTHS)], indirect=["device"]
)
def test_rows_of_every_length(device, dtype, length):
    a = numbers(dtype, (2, length))
    x = weft.array(a)
    (ordered,) = computed_on(device, lambda: weft.sort(x))
    numpy.testing.assert_array_equal(ordered, sorted_by_numpy(a))
    assert ordered.dtype == a.dtype
    (positions,) = computed_on(device, lambda: weft.argsort(x))
    numpy.testing.assert_array_equal(positions, numpy.argsort(a, kind="stable"))
    assert positions.dtype == "int64"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("count", [0, 1, 2, 700])
def test_searching_what_is_sorted(device, dtype, count):
    row, wanted = sorted_by_numpy(numbers(dtype, count)), numbers(dtype, (20, 30), seed=1)
    for side in ("left", "right"):
        (found,) = computed_on(
            device, lambda side=side: weft.searchsorted(weft.array(row), weft.array(wanted), side)
        )
        numpy.testing.assert_array_equal(found, numpy.searchsorted(row, wanted, side))


FEW = ["int32", "float64", "complex64"]


@pytest.mark.parametrize(
    "device, count, dtype",
    [*itertools.product(["cpu"], [0, 1, 2, 100, N], DTYPES), *itertools.product(["cuda"], [3000], FEW)],
    ids=str,
    indirect=["device"],
)
def test_unique_elements(device, count, dtype):
    a = numbers(dtype, count)
    x = weft.array(a)
    for mine, other in zip(
        computed_on(device, lambda: weft.unique(x, **EVERYTHING)),
        numpy.unique(widened(a), **EVERYTHING),
        strict=True,
    ):
        numpy.testing.assert_array_equal(mine, other)
    numpy.testing.assert_array_equal(computed_on(device, lambda: weft.unique(x))[0], numpy.unique(widened(a)))


@pytest.mark.parametrize("dtype", FEW)
def test_sets(device, dtype):
    a, b = (each[~numpy.isnan(each)] for each in (numbers(dtype, 3000), numbers(dtype, 200, seed=4)))
    for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d", "isin"):
        (mine,) = computed_on(device, lambda name=name: getattr(weft, name)(weft.array(a), weft.array(b)))
        numpy.testing.assert_array_equal(mine, getattr(numpy, name)(a, b))


@pytest.mark.parametrize("dtype", ["int64", "uint32", "float64", "int16"])
def test_all_bits_of_keys(device, dtype):
    rng = numpy.random.default_rng(3)
    a = rng.integers(0, 256, 21_000 * numpy.dtype(dtype).itemsize, "uint8").view(dtype)
    (ordered,) = computed_on(device, lambda: weft.sort(weft.array(a)))
    numpy.testing.assert_array_equal(ordered, sorted_by_numpy(a))
    (positions,) = computed_on(device, lambda: weft.argsort(weft.array(a)))
    numpy.testing.assert_array_equal(positions, numpy.argsort(a, kind="stable"))


@pytest.mark.parametrize("value", [0, -7, 255])
def test_rows_of_one_value(device, value):
    for length in (40, 4000, 15_000):
        a = numpy.full(length, value, "int32")
        (ordered,) = computed_on(device, lambda a=a: weft.sort(weft.array(a)))
        numpy.testing.assert_array_equal(ordered, a)
        (positions,) = computed_on(device, lambda a=a: weft.argsort(weft.array(a)))
        numpy.testing.assert_array_equal(positions, numpy.arange(length))


def test_what_rides_on_sorting(device):
    a, b = numbers("float32", (40, 300)), numbers("int8", (40, 300))
    a[numpy.isnan(a)] = 3
    a[numpy.isinf(a)] = 4
    x, y = weft.array(a), weft.array(b)
    edges = weft.array(numpy.arange(-40, 40, 7.0))
    for program in (
        lambda m, x: m.median(x, axis=1),
        lambda m, x: m.percentile(x, [5, 50, 95]),
        lambda m, x: m.quantile(x, 0.3, axis=0),
        lambda m, x: m.partition(x, 20, axis=0)[20],
        lambda m, x: m.histogram(x, 12)[0],
        lambda m, x: m.digitize(x, m.arange(-40, 40, 7.0) if m is numpy else edges),
    ):
        (mine,) = computed_on(device, lambda program=program: program(weft, x))
        numpy.testing.assert_allclose(mine, program(numpy, a), rtol=1e-5, atol=2e-5)
    (mine,) = computed_on(device, lambda: weft.lexsort((x, y)))
    numpy.testing.assert_array_equal(mine, numpy.lexsort((a, b)))


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 16])
def test_any_number_of_threads(threads):
    for dtype in ("f8", "f4", "i2", "c16"):
        a = numbers(dtype, N + 17)
        with weft.config(num_threads=threads):
            numpy.testing.assert_array_equal(numpy.asarray(weft.sort(weft.array(a))), numpy.sort(a))
            assert_equal(weft.argsort(weft.array(a)), numpy.argsort(a, kind="stable"))


ROWS = {
    "random": lambda r, n: r.standard_normal(n) * 1000,
    "sorted": lambda r, n: numpy.sort(r.integers(-30000, 30000, n)),
    "reversed": lambda r, n: numpy.sort(r.integers(-30000, 30000, n))[::-1],
    "constant": lambda r, n: numpy.full(n, 3),
    "two, one rare": lambda r, n: numpy.where(numpy.arange(n) == n // 3, 7, 1),
    "few": lambda r, n: r.integers(0, 3, n) * 100,
    "one in two": lambda r, n: numpy.where(r.random(n) < 0.5, 5, r.integers(-30000, 30000, n)),
    "skewed": lambda r, n: r.random(n) ** 30 * 1e4,
    "of any size": lambda r, n: numpy.exp(r.uniform(-15, 10, n)) * r.choice([-1, 1], n),
    "periodic": lambda r, n: numpy.arange(n) % 1000 * 31,
    "ends": lambda r, n: r.integers(0, 2, n, dtype=bool),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "e", "i8", "u8", "i4", "u2", "i1", "c8"])
@pytest.mark.parametrize("pattern", ROWS)
def test_any_row_is_sorted_to_the_same_bits_by_any_number_of_threads(pattern, dtype):
    for n in (65_535, 65_536, 200_003):  # from the second on a row is split
        r = numpy.random.default_rng(n)
        with numpy.errstate(invalid="ignore"):
            a = ROWS[pattern](r, n).astype(dtype)
        if a.dtype.kind in "iu" and pattern == "ends":
            a = numpy.where(a, a.dtype.type(numpy.iinfo(dtype).max), a.dtype.type(numpy.iinfo(dtype).min))
        if a.dtype.kind == "f":
            a[r.integers(0, n, n // 5)] = numpy.nan
            a[r.integers(0, n, 100)] = numpy.inf
            a[r.integers(0, n, 100)] = -0.0
        order = numpy.argsort(widened(a), kind="stable")
        bits = set()
        for threads in (1, 2, 7):
            with weft.config(num_threads=threads):
                result = numpy.asarray(weft.sort(weft.array(a)))
                assert_equal(weft.argsort(weft.array(a)), order)
            numpy.testing.assert_array_equal(result, a[order])
            bits.add(result.tobytes())
        assert len(bits) == 1


@pytest.mark.parametrize("shape", [(3, 70_000), (70_000, 3), (17, 70_000)])
def test_long_rows_of_any_layout(shape):
    a = numpy.random.default_rng(3).integers(0, 2**40, shape).astype("f8")
    for own in (a, a.astype("f4"), a[:, ::-1]):
        x = weft.array(a)[:, ::-1] if own.base is a else weft.array(own)
        for axis in (0, 1):
            assert_equal(weft.sort(x, axis), numpy.sort(own, axis))
            assert_equal(weft.argsort(x, axis), numpy.argsort(own, axis, kind="stable"))


@pytest.mark.host
@pytest.mark.parametrize(
    "function, dtype, most", [("sort", "f8", 1.2), ("argsort", "f8", 2.0), ("argsort", "f4", 1.3)]
)
def test_long_rows_take_little_more_memory_than_their_result(function, dtype, most):
    x = weft.array(numpy.random.default_rng(1).random(1_000_000).astype(dtype))
    with weft.config(num_threads=2):
        weft.empty_pool()
        before = weft.memory_stats()
        y = getattr(weft, function)(x)
        after = weft.memory_stats()
    taken = sum(after[key] - before[key] for key in ("in_use", "pooled"))
    assert y.nbytes <= taken < most * y.nbytes


LAYOUTS = {
    "dense": lambda a: a,
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[..., ::-1],
    "a part": lambda a: a[1:],
}
SHAPES = [(7,), (3, 50), (40, 3, 20), (2, 0), (0, 2), (2, 5000), (1500, 2)]
SLOW = [(1, 90_000), (90_000, 2)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "device, shape",
    [*itertools.product(["cpu"], SHAPES + SLOW), *itertools.product(["cuda"], SHAPES)],
    ids=str,
    indirect=["device"],
)
def test_along_each_axis_of_any_layout(device, shape, layout):
    a = numbers("float32", shape)
    own, x = LAYOUTS[layout](a), LAYOUTS[layout](weft.array(a))
    for axis in [*range(-own.ndim, own.ndim), None]:
        (ordered,) = computed_on(device, lambda axis=axis: weft.sort(x, axis))
        numpy.testing.assert_array_equal(ordered, numpy.sort(own, axis, kind="stable"))
        positions = weft.argsort(x, axis)
        numpy.testing.assert_array_equal(
            numpy.asarray(positions.to_device("cpu")), numpy.argsort(own, axis, kind="stable")
        )
        assert positions.flags["C_CONTIGUOUS"] or device == "cpu"


PROGRAMS = """
np.sort(v); np.sort(m, 0); np.sort(m, 2); np.sort(5); np.sort(v, kind='x'); np.sort(v, stable=True); np.argsort(5)
np.sort(v, kind='stable'); np.sort(v, order='a'); np.argsort(m, axis=None); np.lexsort((v, v % 2))
np.lexsort((v % 2, v % 3)); np.lexsort(m); np.lexsort(()); np.lexsort((v, v[:2])); np.sort_complex(v)
np.sort_complex([1j, 0]); sorted_in_place(np, m); np.searchsorted(s, 3); np.searchsorted(s, [2.5, 0])
np.searchsorted(s, s, 'right'); np.searchsorted(s, 3, 'x'); np.searchsorted(m, 1)
np.searchsorted(v, [1, 5], sorter=np.argsort(v)); np.searchsorted(s, [[1, 9], [4, 2]]); np.searchsorted([], [1])
s.searchsorted(4); np.searchsorted(v, 1, sorter=[0]); np.searchsorted(v, 1, sorter=[0.5] * 6)
np.digitize([0.5, 2.5, 9], [0, 1, 2]); np.digitize(2, s); np.digitize([0, 1, 2], [2, 1, 0])
np.digitize([0, 1, 2], [2, 1, 0], right=True); np.digitize([1], [1, 3, 2]); np.digitize([1j], [1]); np.unique(v)
np.unique(m); np.unique([]); np.unique([np.nan, 1, np.nan]); np.unique([np.nan, np.nan], equal_nan=False)
np.unique(d, axis=0); np.unique(d, axis=1); np.unique(d, True, True, True, axis=0); np.unique(m, return_inverse=True)
np.unique(d, axis=5); np.unique([3, 1, 3], return_counts=True); np.unique_all([3, 1, 3]); np.unique_counts([3, 1, 3])
np.unique_inverse([3, 1, 3]); np.unique_values([3, 1, 3]); np.intersect1d([1, 3, 4, 3], [3, 1, 2])
np.intersect1d(v, s, return_indices=True); np.union1d(m, [7, -1]); np.intersect1d([1, 2], [2, 3], assume_unique=True)
np.setxor1d([1, 2, 3], [3, 4]); np.setdiff1d(v, [1, 2]); np.setdiff1d([5, 4, 5], [4])
np.setdiff1d([5, 4, 5], [4], assume_unique=True); np.isin(m, [1, 5]); np.isin(m, [], invert=True); np.isin(3, [3])
np.isin(v, v, kind='x'); np.isin([1, 2.5], [2.5]); np.isin(m, [1, 5], invert=True); np.setxor1d([], [])
np.union1d([], []); np.intersect1d([], [1])
""".replace("\n", ";").split(";")


def sorted_in_place(np, m):
    m.sort(0)
    return m


def run(np, program):
    names = {
        "np": np,
        "v": np.array([5, 1, 4, 1, 0, 9]),
        "m": np.array([[3, 1, 2], [0, 5, 4]]),
        "s": np.array([1, 2, 2, 4, 7]),
    }
    names |= {"d": np.array([[1, 2, 1], [0, 2, 0], [1, 2, 1]]), "sorted_in_place": sorted_in_place}
    return outcome(eval, program, names)


@pytest.mark.parametrize("program", [p.strip() for p in PROGRAMS if p.strip()])
def test_rules(program):
    expected, result = run(numpy, program), run(weft, program)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    elif isinstance(expected, tuple):
        for mine, other in zip(result, expected, strict=True):
            assert_equal(mine, other)
    else:
        assert not isinstance(result, Exception), result
        assert_equal(result, expected)


def test_partitions():
    chooser = random.Random(0)
    for _ in range(50):
        a = numpy.array(chooser.choices(range(20), k=chooser.randint(1, 30)))
        kth = chooser.randrange(len(a))
        for result in (
            weft.partition(weft.array(a), kth),
            weft.array(a)[weft.argpartition(weft.array(a), kth)],
        ):
            result = numpy.asarray(result)
            assert result[kth] == numpy.sort(a)[kth]
            assert (result[:kth] <= result[kth]).all() and (result[kth:] >= result[kth]).all()
    with pytest.raises(ValueError, match="out of bounds"):
        weft.partition(weft.arange(3), 3)
    x = weft.array([3, 1, 2])
    x.partition(1)
    assert x.tolist() == [1, 2, 3]


def test_what_is_sorted_is_not_changed_and_pending_work_is_done_first():
    x = weft.array(numpy.random.default_rng(0).random(1000))
    y = weft.sort(x * 2 + 1)
    assert_equal(y, numpy.sort(numpy.asarray(x) * 2 + 1))
    x[0] = 5
    assert float(x[0]) == 5


def test_memory_of_others_is_sorted_in_place():
    a = numpy.array([3.0, 1.0, 2.0])
    weft.from_dlpack(a).sort()
    assert a.tolist() == [1, 2, 3]


@pytest.mark.parametrize("axis", [0, -1])
def test_nans_are_equal_along_the_axis_of_one_dimension(axis):
    a = [1.0, numpy.nan, 3.0, numpy.nan]
    assert_equal(weft.unique(weft.array(a), axis=axis), numpy.unique(numpy.array(a), axis=axis))


PATTERNS = {
    "random": lambda r, n: r.random(n) * 6e4,
    "few values": lambda r, n: r.integers(0, 3, n),
    "equal": lambda r, n: numpy.ones(n),
    "falling": lambda r, n: numpy.arange(n)[::-1] / 4,
    "periodic": lambda r, n: numpy.arange(n) % 1024,
    "one apart": lambda r, n: numpy.where(numpy.arange(n) == n // 3, 7, 1),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "e", "i8", "i4", "u2", "i1", "c16"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "length", [2048, 2049, 40_000, 200_001]
)  # sorted; divided by one thread, and by several
def test_partition_has_what_the_sorted_row_has(length, pattern, dtype):
    r = numpy.random.default_rng(length)
    x = PATTERNS[pattern](r, length).astype(dtype)
    if x.dtype.kind == "f":
        x[r.integers(0, length, length // 50)] = numpy.nan
        x[:4] = numpy.inf, -numpy.inf, 0.0, -0.0
    ordered = numpy.sort(widened(x))
    for kth in (length // 2, [0, -1], [3, length // 3, length // 3 + 1, -5]):
        places = sorted({k % length for k in numpy.atleast_1d(kth).tolist()})
        for got in (
            weft.partition(weft.array(x), kth),
            x[numpy.asarray(weft.argpartition(weft.array(x), kth))],
        ):
            got, bounds = widened(numpy.asarray(got)), [0, *places, length]
            assert numpy.array_equal(got[places], ordered[places], equal_nan=True)
            for begin, end in itertools.pairwise(bounds):  # between two is what belongs there, in any order
                assert numpy.array_equal(numpy.sort(got[begin:end]), ordered[begin:end], equal_nan=True)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_what_is_selected_from_repeated_axes_has_the_strides_of_numpys(axis):
    """A copy has such axes innermost; random programs found medians in another order."""

    def program(np):
        a = np.broadcast_to(np.asarray(numpy.arange(6, dtype="f4").reshape(3, 1, 2)), (3, 3, 2))
        return [np.partition(a, 1, axis).strides, np.sort(a, axis).strides, np.median(a, axis).strides]

    assert program(weft) == program(numpy)


NUMPY_25 = tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 5)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "c16", "c8", "i8", "u1", "?"])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_descending(dtype, axis):
    """As NumPy 2.5 has it: NaN is last in both orders, and equal elements keep their order."""
    a = numpy.random.default_rng(3).integers(0, 9, (40, 30)).astype(dtype)
    if a.dtype.kind in "fc":
        a[a == 3] = numpy.nan
    if a.dtype.kind == "c":
        a += 1j * numpy.random.default_rng(4).integers(0, 3, a.shape)
    x = weft.asarray(a)
    if NUMPY_25:
        sorted_, places = (f(a, axis, stable=True, descending=True) for f in (numpy.sort, numpy.argsort))
    elif a.dtype.kind in "fc":
        sorted_, places = -numpy.sort(-a, axis), numpy.argsort(-a, axis, stable=True)
    else:
        wide = -a.astype("i8")
        sorted_, places = (-numpy.sort(wide, axis)).astype(dtype), numpy.argsort(wide, axis, stable=True)
    assert_equal(weft.sort(x, axis, descending=True), sorted_)
    assert numpy.array_equal(numpy.asarray(weft.argsort(x, axis, descending=True)), places)
    if axis is not None:
        assert numpy.array_equal(numpy.asarray(x.argsort(axis, descending=True)), places)
        x.sort(axis, descending=True)
        assert_equal(x, sorted_)


def test_descending_has_a_kind_of_its_own():
    with pytest.raises(ValueError, match="can't be provided at the same time"):
        weft.sort(weft.arange(3), kind="stable", descending=True)
