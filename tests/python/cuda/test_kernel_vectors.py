"""Vectors of one to four numbers: how they are made, and where kernels may have them."""

import copy
import pickle

import numpy
import pytest
import weft
from weft import cuda
from weft.numba import cuda as numbas

KINDS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
ALIASES = dict(zip("char short int long uchar ushort uint ulong float double".split(), KINDS, strict=True))
ALIASES |= {"longlong": "int64", "ulonglong": "uint64"}


def types_of(kind):
    return [getattr(cuda, f"{kind}x{count}") for count in range(1, 5)]


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_made_of_numbers_and_vectors(kind):
    one, two, three, four = types_of(kind)

    @cuda.jit
    def kernel(numbers, out):
        a, b, c, d = numbers[0], numbers[1], numbers[2], numbers[3]
        i = cuda.grid(1)
        if i == 0:
            v = four(a, b, c, d)
        elif i == 1:
            v = four(two(a, b), c, d)
        elif i == 2:
            v = four(a, two(b, c), d)
        elif i == 3:
            v = four(a, b, two(c, d))
        elif i == 4:
            v = four(two(a, b), two(c, d))
        elif i == 5:
            v = four(three(a, b, c), d)
        elif i == 6:
            v = four(a, three(two(a, b).y, two(c, d)))
        elif i == 7:
            v = four(four(one(a), one(b), c, one(d)))
        else:
            v = four(three(three(two(a, b), c)), one(one(d)))
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = v.x, v.y, v.z, v.w

    for dtype in (kind, "float64", "int64"):
        numbers = numpy.array([1, 2, 3, 100], dtype)
        out = numpy.zeros((9, 4))
        kernel[1, 9](numbers, out)
        numpy.testing.assert_array_equal(out, [[1, 2, 3, 100]] * 9)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_cast(kind, device):
    one = types_of(kind)[0]

    @cuda.jit
    def kernel(given, out):
        i = cuda.grid(1)
        v = one(given[i])
        out[i] = v.x

    given = numpy.array([3, 100, 120, -7, 1000, 70000])
    out = numpy.zeros(6, "f8" if kind.startswith("f") else kind)
    kernel[1, 6](given, out)
    numpy.testing.assert_array_equal(out, given.astype(kind))
    given = numpy.array([0.1, 1.7])
    out = numpy.zeros(2)
    kernel[1, 2](given, out)
    numpy.testing.assert_array_equal(out, given.astype(kind))


@pytest.mark.parametrize("alias, kind", ALIASES.items())
def test_aliases(alias, kind):
    for count in range(1, 5):
        made = getattr(cuda, f"{kind}x{count}")
        assert getattr(cuda, f"{alias}{count}") is made is getattr(numbas, f"{alias}{count}")
        assert repr(made) == f"<weft.cuda.{kind}x{count}>"


@cuda.jit(device=True)
def crossed(a, b):
    return cuda.float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@cuda.jit(device=True)
def doubled(pair):
    first, second = pair
    return (second, cuda.double2(2 * first.x, 2 * first.y))


@cuda.jit
def in_functions_and_tuples(offset, a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        v = crossed(cuda.float3(a[i, 0], a[i, 1], a[i, 2]), cuda.float3(1, 2, 3))
        pair = (cuda.double2(i, offset.y), cuda.double2(offset.x, 3))
        for _ in range(3):
            pair = doubled(pair)
        out[i, 0], out[i, 1], out[i, 2] = v.x, v.y, v.z
        out[i, 3], out[i, 4] = pair[1].x, pair[0].y


@pytest.mark.parametrize("offset", [cuda.double2(5, 7), cuda.float2(5, 7)])
def test_functions_tuples_loops_and_arguments(offset, device):
    a = numpy.random.default_rng(1).normal(size=(40, 3)).astype("f4")
    out = numpy.zeros((40, 5))
    in_functions_and_tuples[2, 32](offset, a, out)
    numpy.testing.assert_allclose(out[:, :3], numpy.cross(a, numpy.float32([1, 2, 3])), rtol=1e-4, atol=1e-6)
    numpy.testing.assert_array_equal(out[:, 3], numpy.arange(40) * 4)
    numpy.testing.assert_array_equal(out[:, 4], 6)
    assert in_functions_and_tuples._refusal is None  # no GPU left it to the CPU


corner = cuda.int4(1, 2, 3, 4)


def test_vectors_of_the_program():
    @numbas.jit
    def kernel(out):
        out[0] = corner.w * 10 + numbas.short2(corner.x, 9).y

    out = numpy.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 49


def test_numbers_keep_their_type():
    @cuda.jit
    def kernel(out):
        v = cuda.float2(1, 3)
        out[0] = v.x / v.y
        out[1] = cuda.uchar2(258, 1).x

    out = numpy.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [float(numpy.float32(1) / numpy.float32(3)), 2.0]


def test_outside_of_kernels():
    v = cuda.float32x4(cuda.float32x2(1, 2), 3, 4)
    assert (v.x, v.y, v.z, v.w) == (1, 2, 3, 4) and v.x.dtype == "float32"
    assert v == cuda.float4(1, 2, 3, 4) != cuda.float4(1, 2, 3, 5) and hash(v) == hash(copy.copy(v))
    assert isinstance(v, cuda.float4) and not isinstance(v, cuda.double4) and not isinstance(1.0, cuda.float1)
    assert pickle.loads(pickle.dumps(v)) == v and pickle.loads(pickle.dumps(cuda.float4)) is cuda.float4
    with pytest.raises(AttributeError):
        v.x = 2.0
    for parts in ((), (1, 2, 3), (1, 2, 3, 4, 5), (v, 1), (cuda.double2(1, 2), 3, 4)):
        with pytest.raises(TypeError):
            cuda.float32x4(*parts)


@cuda.jit
def too_few(out):
    out[0] = cuda.float32x4(1, 2, 3).x


@cuda.jit
def too_many(out):
    out[0] = cuda.float32x4(1, 2, 3, 4, 5).x


@cuda.jit
def of_another_type(out):
    out[0] = cuda.float32x4(cuda.float64x2(1, 2), 3, 4).x


@cuda.jit
def assigned(out):
    v = cuda.float32x2(1, 2)
    v.x = 3
    out[0] = v.x


@cuda.jit
def added(out):
    v = cuda.float32x2(1, 2)
    out[0] = (v + v).x


@pytest.mark.parametrize(
    "kernel, said",
    [
        (too_few, r"float32x4\(\) missing 1 required positional argument: 'w'"),
        (too_many, r"float32x4\(\) takes 4 positional arguments but 5 were given"),
        (of_another_type, "a number cannot be made of float64x2"),
        (assigned, "attributes cannot be assigned"),
        (added, r"operator \+ is not compiled for float32x2"),
    ],
)
def test_refusals(kernel, said):
    with pytest.raises(weft.CompileError, match=said):
        kernel[1, 1](numpy.zeros(1))
