"""Copies to and from arrays for kernels, their order of axes, and what streams and events wait for."""

import ctypes

import numpy
import pytest
import weft
from on_gpu import FAKE_DRIVER, needs_gpu, on_fake_driver
from weft import cuda


@cuda.jit
def add_one(a):
    if cuda.grid(1) < a.size:
        a[cuda.grid(1)] += 1


def test_what_is_there_already_is_not_copied(device):
    there = cuda.to_device(numpy.arange(3.0))
    assert cuda.to_device(there) is there
    ours = weft.arange(3.0) + 0
    made = cuda.to_device(ours)
    add_one[1, 32](made)
    assert made.copy_to_host().tolist() == [1, 2, 3]
    assert ours.tolist() == ([1, 2, 3] if device == "cuda" else [0, 1, 2])  # the host's are copied
    host = numpy.arange(3.0)
    add_one[1, 32](cuda.to_device(host))
    assert host.tolist() == [0, 1, 2]


@needs_gpu
def test_memory_of_others_is_not_copied():
    class Holder:
        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    with weft.device("cuda"):
        x = weft.arange(3.0) + 0
    add_one[1, 32](cuda.to_device(Holder(x)))
    assert x.tolist() == [1, 2, 3]


def test_without_a_copy():
    for given in (numpy.zeros((3, 4), "i2"), numpy.zeros((3, 4), "f4", order="F"), [[1, 2], [3, 4]]):
        made = cuda.to_device(given, copy=False)
        like = numpy.asarray(given)
        assert made.shape == like.shape and made.dtype == like.dtype and made.strides == like.strides
    target = cuda.to_device(numpy.arange(3.0))
    assert cuda.to_device(numpy.zeros(3), copy=False, to=target) is target
    assert target.copy_to_host().tolist() == [0, 1, 2]
    assert cuda.to_device(numpy.full(3, 7.0), to=target) is target
    assert target.copy_to_host().tolist() == [7, 7, 7]


def test_copies_ask_for_the_same_elements():
    there = cuda.to_device(numpy.arange(4.0))
    for call in (
        lambda: there.copy_to_host(numpy.zeros(4, "i8")),
        lambda: there.copy_to_device(numpy.zeros(4, "f4")),
        lambda: there.copy_to_device(cuda.to_device(numpy.zeros(4, "i8"))),
        lambda: cuda.to_device(numpy.zeros(4, "f4"), to=there),
    ):
        with pytest.raises(TypeError, match="incompatible dtype: elements of"):
            call()
    for call in (
        lambda: there.copy_to_host(numpy.zeros(5)),
        lambda: there.copy_to_host(numpy.zeros((2, 2))),
        lambda: there.copy_to_device(numpy.zeros((4, 2))),
    ):
        with pytest.raises(ValueError, match="has no place in one of shape"):
            call()
    assert there.copy_to_host().tolist() == [0, 1, 2, 3]
    # Axes of length 1 tell nothing apart.
    column = numpy.zeros((4, 1))
    assert there.copy_to_host(column) is column and column[:, 0].tolist() == [0, 1, 2, 3]
    there.copy_to_device(column.T + 1)
    assert there.copy_to_host().tolist() == [1, 2, 3, 4]
    there.copy_to_device([5.0, 6.0, 7.0, 8.0])
    assert there.copy_to_host().tolist() == [5, 6, 7, 8]
    pairs = numpy.zeros(2, [("x", "f4"), ("y", "i8")])
    pairs["y"] = 3
    made = cuda.device_array_like(pairs)
    made.copy_to_device(pairs)
    assert (made.copy_to_host(numpy.zeros_like(pairs)) == pairs).all()


def test_pieces_of_arrays():
    made = cuda.to_device(numpy.arange(6.0).reshape(1, 6, 1))
    assert made.squeeze().shape == (6,) and made.squeeze(axis=0, stream=0).shape == (6, 1)
    add_one[1, 32](made.squeeze())  # in the same memory
    assert made.ravel(stream=0).copy_to_host().tolist() == [1, 2, 3, 4, 5, 6]
    assert [each.size for each in made.squeeze().split(4)] == [4, 2]
    with pytest.raises(NotImplementedError, match="only support 1d array"):
        next(made.split(2))


