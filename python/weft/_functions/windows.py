"""NumPy's windows for signals, and the Bessel function that Kaiser's needs."""

from weft import _core
from weft._core import arange, asarray, ones, result_type, where
from weft._functions.creation import ones_like

_ufuncs = _core._ufuncs
_cos, _exp, _sqrt, _abs = (_ufuncs[name] for name in ("cos", "exp", "sqrt", "absolute"))
_PI = 3.141592653589793

# I0(x) is the sum of (x / 2)**(2 k) / k!**2, all positive: 80 terms are enough up to 32 (Abramowitz and Stegun 9.6.12).
_SERIES, _FAR = 80, 32.0
# From there on exp(x) / sqrt(2 pi x) times the sum of (1 * 9 * 25 * ...) / (k! (8 x)**k) (9.7.1).
_ASYMPTOTIC = 20


def i0(x):
    """The modified Bessel function of the first kind, of order 0; of real numbers, to within a few roundings.

    >>> np.i0([0.0, 1.0])
    array([1.        , 1.26606588])
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    dtype = x.dtype if x.dtype.kind == "f" else _core.dtype("float64")
    size = _abs(x.astype("float64"))
    near = _ufuncs["minimum"](size, _FAR)
    square = near * near * 0.25
    total = ones_like(near)
    for k in range(_SERIES, 0, -1):
        total = total * square * (1.0 / (k * k)) + 1
    far = _ufuncs["maximum"](size, _FAR)
    tail = ones_like(near)
    for k in range(_ASYMPTOTIC, 0, -1):
        tail = tail * ((2 * k - 1) ** 2 / (8.0 * k)) / far + 1
    half = _exp(0.5 * far)  # in two steps: it overflows where the result does
    tail = half * (tail / _sqrt(2 * _PI * far)) * half
    result = where(size <= _FAR, total, tail)
    return where(_ufuncs["isnan"](size), size, result).astype(dtype, copy=False)


def _points(M):
    """-(M - 1), -(M - 3), ..., M - 1 and their dtype; fewer than two are a case of their own."""
    dtype = result_type(asarray(M).dtype, "float64")
    count = float(M)
    if count < 1:
        return asarray([], dtype), None
    if count == 1:
        return ones(1, dtype), None
    return arange(1 - count, count, 2, dtype=dtype), count - 1


def bartlett(M):
    """A triangle of M points, 0 at its ends.

    >>> np.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    n, width = _points(M)
    if width is None:
        return n
    return where(n <= 0, 1 + n / width, 1 - n / width)


def _cosines(M, *parts):
    n, width = _points(M)
    if width is None:
        return n
    result = parts[0]
    for k, part in enumerate(parts[1:], 1):
        result = result + part * _cos(k * _PI * n / width)
    return result


def blackman(M):
    """Blackman's window of M points: 0.42 and cosines of one and two periods."""
    return _cosines(M, 0.42, 0.5, 0.08)


def hamming(M):
    """Hamming's window of M points: a raised cosine, 0.08 at its ends."""
    return _cosines(M, 0.54, 0.46)


def hanning(M):
    """Von Hann's window of M points: a raised cosine, 0 at its ends."""
    return _cosines(M, 0.5, 0.5)


def kaiser(M, beta):
    """Kaiser's window of M points, the narrower the larger `beta`.

    >>> np.kaiser(3, 0.0)
    array([1., 1., 1.])
    """
    dtype = result_type(asarray(M).dtype, asarray(beta).dtype, "float64")
    if float(M) == 1:
        return ones(1, dtype)
    beta = asarray(beta, dtype)
    n = arange(0, float(M), dtype=dtype)
    middle = (float(M) - 1) / 2.0
    return i0(beta * _sqrt(1 - ((n - middle) / middle) ** 2.0)) / i0(beta)
