"""Arrays for kernels, and streams and events, by numba.cuda's names."""

import contextlib
import time
import warnings

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

        dtype = self._array.dtype
        return dtype if isinstance(dtype, numpy.dtype) else numpy.dtype(dtype.name)

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

        if ary is not None:
            _check_alike(self, ary)
        _after(self._array, stream)
        host = numpy.array(self._array)
        if ary is None:
            return host
        ary[...] = host.reshape(ary.shape)
        return ary

    def copy_to_device(self, ary, stream=None):
        """Takes over the elements of another array."""
        other = ary._array if isinstance(ary, DeviceArray) else ary
        if not hasattr(other, "dtype") or not hasattr(other, "shape"):
            other = weft.asarray(other)
        _check_alike(other, self)
        _after(self._array, stream)
        self._array[...] = other.reshape(self.shape)
        _before(self._array, stream)

    def reshape(self, *shape, order="C"):
        """The same elements with another shape."""
        return DeviceArray(self._array.reshape(*shape, order=order))

    def ravel(self, order="C", stream=None):
        """The same elements along one axis."""
        return DeviceArray(self._array.ravel(order=order))

    def view(self, dtype):
        """The same memory as elements of another type."""
        return DeviceArray(self._array.view(dtype))

    def transpose(self, axes=None):
        """The axes in another order, in the same memory."""
        return DeviceArray(self._array.transpose(axes))

    def squeeze(self, axis=None, stream=None):
        """The same elements without axes of length 1, in the same memory."""
        return DeviceArray(self._array.squeeze(axis))

    def split(self, section, stream=None):
        """Pieces of so many elements, in the same memory."""
        if self.ndim != 1:
            raise NotImplementedError("only support 1d array")
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


def _check_alike(source, target):
    """Refuses to copy elements into an array of another shape or dtype. Axes of length 1 tell nothing apart."""
    kinds = [str(getattr(each.dtype, "descr", each.dtype)) for each in (source, target)]
    names = [str(each.dtype) for each in (source, target)]
    if names[0] != names[1] and kinds[0] != kinds[1]:
        raise TypeError(f"incompatible dtype: elements of {names[0]} are not copied to those of {names[1]}")
    shapes = [tuple(each.shape) for each in (source, target)]
    if [n for n in shapes[0] if n != 1] != [n for n in shapes[1] if n != 1]:
        raise ValueError(f"an array of shape {shapes[0]} has no place in one of shape {shapes[1]}")


def _after(array, stream):
    """What weft does with an array next comes after what a stream of another library was given."""
    handle = handle_of(stream)
    array = getattr(array, "bytes", array)  # of structures
    if handle and getattr(array, "device", "cpu") != "cpu":
        weft.asarray(_Described({**array.__cuda_array_interface__, "stream": handle}, array), copy=False)


def _before(array, stream):
    """What weft has to do with an array comes before what a stream of another library is given next."""
    handle = handle_of(stream)
    array = getattr(array, "bytes", array)
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


def _axes_of(shape, dtype, strides, order):
    """The axes from the outermost to the innermost, and the dtype as _made() wants it.

    Refuses strides that are not those of elements side by side.
    """
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    dtype = getattr(dtype, "dtype", dtype) if getattr(dtype, "fields", None) else dtype
    dtype = dtype if getattr(dtype, "names", None) else _plain(dtype)
    axes = list(range(len(shape))) if order == "C" else list(range(len(shape)))[::-1]
    if strides is None:
        return shape, dtype, axes
    if len(strides) != len(shape):
        raise ValueError(f"{len(strides)} strides for an array of {len(shape)} axes")
    import numpy

    if tuple(strides) != numpy.empty(shape, dtype, order).strides:
        axes.sort(key=lambda axis: -strides[axis])
        made = numpy.empty([shape[axis] for axis in axes], dtype).transpose(numpy.argsort(axes))
        if tuple(strides) != made.strides:
            raise NotImplementedError(
                f"strides of {tuple(strides)}: arrays for kernels have their elements side by side, which is "
                f"{made.strides}"
            )
    return shape, dtype, axes


def _made(module, shape, dtype, axes):
    """An array of weft or NumPy, not initialised, whose axes lie in memory as they are listed."""
    made = module.empty([shape[axis] for axis in axes], dtype=dtype)
    if axes == sorted(axes):
        return made
    return made.transpose([axes.index(axis) for axis in range(len(axes))])


def _strides_like(array):
    """Strides of elements side by side whose axes lie in memory as those of an array do."""
    if array.ndim < 2 or array.flags["C_CONTIGUOUS"] or array.flags["F_CONTIGUOUS"]:
        return None
    strides, step = [0] * array.ndim, array.dtype.itemsize
    for axis in sorted(range(array.ndim), key=lambda axis: array.strides[axis]):
        strides[axis] = step
        step *= array.shape[axis]
    return tuple(strides)


def _order_like(array):
    return "F" if array.flags["F_CONTIGUOUS"] and not array.flags["C_CONTIGUOUS"] else "C"


