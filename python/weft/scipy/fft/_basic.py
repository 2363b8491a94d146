"""Fourier transforms, with SciPy's arguments.

An input is cut, or filled with zeros, where another length is asked for. `norm` says which of two opposite transforms
divides by the length. `workers` and `overwrite_x` are checked, and change nothing: the threads are weft's, and results
are new arrays.
"""

from weft import _core
from weft._core import asarray
from weft.scipy.fft._settings import (
    check_length,
    check_plan,
    check_workers,
    floating,
    lengths_and_axes,
    norm_of,
)


def _prepared(x, norm, workers, plan):
    check_plan(plan)
    x = floating(x)
    norm = norm_of(norm)
    check_workers(workers)
    return x, norm


def _check_real(x):
    if x.dtype.kind == "c":
        raise TypeError("x must be a real sequence")


def _complex(function, x, n, axis, norm, workers, plan):
    x, norm = _prepared(x, norm, workers, plan)
    return function(x, check_length(x, n, axis), axis, norm)


def _of_real(function, x, n, axis, norm, workers, plan):
    x, norm = _prepared(x, norm, workers, plan)
    _check_real(x)
    return function(x, check_length(x, n, axis), axis, norm)


def _to_real(function, x, n, axis, norm, workers, plan):
    x, norm = _prepared(x, norm, workers, plan)
    if n is None:
        n = 2 * (x.shape[axis] - 1)
        if n < 1:
            raise ValueError(f"Invalid number of data points ({n}) specified")
    else:
        check_length(x, n // 2 + 1, axis)
        n = n or 1  # as SciPy
    return function(x, n, axis, norm)


def fft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The discrete Fourier transform along an axis.

    >>> np.scipy.fft.fft([1.0, 2.0, 3.0, 4.0])
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    return _complex(_core._fft, x, n, axis, norm, workers, plan)


def ifft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The way back from `fft`.

    >>> np.scipy.fft.ifft([4.0, 0.0])
    array([2.+0.j, 2.+0.j])
    """
    return _complex(_core._ifft, x, n, axis, norm, workers, plan)


def rfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The first half of the transform of real numbers. Raises TypeError for complex ones.

    >>> np.scipy.fft.rfft([1.0, 2.0, 3.0, 4.0])
    array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return _of_real(_core._rfft, x, n, axis, norm, workers, plan)


def irfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The way back from `rfft`, to `n` real numbers: by default an even number of them.

    >>> np.scipy.fft.irfft([10.0, -2 + 2j, -2.0])
    array([1., 2., 3., 4.])
    """
    return _to_real(_core._irfft, x, n, axis, norm, workers, plan)


def hfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The transform, which is real, of numbers whose second half is the conjugate of the first and is left out.

    >>> np.scipy.fft.hfft([2.5, -0.5 - 0.5j, -0.5])
    array([1., 2., 3., 4.])
    """
    return _to_real(_core._hfft, x, n, axis, norm, workers, plan)


def ihfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The way back from `hfft`.

    >>> np.scipy.fft.ihfft([1.0, 2.0, 3.0, 4.0])
    array([ 2.5+0.j , -0.5-0.5j, -0.5+0.j ])
    """
    return _of_real(_core._ihfft, x, n, axis, norm, workers, plan)


def _complex_along(function, x, s, axes, norm, workers, plan):
    check_plan(plan)
    given, x = x, floating(x)
    s, axes = lengths_and_axes(x, s, axes)
    check_workers(workers)
    if not axes:
        return asarray(given)
    return function(x, s, axes, norm_of(norm))


def _of_real_along(function, x, s, axes, norm, workers, plan):
    check_plan(plan)
    x = floating(x)
    _check_real(x)
    s, axes = lengths_and_axes(x, s, axes)
    norm = norm_of(norm)
    check_workers(workers)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    return function(x, s, axes, norm)


def _to_real_along(function, x, s, axes, norm, workers, plan):
    check_plan(plan)
    x = floating(x)
    lengths, axes = lengths_and_axes(x, s, axes)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    if s is None:
        lengths[-1] = 2 * (x.shape[axes[-1]] - 1) or 1  # of one number one
    norm = norm_of(norm)
    check_workers(workers)
    return function(x, lengths, axes, norm)


def fftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The discrete Fourier transform along several axes, by default all, or the last ones of `s`.

    >>> np.scipy.fft.fftn([[1.0, 2.0], [3.0, 4.0]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return _complex_along(_core._fftn, x, s, axes, norm, workers, plan)


def ifftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The way back from `fftn`."""
    return _complex_along(_core._ifftn, x, s, axes, norm, workers, plan)


def rfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The transform of real numbers along several axes; of the last, the first half."""
    return _of_real_along(_core._rfftn, x, s, axes, norm, workers, plan)


def irfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The way back from `rfftn`."""
    return _to_real_along(_core._irfftn, x, s, axes, norm, workers, plan)


def hfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As `hfft`, along several axes, of which the last is halved."""
    return _to_real_along(_core._hfftn, x, s, axes, norm, workers, plan)


def ihfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The way back from `hfftn`."""
    return _of_real_along(_core._ihfftn, x, s, axes, norm, workers, plan)


def fft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As `fftn`, along the last two axes."""
    return fftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def ifft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As `ifftn`, along the last two axes."""
    return ifftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def rfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As `rfftn`, along the last two axes."""
    return rfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def irfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As `irfftn`, along the last two axes."""
    return irfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def hfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As `hfftn`, along the last two axes."""
    return hfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def ihfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """As `ihfftn`, along the last two axes."""
    return ihfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)
