"""The fast Hankel transform, on points that are spaced evenly in their logarithm."""

import warnings

from weft import _core
from weft.scipy.fft._settings import floating


def _transform(a, dln, mu, offset, bias, inverse):
    a = floating(a)
    if a.shape[-1] * dln == 0:
        raise ZeroDivisionError("float division by zero")
    result, singular = _core._hankel(a, dln, mu, offset, bias, inverse)
    if singular:
        kind = "singular inverse transform" if inverse else "singular transform"
        warnings.warn(f"{kind}; consider changing the bias", stacklevel=3)
    return result


def fht(a, dln, mu, offset=0.0, bias=0.0):
    """The Hankel transform of order `mu` along the last axis, whose points are `dln` apart in their logarithm.

    `offset` is the logarithm of the product of the centres on both sides, `bias` the exponent of a power law that is
    taken out. Warns where the average has no image.

    >>> np.scipy.fft.ifht(np.scipy.fft.fht([1.0, 2.0, 4.0], 0.5, 0.0), 0.5, 0.0).round(9)
    array([1., 2., 4.])
    """
    return _transform(a, dln, mu, offset, bias, False)


def ifht(A, dln, mu, offset=0.0, bias=0.0):
    """The way back from `fht`.

    >>> np.scipy.fft.ifht([1.0, 1.0], 0.5, 0.0).shape
    (2,)
    """
    return _transform(A, dln, mu, offset, bias, True)


def fhtoffset(dln, mu, initial=0.0, bias=0.0):
    """The offset nearest to `initial` with which `fht` does not ring.

    >>> round(np.scipy.fft.fhtoffset(0.5, 0.0, initial=0.1), 9) == round(np.scipy.fft.fhtoffset(0.5, 0.0), 9)
    True
    """
    if dln == 0:
        raise ZeroDivisionError("float division by zero")
    return _core.float64(_core._fhtoffset(dln, mu, initial, bias))
