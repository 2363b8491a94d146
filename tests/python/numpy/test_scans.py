# ruff: noqa: B023
"""Running results (cumsum, cumprod, accumulate) against NumPy: dtypes, axes, layouts, errors, equal bits."""

import math
import warnings

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal, assert_same_kind, exception_kind, outcome, to_weft, values

ASSOCIATIVE = ["maximum", "minimum", "logical_and", "logical_or", "logical_xor"]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor"]
IN_ORDER = ["subtract", "divide", "fmax", "fmin", "floor_divide", "copysign"]


def quiet(function, *arguments):
    """The outcome in NumPy, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(function, *arguments)


def assert_running_sum(result, expected, terms):
    """Equal but for roundings: each sum's error is small beside the sum of the magnitudes so far."""
    assert_same_kind(result, expected)
    result = numpy.asarray(result)
    if expected.dtype.kind not in "fc":
        numpy.testing.assert_array_equal(result, expected)
        return
    scale = float(numpy.max(numpy.abs(terms).astype(float), initial=0)) * terms.size
    bound = scale * float(numpy.finfo(expected.dtype).eps)
    numpy.testing.assert_allclose(result, expected, rtol=1e-3 if expected.dtype == "e" else 1e-6, atol=bound)


def layouts(x):
    return [
        x,
        x.transpose(2, 0, 1),
        x[:, ::-1, ::2],
        x[::-1, :, ::-1],
        x[:0],
        x[:, :0],
        numpy.asfortranarray(x),
    ]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_dtypes_axes_and_layouts(name, dtype):
    x = values(dtype, 60).reshape(3, 4, 5)
    if dtype.kind in "fc":
        x = numpy.where(numpy.isfinite(x), x, 2)
        x = (x / abs(x).max()).astype(dtype)
    for layout in layouts(x):
        for axis in (None, 0, 1, -1):
            expected = quiet(getattr(numpy, name), layout, axis)
            for result in (
                getattr(weft, name)(to_weft(layout), axis),
                getattr(to_weft(layout), name)(axis=axis),
            ):
                assert_running_sum(result, expected, layout)
                if expected.size:
                    assert result.strides == expected.strides


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [*ASSOCIATIVE, *BITS, *IN_ORDER, "add", "multiply", "power", "less"])
def test_accumulate(name, dtype):
    if name == "power" and dtype.kind in "fc":
        pytest.skip("a power of a power of a power magnifies the last rounding")
    x = values(dtype, 60).reshape(3, 4, 5)
    for layout in layouts(x):
        for axis in (0, 1, -1):

            def call(np, a):
                return getattr(np, name).accumulate(a, axis)

            expected, result = quiet(call, numpy, layout), outcome(call, weft, to_weft(layout))
            if isinstance(expected, Exception):
                assert exception_kind(result) == exception_kind(expected), (result, expected)
                continue
            if isinstance(result, Exception):
                raise result
            # Complex division rounds differently, and float16 adds up in float32.
            rounds = name == "divide" or dtype == "e"
            assert_equal(result, expected, ulp=64 if rounds else 2)


@pytest.mark.parametrize("shape", [(1,), (127,), (128,), (129,), (1500,), (16384,), (40_001,), (150_000,)])
@pytest.mark.parametrize("name", ["add", "maximum", "bitwise_xor", "multiply", "subtract"])
def test_long_rows_of_integers(name, shape):
    x = numpy.random.default_rng(5).integers(-(2**40), 2**40, shape)
    expected = getattr(numpy, name).accumulate(x)
    for small in (0, 1 << 20):
        with weft.config(small=small):
            assert_equal(getattr(weft, name).accumulate(weft.array(x)), expected)
            assert_equal(
                getattr(weft, name).accumulate(weft.array(x)[::-1]), getattr(numpy, name).accumulate(x[::-1])
            )


@pytest.mark.parametrize(
    "shape", [(300, 200), (200, 700), (3, 30_000), (2, 40, 300), (20_000, 40), (40_000, 3)]
)
def test_rows_and_columns(shape):
    x = numpy.random.default_rng(6).integers(-1000, 1000, shape)
    for view in (x, x.T, x[::-1, ::2], x[..., ::-1]):
        for axis in range(view.ndim):
            with weft.config(small=0):
                assert_equal(to_weft(view).cumsum(axis), view.cumsum(axis))
                assert_equal(
                    weft.maximum.accumulate(to_weft(view), axis), numpy.maximum.accumulate(view, axis)
                )
                assert_equal((to_weft(view) * 3 + 1).cumsum(axis), (view * 3 + 1).cumsum(axis))


@pytest.mark.parametrize("count", [100, 128, 1000, 20_000, 300_000])
@pytest.mark.parametrize("character", "efd")
def test_sums_are_at_least_as_accurate_as_one_after_another(count, character):
    x = numpy.random.default_rng(count).random(count).astype(character)
    if character == "e":
        x = (x / 16).astype("e")
    exact = numpy.cumsum(x.astype("g"))
    ours = numpy.asarray(weft.array(x).cumsum())
    theirs = numpy.cumsum(x)
    error = numpy.abs(ours.astype("g") - exact)
    assert error.max() <= max(numpy.abs(theirs.astype("g") - exact).max(), numpy.spacing(ours[-1]) * 2)
    assert (numpy.diff(ours) >= 0).all()  # sums of what is not negative never fall


