"""Arrays of other libraries as arguments: whatever has DLPack, the buffer protocol or is NumPy's, without copies."""

import array

import numpy
import pytest
import weft as np


class OnlyDlpack:
    """An array of a library that has DLPack and no buffers."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OldDlpack(OnlyDlpack):
    """Of before 2023, which cannot tell that it may be written."""

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__(stream=stream)


def double(a):
    for i in range(len(a)):
        a[i] = 2 * a[i]
    return a


def total(a):
    s = 0
    for i in range(len(a)):
        s += a[i]
    return s


def test_what_has_dlpack_is_read_and_written_in_place():
    f = np.jit(double)
    for dtype in ("int8", "int64", "float32", "float64", "complex128"):
        values = numpy.arange(5).astype(dtype)
        result = f(OnlyDlpack(values))
        numpy.testing.assert_array_equal(values, 2 * numpy.arange(5))
        assert numpy.shares_memory(numpy.asarray(result), values)


def test_strided_and_overlapping_ones():
    def shift(a, b):
        for i in range(len(a)):
            b[i] = a[i]

    values = numpy.arange(10.0)
    np.jit(shift)(OnlyDlpack(values[:-1]), OnlyDlpack(values[1:]))
    numpy.testing.assert_array_equal(values, numpy.zeros(10))
    values = numpy.arange(10.0)
    assert np.jit(total)(OnlyDlpack(values[::-2])) == 25


def test_where_the_buffer_fails_dlpack_is_asked():
    """Arrays of JAX and CuPy have the buffer protocol, which fails where they are on a GPU."""

    class Refuses(OnlyDlpack):
        def __buffer__(self, flags):
            raise BufferError("only defined for the CPU")

    values = numpy.arange(4.0)
    np.jit(double)(Refuses(values))
    numpy.testing.assert_array_equal(values, 2 * numpy.arange(4.0))


def test_in_tuples():
    def second(pair):
        return pair[1][0] + pair[0]

    assert np.jit(second)((1, OnlyDlpack(numpy.array([5.0])))) == 6


def test_those_that_cannot_tell_are_only_read():
    values = numpy.arange(4)
    assert np.jit(total)(OldDlpack(values)) == 6
    with pytest.raises(np.CompileError, match="read-only"):
        np.jit(double)(OldDlpack(values))


def test_buffers_of_python():
    assert np.jit(total)(array.array("i", [1, 2, 3])) == 6
    values = bytearray([1, 2, 3])
    np.jit(double)(values)
    assert values == bytearray([2, 4, 6])


def test_what_is_wrong_is_told_and_harms_nothing():
    f = np.jit(total)

    class Broken:
        def __dlpack__(self, **options):
            raise BufferError("no such memory")

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(BufferError, match="no such memory"):
        f(Broken())
    with pytest.raises(TypeError, match="which compiled functions do not take"):
        f(object())
    assert f(OnlyDlpack(numpy.arange(4))) == 6
