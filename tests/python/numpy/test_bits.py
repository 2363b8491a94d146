"""np.packbits and np.unpackbits beside NumPy: dtypes, layouts, axes, counts, errors; on each device."""

import itertools

import numpy
import pytest
import weft
from comparing import assert_same_outcome, outcome

SHAPES = [(), (0,), (1,), (8,), (13,), (3, 16), (5, 9, 11), (2, 0, 3)]


def layouts(a):
    yield a
    if a.ndim > 1:
        yield numpy.asfortranarray(a)
        yield a.swapaxes(0, 1)
    if a.ndim:
        yield a[::-1]
        yield a[..., ::2]


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u4", "i8", "u8"])
def test_packed(dtype):
    rng = numpy.random.default_rng(3)
    for shape in SHAPES:
        for a in layouts(rng.integers(0, 3, shape).astype(dtype)):
            x = weft.array(a, order="K") if a.flags.forc else weft.from_dlpack(a)
            for axis, order in itertools.product([None, *range(-a.ndim, a.ndim), 5], ["big", "little"]):
                expected = outcome(numpy.packbits, a, axis, order)
                assert_same_outcome(outcome(weft.packbits, x, axis, order), expected)


def test_unpacked():
    rng = numpy.random.default_rng(4)
    for shape in SHAPES:
        for a in layouts(rng.integers(0, 256, shape).astype("u1")):
            x = weft.array(a, order="K") if a.flags.forc else weft.from_dlpack(a)
            for axis in (None, *range(-a.ndim, a.ndim), 5):
                for count in (None, 0, 3, 8, 61, -1, -9, -1000):
                    if count is not None and count > 0 and not a.size:
                        continue  # NumPy's are not initialised
                    for order in ("b", "little"):
                        expected = outcome(numpy.unpackbits, a, axis, count, order)
                        assert_same_outcome(outcome(weft.unpackbits, x, axis, count, order), expected)


def test_any_byte_is_true():
    odd = numpy.array([0, 255, 2, 0, 128, 1, 0, 64, 3], "u1")
    assert weft.packbits(weft.array(odd).view("bool")).tolist() == numpy.packbits(odd.view("bool")).tolist()


@pytest.mark.parametrize("count", [1 << 16, 1_000_003])
def test_many(count):
    a = numpy.random.default_rng(5).random(count) < 0.5
    x = weft.array(a)
    packed = numpy.packbits(a)
    for threads in (1, 2, 7):
        with weft.config(num_threads=threads):
            assert (numpy.asarray(weft.packbits(x)) == packed).all()
            assert (numpy.asarray(weft.packbits(x.astype("i4") * 256)) == packed).all()
            assert (numpy.asarray(weft.unpackbits(weft.array(packed), count=count)) == a).all()
    rows = a[: count // 7 * 7].reshape(7, -1)
    for axis in (0, 1):
        packed = numpy.packbits(rows, axis, "little")
        assert (numpy.asarray(weft.packbits(weft.array(rows), axis, "little")) == packed).all()
        bits = weft.unpackbits(weft.array(packed), axis, bitorder="little")
        assert (numpy.asarray(bits) == numpy.unpackbits(packed, axis, bitorder="little")).all()


def test_both_ways_on_each_device(device):
    a = numpy.random.default_rng(6).integers(0, 2, (5, 19)).astype("i4")
    for axis in (None, 0, 1):
        for order in ("big", "little"):
            packed = weft.packbits(weft.asarray(a, device=device), axis, order)
            assert packed.device == device
            expected = numpy.packbits(a, axis, order)
            assert packed.tolist() == expected.tolist()
            for count in (None, 3, 50, -2):
                bits = weft.unpackbits(packed, axis, count, order)
                assert bits.tolist() == numpy.unpackbits(expected, axis, count, order).tolist()


@pytest.mark.parametrize(
    "call",
    [
        "packbits([1.5])",
        "packbits([])",
        "packbits([1], bitorder='x')",
        "packbits([1], bitorder=1)",
        "packbits([1], axis='x')",
        "packbits([1], axis=1.0)",
        "packbits([1.5], bitorder='x')",
        "unpackbits([3])",
        "unpackbits(np.array([3], 'u1'), bitorder='x')",
        "unpackbits(np.array([3], 'u1'), bitorder=None)",
        "unpackbits(np.array([3], 'u1'), count=1.5)",
        "unpackbits(np.array([3], 'u1'), count=True)",
        "unpackbits(np.array([3], 'u1'), count=-9)",
        "unpackbits(np.array([3], 'u1'), axis=2)",
    ],
)
def test_errors(call):
    ours, theirs = (outcome(eval, "np." + call, {"np": module}) for module in (weft, numpy))
    assert isinstance(theirs, Exception)
    assert_same_outcome(ours, theirs)
