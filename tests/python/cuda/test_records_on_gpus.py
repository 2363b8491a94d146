"""Arrays of structures as arguments of kernels: NumPy's are copied to a GPU and back, those of to_device stay there."""

import numpy
import pytest
import weft
from weft import cuda

POINT = numpy.dtype([("x", "f8"), ("n", "i4"), ("at", "f4", 2)])
PACKED = numpy.dtype([("flag", "u1"), ("value", "f8")])


@cuda.jit
def step(points, by):
    i = cuda.grid(1)
    if i < points.size:
        points[i].x += by
        points[i].n = i
        points[i].at[1] = points[i].at[0] - 1


def points_of(count):
    points = numpy.zeros(count, POINT)
    points["x"] = numpy.arange(count)
    points["at"][:, 0] = numpy.arange(count) * 2
    return points


def stepped(points, by):
    expected = points.copy()
    expected["x"] += by
    expected["n"] = numpy.arange(points.size)
    expected["at"][:, 1] = expected["at"][:, 0] - 1
    return expected


def copied_bytes(run):
    """What the launches in `run` copied to a GPU and back."""
    before = len(weft.kernel_history())
    run()
    cuda.synchronize()
    rows = weft.kernel_history()[before:]
    rows = [row for row in rows if row["name"].startswith("copies of the arguments")]
    return sum(row["bytes_read"] + row["bytes_written"] for row in rows)


def test_structures_of_to_device_stay_there(device):
    points = points_of(70)
    there = cuda.to_device(points)
    assert there.dtype == POINT and there.shape == (70,) and there.nbytes == points.nbytes
    assert there.strides == points.strides and len(there) == 70

    def run():
        step[3, 32](there, 1.5)
        step[3, 32](there, 2.0)

    assert copied_bytes(run) == 0
    found = there.copy_to_host()
    assert type(found) is numpy.ndarray and found.dtype == POINT
    numpy.testing.assert_array_equal(found, stepped(points, 3.5))
    numpy.testing.assert_array_equal(points, points_of(70))
    given = numpy.zeros(70, POINT)
    assert there.copy_to_host(given) is given
    numpy.testing.assert_array_equal(given, found)
    assert step._refusal is None
    if device == "cuda":
        described = there.__cuda_array_interface__
        assert described["typestr"] == POINT.str and described["descr"] == POINT.descr
        assert described["shape"] == (70,) and described["strides"] is None


def test_structures_of_numpy_are_copied_and_come_back(device):
    points = points_of(70)
    expected = stepped(points, 0.5)
    copied = copied_bytes(lambda: step[3, 32](points, 0.5))
    assert copied == (2 * points.nbytes if device == "cuda" else 0)
    numpy.testing.assert_array_equal(points, expected)


@cuda.jit
def differences(first, second, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i].x = first[i].x - second[i].x
        out[i].n = first[i].n


def test_views(device):
    points = points_of(60)
    there = cuda.to_device(points)
    out = cuda.device_array(20, POINT)
    assert copied_bytes(lambda: differences[1, 32](there[::3], there[40:], out)) == 0
    numpy.testing.assert_array_equal(out.copy_to_host()["x"], points["x"][::3] - points["x"][40:])
    square = there.reshape(6, 10)
    assert square.T.shape == (10, 6) and square.T.strides == points.reshape(6, 10).T.strides
    numpy.testing.assert_array_equal(square.T.copy_to_host(), points.reshape(6, 10).T)
    numpy.testing.assert_array_equal(square[1:3, ::-2].copy_to_host(), points.reshape(6, 10)[1:3, ::-2])
    step[1, 64](square[2], 100.0)  # of one row
    expected = points.copy()
    expected[20:30] = stepped(points[20:30], 100)
    numpy.testing.assert_array_equal(there.copy_to_host(), expected)
    assert [each.shape for each in there.split(25)] == [(25,), (25,), (10,)]
    assert there[7] == expected[7] and there[-1] == expected[-1]


