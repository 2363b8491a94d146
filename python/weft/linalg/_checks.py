"""What functions of numpy.linalg refuse, with its texts."""

from weft.exceptions import LinAlgError


def check_stacked(a):
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def check_square(a):
    check_stacked(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def is_empty(a):
    """Whether the matrices of an array have no elements."""
    return a.shape[-1] * a.shape[-2] == 0 if a.ndim >= 2 else a.size == 0
