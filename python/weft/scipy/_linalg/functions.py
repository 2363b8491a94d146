"""Functions of square matrices: exponential, logarithm, square root."""

from weft._core import _linalg_expm, _linalg_logm, _linalg_sqrtm
from weft.scipy._linalg.checks import square


def expm(A):
    """The exponential of each matrix, by scaling, a Padé approximant and squaring.

    >>> np.scipy.linalg.expm(np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    return _linalg_expm(A)


def sqrtm(A):
    """The principal square root of each matrix, by its Schur form; real where that root is.

    >>> np.scipy.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]])
    array([[2., 0.],
           [0., 3.]])
    """
    return _linalg_sqrtm(square(A, name="A"))


def logm(A):
    """The principal logarithm of a matrix, by square roots of its Schur form and quadrature; real where it is.

    >>> np.scipy.linalg.logm(np.eye(2))
    array([[0., 0.],
           [0., 0.]])
    """
    return _linalg_logm(square(A, name="A"))
