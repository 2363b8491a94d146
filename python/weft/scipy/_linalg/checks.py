"""What functions of scipy.linalg refuse, with its texts, and the adjoint matrices that they share."""

from weft._core import asarray
from weft._functions.creation import asarray_chkfinite


def checked(a, check_finite=True):
    return asarray_chkfinite(a) if check_finite else asarray(a)


def square(a, check_finite=True, name="a"):
    a = checked(a, check_finite)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Expected a square matrix or a batch of them, but `{name}` has shape {a.shape}.")
    return a


def adjoint(a):
    """Transposed, and conjugated where it is complex."""
    return a.mT.conj() if a.dtype.kind == "c" else a.mT
