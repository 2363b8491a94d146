"""Counts, quantiles, covariances, what leaves NaN out, differences, interpolation, windows: run by NumPy and weft."""

import warnings

import numpy
import pytest
import weft
from comparing import computed_on, exception_kind, outcome

PROGRAMS = """
np.bincount([0, 1, 1, 3]); np.bincount(v); np.bincount([]); np.bincount([-1]); np.bincount([0.5])
np.bincount([1, 2], [0.5, 1.5]); np.bincount([1], minlength=5); np.bincount([1], minlength=-1); np.bincount(m)
np.bincount([1, 2], [1]); np.histogram(f); np.histogram(f, 5); np.histogram(f, [0, 0.5, 1])
np.histogram(f, 5, (0.2, 0.8)); np.histogram(v, 3); np.histogram(v, 3, density=True)
np.histogram(v, 3, weights=v*0.5); np.histogram([], 3); np.histogram([1, 1, 1], 4); np.histogram(v, 0)
np.histogram(v, [3, 2]); np.histogram([np.inf], 3); np.histogram(m, 2); np.histogram(f, [0, 0.5, 1], weights=v10)
np.histogram_bin_edges(v, 4); np.histogram([True, False, True], 2); np.histogram(f, 5, weights=f*1j); np.median(v)
np.median(m, 0); np.median(m, 1, keepdims=True); np.median(f); np.median(fn); np.median(fn, 0); np.median(c, (0, 2))
np.median(5); np.median(v, axis=None, keepdims=True); np.median(f.astype('f4')); np.median(m, 5); np.percentile(v, 30)
np.percentile(v, [0, 50, 100]); np.percentile(m, 50, 0); np.percentile(m, [25, 75], 1)
np.percentile(c, [25, 75], (0, 1), keepdims=True); np.percentile(v, 101); np.percentile(f, [[10, 20], [30, 40]])
np.percentile(f.astype('f4'), 33); np.percentile(fn, 50); np.percentile([], 50); np.quantile(v, 0.3)
np.quantile(f, [0.1, 0.9], method='lower'); np.quantile(f, [0.1, 0.9], method='higher')
np.quantile(f, [0.1, 0.9], method='nearest'); np.quantile(f, [0.1, 0.9], method='midpoint')
np.quantile(f, [0.1, 0.5, 0.9], method='inverted_cdf')
np.quantile(f, [0.1, 0.5, 0.95], method='averaged_inverted_cdf')
np.quantile(f, [0.1, 0.25, 0.9], method='closest_observation')
np.quantile(f, [0.1, 0.9], method='interpolated_inverted_cdf'); np.quantile(f, [0.1, 0.9], method='hazen')
np.quantile(f, [0.1, 0.9], method='weibull'); np.quantile(f, [0.1, 0.9], method='median_unbiased')
np.quantile(f, [0.1, 0.9], method='normal_unbiased'); np.quantile(f, 0.5, method='x')
np.quantile(v, 0.5, method='lower'); np.average(v); np.average(m, 0); np.average(m, 1, [1, 2, 3, 4])
np.average(m, weights=[1, 2]); np.average(v, weights=v); np.average(v, weights=v*0)
np.average(m, 0, [1, 3], returned=True); np.average(m, returned=True); np.average(m, 1, [1, 2, 3, 4], keepdims=True)
np.average(v, weights=[1, 2]); np.cov(m); np.cov(m, rowvar=False); np.cov(v); np.cov(v, v*2); np.cov(m, bias=True)
np.cov(m, ddof=0); np.cov(m, fweights=[1, 2, 1, 1]); np.cov(m, aweights=[1., 2, 1, 1]); np.cov(c); np.corrcoef(m)
np.corrcoef(v, v[::-1]); np.corrcoef(m*1j+f[:8].reshape(2, 4))
np.cov(m, fweights=[1, 2, 1, 1], aweights=[1., 2, 1, 3.]); np.corrcoef(v); np.nansum(fn); np.nansum(fn, 0)
np.nanprod(fn, 1); np.nanmax(fn); np.nanmin(fn, 0); np.nanargmax(fn, 0); np.nanargmin(fn); np.nanmean(fn)
np.nanmean(fn, 1); np.nanstd(fn); np.nanvar(fn, 0); np.nancumsum(fn); np.nancumprod(fn, 1); np.nansum(v)
np.nanmean(v); np.nanmax(v); np.nanvar(m, 1, ddof=1); np.nanargmax([[np.nan], [1.]], 1); np.nanmean([np.nan])
np.nanmax([np.nan]); np.nanstd(fn, 1, keepdims=True); np.nanmean(fn.astype('f4'), 0); np.nan_to_num(fn)
np.nan_to_num([np.inf, -np.inf, np.nan]); np.nan_to_num([np.inf, 1], posinf=3); np.nan_to_num(5); np.nan_to_num(v)
np.nan_to_num(complex(np.nan, np.inf)); np.nanvar(fn*1j); np.diff(v); np.diff(v, 2); np.diff(m, axis=0)
np.diff(v, prepend=0, append=[9, 9]); np.diff([True, False]); np.diff(5); np.diff(v, -1); np.diff(v, 0); np.diff(m, 9)
np.ediff1d(v); np.ediff1d(m, [99], [1, 2]); np.ediff1d(v, 0.5); np.gradient(v); np.gradient(f); np.gradient(m)
np.gradient(m, axis=1); np.gradient(v, 2.); np.gradient(f, np.cumsum(f)); np.gradient(m*1., 2., 3.)
np.gradient(f, edge_order=2); np.gradient(f, np.cumsum(f), edge_order=2); np.gradient([1]); np.gradient(v, 1, 2, 3)
np.gradient(m, [1, 2, 4, 9], axis=1); np.trapezoid(v); np.trapezoid(m); np.trapezoid(m, axis=0); np.trapezoid(v, v*v)
np.trapezoid(v, dx=0.5); np.trapezoid(m, [1, 2, 4, 8]); np.interp(2.5, [1, 2, 3], [3, 2, 0])
np.interp([0, 1, 1.5, 3.2], [1, 2, 3], [3, 2, 0]); np.interp([0, 9], [1, 2, 3], [3, 2, 0], left=-1, right=7)
np.interp([np.nan, 1], [1, 2], [1, 2]); np.interp([1j, 2], [1, 2], [1, 2]); np.interp(1.5, [1j, 2], [1, 2])
np.interp([-180, -170, -185, 185, -10, -5, 0, 365], [190, -190, 350, -350], [5, 10, 3, 4], period=360)
np.interp(1, [], []); np.interp(1, [1], [5]); np.interp([0, 2], [1], [5]); np.interp(1.5, [1, 2], [1j, 2])
np.interp(1, [1, 2], [1]); np.interp([[1, 2]], [1, 3], [0, 1]); np.convolve([1, 2, 3], [0, 1, 0.5])
np.convolve([1, 2, 3], [0, 1, 0.5], 'same'); np.convolve([1, 2, 3], [0, 1, 0.5], 'valid')
np.convolve([1], [2, 3, 4, 5], 'same'); np.convolve(v, [1, 1]); np.convolve([], [1]); np.convolve(v, v, 'x')
np.correlate([1, 2, 3], [0, 1, 0.5]); np.correlate([1, 2, 3], [0, 1, 0.5], 'same')
np.correlate([1, 2, 3], [0, 1, 0.5], 'full'); np.correlate([1, 1j], [0, 1, 0.5j], 'full')
np.correlate(v, [1, 2, 3, 4, 5, 6, 7, 8], 'same'); np.correlate([1, 2], [1, 2, 3, 4], 'valid')
np.cross([1, 2, 3], [4, 5, 6]); np.cross([[1, 2, 3]]*2, [4, 5, 6]); np.cross([1, 2], [3, 4])
np.cross(np.ones((3, 2)), np.arange(6).reshape(3, 2), axis=0); np.kron([1, 10], [5, 6]); np.kron(m, [[1, 2]])
np.kron(m, 2); np.kron(c, m); np.logspace(0, 2, 3); np.logspace(0, 3, 4, base=2); np.logspace(0, 2, 3, dtype=int)
np.unwrap([0, 4, 8, 12]); np.unwrap([[0, 7], [1, -7]]); np.unwrap([2, 3, 4, 5, 2, 3, 4, 5], period=4)
np.sinc([0, 0.5, 1]); np.sinc(0); np.lib.stride_tricks.sliding_window_view(v, 3)
np.lib.stride_tricks.sliding_window_view(m, (2, 2)); np.lib.stride_tricks.sliding_window_view(m, 2, 1)
np.lib.stride_tricks.sliding_window_view(v, 9); np.lib.stride_tricks.as_strided(v, (3, 2), (16, 8))
np.lib.stride_tricks.sliding_window_view(v, (1, 2))
""".replace("\n", ";").split(";")

