"""NumPy's functions about order: sorting, searching in what is sorted, unique elements, sets."""

from typing import NamedTuple

from weft import _core
from weft._array.axes import normalize_axes
from weft._core import asarray, concatenate, flip, ndarray, result_type
from weft._functions.reductions import cumsum

_KINDS = ("quicksort", "mergesort", "heapsort", "quick", "merge", "heap", "stable", "q", "m", "h", "s")


def _checked_kind(kind, stable, order, descending=None):
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind is not None and (stable is not None or descending):
        raise ValueError(
            "`kind` and keyword parameters can't be provided at the same time. Use only one of them."
        )
    if kind is not None and (not isinstance(kind, str) or kind.lower() not in _KINDS):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")


def _sorts_itself(a):
    """Whether an array's class has its own order, as masked arrays have."""
    kind = type(a)
    return kind is not ndarray and issubclass(kind, ndarray) and kind.sort is not ndarray.sort


def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """A sorted copy along an axis, or of the flattened array. NaN comes last; `kind` makes no difference.

    `descending` is the array API's and NumPy 2.5's: the opposite order. NaN is last there, too.

    Method: keys in vector registers (Wassenberg et al., "Vectorized and performance-portable quicksort", 2022); long
    rows are split by a sample (Frazer and McKellar, "Samplesort", 1970), and all threads sort the parts.

    >>> np.sort([3, 1, 2])
    array([1, 2, 3])
    """
    _checked_kind(kind, stable, order, descending)
    if _sorts_itself(a):
        a = a.flatten() if axis is None else a.copy("K")
        opposite = {"descending": True} if descending else {}
        a.sort(axis=-1 if axis is None else axis, kind=kind, order=order, **opposite)
        return a
    a = asarray(a)
    if axis is None:
        a, axis = a.ravel(), -1
    axis = normalize_axes(axis, a.ndim, None)[0]
    if not descending:
        return _core._sort(a, axis)
    if a.dtype.kind in "fc":  # NaN stays last
        return -_core._sort(-a, axis)
    return flip(_core._sort(a, axis), axis)


def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """The positions along an axis in the order of their elements; equal elements keep their order.

    `descending` is the array API's and NumPy 2.5's: the greatest element comes first, NaN last, and equal ones still
    keep their order.

    >>> np.argsort([3, 1, 2])
    array([1, 2, 0])
    """
    _checked_kind(kind, stable, order, descending)
    a = asarray(a)
    if axis is None:
        a, axis = a.ravel(), -1
    if a.ndim == 0:
        return _core._argsort(a.reshape(1), 0)
    axis = normalize_axes(axis, a.ndim, None)[0]
    if descending and a.dtype.kind in "fc":
        return _core._argsort(-a, axis)
    if descending:
        return a.shape[axis] - 1 - flip(_core._argsort(flip(a, axis), axis), axis)
    return _core._argsort(a, axis)


