"""Loops over shifted elements, whose expressions come again in the next iterations (pass predictive_commoning).

Random windows and differences are equal to Python's, and without the pass.
"""

import random

import numpy
import pytest
import weft

INTEGERS = "int8 uint8 int16 uint16 int32 int64 bool".split()
FLOATS = "float32 float64".split()


def window(choose):
    """A sum of elements around [i, j] with small weights."""
    columns = choose.choice([(-1, 0, 1), (-1, 1), (0, 1), (-2, -1, 0, 1, 2)])
    terms = [
        (choose.choice([1, 1, 1, 2, -1, 5]), choose.choice("aaaab"), row, column)
        for row in (-1, 0, 1)
        for column in columns
        if choose.random() < 0.9
    ]
    choose.shuffle(terms)
    return (
        " + ".join(f"{weight} * {name}[i + {row}, j + {column}]" for weight, name, row, column in terms)
        or "a[i, j]"
    )


def difference(choose, depth=3):
    if depth == 0:
        row, column = choose.choice([-1, 0, 1]), choose.choice([-1, 0, 0, 1])
        return f"{choose.choice('ab')}[i + {row}, j + {column}]"
    left, right = difference(choose, depth - 1), difference(choose, depth - 1)
    return f"({left} {choose.choice('+-*')} {right})"


def fluxes(choose):
    """The same expression at j and before it."""
    expression = difference(choose)
    return f"{expression} - {expression.replace('j + ', 'j - 1 + ')}"


@pytest.mark.parametrize("dtypes", [INTEGERS, FLOATS], ids=["integers", "floats"])
@pytest.mark.parametrize("seed", range(12))
def test_expressions_are_carried_exactly(seed, dtypes):
    choose = random.Random(seed)
    expression = choose.choice([window, fluxes])(choose)
    source = f"""
def f(a, b, out):
    total = 0
    for i in range(1, a.shape[0] - 1):
        for j in range(3, a.shape[1] - 2):
            value = {expression}
            out[i, j] = value
            if value > 3:
                total += 1
    return total
"""
    namespace = {}
    exec(source, namespace)
    generator = numpy.random.default_rng(seed)
    for columns in (5, 6, 7, 40):
        for dtype in dtypes:
            values = generator.integers(-100, 100, (2, 4, columns)).astype(dtype)
            a, b = values
            out = numpy.zeros(a.shape, "int64" if dtypes is INTEGERS else dtype)
            # Python's integers do not end where those of a narrow type do.
            wide = values.astype(out.dtype)
            expected = out.copy()
            with numpy.errstate(over="ignore"):
                count = namespace["f"](*wide, expected)
            for without in ("", "predictive_commoning"):
                with weft.config(without=without):
                    found = out.copy()
                    compiled = weft.jit(namespace["f"], source=source, cache=False)
                    assert compiled(a, b, found) == count, (expression, dtype, columns)
                    numpy.testing.assert_array_equal(found, expected)


@weft.jit
def eight_neighbours(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = (
                a[i - 1, j - 1]
                + a[i - 1, j]
                + a[i - 1, j + 1]
                + a[i, j - 1]
                + a[i, j + 1]
                + a[i + 1, j - 1]
                + a[i + 1, j]
                + a[i + 1, j + 1]
            )


def test_sums_of_the_largest_elements_are_exact():
    """Sums are computed in narrow integers only where these hold them."""
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):
        for value in (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max):
            a = numpy.full((6, 70), value, dtype)
            out = numpy.zeros((6, 70), "int64")
            eight_neighbours(a, out)
            assert (out[1:-1, 1:-1] == 8 * int(value)).all()


def test_what_the_loop_writes_is_read_again():
    """The same array read and written: each element sees those that were written before."""

    def f(a):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i - 1, j - 1] + a[i, j - 1] + a[i + 1, j - 1]) - (
                    a[i - 1, j + 1] + a[i, j + 1] + a[i + 1, j + 1]
                )

    expected = numpy.arange(60).reshape(5, 12) % 7
    found = expected.copy()
    f(expected)
    weft.jit(f)(found)
    numpy.testing.assert_array_equal(found, expected)
