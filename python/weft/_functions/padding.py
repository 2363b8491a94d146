"""np.pad: what is put around an array, in each of NumPy's modes. The engine pads (weft/assembly.h); here are widths and
options as NumPy takes them, and functions of the program's that fill rows."""

from weft import _core
from weft._core import array, asarray, zeros

_ufuncs = _core._ufuncs
_STATISTICS = ("maximum", "mean", "median", "minimum")
_OPTIONS = {
    "constant": {"constant_values"},
    "edge": set(),
    "empty": set(),
    "linear_ramp": {"end_values"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "wrap": set(),
    **{mode: {"stat_length"} for mode in _STATISTICS},
}


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
        is_fortran = a.flags.f_contiguous and not a.flags.c_contiguous
        return asarray(_by_function(a, widths, mode, kwargs), order="F" if is_fortran else "C")
    if mode not in _OPTIONS:
        raise ValueError(f"mode '{mode}' is not supported")
    wrong = set(kwargs) - _OPTIONS[mode]
    if wrong:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {wrong}")
    values = kwargs.get("constant_values" if mode == "constant" else "end_values", 0)
    length = kwargs.get("stat_length")
    return _core._pad(
        a,
        widths,
        mode,
        [(values, values)] if type(values) in (int, float) else _pairs(values, a.ndim),
        [] if length is None else _pairs(length, a.ndim, as_index=True),
        kwargs.get("reflect_type") == "odd",
    )
