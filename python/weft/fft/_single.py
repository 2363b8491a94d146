"""Transforms along one axis.

Results are complex128 or float64; of float16, float32 and complex64 complex64 or float32. An input is cut, or filled
with zeros, where another length `n` is asked for. `norm` says which of two opposite transforms divides by the length:
"backward" (the default), "forward", or "ortho", where both divide by its root.
"""

from weft import _core
from weft.fft._output import into

_fft, _ifft, _rfft, _irfft = _core._fft, _core._ifft, _core._rfft, _core._irfft
_hfft, _ihfft = _core._hfft, _core._ihfft


def fft(a, n=None, axis=-1, norm=None, out=None):
    """The discrete Fourier transform along an axis.

    Raises ValueError for a length below 1 or an unknown norm, IndexError or AxisError for an axis that is not there.

    >>> np.fft.fft([1.0, 2.0, 3.0, 4.0])
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    result = _fft(a, n, axis, norm)
    return result if out is None else into(out, result, "fft")


def ifft(a, n=None, axis=-1, norm=None, out=None):
    """The way back from `fft`.

    >>> np.fft.ifft([10.0, -2 + 2j, -2.0, -2 - 2j])
    array([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j])
    """
    result = _ifft(a, n, axis, norm)
    return result if out is None else into(out, result, "ifft")


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """The first n // 2 + 1 numbers of the transform of real numbers; the others are their conjugates.

    Raises TypeError for complex numbers.

    >>> np.fft.rfft([1.0, 2.0, 3.0, 4.0])
    array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    result = _rfft(a, n, axis, norm)
    return result if out is None else into(out, result, "rfft_n_even")


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """The way back from `rfft`, to `n` real numbers: by default an even number of them.

    >>> np.fft.irfft([10.0, -2 + 2j, -2.0])
    array([1., 2., 3., 4.])
    """
    result = _irfft(a, n, axis, norm)
    return result if out is None else into(out, result, "irfft")


def hfft(a, n=None, axis=-1, norm=None, out=None):
    """The transform, which is real, of numbers whose second half is the conjugate of the first and is left out.

    >>> np.fft.hfft([2.5, -0.5 - 0.5j, -0.5])
    array([1., 2., 3., 4.])
    """
    result = _hfft(a, n, axis, norm)
    return result if out is None else into(out, result, "irfft")


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """The way back from `hfft`: n // 2 + 1 numbers.

    >>> np.fft.ihfft([1.0, 2.0, 3.0, 4.0])
    array([ 2.5+0.j , -0.5-0.5j, -0.5+0.j ])
    """
    result = _ihfft(a, n, axis, norm)
    return result if out is None else into(out, result, "rfft")
