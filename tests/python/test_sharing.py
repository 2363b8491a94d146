"""Memory shared with others: DLPack and the CUDA array interface, both ways. docs/sharing.md"""

import ctypes
import gc
import mmap
import sys
import threading
import weakref

import numpy
import pytest
import weft as np
from on_gpu import STAND_IN, gpu, needs_gpu, on_cpu, on_stand_in  # noqa: F401

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def views():
    base = numpy.arange(60).reshape(3, 4, 5)
    return [
        base, base[::2, 1:], base.T, base[::-1, :, ::-2], base[:, :0], base[1:2, 2:3, 3:4],
        base[0, 0, 0:1].reshape(()), numpy.broadcast_to(base[0], (2, 4, 5)), numpy.asfortranarray(base),
    ]  # fmt: skip


def same(ours, theirs):
    assert ours.shape == theirs.shape
    assert ours.dtype.name == theirs.dtype.name
    assert numpy.array_equal(numpy.asarray(ours), theirs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_s_arrays_are_shared(dtype):
    for view in views():
        theirs = view.astype(dtype, order="K") if view.flags.writeable else view
        ours = np.from_dlpack(theirs)
        same(ours, theirs)
        if theirs.size > 1 and theirs.flags.writeable:
            theirs[...] = theirs[::-1].copy()
            same(ours, theirs)
            ours[...] = numpy.roll(theirs, 1, 0)
            same(ours, theirs)
        assert ours.flags.writeable == theirs.flags.writeable


N = 10_000  # elements: more than are computed at the call


def into(write):
    """What `write(target, x)` makes of a target of zeros."""

    def made(library, x):
        target = library.zeros(N)
        write(library, target, x)
        return target

    return made


# Functions of an array, for weft and NumPy.
READERS = {
    "x + 1": lambda lib, x: x + 1,
    "where=": into(lambda lib, target, x: lib.add(x, 1, out=target, where=lib.arange(N) > 5)),
    "a mask as where=": into(lambda lib, target, x: lib.add(1, 1, out=target, where=x > 5)),
    "out=": into(lambda lib, target, x: lib.add(x, 1, out=target)),
    "cumsum": lambda lib, x: lib.cumsum(x),
    "cumsum into": into(lambda lib, target, x: lib.cumsum(x, out=target)),
    "sum into": into(lambda lib, target, x: lib.sum(x.reshape(2, -1), axis=1, out=target[:2])),
    "matmul": lambda lib, x: lib.matmul(x.reshape(100, 100), lib.ones((100, 3))),
    "matmul into": into(
        lambda lib, target, x: lib.matmul(x.reshape(100, 100), lib.eye(100), out=target.reshape(100, 100))
    ),
    "take": lambda lib, x: lib.take(x, lib.arange(0, N, 3)),
    "written whole": into(lambda lib, target, x: target.__setitem__(Ellipsis, x)),
    "written beside": into(lambda lib, target, x: target.__setitem__(slice(1, None), x[1:])),
    "written converted": lambda lib, x: into(lambda lib, target, x: target.__setitem__(Ellipsis, x))(
        lib, x.astype("f4")
    ),
    "written at positions": into(lambda lib, target, x: target.__setitem__(lib.arange(N)[::-1], x)),
    "written at a mask": into(lambda lib, target, x: target.__setitem__(lib.arange(N) > 3, x[4:])),
    "copyto": into(lambda lib, target, x: lib.copyto(target, x)),
    "copyto where": into(lambda lib, target, x: lib.copyto(target, x, where=lib.arange(N) > 3)),
    "put_along_axis": into(lambda lib, target, x: lib.put_along_axis(target, lib.arange(N), x, 0)),
    "add.at": into(lambda lib, target, x: lib.add.at(target, lib.arange(N), x)),
    "concatenate": lambda lib, x: lib.concatenate([x, x]),
    "stack": lambda lib, x: lib.stack([x, x]),
    "pad": lambda lib, x: lib.pad(x, 2),
    "roll": lambda lib, x: lib.roll(x, 3),
    "partition": lambda lib, x: lib.partition(x[::-1], N // 2)[N // 2],
    "convolve": lambda lib, x: lib.convolve(x, lib.ones(3)),
    "insert": lambda lib, x: lib.insert(x, 3, 1.0),
    "fill_diagonal": into(lambda lib, target, x: lib.fill_diagonal(target.reshape(100, 100), x[:100])),
}


@pytest.mark.parametrize("name", READERS)
def test_what_reads_memory_of_others_is_computed_before_they_change_it(name):
    memory = numpy.arange(float(N))
    expected = READERS[name](numpy, memory.copy())
    found = READERS[name](np, np.asarray(memory, copy=False))
    memory[:] = 0.25
    numpy.testing.assert_array_equal(numpy.asarray(found), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_shares_weft_s_arrays(dtype):
    for view in views():
        ours = np.asarray(view.astype(dtype))
        if view.flags.writeable:
            ours = ours[::-1] if ours.ndim else ours
        theirs = numpy.from_dlpack(ours)
        same(ours, theirs)
        if theirs.size > 1:
            ours[...] = np.asarray(theirs[::-1].copy())
            same(ours, theirs)
            theirs[...] = 1
            same(ours, theirs)


def test_pending_work_is_done_before_and_later_work_at_once():
    with np.config(small=0):
        x = np.arange(10000.0)
        before = x * 2
        x += 1
        theirs = numpy.from_dlpack(x)
        assert theirs[0] == 1
        assert before[0] == 0
        after = x + 1
        theirs[0] = 50
        assert after[0] == 2
        assert x[0] == 50
        x[1:3] = x[:2] * 1
        assert theirs[:4].tolist() == [50, 50, 2, 4]
        x *= 2
        assert theirs[0] == 100
        assert x.__dlpack__() is not None


def test_the_pin_ends_with_the_consumer():
    with np.config(small=0):
        x = np.arange(10000.0)
        theirs = numpy.from_dlpack(x)
        assert np._core._evaluated(x + 1)
        del theirs
        assert not np._core._evaluated(x + 1)
        capsule = x.__dlpack__(max_version=(1, 0))  # that nobody takes
        assert np._core._evaluated(x + 1)
        del capsule
        assert not np._core._evaluated(x + 1)


def test_shared_memory_outlives_its_array():
    theirs = numpy.from_dlpack(np.arange(1e5) + 1)
    gc.collect()
    np.ones(10**5)
    assert (theirs == numpy.arange(1e5) + 1).all()


class Producer:
    """Someone's array, which tells when it dies."""

    def __init__(self, array, **changes):
        self.array = array
        self.changes = changes

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.changes.get("device", self.array.__dlpack_device__())


def test_views_keep_their_memory_alive():
    class Owned(numpy.ndarray):
        pass

    theirs = numpy.arange(10.0).view(Owned)
    alive = weakref.ref(theirs)
    ours = np.from_dlpack(theirs)
    view = ours[2:4]
    pending = ours * 2
    del theirs, ours
    gc.collect()
    assert alive() is not None
    assert view.tolist() == [2, 3]
    del view
    gc.collect()
    assert alive() is None
    assert pending[3] == 6


def test_read_only_arrays():
    x = np.broadcast_to(np.arange(3), (2, 3))
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    theirs = numpy.from_dlpack(x)
    assert not theirs.flags.writeable
    frozen = numpy.arange(3)
    frozen.flags.writeable = False
    ours = np.from_dlpack(frozen)
    with pytest.raises(ValueError, match="read-only"):
        ours[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        ours.flags.writeable = True
    copied = np.from_dlpack(frozen, copy=True)
    copied[0] = 5
    assert frozen[0] == 0


def test_copies():
    theirs = numpy.arange(4)
    assert not np.shares_memory(np.from_dlpack(theirs, copy=True), np.from_dlpack(theirs))
    copied = np.from_dlpack(theirs, copy=True)
    copied[0] = 7
    assert theirs[0] == 0
    shared = np.from_dlpack(theirs, copy=False)
    shared[0] = 7
    assert theirs[0] == 7
    x = np.arange(3)
    y = numpy.from_dlpack(x, copy=True)
    y[0] = 9
    assert x[0] == 0
    same_one = np.from_dlpack(x)
    assert np.shares_memory(x, same_one)
    assert same_one is not x
    assert not np.shares_memory(x, np.from_dlpack(x, copy=True))
    assert np.shares_memory(x, np.from_dlpack(x, device="cpu", copy=False))


def test_old_consumers_and_producers():
    class Old(Producer):
        def __dlpack__(self, stream=None):
            return self.array.__dlpack__(stream=stream)

    theirs = numpy.arange(5)
    ours = np.from_dlpack(Old(theirs))
    theirs[0] = 3
    assert ours[0] == 3
    assert not ours.flags.writeable  # whether it may be written could not be told, as with JAX's arrays
    copied = np.from_dlpack(Old(theirs), copy=True)
    copied[1] = 7
    assert copied.tolist() == [3, 7, 2, 3, 4]
    old = np.arange(3).__dlpack__()
    assert '"dltensor"' in repr(old)
    new = np.arange(3).__dlpack__(max_version=(1, 3))
    assert '"dltensor_versioned"' in repr(new)
    assert np._core._from_capsule(new)[0].tolist() == [0, 1, 2]
    assert '"used_dltensor_versioned"' in repr(new)
    with pytest.raises(BufferError, match="taken before"):
        np._core._from_capsule(new)
    assert np._core._from_capsule(old)[0].tolist() == [0, 1, 2]
    assert '"used_dltensor"' in repr(old)


def test_what_is_refused():
    x = np.arange(3)
    with pytest.raises(ValueError, match="no streams"):
        x.__dlpack__(stream=5)
    x.__dlpack__(stream=-1)
    with pytest.raises(BufferError, match="device type 4"):
        x.__dlpack__(dl_device=(4, 0))
    with pytest.raises(ValueError, match="pair"):
        x.__dlpack__(max_version=(1,))
    with pytest.raises(TypeError, match="no __dlpack__"):
        np.from_dlpack([1, 2])
    with pytest.raises(BufferError):
        np.from_dlpack(Producer(numpy.arange(3), device=(10, 0)))
    with pytest.raises(TypeError, match="no capsule"):
        np._core._from_capsule(5)

    class Wrong(Producer):
        def __dlpack__(self, **options):
            return 5

    with pytest.raises(TypeError, match="no capsule"):
        np.from_dlpack(Wrong(numpy.arange(3)))
    assert x.__dlpack_device__() == (1, 0)
    complexes = np.ones(3, complex)
    assert numpy.from_dlpack(complexes.real).tolist() == [1, 1, 1]  # two elements apart


def test_asarray_without_a_copy_shares_by_dlpack():
    theirs = numpy.arange(3)
    ours = np.asarray(Producer(theirs), copy=False)
    ours[0] = 8
    assert theirs[0] == 8
    copied = np.asarray(Producer(theirs))
    copied[0] = 1
    assert theirs[0] == 8


def test_buffers_with_negative_strides_are_shared():
    theirs = numpy.arange(12).reshape(3, 4)[::-1, ::-2]
    ours = np.asarray(theirs, copy=False)
    same(ours, theirs)
    ours[0, 0] = 70
    assert theirs[0, 0] == 70


# ---- a consumer and a producer without Python, by the structures themselves ----


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
        ("deleter", Deleter), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
capsule_rename = ctypes.pythonapi.PyCapsule_SetName
capsule_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = (
    ctypes.py_object,
    [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
)


def take(capsule):
    managed = Versioned.from_address(capsule_pointer(capsule, b"dltensor_versioned"))
    capsule_rename(capsule, b"used_dltensor_versioned")
    return managed


class Lender:
    """A tensor whose memory is this object's; counts how often it is given back."""

    def __init__(
        self, data, shape, strides=None, dtype=(2, 64, 1), device=(1, 0), version=(1, 0), flags=0, offset=0
    ):
        self.returned = 0
        self.streams = []
        self.device = device
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        self.deleter = Deleter(self.take_back)
        tensor = Tensor(
            data, Device(*device), len(shape), DataType(*dtype), self.shape,
            ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64)), offset,
        )  # fmt: skip
        self.managed = Versioned(*version, None, self.deleter, flags, tensor)

    def take_back(self, _):
        self.returned += 1

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.streams.append(stream)
        return new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned", None)

    def __dlpack_device__(self):
        return self.device


def test_what_a_tensor_says():
    x = np.arange(24.0).reshape(4, 6)[1:, ::2]
    managed = take(x.__dlpack__(max_version=(1, 0)))
    tensor = managed.tensor
    assert (managed.major, managed.flags) == (1, 0)
    assert (tensor.device.type, tensor.device.id) == (1, 0)
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (2, 64, 1)
    assert (tensor.ndim, tensor.shape[:2], tensor.strides[:2]) == (2, [3, 3], [6, 2])
    assert ctypes.c_double.from_address(tensor.data + tensor.byte_offset).value == 6
    managed.deleter(ctypes.addressof(managed))
    managed = take(x.__dlpack__(max_version=(1, 0), copy=True))
    assert managed.flags == 2
    managed.deleter(ctypes.addressof(managed))
    managed = take(np.broadcast_to(x, (2, 3, 3)).__dlpack__(max_version=(1, 0)))
    assert managed.flags == 1
    assert managed.tensor.strides[0] == 0
    managed.deleter(ctypes.addressof(managed))
    empty = take(np.zeros((2, 0)).__dlpack__(max_version=(1, 0)))
    assert empty.tensor.data is None
    empty.deleter(ctypes.addressof(empty))


def test_the_deleter_may_be_called_from_another_thread_without_the_gil():
    with np.config(small=0):
        x = np.arange(10000.0)
        managed = take(x.__dlpack__(max_version=(1, 0)))
        assert np._core._evaluated(x + 1)
        # ctypes gives up the GIL while it calls.
        caller = threading.Thread(target=managed.deleter, args=(ctypes.addressof(managed),))
        caller.start()
        caller.join()
        assert not np._core._evaluated(x + 1)


def test_many_threads_share_and_let_go():
    x = np.arange(1000.0)
    errors = []

    def work(seed):
        try:
            for turn in range(200):
                theirs = numpy.from_dlpack(x[seed:])
                assert theirs[0] == seed
                back = np.from_dlpack(theirs)
                assert back[turn % 500] == seed + turn % 500
                del theirs
                assert float((back + 1)[0]) == seed + 1
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not errors
    with np.config(small=0):
        assert not np._core._evaluated(x + 1)  # every pin has ended


def test_tensors_are_given_back_once():
    memory = numpy.arange(10.0)
    lender = Lender(memory.ctypes.data, (2, 3), offset=8)
    x = np.from_dlpack(lender)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    y = x.T
    del x
    assert lender.returned == 0
    del y
    assert lender.returned == 1
    backwards = Lender(memory.ctypes.data + 72, (5,), strides=(-2,))
    assert np.from_dlpack(backwards).tolist() == [9, 7, 5, 3, 1]
    assert backwards.returned == 1
    nothing = Lender(None, (0, 3))
    assert np.from_dlpack(nothing).shape == (0, 3)
    assert nothing.returned == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dtype": (2, 64, 2)}, "2 lanes"),
        ({"dtype": (2, 128, 1)}, "128 bits"),
        ({"version": (2, 0)}, "version 2"),
        ({"device": (7, 0)}, "device type 7"),
        ({"shape": (-1,)}, "dimension of -1"),
        ({"shape": (2**40, 2**40)}, "further than memory"),
        ({"shape": (3, 2), "strides": (2**62, 1)}, "further than memory"),
        ({"strides": (-(2**63),)}, "further than memory"),
    ],
)
def test_tensors_that_are_refused_stay_the_capsule_s(changes, message):
    memory = numpy.arange(4.0)
    lender = Lender(memory.ctypes.data, **{"shape": (2,), **changes})
    lender.device = (1, 0)
    capsule = lender.__dlpack__()
    with pytest.raises(BufferError, match=message):
        np._core._from_capsule(capsule)
    assert capsule_pointer(capsule, b"dltensor_versioned")
    assert lender.returned == 0


# ---- other libraries, where they are installed ----


def test_torch_on_the_cpu():
    torch = pytest.importorskip("torch")
    x = np.arange(12.0).reshape(3, 4)
    t = torch.from_dlpack(x)
    t += 1
    assert x[0, 0] == 1
    x[1] = 0
    assert t[1].sum() == 0
    back = np.from_dlpack(t.T)
    assert back.shape == (4, 3)
    assert np.shares_memory(back, back)
    back[0, 0] = 77
    assert x[0, 0] == 77
    assert np.from_dlpack(torch.ones(2, dtype=torch.bool)).tolist() == [True, True]
    assert np.asarray(torch.arange(3), copy=False).tolist() == [0, 1, 2]
    assert np.asarray(torch.arange(3)).tolist() == [0, 1, 2]


def test_jax_on_the_cpu():
    pytest.importorskip("jax")
    import jax.numpy as jnp

    x = np.arange(64, dtype=np.float32)
    assert float(jnp.from_dlpack(x).sum()) == 2016
    y = np.from_dlpack(jnp.arange(5))
    assert y.tolist() == [0, 1, 2, 3, 4]


# ---- GPUs ----


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
def test_writes_to_a_gpu_s_memory_that_is_shown_stay_in_place():
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
    ({"shape": (2**63,)}, OverflowError, "int"),
    ({"shape": (1.5,)}, TypeError, "integer"),
    ({"shape": (1,) * 65}, ValueError, "dimension"),
    ({"shape": (2**61,)}, ValueError, "further than memory"),
    ({"shape": (2**40, 2**40)}, ValueError, "further than memory"),
    ({"shape": (2**50,)}, ValueError, "no GPU's memory"),
    ({"strides": (8, 8)}, ValueError, "number of strides"),
    ({"strides": (2**62,)}, ValueError, "further than memory"),
    ({"strides": (-(2**63),)}, ValueError, "further than memory"),
    ({"strides": (2**50,)}, ValueError, "no GPU's memory"),
    ({"strides": (-(2**50),)}, ValueError, "no GPU's memory"),
    ({"strides": ("8",)}, TypeError, "integer"),
    ({"data": None}, TypeError, "no entry 'data'"),
    ({"data": 5}, TypeError, "must be a tuple"),
    ({"data": (5,)}, TypeError, "must be a tuple"),
    ({"data": ("5", False)}, TypeError, "must be a tuple"),
    ({"data": (0, False)}, ValueError, "elements, but no address"),
    ({"data": (-8, False)}, ValueError, "is none: -8"),
    ({"data": (2**64, False)}, ValueError, "is none: 1844"),
    ({"data": (8, False)}, ValueError, "no GPU's memory"),
    ({"data": (2**64 - 8, False)}, ValueError, "no GPU's memory"),
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
    """The stand-in, spoken to by someone else than weft."""
    gpu([1.0]).tolist()  # makes this thread's context
    library = ctypes.CDLL(str(STAND_IN))
    for name in ("cuMemcpyDtoDAsync_v2", "cuMemcpyDtoHAsync_v2"):
        getattr(library, name).argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
    library.cuStreamCreate.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint]
    library.cuStreamSynchronize.argtypes = [ctypes.c_void_p]
    return library


def new_stream(driver):
    stream = ctypes.c_void_p()
    assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
    return stream.value


@on_stand_in
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


@on_stand_in
def test_work_on_shown_memory_is_ordered_with_the_default_stream(driver):
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


@on_stand_in
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


@on_stand_in
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


@on_stand_in
def test_a_described_stream_is_waited_for(driver):
    stream = new_stream(driver)
    x, y = gpu(numpy.zeros(5000)) + 1, gpu(numpy.zeros(5000)) + 2
    driver.cuMemcpyDtoDAsync_v2(
        x.__cuda_array_interface__["data"][0], y.__cuda_array_interface__["data"][0], 40000, stream
    )
    np.synchronize("cuda:0")
    shared = np.asarray(Described(x, stream=stream), copy=False)
    assert (shared + 1).tolist() == [3] * 5000


def test_importing_weft_brings_none_of_them():
    import subprocess

    program = "import sys, weft; print([m for m in ('numpy', 'torch', 'cupy', 'jax') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"
    )
