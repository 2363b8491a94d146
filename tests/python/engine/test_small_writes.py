"""Many writes of a few elements into an array that is still to be computed, one after another."""

import numpy
import pytest
import weft as np


def launches(function):
    np.clear_kernel_history()
    function()
    return len(np.kernel_history())


@pytest.mark.parametrize(
    "make", ["np.zeros((6000, 3))", "np.ones((6000, 3)) * 2", "np.arange(18000.0).reshape(6000, 3)"]
)
def test_rows_in_a_loop(make):
    results = []
    for module in (numpy, np):
        rows = eval(make, {"np": module})
        for k in range(50):
            rows[k] = module.array([k, 1.0, 2.0])
            rows[-1, k % 3] = k
        results.append(numpy.asarray(rows))
    numpy.testing.assert_array_equal(*results)


def test_the_array_is_computed_after_a_few():
    rows = np.zeros((6000, 3))

    def write(begin, end):
        for k in range(begin, end):
            rows[k] = 1.0

    assert launches(lambda: write(0, 4)) == 0
    assert launches(lambda: write(4, 40)) > 0
    assert launches(lambda: write(40, 80)) == 0
    assert float(rows.sum()) == 240


def test_earlier_versions_keep_their_values():
    base = np.zeros(10_000)
    before = base + 1
    for k in range(20):
        base[k] = 5.0
    after = base + 1
    assert float(before.sum()) == 10_000 and float(after.sum()) == 10_100


def test_borders_of_a_stencil_stay_pending():
    x = np.asarray(numpy.random.default_rng(0).random((200, 200)))

    def step():
        y = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * 0.25
        z = np.zeros((200, 200))
        z[1:-1, 1:-1] = y
        z[0], z[-1], z[:, 0], z[:, -1] = 1, 2, 3, 4
        return z

    assert launches(step) == 0
