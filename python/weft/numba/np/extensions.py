"""Of numba.np.extensions: a function that NumPy has not."""

import numpy


def cross2d(a, b):
    """What vectors of two components span, the rows of arrays; also in compiled functions.

    >>> import numpy
    >>> from weft.numba.np.extensions import cross2d
    >>> float(cross2d(numpy.array([1.0, 2.0]), numpy.array([4.0, 5.0])))
    -3.0
    """
    first, second = numpy.asarray(a), numpy.asarray(b)
    if first.shape[-1] != 2 or second.shape[-1] != 2:
        raise ValueError(
            "Incompatible dimensions for 2D cross product\n(dimension must be 2 for both inputs)"
        )
    return numpy.asarray(first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0])
