"""Compiled functions with arrays of a GPU: copied to the CPU, where they run, and back, and said so."""

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_gpu, on_cpu  # noqa: F401

pytestmark = needs_gpu


def scaled(a, out, factor):
    for i in range(len(a)):
        out[i] = factor * a[i]
    return out


def test_arguments_are_read_and_written_where_they_are():
    f = np.jit(scaled)
    a, out = gpu(numpy.arange(5.0)), gpu(numpy.zeros(5))
    np.clear_kernel_history()
    result = f(a, out, 3)
    assert result is out and out.device == "cuda:0"
    numpy.testing.assert_array_equal(numpy.asarray(out.to_device("cpu")), 3 * numpy.arange(5.0))
    numpy.testing.assert_array_equal(numpy.asarray(a.to_device("cpu")), numpy.arange(5.0))
    fallbacks = [record for record in np.kernel_history() if record["fallback"]]
    assert [record["fallback"] for record in fallbacks] == ["compiled functions on a GPU"]
    assert fallbacks[0]["bytes_read"] == 3 * 40


def test_pending_work_comes_before_and_after():
    f = np.jit(scaled)
    a, out = gpu(numpy.arange(5.0)) + 1, gpu(numpy.zeros(5))
    before = out + 1
    f(a * 2, out, 10)
    after = out + 1
    numpy.testing.assert_array_equal(numpy.asarray(before.to_device("cpu")), numpy.ones(5))
    numpy.testing.assert_array_equal(numpy.asarray(after.to_device("cpu")), 20 * numpy.arange(1.0, 6) + 1)


def test_views_of_one_array_stay_views():
    f = np.jit(scaled)
    for first, second in (
        (slice(0, 9), slice(1, 10)),
        (slice(1, 10), slice(0, 9)),
        (slice(0, 7), slice(8, 1, -1)),
    ):
        expected = numpy.arange(10.0)
        x = gpu(expected)
        scaled(expected[first], expected[second], 2)
        f(x[first], x[second], 2)
        numpy.testing.assert_array_equal(numpy.asarray(x.to_device("cpu")), expected)


def test_strided_views_are_written_alone():
    def fill(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = 10 * i + j

    expected = numpy.zeros((6, 7))
    x = gpu(expected)
    np.jit(fill)(x[::2, 1:-1].T)
    fill(expected[::2, 1:-1].T)
    numpy.testing.assert_array_equal(numpy.asarray(x.to_device("cpu")), expected)


def test_new_arrays_are_on_the_gpu_and_numbers_are_numbers():
    def both(a):
        b = np.empty(len(a))
        s = 0.0
        for i in range(len(a)):
            b[i] = a[i] + 1
            s += a[i]
        return b, s

    b, s = np.jit(both)(gpu(numpy.arange(4.0)))
    assert b.device == "cuda:0" and s == 6
    numpy.testing.assert_array_equal(numpy.asarray(b.to_device("cpu")), numpy.arange(1.0, 5))


class Lent:
    """Memory of a GPU that is lent anew each time."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_memory_that_is_lent_twice_is_refused():
    f = np.jit(scaled)
    x = gpu(numpy.arange(6.0))
    for first, second in ((Lent(x), Lent(x)), (Lent(x[1:]), Lent(x[:-1])), (x, Lent(x[2:]))):
        with pytest.raises(ValueError, match="share memory of a GPU"):
            f(first, second, 2)
    numpy.testing.assert_array_equal(numpy.asarray(x.to_device("cpu")), numpy.arange(6.0))
    f(Lent(x[:3]), Lent(x[3:]), 2)
    numpy.testing.assert_array_equal(numpy.asarray(x.to_device("cpu")), [0, 1, 2, 0, 2, 4])


def test_without_elements_or_dimensions_and_the_same_twice():
    f = np.jit(scaled)
    assert f(gpu(numpy.zeros(0)), gpu(numpy.zeros(0)), 2).shape == (0,)
    x = gpu(numpy.arange(4.0))
    assert f(x, x, 3) is x
    numpy.testing.assert_array_equal(numpy.asarray(x.to_device("cpu")), [0, 3, 6, 9])

    def only(a):
        a[()] = a[()] + 1
        return a[()]

    y = gpu(numpy.array(5.0))
    assert np.jit(only)(y) == 6
    assert float(y) == 6


def test_arrays_of_the_cpu_stay_there():
    f = np.jit(scaled)
    out = np.zeros(4)
    assert f(gpu(numpy.arange(4.0)), out, 2) is out
    numpy.testing.assert_array_equal(numpy.asarray(out), [0, 2, 4, 6])
    assert np.jit(lambda a, b: b[1:])(gpu(numpy.arange(4.0)), out).device == "cpu"
    assert np.jit(lambda a, b: a[1:])(gpu(numpy.arange(4.0)), out).device == "cuda:0"


def test_with_arrays_of_the_cpu_and_lists():
    def add(arrays, out):
        for a in arrays:
            for i in range(len(a)):
                out[i] += a[i]

    out = numpy.zeros(3)
    np.jit(add)([gpu(numpy.ones(3)), gpu(numpy.arange(3.0))], out)
    numpy.testing.assert_array_equal(out, [1, 2, 3])
    out = gpu(numpy.zeros(3))
    np.jit(add)([numpy.ones(3), numpy.ones(3)], out)
    numpy.testing.assert_array_equal(numpy.asarray(out.to_device("cpu")), [2, 2, 2])


def test_what_was_written_before_an_error_is_written():
    def fail(a):
        for i in range(len(a)):
            if i == 2:
                raise ValueError("at two")
            a[i] = 7

    x = gpu(numpy.zeros(4))
    f = np.jit(fail)
    with pytest.raises(ValueError, match="at two"):
        f(x)
    numpy.testing.assert_array_equal(numpy.asarray(x.to_device("cpu")), [7, 7, 0, 0])


def test_read_only_arrays_and_generators_are_refused():
    def pieces(a):
        for i in range(len(a)):
            yield a[i]

    with pytest.raises(TypeError, match="to_device"):
        np.jit(pieces)(gpu(numpy.zeros(3)))
    x = gpu(numpy.zeros(3))
    x.flags.writeable = False
    with pytest.raises(np.CompileError, match="read-only"):
        np.jit(scaled)(x, x, 2)
