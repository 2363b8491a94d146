"""A pytest plugin: CuPy's own tests of kernels see weft where they import cupy, as if that line had been changed.

    CUPY=checkout python -m pytest -p as_cupy checkout/tests/cupy_tests/core_tests/test_raw.py ...

What is tested is weft's: arrays, RawKernel, RawModule, ElementwiseKernel, ReductionKernel. What CuPy's tests ask of
CuPy's inside beside that stands here: its device and its versions, the folder of its cache, its older ways to say the
same (`create_reduction_func`), and its names of errors. `cupy.testing` is CuPy's own, from the checkout.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

import numpy
import pytest
import weft
from weft import cuda

CHECKOUT = pathlib.Path(os.environ["CUPY"])
ERRORS = (ValueError, OSError, RuntimeError)
INSIDE = ("TestCachePayload", "test_bare_cubin_entry_is_not_loaded_as_payload")


class CompileException(weft.CompileError):
    """CuPy's name of a CompileError."""


def module(name, **names):
    made = types.ModuleType(name)
    vars(made).update(names)
    sys.modules[name] = made
    return made


class Device:
    """cupy.cuda.Device; a context."""

    def __init__(self, id=0):
        self.id = id

    def __enter__(self):
        self._entered = weft.device(f"cuda:{self.id}")
        self._entered.__enter__()
        return self

    def __exit__(self, *error):
        return self._entered.__exit__(*error)

    def synchronize(self):
        cuda.synchronize()

    @property
    def compute_capability(self):
        return "{}{}".format(*cuda.get_current_device().compute_capability)


class Memory:
    """cupy.cuda.memory.alloc: bytes on the device."""

    def __init__(self, size):
        self.array = weft.empty(size, weft.uint8)

    @property
    def ptr(self):
        return self.array.data.ptr

    def copy_from(self, source, size):
        self.array[:size] = source.array.view(weft.uint8)[:size]


class ArrayClass(type):
    """cupy.ndarray: its third argument is memory of the device."""

    def __instancecheck__(cls, value):
        return isinstance(value, weft.ndarray)

    def __call__(cls, shape, dtype=float, memptr=None, **others):
        memory = memptr.array if isinstance(memptr, Memory) else memptr
        return weft.ndarray(shape, dtype, memory, **others)


class ndarray(metaclass=ArrayClass):
    pass


class SimpleReduction:
    """_core.create_reduction_func: a ReductionKernel for each pair of types."""

    def __init__(self, name, types_of, routine, identity):
        map_, reduce, post, kind = routine
        self._kernels = []
        for each in types_of:
            given, result = each.split("->")
            kernel = weft.ReductionKernel(
                f"{numpy.dtype(given)} in0",
                f"{numpy.dtype(result)} out0",
                map_,
                reduce,
                post,
                str(identity),
                name,
                **({} if kind is None else {"reduce_type": kind}),
            )
            self._kernels.append((numpy.dtype(given), kernel))

    @property
    def _cached_codes(self):
        return [code for _, kernel in self._kernels for code in kernel._cached_codes]

    def __call__(self, a, axis=None, keepdims=False):
        a = weft.asarray(a)
        for dtype, kernel in self._kernels:
            if numpy.can_cast(a.dtype, dtype):
                return kernel(a, axis=axis, keepdims=keepdims)
        raise TypeError(f"no reduction for {a.dtype}")


class Package(types.ModuleType):
    """cupy: what it does not have itself is weft's."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(weft, name)


def asnumpy(a, *_, **__):
    return numpy.asarray(a)


def run_compiler(command, folder, name):
    if shutil.which(command[0]) is None and "--version" in command:
        return "release 13.0"
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileException(done.stderr)
    return done.stdout


class DiskKernelCacheBackend:
    """The folder where weft keeps kernels while this is in its place; counts what is kept there."""

    def __init__(self, path):
        self._cache_dir = path
        self._known = set()

    def save(self, name, cubin, source):
        pass

    def look(self):
        for file in pathlib.Path(self._cache_dir).rglob("*"):
            if file.is_file() and file not in self._known:
                self._known.add(file)
                self.save(file.name, b"", "")


class Compiler(types.ModuleType):
    """cupy.cuda.compiler: the folder of its cache is weft's."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "_kernel_cache_backend":
            weft.config.cache_dir = None if value is None else value._cache_dir
        if name == "_get_bool_env_variable":
            weft.config.cache = not value("CUPY_CACHE_IN_MEMORY", False)


class RawModule(weft.RawModule):
    """Tells the folder's stand-in when something was compiled."""

    def get_function(self, name):
        kernel = super().get_function(name)
        kernel.attributes  # noqa: B018, which loads it
        backend = sys.modules["cupy.cuda.compiler"]._kernel_cache_backend
        if backend is not None:
            backend.look()
        return kernel


