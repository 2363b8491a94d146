"""`ndarray.ctypes`: an array's memory, shape and strides for functions that ctypes calls."""


class Pointers:
    """The attribute `ctypes` of an array. It keeps the array, as pointers that it gives do.

    >>> np.arange(3).ctypes.shape[0]
    3
    """

    def __init__(self, array):
        self._arr = array
        self._data = array.__array_interface__["data"][0]

    @property
    def data(self):
        """The address of the first element."""
        return self._as_parameter_.value

    @property
    def shape(self):
        """The shape as an array of ctypes."""
        return self.shape_as(_ctypes().c_ssize_t)

    @property
    def strides(self):
        """The strides as an array of ctypes."""
        return self.strides_as(_ctypes().c_ssize_t)

    @property
    def _as_parameter_(self):
        return self.data_as(_ctypes().c_void_p)

    def data_as(self, obj):
        """The address as a pointer of that type."""
        pointer = _ctypes().cast(self._data, obj)
        pointer._arr = self._arr
        return pointer

    def shape_as(self, obj):
        """The shape as an array of that type; None without axes."""
        return None if self._arr.ndim == 0 else (obj * self._arr.ndim)(*self._arr.shape)

    def strides_as(self, obj):
        """The strides as an array of that type; None without axes."""
        return None if self._arr.ndim == 0 else (obj * self._arr.ndim)(*self._arr.strides)


def _ctypes():
    import ctypes

    return ctypes


class DeviceMemory:
    """Where the elements of an array on a GPU begin, which is what `x.data` is there.

    `ptr` is the address, for kernels and libraries that take one. The memory stays the array's for as long as this
    object lives. `array` is the array.
    """

    __slots__ = ("array", "ptr")

    def __init__(self, array):
        self.array = array
        self.ptr = array.__cuda_array_interface__["data"][0]

    def __int__(self):
        return self.ptr

    def __repr__(self):
        return f"<memory of {self.array.nbytes} bytes at {self.ptr:#x} on {self.array.device}>"
