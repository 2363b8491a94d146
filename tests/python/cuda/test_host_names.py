"""The names of numba.cuda outside of kernels: arrays, devices, contexts, and why some names are not there."""

import asyncio
import ctypes

import numpy
import pytest
import weft
from on_gpu import FAKE_DRIVER, HAS_GPU, needs_gpu, on_fake_driver, run
from weft import cuda
from weft.cuda._arrays import DeviceArray
from weft.numba import cuda as numbas

MODULES = [cuda, numbas]
# What `dir(numba.cuda)` of Numba 0.68 has for programs.
THERE = (
    "In InOut Out Reduce CudaSupportError activemask all_sync any_sync as_cuda_array atomic ballot_sync blockDim "
    "blockIdx brev cbrt close clz const current_context default_stream defer_cleanup detect device_array "
    "device_array_like double4 eq_sync event event_elapsed_time external_stream ffs float32x4 fma fp16 "
    "from_cuda_array_interface get_current_device gpus grid gridDim gridsize is_available is_cuda_array "
    "is_float16_supported is_supported_version jit laneid lanemask_lt legacy_default_stream list_devices local "
    "managed_array mapped mapped_array mapped_array_like match_all_sync match_any_sync nanosleep "
    "per_thread_default_stream pinned pinned_array pinned_array_like popc profile_start profile_stop profiling reduce "
    "require_context select_device selp shared shfl_down_sync shfl_sync shfl_up_sync shfl_xor_sync stream synchronize "
    "syncthreads syncthreads_and syncthreads_count syncthreads_or syncwarp threadIdx threadfence threadfence_block "
    "threadfence_system to_device warpsize"
).split()
NOT_THERE = (
    "BaseCUDAMemoryManager GetIpcHandleMixin HostOnlyCUDAMemoryManager IpcHandle KernelRuntimeError MappedMemory "
    "MemoryInfo MemoryPointer PinnedMemory api compile compile_for_current_device compile_ptx "
    "compile_ptx_for_current_device devices driver initialize nvvm open_ipc_array runtime "
    "set_memory_manager shfl_sync_intrinsic simulator vote_sync_intrinsic"
).split()


@pytest.mark.parametrize("module", MODULES)
def test_names(module):
    for name in THERE:
        assert hasattr(module, name), name
    for name in NOT_THERE:
        with pytest.raises(AttributeError, match=rf"^{module.__name__} has no {name}: \w"):
            getattr(module, name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = module.nonsense
    assert {*module.__dict__} >= {name for name in cuda.__all__ if name not in ("libdevice", "random")}


def test_types_are_numbas():
    assert numbas.types is weft.numba.types
    with pytest.raises(AttributeError, match=r"weft\.numba\.types has them"):
        _ = cuda.types


@pytest.mark.parametrize("name", ["cudadrv", "devicearray"])
def test_modules_are_numbas(name):
    assert hasattr(numbas, name)
    with pytest.raises(AttributeError, match=rf"weft\.cuda has no {name}: weft\.numba\.cuda has it"):
        getattr(cuda, name)


@cuda.jit
def shift(a, b):
    i = cuda.grid(1)
    if i < a.size:
        b[i] = a[i] + 1
        a[i] = -1


def test_hints_of_arguments():
    a, b = numpy.arange(5.0), numpy.zeros(5)
    shift[1, 32](cuda.In(a), cuda.Out(b))
    assert a.tolist() == [0, 1, 2, 3, 4] and b.tolist() == [1, 2, 3, 4, 5]
    hint = cuda.In(a)
    a += 10  # a hint is of what the array is when the kernel is launched
    shift[1, 32](hint, cuda.InOut(b))
    assert a.tolist() == [10, 11, 12, 13, 14] and b.tolist() == [11, 12, 13, 14, 15]
    shift[1, 32](cuda.InOut(a), b)
    assert a.tolist() == [-1] * 5
    there = cuda.to_device(numpy.arange(5.0))
    shift[1, 32](cuda.In(there), b)
    assert there.copy_to_host().tolist() == [-1] * 5  # no copy, as numba.cuda makes none
    ours = weft.arange(5.0, device="cpu")
    shift[1, 32](cuda.In(ours), b)
    assert ours.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError, match=r"In\(\) takes an array, not int"):
        cuda.In(3)


