"""NumPy's dtypes and Numba's types."""

import numpy

from weft.numba._types import NPDatetime, Record, from_numpy

from_dtype = from_numpy


def as_dtype(kind):
    """NumPy's dtype of a type."""
    return kind.numpy_dtype if isinstance(kind, (NPDatetime, Record)) else numpy.dtype(kind.name)
