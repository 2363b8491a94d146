"""Norms as scipy.linalg has them."""

import weft.linalg as linalg
from weft._core import asarray
from weft._functions.creation import asarray_chkfinite


def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """As weft.linalg.norm. Raises ValueError for infinities and nan; without `check_finite` nothing is computed yet.

    >>> np.scipy.linalg.norm([3.0, 4.0])
    np.float64(5.0)
    """
    return linalg.norm(asarray_chkfinite(a) if check_finite else asarray(a), ord, axis, keepdims)
