"""`x.flags` and `x.flat`."""

import math
import weakref

from weft import _core
from weft._array.class_attributes import with_attributes

# Arrays that a program has called so by setflags(align=False), by their ids, for as long as they live.
_called_unaligned = {}

_FLAG_NAMES = {
    "C": "c_contiguous",
    "CONTIGUOUS": "c_contiguous",
    "F": "f_contiguous",
    "FORTRAN": "f_contiguous",
    "O": "owndata",
    "W": "writeable",
    "A": "aligned",
    "X": "writebackifcopy",
    "B": "behaved",
    "CA": "carray",
    "FA": "farray",
}


class flagsobj:
    """How an array lies in memory, and whether it may be written. Attributes or items: flags['C_CONTIGUOUS']."""

    __slots__ = ("_array",)

    def __init__(self, array):
        self._array = array

    @property
    def c_contiguous(self):
        return _core._array_flags(self._array)[0]

    @property
    def f_contiguous(self):
        return _core._array_flags(self._array)[1]

    contiguous = c_contiguous
    fortran = f_contiguous

    @property
    def owndata(self):
        return _core._array_flags(self._array)[2]

    @property
    def writeable(self):
        return _core._array_flags(self._array)[3]

    @writeable.setter
    def writeable(self, value):
        _core._set_writeable(self._array, bool(value))

    @property
    def aligned(self):
        return id(self._array) not in _called_unaligned

    @aligned.setter
    def aligned(self, value):
        key = id(self._array)
        if value:
            _called_unaligned.pop(key, None)
        else:
            _called_unaligned[key] = weakref.ref(self._array, lambda _: _called_unaligned.pop(key, None))

    @property
    def writebackifcopy(self):
        return False

    @writebackifcopy.setter
    def writebackifcopy(self, value):
        if value:
            raise ValueError("cannot set WRITEBACKIFCOPY flag to True")

    @property
    def behaved(self):
        return self.writeable and self.aligned

    @property
    def carray(self):
        return self.c_contiguous and self.behaved

    @property
    def farray(self):
        return self.f_contiguous and self.behaved and not self.c_contiguous

    @property
    def fnc(self):
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self):
        return self.f_contiguous or self.c_contiguous

    @property
    def num(self):
        c, f, owned, writeable = _core._array_flags(self._array)
        return c * 0x1 + f * 0x2 + owned * 0x4 + self.aligned * 0x100 + writeable * 0x400

    def _attribute(self, key):
        name = _FLAG_NAMES.get(key, key.lower() if isinstance(key, str) and key.isupper() else None)
        if name is None or not hasattr(type(self), name):
            raise KeyError("Unknown flag")
        return name

    def __getitem__(self, key):
        return getattr(self, self._attribute(key))

    def __setitem__(self, key, value):
        setattr(self, self._attribute(key), value)

    def __eq__(self, other):
        return isinstance(other, flagsobj) and self.num == other.num

    def __repr__(self):
        names = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")
        return "\n".join(f"  {name} : {self[name]}" for name in names) + "\n"


@with_attributes("base", "index")
class flatiter:
    """The elements of an array in C order: iterate, index with an integer or a slice, assign."""

    __module__ = "weft"

    def __init__(self, array):
        self.base = array
        self.index = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= len(self):
            raise StopIteration
        value = self._flat()[self.index]
        self.index += 1
        return value

    def __len__(self):
        return self.base.size

    def _flat(self):
        return self.base.reshape(-1)

    @property
    def coords(self):
        """The index of the element that comes next."""
        coordinates = []
        rest = self.index
        for extent in reversed(self.base.shape):
            coordinates.append(rest % extent if extent else 0)
            rest //= extent or 1
        return tuple(reversed(coordinates))

    def __getitem__(self, key):
        value = self._flat()[key]
        # As in NumPy, what an iterator gives is no view.
        return value.copy() if isinstance(value, _core.ndarray) else value

    def __delitem__(self, key):
        raise TypeError("Cannot delete iterator elements")

    def __setitem__(self, key, value):
        array = self.base
        flat = array.reshape(-1)
        if hasattr(key, "__index__") and not isinstance(key, (bool, _core.ndarray)):
            key = key.__index__()
            part = flat[key : key + 1 or None]
        else:
            part = flat[key]
        by_positions = part.size > 0 and not _core.shares_memory(part, flat)
        with array.device:
            values = _core.asarray(value).reshape(-1)
        if values.size == 0:
            if part.size:
                raise ValueError("Error setting single item of array.")
            return
        if values.size != part.size:
            # Values repeat until the part is full.
            turns = -(-part.size // values.size)
            values = _core.concatenate([values] * turns)[: part.size] if turns else values[:0]
        is_copy = not _core.shares_memory(flat, array)
        if is_copy and not array.flags.writeable:
            raise ValueError("underlying array is read-only")
        if by_positions:
            flat[key] = values.reshape(part.shape)
        else:
            part[...] = values
        if is_copy:
            array[...] = flat.reshape(array.shape)

    def copy(self):
        """A copy of the elements as one axis."""
        return self.base.flatten()

    def __array__(self, dtype=None, copy=None):
        return self.base.flatten().__array__(dtype, copy=copy)

    def __eq__(self, other):
        return self.copy() == other

    def __ne__(self, other):
        return self.copy() != other

    __hash__ = None


class RepeatedIterator(flatiter):
    """Over an array in a larger shape."""

    def __init__(self, array, shape):
        super().__init__(array)
        self._shape, self._elements = shape, None

    def __len__(self):
        return math.prod(self._shape)

    def _flat(self):
        if self._elements is None:
            self._elements = _core.broadcast_to(self.base, self._shape).reshape(-1)
        return self._elements


# ---- attributes that are set ----


def set_dtype(array, value):
    """`array.dtype = value`: the same bytes read as another type. The last axis may become longer or shorter."""
    dtype = _core.dtype(value)
    if not isinstance(dtype, _core.dtype):
        raise TypeError(f"an array cannot become one of {dtype} in place: use x.view(dtype)")
    _core._become(array, _core.ndarray.view(array, dtype))


def set_strides(array, value):
    """`array.strides = value`: the same memory, other steps."""
    import warnings

    warnings.warn(
        "Setting the strides on a NumPy array has been deprecated in NumPy 2.4.\nAs an alternative, you can create a "
        "new view using np.lib.stride_tricks.as_strided.",
        DeprecationWarning,
        stacklevel=2,
    )
    strides = tuple(value) if hasattr(value, "__iter__") else (value,)
    if len(strides) != array.ndim:
        raise ValueError("strides must be same length as shape")
    try:
        view = _core._strided_view(array, array.shape, strides)
    except ValueError:
        raise ValueError("strides is not compatible with available memory") from None
    _core._become(array, view)
