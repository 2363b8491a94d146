# ruff: noqa: B023
"""Reductions on every dtype, over every choice of axes, with keepdims, initial, where, dtype and out."""

import itertools
import warnings

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal, assert_same_kind, exception_kind, outcome, to_weft, values

pytestmark = [  # that NumPy warns as well is tested in test_array_methods.py
    pytest.mark.filterwarnings("ignore:Mean of empty slice"),
    pytest.mark.filterwarnings("ignore:Degrees of freedom"),
]

NAMES = [
    "sum",
    "prod",
    "min",
    "max",
    "any",
    "all",
    "argmin",
    "argmax",
    "mean",
    "var",
    "std",
    "ptp",
    "count_nonzero",
]
AXES = [None, 0, 1, -1, (0, 2), (1,), (), (2, 0, 1)]


def same(name, x, result, expected):
    dtype = x.dtype
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
        assert str(result) == str(expected)
        return
    if isinstance(result, Exception):
        raise result
    if (
        isinstance(expected, (numpy.ndarray, numpy.generic))
        and name in ("sum", "mean")
        and expected.dtype.kind in "fc"
    ):
        # The order of additions differs: an error is small beside the terms, not beside what they cancel to.
        assert_same_kind(result, expected)
        scale = float(numpy.max(abs(x[numpy.isfinite(x)]).astype(float), initial=0))
        eps = float(numpy.finfo(expected.dtype).eps)
        bound = scale * eps * (64 if name == "sum" else 4)
        numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=8 * eps, atol=bound)
        return
    exact = (
        name in ("min", "max", "any", "all", "argmin", "argmax", "ptp", "count_nonzero")
        or dtype.kind in "biu"
    )
    assert_equal(result, expected, ulp=0 if exact and name not in ("mean", "var", "std") else 64)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_axes_and_keepdims(name, dtype):
    x = values(dtype, 60).reshape(3, 4, 5)
    if dtype.kind == "f":
        x = numpy.where(numpy.isfinite(x), x, 2).astype(dtype)
    if dtype == numpy.float16:
        x = (x / 4).astype(dtype)
    for axis in AXES:
        for keepdims in (False, True):
            for layout in (x, x.transpose(2, 0, 1), x[:, ::-1, ::2], x[:0], x[:, :0]):

                def call(np, a):
                    return getattr(np, name)(a, axis=axis, keepdims=keepdims)

                if name == "count_nonzero" and layout.size == 0 and axis == ():
                    continue
                same(name, layout, outcome(call, weft, to_weft(layout)), quiet(call, numpy, layout))