@cuda.jit
def step_points(points):
    i = cuda.grid(1)
    if i < points.size:
        points[i].x += 1


def test_hints_of_structures():
    for hint, after in ((cuda.In, 0), (cuda.InOut, 1), (cuda.Out, 1)):
        points = numpy.zeros(3, [("x", "f8"), ("n", "i4")])
        step_points[1, 32](hint(points))
        assert points["x"].tolist() == [after] * 3
        there = cuda.to_device(points)
        step_points[1, 32](hint(there))
        assert there.copy_to_host()["x"].tolist() == [after + 1] * 3


def test_classes_of_device_arrays():
    class Named(DeviceArray):
        pass

    there = Named(numpy.zeros(3, [("x", "f8")]))
    step_points[1, 32](there)
    assert there.copy_to_host()["x"].tolist() == [1] * 3


@pytest.mark.parametrize(
    "make", [cuda.device_array, cuda.pinned_array, cuda.mapped_array, cuda.managed_array]
)
def test_shapes_orders_and_strides(make):
    for order, strides in (("C", (16, 4)), ("F", (4, 12))):
        for given in (None, strides):
            made = make((3, 4), numpy.float32, given, order)
            assert made.shape == (3, 4) and made.dtype == "float32" and made.strides == strides
    with pytest.raises(NotImplementedError, match="side by side"):
        make((3, 4), "float32", strides=(32, 4))
    pairs = numpy.dtype([("x", "f4"), ("y", "i8")])
    assert make(3, pairs).dtype == pairs
    assert cuda.mapped_array(3, stream=cuda.stream(), portable=True, wc=True).shape == (3,)
    assert cuda.managed_array(3, attach_global=False).shape == (3,)


@pytest.mark.parametrize(
    "like", [cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like], ids=lambda f: f.__name__
)
def test_arrays_like_others(like):
    for array in (
        numpy.zeros((3, 4), "i2"),
        numpy.zeros((3, 4), "f4", order="F"),
        weft.zeros((2, 5), "int64"),
        cuda.device_array((2, 2), "float32"),
        numpy.zeros(3, [("x", "f4"), ("y", "i8")]),
    ):
        made = like(array)
        assert made.shape == array.shape and str(made.dtype) == str(array.dtype)
        assert made.strides == array.strides


def test_mapped_arrays():
    a, b = numpy.arange(5.0), numpy.zeros(5)
    with cuda.mapped(a) as one:
        assert type(one) is DeviceArray
        shift[1, 32](one, b)
    assert a.tolist() == [-1] * 5 and b.tolist() == [1, 2, 3, 4, 5]
    a = numpy.arange(5.0)
    with cuda.mapped(a, b, stream=cuda.stream()) as (first, second):
        shift[1, 32](first, second)
    assert a.tolist() == [-1] * 5 and b.tolist() == [1, 2, 3, 4, 5]
    with cuda.pinned(a), cuda.defer_cleanup(), cuda.profiling():
        cuda.profile_start()
        cuda.profile_stop()


