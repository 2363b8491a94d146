"""solve, inv, det and slogdet of a matrix keep its factors beside it, until somebody writes there."""

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
import weft as np

pytestmark = pytest.mark.host

SIDE = 60
RIGHT = numpy.random.default_rng(2).standard_normal((SIDE, 3))


def matrix(seed=1, side=SIDE):
    given = numpy.random.default_rng(seed).standard_normal((side, side)) + 5 * numpy.eye(side)
    own = np.array(given)
    np.eval(own)
    return own


def agrees(a, right=RIGHT):
    given = numpy.array(a.tolist())
    numpy.testing.assert_allclose(
        np.linalg.solve(a, right).tolist(), numpy.linalg.solve(given, right), rtol=1e-9
    )
    numpy.testing.assert_allclose(float(np.linalg.det(a)), numpy.linalg.det(given), rtol=1e-9)
    numpy.testing.assert_allclose(
        np.linalg.slogdet(a).logabsdet.tolist(), numpy.linalg.slogdet(given).logabsdet, rtol=1e-9
    )
    numpy.testing.assert_allclose(np.linalg.inv(a).tolist(), numpy.linalg.inv(given), rtol=1e-8, atol=1e-12)


def by_memoryview(a):
    with memoryview(a) as memory:
        memory[3, 3] = 20.0


def by_numpy(a):
    numpy.asarray(a)[2, 2] += 7


WRITES = {
    "element": lambda a: a.__setitem__((0, 0), 9.0),
    "row": lambda a: a.__setitem__(1, numpy.arange(SIDE) % 7),
    "view": lambda a: a[5:, 5:].__imul__(1.5),
    "in place": lambda a: a.__iadd__(np.eye(SIDE)),
    "out": lambda a: np.multiply(a, 2.0, out=a),
    "scatter": lambda a: a.__setitem__(([1, 2], [2, 1]), 4.0),
    "mask": lambda a: a.__setitem__(a > 5, 6.0),
    "put": lambda a: np.put(a, [0, 61], 11.0),
    "fill_diagonal": lambda a: np.fill_diagonal(a, 12.0),
    "copyto": lambda a: np.copyto(a, matrix(8)),
    "random": lambda a: np.random.default_rng(5).random(out=a),
    "memoryview": by_memoryview,
    "numpy": by_numpy,
}


def remembered(a):
    """Bytes that solving with `a` adds to what weft holds, and a second time."""
    held = []
    for _ in range(2):
        gc.collect()
        before = np.memory_stats()["in_use"]
        np.linalg.det(a)
        gc.collect()
        held.append(np.memory_stats()["in_use"] - before)
    return held


def test_factors_are_kept_once_and_go_with_the_array():
    a = matrix()
    before = np.memory_stats()["in_use"]
    first, second = remembered(a)
    assert first >= SIDE * SIDE * 8
    assert second <= 0
    a[0, 0] = 3.0
    np.eval(a)
    assert np.memory_stats()["in_use"] <= before + 4096
    del a


@pytest.mark.parametrize("name", WRITES)
def test_a_write_forgets_them(name):
    a = matrix()
    agrees(a)
    WRITES[name](a)
    agrees(a)
    agrees(a)


def test_views_of_one_storage_do_not_take_each_others():
    a = matrix()
    for view in (a, a.T, a[:40, :40], a[::-1], a[20:, 20:], a.T, a):
        agrees(view, RIGHT[: view.shape[0]])


def test_other_types_of_the_same_bytes_do_not_take_them():
    a = matrix()
    np.linalg.det(a)
    numbers = a.view("int64") % 1000
    agrees(numbers)
    single = matrix().astype("float32")
    for right in (RIGHT, RIGHT.astype("float32")):  # computed in float64, and in float32
        result = np.linalg.solve(single, right)
        assert result.dtype == numpy.linalg.solve(numpy.asarray(single), right).dtype
        numpy.testing.assert_allclose(
            numpy.asarray(result), numpy.linalg.solve(numpy.asarray(single), right), rtol=1e-3, atol=1e-5
        )


def test_a_singular_matrix_raises_each_time():
    a = np.zeros((SIDE, SIDE))
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            np.linalg.solve(a, RIGHT)
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            np.linalg.inv(a)
        assert float(np.linalg.det(a)) == 0


def test_the_same_bits_with_and_without_them():
    a = matrix()
    fresh = np.linalg.solve(a.copy(), RIGHT).tolist()
    assert np.linalg.solve(a, RIGHT).tolist() == fresh
    assert np.linalg.solve(a, RIGHT).tolist() == fresh
    assert np.linalg.inv(a).tolist() == np.linalg.inv(np.stack([a, a]))[1].tolist()


def test_threads_share_them():
    a = matrix(side=200)
    right = numpy.random.default_rng(3).standard_normal(200)
    expected = np.linalg.solve(a.copy(), right).tolist()
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: np.linalg.solve(a, right).tolist(), range(64)))
    assert all(result == expected for result in results)


def test_the_oldest_are_given_up_where_they_are_large():
    side, count = 1700, 14  # 23 MB each
    matrices = [np.eye(side) * (k + 2) for k in range(count)]
    np.eval(*matrices)
    gc.collect()
    before = np.memory_stats()["in_use"]
    for k, each in enumerate(matrices):
        assert float(np.linalg.solve(each, np.ones(side))[5]) == 1 / (k + 2)
    gc.collect()
    assert 100e6 < np.memory_stats()["in_use"] - before < 290e6
    assert float(np.linalg.solve(matrices[0], np.ones(side))[5]) == 0.5


def test_factors_are_dropped_with_the_pool():
    a = matrix(3, 512)
    np.empty_pool("cpu")
    np.linalg.det(a)
    before = np.memory_stats("cpu")["in_use"]
    np.empty_pool("cpu")
    assert before - np.memory_stats("cpu")["in_use"] >= a.nbytes
    assert np.memory_stats("cpu")["pooled"] == 0
    agrees(matrix(4))
    assert float(np.linalg.det(a)) == float(np.linalg.det(a.copy()))


def test_factors_give_way_where_memory_runs_out():
    """Under a limit of which they take a part, an array fits that needs it."""
    program = """
import numpy, weft as np
a = [np.array(numpy.random.default_rng(k).standard_normal((2048, 2048))) for k in range(3)]
np.eval(*a)
for each in a:
    np.linalg.det(each)
held = np.memory_stats("cpu")["in_use"] - 3 * a[0].nbytes
assert held >= 3 * a[0].nbytes, held
x = np.zeros(int(330e6) // 8)
x[:] = 1
np.eval(x)
assert np.memory_stats("cpu")["in_use"] - x.nbytes - 3 * a[0].nbytes < held
print("fits")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "WEFT_MEMORY_LIMIT": str(500 << 20)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "fits\n", done.stderr[-2000:]
