"""Generators in compiled functions, beside CPython's run of the same functions."""

# ruff: noqa: UP028

import gc
import itertools
import sys

import numpy
import pytest
import weft as np


def same(ours, theirs):
    """Whether two values are the same, arrays by their elements."""
    if isinstance(theirs, (tuple, list)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, (numpy.ndarray, np.ndarray)):
        return numpy.array_equal(numpy.asarray(ours), numpy.asarray(theirs))
    return ours == theirs and isinstance(ours, type(theirs)) | isinstance(theirs, numpy.generic)


def counting(n):
    for i in range(n):
        yield i


def stepping(n):
    for i in range(n, 0, -2):
        yield i
        for j in range(1, 3):
            yield i + j


def widening(x):
    yield x
    yield x + 1.5
    yield x + 1j


def returning(x, y, z):
    for _ in range(3):
        yield z
        yield y + z
    return
    yield x


def choosing(n, flag=True):
    k = 0
    while k < n:
        if k % 3 == 0:
            yield k
        elif k % 3 == 1:
            if flag:
                yield -k
            else:
                k += 1
                continue
        else:
            k += 2
        k += 1
        if k > 12:
            break
    else:
        k = 100
    yield k


def elements(a):
    for x in a:
        yield x


def pairs(a, b):
    for x, (k, y) in zip(a, enumerate(b, 5)):
        yield x
        yield k * y


def backwards(a):
    for x in reversed(a):
        yield x * 2


def indices(a):
    for index in np.ndindex(a.shape):
        yield index
    for (i, j), x in np.ndenumerate(a):
        yield i - j, int(x)


def delegating(n):
    first = counting(n)
    second = stepping(2 * n)
    for x in first:
        yield x
    next(second)
    yield from second
    yield from (10, 20)


def catching(n):
    try:
        for i in range(n):
            yield 10 // (2 - i)
    except ZeroDivisionError:
        n = -1
    yield n


def making(n):
    kept = np.zeros(3)
    for i in range(n):
        kept[0] += 1
        made = np.ones(2)
        made[:] = i
        yield made
    yield kept[:2]


def unbound(n):
    if n > 1:
        x = n
    yield n
    if n > 1:
        yield x


def nothing(n):
    if 0:
        yield n


def of_tuples(n):
    yield 1, 2.5
    yield n, 4.5


