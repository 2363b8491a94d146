"""NumPy's packed bits: eight truths in a byte."""

from operator import index as _index

from weft import _core
from weft._array.axes import moveaxis, normalize_axes
from weft._core import asarray, concatenate, empty, zeros

_ufuncs = _core._ufuncs


# Eight bytes are one word, the first of them its lowest. Bytes of zeros and ones, times _GATHER, have the packed byte
# on top: byte k and the factor's bit 63 - 9k (big), or 56 - 7k (little), meet in the bit that is k's, and no two
# products meet elsewhere. _PLACES has the bit of each byte, in that byte.
_GATHER = {"b": 0x8040201008040201, "l": 0x0102040810204080}
_PLACES = {"b": 0x0102040810204080, "l": 0x8040201008040201}
_ONES, _BELOW_TOP = 0x0101010101010101, 0x7F7F7F7F7F7F7F7F


def _order(bitorder):
    """The first letter of the order of bits."""
    if not isinstance(bitorder, str):
        raise TypeError(f"pack() argument 3 must be str, not {type(bitorder).__name__}")
    if not bitorder.startswith(("big", "little")):
        raise ValueError("'order' must be either 'little' or 'big'")
    return bitorder[0]


def _word(value):
    return asarray(value, "uint64")


def _ones_where_not_zero(words):
    """1 for each byte that is not 0: adding 127 carries into its top bit, and into no other byte."""
    both, either = _ufuncs["bitwise_and"], _ufuncs["bitwise_or"]
    carried = either(both(words, _word(_BELOW_TOP)) + _word(_BELOW_TOP), words)
    return both(_ufuncs["right_shift"](carried, _word(7)), _word(_ONES))


def packbits(a, /, axis=None, bitorder="big"):
    """Eight elements of an array of bools or integers, true where they are not 0, in each byte; filled up by zeros.

    >>> np.packbits([1, 0, 1])
    array([160], dtype=uint8)
    """
    a = asarray(a)
    first = _order(bitorder)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if axis is None:
        a, axis = a.ravel(), 0
    elif a.ndim == 0:
        normalize_axes(axis, max(a.ndim, 1), None)
        a, axis = a.reshape(1), 0
    (axis,) = normalize_axes(axis, a.ndim, None)
    order = "F" if a.flags.fnc else "C"
    rows = moveaxis(a.view("uint8") if a.itemsize == 1 else a != 0, axis, -1)
    missing = -rows.shape[-1] % 8
    if missing:
        rows = concatenate([rows, zeros((*rows.shape[:-1], missing), rows.dtype)], -1)
    words = _ones_where_not_zero(asarray(rows, order="C").view("uint64"))
    packed = _ufuncs["right_shift"](words * _word(_GATHER[first]), _word(56)).astype("uint8")
    return moveaxis(packed, -1, axis).copy(order)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The bits of bytes as zeros and ones, uint8; the first `count` of them, or zeros behind, if it is given.

    >>> np.unpackbits(np.array([160], dtype="uint8"))
    array([1, 0, 1, 0, 0, 0, 0, 0], dtype=uint8)
    """
    a = asarray(a)
    first = _order(bitorder)
    if a.dtype != "uint8":
        raise TypeError("Expected an input array of unsigned byte data type")
    if axis is None:
        a, axis = a.ravel(), 0
    elif a.ndim == 0:
        normalize_axes(axis, max(a.ndim, 1), None)
        a, axis = a.reshape(1), 0
    (axis,) = normalize_axes(axis, a.ndim, None)
    order = "F" if a.flags.fnc else "C"
    rows = moveaxis(a, axis, -1)
    chosen = _ufuncs["bitwise_and"](rows.astype("uint64", "C") * _word(_ONES), _word(_PLACES[first]))
    bits = empty((*rows.shape[:-1], rows.shape[-1] * 8), "uint8")
    bits.view("uint64")[...] = _ones_where_not_zero(chosen)
    if count is not None:
        count = _index(count)
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
    elif axis == a.ndim - 1 and order == "C":
        return bits
    return moveaxis(bits, -1, axis).copy(order)
