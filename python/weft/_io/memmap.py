"""memmap: arrays over the pages of a file."""

import contextlib
import mmap
import os
from operator import index as _index

from weft import _core
from weft._core import dtype as _dtype
from weft._core import ndarray

_MODES = {"readonly": "r", "copyonwrite": "c", "readwrite": "r+", "write": "w+"}
_ACCESS = {
    "r": mmap.ACCESS_READ,
    "c": mmap.ACCESS_COPY,
    "r+": mmap.ACCESS_WRITE,
    "w+": mmap.ACCESS_WRITE,
}


def mode_of(mode):
    """A mode by its short name."""
    mode = _MODES.get(mode, mode)
    if mode not in _ACCESS:
        raise ValueError(f"mode must be one of {['r', 'c', 'r+', 'w+', *_MODES]} (got {mode!r})")
    return mode


def _shape_of(shape):
    if not isinstance(shape, (tuple, list)):
        with contextlib.suppress(TypeError):
            shape = [_index(shape)]
    return tuple(shape)


class memmap(ndarray):
    """An array over a file's pages: what is read comes from the file, and what is written goes to it.

    filename: a path, or an open file. mode: 'r' reads, 'r+' reads and writes, 'w+' makes the file or overwrites it,
    'c' writes to memory alone. offset: the byte at which the elements begin. shape: by default all that is there, flat.

    flush() writes changes to the disk. Elements that weft has no dtype for are over NumPy's memory, as
    np.array's of these are.

    >>> import tempfile
    >>> file = tempfile.TemporaryFile()
    >>> x = np.memmap(file, dtype='float32', mode='w+', shape=(2, 3))
    >>> x[:] = [[1, 2, 3], [4, 5, 6]]
    >>> x.flush()
    >>> np.memmap(file, dtype='float32', mode='r', shape=6).sum()
    np.float32(21.0)
    """

    __array_priority__ = -100.0

    def __new__(cls, filename, dtype=_core.uint8, mode="r+", offset=0, shape=None, order="C"):
        mode = mode_of(mode)
        if mode == "w+" and shape is None:
            raise ValueError("shape must be given if mode == 'w+'")
        element = _core.dtype(dtype)
        if type(element) is not _dtype:
            return _of_numpy(element, filename, mode, offset, shape, order)
        given = hasattr(filename, "read")
        opening = ("r" if mode == "c" else mode) + "b"
        with contextlib.nullcontext(filename) if given else open(os.fspath(filename), opening) as stream:
            pages, begin, shape = _mapped(stream, mode, offset, shape, element.itemsize)
            name = getattr(stream, "name", None)
        count = 1
        for extent in shape:
            count *= extent
        if count == 0:
            plain = _core.empty(shape, element, order=order, device="cpu")
            plain.flags.writeable = mode != "r"
        else:
            plain = _core.frombuffer(pages, element, count, begin).reshape(shape, order=order)
        self = plain.view(cls)
        self._mmap, self.offset, self.mode = pages, offset, mode
        if isinstance(filename, os.PathLike):
            self.filename = filename.resolve()
        else:
            self.filename = os.path.abspath(name) if isinstance(name, str) else None
        return self

    def __array_finalize__(self, other):
        shares = getattr(other, "_mmap", None) is not None and _core.may_share_memory(self, other)
        for name in ("_mmap", "filename", "offset", "mode"):
            setattr(self, name, getattr(other, name) if shares else None)

    def flush(self):
        """Writes changes to the file on the disk."""
        if self._mmap is not None:
            _core.eval(self)
            self._mmap.flush()

    def __array_wrap__(self, array, context=None, return_scalar=False):
        array = super().__array_wrap__(array, context)
        if self is array or type(self) is not memmap:
            return array
        return array[()] if return_scalar else array.view(ndarray)

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return found.view(ndarray) if type(found) is memmap and found._mmap is None else found


memmap.__module__ = "weft"


def _of_numpy(element, filename, mode, offset, shape, order):
    """The pages as an array of a dtype that weft leaves to NumPy."""
    import numpy

    from weft._engine.fallback import counted
    from weft._protocols import host_arrays

    host_arrays.mapped = memmap
    counted("memmap", f"dtype {element.str if element.names is None else 'with fields'}")
    return host_arrays.HostArray(numpy.memmap(filename, element, mode, offset, shape, order))


def _mapped(stream, mode, offset, shape, itemsize):
    """A file's pages, where in them the elements begin, and the shape."""
    stream.seek(0, 2)
    there = stream.tell()
    if shape is None:
        size, rest = divmod(there - offset, itemsize)
        if rest:
            raise ValueError("Size of available data is not a multiple of the data-type size.")
        shape = (size,)
    else:
        shape = _shape_of(shape)
        size = 1
        for extent in shape:
            size *= int(extent)
    length = int(offset + size * itemsize)
    if mode in ("w+", "r+"):
        length = max(length, 1)  # no pages can be mapped of an empty file
        if there < length:
            stream.seek(length - 1, 0)
            stream.write(b"\0")
            stream.flush()
    start = offset - offset % mmap.ALLOCATIONGRANULARITY
    length -= start
    if length == 0 and start > 0:  # a length of 0 would be all of the file
        length, start = mmap.ALLOCATIONGRANULARITY, start - mmap.ALLOCATIONGRANULARITY
    return mmap.mmap(stream.fileno(), length, access=_ACCESS[mode], offset=start), offset - start, shape