def quiet(function, *arguments):
    """The outcome in NumPy, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(function, *arguments)


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std"])
def test_where_initial_dtype_out(name):
    x = numpy.arange(1.0, 25).reshape(4, 6)
    mask = x % 3 == 0
    cases = [
        {"where": mask, **({"initial": 1} if name in ("min", "max") else {})},
        {"where": mask, "axis": 0, **({"initial": -5} if name in ("min", "max") else {})},
        {"out": numpy.zeros(3)},
        {"axis": 1, "out": numpy.zeros(4, bool if name in ("any", "all") else float)},
    ]
    if name in ("sum", "prod", "min", "max"):
        cases += [{"initial": 30}, {"initial": 0.5, "axis": 0}]
    if name in ("sum", "prod", "mean"):
        cases += [{"dtype": "f4"}, {"dtype": "c16", "axis": 0}, {"dtype": "i8"}]
    if name in ("var", "std"):
        cases += [{"ddof": 1}, {"ddof": 1, "axis": 0, "keepdims": True}, {"correction": 1, "axis": 1}]
        cases += [
            {"ddof": 0.5, "where": mask, "axis": 0},
            {"ddof": numpy.arange(6), "where": mask, "axis": 0},
        ]
        cases += [{"ddof": numpy.array([1])}, {"ddof": numpy.arange(2)}, {"ddof": [1, 2]}, {"mean": 3.0}]
        cases += [
            {"mean": x.mean(0), "axis": 0, "where": mask, "keepdims": True},
            {"ddof": 1, "correction": 1},
        ]
    for options in cases:
        ours = {key: to_weft(v) if isinstance(v, numpy.ndarray) else v for key, v in options.items()}
        expected = quiet(lambda: getattr(numpy, name)(x, **options))
        result = outcome(lambda: getattr(weft, name)(to_weft(x), **ours))
        if "out" in ours and not isinstance(expected, Exception):
            assert result is ours["out"]
        same(name, x, result, expected)
        if hasattr(x, name):
            same(name, x, outcome(lambda: getattr(to_weft(x), name)(**ours)), expected)


@pytest.mark.parametrize("count", [1, 7, 64, 1000, 5000, 100_003])
@pytest.mark.parametrize("character", "efd")
def test_sums_are_accurate(character, count):
    x = numpy.random.default_rng(count).random(count).astype(character)
    exact = float(x.astype("g").sum())
    ours = float(to_weft(x).sum())
    # float16 adds up in float32 and is rounded once; others as pairwise sums do.
    bound = {"e": 1, "f": 20, "d": 20}[character] * float(numpy.spacing(numpy.dtype(character).type(exact)))
    assert abs(ours - exact) <= bound


@pytest.mark.parametrize("name", ["sum", "max", "argmin", "all"])
def test_large(name):
    x = numpy.random.default_rng(3).integers(-1000, 1000, (300, 257))
    for axis in (None, 0, 1):
        for view in (x, x.T, x[::-1, ::3]):
            expected = getattr(view, name)(axis=axis)
            assert_equal(getattr(to_weft(x) if view is x else to_weft(view), name)(axis=axis), expected)
    pending = weft.asarray(x) * 2 - 1
    assert_equal(getattr(pending, name)(axis=0), getattr(x * 2 - 1, name)(axis=0))


def test_nan_and_ties():
    for np in (numpy, weft):
        x = np.array([1.0, float("nan"), 3.0, float("nan")])
        assert int(np.argmax(x)) == 1 and int(np.argmin(x)) == 1
        assert np.isnan(x.max()) and np.isnan(x.min())
        assert int(np.argmax(np.array([1, 3, 3]))) == 1
        assert bool(np.any(x)) and bool(np.all(x))


def test_results_are_scalars_or_arrays_as_in_numpy():
    x = weft.arange(4.0)
    assert type(x.sum()) is weft.float64
    assert type(x.sum(keepdims=True)) is weft.ndarray
    assert type(x.argmax()) is weft.int64
    assert type(weft.count_nonzero(x)) is weft.int64
    assert x.sum(axis=()).shape == (4,)


@pytest.mark.parametrize("tier", ["block", "auto"])
@pytest.mark.parametrize("dtype", [numpy.dtype(c) for c in "?bHilefdFD"], ids=str)
def test_where_extremes_are_in_long_rows(dtype, tier):
    data = numpy.random.default_rng(11)
    for shape, axis in [((40_000,), 0), ((300, 3000), 1), ((3000, 30), 0), ((3, 100_000), 1)]:
        x = data.integers(0, 5, shape).astype(dtype)  # many that are equal: the first counts
        versions = [x, numpy.zeros(shape, dtype), numpy.ones(shape, dtype)]
        if dtype.kind == "i":
            versions.append(numpy.full(shape, numpy.iinfo(dtype).min, dtype))
        if dtype.kind in "fc":
            versions += [numpy.full(shape, -numpy.inf, dtype), numpy.full(shape, numpy.nan, dtype)]
            for rows, row_place in ((1, -1), (7, 1030)):
                with_nan = x.copy()
                with_nan.reshape(-1)[row_place :: x.size // rows] = numpy.nan
                versions.append(with_nan)
        pairs = [(to_weft(y), y) for y in versions]
        for mine, other in (pairs[0], pairs[-1]):
            pairs += [(mine[..., ::-1], other[..., ::-1]), (mine[..., 1::3], other[..., 1::3])]
        for mine, other in pairs:
            for name, where in itertools.product(("argmax", "argmin"), (axis, None)):
                with weft.config(small=0, tier=tier):
                    assert_equal(getattr(mine, name)(axis=where), getattr(other, name)(axis=where))


@pytest.mark.host
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_where_extremes_are_in_few_elements(dtype):
    """They are searched at the call, in vectors and blocks: every length, every place."""
    data = numpy.random.default_rng(12)
    marks = {"f": (5, -5, numpy.nan), "c": (5, -5j, numpy.nan), "i": (5, -5), "u": (5, 0), "b": (1, 0)}[
        dtype.kind
    ]
    weft.clear_kernel_history()
    for length in (*range(1, 70), 127, 128, 129, 255, 257, 2055, 2057, 4096, 8200, 524_288 // dtype.itemsize):
        if length < 40:
            places = range(length)
        else:
            places = {0, 1, length - 2, length - 1, *data.integers(0, length, 3).tolist()}
        least = 0 if dtype.kind in "bu" else -2
        x = data.integers(least, 2, 2 * length).astype(dtype) * numpy.array(-1 if least else 1, dtype)
        for place, mark, step in itertools.product(places, marks, (1, -1, 2)):
            for background in (x, numpy.full_like(x, 1 if mark == 0 else 0)):
                theirs = background.copy()
                theirs[::step][place] = mark
                ours = weft.asarray(theirs)[::step][:length]
                for name in ("argmax", "argmin"):
                    expected = getattr(theirs[::step][:length], name)()
                    assert int(getattr(ours, name)()) == int(expected), (length, place, mark, step, name)
    assert not weft.kernel_history()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_where_extremes_are_in_few_rows(dtype):
    x = numpy.random.default_rng(13).integers(0, 3, (4, 5, 6)).astype(dtype)
    if dtype.kind in "fc":
        x[1, 2, 3] = x[3, 1, 5] = numpy.nan
    for theirs, ours in ((x, weft.array(x)), (x[::-1, 1:, ::2], weft.array(x)[::-1, 1:, ::2])):
        for axis in (None, 0, 1, 2):
            for name in ("argmax", "argmin"):
                expected = getattr(theirs, name)(axis)
                assert_equal(getattr(ours, name)(axis), expected)
                assert_equal(
                    getattr(ours.transpose(2, 0, 1), name)(axis),
                    getattr(theirs.transpose(2, 0, 1), name)(axis),
                )


def bytes_read(compute):
    weft.clear_kernel_history()
    with weft.config(num_threads=2):
        result = bool(compute())
    return result, sum(kernel["bytes_read"] for kernel in weft.kernel_history())


@pytest.mark.host
def test_any_and_all_stop_when_it_is_decided():
    x = numpy.zeros(5_000_000, "f4")
    for place, most in ((0, 0.3), (4_999_999, 2)):
        for value in (1, numpy.nan):
            x[:] = 0
            x[place] = value
            result, read = bytes_read(lambda: weft.array(x).any())
            assert result and read < most * x.nbytes
            result, read = bytes_read(lambda: (weft.array(x) == 0).all())
            assert not result and read < most * x.nbytes
            assert bytes_read(lambda: weft.array(x)[::-1].any())[0]
    assert not weft.zeros(5_000_000).any() and weft.ones(5_000_000).all()
    rows = numpy.zeros((400, 9000), bool)
    rows[::3, 8999] = rows[5, 0] = True
    for axis in (0, 1):
        assert_equal(weft.array(rows).any(axis), rows.any(axis))
        assert_equal((~weft.array(rows)).all(axis), (~rows).all(axis))


def test_rows_of_every_length_have_the_bits_of_eager_work():
    lengths = [*range(1, 41), 63, 64, 65, 96, 100, 511, 512, 513, 543, 544, 1000]
    for dtype in "fdbF":
        for length in lengths:
            x = to_weft(values(dtype, 3 * length, positive=True).reshape(3, length)[:, ::-1])
            for name in ("sum", "prod", "max"):
                with weft.config(small=0):
                    compiled = getattr(x, name)(axis=1).tobytes()
                assert getattr(x, name)(axis=1).tobytes() == compiled, (dtype, length, name)


@pytest.mark.parametrize("dtype", "fb")
def test_columns_of_every_shape(dtype):
    """Columns are added up several rows at a time, or row by row, in tiles, by several threads: all the same."""
    shapes = [(3, 9, 5), (2, 20, 40), (2, 17, 70), (1, 70, 300), (2, 9, 1030), (1, 30, 2500), (1, 21, 9000)]
    for shape in shapes:
        x = values(dtype, int(numpy.prod(shape))).reshape(shape)
        if dtype == "f":
            x = numpy.nan_to_num(x, posinf=9, neginf=-9)
        for view in (x, x[..., 1:-1]):
            for name in ("sum", "max", "argmin", "std"):
                expected = getattr(view, name)(axis=1)
                bits = set()
                for threads in (1, 2, 5):
                    for fuse in (True, False):
                        with weft.config(num_threads=threads, fuse=fuse, small=0):
                            result = getattr(to_weft(x)[..., 1:-1] if view is not x else to_weft(x), name)(
                                axis=1
                            )
                            bits.add(result.tobytes())
                assert len(bits) == 1
                numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=1e-5, atol=1e-4)


def test_axes_outside_and_inside_of_the_kept_ones():
    generator = numpy.random.default_rng(5)
    for shape, axes in [
        ((20, 30, 40), (0, 2)),
        ((7, 20, 30, 40), (1, 3)),
        ((7, 20, 30, 40), (0, 2)),
        ((40, 1, 50, 33), (0, 3)),
        ((3, 4, 5, 6, 70), (0, 2, 4)),
    ]:
        x = generator.random(shape)
        for view in (x, x[::-1, ..., 1:], x.T):
            expected = view.sum(axes)
            bits = set()
            for threads in (1, 2, 5):
                for fuse in (True, False):
                    with weft.config(num_threads=threads, fuse=fuse, small=0):
                        result = to_weft(view).sum(axes)
                        bits.add(result.tobytes())
            assert len(bits) == 1
            numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=1e-13)


# ---- pairs of rows ----


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int64", "bool"])
@pytest.mark.parametrize("columns", [511, 512, 513, 4000])
def test_rows_that_are_read_side_by_side_have_the_same_bits(dtype, columns):
    """Two rows share a loop (docs/reference/kernel-ir.md, unroll_and_jam): any number of rows, with a step."""
    rng = numpy.random.default_rng(columns)
    for rows in (1, 2, 7, 40):
        table = (rng.random((rows, columns + 3)) * 100 - 50).astype(dtype)
        if table.dtype.kind == "f":
            table[0, 5], table[-1, 7] = numpy.nan, numpy.inf
        x = weft.asarray(table)
        for view in (numpy.s_[:, :columns], numpy.s_[::-1, 3:], numpy.s_[::3, :columns]):
            for name in ("sum", "max", "mean"):
                found = [getattr(x[view], name)(axis=1), getattr(x[view], name)()]
                weft.eval(*found)
                with weft.config(without="unroll_and_jam"):
                    alone = [getattr(x[view], name)(axis=1), getattr(x[view], name)()]
                    weft.eval(*alone)
                for one, other in zip(found, alone, strict=True):
                    assert one.dtype == other.dtype
                    numpy.testing.assert_array_equal(numpy.asarray(one), numpy.asarray(other))


def test_where_and_repeating_axes_keep_the_memory_order():
    ours, theirs = (
        m.broadcast_to(m.arange(16, dtype="u1").reshape(4, 4), (2, 4, 4)).sum(1, where=m.ones((4, 4), bool))
        for m in (weft, numpy)
    )
    assert ours.strides == theirs.strides


def test_an_axis_that_repeats_lies_where_all_axes_leave_it():
    ours, theirs = (m.broadcast_to(m.ones((2, 1, 3)), (2, 3, 3)).T.any(axis=2) for m in (weft, numpy))
    assert ours.strides == theirs.strides == (1, 3)


@pytest.mark.parametrize("shape", [(4, 3, 1), (40, 64), (200, 300), (5, 2000)])
def test_what_points_compute_of_a_reduction_is_read_again_by_rows_that_fold(shape):
    """The mean is a quotient of two reductions, and the deviations walk the same merged axes after it."""
    rng = numpy.random.default_rng(1)
    chosen = rng.random(shape) < 0.7
    column = rng.standard_normal(shape[0]).reshape((-1,) + (1,) * (len(shape) - 1))
    x = weft.broadcast_to(weft.array(column), shape)
    for shift in (0, 1):
        result = weft.std(x + shift if shift else x, ddof=0.5, where=weft.array(chosen))
        expected = numpy.std(numpy.broadcast_to(column, shape) + shift, ddof=0.5, where=chosen)
        assert_equal(result, expected, ulp=64)
