"""`x.getfield(dtype, offset)` and `x.setfield(value, dtype, offset)`: some bytes of each element as another dtype."""

from weft import _core


def getfield(self, dtype, offset=0):
    """A view of the bytes of each element from `offset` on, as elements of `dtype`.

    Raises ValueError when they are not all bytes of the element.

    >>> np.array([1 + 2j]).getfield(np.float64, 8)
    array([2.])
    """
    kind = _core.dtype(dtype)
    if not isinstance(kind, _core.dtype) or type(kind) is not _core.dtype:
        import numpy

        from weft._protocols import host_arrays

        return host_arrays.run(
            "ndarray.getfield", numpy.ndarray.getfield, (self, kind, offset), {}, f"dtype {kind.str}"
        )
    size, least = self.dtype.itemsize, kind.itemsize
    if least > size:
        raise ValueError("new type is larger than original type")
    if not 0 <= offset <= size - least:
        raise ValueError(
            f"Need 0 <= offset <= {size - least} for requested type but received offset = {offset}"
        )
    memory = self[..., None].view("u1")
    return memory[..., offset : offset + least].view(kind)[..., 0]


def setfield(self, val, dtype, offset=0):
    """Writes `val` into the bytes of each element from `offset` on, as elements of `dtype`.

    >>> z = np.array([1 + 2j])
    >>> z.setfield(5, np.float64, 8)
    >>> z
    array([1.+5.j])
    """
    if not self.flags.writeable:
        raise ValueError("assignment destination is read-only")
    self.getfield(dtype, offset)[...] = val
