"""weft.device: where arrays live and operations run."""

from _thread import _local as thread_local

from weft import _core

_state = thread_local()


class device(str):
    """The name of a device: "cpu", or "cuda:0" for the first GPU; "cuda" is that too.

    A device is a string, as NumPy's `x.device` is. Inside a `with` block it is where this thread makes new arrays;
    operations run where their arrays are. Naming a GPU needs none; using it opens the driver, and raises DeviceError
    where there is none.

    >>> np.device("cpu")
    device('cpu')
    >>> np.arange(3).device == "cpu"
    True
    >>> with np.device("cpu"):
    ...     x = np.zeros(3)
    """

    __module__ = "weft"  # as pickles name it

    __slots__ = ()

    def __new__(cls, name="cpu"):
        name = str(name)
        kind, colon, number = name.partition(":")
        if name == "cuda":
            name = "cuda:0"
        elif name != "cpu" and not (kind == "cuda" and number.isascii() and number.isdigit()):
            raise ValueError(f"{name!r} is no device: it is 'cpu', 'cuda' or 'cuda:N'")
        else:
            name = f"{kind}:{int(number)}" if colon else name
        return super().__new__(cls, name)

    @property
    def type(self):
        """ "cpu" or "cuda"."""
        return self.partition(":")[0]

    @property
    def index(self):
        """The number of a GPU, None for the CPU."""
        number = self.partition(":")[2]
        return int(number) if number else None

    def __repr__(self):
        return f"device({str(self)!r})"

    def __enter__(self):
        before = _core._set_current_device(str(self))
        if not hasattr(_state, "before"):
            _state.before = []
        _state.before.append(before)
        return self

    def __exit__(self, *exception):
        _core._set_current_device(_state.before.pop())


_known = {}


def _of(name):
    found = _known.get(name)
    if found is None:
        found = _known[name] = device(name)
    return found


def devices():
    """The devices there are, the CPU first. Looks for a driver.

    >>> np.devices()[0]
    device('cpu')
    """
    return [device("cpu"), *(device(f"cuda:{k}") for k in range(_core._gpu_count()))]


def to_device(x, device, /, *, stream=None):
    """The array on another device: `x` itself if it is there, else a copy, made when it is needed.

    Raises ValueError for what is no device, DeviceError when there is no such device.

    >>> np.arange(3).to_device("cpu")
    array([0, 1, 2])
    """
    if stream is not None:
        raise NotImplementedError("weft orders copies by itself: to_device() takes no stream")
    return _core._to_device(x, str(device))


def synchronize(device=None):
    """Waits until the work that was started on a device (by default the current one) is done.

    Work that is recorded and not started stays so: see eval().
    """
    _core._synchronize(None if device is None else str(device))


def memory_stats(device=None):
    """What weft holds of a device's memory (by default the current one's), a dictionary of bytes.

    in_use: in arrays and temporaries; pooled: kept for reuse; peak: the most that was in use at once (0 where that is
    not counted, on the CPU); allocations: blocks asked of the driver so far.

    >>> sorted(np.memory_stats())
    ['allocations', 'in_use', 'peak', 'pooled']
    """
    return _core._memory_stats(None if device is None else str(device))


def empty_pool(device=None):
    """Gives memory that is kept for reuse back to the system or driver (by default the current device's)."""
    _core._empty_pool(None if device is None else str(device))
