"""np.pad: what is put around an array, in each of NumPy's modes."""

from weft import _core
from weft._core import arange, array, asarray, concatenate, empty, full, where, zeros
from weft._functions.creation import linspace

_ufuncs = _core._ufuncs
_POSITIONS = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS = ("maximum", "mean", "median", "minimum")
_OPTIONS = {
    "constant": {"constant_values"},
    "linear_ramp": {"end_values"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    **{mode: {"stat_length"} for mode in _STATISTICS},
}
_MODES = {"constant", "empty", "linear_ramp", *_POSITIONS, *_STATISTICS}


def _pairs(value, ndim, as_index=False):
    """A pair for each axis, from what broadcasts to that."""
    if value is None:
        return [(None, None)] * ndim
    given = asarray(value) if not hasattr(value, "reshape") else value
    if as_index:
        if given.dtype.kind not in "iu" and given.size:
            given = asarray(_ufuncs["rint"](given).astype("int64"))
        if given.size and bool((given < 0).any()):
            raise ValueError("index can't contain negative values")
    if given.ndim > 2:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    try:
        wide = _core.broadcast_to(asarray(given), (ndim, 2))
    except ValueError as error:
        raise ValueError(
            f"operands could not be broadcast together with remapped shapes [original->remapped]: {given.shape} "
            f"and requested shape {(ndim, 2)}"
        ) from error
    return [tuple(pair) for pair in wide.tolist()]


def _key(ndim, axis, part):
    return tuple(part if d == axis else slice(None) for d in range(ndim))


def _around(a, axis, left, right):
    parts = [part for part in (left, a, right) if part is not None]
    return concatenate([part.astype(a.dtype, copy=False) for part in parts], axis)


def _repeated(value, a, axis, count):
    if count == 0:
        return None
    shape = list(a.shape)
    shape[axis] = count
    return _core.broadcast_to(asarray(value), tuple(shape))


_FEW = 1 << 14  # elements: below, one read of all is quicker than three parts joined


def _by_positions(a, axis, before, after, mode, odd):
    """Elements of the array itself, read where arithmetic says: with the borders alone, unless they are few."""
    extent = a.shape[axis]
    if a.size < _FEW:
        return _at_places(a, axis, arange(-before, extent + after), mode, odd)
    borders = []
    for begin, count in ((-before, before), (extent, after)):
        border = None
        if count:
            border = None if odd else _border_view(a, axis, count, begin < 0, mode)
            if border is None:
                border = _at_places(a, axis, arange(begin, begin + count), mode, odd)
        borders.append(border)
    return _around(a, axis, *borders)


def _border_view(a, axis, count, in_front, mode):
    """The border as a view of the array, where it is one."""
    extent = a.shape[axis]
    if mode == "edge" or extent == 1:
        part = slice(0, 1) if in_front else slice(extent - 1, extent)
        return _repeated(a[_key(a.ndim, axis, part)], a, axis, count)
    once = 1 if mode == "reflect" else 0  # the edge itself is not there twice
    if count > extent - once:
        return None
    if mode == "wrap":
        part = slice(extent - count, extent) if in_front else slice(0, count)
    elif in_front:
        part = slice(count - 1 + once, once - 1 if once else None, -1)
    else:
        last = extent - 1 - once
        part = slice(last, last - count if last >= count else None, -1)
    return a[_key(a.ndim, axis, part)]


def _at_places(a, axis, place, mode, odd):
    extent = a.shape[axis]
    if mode == "edge" or extent == 1:
        place = _ufuncs["maximum"](_ufuncs["minimum"](place, extent - 1), 0)
        return _core._take(a, place, axis, None, "raise")
    if mode == "wrap":
        return _core._take(a, place % extent, axis, None, "raise")
    # There and back again: the edges are passed once (reflect) or twice (symmetric).
    period = 2 * (extent - 1) if mode == "reflect" else 2 * extent
    inside = place % period
    back = inside >= extent
    mirrored = (period if mode == "reflect" else period - 1) - inside
    values = _core._take(a, where(back, mirrored, inside), axis, None, "raise")
    if not odd:
        return values
    # The mirror image is turned round the edge, so each turn climbs by twice the way from edge to edge.
    first, last = a[_key(a.ndim, axis, slice(0, 1))], a[_key(a.ndim, axis, slice(-1, None))]
    along = tuple(-1 if d == axis else 1 for d in range(a.ndim))
    turns = (place // period).reshape(along).astype(a.dtype, copy=False)
    values = where(back.reshape(along), 2 * last - values, values)
    return values + 2 * turns * (last - first)


def _statistic(a, axis, length, mode, at_end):
    from weft._functions.quantiles import median
    from weft._functions.reductions import max as _max
    from weft._functions.reductions import mean
    from weft._functions.reductions import min as _min

    extent = a.shape[axis]
    length = extent if length is None else min(int(length), extent)
    if length == 0 and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    part = a[_key(a.ndim, axis, slice(extent - length, None) if at_end else slice(0, length))]
    function = {"maximum": _max, "minimum": _min, "mean": mean, "median": median}[mode]
    result = asarray(function(part, axis, keepdims=True))
    return _ufuncs["rint"](result) if a.dtype.kind in "iu" and result.dtype.kind == "f" else result


def _by_function(a, widths, function, options):
    result = zeros(
        tuple(before + extent + after for extent, (before, after) in zip(a.shape, widths)), a.dtype
    )
    result[tuple(slice(before, before + extent) for extent, (before, _) in zip(a.shape, widths))] = a
    from weft._array.axes import moveaxis
    from weft._functions.grids import ndindex

    for axis in range(a.ndim):
        rows = moveaxis(result, axis, -1)
        for position in ndindex(rows.shape[:-1]):
            row = array(rows[position], copy=True)
            function(row, widths[axis], axis, options)
            rows[position] = row
    return result


def _in_order_of(a, result):
    is_fortran = a.flags.f_contiguous and not a.flags.c_contiguous
    return asarray(result, order="F" if is_fortran else "C")


def _in_constant(a, widths, value):
    shape = tuple(before + extent + after for extent, (before, after) in zip(a.shape, widths))
    flags = a.flags
    order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    result = full(shape, asarray(value).astype(a.dtype), order=order, device=a.device)
    result[tuple(slice(before, before + extent) for extent, (before, _) in zip(a.shape, widths))] = a
    return result


def pad(array, pad_width, mode="constant", **kwargs):
    """The array with `pad_width` more elements before and behind each axis, made as `mode` says.

    'constant' (constant_values), 'edge', 'linear_ramp' (end_values), 'maximum', 'mean', 'median', 'minimum'
    (stat_length), 'reflect' and 'symmetric' (reflect_type 'even' or 'odd'), 'wrap', 'empty', or a function of a row,
    its widths, the axis and the options, which changes the row.

    >>> np.pad([1, 2, 3], 2, 'reflect')
    array([3, 2, 1, 2, 3, 2, 1])
    """
    a = asarray(array)
    if type(pad_width) is int and pad_width >= 0:
        widths = [(pad_width, pad_width)] * a.ndim
    elif isinstance(pad_width, dict):
        widths = [(0, 0)] * a.ndim
        for axis, width in pad_width.items():
            widths[axis] = tuple(width) if hasattr(width, "__len__") else (width, width)
    else:
        try:
            given = asarray(pad_width)
        except TypeError:  # objects of which weft makes no arrays
            raise TypeError("`pad_width` must be of integral type.") from None
        if given.dtype.kind not in "iu":
            raise TypeError("`pad_width` must be of integral type.")
        widths = _pairs(given, a.ndim, as_index=True)
    if callable(mode):
        return _in_order_of(a, _by_function(a, widths, mode, kwargs))
    if mode not in _MODES:
        raise ValueError(f"mode '{mode}' is not supported")
    wrong = set(kwargs) - _OPTIONS.get(mode, set())
    if wrong:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {wrong}")
    value = kwargs.get("constant_values", 0)
    if mode == "constant" and type(value) in (int, float) and a.dtype.kind in "biufc":
        return _in_constant(a, widths, value)
    values = _pairs(kwargs.get("constant_values" if mode == "constant" else "end_values", 0), a.ndim)
    lengths = _pairs(kwargs.get("stat_length"), a.ndim, as_index=kwargs.get("stat_length") is not None)
    if mode in ("maximum", "minimum") and any(length == 0 for pair in lengths for length in pair):
        raise ValueError("stat_length of 0 yields no value for padding")
    odd = kwargs.get("reflect_type", "even")
    if odd not in ("even", "odd"):
        odd = "even"
    result = a
    for axis, (before, after) in enumerate(widths):
        if a.shape[axis] == 0 and mode not in ("constant", "empty") and before + after > 0:
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        if before == after == 0:
            continue
        if mode == "empty":
            shape = list(result.shape)
            shape[axis] += before + after
            wider = empty(tuple(shape), a.dtype)
            wider[_key(a.ndim, axis, slice(before, before + result.shape[axis]))] = result
            result = wider
        elif mode in _POSITIONS:
            result = _by_positions(result, axis, before, after, mode, odd == "odd")
        elif mode == "constant":
            ends = [
                _repeated(asarray(value).astype(a.dtype), result, axis, count)
                for value, count in zip(values[axis], (before, after))
            ]
            result = _around(result, axis, *ends)
        elif mode == "linear_ramp":
            ends = []
            for value, count, edge in zip(values[axis], (before, after), (0, -1)):
                near = result[_key(a.ndim, axis, edge)]
                ramp = (
                    linspace(value, near, count, endpoint=False, dtype=a.dtype, axis=axis) if count else None
                )
                ends.append(ramp)
            if ends[1] is not None:
                ends[1] = ends[1][_key(a.ndim, axis, slice(None, None, -1))]
            result = _around(result, axis, *ends)
        else:
            ends = [
                _repeated(_statistic(result, axis, length, mode, k == 1), result, axis, count)
                for k, (length, count) in enumerate(zip(lengths[axis], (before, after)))
            ]
            result = _around(result, axis, *ends)
    return _core.array(result, copy=True) if result is a else _in_order_of(a, result)