def test_infinities_nans_and_zeros():
    for np in (numpy, weft):
        x = np.array([1.0, float("inf"), 2.0, -float("inf"), 3.0])
        sums = [float(v) for v in quiet(np.cumsum, x)]
        assert sums[:3] == [1, math.inf, math.inf] and math.isnan(sums[3]) and math.isnan(sums[4])
        assert math.copysign(1, float(np.cumsum(np.array([-0.0, -0.0]))[1])) == -1
        assert math.copysign(1, float(np.cumsum(np.full(200, -0.0))[199])) == -1
    x = numpy.full(70_000, 0.5)
    x[1000:] = 2.0  # the product of a block overflows, the running one does not
    x[2000:] = 1.0
    assert_equal(weft.cumprod(weft.array(x)), numpy.cumprod(x))


def test_dtype_and_out():
    x = numpy.arange(24.0).reshape(4, 6) + 0.75
    for dtype in ("f4", "i4", "c16", "i1"):
        for axis in (None, 0, 1):
            assert_equal(weft.cumsum(to_weft(x), axis, dtype), quiet(numpy.cumsum, x, axis, dtype))
            ours, theirs = weft.zeros((4, 6), dtype), numpy.zeros((4, 6), dtype)
            if axis is None:
                ours, theirs = ours.reshape(-1), theirs.reshape(-1)
            assert weft.cumsum(to_weft(x), axis, out=ours) is ours
            quiet(lambda: numpy.cumsum(x, axis, out=theirs))
            assert_equal(ours, theirs)
    ours, theirs = weft.zeros((4, 6), "i4"), numpy.zeros((4, 6), "i4")
    weft.add.accumulate(to_weft(x), 1, "f8", ours)
    numpy.add.accumulate(x, 1, "f8", theirs)
    assert_equal(ours, theirs)


@pytest.mark.parametrize("shape", [(40, 50), (300, 400)])
def test_out_that_overlaps_the_input(shape):
    for target, source in [
        (numpy.s_[...], numpy.s_[...]),
        (numpy.s_[1:], numpy.s_[:-1]),
        (numpy.s_[:, ::-1], numpy.s_[...]),
        (numpy.s_[:-1], numpy.s_[1:]),
    ]:
        for axis in (0, 1):
            theirs = numpy.arange(float(shape[0] * shape[1])).reshape(shape)
            ours = to_weft(theirs)
            numpy.cumsum(theirs[source].copy(), axis, out=theirs[target])
            weft.cumsum(ours[source], axis, out=ours[target])
            assert_equal(ours, theirs)


@pytest.mark.host
def test_exported_memory_and_later_writes():
    x = weft.array(numpy.arange(10_000.0))
    before = x.cumsum()
    x += 1
    exported = numpy.asarray(x)
    assert_equal(before, numpy.arange(10_000.0).cumsum())
    exported[:] = 2
    assert_equal(x.cumsum(), numpy.full(10_000, 2.0).cumsum())


ERRORS = [
    lambda np: np.cumsum(np.ones((2, 3)), 2),
    lambda np: np.cumsum(np.ones((2, 3)), -3),
    lambda np: np.cumsum(np.ones((2, 3)), (0,)),
    lambda np: np.cumsum(np.ones((2, 3)), 1.0),
    lambda np: np.cumsum(5, 1),
    lambda np: np.cumsum(np.ones(3), out=[1]),
    lambda np: np.cumsum(np.ones((2, 3)), out=np.ones(5)),
    lambda np: np.add.accumulate(5),
    lambda np: np.add.accumulate(np.ones((2, 3)), None),
    lambda np: np.add.accumulate(np.ones((2, 3)), (0, 1)),
    lambda np: np.add.accumulate(np.ones((2, 3)), 5),
    lambda np: np.add.accumulate(np.ones((2, 3)), 0, None, [1]),
    lambda np: np.sin.accumulate(np.ones(3)),
    lambda np: np.divmod.accumulate(np.ones(3)),
    lambda np: np.less.accumulate(np.ones(3)),
    lambda np: np.subtract.accumulate(np.ones(3, bool)),
    lambda np: np.bitwise_and.accumulate(np.ones(3)),
    lambda np: np.logical_and.accumulate(np.ones(3), dtype="f8"),
    lambda np: np.power.accumulate(np.array([2, -1])),
    lambda np: np.cumulative_sum(np.ones((2, 3))),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number):
    expected, result = outcome(ERRORS[number], numpy), outcome(ERRORS[number], weft)
    assert isinstance(expected, Exception)
    assert exception_kind(result) == exception_kind(expected), (result, expected)
    if "loop" not in str(expected):  # which words NumPy finds for a missing loop depends on what ran before
        assert str(result) == str(expected)