class Holder:
    """An array of another library."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **more}


@needs_gpu
def test_arrays_of_others_share_memory():
    with weft.device("cuda"):
        x = weft.arange(6.0) + 0
    described = x.__cuda_array_interface__
    for made in (
        cuda.as_cuda_array(Holder(x)),
        cuda.as_cuda_array(Holder(x), sync=False),
        cuda.as_cuda_array(x),
        cuda.from_cuda_array_interface(described, owner=x),
        cuda.from_cuda_array_interface(described, x, sync=False),
    ):
        assert type(made) is DeviceArray and made.__cuda_array_interface__["data"] == described["data"]
        assert made.copy_to_host().tolist() == [0, 1, 2, 3, 4, 5]
        assert cuda.is_cuda_array(made) and cuda.as_cuda_array(made) is made
    assert cuda.is_cuda_array(Holder(x))
    with pytest.raises(ValueError, match="stream"):
        cuda.from_cuda_array_interface({**described, "stream": 0}, x)
    assert cuda.from_cuda_array_interface({**described, "stream": 0}, x, sync=False).shape == (6,)
    with pytest.raises(NotImplementedError, match="mask"):
        cuda.from_cuda_array_interface({**described, "mask": x})


def test_arrays_of_the_host_are_no_cuda_arrays(device):
    assert not cuda.is_cuda_array(numpy.zeros(3)) and cuda.is_cuda_array(cuda.to_device([1.0]))
    with pytest.raises(TypeError, match="ndarray has no CUDA array interface"):
        cuda.as_cuda_array(numpy.zeros(3))
    assert cuda.as_cuda_array(weft.ones(3)).copy_to_host().tolist() == [1, 1, 1]
    assert hasattr(cuda.to_device([1.0]), "__cuda_array_interface__") == (device == "cuda")


def test_streams_and_events():
    with cuda.stream().auto_synchronize() as stream:
        start, end = cuda.event(), cuda.event(timing=True)
        with pytest.raises(RuntimeError, match="recorded"):
            cuda.event_elapsed_time(start, end)
        start.record(stream)
        a = cuda.to_device(numpy.arange(5.0), stream=stream)
        shift[1, 32, stream](a, numpy.zeros(5))
        end.record(stream)
        end.wait(stream)
        end.synchronize()
    assert end.query() and cuda.event_elapsed_time(start, end) >= 0
    called = []
    stream.add_callback(lambda *given: called.append(given), 7)
    assert called == [(stream, 0, 7)]

    async def wait():
        await cuda.default_stream().async_done()
        return a.copy_to_host().tolist()

    assert asyncio.run(wait()) == [-1] * 5
    assert cuda.external_stream(0).handle == 0
    for each in (cuda.legacy_default_stream(), cuda.per_thread_default_stream()):
        shift[1, 32, each](a, numpy.zeros(5))


@on_fake_driver
def test_copies_are_ordered_with_streams_of_others(device):
    library = ctypes.CDLL(str(FAKE_DRIVER))
    copies = library.cuMemcpyDtoDAsync_v2, library.cuMemcpyDtoHAsync_v2
    for copy in copies:
        copy.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
    library.cuStreamCreate.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint]
    library.cuStreamSynchronize.argtypes = [ctypes.c_void_p]
    handle = ctypes.c_void_p()
    with weft.device("cuda"):
        x = cuda.to_device(numpy.zeros(5000))
        assert library.cuStreamCreate(ctypes.byref(handle), 1) == 0
        stream, seen = cuda.external_stream(handle.value), numpy.zeros(5000)
        # They write, weft reads.
        source = cuda.to_device(numpy.full(5000, 3.0), stream=stream)
        places = [each.__cuda_array_interface__["data"][0] for each in (x, source)]
        assert copies[0](*places, 40000, handle) == 0
        assert (x.copy_to_host(stream=stream) == 3).all()
        # weft writes, they read.
        x.copy_to_device(numpy.full(5000, 4.0), stream=stream)
        assert copies[1](seen.ctypes.data, places[0], 40000, handle) == 0
        x.setitem(slice(None), 5.0, stream=stream)
        assert library.cuStreamSynchronize(handle) == 0
        assert (seen == 4).all() and (x.getitem(slice(None), stream=stream).copy_to_host() == 5).all()
        made = cuda.to_device(numpy.full(5000, 6.0), stream=stream)
        place = made.__cuda_array_interface__["data"][0]
        assert copies[1](seen.ctypes.data, place, 40000, handle) == 0
        assert library.cuStreamSynchronize(handle) == 0
        assert (seen == 6).all()


def test_streams_are_streams():
    x = cuda.to_device([1.0])
    for call in (
        lambda: cuda.to_device([1.0], stream="main"),
        lambda: x.copy_to_host(stream="main"),
        lambda: x.copy_to_device([2.0], stream="main"),
    ):
        with pytest.raises(TypeError, match="a stream is one of"):
            call()
    assert x.copy_to_host().tolist() == [1.0]


def test_the_current_device(device):
    current = cuda.get_current_device()
    assert current == cuda.current_context().device and current.id == 0 and current.WARP_SIZE == 32
    assert current.MULTIPROCESSOR_COUNT >= 1 and current.MAX_THREADS_PER_BLOCK == 1024
    assert current.supports_float16 and current.is_gpu == (device == "cuda")
    assert (cuda.gpus.current is None) == (device == "cpu")
    if device == "cuda":
        assert current == cuda.gpus[0] == cuda.gpus.current and current.compute_capability >= (8, 0)
        numbers = current.COMPUTE_CAPABILITY_MAJOR, current.COMPUTE_CAPABILITY_MINOR
        assert numbers == current.compute_capability
        assert current.name in [each["name"] for each in weft.show_config(mode="dicts")["cuda"]["devices"]]
    else:
        assert current.name == "CPU"
        with pytest.raises(AttributeError, match="the CPU, where kernels run now, has no compute capability"):
            _ = current.compute_capability
    with pytest.raises(
        AttributeError, match="weft does not tell 'CLOCK_RATE' of a device; it tells WARP_SIZE"
    ):
        _ = current.CLOCK_RATE


def test_contexts():
    context = cuda.current_context()
    context.synchronize()
    with context.defer_cleanup():
        assert context.create_stream().handle == context.get_default_stream().handle == 0
    assert context.create_event().query() and context.create_external_stream(0).handle == 0
    held = cuda.to_device(numpy.zeros(1 << 16))
    free, total = context.get_memory_info()
    assert held.size == 1 << 16 and 0 < free < total == context.get_memory_info().total
    with pytest.raises(AttributeError, match="the driver is weft's own"):
        _ = context.memalloc
    assert cuda.get_current_device().get_primary_context().device == context.device
    assert cuda.require_context(shift) is shift


def test_devices_are_listed(capsys):
    gpus = cuda.list_devices()
    assert gpus is cuda.gpus and len(gpus) == len(weft.devices()) - 1 == len(list(gpus)) == len(gpus.lst)
    assert numbas.detect() == (len(gpus) > 0)
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"Found {len(gpus)} CUDA devices" and len(told) == 1 + len(gpus)
    with pytest.raises(IndexError, match="there is no GPU 99"):
        _ = gpus[99]
    assert cuda.is_float16_supported() and cuda.is_supported_version()


@needs_gpu
def test_devices_are_selected(device):
    last = len(cuda.gpus) - 1
    made = cuda.select_device(last)
    assert made.id == last and cuda.is_available()
    assert weft.ones(3).device == f"cuda:{last}" == cuda.to_device([1.0])._array.device
    with cuda.gpus[0] as first:
        assert first == cuda.get_current_device() and weft.ones(3).device == "cuda:0"
    assert cuda.get_current_device() == made
    cuda.select_device(0)
    kept = cuda.to_device([1.0, 2.0])
    cuda.close()
    assert weft.ones(3).device == weft.device(device)
    assert kept.copy_to_host().tolist() == [1, 2]
    cuda.close()
    assert weft.ones(3).device == weft.device(device)
    for number in (last + 1, -1, "0", None):
        with pytest.raises(ValueError, match="there is no device"):
            cuda.select_device(number)


PROGRAM = """
import os
from weft.numba import cuda
assert not cuda.is_available() and len(cuda.gpus) == 0 and not cuda.detect()
device = cuda.select_device(0)
assert device == cuda.get_current_device() and device.name == "CPU" and device.MULTIPROCESSOR_COUNT >= 1
try:
    cuda.select_device(1)
except ValueError as error:
    print(error)
try:
    cuda.gpus[0]
except IndexError as error:
    print(error)
cuda.close()
"""


@pytest.mark.skipif(not HAS_GPU, reason="one run is enough")
def test_without_a_gpu():
    said = run(PROGRAM, WEFT_CUDA_DRIVER="/nonexistent/libcuda.so")[0]
    assert said.splitlines() == [
        "Found 0 CUDA devices",
        "there is no device 1 for kernels: 0 to 0 are there",
        "there is no GPU 0: there are 0",
    ]


@on_fake_driver
def test_profilers_are_told(device):
    library = ctypes.CDLL(str(FAKE_DRIVER))
    counts = [library.weft_fake_driver_calls(name) for name in (b"cuProfilerStart", b"cuProfilerStop")]
    with cuda.profiling():
        assert library.weft_fake_driver_calls(b"cuProfilerStart") == counts[0] + (device == "cuda")
        assert library.weft_fake_driver_calls(b"cuProfilerStop") == counts[1]
    assert library.weft_fake_driver_calls(b"cuProfilerStop") == counts[1] + (device == "cuda")
