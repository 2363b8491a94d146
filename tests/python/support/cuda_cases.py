"""What tests of kernels share."""

import numpy


def copies(arguments):
    """Copies, of which views of one array overlap as before."""
    wholes = {}

    def copied(given):
        if isinstance(given, tuple):
            return tuple(map(copied, given))
        if not isinstance(given, numpy.ndarray):
            return given
        if given.base is None:
            return given.copy()
        whole = wholes.setdefault(id(given.base), given.base.copy())
        offset = given.ctypes.data - given.base.ctypes.data
        return numpy.ndarray(given.shape, given.dtype, whole, offset, given.strides)

    return copied(arguments)
