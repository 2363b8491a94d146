"""NumPy's small helpers: how a number is written, what an array may stand for, buffers and iterables as arrays."""

import math
from operator import index as _index

from weft import _core
from weft._array.dtypes import finfo
from weft._core import asarray
from weft._functions.basic import broadcast_arrays, broadcast_shapes, linspace, moveaxis

_ufuncs = _core._ufuncs


def iterable(y):
    """Whether iter() takes it.

    >>> np.iterable([1]), np.iterable(2)
    (True, False)
    """
    try:
        iter(y)
    except TypeError:
        return False
    return True


def binary_repr(num, width=None):
    """An integer in base 2, a negative one with a sign, or with a width as its two's complement.

    >>> np.binary_repr(-3, width=4)
    '1101'
    """
    num = _index(num)
    if num == 0:
        return "0" * (width or 1)
    if num > 0:
        text = format(num, "b")
    elif width is None:
        return "-" + format(-num, "b")
    else:
        least = (-num - 1).bit_length() + 1
        wide = max(width, least) if width >= least else least
        text = format(num + (1 << wide), "b").rjust(wide, "1")
    if width is None:
        return text
    if width < len(text):
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={len(text)}")
    return text.zfill(width)


def base_repr(number, base=2, padding=0):
    """An integer in a base from 2 to 36, behind `padding` zeros.

    >>> np.base_repr(255, 16)
    'FF'
    """
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if base > len(digits):
        raise ValueError("Bases greater than 36 not handled in base_repr.")
    if base < 2:
        raise ValueError("Bases less than 2 not handled in base_repr.")
    rest, text = abs(int(number)), ""
    while rest:
        rest, digit = divmod(rest, base)
        text = digits[digit] + text
    if number == 0 and not padding:
        text = "0"
    return ("-" if number < 0 else "") + text.rjust(len(text) + padding, "0")


