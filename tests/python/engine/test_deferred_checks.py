"""weft.config.deferred_checks: calls on a GPU that do not wait for their checks, and what they poison."""

import inspect

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_gpu

pytestmark = needs_gpu


@pytest.fixture(autouse=True)
def deferred():
    with np.device("cpu"), np.config(deferred_checks=True):
        yield


def line_here():
    return inspect.currentframe().f_back.f_lineno


def pending(values):
    """Integers about which nothing is known without a look."""
    return gpu(values, numpy.int64) * gpu([1], numpy.int64)


def test_calls_do_not_wait():
    x = gpu(numpy.arange(100.0))
    index = pending([3, -1, 99, -100])
    y = x[index] + 1
    assert not np._core._evaluated(index)
    assert y.tolist() == [4, 100, 100, 1]
    with np.config(deferred_checks=False):
        index = pending([3, 4])
        y = x[index]
        assert np._core._evaluated(index)


@pytest.mark.parametrize(
    "take", [lambda x, i: x[i], lambda x, i: np.take(x, i), lambda x, i: np.take_along_axis(x, i, 0)]
)
@pytest.mark.parametrize(("values", "wrong"), [([1, 10], 10), ([0, -11, 3], -11), ([2**40, 1], 2**40)])
def test_an_index_out_of_bounds_is_told_to_the_observer(take, values, wrong):
    y = take(gpu(numpy.arange(10.0)), pending(values))
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 10"):
        y.tolist()


def test_every_observation_says_so_with_the_line():
    x = gpu(numpy.arange(10.0))
    here = line_here() + 1
    y = x[pending([1, 12])]
    observers = [
        repr, str, numpy.asarray, lambda z: z.tolist(), lambda z: z.to_device("cpu"), lambda z: z.tobytes(),
        lambda z: z.__dlpack__(), lambda z: z.__cuda_array_interface__, lambda z: np.from_dlpack(z, device="cpu"),
    ]  # fmt: skip
    for derived in (
        y,
        y * 2 + 1,
        y[::-1],
        y.sum(keepdims=True),
        np.stack([y, y]),
        gpu([0.5]) + y[:1],
        y.astype(int),
    ):
        for observe in observers:
            with pytest.raises(IndexError) as caught:
                observe(derived)
            assert "index 12 is out of bounds for axis 0 with size 10 (found late" in str(caught.value)
            assert f"{__file__}:{here} in test_every_observation_says_so_with_the_line" in str(caught.value)
    for convert in (float, bool, repr, lambda z: z.item()):
        with pytest.raises(IndexError, match="index 12"):
            convert(y.sum())
    assert x.tolist() == list(range(10))


def test_what_is_written_with_poison_is_poisoned():
    x, clean = gpu(numpy.arange(10.0)), gpu(numpy.arange(10.0))
    x[2:4] = gpu(numpy.arange(5.0))[pending([1, 7])]
    for poisoned in (x, x + 1):
        with pytest.raises(IndexError, match="index 7"):
            poisoned.tolist()
    x += 1
    with pytest.raises(IndexError, match="index 7"):
        x.tolist()
    assert clean.tolist() == list(range(10))
    x[...] = 5  # nothing of it is left
    assert x.tolist() == [5] * 10


def test_evaluating_is_no_observation():
    y = gpu(numpy.arange(10.0))[pending([1, 12])] * 2
    np.eval(y)
    np.synchronize("cuda:0")
    z = y + 1
    np.eval(z)
    with pytest.raises(IndexError, match="index 12"):
        z.tolist()
    with pytest.raises(IndexError, match="index 12"):
        y.tolist()


def test_indices_that_are_poisoned_themselves():
    x = gpu(numpy.arange(10.0))
    first = gpu(numpy.arange(5), numpy.int64)[pending([2, 6])]
    y = x[first]
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 5"):
        y.tolist()
    with np.config(deferred_checks=False), pytest.raises(IndexError, match="index 6"):
        x[first * gpu([1], numpy.int64)]


def test_many_checks_behind_one_array():
    x = gpu(numpy.arange(10.0))
    total = gpu(numpy.zeros(2))
    for k in range(150):
        total = total + x[pending([k % 10, 1])]
    assert total.tolist() == [15 * 45, 150]
    for k in range(150):
        total = total + x[pending([k % 10, 10 if k == 3 else 1])]
    with pytest.raises(IndexError, match="index 10"):
        total.tolist()


def test_several_axes():
    x = gpu(numpy.arange(12.0).reshape(3, 4))
    assert x[pending([0, -1]), pending([1, 3])].tolist() == [1, 11]
    y = x[pending([0, 1]), pending([1, 4])]
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 1 with size 4"):
        y.tolist()
    with pytest.raises(IndexError):
        gpu(numpy.zeros((0, 3)))[pending([0])]  # there is no element to read instead


def test_integer_powers():
    x = gpu([2, 3, 4], numpy.int64)
    assert (x ** pending([1, 2, 0])).tolist() == [2, 9, 1]
    here = line_here() + 1
    y = x ** pending([1, -2, 0]) + 1
    with pytest.raises(ValueError, match="negative integer powers are not allowed") as caught:
        y.tolist()
    assert f":{here} " in str(caught.value)
    with pytest.raises(ValueError, match="negative integer powers"):
        x**-1  # known in the call
    with np.config(deferred_checks=False), pytest.raises(ValueError, match="negative integer powers"):
        x ** pending([1, -2, 0])


def test_the_cpu_looks_in_the_call():
    with np.config(small=0), pytest.raises(IndexError, match="index 12"):
        np.arange(10.0)[np.asarray([1, 12]) * 1]


def test_the_naive_planner_says_the_same():
    with np.config(fuse=False):
        y = gpu(numpy.arange(10.0))[pending([1, 12])] * 2
        with pytest.raises(IndexError, match="index 12"):
            y.tolist()
        assert gpu(numpy.arange(10.0))[pending([1, -2])].tolist() == [1, 8]


def test_masks_are_decided_and_values_poison_what_is_chosen():
    x = gpu(numpy.arange(10.0))
    taken = x[pending([1, 12, 3])]
    with pytest.raises(IndexError, match="index 12 is out of bounds"):
        x[:3][taken > 2]
    with pytest.raises(IndexError, match="index 12 is out of bounds"):
        np.nonzero(taken)
    for values in (taken, taken * 2):
        chosen = values[x[:3] > 0]
        with pytest.raises(IndexError, match="index 12 is out of bounds"):
            chosen.tolist()
    assert x[pending([1, 2])][x[:2] > 0].tolist() == [2]
    assert x[:2][x[pending([3, 2])] > 2].tolist() == [0]
