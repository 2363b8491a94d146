"""Memory that others describe: buffers, array interfaces and DLPack's capsules that cannot be right are refused."""

import math

import lenders
import numpy
import pytest
import weft as np

COPY = [None, False]


def doubles(**fields):
    """An exporter of 6 float64 in two rows, but for the fields that are given."""
    right = {"len": 48, "itemsize": 8, "ndim": 2, "format": b"d", "shape": [2, 3], "strides": [24, 8]}
    return lenders.Exporter(**{"buf": lenders.memory().first, **right, **fields})


@pytest.mark.parametrize("copy", COPY)
def test_a_buffer_as_it_should_be_is_read_and_given_back(copy):
    lenders.memory().fill()
    exporter = doubles()
    x = np.asarray(exporter, copy=copy)
    assert x.tolist() == numpy.frombuffer(lenders.memory().content(), count=6).reshape(2, 3).tolist()
    assert exporter.given - exporter.given_back == (1 if copy is False else 0)
    del x
    assert exporter.given == exporter.given_back


LIES = {
    "no memory": ({"buf": None}, ValueError, "elements, but no address"),
    "no shape": ({"shape": None}, ValueError, "2 dimensions and no shape"),
    "too many dimensions": ({"ndim": 65, "shape": [1] * 65, "strides": [8] * 65}, ValueError, "found 65"),
    "fewer dimensions than none": ({"ndim": -1}, ValueError, "found -1"),
    "a negative extent": ({"shape": [2, -3]}, ValueError, "dimension of -3"),
    "extents beyond memory": ({"shape": [2**40, 2**40]}, ValueError, "further than memory"),
    "one extent beyond memory": ({"shape": [1, 2**61]}, ValueError, "further than memory"),
    "a stride beyond memory": ({"strides": [2**62, 8]}, ValueError, "further than memory"),
    "the lowest stride": ({"strides": [8, -(2**63)]}, ValueError, "further than memory"),
    "strides below address 0": ({"strides": [-(2**50), 8]}, ValueError, "further than memory"),
    "fewer bytes than elements": ({"len": 47}, ValueError, "47 bytes, fewer than its shape"),
    "no bytes": ({"len": 0}, ValueError, "0 bytes"),
    "less than no bytes": ({"len": -8}, ValueError, "-8 bytes"),
    "elements behind pointers": ({"suboffsets": [-1, 0]}, BufferError, "suboffsets"),
    "small elements": ({"itemsize": 4}, TypeError, "format 'd' and 4 bytes"),
    "elements of no size": ({"itemsize": 0}, TypeError, "format 'd' and 0 bytes"),
    "elements of negative size": ({"itemsize": -8}, TypeError, "format 'd' and -8 bytes"),
    "large truths": ({"format": b"?"}, TypeError, "and 8 bytes"),
    "no format of numbers": ({"format": b"T{d:x:}"}, TypeError, "elements of format"),
    "swapped, and fewer bytes": ({"format": b">d", "len": 40}, ValueError, "40 bytes"),
    "swapped, and huge": ({"format": b">d", "shape": [2**30, 2**30]}, ValueError, "further than memory"),
}


@pytest.mark.parametrize("copy", COPY)
@pytest.mark.parametrize("name", LIES)
def test_buffers_that_lie_are_refused(name, copy):
    fields, error, message = LIES[name]
    exporter = doubles(**fields)
    expected = (error, ValueError) if "swapped" in name and copy is False else error
    with pytest.raises(expected, match=None if "swapped" in name else message):
        np.asarray(exporter, copy=copy)
    with pytest.raises(error, match=message):
        np.array([exporter, exporter])
    assert exporter.given == exporter.given_back  # nothing holds what was refused


def test_what_buffers_may_leave_out_is_filled_in():
    lenders.memory().fill()
    expected = numpy.frombuffer(lenders.memory().content(), count=6)
    for copy in COPY:
        assert np.asarray(doubles(strides=None), copy=copy).tolist() == expected.reshape(2, 3).tolist()
        assert np.asarray(doubles(ndim=1, shape=None, strides=None), copy=copy).tolist() == expected.tolist()
        assert np.asarray(doubles(suboffsets=[-1, -1]), copy=copy).shape == (2, 3)
        assert np.asarray(doubles(buf=None, shape=[0, 3], len=0), copy=copy).shape == (0, 3)
        for format, itemsize, name in (
            (b"l", 8, "int64"),
            (b"<l", 4, "int32"),
            (b"L", 4, "uint32"),
            (None, 1, "uint8"),
        ):
            assert np.asarray(doubles(format=format, itemsize=itemsize), copy=copy).dtype == name