def swap():
    """Puts the modules in their places."""
    nothing = types.SimpleNamespace
    package = Package("cupy")
    package.__path__ = [str(CHECKOUT / "cupy")]
    sys.modules["cupy"] = package
    runtime = module(
        "cupy.cuda.runtime",
        is_hip=False,
        getDevice=lambda: 0,
        getDeviceCount=lambda: len(cuda.gpus),
        deviceCanAccessPeer=lambda a, b: 0,
        driverGetVersion=lambda: 13000,
        runtimeGetVersion=lambda: 13000,
    )
    compiler = sys.modules["cupy.cuda.compiler"] = Compiler("cupy.cuda.compiler")
    vars(compiler).update(
        CompileException=weft.CompileError,
        JitifyException=weft.CompileError,
        _kernel_cache_backend=None,
        _empty_file_preprocess_cache={},
        _get_bool_env_variable=lambda name, default: default,
        _get_arch=lambda: Device().compute_capability,
        _run_cc=run_compiler,
    )
    caches = module("cupy.cuda._compiler_cache", DiskKernelCacheBackend=DiskKernelCacheBackend)
    driver = module(
        "cupy.cuda.driver",
        CUDADriverError=ERRORS,
        _is_cuda_python=lambda: False,
        get_build_version=lambda: 13000,
    )
    memory = module("cupy.cuda.memory", alloc=Memory)
    device = module("cupy.cuda.device", get_compute_capability=lambda: Device().compute_capability)
    texture = module(
        "cupy.cuda.texture",
        **dict.fromkeys(
            "ChannelFormatDescriptor CUDAarray ResourceDescriptor TextureDescriptor TextureObject".split()
        ),
    )
    package.cuda = module(
        "cupy.cuda",
        runtime=runtime,
        compiler=compiler,
        driver=driver,
        memory=memory,
        device=device,
        texture=texture,
        _compiler_cache=caches,
        Device=Device,
        get_nvcc_path=lambda: shutil.which("nvcc") or "nvcc",
    )
    accelerators = {
        f"{verb}_{kind}_accelerators": (lambda *_: [])
        for verb in ("get", "set")
        for kind in ("reduction", "routine")
    }
    package._core = module(
        "cupy._core",
        elementwise_copy=lambda source, target: target.__setitem__(..., source),
        create_reduction_func=SimpleReduction,
        **accelerators,
    )
    package._core._accelerator = module("cupy._core._accelerator", ACCELERATOR_CUB=1, **accelerators)
    package._core.internal = module("cupy._core.internal", prod=numpy.prod)
    package._util = module(
        "cupy._util", clear_memo=lambda: None, PerformanceWarning=weft.exceptions.ComplexWarning
    )
    # Tests ask NumPy and CuPy for the same class.
    package.exceptions = module(
        "cupy.exceptions",
        **{
            name: (getattr(numpy.exceptions, name), getattr(weft.exceptions, name))
            for name in ("AxisError", "ComplexWarning")
        },
    )
    package.RawModule, package.ndarray = RawModule, ndarray
    # CuPy's random numbers have a dtype.
    package.random = module(
        "cupy.random",
        uniform=weft.random.uniform,
        random=lambda size=None, dtype=float: weft.random.random(size).astype(dtype),
        random_integers=lambda low, high, size: weft.random.randint(low, high + 1, size),
    )
    package.asnumpy = asnumpy
    package.get_array_module = lambda *_: weft
    scipy = module("cupyx.scipy.sparse", issparse=lambda _: False)
    module("cupyx", scipy=module("cupyx.scipy", sparse=scipy))
    module("cupy_backends")
    module("cupy_backends.cuda")
    module("cupy_backends.cuda.libs", nvrtc=nothing(getVersion=lambda: (13, 0)))
    module("cupy_backends.cuda.libs.nvrtc")
    import cupy.testing

    package.testing = cupy.testing


def pytest_configure(config):
    for name in ("slow", "multi_gpu", "parallel_threads", "iterations", "thread_unsafe"):
        config.addinivalue_line("markers", name)
    # Children that tests start import cupy, too.
    folder = tempfile.mkdtemp(prefix="as-cupy-")
    pathlib.Path(folder, "cupy.py").write_text("import as_cupy; as_cupy.start()\n")
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
    config.add_cleanup(lambda: shutil.rmtree(folder))
    start()


def pytest_collection_modifyitems(items):
    for item in items:
        if shutil.which("nvcc") is None and "NVCC" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason="there is no nvcc"))
        if any(name in item.nodeid for name in INSIDE):
            item.add_marker(pytest.mark.skip(reason="how CuPy's files of its cache look"))


def start():
    if len(weft.devices()) > 1:
        weft.config.device = "cuda"
    swap()
