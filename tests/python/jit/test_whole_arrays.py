"""Operators and functions of whole arrays in compiled functions, beside NumPy's."""

import itertools
import warnings

import numpy
import pytest
import weft as np


def equal(ours, theirs, exact):
    if isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(equal(x, y, exact) for x, y in zip(ours, theirs, strict=True))
    ours, theirs = numpy.asarray(ours), numpy.asarray(theirs)
    if theirs.ndim > 0 and (ours.dtype != theirs.dtype or ours.shape != theirs.shape):
        return False
    if exact:
        return numpy.array_equal(ours, theirs, equal_nan=theirs.dtype.kind in "fc")
    return numpy.allclose(ours, theirs, rtol=1e-6, equal_nan=True)


def agree(function, *arguments, exact=True):
    """Both give the same and leave the same in their arguments; or both raise, ours perhaps before it is called."""
    given = [a.copy(order="K") if isinstance(a, numpy.ndarray) else a for a in arguments]
    kept = [a.copy(order="K") if isinstance(a, numpy.ndarray) else a for a in arguments]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = function(*given)
        except Exception as error:
            with pytest.raises((type(error), np.CompileError)):
                np.jit(function)(*kept)
            return
    assert equal(np.jit(function)(*kept), expected, exact)
    assert all(equal(a, b, exact) for a, b in zip(kept, given, strict=True))


ARRAYS = {
    "float64": numpy.arange(6.0).reshape(2, 3) - 2,
    "int64": numpy.arange(3) - 1,
    "int32": numpy.arange(6, dtype=numpy.int32).reshape(2, 3),
    "int8": numpy.arange(3, dtype=numpy.int8),
    "float32": numpy.array([1.5, 2, 3], numpy.float32),
    "bool": numpy.array([True, False, True]),
    "column": numpy.arange(2.0).reshape(2, 1),
    "transposed": numpy.arange(6.0).reshape(3, 2).T,
    "uint64": numpy.arange(3, dtype=numpy.uint64),
    "empty": numpy.zeros((0, 3)),
    "point": numpy.array(2.5),
    "wrong": numpy.arange(4.0),
}
SCALARS = {"2": 2, "2.5": 2.5, "True": True, "300": 300, "-1": -1}


def plus(a, b):
    return a + b, a * b


def quotients(a, b):
    return a / b


def whole_quotients(a, b):
    return a // b


def rests(a, b):
    return a % b


def powers(a, b):
    return a**b


def less(a, b):
    return a < b, a >= b


def same(a, b):
    return a == b, a != b


def bits(a, b):
    return a & b, a | b


def shifts(a, b):
    return a << b


OPERATORS = (plus, quotients, whole_quotients, rests, powers, less, same, bits, shifts)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("function", OPERATORS)
def test_operators(function, name):
    exact = function is not powers
    if function is powers and name == "bool":
        with pytest.raises(np.CompileError, match="array of bool"):
            np.jit(powers)(ARRAYS["bool"], 2)
        return
    for other in ("float64", "int8", "uint64", "column", "point", "wrong"):
        agree(function, ARRAYS[name], ARRAYS[other], exact=exact)
    for number in SCALARS.values():
        agree(function, ARRAYS[name], number, exact=exact)
        agree(function, number, ARRAYS[name], exact=exact)


def unary(a):
    return -a, +a, abs(a), np.abs(a)


def functions(a):
    return np.sqrt(a), np.exp(a), np.maximum(a, 1)


def inverted(a):
    return ~a


@pytest.mark.parametrize("name", ARRAYS)
def test_functions_of_one_array(name):
    agree(unary, ARRAYS[name])
    agree(functions, ARRAYS[name], exact=False)
    agree(inverted, ARRAYS[name])


def added(a, b):
    a += b
    return a


def added_to_part(a, b):
    a[1:] -= b
    return a


def into(a, b):
    c = np.zeros_like(a)
    np.add(a, b, c)
    np.multiply(c, 2, out=c)
    return c


@pytest.mark.parametrize(
    ("one", "other"), [*itertools.product(ARRAYS, ("float64", "int8", "point", "column"))]
)
def test_arrays_that_are_changed(one, other):
    for function in (added, added_to_part, into):
        agree(function, ARRAYS[one], ARRAYS[other])
        agree(function, ARRAYS[one], 2)


def running(a):
    a[1:] += a[:-1]
    return a


def mirrored(a):
    a[:] = a[::-1] + a
    a *= a[::-1]
    return a


def test_arrays_that_are_changed_by_themselves():
    agree(running, numpy.arange(9.0))
    agree(mirrored, numpy.arange(9))
    array = numpy.arange(9.0)
    expected = array.copy()
    added(expected[1:], expected[:-1])
    np.jit(added)(array[1:], array[:-1])
    assert numpy.array_equal(array, expected)


def reductions(a):
    return a.sum(), a.mean(), a.min(), a.max(), np.sum(a), np.max(a), a.any(), a.all()


def product(a):
    return a.prod()


@pytest.mark.parametrize("name", [name for name in ARRAYS if name != "empty"])
def test_reductions(name):
    agree(reductions, ARRAYS[name], exact=False)
    agree(product, ARRAYS[name], exact=False)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 128, 129, 1000, 4099])
def test_sums_have_the_bits_of_numpys(size):
    values = numpy.random.default_rng(size).standard_normal(size)
    assert float(np.jit(lambda a: a.sum())(values)) == float(values.sum())
    assert float(np.jit(lambda a: a.mean())(values)) == float(values.mean())


def test_extremes_of_nan_and_nothing():
    values = numpy.array([1.0, numpy.nan, -1.0])
    assert numpy.isnan(np.jit(lambda a: a.min())(values))
    assert numpy.isnan(np.jit(lambda a: a.max())(values))
    for function in (lambda a: a.min(), lambda a: a.max()):
        with pytest.raises(ValueError, match="zero-size array"):
            np.jit(function)(numpy.empty(0))
    assert np.jit(lambda a: a.sum())(numpy.empty(0)) == 0


