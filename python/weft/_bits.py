"""NumPy's packed bits: eight truths in a byte."""

from weft import _core
from weft._core import arange, asarray, concatenate, zeros
from weft._functions import _normal_axes, moveaxis, sum

_ufuncs = _core._ufuncs


def _order(bitorder):
    if not isinstance(bitorder, str):
        raise TypeError(f"pack() argument 3 must be str, not {type(bitorder).__name__}")
    if not bitorder or bitorder[0] not in "bl":
        raise ValueError("'order' must be either 'little' or 'big'")
    places = arange(8, dtype="uint8")
    return 7 - places if bitorder[0] == "b" else places


def packbits(a, /, axis=None, bitorder="big"):
    """Eight elements of an array of bools or integers, true where they are not 0, in each byte; filled up by zeros.

    >>> np.packbits([1, 0, 1])
    array([160], dtype=uint8)
    """
    a = asarray(a)
    places = _order(bitorder)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if axis is None:
        a, axis = a.ravel(), 0
    elif a.ndim == 0:
        _normal_axes(axis, max(a.ndim, 1), None)
        a, axis = a.reshape(1), 0
    (axis,) = _normal_axes(axis, a.ndim, None)
    order = "F" if a.flags.fnc else "C"
    rows = moveaxis(a != 0, axis, -1)
    missing = -rows.shape[-1] % 8
    if missing:
        rows = concatenate([rows, zeros((*rows.shape[:-1], missing), "bool")], -1)
    rows = rows.reshape((*rows.shape[:-1], rows.shape[-1] // 8, 8)).astype("uint8")
    packed = sum(_ufuncs["left_shift"](rows, places), -1, "uint8")
    return moveaxis(packed, -1, axis).copy(order)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The bits of bytes as zeros and ones, uint8; the first `count` of them, or zeros behind, if it is given.

    >>> np.unpackbits(np.array([160], dtype="uint8"))
    array([1, 0, 1, 0, 0, 0, 0, 0], dtype=uint8)
    """
    a = asarray(a)
    places = _order(bitorder)
    if a.dtype != "uint8":
        raise TypeError("Expected an input array of unsigned byte data type")
    if axis is None:
        a, axis = a.ravel(), 0
    elif a.ndim == 0:
        _normal_axes(axis, max(a.ndim, 1), None)
        a, axis = a.reshape(1), 0
    (axis,) = _normal_axes(axis, a.ndim, None)
    order = "F" if a.flags.fnc else "C"
    rows = moveaxis(a, axis, -1)
    bits = _ufuncs["bitwise_and"](_ufuncs["right_shift"](rows[..., None], places), asarray(1, "uint8"))
    bits = bits.reshape((*rows.shape[:-1], rows.shape[-1] * 8))
    if count is not None:
        count = count.__index__()
        length = bits.shape[-1]
        if count < 0:
            if -count > length:
                raise ValueError(
                    f"-count larger than number of elements: count = {count} elements = {length}"
                )
            count += length
        if count > length:
            bits = concatenate([bits, zeros((*bits.shape[:-1], count - length), "uint8")], -1)
        bits = bits[..., :count]
    return moveaxis(bits, -1, axis).copy(order)
