"""Arrays that are equal, or nearly so."""

from weft import _core
from weft._array.axes import broadcast_shapes
from weft._core import asanyarray, asarray
from weft._ufunc.errstate import quiet as _quiet

_ufuncs = _core._ufuncs


@_quiet
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where |a - b| <= atol + rtol * |b|.

    >>> np.isclose([1, 2], [1, 2.1])
    array([ True, False])
    """
    # Python's numbers take the arrays' type.
    x, y = (each if type(each) in (int, float, complex) else asanyarray(each) for each in (a, b))
    if isinstance(y, int):
        y = float(y)
    elif not isinstance(y, (float, complex)) and y.dtype.kind in "biu":
        # |smallest integer| is not an integer of that type.
        y = y.astype(_core.result_type(y, 1.0))
    absolute, isfinite = _ufuncs["absolute"], _ufuncs["isfinite"]
    near = (absolute(x - y) <= atol + rtol * abs(y)) & isfinite(y) | (x == y)
    if equal_nan:
        near = near | (_ufuncs["isnan"](x) & _ufuncs["isnan"](y))
    return near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close; see isclose."""
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have the same shape and elements."""
    try:
        a1, a2 = asarray(a1), asarray(a2)
    except Exception:
        return False
    if a1.shape != a2.shape:
        return False
    equal = a1 == a2
    if equal_nan and a1.dtype.kind in "fc" and a2.dtype.kind in "fc":
        equal = equal | (_ufuncs["isnan"](a1) & _ufuncs["isnan"](a2))
    return bool(equal.all())


def array_equiv(a1, a2):
    """Whether two arrays have the same elements after broadcasting one to the other."""
    try:
        a1, a2 = asarray(a1), asarray(a2)
        broadcast_shapes(a1.shape, a2.shape)
    except Exception:
        return False
    return bool((a1 == a2).all())
