"""GPUs' memory shared with others: DLPack and the CUDA array interface, both ways. docs/guide/sharing.md"""

import ctypes
import gc
import mmap
import weakref

import numpy
import pytest
import weft as np
from dlpack_structures import Lender, same, take
from on_gpu import FAKE_DRIVER, gpu, needs_gpu, on_cpu, on_fake_driver  # noqa: F401


@needs_gpu
def test_a_gpu_s_array_for_others():
    x = gpu(numpy.arange(6.0).reshape(2, 3))
    assert x.__dlpack_device__() == (2, 0)
    managed = take(x[:, 1:].__dlpack__(max_version=(1, 0)))
    tensor = managed.tensor
    assert (tensor.device.type, tensor.device.id) == (2, 0)
    assert (tensor.shape[:2], tensor.strides[:2]) == ([2, 2], [3, 1])
    managed.deleter(ctypes.addressof(managed))
    same(numpy.from_dlpack(x, device="cpu"), numpy.arange(6.0).reshape(2, 3))
    with pytest.raises(BufferError, match="without a copy"):
        numpy.from_dlpack(x, device="cpu", copy=False)
    with pytest.raises(BufferError, match="without a copy"):
        np.from_dlpack(x, device="cpu", copy=False)
    assert np.from_dlpack(x, device="cpu").device == "cpu"
    assert np.from_dlpack(numpy.arange(3), device="cuda").device == "cuda:0"
    with pytest.raises(BufferError, match="without a copy"):
        np.from_dlpack(numpy.arange(3), device="cuda", copy=False)
    for stream in (0, -2):
        with pytest.raises(ValueError, match="stream"):
            x.__dlpack__(stream=stream)
    assert np.shares_memory(np.from_dlpack(x), x)


@needs_gpu
def test_writes_to_a_gpu_s_exported_memory_stay_in_place():
    expected = numpy.arange(40.0).reshape(5, 8)
    x = gpu(expected)
    capsule = x.__dlpack__(max_version=(1, 0))
    address = take(capsule).tensor.data
    for turn in range(3):
        x += 1
        expected += 1
        x[1:4, 1:-1] = x[:3, 2:] * 2  # reads elsewhere
        expected[1:4, 1:-1] = expected[:3, 2:].copy() * 2
        x[0] = turn
        expected[0] = turn
        x[:, 3] = np.asarray(7, np.int32)
        expected[:, 3] = 7
        x[...] = x[::-1]
        expected[...] = expected[::-1].copy()
        np.multiply(x, 2, out=x)
        expected *= 2
        x[2] = gpu(numpy.arange(8))
        expected[2] = numpy.arange(8)
        y = x + 1
        assert np._core._evaluated(y)
        same(x.to_device("cpu"), expected)
        same(y.to_device("cpu"), expected + 1)
        assert take(x.__dlpack__(max_version=(1, 0))).tensor.data == address
    with np.config(fuse=False):
        x[1:4, 1:-1] = x[:3, 2:] * 2
        expected[1:4, 1:-1] = expected[:3, 2:].copy() * 2
        same(x.to_device("cpu"), expected)
        assert take(x.__dlpack__(max_version=(1, 0))).tensor.data == address


@needs_gpu
def test_the_cuda_array_interface():
    host = np.arange(3)
    assert not hasattr(host, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="on the CPU"):
        host.__cuda_array_interface__  # noqa: B018
    x = gpu(numpy.arange(6, dtype=numpy.int16).reshape(2, 3))
    said = x.__cuda_array_interface__
    assert said["version"] == 3
    assert said["shape"] == (2, 3)
    assert said["typestr"] == "<i2"
    assert said["strides"] is None
    assert said["stream"] == 1
    assert said["data"][1] is False
    part = x.T[1:]
    assert part.__cuda_array_interface__["strides"] == (2, 6)
    assert part.__cuda_array_interface__["data"][0] == said["data"][0] + 2
    assert gpu(numpy.zeros((0, 2))).__cuda_array_interface__["data"][0] == 0
    assert np.broadcast_to(x, (2, 2, 3)).__cuda_array_interface__["data"][1] is True
    with pytest.raises(TypeError, match="to_device"):  # a BufferError would stop numba from asking further
        memoryview(x)
    y = np.asarray(x[:])  # weft's own stays itself
    assert np.shares_memory(y, x)


class Described:
    """An object of another library's on a GPU."""

    def __init__(self, array, **changes):
        self.array = array
        self.changes = changes

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__cuda_array_interface__, **self.changes}


@needs_gpu
def test_objects_whose_buffers_are_refused_are_asked_further():
    class Refuses(mmap.mmap):
        """As CuPy's arrays: there is a buffer protocol, which fails."""

        @property
        def __cuda_array_interface__(self):
            return x.__cuda_array_interface__

    x = gpu(numpy.arange(3.0))
    owner = Refuses(-1, 16)
    owner.close()
    shared = np.asarray(owner, copy=False)
    assert shared.device == "cuda:0"
    shared[0] = 5
    assert x[0] == 5
    copied = np.asarray(owner)
    copied[0] = 6
    assert x.tolist() == [5, 1, 2]


