"""Sets, quantiles, histograms, covariances and what leaves NaN out: on each device, beside NumPy."""

import numpy
import pytest
import weft

HOLES = numpy.array([[4.0, numpy.nan, 2.0], [1.0, 5.0, 3.0]])
NUMBERS = numpy.array([3.0, 1.5, 3.0, -2.0, 7.25, 1.5, 0.0])
WHOLE = numpy.array([3, 1, 3, -2, 7, 10**9, 0])
TABLE = numpy.arange(12.0).reshape(3, 4) % 5

PROGRAMS = """
np.unique(NUMBERS, return_index=True, return_inverse=True, return_counts=True)
np.unique(WHOLE, return_counts=True)
np.unique(TABLE, axis=0, return_index=True, return_inverse=True, return_counts=True)
np.unique(TABLE, axis=1)
np.unique(HOLES)
np.unique(HOLES, equal_nan=False)
np.union1d(NUMBERS, WHOLE)
np.intersect1d(NUMBERS, WHOLE, return_indices=True)
np.intersect1d(NUMBERS, TABLE)
np.setxor1d(NUMBERS, TABLE)
np.setdiff1d(WHOLE, np.asarray([3, 0]))
np.isin(WHOLE, np.asarray([3, 0]), invert=True)
np.isin(NUMBERS, TABLE)
np.lexsort((TABLE[0], TABLE[1]))
np.digitize(NUMBERS, np.asarray([0.0, 1.0, 3.0]))
np.digitize(NUMBERS, np.asarray([3.0, 1.0, 0.0]), right=True)
np.median(NUMBERS)
np.median(TABLE, axis=0)
np.median(HOLES, axis=1, keepdims=True)
np.nanmedian(HOLES)
np.nanmedian(HOLES, axis=0)
np.percentile(NUMBERS, 30)
np.percentile(TABLE, [25, 50, 75], axis=1)
np.quantile(NUMBERS, 0.4, method="hazen")
np.quantile(NUMBERS, np.asarray([0.1, 0.2, 0.3, 0.4, 0.9]), method="nearest")
np.quantile(TABLE, 0.5, axis=1, weights=np.asarray([1.0, 0.0, 2.0, 1.0]), method="inverted_cdf")
np.nanquantile(HOLES, 0.25, axis=0)
np.nanpercentile(HOLES, [10, 90])
np.histogram(NUMBERS, 4)
np.histogram(NUMBERS, 3, range=(0, 4))
np.histogram(NUMBERS, np.asarray([0.0, 1.5, 7.25]))
np.histogram(WHOLE, 5, weights=NUMBERS)
np.histogram(NUMBERS, "auto", density=True)
np.histogram2d(NUMBERS, NUMBERS, 2)[0]
np.histogramdd((NUMBERS, NUMBERS), [3, np.asarray([0.0, 2.0, 9.0])])[0]
np.nansum(HOLES, axis=0)
np.nanprod(HOLES)
np.nanmax(HOLES, axis=1)
np.nanmin(HOLES)
np.nanargmax(HOLES, axis=1)
np.nanmean(HOLES, axis=0)
np.nanvar(HOLES, axis=1, ddof=1)
np.nanstd(HOLES)
np.nan_to_num(HOLES, nan=9)
np.average(TABLE, axis=1, weights=np.asarray([1.0, 0.0, 2.0, 1.0]), returned=True)
np.cov(TABLE)
np.cov(TABLE, aweights=np.asarray([1.0, 0.0, 2.0, 1.0]))
np.corrcoef(TABLE)
"""


def run(np, program):
    names = {"HOLES": HOLES, "NUMBERS": NUMBERS, "WHOLE": WHOLE, "TABLE": TABLE}
    given = {name: np.asarray(value) if np is numpy else weft.array(value) for name, value in names.items()}
    results = eval(program, {"np": np, **given})
    return results if isinstance(results, tuple | list) else (results,)


@pytest.mark.parametrize("program", PROGRAMS.strip().splitlines())
def test_results_are_numpys_and_stay_on_the_device(device, program):
    expected = run(numpy, program)
    results = run(weft, program)
    assert len(results) == len(expected)
    for mine, other in zip(results, expected, strict=True):
        if isinstance(mine, weft.ndarray) and mine.ndim:
            assert mine.device == device
            mine = mine.to_device("cpu")
        assert mine.shape == other.shape
        assert mine.dtype == other.dtype
        numpy.testing.assert_allclose(numpy.asarray(mine), other, rtol=1e-13, atol=1e-300)
