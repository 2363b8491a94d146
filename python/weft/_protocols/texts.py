"""Functions of texts, of NumPy's dtypes S and U, that the engine has (weft/texts.h). NumPy does what is left.

Each takes NumPy's arguments, gives weft's arrays of numbers and NumPy's arrays of texts, and NotImplemented for what is
NumPy's work: other dtypes, options that are rare, and whatever is wrong, since the errors are NumPy's.
"""

import operator

import numpy

from weft import _core
from weft._engine.fallback import counting

_KINDS = (None, "quicksort", "heapsort", "mergesort", "stable")


def operand(value):
    """NumPy's array of texts in the host's byte order for an argument; None where it is something else."""
    if isinstance(value, _core._HostMemory):
        value = value._array
    elif type(value) is str or type(value) is bytes or isinstance(value, (numpy.str_, numpy.bytes_)):
        return numpy.asarray(value)
    elif type(value) is list:
        return from_list(value)
    if type(value) is not numpy.ndarray:
        return None
    dtype = value.dtype
    return value if dtype.kind in "US" and dtype.isnative and dtype.itemsize else None


def from_list(value):
    """The array of a list of str or of bytes, None for another list."""
    dtype = _core._dtype_of_texts(value)
    if dtype is None:
        return None
    array = numpy.empty(len(value), dtype)
    _core._write_texts(value, array)
    return array


def _operands(*values):
    """Arrays of texts of one kind, not all of them without an axis; None where one is something else."""
    arrays = [operand(value) for value in values]
    if any(each is None for each in arrays) or not any(each.ndim for each in arrays):
        return None
    return arrays if all(each.dtype.kind == arrays[0].dtype.kind for each in arrays) else None


def _taken(array, positions):
    result = numpy.empty(positions.size, array.dtype)
    _core._take_texts(array, positions, result)
    return result


# ---- order ----


def _order(a, axis, kind, order, stable):
    """The array and the axis to sort along; None where the options are for NumPy to look at."""
    if order is not None or kind not in _KINDS or (kind is not None and stable is not None):
        return None
    found = _operands(a)
    if found is None:
        return None
    return (found[0].ravel(), -1) if axis is None else (found[0], operator.index(axis))


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    found = _order(a, axis, kind, order, stable)
    if found is None:
        return NotImplemented
    result = numpy.empty_like(found[0])
    _core._sort_texts(*found, result)
    return result


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    found = _order(a, axis, kind, order, stable)
    return NotImplemented if found is None else _core._argsort_texts(*found)


def sort_in_place(a, axis=-1, kind=None, order=None, *, stable=None):
    result = (
        NotImplemented if axis is None or not a.flags.writeable else sort(a, axis, kind, order, stable=stable)
    )
    if result is NotImplemented:
        return result
    a._array[...] = result
    return None


def searchsorted(a, v, side="left", sorter=None):
    found = _operands(a, v)
    if found is None or sorter is not None or side not in ("left", "right"):
        return NotImplemented
    return _core._searchsorted_texts(*found, side == "right")


def lexsort(keys, axis=-1):
    if type(keys) not in (tuple, list):
        return NotImplemented
    numbers = []
    for key in keys:
        if type(key) is not _core.ndarray:
            array = operand(key)
            if array is None or array.ndim != 1:
                return NotImplemented
            key = _core._unique_texts(array, True, False)[1]
        numbers.append(key)
    return _core._lexsort(numbers, axis)


# ---- unique elements, sets ----


def _unique(array, inverse=False, counts=False):
    first, inverse, counts = _core._unique_texts(array, inverse, counts)
    return _taken(array, first), first, inverse, counts


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
    found = _operands(ar)
    if found is None or (axis is not None and (found[0].ndim != 1 or axis not in (0, -1))):
        return NotImplemented
    values, first, inverse, counts = _unique(found[0], bool(return_inverse), bool(return_counts))
    if not (return_index or return_inverse or return_counts):
        return values
    wanted = (True, return_index, return_inverse, return_counts)
    return tuple(
        each for each, is_wanted in zip((values, first, inverse, counts), wanted, strict=True) if is_wanted
    )


def _unique_result(name, *parts):
    """NumPy's function of this name, whose result has these parts of unique."""

    def function(x):
        found = _operands(x)
        if found is None:
            return NotImplemented
        all_parts = _unique(found[0], 2 in parts, 3 in parts)
        if parts == (0,):
            return all_parts[0]
        kind = getattr(numpy.lib._arraysetops_impl, name)
        return kind(*(all_parts[part] for part in parts))

    return function


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    found = _operands(element, test_elements)
    if found is None or kind not in (None, "sort") or found[0].ndim == 0:
        return NotImplemented
    return _core._isin_texts(*found, bool(invert))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    found = None if assume_unique else _operands(ar1, ar2)
    if found is None:
        return NotImplemented
    (first, in_first, *_), (second, in_second, *_) = map(_unique, found)
    is_common = _core._isin_texts(first, second, False)
    common = first[numpy.asarray(is_common)].astype(numpy.result_type(*found), copy=False)
    if not return_indices:
        return common
    return common, in_first[is_common], in_second[_core._isin_texts(second, first, False)]