@needs_gpu
def test_memory_described_by_the_cuda_array_interface():
    owner = Described(gpu(numpy.arange(12.0).reshape(3, 4))[:, ::-2])
    theirs = owner.array
    alive = weakref.ref(owner)
    shared, copied = np.asarray(owner, copy=False), np.asarray(owner)
    del owner
    assert shared.device == copied.device == "cuda:0"
    assert shared.strides == (32, -16)
    shared[0, 0] = 99
    assert theirs[0, 0] == 99
    theirs += 1
    assert shared.tolist() == [[100, 2], [8, 6], [12, 10]]
    assert copied.tolist() == [[3, 1], [7, 5], [11, 9]]
    view = shared[1:]
    del shared
    gc.collect()
    assert alive() is not None
    del view
    gc.collect()
    assert alive() is None
    x = gpu(numpy.arange(3))
    assert not np.asarray(
        Described(x, data=(x.__cuda_array_interface__["data"][0], True)), copy=False
    ).flags.writeable
    assert np.asarray(Described(x, shape=(0, 3), data=(0, False)), copy=False).shape == (0, 3)


class NeitherTrueNorFalse:
    def __bool__(self):
        raise RuntimeError("neither")


HOST = numpy.zeros(4)
# What an interface of 12 numbers says otherwise, and the error; a number is put in place of the true address.
UNSOUND = [
    ({"typestr": ">i8"}, TypeError, "elements '>i8'"),
    ({"typestr": "|V8"}, TypeError, "elements '|V8'"),
    ({"typestr": "xf8"}, TypeError, "elements 'xf8'"),
    ({"typestr": "<f9"}, TypeError, "elements '<f9'"),
    ({"typestr": ""}, TypeError, "elements ''"),
    ({"typestr": 8}, TypeError, "must be a string"),
    ({"typestr": None}, TypeError, "no entry 'typestr'"),
    ({"mask": HOST}, NotImplementedError, "masks"),
    ({"shape": None}, TypeError, "no entry 'shape'"),
    ({"shape": (-1,)}, ValueError, "a dimension of -1"),
    ({"shape": (3, -(2**63))}, ValueError, "a dimension of -9"),
    ({"shape": (2**63,)}, ValueError, "dimension"),
    ({"shape": (1.5,)}, TypeError, "integer"),
    ({"shape": (1,) * 65}, ValueError, "dimension"),
    ({"shape": (2**61,)}, ValueError, "further than memory"),
    ({"shape": (2**40, 2**40)}, ValueError, "further than memory"),
    ({"shape": (2**50,)}, ValueError, "no GPU's memory"),
    ({"strides": (8, 8)}, ValueError, "number of strides"),
    ({"strides": (2**62,)}, ValueError, "further than memory"),
    ({"strides": (-(2**63),)}, ValueError, "further than memory"),
    ({"strides": (2**50,)}, ValueError, "no GPU's memory"),
    ({"strides": (-(2**50),)}, ValueError, "further than memory does"),
    ({"strides": ("8",)}, TypeError, "integer"),
    ({"data": None}, TypeError, "no entry 'data'"),
    ({"data": 5}, TypeError, "must be a tuple"),
    ({"data": (5,)}, TypeError, "must be a tuple"),
    ({"data": ("5", False)}, TypeError, "must be a tuple"),
    ({"data": (0, False)}, ValueError, "elements, but no address"),
    ({"data": (-8, False)}, ValueError, "is none: -8"),
    ({"data": (2**64, False)}, ValueError, "is none: 1844"),
    ({"data": (8, False)}, ValueError, "no memory is"),
    ({"data": (1 << 20, False)}, ValueError, "no GPU's memory"),
    ({"data": (2**64 - 8, False)}, ValueError, "further than memory"),
    ({"data": (HOST.ctypes.data, False)}, ValueError, "no GPU's memory"),
    ({"data": (8, NeitherTrueNorFalse())}, RuntimeError, "neither"),
    ({"stream": 0}, ValueError, "is no stream"),
    ({"stream": -1}, ValueError, "is no stream"),
    ({"stream": "1"}, TypeError, "integer"),
]


@needs_gpu
@pytest.mark.parametrize(
    ("changes", "error", "text"),
    UNSOUND,
    ids=[f"{next(iter(case[0]))} {k}" for k, case in enumerate(UNSOUND)],
)
def test_an_unsound_cuda_array_interface_is_an_error(changes, error, text):
    x = gpu(numpy.arange(12.0))
    for take_it in (lambda y: np.asarray(y, copy=False), np.asarray, np.array, lambda y: x + y):
        with pytest.raises(error, match=text):
            take_it(Described(x, **changes))
    assert x.tolist() == list(range(12))


