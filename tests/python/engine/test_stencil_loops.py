"""Loops that write into the inside of an array: two buffers take turns, and what lies outside of the window is copied
from one to the other once, on every device. Whoever writes there in between has to be seen."""

import numpy
import pytest
import weft as np
from on_gpu import HAS_GPU

DEVICES = ["cpu", "cuda:0"] if HAS_GPU else ["cpu"]

pytestmark = pytest.mark.parametrize("device", DEVICES)
SHAPE = (90, 80)  # more than the buffers that have no marks


@pytest.fixture(autouse=True)
def chosen(device):
    with np.device(device):
        yield


def smooth(u):
    u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.25 + (u[1:-1, 2:] + u[1:-1, :-2]) * 0.25


def same(there, here):
    return (there.to_device("cpu") == np.asarray(here).to_device("cpu")).all()


@pytest.mark.parametrize("seed", range(16))
def test_what_is_outside_of_a_window_is_right_whoever_wrote_there_between(seed, device):
    """Whatever else happens to the two buffers of such a loop: other windows, writes outside, at once and later, by
    NumPy through shared memory, values that are held, memory that others take and give back."""
    choose = numpy.random.default_rng(seed)
    values = choose.random(SHAPE)
    field, held, expected = np.asarray(values), [], []
    for _ in range(80):
        smooth(field)
        smooth(values)
        match choose.integers(16):
            case 0:
                field[0] = values[0] = choose.random()
            case 1:
                field[:, -1] = field[:, 0] + 1
                values[:, -1] = values[:, 0] + 1
            case 2:
                field[2:-1, 1:-1] = field[1:-2, 2:] * 0.5
                values[2:-1, 1:-1] = values[1:-2, 2:].copy() * 0.5
            case 3:
                held.append(field + 0)
                expected.append(values + 0)
            case 4:
                held.clear()
                expected.clear()
            case 5:
                np.eval(field)
                np.asarray(choose.random(SHAPE))  # takes the free buffer
            case 6:
                field = field * 1.5
                values = values * 1.5
            case 7:
                field += 1
                values += 1
            case 8:
                np.eval(field)
                field[0, 3] = values[0, 3] = choose.random()  # a number, eagerly if host-resident
            case 9:
                np.eval(field)
                row = choose.random(SHAPE[1])
                field[-1] = np.asarray(row)
                values[-1] = row
            case 10:
                np.eval(field)
                np.multiply(field[0], 0.5, out=field[0])
                numpy.multiply(values[0], 0.5, out=values[0])
            case 11:
                if device == "cpu":
                    numpy.asarray(field)[:, 0] = values[:, 0] = choose.random()
            case 12:
                held.append(field.copy())
                expected.append(values.copy())
            case 13:
                field = np.asarray(values)  # another array's turn, in memory that may be marked
            case 14:
                np.eval(field)
                np.multiply(field[:2, ::3], 0.5, out=field[:2, ::3])
                numpy.multiply(values[:2, ::3], 0.5, out=values[:2, ::3])
            case 15:
                np.eval(field)
                block = choose.random((3, 40))
                field[:3, ::2] = np.asarray(block)
                values[:3, ::2] = block
    held.append(field)
    expected.append(values)
    for there, here in zip(held, expected, strict=True):
        assert same(there, here)


def test_loops_over_two_arrays_do_not_take_each_others_borders(device):
    one, two = numpy.full(SHAPE, 1.0), numpy.full(SHAPE, 2.0)
    first, second = np.asarray(one), np.asarray(two)
    for _ in range(12):
        for array in (first, second, one, two):
            smooth(array)
        np.eval(first, second)
    assert same(first, one)
    assert same(second, two)


def test_memory_of_others_is_read_anew_in_each_iteration(device):
    """NumPy's array shows its memory to weft: what is outside of the window may change without weft being told."""
    if device != "cpu":
        pytest.skip("a GPU does not read NumPy's memory")
    theirs = numpy.arange(numpy.prod(SHAPE), dtype="float64").reshape(SHAPE)
    for turn in range(6):
        ours = np.from_dlpack(theirs)
        inside = ours[2:, 2:] + turn
        ours[1:-1, 1:-1] = inside
        expected = theirs.copy()
        theirs[0] += 1
        assert same(np.asarray(ours)[1:-1, 1:-1], expected[1:-1, 1:-1])
        assert same(np.asarray(ours), theirs)


def test_a_free_block_keeps_what_it_holds(device):
    """The pool links its free blocks through their first bytes, but for those that are known to hold something."""
    values = numpy.random.default_rng(1).random(SHAPE)
    field = np.asarray(values)
    for _ in range(9):
        kept = field + 0  # the old version stays: the write goes into a fresh buffer
        smooth(field)
        smooth(values)
        np.eval(field, kept)
        assert float(field[0, 0]) == values[0, 0]
        del kept
    assert same(field, values)
