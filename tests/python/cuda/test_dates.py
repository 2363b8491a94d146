"""Arrays of dates and dates in kernels, on the CPU and on a GPU."""

import numpy
import pytest
from weft import cuda


@cuda.jit
def compare(start, end, spans, same, target):
    for i in range(cuda.grid(1), spans.size, cuda.gridsize(1)):
        spans[i] = end[i] - start[i]
        same[i] = start[i] == target


def arguments(unit):
    start = numpy.arange("2005-02", "2006-02", dtype="M8[D]")
    start[7] = "NaT"
    end = start + numpy.arange(start.size) ** 2
    return start, end, numpy.zeros(start.size, f"m8[{unit}]"), numpy.zeros(start.size, bool)


@pytest.mark.parametrize("unit", ["D", "h", "W"])
def test_dates_in_kernels(unit):
    start, end, spans, same = arguments(unit)
    compare[4, 32](start, end, spans, same, start[5])
    numpy.testing.assert_array_equal(spans, (end - start).astype(spans.dtype))
    assert same.nonzero()[0].tolist() == [5]


def test_dates_that_are_on_the_device():
    start, end, spans, same = arguments("s")
    held = [cuda.to_device(each) for each in (start, end, spans, same)]
    compare[2, 64](*held, start[5])
    numpy.testing.assert_array_equal(held[2].copy_to_host(), (end - start).astype("m8[s]"))
    assert held[3].copy_to_host().nonzero()[0].tolist() == [5]