REAL = numpy.random.default_rng(0).random(10)
WITH_NAN = numpy.random.default_rng(1).random((3, 4))
WITH_NAN[0, 1] = WITH_NAN[2, 0] = numpy.nan


def run(np, program):
    names = {
        "np": np,
        "v": np.array([3, 1, 4, 1, 5, 9]),
        "m": np.array(numpy.arange(8).reshape(2, 4) ** 2 % 7),
    }
    names |= {
        "c": np.array(numpy.sin(numpy.arange(24.0)).reshape(2, 3, 4)),
        "f": np.array(REAL),
        "fn": np.array(WITH_NAN),
    }
    names |= {"v10": np.array(numpy.arange(10))}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = outcome(eval, program, names)
    return result, {warning.category for warning in caught if "slice" in str(warning.message)}


def assert_close(result, expected):
    """Dtype, shape, kind; values to some roundings, since sums are added in other orders."""
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    elif isinstance(expected, (tuple, list)):
        assert len(result) == len(expected), result
        for mine, other in zip(result, expected):
            assert_close(mine, other)
    else:
        assert not isinstance(result, Exception), result
        if isinstance(expected, (numpy.ndarray, numpy.generic)):
            assert isinstance(expected, numpy.generic) == isinstance(result, weft.generic)
            assert result.dtype == expected.dtype
        rtol = 1e-5 if getattr(expected, "dtype", None) == "f4" else 1e-12
        numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=rtol, atol=1e-14, strict=True)