def evenly(a, b):
    return np.linspace(a, b), np.linspace(a, b, 7), np.linspace(a, b, num=1), np.linspace(a, b, 0)


def diagonals(n):
    return np.eye(n), np.eye(n, n + 1), np.eye(n, k=-1), np.identity(n), np.eye(n, dtype=np.int32)


def converted(a):
    return a.astype(np.float32), a.astype(np.int64)


def test_arrays_that_are_made():
    agree(evenly, 0, 1)
    agree(evenly, -2.5, 7.25)
    agree(evenly, 3.0, 3.0)
    agree(diagonals, 4)
    agree(converted, ARRAYS["float64"])


def loops(a, n):
    total = 0.0
    for i in range(n):
        b = a * i + 1.5
        a = a - b / 2
        total += b.sum()
    return total, a


def test_in_loops():
    agree(loops, numpy.arange(5.0), 4)


def spread(a, n):
    sums = np.zeros(n)
    for i in np.prange(n):
        b = a * i
        sums[i] = (b + 1).sum()
    return sums


def test_in_parallel_loops():
    a = numpy.arange(5.0)
    assert np.jit(spread)(a, 6).tolist() == [float((a * i + 1).sum()) for i in range(6)]


def flats(a):
    total = 0
    for i, x in enumerate(a.flat):
        total = total * 3 + i * x
    return total, len(a.flat), a.flat[2], a.flat[-1], sum(a.flat), max(a.flat)


def put(a, k, x):
    a.flat[k] = x
    return a


MATRIX = numpy.arange(6).reshape(2, 3)


@pytest.mark.parametrize("array", [MATRIX, MATRIX.T, MATRIX[:, ::2], MATRIX[::-1], numpy.arange(5.0)])
def test_flat(array):
    agree(flats, array)
    for k in (0, 2, -1, 3):
        agree(put, array, k, 9)
    agree(put, array, 6, 9)
    assert [*np.jit(lambda a: list(a.flat))(array)] == list(array.flat)


def flags(a):
    return a.flags.contiguous, a.flags.c_contiguous, a.flags.f_contiguous, a.imag


@pytest.mark.parametrize(
    "array", [MATRIX, MATRIX.T, MATRIX[:, ::2], MATRIX[::-1], MATRIX[:0], numpy.array(1.5)]
)
def test_flags(array):
    assert np.jit(flags)(array)[:3] == flags(array)[:3]
    assert not numpy.asarray(np.jit(flags)(array)[3]).any()


def test_what_is_refused():
    def truth(a):
        if a > 1:
            return 1
        return 0

    with pytest.raises(np.CompileError, match="truth"):
        np.jit(truth)(numpy.arange(3))
    with pytest.raises(np.CompileError, match="is not stored in"):
        np.jit(added)(numpy.arange(3), 2.5)
    with pytest.raises(OverflowError, match="out of bounds for int8"):
        np.jit(lambda a: a + 300)(ARRAYS["int8"])


def viewed(x, a):
    return np.float32(x).view(np.int32), a.view(np.uint64), a.view(np.float64)


def rows(n):
    return np.array([np.arange(3) * i for i in range(n)])


def leading(a, b):
    a[:] = b
    return a


def mapped(a, b):
    both = a, b
    return [x * y for x, y in map(lambda x, y: (x + 1, y), *both)]


def types(a):
    return a.dtype == np.dtype("int64"), a.dtype == np.dtype(np.int32)


def ravelled(a):
    b = a.ravel()
    b[0] = 9
    return a, b


def test_arrays_as_others():
    agree(viewed, 1.5, numpy.arange(3))
    agree(rows, 4)
    agree(leading, numpy.zeros((2, 3)), numpy.arange(6.0).reshape(1, 2, 3))
    agree(leading, numpy.zeros(3), numpy.arange(6.0).reshape(2, 3))
    assert np.jit(mapped)(numpy.arange(3), numpy.arange(3) + 1) == mapped(
        numpy.arange(3), numpy.arange(3) + 1
    )
    assert np.jit(types)(numpy.arange(3)) == types(numpy.arange(3))
    for array in (MATRIX, MATRIX.T, MATRIX[:, ::2], numpy.arange(4)):
        agree(ravelled, array)
    for vector in (numpy.arange(8)[::2], numpy.arange(5)[::-1]):  # whose elements are copied
        agree(ravelled, vector)
    with pytest.raises(np.CompileError, match="of a 0d array"):
        np.jit(lambda a: a.view(np.int8))(numpy.array(3))


def chosen(a, b, x):
    return np.where(a > 1, a, b), np.where(a > 1, x, 0.5), np.where(a, 1, x)


@pytest.mark.parametrize("name", ["float64", "int32", "int8", "float32", "bool", "transposed", "point"])
def test_where(name):
    agree(chosen, ARRAYS[name], ARRAYS["float64"], numpy.float32(2.5))
    agree(chosen, ARRAYS[name], ARRAYS["int8"], ARRAYS["column"])


def of_sequences(n):
    return np.float64((1, 2.5)), np.int32([n, 2]), np.complex128(((1, 2), (n, 4)))


def test_types_of_sequences_make_arrays():
    agree(of_sequences, 3)


def test_parts_of_real_arrays_that_only_are_read_stay_so():
    # They had come back writeable.
    def f(a):
        return a.imag

    a = numpy.ones(3)
    result = np.jit(f)(a)
    assert not result.flags.writeable
    assert not a.imag.flags.writeable
    assert result.tolist() == [0.0, 0.0, 0.0]