def test_shapes_of_out():
    for out in (weft.zeros((3, 2)), weft.zeros(6)):
        with pytest.raises(ValueError):
            weft.cumsum(weft.ones((2, 3)), 0, out=out)


def test_scalars_and_zero_dimensions():
    for np in (numpy, weft):
        assert np.cumsum(5).tolist() == [5]
        assert np.cumsum(5, 0).tolist() == np.cumsum(np.array(5), -1).tolist() == [5]
        assert np.array(5).cumsum().shape == (1,)
        assert np.float64(3).cumsum().tolist() == [3]
        assert np.add.accumulate(np.arange(3), None).tolist() == [0, 1, 3]


def test_array_api_functions():
    x = numpy.arange(1, 7, dtype="i2").reshape(2, 3)
    for name in ("cumulative_sum", "cumulative_prod"):
        ours, theirs = getattr(weft, name), getattr(numpy, name)
        assert_equal(ours(to_weft(x[0])), theirs(x[0]))
        assert_equal(ours(5), theirs(5))
        for axis in (0, 1, -1):
            for include in (False, True):
                for dtype in (None, "f4"):
                    result = ours(to_weft(x), axis=axis, dtype=dtype, include_initial=include)
                    assert_equal(result, theirs(x, axis=axis, dtype=dtype, include_initial=include))
        out = weft.zeros(4)
        assert ours(to_weft(x[0]), out=out, include_initial=True) is out
        assert_equal(out, theirs(x[0], out=numpy.zeros(4), include_initial=True))


# ---- kernels ----


def launches(compute):
    weft.clear_kernel_history()
    result = compute()
    weft.eval(result)
    return result, weft.kernel_history()


@pytest.mark.host
def test_what_feeds_a_scan_is_part_of_its_kernel():
    x = numpy.random.default_rng(7).random((300, 400))
    for axis in (0, 1):
        a = weft.array(x)
        result, kernels = launches(lambda: (a * a + 1).cumsum(axis))
        assert len(kernels) == 1
        assert kernels[0]["bytes_read"] == kernels[0]["bytes_written"] == a.nbytes
        numpy.testing.assert_allclose(numpy.asarray(result), (x * x + 1).cumsum(axis), rtol=1e-13)
    assert "a scan ends its kernel" in weft.explain(weft.array(x).cumsum(0) * 2)


def test_scans_and_reductions_of_one_array():
    x = numpy.random.default_rng(8).integers(0, 9, (200, 300))
    a = weft.array(x) * 2
    results = a.cumsum(1), a.sum(1), a - a.cumsum(1)[:, -1:], a.cumsum(1).sum(0), a.T.cumsum(0)
    weft.eval(*results)
    x = x * 2
    expected = x.cumsum(1), x.sum(1), x - x.cumsum(1)[:, -1:], x.cumsum(1).sum(0), x.T.cumsum(0)
    for ours, theirs in zip(results, expected):
        assert_equal(ours, theirs)


@pytest.mark.host
@pytest.mark.parametrize("character", "?bhefdFDil")
def test_results_past_the_caches(character):
    """Large results are streamed; rows begin and end within lines, results anywhere in memory."""
    x = numpy.random.default_rng(12).integers(0, 50, (7, 5003)).astype(character)
    for view in (x, x[:, :4096], x[:, 1:2050], x[:, ::-1], x[:1]):
        for name in ("add", "maximum"):
            ufunc = getattr(weft, name)
            with weft.config(small=0, stream=1 << 40):
                expected = ufunc.accumulate(weft.array(view), 1, "D" if character == "F" else None)
                weft.eval(expected)
            with weft.config(small=0, stream=0):
                lazy = ufunc.accumulate(weft.array(view), 1, "D" if character == "F" else None)
                long = lazy.shape[1] * lazy.itemsize >= 2048
                assert ("non-temporal stores" in weft.explain(lazy)) == long
                assert numpy.asarray(lazy).tobytes() == numpy.asarray(expected).tobytes()
                assert "non-temporal stores" not in weft.explain(ufunc.accumulate(weft.array(view), 0))


@pytest.mark.parametrize("character", "efdFDil")
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "subtract"])
def test_the_same_bits_every_way(name, character):
    data = numpy.random.default_rng(9)
    for shape, axis in [((150_000,), 0), ((3, 20_000), 1), ((20_000, 3), 0), ((300, 70), 0), ((70, 300), 1)]:
        x = data.standard_normal(shape)
        if character in "FD":
            x = x + 1j * data.standard_normal(shape)
        x = (x * 3 if character in "il" else x).astype(character)
        bits = set()
        for settings in [
            {"fuse": False, "small": 0, "num_threads": 1},
            {"fuse": True, "small": 0, "num_threads": 1},
            {"fuse": True, "small": 0, "num_threads": 2},
            {"fuse": True, "small": 0, "num_threads": 7},
            {"fuse": True, "small": 1 << 20},
        ]:
            with weft.config(**settings):
                a = weft.array(x)
                result = getattr(weft, name).accumulate(a * a.dtype.type(2), axis)
                bits.add(numpy.asarray(result).tobytes())
        assert len(bits) == 1, (shape, axis)