@cuda.jit
def doubled(numbers):
    i = cuda.grid(1)
    if i < numbers.size:
        numbers[i] *= 2


def test_fields_are_arrays_in_the_same_memory(device):
    points = points_of(30).astype(numpy.dtype(POINT.descr[:2] + [("at", "f4", 2)], align=True))
    there = cuda.to_device(points)
    assert copied_bytes(lambda: doubled[1, 32](there["x"])) == 0
    doubled[1, 32](there["n"][5:])
    points["x"] *= 2
    numpy.testing.assert_array_equal(there.copy_to_host(), points)
    numpy.testing.assert_array_equal(there["at"].copy_to_host(), points["at"])
    packed = cuda.to_device(numpy.array([(1, 2.5), (2, 3.5)], PACKED))
    assert packed["value"].copy_to_host().tolist() == [2.5, 3.5]
    if device == "cuda":
        with pytest.raises(ValueError, match="where GPUs cannot read its elements"):
            doubled[1, 32](packed["value"])
        with pytest.raises(
            ValueError, match="where GPUs cannot read its elements"
        ):  # 20 bytes lie between two
            doubled[1, 32](cuda.to_device(points_of(4))["x"])
        return
    doubled[1, 32](packed["value"])
    assert packed["value"].copy_to_host().tolist() == [5, 7]


def test_elements_and_parts_are_assigned(device):
    points = points_of(12)
    there = cuda.to_device(points)
    there[3] = points[3] = (9, 8, (7, 6))
    there[4:6] = points[4:6] = points[0]
    there[::4] = points[::4] = points[1]
    there["n"] = points["n"] = 5
    numpy.testing.assert_array_equal(there.copy_to_host(), points)
    other = cuda.device_array_like(there)
    other.copy_to_device(there)
    numpy.testing.assert_array_equal(other.copy_to_host(), points)
    other.copy_to_device(numpy.zeros(12, POINT))
    assert not other.copy_to_host()["x"].any()
    assert cuda.to_device(points, to=other) is other
    numpy.testing.assert_array_equal(other.copy_to_host(), points)
    with pytest.raises(TypeError, match="incompatible dtype"):
        other.copy_to_device(numpy.zeros(12, PACKED))
    with pytest.raises(ValueError, match="has no place in one of shape"):
        other.copy_to_device(numpy.zeros(11, POINT))


def test_of_two_dimensions_and_in_the_order_of_fortran():
    made = cuda.device_array((4, 3), POINT, order="F")
    assert made.shape == (4, 3) and made.strides == (POINT.itemsize, 4 * POINT.itemsize)
    given = points_of(12).reshape(4, 3)
    made.copy_to_device(given)
    numpy.testing.assert_array_equal(made.copy_to_host(), given)


def test_records_of_numpy(device):
    records = points_of(9).view(numpy.recarray)
    there = cuda.to_device(records)
    step[1, 32](there, 1.0)
    found = there.copy_to_host()
    assert found.dtype == records.dtype
    numpy.testing.assert_array_equal(found.view(POINT), stepped(points_of(9), 1))


def test_no_structures():
    there = cuda.to_device(numpy.zeros(0, POINT))
    step[1, 32](there, 1.0)
    assert there.copy_to_host().shape == (0,) and there.copy_to_host().dtype == POINT
    assert there["x"].shape == (0,)


@cuda.jit
def allocating(points):
    i = cuda.grid(1)
    more = numpy.ones(points.shape[0])  # of a size that is not known before: memory that a kernel allocates
    points[i].n += int(more[i])


def test_kernels_that_a_gpu_has_not_reach_them(device):
    there = cuda.to_device(points_of(4))
    before = there.copy_to_host()["n"]
    allocating[1, 4](there)
    cuda.synchronize()
    assert there.copy_to_host()["n"].tolist() == (before + 1).tolist()
    if device == "cuda":
        assert "heap" in allocating._refusal


@cuda.jit
def beyond(points):
    points[cuda.grid(1) + 1].n = 1


