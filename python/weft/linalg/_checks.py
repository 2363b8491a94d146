"""What functions of numpy.linalg refuse, with its texts."""

import sys

from weft._core import _ufuncs, asarray, ndarray
from weft._engine.numpy_version import numpy_is_at_least
from weft._protocols.overrides import like_owner
from weft.exceptions import LinAlgError

isfinite = _ufuncs["isfinite"]


def check_stacked(a):
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def check_square(a):
    check_stacked(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def eigen_are_complex():
    """Whether eigenvalues are complex in any case, as NumPy's after 2.5, or real where they can be, as those before.

    The NumPy that the process has loaded decides; without one they may be real.
    """
    return "numpy" in sys.modules and numpy_is_at_least(2, 5)


def of_finite(result, a):
    """What singular values gave; LinAlgError for infinite elements beside NumPy 2.5, whose functions look for them."""
    if numpy_is_at_least(2, 5) and not isfinite(asarray(a)).all():
        raise LinAlgError("SVD did not converge")
    return result


def as_given(result, argument):
    """A result, or a tuple of them, of the type of an argument that is an instance of a subclass of ndarray."""
    if type(argument) is ndarray or not isinstance(argument, ndarray):
        return result
    if isinstance(result, tuple):
        return type(result)(*(like_owner(each, argument) for each in result))
    return like_owner(result, argument)
