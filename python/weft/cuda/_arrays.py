"""Arrays for kernels, and streams and events, by numba.cuda's names."""

import contextlib
import time

import weft
from weft import _core


class DeviceArray:
    """An array for kernels, in memory that only they and copies reach: what numba.cuda's to_device gives.

    It is one of weft's, on weft's default device. `copy_to_host` gives a NumPy array.
    """

    def __init__(self, array):
        self._array = array

    @property
    def shape(self):
        """How many elements there are along each axis."""
        return self._array.shape

    @property
    def dtype(self):
        """The type of the elements, as NumPy's."""
        import numpy

        return (
            self._array.dtype
            if isinstance(self._array, numpy.ndarray)
            else numpy.dtype(self._array.dtype.name)
        )

    @property
    def strides(self):
        """How many bytes lie between neighbours along each axis."""
        return self._array.strides

    @property
    def ndim(self):
        """How many axes there are."""
        return self._array.ndim

    @property
    def size(self):
        """How many elements there are."""
        return self._array.size

    @property
    def nbytes(self):
        """How many bytes the elements have."""
        return self._array.nbytes

    alloc_size = nbytes

    @property
    def flags(self):
        """How the elements lie in memory, as NumPy tells."""
        return self._array.flags

    @property
    def T(self):
        """The transposed array, in the same memory."""
        return DeviceArray(self._array.T)

    def copy_to_host(self, ary=None, stream=None):
        """The elements as a NumPy array, or in the one that is given."""
        import numpy

        host = numpy.array(self._array)
        if ary is None:
            return host
        if ary.shape != host.shape:
            raise ValueError(f"an array of shape {host.shape} has no place in one of shape {ary.shape}")
        ary[...] = host
        return ary

    def copy_to_device(self, ary, stream=None):
        """Takes over the elements of another array."""
        other = ary._array if isinstance(ary, DeviceArray) else ary
        if tuple(other.shape) != tuple(self.shape):
            raise ValueError(
                f"an array of shape {tuple(other.shape)} has no place in one of shape {self.shape}"
            )
        self._array[...] = other

    def reshape(self, *shape, order="C"):
        """The same elements with another shape."""
        return DeviceArray(self._array.reshape(*shape, order=order))

    def ravel(self, order="C"):
        """The same elements along one axis."""
        return DeviceArray(self._array.ravel(order=order))

    def view(self, dtype):
        """The same memory as elements of another type."""
        return DeviceArray(self._array.view(dtype))

    def transpose(self, axes=None):
        """The axes in another order, in the same memory."""
        return DeviceArray(self._array.transpose(axes))

    def split(self, section, stream=None):
        """Pieces of so many elements, in the same memory."""
        for start in range(0, self.size, section):
            yield DeviceArray(self._array[start : start + section])

    def is_c_contiguous(self):
        """Whether the elements lie in the order of the last axis."""
        return bool(self._array.flags["C_CONTIGUOUS"])

    def is_f_contiguous(self):
        """Whether the elements lie in the order of the first axis."""
        return bool(self._array.flags["F_CONTIGUOUS"])

    def __getitem__(self, index):
        found = self._array[index]
        return DeviceArray(found) if getattr(found, "ndim", 0) else found

    def getitem(self, index, stream=None):
        """As `array[index]`."""
        return self[index]

    def __setitem__(self, index, value):
        self._array[index] = value._array if isinstance(value, DeviceArray) else value

    def setitem(self, index, value, stream=None):
        """As `array[index] = value`."""
        self[index] = value

    def __len__(self):
        return len(self._array)

    def __array__(self, dtype=None, copy=None):
        import numpy

        return numpy.array(self._array, dtype=dtype)

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __repr__(self):
        return f"<array of {self.dtype} with shape {self.shape} for kernels>"


def _empty(shape, dtype, order="C"):
    """An array of weft's, or of NumPy's where its elements are structures."""
    if getattr(dtype, "names", None) or getattr(dtype, "fields", None):
        import numpy

        return numpy.empty(shape, dtype=getattr(dtype, "dtype", dtype), order=order)
    return weft.empty(shape, dtype=_plain(dtype), order=order)


def _copied(array):
    return array.copy() if getattr(getattr(array, "dtype", None), "names", None) else weft.array(array)


def _plain(dtype):
    """A dtype of weft's for one of NumPy's, or for one of Numba's types."""
    return str(getattr(dtype, "name", dtype)) if not isinstance(dtype, (str, type)) else dtype


