"""The devices that kernels run on, by numba.cuda's names, and the reasons of the names that are not there."""

import functools
import os
import threading
from collections import namedtuple

import weft
from weft import _core
from weft.cuda import _arrays

MemoryInfo = namedtuple("MemoryInfo", "free total")
_state = threading.local()
_OF_ALL = {  # by CUDA's names: what a launch of weft's takes on any device
    "WARP_SIZE": 32,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 2**16 - 1,
    "MAX_GRID_DIM_Z": 2**16 - 1,
    "MAX_SHARED_MEMORY_PER_BLOCK": 227 << 10,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 << 10,
}


class Device:
    """A GPU, or the CPU where kernels run there. In a `with` block it is this thread's current device.

    `id`, `name`, `compute_capability` (two numbers, which the CPU has not), `MULTIPROCESSOR_COUNT`, and what a launch
    may have: `WARP_SIZE`, `MAX_THREADS_PER_BLOCK` and so on.
    """

    def __init__(self, device):
        self._device = device

    @property
    def id(self):
        """The number of the GPU; 0 of the CPU."""
        return self._device.index or 0

    @functools.cached_property
    def _facts(self):
        found = [each for each in _core._gpu_report()["devices"] if each["device"] == self._device]
        return found[0] if found else {"name": "CPU", "multiprocessors": weft.config.num_threads}

    @property
    def name(self):
        """The name of the GPU."""
        return self._facts["name"]

    @property
    def MULTIPROCESSOR_COUNT(self):
        """How many blocks run at once at least: a GPU's multiprocessors, or the threads of the CPU."""
        return self._facts["multiprocessors"]

    def get_primary_context(self):
        """What current_context() gives where this is the current device."""
        return Context(self)

    @property
    def is_gpu(self):
        """Whether it is a GPU."""
        return str(self._device) != "cpu"

    supports_float16 = True

    @property
    def COMPUTE_CAPABILITY_MAJOR(self):
        """The first number of a GPU's compute capability."""
        return self.compute_capability[0]

    @property
    def COMPUTE_CAPABILITY_MINOR(self):
        """The second number of a GPU's compute capability."""
        return self.compute_capability[1]

    def reset(self):
        """As close()."""
        close()

    def __enter__(self):
        self._device.__enter__()
        return self

    def __exit__(self, *exception):
        self._device.__exit__(*exception)

    def __getattr__(self, name):
        if name in _OF_ALL:
            return _OF_ALL[name]
        if name == "compute_capability":  # no property, whose AttributeError would be asked of here
            if self._device == "cpu":
                raise AttributeError("the CPU, where kernels run now, has no compute capability")
            return tuple(map(int, str(self._facts["capability"]).split(".")))
        raise AttributeError(f"weft does not tell {name!r} of a device; it tells {', '.join(_OF_ALL)}")

    def __eq__(self, other):
        return isinstance(other, Device) and self._device == other._device

    def __hash__(self):
        return hash(self._device)

    def __repr__(self):
        return f"<device {self._device} of kernels>"


class Devices:
    """The GPUs, by their numbers: empty where there is none, and kernels run on the CPU.

    Examples
    --------
    >>> from weft import cuda
    >>> for gpu in cuda.gpus:
    ...     with gpu:  # kernels without arrays on a GPU run there
    ...         a = cuda.to_device([1.0, 2.0])
    """

    @property
    def lst(self):
        """The GPUs as a list."""
        return [Device(weft.device(f"cuda:{number}")) for number in range(_core._gpu_count())]

    @property
    def current(self):
        """The current device, or None where it is the CPU."""
        return get_current_device() if _arrays.is_available() else None

    def __getitem__(self, number):
        found = self.lst
        try:
            return found[number]
        except IndexError:
            raise IndexError(f"there is no GPU {number}: there are {len(found)}") from None

    def __iter__(self):
        return iter(self.lst)

    def __len__(self):
        return _core._gpu_count()

    def __repr__(self):
        return f"<{len(self)} GPUs>"


