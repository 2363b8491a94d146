"""Cosine and sine transforms of types 1 to 4, with SciPy's arguments. Of complex numbers they take the parts apart."""

from weft import _core
from weft._core import asarray
from weft.scipy.fft._settings import check_length, check_workers, floating, lengths_and_axes, norm_of


def _parts(function, x, *arguments):
    if x.dtype.kind == "c":
        return function(x.real, *arguments) + 1j * function(x.imag, *arguments)
    return function(x, *arguments)


def _single(function, x, type, n, axis, norm, workers, orthogonalize):
    x = floating(x)
    norm = norm_of(norm)
    check_workers(workers)
    return _parts(function, x, type, [check_length(x, n, axis)], [axis], norm, orthogonalize)


def _several(function, x, type, s, axes, norm, workers, orthogonalize):
    given, x = x, floating(x)
    s, axes = lengths_and_axes(x, s, axes)
    if not axes:
        return asarray(given)
    norm = norm_of(norm)
    check_workers(workers)
    return _parts(function, x, type, s, axes, norm, orthogonalize)


def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The discrete cosine transform along an axis. Raises ValueError for another type than 1, 2, 3 or 4.

    >>> np.scipy.fft.dct([1.0, 1.0])
    array([4., 0.])
    """
    return _single(_core._dctn, x, type, n, axis, norm, workers, orthogonalize)


def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The way back from `dct`.

    >>> np.scipy.fft.idct([4.0, 0.0])
    array([1., 1.])
    """
    return _single(_core._idctn, x, type, n, axis, norm, workers, orthogonalize)


def dst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The discrete sine transform along an axis. Raises ValueError for another type than 1, 2, 3 or 4.

    >>> np.scipy.fft.dst([1.0, -1.0])
    array([0., 4.])
    """
    return _single(_core._dstn, x, type, n, axis, norm, workers, orthogonalize)


def idst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The way back from `dst`."""
    return _single(_core._idstn, x, type, n, axis, norm, workers, orthogonalize)


def dctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    """As `dct`, along several axes, by default all."""
    return _several(_core._dctn, x, type, s, axes, norm, workers, orthogonalize)


def idctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The way back from `dctn`."""
    return _several(_core._idctn, x, type, s, axes, norm, workers, orthogonalize)


def dstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """As `dst`, along several axes, by default all."""
    return _several(_core._dstn, x, type, s, axes, norm, workers, orthogonalize)


def idstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The way back from `dstn`."""
    return _several(_core._idstn, x, type, s, axes, norm, workers, orthogonalize)
