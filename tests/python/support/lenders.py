"""Objects that lend memory and describe it, rightly or not: by the buffer protocol, array interfaces and DLPack.

The memory is a room between pages that are inaccessible, so that a read beside it ends the process.
"""

import ctypes
import mmap

import dlpack_structures

PAGE = mmap.PAGESIZE
ROOM = 4 * PAGE  # bytes that lie next to inaccessible pages at both ends

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Memory:
    """ROOM bytes between pages that nobody may touch."""

    def __init__(self):
        self.pages = mmap.mmap(-1, ROOM + 2 * PAGE)
        self.first = ctypes.addressof(ctypes.c_char.from_buffer(self.pages)) + PAGE
        self.fill()
        for place in (self.first - PAGE, self.first + ROOM):
            if _libc.mprotect(place, PAGE, 0) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")

    def fill(self):
        """Bytes that are numbers of moderate size in every dtype."""
        self.pages[PAGE : PAGE + ROOM] = bytes(range(64)) * (ROOM // 64)

    def content(self):
        return self.pages[PAGE : PAGE + ROOM]

    def has(self, address, size):
        return self.first <= address and address + size <= self.first + ROOM


_memory = []


def memory():
    if not _memory:
        _memory.append(Memory())
    return _memory[0]


# ---- the buffer protocol ----


class View(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]  # fmt: skip


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(View), ctypes.c_int)
def _get_buffer(exporter, view, flags):
    return exporter.give(view.contents, flags)


@ctypes.PYFUNCTYPE(None, ctypes.py_object, ctypes.POINTER(View))
def _release_buffer(exporter, view):
    exporter.given_back += 1


def _type_with_buffers():
    address = [ctypes.cast(function, ctypes.c_void_p) for function in (_get_buffer, _release_buffer)]
    slots = (_Slot * 3)(_Slot(1, address[0]), _Slot(2, address[1]), _Slot(0, None))
    spec = _Spec(
        b"lenders.Base", object.__basicsize__, 0, 1 << 18 | 1 << 10, slots
    )  # default, may be subclassed
    make = ctypes.pythonapi.PyType_FromSpec
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_Spec)]
    return make(ctypes.byref(spec))


class Exporter(_type_with_buffers()):
    """Gives a buffer as it is told: fields of Py_buffer by their names; shape, strides and suboffsets are sequences."""

    def __init__(self, **fields):
        self.fields, self.kept = fields, []
        self.given = self.given_back = 0

    def give(self, view, flags):
        ctypes.memset(ctypes.addressof(view), 0, ctypes.sizeof(view))
        for name, value in self.fields.items():
            if name in ("shape", "strides", "suboffsets") and value is not None:
                value = (ctypes.c_ssize_t * len(value))(*value)
                self.kept.append(value)
                value = ctypes.cast(value, ctypes.POINTER(ctypes.c_ssize_t))
            if name == "format" and value is not None:
                self.kept.append(value)
            if value is not None:
                setattr(view, name, value)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))
        view.obj = id(self)
        self.given += 1
        return 0


def flat(size, **fields):
    """An exporter of so many bytes of the room, as it should be but for the fields that are given."""
    right = {"itemsize": 1, "ndim": 1, "shape": [size], "strides": [1], "format": b"B"}
    return Exporter(**{"buf": memory().first, "len": size, **right, **fields})


# ---- interfaces that are dictionaries ----


class Described:
    """An object with an interface of a given name, and whatever else it is to have."""

    def __init__(self, interface, name="__array_interface__", **more):
        setattr(self, name, interface)
        self.__dict__.update(more)


class Raises:
    """Raises at whatever of it is asked for, but its type."""

    def __init__(self, names, error):
        self._names, self._error = names, error

    def __getattr__(self, name):
        if name in object.__getattribute__(self, "_names"):
            raise object.__getattribute__(self, "_error")
        raise AttributeError(name)


# ---- DLPack ----


class Lender(dlpack_structures.Lender):
    """A tensor that may say anything, in a capsule of any name."""

    def __init__(self, *arguments, name=b"dltensor_versioned", lent_device=(1, 0), no_shape=False, **options):
        super().__init__(*arguments, **options)
        self.name, self.lent_device = name, lent_device
        if no_shape:
            self.managed.tensor.shape = None
        self.old = Unversioned(self.managed.tensor, None, self.deleter)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        managed = self.old if b"versioned" not in self.name else self.managed
        return dlpack_structures.new_capsule(ctypes.addressof(managed), self.name, None)

    def __dlpack_device__(self):
        return self.lent_device


class Unversioned(ctypes.Structure):
    _fields_ = [
        ("tensor", dlpack_structures.Tensor), ("manager", ctypes.c_void_p), ("deleter", dlpack_structures.Deleter),
    ]  # fmt: skip
