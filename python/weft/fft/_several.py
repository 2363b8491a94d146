"""Transforms along several axes."""

import warnings

from weft import _core
from weft.fft._output import into


def _lengths_and_axes(a, s, axes, to_real=False):
    """A length for each axis, and the axes; both None where the engine's defaults are meant."""
    if s is None:
        return None, None if axes is None else list(axes)
    s = list(s)
    if axes is None:
        warnings.warn(
            "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). In a future version of NumPy, "
            "this will raise an error and `s[i]` will correspond to the size along the transformed axis specified by "
            "`axes[i]`. To retain current behaviour, pass a sequence [0, ..., k-1] to `axes` for an array of dimension "
            "k.",
            DeprecationWarning,
            stacklevel=4,
        )
        axes = range(-len(s), 0)
    axes = list(axes)
    if None in s:
        warnings.warn(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will raise an error in a "
            "future version of NumPy. To use the default behaviour of the corresponding 1-D transform, pass the value "
            "matching the default for its `n` parameter. To use the default behaviour for every axis, the `s` argument "
            "can be omitted.",
            DeprecationWarning,
            stacklevel=4,
        )
        if len(s) == len(axes):
            s = [-1 if length is None else length for length in s]
            if to_real and s and s[-1] == -1:
                s[-1] = 2 * (_core.asarray(a).shape[axes[-1]] - 1)
    return s, axes


def _transform(function, name, a, s, axes, norm, out, to_real=False):
    s, axes = _lengths_and_axes(a, s, axes, to_real)
    result = function(a, s, axes, norm)
    return result if out is None else into(out, result, name)


def fftn(a, s=None, axes=None, norm=None, out=None):
    """The discrete Fourier transform along several axes, by default all.

    `s` has a length for each, -1 for the axis's own. An axis that stands there twice is transformed twice. Raises
    ValueError for lengths of another number than the axes, IndexError for an axis that is not there.

    >>> np.fft.fftn([[1.0, 2.0], [3.0, 4.0]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return _transform(_core._fftn, "fft", a, s, axes, norm, out)


def ifftn(a, s=None, axes=None, norm=None, out=None):
    """The way back from `fftn`.

    >>> np.fft.ifftn([[10.0, -2.0], [-4.0, 0.0]])
    array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]])
    """
    return _transform(_core._ifftn, "ifft", a, s, axes, norm, out)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    """The transform of real numbers along several axes; of the last, the first half.

    >>> np.fft.rfftn([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]).shape
    (2, 2)
    """
    return _transform(_core._rfftn, "rfft", a, s, axes, norm, out)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    """The way back from `rfftn`.

    >>> np.fft.irfftn([[10.0, -2.0], [-4.0, 0.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    return _transform(_core._irfftn, "irfft", a, s, axes, norm, out, to_real=True)


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """As `fftn`, along the last two axes.

    >>> np.fft.fft2([[1.0, 2.0], [3.0, 4.0]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return _transform(_core._fftn, "fft", a, s, axes, norm, out)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """As `ifftn`, along the last two axes.

    >>> np.fft.ifft2([[10.0, -2.0], [-4.0, 0.0]])
    array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]])
    """
    return _transform(_core._ifftn, "ifft", a, s, axes, norm, out)


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """As `rfftn`, along the last two axes.

    >>> np.fft.rfft2([[1.0, 2.0], [3.0, 4.0]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return _transform(_core._rfftn, "rfft", a, s, axes, norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """As `irfftn`, along the last two axes.

    >>> np.fft.irfft2([[10.0, -2.0], [-4.0, 0.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    return _transform(_core._irfftn, "irfft", a, s, axes, norm, out, to_real=True)