def union1d(ar1, ar2):
    found = _operands(ar1, ar2)
    return NotImplemented if found is None else _unique(numpy.concatenate(found, axis=None))[0]


def setxor1d(ar1, ar2, assume_unique=False):
    found = None if assume_unique else _operands(ar1, ar2)
    if found is None:
        return NotImplemented
    both = numpy.concatenate([_unique(each)[0] for each in found])
    values, _, _, counts = _unique(both, counts=True)
    return values[numpy.asarray(counts) == 1]


def setdiff1d(ar1, ar2, assume_unique=False):
    found = _operands(ar1, ar2)
    if found is None:
        return NotImplemented
    first = found[0].ravel() if assume_unique else _unique(found[0])[0]
    return first[numpy.asarray(_core._isin_texts(first, found[1], True))]


# ---- one text after another ----


def _comparison(number):
    def compare(x1, x2, /):
        found = _operands(x1, x2)
        return NotImplemented if found is None else _core._compare_texts(*found, number)

    return compare


def add(x1, x2, /):
    found = _operands(x1, x2)
    if found is None:
        return NotImplemented
    a, b = found
    width = (a.dtype.itemsize + b.dtype.itemsize) // (4 if a.dtype.kind == "U" else 1)
    result = numpy.empty(numpy.broadcast_shapes(a.shape, b.shape), f"{a.dtype.kind}{width}")
    _core._add_texts(a, b, result)
    return result


def str_len(x, /):
    found = _operands(x)
    return NotImplemented if found is None else _core._length_of_texts(found[0])


_MOST_CHARACTERS = 1 << 16  # of both widths' product: above that NumPy's search is the better one


def _search(number):
    def search(a, sub, start=0, end=None):
        found = _operands(a, sub)
        if found is None or start != 0 or end is not None:
            return NotImplemented
        if found[0].dtype.itemsize * found[1].dtype.itemsize > _MOST_CHARACTERS:
            return NotImplemented
        return _core._find_in_texts(*found, number)

    return search


def _strip(number):
    def strip(a, chars=None):
        found = _operands(a)
        removed = None if chars is None else operand(chars)
        if found is None or (
            chars is not None
            and (removed is None or removed.ndim or removed.dtype.kind != found[0].dtype.kind)
        ):
            return NotImplemented
        result = numpy.empty(found[0].shape, found[0].dtype)
        _core._strip_texts(found[0], removed, number, result)
        return result

    return strip


def _change_case(name, number):
    theirs = getattr(numpy.char, name)

    def change(a):
        found = _operands(a)
        if found is None:
            return NotImplemented
        result = numpy.empty(found[0].shape, found[0].dtype)
        others = _core._change_case_of_texts(found[0], number, result)
        if others.size:  # not of ASCII
            if others.size > found[0].size // 2:
                return NotImplemented
            with counting(f"char.{name}", "texts that are not of ASCII"):
                places = numpy.asarray(others)
                result.reshape(-1)[places] = theirs(found[0].reshape(-1)[places])
        return result

    return change


def tolist(a):
    found = _operands(a)
    return NotImplemented if found is None or found[0].ndim != 1 else _core._list_of_texts(found[0])


_functions = {
    "sort": sort,
    "argsort": argsort,
    "ndarray.argsort": argsort,
    "ndarray.sort": sort_in_place,
    "searchsorted": searchsorted,
    "ndarray.searchsorted": searchsorted,
    "lexsort": lexsort,
    "unique": unique,
    "unique_all": _unique_result("UniqueAllResult", 0, 1, 2, 3),
    "unique_counts": _unique_result("UniqueCountsResult", 0, 3),
    "unique_inverse": _unique_result("UniqueInverseResult", 0, 2),
    "unique_values": _unique_result("", 0),
    "isin": isin,
    "intersect1d": intersect1d,
    "union1d": union1d,
    "setxor1d": setxor1d,
    "setdiff1d": setdiff1d,
    "ndarray.tolist": tolist,
}
for _number, _name in enumerate("equal not_equal less less_equal greater greater_equal".split()):
    _functions[_name] = _functions[f"strings.{_name}"] = _comparison(_number)
_functions |= dict.fromkeys(("add", "char.add", "strings.add"), add)
for _prefix in ("char.", "strings."):
    _functions[_prefix + "str_len"] = str_len
    for _number, _name in enumerate("find rfind count startswith endswith".split()):
        _functions[_prefix + _name] = _search(_number)
    for _number, _name in enumerate("strip lstrip rstrip".split()):
        _functions[_prefix + _name] = _strip(_number)
    for _number, _name in enumerate("lower upper swapcase capitalize title".split()):
        _functions[_prefix + _name] = _change_case(_name, _number)


def instead(name, args, kwargs):
    """The engine's result of a call of NumPy's function of this name, or NotImplemented."""
    function = _functions.get(name)
    if function is None:
        return NotImplemented
    try:
        return function(*args, **kwargs)
    except (TypeError, ValueError, BufferError):  # whatever is wrong: NumPy says so
        return NotImplemented
