"""Functions of the program's on a GPU: their kernels run there, fused, with the bits of the CPU."""

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_gpu

pytestmark = needs_gpu


@np.vectorize(nopython=True)
def pieces(x, y):
    if x > y:
        return x - y
    if x < -y:
        return (x + y) * 0.5
    return 0.0


@np.vectorize(nopython=True)
def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@np.vectorize(nopython=True)
def escapes(re, im, most):
    x, y = 0.0, 0.0
    for k in range(most):
        x, y = x * x - y * y + re, 2 * x * y + im
        if x * x + y * y > 4:
            return k
    return most


@np.vectorize(["float64(float64)"])
def root(x):
    if x < 0:
        raise ValueError("negative")
    return x**0.5


@np.stencil
def mean_of_nine(a):
    return (
        a[-1, -1] + a[-1, 0] + a[-1, 1] + a[0, -1] + a[0, 0] + a[0, 1] + a[1, -1] + a[1, 0] + a[1, 1]
    ) // 9


@np.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def running(a, out):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        out[i] = total


def back(array):
    return numpy.asarray(array.to_device("cpu"))


def here(array):
    return np.asarray(array, device="cpu")


def launches():
    return [(each["name"], each["device"], each["fallback"]) for each in np.kernel_history()]


@pytest.mark.parametrize("size", [1, 100, 5000])
def test_one_kernel_on_the_gpu(size):
    x, y = numpy.linspace(-3, 3, size), numpy.linspace(0, 1, size)
    a, b = gpu(x), gpu(y)
    np.clear_kernel_history()
    result = 2 * pieces(a, b) + a
    assert result.device == "cuda:0"
    found = back(result)
    on_gpus = [launch for launch in launches() if launch[1] != "cpu"]
    assert len(on_gpus) == 1 and "pieces" in on_gpus[0][0] and not on_gpus[0][2]
    a, b = here(x), here(y)
    numpy.testing.assert_array_equal(found, numpy.asarray(2 * pieces(a, b) + a))


@pytest.mark.parametrize("size", [3, 6000])
def test_loops(size):
    n = numpy.arange(size)
    numpy.testing.assert_array_equal(back(collatz(gpu(n))), numpy.asarray(collatz(here(n))))
    re, im = numpy.linspace(-2, 1, size), numpy.linspace(-1, 1, 5)[:, None]
    numpy.testing.assert_array_equal(
        back(escapes(gpu(re), gpu(im), 40)), numpy.asarray(escapes(here(re), here(im), 40))
    )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float64"])
def test_stencils(dtype):
    a = numpy.random.default_rng(1).integers(0, 100, (60, 130)).astype(dtype)
    np.clear_kernel_history()
    result = mean_of_nine(gpu(a))
    assert result.device == "cuda:0"
    numpy.testing.assert_array_equal(back(result), numpy.asarray(mean_of_nine(here(a))))
    out = gpu(numpy.full(a.shape, 5, dtype))
    mean_of_nine(gpu(a), out=out)
    expected = here(numpy.full(a.shape, 5, dtype))
    mean_of_nine(here(a), out=expected)
    numpy.testing.assert_array_equal(back(out), numpy.asarray(expected))
    assert not any(launch[2] for launch in launches())


def test_what_kernels_do_not_run_is_computed_on_the_cpu():
    x = numpy.arange(5.0)
    result = root(gpu(x))
    assert result.device == "cuda:0"
    numpy.testing.assert_array_equal(back(result), numpy.asarray(root(here(x))))
    with pytest.raises(ValueError, match="negative"):
        root(gpu(-x - 1))
    rows = running(gpu(numpy.ones((3, 4))))
    assert rows.device == "cuda:0"
    numpy.testing.assert_array_equal(back(rows), numpy.cumsum(numpy.ones((3, 4)), 1))
    assert any(launch[2] for launch in launches())


def test_folds():
    @np.vectorize(nopython=True, identity=0)
    def plus(a, b):
        return a + b

    x = numpy.arange(1000)
    assert int(plus.reduce(gpu(x))) == x.sum()
    numpy.testing.assert_array_equal(back(plus.accumulate(gpu(x))), x.cumsum())


def test_stencils_of_numpys_arrays_are_where_their_output_is():
    x, out = numpy.arange(36, dtype="int64").reshape(6, 6), numpy.zeros((6, 6), "int64")
    with np.config(device="cuda"):
        mean_of_nine(x, out=np.asarray(out, copy=False, device="cpu"))
        into = gpu(numpy.zeros((6, 6), "int64"))
        mean_of_nine(x, out=into)
    numpy.testing.assert_array_equal(out, numpy.asarray(mean_of_nine(here(x))))
    numpy.testing.assert_array_equal(back(into), out)