def _copied(array):
    if getattr(getattr(array, "dtype", None), "names", None):
        return _records().of_host(array) if is_available() else array.copy()
    return weft.array(array)


def _records():
    """The class of arrays of structures on a GPU. Only programs that have such need NumPy."""
    from weft.cuda._records import Records

    return Records


def _plain(dtype):
    """A dtype of weft's for one of NumPy's, or for one of Numba's types."""
    return str(getattr(dtype, "name", dtype)) if not isinstance(dtype, (str, type)) else dtype


def to_device(obj, stream=None, copy=True, to=None):
    """Copies an array of the host to where kernels run.

    Parameters
    ----------
    obj : array_like
        The array, or what array() makes one of. One that is for kernels already, or on a GPU, is not copied: the result
        is that, or has its memory.
    stream : Stream, optional
        Copies are ordered with all kernels anyway. What a stream of another library is given later comes after.
    copy : bool
        Without it the result is not initialised, or `to` as it is.
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
    handle_of(stream)  # refuses what is none
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if isinstance(obj, DeviceArray):
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        return as_cuda_array(obj)
    if not copy:
        return device_array_like(obj if hasattr(obj, "flags") else weft.asarray(obj), stream)
    made = DeviceArray(_copied(obj))
    _before(made._array, stream)
    return made


def device_array(shape, dtype="float64", strides=None, order="C", stream=None):
    """An array for kernels, not initialised. Its elements lie side by side; other strides are refused."""
    shape, dtype, axes = _axes_of(shape, dtype, strides, order)
    if getattr(dtype, "names", None):  # structures are NumPy's
        import numpy

        made = _made(numpy, shape, dtype, axes)
        return DeviceArray(_records().of_frame(made) if is_available() else made)
    return DeviceArray(_made(weft, shape, dtype, axes))


def device_array_like(ary, stream=None):
    """An array for kernels with the shape, dtype and order of axes of another one, not initialised."""
    return device_array(tuple(ary.shape), ary.dtype, _strides_like(ary), _order_like(ary))


def pinned_array(shape, dtype="float64", strides=None, order="C"):
    """An array of the host that kernels take: a NumPy array, not initialised."""
    import numpy

    return _made(numpy, *_axes_of(shape, dtype, strides, order))


def mapped_array(shape, dtype="float64", strides=None, order="C", stream=None, portable=False, wc=False):
    """As pinned_array: what a kernel writes is there when the launch is done, or looked at."""
    return pinned_array(shape, dtype, strides, order)


def managed_array(shape, dtype="float64", strides=None, order="C", stream=None, attach_global=True):
    """As pinned_array: what a kernel writes is there when the launch is done, or looked at."""
    return pinned_array(shape, dtype, strides, order)


def pinned_array_like(ary):
    """As pinned_array, with the shape, dtype and order of axes of another array."""
    return pinned_array(tuple(ary.shape), ary.dtype, _strides_like(ary), _order_like(ary))


def mapped_array_like(ary, stream=None, portable=False, wc=False):
    """As mapped_array, with the shape, dtype and order of axes of another array."""
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

    def __init__(self, handle=0, external=False):
        self.handle = handle
        self.external = external

    def __int__(self):
        return self.handle

    def synchronize(self):
        """Waits for what the stream was given; one of another library for what was queued there, too."""
        synchronize()
        if self.handle and is_available():
            place = weft.zeros(1) + 0
            _after(place, self)
            (place + 1).tolist()

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
        """Waits for what was given before, and calls `callback(stream, status, arg)`. What it raises is a warning."""
        self.synchronize()
        try:
            callback(self, 0, arg)
        except Exception as error:
            warnings.warn(f"Exception in stream callback: {error}", stacklevel=2)

    def __repr__(self):
        return f"<stream {self.handle} of another library>" if self.handle else "<stream of weft's>"


class Event:
    """A place in a stream, and when it was reached."""

    def __init__(self, timing=True):
        self._timing, self._time = timing, None

    def record(self, stream=None):
        """Waits until what was given before has ended, also in a stream of another library."""
        Stream(handle_of(stream)).synchronize()
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
        if not (self._timing and evtend._timing):
            raise RuntimeError("events with timing=False tell no time")
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
    return Stream(int(ptr), external=True)


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
    try:
        yield made[0] if len(made) == 1 else made
    finally:
        synchronize()


def is_available():
    """Whether kernels run on a GPU, unless their arrays say otherwise: whether weft's current device is one."""
    return _core._launches_on_gpu()


def profile_start():
    """Tells NVIDIA's profilers to look at the current GPU from now on. On the CPU it is nothing."""
    _tell_profilers(True)


def profile_stop():
    """Tells NVIDIA's profilers to look at the current GPU no more. On the CPU it is nothing."""
    _tell_profilers(False)


def _tell_profilers(look):
    if is_available():
        _core._tell_profilers(None, look)


@contextlib.contextmanager
def profiling():
    """Lets NVIDIA's profilers look at the block: see profile_start()."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()
