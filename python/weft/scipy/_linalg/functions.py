"""Functions of square matrices: exponential, logarithm, square root."""

from weft._core import (
    _linalg_expm,
    _linalg_logm,
    _linalg_sqrtm,
    asarray,
    complex64,
    complex128,
    float16,
    float32,
    float64,
)
from weft.exceptions import LinAlgError
from weft.scipy._linalg.checks import checked_double, square


def expm(A):
    """The exponential of each matrix, by scaling, a Padé approximant and squaring.

    >>> np.scipy.linalg.expm(np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    return _linalg_expm(_matrix_of_number(asarray(A)))


def _matrix_of_number(a):
    """A number as a matrix of one, in double precision, as SciPy has it."""
    if a.size != 1 or a.ndim > 1:
        return a
    return a.reshape(1, 1).astype(complex128 if a.dtype.kind == "c" else float64)


def sqrtm(A):
    """The principal square root of each matrix, by its Schur form; real where that root is.

    >>> np.scipy.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]])
    array([[2., 0.],
           [0., 3.]])
    """
    a = _matrix_of_number(asarray(A))
    if a.ndim < 2:
        raise LinAlgError("The input array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    if a.dtype.kind in "biu":
        a = a.astype(float64)
    return _linalg_sqrtm(a.astype(float32) if a.dtype == float16 else a)


def logm(A):
    """The principal logarithm of each matrix, by square roots of its Schur form and quadrature; real where it is.

    Complex results are complex128.

    >>> np.scipy.linalg.logm(np.eye(2))
    array([[0., 0.],
           [0., 0.]])
    """
    a = square(A, name="A", convert=checked_double)
    result = _linalg_logm(a.astype(complex128) if a.dtype == complex64 else a)
    return result.astype(complex128) if result.dtype == complex64 else result
