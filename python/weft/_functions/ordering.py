"""NumPy's functions about order: sorting, searching in what is sorted, unique elements, sets."""

from typing import NamedTuple

from weft import _core
from weft._array.axes import normalize_axes
from weft._array.dtypes import iinfo
from weft._core import arange, asarray, concatenate, flip, ndarray, result_type
from weft._functions.reductions import cumsum

_ufuncs = _core._ufuncs
_not, _isnan = _ufuncs["logical_not"], _ufuncs["isnan"]
_KINDS = ("quicksort", "mergesort", "heapsort", "quick", "merge", "heap", "stable", "q", "m", "h", "s")


def _checked_kind(kind, stable, order):
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind is not None and stable is not None:
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

    `descending` is the array API's: the same elements in the opposite order, with NaN first.

    Method: keys in vector registers (Wassenberg et al., "Vectorized and performance-portable quicksort", 2022); long
    rows are split by a sample (Frazer and McKellar, "Samplesort", 1970), and all threads sort the parts.

    >>> np.sort([3, 1, 2])
    array([1, 2, 3])
    """
    _checked_kind(kind, stable, order)
    if _sorts_itself(a):
        a = a.flatten() if axis is None else a.copy("K")
        a.sort(axis=-1 if axis is None else axis, kind=kind, order=order)
        return a
    a = asarray(a)
    if axis is None:
        a, axis = a.ravel(), -1
    if 0 in a.strides:
        a = a.copy("K")  # axes that repeat lie innermost in a copy
    axis = normalize_axes(axis, a.ndim, None)[0]
    found = _core._sort(a, axis)
    return flip(found, axis) if descending else found


def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """The positions along an axis in the order of their elements; equal elements keep their order.

    `descending` is the array API's: the greatest element, or NaN, comes first, and equal ones still keep their order.

    >>> np.argsort([3, 1, 2])
    array([1, 2, 0])
    """
    _checked_kind(kind, stable, order)
    a = asarray(a)
    if axis is None:
        a, axis = a.ravel(), -1
    if a.ndim == 0:
        return _core._argsort(a.reshape(1), 0)
    axis = normalize_axes(axis, a.ndim, None)[0]
    if descending:
        return a.shape[axis] - 1 - flip(_core._argsort(flip(a, axis), axis), axis)
    return _core._argsort(a, axis)


def sort_in_place(self, axis=-1, kind=None, order=None, *, stable=None):
    """Sorts the array itself along an axis."""
    self[...] = sort(self, axis, kind, order, stable=stable)


def lexsort(keys, axis=-1):
    """The positions in the order of the last key, equal ones in that of the key before, and so on.

    >>> np.lexsort(([1, 0, 2], [5, 5, 4]))
    array([2, 1, 0])
    """
    keys = [asarray(key) for key in keys]
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if any(key.shape != keys[0].shape for key in keys):
        raise ValueError("all keys need to be the same shape")
    if keys[0].ndim == 0:
        return _core.zeros((), "int64")[()]
    axis = normalize_axes(axis, keys[0].ndim, None)[0]
    order = _core._argsort(keys[0], axis)
    for key in keys[1:]:
        inner = _core._argsort(_core._take_along_axis(key, order, axis), axis)
        order = _core._take_along_axis(order, inner, axis)
    return order


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
    if 0 in a.strides:
        a = a.copy("K")  # axes that repeat lie innermost in a copy
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


def digitize(x, bins, right=False):
    """The number of the bin that each element is in: bins[i - 1] <= x < bins[i], with `right` the other way round.

    >>> np.digitize([0.5, 2.5], [0, 1, 2])
    array([1, 3])
    """
    x, bins = asarray(x), asarray(bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    rises = bool((bins[1:] >= bins[:-1]).all())
    if not rises and not bool((bins[1:] <= bins[:-1]).all()):
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if rises:
        return searchsorted(bins, x, side)
    return bins.size - searchsorted(bins[::-1], x, side)


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


def _begins(values, equal_nan):
    """Where a sorted array has another value than before."""
    same = values[1:] == values[:-1]
    if equal_nan and values.dtype.kind in "fc":
        same = _ufuncs["logical_or"](same, _ufuncs["logical_and"](_isnan(values[1:]), _isnan(values[:-1])))
    return concatenate([asarray([True], device=values.device), _not(same)])


def _lengths(begins):
    """How far it is from each true element to the next one, or the end."""
    first = _core.nonzero(begins)[0]
    end = asarray([begins.size], device=begins.device)
    return concatenate([first[1:], end])[: first.size] - first


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
    own_order = _sorts_itself(ar)
    ar = ar if own_order else asarray(ar)
    if axis is not None and ar.ndim == 1:
        normalize_axes(axis, 1, None)  # rows of one element are elements, and NaNs equal
    elif axis is not None:
        return _unique_along(ar, axis, return_index, return_inverse, return_counts)
    shape, flat = ar.shape, ar.ravel()
    found = None
    if not own_order:
        found = _core._unique_integers(flat, bool(return_index), bool(return_counts), bool(return_inverse))
    if found is not None:
        values, first, counts, inverse = found
        results = [values, first, None if inverse is None else inverse.reshape(shape), counts]
        results = [result for result in results if result is not None]
        return results[0] if len(results) == 1 else tuple(results)
    with_positions = return_index or return_inverse
    if with_positions:
        order = flat.argsort() if own_order else _core._argsort(flat, 0)
        values = flat[order]
    else:
        values = sort(flat) if own_order else _core._sort(flat, 0)
    if flat.size == 0:
        begins = _core.zeros(0, "bool", device=flat.device)
    else:
        begins = _begins(values, equal_nan)
    results = [values[begins]]
    if return_index:
        results.append(order[begins])
    if return_inverse:
        inverse = _core.empty(flat.size, "int64", device=flat.device)
        inverse[order] = cumsum(begins, dtype="int64") - 1
        results.append(inverse.reshape(shape))
    if return_counts:
        results.append(_lengths(begins))
    return results[0] if len(results) == 1 else tuple(results)


def _unique_along(ar, axis, return_index, return_inverse, return_counts):
    """The different subarrays along an axis, in the order of their elements."""
    axis = normalize_axes(axis, ar.ndim, None)[0]
    rows = ar.transpose((axis, *(d for d in range(ar.ndim) if d != axis)))
    flat = rows.reshape(rows.shape[0], -1) if ar.size else rows.reshape(rows.shape[0], 0)
    count, width = flat.shape
    if width:
        order = lexsort([flat[:, k] for k in range(width - 1, -1, -1)])
    else:
        order = arange(count, device=ar.device)
    ordered = flat[order]
    if count:
        differs = (ordered[1:] != ordered[:-1]).any(1)
        begins = concatenate([asarray([True], device=ar.device), differs])
    else:
        begins = _core.zeros(0, "bool", device=ar.device)
    values = asarray(rows[order[begins]], order="C")
    back = [*range(1, axis + 1), 0, *range(axis + 1, ar.ndim)]
    results = [values.transpose(tuple(back))]
    if return_index:
        results.append(order[begins])
    if return_inverse:
        inverse = _core.empty(count, "int64", device=ar.device)
        inverse[order] = cumsum(begins, dtype="int64") - 1
        results.append(inverse)
    if return_counts:
        results.append(_lengths(begins))
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
    ar1, ar2 = asarray(ar1), asarray(ar2)
    if not assume_unique:
        if return_indices:
            ar1, first = unique(ar1, return_index=True)
            ar2, second = unique(ar2, return_index=True)
        else:
            ar1, ar2 = unique(ar1), unique(ar2)
    else:
        ar1, ar2 = ar1.ravel(), ar2.ravel()
    both = concatenate([ar1, ar2])
    order = argsort(both) if return_indices else None
    values = both[order] if return_indices else sort(both)
    twice = values[1:] == values[:-1]
    common = values[:-1][twice]
    if not return_indices:
        return common
    of_first, of_second = order[:-1][twice], order[1:][twice] - ar1.size
    if not assume_unique:
        of_first, of_second = first[of_first], second[of_second]
    return common, of_first, of_second


def union1d(ar1, ar2):
    """The different elements of both arrays, sorted."""
    return unique(concatenate([asarray(ar1).ravel(), asarray(ar2).ravel()]))


def setxor1d(ar1, ar2, assume_unique=False):
    """The different elements that only one of the arrays has, sorted."""
    ar1, ar2 = asarray(ar1), asarray(ar2)
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    values = sort(concatenate([ar1.ravel(), ar2.ravel()]))
    if values.size == 0:
        return values
    end = asarray([True], device=values.device)
    differs = concatenate([end, values[1:] != values[:-1], end])
    return values[_ufuncs["logical_and"](differs[1:], differs[:-1])]


def _is_near(ordered, count):
    """Whether a table with a place for each integer between the first and the last is worth its memory."""
    return int(ordered[-1]) - int(ordered[0]) <= 6 * (count + ordered.size)


def _is_in_table(element, wanted):
    """Whether each element is one of these, which are in order: one read each. All are integers or bools."""
    if element.dtype == "bool":
        element = element.astype("uint8")
    limits = iinfo(element.dtype)
    least, most = int(wanted[0]), int(wanted[-1])
    table = _core.zeros(most - least + 1, "bool")
    if wanted.dtype == "bool":
        wanted = wanted.astype("uint8")
    table[_places(wanted, least)] = True
    low, high = max(least, limits.min), min(most, limits.max)
    if low > high:
        return _core.zeros(element.shape, "bool")
    near = _ufuncs["minimum"](_ufuncs["maximum"](element, low), high)
    found = table[low - least :][_places(asarray(near), low)]
    return _ufuncs["logical_and"](found, near == element, order="C")


def _places(integers, least):
    """How far integers are above the least of them."""
    if integers.dtype != "uint64":
        integers = integers.astype("int64", copy=False)
    return integers - least


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Whether each element is among `test_elements`.

    >>> np.isin([1, 2, 3], [3, 1])
    array([ True, False,  True])
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    element, wanted = asarray(element), asarray(test_elements)
    integers = element.dtype.kind in "iub" and wanted.dtype.kind in "iub"
    if kind == "table" and not integers:
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. "
            "Please select 'sort' or None for kind."
        )
    wanted = unique(wanted) if integers else sort(wanted.ravel())
    if integers and result_type(element.dtype, wanted.dtype).kind == "f":
        # uint64 beside a signed dtype: as float64, which is common to both, different integers would be equal.
        if element.dtype == "uint64":
            wanted = wanted[wanted >= 0].astype("uint64")
        else:
            wanted = wanted[wanted <= iinfo("int64").max].astype("int64")
    if wanted.size == 0:
        found = _core.zeros(element.shape, "bool", device=element.device)
    elif integers and kind != "sort" and element.device == "cpu" and _is_near(wanted, element.size):
        found = _is_in_table(element, wanted)
    else:
        common = result_type(element.dtype, wanted.dtype)
        element, wanted = element.astype(common, copy=False), wanted.astype(common, copy=False)
        place = asarray(_core._searchsorted(wanted, element, False))
        near = wanted[_ufuncs["minimum"](place, wanted.size - 1)]
        found = near == element
    found = _not(found) if invert else found
    return found if isinstance(found, ndarray) else asarray(found)


def setdiff1d(ar1, ar2, assume_unique=False):
    """The different elements of the first array that the second has not, sorted."""
    ar1 = asarray(ar1).ravel() if assume_unique else unique(ar1)
    return ar1[isin(ar1, ar2, invert=True)]