@needs_gpu
def test_a_cuda_array_interface_that_is_none_is_an_error():
    class Fails:
        @property
        def __cuda_array_interface__(self):
            return self.says()

    class Lists(Fails):
        def says(self):
            return []

    with pytest.raises(TypeError, match="must be a dictionary"):
        np.asarray(Lists(), copy=False)

    class Raises(Fails):
        def says(self):
            raise RuntimeError("no memory today")

    with pytest.raises(RuntimeError, match="no memory today"):
        np.asarray(Raises(), copy=False)


@pytest.fixture
def driver():
    """The fake driver, spoken to by someone else than weft."""
    gpu([1.0]).tolist()  # makes this thread's context
    library = ctypes.CDLL(str(FAKE_DRIVER))
    for name in ("cuMemcpyDtoDAsync_v2", "cuMemcpyDtoHAsync_v2"):
        getattr(library, name).argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
    library.cuStreamCreate.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint]
    library.cuStreamSynchronize.argtypes = [ctypes.c_void_p]
    return library


def new_stream(driver):
    stream = ctypes.c_void_p()
    assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
    return stream.value


@on_fake_driver
@pytest.mark.parametrize("default", [True, False])
def test_a_consumer_s_stream_comes_after_weft_s_work(driver, default):
    stream = 1 if default else new_stream(driver)
    x = gpu(numpy.zeros(5000)) + 3
    managed = take(x.__dlpack__(stream=stream, max_version=(1, 0)))
    seen = numpy.zeros(5000)
    assert driver.cuMemcpyDtoHAsync_v2(seen.ctypes.data, managed.tensor.data, 40000, stream) == 0
    assert driver.cuStreamSynchronize(stream) == 0
    assert (seen == 3).all()
    managed.deleter(ctypes.addressof(managed))


@on_fake_driver
def test_work_on_exported_memory_is_ordered_with_the_default_stream(driver):
    x, other = gpu(numpy.zeros(5000)), gpu(numpy.full(5000, 5.0))
    x, source = x + 0, take((other + 0).__dlpack__(max_version=(1, 0)))
    managed = take(x.__dlpack__(max_version=(1, 0)))
    # They write, weft reads.
    driver.cuMemcpyDtoDAsync_v2(managed.tensor.data, source.tensor.data, 40000, 1)
    y = x + 1
    assert (numpy.asarray(y.to_device("cpu")) == 6).all()
    # weft writes, they read.
    x += 2
    seen = numpy.zeros(5000)
    driver.cuMemcpyDtoHAsync_v2(seen.ctypes.data, managed.tensor.data, 40000, 1)
    driver.cuStreamSynchronize(1)
    assert (seen == 7).all()
    # They write, weft gives it to the host.
    driver.cuMemcpyDtoDAsync_v2(managed.tensor.data, source.tensor.data, 40000, 1)
    assert x.tolist() == [5] * 5000
    driver.cuMemcpyDtoDAsync_v2(managed.tensor.data + 8, y.__cuda_array_interface__["data"][0], 8, 1)
    assert x[1] == 6


@on_fake_driver
@pytest.mark.parametrize("default", [True, False])
def test_memory_is_not_reused_before_its_consumer_is_done(driver, default):
    stream = 1 if default else new_stream(driver)
    x = gpu(numpy.full(5000, 3.0)) + 0
    managed = take(x.__dlpack__(stream=stream, max_version=(1, 0)))
    address = managed.tensor.data
    seen = numpy.zeros(5000)
    driver.cuMemcpyDtoHAsync_v2(seen.ctypes.data, address, 40000, stream)
    del x
    managed.deleter(ctypes.addressof(managed))  # what they queued has not run yet
    blocks = [gpu(numpy.full(5000, 1.0)) for _ in range(6)]
    np.eval(*blocks)
    assert address in [each.__cuda_array_interface__["data"][0] for each in blocks]
    np.synchronize("cuda:0")
    driver.cuStreamSynchronize(stream)
    assert (seen == 3).all()


@on_fake_driver
def test_a_producer_is_told_weft_s_stream(driver):
    x = gpu(numpy.arange(10.0)) + 0
    said = x.__cuda_array_interface__
    lender = Lender(said["data"][0], (10,), device=(2, 0))
    ours = np.from_dlpack(lender)
    assert ours.device == "cuda:0"
    assert ours.tolist() == list(range(10))
    assert lender.streams == [np._core._stream_of((2, 0))]
    assert lender.streams[0] > 2
    del ours
    assert lender.returned == 1


@on_fake_driver
def test_a_described_stream_is_waited_for(driver):
    stream = new_stream(driver)
    x, y = gpu(numpy.zeros(5000)) + 1, gpu(numpy.zeros(5000)) + 2
    driver.cuMemcpyDtoDAsync_v2(
        x.__cuda_array_interface__["data"][0], y.__cuda_array_interface__["data"][0], 40000, stream
    )
    np.synchronize("cuda:0")
    shared = np.asarray(Described(x, stream=stream), copy=False)
    assert (shared + 1).tolist() == [3] * 5000