LIKE = [cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like]


@pytest.mark.parametrize("like", LIKE, ids=lambda function: function.__name__)
def test_axes_lie_in_memory_as_those_of_the_other(like):
    cube = numpy.zeros((2, 3, 4))
    for array in (
        cube.transpose(1, 0, 2),
        cube.transpose(2, 0, 1),
        numpy.zeros((10, 12), order="F")[::2, ::2],
        numpy.zeros((10, 12))[::2, ::2],
        numpy.zeros((10, 12))[::2, ::2].T,
        numpy.zeros((10, 12), order="F").T[::2, ::2],
        numpy.zeros(10)[::2],
        cuda.device_array((10, 12), order="F")[::2, ::2],
    ):
        made = like(array)
        host = array if isinstance(array, numpy.ndarray) else array.copy_to_host()
        expected = numpy.zeros_like(host).strides if array is host else (8, 40)
        assert made.shape == array.shape and made.strides == expected
        assert made.flags["C_CONTIGUOUS"] == (expected == numpy.zeros(array.shape).strides)


@pytest.mark.parametrize(
    "make", [cuda.device_array, cuda.pinned_array, cuda.mapped_array, cuda.managed_array]
)
def test_axes_in_any_order(make):
    wanted = numpy.zeros((2, 3, 4)).transpose(1, 2, 0)
    made = make(wanted.shape, "float64", wanted.strides)
    assert made.strides == wanted.strides and made.shape == (3, 4, 2)
    with pytest.raises(ValueError, match="2 strides for an array of 3 axes"):
        make((3, 4, 2), "float64", (96, 24))
    for strides in ((100, 8, 8), (0, 8, 24), (64, 16, -8)):
        with pytest.raises(NotImplementedError, match="side by side"):
            make((3, 4, 2), "float64", strides)
    assert make(5).shape == (5,) and make(()).shape == ()


def test_streams_tell_what_they_are():
    stream, other = cuda.stream(), cuda.external_stream(7)
    assert int(stream) == 0 and int(other) == 7 and other.external and not stream.external
    assert repr(stream) == "<stream of weft's>" and repr(other) == "<stream 7 of another library>"

    def fails(*given):
        raise KeyError("no such thing")

    with pytest.warns(UserWarning, match="Exception in stream callback: 'no such thing'"):
        stream.add_callback(fails)


@on_fake_driver
def test_streams_of_others_are_waited_for():
    library = ctypes.CDLL(str(FAKE_DRIVER))
    library.cuStreamCreate.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint]
    library.cuMemcpyDtoDAsync_v2.argtypes = [
        ctypes.c_uint64,
        ctypes.c_uint64,
        ctypes.c_size_t,
        ctypes.c_void_p,
    ]
    handle = ctypes.c_void_p()
    with weft.device("cuda"):
        one, two = (cuda.to_device(numpy.full(5000, each)) for each in (1.0, 2.0))
        assert library.cuStreamCreate(ctypes.byref(handle), 1) == 0
        stream = cuda.external_stream(handle.value)
        places = [each.__cuda_array_interface__["data"][0] for each in (one, two)]
        before = library.weft_fake_driver_calls(b"cuStreamWaitEvent")
        assert library.cuMemcpyDtoDAsync_v2(*places, 40000, handle) == 0
        stream.synchronize()
        assert library.weft_fake_driver_calls(b"cuStreamWaitEvent") > before
        assert (one.copy_to_host() == 2).all()
        event = cuda.event()
        event.record(stream)
        assert event.query()


def test_events_without_times():
    start, end = cuda.event(timing=False), cuda.event()
    start.record()
    end.record()
    with pytest.raises(RuntimeError, match="timing=False"):
        cuda.event_elapsed_time(start, end)
    assert end.elapsed_time(end) == 0


def test_mapped_arrays_are_written_where_a_block_fails():
    a = numpy.zeros(3)
    with pytest.raises(KeyError), cuda.mapped(a) as there:
        add_one[1, 32](there)
        raise KeyError
    assert a.tolist() == [1, 1, 1]