class Context:
    """What numba.cuda keeps of a device. weft has one for each, and makes it at the first use."""

    def __init__(self, device):
        self.device = device

    synchronize = staticmethod(_arrays.synchronize)
    defer_cleanup = staticmethod(_arrays.defer_cleanup)
    create_stream = staticmethod(_arrays.stream)
    create_external_stream = staticmethod(_arrays.external_stream)
    create_event = staticmethod(_arrays.event)
    get_default_stream = get_legacy_default_stream = get_per_thread_default_stream = staticmethod(
        _arrays.default_stream
    )

    def reset(self):
        """As close()."""
        close()

    def get_memory_info(self):
        """The bytes that are free, and all there are. What weft keeps for reuse is not free."""
        if self.device.is_gpu:
            return MemoryInfo(*_core._gpu_memory(str(self.device._device)))
        pages = [os.sysconf(name) for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES")]
        return MemoryInfo(*(each * os.sysconf("SC_PAGE_SIZE") for each in pages))

    def __getattr__(self, name):
        raise AttributeError(f"weft's contexts have no {name!r}: the driver is weft's own")

    def __repr__(self):
        return f"<context of {self.device!r}>"


gpus = Devices()


def list_devices():
    """The GPUs, as `gpus`."""
    return gpus


def get_current_device():
    """The device where kernels run that have no array on a GPU: a GPU, or the CPU."""
    return Device(weft.empty(0).device)


def current_context(devnum=None):
    """The context of the current device, or of the GPU of a number."""
    return Context(get_current_device() if devnum is None else gpus[devnum])


def require_context(function):
    """The function itself: weft makes a context at the first use of a GPU."""
    return function


def select_device(device_id):
    """Makes a GPU the current device of this thread, until `close()`. Without GPUs 0 is the CPU.

    Parameters
    ----------
    device_id : int
        The number of the GPU.

    Returns
    -------
    Device

    Raises
    ------
    ValueError
        When there is no such device.

    Examples
    --------
    >>> from weft import cuda
    >>> cuda.select_device(0).WARP_SIZE
    32
    >>> cuda.close()
    """
    count = _core._gpu_count()
    if not hasattr(device_id, "__index__") or not 0 <= device_id < max(count, 1):
        raise ValueError(f"there is no device {device_id!r} for kernels: 0 to {max(count, 1) - 1} are there")
    if not count:
        return Device(weft.device("cpu"))
    before = _core._set_current_device(f"cuda:{device_id}")
    if getattr(_state, "before", None) is None:
        _state.before = before
    return get_current_device()


def close():
    """Waits for all kernels, gives memory that is kept for reuse back, and ends what select_device() has begun.

    Arrays stay as they are, and GPUs may be used again.
    """
    _arrays.synchronize()
    for each in gpus:
        weft.empty_pool(str(each._device))
    before, _state.before = getattr(_state, "before", None), None
    if before is not None:
        _core._set_current_device(before)


def detect():
    """Prints the GPUs that there are, and tells whether there is one."""
    print(f"Found {len(gpus)} CUDA devices")
    for each in gpus:
        major, minor = each.compute_capability
        print(f"id {each.id}: {each.name}, compute capability {major}.{minor}")
    return len(gpus) > 0


def is_float16_supported():
    """Whether kernels have float16: they have."""
    return True


def is_supported_version():
    """Whether CUDA is one that weft takes. A driver that is too old counts as none."""
    return True


_DRIVER = "the driver is weft's own; weft.show_config() tells of it"
_MEMORY = "memory is weft's own; weft.config.device_memory_limit bounds it"
_PROCESSES = "processes share arrays of the host alone; copy_to_host() makes one"
_PTX = "launch the kernel, and kernel.inspect_asm() gives its PTX"
_MISSING = {
    **dict.fromkeys(("driver", "nvvm", "runtime", "api", "devices", "initialize"), _DRIVER),
    **dict.fromkeys(
        "BaseCUDAMemoryManager HostOnlyCUDAMemoryManager MappedMemory MemoryInfo MemoryPointer PinnedMemory "
        "set_memory_manager".split(),
        _MEMORY,
    ),
    **dict.fromkeys(("GetIpcHandleMixin", "IpcHandle", "open_ipc_array"), _PROCESSES),
    **dict.fromkeys(
        ("compile", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device"), _PTX
    ),
    **dict.fromkeys(("cudadrv", "devicearray"), "weft.numba.cuda has it"),
    "KernelRuntimeError": "what a kernel raises is the error itself, as IndexError",
    "shfl_sync_intrinsic": "kernels have shfl_sync",
    "simulator": "kernels run on the CPU without one",
    "types": "weft.numba.types has them",
    "vote_sync_intrinsic": "kernels have all_sync, any_sync, eq_sync and ballot_sync",
}


def why_missing(module, name):
    """The AttributeError for a name that a module has not."""
    reason = _MISSING.get(name)
    if reason is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return AttributeError(f"{module} has no {name}: {reason}")