def to_device(obj, stream=None, copy=True, to=None):
    """Copies an array to where kernels run.

    Parameters
    ----------
    obj : array_like
        The array, or what array() makes one of.
    stream : Stream, optional
        Copies are ordered with all kernels anyway.
    copy : bool
        Taken; what is given is always copied.
    to : DeviceArray, optional
        Where the elements go.

    Returns
    -------
    DeviceArray
        The copy, or `to`.

    Examples
    --------
    >>> from weft import cuda
    >>> a = cuda.to_device([1.0, 2.0])
    >>> a.copy_to_host()
    array([1., 2.])
    """
    if isinstance(obj, DeviceArray):
        obj = obj._array
    if to is not None:
        to.copy_to_device(weft.asarray(obj))
        return to
    return DeviceArray(_copied(obj))


def device_array(shape, dtype="float64", strides=None, order="C", stream=None):
    """An array for kernels, not initialised."""
    return DeviceArray(_empty(shape, dtype, order))


def device_array_like(ary, stream=None):
    """An array for kernels with the shape and dtype of another one, not initialised."""
    if getattr(ary.dtype, "names", None):
        return DeviceArray(_empty(ary.shape, ary.dtype))
    return DeviceArray(weft.empty_like(ary._array if isinstance(ary, DeviceArray) else weft.asarray(ary)))


def pinned_array(shape, dtype="float64", strides=None, order="C"):
    """An array of the host that copies reach quickly: a NumPy array."""
    import numpy

    return numpy.empty(shape, dtype=_plain(dtype), order=order)


mapped_array = managed_array = pinned_array


def pinned_array_like(ary):
    """As pinned_array, with the shape and dtype of another array."""
    return pinned_array(ary.shape, ary.dtype)


mapped_array_like = pinned_array_like


def as_cuda_array(obj, sync=True):
    """An array of another library as one for kernels, in the same memory."""
    return obj if isinstance(obj, DeviceArray) else DeviceArray(weft.asarray(obj))


def is_cuda_array(obj):
    """Whether as_cuda_array takes it."""
    return isinstance(obj, DeviceArray) or hasattr(obj, "__cuda_array_interface__")


class Stream:
    """An order of kernels and copies. Each begins when the one before has ended, in any stream.

    One of another library has a handle: kernels that are given it come after what is queued there, and before what is
    queued there later.
    """

    def __init__(self, handle=0):
        self.handle = handle

    def synchronize(self):
        """Waits for what the stream was given."""
        synchronize()

    @contextlib.contextmanager
    def auto_synchronize(self):
        """Waits at the end of the block."""
        yield self
        self.synchronize()

    def add_callback(self, callback, arg=None):
        """Calls `callback(stream, status, arg)` when what was given before has ended."""
        self.synchronize()
        callback(self, 0, arg)


class Event:
    """A place in a stream, and when it was reached."""

    def __init__(self, timing=True):
        self._time = None

    def record(self, stream=None):
        """Is reached when what was given before has ended."""
        synchronize()
        self._time = time.perf_counter()

    def query(self):
        """Whether it was reached."""
        return True

    def wait(self, stream=None):
        """Makes a stream wait for it."""

    def synchronize(self):
        """Waits for it."""

    def elapsed_time(self, evtend):
        """The milliseconds from this event to another one."""
        if self._time is None or evtend._time is None:
            raise RuntimeError("both events have to be recorded before the time between them is known")
        return (evtend._time - self._time) * 1e3


def synchronize():
    """Waits for all kernels and copies; raises what a kernel has raised that nobody has been told of."""
    _core._finish_launches()


def stream():
    """A new stream."""
    return Stream()


def default_stream():
    """The stream of launches that name none."""
    return Stream()


legacy_default_stream = per_thread_default_stream = default_stream


def external_stream(ptr):
    """The stream of another library, by the number that CUDA knows it by."""
    return Stream(int(ptr))


def handle_of(stream):
    """The number of a stream of another library; 0 for weft's own."""
    for name in ("handle", "ptr", "cuda_stream"):
        stream = getattr(stream, name, stream)
    handle = getattr(stream, "value", stream)
    if handle is not None and not hasattr(handle, "__index__"):
        raise TypeError(
            f"a stream is one of weft.cuda, CuPy, PyTorch, or a number, not {type(stream).__name__}"
        )
    return 0 if handle is None else handle.__index__()


def event(timing=True):
    """A new event."""
    return Event(timing)


def event_elapsed_time(evtstart, evtend):
    """The milliseconds between two events."""
    return evtstart.elapsed_time(evtend)


@contextlib.contextmanager
def defer_cleanup():
    """Memory is given back when it is used no more, in the block as elsewhere."""
    yield


@contextlib.contextmanager
def pinned(*arrays):
    """Copies of these arrays are quick in the block."""
    yield


mapped = pinned


def is_available():
    """Whether kernels run on a GPU, unless their arrays say otherwise: whether weft's current device is one."""
    return _core._launches_on_gpu()


def profile_start():
    """Kernels are part of weft's own profile."""


profile_stop = close = profile_start


def select_device(device_id):
    """Kernels run on one device."""
    if device_id != 0:
        raise ValueError(f"there is no device {device_id} for kernels; the only one is 0")
