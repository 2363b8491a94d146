"""shared.array and local.array of vectors, of structured dtypes and of what they do not have."""

import numpy
import pytest
import weft
from weft import cuda
from weft.numba import cuda as numbas

KINDS = "int8 uint16 int32 uint64 float32 float64".split()
PARTICLE = numpy.dtype([("place", "f4", 3), ("charge", "i2"), ("mass", "f8")], align=True)
PACKED = numpy.dtype([("flag", "?"), ("value", "f8"), ("small", "u1"), ("z", "c8")])
INNER = numpy.dtype([("low", "i4"), ("high", "i4")])
NESTED = numpy.dtype([("range", INNER), ("ranges", INNER, 2), ("weight", "f4")])


def reasons():
    return {row["reason"] for row in weft.fallback_report()}


@pytest.fixture(autouse=True)
def runs_where_it_should(device):
    """No GPU leaves a kernel to the CPU."""
    before = reasons()
    yield
    if device == "cuda":  # of looking at structures NumPy makes texts and lists
        assert reasons() - before <= {"dtype with fields", "compiled functions on a GPU"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("space", ["shared", "local"])
def test_elements_are_vectors(kind, count, space):
    vector = getattr(cuda, f"{kind}x{count}")
    two = getattr(cuda, f"{kind}x2")
    memory = getattr(cuda, space)

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        held = memory.array((2, 8), vector)
        for row in range(2):
            if count == 1:
                held[row, t] = vector(a[t])
            elif count == 2:
                held[row, t] = vector(a[t], row)
            elif count == 3:
                held[row, t] = vector(a[t], two(row, 2))
            else:
                held[row, t] = vector(two(a[t], row), 2, 3)
        cuda.syncthreads()
        before = held[0, t]
        held[0, t] = held[1, t]  # `before` is what was there
        v = held[0, t]
        out[t, 0] = v.x
        out[t, 4] = before.x
        if count > 1:
            out[t, 1], out[t, 5] = v.y, before.y
        if count > 2:
            out[t, 2] = held[1, t].z
        if count > 3:
            out[t, 3] = v.w

    a = numpy.arange(8).astype(kind)
    out = numpy.zeros((8, 6))
    kernel[1, 8](a, out)
    expected = numpy.zeros((8, 6))
    expected[:, 0] = expected[:, 4] = a
    expected[:, 1:count] = [1, 2, 3][: count - 1]
    numpy.testing.assert_array_equal(out, expected)


@cuda.jit(device=True)
def longer(a, b):
    return a if a.x * a.x + a.y * a.y > b.x * b.x + b.y * b.y else b


@cuda.jit(device=True)
def first_of(vectors):
    return vectors[0]


@cuda.jit
def longest_of_block(points, out):
    found = cuda.shared.array(64, cuda.float2)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    found[t] = cuda.float2(points[i, 0], points[i, 1]) if i < points.shape[0] else cuda.float2(0, 0)
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            found[t] = longer(found[t], found[t + step])
        cuda.syncthreads()
        step //= 2
    if t == 0:
        best = first_of(found)
        out[cuda.blockIdx.x, 0], out[cuda.blockIdx.x, 1] = best.x, best.y


def test_vectors_go_to_functions_and_back():
    points = numpy.random.default_rng(3).normal(size=(150, 2)).astype("f4")
    out = numpy.zeros((3, 2), "f4")
    longest_of_block[3, 64](points, out)
    for block, found in enumerate(out):
        part = points[block * 64 : block * 64 + 64]
        numpy.testing.assert_array_equal(found, part[numpy.argmax((part * part).sum(axis=1))])


@cuda.jit
def of_dynamic_size(out):
    held = cuda.shared.array(0, cuda.int4)
    t = cuda.threadIdx.x
    held[t] = cuda.int4(t, 1, 2, held.size)
    cuda.syncthreads()
    other = held[held.size - 1 - t]
    part = held[2:4]
    out[t] = other.x * 100 + other.w + part[-1].x * 1000


def test_dynamic_memory_of_vectors():
    out = numpy.zeros(8, int)
    of_dynamic_size[1, 8, 0, 8 * 16](out)
    numpy.testing.assert_array_equal(out, (7 - numpy.arange(8)) * 100 + 8 + 3000)


@pytest.mark.parametrize("space", ["shared", "local"])
def test_elements_are_structures(space):
    memory = getattr(cuda, space)

    @cuda.jit
    def kernel(given, out):
        t = cuda.threadIdx.x
        held = memory.array(8, PARTICLE)
        held[t] = given[t]
        held[t].charge += 1
        held[t]["mass"] = held[t].mass * 2
        for axis in range(3):
            held[t].place[axis] -= axis
        cuda.syncthreads()
        if t % 2:
            held[t].place[0] = 0
        out[t] = held[t]
        if t == 7:
            out[t].charge = held.charge[t] + 100

    given = numpy.zeros(8, PARTICLE)
    given["charge"], given["mass"] = numpy.arange(8), numpy.arange(8) / 2
    given["place"] = numpy.arange(24).reshape(8, 3)
    out = numpy.zeros_like(given)
    kernel[1, 8](given, out)
    expected = given.copy()
    expected["charge"] += 1
    expected["mass"] *= 2
    expected["place"] -= [0, 1, 2]
    expected["place"][1::2, 0] = 0
    expected["charge"][7] += 100
    numpy.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("space", ["shared", "local"])
def test_fields_that_are_not_aligned(space):
    memory = getattr(cuda, space)

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        held = memory.array((4, 2), PACKED)
        held[t, 1].flag = t % 2 == 1
        held[t, 1].value = t + 0.5
        held[t, 1].small = 250 + t
        held[t, 1].z = complex(t, -t)
        held[t, 0] = held[t, 1]
        cuda.syncthreads()
        out[t] = held[t, 0]

    out = numpy.zeros(4, PACKED)
    kernel[1, 4](out)
    assert out.tolist() == [(t % 2 == 1, t + 0.5, 250 + t, complex(t, -t)) for t in range(4)]
    assert kernel._refusal is None


@cuda.jit
def of_nested_structures(out):
    held = cuda.local.array(3, NESTED)
    t = cuda.threadIdx.x
    for k in range(3):
        held[k].range.low = t
        held[k].range.high = k
        held[k].ranges[0].low = t + k
        held[k].ranges[1] = held[k].range
        held[k].weight = 0.5 * k
    held[0] = held[2]
    chosen = held[t % 3]
    out[t, 0] = chosen.range.high * 10 + chosen.ranges[1].low
    out[t, 1] = chosen.ranges[0].low + 100 * chosen.weight


def test_structures_in_structures():
    out = numpy.zeros((9, 2))
    of_nested_structures[1, 9](out)
    t = numpy.arange(9)
    k = numpy.where(t % 3 == 0, 2, t % 3)
    numpy.testing.assert_array_equal(out, numpy.stack([k * 10 + t, t + k + 50 * k], axis=1))


@cuda.jit
def many_threads(a, out):
    i = cuda.grid(1)
    if i < out.size:
        held = cuda.local.array(4, cuda.float4)
        particles = cuda.local.array(2, PARTICLE)
        for k in range(4):
            held[k] = cuda.float4(a[i], k, a[i] * k, 1)
            particles[k % 2].mass = a[i] + k
        total = np_float32(0)
        for k in range(4):
            total += held[k].x * held[k].y + held[3 - k].z
        out[i] = total + particles[0].mass + particles[1].mass


np_float32 = numpy.float32


@pytest.mark.parametrize("without", ["", "local_memory", "lanes_of_loops"])
def test_many_threads(without):
    a = numpy.random.default_rng(4).integers(0, 100, 300).astype("f4")
    out = numpy.zeros(300)
    with weft.config(without=without):
        cuda.jit(many_threads.py_func)[5, 64](a, out)
    numpy.testing.assert_array_equal(out, 12 * a + 2 * a + 5)


@cuda.jit
def racing(out):
    held = cuda.shared.array(32, cuda.float2)
    t = cuda.threadIdx.x
    held[t] = cuda.float2(t, 1)  # writes
    out[t] = held[(t + 1) % 32].x  # reads


def test_the_race_checker_hears_of_vectors():
    with pytest.raises(cuda.RaceError, match="held"):
        racing.check[1, 32](numpy.zeros(32))


@cuda.jit
def of_vectors_beyond(out, at):
    held = cuda.local.array(4, cuda.float2)
    held[at] = cuda.float2(1, 2)
    out[0] = held[at].x


def test_indices_out_of_bounds():
    with pytest.raises(IndexError, match=r"index 4 is out of bounds.*size 4"):
        of_vectors_beyond[1, 1](numpy.zeros(1), 4)
        cuda.synchronize()


@cuda.jit
def of_numbas_names(out):
    held = numbas.local.array(2, dtype=numbas.float32x3)
    held[1] = numbas.float32x3(1, 2, 3)
    out[0] = held[1].z


def test_numbas_names():
    out = numpy.zeros(1)
    of_numbas_names[1, 1](out)
    assert out[0] == 3


def test_functions_make_arrays_of_vectors_as_structures():
    @weft.njit
    def made(n):
        vectors = numpy.zeros(n, cuda.int2)
        for i in range(1, n):
            vectors[i] = cuda.int2(i, vectors[i - 1].y + i)
        return vectors

    found = made(4)
    assert found.dtype == cuda.int2.dtype == numpy.dtype([("x", "i4"), ("y", "i4")])
    assert found.tolist() == [(0, 0), (1, 1), (2, 3), (3, 6)]


# --- what is refused ---


@cuda.jit
def a_number(out):
    cuda.local.array(4, cuda.float2)[0] = 1


@cuda.jit
def another_vector(out):
    held = cuda.shared.array(4, cuda.float2)
    held[0] = cuda.float3(1, 2, 3)


@cuda.jit
def a_tuple(out):
    held = cuda.shared.array(4, cuda.float2)
    held[0] = (1, 2)


@cuda.jit
def an_assigned_field(out):
    held = cuda.shared.array(4, cuda.float2)
    held[0].x = 1


@cuda.jit
def a_missing_field(out):
    held = cuda.shared.array(4, cuda.float2)
    out[0] = held[0].z


@cuda.jit
def a_missing_field_of_structures(out):
    held = cuda.shared.array(4, PARTICLE)
    out[0] = held[0].speed


@cuda.jit
def atomic(out):
    held = cuda.shared.array(4, cuda.int2)
    cuda.atomic.add(held, 0, 1)


@cuda.jit
def dates(out):
    held = cuda.shared.array(4, DATE)
    out[0] = held.size


@cuda.jit
def durations(out):
    held = cuda.local.array(4, "timedelta64[ms]")
    out[0] = held.size


@cuda.jit
def objects(out):
    held = cuda.local.array(4, OBJECTS)
    out[0] = held.size


@cuda.jit
def too_much(out):
    held = cuda.shared.array(20000, cuda.float4)
    out[0] = held.size


DATE = numpy.dtype("datetime64[D]")
OBJECTS = numpy.dtype([("x", "f8"), ("o", "O")])


@pytest.mark.parametrize(
    "kernel, said, line",
    [
        (
            a_number,
            r"int cannot be stored in an array of float32x2",
            "cuda.local.array(4, cuda.float2)[0] = 1",
        ),
        (
            another_vector,
            r"float32x3\(.*\) cannot be stored in an array of float32x2",
            "held[0] = cuda.float3(1, 2, 3)",
        ),
        (a_tuple, r"tuple\(int, int\) cannot be stored in an array of float32x2", "held[0] = (1, 2)"),
        (an_assigned_field, "attributes cannot be assigned", "held[0].x = 1"),
        (a_missing_field, "Unknown attribute 'z' of type float32x2", "out[0] = held[0].z"),
        (a_missing_field_of_structures, "Field 'speed' was not found", "out[0] = held[0].speed"),
        (
            atomic,
            r"cuda.atomic.add\(\) takes an array, not array\(int32x2, 1d\)",
            "cuda.atomic.add(held, 0, 1)",
        ),
        (dates, r"cuda.shared.array\(\) has no dates", "held = cuda.shared.array(4, DATE)"),
        (durations, r"cuda.local.array\(\) has no dates", 'held = cuda.local.array(4, "timedelta64[ms]")'),
        (objects, "must be a data-type", "held = cuda.local.array(4, OBJECTS)"),
        (too_much, "needs more than 232448 bytes", "held = cuda.shared.array(20000, cuda.float4)"),
    ],
)
def test_refusals_tell_the_line(kernel, said, line):
    with pytest.raises(weft.CompileError, match=said) as error:
        kernel[1, 1](numpy.zeros(1))
    assert line in str(error.value) and "^" in str(error.value)
