"""ufunc.at and ufunc.reduceat, behind the methods of that name."""

from weft import _core
from weft._core import arange, asarray, ndarray
from weft._functions import _normal_axes, moveaxis


def at(ufunc, a, indices, b):
    """In place, one element after another."""
    if not isinstance(a, ndarray):
        raise TypeError("first operand must be array")
    if ufunc.nin == 2 and b is None:
        raise ValueError("second operand needed for ufunc")
    if ufunc.nin == 1 and b is not None:
        raise ValueError("second operand provided when ufunc is unary")
    with a.device:
        try:
            numbers = asarray(arange(a.size).reshape(a.shape)[indices])
        except IndexError:
            # That the ufunc has no loop for these dtypes comes first.
            _core._apply_at(ufunc, a, arange(0), None if b is None else arange(0).astype(asarray(b).dtype))
            raise
        if b is not None:
            b = asarray(b)
            b = _core.broadcast_to(b, numbers.shape).ravel()
    _core._apply_at(ufunc, a, numbers.ravel(), b)


def _inner_first(x, axis):
    """The axes from the innermost in memory to the outermost, as NumPy's iterator sorts them for reduceat.

    The folded axis has no place of its own there: it stays where sorting the others leaves it.
    """
    strides = [0 if d == axis else abs(stride) for d, stride in enumerate(x.strides)]
    order = []
    for d in reversed(range(x.ndim)):
        place = len(order)
        for k in reversed(range(len(order))):
            if strides[d] and strides[order[k]]:
                if strides[d] >= strides[order[k]]:
                    break
                place = k
        order.insert(place, d)
    return order


def _laid_out(x, inner_first):
    outer_first = inner_first[::-1]
    packed = x.transpose(outer_first)
    packed = packed if packed.flags.c_contiguous else packed.copy("C")
    back = [0] * x.ndim
    for place, d in enumerate(outer_first):
        back[d] = place
    return packed.transpose(back)


def reduceat(ufunc, x, indices, axis, dtype, out):
    """Folds between positions along an axis."""
    if ufunc.nin != 2:
        raise ValueError("reduceat only supported for binary functions")
    if ufunc.nout != 1:
        raise ValueError("reduceat only supported for functions returning a single value")
    x = asarray(x)
    if x.ndim == 0:
        raise TypeError("cannot reduceat on a scalar")
    axis = _normal_axes(axis, x.ndim, None)[0]
    starts = asarray(indices)
    if starts.size == 0 or not isinstance(indices, ndarray):
        starts = starts.astype("int64")
    if starts.dtype.kind not in "iu":
        raise TypeError(
            f"Cannot cast array data from {starts.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    if starts.ndim != 1:
        raise ValueError(
            "object too deep for desired array"
            if starts.ndim
            else "object of too small depth for desired array"
        )
    extent = x.shape[axis]
    for position in starts.tolist():
        if not 0 <= position < extent:
            raise IndexError(f"index {position} out-of-bounds in {ufunc.__name__}.reduceat [0, {extent})")
    if dtype is None and out is None and ufunc.__name__ in ("add", "multiply") and x.dtype.kind in "biu":
        wide = "uint64" if x.dtype.kind == "u" else "int64"
        dtype = wide if x.dtype.itemsize < 8 else None
    elif dtype is None and out is not None:
        dtype = out.dtype
    result = moveaxis(_core._reduce_between(ufunc, moveaxis(x, axis, -1), starts, dtype), -1, axis)
    if out is None:
        return _laid_out(result, _inner_first(x, axis))
    out = out[0] if isinstance(out, tuple) else out
    _core.copyto(out, result, "same_kind")
    return out