def common_type(*arrays):
    """The floating type that holds the arrays' elements, float64 at least where one is of integers.

    >>> np.common_type(np.array([1.0], "f4"), np.array([1]))
    <class 'weft.float64'>
    """
    dtypes = [_core.dtype("float16")]
    for a in arrays:
        kind = asarray(a).dtype.kind
        if kind not in "iufc":
            raise TypeError("can't get common type for non-numeric array")
        dtypes.append(_core.dtype("float64") if kind in "iu" else asarray(a).dtype)
    if not any(one.kind == "c" for one in dtypes):
        return _core.result_type(*dtypes).type
    size = max(one.itemsize // (2 if one.kind == "c" else 1) for one in dtypes)
    return _core.dtype("complex128" if size > 4 else "complex64").type


def mintypecode(typechars, typeset="GDFgdf", default="d"):
    """The smallest character of `typeset` that all the types may be cast to."""
    characters = [one if isinstance(one, str) else asarray(one).dtype.char for one in typechars]
    found = {one for one in characters if one in typeset}
    if not found:
        return default
    if "F" in found and "d" in found:
        return "D"
    return min(found, key="GDFgdf".index) if typeset == "GDFgdf" else min(found, key=typeset.index)


def real_if_close(a, tol=100):
    """The real parts, where all imaginary ones are small: less than `tol`, from 1 on in units of epsilon.

    >>> np.real_if_close([1 + 1e-16j])
    array([1.])
    """
    a = asarray(a)
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = float(finfo(a.dtype).eps) * tol
    return a.real if bool((_ufuncs["absolute"](a.imag) < tol).all()) else a


def asarray_chkfinite(a, dtype=None, order=None):
    """asarray, but a ValueError where there are infinities or NaN."""
    a = asarray(a, dtype, order)
    if a.dtype.kind in "fc" and not bool(_ufuncs["isfinite"](a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


_REQUIREMENTS = {
    **dict.fromkeys(("C", "CONTIGUOUS", "C_CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "FORTRAN", "F_CONTIGUOUS"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}


def require(a, dtype=None, requirements=None, *, like=None):
    """The array, or a copy, that is contiguous ("C" or "F"), writeable ("W"), and owns its memory ("O") as asked.

    >>> np.require(np.arange(6).reshape(2, 3), requirements=["F"]).flags.f_contiguous
    True
    """
    if not requirements:
        return asarray(a, dtype)
    wanted = {_REQUIREMENTS[one.upper()] for one in requirements} - {"E"}
    order = "K"
    if wanted >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    for one in ("F", "C"):
        order = one if one in wanted else order
    a = _core.array(a, dtype, copy=None, order=order)
    flags = {"C": "c_contiguous", "F": "f_contiguous", "A": "aligned", "W": "writeable", "O": "owndata"}
    missing = any(not getattr(a.flags, flags[one]) for one in wanted)
    return a.copy(order) if missing else a


def fromiter(iter, dtype, count=-1, *, like=None):
    """The numbers of an iterable, `count` of them or all.

    >>> np.fromiter((k * k for k in range(4)), int)
    array([0, 1, 4, 9])
    """
    from itertools import islice

    dtype = _core.dtype(dtype)
    numbers = list(islice(iter, count) if count >= 0 else iter)
    if count >= 0 and len(numbers) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(numbers)} items.")
    if not numbers:
        return _core.empty(0, dtype)
    return _core.array(numbers, dtype)


def frombuffer(buffer, dtype=float, count=-1, offset=0, *, like=None):
    """A copy of the elements in an object's memory; NumPy's is a view.

    >>> np.frombuffer(b"\\x01\\x02", dtype="uint8")
    array([1, 2], dtype=uint8)
    """
    dtype = _core.dtype(dtype)
    data = memoryview(buffer).cast("B")
    size = dtype.itemsize
    if not 0 <= offset <= len(data):
        raise ValueError(f"offset must be non-negative and no greater than buffer length ({len(data)})")
    rest = len(data) - offset
    if count < 0:
        if rest % size:
            raise ValueError("buffer size must be a multiple of element size")
        count = rest // size
    elif rest < count * size:
        raise ValueError("buffer is smaller than requested size")
    return _core._from_bytes(bytes(data[offset : offset + count * size]), dtype, (count,))


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from `start` to `stop`, each the same multiple of the one before.

    >>> np.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])
    """
    start, stop = asarray(start), asarray(stop)
    if bool((start == 0).any()) or bool((stop == 0).any()):
        raise ValueError("Geometric sequence cannot include zero")
    inexact = _core.result_type(start, stop, float(num), _core.zeros((), dtype))
    target = inexact if dtype is None else _core.dtype(dtype)
    start, stop = broadcast_arrays(start, stop)
    start, stop = start.astype(inexact), stop.astype(inexact)
    turn = _ufuncs["sign"](start)
    start, stop = start / turn, stop / turn
    log10 = _ufuncs["log10"]
    exponents = linspace(log10(start), log10(stop), num, endpoint)
    result = _ufuncs["power"](10.0, exponents).astype(inexact, copy=False)
    if num > 0:
        result[0] = start
        if num > 1 and endpoint:
            result[-1] = stop
    result = result * turn
    if axis != 0:
        result = moveaxis(result, 0, axis)
    return result.astype(target, copy=False)


def fix(x, out=None):
    """The elements without what is behind the point, towards 0."""
    return _ufuncs["trunc"](x, out=out)


class broadcast:
    """What arrays are together: their common shape, and tuples of their elements in C order.

    >>> b = np.broadcast(np.array([[1], [2]]), np.array([3, 4]))
    >>> b.shape, b.size
    ((2, 2), 4)
    >>> next(b)
    (np.int64(1), np.int64(3))
    """

    def __init__(self, *args):
        arrays = []
        for x in args:
            arrays += x._arrays if isinstance(x, broadcast) else [asarray(x)]
        self._arrays = arrays
        self.shape = broadcast_shapes(*(x.shape for x in arrays))
        self.numiter = len(arrays)
        self.nd = self.ndim = len(self.shape)
        self.size = math.prod(self.shape)
        self.reset()

    def reset(self):
        """Begins again with the first elements."""
        self.index = 0

    @property
    def iters(self):
        """For each array a flat iterator over it in the common shape."""
        return tuple(_core.broadcast_to(x, self.shape).flat for x in self._arrays)

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= self.size:
            raise StopIteration
        place, rest = [], self.index
        for extent in reversed(self.shape):
            rest, own = divmod(rest, extent)
            place.append(own)
        self.index += 1
        place = tuple(reversed(place))
        return tuple(_core.broadcast_to(x, self.shape)[place] for x in self._arrays)


_TYPE_NAMES = {
    "S1": "character",
    "?": "bool",
    "b": "signed char",
    "B": "unsigned char",
    "h": "short",
    "H": "unsigned short",
    "i": "integer",
    "I": "unsigned integer",
    "l": "long integer",
    "L": "unsigned long integer",
    "q": "long long integer",
    "Q": "unsigned long long integer",
    "f": "single precision",
    "d": "double precision",
    "g": "long precision",
    "F": "complex single precision",
    "D": "complex double precision",
    "G": "complex long double precision",
    "S": "string",
    "U": "unicode",
    "V": "void",
    "O": "object",
}


def typename(char):
    """The words for a dtype's character.

    >>> np.typename("d")
    'double precision'
    """
    return _TYPE_NAMES[char]
