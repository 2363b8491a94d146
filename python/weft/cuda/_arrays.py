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

        _after(self._array, stream)
        host = numpy.array(self._array)
        if ary is None:
            return host
        if ary.shape != host.shape:
            raise ValueError(f"an array of shape {host.shape} has no place in one of shape {ary.shape}")
        ary[...] = host
        return ary

    def copy_to_device(self, ary, stream=None):
        """Takes over the elements of another array."""
        other = (
            ary._array if isinstance(ary, DeviceArray) else weft.asarray(ary) if type(ary) is list else ary
        )
        _after(self._array, stream)
        if tuple(other.shape) != tuple(self.shape):
            raise ValueError(
                f"an array of shape {tuple(other.shape)} has no place in one of shape {self.shape}"
            )
        self._array[...] = other
        _before(self._array, stream)

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
        _after(self._array, stream)
        return self[index]

    def __setitem__(self, index, value):
        self._array[index] = value._array if isinstance(value, DeviceArray) else value

    def setitem(self, index, value, stream=None):
        """As `array[index] = value`."""
        _after(self._array, stream)
        self[index] = value
        _before(self._array, stream)

    def __len__(self):
        return len(self._array)

    def __array__(self, dtype=None, copy=None):
        import numpy

        return numpy.array(self._array, dtype=dtype)

    @property
    def __cuda_array_interface__(self):
        """How other libraries reach the memory, if a GPU has it."""
        return self._array.__cuda_array_interface__

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __repr__(self):
        return f"<array of {self.dtype} with shape {self.shape} for kernels>"


def _after(array, stream):
    """What weft does with an array next comes after what a stream of another library was given."""
    handle = handle_of(stream)
    if handle and getattr(array, "device", "cpu") != "cpu":
        weft.asarray(_Described({**array.__cuda_array_interface__, "stream": handle}, array), copy=False)


def _before(array, stream):
    """What weft has to do with an array comes before what a stream of another library is given next."""
    handle = handle_of(stream)
    if handle and getattr(array, "device", "cpu") != "cpu":
        array.__dlpack__(stream=handle)


class _Hint(DeviceArray):
    """An argument of a launch, with what the program wants of it."""

    def __init__(self, value):
        if not hasattr(value, "dtype") or not hasattr(value, "shape"):
            raise TypeError(f"{type(self).__name__}() takes an array, not {type(value).__name__}")
        self.value = value

    @property
    def _array(self):
        return getattr(self.value, "_array", self.value)


class In(_Hint):
    """An array of the host that a launch does not change: what the kernel writes into it is lost.

    Without it an array comes back if the kernel writes it, and only then.
    """

    @property
    def _array(self):
        if isinstance(self.value, DeviceArray) or is_cuda_array(self.value):
            return getattr(self.value, "_array", self.value)
        return self.value.copy()


class Out(_Hint):
    """An array that a launch writes, as each is without it."""


class InOut(_Hint):
    """An array that a launch reads and writes, as each is without it."""


def _check_strides(shape, dtype, strides, order):
    """Refuses strides that are not those of elements side by side."""
    if strides is None:
        return
    import numpy

    made = numpy.empty(
        shape, getattr(dtype, "dtype", dtype) if getattr(dtype, "fields", None) else _plain(dtype), order
    )
    if tuple(strides) != made.strides:
        raise NotImplementedError(
            f"strides of {tuple(strides)}: arrays for kernels have their elements side by side, which is {made.strides}"
        )


def _order_like(array):
    return "F" if array.flags["F_CONTIGUOUS"] and not array.flags["C_CONTIGUOUS"] else "C"


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
        Copies are ordered with all kernels anyway. What a stream of another library is given later comes after.
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
        to.copy_to_device(weft.asarray(obj), stream)
        return to
    handle_of(stream)  # refuses what is none
    made = DeviceArray(_copied(obj))
    _before(made._array, stream)
    return made


def device_array(shape, dtype="float64", strides=None, order="C", stream=None):
    """An array for kernels, not initialised. Its elements lie side by side; other strides are refused."""
    _check_strides(shape, dtype, strides, order)
    return DeviceArray(_empty(shape, dtype, order))