def test_errors_come_to_light_where_structures_are_looked_at(device):
    there = cuda.to_device(points_of(4))
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        beyond[1, 4](there)
        there.copy_to_host()
    beyond[1, 3](cuda.to_device(points_of(4)))
    cuda.synchronize()


@cuda.jit
def overlapping(a, b):
    i = cuda.grid(1)
    if i < b.size:
        old = b[i].n
        a[i].n = 7
        b[i].n += old


def test_two_views_of_the_same_memory():
    there = cuda.to_device(points_of(8))
    there["n"] = 1
    overlapping[1, 8](there, there)
    assert there.copy_to_host()["n"].tolist() == [8] * 8
    overlapping[1, 4](there[:4], there[2:6])
    assert there.copy_to_host()["n"].tolist()[4:6] == [16, 16]


def test_one_array_of_numpys_twice():
    points = points_of(8)
    points["n"] = 1
    overlapping[1, 8](points, points)
    assert points["n"].tolist() == [8] * 8


def test_what_structures_on_a_gpu_refuse(device):
    there = cuda.to_device(points_of(8))
    if device == "cpu":
        return
    with pytest.raises(NotImplementedError, match="this would be a copy"):
        there.reshape(2, 4).T.ravel()
    with pytest.raises(BufferError, match="DLPack"):
        there.__dlpack__()


TRIPLE = numpy.dtype([("a", "i4"), ("b", "i4"), ("c", "i4")])


@cuda.jit
def turned(given, out):
    i = cuda.grid(1)
    if i < out.size:
        out[out.size - 1 - i] = given[i]


def test_whole_structures_are_copied_in_words_that_a_gpu_can_read(device):
    given = numpy.zeros(10, TRIPLE)
    for k, name in enumerate("abc"):
        given[name] = numpy.arange(10) * 3 + k
    there, out = cuda.to_device(given), cuda.device_array(10, TRIPLE)
    turned[1, 32](there, out)
    numpy.testing.assert_array_equal(out.copy_to_host(), given[::-1])
    if device == "cuda":
        (text,) = turned.inspect_asm().values()
        loads = [line.split()[0] for line in text.splitlines() if line.strip().startswith("ld.global")]
        assert loads and not any("64" in each or "v2" in each for each in loads), loads


@cuda.jit
def summed(packed, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = packed[i].flag + packed[i].value


def test_numbers_that_are_not_aligned_are_read_in_pieces():
    packed = cuda.to_device(numpy.array([(1, 2.5), (2, 3.5)], PACKED))
    out = numpy.zeros(2)
    summed[1, 2](packed, out)
    assert out.tolist() == [3.5, 5.5] and summed._refusal is None
    summed[1, 1](packed[1:], out)
    assert out.tolist() == [5.5, 5.5] and summed._refusal is None


@cuda.jit
def summed_axes(packed, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = packed[i].axes[0] + packed[i].axes[1]


def test_arrays_that_are_not_aligned_are_read_by_the_cpu(device):
    packed = numpy.zeros(3, [("flag", "u1"), ("axes", "f8", 2)])
    packed["axes"] = [[1, 2], [3, 4], [5, 6]]
    out = numpy.zeros(3)
    summed_axes[1, 3](cuda.to_device(packed), out)
    assert out.tolist() == [3, 7, 11]
    if device == "cuda":
        said = "field 'axes' of structure(flag: uint8, axes: 2 * float64) begins at a byte where GPUs cannot read it"
        assert summed_axes._refusal == said


def test_generators_of_random_numbers_stay_there(device):
    from weft.cuda.random import create_xoroshiro128p_states, xoroshiro128p_next

    @cuda.jit
    def drawn(states, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = xoroshiro128p_next(states, i)

    states = create_xoroshiro128p_states(40, seed=5)
    out = cuda.device_array(40, "uint64")
    first = states.copy_to_host()
    assert copied_bytes(lambda: drawn[2, 32](states, out)) == 0
    words = out.copy_to_host()
    assert words[0] == first["s0"][0] + first["s1"][0]
    assert (states.copy_to_host()["s0"] != first["s0"]).all()
