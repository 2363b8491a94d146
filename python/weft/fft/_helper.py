"""Frequencies, and their order."""

from numbers import Integral

from weft import _core
from weft._core import _fft_multiples, arange, asarray, empty
from weft._functions.assembly import roll


def _count(n):
    if not isinstance(n, Integral):
        raise ValueError("n should be an integer")
    return n


def _of_dtype(frequencies, dtype):
    """The frequencies in the dtype that is asked for, which the array API's functions take."""
    if dtype is None:
        return frequencies
    dtype = _core.dtype(dtype)
    if dtype.kind != "f":
        raise ValueError(f"frequencies are real floating-point numbers, not {dtype}")
    return frequencies.astype(dtype)


def fftfreq(n, d=1.0, device=None, *, dtype=None):
    """The frequencies of the numbers of `fft`, in cycles per unit of the sample spacing `d`.

    They are float64, or of the `dtype` given. Raises ValueError where `n` is no integer.

    >>> np.fft.fftfreq(5, 0.1)
    array([ 0.,  2.,  4., -4., -2.])
    """
    n = n if type(n) is int else _count(n)
    value = 1.0 / (n * d)
    if device is None and type(value) is float:
        return _of_dtype(_fft_multiples(n, value, True), dtype)
    results = empty(n, int, device=device)
    positive = (n - 1) // 2 + 1
    results[:positive] = arange(0, positive, dtype=int, device=device)
    results[positive:] = arange(-(n // 2), 0, dtype=int, device=device)
    return _of_dtype(results * value, dtype)


def rfftfreq(n, d=1.0, device=None, *, dtype=None):
    """The frequencies of the numbers of `rfft`, float64 or of the `dtype` given.

    >>> np.fft.rfftfreq(5, 0.1)
    array([0., 2., 4.])
    """
    n = n if type(n) is int else _count(n)
    value = 1.0 / (n * d)
    if device is None and type(value) is float:
        return _of_dtype(_fft_multiples(n // 2 + 1, value, False), dtype)
    return _of_dtype(arange(0, n // 2 + 1, dtype=int, device=device) * value, dtype)


def _shifted(x, axes, half):
    x = asarray(x)
    if axes is None:
        axes = tuple(range(x.ndim))
        shift = [half(extent) for extent in x.shape]
    elif hasattr(axes, "__index__"):
        shift = half(x.shape[axes])
    else:
        shift = [half(x.shape[axis]) for axis in axes]
    return roll(x, shift, axes)


def fftshift(x, axes=None):
    """Puts the frequency 0 in the middle of axes, by default of all.

    >>> np.fft.fftshift(np.fft.fftfreq(5, 0.1))
    array([-4., -2.,  0.,  2.,  4.])
    """
    return _shifted(x, axes, lambda extent: extent // 2)


def ifftshift(x, axes=None):
    """The opposite of `fftshift`.

    >>> np.fft.ifftshift([-4.0, -2.0, 0.0, 2.0, 4.0])
    array([ 0.,  2.,  4., -4., -2.])
    """
    return _shifted(x, axes, lambda extent: -(extent // 2))
