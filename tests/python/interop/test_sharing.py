"""Memory of the CPU shared with others by DLPack, both ways. GPUs': test_gpu_dlpack. docs/guide/sharing.md"""

import ctypes
import gc
import sys
import threading
import weakref

import numpy
import pytest
import weft as np
from dlpack_structures import Lender, capsule_pointer, same, take
from on_gpu import FAKE_DRIVER, gpu, needs_gpu, on_cpu, on_fake_driver  # noqa: F401

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


def test_pending_work_is_done_before_and_later_work_eagerly():
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


def test_importing_weft_brings_none_of_them():
    import subprocess

    program = "import sys, weft; print([m for m in ('numpy', 'torch', 'cupy', 'jax') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"
    )


class Buffer(ctypes.Structure):
    """Py_buffer, as far as it is read here."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
        ("rest", ctypes.c_void_p * 5),
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(), (5,), (3, 0), (2,) * 10, (1,) * 64])
@pytest.mark.parametrize("flags", [0, 1, 8, 24])  # PyBUF_SIMPLE, WRITABLE, ND, STRIDES
def test_buffers_without_a_shape_have_no_dimensions(shape, flags):
    def dimensions(array):
        buffer = Buffer()
        assert ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), ctypes.byref(buffer), flags) == 0
        found = buffer.ndim, buffer.len, buffer.itemsize
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
        return found

    assert dimensions(np.ones(shape)) == dimensions(numpy.ones(shape))
    if sys.version_info >= (3, 12):
        assert np.ones(shape).__buffer__(flags).nbytes == numpy.ones(shape).nbytes