@pytest.mark.parametrize("fields", [{"buf": None}, {"len": -1}, {"len": -(2**63)}])
def test_bytes_that_are_not_there_are_refused(fields):
    exporter = lenders.flat(8, **fields)
    for read in (lambda: np.frombuffer(exporter, "u1"), lambda: np.ndarray((8,), "u1", exporter)):
        with pytest.raises(ValueError, match=r"no address|dimension of -"):
            read()
    assert exporter.given == exporter.given_back


@pytest.mark.parametrize("offset", [-1, 9, 2**62, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_an_array_of_no_elements_begins_inside_its_buffer(shape, offset):
    for library in (numpy, np):
        with pytest.raises(ValueError, match="strides is incompatible"):
            library.ndarray(shape, "u1", bytearray(8), offset, (1,) * len(shape))


# ---- array interfaces ----


def described(**entries):
    right = {"version": 3, "typestr": "<f8", "shape": (2, 3), "data": (lenders.memory().first, False)}
    return lenders.Described({**right, **entries})


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"data": (0, False)}, "elements, but no address"),
        ({"data": (2, 3)}, "address 2, where no memory is"),
        ({"data": (2**64 - 8, False)}, "further than memory"),
        ({"data": (2**57 - 8, False)}, "further than memory"),
        ({"data": (64, False), "strides": (-256, 8)}, "further than memory"),
        ({"shape": (2**61, 1)}, "too big|further than memory"),
        ({"typestr": "|u1", "shape": (2**61,)}, "further than memory"),
        ({"strides": (2**62, 8)}, "further than memory"),
        ({"strides": (8, -(2**63))}, "further than memory"),
        ({"strides": (8, 8, 8)}, "length of strides"),
        ({"data": bytes(47)}, "too small|incompatible"),
    ],
)
def test_interfaces_that_lie_are_refused(entries, message):
    for copy in COPY:
        with pytest.raises((ValueError, TypeError), match=message):
            np.asarray(described(**entries), copy=copy)


# ---- DLPack ----


def lent(data=None, shape=(2, 3), **options):
    return lenders.Lender(lenders.memory().first if data is None else data, shape, **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"no_shape": True}, "dimensions, but no shape"),
        ({"offset": 2**64 - 1}, "byte_offset that reaches further than memory"),
        ({"offset": 2**63}, "further than memory"),
        ({"shape": (2**61,), "dtype": (1, 8, 1)}, "further than memory"),
        ({"strides": (2**61, 1)}, "further than memory"),
        ({"strides": (-(2**50), 1)}, "further than memory"),
    ],
)
def test_tensors_that_lie_are_refused(changes, message):
    for name in (b"dltensor_versioned", b"dltensor"):
        lender = lent(**changes, name=name)
        with pytest.raises(BufferError, match=message):
            np.from_dlpack(lender)
        assert lender.returned == 0


def test_tensors_without_memory_are_refused_if_they_have_elements():
    lender = lenders.Lender(None, (2, 3), offset=8)
    with pytest.raises(BufferError, match="elements, but no address"):
        np.from_dlpack(lender)
    assert np.from_dlpack(lenders.Lender(None, (2, 0), offset=8)).shape == (2, 0)


@pytest.mark.parametrize("device", [(2**32 + 1, 0), (1, 2**31), (-(2**40), 0)])
def test_devices_beyond_32_bits_are_none(device):
    with pytest.raises(BufferError, match="no device"):
        np.arange(3).__dlpack__(dl_device=device)


def test_memory_is_read_up_to_its_last_byte():
    room, itemsize = lenders.memory(), 8
    room.fill()
    end = room.first + lenders.ROOM
    theirs = numpy.frombuffer(room.content(), "f8")
    backwards = lenders.Exporter(
        buf=end - itemsize, len=lenders.ROOM, itemsize=itemsize, ndim=1, format=b"d",
        shape=[lenders.ROOM // itemsize], strides=[-itemsize],
    )  # fmt: skip
    assert math.isclose(np.asarray(backwards, copy=False).sum(), theirs.sum())
    assert np.asarray(backwards).tolist() == theirs[::-1].tolist()
    assert np.frombuffer(lenders.flat(lenders.ROOM), "f8").tolist() == theirs.tolist()