def device_array_like(ary, stream=None):
    """An array for kernels with the shape, dtype and order of another one, not initialised."""
    return DeviceArray(_empty(tuple(ary.shape), ary.dtype, _order_like(ary)))


def pinned_array(shape, dtype="float64", strides=None, order="C"):
    """An array of the host that kernels take: a NumPy array, not initialised."""
    import numpy

    _check_strides(shape, dtype, strides, order)
    named = getattr(dtype, "names", None)
    return numpy.empty(shape, dtype=dtype if named else _plain(dtype), order=order)


def mapped_array(shape, dtype="float64", strides=None, order="C", stream=None, portable=False, wc=False):
    """As pinned_array: what a kernel writes is there when the launch is done, or looked at."""
    return pinned_array(shape, dtype, strides, order)


def managed_array(shape, dtype="float64", strides=None, order="C", stream=None, attach_global=True):
    """As pinned_array: what a kernel writes is there when the launch is done, or looked at."""
    return pinned_array(shape, dtype, strides, order)


def pinned_array_like(ary):
    """As pinned_array, with the shape, dtype and order of another array."""
    return pinned_array(tuple(ary.shape), ary.dtype, order=_order_like(ary))


def mapped_array_like(ary, stream=None, portable=False, wc=False):
    """As mapped_array, with the shape, dtype and order of another array."""
    return pinned_array_like(ary)


def as_cuda_array(obj, sync=True):
    """An array of another library as one for kernels, in the same memory.

    Parameters
    ----------
    obj : array
        One on a GPU, by the CUDA array interface, or one of weft's.
    sync : bool
        Whether what its stream has to do comes before.

    Returns
    -------
    DeviceArray

    Raises
    ------
    TypeError
        When the object is neither.
    """
    if isinstance(obj, DeviceArray):
        return obj
    if isinstance(obj, weft.ndarray):
        return DeviceArray(obj)
    if not is_cuda_array(obj):
        raise TypeError(
            f"{type(obj).__name__} has no CUDA array interface; to_device() copies arrays of the host"
        )
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


def is_cuda_array(obj):
    """Whether it is an array for kernels, or has the CUDA array interface."""
    return isinstance(obj, DeviceArray) or hasattr(obj, "__cuda_array_interface__")


class _Described:
    """What lends memory of a GPU by a description."""

    def __init__(self, description, owner):
        self.__cuda_array_interface__ = description
        self._owner = owner


def from_cuda_array_interface(desc, owner=None, sync=True):
    """An array for kernels over memory of a GPU that a description of the CUDA array interface names.

    Parameters
    ----------
    desc : dict
        With `shape`, `typestr`, `data` and `version`, and maybe `strides` and `stream`.
    owner : object, optional
        What the memory lives as long as.
    sync : bool
        Whether what `stream` has to do comes before.

    Returns
    -------
    DeviceArray

    Raises
    ------
    NotImplementedError
        When the description has a mask.
    """
    if desc.get("mask") is not None:
        raise NotImplementedError("arrays with a mask are not taken")
    if not sync:
        desc = {name: value for name, value in desc.items() if name != "stream"}
    return DeviceArray(weft.asarray(_Described(desc, owner), copy=False))


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

    def async_done(self):
        """A future of the running event loop that is done when what was given before has ended."""
        import asyncio

        return asyncio.get_running_loop().run_in_executor(None, self.synchronize)

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
    """Nothing: arrays of the host are copied as they are."""
    yield


@contextlib.contextmanager
def mapped(*arrays, stream=None):
    """Arrays of the host as arrays for kernels in the block: one, or a list. At its end all is written."""
    made = [DeviceArray(weft.asarray(each, copy=False, device="cpu")) for each in arrays]
    yield made[0] if len(made) == 1 else made
    synchronize()


def is_available():
    """Whether kernels run on a GPU, unless their arrays say otherwise: whether weft's current device is one."""
    return _core._launches_on_gpu()


def profile_start():
    """Nothing: weft.profile() sees all kernels of its block, and a profiler of NVIDIA's all of the process."""


profile_stop = profile_start


@contextlib.contextmanager
def profiling():
    """Nothing: see profile_start()."""
    yield
