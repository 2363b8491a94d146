"""Items of ranges in compiled functions."""

import pytest
import weft

RANGES = [range(5), range(3, 20, 4), range(20, 3, -4), range(-(2**63), 2**63 - 1, 2**62), range(1)]


@pytest.mark.parametrize("numbers", RANGES)
def test_items_are_pythons(numbers):
    item = weft.jit(lambda start, stop, step, i: range(start, stop, step)[i])
    for i in range(-len(numbers), len(numbers)):
        got = item(numbers.start, numbers.stop, numbers.step, i)
        assert (got, type(got)) == (numbers[i], int)
    for i in (len(numbers), -len(numbers) - 1):
        with pytest.raises(IndexError, match="range object index out of range"):
            item(numbers.start, numbers.stop, numbers.step, i)


def test_items_of_constant_ranges():
    def total(n):
        s = 0
        for i in range(n):
            s += range(7, 70, 7)[i] + range(4)[-1]
        return s

    assert weft.jit(total)(9) == total(9)
    with pytest.raises(IndexError):
        weft.jit(total)(10)


def test_slices_of_ranges_are_refused():
    with pytest.raises(weft.CompileError, match="a range has no slices in a compiled function"):
        weft.jit(lambda: list(range(5)[1:3]))()
