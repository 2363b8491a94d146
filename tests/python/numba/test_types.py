"""weft.numba.types: names, signatures in all forms, typeof."""

import collections

import numpy
import pytest
import weft
import weft.numba as numba
from weft.numba import from_dtype, njit, typeof, types
from weft.numba.core import sigutils
from weft.numba.np import numpy_support


def test_names():
    for (
        name
    ) in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split():
        assert getattr(numba, name) is getattr(types, name)
        assert str(getattr(numba, name)) == name
        assert numpy_support.as_dtype(getattr(types, name)) == numpy.dtype(name)
    assert numba.boolean is numba.bool_ is numba.b1
    assert (numba.f8, numba.i4, numba.u2, numba.c16) == (
        numba.float64,
        numba.int32,
        numba.uint16,
        numba.complex128,
    )
    assert (numba.intp, numba.intc, numba.double, numba.void) == (
        numba.int64,
        numba.int32,
        numba.float64,
        numba.none,
    )


def test_arrays():
    assert [
        str(each) for each in (numba.f8[:], numba.f8[::1], numba.f8[:, ::1], numba.f8[::1, :], numba.f8[:, :])
    ] == [
        "array(float64, 1d, A)",
        "array(float64, 1d, C)",
        "array(float64, 2d, C)",
        "array(float64, 2d, F)",
        "array(float64, 2d, A)",
    ]
    assert types.Array(types.int32, 2, "C") == types.int32[:, ::1]
    assert types.Array(types.int32, 1, "C", readonly=True) != types.int32[::1]
    with pytest.raises(KeyError, match="is written"):
        types.int32[3]


def test_tuples():
    assert types.Tuple((types.int32, types.int32)) == types.UniTuple(types.int32, 2)
    assert str(types.Tuple((types.int32, types.f8))) == "Tuple(int32, float64)"
    assert types.Tuple((types.int32, types.f8))[1] == types.f8
    assert len(types.UniTuple(types.int32, 2)) == 2


@pytest.mark.parametrize(
    "given",
    [
        "float64(int32, float64[:])",
        "f8(i4, f8[:])",
        types.float64(types.int32, types.float64[:]),
        "types.float64(types.int32, Array(float64, 1, 'A'))",
    ],
)
def test_signatures(given):
    assert sigutils.normalize_signature(given) == ((types.int32, types.float64[:]), types.float64)


def test_signatures_without_a_result():
    assert sigutils.normalize_signature("(i4, f8)") == ((types.int32, types.float64), None)
    assert sigutils.normalize_signature((types.int32,)) == ((types.int32,), None)
    assert sigutils.normalize_signature("void()") == ((), types.none)


@pytest.mark.parametrize("given", ["f9(i4)", "f8(i4", "1 + 1", 3])
def test_wrong_signatures(given):
    with pytest.raises(TypeError, match="is no signature"):
        sigutils.normalize_signature(given)


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "int64"),
        (2**63, "uint64"),
        (1.5, "float64"),
        (True, "bool"),
        (1j, "complex128"),
        (None, "none"),
        ("a", "unicode_type"),
        ((1, 2), "UniTuple(int64 x 2)"),
        ((1, 2.0), "Tuple(int64, float64)"),
        (Point(1, 2.0), "Point(int64, float64)"),
        ([1], "reflected list(int64)"),
        (numpy.int8(1), "int8"),
        (numpy.zeros((2, 3), "f4"), "array(float32, 2d, C)"),
        (numpy.zeros((2, 3)).T, "array(float64, 2d, F)"),
        (numpy.zeros(4)[::2], "array(float64, 1d, A)"),
        (weft.zeros(3), "array(float64, 1d, C)"),
        (numba.typed.List([1]), "ListType[int64]"),
    ],
)
def test_typeof(value, text):
    assert str(numba.typeof(value)) == text


def test_typeof_of_read_only_arrays():
    a = numpy.zeros(3)
    a.flags.writeable = False
    assert str(numba.typeof(a)) == "readonly array(float64, 1d, C)"


def test_values_without_a_type():
    for value in (object(), 2**64, []):
        with pytest.raises(ValueError):
            numba.typeof(value)


def test_types_cast_numbers():
    assert type(numba.int32(2.75)) is numpy.int32
    assert (numba.int32(2.75), numba.uint8(257), numba.boolean(3)) == (2, 1, True)

    @numba.njit
    def cast(x):
        return numba.int32(x), numba.types.uint8(x)

    assert cast(257.5) == (257, 1)


def test_from_dtype():
    assert numba.from_dtype(numpy.dtype("f4")) == numba.float32
    assert numba.from_dtype(numpy.dtype(bool)) == numba.boolean
    with pytest.raises(NotImplementedError, match="no arrays of <U3"):
        numba.from_dtype(numpy.dtype("U3"))


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[25s]", "m8", "M8[ns]"])
def test_types_of_dates(dtype):
    dtype = numpy.dtype(dtype)
    kind = from_dtype(dtype)
    assert str(kind) in (dtype.name, f"{dtype.name}[]")
    assert isinstance(kind, types.NPTimedelta if dtype.kind == "m" else types.NPDatetime)
    assert typeof(numpy.zeros(2, dtype)) == types.Array(kind, 1, "C")
    assert typeof(numpy.zeros(2, dtype)[0]) == kind

    @njit([(types.Array(kind, 1, "C"), kind)])
    def later(a, at):
        return a == at

    given = numpy.arange(3).astype(dtype)
    assert later(given, given[1]).tolist() == [False, True, False]
    later.compile((types.Array(kind, 1, "A"), kind))


def test_signatures_of_structures():
    dtype = numpy.dtype([("x", "f8"), ("n", "i4")])

    @njit([(from_dtype(dtype)[:], from_dtype(dtype))])
    def put(a, one):
        a[0] = one

    a, b = numpy.zeros(2, dtype), numpy.ones(2, dtype)
    put(a, b[1])
    assert a[0] == b[1]
    put.compile((from_dtype(dtype)[::1], from_dtype(dtype)))
    with pytest.raises(TypeError, match="No matching definition"):
        put(numpy.zeros(2), b[1])
