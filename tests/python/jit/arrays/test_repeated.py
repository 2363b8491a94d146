"""Arrays of other shapes in one expression, and sums along axes of arrays with and without gaps, beside NumPy."""

import itertools

import numpy
import pytest
import weft as np


@np.jit
def product(a, b):
    return a * b


@np.jit
def chosen(c, a, b):
    return np.where(c > 0, a, b) - a


@np.jit
def joined(a, b, c):
    return (a - b) * c + a


FUNCTIONS = {
    "product": (product, 2),
    "chosen": (chosen, 3),
    "joined": (joined, 3),
}


def shapes_of(result, count):
    """Shapes that broadcast to one: each axis is there or 1 or, in front, missing."""
    choices = []
    for keep in itertools.product([True, False], repeat=len(result)):
        shape = tuple(size if kept else 1 for size, kept in zip(result, keep))
        choices.append(shape)
        if not keep[0]:
            choices.append(shape[1:])
    random = numpy.random.default_rng(len(result))
    every = list(itertools.product(choices, repeat=count))
    return every if len(every) <= 40 else [every[k] for k in random.choice(len(every), 40, replace=False)]


def laid_out(values, layout):
    if layout == "steps" and values.ndim > 0:
        wide = numpy.zeros(tuple(2 * size for size in values.shape), values.dtype)
        view = wide[tuple(slice(None, None, 2) for _ in values.shape)]
        view[...] = values
        return view
    return numpy.asarray(values, order="C" if layout == "steps" else layout)


@pytest.mark.parametrize("layout", ["C", "F", "steps"])
@pytest.mark.parametrize("result", [(5,), (3, 40), (4, 3, 17)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_repeated_dimensions(name, result, layout):
    function, count = FUNCTIONS[name]
    random = numpy.random.default_rng(1)
    for shapes in shapes_of(result, count):
        arrays = [laid_out(random.integers(-9, 9, shape).astype(float), layout) for shape in shapes]
        expected = function.py_func(*map(np.array, arrays))
        got = function(*map(np.asarray, arrays))
        assert numpy.array_equal(numpy.asarray(got), numpy.asarray(expected)), shapes


@np.jit
def repeated_into(a, b, out):
    out[...] = a + b
    return out


def test_repeated_into_what_is_read():
    a = np.arange(12.0).reshape(3, 4)
    expected = numpy.asarray(a) + numpy.asarray(a)[:1]
    numpy.testing.assert_array_equal(numpy.asarray(repeated_into(a, a[:1], a)), expected)


@np.jit
def added(a, b, out):
    np.add(a, b, out)
    return out


@pytest.mark.parametrize("layout", ["C", "F", "steps"])
@pytest.mark.parametrize(
    "shapes", [((3, 1), (3, 1)), ((1,), (3, 1)), ((1, 1), (1, 1)), ((3, 1), (1, 4)), ((4,), (1,))]
)
def test_both_repeat_in_a_longer_target(shapes, layout):
    a, b = (laid_out(numpy.arange(1.0, 1 + numpy.prod(shape)).reshape(shape), layout) for shape in shapes)
    out = added(a, b, numpy.zeros((3, 4)))
    numpy.testing.assert_array_equal(numpy.asarray(out), numpy.add(a, b, out=numpy.zeros((3, 4))))


@np.jit
def sums(a):
    return np.sum(a, axis=0), np.sum(a, axis=1), np.sum(a, axis=2), np.sum(a, axis=3)


@np.jit
def products(a):
    return np.prod(a, axis=0), np.prod(a, axis=1), np.prod(a, axis=2), np.prod(a, axis=3)


@np.jit
def least(a):
    return np.min(a, axis=0), np.min(a, axis=1), np.min(a, axis=2), np.min(a, axis=3)


@np.jit
def most(a):
    return np.max(a, axis=0), np.max(a, axis=1), np.max(a, axis=2), np.max(a, axis=3)


@np.jit
def any_of(a):
    return np.any(a, axis=0), np.any(a, axis=1), np.any(a, axis=2), np.any(a, axis=3)


@np.jit
def all_of(a):
    return np.all(a, axis=0), np.all(a, axis=1), np.all(a, axis=2), np.all(a, axis=3)


@pytest.mark.parametrize("layout", ["C", "F", "steps"])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 1), (2, 3, 4, 5), (3, 1, 2, 20), (2, 2, 40, 1), (9, 1, 1, 3), (40, 1, 1, 1)]
)
@pytest.mark.parametrize("function", [sums, products, least, most, any_of, all_of])
def test_reductions_of_four_dimensions(function, shape, layout):
    values = laid_out(numpy.random.default_rng(2).standard_normal(shape), layout)
    values.flat[0] = 0
    for got, axis in zip(function(np.asarray(values)), range(4)):
        name = {sums: "sum", products: "prod", least: "min", most: "max", any_of: "any", all_of: "all"}[
            function
        ]
        expected = getattr(numpy, name)(values, axis=axis)
        got = numpy.asarray(got)
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        numpy.testing.assert_allclose(got, expected, rtol=1e-13)
        if layout == "C":
            numpy.testing.assert_array_equal(got, expected)  # NumPy's order of additions


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_empty_dimensions(axis):
    for shape in [(0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 4, 0)]:
        values = numpy.zeros(shape)
        numpy.testing.assert_array_equal(
            numpy.asarray(sums(np.asarray(values))[axis]), values.sum(axis=axis), strict=True
        )
