"""NumPy's functions about neighbouring values: differences, slopes, integrals, interpolation, convolution, products."""

from weft import _core
from weft._core import asarray
from weft._engine.numpy_version import numpy_is_at_least
from weft._protocols.no_value import NO_VALUE


def diff(a, n=1, axis=-1, prepend=NO_VALUE, append=NO_VALUE):
    """The differences of neighbours along an axis, `n` times; of bools whether they differ.

    >>> np.diff([1, 4, 9, 16])
    array([3, 5, 7])
    """
    if n == 0:
        return a
    if n < 0:
        raise ValueError("order must be non-negative but got " + repr(n))
    if prepend is NO_VALUE and append is NO_VALUE:
        return _core._diff(a, n, axis)
    given = ((more,) if more is not NO_VALUE else () for more in (prepend, append))
    return _core._diff(a, n, axis, *given)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Slopes by differences of both neighbours, at the ends by one-sided ones: an array for each axis.

    `varargs` are distances, or coordinates, one for all axes or one for each. Errors are of second order inside.

    >>> np.gradient([1, 2, 4, 7])
    array([1. , 1.5, 2.5, 3. ])
    """
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    return _core._gradient(f, varargs, axis, 1 if edge_order == 1 else 2)


def interp(x, xp, fp, left=None, right=None, period=None):
    """The values at `x` of the lines between the points (xp, fp), where `xp` rises; beyond the ends those at the ends.

    >>> np.interp(2.5, [1, 2, 3], [3, 2, 0])
    np.float64(1.0)
    """
    x, xp, fp = asarray(x), asarray(xp), asarray(fp)
    dtype = "complex128" if fp.dtype.kind == "c" else "float64"
    if x.size == 0 and numpy_is_at_least(2, 5):
        return _core.empty(x.shape, dtype)
    left, right = (None if end is None else asarray(end, dtype) for end in (left, right))
    return _core._interp(x, xp, fp, left, right, period)


_MODES = {"valid": 0, "same": 1, "full": 2, "v": 0, "s": 1, "f": 2}


def _mode_of(mode):
    number = _MODES.get(mode.lower() if isinstance(mode, str) else mode, mode)
    if number not in (0, 1, 2):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {number!r})")
    return int(number)


def correlate(a, v, mode="valid"):
    """The sums of products of `a`, moved along, with conj(v).

    >>> np.correlate([1, 2, 3], [0, 1, 0.5])
    array([3.5])
    """
    return _core._correlate(a, v, _mode_of(mode))


def convolve(a, v, mode="full"):
    """The sums of products of `a` with `v` turned round, as polynomials are multiplied.

    >>> np.convolve([1, 2, 3], [0, 1, 0.5])
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    return _core._convolve(a, v, _mode_of(mode))


def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """Angles without jumps: where neighbours are more than half a period apart, whole periods are added.

    >>> np.unwrap([0, 1, 3, 0, 1], period=4)
    array([0, 1, 3, 4, 5])
    """
    return _core._unwrap(p, period / 2 if discont is None else discont, axis, period)
