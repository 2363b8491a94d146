"""What functions of scipy.linalg refuse, with its texts, and the adjoint matrices that they share."""

from weft._core import asarray, float32
from weft._functions.creation import asarray_chkfinite


def checked(a, check_finite=True):
    """The matrices, of a dtype to compute in: as SciPy's, bool, integers of 8 and 16 bits and float16 as float32."""
    a = asarray_chkfinite(a) if check_finite else asarray(a)
    return a.astype(float32) if a.dtype.itemsize < 4 and a.dtype.kind in "biuf" else a


def square(a, check_finite=True, name="a"):
    a = checked(a, check_finite)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Expected a square matrix or a batch of them, but `{name}` has shape {a.shape}.")
    return a


def adjoint(a):
    """Transposed, and conjugated where it is complex."""
    return a.mT.conj() if a.dtype.kind == "c" else a.mT