def sort_in_place(self, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """Sorts the array itself along an axis."""
    plain = self if type(self) is ndarray else _core._plain(self)  # sort() asks classes that sort themselves
    plain[...] = sort(plain, axis, kind, order, stable=stable, descending=descending)


def lexsort(keys, axis=-1):
    """The positions in the order of the last key, equal ones in that of the key before, and so on.

    >>> np.lexsort(([1, 0, 2], [5, 5, 4]))
    array([2, 1, 0])
    """
    return _core._lexsort(keys, axis)


def sort_complex(a):
    """A sorted copy as complex numbers: by the real part, then by the imaginary one."""
    a = sort(asarray(a))
    if a.dtype.kind == "c":
        return a
    small = a.dtype in ("int8", "uint8", "int16", "uint16")
    return a.astype("complex64" if small else "complex128")


def _checked_kth(kth, extent, is_empty):
    """The places, from 0 on."""
    if type(kth) is int and abs(kth) < 2**63:
        positions = [kth]
    else:
        positions = asarray(kth)
        if positions.dtype.kind == "b":
            raise ValueError("Booleans unacceptable as partition index")
        if positions.dtype.kind not in "iu":
            raise TypeError("Partition index must be integer")
        positions = positions.ravel().tolist()
    if is_empty:
        return []
    for position in positions:
        if not -extent <= position < extent:
            raise ValueError(f"kth(={position}) out of bounds ({extent})")
    return [position % extent for position in positions]


def _partition_axis(a, kth, axis):
    a = asarray(a)
    if axis is None:
        a, axis = a.ravel(), -1
    axis = normalize_axes(axis, a.ndim, None)[0]
    return a, _checked_kth(kth, a.shape[axis], a.size == 0), axis


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy in which the elements at `kth` are those of the sorted array, smaller ones before, others behind."""
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    a, places, axis = _partition_axis(a, kth, axis)
    return _core._partition(a, places, axis)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The positions of what partition gives."""
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    return _core._argpartition(*_partition_axis(a, kth, axis))


def partition_in_place(self, kth, axis=-1, kind="introselect", order=None):
    """Partitions the array itself along an axis."""
    self[...] = partition(self, kth, axis, kind, order)


# ---- in what is sorted ----


def searchsorted(a, v, side="left", sorter=None):
    """Where each of `v` belongs in the sorted array `a`: before equal elements, or with side='right' behind them.

    >>> np.searchsorted([1, 3, 3, 5], [3, 4])
    array([1, 3])
    """
    if side not in ("left", "right"):
        raise ValueError(f"search side must be one of 'left' or 'right' (got {side!r})")
    a = asarray(a)
    number = isinstance(v, (bool, int, float, complex))
    v = asarray(v)
    common = result_type(a.dtype, v.dtype)
    if a.ndim != 1:
        raise ValueError(
            "object too deep for desired array" if a.ndim else "object of too small depth for desired array"
        )
    if sorter is not None:
        sorter = asarray(sorter)
        if sorter.dtype.kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if sorter.ndim != 1 or sorter.size != a.size:
            raise ValueError("sorter.size must equal a.size")
        a = a[sorter]
    result = _core._searchsorted(a.astype(common, copy=False), v.astype(common, copy=False), side == "right")
    return result[()] if number and isinstance(result, ndarray) else result


# ---- unique elements ----


class UniqueAllResult(NamedTuple):
    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    values: ndarray
    inverse_indices: ndarray


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """The different elements, sorted; with them where each is first, which one each element is, and how often it is.

    >>> np.unique([3, 1, 3, 2], return_counts=True)
    (array([1, 2, 3]), array([1, 1, 2]))
    """
    asked = bool(return_index), bool(return_inverse), bool(return_counts)
    if axis is None and _sorts_itself(ar):
        return _unique_in_own_order(ar.ravel(), ar.shape, *asked)
    return _core._unique(ar, axis, *asked, bool(equal_nan))


def _unique_in_own_order(flat, shape, with_first, with_inverse, with_counts):
    """Of an array whose class has its own order and its own equality."""
    if with_first or with_inverse:
        order = flat.argsort()
        values = flat[order]
    else:
        values = sort(flat)
    begins = _core.zeros(flat.size, "bool")
    begins[:1] = True
    begins[1:] = values[1:] != values[:-1]
    results = [values[begins]]
    if with_first:
        results.append(order[begins])
    if with_inverse:
        inverse = _core.empty(flat.size, "int64")
        inverse[order] = cumsum(begins, dtype="int64") - 1
        results.append(inverse.reshape(shape))
    if with_counts:
        first = _core.nonzero(begins)[0]
        results.append(concatenate([first[1:], asarray([flat.size])])[: first.size] - first)
    return results[0] if len(results) == 1 else tuple(results)


def unique_all(x):
    """unique with all that it can tell; every NaN counts as another value."""
    return UniqueAllResult(
        *unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    )


def unique_counts(x):
    """The different elements and how often each is there."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x):
    """The different elements and which one each element is."""
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x):
    """The different elements."""
    return unique(x, equal_nan=False)


# ---- sets ----


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The different elements that both arrays have, sorted.

    >>> np.intersect1d([1, 3, 4], [3, 1, 2])
    array([1, 3])
    """
    return _core._intersect1d(ar1, ar2, bool(assume_unique), bool(return_indices))


_SEARCHES = {None: 0, "sort": 1, "table": 2}  # SetSearch


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Whether each element is among `test_elements`.

    >>> np.isin([1, 2, 3], [3, 1])
    array([ True, False,  True])
    """
    if kind not in _SEARCHES:
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    return _core._isin(element, test_elements, bool(invert), _SEARCHES[kind])


def setdiff1d(ar1, ar2, assume_unique=False):
    """The different elements of the first array that the second has not, sorted."""
    if _sorts_itself(ar1) and not assume_unique:
        ar1, assume_unique = unique(ar1), True
        return ar1[isin(ar1, ar2, invert=True)]
    return _core._setdiff1d(ar1, ar2, bool(assume_unique))