@pytest.mark.parametrize("program", [p.strip() for p in PROGRAMS if p.strip()])
def test_rules(program):
    (expected, theirs), (result, ours) = run(numpy, program), run(weft, program)
    assert_close(result, expected)
    assert ours == theirs


@pytest.mark.parametrize("count", [100, 300_000])
def test_counts_on_any_number_of_threads(count):
    rng = numpy.random.default_rng(count)
    places, weights = rng.integers(0, 50, count), rng.random(count)
    sums = []
    for threads in (1, 2, 7):
        with weft.config(num_threads=threads):
            assert (numpy.asarray(weft.bincount(weft.array(places))) == numpy.bincount(places)).all()
            mine = numpy.asarray(weft.bincount(weft.array(places), weft.array(weights)))
            numpy.testing.assert_allclose(mine, numpy.bincount(places, weights), rtol=1e-12)
            sums.append(mine.tobytes())
    assert len(set(sums)) == 1
    values = rng.random(count)
    for bins in (10, 137, numpy.sort(rng.random(9))):
        mine, edges = weft.histogram(
            weft.array(values), weft.array(bins) if not isinstance(bins, int) else bins
        )
        theirs, own_edges = numpy.histogram(values, bins)
        assert (numpy.asarray(mine) == theirs).all()
        numpy.testing.assert_array_equal(numpy.asarray(edges), own_edges)


def test_histograms_of_values_on_the_edges():
    values = numpy.linspace(0, 1, 1001)
    for bins in (3, 7, 10, 49, 100):
        assert (
            numpy.asarray(weft.histogram(weft.array(values), bins)[0]) == numpy.histogram(values, bins)[0]
        ).all()


def test_strides_never_leave_the_memory():
    x = weft.arange(10.0)
    as_strided = weft.lib.stride_tricks.as_strided
    assert as_strided(x[2:], (2, 3), (8, 8)).tolist() == [[2, 3, 4], [3, 4, 5]]
    assert as_strided(x[9:], (10,), (-8,)).tolist() == list(range(9, -1, -1))
    for shape, strides in (((11,), (8,)), ((2,), (-8,)), ((3, 3), (40, 8)), ((2,), (2**62,))):
        with pytest.raises(ValueError, match=r"would leave|would reach"):
            as_strided(x, shape, strides)
    # sums of extents and strides that wrap around to within the memory, or to no element at all
    for shape, strides in (((5,), (2**62,)), ((3,), (-(2**63),)), ((2**32, 2**32), (0, 0))):
        with pytest.raises(ValueError, match="would reach"):
            as_strided(x, shape, strides)
    with pytest.raises(ValueError, match="mismatch"):
        as_strided(x, (2, 2), (8,))
    assert as_strided(x, (0, 99), (8, 8)).shape == (0, 99)
    window = weft.lib.stride_tricks.sliding_window_view(x, 3)
    with pytest.raises(ValueError, match="read-only"):
        window[0] = 1
    x[1] = 77
    assert window[0, 1] == 77


@pytest.mark.parametrize("position", [2**60, 2**61, 2**62, 2**63 - 1])
def test_counts_that_no_memory_holds_are_refused(position):
    for call in (
        lambda: weft.bincount([position]),
        lambda: weft.bincount([1], minlength=position),
        lambda: weft.bincount([position], [0.5]),
    ):
        with pytest.raises((ValueError, MemoryError)):
            call()
    assert weft.bincount([1, 1]).tolist() == [0, 2]


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4"])
def test_quantiles_of_more_than_256_elements_of_integers(dtype):
    a = (numpy.arange(5000) % 200).astype(dtype)
    for q in (30, 33.3, [5, 50]):
        ours, theirs = weft.percentile(weft.array(a), q), numpy.percentile(a, q)
        assert ours.dtype == theirs.dtype
        numpy.testing.assert_allclose(numpy.asarray(ours), theirs, rtol=1e-6)


@pytest.mark.parametrize("bins", [1, 10, 3000, 50_000])
def test_counting(device, bins):
    rng = numpy.random.default_rng(bins)
    a, weights = rng.integers(0, bins, 20_000), rng.random(20_000)
    numpy.testing.assert_array_equal(
        computed_on(device, lambda: weft.bincount(weft.array(a)))[0], numpy.bincount(a)
    )
    (sums,) = computed_on(
        device, lambda: weft.bincount(weft.array(a), weft.array(weights), minlength=bins + 5)
    )
    numpy.testing.assert_allclose(sums, numpy.bincount(a, weights, minlength=bins + 5), rtol=1e-13)
    (again,) = computed_on(
        device, lambda: weft.bincount(weft.array(a), weft.array(weights), minlength=bins + 5)
    )
    assert sums.tobytes() == again.tobytes()


def test_counting_nothing_and_what_cannot_be_counted(device):
    assert weft.bincount(weft.array(numpy.zeros(0, "int64")), minlength=3).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="negative"):
        weft.bincount(weft.array(numpy.array([1, -1, 3])))
