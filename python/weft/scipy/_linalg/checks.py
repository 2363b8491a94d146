"""What functions of scipy.linalg refuse, with its texts, and how its functions of single matrices go over batches."""

import itertools

from weft import _core
from weft._array.axes import broadcast_shapes
from weft._core import asarray, float32, float64
from weft._functions.creation import asarray_chkfinite


def checked(a, check_finite=True):
    """The matrices, of a dtype to compute in: as SciPy's, bool, integers of 8 and 16 bits and float16 as float32."""
    a = asarray_chkfinite(a) if check_finite else asarray(a)
    return a.astype(float32) if a.dtype.itemsize < 4 and a.dtype.kind in "biuf" else a


def checked_double(a, check_finite=True):
    """The same, but integers become float64, whatever their size."""
    a = asarray_chkfinite(a) if check_finite else asarray(a)
    return a.astype(float64) if a.dtype.kind in "iu" else checked(a, False)


def square(a, check_finite=True, name="a", convert=checked):
    a = convert(a, check_finite)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Expected a square matrix or a batch of them, but `{name}` has shape {a.shape}.")
    return a


def at_least_matrix(a, check_finite=True):
    """Numbers and vectors are matrices of one row."""
    a = checked(a, check_finite)
    return a.reshape((1,) * (2 - a.ndim) + a.shape)


def over_batch(function, *arrays):
    """What `function` gives for each pair of matrices, in stacks: a tuple. Raises ValueError for different shapes."""
    batches = [a.shape[:-2] for a in arrays]
    batch = broadcast_shapes(*batches)
    arrays = [_core.broadcast_to(a, (*batch, *a.shape[-2:])) for a in arrays]
    places = itertools.product(*map(range, batch))
    results = [function(*(a[place] for a in arrays)) for place in places]
    if not results:
        raise ValueError("batches without matrices are not supported")
    stacks = [_core.stack(list(map(asarray, each))) for each in zip(*results)]
    return tuple(each.reshape((*batch, *each.shape[1:])) for each in stacks)