MATRIX = numpy.arange(6.0).reshape(2, 3)
CASES = [
    (counting, (5,)),
    (counting, (0,)),
    (stepping, (5,)),
    (widening, (1,)),
    (returning, (5, 6, 7)),
    (choosing, (9,)),
    (choosing, (20,)),
    (choosing, (7, False)),
    (elements, (numpy.arange(4),)),
    (elements, (MATRIX,)),
    (elements, (MATRIX.T,)),
    (pairs, (numpy.arange(3.0), numpy.arange(2))),
    (backwards, (numpy.arange(4),)),
    (indices, (MATRIX,)),
    (delegating, (3,)),
    (catching, (4,)),
    (catching, (2,)),
    (making, (3,)),
    (unbound, (1,)),
    (unbound, (2,)),
    (nothing, (1,)),
    (of_tuples, (3,)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_generators_that_python_goes_through(function, arguments):
    expected = list(function(*arguments))
    compiled = np.jit(function)
    generator = compiled(*arguments)
    assert iter(generator) is generator
    got = list(generator)
    if function is widening:  # numbers widen to the type of all
        assert got == expected
    else:
        assert same(got, expected)
    with pytest.raises(StopIteration):
        next(generator)


def total(function, arguments):
    count = 0
    for x in function(*arguments):
        count = count * 3 + x
    return count


NUMBERS = [
    case
    for case in CASES
    if case[0] in (counting, stepping, returning, choosing, delegating, pairs, catching)
]


@pytest.mark.parametrize(("function", "arguments"), NUMBERS)
def test_generators_in_loops_of_compiled_functions(function, arguments):
    compiled = np.jit(total)
    assert compiled(function, arguments) == total(function, arguments)


def test_functions_over_generators():
    def without(n, a):  # a generator expression that is kept is not compiled
        doubled = [2 * x for x in stepping(n) if x != 3]
        numbered = 0
        for k, x in enumerate(stepping(n)):
            numbered += k * x
        together = 0.0
        for x, y in zip(stepping(n), a):
            together = together * 1.5 + x * y
        return doubled, numbered, together, list(stepping(n)), sum(stepping(n)), max(stepping(n))

    def rest(n):
        return (
            min(stepping(n)),
            sorted(stepping(n)),
            3 in stepping(n),
            any(counting(n)),
            all(counting(n)),
            sum(x * x for x in counting(n)),
        )

    a = numpy.arange(7.0)
    assert same(np.jit(without)(6, a), without(6, a))
    assert np.jit(rest)(6) == rest(6)


def zipped(k):
    """What zip takes of generators: nothing more behind the first that has ended."""
    a, b = counting(2), counting(9)
    count = 0
    for x, y in zip(a, b):
        count += 10 * x + y
    first = next(b)
    c, d = counting(9), counting(9)
    for x, y, z in zip(range(2), c, d):
        count += x * y * z
    e = counting(9)
    for x, _ in zip(e, range(2)):
        count += x
    return count, first, next(c), next(d), next(e), next(a, k)


def test_zip_takes_from_generators_as_python_does():
    assert np.jit(zipped)(-1) == zipped(-1)


def iterators(a, b):
    it = iter(a)
    first = next(it)
    second = next(it)
    rest = [x for x in it if x > 2]
    last = next(it, -1.0)
    pair = iter(zip(a, b))
    x, y = next(pair)
    z, w = next(pair)
    return first, second, rest, last, x, y, z, w, next(iter((7, 8))), next(iter(range(3, 9)))


def test_iter_and_next():
    a, b = numpy.arange(5.0), numpy.arange(3)
    assert same(np.jit(iterators)(a, b), iterators(a, b))


def exhausting(a):
    it = iter(a)
    count = 0.0
    for _ in range(100):
        count += next(it)
    return count


def caught(n):
    it = counting(n)
    count = 0
    try:
        while True:
            count += next(it)
    except StopIteration:
        count += 1000
    return count


def test_next_of_a_generator_that_has_ended():
    with pytest.raises(StopIteration):
        np.jit(exhausting)(numpy.arange(3.0))
    assert np.jit(caught)(4) == caught(4) == 1006


def failing(n):
    yield 1
    yield 2 // n
    yield 3


def test_errors_end_generators():
    generator = np.jit(failing)(0)
    assert next(generator) == 1
    with pytest.raises(ZeroDivisionError):
        next(generator)
    assert list(generator) == []


def stopping(a):
    yield 0
    yield next(iter(a))


def test_stop_iteration_inside_is_a_runtime_error():
    generator = np.jit(stopping)(numpy.empty(0))
    assert next(generator) == 0
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        next(generator)


def endless(a, b):
    x = a + 1
    while True:
        y = b + 2
        yield x + y


def test_generators_without_end():
    generator = np.jit(endless)(5, 6)
    assert list(itertools.islice(generator, 3)) == [14, 14, 14]
    generator.close()
    assert list(generator) == []


def mutating(n):
    made = np.zeros(2)
    for _ in range(n):
        made[0] += 1
        yield made


def test_arrays_that_were_yielded_share_memory():
    first, second, third = np.jit(mutating)(3)
    assert [float(x[0]) for x in (first, second, third)] == [3.0, 3.0, 3.0]
    generator = np.jit(mutating)(3)
    array = next(generator)
    array[0] = 10.0
    assert float(next(generator)[0]) == 11.0
    del generator
    gc.collect()
    made = [np.jit(mutating)(1) for _ in range(20)]
    assert [float(next(each)[0]) for each in made] == [1.0] * 20
    assert float(array[0]) == 11.0


def writing(a, b):
    for i in range(len(a)):
        a[i] = b[i] + 1
        yield a[i]


def test_arguments_that_overlap_and_live_as_long():
    a = numpy.arange(6.0)
    expected = a.copy()
    assert same(list(np.jit(writing)(a[1:], a[:-1])), list(writing(expected[1:], expected[:-1])))
    assert numpy.array_equal(a, expected)
    array = numpy.arange(3.0)
    before = sys.getrefcount(array)
    generator = np.jit(elements)(array)
    assert sys.getrefcount(array) > before
    assert list(generator) == [0.0, 1.0, 2.0]
    assert sys.getrefcount(array) == before
    del generator


def inner(n):
    scale = 3

    def scaled(k):
        for i in range(k):
            yield i * scale

    count = 0
    for x in scaled(n):
        count += x
    return count


def late(n):
    scale = 3

    def scaled(k):
        for i in range(k):
            yield i * scale

    count = 0
    for x in scaled(n):
        scale += 1
        count += x
    return count


def test_inner_generators_read_what_does_not_change():
    assert np.jit(inner)(5) == inner(5)
    with pytest.raises(np.CompileError, match="'scale' is read by the generator 'scaled'"):
        np.jit(late)(5)


def sends(n):
    x = yield n
    yield x


def finals(n):
    try:
        yield n
    finally:
        n += 1


def gives(n):
    yield n
    return n


def nests(n):
    if n > 0:
        yield n
        for x in nests(n - 1):
            yield x


def mixes(n):
    yield n
    yield np.zeros(n)


def lists(n):
    yield [n]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (sends, "nothing is sent to generators"),
        (finals, "a `yield` is not compiled in a `try` with `finally`"),
        (gives, "generators return nothing"),
        (nests, "generator"),
        (mixes, "yields int on one way and array"),
        (lists, "yields lists or generators to Python"),
    ],
)
def test_what_is_refused(function, message):
    with pytest.raises(np.CompileError, match=message):
        list(np.jit(function)(3))


def test_generators_are_no_sequences():
    def length(n):
        return len(counting(n))

    def backward(n):
        return [x + 1 for x in reversed(counting(n))]

    def number(n):
        return next(n)

    for function, message in (
        (length, "has no len"),
        (backward, "not reversible"),
        (number, "is no iterator"),
    ):
        with pytest.raises(np.CompileError, match=message):
            np.jit(function)(3)
    with pytest.raises(TypeError, match="given lists cannot return a generator"):
        np.jit(elements)([1, 2])
